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
from gpucoh.figures.chart import Options
from gpucoh.figures.legends import WRONG, figure_of, own_axes, settle

_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
_MARKERS = "osD^vPX*"
_MOST_TICKS = 10  # numbers below the axis, each below its points
_LOGARITHMIC = 8  # ratio of the numbers from which on their axis is logarithmic
_FEWEST_STEPS = 3  # equal ratios that make one


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Values by number, its name in the legend and its colour.

    Attributes
    ----------
    values : dict
        Number on the x axis -> the values there.
    colour : str
    wrong : collection of float
        The numbers where a result is wrong.
    """

    name: str
    values: Mapping[float, Sequence[float]]
    colour: str
    wrong: frozenset[float] = frozenset()


def draw_curves(
    curves: Sequence[Curve], x: str, y: str, title: str, options: Options, *, steps: bool = False
) -> Figure:
    """Draw a line for each curve through the means, with whiskers from the smallest to the largest value.

    ``steps``: shares over powers of two, as steps without marks.
    """
    with mpl.rc_context(style()):
        axes = _axes(options)
        handles: list[Any] = []
        for number, curve in enumerate(curves):
            at = sorted(curve.values)
            means = [sum(curve.values[one]) / len(curve.values[one]) for one in at]
            below = [mean - min(curve.values[one]) for one, mean in zip(at, means, strict=True)]
            above = [max(curve.values[one]) - mean for one, mean in zip(at, means, strict=True)]
            place = number if steps else number // len(_MARKERS)
            look: dict[str, Any] = {
                "color": curve.colour,
                "linestyle": _DASHES[place % len(_DASHES)],
                "linewidth": points(1.0),
            }
            marked = {"marker": _MARKERS[number % len(_MARKERS)], "markersize": points(3.0)}
            look |= {"drawstyle": "steps-post"} if steps else marked
            axes.plot(at, means, label=curve.name, **look)
            if any(below) or any(above):
                axes.errorbar(at, means, [below, above], fmt="none", ecolor=curve.colour, lw=0.8)
            wrong = [(one, mean) for one, mean in zip(at, means, strict=True) if one in curve.wrong]
            if wrong:
                axes.plot(*zip(*wrong, strict=True), "x", color=WRONG, markersize=5, zorder=4)
            if curve.name:
                handles.append(Line2D([], [], label=curve.name, **look))
        handles += _marks(curves)
        if steps:
            axes.set_xscale("log", base=2)
            axes.set_ylim(0, 1.03)
        else:
            _number_axis(axes, sorted({one for curve in curves for one in curve.values}))
            axes.set_ylim(bottom=0)
        axes.tick_params(labelsize=points(7))
        axes.set_xlabel(x, fontsize=points(7))
        axes.set_ylabel(y, fontsize=points(7))
        axes.spines[["top", "right"]].set_visible(False)
        settle(axes, handles, options, options.text(title), points(2.0))
        return figure_of(axes)


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


def _axes(options: Options) -> Axes:
    """The user's axes, or new ones."""
    options.inches()
    if options.ax is not None:
        return own_axes(options, 1)[0]
    return Canvas(layout=ConstrainedLayoutEngine(h_pad=0.03, w_pad=0.07)).add_subplot()
