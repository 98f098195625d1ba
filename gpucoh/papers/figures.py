"""The figures of the papers, redrawn with the same groups, baselines and means."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from gpucoh.base.canvas import png
from gpucoh.base.errors import ConfigError, Note
from gpucoh.base.files import whole_file
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import unknown
from gpucoh.device.choices import split_options
from gpucoh.figures.plots import flits, save
from gpucoh.papers import drawing
from gpucoh.papers.amounts import AMOUNTS
from gpucoh.papers.bars import Group, absolute, first_mean, ratio, shown_group, usable
from gpucoh.papers.catalogue import FIGURES
from gpucoh.papers.claims import Paper, load
from gpucoh.papers.panels import FigureSpec, Panel, Spec, TableSpec
from gpucoh.papers.runs import Bench, Runs, bench_of, by_machine, missing_protocol, present

if TYPE_CHECKING:
    import pandas as pd


def _plain(figure: str) -> str:
    """A figure's id without the words that may precede its number."""
    return figure.lower().removeprefix("fig").removeprefix("ure").removeprefix("table").strip(" -")


def chosen(paper: str, figure: str | None) -> tuple[Spec, ...]:
    """The figures and tables of a paper whose id is ``figure`` or begins with it; by default all.

    Raises
    ------
    ConfigError
        If the paper or figure is unknown.
    """
    load(paper)
    specs = FIGURES[paper]
    if figure is None:
        return specs
    wanted = _plain(figure)
    found = tuple(spec for spec in specs if spec.id == figure) or tuple(
        spec for spec in specs if wanted in (_plain(spec.id), _plain(spec.id).rstrip("abcde"))
    )
    if not found:
        ids = [spec.id for spec in specs]
        raise ConfigError(f"paper {quoted(paper)}: {unknown('figure', figure, ids)}")
    return found


def members(paper: Paper, group: str) -> tuple[str, ...]:
    """The workloads of a paper's set, or the single workload of that name."""
    return paper.groups.get(group, (group,))


def reproduce(
    paper: Paper, specs: Sequence[Spec], bench: Bench, folder: Path
) -> list[dict[str, object]]:
    """Run the runs of figures and draw them, each as PNG, SVG, PDF, CSV and JSON in the folder.

    Returns
    -------
    list of dict
        One per figure or table: id, title, baseline, files, means by group and protocol, their kinds by measure, the
        rows of a table, what was left out because it is not built in, and which runs were wrong.
    """
    specs = _as_run(specs, bench)
    panels = _panels(paper, specs, bench)
    return [
        _write_table(paper, spec, folder)
        if isinstance(spec, TableSpec)
        else _reproduce_one(paper, spec, panels[spec.id], folder)
        for spec in specs
    ]


def _as_run(specs: Sequence[Spec], bench: Bench) -> list[Spec]:
    """Figures with the protocols that the bench runs where the figures name theirs.

    A figure about options of a protocol that is replaced is left out.
    """
    out: list[Spec] = []
    for spec in specs:
        if isinstance(spec, TableSpec):
            out.append(spec)
            continue
        names = [split_options(name) for name in spec.protocols]
        of_options = [name for name, given in names if given and name in bench.replaced]
        if of_options:
            why = f"figure {spec.id} is about options of {of_options[0]}, which is replaced: it is left out"
            warnings.warn(why, Note, stacklevel=3)
            continue
        baseline = bench.protocol(spec.baseline) if spec.baseline else ""
        order = spec.order and (spec.order[0], bench.protocol(spec.order[1]))
        protocols = tuple(map(bench.protocol, spec.protocols))
        out.append(replace(spec, protocols=protocols, baseline=baseline, order=order))
    return out


