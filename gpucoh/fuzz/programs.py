"""Translate woven steps to machine code: each warp has its own straight part of one program.

The code of an episode: its waits (poll other warps' flags with an acquire), its operations (loads into distinct
registers, so that many are in flight), its releases, then a comparison of all loaded values with the expected ones.
Only if they differ does it write the loaded values to the results, so that checking causes no traffic under a correct
protocol. The values that racing atomics return are always written: the host checks that no value repeats.

A wait (``acquire``) is: ``load`` an acquire load; ``atomic`` an acquiring atomic (add of 0); ``sc`` an sc load;
``fence`` relaxed loads, then a fence; ``lanes`` one acquire load with a lane for each flag of that scope.
A release (``release``) is: ``store``, ``exch``, ``add``, ``max`` with release order; ``sc`` an sc store; ``fence`` a
fence and a relaxed store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpucoh.fuzz.cases import GPU, SCOPE_NAMES, WRITES, Layout, Meeting, Op, Shape, Words, Woven
from gpucoh.lang import isa

ACQUIRES = ("load", "atomic", "sc", "fence", "lanes")
RELEASES = ("store", "exch", "add", "max", "sc", "fence")

#: A value that is never stored: marks results that were not written.
UNTOUCHED = 0xFFFFFFFF

NONE = isa.OPERAND_NONE
# Registers and their use.
LANE, ADDRESS, MASK, VALUE, DIFFERENT, WRONG, RESULT, FIRST_LOAD = range(8)
UNIFORM = isa.OPERAND_UNIFORM
BLOCK, WARP, SEEN, TEST, OLD = (UNIFORM | n for n in range(5))
UNIFORMS = 5
#: Largest number of loads and atomics of an episode: each has a register.
MOST_READS = 26
VECTORS = FIRST_LOAD + MOST_READS
#: CONSTANT is BUFFER, declared read-only: for loads of locations that no episode of the launch writes.
BUFFER, RESULTS, CONSTANT = range(3)

_ROW = np.dtype(
    [("opcode", "u1"), ("type", "u1"), ("order", "u1"), ("scope", "u1"), ("width", "u1"), ("spare", "u1"),
     ("flags", "<u2"), ("destination", "<u2"), ("a", "<u2"), ("b", "<u2"), ("c", "<u2"), ("immediate", "<u4"),
     ("target", "<u4"), ("reconverge", "<u4"), ("line", "<u2"), ("file", "<u2")]
)  # fmt: skip
_U32 = isa.TYPES["U32"]
_OPERATION = {
    name: isa.ATOMICS[name.upper()] << isa.FLAG_ATOMIC_SHIFT for name in ("add", "exch", "max")
}
_NAMES = "SPECIAL MOVE LANES ADD MUL AND OR EQ NE LT ANY BRANCH JUMP EXIT SLEEP LOAD STORE ATOMIC FENCE BARRIER"
(
    _SPECIAL, _MOVE, _LANES, _ADD, _MUL, _AND, _OR, _EQ, _NE, _LT, _ANY, _BRANCH, _JUMP, _EXIT, _SLEEP, _LOAD, _STORE,
    _ATOMIC, _FENCE, _BARRIER,
) = (isa.OPCODES[name] for name in _NAMES.split())  # fmt: skip
_RELAXED, _ACQUIRE, _RELEASE, _ACQ_REL, _SC = (
    isa.ORDERS[name] for name in ("RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SC")
)


@dataclass
class Readback:
    """The location of the results of one read: operation ``op`` of an episode."""

    woven: Woven
    op: int
    offset: int


@dataclass
class Listing:
    """A program in the form that the core takes, and the locations of its results.

    Attributes
    ----------
    code : bytes
    constants : ndarray of uint32
    results : int
        Size of the results buffer in words.
    loads, counts : list of Readback
        Loads and swaps (written only if they differ); racing atomics (always written).
    """

    code: bytes
    constants: NDArray[np.uint32]
    results: int
    loads: list[Readback]
    counts: list[Readback]


@dataclass
class Writer:
    """Collects instructions and constants."""

    shape: Shape
    layout: Layout
    #: Whether the launch writes each data location.
    written: NDArray[np.bool_]
    rows: list[list[int]] = field(default_factory=list)
    scalars: dict[int, int] = field(default_factory=dict)
    vectors: list[Words] = field(default_factory=list)
    shared: dict[bytes, int] = field(default_factory=dict)
    results: int = 0
    loads: list[Readback] = field(default_factory=list)
    counts: list[Readback] = field(default_factory=list)

    # ---- instructions

    def add(
        self, opcode: int, destination: int = NONE, a: int = NONE, b: int = NONE, immediate: int = 0,
        order: int = 0, scope: int = 0, flags: int = 0, target: int = 0,
    ) -> int:  # fmt: skip
        """Append an instruction and return its number. Positional arguments, since it is called for every one."""
        self.rows.append(
            [opcode, _U32, order, scope, 1, 0, flags, destination, a, b, NONE, immediate, target, 0, 0, 0]
        )  # fmt: skip
        return len(self.rows) - 1

    def aim(self, number: int, *, target: int | None = None) -> None:
        """Set the target and reconvergence point of branch ``number`` (default: the next instruction)."""
        row = self.rows[number]
        row[12] = len(self.rows) if target is None else target
        row[13] = len(self.rows)

    def constant(self, value: int) -> int:
        """The operand for an immediate."""
        return isa.OPERAND_CONSTANT | self.scalars.setdefault(value, len(self.scalars))

    def vector(self, register: int, values: Words) -> None:
        """Load a register with one constant per lane."""
        key = values.tobytes()
        number = self.shared.get(key)
        if number is None:
            number = self.shared[key] = len(self.vectors)
            self.vectors.append(values)
        self.add(_LANES, register, NONE, NONE, number)

    def spread(self, op: Op, values: Words) -> Words:
        """Spread one value per active lane over all lanes."""
        out = np.zeros(self.shape.lanes, np.int64)
        out[op.lanes] = values
        return out

    # ---- an episode

    def episode(self, woven: Woven) -> None:
        """Emit one episode."""
        if woven.waits:
            self._wait(woven)
        reads: list[tuple[Readback, int]] = []
        for number, op in enumerate(woven.episode.ops):
            self._op(woven, number, op, reads)
        for scope in sorted(woven.releases):
            self._release(woven, scope)
        self._keep_counts(woven, reads)
        self._compare(woven, reads)

    def _wait(self, woven: Woven) -> None:
        style, pause = woven.episode.acquire, woven.episode.pause
        by_scope: dict[int, list[tuple[int, int]]] = {}
        for warp, scope, number in woven.waits:
            by_scope.setdefault(scope, []).append((int(self.layout.flags[warp, scope]), number))
        for scope, flags in sorted(by_scope.items()):
            code = _scope_code(scope, woven)
            if style == "lanes":
                self._poll_lanes(flags, code, pause)
                continue
            for word, number in flags:
                self._poll(word, number, style, code, pause)
        if style == "fence":
            self.add(_FENCE, order=_ACQ_REL, scope=_scope_code(max(by_scope), woven))

    def _poll(self, word: int, number: int, style: str, scope: int, pause: int) -> None:
        start, address = len(self.rows), self.constant(word)
        if style == "atomic":
            self.add(
                _ATOMIC, SEEN, address, self.constant(0), BUFFER, _ACQUIRE, scope, _OPERATION["add"]
            )
        else:
            order = {"sc": _SC, "fence": _RELAXED}.get(style, _ACQUIRE)
            self.add(_LOAD, SEEN, address, NONE, BUFFER, order, scope)
        self.add(_LT, TEST, SEEN, self.constant(number))
        self._loop(start, pause)

    def _poll_lanes(self, flags: Sequence[tuple[int, int]], scope: int, pause: int) -> None:
        words, numbers = np.array(flags, np.int64).T
        padding = (0, self.shape.lanes - len(flags))
        self.vector(ADDRESS, np.pad(words, padding, mode="edge"))
        self.vector(VALUE, np.pad(numbers, padding, mode="edge"))
        start = self.add(_LOAD, RESULT, ADDRESS, NONE, BUFFER, _ACQUIRE, scope)
        self.add(_LT, RESULT, RESULT, VALUE)
        self.add(_ANY, TEST, RESULT)
        self._loop(start, pause)

    def _loop(self, start: int, pause: int) -> None:
        """Branch back to ``start`` while TEST holds, after a pause."""
        leave = self.add(_BRANCH, NONE, TEST, flags=isa.FLAG_IF_ZERO)
        if pause:
            self.add(_SLEEP, NONE, self.constant(pause))
        self.add(_JUMP, target=start)
        self.aim(leave)

    def _release(self, woven: Woven, scope: int) -> None:
        style, code = woven.episode.release, _scope_code(scope, woven)
        address = self.constant(int(self.layout.flags[woven.episode.warp, scope]))
        number, before = woven.number, woven.flag_before[scope]
        if style in _OPERATION:
            operand = self.constant(number - before if style == "add" else number)
            self.add(_ATOMIC, OLD, address, operand, BUFFER, _RELEASE, code, _OPERATION[style])
            return
        if style == "fence":
            self.add(_FENCE, order=_ACQ_REL, scope=code)
        order = {"sc": _SC, "fence": _RELAXED}.get(style, _RELEASE)
        self.add(_STORE, NONE, address, self.constant(number), BUFFER, order, code)

    def _op(self, woven: Woven, number: int, op: Op, reads: list[tuple[Readback, int]]) -> None:
        kind, order, scope = op.kind, isa.ORDERS[op.order], isa.SCOPES[op.scope]
        if kind == "fence":
            self.add(_FENCE, order=order, scope=scope)
            return
        if kind == "sleep":
            self.add(_SLEEP, NONE, self.constant(op.cycles))
            return
        skip = self._mask(op)
        where = self.layout.counters if kind == "count" else self.layout.data
        self.vector(ADDRESS, self.spread(op, where[op.places]))
        register = FIRST_LOAD + len(reads)
        if kind in ("store", "swap"):
            self.add(_ADD, VALUE, LANE, self.constant(woven.values[number]))
        if kind == "load":
            self.add(_LOAD, register, ADDRESS, NONE, self._buffer(woven, number, op), order, scope)
        elif kind == "store":
            self.add(_STORE, NONE, ADDRESS, VALUE, BUFFER, order, scope)
        elif kind == "swap":
            self.add(_ATOMIC, register, ADDRESS, VALUE, BUFFER, order, scope, _OPERATION["exch"])
        else:
            one = self.constant(1)
            self.add(_ATOMIC, register, ADDRESS, one, BUFFER, order, scope, _OPERATION["add"])
        if kind != "store":
            reads.append((Readback(woven, number, self.results), register))
            self.results += self.shape.lanes
        if skip is not None:
            self.aim(skip)

    def _buffer(self, woven: Woven, number: int, op: Op) -> int:
        """The buffer of a load: every second weak load of constant locations is read-only."""
        constant = op.order == "WEAK" and not self.written[op.places].any()
        return CONSTANT if constant and (woven.number + number) % 2 else BUFFER

    def _mask(self, op: Op) -> int | None:
        """Branch so that only the operation's lanes continue; return the branch."""
        if len(op.lanes) == self.shape.lanes:
            return None
        self.vector(MASK, self.spread(op, np.ones(len(op.lanes), np.int64)))
        return self.add(_BRANCH, NONE, MASK, flags=isa.FLAG_IF_ZERO)

    def _keep_counts(self, woven: Woven, reads: list[tuple[Readback, int]]) -> None:
        for read, register in reads:
            op = woven.episode.ops[read.op]
            if op.kind == "count":
                self.counts.append(read)
                skip = self._mask(op)
                self._result(read, register)
                if skip is not None:
                    self.aim(skip)

    def _result(self, read: Readback, register: int) -> None:
        self.add(_ADD, RESULT, LANE, self.constant(read.offset))
        self.add(_STORE, NONE, RESULT, register, RESULTS)

    def _compare(self, woven: Woven, reads: list[tuple[Readback, int]]) -> None:
        known = [item for item in reads if woven.expected[item[0].op] is not None]
        if not known:
            return
        self.add(_MOVE, WRONG, self.constant(0))
        for read, register in known:
            op, expected = woven.episode.ops[read.op], woven.expected[read.op]
            assert expected is not None
            self.loads.append(read)
            self.vector(DIFFERENT, self.spread(op, expected))
            self.add(_NE, DIFFERENT, DIFFERENT, register)
            if len(op.lanes) < self.shape.lanes:
                self.vector(MASK, self.spread(op, np.ones(len(op.lanes), np.int64)))
                self.add(_AND, DIFFERENT, DIFFERENT, MASK)
            self.add(_OR, WRONG, WRONG, DIFFERENT)
        self.add(_ANY, TEST, WRONG)
        well = self.add(_BRANCH, NONE, TEST, flags=isa.FLAG_IF_ZERO)
        for read, register in known:
            self._result(read, register)
        self.aim(well)

    # ---- whole programs

    def listing(self) -> Listing:
        """Assemble code and constants."""
        rows = np.array([tuple(row) for row in self.rows], _ROW)
        first = len(self.scalars)
        lanes = rows["opcode"] == _LANES
        rows["immediate"][lanes] = first + rows["immediate"][lanes] * self.shape.lanes
        parts = [np.fromiter(self.scalars, np.int64, first), *self.vectors]
        constants = np.concatenate(parts).astype(np.uint32)
        return Listing(rows.tobytes(), constants, max(self.results, 1), self.loads, self.counts)


