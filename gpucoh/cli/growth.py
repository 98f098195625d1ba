"""The command ``gpucoh growth``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from gpucoh.base.files import results_folder
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.wording import natural
from gpucoh.cli.options import (
    WRONG,
    JobsOption,
    JsonOption,
    ProtocolsOption,
    StoreOption,
    lists,
    print_json,
    stdout_console,
)
from gpucoh.litmus.runner import keeping
from gpucoh.runs.keys import code_digest
from gpucoh.terminal import tables
from gpucoh.verify.growth import PANELS, STATES, TITLES, Exploration, explorations, number_of


def growth_command(
    protocol: ProtocolsOption = None,
    rule: Annotated[
        str | None,
        typer.Option("-c", "--consistency", help="Consistency rule. Default: each protocol's."),
    ] = None,
    states: Annotated[
        int, typer.Option("--states", help="Largest number of states of an exploration.")
    ] = STATES,
    evictions: Annotated[
        int,
        typer.Option("--evictions", help="Largest number of spontaneous evictions per run."),
    ] = 1,
    symmetry: Annotated[
        bool,
        typer.Option(help="Count states that differ by exchanging equal cores once."),
    ] = True,
    jobs: JobsOption = None,
    store: StoreOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Output folder for the figure. Default: no figure."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Count the states of growing programs: against cores, lines and operations.

    Every core stores, loads, stores .. one line after the other, beginning with the line of its number, on cold
    caches. A number behind ">" is a bound: the exploration was ended there.

    Exit status 1: a violation was found.

    Examples:

      gpucoh growth -p mesi,gpu-vi

      gpucoh growth --states 1000000 --store growth.parquet --out figures
    """
    names = list(dict.fromkeys(lists(protocol, keeping(rule), keeping(rule))))
    workers = (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)
    works = explorations(
        names, rule, states=natural("states", states, smallest=1),
        evictions=natural("evictions", evictions), symmetry=symmetry, code=code_digest("verify"),
    )  # fmt: skip
    rows = _explored(works, store, jobs=workers, progress=not as_json)
    if out is not None:
        _draw(rows, out)
    if as_json:
        print_json(rows)
    else:
        _print(stdout_console(), rows)
    if not all(row["correct"] for row in rows):
        raise typer.Exit(WRONG)


def _explored(
    works: Sequence[Exploration], store: Path | None, *, jobs: int, progress: bool
) -> list[dict[str, Any]]:
    """The rows, of which the file keeps those that are ready."""
    with LATE_IMPORT:
        from gpucoh.runs.store import open_store
        from gpucoh.runs.works import rows_of

    with open_store(store) as kept:
        found = rows_of(works, kept, jobs=jobs, progress=progress)
    return [found[work.key] for work in works]


def _draw(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    with LATE_IMPORT:
        from gpucoh.figures.plots import save
        from gpucoh.verify.growth_figure import draw

    with results_folder(folder):
        save(draw(rows), folder, "growth")


def _print(out: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """A table for each of cores, lines and operations."""
    found = {(row["protocol"], row["cores"], row["lines"], row["operations"]): row for row in rows}
    rules = {row["protocol"]: row["consistency"] for row in rows}
    for what, sizes in PANELS.items():
        columns = ["protocol", "rule", *[str(getattr(size, what)) for size in sizes]]
        lines = [
            [name, rule, *[number_of(found[name, *size]) for size in sizes]]
            for name, rule in rules.items()
        ]
        out.print(f"states against {what}: {TITLES[what]}", highlight=False)
        out.print(tables.plain_table(columns, lines, right=range(2, len(columns))))
        out.print()
    for row in rows:
        if not row["correct"]:
            out.print(f"{row['protocol']}: {row['workload']}: {row['where']}", highlight=False)
