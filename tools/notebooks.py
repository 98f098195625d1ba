"""Execute the notebooks: ``notebooks.py [NAME.ipynb ...]``, by default all of ``notebooks/``.

Fails if a cell raises, if a notebook takes longer than a minute, if a cell shows an image twice or a figure as text,
or if a stored notebook has outputs. GPUCOH_FAST=1 is set, so that notebooks use inputs of the scale ``tiny``. Nothing
is written.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import nbclient
import nbformat

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
LONGEST_SECONDS = 60.0


def stored_outputs(notebook: Any) -> list[str]:
    """What is wrong with a stored notebook: outputs and execution counts."""
    return [
        f"cell {number} has stored outputs: clear them before the commit"
        for number, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None)
    ]


def shown_wrongly(notebook: Any) -> list[str]:
    """What is wrong with the outputs of an executed notebook."""
    wrong = []
    for number, cell in enumerate(notebook.cells):
        data = [output.get("data", {}) for output in cell.get("outputs", ())]
        if sum("image/png" in item for item in data) > 1:
            wrong.append(f"cell {number} shows its figure more than once")
        if any(
            "<Figure size" in item.get("text/plain", "") and "image/png" not in item
            for item in data
        ):
            wrong.append(f"cell {number} shows a figure as text")
    return wrong


def executed(path: Path) -> tuple[Any, list[str], float]:
    """An executed notebook, what is wrong with it, and the seconds that it took."""
    notebook = nbformat.read(path, as_version=4)
    wrong = stored_outputs(notebook)
    start = time.monotonic()
    client = nbclient.NotebookClient(
        notebook,
        timeout=4 * LONGEST_SECONDS,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        wrong.append(str(error))
    seconds = time.monotonic() - start
    if seconds > LONGEST_SECONDS:
        wrong.append(f"took {seconds:.0f} s (allowed: {LONGEST_SECONDS:.0f} s)")
    return notebook, wrong + shown_wrongly(notebook), seconds


def main(arguments: list[str]) -> int:
    os.environ["GPUCOH_FAST"] = "1"
    os.environ.pop("MPLBACKEND", None)  # as in a user's session
    failed = False
    for path in map(Path, arguments) if arguments else sorted(FOLDER.glob("*.ipynb")):
        _, wrong, seconds = executed(path)
        failed |= bool(wrong)
        print(f"{path.name}: {seconds:.1f} s", *wrong, sep="\n  ", flush=True)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
