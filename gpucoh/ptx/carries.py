"""Extended-precision arithmetic: sums, differences and products with a carry (PTX ISA, section 9.7.2).

The condition code's carry is a register, which `.cc` writes, and `addc`, `subc` and `madc` read.
"""

from __future__ import annotations

from gpucoh.lang.ir import Constant
from gpucoh.lang.types import U32
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.module import Statement
from gpucoh.ptx.types import SIZES, is_signed

_ZERO = Constant(0)


def extended(x: Lowering, s: Statement, type: str) -> None:
    """An operation that reads or writes the carry."""
    base = s.op.removesuffix("c") if s.op in ("addc", "subc", "madc") else s.op
    values = [x.value(text, type) for text in s.operands[1:]]
    if base == "mad":
        values = [_product(x, s, type, values[:2]), values[2]]
    terms = values + ([(x.carry, _ZERO)[: len(values[0])]] if base != s.op else [])
    to = x.to(s.operands[0])
    found, carry = (_difference if base == "sub" else _sum)(x, terms)
    x.move(to, x.copied(found))
    if s.has("cc"):
        x.move((x.carry,), carry)


def _product(x: Lowering, s: Statement, type: str, values: list[Words]) -> Registers:
    bits = 8 * SIZES[type]
    if s.has("hi"):
        return x.row(f"MULHI_{'S' if is_signed(type) else 'U'}{bits}", *values)
    return x.row("MUL_B64", *values) if bits == 64 else x.core("MUL", U32, *values)


def _sum(x: Lowering, terms: list[Words]) -> tuple[Words, Words]:
    """The sum of words, or of 64-bit values, and its carry."""
    if len(terms[0]) == 1:
        total: Words = (*terms[0], _ZERO)
        for term in terms[1:]:
            total = x.row("ADD_B64", total, term[:1])
        return total[:1], total[1:]
    total = terms[0]
    carry: Words = (_ZERO,)
    for term in terms[1:]:
        after = x.row("ADD_B64", total, term)
        carry = x.core("OR", U32, carry, x.row("LT_U64", after, total))
        total = after
    return total, carry


def _difference(x: Lowering, terms: list[Words]) -> tuple[Words, Words]:
    """The first term without the others, and the borrow."""
    if len(terms[0]) == 1:
        rest: Words = (*terms[0], _ZERO)
        for term in terms[1:]:
            rest = x.row("SUB_B64", rest, term[:1])
        return rest[:1], x.core("AND", U32, rest[1:], (Constant(1),))
    rest = terms[0]
    borrow: Words = (_ZERO,)
    for term in terms[1:]:
        borrow = x.core("OR", U32, borrow, x.row("LT_U64", rest, term))
        rest = x.row("SUB_B64", rest, term)
    return rest, borrow


@lowers("addc", "subc", "madc")
def with_carry(x: Lowering, s: Statement) -> None:
    """``d = a + b + carry`` and its likes."""
    type = next((modifier for modifier in reversed(s.modifiers) if modifier in SIZES), "")
    if SIZES.get(type, 0) < 4:
        raise x.unsupported()
    extended(x, s, type)
