"""The figure of docs/dies.md: speedups over mcm and bytes over links, by group of workloads and protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from dies_claims import Measured
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gpucoh.base.canvas import Canvas, style
from gpucoh.figures.looks import looks_of

PANELS = (("cycles", "speedup over mcm"), ("links_dies_bytes", "bytes over links, of mcm's"))
MOST = 3.0  # of an axis: longer bars are cut, and their value is printed


def draw(
    measured: Measured, protocols: Mapping[str, str], groups: Mapping[str, Sequence[str]]
) -> Figure:
    """Bars with intervals over workloads; one look per protocol, which ``protocols`` maps to what finds it."""
    names = [name for name in protocols if name != "mcm"]
    looks = looks_of(list(dict.fromkeys(protocols.values())), True)
    width = 1 / (len(names) + 1.5)  # of a bar; groups are 1 apart
    with mpl.rc_context(style()):
        figure = Canvas(figsize=(7.0, 5.0), layout="constrained")
        for place, (amount, label) in enumerate(PANELS, 1):
            axes = figure.add_subplot(len(PANELS), 1, place)
            for number, name in enumerate(names):
                means = [
                    measured.ratio("package", name, "mcm", amount, group)
                    for group in groups.values()
                ]
                _bars(axes, number * width, width, means, name, looks[protocols[name]])
            axes.axhline(1.0, color="black", linewidth=0.6)
            axes.set_ylim(0, MOST)
            centres = [at + (len(names) - 1) / 2 * width for at in range(len(groups))]
            axes.set_xticks(centres, [name.replace(" ", "\n") for name in groups], fontsize=6)
            axes.set_ylabel(label)
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right center")
        return figure


def _bars(
    axes: Axes, left: float, width: float, means: Sequence[Any], name: str, look: dict[str, Any]
) -> None:
    """The bars of a protocol, one a group, with intervals."""
    label: str | None = name
    for at, mean in enumerate(means):
        if not mean.by_workload:
            continue
        x = at + left
        axes.bar(x, min(mean.value, MOST), width, label=label, **look)
        label = None  # one entry of the legend for all groups
        if mean.low == mean.low:
            axes.plot([x, x], [mean.low, min(mean.high, MOST)], color="black", linewidth=0.8)
        if mean.value > MOST:
            axes.text(x, MOST, f"{mean.value:.1f}", ha="center", va="bottom", fontsize=5)
