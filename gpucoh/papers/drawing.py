"""Figures of the papers beyond plain comparisons: means by group, power and energy, lifetime sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from gpucoh.experiments.comparison import Comparison
from gpucoh.protocols import split_options
from gpucoh.report.canvas import Figure
from gpucoh.report.plots import (
    CLASS_NAMES,
    PART_NAMES,
    Stack,
    energy_stacks,
    protocol_styles,
    speedup_figure,
    stacked_bars,
    stacked_figure,
    subtitle,
    traffic_figure,
    traffic_stacks,
)

GROUPS = {
    "inter": "inter-workgroup communication",
    "intra": "intra-workgroup communication",
    "all": "all workloads",
}
NETWORK = ("noc_dynamic", "noc_static")
LIFETIMES = (0, 100, 200, 400, 800, 1600, 3200, 6400)
_LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
_MARKERS = "osD^vP"
_SHADES = ("#222222", "#0072b2", "#a6611a", "#5e3c99", "#1b7837", "#e69f00")


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
    """

    title: str
    group: str
    comparison: Comparison
    means: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    traffic: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def short(protocol: str) -> str:
    """A bar's label: the papers' name where options make the id long.

    Examples
    --------
    >>> short("gpu-vini[dir_ways=8,dir_ratio=2]"), short("tc-weak[lifetime=3200]"), short("mesi")
    ('VIni-2x-8w', 'tc-weak-3200', 'mesi')
    """
    name, options = split_options(protocol)
    if name == "gpu-vini" and set(options) == {"dir_ways", "dir_ratio"}:
        return f"VIni-{options['dir_ratio']}x-{options['dir_ways']}w"
    return "-".join([name, *(str(value) for value in options.values())])


def _shortened(stacks: Sequence[Stack]) -> list[Stack]:
    return [(short(name), parts, wrong) for name, parts, wrong in stacks]


def _title(panel: Panel) -> str:
    return f"{panel.title}, {GROUPS.get(panel.group, panel.group)}"


def speedups(panels: Sequence[Panel]) -> Figure:
    """Draw the speedup by workload, and its harmonic mean."""
    return speedup_figure(panels[0].comparison, _title(panels[0]))


def traffic(panels: Sequence[Panel]) -> Figure:
    """Draw flits by class and workload, and their mean."""
    return traffic_figure(panels[0].comparison, _title(panels[0]), mean=True)


def power_and_energy(panels: Sequence[Panel]) -> Figure:
    """Draw the network's power above its energy, dynamic and static, by workload, and their mean."""
    comparison = panels[0].comparison
    texts = {name: PART_NAMES[name] for name in NETWORK}
    columns = len(comparison.workloads) + 1
    figure = Figure(figsize=(2.4 + 1.45 * columns, 7.4), layout="constrained")
    above, below = figure.subplots(2, 1)
    handles: list[Patch] = []
    for axes, what, is_power in ((above, "power", True), (below, "energy", False)):
        stacks = energy_stacks(comparison, NETWORK, mean=True, power=is_power)
        unit = "watts" if is_power else "joules"
        label = (
            f"network {what} relative to {comparison.baseline}\n(ratio of {unit}, lower is better)"
        )
        title = f"{_title(panels[0])}: {what} ({subtitle(comparison)})"
        handles = stacked_bars(axes, stacks, texts, label, title)
    figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9)
    return figure


def mean_speedups(panels: Sequence[Panel]) -> Figure:
    """Draw harmonic means of the speedup, a group of bars per set of workloads."""
    protocols = panels[0].comparison.protocols
    width = 0.8 / len(protocols)
    figure = Figure(
        figsize=(3.4 + 1.3 * len(protocols) ** 0.5 * len(panels), 4.0), layout="constrained"
    )
    axes = figure.add_subplot()
    for place, panel in enumerate(panels):
        means = {name: mean or 0.0 for name, mean in panel.means["speedup"].items()}
        for number, (protocol, look) in enumerate(
            zip(protocols, protocol_styles(protocols), strict=True)
        ):
            x = place + (number - (len(protocols) - 1) / 2) * width
            axes.bar(x, means[protocol], width * 0.94, **look)  # type: ignore[arg-type]
            axes.annotate(
                f"{means[protocol]:.2f}",
                (x, means[protocol]),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=8,
            )
    comparison = panels[0].comparison
    axes.set_xticks(
        range(len(panels)), [GROUPS[panel.group].replace(" ", "\n", 1) for panel in panels]
    )
    axes.set_xlim(-0.6, len(panels) - 0.4)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.06)
    axes.axhline(1.0, color="black", linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)
    axes.set_ylabel(
        f"harmonic mean of speedups over\n{short(comparison.baseline)} (higher is better)"
    )
    axes.set_title(f"{panels[0].title}\n({subtitle(comparison)})", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    handles = [
        Patch(**look, label=short(protocol))  # type: ignore[arg-type]
        for protocol, look in zip(protocols, protocol_styles(protocols), strict=True)
    ]
    figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9)
    return figure


