"""The drawing of the TC paper's sweeps of fixed lifetimes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gpucoh.base.canvas import Canvas, style
from gpucoh.figures.chart import WIDTHS
from gpucoh.figures.legends import WRONG, finish
from gpucoh.papers.drawing import short, titled
from gpucoh.papers.panels import Panel
from gpucoh.runs.comparison import Comparison

LIFETIMES = (0, 100, 200, 400, 800, 1600, 3200, 6400)
_ZERO = 50.0  # where the logarithmic axis of lifetimes shows 0
_LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
_MARKERS = "osD^Ph"
_SHADES = ("#555555", "#0072b2", "#a6611a", "#5e3c99", "#1b7837", "#b3477d")


def lifetimes(panels: Sequence[Panel]) -> Figure:
    """Draw the speedup over the baseline by fixed lifetime, a line per workload.

    The axis is logarithmic; the points of lifetime 0, which has no place on it, are left of it and no line reaches
    them. A downward triangle is the predictor's average lifetime and speedup; the thick line is the mean.
    """
    panel = panels[0]
    comparison = panel.comparison
    with mpl.rc_context(style()):
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
        finish(figure, handles, titled(panels), WIDTHS["column"])
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
