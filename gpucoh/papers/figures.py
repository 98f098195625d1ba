"""The figures of the papers, redrawn with the same groups, baselines and means."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from gpucoh.errors import ConfigError
from gpucoh.files import whole_file
from gpucoh.late import LATE_IMPORT
from gpucoh.papers import drawing
from gpucoh.papers.bars import Group, shown_group, usable
from gpucoh.papers.claims import Paper, load
from gpucoh.papers.drawing import LIFETIMES, Panel
from gpucoh.papers.runs import Bench, missing_protocol, present
from gpucoh.report.canvas import png
from gpucoh.report.plots import save
from gpucoh.units import nearest

if TYPE_CHECKING:
    import pandas as pd

COHERENT = ("mesi", "gpu-vi", "gpu-vini", "tc-weak")
MEASURES = ("speedup", "traffic", "noc_energy", "noc_power", "energy")
DIRECTORIES = ((8, 2), (8, 4), (16, 8), (32, 16))


@dataclass(frozen=True, kw_only=True)
class FigureSpec:
    """One figure of a paper.

    Attributes
    ----------
    id, title : str
    groups : tuple of str
        The paper's sets of workloads, or single workloads; one panel each.
    protocols : tuple of str
        The protocols, in the order of the bars.
    baseline : str
        One of the protocols.
    draw : callable
        Maps the panels' runs to a figure.
    """

    id: str
    title: str
    groups: tuple[str, ...]
    protocols: tuple[str, ...]
    baseline: str
    draw: Callable[[Sequence[Panel]], Figure]


def _tc() -> tuple[FigureSpec, ...]:
    fixed = tuple(f"tc-weak[lifetime={lifetime}]" for lifetime in LIFETIMES)
    variants = ("tc-strong", "tc-weak[lifetime=3200]", "tc-weak")
    directories = tuple(
        f"gpu-vini[dir_ways={ways},dir_ratio={ratio}]" for ways, ratio in DIRECTORIES
    )
    sizes = (*directories, "tc-weak")
    swept = ("no-l1", "tc-weak", *fixed)
    between, within = ("no-l1", *COHERENT), ("no-coh", *COHERENT)
    d = drawing
    rows: list[tuple[str, str, str, Sequence[str], str, Callable[[Sequence[Panel]], Figure]]] = [
        ("1a", "Ideal coherence", "inter", ("no-l1", "ideal"), "no-l1", d.speedups),
        ("1b", "Traffic of coherence", "intra", ("no-coh", "mesi", "gpu-vi"), "no-coh", d.traffic),
        ("7a", "Performance", "inter", between, "no-l1", d.speedups),
        ("7b", "Performance", "intra", ("no-coh", "no-l1", *COHERENT), "no-coh", d.speedups),
        ("8a", "Interconnect traffic", "inter", between, "no-l1", d.traffic),
        ("8b", "Interconnect traffic", "intra", within, "no-coh", d.traffic),
        ("9a", "Interconnect", "inter", between, "no-l1", d.power_and_energy),
        ("9b", "Interconnect", "intra", within, "no-coh", d.power_and_energy),
        ("10a", "TC-Strong and TC-Weak", "all", variants, "tc-strong", d.mean_speedups),
        ("10b", "TC-Strong and TC-Weak, traffic", "all", variants, "tc-strong", d.mean_traffic),
        ("11a", "TC-Weak with fixed lifetimes", "inter", swept, "no-l1", d.lifetimes),
        (
            "11b",
            "TC-Weak with fixed lifetimes",
            "intra",
            ("no-coh", *swept[1:]),
            "no-coh",
            d.lifetimes,
        ),
        ("12a", "Directory sizes", "inter intra", sizes, sizes[0], d.mean_speedups),
        ("12b", "Directory sizes, traffic", "inter intra", sizes, sizes[0], d.mean_traffic),
        ("12c", "Directory sizes, traffic of rg", "rg", sizes, sizes[0], d.workload_traffic),
    ]
    return tuple(
        FigureSpec(
            id=i,
            title=title,
            groups=tuple(groups.split()),
            protocols=tuple(names),
            baseline=baseline,
            draw=draw,
        )
        for i, title, groups, names, baseline, draw in rows
    )


FIGURES: dict[str, tuple[FigureSpec, ...]] = {"tc": _tc()}


def chosen(paper: str, figure: str | None) -> tuple[FigureSpec, ...]:
    """The figures of a paper whose id is ``figure`` or begins with it; by default all.

    Raises
    ------
    ConfigError
        If the paper or figure is unknown.
    """
    load(paper)
    specs = FIGURES[paper]
    if figure is None:
        return specs
    wanted = figure.lower().removeprefix("fig").removeprefix("ure")
    found = tuple(spec for spec in specs if spec.id == wanted or spec.id.rstrip("abcd") == wanted)
    if not found:
        ids = [spec.id for spec in specs]
        raise ConfigError(
            f"paper {paper!r} has no figure {figure!r}; figures are {', '.join(ids)}{nearest(figure, ids)}"
        )
    return found


def members(paper: Paper, group: str) -> tuple[str, ...]:
    """The workloads of a paper's set, or the single workload of that name."""
    return paper.groups.get(group, (group,))


