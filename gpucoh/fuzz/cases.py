"""Cases of the random tester: episodes of warps over shared words, and the expected value of every access.

A case is a sequence of steps, in an order in which a sequential machine could execute them. A step is an episode of one
warp (acquire, access data, release) or a barrier of a block. The sequence determines the value that every load must
return; :class:`Weaver` walks it and finds, with vector clocks, the earlier episodes that an episode must wait for so
that no two accesses race. The simulated machine executes everything else concurrently.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.int64]
NOWHERE: Words = np.zeros(0, np.int64)

#: The "warp" that has stored what the host stores.
HOST = -1

#: Scopes of a warp's flags: its block, its core, the GPU.
CTA, CU, GPU = 0, 1, 2
SCOPE_NAMES = ("CTA", "CU", "GPU")

#: Kinds of operations on the locations that they name; "count" uses racing counters.
READS = {"load", "swap"}
WRITES = {"store", "swap"}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The number of warps and their placement."""

    cores: int
    blocks: int
    warps_per_block: int
    lanes: int
    line_words: int

    @property
    def warps(self) -> int:
        """Number of warps in the grid."""
        return self.blocks * self.warps_per_block

    def block_of(self, warp: int) -> int:
        """The block of a warp."""
        return warp // self.warps_per_block

    def core_of(self, warp: int) -> int:
        """The core of a warp: blocks are assigned round robin, and all are resident at once."""
        return self.block_of(warp) % self.cores

    def nearest(self, one: int, other: int) -> int:
        """The narrowest scope that contains both warps."""
        if self.block_of(one) == self.block_of(other):
            return CTA
        return CU if self.core_of(one) == self.core_of(other) else GPU


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The locations of data, flags and counters, mixed on the same lines.

    Attributes
    ----------
    words : int
        Size of the buffer.
    data : ndarray, shape (locations,)
        Word of each data location.
    flags : ndarray, shape (warps, 3)
        Word of each warp's flag for its block, its core, the GPU.
    counters : ndarray, shape (counters,)
        Word of each racing counter.
    reach : tuple of (int, int)
        For each counter: scope, and its block or core (0 for GPU).
    """

    words: int
    data: Words
    flags: Words
    counters: Words
    reach: tuple[tuple[int, int], ...]

    def may_count(self, shape: Shape, warp: int) -> list[int]:
        """The counters that a warp may use."""
        own = {CTA: shape.block_of(warp), CU: shape.core_of(warp), GPU: 0}
        return [number for number, (scope, owner) in enumerate(self.reach) if own[scope] == owner]


@dataclass(frozen=True, kw_only=True)
class Op:
    """One memory instruction of a warp (or a fence, or a pause).

    Attributes
    ----------
    kind : str
        ``load``, ``store``, ``swap`` (atomic exchange on data), ``count`` (atomic add of 1 on counters), ``fence``,
        ``sleep``.
    lanes : ndarray, shape (n,)
        The participating lanes, ascending.
    places : ndarray, shape (n,)
        Data location (or counter) of each lane.
    order, scope : str
        Memory order and scope, with the names of isa.h.
    cycles : int
        Length of a pause.
    """

    kind: str
    lanes: Words
    places: Words
    order: str = "WEAK"
    scope: str = "GPU"
    cycles: int = 0


@dataclass(frozen=True, kw_only=True)
class Episode:
    """The steps of one warp between an acquire and a release.

    Attributes
    ----------
    warp : int
    ops : tuple of Op
    acquire, release : str
        The instructions of its waits and releases: see :mod:`gpucoh.fuzz.programs`.
    widen : int
        By how many scopes the flags that it waits for are wider than necessary.
    pause : int
        Cycles between two polls of a flag.
    always_releases : bool
        Whether it releases even if no episode waits for it.
    """

    warp: int
    ops: tuple[Op, ...]
    acquire: str = "load"
    release: str = "store"
    widen: int = 0
    pause: int = 0
    always_releases: bool = True


@dataclass(frozen=True)
class Meeting:
    """A barrier of a block: all of its warps."""

    block: int


Step = Episode | Meeting


@dataclass(frozen=True, kw_only=True)
class Case:
    """One launch of the tester.

    Attributes
    ----------
    steps : tuple of Step
    stored : ndarray, shape (n,)
        Data locations that the host stores to before the launch.
    """

    steps: tuple[Step, ...]
    stored: Words = field(default_factory=lambda: NOWHERE)

    @property
    def episodes(self) -> int:
        """Number of episodes."""
        return sum(isinstance(step, Episode) for step in self.steps)

    @property
    def ops(self) -> int:
        """Number of memory operations of lanes: loads, stores and atomics of one word."""
        return sum(
            len(op.lanes) for step in self.steps if isinstance(step, Episode) for op in step.ops
        )


@dataclass
class Woven:
    """One episode, and what follows from the steps before and after it."""

    episode: Episode
    number: int
    #: Warp, scope of its flag, flag value to wait for.
    waits: list[tuple[int, int, int]]
    #: Scopes of the flags that it sets.
    releases: set[int] = field(default_factory=set)
    #: For each of these scopes the flag's value before.
    flag_before: dict[int, int] = field(default_factory=dict)
    #: For each op: the values that its lanes must read (None: neither load nor swap).
    expected: list[Words | None] = field(default_factory=list)
    #: For each op: the value that its lane 0 writes, if it writes; lane l writes l more.
    values: list[int] = field(default_factory=list)


class Weaver:
    """Walks the steps of cases in order, launch after launch, and tracks memory content and knowledge.

    Parameters
    ----------
    shape : Shape
    layout : Layout
    """

    def __init__(self, shape: Shape, layout: Layout) -> None:
        self.shape, self.layout = shape, layout
        self.content: Words = np.zeros(len(layout.data), np.int64)
        self.counted: Words = np.zeros(len(layout.counters), np.int64)
        self.done: Words = np.zeros(shape.warps, np.int64)
        self.flag: Words = np.zeros((shape.warps, 3), np.int64)
        self.writer: dict[int, tuple[int, int]] = {}
        self.next_value = 1 << 20
        self.begin()

    def begin(self, stored: Words = NOWHERE) -> None:
        """Begin a launch: the host stores to these locations, and all warps know of that and of all earlier steps."""
        self.stored = stored
        self.content[stored] = self.next_value + np.arange(len(stored))
        for _ in range(0, len(stored), self.shape.lanes):
            self.writer[self.next_value] = (HOST, 0)
            self.next_value += self.shape.lanes
        warps, places = self.shape.warps, len(self.layout.data)
        self.wrote: Words = np.zeros((places, warps), np.int64)
        self.read: Words = np.zeros((places, warps), np.int64)
        self.knows: Words = np.tile(self.done, (warps, 1))
        self.clock: list[dict[int, Words]] = [{} for _ in range(warps)]
        self.steps: list[Woven | Meeting] = []
        self.episode_at: dict[tuple[int, int], Woven] = {}

    def free(self, warp: int, knows: Words, *, write: bool) -> Words:
        """The data locations that a warp with the given knowledge may access without waiting.

        Returns
        -------
        ndarray
            Numbers of the locations.
        """
        others = self.wrote > knows
        others[:, warp] = False
        taken = others.any(axis=1)
        if write:
            readers = self.read > knows
            readers[:, warp] = False
            taken |= readers.any(axis=1)
        return np.flatnonzero(~taken)

    def add(self, step: Step) -> None:
        """Take the next step."""
        if isinstance(step, Meeting):
            first = step.block * self.shape.warps_per_block
            members = slice(first, first + self.shape.warps_per_block)
            self.knows[members] = self.knows[members].max(axis=0)
            self.steps.append(step)
            return
        number = int(self.done[step.warp]) + 1
        woven = Woven(episode=step, number=number, waits=self._waits(step))
        self._carry_out(woven)
        self.done[step.warp] = self.knows[step.warp, step.warp] = number
        self.clock[step.warp][number] = self.knows[step.warp].copy()
        self.episode_at[step.warp, number] = woven
        self.steps.append(woven)

    def _waits(self, episode: Episode) -> list[tuple[int, int, int]]:
        """The warps that an episode must wait for, after which it has their knowledge."""
        warp, needed = episode.warp, np.zeros(self.shape.warps, np.int64)
        for op in episode.ops:
            if op.kind in READS or op.kind in WRITES:
                np.maximum(needed, self.wrote[op.places].max(axis=0), out=needed)
            if op.kind in WRITES:
                np.maximum(needed, self.read[op.places].max(axis=0), out=needed)
        needed[warp] = 0
        waits = []
        knows = self.knows[warp]
        # The latest first: its knowledge may make another wait unnecessary.
        for other in sorted(np.flatnonzero(needed > knows).tolist(), key=lambda w: -needed[w]):
            number = int(needed[other])
            if number <= knows[other]:
                continue
            scope = min(self.shape.nearest(warp, other) + episode.widen, GPU)
            waits.append((other, scope, number))
            self.episode_at[other, number].releases.add(scope)
            np.maximum(knows, self.clock[other][number], out=knows)
        return waits

    def _carry_out(self, woven: Woven) -> None:
        warp, number = woven.episode.warp, woven.number
        for op in woven.episode.ops:
            woven.expected.append(self.content[op.places] if op.kind in READS else None)
            woven.values.append(self.next_value)
            if op.kind == "swap":
                self._swap(woven, op)
            if op.kind in READS:
                self.read[op.places, warp] = number
            if op.kind == "store":
                # If several lanes store to one word, the highest wins, as the last does here.
                self.content[op.places] = self.next_value + op.lanes
            if op.kind in WRITES:
                self.wrote[op.places, warp] = number
                self.writer[self.next_value] = (warp, number)
                self.next_value += self.shape.lanes
            if op.kind == "count":
                np.add.at(self.counted, op.places, 1)

    def _swap(self, woven: Woven, op: Op) -> None:
        """Process lanes in order; each reads what the one before it wrote."""
        got = np.empty(len(op.lanes), np.int64)
        for position, (lane, place) in enumerate(
            zip(op.lanes.tolist(), op.places.tolist(), strict=True)
        ):
            got[position] = self.content[place]
            self.content[place] = self.next_value + lane
        woven.expected[-1] = got

    def end(self) -> list[Woven | Meeting]:
        """End the launch: its steps, with the flags that each episode sets."""
        for step in self.steps:
            if isinstance(step, Woven) and step.episode.always_releases and not step.releases:
                step.releases.add(GPU)
            if isinstance(step, Woven):
                for scope in sorted(step.releases):
                    step.flag_before[scope] = int(self.flag[step.episode.warp, scope])
                    self.flag[step.episode.warp, scope] = step.number
        return self.steps

    def memory(self) -> NDArray[np.uint32]:
        """The expected content of the buffer after the launch."""
        out = np.zeros(self.layout.words, np.uint32)
        out[self.layout.data] = self.content
        out[self.layout.counters] = self.counted
        out[self.layout.flags] = self.flag
        return out

    def who_wrote(self, value: int) -> tuple[int, int, int] | None:
        """Warp, episode and lane that stored a value, or None."""
        base = value - (value - (1 << 20)) % self.shape.lanes
        found = self.writer.get(base)
        return None if found is None else (*found, value - base)