@dataclass(frozen=True, repr=False)
class PaperFigure:
    """A figure of a paper, redrawn from simulated runs; a notebook shows the drawing.

    Attributes
    ----------
    spec : FigureSpec or TableSpec
    figure : matplotlib.figure.Figure
    means : pandas.DataFrame
        The mean bars, by group and protocol; empty for a table.
    table : pandas.DataFrame
        Every run of the figure, or the rows of the table.
    """

    spec: Spec
    figure: Figure
    means: pd.DataFrame
    table: pd.DataFrame

    def __repr__(self) -> str:
        return (
            f"<gpucoh.papers.PaperFigure {self.spec.id}: {self.spec.title}, {len(self.table)} rows>"
        )

    def _repr_png_(self) -> bytes:
        return png(self.figure)


def paper_figure(
    paper: str,
    figure: str,
    scale: str = "small",
    jobs: int = 1,
    store: str | Path | None = None,
    progress: bool = False,
) -> PaperFigure:
    """Redraw one figure of a paper without files, as ``gpucoh reproduce PAPER FIGURE`` does with files.

    Parameters
    ----------
    paper, figure : str
        The paper's and the figure's id: ``"tc"``, ``"7a"``.
    scale : {"tiny", "small", "paper"}
        Input size.
    jobs : int
        Parallel runs.
    store : str or Path, optional
        Parquet file that keeps the runs as they finish.
    progress : bool
        Show a progress bar on a terminal and in a notebook.

    Raises
    ------
    ConfigError
        If the paper is unknown, or the figure's id is unknown or names several.
    """
    with LATE_IMPORT:
        import pandas as pd

    described, specs = load(paper), chosen(paper, figure)
    if len(specs) > 1:
        ids = ", ".join(spec.id for spec in specs)
        raise ConfigError(
            f"figure {quoted(figure)} of paper {quoted(paper)} has parts: choose one of {ids}"
        )
    spec = specs[0]
    if isinstance(spec, TableSpec):
        rows = spec.rows(described)
        return PaperFigure(
            spec, drawing.table(spec.title, rows), pd.DataFrame(), pd.DataFrame(rows)
        )
    kept = None if store is None else Path(store)
    bench = bench_of(described, scale=scale, jobs=jobs, progress=progress, store=kept)
    (spec,) = [one for one in _as_run([spec], bench) if isinstance(one, FigureSpec)]
    panels = _panels(described, [spec], bench)[spec.id]
    means = pd.DataFrame(_by_group(panels, _mean_rows))
    return PaperFigure(spec, spec.draw(panels), means, _table(panels))


def _panels(paper: Paper, specs: Sequence[Spec], bench: Bench) -> dict[str, list[Panel]]:
    """The panels of figures by the figures' ids; all runs on one machine run together."""
    drawn = [spec for spec in specs if isinstance(spec, FigureSpec)]
    for _, alike in by_machine(drawn):
        sizes = dict.fromkeys((spec.input, size) for spec in alike for size in spec.smaller)
        for name, divisor in sizes:
            of_size = [spec for spec in alike if spec.input == name and divisor in spec.smaller]
            _sized(paper, of_size[0], bench, divisor).get(
                pair
                for spec in of_size
                for group in spec.groups
                for pair in _runs(paper, spec, group)
            )
    return {
        spec.id: [
            _panel(paper, spec, group, _sized(paper, spec, bench, divisor), divisor)
            for divisor in spec.smaller
            for group in spec.groups
        ]
        for spec in drawn
    }


def _sized(paper: Paper, spec: FigureSpec, bench: Bench, divisor: int) -> Bench:
    """The bench of a figure's machine and inputs, with the inputs' sizes divided."""
    given = bench.on(spec.machine).given(paper.inputs.get(spec.input, {}))
    return given.smaller(paper.sizes, divisor)


def _protocols(spec: FigureSpec) -> list[str]:
    return [name for name in spec.protocols if not missing_protocol(name)]


def _shown(paper: Paper, spec: FigureSpec, group: str, measure: str) -> Group:
    """The bars of a panel; those that the paper's file does not describe are relative to the figure's baseline."""
    names = present(members(paper, group))
    shown = shown_group(paper, measure, spec.id, names)
    if shown is not None:
        return shown
    kind = first_mean(paper, measure)[1] if spec.baseline else spec.mean
    baselines = dict.fromkeys(names, spec.baseline)
    return Group(measure=paper.amount(measure), baselines=baselines, kind=kind)


