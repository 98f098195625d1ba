"""Many runs in threads, processes or on a cluster, with the results in a Parquet file.

A sweep is a list of :class:`gpucoh.runs.runner.Run`; :mod:`gpucoh.runs.grids` makes the product of lists.
"""

from __future__ import annotations

import functools
import json
import os
import pickle
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError, Note
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import natural, unknown_argument
from gpucoh.results.columns import counters_of
from gpucoh.results.runs import RunResult, is_ended
from gpucoh.runs.interrupts import Workers, terminable
from gpucoh.runs.keys import code_digest, keys_of
from gpucoh.runs.rows import (
    carry_out,
    columns_of,
    is_result,
    plan,
    portable,
    retried,
    row_of,
    share_of,
)
from gpucoh.runs.runner import Run, kind_of
from gpucoh.runs.schedule import add_rows

# Column of stores that keep whole runs: the run as JSON.
WHOLE_RUN = "run"

if TYPE_CHECKING:
    import pandas as pd

    from gpucoh.runs.store import Store


def as_run(given: Run | Mapping[str, Any]) -> Run:
    """A run from a dictionary of :class:`Run`'s fields, validated as far as possible before it runs.

    Raises
    ------
    ConfigError
        For an unknown field or name, or a bad value.
    """
    if isinstance(given, Run):
        run = given
    elif not isinstance(given, Mapping):
        raise ConfigError(f"{quoted(given)} is not a run or a dictionary of its fields")
    else:
        known = [item.name for item in fields(Run)]
        for name in given:
            if name not in known:
                raise ConfigError(f"a run: {unknown_argument(name, given[name], known, 'field')}")
        if "workload" not in given:
            raise ConfigError(f"a run needs the field workload: {quoted(dict(given))}")
        run = Run(**given)
    run.validate()
    return run


@dataclass(frozen=True)
class Order:
    """Which runs are to do, and where their rows are kept: the arguments of :func:`sweep` of these names."""

    out: str | Path | None
    resume: bool = False
    keep_old: bool = False
    retry: str | None = None
    part: str | None = None
    jobs: int | None = None
    progress: bool = False
    processes: bool = False


@door
def sweep(
    runs: Iterable[Run | Mapping[str, Any]],
    executor: Executor | None = None,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    keep_old: bool = False,
    retry: str | None = None,
    part: str | None = None,
    jobs: int | None = None,
    progress: bool = False,
    counters: str = "usual",
    limit_s: float | None = None,
    limit_gib: float | None = None,
    processes: bool = False,
) -> pd.DataFrame:
    """Run many runs.

    Parameters
    ----------
    runs : iterable of Run or dict
        The arguments of :func:`gpucoh.run`, one entry per run: ``{"workload": "bfs", "protocol": "ideal", "seed": 1}``.
        A workload is an id, ``"my_file.py:name"``, or a function as :func:`gpucoh.workload` describes it.
        Defaults are the same: the protocol ``no-l1``, the machine ``fermi``, the scale ``small``, the seed 0.
        Equal entries run once.
    executor : concurrent.futures.Executor, optional
        Threads by default. Processes, or a Dask client's ``get_executor()``, work as well: any executor whose
        ``submit`` returns futures of the standard library. Runs take the machine, and absolute paths of the input
        files, with them.
    out : str or Path, optional
        Parquet file for the results, which is never partial. A finished row is on disk at once: in the file, or in
        ``OUT.journal`` beside it until the file is written again.
    resume : bool, default False
        Keep the rows in ``out``, and run only the runs that are missing. Rows of other code (of gpucoh, or of a
        user's workload) count as missing, which a warning says, and so do runs that the environment has ended: a
        missing file, a lack of memory. Otherwise ``out`` must not exist.
    keep_old : bool, default False
        As ``resume``, but rows of other code are kept; the column ``code`` tells them apart.
    retry : {"failed"}, optional
        As ``resume``, but failed runs (deadlock, budget ..) and wrong ones run again, too.
    part : str, optional
        ``"3/16"``: every 16th run from the third on, in a file of its own. The columns are those of the whole study.
    jobs : int, optional
        Number of threads if no executor is given; by default one per processor.
    progress : bool, default False
        Show a progress bar on a terminal or in a notebook.
    counters : {"usual", "all"}
        ``"all"`` adds every other statistic as a column (``core_load_latency_cycles`` ..); rows of ``out`` without
        them are run again.
    limit_s, limit_gib : float, optional
        End a run of a protocol's C file or of a workload ``"my_file.py:name"``, which has a process of its own under
        every executor, after these seconds by the clock (default 3600), or if it has more GiB of memory (default 4);
        ``inf``: no limit. In place of the entries of these names of the runs.
    processes : bool, default False
        Give every run a process, not only those. Not with an executor.

    Returns
    -------
    pandas.DataFrame
        One row per run, in the order of ``runs``; ``code`` is a hash of the code that has run it. A machine field or
        option that one run changes is a column of all, with the value that each has: ``set_cores``,
        ``option_lifetime``. A run that ends in an error is a row that is not correct, with the error's kind in
        ``error`` and its text in ``where``.

    Raises
    ------
    ConfigError
        For an unknown name or a bad value, before any run; if the results cannot be written.
    Error
        If the executor lost runs (a worker was killed); all others run first, and their results are kept.
    KeyboardInterrupt
        On Ctrl-C; finished runs are kept.
    SystemExit
        On SIGTERM and SIGHUP, with status 143 and 129, unless the program handles them; finished runs are kept.
    """
    if isinstance(runs, str | Mapping) or not isinstance(runs, Iterable):
        raise ConfigError(f"{quoted(runs)} is not a list of runs")
    limits = given_limits(limit_s, limit_gib)
    given = [replace(one, **limits) if limits else one for one in map(as_run, runs)]
    every = dict(zip(keys_of(given), given, strict=True))
    work = functools.partial(carry_out, counters=counters) if counters_of(counters) else carry_out
    rows = kept(
        every,
        columns_of(every),
        executor,
        Order(out, resume, keep_old, retry, part, jobs, progress, processes),
        work=work,
        has=lambda row: _has(row, counters),
        level=4,
    )
    with LATE_IMPORT:
        from gpucoh.runs.store import as_frame

    return as_frame(rows)


