"""A trace as lanes of spans and moments, which the page and the Perfetto file draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from gpucoh.results.dies import group_of
from gpucoh.results.trace.records import HOLDS, KIND_OF, NAMES, NO_LINE, Names, is_step
from gpucoh.results.trace.spans import Access, accesses


@dataclass(frozen=True)
class Item:
    """A span of a lane, or a moment (``end`` equals ``begin``).

    Attributes
    ----------
    lane, name, kind : str
        ``kind``: a kind of record, or ``stage``.
    begin, end : int
        Core cycles.
    details : dict
        Shown when the item is selected.
    flow : int
        Of a message's sending and taking: a number that both have; 0: none.
    """

    lane: str
    name: str
    kind: str
    begin: int
    end: int
    details: Mapping[str, str] = field(default_factory=dict)
    flow: int = 0


@dataclass(frozen=True)
class Timeline:
    """Lanes from top to bottom, and their items in order of time."""

    title: str
    lanes: tuple[str, ...]
    items: tuple[Item, ...]
    note: str


def timeline(
    records: NDArray[Any],
    names: Names,
    source: Callable[[int, int], str],
    title: str,
    note: str,
) -> Timeline:
    """The timeline of a trace; ``source``: place in the kernel's source, from pc and cycle."""
    items = _accesses(accesses(records, names), names, source, int(records["cycle"].max(initial=0)))
    items += _warps(records, names)
    items += _controllers(records, names)
    items.sort(key=lambda item: (item.begin, -item.end))
    order = {name: number for number, name in enumerate(sorted({i.lane for i in items}, key=_rank))}
    return Timeline(title, tuple(order), tuple(items), note)


def _rank(lane: str) -> tuple[Any, ...]:
    """Dies, then what is on none; within each the cores first."""
    die, name = group_of(lane)
    words = name.split()
    return (not die, _numbers(die), words[0] != "core", words[0], *_numbers(name))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split() if word.isdigit())


def _accesses(
    found: list[Access], names: Names, source: Callable[[int, int], str], last: int
) -> list[Item]:
    """Accesses and the stages of their requests; those of a warp that overlap are in lanes of their own."""
    items: list[Item] = []
    busy: dict[tuple[int, int], list[int]] = {}
    for one in found:
        ends = busy.setdefault((one.core, one.warp), [])
        end = one.end if one.end >= 0 else last
        slot = next((i for i, until in enumerate(ends) if until <= one.begin), len(ends))
        ends[slot : slot + 1] = [end]
        lane = f"{names.core(one.core)} warp {one.warp}" + (f" access {slot + 1}" if slot else "")
        what = f"{one.kind} {names.place(one.line) or hex(one.line)}"
        place = source(one.pc, one.begin)
        where = {"source": place} if place else {}
        details = {"line": hex(one.line), "latency": f"{end - one.begin} cycles", **where}
        items.append(Item(lane, what, "access", one.begin, end, details))
        items += [Item(lane, stage, "stage", begin, end) for stage, begin, end in one.spans()]
    return items


def _warps(records: NDArray[Any], names: Names) -> list[Item]:
    """Blocks, barriers and fences of warps; a wait at a barrier lasts until a later arrival releases the warp."""
    items: list[Item] = []
    waiting: dict[tuple[int, int], int] = {}
    for record in records:
        kind = NAMES[record["kind"]]
        core, warp, cycle = (int(record[name]) for name in ("node", "warp", "cycle"))
        lane = f"{names.core(core)} warp {warp}"
        if kind == "BARRIER":
            waiting[core, warp] = cycle
            for one in range(int(record["extra"]).bit_length()):
                if int(record["extra"]) >> one & 1 and (core, one) in waiting:
                    begin = waiting.pop((core, one))
                    released = f"{names.core(core)} warp {one}"
                    items.append(Item(released, "barrier", "barrier", begin, cycle))
        elif kind in ("BLOCK", "EXIT", "FENCE"):
            what = {"BLOCK": f"block {record['extra']} begins", "EXIT": "ends", "FENCE": "fence"}
            items.append(Item(lane, what[kind], KIND_OF[kind], cycle, cycle))
        elif kind == "FLASH":
            items.append(
                Item(names.node(core), "drops copies that may be stale", "fences", cycle, cycle)
            )
    return items


def _controllers(records: NDArray[Any], names: Names) -> list[Item]:
    """Steps, and messages: one number joins a message's sending to the first step that takes it."""
    items: list[Item] = []
    sent: dict[tuple[int, int], int] = {}
    for number, record in enumerate(records):
        kind, cycle = NAMES[record["kind"]], int(record["cycle"])
        node, message = names.node(record["node"]), names.message(record["type"])
        line = int(record["line"])
        details = {} if line == NO_LINE else {"line": hex(line), "array": names.place(line)}
        flow = 0
        if is_step(record):
            key = (int(record["message"]), int(record["node"]))
            flow = sent.pop(key, 0)
            after = names.state(record, "next") or HOLDS.get(int(record["cell"]), "")
            what = f"{names.state(record)} {names.event(record)} -> {after}"
            details |= {"actions": names.actions(record), "message": message}
        elif kind in ("SEND", "EPOCH"):
            flow = number + 1
            sent[int(record["message"]), int(record["destination"])] = flow
            what = f"{message} to {names.node(record['destination'])}"
        elif kind in ("FETCH", "WRITE"):
            what = "read memory" if kind == "FETCH" else "write memory"
        elif kind == "COMPLETE":
            what = f"{message} {'hit' if record['state'] else 'done'}"
        else:
            continue
        shown = {name: text for name, text in details.items() if text}
        items.append(Item(node, what, KIND_OF[kind], cycle, cycle, shown, flow))
    return items
