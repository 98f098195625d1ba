"""Spans: what each traced access of a warp waits for, from its issue to its last word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from gpucoh.results.trace.records import (
    ACCESSES,
    FIRST_OWN_MESSAGE,
    HOLDS,
    NAMES,
    NO_REQUESTER,
    Names,
    is_step,
)


@dataclass
class Access:
    """A load, store or atomic of a warp.

    Attributes
    ----------
    core, warp, pc, line : int
        ``line``: the first traced one that it touches.
    kind : str
        ``load``, ``store`` or ``atomic``.
    begin, end : int
        Core cycles of its issue and its completion.
    cuts : list of (int, str)
        From each cycle on, where its request is; the first one is ``begin``.
    """

    core: int
    warp: int
    pc: int
    line: int
    kind: str
    begin: int
    end: int = -1
    cuts: list[tuple[int, str]] = field(default_factory=list)

    @property
    def latency(self) -> int:
        """Core cycles from issue to completion."""
        return self.end - self.begin

    def spans(self) -> list[tuple[str, int, int]]:
        """(stage, begin, end): they tile the access's life, so that their lengths sum to its latency."""
        stages: list[tuple[str, int, int]] = []
        last = self.end if self.end >= 0 else self.cuts[-1][0]
        ends = [cycle for cycle, _ in self.cuts[1:]] + [last]
        for (begin, stage), end in zip(self.cuts, ends, strict=True):
            begin, end = min(begin, last), min(end, last)
            if stages and stages[-1][0] == stage:
                stages[-1] = (stage, stages[-1][1], end)
            elif end > begin:
                stages.append((stage, begin, end))
        if self.end >= 0 and sum(end - begin for _, begin, end in stages) != self.latency:
            raise AssertionError(f"the spans of {self} do not tile its life")
        return stages


def accesses(records: NDArray[Any], names: Names) -> list[Access]:
    """The accesses of a trace with the stages of their requests, in order of issue; unfinished ones have no end."""
    found: list[Access] = []
    named: dict[tuple[int, int], Access] = {}  # by core and the core's index
    by_line: dict[tuple[int, int], list[Access]] = {}  # outstanding, by core and line
    for record in records:
        kind = NAMES[record["kind"]]
        core, cycle = int(record["node"]), int(record["cycle"])
        if kind == "ACCESS":
            one = Access(
                core, int(record["warp"]), int(record["pc"]), int(record["line"]),
                ACCESSES[record["state"]], cycle, cuts=[(cycle, "waits for the L1")],
            )  # fmt: skip
            found.append(one)
            named[core, int(record["access"])] = one
            by_line.setdefault((core, one.line), []).append(one)
        elif kind == "FINISH":
            done = named.pop((core, int(record["access"])), None)
            if done:
                done.end = cycle
                by_line[core, done.line].remove(done)
        else:
            _cut(record, kind, cycle, names, named, by_line)
    return found


def _cut(
    record: Any,
    kind: str,
    cycle: int,
    names: Names,
    named: dict[tuple[int, int], Access],
    by_line: dict[tuple[int, int], list[Access]],
) -> None:
    """Note where the requests that a record of a controller concerns are from now on."""
    line = int(record["line"])
    if is_step(record) and record["type"] < FIRST_OWN_MESSAGE and record["access"] < 2**32 - 1:
        one = named.get((int(record["source"]), int(record["access"])))
        held = HOLDS.get(int(record["cell"]))
        if one and one.line == line:
            one.cuts.append((cycle, f"L1 {record['source']}" + (f", {held}" if held else "")))
        return
    stage = _stage(record, kind, names)
    for core in _cores(record, line, by_line) if stage else ():
        for one in by_line.get((core, line), ()):
            one.cuts.append((cycle, stage))


def _stage(record: Any, kind: str, names: Names) -> str:
    if is_step(record):
        return names.node(record["node"])
    if kind in ("SEND", "EPOCH"):
        return f"{names.message(record['type'])} to {names.node(record['destination'])}"
    return {"FETCH": "memory", "COMPLETE": "registers"}.get(kind, "")


def _cores(record: Any, line: int, by_line: dict[tuple[int, int], list[Access]]) -> Iterator[int]:
    """The cores whose requests a record concerns: of the message, or all that wait for the line."""
    if NAMES[record["kind"]] in ("FETCH", "WRITE") or record["requester"] == NO_REQUESTER:
        yield from [core for core, one in by_line if one == line]
        return
    ends = (record["node"], record["source"], record["destination"], record["requester"])
    yield from {int(node) for node in ends}