def kept(
    every: Mapping[str, Run],
    columns: Mapping[str, Mapping[str, Any]],
    executor: Executor | None,
    order: Order,
    *,
    work: Callable[..., dict[str, Any]],
    has: Callable[[Mapping[str, Any]], bool] = lambda row: True,
    others: Callable[[Store], None] = lambda store: None,
    renew: bool = True,
    level: int,
) -> list[dict[str, Any]]:
    """Run what a store lacks, and keep it there: what sweeps, studies and stored runs share.

    Parameters
    ----------
    every : dict
        Key -> run.
    columns : dict
        Key -> columns that are added to the row of each.
    executor : concurrent.futures.Executor or None
        As for :func:`sweep`.
    order : Order
    work : callable
        Maps a run and its key to the row; a function that processes can import.
    has : callable
        Whether a row of the file has what is wanted.
    others : callable
        Called with the store at the end; it may change rows that are not of ``every``.
    renew : bool
        Whether rows that the store has get the columns, too.
    level : int
        Stack level of a warning: the frames up to the user's call.

    Returns
    -------
    list of dict
        The rows of the runs, in their order.
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ConfigError(f"{quoted(executor)} is not an executor: it has no method submit")
    if executor is not None and order.processes:
        raise ConfigError("processes = True contradicts an executor: give one of them")
    again = retried(order.retry)
    wanted = dict(list(every.items())[share_of(order.part, len(every))])
    if executor is not None and not isinstance(executor, ThreadPoolExecutor | Workers):
        for workload in {id(run.found): run.found for run in wanted.values()}.values():
            pickle.dumps(workload)  # its error has a message here; in the executor it is a lost run
        wanted = {key: portable(run) for key, run in wanted.items()}
        work = functools.partial(work, code=code_digest())
    apart = functools.partial(work, always=True)
    number = _jobs(order.jobs)
    continued = order.resume or order.keep_old or again

    def usable(row: Mapping[str, Any]) -> bool:
        return has(row) and not (again and row["correct"] is False)

    with LATE_IMPORT:
        from gpucoh.runs.store import Store

    out = None if order.out is None else Path(order.out)
    with terminable(), Store(out, continued) as store:
        for key in [key for key, row in store.rows.items() if not is_result(row)]:
            store.remove(key)
        found = plan(wanted, store.rows, keep_old=order.keep_old, usable=usable)
        for note in found.notes:
            warnings.warn(note, Note, stacklevel=level)
        for key, old in found.kept.items() if renew else ():
            store.change(old, columns[key])
        add_rows(
            list(found.todo.items()),
            store,
            jobs=number,
            progress=order.progress,
            work=apart if order.processes else work,
            columns=columns,
            kind=kind_of,
            executor=executor,
            replaced=found.replaced,
            apart=apart,
            more="the same command continues" if continued else "continue with resume",
        )
        others(store)
        return [store.rows[found.kept.get(key, key)] for key in wanted]


def given_limits(limit_s: float | None, limit_gib: float | None) -> dict[str, Any]:
    """The fields of a run that limits in place of its own change."""
    limits = {"limit_s": limit_s, "limit_gib": limit_gib}
    return {name: value for name, value in limits.items() if value is not None}


def _has(row: Mapping[str, Any], counters: str) -> bool:
    """Whether a row of a file has the wanted statistics, or none because the process of its run ended."""
    return counters == "usual" or row.get("launches") is not None or is_ended(row["error"])


def _jobs(jobs: int | None) -> int:
    return (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)


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
    jobs, progress, processes
        As for :func:`sweep`.

    Returns
    -------
    list of RunResult
        In the order of ``runs``. A run that ends in an error is in it, not correct, with the error.

    Raises
    ------
    ConfigError, KeyboardInterrupt, SystemExit
        As :func:`sweep`.
    """
    for run in runs:
        run.validate()
    keys = keys_of(runs)
    every = dict(zip(keys, runs, strict=True))
    order = Order(path, path is not None, jobs=jobs, progress=progress, processes=processes)
    found = kept(
        every,
        columns_of(every),
        None,
        order,
        work=_carry_out_whole,
        has=lambda row: row.get(WHOLE_RUN) is not None,
        renew=False,
        level=3,
    )
    wholes = {row["key"]: row[WHOLE_RUN] for row in found}
    return [RunResult.from_dict(json.loads(wholes[key])) for key in keys]
