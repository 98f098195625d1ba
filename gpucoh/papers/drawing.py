"""Figures of the papers beyond plain comparisons: bars by workload and group, means by group, power and energy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import matplotlib as mpl
from matplotlib.figure import Figure

from gpucoh.base.canvas import Canvas, style
from gpucoh.device.choices import split_options
from gpucoh.device.gpu import resolve
from gpucoh.experiments.comparison import Comparison
from gpucoh.papers.panels import Draw, Panel
from gpucoh.report.chart import WIDTHS, Bar, Chart, Options
from gpucoh.report.charts import draw
from gpucoh.report.looks import kind_look, protocol_looks
from gpucoh.report.plots import energy_chart, relative_stacks, subtitle, traffic_bars, traffic_chart
from gpucoh.results.runs import RunResult

GROUPS = {
    "inter": "inter-workgroup communication",
    "intra": "intra-workgroup communication",
    "all": "all workloads",
    "nosync": "no synchronisation inside kernels",
    "global": "globally scoped synchronisation",
    "local": "locally scoped or hybrid synchronisation",
}
NETWORK = ("noc_dynamic", "noc_static")


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


def _draw(charts: Sequence[Chart], panels: Sequence[Panel]) -> Figure:
    return draw(charts, Options(labels=_labels(panels[0].comparison)), titled(panels))


def _counted(panel: Panel, measure: str, protocol: str) -> tuple[int, int] | None:
    """For a mean bar over fewer workloads than the set's: their number, and that of the set."""
    every, used = len(panel.comparison.workloads), panel.counted[measure][protocol]
    return None if used == every else (used, every)


def by_workload(**labels: str) -> Draw:
    """A drawing of bars by workload, and their means: a chart for each set of workloads and measure.

    Parameters
    ----------
    **labels
        Measure -> text beside the axis, where ``{base}`` is the baseline. Without it, bars are relative to none.
    """

    def drawn(panels: Sequence[Panel]) -> Figure:
        charts = [
            _workload_chart(panel, measure, label, _heading(panel, panels))
            for measure, label in labels.items()
            for panel in panels
        ]
        return _draw(charts, panels)

    return drawn


def _workload_chart(panel: Panel, measure: str, label: str, title: str) -> Chart:
    comparison = panel.comparison
    groups = {name: _workload_bars(panel, measure, name) for name in comparison.workloads}
    if len(comparison.workloads) > 1:
        groups[panel.kinds[measure].replace(" ", "\n", 1)] = [
            Bar(
                protocol=protocol,
                parts={"": panel.means[measure][protocol] or 0.0},
                counted=_counted(panel, measure, protocol),
            )
            for protocol in comparison.protocols
        ]
    return _chart(comparison, groups, label, title)


def _chart(comparison: Comparison, groups: dict[str, list[Bar]], label: str, title: str) -> Chart:
    return Chart(
        groups=groups,
        looks=protocol_looks(comparison.protocols),
        label=label.format(base=short(comparison.baseline)),
        title=title,
        line=1.0 if "{base}" in label else None,
    )


def by_size(**labels: str) -> Draw:
    """A drawing of bars by the size of the input, whose panels differ in it: a chart for each workload and measure.

    Parameters
    ----------
    **labels
        As for :func:`by_workload`.
    """

    def drawn(panels: Sequence[Panel]) -> Figure:
        charts = [
            _size_chart(panels, name, measure, label)
            for measure, label in labels.items()
            for name in panels[0].comparison.workloads
        ]
        return _draw(charts, panels)

    return drawn


def _size_chart(panels: Sequence[Panel], name: str, measure: str, label: str) -> Chart:
    groups = {f"{panel.sizes[name]:,}": _workload_bars(panel, measure, name) for panel in panels}
    return _chart(panels[0].comparison, groups, label, name)


def _workload_bars(panel: Panel, measure: str, name: str) -> list[Bar]:
    """A bar for each protocol."""
    return [
        Bar(
            protocol=protocol,
            parts={"": panel.bars[measure][name][protocol] or 0.0},
            wrong=not panel.comparison.right(name, protocol),
        )
        for protocol in panel.comparison.protocols
    ]


def stacked(
    parts: Callable[[RunResult], Mapping[str, float]],
    kinds: Mapping[str, tuple[str, str]],
    label: str,
) -> Draw:
    """A drawing of each run's parts, stacked, by workload, and their arithmetic means.

    Parameters
    ----------
    parts : callable
        Maps a run to the heights of its parts; empty for a run that enters no mean.
    kinds : dict
        Part -> the message class whose look it has, and its name.
    label : str
        Text beside the axis.
    """

    def chart(panel: Panel, title: str) -> Chart:
        comparison = panel.comparison
        groups: dict[str, list[Bar]] = {}
        heights = {
            (name, protocol): parts(comparison.run(name, protocol))
            for name in comparison.workloads
            for protocol in comparison.protocols
        }
        for name in comparison.workloads:
            groups[name] = [
                Bar(
                    protocol=protocol,
                    parts=heights[name, protocol],
                    wrong=not comparison.right(name, protocol),
                )
                for protocol in comparison.protocols
            ]
        every = len(comparison.workloads)
        groups["arithmetic\nmean"] = []
        for protocol in comparison.protocols:
            used = [
                name
                for name in comparison.workloads
                if heights[name, protocol] and comparison.right(name, protocol)
            ]
            means = {
                part: sum(heights[name, protocol][part] for name in used) / (len(used) or 1)
                for part in kinds
            }
            counted = None if len(used) == every else (len(used), every)
            groups["arithmetic\nmean"].append(Bar(protocol=protocol, parts=means, counted=counted))
        return _parts_chart(groups, kinds, label, title, line=None)

    return lambda panels: _draw([chart(panel, _heading(panel, panels)) for panel in panels], panels)


