"""Many runs in threads, processes or on a cluster, with the results in a Parquet file.

A sweep is a list of :class:`gpucoh.experiments.runner.Run`; :mod:`gpucoh.experiments.grids` makes the product of lists.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pickle
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError, Error
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import natural, unknown
from gpucoh.device.gpu import DEFAULT_DEADLOCK_AFTER, VERSION, resolve
from gpucoh.experiments.interrupts import Workers, terminable
from gpucoh.experiments.runner import Run, kind_of
from gpucoh.experiments.schedule import Schedule
from gpucoh.machines import machine
from gpucoh.report.bars import runs_bar
from gpucoh.results.columns import counters_of, varied
from gpucoh.results.runs import RunResult

if TYPE_CHECKING:
    import pandas as pd

    from gpucoh.experiments.results import Results


def key_of(run: Run) -> str:
    """The key of a run in a result file: a hash of everything that its result depends on.

    That is the configuration with its defaults, the content of the input files, and the version.
    """
    built, budget = run.machine_and_budget()
    found = run.found
    setting = found.setting(run.scale, run.seed, run.params)
    what = {
        "version": VERSION,
        "workload": found.id,
        "protocol": run.protocol,
        "consistency": resolve(run.protocol).rule(run.consistency),
        "machine": built.to_core(),
        "placement": built.placement,
        "budget": budget,
        "scale": run.scale,
        "seed": run.seed,
        "params": {key: _content(value) for key, value in setting.params.items()},
        "check": run.check,
    }
    if found.code is not None:
        what["code"] = found.code
    if run.deadlock_after != DEFAULT_DEADLOCK_AFTER:
        what["deadlock_after"] = run.deadlock_after
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:24]


def _content(value: Any) -> str:
    """A parameter's value, with the hash of the file that it names, if any."""
    text = str(value)
    if isinstance(value, str | Path) and Path(value).is_file():
        with Path(value).open("rb") as file:
            text += " sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    return text


def _carry_out(
    run: Run, key: str, stop: threading.Event | None = None, counters: str = "usual"
) -> dict[str, Any]:
    """One run as a flat row; a module-level function, so that processes and clusters can import it.

    The row reports any error of the run: a failed run does not stop the others.
    """
    try:
        result = run.carry_out(capture=True, stop=stop)
    except Exception as error:
        if stop is not None and stop.is_set():
            raise
        return {"key": key} | _failure(run, error) | {"version": VERSION}
    return row_of(result, key, counters)


def row_of(result: RunResult, key: str, counters: str = "usual") -> dict[str, Any]:
    """A finished run as a row of a result file."""
    row = {"key": key} | result.row(counters)
    return row | {"error": result.error, "version": VERSION}


def _failure(run: Run, error: Exception) -> dict[str, Any]:
    """The row of a run that could not begin, or that an unexpected exception ended."""
    choice = resolve(run.protocol)
    rule = choice.rule(run.consistency)
    return {
        "workload": run.found.id,
        "protocol": choice.text,
        "machine": machine(run.machine).name,
        "consistency": rule,
        "model": choice.model(rule),
        "scale": run.scale,
        "seed": run.seed,
        "protocol_id": choice.protocol.id,
        "correct": False,
        "verdict": "failed",
        "mismatches": 0,
        "where": str(error) or type(error).__name__,
        "error": type(error).__name__,
    }


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
                raise ConfigError(f"a run: {unknown('field', name, known)}")
        if "workload" not in given:
            raise ConfigError(f"a run needs the field workload: {quoted(dict(given))}")
        run = Run(**given)
    run.validate()
    return run