def _runs(paper: Paper, spec: FigureSpec, group: str) -> Iterator[tuple[str, str]]:
    """The (workload, protocol) pairs of a panel, and those to which its mean bars are relative."""
    for measure in spec.measures:
        for name, baseline in _shown(paper, spec, group, measure).baselines.items():
            more = (baseline, spec.order[1] if spec.order else "")
            yield from ((name, one) for one in (*_protocols(spec), *more) if one)


def _ordered(spec: FigureSpec, names: Sequence[str], runs: Runs) -> list[str]:
    """The workloads in the figure's order."""
    if spec.order is None:
        return list(names)
    measure, protocol = spec.order
    return sorted(names, key=lambda name: AMOUNTS[measure](runs[name, protocol]) or 0.0)


def _panel(paper: Paper, spec: FigureSpec, group: str, bench: Bench, divisor: int) -> Panel:
    runs = bench.runs(bench.seeds[0])
    names, protocols = _ordered(spec, present(members(paper, group)), runs), _protocols(spec)
    groups = {measure: _shown(paper, spec, group, measure) for measure in spec.measures}
    bars = {measure: _bars(spec, shown.measure, names, runs) for measure, shown in groups.items()}
    used = {
        measure: {
            protocol: usable(shown, (protocol, spec.baseline), runs).only(
                [
                    name
                    for name in names
                    if spec.baseline or bars[measure][name][protocol] is not None
                ]
            )
            for protocol in protocols
        }
        for measure, shown in groups.items()
    }
    means = {
        measure: {
            protocol: kept.against(protocol, spec.baseline, runs)
            if spec.baseline
            else absolute(kept.measure, protocol, list(kept.baselines), runs, kept.kind)
            for protocol, kept in by_protocol.items()
        }
        for measure, by_protocol in used.items()
    }
    return Panel(
        title=spec.title,
        group=group,
        comparison=bench.comparison(names, protocols, spec.baseline or protocols[0]),
        bars=bars,
        means=means,
        traffic={
            protocol: _scaled(
                kept.parts(protocol, runs, flits),
                means["traffic"][protocol],
            )
            for protocol, kept in used.get("traffic", {}).items()
        },
        counted={
            measure: {protocol: len(kept.baselines) for protocol, kept in by_protocol.items()}
            for measure, by_protocol in used.items()
        },
        kinds={
            measure: f"{shown.kind} mean" + (" of times" if shown.times else "")
            for measure, shown in groups.items()
        },
        smaller=divisor,
        sizes={name: bench.parameter(name, paper.sizes[name]) for name in names}
        if len(spec.smaller) > 1
        else {},
    )


def _bars(
    spec: FigureSpec, amount: str, names: Sequence[str], runs: Runs
) -> dict[str, dict[str, float | None]]:
    """The bar of every workload and protocol."""

    def bar(name: str, protocol: str) -> float | None:
        run = runs[name, protocol]
        if not spec.baseline:
            return AMOUNTS[amount](run)
        return ratio(amount, run, runs[name, spec.baseline])

    return {
        name: {protocol: bar(name, protocol) for protocol in _protocols(spec)} for name in names
    }


def _scaled(parts: Mapping[str, float], total: float | None) -> dict[str, float]:
    """Parts that sum to a total, in the same shares."""
    whole = sum(parts.values())
    return {name: part / whole * (total or 0.0) for name, part in parts.items()} if whole else {}


