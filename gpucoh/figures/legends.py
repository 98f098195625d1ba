"""How a chart says what its bars are: names below them, a legend of their looks, or of letters; and all legends."""

from __future__ import annotations

import string
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.legend_handler import HandlerBase
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

from gpucoh.base.canvas import points
from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.figures.chart import Chart, Options

WRONG = "#c00000"
SMALL = 6.0  # points; the smallest text
NAMES, KEYS, LETTERS, NOTHING = "names", "keys", "letters", "nothing"


def length(text: str, size: float) -> float:
    """The length of a line of text in points."""
    return float(
        text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)[0]
    )


def naming(chart: Chart, options: Options) -> str:
    """How the bars are named.

    Groups that repeat the same bars do not repeat their names, which would be turned by 90 degrees: the legend has the
    looks of bars without parts, and letters for bars whose looks are those of their parts.
    """
    if chart.keys is not None:
        return KEYS if chart.keys else NOTHING
    bars = [bar.protocol for group in chart.groups.values() for bar in group]
    distinct = len(set(bars))
    if options.place == "none" or len(chart.groups) < 2 or distinct == len(bars):
        return NAMES
    if all(set(bar.parts) <= {""} for group in chart.groups.values() for bar in group):
        return KEYS
    return LETTERS if distinct <= len(string.ascii_lowercase) else NAMES


def keys(chart: Chart, options: Options) -> Mapping[str, str]:
    """Protocol -> name in the legend; in the order of the bars."""
    if chart.keys is not None:
        return chart.keys
    return {
        bar.protocol: options.below(bar.protocol)
        for group in chart.groups.values()
        for bar in group
    }


def letters(chart: Chart, options: Options) -> Mapping[str, str]:
    """Protocol -> letter below its bars."""
    return dict(zip(keys(chart, options), string.ascii_lowercase, strict=False))


def part_handles(chart: Chart, options: Options) -> list[Artist]:
    """The legend's entries of bars, and of the parts that occur, topmost first."""
    bars = [bar for group in chart.groups.values() for bar in group]
    drawn = {part for bar in bars for part, height in bar.parts.items() if height}
    how, out = naming(chart, options), []
    if how == KEYS:
        out = [_patch(chart, bar, name) for bar, name in keys(chart, options).items()]
    elif how == LETTERS:
        names = keys(chart, options)
        out = [Letter(one, names[bar]) for bar, one in letters(chart, options).items()]
    return out + [
        _patch(chart, part, chart.names[part])
        for part in list(chart.looks)[::-1]
        if part in drawn and part in chart.names
    ]


def _patch(chart: Chart, look: str, name: str) -> Artist:
    return Patch(**chart.looks[look], label=name)  # type: ignore[arg-type]


class Letter(Patch):
    """A letter in the legend, in place of a look."""

    def __init__(self, letter: str, name: str) -> None:
        super().__init__(label=name)
        self.letter = letter


class _LetterHandler(HandlerBase):
    def create_artists(  # type: ignore[override]
        self, legend: Any, handle: Letter, x: float, y: float, width: float, *_: Any
    ) -> list[Artist]:
        text = Text(x + width / 2, 0, handle.letter, ha="center", fontsize=points(SMALL + 0.5))
        return [text]


_HANDLERS: Any = {Letter: _LetterHandler()}


def mark_handles(chart: Chart) -> list[Artist]:
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


def legend_in(axes: Axes, handles: Sequence[Artist], *, beside: bool) -> None:
    """Draw the legend in the axes, where there is most room, or beside them."""
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0)} if beside else {}
    axes.legend(
        handles=handles,
        fontsize=points(SMALL),
        frameon=False,
        handler_map=_HANDLERS,
        **place,
    )


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


def settle(
    axes: Axes, handles: Sequence[Artist], options: Options, title: str, height: float = 0.0
) -> None:
    """Give the user's axes their legend and title; or a new figure, and its size around charts of some inches."""
    own = options.ax is not None
    if handles and (options.place == "inside" or (own and options.place == "outside")):
        legend_in(axes, handles, beside=options.place == "outside")
    if own:
        if title:
            axes.set_title(title, fontsize=points(8))
        return
    figure, width = figure_of(axes), options.inches()
    extra = finish(figure, handles if options.place == "outside" else [], title, width)
    figure.set_size_inches(width, height + extra)


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


def _legend(figure: Figure, handles: Sequence[Artist], width: float) -> float:
    """Draw the legend below the charts; return its height in inches."""
    if not handles:
        return 0.0
    longest = max(length(str(handle.get_label()), points(SMALL + 0.5)) for handle in handles)
    columns = max(1, min(len(handles), int((width * 72 + 8) / (longest + points(25)))))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        handler_map=_HANDLERS,
        fontsize=points(SMALL + 0.5),
        handlelength=1.8,
        columnspacing=1.2,
        handletextpad=0.5,
    )
    return 0.1 + points(0.14) * -(-len(handles) // columns)
