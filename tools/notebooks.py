"""Execute the notebooks: ``notebooks.py [--check] [NAME.ipynb ...]``, by default all of ``notebooks/``.

Stores the outputs in the notebooks: texts, tables, and pictures of few colours; progress bars and times are left out.
With --check it writes nothing, and fails if a text differs from the stored one. Fails also if a cell raises, if a
notebook takes more than a minute of processor time, or if a cell shows an image twice or a figure as text.
GPUCOH_FAST=1 is set, so that notebooks use inputs of the scale ``tiny``. nbval compares as well, but takes progress
bars for differences unless it ignores all outputs of their cells.
"""

from __future__ import annotations

import base64
import copy
import io
import os
import re
import resource
import sys
import time
from pathlib import Path
from typing import Any

import nbclient
import nbformat
from PIL import Image

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
LONGEST_SECONDS = 60.0
COLOURS = 64
# What depends on time or on the process, and what replaces it.
_CHANGING = (
    (re.compile(r"(wall clock(?:<[^>]*>|\W)*)\d+\.\d+ s"), r"\1... s"),
    (re.compile(r"\bat 0x[0-9a-f]+"), "at 0x..."),
    (re.compile(r"/tmp/ipykernel_\d+/\d+\.py"), "/tmp/ipykernel/cell.py"),
)


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
    start, before = time.monotonic(), _processor_seconds()
    client = nbclient.NotebookClient(
        notebook,
        timeout=4 * LONGEST_SECONDS,
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
    )
    wrong = []
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        wrong.append(str(error))
    seconds = time.monotonic() - start
    used = _processor_seconds() - before
    if used > LONGEST_SECONDS:
        wrong.append(f"took {used:.0f} s of processor time (allowed: {LONGEST_SECONDS:.0f} s)")
    return notebook, wrong + shown_wrongly(notebook), seconds


def _processor_seconds() -> float:
    """Those of the kernels that have ended: a busy machine does not change them."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def to_store(notebook: Any, metadata: Any) -> Any:
    """An executed notebook as it is stored: without progress bars and times, with small pictures."""
    out = copy.deepcopy(notebook)
    out.metadata = metadata
    for cell in out.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs = [item for item in cell.outputs if item.get("name") != "stderr"]
        for item in cell.outputs:
            data = item.get("data", {})
            for kind in [kind for kind in data if kind.startswith("application/vnd.")]:
                del data[kind]
            if "image/png" in data:
                data["image/png"] = _small(data["image/png"])
            for kind in ("text/plain", "text/html"):
                if kind in data:
                    data[kind] = _lasting(data[kind])
            if "text" in item:
                item["text"] = _lasting(item["text"])
    return out


def _small(picture: str) -> str:
    """A PNG in few colours."""
    with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
        file = io.BytesIO()
        image.convert("RGB").quantize(COLOURS).save(file, format="png", optimize=True)
    return base64.b64encode(file.getvalue()).decode() + "\n"


def _lasting(text: str) -> str:
    for pattern, instead in _CHANGING:
        text = pattern.sub(instead, text)
    return text


def texts(notebook: Any) -> list[list[str]]:
    """The texts that each code cell of a stored notebook shows."""
    return [
        [
            text
            for item in cell.outputs
            for text in (item.get("text"), *(_texts_of(item.get("data", {}))))
            if text is not None
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def _texts_of(data: Any) -> list[str]:
    """The texts of an output; that of a figure is its size, which depends on Matplotlib's version."""
    if "image/png" in data:
        return []
    return [data[kind] for kind in ("text/plain", "text/html") if kind in data]


def differences(stored: Any, now: Any) -> list[str]:
    """What a notebook shows now that is not what is stored; both as :func:`to_store` makes them."""
    wrong = []
    for number, (before, after) in enumerate(zip(texts(stored), texts(now), strict=True)):
        if before == after:
            continue
        old, new = ("\n".join(found).splitlines() for found in (before, after))
        first = next(
            (pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]),
            (f"{len(old)} lines", f"{len(new)} lines"),
        )
        wrong.append(
            f"code cell {number} shows {first[1]!r} where {first[0]!r} is stored: make notebooks"
        )
    return wrong


def main(arguments: list[str]) -> int:
    os.environ["GPUCOH_FAST"] = "1"
    os.environ.pop("MPLBACKEND", None)  # as in a user's session
    check = "--check" in arguments
    named = [Path(name) for name in arguments if name != "--check"]
    failed = False
    for path in named or sorted(FOLDER.glob("*.ipynb")):
        before = nbformat.read(path, as_version=4)
        notebook, wrong, seconds = executed(path)
        now = to_store(notebook, before.metadata)
        if check:
            wrong += differences(before, now)
        elif not wrong:
            nbformat.write(now, path)
        failed |= bool(wrong)
        print(f"{path.name}: {seconds:.1f} s", *wrong, sep="\n  ", flush=True)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
