"""Lines of distributions, and of columns over numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from gpucoh.base.canvas import Canvas, points, style
from gpucoh.report.chart import Options
from gpucoh.report.charts import figure_of, own_axes
from gpucoh.report.legends import WRONG, finish, legend_in

_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
_MARKERS = "osD^vPX*"
_MOST_TICKS = 10  # numbers below the axis, each below its points
_LOGARITHMIC = 8  # ratio of the numbers from which on their axis is logarithmic
_FEWEST_STEPS = 3  # equal ratios that make one


@dataclass(frozen=True, kw_only=True)
class Line:
    """A histogram, its name in the legend and its colour."""

    name: str
    counts: Sequence[int]
    colour: str


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Values by number, its name in the legend and its colour.

    Attributes
    ----------
    values : dict
        Number on the x axis -> the values there.
    wrong : collection of float
        The numbers where a result is wrong.
    """

    name: str
    values: Mapping[float, Sequence[float]]
    wrong: frozenset[float]
    colour: str


def draw_cumulative(lines: Sequence[Line], label: str, options: Options) -> Figure:
    """Draw cumulative shares of histograms whose element i counts the values below 2**i, a line for each."""
    with mpl.rc_context(style()):
        figure, axes = _axes(options)
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
        title = options.text(label.partition(" (")[0].capitalize())
        handles = list(axes.get_lines())
        _finish(figure, axes, handles, options, (label, "share of instructions", title))
        return figure


def draw_curves(curves: Sequence[Curve], x: str, y: str, title: str, options: Options) -> Figure:
    """Draw a line for each curve through the means, with whiskers from the smallest to the largest value."""
    with mpl.rc_context(style()):
        figure, axes = _axes(options)
        handles: list[Any] = []
        for number, curve in enumerate(curves):
            at = sorted(curve.values)
            means = [sum(curve.values[one]) / len(curve.values[one]) for one in at]
            below = [mean - min(curve.values[one]) for one, mean in zip(at, means, strict=True)]
            above = [max(curve.values[one]) - mean for one, mean in zip(at, means, strict=True)]
            look: dict[str, Any] = {
                "color": curve.colour,
                "linestyle": _DASHES[number // len(_MARKERS) % len(_DASHES)],
                "linewidth": points(1.0),
                "marker": _MARKERS[number % len(_MARKERS)],
                "markersize": points(3.0),
            }
            axes.plot(at, means, **look)
            if any(below) or any(above):
                axes.errorbar(at, means, [below, above], fmt="none", ecolor=curve.colour, lw=0.8)
            wrong = [(one, mean) for one, mean in zip(at, means, strict=True) if one in curve.wrong]
            axes.plot(*_transposed(wrong), "x", color=WRONG, markersize=5, zorder=4)
            if curve.name:
                handles.append(Line2D([], [], label=curve.name, **look))
        handles += _marks(curves)
        _number_axis(axes, sorted({one for curve in curves for one in curve.values}))
        axes.set_ylim(bottom=0)
        _finish(figure, axes, handles, options, (x, y, options.text(title)))
        return figure


def _transposed(pairs: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in pairs], [y for _, y in pairs]


def _marks(curves: Sequence[Curve]) -> list[Line2D]:
    """The legend's entries of the marks that occur."""
    out = []
    if any(curve.wrong for curve in curves):
        look: dict[str, Any] = {"linestyle": "", "marker": "x", "color": WRONG, "markersize": 4}
        out.append(Line2D([], [], label="wrong result", **look))
    if any(len(set(found)) > 1 for curve in curves for found in curve.values.values()):
        out.append(
            Line2D([], [], color="black", linewidth=0.8, marker="_", label="smallest to largest")
        )
    return out


def _number_axis(axes: Axes, numbers: Sequence[float]) -> None:
    """Ticks at the numbers, if they are few; a logarithmic axis if they span several powers of two."""
    span = numbers[-1] / numbers[0] if numbers[0] > 0 else 0
    if span >= _LOGARITHMIC and len(numbers) >= _FEWEST_STEPS:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(NullLocator())
    if len(numbers) <= _MOST_TICKS:
        axes.xaxis.set_major_locator(FixedLocator(list(numbers)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _axes(options: Options) -> tuple[Figure, Axes]:
    """The user's axes, or new ones."""
    options.inches()
    if options.ax is not None:
        (axes,) = own_axes(options, 1)
        return figure_of(axes), axes
    figure = Canvas(layout=ConstrainedLayoutEngine(h_pad=0.03, w_pad=0.07))
    return figure, figure.add_subplot()


def _finish(
    figure: Figure,
    axes: Axes,
    handles: Sequence[Any],
    options: Options,
    texts: tuple[str, str, str],
) -> None:
    """Label the axes, add legend and title, and give the figure its size."""
    x, y, title = texts
    axes.tick_params(labelsize=points(7))
    axes.set_xlabel(x, fontsize=points(7))
    axes.set_ylabel(y, fontsize=points(7))
    axes.spines[["top", "right"]].set_visible(False)
    if handles and (
        options.place == "inside" or (options.ax is not None and options.place != "none")
    ):
        legend_in(axes, handles, beside=options.place == "outside")
    if options.ax is not None:
        axes.set_title(title, fontsize=points(8))
        return
    width = options.inches()
    extra = finish(figure, handles if options.place == "outside" else [], title, width)
    figure.set_size_inches(width, points(2.0) + extra)
