"""Extended-precision arithmetic: sums, differences and products with a carry (PTX ISA, section 9.7.2).

The condition code's carry is a register, which `.cc` writes, and `addc`, `subc` and `madc` read. A difference is a sum
with the complement, a + ~b + 1, as on a GPU: its carry is 1 where nothing is borrowed. Compilers read it by `addc` too.
"""

from __future__ import annotations

from gpucoh.lang.ir import Constant
from gpucoh.lang.types import U32
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.module import Statement
from gpucoh.ptx.types import SIZES, is_signed

_ZERO, _ONE = Constant(0), Constant(1)


def extended(x: Lowering, s: Statement, type: str) -> None:
    """An operation that reads or writes the carry."""
    base = s.op.removesuffix("c") if s.op in ("addc", "subc", "madc") else s.op
    values = [x.value(text, type) for text in s.operands[1:]]
    if base == "mad":
        values = [_product(x, s, type, values[:2]), values[2]]
    if base != s.op:
        read: Words = x.core("XOR", U32, (x.carry,), (_ONE,)) if base == "sub" else (x.carry,)
        values.append((*read, _ZERO)[: len(values[0])])
    to = x.to(s.operands[0])
    found, carry = (_difference if base == "sub" else _sum)(x, values)
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
    """The first term without the others, and 1 unless they borrow."""
    rest = terms[0]
    if len(rest) == 1:
        rest = (*rest, _ZERO)
        for term in terms[1:]:
            rest = x.row("SUB_B64", rest, term[:1])
        return rest[:1], x.core("ADD", U32, rest[1:], (_ONE,))
    carry: Words = ()
    for term in terms[1:]:
        kept = x.row("GE_U64", rest, term)
        carry = x.core("AND", U32, carry, kept) if carry else kept
        rest = x.row("SUB_B64", rest, term)
    return rest, carry


@lowers("addc", "subc", "madc")
def with_carry(x: Lowering, s: Statement) -> None:
    """``d = a + b + carry`` and its likes."""
    type = next((modifier for modifier in reversed(s.modifiers) if modifier in SIZES), "")
    if SIZES.get(type, 0) < 4:
        raise x.unsupported()
    extended(x, s, type)