def reproduce(
    paper: Paper, specs: Sequence[FigureSpec], bench: Bench, folder: Path
) -> list[dict[str, object]]:
    """Run the runs of figures and draw them, each as PNG, SVG, PDF, CSV and JSON in the folder.

    Returns
    -------
    list of dict
        One per figure: id, title, baseline, files, means by group and protocol, what was left out because it is not
        built in, and which runs were wrong.
    """
    panels = _panels(paper, specs, bench)
    return [_reproduce_one(paper, spec, panels[spec.id], folder) for spec in specs]


@dataclass(frozen=True, repr=False)
class PaperFigure:
    """A figure of a paper, redrawn from simulated runs; a notebook shows the drawing.

    Attributes
    ----------
    spec : FigureSpec
    figure : matplotlib.figure.Figure
    means : pandas.DataFrame
        The mean bars, by group and protocol.
    table : pandas.DataFrame
        Every run of the figure.
    """

    spec: FigureSpec
    figure: Figure
    means: pd.DataFrame
    table: pd.DataFrame

    def __repr__(self) -> str:
        return (
            f"<gpucoh.papers.PaperFigure {self.spec.id}: {self.spec.title}, {len(self.table)} runs>"
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
        raise ConfigError(f"figure {figure!r} of paper {paper!r} has parts: choose one of {ids}")
    bench = Bench(
        machine=described.machine,
        scale=scale,
        jobs=jobs,
        progress=progress,
        store=None if store is None else Path(store),
        parameters=described.parameters,
    )
    panels = _panels(described, specs, bench)[specs[0].id]
    means = pd.DataFrame(_by_group(panels, _mean_rows))
    return PaperFigure(specs[0], specs[0].draw(panels), means, _table(panels))


def _panels(paper: Paper, specs: Sequence[FigureSpec], bench: Bench) -> dict[str, list[Panel]]:
    """The panels of figures by the figures' ids; all runs run together."""
    bench.get(pair for spec in specs for group in spec.groups for pair in _runs(paper, spec, group))
    return {spec.id: [_panel(paper, spec, group, bench) for group in spec.groups] for spec in specs}


def _protocols(spec: FigureSpec) -> list[str]:
    return [name for name in spec.protocols if not missing_protocol(name)]


def _shown(paper: Paper, spec: FigureSpec, group: str, measure: str) -> Group:
    """The bars of a panel; those that the paper's file does not describe are relative to the figure's baseline."""
    names = present(members(paper, group))
    shown = shown_group(paper, measure, spec.id, names)
    kind = "harmonic" if measure == "speedup" else "arithmetic"
    return shown or Group(measure=measure, baselines=dict.fromkeys(names, spec.baseline), kind=kind)


def _runs(paper: Paper, spec: FigureSpec, group: str) -> Iterator[tuple[str, str]]:
    """The (workload, protocol) pairs of a panel, and those to which its mean bars are relative."""
    for measure in MEASURES:
        for name, baseline in _shown(paper, spec, group, measure).baselines.items():
            yield from ((name, protocol) for protocol in (*_protocols(spec), baseline))


def _panel(paper: Paper, spec: FigureSpec, group: str, bench: Bench) -> Panel:
    names, protocols = present(members(paper, group)), _protocols(spec)
    runs = bench.runs(bench.seeds[0])
    groups = {measure: _shown(paper, spec, group, measure) for measure in MEASURES}
    used = {
        measure: {
            protocol: usable(shown, (protocol, spec.baseline), runs) for protocol in protocols
        }
        for measure, shown in groups.items()
    }
    means = {
        measure: {
            protocol: kept.against(protocol, spec.baseline, runs)
            for protocol, kept in by_protocol.items()
        }
        for measure, by_protocol in used.items()
    }
    traffic = {
        protocol: _scaled(
            used["traffic"][protocol].parts(protocol, runs, lambda run: run.stats.flits_by_class()),
            means["traffic"][protocol],
        )
        for protocol in protocols
    }
    return Panel(
        title=spec.title,
        group=group,
        comparison=bench.comparison(names, protocols, spec.baseline),
        means=means,
        traffic=traffic,
        counted={
            measure: {protocol: len(kept.baselines) for protocol, kept in by_protocol.items()}
            for measure, by_protocol in used.items()
        },
        kinds={
            measure: f"{shown.kind} mean" + (" of times" if shown.times else "")
            for measure, shown in groups.items()
        },
    )


def _scaled(parts: Mapping[str, float], total: float | None) -> dict[str, float]:
    """Parts that sum to a total, in the same shares."""
    whole = sum(parts.values())
    return {name: part / whole * (total or 0.0) for name, part in parts.items()} if whole else {}


def _reproduce_one(
    paper: Paper, spec: FigureSpec, panels: Sequence[Panel], folder: Path
) -> dict[str, object]:
    stem = f"{paper.id}-{spec.id}"
    files = save(spec.draw(panels), folder, stem)
    with whole_file(folder / f"{stem}.csv") as part:
        _table(panels).to_csv(part, index=False)
    drawn: dict[str, Any] = {
        "paper": paper.id,
        "figure": spec.id,
        "title": spec.title,
        "baseline": spec.baseline,
        "means": _by_group(panels, _mean_rows),
        "left_out": _left_out(paper, spec),
        "wrong": [
            f"{run.workload} under {run.protocol}"
            for panel in panels
            for run in panel.comparison.failures
        ],
    }
    summary = _by_group(panels, lambda panel: panel.comparison.summary)
    data = drawn | {"summary": summary}
    with whole_file(folder / f"{stem}.json") as part:
        part.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    files += [folder / f"{stem}.csv", folder / f"{stem}.json"]
    return drawn | {"files": [str(path) for path in files]}


def _mean_rows(panel: Panel) -> list[dict[str, Any]]:
    """One entry per protocol: its mean bars over those of the figure's baseline."""
    counts = {row["protocol"]: row["workloads"] for row in panel.comparison.mean_rows()}
    return [
        {
            "protocol": protocol,
            "workloads": counts[protocol],
            "speedup_harmonic": panel.means["speedup"][protocol],
            **{measure: panel.means[measure][protocol] for measure in MEASURES},
        }
        for protocol in panel.comparison.protocols
    ]


def _by_group(
    panels: Sequence[Panel], rows: Callable[[Panel], list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    return [{"group": panel.group} | row for panel in panels for row in rows(panel)]


def _table(panels: Sequence[Panel]) -> pd.DataFrame:
    """Every run of the figure, one row each, after its group."""
    with LATE_IMPORT:
        import pandas as pd

    tables = []
    for panel in panels:
        table = panel.comparison.table
        table.insert(0, "group", panel.group)
        tables.append(table)
    return pd.concat(tables)


def _left_out(paper: Paper, spec: FigureSpec) -> list[str]:
    names = [name for group in spec.groups for name in members(paper, group)]
    absent = [f"workload {name}" for name in names if name not in present(names)]
    return absent + [f"protocol {name}" for name in spec.protocols if missing_protocol(name)]
