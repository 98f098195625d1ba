"""Bar charts for print: column and page widths, rows where one would be too narrow, bars named once."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import matplotlib as mpl
from matplotlib import patheffects, transforms
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from gpucoh.base.canvas import Canvas, points, style
from gpucoh.figures.chart import Bar, Chart, Options
from gpucoh.figures.legends import (
    KEYS,
    LETTERS,
    NAMES,
    NOTHING,
    SMALL,
    WRONG,
    figure_of,
    keys,
    length,
    letters,
    mark_handles,
    naming,
    own_axes,
    part_handles,
    settle,
)
from gpucoh.figures.looks import Look

# Lengths for text of the usual size; points() gives those for the user's.
# Points from bar to bar below which names or letters of SMALL would touch, or hatches are too small to be told apart.
_PITCHES = {NAMES: 7.1, LETTERS: 6.0, KEYS: 5.0, NOTHING: 5.0}
_GAP = 0.9  # space between groups of bars, in bars
_LEFT = 0.5  # inches for the y axis
_LABEL = 28  # letters of a line beside the y axis that a chart's height fits


def draw(charts: Sequence[Chart], options: Options, title: str) -> Figure:
    """Draw charts one above the other; each wraps into as many rows as its bars need.

    Parameters
    ----------
    charts : sequence of Chart
    options : Options
    title : str
        The title unless the options have one.
    """
    with mpl.rc_context(style()):
        said = options.text(title)
        if options.ax is not None:
            given = own_axes(options, len(charts))
            for axes, chart in zip(given, charts, strict=False):
                _draw_rows([axes], chart, [list(chart.groups)], options)
                handles = part_handles(chart, options) + mark_handles(chart)
                settle(axes, handles, options, said if axes is given[0] else "")
            return figure_of(given[0])
        rows = [_rows(chart, options.inches(), options) for chart in charts]
        pads = [_names_height(chart, options) for chart in charts]
        heights = [
            points(1.5) + pad / 72 for chart, pad in zip(rows, pads, strict=True) for _ in chart
        ]
        parts: dict[object, Artist] = {}
        marks: dict[object, Artist] = {}
        figure = Canvas(layout=ConstrainedLayoutEngine(h_pad=0.03, w_pad=0.07, hspace=0.02))
        grid = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)
        left = iter(grid[:, 0])
        for chart, wrapped in zip(charts, rows, strict=True):
            _draw_rows([next(left) for _ in wrapped], chart, wrapped, options)
            parts |= {handle.get_label(): handle for handle in part_handles(chart, options)}
            marks |= {handle.get_label(): handle for handle in mark_handles(chart)}
        settle(grid[0, 0], [*parts.values(), *marks.values()], options, said, sum(heights))
        return figure


def _most(chart: Chart) -> int:
    return max(len(bars) for bars in chart.groups.values())


def _rows(chart: Chart, width: float, options: Options) -> list[list[str]]:
    """The groups' names by row: as few rows as keep bars and names legible, of nearly equal length."""
    names = list(chart.groups)
    words = [word for name in names for word in _words((options.labels or {}).get(name, name))]
    group = max(
        points(_PITCHES[naming(chart, options)]) * (_most(chart) + _GAP),
        max(length(word, points(7)) for word in words) + points(3),
    )
    fit = max(1, int((width - points(_LEFT)) * 72 / group))
    rows = -(-len(names) // fit)
    long = -(-len(names) // rows)
    return [names[start : start + long] for start in range(0, len(names), long)]


def _names_height(chart: Chart, options: Options) -> float:
    """Points between the axis and the groups' names: letters or turned names of protocols are between them."""
    how = naming(chart, options)
    if how in (KEYS, NOTHING):
        return 3.0
    if how == LETTERS:
        return 5 + points(SMALL)
    names = {options.below(bar.protocol) for bars in chart.groups.values() for bar in bars}
    return 6 + max(length(name, points(SMALL)) for name in names)


def _draw_rows(
    axes: Sequence[Axes], chart: Chart, rows: Sequence[Sequence[str]], options: Options
) -> None:
    """Draw the rows of a chart on a common scale."""
    bars = [bar for group in chart.groups.values() for bar in group]
    right = [max(bar.height, bar.spread[1] if bar.spread else 0) for bar in bars if not bar.wrong]
    top = max([chart.line or 0.0, *right]) or 1.0
    # A wrong run far above all right ones would make these unreadable: its bar is broken.
    limit = 1.25 * top if any(bar.height > 1.25 * top for bar in bars) else None
    long = max(len(row) for row in rows)
    for at, row in zip(axes, rows, strict=True):
        _draw_row(at, chart, row, long, limit, options)
        if (
            options.ax is None
        ):  # as many ticks at every step of the layout, which makes room for their labels
            at.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    tall = max([limit or 0, top, *(bar.height for bar in bars if not limit)])
    marked = any(bar.wrong or bar.counted or chart.values for bar in bars)
    for at in axes:
        at.set_ylim(0, tall * (1.45 if limit else 1.25 if marked else 1.05))
    if chart.title:
        axes[0].set_title(chart.title, fontsize=points(7), loc="left")


def _draw_row(
    axes: Axes,
    chart: Chart,
    names: Sequence[str],
    long: int,
    limit: float | None,
    options: Options,
) -> None:
    step = _most(chart) + _GAP
    centres = []
    turned = naming(chart, options) == NAMES
    below = _below(chart, options)
    for place, name in enumerate(names):
        bars = chart.groups[name]
        first = place * step + (_most(chart) - len(bars)) / 2
        for number, bar in enumerate(bars):
            _draw_bar(axes, chart, bar, first + number, limit)
            if bar.protocol not in below:
                continue
            axes.annotate(
                below[bar.protocol],
                (first + number, 0),
                xycoords=("data", "axes fraction"),
                xytext=(0, -3),
                textcoords="offset points",
                ha="center",
                va="top",
                rotation=90 if turned else 0,
                fontsize=points(SMALL),
            )
        centres.append(place * step + (_most(chart) - 1) / 2)
    room = _width(axes, options) * 72 / long
    titles = [_broken((options.labels or {}).get(name, name), room) for name in names]
    axes.set_xticks(centres, titles, fontsize=points(7))
    axes.tick_params(axis="x", length=0, pad=_names_height(chart, options))
    axes.tick_params(axis="y", labelsize=points(7))
    axes.set_xlim(-0.5 - _GAP / 2, long * step - _GAP / 2 - 0.5)
    axes.set_ylabel(textwrap.fill(chart.label, _LABEL), fontsize=points(7))
    if chart.line is not None:
        axes.axhline(chart.line, color="black", linewidth=0.5, linestyle=(0, (4, 3)), zorder=0)
    axes.spines[["top", "right"]].set_visible(False)


def _width(axes: Axes, options: Options) -> float:
    """The width of the axes in inches, about."""
    if options.ax is None:
        return options.inches() - points(_LEFT)
    figure = figure_of(axes)
    return float(axes.get_window_extent().width) / figure.dpi


def _broken(name: str, room: float) -> str:
    """A group's name, on lines of its own before blanks and after hyphens where its room in points is too narrow."""
    if length(max(name.split("\n"), key=len), points(7)) + points(3) <= room:
        return name
    return "\n".join(_words(name))


def _words(name: str) -> list[str]:
    return textwrap.wrap(name, 1, break_long_words=False)


def _below(chart: Chart, options: Options) -> Mapping[str, str]:
    """Protocol -> text below its bars."""
    how = naming(chart, options)
    if how == LETTERS:
        return letters(chart, options)
    return keys(chart, options) if how == NAMES else {}


def _draw_bar(axes: Axes, chart: Chart, bar: Bar, x: float, limit: float | None) -> None:
    """Draw a bar with its marks; a broken one has its parts in proportion."""
    broken = limit is not None and bar.height > limit
    scale = limit / bar.height if limit is not None and broken else 1.0
    bottom = 0.0
    for part, look in chart.looks.items():
        own = part == bar.protocol
        height = scale * bar.parts.get("" if own else part, 0.0)
        if height:
            shown = _open(look) if own and bar.counted else look
            box = Rectangle((x - 0.45, bottom), 0.9, height, label=part, **shown)  # type: ignore[arg-type]
            axes.add_patch(box)
            bottom += height
    if broken:
        cut = [0.88 * bottom, 0.92 * bottom]
        axes.plot([x - 0.55, x + 0.55], cut, color="white", linewidth=2, zorder=4, label="break")
    if bar.spread and not broken:
        _whisker(axes, x, bar.spread)
        bottom = max(bottom, bar.spread[1])
    _marks(axes, chart, bar, (x, bottom), broken)


def _open(look: Look) -> Look:
    """The look of a mean over fewer workloads: an outline in the protocol's colour."""
    return look | {"facecolor": "white", "edgecolor": look["facecolor"], "linewidth": 0.8}


def _whisker(axes: Axes, x: float, spread: tuple[float, float]) -> None:
    """Draw the smallest and the largest height over the seeds; the white rim shows it on dark bars."""
    rim = [patheffects.withStroke(linewidth=1.8, foreground="white")]
    for line in (
        *axes.plot([x, x], spread, color="black", linewidth=0.8, zorder=3, path_effects=rim),
        *axes.plot([x, x], spread, "_", color="black", markersize=3.5, zorder=3, path_effects=rim),
    ):
        line.set_label("spread")


def _marks(axes: Axes, chart: Chart, bar: Bar, at: tuple[float, float], broken: bool) -> None:
    """Print above a bar that it is wrong, its height if it cannot be read, and how many workloads a mean has."""
    texts = []
    if chart.values or broken or (bar.wrong and bar.height < 0.2):
        texts.append(f"{bar.height:.3g}" if bar.height >= 10 else f"{bar.height:.2f}")
    if bar.counted:
        texts.append(f"{bar.counted[0]} of {bar.counted[1]}")
    above = 3.0
    if bar.wrong:
        shift = transforms.ScaledTranslation(0, 5 / 72, axes.figure.dpi_scale_trans)
        axes.plot(
            *([value] for value in at),
            "x",
            color=WRONG,
            markersize=4,
            markeredgewidth=1.1,
            transform=axes.transData + shift,
            label="wrong",
            clip_on=False,
        )
        above = 9.0
    if texts:
        axes.annotate(
            ", ".join(texts),
            at,
            xytext=(0, above),
            textcoords="offset points",
            ha="center",
            va="bottom",
            rotation=90,
            fontsize=points(SMALL),
            color=WRONG if bar.wrong else "black",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0 if bar.counted else 0.3},
        )
