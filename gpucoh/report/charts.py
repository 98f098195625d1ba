"""Bar charts for print: column and page widths, names below the bars, rows where one would be too narrow."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
from matplotlib import patheffects, transforms
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator

from gpucoh.base.canvas import Canvas, points, style
from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import nearest
from gpucoh.report.looks import Look, proper_name

WIDTHS = {"column": 3.3, "page": 7.0}
WRONG = "#c00000"
AUTO = "auto"
LEGENDS = ("auto", "outside", "inside", "none")
# Lengths for text of the usual size; points() gives those for the user's.
_SMALL = 6.0  # points; the smallest text
_PITCH = 7.1  # points from bar to bar below which names of _SMALL would touch
_GAP = 0.9  # space between groups of bars, in bars
_LEFT = 0.5  # inches for the y axis
_LABEL = 28  # letters of a line beside the y axis that a chart's height fits


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar.

    Attributes
    ----------
    protocol : str
        Its protocol, with options.
    parts : dict
        Part -> height, stacked; the part ``""`` has the protocol's look.
    wrong : bool
        Whether a run's result is wrong.
    spread : tuple of float, optional
        The smallest and the largest height over the seeds.
    counted : tuple of int, optional
        For a mean over fewer workloads than the others: their number, and that of the figure.
    """

    protocol: str
    parts: Mapping[str, float]
    wrong: bool = False
    spread: tuple[float, float] | None = None
    counted: tuple[int, int] | None = None

    @property
    def height(self) -> float:
        """The sum of the parts."""
        return sum(self.parts.values())


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Bars in groups.

    Attributes
    ----------
    groups : dict
        Name below the axis -> its bars.
    looks : dict
        Part, or protocol where the only part is ``""``, -> look, in the order of stacking.
    label : str
        Text beside the y axis.
    names : dict
        Part -> name in the legend.
    title : str
        Text above the chart, if the figure has several.
    values : bool
        Whether each bar's height is printed above it.
    line : float, optional
        Height of the dashed line, that of the baseline; None: no line.
    spread : str
        What the legend says of whiskers.
    keys : dict, optional
        Protocol -> name in the legend, which then says what the bars are; None: names below the bars do.
    """

    groups: Mapping[str, Sequence[Bar]]
    looks: Mapping[str, Look]
    label: str
    names: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    values: bool = False
    line: float | None = 1.0
    spread: str = "smallest to largest seed"
    keys: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the user chooses about a figure.

    Attributes
    ----------
    ax : Axes or sequence of Axes, optional
        Axes to draw in, one per chart; by default a figure is made.
    width : str or float
        ``column`` (3.3 inches), ``page`` (7 inches), or inches.
    heading : str or None
        The title; ``auto`` says what ran, None leaves it out.
    order : sequence of str, optional
        The protocols to draw, in this order.
    labels : dict, optional
        Protocol or workload -> name in the figure.
    models : dict
        Protocol -> memory model, which the bars' names then say; a name in ``labels`` is the whole name.
    legend : str or None
        ``outside``: below the charts, or beside the user's axes; ``inside`` the first chart; ``none``, or None;
        ``auto``: outside, but inside the user's axes.
    """

    ax: Axes | Sequence[Axes] | None = None
    width: str | float = "page"
    heading: str | None = AUTO
    order: Sequence[str] | None = None
    labels: Mapping[str, str] | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    legend: str | None = AUTO

    def __post_init__(self) -> None:
        if self.legend is not None and self.legend not in LEGENDS:
            raise ConfigError(f"legend = {quoted(self.legend)}: {', '.join(LEGENDS)}, or None")

    @property
    def place(self) -> str:
        """Where the legend is: ``outside``, ``inside`` or ``none``."""
        if self.legend == AUTO:
            return "outside" if self.ax is None else "inside"
        return self.legend or "none"

    def inches(self) -> float:
        """The width of the figure.

        Raises
        ------
        ConfigError
            If it is neither a name of :data:`WIDTHS` nor 1 to 40 inches.
        """
        if isinstance(self.width, str) and self.width in WIDTHS:
            return WIDTHS[self.width]
        if isinstance(self.width, int | float) and 1 <= self.width <= 40:
            return float(self.width)
        raise ConfigError(f"width = {quoted(self.width)}: column, page, or inches from 1 to 40")

    def ordered(self, protocols: Sequence[str], workloads: Sequence[str]) -> list[str]:
        """The protocols to draw, in order; also checks the names in ``labels``.

        Raises
        ------
        ConfigError
            If a name is not one of the comparison's.
        """
        for name in self.labels or ():
            if name not in protocols and name not in workloads:
                known = [*protocols, *workloads]
                raise ConfigError(
                    f"labels: {quoted(name)} is no protocol or workload of this comparison{nearest(name, known)}"
                )
        if self.order is None:
            return list(protocols)
        chosen = list(dict.fromkeys([self.order] if isinstance(self.order, str) else self.order))
        for name in chosen:
            if name not in protocols:
                raise ConfigError(
                    f"order: {quoted(name)} is no protocol of this comparison{nearest(name, protocols)}"
                )
        if not chosen:
            raise ConfigError("order: no protocols are given")
        return chosen

    def text(self, automatic: str) -> str:
        """The title; empty for none."""
        return automatic if self.heading == AUTO else self.heading or ""

    def name(self, protocol: str) -> str:
        """A protocol's name in the figure."""
        return proper_name(protocol, self.labels)

    def below(self, protocol: str) -> str:
        """A protocol's name below its bars."""
        said = protocol in self.models and protocol not in (self.labels or {})
        return self.name(protocol) + (f" ({self.models[protocol]})" if said else "")


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
        if options.ax is not None:
            return _draw_in(charts, options, title)
        width = options.inches()
        rows = [_rows(chart, width) for chart in charts]
        pads = [_names_height(chart, options) for chart in charts]
        heights = [
            points(1.5) + pad / 72 for chart, pad in zip(rows, pads, strict=True) for _ in chart
        ]
        parts: dict[object, Artist] = {}
        marks: dict[object, Artist] = {}
        figure = Canvas(layout=ConstrainedLayoutEngine(h_pad=0.03, w_pad=0.07, hspace=0.02))
        grid = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)
        axes: list[Axes] = list(grid[:, 0])
        place = 0
        for chart, wrapped in zip(charts, rows, strict=True):
            _draw_rows(axes[place : place + len(wrapped)], chart, wrapped, options)
            place += len(wrapped)
            parts |= {handle.get_label(): handle for handle in _part_handles(chart)}
            marks |= {handle.get_label(): handle for handle in _mark_handles(chart)}
        handles = [*parts.values(), *marks.values()]
        if options.place == "inside" and handles:
            legend_in(axes[0], handles, beside=False)
        outside = handles if options.place == "outside" else []
        extra = finish(figure, outside, options.text(title), width)
        figure.set_size_inches(width, sum(heights) + extra)
        return figure