def mean_traffic(panels: Sequence[Panel]) -> Figure:
    """Draw mean flits by class, a group of bars per set of workloads."""
    groups: dict[str, list[Stack]] = {
        GROUPS[panel.group].replace(" ", "\n", 1): [
            (protocol, parts, False) for protocol, parts in panel.traffic.items()
        ]
        for panel in panels
    }
    comparison = panels[0].comparison
    return stacked_figure(
        groups,
        CLASS_NAMES,
        f"mean interconnect traffic relative to\n{short(comparison.baseline)} (ratio of flits)",
        f"{panels[0].title}\n({subtitle(comparison)})",
    )


def workload_traffic(panels: Sequence[Panel]) -> Figure:
    """Draw flits by class of one workload, a bar per protocol."""
    comparison = panels[0].comparison
    return stacked_figure(
        {name: _shortened(stacks) for name, stacks in traffic_stacks(comparison).items()},
        CLASS_NAMES,
        f"interconnect traffic relative to\n{short(comparison.baseline)} (ratio of flits)",
        f"{panels[0].title}\n({subtitle(comparison)})",
    )


def lifetimes(panels: Sequence[Panel]) -> Figure:
    """Draw the speedup over the baseline by fixed lifetime, a line per workload.

    A triangle marks the predictor's average lifetime and speedup; the thick line is the harmonic mean.
    """
    comparison = panels[0].comparison
    figure = Figure(figsize=(8.4, 4.6), layout="constrained")
    axes = figure.add_subplot()
    ratios = {
        (row["workload"], row["protocol"]): row["speedup"] or 0.0 for row in comparison.summary
    }
    fixed = [f"tc-weak[lifetime={lifetime}]" for lifetime in LIFETIMES]
    for number, name in enumerate(comparison.workloads):
        colour = _SHADES[number % len(_SHADES)]
        axes.plot(
            LIFETIMES,
            [ratios[name, protocol] for protocol in fixed],
            marker=_MARKERS[number % len(_MARKERS)],
            linestyle=_LINES[number % len(_LINES)],
            markersize=4,
            linewidth=1.1,
            color=colour,
            label=name,
        )
        average = average_lifetime(comparison, name)
        if average is not None:
            _arrow(axes, min(average, 1.4 * LIFETIMES[-1]), ratios[name, "tc-weak"], colour)
    means = panels[0].means["speedup"]
    heights = np.array([means[protocol] or np.nan for protocol in fixed], float)
    axes.plot(LIFETIMES, heights, color="#c00000", linewidth=2.4, label="harmonic mean")
    if means["tc-weak"]:
        label = "harmonic mean,\npredicted lifetimes"
        axes.axhline(means["tc-weak"], color="#c00000", linestyle=(0, (2, 2)), label=label)
    axes.plot(
        [], [], "v", color="#777777", markersize=9, label="predictor: average\nlifetime, speedup"
    )
    axes.set_xscale("symlog", linthresh=100, linscale=0.6, base=2)
    axes.set_xticks(LIFETIMES, [str(lifetime) for lifetime in LIFETIMES])
    axes.minorticks_off()
    axes.set_xlim(-8, 1.5 * LIFETIMES[-1])
    axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
    axes.axhline(1.0, color="black", linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)
    axes.set_xlabel("fixed lifetime (core cycles)")
    axes.set_ylabel(f"speedup over {comparison.baseline}\n(ratio of core cycles, higher is better)")
    axes.set_title(f"{_title(panels[0])}\n({subtitle(comparison)})", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    return figure


def _arrow(axes: Axes, x: float, y: float, colour: str) -> None:
    """Draw a downward triangle at the predictor's point."""
    axes.plot([x], [y], "v", color=colour, markersize=9, markeredgecolor="white", zorder=5)


def average_lifetime(comparison: Comparison, workload: str) -> float | None:
    """Mean lifetime, in core cycles, of the predictor's leases; None if there are none."""
    l2 = comparison.run(workload, "tc-weak").stats["l2"]
    return float(l2["lease_cycles"]) / float(l2["leases"]) if l2["leases"] else None
