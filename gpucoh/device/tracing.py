"""Traces of a GPU: which lines, cycles and kinds of record, and how they are read."""

from __future__ import annotations

import bisect
import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeAlias

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import natural, unknown
from gpucoh.device.arrays import Array
from gpucoh.lang import isa
from gpucoh.lang.program import Program
from gpucoh.results.dies import Dies
from gpucoh.results.trace.records import BIT, KINDS, Names, decode
from gpucoh.results.trace.trace import Trace

Slot: TypeAlias = tuple[int, int, bool, str, int]
Index: TypeAlias = int | slice | range | tuple[int, int]
_MOST_RECORDS = 2**24
_LARGEST = 2**63


class Tracer:
    """One trace while it is made; :meth:`gpucoh.GPU.trace` has the arguments.

    Raises
    ------
    ConfigError
        For a bad argument.
    """

    def __init__(
        self,
        core: Any,
        line_bytes: int,
        title: str,
        array: Array | str | int | None,
        index: Index | None,
        cycles: tuple[int, int] | None,
        kinds: Iterable[str] | None,
        records: int,
    ) -> None:
        self.trace = Trace(title)
        self._core, self._line_bytes = core, line_bytes
        self._wanted = array if isinstance(array, str) else None
        if index is not None and array is None:
            raise ConfigError("index needs array: the array whose elements are traced")
        self._index = index
        self._cycles = _window(cycles)
        self._kinds = _kinds(kinds)
        self._records = natural("records", records, _MOST_RECORDS, smallest=1)
        self._arrays: dict[int, tuple[str, int, int]] = {}
        self._launches: list[tuple[int, Program]] = []
        if isinstance(array, Array):
            array.check()
            self._arrays[array.address] = ("array", array.nbytes, array.dtype.itemsize)
            self._start(array.address, array.nbytes, array.dtype.itemsize)
        elif isinstance(array, int) and not isinstance(array, bool):
            self._start(natural("array", array, _LARGEST), 4, 4)
        elif array is None:
            self._begin(0, _LARGEST, 0)
        elif not isinstance(array, str):
            raise ConfigError(
                f"array = {quoted(array)} is neither an array nor its name nor an address"
            )

    def _start(self, address: int, size: int, element: int) -> None:
        """Trace the chosen elements of an array."""
        first, last = _elements(self._index, size // element)
        begin = (address + first * element) // self._line_bytes * self._line_bytes
        end = (address + last * element) // self._line_bytes * self._line_bytes
        self._begin(begin, end, (address + first * element - begin) // 4)

    def _begin(self, first: int, last: int, word: int) -> None:
        bits = sum(BIT[name] for kind in self._kinds for name in KINDS[kind])
        self._core.trace(first, last, word, *self._cycles, bits, self._records)

    def begin_launch(self, program: Program, slots: Sequence[Slot]) -> None:
        """Note a launch's arrays and source, and begin the trace of an array that is chosen by name.

        Behind the buffers come the arrays that accesses by address may reach.
        """
        others = [slot[3] for slot in slots[len(program.buffers) :]]
        for parameter, (address, elements, _, name, element) in zip(
            (*program.buffers, *others), slots, strict=True
        ):
            self._arrays.setdefault(address, (name, elements * element, element))
            if self._arrays[address][0] == "array":
                self._arrays[address] = (name, elements * element, element)
            if self._wanted in (name, parameter):
                self._start(address, elements * element, element)
                self._wanted = None
        self._launches.append((self._core.clock(), program))

    def check_found(self) -> None:
        """Check that a launch had the array that is chosen by name.

        Raises
        ------
        ConfigError
            If none had.
        """
        if self._wanted is not None:
            seen = sorted({name for name, _, _ in self._arrays.values()})
            raise ConfigError(unknown("array of the launches", self._wanted, seen))

    def finish(self) -> None:
        """Read the records, and end the trace."""
        data, count = self._core.traced()
        self._core.trace(0, 0, 0, 0, 0, 0, 0)
        records = decode(data)
        names = json.loads(self._core.trace_names())
        arrays = [(name, at, size, each) for at, (name, size, each) in self._arrays.items()]
        self.trace.fill(
            records,
            count - len(records),
            Names(
                [tuple(node) for node in names["nodes"]],
                names["messages"],
                names["tables"],
                self._line_bytes,
                arrays,
                Dies.of_data(names),
            ),
            Sources(self._launches),
            self._kinds,
        )


class Sources:
    """File name and line of an instruction in the launch that runs at a cycle; without the GPU, so that a trace can be
    pickled.
    """

    def __init__(self, launches: Sequence[tuple[int, Program]]) -> None:
        texts: dict[int, list[str]] = {}
        for _, program in launches:
            if id(program) not in texts:
                numbers = range(len(program.code) // isa.PACKING.size)
                texts[id(program)] = ["{}:{}".format(*program.source_of(pc)) for pc in numbers]
        self._begins = [at for at, _ in launches]
        self._texts = [texts[id(program)] for _, program in launches]

    def __call__(self, pc: int, cycle: int) -> str:
        """The place; empty if there is none."""
        number = bisect.bisect_right(self._begins, cycle) - 1
        return self._texts[number][pc] if number >= 0 and pc < len(self._texts[number]) else ""


def _window(cycles: tuple[int, int] | None) -> tuple[int, int]:
    if cycles is None:
        return 0, _LARGEST
    if not isinstance(cycles, Sequence) or isinstance(cycles, str) or len(cycles) != 2:
        raise ConfigError(f"cycles = {quoted(cycles)} is not (first, end)")
    first, end = (natural("cycles", cycle, _LARGEST) for cycle in cycles)
    if first >= end:
        raise ConfigError(f"cycles = {quoted(cycles)}: the end must be after the first cycle")
    return first, end


def _kinds(kinds: Iterable[str] | None) -> Collection[str]:
    if kinds is None:
        return tuple(KINDS)
    if not isinstance(kinds, Iterable):
        raise ConfigError(f"kinds = {quoted(kinds)} is not a list of kinds")
    chosen = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    for kind in chosen:
        if not isinstance(kind, str) or kind not in KINDS:
            raise ConfigError(unknown("kind", kind, KINDS))
    return chosen


def _elements(index: Index | None, size: int) -> tuple[int, int]:
    """The first and the last of the chosen elements of a flat array."""
    if index is None:
        return 0, size - 1
    if isinstance(index, slice):
        index = range(size)[index]
    if isinstance(index, range | tuple | list):
        bounds = (min(index), max(index)) if len(index) else (0, -1)
    else:
        bounds = (natural("index", index, _LARGEST),) * 2
    if not 0 <= bounds[0] <= bounds[1] < size:
        raise ConfigError(f"index = {quoted(index)}: the array has elements 0 to {size - 1}")
    return bounds


__all__ = ["Index", "Slot", "Tracer"]
