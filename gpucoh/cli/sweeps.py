"""``gpucoh sweep``: every combination of the values that a TOML file lists."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from gpucoh.base.errors import ConfigError, Error
from gpucoh.cli.options import (
    WRONG,
    JobsOption,
    JsonOption,
    LimitGibOption,
    LimitSOption,
    ProcessesOption,
    SchedulerOption,
    print_json,
)
from gpucoh.results.runs import is_ended
from gpucoh.runs.clusters import dask_executor
from gpucoh.runs.grids import read_sweep
from gpucoh.runs.rows import is_result
from gpucoh.runs.sweeps import sweep


def sweep_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="Description of the sweep.")],
    out: Annotated[Path, typer.Option("--out", help="Parquet file for the results.")],
    jobs: JobsOption = None,
    processes: ProcessesOption = False,
    limit_s: LimitSOption = None,
    limit_gib: LimitGibOption = None,
    scheduler: SchedulerOption = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue --out: keep its rows; run what is missing, what other code has run, and what a missing "
            "file or a lack of memory ended.",
        ),
    ] = False,
    keep_old: Annotated[
        bool,
        typer.Option(
            "--keep-old", help="As --resume, but keep the rows of other code (column code)."
        ),
    ] = False,
    retry: Annotated[
        str | None,
        typer.Option(
            "--retry",
            metavar="failed",
            help="As --resume, but also repeat runs that failed (deadlock, budget, bad access) or are wrong.",
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(
            "--part",
            metavar="I/N",
            help="Run every N-th combination from the I-th on (1 to N), e.g. 3/16: for N jobs with an --out each.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run every combination of the values listed in a TOML file; store the results in a Parquet file.

    The file holds the lists workloads, protocols, machines, consistencies, scales, seeds, and the tables set,
    params and options, whose values may be lists; at most 1,000,000 combinations; limit_s and limit_gib. A workload
    FILE.py:NAME executes that file.

    A finished run is on disk at once. Ctrl-C, SIGTERM and SIGHUP keep the finished runs; --resume continues. --json
    prints the rows: {"out": file, "runs": [{column: value}]}. Exit status 1: a run failed, or is wrong although its
    protocol promises a memory model; 2: a missing file, a lack of memory or a lost worker ended a run.

    Examples:

      gpucoh sweep l1-sizes.toml --out l1-sizes.parquet --resume

      gpucoh sweep l1-sizes.toml --out l1-sizes-3.parquet --part 3/16

      gpucoh sweep l1-sizes.toml --out l1-sizes.parquet --scheduler tcp://10.0.0.1:8786

      with: workloads = ["bfs"]  protocols = ["no-l1", "ideal"]  seeds = [0, 1]  set = {l1_kib = [16, 32, 64]}
    """
    if scheduler is not None and (jobs is not None or processes):
        given = "--jobs" if jobs is not None else "--processes"
        raise ConfigError(f"{given} and --scheduler contradict each other: give one of them")
    runs = read_sweep(file)
    with contextlib.nullcontext() if scheduler is None else dask_executor(scheduler) as executor:
        table = sweep(
            runs,
            executor,
            out=out,
            resume=resume,
            keep_old=keep_old,
            retry=retry,
            part=part,
            jobs=jobs,
            progress=not as_json,
            limit_s=limit_s,
            limit_gib=limit_gib,
            processes=processes,
        )
    rows: list[Any] = table.astype(object).where(table.notna(), None).to_dict("records")
    if as_json:
        print_json({"out": str(out), "runs": rows})
    else:
        sys.stdout.write(f"{_counts(rows)}, in {out}\n")
    _end(rows, sys.stderr if as_json else sys.stdout)


def _counts(rows: Sequence[Mapping[str, Any]]) -> str:
    """The number of runs, of wrong ones (not where no memory model is promised), and of failed ones."""
    wrong = sum(row["error"] is None and _counts_as_failure(row) for row in rows)
    failed = sum(row["error"] is not None for row in rows)
    return f"{len(rows)} runs, {wrong} wrong" + (f", {failed} failed" if failed else "")


def _counts_as_failure(row: Mapping[str, Any]) -> bool:
    return is_ended(row["error"]) or (row["correct"] is False and row["model"] != "none")


def _end(rows: Sequence[Mapping[str, Any]], to: TextIO) -> None:
    """Print the first error, if there is one, and end with the exit status, if it is not 0.

    Raises
    ------
    Error
        If the environment has ended a run, and no run is wrong.
    """
    failed = [row for row in rows if row["error"] is not None]
    if failed:
        first = failed[0]
        where = " ".join(str(first["where"]).split())
        to.write(
            f"first error: {first['workload']} under {first['protocol']}, seed {first['seed']}: {where}\n"
        )
    if any(is_result(row) and _counts_as_failure(row) for row in rows):
        raise typer.Exit(WRONG)
    lost = sum(not is_result(row) for row in rows)
    if lost:
        raise Error(
            f"{lost} of {len(rows)} runs could not be carried out: --resume repeats them, and keeps the others"
        )
