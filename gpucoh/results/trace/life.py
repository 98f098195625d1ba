"""The life of a line as text: its steps, messages, completed requests and memory requests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh.results.trace.records import (
    FIRST_OWN_MESSAGE,
    HOLDS,
    NAMES,
    REDO,
    Names,
    is_step,
)

_WHERE = 7  # characters
_OTHERS = {
    "SEND": "sends",
    "EPOCH": "sends",
    "COMPLETE": "done",
    "FETCH": "sends",
    "WRITE": "sends",
}


def life(records: NDArray[Any], names: Names, line: int | None = None) -> list[str]:
    """One line of text for each record about controllers, in columns; of one line or all.

    Columns: cycle, controller, state, event or message, next state, the traced word in the controller's copy and in the
    message (hexadecimal), actions.
    """
    prefixes = {int(node): names.dies.prefix(node) for node in np.unique(records["node"])}
    wide = max(map(len, prefixes.values()), default=0)
    head = (
        f"{'cycle':>9} {'where':<{wide + _WHERE}} {'state':<10} {'event':<18} {'next':<10} {'copy':>10} "
        f"{'message':>10}  what"
    )
    lines = [head]
    for record in records:
        if line is not None and int(record["line"]) != line:
            continue
        kind = NAMES[record["kind"]]
        if is_step(record):
            text = _step(record, names)
        elif kind in _OTHERS:
            text = _other(record, names, kind)
        else:
            continue
        where, index = names.nodes[record["node"]]
        die = prefixes[int(record["node"])]
        lines.append(f"{record['cycle']:9d} {die:<{wide}}{where:<3} {index:<3d} {text}".rstrip())
    return lines


def _columns(state: str, event: str, following: str, copy: str, value: str) -> str:
    return f"{state:<10} {event:<18} {following:<10} {copy:>10} {value:>10}  "


def _step(record: Any, names: Names) -> str:
    cell = int(record["cell"])
    following = names.state(record, "next")
    copy = f"{record['copy']:x}" if record["has"] & 2 else ""
    text = _columns(names.state(record), names.event(record), following, copy, _value(record))
    text += HOLDS.get(cell, "") + names.actions(record) + ("; then again" if cell == REDO else "")
    message = names.message(record["type"])
    if message:
        text += f" | {message} from {names.node(record['source'])}"
        if record["type"] < FIRST_OWN_MESSAGE and message != "FILL":
            text += f" warp {record['warp']}, words {record['mask']:08x}"
    return text


def _other(record: Any, names: Names, kind: str) -> str:
    memory = {"FETCH": "read memory", "WRITE": "write memory"}
    event = memory.get(kind) or names.message(record["type"])
    text = _columns(_OTHERS[kind], event, "", "", _value(record))
    if kind in ("SEND", "EPOCH"):
        text += f"to {names.node(record['destination'])}"
    elif kind == "COMPLETE":
        text += f"warp {record['warp']}, words {record['mask']:08x}"
    return text


def _value(record: Any) -> str:
    return f"{record['value']:x}" if record["has"] & 1 else ""
