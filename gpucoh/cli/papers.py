"""The commands ``gpucoh reproduce`` and ``gpucoh scorecard``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from gpucoh.base.errors import ConfigError
from gpucoh.base.files import results_folder, whole_file
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.wording import natural, unknown
from gpucoh.cli.options import (
    WRONG,
    JobsOption,
    JsonOption,
    ScaleOption,
    StoreOption,
    pairs,
    print_json,
    stdout_console,
)
from gpucoh.cli.options import (
    seeds as parse_seeds,
)
from gpucoh.device.gpu import protocols, resolve
from gpucoh.suite import SCALES
from gpucoh.terminal import tables

ReplaceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--replace",
        metavar="ID=OTHER",
        help="Run another protocol, or the C file of one, wherever the paper's claims name this one; repeatable.",
    ),
]


def reproduce_command(
    paper_id: Annotated[str, typer.Argument(metavar="PAPER", help="tc, rcc, denovo, stc or qr")],
    figure: Annotated[
        str | None,
        typer.Argument(metavar="[FIGURE]", help="One figure, e.g. 7a. Default: all."),
    ] = None,
    scale: ScaleOption = "small",
    jobs: JobsOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Output folder. Default: ./figures/PAPER.")
    ] = None,
    store: StoreOption = None,
    replace: ReplaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Redraw a paper's figures from simulated runs; write figure files, CSV and JSON.

    Workload groups, baselines and means are the paper's. Exit status 1: a run is wrong that a mean includes.

    Examples:

      gpucoh reproduce tc 7a

      gpucoh reproduce tc --scale tiny --out tc

      gpucoh reproduce rcc table-V

      gpucoh reproduce tc 7a --replace tc-weak=./mine.c
    """
    with LATE_IMPORT:
        from gpucoh.papers import load, reproduce
        from gpucoh.papers.figures import chosen

    paper, specs = load(paper_id), chosen(paper_id, figure)
    folder = out or Path("figures") / paper_id
    with results_folder(folder):
        bench = _bench(paper, scale, (0,), jobs, store, not as_json, replace)
        drawn = reproduce(paper, specs, bench, folder)
    if as_json:
        print_json(drawn)
    else:
        for item in drawn:
            _print_figure(stdout_console(), item)
    if any(item["wrong"] for item in drawn):
        raise typer.Exit(WRONG)