def finish(figure: Figure, handles: Sequence[Artist], title: str, width: float) -> float:
    """Add the title above and the legend below; return their height in inches."""
    extra = _legend(figure, handles, width)
    if title:
        fit = int(width * 72 / points(4.2))
        if len(title) > fit:  # what ran goes to a line of its own
            title = title.replace(" (", "\n(")
        lines = "\n".join(textwrap.fill(line, fit) for line in title.split("\n"))
        figure.suptitle(lines, fontsize=points(8))
        extra += points(0.16) * (1 + lines.count("\n"))
    return extra


def _draw_in(charts: Sequence[Chart], options: Options, title: str) -> Figure:
    """Draw in the user's axes, one chart in each."""
    given = own_axes(options, len(charts))
    for axes, chart in zip(given, charts, strict=False):
        _draw_rows([axes], chart, [list(chart.groups)], options)
        handles = _part_handles(chart) + _mark_handles(chart)
        if handles and options.place != "none":
            legend_in(axes, handles, beside=options.place == "outside")
    text = options.text(title)
    if text:
        given[0].set_title(text, fontsize=points(8))
    return figure_of(given[0])


def own_axes(options: Options, most: int) -> list[Axes]:
    """The user's axes.

    Raises
    ------
    ConfigError
        If they are none, or too many.
    """
    listed = list(options.ax) if isinstance(options.ax, Iterable) else [options.ax]
    given = [axes for axes in listed if isinstance(axes, Axes)]
    if not given or len(given) < len(listed) or len(given) > most:
        raise ConfigError(f"ax = {quoted(options.ax)}: Matplotlib axes, at most {most}")
    return given


def figure_of(axes: Axes) -> Figure:
    """The figure of axes, also of those in a part of it."""
    figure = axes.figure
    return figure if isinstance(figure, Figure) else figure.figure


