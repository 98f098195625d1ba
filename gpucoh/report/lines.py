"""Lines of distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from gpucoh.base.canvas import Canvas, points, style
from gpucoh.report.charts import Options, figure_of, finish, legend_in, own_axes

_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))


@dataclass(frozen=True, kw_only=True)
class Line:
    """A histogram, its name in the legend and its colour."""

    name: str
    counts: Sequence[int]
    colour: str


def draw_cumulative(lines: Sequence[Line], label: str, options: Options) -> Figure:
    """Draw cumulative shares of histograms whose element i counts the values below 2**i, a line for each."""
    with mpl.rc_context(style()):
        width = options.inches()
        if options.ax is None:
            figure: Figure = Canvas(layout=ConstrainedLayoutEngine(h_pad=0.03, w_pad=0.07))
            axes = figure.add_subplot()
        else:
            (axes,) = own_axes(options, 1)
            figure = figure_of(axes)
        first = min(place for line in lines for place, n in enumerate(line.counts) if n)
        longest = max(len(line.counts) for line in lines)
        for number, line in enumerate(lines):
            counts = line.counts
            total, places = sum(counts), range(max(first - 1, 0), longest)
            shares = [sum(counts[: place + 1]) / total for place in places]
            axes.plot(
                [2**place for place in places],
                shares,
                drawstyle="steps-post",
                color=line.colour,
                linestyle=_DASHES[number % len(_DASHES)],
                linewidth=points(1.0),
                label=line.name,
            )
        axes.set_xscale("log", base=2)
        axes.set_ylim(0, 1.03)
        axes.tick_params(labelsize=points(7))
        axes.set_xlabel(label, fontsize=points(7))
        axes.set_ylabel("share of instructions", fontsize=points(7))
        axes.spines[["top", "right"]].set_visible(False)
        handles = list(axes.get_lines())
        if options.ax is not None or options.place == "inside":
            if options.place != "none":
                legend_in(axes, handles, beside=options.place == "outside")
            handles = []
        text = options.text(label.partition(" (")[0].capitalize())
        if options.ax is not None:
            axes.set_title(text, fontsize=points(8))
        else:
            extra = finish(figure, handles if options.place == "outside" else [], text, width)
            figure.set_size_inches(width, points(2.0) + extra)
        return figure