def _scope_code(scope: int, woven: Woven) -> int:
    """Alternate between the scopes gpu and sys, which have the same threads."""
    return isa.SCOPES[
        "SYS" if scope == GPU and woven.episode.pause % 3 == 2 else SCOPE_NAMES[scope]
    ]


def _written(layout: Layout, steps: Sequence[Woven | Meeting]) -> NDArray[np.bool_]:
    """Whether a launch writes each data location."""
    out = np.zeros(len(layout.data), np.bool_)
    for step in steps:
        for op in step.episode.ops if isinstance(step, Woven) else ():
            if op.kind in WRITES:
                out[op.places] = True
    return out


def write(shape: Shape, layout: Layout, steps: Sequence[Woven | Meeting]) -> Listing:
    """The program of one launch.

    Parameters
    ----------
    shape : Shape
    layout : Layout
    steps : sequence of Woven or Meeting
        The steps that :meth:`gpucoh.fuzz.cases.Weaver.end` returns.
    """
    writer = Writer(shape, layout, _written(layout, steps))
    streams: list[list[Woven | None]] = [[] for _ in range(shape.warps)]
    for step in steps:
        if isinstance(step, Woven):
            streams[step.episode.warp].append(step)
        else:
            first = step.block * shape.warps_per_block
            for warp in range(first, first + shape.warps_per_block):
                streams[warp].append(None)
    writer.add(_SPECIAL, LANE, immediate=isa.SPECIALS["LANE"])
    writer.add(_SPECIAL, BLOCK, immediate=isa.SPECIALS["BLOCK_X"])
    writer.add(_SPECIAL, WARP, immediate=isa.SPECIALS["WARP"])
    writer.add(_MUL, BLOCK, BLOCK, writer.constant(shape.warps_per_block))
    writer.add(_ADD, WARP, WARP, BLOCK)
    starts = []
    for warp in range(shape.warps - 1):
        writer.add(_EQ, TEST, WARP, writer.constant(warp))
        starts.append(writer.add(_BRANCH, NONE, TEST))
    for warp in reversed(range(shape.warps)):
        if warp < shape.warps - 1:
            writer.aim(starts[warp])
        for item in streams[warp]:
            if item is None:
                writer.add(_BARRIER, NONE, writer.constant(0))
            else:
                writer.episode(item)
        writer.add(_EXIT)
    return writer.listing()
