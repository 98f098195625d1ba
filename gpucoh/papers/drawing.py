"""Figures of the papers beyond plain comparisons: bars by workload and group, means by group, power and energy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import matplotlib as mpl
from matplotlib.figure import Figure

from gpucoh.base.canvas import Canvas, style
from gpucoh.device.choices import split_options
from gpucoh.device.gpu import resolve
from gpucoh.figures.chart import WIDTHS, Bar, Chart, Options
from gpucoh.figures.charts import draw
from gpucoh.figures.looks import PART_NAMES
from gpucoh.figures.plots import (
    CLASSES,
    Amounts,
    chart_of,
    energy_parts,
    flits,
    stacks,
    subtitle,
)
from gpucoh.papers.panels import Draw, Panel
from gpucoh.runs.comparison import Comparison

GROUPS = {
    "inter": "inter-workgroup communication",
    "intra": "intra-workgroup communication",
    "all": "all workloads",
    "nosync": "no synchronisation inside kernels",
    "global": "globally scoped synchronisation",
    "local": "locally scoped or hybrid synchronisation",
}
NETWORK = {name: (name, PART_NAMES[name]) for name in ("noc_dynamic", "noc_static")}
FLITS = "flits relative to {base}"


def short(protocol: str) -> str:
    """A bar's label: the papers' name where options make the id long.

    Examples
    --------
    >>> short("gpu-vini[dir_ways=8,dir_ratio=2]"), short("tc-weak[lifetime=3200]"), short("mesi")
    ('VIni-2x-8w', 'TC-Weak-3200', 'MESI')
    >>> short("tc-strong[consistency=sc]")
    'TC-Strong SC'
    """
    name, options = split_options(protocol)
    if name == "gpu-vini" and set(options) == {"dir_ways", "dir_ratio"}:
        return f"VIni-{options['dir_ratio']}x-{options['dir_ways']}w"
    protocol_of, rule = resolve(name).protocol, options.pop("consistency", "")
    parts = [
        f" {'+' if value in ('1', 'on') else '-'}{key}"
        if protocol_of.options[key].is_switch
        else f"-{value}"
        for key, value in options.items()
    ]
    return "".join([protocol_of.name, *parts, f" {rule.upper()}" if rule else ""])


def titled(panels: Sequence[Panel]) -> str:
    """The title of a figure: its own, the set of workloads if there is one, and what ran."""
    panel = panels[0]
    group = f", {GROUPS.get(panel.group, panel.group)}" if len(panels) == 1 else ""
    return f"{panel.title}{group} ({subtitle(panel.comparison)})"


def _labels(comparison: Comparison) -> dict[str, str]:
    """The papers' names: a workload whose code differs from that of other papers has the paper's suffix here."""
    names = {name: name.removesuffix("-qr") for name in comparison.workloads}
    return names | {protocol: short(protocol) for protocol in comparison.protocols}


def _heading(panel: Panel, panels: Sequence[Panel]) -> str:
    """The title of a panel's chart, if the figure has several."""
    return GROUPS.get(panel.group, panel.group) if len(panels) > 1 else ""


def _draw(
    charts: Sequence[Chart], panels: Sequence[Panel], title: str = "", width: str = "page"
) -> Figure:
    options = Options(labels=_labels(panels[0].comparison), width=width)
    return draw(charts, options, title or titled(panels))


def _counted(panel: Panel, measure: str, protocol: str) -> tuple[int, int] | None:
    """For a mean bar over fewer workloads than the set's: their number, and that of the set."""
    every, used = len(panel.comparison.workloads), panel.counted[measure][protocol]
    return None if used == every else (used, every)


def by_workload(labels: Mapping[str, str]) -> Draw:
    """A drawing of bars by workload, and their means: a chart for each set of workloads and measure.

    Panels that differ in the size of the input have bars by it: a chart for each workload and measure.

    Parameters
    ----------
    labels : dict
        Measure -> text beside the axis, where ``{base}`` is the baseline. Without it, bars are relative to none.
    """

    def charts(panels: Sequence[Panel]) -> Iterator[Chart]:
        first = panels[0].comparison
        for measure, label in labels.items():
            if panels[0].sizes:
                for name in first.workloads:
                    sized = {f"{one.sizes[name]:,}": _bars(one, measure, name) for one in panels}
                    yield _chart(first, sized, label, name)
                continue
            for panel in panels:
                groups = {name: _bars(panel, measure, name) for name in panel.comparison.workloads}
                if len(groups) > 1:
                    means = {name: {"": mean or 0.0} for name, mean in panel.means[measure].items()}
                    kind = panel.kinds[measure].replace(" ", "\n", 1)
                    groups[kind] = _mean_bars(panel, measure, means)
                yield _chart(panel.comparison, groups, label, _heading(panel, panels))

    return lambda panels: _draw(list(charts(panels)), panels)


