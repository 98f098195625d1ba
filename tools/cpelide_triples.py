"""How many sequences of race-free kernels read an old value under the published table of CPElide?

    python tools/cpelide_triples.py              # all pairs and triples, in a model of the table
    python tools/cpelide_triples.py --by-array   # a die runs a kernel, for the table, if it accesses the array
    python tools/cpelide_triples.py --runs 200   # 200 of the triples on the simulator, under both rules, with monitors

The table is ``rules=artifact`` of csrc/protocols/dies/cpelide_table.c, restated from the artifact's cpcoh.cc. Two dies
run kernels over two arrays, of which each die has a half; the arrays' pages are on two other dies. A kernel accesses
each array in one of eight ways: not at all, each die reads its half, or the whole array, or updates its half, or one
die alone reads or updates the whole array. The counts are what these restated rules do, and no statement about the
artifact's machine, whose loads take their values from a backing store.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

DIES = (0, 1)
ARRAYS = "AB"
HALVES = (0, 1)


@dataclass(frozen=True, slots=True)
class Access:
    """How a kernel accesses an array: by die the halves that it reads; and whether it adds 1 to them."""

    reads: tuple[tuple[int, tuple[int, ...]], ...]
    updates: bool


def _access(halves: dict[int, tuple[int, ...]], updates: bool = False) -> Access:
    return Access(tuple(halves.items()), updates)


ACCESSES: tuple[Access | None, ...] = (
    None,
    _access({0: (0,), 1: (1,)}),
    _access({0: HALVES, 1: HALVES}),
    _access({0: (0,), 1: (1,)}, updates=True),
    _access({0: HALVES}),
    _access({0: HALVES}, updates=True),
    _access({1: HALVES}),
    _access({1: HALVES}, updates=True),
)
#: A kernel: its accesses of A and of B, one of them at least.
Kernel = tuple[Access | None, Access | None]
KERNELS: tuple[Kernel, ...] = tuple(
    (first, second) for first in ACCESSES for second in ACCESSES if first or second
)
#: The shortest sequences that read an old value: one array that all read and then update, and a stencil of two.
READ_UPDATE_READ: tuple[Kernel, ...] = (
    (None, ACCESSES[2]),
    (None, ACCESSES[3]),
    (None, ACCESSES[2]),
)
STENCIL: tuple[Kernel, ...] = (
    (ACCESSES[2], ACCESSES[3]),
    (ACCESSES[3], ACCESSES[2]),
    (ACCESSES[2], ACCESSES[3]),
)


# ---- the model


class Table:
    """States of the arrays by die, as cpcoh.cc keeps them, and near lines with values: a half is a line."""

    def __init__(self, *, by_array: bool = False) -> None:
        self.by_array = by_array
        self.states: dict[int, list[str]] = {}
        self.memory = [[0, 0] for _ in ARRAYS]
        self.truth = [[0, 0] for _ in ARRAYS]
        self.lines: list[dict[tuple[int, int], tuple[int, bool]]] = [{} for _ in DIES]

    def decide(self, kernel: Kernel) -> tuple[set[int], set[int]]:
        """The dies that are invalidated, and those that are flushed."""
        drops, flushes = set[int](), set[int]()
        runs_on = {die for access in kernel if access is not None for die, _ in access.reads}
        for array, access in enumerate(kernel):
            if access is not None:
                on = {die for die, _ in access.reads} if self.by_array else runs_on
                self._decide_for(array, access, on, drops, flushes)
        return drops, flushes

    def _decide_for(
        self, array: int, access: Access, on: set[int], drops: set[int], flushes: set[int]
    ) -> None:
        mode = "D" if access.updates else "V"
        new = [mode if die in on else "I" for die in DIES]
        if array not in self.states:
            self.states[array] = new
            return
        row, old = self.states[array], list(self.states[array])
        dirty, flush = old.count("D"), False
        for die in DIES:
            if new[die] != "I" and old[die] == "S":
                drops.add(die)
                old[die] = "I"
                for other in self.states.values():
                    if other[die] == "S" or other[0] == "V":  # 0: a slip of the code
                        other[die] = "I"
            flush |= dirty > 1 or (dirty == 1 and new[die] != "I" and old[die] != "D")
        for die in DIES:
            if flush and old[die] == "D":
                flushes.add(die)
                old[die] = "V"
                for other in self.states.values():
                    other[die] = "V" if other[die] == "D" else other[die]
            row[die] = new[die] if new[die] != "I" else row[die]
        for die in DIES:
            if access.updates and old[die] == "V" and new[die] == "I":
                row[die] = "S"

    def run(self, kernel: Kernel) -> bool:
        """Whether the kernel reads an old value."""
        drops, flushes = self.decide(kernel)
        for die in flushes:
            for (array, half), (value, dirty) in self.lines[die].items():
                if dirty:
                    self.memory[array][half] = value
                    self.lines[die][array, half] = (value, False)
        for die in drops:
            self.lines[die] = {at: line for at, line in self.lines[die].items() if line[1]}
        updates = list[tuple[int, int, int]]()
        for array, access in enumerate(kernel):
            for die, halves in access.reads if access is not None else ():
                for half in halves:
                    here = self.lines[die].setdefault(
                        (array, half), (self.memory[array][half], False)
                    )
                    if here[0] != self.truth[array][half]:
                        return True
                    if access is not None and access.updates:
                        updates.append((die, array, half))
        for die, array, half in updates:
            self.truth[array][half] += 1
            self.lines[die][array, half] = (self.truth[array][half], True)
        return False


def reads_old_value(kernels: Iterable[Kernel], *, by_array: bool = False) -> bool:
    """Whether one of the kernels reads an old value in the model."""
    table = Table(by_array=by_array)
    return any(table.run(kernel) for kernel in kernels)


def counted(length: int, *, by_array: bool = False) -> tuple[int, int]:
    """The sequences of that many kernels, and how many of them read an old value in the model."""
    every = old = 0
    for kernels in itertools.product(KERNELS, repeat=length):
        every += 1
        old += reads_old_value(kernels, by_array=by_array)
    return every, old


# ---- the simulator


@cache
def _made(uses: tuple[bool, bool], updates: tuple[bool, bool]) -> Any:
    """A kernel whose program accesses these arrays in these ways; block 0 is die 0's, block 1 die 1's."""
    import gpucoh

    (use_a, use_b), (add_a, add_b) = uses, updates

    @gpucoh.kernel
    def kernel(
        a: gpucoh.Buffer[gpucoh.i32],
        b: gpucoh.Buffer[gpucoh.i32],
        masks: gpucoh.i32,
        half: gpucoh.i32,
        halves: gpucoh.i32,
    ) -> None:
        for h in range(2):
            at = half + h * halves + gpucoh.thread_id()
            place = gpucoh.block_id() * 2 + h
            if use_a and (masks >> place) & 1:
                x = a[at]
                if add_a:
                    a[at] = x + 1
            if use_b and (masks >> (place + 4)) & 1:
                y = b[at]
                if add_b:
                    b[at] = y + 1

    return kernel


def machine() -> dict[str, int]:
    """Fields: two GPUs of two dies; blocks of one launch run on dies 0 and 2, pages are on 1 and 3."""
    return {"cores": 4, "dies": 4, "gpus": 2, "partitions": 4, "page_kib": 4}


class Simulated:
    """Runs kernels under a protocol, with monitors. Die 1 of the model is the first die of GPU 1."""

    def __init__(self, protocol: str) -> None:
        import numpy as np

        import gpucoh

        self._gpu = gpucoh.GPU(machine="fermi", protocol=protocol, set=machine(), check="protocol")
        page = 1024
        for _ in range(8):  # an array that begins with a page of die 0
            self._arrays = [self._gpu.zeros(4 * page, np.int32) for _ in ARRAYS]
            if all(array.address // (4 * page) % 4 == 0 for array in self._arrays):
                break
            self._gpu.zeros(page, np.int32)
        self._half, self._halves = page, 2 * page

    def run(self, kernel: Kernel) -> None:
        """Launch it; a load of an old value raises :exc:`gpucoh.ProtocolError`."""
        masks, dies = 0, set[int]()
        for array, access in enumerate(kernel):
            for die, halves in access.reads if access is not None else ():
                dies.add(die)
                masks |= sum(1 << (4 * array + 2 * die + half) for half in halves)
        if dies == {1}:  # its only block is block 0 of GPU 1
            masks >>= 2
        key = tuple(x is not None for x in kernel), tuple(bool(x and x.updates) for x in kernel)
        self._gpu.launch(
            _made(*key),
            grid=len(dies),
            block=32,
            args=(*self._arrays, masks, self._half, self._halves),
            device=None if len(dies) == 2 else dies.pop(),
        )


def simulated(kernels: Sequence[Kernel], protocol: str) -> bool:
    """Whether a monitor reports an old value in a run of the kernels."""
    import gpucoh

    gpu = Simulated(protocol)
    try:
        for kernel in kernels:
            gpu.run(kernel)
    except gpucoh.ProtocolError as error:
        if "a load returns a value it may" not in str(error):
            raise
        return True
    return False


# ---- the command


def drawn(count: int, seed: int) -> Iterator[tuple[Kernel, ...]]:
    """Triples of kernels."""
    draw = random.Random(seed)
    for _ in range(count):
        yield tuple(draw.choice(KERNELS) for _ in range(3))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=0, help="triples to run on the simulator")
    parser.add_argument("--seed", type=int, default=0, help="seed of their choice")
    parser.add_argument("--by-array", action="store_true", help="count with dies of each array")
    given = parser.parse_args()
    if not given.runs:
        for length in (1, 2, 3):
            every, old = counted(length, by_array=given.by_array)
            print(f"{length} kernels: {every:,} sequences, {old:,} read an old value")
        return 0
    old, wrong = 0, 0
    for kernels in drawn(given.runs, given.seed):
        stale = simulated(kernels, "cpelide[rules=artifact]")
        old += stale
        if stale != reads_old_value(kernels) or simulated(kernels, "cpelide"):
            wrong += 1
            print("model and simulator differ, or rules=ranges reads an old value:", kernels)
    print(f"{given.runs} triples, {old} read an old value under rules=artifact; {wrong} surprises")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
