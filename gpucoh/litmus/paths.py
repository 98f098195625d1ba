"""The paths of a litmus thread: the events it performs, with the values read, and its final registers.

Loops are unrolled. An iteration that writes nothing has no effect but on registers that the next one overwrites, so a
few iterations represent any number; iterations that write are followed to a bound, and a thread that is cut there is
marked. An iteration that changes neither memory nor registers can repeat forever: the thread spins.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from gpucoh.litmus.syntax import (
    Instruction,
    Test,
    UnsupportedError,
    Value,
    compare,
    joined,
    signed,
    upper,
)

#: Largest numbers of iterations of one loop without and with a write.
IDLE_ITERATIONS, WRITING_ITERATIONS = 1, 3
#: Largest number of paths of one thread.
MOST_PATHS = 20_000
#: Origin of a value: the number of writes of each location in the chain that produces it.
Chain: TypeAlias = tuple[tuple[str, int], ...]
#: Location -> values that other threads may store there -> the shortest chain that produces each.
Domains: TypeAlias = Mapping[str, Mapping[int, Chain]]


@dataclass(frozen=True, slots=True)
class Event:
    """The memory event of one instruction on one path.

    Attributes
    ----------
    kind : str
        ``R`` read, ``W`` write, ``U`` both atomically (an atomic that writes), ``F`` fence, ``B`` barrier.
    location : str
        Of R, W, U. For B: ``sync`` or ``arrive``.
    read, written : int
        Values. For B: the barrier, and the count (-1: all live threads).
    order, scope : str
        Memory order and scope of the instruction.
    acquire, release : bool
        Whether it has these parts.
    after : frozenset of int
        Events of the thread on whose values this write depends, by data or by branches: earlier ones, and an atomic
        itself unless it writes a value whatever it reads.
    line : int
    second : bool
        The upper word of an access to both words of a split location; the event before it has the lower one. To a
        model both are one access.
    """

    kind: str
    location: str = ""
    read: int = 0
    written: int = 0
    order: str = "WEAK"
    scope: str = "GPU"
    acquire: bool = False
    release: bool = False
    after: frozenset[int] = frozenset()
    line: int = 0
    second: bool = False

    @property
    def reads(self) -> bool:
        """Whether it is R or U."""
        return self.kind in "RU"

    @property
    def writes(self) -> bool:
        """Whether it is W or U."""
        return self.kind in "WU"

    @property
    def changes(self) -> bool:
        """Whether it may change what other threads see: false for an atomic that writes the value that it reads."""
        return self.kind in "WB" or (self.kind == "U" and self.read != self.written)


@dataclass(frozen=True, slots=True)
class Path:
    """One path of a thread.

    Attributes
    ----------
    events : tuple of Event
        In program order.
    registers : tuple of int
        The final values of the thread's registers.
    ending : str
        Empty: the thread ends. ``spins``: it repeats forever the events from ``tail``, which read final values.
        ``waits``: its last event is a barrier that is never complete.
    tail : int
    """

    events: tuple[Event, ...]
    registers: tuple[int, ...] = ()
    ending: str = ""
    tail: int = 0


@dataclass
class Paths:
    """All paths of one thread.

    Attributes
    ----------
    paths : list of Path
        Paths that end.
    spins : list of Path
        Paths that spin.
    cut : bool
        Whether loops that write, or count, were followed to the bound.
    """

    paths: list[Path] = field(default_factory=list)
    spins: list[Path] = field(default_factory=list)
    cut: bool = False

    def waits(self) -> list[Path]:
        """The paths that reach a barrier and wait there forever."""
        found = {
            path.events[: place + 1]: None
            for path in (*self.paths, *self.spins)
            for place, event in enumerate(path.events)
            if event.kind == "B"
        }
        return [Path(events, ending="waits") for events in found]


def add_f64(a: int, b: int) -> int:
    """The bits of the sum of two f64."""
    first, second = (struct.unpack("<d", struct.pack("<q", bits))[0] for bits in (a, b))
    found: int = struct.unpack("<q", struct.pack("<d", first + second))[0]
    return found


#: Functions of ``alu`` instructions and atomics.
ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "ADD": lambda a, b: a + b,
    "SUB": lambda a, b: a - b,
    "MUL": lambda a, b: a * b,
    "AND": lambda a, b: a & b,
    "OR": lambda a, b: a | b,
    "XOR": lambda a, b: a ^ b,
    "MIN": min,
    "MAX": max,
    "FADD": add_f64,
}


@dataclass
class _Place:
    """The state of a walk through a thread."""

    at: int
    registers: dict[str, int]
    # Events on which each register's value, and the path so far, depend.
    origins: dict[str, frozenset[int]]
    control: frozenset[int]
    events: list[Event]
    # Backward jump -> iterations without and with a write; the number of events and the registers at the last
    # iteration.
    rounds: dict[int, tuple[int, int, int, tuple[int, ...]]]
    # Event -> the origin of the value that it read.
    chains: dict[int, Chain]
    # Location -> the thread's own last store (else the initial value), and its origin.
    own: dict[str, tuple[int, Chain]]

    def fork(self) -> _Place:
        return _Place(
            self.at,
            dict(self.registers),
            dict(self.origins),
            self.control,
            list(self.events),
            dict(self.rounds),
            dict(self.chains),
            dict(self.own),
        )

    def value(self, value: Value) -> int:
        return self.registers[value] if isinstance(value, str) else value

    def origin(self, *values: Value) -> frozenset[int]:
        found = (self.origins[value] for value in values if isinstance(value, str))
        return frozenset().union(*found)


class Walker:
    """Walks one thread.

    Parameters
    ----------
    test : Test
    index : int
        Number of the thread.
    domains : dict
        Values that loads may read from other threads; otherwise they read the thread's own last one.
    """

    def __init__(self, test: Test, index: int, domains: Domains) -> None:
        self.thread = test.threads[index]
        self.code = self.thread.code
        self.names = self.thread.registers
        self.domains = domains
        self.out = Paths()
        self.split = test.split
        self.initial = {name: (value, ()) for name, value in test.cells.items()}
        self.made: dict[str, dict[int, Chain]] = {name: {} for name in test.cells}

    def walk(self) -> Paths:
        """Every path."""
        start = _Place(
            0,
            {name: self.thread.initial.get(name, 0) for name in self.names},
            dict.fromkeys(self.names, frozenset()),
            frozenset(),
            [],
            {},
            {},
            dict(self.initial),
        )
        waiting = [start]
        while waiting:
            place = waiting.pop()
            if place.at >= len(self.code):
                if len(self.out.paths) >= MOST_PATHS:
                    self.out.cut = True
                    break
                registers = tuple(place.registers[name] for name in self.names)
                self.out.paths.append(Path(tuple(place.events), registers))
                continue
            waiting.extend(self._step(place))
        # Equal paths count once.
        self.out.paths = list(dict.fromkeys(self.out.paths))
        self.out.spins = list(dict.fromkeys(self.out.spins))
        return self.out

    def _step(self, place: _Place) -> list[_Place]:
        item = self.code[place.at]
        if item.op in ("branch", "jump"):
            return self._branch(place, item)
        place.at += 1
        if item.op in ("move", "alu"):
            self._compute(place, item)
        elif item.op == "fence":
            place.events.append(
                Event("F", order=item.order, scope=item.scope, acquire=True, release=True,
                      line=item.line)
            )  # fmt: skip
        elif item.op == "bar":
            count = place.value(item.values[1]) if len(item.values) > 1 else -1
            place.events.append(
                Event("B", item.function, place.value(item.values[0]), count, line=item.line)
            )
        else:
            if item.order == "SC":
                place.events.append(
                    Event("F", order="SC", scope=item.scope, acquire=True, release=True,
                          line=item.line)
                )  # fmt: skip
            return self._access(place, item)
        return [place]

    def _compute(self, place: _Place, item: Instruction) -> None:
        assert item.dest is not None
        values = [place.value(value) for value in item.values]
        result = values[0] if item.op == "move" else ARITHMETIC[item.function](*values[:2])
        place.registers[item.dest] = signed(result, item.bits)
        place.origins[item.dest] = place.origin(*item.values)

    def _branch(self, place: _Place, item: Instruction) -> list[_Place]:
        taken = item.op == "jump"
        if item.op == "branch":
            left, right = (place.value(value) for value in item.values)
            taken = compare(item.function, left, right)
            place.control |= place.origin(*item.values)
        if not taken:
            place.at += 1
            return [place]
        if item.target <= place.at:
            registers = tuple(place.registers.values())
            idle, writing, before, known = place.rounds.get(place.at, (0, 0, 0, ()))
            if idle + writing and registers == known:
                self._spin(place.events, before)
            wrote = any(event.changes for event in place.events[before:])
            # Writes before the loop count for its first iteration: following one more iteration is harmless.
            idle, writing = idle + (not wrote), writing + wrote
            place.rounds[place.at] = (idle, writing, len(place.events), registers)
            counts = any(other.op == "alu" for other in self.code[item.target : place.at])
            if idle > IDLE_ITERATIONS * (3 if counts else 1) or writing > WRITING_ITERATIONS:
                self.out.cut |= writing > WRITING_ITERATIONS or counts
                return []
        place.at = item.target
        return [place]

    def _spin(self, events: list[Event], tail: int) -> None:
        """Note that the events from ``tail`` can repeat, unless they change memory or pass a barrier."""
        if any(item.changes for item in events[tail:]):
            return
        # An atomic that writes what it reads is a read.
        again = [
            replace(item, kind="R", after=frozenset()) if item.kind == "U" else item
            for item in events[tail:]
        ]
        self.out.spins.append(Path((*events[:tail], *again), ending="spins", tail=tail))

    def _access(self, place: _Place, item: Instruction) -> list[_Place]:
        assert item.location is not None
        order, number = item.order, len(place.events)
        after = place.control | place.origin(*item.sources)
        if item.index is not None and place.value(item.index):
            raise UnsupportedError(
                f"{item.location}[{item.index}]: the index may differ from 0 (allowed: a value that is always 0)",
                item.line,
            )
        acquire = item.op != "st" and order in ("ACQUIRE", "ACQ_REL", "SC")
        release = item.op != "ld" and order in ("RELEASE", "ACQ_REL", "SC")
        cells = cells_of(item, self.split)
        if item.op == "st":
            written = _words(place.value(item.values[0]), len(cells))
            for k, cell in enumerate(cells):
                self._make(place, cell, written[k], place.origin(*item.values))
                place.events.append(
                    Event("W", cell, 0, written[k], order, item.scope, False, release, after,
                          item.line, k > 0)
                )  # fmt: skip
            return [place]
        out = []
        choices = []
        for cell in cells:
            own, chain = place.own[cell]
            choices.append({**self.domains[cell], own: chain})
        numbers = frozenset(range(number, number + len(cells)))
        for values in itertools.product(*map(sorted, choices)):
            new = place.fork()
            for k, value in enumerate(values):
                new.chains[number + k] = choices[k][value]
            kind, written, depends = "R", (0,) * len(cells), frozenset[int]()
            read = joined(values)
            if item.op == "atom":
                result = self._combine(new, item, read)
                if result is not None:
                    kind, written = "U", _words(result, len(cells))
                    used = frozenset[int]() if item.function == "EXCH" else numbers
                    for k, cell in enumerate(cells):
                        self._make(new, cell, written[k], used | new.origin(*item.values))
                    depends = after | used
            new.events += [
                Event(kind, cell, values[k], written[k], order, item.scope, acquire, release,
                      depends, item.line, k > 0)
                for k, cell in enumerate(cells)
            ]  # fmt: skip
            if item.dest is not None:
                new.registers[item.dest] = read
                new.origins[item.dest] = numbers
            out.append(new)
        return out

    def _make(self, place: _Place, cell: str, written: int, sources: frozenset[int]) -> None:
        """Note a value that a write produces, and its origin."""
        longest: dict[str, int] = {}
        for source in sources:
            for name, count in place.chains[source]:
                longest[name] = max(longest.get(name, 0), count)
        longest[cell] = longest.get(cell, 0) + 1
        chain = tuple(sorted(longest.items()))
        place.own[cell] = (written, chain)
        known = self.made[cell].get(written)
        if known is None or _length(chain) < _length(known):
            self.made[cell][written] = chain

    def _combine(self, place: _Place, item: Instruction, old: int) -> int | None:
        """The value that an atomic writes over ``old``; None for a compare-and-swap that fails."""
        values = [place.value(value) for value in item.values]
        if item.function == "CAS":
            return signed(values[1], item.bits) if old == signed(values[0], item.bits) else None
        if item.function == "EXCH":
            return signed(values[0], item.bits)
        return signed(ARITHMETIC[item.function](old, values[0]), item.bits)


def cells_of(item: Instruction, split: Collection[str]) -> tuple[str, ...]:
    """What an access accesses: a location, or one or both words of a split one."""
    location = item.location
    assert location is not None
    if location not in split:
        return (location,)
    words = (location, upper(location))
    return words if item.word is None else (words[item.word],)


def _words(value: int, count: int) -> tuple[int, ...]:
    """A value as it is, or as its lower and upper word."""
    return (value,) if count == 1 else (signed(value), signed(value >> 32))


def _length(chain: Chain) -> int:
    return sum(count for _, count in chain)


def _most_writes(test: Test) -> dict[str, int]:
    """Location -> the largest number of its writes in an execution, within the bounds of loops."""
    out = dict.fromkeys(test.cells, 0)
    for thread in test.threads:
        loops = [
            (item.target, place)
            for place, item in enumerate(thread.code)
            if item.op in ("branch", "jump") and item.target <= place
        ]
        for place, item in enumerate(thread.code):
            if item.op in ("st", "atom") and item.location is not None:
                again = any(first <= place <= last for first, last in loops)
                for cell in cells_of(item, test.split):
                    out[cell] += WRITING_ITERATIONS + 1 if again else 1
    return out


def _possible(
    made: Mapping[str, Mapping[int, Chain]], most: Mapping[str, int]
) -> dict[str, dict[int, Chain]]:
    """Without values whose chain needs more writes than there are."""
    return {
        name: {
            value: chain
            for value, chain in row.items()
            if all(count <= most[other] for other, count in chain)
        }
        for name, row in made.items()
    }


def _values(rows: Mapping[str, Mapping[int, Chain]]) -> dict[str, set[int]]:
    return {name: set(row) for name, row in rows.items()}


def follow(test: Test) -> list[Paths]:
    """All paths of all threads, over the values that writes of the test can produce."""
    most = _most_writes(test)
    made: list[dict[str, dict[int, Chain]]] = [
        {name: {} for name in test.cells} for _ in test.threads
    ]
    found: list[Paths] = []
    for _ in range(2 + sum(most.values())):
        found = []
        new = []
        for index in range(len(test.threads)):
            foreign: dict[str, dict[int, Chain]] = {name: {} for name in test.cells}
            for other, rows in enumerate(made):
                if other != index:
                    for name, row in rows.items():
                        foreign[name] |= row
            walker = Walker(test, index, foreign)
            found.append(walker.walk())
            new.append(_possible(walker.made, most))
        if [_values(rows) for rows in new] == [_values(rows) for rows in made]:
            break
        made = new
    return found
