"""A parsed litmus test: threads of instructions, initial values, a condition on final states."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import shortened

#: A number, or the name of a register.
Value: TypeAlias = int | str
#: Final values: ``"P1:r0"`` for registers, ``"x"`` for locations, as signed numbers of their width.
State: TypeAlias = Mapping[str, int]


class UnsupportedError(ConfigError):
    """A test that cannot be read or is not supported.

    Parameters
    ----------
    reason : str
        The problem, without its location.
    line : int, optional
        Line of the file, from 1.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {reason}" if line is not None else reason)
        self.line = line


def signed(value: int, bits: int = 32) -> int:
    """A word, or a number of 64 bits, as a signed number."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


class Number(int):
    """A number as a file has it, before its width is known.

    Attributes
    ----------
    text : str
    line : int
        Line of the file, from 1.
    """

    text: str
    line: int


def read_number(text: str, line: int) -> Number:
    """A number of a file, decimal or hexadecimal, or the bits of an f64 (``0d3ff0000000000000``).

    One of more than 64 bits is read as a larger one than those.
    """
    digits = re.sub(r"^0d(?=[0-9a-f]{16}$)", "0x", text.lower()).rstrip("u")
    # No more digits than 64 bits have: the time to read a number grows with the square of their count.
    short = len(digits.lstrip("+-0x")) <= 20
    number = Number(int(digits, 16 if "x" in digits else 10) if short else 1 << 64)
    number.text, number.line = text, line
    return number


def fitted(number: int, bits: int) -> int:
    """A number as a signed one of 32 or 64 bits.

    Raises
    ------
    UnsupportedError
        With the line, if it has more bits.
    """
    if isinstance(number, Number) and not -(1 << (bits - 1)) <= number < 1 << bits:
        raise UnsupportedError(
            f"{shortened(number.text)} has more than {bits} bits "
            f"(allowed: {-(1 << (bits - 1))} to {(1 << bits) - 1})",
            number.line,
        )
    return signed(number, bits)


def upper(location: str) -> str:
    """The name of the upper word of a split location."""
    return f"{location}+4"


def joined(words: tuple[int, ...]) -> int:
    """The signed number of a word, or of a lower and an upper one."""
    if len(words) == 1:
        return words[0]
    return signed(words[1] << 32 | words[0] & 0xFFFFFFFF, 64)


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One instruction of a litmus thread.

    Attributes
    ----------
    op : str
        ``ld st atom fence bar move alu branch jump``.
    line : int
        Line of the file, from 1.
    order, scope : str
        Names of the instruction set: ``WEAK`` .. ``SC``; ``CTA CU GPU SYS``.
    dest : str, optional
        Register written.
    location : str, optional
        Location accessed.
    index : str, optional
        Register on which the address depends; its value is always 0.
    function : str
        Of ``atom`` and ``alu``: the operation; of ``branch``: the comparison; of ``bar``: ``sync`` or ``arrive``.
    values : tuple of Value
        Operands. Of ``bar``: the barrier, then the count if there is one.
    target : int
        Of ``branch`` and ``jump``: index of the target instruction.
    bits : int
        Width of its values: 32 or 64.
    word : int, optional
        Of an access of 32 bits to a location of 64: 0 for the lower word, 1 for the upper one.
    """

    op: str
    line: int
    order: str = "WEAK"
    scope: str = "GPU"
    dest: str | None = None
    location: str | None = None
    index: str | None = None
    function: str = ""
    values: tuple[Value, ...] = ()
    target: int = -1
    bits: int = 32
    word: int | None = None

    @property
    def wide(self) -> bool:
        """Whether its values have 64 bits."""
        return self.bits == 64

    @property
    def sources(self) -> tuple[str, ...]:
        """Registers read."""
        named = tuple(value for value in self.values if isinstance(value, str))
        return named if self.index is None else (self.index, *named)


@dataclass(frozen=True, kw_only=True)
class Thread:
    """One thread: a warp of its own, in the block of its cta.

    Attributes
    ----------
    id : int
        The number after the P.
    cta, gpu : int
        Threads of equal numbers are in one block; of different ``gpu`` on different GPUs, or on different cores of
        a machine that has one.
    cu : int, optional
        Blocks with equal numbers are on one core (an addition to the public format).
    die : int, optional
        Blocks of one GPU with equal numbers are on one die, with different ones on different dies (an addition).
    code : tuple of Instruction
    initial : dict
        Registers that do not start at 0.
    wide : frozenset of str
        Registers of 64 bits.
    """

    id: int
    cta: int
    gpu: int
    cu: int | None = None
    die: int | None = None
    code: tuple[Instruction, ...] = ()
    initial: Mapping[str, int] = field(default_factory=dict)
    wide: frozenset[str] = frozenset()

    @property
    def block(self) -> tuple[int, int]:
        """The key of its block."""
        return self.gpu, self.cta

    @property
    def registers(self) -> tuple[str, ...]:
        """The registers that it names, in the order of their first use."""
        names = dict.fromkeys(self.initial)
        for instruction in self.code:
            if instruction.dest is not None:
                names[instruction.dest] = None
            names.update(dict.fromkeys(instruction.sources))
        return tuple(names)