def scorecard_command(
    paper_id: Annotated[str | None, typer.Argument(metavar="[PAPER]", help="Default: all.")] = None,
    scale: ScaleOption = "small",
    seed: Annotated[int, typer.Option("--seed", help="Random seed, or the first of several.")] = 0,
    seeds: Annotated[
        str | None,
        typer.Option("--seeds", help="Number of seeds, or a list of them (0,1,2). Default: 1."),
    ] = None,
    jobs: JobsOption = None,
    store: StoreOption = None,
    replace: ReplaceOption = None,
    readings: Annotated[
        bool,
        typer.Option("--readings", help="Run the headlines under every reading of the paper."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for table, JSON and runs of --readings. Default: ./readings.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare every claim of a paper with the measured value: agreement in size, in direction, or none.

    With several seeds the measured value is the median of the seeds' values, and the range is printed beside it.
    Claims about behaviour are counted apart from declared ones: arithmetic on declared fields and states.

    With --readings, at most eight headlines a paper instead, each under the values in use, under every other
    reading that touches it alone, by the rule of docs/readings.md, and under all readings that lower it or raise it
    together. The table has the range and the reading at each end, 95% intervals over seeds and over resampled
    workloads, and the agreement at the lower end, as in use, and at the upper end. A headline that changes sides
    has a sentence below the table. Runs are kept in the folder of --out: an interrupted command continues.

    Examples:

      gpucoh scorecard tc

      gpucoh scorecard tc --seeds 5 --store tc.parquet

      gpucoh scorecard tc --replace tc-weak=./mine.c

      gpucoh scorecard stc --readings --seeds 5
    """
    with LATE_IMPORT:
        from gpucoh.papers import load, papers, scorecard

    if out and not readings:
        raise ConfigError("--out is an option of gpucoh scorecard --readings")
    if replace and readings:
        raise ConfigError(
            "--readings and --replace contradict each other: a paper's readings are of its protocols"
        )
    chosen, verdicts = parse_seeds(seeds, seed), []
    listed = [load(name) for name in (papers() if paper_id is None else (paper_id,))]
    if readings:
        _headlines(listed, out or Path("readings"), as_json, scale, chosen, jobs, store)
        return
    for paper in listed:
        verdicts += scorecard(
            paper, _bench(paper, scale, chosen, jobs, store, not as_json, replace)
        )
    if as_json:
        print_json([verdict.to_dict() for verdict in verdicts])
        return
    _print_verdicts(stdout_console(), verdicts)


def _headlines(
    papers: Sequence[Any],
    folder: Path,
    as_json: bool,
    scale: str,
    seeds: tuple[int, ...],
    jobs: int | None,
    store: Path | None,
) -> None:
    """Measure papers' headlines under their readings; print them, and write them to a folder."""
    with LATE_IMPORT:
        from gpucoh.papers.multiverse import COLUMNS, cells, multiverse, page, summary

    every: list[dict[str, Any]] = []
    with results_folder(folder):
        for paper in papers:
            stem = f"{paper.id}-{scale}"
            kept = store or folder / f"{stem}.parquet"
            bench = _bench(paper, scale, seeds, jobs, kept, not as_json, None)
            found = multiverse(paper, bench)
            dicts = [one.to_dict() for one in found]
            every += dicts
            for suffix, text in (("md", page(found)), ("json", json.dumps(dicts, indent=2))):
                with whole_file(folder / f"{stem}.{suffix}") as part:
                    part.write_text(f"{text}\n", encoding="utf-8")
            if not as_json:
                rows = [[Text(cell) for cell in cells(one)] for one in found]
                _print_wide(stdout_console(), tables.plain_table(COLUMNS, rows))
                sys.stdout.write("".join(f"{line}\n" for line in summary(found)))
    if as_json:
        print_json(every)


def _bench(
    paper: Any,
    scale: str,
    seeds: tuple[int, ...],
    jobs: int | None,
    store: Path | None,
    progress: bool,
    replace: list[str] | None,
) -> Any:
    with LATE_IMPORT:
        from gpucoh.papers.runs import bench_of

    if scale not in SCALES:
        raise ConfigError(unknown("scale", scale, SCALES))
    number = (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)
    return bench_of(
        paper,
        scale=scale,
        seeds=seeds,
        jobs=number,
        progress=progress,
        store=store,
        replaced=_replaced(replace),
    )


def _replaced(given: list[str] | None) -> dict[str, str]:
    """The protocols that others replace, by id."""
    out = pairs("--replace", given)
    for name, other in out.items():
        if name not in protocols():
            raise ConfigError(f"--replace {name}={other}: {unknown('protocol', name, protocols())}")
        resolve(other)
    return out


def _print_verdicts(console: Console, verdicts: list[Any]) -> None:
    with LATE_IMPORT:
        from gpucoh.papers.amounts import digits
        from gpucoh.papers.verdicts import counts

    rows = [
        [
            v.id,
            v.figure,
            v.kind,
            v.measure,
            Text(f"{v.subject} / {v.baseline}" if v.baseline else v.subject),
            v.claimed if not isinstance(v.claimed, float) else _ratio(v.claimed, digits(v.measure)),
            _ratio(v.measured, digits(v.measure)),
            "" if v.spread is None else " to ".join(_ratio(x, digits(v.measure)) for x in v.spread),
            v.agrees.replace("_", " "),
            Text(v.reason),
        ]
        for v in verdicts
    ]
    columns = ["claim", "figure", "kind", "measure", "of", "paper", "here", "range", "agrees", ""]
    if not any(v.spread for v in verdicts):
        columns, rows = columns[:7] + columns[8:], [row[:7] + row[8:] for row in rows]
    console.print(tables.plain_table(columns, rows, right=(5, 6)))
    sys.stdout.write(f"{counts(verdicts)}\n")


def _group(row: dict[str, Any]) -> str:
    """The set of workloads, and the part of the inputs' size if the figure has several."""
    return str(row["group"]) + (f", 1/{row['smaller']} of the size" if "smaller" in row else "")


def _print_figure(console: Console, item: dict[str, Any]) -> None:
    with LATE_IMPORT:
        from gpucoh.papers.amounts import digits

    console.print(f"figure {item['figure']}: {item['title']}", style="bold", highlight=False)
    if item["baseline"]:
        console.print(f"relative to {item['baseline']}", markup=False, highlight=False)
    if item["rows"]:
        columns = list(item["rows"][0])
        rows = [[_cell(row[name]) for name in columns] for row in item["rows"]]
        table = tables.plain_table(columns, rows)
        _print_wide(console, table)
    else:
        measures = list(item["kinds"])
        columns = [
            f"{name.replace('_', ' ')}\n({kind.replace(' mean', '')})"
            for name, kind in item["kinds"].items()
        ]
        rows = [
            [
                Text(_group(row)),
                Text(row["protocol"]),
                *(Text(_ratio(row[name], digits(name))) for name in measures),
            ]
            for row in item["means"]
        ]
        right = tuple(range(2, 2 + len(measures)))
        console.print(tables.plain_table(["workloads", "protocol", *columns], rows, right=right))
    for word in ("left_out", "wrong"):
        if item[word]:
            console.print(f"{word.replace('_', ' ')}: {', '.join(item[word])}", markup=False)
    console.print(f"wrote {item['files'][0]}", markup=False)
    console.print()


def _print_wide(console: Console, table: Table) -> None:
    """Print a table in up to 200 columns. A narrow terminal wraps the lines: folded cells would break the ids."""
    wide = console.options.update(max_width=200)
    width = max(console.width, Measurement.get(console, wide, table).maximum)
    Console(file=console.file, force_terminal=console.is_terminal, width=width).print(table)


def _cell(value: object) -> Text:
    return Text("-" if value is None else str(value))


def _ratio(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
