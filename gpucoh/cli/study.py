"""``gpucoh study``: matrices of runs in one store, and their tables and figures."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gpucoh.base.errors import ConfigError
from gpucoh.base.files import results_folder
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.wording import unknown
from gpucoh.cli.options import (
    WRONG,
    JobsOption,
    JsonOption,
    LimitGibOption,
    LimitSOption,
    ProcessesOption,
    SchedulerOption,
    machine_option,
    one_form,
    print_json,
    stdout_console,
)
from gpucoh.results.runs import is_ended
from gpucoh.runs.clusters import dask_executor
from gpucoh.studies.matrices import Description
from gpucoh.studies.study import estimate, store_of, study

if TYPE_CHECKING:
    import pandas as pd

    from gpucoh.studies.tabulation import Tables

# Shown tables, in the order of the help.
SHOWN = (
    *("speedup", "heat", "regret", "scaling", "traffic", "energy", "pairs", "classes", "cells"),
    *("tuning", "busiest", "thresholds", "gaps", "failures"),
)


def study_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="Description of the study.")],
    store: Annotated[
        Path | None,
        typer.Option("--store", help="Parquet file of the rows. Default: FILE.parquet."),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(
            "--show",
            metavar="TABLE",
            help=f"Run nothing; print a table of the store: {', '.join(SHOWN)}. Repeatable.",
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            "--figures",
            metavar="FOLDER",
            help="Run nothing; draw the figures of the store as PNG, SVG and PDF.",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            metavar="N",
            help="Run N runs of each matrix, drawn at random, and estimate the processor time of the rest.",
        ),
    ] = None,
    matrix: Annotated[
        list[str] | None,
        typer.Option("--matrix", help="Run or show only this matrix; repeatable. Default: all."),
    ] = None,
    machine: Annotated[
        str | None,
        machine_option("Show only this machine. Default: all."),
    ] = None,
    energy: Annotated[
        str | None,
        typer.Option(
            "--energy", help="Coefficients of the energy: 2013 or 2024. Default: the study's."
        ),
    ] = None,
    jobs: JobsOption = None,
    processes: ProcessesOption = False,
    limit_s: LimitSOption = None,
    limit_gib: LimitGibOption = None,
    scheduler: SchedulerOption = None,
    keep_old: Annotated[
        bool,
        typer.Option(
            "--keep-old", help="Keep the rows of other code instead of running them again."
        ),
    ] = False,
    retry: Annotated[
        str | None,
        typer.Option("--retry", metavar="failed", help="Repeat runs that failed or are wrong."),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option("--part", metavar="I/N", help="Run every N-th run from the I-th on."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run what is missing of a study's matrices, or print tables and draw figures of what its store has.

    The store continues after anything: finished runs are on disk at once, and the same command runs the rest. Runs
    that fail or are wrong are cells that say so, and enter no mean. Exit status 1: a run is wrong although its
    protocol promises a memory model, or its process crashed or exceeded a limit.

    Examples:

      gpucoh study ideas.toml --sample 20

      gpucoh study ideas.toml --jobs 2

      gpucoh study ideas.toml --show regret --show pairs

      gpucoh study ideas.toml --show energy --energy 2024

      gpucoh study ideas.toml --figures figures
    """
    one_form(
        ("--show", bool(show)),
        ("--figures", figures is not None),
        ("--sample", sample is not None),
    )
    if scheduler is not None and (jobs is not None or processes):
        raise ConfigError("--jobs and --processes contradict --scheduler: give one of them")
    run = not show and figures is None
    if run and machine is not None:
        raise ConfigError("--machine needs --show or --figures: a study runs all its machines")
    path = store_of(file, store)
    if sample is not None:
        plan = Description(file, limit_s=limit_s, limit_gib=limit_gib).plan(matrix or ())
        _print_sample(estimate(plan, path, sample), as_json)
        return
    with _executor(scheduler if run else None) as executor:
        tables = study(
            file,
            executor,
            store=path,
            run=run,
            matrices=matrix or (),
            energy=energy,
            keep_old=keep_old,
            retry=retry,
            part=part,
            jobs=jobs,
            progress=not as_json,
            processes=processes,
            limit_s=limit_s,
            limit_gib=limit_gib,
        )
    if not run:
        _refuse_unknown(tables, matrix, machine)
    if show:
        _show(tables, show, matrix, machine, as_json)
    elif figures is not None:
        _draw(tables, figures, matrix, machine)
    else:
        _summarise(tables, path, as_json)


def _refuse_unknown(tables: Tables, matrix: list[str] | None, machine: str | None) -> None:
    """Refuse a matrix or machine of which the store has no row.

    Raises
    ------
    ConfigError
    """
    matrices = {one.partition("/")[0] for one in tables.rows["matrix"]}
    machines = set(tables.rows["machine"])
    for what, names, known in (
        ("matrix", matrix or (), matrices),
        ("machine", () if machine is None else (machine,), machines),
    ):
        for name in names:
            if name not in known:
                raise ConfigError(unknown(f"{what} of the store", name, sorted(known)))