def stacked_over_baseline(
    parts: Callable[[RunResult], Mapping[str, float]],
    kinds: Mapping[str, tuple[str, str]],
    label: str,
) -> Draw:
    """A drawing of each run's parts over the sum of the baseline's, by workload, and their arithmetic means.

    Parameters
    ----------
    parts, kinds
        As for :func:`stacked`.
    label : str
        Text beside the axis, where ``{base}`` is the baseline.
    """

    def chart(panel: Panel, title: str) -> Chart:
        comparison = panel.comparison
        groups = relative_stacks(comparison, comparison.protocols, parts)
        text = label.format(base=short(comparison.baseline))
        return _parts_chart(groups, kinds, text, title, line=1.0)

    return lambda panels: _draw([chart(panel, _heading(panel, panels)) for panel in panels], panels)


def _parts_chart(
    groups: Mapping[str, Sequence[Bar]],
    kinds: Mapping[str, tuple[str, str]],
    label: str,
    title: str,
    line: float | None,
) -> Chart:
    return Chart(
        groups=groups,
        looks={part: kind_look(look) for part, (look, _) in kinds.items()},
        names={part: name for part, (_, name) in kinds.items()},
        label=label,
        title=title,
        line=line,
    )


def traffic(panels: Sequence[Panel]) -> Figure:
    """Draw flits by class and workload, and their mean."""
    charts = [
        traffic_chart(
            traffic_bars(panel.comparison, panel.comparison.protocols),
            short(panel.comparison.baseline),
            _heading(panel, panels),
        )
        for panel in panels
    ]
    return _draw(charts, panels)


def _network_chart(panel: Panel, what: str, title: str) -> Chart:
    comparison = panel.comparison
    return energy_chart(
        comparison,
        comparison.protocols,
        NETWORK,
        f"{what} relative to {short(comparison.baseline)}",
        title,
        power=what == "power",
    )


def power_and_energy(panels: Sequence[Panel]) -> Figure:
    """Draw the network's power above its energy, dynamic and static, by workload, and their mean."""
    charts = [_network_chart(panels[0], what, f"Network {what}") for what in ("power", "energy")]
    return _draw(charts, panels)


def network_energy(panels: Sequence[Panel]) -> Figure:
    """Draw the network's energy, dynamic and static, by workload, and their mean."""
    charts = [_network_chart(panel, "energy", _heading(panel, panels)) for panel in panels]
    return _draw(charts, panels)


def _mean_groups(
    panels: Sequence[Panel], measure: str, parts: Sequence[Mapping[str, Mapping[str, float]]]
) -> dict[str, list[Bar]]:
    """A group of mean bars per set of workloads; a bar of fewer workloads than the set's largest is marked."""
    out: dict[str, list[Bar]] = {}
    for panel, stacks in zip(panels, parts, strict=True):
        out[GROUPS[panel.group].replace(" ", "\n", 1)] = [
            Bar(
                protocol=protocol,
                parts=stacks[protocol],
                counted=_counted(panel, measure, protocol),
            )
            for protocol in panel.comparison.protocols
        ]
    return out


def mean_speedups(panels: Sequence[Panel]) -> Figure:
    """Draw mean speedups, a group of bars per set of workloads."""
    comparison = panels[0].comparison
    bars = [
        {protocol: {"": mean or 0.0} for protocol, mean in panel.means["speedup"].items()}
        for panel in panels
    ]
    chart = Chart(
        groups=_mean_groups(panels, "speedup", bars),
        looks=protocol_looks(comparison.protocols),
        label=f"speedup over {short(comparison.baseline)}",
        values=True,
    )
    return _draw_means(chart, panels, "speedup")


def mean_traffic(panels: Sequence[Panel]) -> Figure:
    """Draw mean flits by class, a group of bars per set of workloads."""
    groups = _mean_groups(panels, "traffic", [panel.traffic for panel in panels])
    chart = traffic_chart(groups, short(panels[0].comparison.baseline))
    return _draw_means(chart, panels, "traffic")


def _draw_means(chart: Chart, panels: Sequence[Panel], measure: str) -> Figure:
    comparison = panels[0].comparison
    options = Options(labels=_labels(comparison), width="column")
    title = f"{panels[0].title}, {panels[0].kinds[measure]} ({subtitle(comparison)})"
    return draw([chart], options, title)


def workload_traffic(panels: Sequence[Panel]) -> Figure:
    """Draw flits by class of one workload, a bar per protocol."""
    comparison = panels[0].comparison
    chart = traffic_chart(
        traffic_bars(comparison, comparison.protocols), short(comparison.baseline)
    )
    options = Options(labels=_labels(comparison), width="column")
    return draw([chart], options, f"{panels[0].title} ({subtitle(comparison)})")


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
