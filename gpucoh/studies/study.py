"""A study: matrices of runs in one result file that continues after anything, and its tables and figures."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.base.files import path_of
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.wording import natural
from gpucoh.device.gpu import resolve
from gpucoh.results import energy as energy_model  # noqa: TID253
from gpucoh.results.energy import TERM  # noqa: TID253
from gpucoh.results.runs import RunResult
from gpucoh.results.sharing import SHARES, shares_of
from gpucoh.runs.keys import parts_of
from gpucoh.runs.rows import guarded, row_of
from gpucoh.runs.runner import Run
from gpucoh.runs.sweeps import Order, kept
from gpucoh.studies.matrices import Description, Plan, Settings, SharingRun, row_of_gap

if TYPE_CHECKING:
    from gpucoh.runs.store import Store
    from gpucoh.studies.tabulation import Tables

# Requests of a run that are kept for the measurement of sharing; of more, the last ones.
_RECORDS = 1 << 22


def study_row(
    run: Run,
    key: str,
    stop: threading.Event | None = None,
    code: str | None = None,
    always: bool = False,
) -> dict[str, Any]:
    """One run as a row: usual columns, amounts of energy and links, the protocol's own counters; or how cores share.

    A function of a module, so that processes and clusters can import it; as :func:`gpucoh.runs.rows.carry_out`.
    """

    def make() -> dict[str, Any]:
        if isinstance(run, SharingRun):
            trace = {"kinds": ["misses"], "records": _RECORDS}
            result = run.carry_out_apart(stop=stop, always=always, trace=trace)
            return row_of(result, key) | _sharing(result)
        result = run.carry_out_apart(stop=stop, always=always)
        if result.error:
            return row_of(result, key)
        more = amounts(result, run.protocol) | links(result) | own_counters(result)
        return row_of(result, key) | more

    return guarded(run, key, make, stop=stop, code=code)


def _sharing(result: RunResult) -> dict[str, float]:
    """Shares of the requests by pattern, and the number of requests; nothing of a run that failed."""
    if result.error:
        return {}
    records = result.trace.records
    found = {SHARES[name]: value for name, value in shares_of(records).items()}
    return found | {"requests": len(records), "requests_lost": result.trace.lost}


def amounts(result: RunResult, protocol: str) -> dict[str, float]:
    """The amounts of the energy model's products by part and coefficient: ``term_dram__dram_row``."""
    chosen = resolve(protocol).selected
    has_l1 = chosen.has_l1 and bool(result.configuration["l1_kib"])
    out: dict[str, float] = {}
    for term in energy_model.terms(
        result.stats, result.configuration, networks=chosen.virtual_networks, has_l1=has_l1
    ):
        name = f"{TERM}{term.part}__{term.coefficient}"
        out[name] = out.get(name, 0.0) + float(term.amount)
    return out


def links(result: RunResult) -> dict[str, int]:
    """Messages, bytes and waiting cycles of all links between dies and of all between GPUs: ``links_dies_bytes``."""
    out: dict[str, int] = {}
    for name, counted in (result.stats.get("links") or {}).items():
        place = "gpus" if name.startswith("gpu") else "dies"
        for what, value in counted.items():
            column = f"links_{place}_{what}"
            out[column] = out.get(column, 0) + int(value)
    return out


def own_counters(result: RunResult) -> dict[str, int]:
    """The counters that the protocol declares itself: ``counters_L2_inv_by_store``."""
    return {
        f"counters_{controller}_{name}": int(value)
        for controller, counted in (result.stats.get("counters") or {}).items()
        for name, value in counted.items()
    }


@door
def study(
    file: str | Path | Mapping[str, Any],
    executor: Executor | None = None,
    *,
    store: str | Path | None = None,
    run: bool = True,
    matrices: Sequence[str] = (),
    energy: str | None = None,
    keep_old: bool = False,
    retry: str | None = None,
    part: str | None = None,
    jobs: int | None = None,
    progress: bool = False,
    processes: bool = False,
    limit_s: float | None = None,
    limit_gib: float | None = None,
) -> Tables:
    """Run what is missing of a study, and give its tables and figures.

    Parameters
    ----------
    file : str, Path or dict
        The TOML file, or its content.
    executor : concurrent.futures.Executor, optional
        Threads by default; or a Dask client's ``get_executor()``, as for :func:`gpucoh.sweep`.
    store : str or Path, optional
        Parquet file of the rows, which continues. Default: that of the TOML file's name with the suffix ``.parquet``.
    run : bool, default True
        False: the tables are of the rows that the store has.
    matrices : sequence of str, optional
        Names of the matrices to run. Default: all.
    energy : {"2013", "2024"}, optional
        The coefficients of the energy. Default: the file's.
    keep_old, retry, part, jobs, progress, processes
        As for :func:`gpucoh.sweep`.
    limit_s, limit_gib : float, optional
        As for :func:`gpucoh.sweep`. Default: the file's.

    Returns
    -------
    Tables
        ``speedup() heat() regret() scaling() traffic() energy() pairs() tuning() busiest() classes() thresholds()
        gaps() failures()`` (each a DataFrame), ``plot(name)``, and ``rows``.

    Raises
    ------
    ConfigError
        For an unknown name or a bad value, before any run; if the store cannot be read or written.
    Error
        If the executor lost runs; the others are kept.
    """
    described = Description(file, energy, limit_s=limit_s, limit_gib=limit_gib)
    path = store_of(file, store)
    if run:
        run_study(
            described.plan(matrices),
            path,
            executor,
            everything=not matrices,
            keep_old=keep_old,
            retry=retry,
            part=part,
            jobs=jobs,
            progress=progress,
            processes=processes,
        )
    return tables_of(path, described.settings)


