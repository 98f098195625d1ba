"""Many runs, in threads, processes or on a cluster, with results kept in a Parquet file.

A sweep is a list of :class:`gpucoh.runner.Run`; a TOML file describes one as the product of its lists.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import threading
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpucoh.bars import runs_bar
from gpucoh.errors import ConfigError
from gpucoh.gpu import VERSION, resolve
from gpucoh.runner import Run
from gpucoh.suite import workload as find_workload
from gpucoh.units import nearest

if TYPE_CHECKING:
    import pandas as pd

# Results are on disk at most this long after they were computed.
FLUSH_SECONDS = 5.0

_LISTS = {"workloads": "workload", "protocols": "protocol", "machines": "machine", "seeds": "seed"}
_LISTS |= {"consistencies": "consistency", "scales": "scale"}


def key_of(run: Run) -> str:
    """What a run is known by in a file of results: a hash of everything that its result depends on."""
    built, budget = run.machine_and_budget()
    what = {
        "version": VERSION,
        "workload": find_workload(run.workload).id,
        "protocol": run.protocol,
        "consistency": resolve(run.protocol).rule(run.consistency),
        "machine": built.to_core(),
        "budget": budget,
        "scale": run.scale,
        "seed": run.seed,
        "params": {key: str(value) for key, value in (run.params or {}).items()},
        "check": run.check,
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:24]


def _carry_out(run: Run, key: str, stop: threading.Event | None = None) -> dict[str, Any]:
    """One run as one flat row; a function of the module, so that processes and clusters can be sent it."""
    result = run.carry_out(capture=True, stop=stop)
    row = {"key": key} | result.row()
    row |= {f"set_{name}": str(value) for name, value in result.changes.items()}
    row |= {f"param_{name}": str(value) for name, value in result.params.items()}
    return row | {"version": VERSION}


def as_run(given: Run | Mapping[str, Any]) -> Run:
    """A run from a dictionary of :class:`Run`'s fields, checked as far as it can be before it runs.

    Raises
    ------
    ConfigError
        For an unknown field, or anything unknown or unfit in them.
    """
    if isinstance(given, Run):
        run = given
    else:
        known = [item.name for item in fields(Run)]
        for name in given:
            if name not in known:
                raise ConfigError(
                    f"a run has no field {name!r}; it has {', '.join(known)}{nearest(name, known)}"
                )
        if "workload" not in given:
            raise ConfigError(f"a run needs a workload: {dict(given)!r}")
        run = Run(**given)
    find_workload(run.workload).setting(run.scale, run.seed, run.params)
    return run


def sweep(
    runs: Iterable[Run | Mapping[str, Any]],
    executor: Executor | None = None,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    jobs: int | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Carry out many runs.

    Parameters
    ----------
    runs : iterable of Run or dict
        What :func:`gpucoh.run` takes, one entry a run: ``{"workload": "bfs", "protocol": "ideal", "seed": 1}``.
    executor : concurrent.futures.Executor, optional
        Threads by default; processes, or a Dask client's ``get_executor()``, serve as well.
    out : str or Path, optional
        A Parquet file that the results are kept in, written whole each time: it is never half-written.
    resume : bool, default False
        Keep what ``out`` holds, and carry out only the runs that are not in it. Otherwise ``out`` must not exist.
    jobs : int, optional
        Threads, where no executor is given; by default one a processor.
    progress : bool, default False
        Show a progress bar when standard error is a terminal.

    Returns
    -------
    pandas.DataFrame
        One row a run, in the order of ``runs``; a run that ends in an error is a row that is not correct.

    Raises
    ------
    ConfigError
        For anything unknown or unfit, before anything is run.
    """
    wanted = {key_of(run): run for run in map(as_run, runs)}
    done = _known(None if out is None else Path(out), resume)
    todo = [(key, run) for key, run in wanted.items() if key not in done]
    stop = threading.Event()
    own = executor is None
    pool = ThreadPoolExecutor(_jobs(jobs)) if executor is None else executor
    try:
        # Only threads of this process can be told to stop in the middle of a run.
        futures = [
            pool.submit(_carry_out, run, key, stop) if own else pool.submit(_carry_out, run, key)
            for key, run in todo
        ]
        try:
            _collect(futures, done, None if out is None else Path(out), progress)
        except BaseException:
            stop.set()
            for future in futures:
                future.cancel()
            raise
    finally:
        if own:
            pool.shutdown(wait=True)
    import pandas as pd  # here: it is large, and a run alone does not need it

    return pd.DataFrame([done[key] for key in wanted])