@door
def sweep(
    runs: Iterable[Run | Mapping[str, Any]],
    executor: Executor | None = None,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    jobs: int | None = None,
    progress: bool = False,
    counters: str = "usual",
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
        ``submit`` returns futures of the standard library.
    out : str or Path, optional
        Parquet file for the results. New rows are on disk within seconds; the file is replaced as a whole and is
        never partial.
    resume : bool, default False
        Keep the rows in ``out``, and run only the runs that are missing. Otherwise ``out`` must not exist.
    jobs : int, optional
        Number of threads if no executor is given; by default one per processor.
    progress : bool, default False
        Show a progress bar on a terminal or in a notebook.
    counters : {"usual", "all"}
        ``"all"`` adds every other statistic as a column (``core_load_latency_cycles`` ..); rows of ``out`` without
        them are run again.

    Returns
    -------
    pandas.DataFrame
        One row per run, in the order of ``runs``. A machine field or option that one run changes is a column of all,
        with the value that each has: ``set_cores``, ``option_lifetime``. A run that ends in an error is a row that is
        not correct, with the error's kind in ``error`` and its text in ``where``.

    Raises
    ------
    ConfigError
        For an unknown name or a bad value, before any run; if the results cannot be written.
    Error
        If the executor lost runs (a worker was killed); all others run first, and their results are kept.
    KeyboardInterrupt
        On Ctrl-C; finished runs are kept.
    SystemExit
        On SIGTERM, with status 143, unless the program handles SIGTERM; finished runs are kept.
    """
    if isinstance(runs, str | Mapping) or not isinstance(runs, Iterable):
        raise ConfigError(f"{quoted(runs)} is not a list of runs")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ConfigError(f"{quoted(executor)} is not an executor: it has no method submit")
    wanted = {key_of(run): run for run in map(as_run, runs)}
    if executor is not None and not isinstance(executor, ThreadPoolExecutor | Workers):
        for found in {id(run.found): run.found for run in wanted.values()}.values():
            pickle.dumps(found)  # an error here has its message, in the executor it is a lost run
    number = _jobs(jobs)
    work = functools.partial(_carry_out, counters=counters) if counters_of(counters) else _carry_out
    columns = columns_of(wanted)
    with LATE_IMPORT:
        from gpucoh.experiments.results import Results, as_frame

    with terminable(), Results(None if out is None else Path(out), resume) as results:
        kept = {key: row for key, row in results.rows.items() if _has(row, counters)}
        for key in wanted.keys() & kept:
            results.change(key, columns[key])
        todo = [(key, run) for key, run in wanted.items() if key not in kept]
        add_rows(
            todo,
            results,
            jobs=number,
            progress=progress,
            work=work,
            columns=columns,
            kind=kind_of,
            executor=executor,
        )
        rows = [results.rows[key] for key in wanted]
    return as_frame(rows)


def columns_of(wanted: Mapping[str, Run]) -> dict[str, dict[str, Any]]:
    """Key -> the columns of what the runs vary."""
    return dict(zip(wanted, varied([run.setup() for run in wanted.values()]), strict=True))


def _has(row: Mapping[str, Any], counters: str) -> bool:
    """Whether a row of a file has the wanted statistics; that of a run that could not begin has none."""
    return counters == "usual" or row["error"] is not None or row.get("launches") is not None


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
) -> None:
    """Run runs and add the row of each as it finishes; finished rows are kept whatever ends this.

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
    """
    stop = threading.Event()
    own = executor is None
    pool = Workers(jobs) if executor is None else executor
    stops = (stop,) if own else ()  # only threads of this process can stop in the middle of a run
    # Executors of the standard library have this attribute; of a cluster, workers come and go.
    workers = jobs if own else getattr(executor, "_max_workers", None)
    schedule = Schedule(
        todo,
        lambda one: pool.submit(work, one[1], one[0], *stops),
        workers=workers if isinstance(workers, int) else None,
        kind=lambda one: kind(one[1]),
        seconds=lambda row: row.get("wall_s") or 0.0,
    )
    try:
        _collect(schedule, len(todo), columns, results, progress)
    except BaseException:
        stop.set()
        for future in schedule.futures:
            future.cancel()
        for future in schedule.futures:
            if future.done() and not future.cancelled() and future.exception() is None:
                _add(results, future.result(), columns)
        raise
    finally:
        if own:
            pool.shutdown(wait=False)


def _jobs(jobs: int | None) -> int:
    return (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)


def _add(results: Results, row: dict[str, Any], columns: Mapping[str, Mapping[str, Any]]) -> None:
    results.add({**row, **columns[row["key"]]})


def _collect(
    schedule: Schedule[tuple[str, Any], dict[str, Any]],
    number: int,
    columns: Mapping[str, Mapping[str, Any]],
    results: Results,
    progress: bool,
) -> None:
    """Collect results as runs finish.

    A future with an exception is a run that the executor lost. It says nothing about the run, so it is not recorded,
    and resume runs it again.
    """
    lost = []
    with runs_bar(number, enabled=progress) as report:
        while schedule:
            for _, future in schedule.ended():
                error = future.exception()
                if error is None:
                    row = future.result()
                    _add(results, row, columns)
                    report(f"{row['workload']} {row['protocol']}")
                elif isinstance(error, Exception):
                    lost.append(error)
                else:
                    raise error
    if lost:
        reason = " ".join(str(lost[0]).split())
        if isinstance(lost[0], BrokenExecutor) and len(lost) == number:  # not even one began
            reason += (
                " In a script, start processes under if __name__ == '__main__': "
                "each new process runs the script again"
            )
        raise Error(
            f"{len(lost)} of {number} runs were lost by the executor ({type(lost[0]).__name__}: {reason}); the "
            "others are kept: continue with resume"
        )