def store_of(file: str | Path | Mapping[str, Any], store: str | Path | None) -> Path:
    """The file of a study's rows."""
    if store is not None:
        return path_of("store", store)
    if isinstance(file, Mapping):
        raise ConfigError("store is missing: a study that is no file needs the path of its rows")
    return path_of("study file", file).with_suffix(".parquet")


def tables_of(path: Path, settings: Settings) -> Tables:
    """The tables of the rows in a store.

    Raises
    ------
    ConfigError
        If the store does not exist, or is no store of a study.
    """
    with LATE_IMPORT:
        from gpucoh.runs.store import read_rows
        from gpucoh.studies.tabulation import Tables

    return Tables(read_rows(path), settings)


def run_study(
    plan: Plan,
    path: Path,
    executor: Executor | None = None,
    *,
    everything: bool = True,
    runs: Mapping[str, Run] | None = None,
    **given: Any,
) -> None:
    """Run what the store lacks.

    Parameters
    ----------
    plan : Plan
        The study's runs.
    path : Path
        The store.
    everything : bool
        Whether the plan has every matrix: rows that it does not list then belong to none.
    runs : dict, optional
        Key -> run: those of the plan to run now. Default: all.
    given
        Further fields of the :class:`gpucoh.runs.sweeps.Order`.
    """
    order = Order(path, resume=True, **given)
    wanted = plan.runs if runs is None else runs
    columns = {key: plan.columns[key] for key in wanted}
    # With keep_old a row of other code is of the same run.
    listed = {parts_of(key)[0] for key in plan.runs} if order.keep_old else plan.runs

    def others(store: Store) -> None:
        if everything and runs is None and order.part is None:
            for key, row in store.rows.items():
                name = parts_of(key)[0] if order.keep_old else key
                if name not in listed and row.get("matrix"):
                    store.change(key, {"matrix": ""})
        for gap in plan.gaps:
            store.add(row_of_gap(gap))

    kept(wanted, columns, executor, order, work=study_row, others=others, level=5)


def estimate(plan: Plan, path: Path, number: int, seed: int = 0) -> dict[str, Any]:
    """Run a random sample of a study's runs one after another, keep them, and extrapolate the processor time.

    Parameters
    ----------
    plan : Plan
    path : Path
        The store, which keeps the sample's rows.
    number : int
        Runs of the sample, drawn evenly from the matrices.
    seed : int
        Of the draw.

    Returns
    -------
    dict
        Matrix -> the number of ``runs`` that the store lacks, the ``sample``, the sample's processor seconds, and the
        estimated ``hours`` of all that it lacks.
    """
    with LATE_IMPORT:
        from gpucoh.runs.store import read_rows

    draw = random.Random(seed)
    done = set(read_rows(path)["key"]) if path.exists() else set()
    _ = plan.columns  # before the clock starts
    groups: dict[str, list[str]] = {}
    for key in plan.runs:
        if key not in done:
            groups.setdefault(plan.places[key][0].partition("/")[0], []).append(key)
    out: dict[str, Any] = {}
    for name, keys in groups.items():
        chosen = sorted(draw.sample(keys, min(len(keys), natural("sample", number, smallest=1))))
        run_study(plan, path, runs={key: plan.runs[key] for key in chosen}, jobs=1)
        rows = read_rows(path).set_index("key").reindex(chosen, columns=["cpu_s", "wall_s"])
        # The process of a run that crashed or exceeded a limit leaves no processor time.
        seconds = float(rows["cpu_s"].fillna(rows["wall_s"]).sum())
        out[name] = {
            "runs": len(keys),
            "sample": len(chosen),
            "seconds": seconds,
            "hours": seconds / len(chosen) * len(keys) / 3600,
        }
    return out