def _reproduce_one(
    paper: Paper, spec: FigureSpec, panels: Sequence[Panel], folder: Path
) -> dict[str, object]:
    return _write(
        spec.draw(panels),
        _table(panels),
        folder,
        _described(
            paper,
            spec,
            baseline=spec.baseline,
            means=_by_group(panels, _mean_rows),
            kinds=dict(panels[0].kinds),
            left_out=_left_out(paper, spec),
            wrong=[
                f"{run.workload} under {run.protocol}"
                for panel in panels
                for run in panel.comparison.failures
            ],
        ),
        bars=_by_group(panels, _bar_rows),
        summary=_by_group(panels, lambda panel: panel.comparison.summary),
    )


def _write_table(paper: Paper, spec: TableSpec, folder: Path) -> dict[str, object]:
    with LATE_IMPORT:
        import pandas as pd

    rows = spec.rows(paper)
    figure = drawing.table(spec.title, rows)
    return _write(figure, pd.DataFrame(rows), folder, _described(paper, spec, rows=rows))


def _described(paper: Paper, spec: Spec, **found: Any) -> dict[str, Any]:
    """What :func:`reproduce` returns for a figure or table, but its files."""
    named = {"paper": paper.id, "figure": spec.id, "title": spec.title, "baseline": ""}
    nothing: dict[str, Any] = {"means": [], "kinds": {}, "rows": [], "left_out": [], "wrong": []}
    return named | nothing | found


def _write(
    figure: Figure, table: pd.DataFrame, folder: Path, drawn: Mapping[str, Any], **more: Any
) -> dict[str, object]:
    """Write a figure, its table, and what describes it; ``more`` is in the JSON file alone."""
    stem = f"{drawn['paper']}-{drawn['figure']}"
    files = save(figure, folder, stem)
    with whole_file(folder / f"{stem}.csv") as part:
        table.to_csv(part, index=False)
    with whole_file(folder / f"{stem}.json") as part:
        part.write_text(json.dumps({**drawn, **more}, indent=2) + "\n", encoding="utf-8")
    files += [folder / f"{stem}.csv", folder / f"{stem}.json"]
    return {**drawn, "files": [str(path) for path in files]}


def _mean_rows(panel: Panel) -> list[dict[str, Any]]:
    """One entry per protocol: its mean bars over those of the figure's baseline."""
    counts = {row["protocol"]: row["workloads"] for row in panel.comparison.mean_rows()}
    rows = []
    for protocol in panel.comparison.protocols:
        row = {"protocol": protocol, "workloads": counts[protocol]}
        if panel.kinds.get("speedup") == "harmonic mean":
            row["speedup_harmonic"] = panel.means["speedup"][protocol]
        rows.append(row | {measure: means[protocol] for measure, means in panel.means.items()})
    return rows


def _bar_rows(panel: Panel) -> list[dict[str, Any]]:
    """One entry per workload and protocol: its bars by measure."""
    return [
        {"workload": name, "protocol": protocol}
        | {measure: bars[name][protocol] for measure, bars in panel.bars.items()}
        for name in panel.comparison.workloads
        for protocol in panel.comparison.protocols
    ]


def _by_group(
    panels: Sequence[Panel], rows: Callable[[Panel], list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    return [_place(panel) | row for panel in panels for row in rows(panel)]


def _place(panel: Panel) -> dict[str, Any]:
    """The set of workloads of a panel, and the divisor of their inputs' size if the figure has several."""
    return {"group": panel.group} | ({"smaller": panel.smaller} if panel.sizes else {})


def _table(panels: Sequence[Panel]) -> pd.DataFrame:
    """Every run of the figure, one row each, after its group."""
    with LATE_IMPORT:
        import pandas as pd

    tables = []
    for panel in panels:
        table = panel.comparison.table
        for place, (name, value) in enumerate(_place(panel).items()):
            table.insert(place, name, value)
        tables.append(table)
    return pd.concat(tables)


def _left_out(paper: Paper, spec: FigureSpec) -> list[str]:
    names = [name for group in spec.groups for name in members(paper, group)]
    absent = [f"workload {name}" for name in names if name not in present(names)]
    return absent + [f"protocol {name}" for name in spec.protocols if missing_protocol(name)]
