"""Figures of the papers beyond plain comparisons: means by group, power and energy, lifetime sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gpucoh.experiments.comparison import Comparison
from gpucoh.gpu import resolve
from gpucoh.protocols import split_options
from gpucoh.report.canvas import STYLE, Canvas
from gpucoh.report.charts import (
    WIDTHS,
    WRONG,
    Bar,
    Chart,
    Options,
    draw,
    finish,
)
from gpucoh.report.looks import protocol_looks
from gpucoh.report.plots import (
    energy_chart,
    speedup_figure,
    subtitle,
    traffic_bars,
    traffic_chart,
    traffic_figure,
)

GROUPS = {
    "inter": "inter-workgroup communication",
    "intra": "intra-workgroup communication",
    "all": "all workloads",
}
NETWORK = ("noc_dynamic", "noc_static")
LIFETIMES = (0, 100, 200, 400, 800, 1600, 3200, 6400)
_ZERO = 50.0  # where the logarithmic axis of lifetimes shows 0
_LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
_MARKERS = "osD^Ph"
_SHADES = ("#555555", "#0072b2", "#a6611a", "#5e3c99", "#1b7837", "#b3477d")


@dataclass(frozen=True, kw_only=True)
class Panel:
    """The runs of one group of a paper's workloads, and their mean bars.

    Attributes
    ----------
    title : str
        Title of the figure.
    group : str
        The paper's name of the set of workloads.
    comparison : Comparison
    means : dict
        Measure -> protocol -> its mean bar over that of the figure's baseline.
    traffic : dict
        Protocol -> mean flits by class, relative to the figure's baseline.
    counted : dict
        Measure -> protocol -> number of workloads in its mean bar.
    kinds : dict
        Measure -> the kind of mean, as ``harmonic mean``.
    """

    title: str
    group: str
    comparison: Comparison
    means: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    traffic: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    counted: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)


def short(protocol: str) -> str:
    """A bar's label: the papers' name where options make the id long.

    Examples
    --------
    >>> short("gpu-vini[dir_ways=8,dir_ratio=2]"), short("tc-weak[lifetime=3200]"), short("mesi")
    ('VIni-2x-8w', 'TC-Weak-3200', 'MESI')
    """
    name, options = split_options(protocol)
    if name == "gpu-vini" and set(options) == {"dir_ways", "dir_ratio"}:
        return f"VIni-{options['dir_ratio']}x-{options['dir_ways']}w"
    return "-".join([resolve(name).protocol.name, *(str(value) for value in options.values())])


def _title(panel: Panel) -> str:
    return f"{panel.title}, {GROUPS.get(panel.group, panel.group)}"


def _labels(comparison: Comparison) -> dict[str, str]:
    return {protocol: short(protocol) for protocol in comparison.protocols}


def speedups(panels: Sequence[Panel]) -> Figure:
    """Draw the speedup by workload, and its harmonic mean."""
    comparison = panels[0].comparison
    return speedup_figure(comparison, _title(panels[0]), labels=_labels(comparison))


def traffic(panels: Sequence[Panel]) -> Figure:
    """Draw flits by class and workload, and their mean."""
    comparison = panels[0].comparison
    return traffic_figure(comparison, _title(panels[0]), labels=_labels(comparison))


def power_and_energy(panels: Sequence[Panel]) -> Figure:
    """Draw the network's power above its energy, dynamic and static, by workload, and their mean."""
    comparison = panels[0].comparison
    base = short(comparison.baseline)
    charts = [
        energy_chart(
            comparison,
            comparison.protocols,
            NETWORK,
            f"{what} relative to {base}",
            f"Network {what}",
            power=what == "power",
        )
        for what in ("power", "energy")
    ]
    options = Options(labels=_labels(comparison))
    return draw(charts, options, f"{_title(panels[0])} ({subtitle(comparison)})")