def legend_in(axes: Axes, handles: Sequence[Artist], *, beside: bool) -> None:
    """Draw the legend in the axes, where there is most room, or beside them."""
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0)} if beside else {}
    axes.legend(handles=handles, fontsize=points(_SMALL), frameon=False, **place)


def _most(chart: Chart) -> int:
    return max(len(bars) for bars in chart.groups.values())


def _rows(chart: Chart, width: float) -> list[list[str]]:
    """The groups' names by row: as few rows as keep the bars' names legible, of nearly equal length."""
    fit = max(1, int((width - points(_LEFT)) * 72 / points(_PITCH) / (_most(chart) + _GAP)))
    names = list(chart.groups)
    rows = -(-len(names) // fit)
    long = -(-len(names) // rows)
    return [names[start : start + long] for start in range(0, len(names), long)]


def _names_height(chart: Chart, options: Options) -> float:
    """Points between the axis and the groups' names: the protocols' names stand upright between them."""
    if chart.keys is not None:
        return 3.0
    names = {options.below(bar.protocol) for bars in chart.groups.values() for bar in bars}
    return 6 + max(_length(name, points(_SMALL)) for name in names)


def _length(text: str, size: float) -> float:
    """The length of a line of text in points."""
    return float(
        text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)[0]
    )


def _legend(figure: Figure, handles: Sequence[Artist], width: float) -> float:
    """Draw the legend below the charts; return its height in inches."""
    if not handles:
        return 0.0
    longest = max(_length(str(handle.get_label()), points(_SMALL + 0.5)) for handle in handles)
    columns = max(1, min(len(handles), int((width * 72 + 8) / (longest + points(25)))))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=points(_SMALL + 0.5),
        handlelength=1.8,
        columnspacing=1.2,
        handletextpad=0.5,
    )
    return 0.1 + points(0.14) * -(-len(handles) // columns)


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
    for place, name in enumerate(names):
        bars = chart.groups[name]
        first = place * step + (_most(chart) - len(bars)) / 2
        for number, bar in enumerate(bars):
            _draw_bar(axes, chart, bar, first + number, limit)
            if chart.keys is not None:
                continue
            axes.annotate(
                options.below(bar.protocol),
                (first + number, 0),
                xycoords=("data", "axes fraction"),
                xytext=(0, -3),
                textcoords="offset points",
                ha="center",
                va="top",
                rotation=90,
                fontsize=points(_SMALL),
            )
        centres.append(place * step + (_most(chart) - 1) / 2)
    room = _width(axes, options) * 72 / long
    below = [_broken((options.labels or {}).get(name, name), room) for name in names]
    axes.set_xticks(centres, below, fontsize=points(7))
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
    if _length(max(name.split("\n"), key=len), points(7)) + points(3) <= room:
        return name
    return "\n".join(textwrap.wrap(name, 1, break_long_words=False))


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
            fontsize=points(_SMALL),
            color=WRONG if bar.wrong else "black",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0 if bar.counted else 0.3},
        )


def _part_handles(chart: Chart) -> list[Artist]:
    """The legend's entries of the parts that occur, topmost first."""
    bars = [bar for group in chart.groups.values() for bar in group]
    drawn = {part for bar in bars for part, height in bar.parts.items() if height}
    keyed: list[Artist] = [
        Patch(**chart.looks[bar], label=name)  # type: ignore[arg-type]
        for bar, name in (chart.keys or {}).items()
    ]
    return keyed + [
        Patch(**look, label=chart.names[part])  # type: ignore[arg-type]
        for part, look in list(chart.looks.items())[::-1]
        if part in drawn and part in chart.names
    ]


def _mark_handles(chart: Chart) -> list[Artist]:
    """The legend's entries of the marks that occur."""
    bars = [bar for group in chart.groups.values() for bar in group]
    out: list[Artist] = []
    if any(bar.wrong for bar in bars):
        mark = {"linestyle": "", "marker": "x", "color": WRONG, "markersize": 4}
        out.append(Line2D([], [], **mark, label="wrong result"))  # type: ignore[arg-type]
    if any(bar.spread for bar in bars):
        out.append(Line2D([], [], color="black", linewidth=0.8, marker="_", label=chart.spread))
    counted = next((bar.counted for bar in bars if bar.counted), None)
    if counted:
        text = f"n of {counted[1]}: workloads in mean"
        out.append(Patch(facecolor="none", edgecolor="none", label=text))
    return out