def _chart(
    comparison: Comparison,
    groups: Mapping[str, Sequence[Bar]],
    label: str,
    title: str = "",
    kinds: Mapping[str, Sequence[str]] | None = None,
) -> Chart:
    return chart_of(groups, comparison.protocols, short(comparison.baseline), label, title, kinds)


def _bars(panel: Panel, measure: str, name: str) -> list[Bar]:
    """A bar for each protocol."""
    return [
        Bar(
            protocol=protocol,
            parts={"": panel.bars[measure][name][protocol] or 0.0},
            wrong=not panel.comparison.right(name, protocol),
        )
        for protocol in panel.comparison.protocols
    ]


def _mean_bars(panel: Panel, measure: str, means: Mapping[str, Mapping[str, float]]) -> list[Bar]:
    """A bar for each protocol; one of fewer workloads than the set's is marked."""
    return [
        Bar(protocol=name, parts=means[name], counted=_counted(panel, measure, name))
        for name in panel.comparison.protocols
    ]


def stacked(amounts: Amounts, kinds: Mapping[str, Sequence[str]], label: str) -> Draw:
    """A drawing of each run's parts, stacked, by workload, and their arithmetic means.

    Parameters
    ----------
    amounts : callable
        Maps a run to the heights of its parts; empty for a run that enters no mean.
    kinds : dict
        Part -> the message class whose look it has, and its name.
    label : str
        Text beside the axis; if it has ``{base}``, parts are relative to the sum of the baseline's.
    """
    relative = "{base}" in label

    def chart(panel: Panel, title: str) -> Chart:
        comparison = panel.comparison
        groups = stacks(comparison, comparison.protocols, amounts, relative=relative)
        return _chart(comparison, groups, label, title, kinds)

    return lambda panels: _draw([chart(panel, _heading(panel, panels)) for panel in panels], panels)


def power_and_energy(panels: Sequence[Panel]) -> Figure:
    """Draw the network's power above its energy, dynamic and static, by workload, and their mean."""
    comparison, charts = panels[0].comparison, []
    for what in ("power", "energy"):
        of = energy_parts(list(NETWORK), power=what == "power")
        groups = stacks(comparison, comparison.protocols, of)
        label = f"{what} relative to {{base}}"
        charts.append(_chart(comparison, groups, label, f"Network {what}", NETWORK))
    return _draw(charts, panels)


def mean_speedups(panels: Sequence[Panel]) -> Figure:
    """Draw mean speedups, a group of bars per set of workloads."""
    groups = {
        _group(panel): _mean_bars(
            panel,
            "speedup",
            {name: {"": mean or 0.0} for name, mean in panel.means["speedup"].items()},
        )
        for panel in panels
    }
    chart = _chart(panels[0].comparison, groups, "speedup over {base}")
    return _draw_means(replace(chart, values=True), panels, "speedup")


def mean_traffic(panels: Sequence[Panel]) -> Figure:
    """Draw mean flits by class, a group of bars per set of workloads."""
    groups = {_group(panel): _mean_bars(panel, "traffic", panel.traffic) for panel in panels}
    chart = _chart(panels[0].comparison, groups, FLITS, "", CLASSES)
    return _draw_means(chart, panels, "traffic")


def _group(panel: Panel) -> str:
    return GROUPS[panel.group].replace(" ", "\n", 1)


def _draw_means(chart: Chart, panels: Sequence[Panel], measure: str) -> Figure:
    title = f"{panels[0].title}, {panels[0].kinds[measure]} ({subtitle(panels[0].comparison)})"
    return _draw([chart], panels, title, "column")


def workload_traffic(panels: Sequence[Panel]) -> Figure:
    """Draw flits by class of one workload, a bar per protocol."""
    comparison = panels[0].comparison
    chart = _chart(comparison, stacks(comparison, comparison.protocols, flits), FLITS, "", CLASSES)
    return _draw([chart], panels, f"{panels[0].title} ({subtitle(comparison)})", "column")


def table(title: str, rows: Sequence[Mapping[str, object]]) -> Figure:
    """Draw a table."""
    columns = list(rows[0])
    cells = [["-" if row[name] is None else str(row[name]) for name in columns] for row in rows]
    with mpl.rc_context(style()):
        height = 0.4 + 0.17 * (len(rows) + 1)
        figure = Canvas(figsize=(WIDTHS["page"], height), layout="constrained")
        axes = figure.add_subplot()
        axes.axis("off")
        drawn = axes.table(
            cellText=cells, colLabels=columns, loc="center", cellLoc="center", edges="horizontal"
        )
        drawn.auto_set_font_size(False)
        drawn.set_fontsize(6.5)
        for cell in drawn.get_celld().values():
            cell.set_linewidth(0.4)
        drawn.auto_set_column_width(list(range(len(columns))))
        figure.suptitle(title, fontsize=8)
        return figure
