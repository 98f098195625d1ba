"""Programs of a few operations that the explorer runs, and every program of a given size.

A program is printed as one line: ``|`` separates threads, ``;`` separates operations, and a thread begins with ``N:``,
the core that it runs on::

    0: st x 1; F; st.release y 1 | 1: ld.acquire y; F.acq_rel; ld x | 1: ld x

``1@2:`` is core 1 of GPU 2: cores are of GPU 0 otherwise, and scope gpu orders nothing between GPUs.

Operations: ``ld x``, ``ld.ro x`` (a load of a read-only array), ``await x 1`` (a load, by default acquire, repeated
until it returns 1), ``st x 1``, ``add x 1`` (an atomic), ``F`` (a fence), ``bar`` (a barrier of the core's threads that have
not ended), ``bar.acq_rel`` (the same with a release and an acquire part beyond the core), ``exit`` (the thread ends),
``kernel`` (all threads end, and the next launch begins), and ``host_ld x`` and ``host_st x 1`` (the same, and between
the two launches the host loads or stores). Without an order, loads and stores are weak, atomics
relaxed and fences sc; without a scope, it is gpu. A value may depend on what the thread's operation N has read:
``st y rN``, ``st y rN+1``, ``add y rN+1``; ``st y 0*rN+1`` waits for that value, and does not contain it.

Other atomics are ``exch x 1``, ``cas x 0 1`` (the expected value, then the new one), ``min``, ``max``, ``and``, ``or``
and ``xor``; ``fadd.b64`` adds f64. ``ld.b64 x`` and the like access a variable of 64 bits, and ``ld x+0`` and
``ld x+4`` a word of one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

VARIABLES = "xyzw"
#: Kinds of operations, by the core's numbers (``csrc/check/explore/explore.h``).
KINDS = {
    "ld": 0, "await": 0, "st": 1, "add": 2, "F": 3, "bar": 4, "exit": 5, "kernel": 6, "host_ld": 7, "host_st": 8,
}  # fmt: skip
#: Kinds of atomics; ``fadd`` adds f64, as bits.
ATOMICS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "fadd")
KINDS |= dict.fromkeys(ATOMICS, KINDS["add"])
#: Default order of each kind of operation.
DEFAULT_ORDERS = {
    "ld": "WEAK",
    "await": "ACQUIRE",
    "st": "WEAK",
    "add": "RELAXED",
    "F": "SC",
    "bar": "WEAK",
    "exit": "WEAK",
    "kernel": "WEAK",
    "host_ld": "WEAK",
    "host_st": "WEAK",
} | dict.fromkeys(ATOMICS, "RELAXED")
#: Kinds that end a launch: every thread has as many of them.
KERNELS = ("kernel", "host_ld", "host_st")
DEFAULT_SCOPE = "GPU"
_SCOPES = ("CTA", "CU", "GPU", "SYS")
_READ_ONLY = "RO"
_WIDE = "B64"
_VALUE = re.compile(r"(?:(?P<without>0\*)?r(?P<source>\d+))?(?:\+?(?P<number>\d+))?")


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes
    ----------
    kind : str
        ``ld``, ``await``, ``st``, ``F``, ``bar``, ``exit``, ``kernel``, ``host_ld``, ``host_st``, or one of
        :data:`ATOMICS`.
    variable : int
        Number of its variable.
    value : int
        The value stored, added or awaited; of ``cas`` the expected one.
    order, scope : str
        As the instruction set names them; an empty order becomes the kind's default.
    read_only : bool
        A load of a read-only array: no thread writes the variable in this launch.
    source : int, optional
        Of ``st`` and ``add``: the thread's operation on whose value it depends.
    adds : bool
        That value is added to ``value``; else it is only waited for.
    replacement : int
        The new value of ``cas``.
    bits : int
        32 or 64, the width of its values.
    word : int, optional
        Of an access of 32 bits to a variable of 64: 0 for the lower word, 1 for the upper one.
    """

    kind: str
    variable: int = 0
    value: int = 0
    order: str = ""
    scope: str = DEFAULT_SCOPE
    read_only: bool = False
    source: int | None = None
    adds: bool = True
    replacement: int = 0
    bits: int = 32
    word: int | None = None

    def __post_init__(self) -> None:
        if not self.order:
            object.__setattr__(self, "order", DEFAULT_ORDERS[self.kind])

    @property
    def reads(self) -> bool:
        """Whether it returns a value."""
        return self.kind in ("ld", "await", "host_ld", *ATOMICS)

    @property
    def writes(self) -> bool:
        """Whether it changes its variable."""
        return self.kind in ("st", "host_st", *ATOMICS)

    def __str__(self) -> str:
        name = self.kind
        if self.order != DEFAULT_ORDERS[self.kind]:
            name += f".{self.order.lower()}"
        if self.scope != DEFAULT_SCOPE:
            name += f".{self.scope.lower()}"
        if self.read_only:
            name += f".{_READ_ONLY.lower()}"
        name += ".b64" if self.bits == 64 else ""
        if not self.reads and not self.writes:
            return name
        value = "" if self.kind in ("ld", "host_ld") else f" {self._value()}"
        value += f" {self.replacement}" if self.kind == "cas" else ""
        place = "" if self.word is None else f"+{4 * self.word}"
        return f"{name} {VARIABLES[self.variable]}{place}{value}"

    def _value(self) -> str:
        if self.source is None:
            return str(self.value)
        number = f"+{self.value}" if self.value or not self.adds else ""
        return f"{'' if self.adds else '0*'}r{self.source}{number}"


