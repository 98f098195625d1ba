"""Bits that a register may have set, by what defines it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpucoh.lang.ir import COMPARISONS, Block, Constant, Instruction, Operand, Register
from gpucoh.lang.types import U32

_ALL = 0xFFFFFFFF
_DEPTH = 4  # of definitions behind a register

Definitions = Mapping[Register, Sequence[tuple[Block, Instruction]]]


def possible_bits(operand: Operand | None, definitions: Definitions, depth: int = _DEPTH) -> int:
    """The bits that may be set: exact for constants, narrow elements, comparisons and what joins them."""
    if isinstance(operand, Constant):
        return operand.bits
    places = definitions.get(operand, ()) if isinstance(operand, Register) and depth else ()
    found = 0 if places else _ALL
    for _, instruction in places:
        found |= _made(instruction, definitions, depth - 1)
    return found


def _made(instruction: Instruction, definitions: Definitions, depth: int) -> int:
    op, element = instruction.op, instruction.type
    if instruction.more:
        return _ALL
    if op == "LOAD" and element.bytes < 4 and element.code == U32.code:
        return (1 << 8 * element.bytes) - 1
    if op in COMPARISONS:
        return 1
    if op not in ("MOVE", "AND", "OR", "XOR"):
        return _ALL
    parts = [possible_bits(source, definitions, depth) for source in instruction.sources]
    if op == "AND":
        return parts[0] & parts[1]
    return parts[0] if op == "MOVE" else parts[0] | parts[1]