def _jobs(jobs: int | None) -> int:
    number = (os.cpu_count() or 1) if jobs is None else jobs
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ConfigError(f"jobs = {jobs!r} is not a whole number of at least 1")
    return number


def _collect(
    futures: Sequence[Future[dict[str, Any]]],
    done: dict[str, dict[str, Any]],
    out: Path | None,
    progress: bool,
) -> None:
    """Take results as they come, and write them down every few seconds, at the end, and when interrupted."""
    waiting, written = set(futures), time.monotonic()
    try:
        with runs_bar(len(futures), enabled=progress) as report:
            while waiting:
                ended, waiting = wait(waiting, timeout=0.05, return_when=FIRST_COMPLETED)
                for future in ended:
                    row = future.result()
                    done[row["key"]] = row
                    report(f"{row['workload']} {row['protocol']}")
                if out is not None and ended and time.monotonic() - written > FLUSH_SECONDS:
                    _write(done, out)
                    written = time.monotonic()
    finally:
        if out is not None and done:
            _write(done, out)


def _known(out: Path | None, resume: bool) -> dict[str, dict[str, Any]]:
    """The rows that a file of results holds already, by key."""
    if out is None:
        if resume:
            raise ConfigError("resume needs the file to resume from: out")
        return {}
    if not out.parent.is_dir():
        raise ConfigError(f"{out}: the folder {out.parent} does not exist")
    if not out.exists():
        return {}
    if not resume:
        raise ConfigError(f"{out} exists: remove it, or go on from it with resume")
    try:
        import pandas as pd  # here: it is large, and a run alone does not need it

        table = pd.read_parquet(out)
        return {str(row["key"]): row for row in table.to_dict("records")}  # type: ignore[misc]
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(f"{out} is not a file of results: {error}") from None


def _write(done: Mapping[str, Mapping[str, Any]], out: Path) -> None:
    """Write all rows beside the file and put them in its place at once."""
    part = out.with_name(f".{out.name}.part")
    import pandas as pd  # here: it is large, and a run alone does not need it

    table = pd.DataFrame(list(done.values()))
    try:
        table.to_parquet(part, index=False)
        os.replace(part, out)
    except OSError as error:
        raise ConfigError(f"{out} cannot be written: {error.strerror or error}") from None


def read_sweep(path: str | Path) -> list[Run]:
    """The runs that a TOML file describes: the product of its lists.

    ``workloads protocols machines consistencies scales seeds`` are lists (or one value); the tables ``set`` and
    ``params`` give machine fields and workload parameters, each a value or a list; ``check`` is true or false.

    Raises
    ------
    ConfigError
        If the file cannot be read or describes no sweep.
    """
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"sweep file {path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"sweep file {path}: not TOML: {error}") from None
    singular = {one: many for many, one in _LISTS.items()}
    axes: dict[str, list[Any]] = {}
    tables: dict[str, dict[str, list[Any]]] = {"set": {}, "params": {}}
    check = False
    for name, value in given.items():
        if name in tables and isinstance(value, dict):
            tables[name] = {key: _list(item) for key, item in value.items()}
        elif name == "check" and isinstance(value, bool):
            check = value
        elif name in _LISTS or name in singular:
            axes[_LISTS.get(name, name)] = _list(value)
        else:
            known = [*_LISTS, *tables, "check"]
            raise ConfigError(
                f"sweep file {path}: unknown entry {name!r}; entries are {', '.join(known)}"
                f"{nearest(name, known)}"
            )
    if not axes.get("workload"):
        raise ConfigError(f"sweep file {path}: it names no workloads")
    runs = []
    for values in itertools.product(*axes.values()):
        base = Run(**dict(zip(axes, values, strict=True)), check=check)
        for changes in _product(tables["set"]):
            runs += [
                replace(base, set=changes, params=params) for params in _product(tables["params"])
            ]
    try:
        return [as_run(run) for run in runs]
    except ConfigError as error:
        raise ConfigError(f"sweep file {path}: {error}") from None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _product(table: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(table, values, strict=True)) for values in itertools.product(*table.values())]
