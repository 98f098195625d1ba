"""The widths of a test's locations, registers and instructions: 32 or 64 bits.

A location has 64 bits if the initial state declares it so (``uint64_t x=0``) or an access of 64 bits names it; an
access without a type has its location's width. A register has the width of the instructions that name it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gpucoh.base.quoting import quoted
from gpucoh.litmus.syntax import (
    Instruction,
    Number,
    Proposition,
    Term,
    Thread,
    UnsupportedError,
    Value,
    fitted,
)

#: Types of C that declare a location.
DECLARED = {"int": 32, "int32_t": 32, "uint32_t": 32, "int64_t": 64, "uint64_t": 64}
_ACCESSES = ("ld", "st", "atom")


def wide_locations(threads: tuple[Thread, ...], declared: Mapping[str, int]) -> set[str]:
    """The locations of 64 bits.

    Raises
    ------
    UnsupportedError
        If a location that is declared with 32 bits has an access of 64.
    """
    found = {name for name, bits in declared.items() if bits == 64}
    for thread in threads:
        for item in thread.code:
            if item.location is not None and item.bits == 64:
                if declared.get(item.location) == 32:
                    raise UnsupportedError(
                        f"an access of 64 bits to {item.location}, which has 32", item.line
                    )
                found.add(item.location)
    return found


def settled(thread: Thread, wide: set[str]) -> Thread:
    """A thread with the width of every instruction, and numbers of that width.

    Raises
    ------
    UnsupportedError
        With the line, where widths contradict each other.
    """
    code = [_access(item, wide) if item.op in _ACCESSES else item for item in thread.code]
    registers = _wide_registers(code)
    code = [_with_width(item, registers) for item in code]
    initial = {
        name: fitted(value, 64 if name in registers else 32)
        for name, value in thread.initial.items()
    }
    return replace(thread, code=tuple(code), initial=initial, wide=frozenset(registers))


def _access(item: Instruction, wide: set[str]) -> Instruction:
    """An access with its width, and the word that it accesses of a location of 64 bits."""
    if item.location not in wide:
        if item.word:
            raise UnsupportedError(f"{item.location}+4: {item.location} has 32 bits", item.line)
        return replace(item, bits=32, word=None)
    if item.bits == 64 and item.word:
        raise UnsupportedError(f"{item.location}+4: an access of 64 bits is aligned", item.line)
    bits = item.bits or (32 if item.word is not None else 64)
    return replace(item, bits=bits, word=None if bits == 64 else item.word or 0)


def _named(item: Instruction) -> set[str]:
    """The registers that have the width of an instruction."""
    names = {value for value in item.values if isinstance(value, str)}
    return names if item.dest is None else {*names, item.dest}


def _wide_registers(code: list[Instruction]) -> set[str]:
    found: set[str] = set().union(*(_named(item) for item in code if item.bits == 64))
    untyped = [_named(item) for item in code if item.bits == 0 and item.op in ("move", "alu", "branch")]  # fmt: skip
    changed = bool(found)
    while changed:
        changed = False
        for names in untyped:
            if names & found and not names <= found:
                found |= names
                changed = True
    return found


def _with_width(item: Instruction, registers: set[str]) -> Instruction:
    named = _named(item)
    bits = item.bits or (64 if named & registers and item.op != "bar" else 32)
    other = sorted(named & registers if bits == 32 else named - registers)
    if other:
        raise UnsupportedError(
            f"register {quoted(other[0])} has {96 - bits} bits, and the instruction {bits}",
            item.line,
        )
    values: tuple[Value, ...] = tuple(
        value if isinstance(value, str) else fitted(value, bits) for value in item.values
    )
    return replace(item, bits=bits, values=values)


def settled_condition(proposition: Proposition, is_wide: Callable[[str], bool]) -> Proposition:
    """A condition whose numbers have the width of what they are compared with."""
    names = [term.name for term in (proposition.left, proposition.right) if term.name is not None]
    bits = 64 if any(map(is_wide, names)) else 32

    def term(given: Term) -> Term:
        number = given.number
        return Term(None, fitted(number, bits)) if isinstance(number, Number) else given

    return replace(
        proposition,
        parts=tuple(settled_condition(part, is_wide) for part in proposition.parts),
        left=term(proposition.left),
        right=term(proposition.right),
    )