@dataclass(frozen=True)
class Thread:
    """A warp's operations, its core, and the core's GPU, which scope gpu does not go beyond."""

    core: int
    operations: tuple[Operation, ...]
    gpu: int = 0

    def __str__(self) -> str:
        core = f"{self.core}@{self.gpu}" if self.gpu else str(self.core)
        return f"{core}: " + "; ".join(map(str, self.operations))


@dataclass(frozen=True)
class Program:
    """Threads, and the setting of the machine that they run on.

    Attributes
    ----------
    name : str
        A shape's name, or the program itself.
    threads : tuple of Thread
    variables : int
        Number of variables, which are called x, y, z, w and begin as 0.
    warm : bool
        Every L1 begins with a copy of every variable.
    packed : bool
        Two variables share a line.
    tight : bool
        L1s and the one L2 bank hold one line and one MSHR; else enough for all.
    evictions : bool
        Lines may be evicted spontaneously, besides evictions for lack of space.
    least_cores : int
        Number of cores of the machine, if no thread needs more.
    """

    name: str
    threads: tuple[Thread, ...]
    variables: int
    warm: bool = False
    packed: bool = False
    tight: bool = False
    evictions: bool = True
    least_cores: int = 0

    @property
    def used_cores(self) -> int:
        """Number of cores up to the last one that has a thread."""
        return 1 + max(thread.core for thread in self.threads)

    @property
    def cores(self) -> int:
        """Number of cores of the machine."""
        return max(self.used_cores, self.least_cores)

    @property
    def size(self) -> int:
        """Number of operations, with fences."""
        return sum(len(thread.operations) for thread in self.threads)

    @property
    def wide(self) -> frozenset[int]:
        """The variables of 64 bits: those of which an operation accesses both words, or one by its number."""
        return frozenset(
            item.variable
            for thread in self.threads
            for item in thread.operations
            if item.bits == 64 or item.word is not None
        )

    def __str__(self) -> str:
        return " | ".join(map(str, self.threads))

    @property
    def setting(self) -> str:
        """``"warm, packed, no evictions"``; empty when nothing is special."""
        words = [word for word in ("warm", "packed", "tight") if getattr(self, word)]
        return ", ".join(words if self.evictions or self.tight else [*words, "no evictions"])


def _operation(text: str) -> Operation:
    name, *operands = text.split()
    kind, *parts = name.split(".")
    suffixes = [part.upper() for part in parts]
    value = _VALUE.fullmatch(operands[1] if len(operands) > 1 else "0")
    if value is None:
        raise ValueError(f"{text.strip()}: a value is N, rM, rM+N or 0*rM+N")
    variable, _, place = operands[0].partition("+") if operands else ("x", "", "")
    return Operation(
        kind,
        VARIABLES.index(variable),
        int(value["number"] or 0),
        next((item for item in suffixes if item not in (*_SCOPES, _READ_ONLY, _WIDE)), ""),
        next((item for item in suffixes if item in _SCOPES), DEFAULT_SCOPE),
        _READ_ONLY in suffixes,
        None if value["source"] is None else int(value["source"]),
        value["without"] is None,
        int(operands[2]) if len(operands) > 2 else 0,
        64 if _WIDE in suffixes else 32,
        int(place) // 4 if place else None,
    )


