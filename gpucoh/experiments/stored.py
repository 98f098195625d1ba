"""Runs that are kept in a result file, so that an interrupted study continues where it stopped."""

from __future__ import annotations

import functools
import json
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpucoh.base.errors import Note
from gpucoh.experiments.interrupts import terminable
from gpucoh.experiments.keys import keys_of
from gpucoh.experiments.results import WHOLE_RUN, Results
from gpucoh.experiments.rows import columns_of, plan, row_of
from gpucoh.experiments.runner import Run, kind_of
from gpucoh.experiments.sweeps import add_rows
from gpucoh.results.runs import RunResult


def _carry_out_whole(
    run: Run, key: str, stop: threading.Event | None = None, always: bool = False
) -> dict[str, Any]:
    result = run.carry_out_apart(stop=stop, always=always)
    return row_of(result, key) | {WHOLE_RUN: json.dumps(result.to_dict())}


def stored_runs(
    runs: Sequence[Run],
    path: Path | None,
    *,
    jobs: int,
    progress: bool = False,
    processes: bool = False,
) -> list[RunResult]:
    """Read the runs that a file has, run the others, and add them to the file as they finish.

    Parameters
    ----------
    runs : sequence of Run
    path : Path or None
        Parquet file, made if it does not exist; None keeps nothing. A run in it counts only if the code is the same; a
        warning says how many do not.
    jobs : int
        Number of threads.
    progress : bool
        Show a progress bar on a terminal or in a notebook.
    processes : bool
        Give every run a process of its own, not only those of users' code.

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
        On SIGTERM and SIGHUP, with status 143 and 129, unless the program handles them; finished runs are kept.
    """
    for run in runs:
        run.validate()
    keys = keys_of(runs)
    wanted = dict(zip(keys, runs, strict=True))
    with terminable(), Results(path, resume=path is not None) as results:
        found = plan(wanted, results.rows, usable=lambda row: row.get(WHOLE_RUN) is not None)
        for note in found.notes:
            warnings.warn(note, Note, stacklevel=2)
        add_rows(
            list(found.todo.items()),
            results,
            jobs=jobs,
            progress=progress,
            work=functools.partial(_carry_out_whole, always=True)
            if processes
            else _carry_out_whole,
            columns=columns_of(wanted),
            kind=kind_of,
            replaced=found.replaced,
        )
        return [RunResult.from_dict(json.loads(results.rows[key][WHOLE_RUN])) for key in keys]
