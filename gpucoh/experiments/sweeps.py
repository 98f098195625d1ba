"""Many runs in threads, processes or on a cluster, with the results in a Parquet file.

A sweep is a list of :class:`gpucoh.experiments.runner.Run`; a TOML file describes one as the product of its lists.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import pickle
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpucoh.base.errors import ConfigError, Error, short_traceback
from gpucoh.base.files import path_of, read_toml
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.wording import natural, unknown
from gpucoh.device.gpu import DEFAULT_DEADLOCK_AFTER, VERSION, resolve
from gpucoh.experiments.interrupts import Workers, terminable
from gpucoh.experiments.runner import Run
from gpucoh.machines import machine
from gpucoh.report.bars import runs_bar
from gpucoh.results.runs import RunResult

if TYPE_CHECKING:
    import pandas as pd

    from gpucoh.experiments.results import Results

_LISTS = {
    "workloads": "workload",
    "protocols": "protocol",
    "machines": "machine",
    "consistencies": "consistency",
    "scales": "scale",
    "seeds": "seed",
}
_TABLES = ("set", "params")


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


def _carry_out(run: Run, key: str, stop: threading.Event | None = None) -> dict[str, Any]:
    """One run as a flat row; a module-level function, so that processes and clusters can import it.

    The row reports any error of the run: a failed run does not stop the others.
    """
    try:
        result = run.carry_out(capture=True, stop=stop)
    except Exception as error:
        if stop is not None and stop.is_set():
            raise
        return {"key": key} | _failure(run, error) | {"version": VERSION}
    return row_of(result, key)


def row_of(result: RunResult, key: str) -> dict[str, Any]:
    """A finished run as a row of a result file."""
    row = {"key": key} | result.row()
    row |= {f"set_{name}": str(value) for name, value in result.changes.items()}
    row |= {f"param_{name}": str(value) for name, value in result.params.items()}
    return row | {"error": result.error, "version": VERSION}


def _failure(run: Run, error: Exception) -> dict[str, Any]:
    """The row of a run that could not begin, or that an unexpected exception ended."""
    choice = resolve(run.protocol)
    rule = choice.rule(run.consistency)
    row = {
        "workload": run.found.id,
        "protocol": choice.text,
        "machine": machine(run.machine).name,
        "consistency": rule,
        "model": choice.model(rule),
        "scale": run.scale,
        "seed": run.seed,
        "correct": False,
        "verdict": "failed",
        "mismatches": 0,
        "where": str(error) or type(error).__name__,
    }
    row |= {f"set_{name}": str(value) for name, value in (run.set or {}).items()}
    row |= {f"param_{name}": str(value) for name, value in (run.params or {}).items()}
    return row | {"error": type(error).__name__}


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
        raise ConfigError(f"{given!r} is not a run or a dictionary of its fields")
    else:
        known = [item.name for item in fields(Run)]
        for name in given:
            if name not in known:
                raise ConfigError(f"a run: {unknown('field', name, known)}")
        if "workload" not in given:
            raise ConfigError(f"a run needs the field workload: {dict(given)!r}")
        run = Run(**given)
    run.validate()
    return run


@short_traceback
def sweep(
    runs: Iterable[Run | Mapping[str, Any]],
    executor: Executor | None = None,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    jobs: int | None = None,
    progress: bool = False,
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

    Returns
    -------
    pandas.DataFrame
        One row per run, in the order of ``runs``. A run that ends in an error is a row that is not correct, with the
        error's kind in ``error`` and its text in ``where``.

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
        raise ConfigError(f"{runs!r} is not a list of runs")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ConfigError(f"{executor!r} is not an executor: it has no method submit")
    wanted = {key_of(run): run for run in map(as_run, runs)}
    if executor is not None and not isinstance(executor, ThreadPoolExecutor | Workers):
        for found in {id(run.found): run.found for run in wanted.values()}.values():
            pickle.dumps(found)  # an error here has its message, in the executor it is a lost run
    number = _jobs(jobs)
    with LATE_IMPORT:
        from gpucoh.experiments.results import Results, as_frame

    with terminable(), Results(None if out is None else Path(out), resume) as results:
        todo = [(key, run) for key, run in wanted.items() if key not in results.rows]
        add_rows(todo, results, jobs=number, progress=progress, work=_carry_out, executor=executor)
        rows = [results.rows[key] for key in wanted]
    return as_frame(rows)


def add_rows(
    todo: Sequence[tuple[str, Run]],
    results: Results,
    *,
    jobs: int,
    progress: bool,
    work: Callable[..., dict[str, Any]],
    executor: Executor | None = None,
) -> None:
    """Run runs and add the row of each as it finishes; finished rows are kept whatever ends this.

    Parameters
    ----------
    todo : sequence of (str, Run)
        Keys and runs.
    results : Results
        Takes the rows.
    jobs : int
        Number of threads if no executor is given.
    progress : bool
        Show a progress bar on a terminal or in a notebook.
    work : callable
        Maps a run, its key and, in threads of this process, an event that stops it, to the row.
    executor : concurrent.futures.Executor, optional
    """
    stop = threading.Event()
    own = executor is None
    pool = Workers(jobs) if executor is None else executor
    futures: list[Future[dict[str, Any]]] = []
    try:
        for key, run in todo:
            # Only threads of this process can stop in the middle of a run.
            stops = (stop,) if own else ()
            futures.append(pool.submit(work, run, key, *stops))
        _collect(futures, results, progress)
    except BaseException:
        stop.set()
        for future in futures:
            future.cancel()
        for future in futures:
            if future.done() and not future.cancelled() and future.exception() is None:
                results.add(future.result())
        raise
    finally:
        if own:
            pool.shutdown(wait=False)


def _jobs(jobs: int | None) -> int:
    return (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)


def _collect(futures: Sequence[Future[dict[str, Any]]], results: Results, progress: bool) -> None:
    """Collect results as runs finish.

    A future with an exception is a run that the executor lost. It says nothing about the run, so it is not recorded,
    and resume runs it again.
    """
    waiting, lost = set(futures), []
    with runs_bar(len(futures), enabled=progress) as report:
        while waiting:
            ended, waiting = wait(waiting, timeout=0.05, return_when=FIRST_COMPLETED)
            for future in ended:
                error = future.exception()
                if error is None:
                    row = future.result()
                    results.add(row)
                    report(f"{row['workload']} {row['protocol']}")
                elif isinstance(error, Exception):
                    lost.append(error)
                else:
                    raise error
    if lost:
        reason = " ".join(str(lost[0]).split())
        if isinstance(lost[0], BrokenExecutor) and len(lost) == len(futures):  # not even one began
            reason += (
                " In a script, start processes under if __name__ == '__main__': "
                "each new process runs the script again"
            )
        raise Error(
            f"{len(lost)} of {len(futures)} runs were lost by the executor ({type(lost[0]).__name__}: {reason}); the "
            "others are kept: continue with resume"
        )


@short_traceback
def read_sweep(path: str | Path) -> list[Run]:
    """The runs that a TOML file describes: the product of its lists.

    ``workloads protocols machines consistencies scales seeds`` are lists or single values (under the singular name,
    too); the tables ``set`` and ``params`` give machine fields and workload parameters, each a value or a list;
    ``check`` is true or false.

    Raises
    ------
    ConfigError
        If the file cannot be read or does not describe a sweep.
    """
    given = read_toml(path_of("sweep file", path), "sweep file")
    try:
        return [as_run(run) for run in _runs_of(given)]
    except ConfigError as error:
        raise ConfigError(f"sweep file {path}: {error}") from None


def _runs_of(given: Mapping[str, Any]) -> list[Run]:
    """The product of the lists and tables of a file."""
    singular = {one: many for many, one in _LISTS.items()}
    axes: dict[str, list[Any]] = {}
    tables: dict[str, dict[str, list[Any]]] = {name: {} for name in _TABLES}
    for name, value in given.items():
        many = singular.get(name, name)
        if many in _LISTS:
            if _LISTS[many] in axes:
                raise ConfigError(f"{many} are given twice, as {many} and as {_LISTS[many]}")
            axes[_LISTS[many]] = _values(name, value)
        elif name in _TABLES:
            if not isinstance(value, dict):
                raise ConfigError(f"{name} = {value!r} is not a table: {name} = {{name = value}}")
            tables[name] = {key: _values(f"{name}.{key}", item) for key, item in value.items()}
        elif name != "check":
            raise ConfigError(unknown("entry", name, [*_LISTS, *_TABLES, "check"]))
    if "workload" not in axes:
        raise ConfigError("the entry workloads is missing")
    check = given.get("check", False)
    if not isinstance(check, bool):
        raise ConfigError(f"check = {check!r} is not true or false")
    return [
        Run(**one, set=changes, params=params, check=check)
        for one in _product(axes)
        for changes in _product(tables["set"])
        for params in _product(tables["params"])
    ]


def _values(name: str, value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ConfigError(f"{name} is an empty list")
    for item in values:
        if isinstance(item, list | dict):
            raise ConfigError(f"{name}: {item!r} is not a number, text or boolean")
    return values


def _product(table: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(table, values, strict=True)) for values in itertools.product(*table.values())]
