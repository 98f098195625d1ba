"""The figure of the states' growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gpucoh.base.canvas import Canvas, points, style
from gpucoh.figures.looks import protocol_looks
from gpucoh.verify.growth import PANELS, TITLES, Point

_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))


def draw(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw states against cores, lines and operations, a line for each protocol; open marks are bounds."""
    found = {
        (row["protocol"], Point(row["cores"], row["lines"], row["operations"])): row for row in rows
    }
    names = list(dict.fromkeys(row["protocol"] for row in rows))
    looks = protocol_looks(names)
    with mpl.rc_context(style()):
        figure = Canvas(figsize=(7, 3.6), layout="constrained")
        panels = figure.subplots(1, len(PANELS), sharey=True)
        for ax, (what, sizes) in zip(panels, PANELS.items(), strict=True):
            for number, name in enumerate(names):
                line = [
                    (getattr(size, what), found[name, size])
                    for size in sizes
                    if (name, size) in found
                ]
                colour = looks[name]["facecolor"]
                ax.plot(
                    [x for x, _ in line],
                    [row["states"] for _, row in line],
                    color=colour,
                    linestyle=_DASHES[number % len(_DASHES)],
                    linewidth=points(0.8),
                )
                for x, row in line:
                    ended = row["verdict"] == "complete"
                    ax.plot(x, row["states"], "o" if ended else "^", color=colour, markersize=points(2.5),
                            markerfacecolor=colour if ended else "white")  # fmt: skip
            ax.set_yscale("log")
            ax.set_xticks([getattr(size, what) for size in sizes])
            ax.set_xlabel(what)
            ax.set_title(TITLES[what])
            ax.spines[["top", "right"]].set_visible(False)
        panels[0].set_ylabel("states")
        handles = [
            Line2D([], [], color=str(looks[name]["facecolor"]), linestyle=_DASHES[number % len(_DASHES)], label=name)
            for number, name in enumerate(names)
        ]  # fmt: skip
        handles.append(
            Line2D([], [], color="black", linestyle="", marker="^", markerfacecolor="white", label="bounded")
        )  # fmt: skip
        figure.legend(handles=handles, loc="outside lower center", ncols=7, frameon=False)
    return figure