def _mean_groups(
    panels: Sequence[Panel], measure: str, parts: Sequence[Mapping[str, Mapping[str, float]]]
) -> dict[str, list[Bar]]:
    """A group of mean bars per set of workloads; a bar of fewer workloads than the set's largest is marked."""
    out: dict[str, list[Bar]] = {}
    for panel, stacks in zip(panels, parts, strict=True):
        counts = panel.counted[measure]
        every = len(panel.comparison.workloads)
        out[GROUPS[panel.group].replace(" ", "\n", 1)] = [
            Bar(
                protocol=protocol,
                parts=stacks[protocol],
                counted=None if counts[protocol] == every else (counts[protocol], every),
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


def lifetimes(panels: Sequence[Panel]) -> Figure:
    """Draw the speedup over the baseline by fixed lifetime, a line per workload.

    The axis is logarithmic; the points of lifetime 0, which has no place on it, are left of it and no line reaches
    them. A downward triangle is the predictor's average lifetime and speedup; the thick line is the mean.
    """
    panel = panels[0]
    comparison = panel.comparison
    with mpl.rc_context(STYLE):
        figure = Canvas(figsize=(WIDTHS["column"], 3.6), layout="constrained")
        axes = figure.add_subplot()
        for number, name in enumerate(comparison.workloads):
            _draw_workload(axes, comparison, name, number)
        _draw_means_by_lifetime(axes, panel)
        axes.plot([], [], "v", color="#777777", markersize=5, label="predictor, average")
        axes.set_xscale("log", base=2)
        places = [lifetime or _ZERO for lifetime in LIFETIMES]
        axes.set_xticks(places, [str(lifetime) for lifetime in LIFETIMES])
        axes.minorticks_off()
        axes.set_xlim(0.8 * _ZERO, 1.6 * LIFETIMES[-1])
        axes.axvline(_ZERO * 2**0.5, color="#bbbbbb", linewidth=0.6)
        axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
        axes.axhline(1.0, color="black", linewidth=0.5, linestyle=(0, (4, 3)), zorder=0)
        axes.set_xlabel("fixed lifetime (core cycles)")
        axes.set_ylabel(f"speedup over {short(comparison.baseline)}")
        axes.spines[["top", "right"]].set_visible(False)
        handles = axes.get_legend_handles_labels()[0]
        finish(figure, handles, f"{_title(panel)} ({subtitle(comparison)})", WIDTHS["column"])
        return figure


def _draw_workload(axes: Axes, comparison: Comparison, name: str, number: int) -> None:
    """Draw a workload's line, its wrong runs, and the predictor's point."""
    fixed = [f"tc-weak[lifetime={lifetime}]" for lifetime in LIFETIMES]
    ratios = {
        row["protocol"]: row["speedup"] or 0.0
        for row in comparison.summary
        if row["workload"] == name
    }
    look: dict[str, object] = {
        "marker": _MARKERS[number % len(_MARKERS)],
        "linestyle": _LINES[number % len(_LINES)],
        "color": _SHADES[number % len(_SHADES)],
        "markersize": 3,
        "linewidth": 0.9,
    }
    heights = [ratios[protocol] for protocol in fixed]
    _line(axes, heights, look, name)
    wrong = [
        (lifetime or _ZERO, height)
        for lifetime, protocol, height in zip(LIFETIMES, fixed, heights, strict=True)
        if not comparison.right(name, protocol)
    ]
    if wrong:
        axes.plot(*zip(*wrong, strict=True), "x", color=WRONG, markersize=5, zorder=6)
    average = average_lifetime(comparison, name)
    if average is not None:
        x = min(max(average, _ZERO), 1.4 * LIFETIMES[-1])
        colour = str(look["color"])
        axes.plot([x], [ratios["tc-weak"]], "v", color=colour, markersize=6, mec="white", zorder=5)


def _line(axes: Axes, heights: Sequence[float], look: Mapping[str, object], label: str) -> None:
    """Draw a line over the lifetimes above 0, and the point of lifetime 0 apart."""
    axes.plot(LIFETIMES[1:], heights[1:], label=label, **look)  # type: ignore[arg-type]
    axes.plot([_ZERO], heights[:1], **look)  # type: ignore[arg-type]


def _draw_means_by_lifetime(axes: Axes, panel: Panel) -> None:
    """Draw the mean over the workloads by lifetime, and that of the predictor."""
    means, kind = panel.means["speedup"], panel.kinds["speedup"]
    heights = [means[f"tc-weak[lifetime={lifetime}]"] or np.nan for lifetime in LIFETIMES]
    look = {"color": "black", "linewidth": 1.8, "marker": "*", "markersize": 5}
    _line(axes, heights, look, kind)
    if means["tc-weak"]:
        axes.axhline(
            means["tc-weak"],
            color="black",
            linewidth=1.2,
            linestyle=(0, (1, 1)),
            label=f"predictor, {kind}",
        )


def average_lifetime(comparison: Comparison, workload: str) -> float | None:
    """Mean lifetime, in core cycles, of the predictor's leases; None if there are none."""
    l2 = comparison.run(workload, "tc-weak").stats["l2"]
    return float(l2["lease_cycles"]) / float(l2["leases"]) if l2["leases"] else None