@contextlib.contextmanager
def _executor(scheduler: str | None) -> Iterator[Executor | None]:
    if scheduler is None:
        yield None
        return
    with dask_executor(scheduler) as executor:
        yield executor


def _print_sample(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    for name, item in found.items():
        sys.stdout.write(
            f"{name}: {item['runs']} runs to do; {item['sample']} took {item['seconds']:.1f} s of processor time: "
            f"about {item['hours']:.2f} h\n"
        )
    sys.stdout.write(
        f"in total about {sum(item['hours'] for item in found.values()):.2f} h of processor time\n"
    )


def _show(
    tables: Tables,
    names: list[str],
    matrix: list[str] | None,
    machine: str | None,
    as_json: bool,
) -> None:
    for name in names:
        if name not in SHOWN:
            raise ConfigError(unknown("table", name, SHOWN))
    found: dict[str, Any] = {}
    console = stdout_console()
    for name in names:
        for title, table in _tables(tables, name, matrix, machine):
            if as_json:
                found[title] = table.astype(object).where(table.notna(), None).to_dict("records")
            else:
                with LATE_IMPORT:
                    from gpucoh.studies.text import as_text

                console.print(f"[bold]{title}[/]")
                console.print(as_text(table))
    if as_json:
        print_json(found)


def _tables(
    tables: Tables, name: str, matrix: list[str] | None, machine: str | None
) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables that a name means, each with its title: a heat map for each matrix and machine, else one."""
    with LATE_IMPORT:
        from gpucoh.studies.tabulation import TABLES

    if name == "heat":
        cells = _of(tables.cells, matrix, machine)
        for one, on, cores in (
            cells[["matrix", "machine", "cores"]].drop_duplicates().itertuples(index=False)
        ):
            table = tables.heat(one, on, cores)
            if table.notna().any(axis=None):
                yield f"heat: {one}, {on}, {cores} cores", _with_words(table, cells, one, on, cores)
        return
    yield name, _of(TABLES[name](tables), matrix, machine)


def _with_words(
    table: pd.DataFrame, cells: pd.DataFrame, matrix: str, machine: str, cores: int
) -> pd.DataFrame:
    """A heat map whose cells without a speedup say why: failed, wrong, gap."""
    here = cells[(cells["matrix"] == matrix) & (cells["machine"] == machine)]
    here = here[(here["cores"] == cores) & here["speedup"].isna()]
    out = table.astype(object)
    for _, cell in here.iterrows():
        place = cell["protocol"], cell["workload"]
        # The baseline has a gap under a rule that it lacks, and a speedup under its own.
        if out.loc[place] != out.loc[place]:
            out.loc[place] = cell["status"]
    return out.reset_index()


def _of(table: pd.DataFrame, matrix: list[str] | None, machine: str | None) -> pd.DataFrame:
    """The rows of some matrices, with those under a forced rule (MATRIX/RULE), and of a machine."""
    if matrix and "matrix" in table:
        table = table[table["matrix"].str.split("/").str[0].isin(matrix)]
    if machine is not None and "machine" in table:
        table = table[table["machine"] == machine]
    return table


def _draw(tables: Tables, folder: Path, matrix: list[str] | None, machine: str | None) -> None:
    """Draw every figure that has rows; say which have none."""
    with LATE_IMPORT:
        from gpucoh.figures.plots import save
        from gpucoh.studies.figures import FIGURES

    with results_folder(folder) as target:
        for name in FIGURES:
            try:
                figure = tables.plot(name, matrix[0] if matrix else None, machine)
            except ConfigError as error:
                sys.stderr.write(f"gpucoh: {name}: {error}\n")
                continue
            for path in save(figure, target, name):
                sys.stdout.write(f"{path}\n")


def _summarise(tables: Tables, path: Path, as_json: bool) -> None:
    """Print the number of runs, of wrong and failed ones and of gaps, the first wrong one, and the first whose process
    ended.
    """
    failures, gaps = tables.failures(), tables.gaps()
    runs = tables.rows[tables.rows["error"].ne("Gap")]
    wrong = failures[failures["error"].isna()]
    promised = wrong[wrong["model"].ne("none")]
    ended = failures[failures["error"].map(is_ended)]
    counts = {
        "runs": int(runs["key"].nunique()),
        "failed": int(failures["error"].notna().sum()),
        "wrong": len(wrong),
        "wrong_although_promised": len(promised),
        "gaps": len(gaps),
        "store": str(path),
    }
    if as_json:
        print_json(counts)
    else:
        sys.stdout.write(
            f"{counts['runs']} runs, {counts['failed']} failed, {counts['wrong']} wrong, {counts['gaps']} gaps, "
            f"in {path}\n"
        )
        for _, row in promised.head(1).iterrows():
            sys.stdout.write(
                f"first wrong: {row['workload']} under {row['protocol']}: {row['where']}\n"
            )
        for _, row in ended.head(1).iterrows():
            sys.stdout.write(f"first error: {row['where']}\n")
    if len(promised) or len(ended):
        raise typer.Exit(WRONG)