@dataclass(frozen=True)
class Term:
    """One side of a comparison: a register (``P0:r1``), a location (``x``) or a number."""

    name: str | None
    number: int = 0

    def value(self, state: State) -> int:
        """The value in a final state; 0 if the state does not name it."""
        return self.number if self.name is None else state.get(self.name, 0)

    def __str__(self) -> str:
        return str(self.number) if self.name is None else self.name


COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}


def compare(comparison: str, left: int, right: int) -> bool:
    """Whether ``left comparison right`` holds."""
    return {
        "==": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[comparison]


@dataclass(frozen=True)
class Proposition:
    """A condition on final states: a comparison, or others joined by and, or, not."""

    kind: str
    parts: tuple[Proposition, ...] = ()
    left: Term = Term(None)
    right: Term = Term(None)

    def holds(self, state: State) -> bool:
        """Whether a final state satisfies it."""
        if self.kind == "and":
            return all(part.holds(state) for part in self.parts)
        if self.kind == "or":
            return any(part.holds(state) for part in self.parts)
        if self.kind == "not":
            return not self.parts[0].holds(state)
        return compare(self.kind, self.left.value(state), self.right.value(state))

    def names(self) -> Iterator[str]:
        """The registers and locations in it."""
        for part in self.parts:
            yield from part.names()
        for term in (self.left, self.right):
            if term.name is not None:
                yield term.name

    def __str__(self) -> str:
        if self.kind in ("and", "or"):
            sign = " /\\ " if self.kind == "and" else " \\/ "
            return "(" + sign.join(str(part) for part in self.parts) + ")"
        if self.kind == "not":
            return f"~{self.parts[0]}"
        return f"{self.left} {self.kind} {self.right}"


@dataclass(frozen=True)
class Condition:
    """The last clause of a test: ``exists``, ``~exists`` or ``forall``, and a proposition."""

    quantifier: str
    proposition: Proposition

    def matches(self, state: State) -> bool:
        """Whether a final state counts as observed: for ``forall`` one that violates the proposition."""
        return self.proposition.holds(state) != (self.quantifier == "forall")

    def __str__(self) -> str:
        text = str(self.proposition)
        return f"{self.quantifier} {text if text.startswith('(') else f'({text})'}"


@dataclass(frozen=True, kw_only=True)
class Test:
    """One litmus test.

    Attributes
    ----------
    name : str
        The file's name without ``.litmus``.
    title : str
        The header's name.
    text : str
        The description in the file.
    threads : tuple of Thread
    initial : dict
        Location -> initial value; every location of the test is in it.
    condition : Condition
    shown : tuple of str
        Registers and locations in outcomes: those of the condition and of ``locations``.
    file : str
        The path of its file; empty for a built-in test or a text.
    wide : frozenset of str
        Locations of 64 bits.
    """

    # Stop pytest from collecting this class as tests.
    __test__ = False

    name: str
    title: str
    text: str
    threads: tuple[Thread, ...]
    initial: Mapping[str, int]
    condition: Condition
    shown: tuple[str, ...]
    file: str = ""
    wide: frozenset[str] = frozenset()

    def __dir__(self) -> list[str]:
        """What users may call."""
        return sorted({*super().__dir__()} - {"in_cells", "of_cells"})

    @functools.cached_property
    def split(self) -> frozenset[str]:
        """The locations of 64 bits of which an access names a single word."""
        items = (item for thread in self.threads for item in thread.code)
        return frozenset(
            item.location for item in items if item.location is not None and item.word is not None
        )

    @functools.cached_property
    def cells(self) -> dict[str, int]:
        """What memory models order: the locations, or the words of split ones, with their initial values."""
        return self.in_cells(self.initial)

    def in_cells(self, values: Mapping[str, int]) -> dict[str, int]:
        """Values of locations as those of cells."""
        out: dict[str, int] = {}
        for name, value in values.items():
            if name in self.split:
                out |= {name: signed(value), upper(name): signed(value >> 32)}
            else:
                out[name] = value
        return out

    def of_cells(self, values: Mapping[str, int]) -> dict[str, int]:
        """Values of cells as those of locations."""
        return {
            name: joined((values[name], values[upper(name)]))
            if name in self.split
            else values[name]
            for name in self.initial
        }

    @property
    def locations(self) -> tuple[str, ...]:
        """Every location."""
        return tuple(self.initial)

    @property
    def blocks(self) -> dict[tuple[int, int], list[int]]:
        """Block -> indices of its threads."""
        out: dict[tuple[int, int], list[int]] = {}
        for index, thread in enumerate(self.threads):
            out.setdefault(thread.block, []).append(index)
        return out

    @door
    def describe(self, state: State) -> str:
        """The shown part of a final state, as text."""
        return "; ".join(f"{name}={state.get(name, 0)}" for name in self.shown)