def parse(text: str, name: str = "") -> Program:
    """Parse a program from its line; see the module's text.

    Examples
    --------
    >>> str(parse("st.release x 1 | ld x; ld x"))
    '0: st.release x 1 | 1: ld x; ld x'
    """
    threads = []
    for number, part in enumerate(text.split("|")):
        place, colon, rest = part.partition(":")
        core, _, gpu = place.partition("@")
        operations = tuple(_operation(item) for item in (rest if colon else part).split(";"))
        threads.append(Thread(int(core) if colon else number, operations, int(gpu or 0)))
    if len({(thread.core, thread.gpu) for thread in threads}) > len({one.core for one in threads}):
        raise ValueError(f"{text.strip()}: a core is on two GPUs")
    used = {item.variable for thread in threads for item in thread.operations}
    return Program(name or text, tuple(threads), 1 + max(used))


def _moved(operations: Sequence[Operation], places: Mapping[int, int]) -> tuple[Operation, ...]:
    """The operations after a change of their numbers: sources follow."""
    return tuple(
        item if item.source is None else replace(item, source=places[item.source])
        for item in operations
    )


def without_fences(program: Program) -> Program:
    """The program without fences, for a consistency rule that needs none."""
    threads = []
    for thread in program.threads:
        kept = [place for place, item in enumerate(thread.operations) if item.kind != "F"]
        operations = [thread.operations[place] for place in kept]
        places = {place: number for number, place in enumerate(kept)}
        threads.append(replace(thread, operations=_moved(operations, places)))
    return replace(program, threads=tuple(threads))


def fenced(program: Program) -> Program:
    """The program with a fence between every two operations of a thread."""
    threads = []
    for thread in program.threads:
        operations = [Operation("F")] * (2 * len(thread.operations) - 1)
        operations[::2] = _moved(thread.operations, {n: 2 * n for n in range(len(operations))})
        threads.append(replace(thread, operations=tuple(operations)))
    threads_text = " | ".join(map(str, threads))
    return replace(program, name=threads_text, threads=tuple(threads))


def dependent(program: Program) -> Program | None:
    """The program whose stores add what their thread has read just before, if one has."""
    threads = []
    for thread in program.threads:
        operations = list(thread.operations)
        for place, (older, item) in enumerate(itertools.pairwise(thread.operations)):
            if older.reads and item.kind == "st":
                operations[place + 1] = replace(item, source=place)
        threads.append(replace(thread, operations=tuple(operations)))
    if tuple(threads) == program.threads:
        return None
    return replace(program, name=" | ".join(map(str, threads)), threads=tuple(threads))


def _communicates(threads: tuple[tuple[Operation, ...], ...], variables: int) -> bool:
    """Whether threads share every variable, and another thread uses what one writes."""
    written = False
    for variable in range(variables):
        users = [ops for ops in threads if any(op.variable == variable for op in ops)]
        if len(users) < 2:
            return False
        written |= any(op.writes and op.variable == variable for ops in users for op in ops)
    return written


def _renamed(
    threads: tuple[tuple[Operation, ...], ...], names: tuple[int, ...]
) -> tuple[tuple[tuple[str, int], ...], ...]:
    return tuple(sorted(tuple((op.kind, names[op.variable]) for op in ops) for ops in threads))


def every_program(cores: int, lines: int, operations: int) -> Iterator[Program]:
    """Every program of one warp per core, of 1 to ``operations`` operations each, over 1 to ``lines`` variables.

    Programs that differ only in the order of threads or the names of variables count once. Omitted: programs with a
    variable that fewer than two threads use, and those that write nothing. Stored values are distinct.
    """
    for variables in range(1, lines + 1):
        alphabet = [
            Operation(kind, variable)
            for kind in ("ld", "st", "add")
            for variable in range(variables)
        ]
        bodies = [
            body
            for length in range(1, operations + 1)
            for body in itertools.product(alphabet, repeat=length)
        ]
        for chosen in itertools.combinations_with_replacement(bodies, cores):
            if not _communicates(chosen, variables):
                continue
            own = _renamed(chosen, tuple(range(variables)))
            if any(_renamed(chosen, p) < own for p in itertools.permutations(range(variables))):
                continue
            yield _with_values(chosen, variables)


def _with_values(bodies: tuple[tuple[Operation, ...], ...], variables: int) -> Program:
    numbers = itertools.count(1)
    threads = tuple(
        Thread(
            core,
            tuple(
                # additions are of powers of ten, so that a sum identifies its terms
                replace(op, value=next(numbers) if op.kind == "st" else 10 ** (core + 1) if op.kind == "add" else 0)
                for op in body
            ),
        )
        for core, body in enumerate(bodies)
    )  # fmt: skip
    return Program(" | ".join(map(str, threads)), threads, variables)
