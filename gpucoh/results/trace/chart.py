"""A message sequence chart of a line."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
from numpy.typing import NDArray

from gpucoh.base.canvas import Canvas, points, style
from gpucoh.results.trace.records import MOVES, NAMES, Names, is_step

_ROW = 0.16  # inches for a message or step


def sequence(records: NDArray[Any], names: Names, line: int, most: int) -> Canvas:
    """Controllers side by side, time downwards; arrows are messages, words beside a controller its new state.

    An arrow begins where the message is sent and ends where a step takes it.
    """
    sends = [i for i, record in enumerate(records) if NAMES[record["kind"]] == "SEND"]
    last = sends[most] if len(sends) > most else len(records)
    shown = [i for i in range(last) if i in set(sends) or _moves(records[i], names)]
    ends = ("node", "destination")
    nodes = sorted({int(records[i][end]) for i in sends[:most] for end in ends})
    nodes = nodes or sorted({int(records[i]["node"]) for i in shown})
    column = {node: place for place, node in enumerate(nodes)}
    row = {i: place for place, i in enumerate(shown)}
    with mpl.rc_context(style()):
        size = 1.2 + 1.3 * len(nodes), 0.9 + _ROW * (len(shown) + 2)
        figure = Canvas(figsize=(points(size[0]), points(size[1])), layout="constrained")
        chart = figure.subplots()
        for node, place in column.items():
            chart.axvline(place, color="#999999", linewidth=0.7)
            chart.text(place, -1.2, names.node(node), ha="center", va="bottom", weight="bold")
        for i in shown:
            _draw(chart, records, i, row, column, names)
        chart.set_ylim(len(shown), -1)
        chart.set_xlim(-0.6, len(nodes) - 0.4)
        chart.set_xticks([])
        chart.set_yticks(
            [row[i] for i in shown], [f"{records[i]['cycle']:,}" for i in shown], fontsize="small"
        )
        chart.set_ylabel("core cycle")
        for side in ("top", "right", "bottom"):
            chart.spines[side].set_visible(False)
        cut = f"; the first {most} of {len(sends)} messages" if len(sends) > most else ""
        figure.suptitle(f"{names.place(line) or 'line'} at {line:#x}{cut}")
    return figure


def _moves(record: Any, names: Names) -> bool:
    """Whether a record is a step to another state."""
    return (
        is_step(record)
        and int(record["cell"]) in MOVES
        and names.state(record) != names.state(record, "next")
    )


def _draw(
    chart: Any,
    records: NDArray[Any],
    number: int,
    row: dict[int, int],
    column: dict[int, int],
    names: Names,
) -> None:
    record, y = records[number], row[number]
    begin = column.get(int(record["node"]))
    if NAMES[record["kind"]] != "SEND":
        if begin is not None:
            text = f"{names.state(record)} → {names.state(record, 'next')}"
            chart.text(begin + 0.03, y, text, va="center", color="#7a3b00")
        return
    end = column.get(int(record["destination"]))
    if begin is None or end is None:
        return
    taken = _taken(records, number)
    until = row.get(taken, y) if taken is not None else y
    arrow = {"arrowstyle": "->", "color": "#0b3c7d", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
    chart.annotate("", (end, max(until, y + 0.4)), (begin, y), arrowprops=arrow)
    side = 0.25 if end > begin else -0.25
    chart.text(
        begin + side,
        y + 0.05,
        names.message(record["type"]),
        ha="left" if side > 0 else "right",
        va="bottom",
        color="#0b3c7d",
    )


def _taken(records: NDArray[Any], number: int) -> int | None:
    """The first step that takes a message."""
    sent = records[number]
    for i in range(number + 1, len(records)):
        one = records[i]
        same = one["message"] == sent["message"] and one["node"] == sent["destination"]
        if same and is_step(one):
            return i
    return None
