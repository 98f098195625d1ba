"""Many runs in threads, processes or on a cluster, with the results in a Parquet file.

A sweep is a list of :class:`gpucoh.experiments.runner.Run`; :mod:`gpucoh.experiments.grids` makes the product of lists.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import signal
import threading
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError, Error, Note
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import natural, unknown_argument
from gpucoh.experiments.interrupts import Workers, terminable
from gpucoh.experiments.keys import code_digest, keys_of
from gpucoh.experiments.rows import (
    carry_out,
    columns_of,
    is_result,
    plan,
    portable,
    retried,
    row_of,
    share_of,
)
from gpucoh.experiments.runner import Run, kind_of
from gpucoh.experiments.schedule import Schedule
from gpucoh.report.bars import runs_bar
from gpucoh.results.columns import counters_of
from gpucoh.results.runs import is_ended

if TYPE_CHECKING:
    import pandas as pd

    from gpucoh.experiments.results import Results


# For the end of the processes of a pool of which one has died.
_PATIENCE_S = 5.0


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
    return kept(
        every,
        columns_of(every),
        executor,
        Order(out, resume, keep_old, retry, part, jobs, progress, processes),
        work=work,
        has=lambda row: _has(row, counters),
        level=4,
    )


def kept(
    every: Mapping[str, Run],
    columns: Mapping[str, Mapping[str, Any]],
    executor: Executor | None,
    order: Order,
    *,
    work: Callable[..., dict[str, Any]],
    has: Callable[[Mapping[str, Any]], bool] = lambda row: True,
    others: Callable[[Results], None] = lambda results: None,
    level: int,
) -> pd.DataFrame:
    """Run what a result file lacks, and keep it there: what sweeps and studies share.

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
        Whether a row of the file has the wanted statistics.
    others : callable
        Called with the results at the end; it may change rows that are not of ``every``.
    level : int
        Stack level of a warning: the frames up to the user's call.
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
        from gpucoh.experiments.results import Results, as_frame

    out = None if order.out is None else Path(order.out)
    with terminable(), Results(out, continued) as results:
        for key in [key for key, row in results.rows.items() if not is_result(row)]:
            results.remove(key)
        found = plan(wanted, results.rows, keep_old=order.keep_old, usable=usable)
        for note in found.notes:
            warnings.warn(note, Note, stacklevel=level)
        for key, old in found.kept.items():
            results.change(old, columns[key])
        add_rows(
            list(found.todo.items()),
            results,
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
        others(results)
        rows = [results.rows[found.kept.get(key, key)] for key in wanted]
    return as_frame(rows)


def given_limits(limit_s: float | None, limit_gib: float | None) -> dict[str, Any]:
    """The fields of a run that limits in place of its own change."""
    limits = {"limit_s": limit_s, "limit_gib": limit_gib}
    return {name: value for name, value in limits.items() if value is not None}


def _has(row: Mapping[str, Any], counters: str) -> bool:
    """Whether a row of a file has the wanted statistics, or none because the process of its run ended."""
    return counters == "usual" or row.get("launches") is not None or is_ended(row["error"])


def add_rows(
    todo: Sequence[tuple[str, Any]],
    results: Results,
    *,
    jobs: int,
    progress: bool,
    work: Callable[..., dict[str, Any]],
    columns: Mapping[str, Mapping[str, Any]],
    kind: Callable[[Any], Hashable] = lambda _: None,
    executor: Executor | None = None,
    replaced: Mapping[str, Sequence[str]] | None = None,
    apart: Callable[..., dict[str, Any]] | None = None,
    more: str = "the same command continues",
) -> None:
    """Run runs and add the row of each as it finishes; finished rows are kept whatever ends this, and Ctrl-C has a note
    that says so.

    Parameters
    ----------
    todo : sequence of (str, object)
        Keys and runs, or whatever else ``work`` carries out.
    results : Results
        Takes the rows.
    jobs : int
        Number of threads if no executor is given.
    progress : bool
        Show a progress bar on a terminal or in a notebook.
    work : callable
        Maps a run, its key and, in threads of this process, an event that stops it, to the row.
    columns : dict
        Key -> columns of what the runs vary, which are added to the row.
    kind : callable
        Maps a run to its kind; runs of the kind that takes longest begin first (:mod:`gpucoh.experiments.schedule`).
    executor : concurrent.futures.Executor, optional
    replaced : dict, optional
        Key -> keys of the rows that its row replaces.
    apart : callable, optional
        As ``work``, in a process of its own: for the runs that a pool of processes has not finished when one of them
        was killed.
    more : str
        How to continue after Ctrl-C.
    """

    def add(row: dict[str, Any]) -> None:
        key = row["key"]
        results.add({**row, **columns[key]}, (replaced or {}).get(key, ()))

    with (
        _noted(results, [key for key, _ in todo], more),
        runs_bar(len(todo), enabled=progress) as report,
    ):
        collect = functools.partial(_collect, add=add, sync=results.sync, report=report)
        carried_out = functools.partial(_carry_out, kind=kind, collect=collect, add=add)
        lost = carried_out(todo, work, executor, jobs)
        if lost and apart and _was_killed(executor):
            again = [one for one, _ in lost]
            lost = carried_out(again, apart, None, getattr(executor, "_max_workers", jobs))
    if lost:
        raise _losses(lost, len(todo))


@contextlib.contextmanager
def _noted(results: Results, keys: Sequence[str], more: str) -> Iterator[None]:
    """Add to Ctrl-C what is kept, and how to continue."""
    try:
        yield
    except KeyboardInterrupt as ended:
        kept = sum(key in results.rows for key in keys)
        if results.path is not None:
            ended.add_note(
                f"interrupted: {kept} of {len(keys)} runs have ended and are kept in {results.path}; {more}"
                if kept
                else f"interrupted before the first of {len(keys)} runs has ended"
            )
        raise


_Todo: TypeAlias = Sequence[tuple[str, Any]]
_Work: TypeAlias = Callable[..., dict[str, Any]]
_Schedule: TypeAlias = Schedule[tuple[str, Any], dict[str, Any]]
# Runs that an executor lost, each with the reason.
_Lost: TypeAlias = list[tuple[tuple[str, Any], Exception]]


def _carry_out(
    todo: _Todo,
    work: _Work,
    executor: Executor | None,
    jobs: int,
    kind: Callable[[Any], Hashable],
    collect: Callable[[_Schedule], _Lost],
    add: Callable[[dict[str, Any]], None],
) -> _Lost:
    """Run runs in an executor, or in threads; return those that it lost."""
    stop = threading.Event()
    own = executor is None
    pool: Executor = Workers(jobs) if executor is None else executor
    stops = (stop,) if own else ()  # only threads of this process can stop a run
    # Executors of the standard library have this attribute; of a cluster, workers come and go.
    workers = jobs if own else getattr(executor, "_max_workers", None)
    schedule: _Schedule = Schedule(
        todo,
        lambda one: pool.submit(work, one[1], one[0], *stops),
        workers=workers if isinstance(workers, int) else None,
        kind=lambda one: kind(one[1]),
        seconds=lambda row: row.get("wall_s") or 0.0,
    )
    try:
        return collect(schedule)
    except BaseException:
        stop.set()
        for future in schedule.futures:
            future.cancel()
        for future in schedule.futures:
            if future.done() and not future.cancelled() and future.exception() is None:
                add(future.result())
        raise
    finally:
        if own:
            pool.shutdown(wait=False)


def _jobs(jobs: int | None) -> int:
    return (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)


def _collect(
    schedule: _Schedule,
    add: Callable[[dict[str, Any]], None],
    sync: Callable[[], None],
    report: Callable[[str], None],
) -> _Lost:
    """Collect results as runs finish; return the runs that the executor lost.

    A future with an exception is such a run. It says nothing about the run, so it is not recorded, and resume runs it
    again, unless Dask has given it up, since several workers died that ran it.
    """
    lost: _Lost = []
    while schedule:
        sync()
        for one, future in schedule.ended():
            error = future.exception()
            if error is None:
                row = future.result()
            elif type(error).__name__ == "KilledWorker":
                row = row_of(one[1].ended("signal: KilledWorker", str(error)), one[0])
            elif isinstance(error, Exception):
                lost.append((one, error))
                continue
            else:
                raise error
            add(row)
            report(f"{row['workload']} {row['protocol']}")
    return lost


def _was_killed(executor: Executor | None) -> bool:
    """Whether a signal has ended a process of a pool, which then refuses all runs."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    end = time.monotonic() + _PATIENCE_S
    while None in (codes := [process.exitcode for process in processes]):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)  # the pool's thread waits for them
    return any(
        code < 0 and code != -signal.SIGTERM for code in codes
    )  # the pool ends the others by SIGTERM


def _losses(lost: _Lost, number: int) -> Error:
    """The error that reports lost runs."""
    first = lost[0][1]
    reason = " ".join(str(first).split())
    if isinstance(first, BrokenExecutor) and len(lost) == number:  # not even one began
        reason += (
            " In a script, start processes under if __name__ == '__main__': "
            "each new process runs the script again"
        )
    return Error(
        f"{len(lost)} of {number} runs were lost ({type(first).__name__}: {reason}); the others are kept: "
        "continue with resume"
    )
