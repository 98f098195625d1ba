"""The records of a trace, as the core makes them, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh.results.dies import Dies

# gpc_trace_record_t and GPC_TRACE_KINDS of csrc/check/trace/trace.h.
_FIELDS = [
    *[(name, "<u8") for name in ("cycle", "line", "extra")],
    *[(name, "<u4") for name in ("message", "request", "access", "pc", "mask", "value", "copy")],
    *[(name, "<u2") for name in ("node", "source", "destination", "requester", "warp")],
    *[(name, "u1") for name in ("kind", "type", "table", "state", "event", "next", "cell", "has")],
    ("spare", "<u2"),
]
RECORD = np.dtype(_FIELDS)
NAMES = (
    *("BLOCK", "EXIT", "ACCESS", "FINISH", "FENCE", "BARRIER", "STEP", "EVICTION", "LEASE"),
    *("EPOCH", "COMPLETE", "FLASH", "SEND", "FETCH", "WRITE"),
)
BIT = {name: 1 << number for number, name in enumerate(NAMES)}
# Kinds that a user selects -> the core's.
KINDS = {
    "warps": ("BLOCK", "EXIT", "ACCESS", "FINISH", "BARRIER"),
    "fences": ("FENCE", "FLASH"),
    "misses": ("COMPLETE",),
    "messages": ("SEND",),
    "steps": ("STEP",),
    "leases": ("LEASE",),
    "evictions": ("EVICTION",),
    "epochs": ("EPOCH",),
    "memory": ("FETCH", "WRITE"),
}
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}
COMMON_MESSAGES = (
    *("LOAD", "STORE", "ATOMIC", "ACQUIRE", "RELEASE", "KERNEL_BEGIN", "KERNEL_END", "FILL"),
    *("WRITTEN", "EVICT", "EXPIRE", "INSTANT", "TIMER", "REPLAY"),
)
FIRST_OWN_MESSAGE = 16
ACCESSES = ("load", "store", "atomic")
NO_LINE, NO_MESSAGE, NO_REQUESTER = 2**64 - 1, 2**32 - 1, 2**16 - 1
# gpc_cell_kind_t; a record of a message that is not a step has another number.
MOVES = (1, 2)
HOLDS = {0: "impossible", 3: "waits for the line", 4: "waits in its queue", 5: "not a victim"}
REDO, NO_CELL = 2, 255


@dataclass(frozen=True)
class Names:
    """Names of a GPU's nodes, messages, states, events and actions, and its arrays.

    Attributes
    ----------
    nodes : sequence of (str, int)
        Controller and index of each node.
    messages : sequence of str
        The protocol's own messages.
    tables : dict
        Controller -> its tables: ``states``, ``events``, and ``actions`` by cell.
    line_bytes : int
        Bytes of a line.
    arrays : sequence of (str, int, int, int)
        Name, address, bytes and bytes of an element of each array.
    dies : Dies
        The dies of the nodes.
    """

    nodes: Sequence[tuple[str, int]]
    messages: Sequence[str]
    tables: Mapping[str, Sequence[Mapping[str, Sequence[str]]]]
    line_bytes: int
    arrays: Sequence[tuple[str, int, int, int]]
    dies: Dies = field(default_factory=Dies)

    def node(self, number: int) -> str:
        """``L1 3``, after its die if there are several; empty for none."""
        if number >= len(self.nodes):
            return ""
        kind, index = self.nodes[number]
        return f"{self.dies.prefix(number)}{kind} {index}"

    def core(self, number: int) -> str:
        """``core 3``, after its die if there are several."""
        return f"{self.dies.prefix(number)}core {number}"

    def message(self, number: int) -> str:
        """The name of a message type; empty for none."""
        own = int(number) - FIRST_OWN_MESSAGE
        if 0 <= own < len(self.messages):
            return self.messages[own]
        return COMMON_MESSAGES[number] if number < len(COMMON_MESSAGES) else ""

    def table(self, record: Any) -> Mapping[str, Sequence[str]]:
        """The table of a step."""
        kind, _ = self.nodes[int(record["node"])]
        return self.tables[kind][int(record["table"])]

    def state(self, record: Any, which: str = "state") -> str:
        """The state before a step, or the ``next`` one (empty if it holds); without the controller's prefix."""
        if which == "next" and int(record["cell"]) not in MOVES:
            return ""
        return short(self.table(record)["states"][record[which]])

    def event(self, record: Any) -> str:
        """The event of a step, without the controller's prefix."""
        return short(self.table(record)["events"][record["event"]])

    def actions(self, record: Any) -> str:
        """The actions of a step."""
        table = self.table(record)
        return table["actions"][int(record["state"]) * len(table["events"]) + int(record["event"])]

    def place(self, line: int) -> str:
        """The elements of an array in a line, ``x[32:64]``; empty if no array is known there."""
        for name, address, size, element in self.arrays:
            if address < line + self.line_bytes and line < address + size:
                first = max(0, line - address) // element
                last = (min(address + size, line + self.line_bytes) - address) // element
                return f"{name}[{first}]" if last == first + 1 else f"{name}[{first}:{last}]"
        return ""


def short(name: str) -> str:
    """``V`` of ``L1_V``: a column beside it names the controller."""
    return name.partition("_")[2] or name


def is_step(record: Any) -> bool:
    """Whether a record is the step of a table."""
    kind = NAMES[record["kind"]]
    return kind in ("STEP", "EVICTION", "LEASE") or (
        kind == "EPOCH" and int(record["cell"]) != NO_CELL
    )


def decode(data: bytes) -> NDArray[Any]:
    """The core's records, sorted by cycle."""
    records = np.frombuffer(data, RECORD)
    return records[np.argsort(records["cycle"], kind="stable")]
