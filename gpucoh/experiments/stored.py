"""Runs that are kept in a result file, so that an interrupted study continues where it stopped."""

from __future__ import annotations

import functools
import hashlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpucoh.experiments.interrupts import terminable
from gpucoh.experiments.results import WHOLE_RUN, Results
from gpucoh.experiments.runner import Run, kind_of
from gpucoh.experiments.sweeps import add_rows, columns_of, key_of, row_of
from gpucoh.results.runs import RunResult

_PACKAGE = Path(__file__).parents[1]
# Parts of the package that do not change a run.
_OTHER_PARTS = ("cli", "experiments", "fuzz", "hardware", "litmus", "papers", "report", "verify")


@functools.cache
def code_digest(*also: str) -> str:
    """A hash of the built core and of the Python modules that a run uses, and of further parts of the package."""
    digest, others = hashlib.sha256(), set(_OTHER_PARTS).difference(also)
    for path in sorted(_PACKAGE.rglob("*")):
        name = path.relative_to(_PACKAGE)
        if name.parts[0] not in others and path.suffix in (".py", ".toml", ".so"):
            digest.update(f"{name}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def stored_key(run: Run) -> str:
    """The key of a run in a file of whole runs: :func:`key_of`, and the code that runs it."""
    return f"{key_of(run)}-{code_digest()}"


def _carry_out_whole(run: Run, key: str, stop: threading.Event | None = None) -> dict[str, Any]:
    result = run.carry_out(capture=True, stop=stop)
    return row_of(result, key) | {WHOLE_RUN: json.dumps(result.to_dict())}


def stored_runs(
    runs: Sequence[Run], path: Path | None, *, jobs: int, progress: bool = False
) -> list[RunResult]:
    """Read the runs that a file has, run the others, and add them to the file as they finish.

    Parameters
    ----------
    runs : sequence of Run
    path : Path or None
        Parquet file, made if it does not exist; None keeps nothing. A run in it counts only if the code is the same.
    jobs : int
        Number of threads.
    progress : bool
        Show a progress bar on a terminal or in a notebook.

    Returns
    -------
    list of RunResult
        In the order of ``runs``. A run that ends in an error is in it, not correct, with the error.

    Raises
    ------
    ConfigError
        For an unknown name or a bad value, before any run; if the file cannot be read or written.
    KeyboardInterrupt
        On Ctrl-C; finished runs are kept.
    SystemExit
        On SIGTERM, with status 143, unless the program handles SIGTERM; finished runs are kept.
    """
    for run in runs:
        run.validate()
    keys = [stored_key(run) for run in runs]
    wanted = dict(zip(keys, runs, strict=True))
    with terminable(), Results(path, resume=path is not None) as results:
        todo = [(key, run) for key, run in wanted.items() if key not in results.rows]
        add_rows(
            todo,
            results,
            jobs=jobs,
            progress=progress,
            work=_carry_out_whole,
            columns=columns_of(wanted),
            kind=kind_of,
        )
        return [RunResult.from_dict(json.loads(results.rows[key][WHOLE_RUN])) for key in keys]
