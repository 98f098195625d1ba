"""Operations on bits: logic, shifts, fields, permutations of bytes, counts."""

from __future__ import annotations

from gpucoh.lang.ir import Constant
from gpucoh.lang.types import U32
from gpucoh.ptx.arithmetic import core_type, narrowed, operand, type_of
from gpucoh.ptx.lowering import Lowering, Words, lowers
from gpucoh.ptx.module import Statement
from gpucoh.ptx.types import SIZES, mnemonic

_PERMUTATIONS = ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")


@lowers("and", "or", "xor", "not", "cnot")
def logic(x: Lowering, s: Statement) -> None:
    """Bitwise operations; of predicates too."""
    type = type_of(x, s)
    to = x.to(s.operands[0])
    if type == "pred":
        values: list[Words] = [(x.predicate(text),) for text in s.operands[1:]]
        if s.op == "not":
            x.core("XOR", U32, values[0], (Constant(1),), to=to)
            return
    else:
        values = [x.value(text, type) for text in s.operands[1:]]
    if s.op == "cnot":
        value = narrowed(x, values[0], type)
        if SIZES[type] == 8:
            x.move(to, (x.row("EQ_B64", value, (Constant(0), Constant(0)))[0], Constant(0)))
        else:
            x.core("EQ", U32, value, (Constant(0),), to=to)
    elif SIZES[type] == 8:
        x.row(f"{s.op.upper()}_B64", *values, to=to)
    else:
        x.core(s.op.upper(), U32, *values, to=to)


@lowers("lop3")
def logic_of_three(x: Lowering, s: Statement) -> None:
    """Any function of three bits, by its table."""
    if s.has("and") or s.has("or"):
        raise x.unsupported("lop3 with a predicate")
    to = x.to(s.operands[0])
    values = [x.value(text, "b32") for text in s.operands[1:4]]
    opposites: list[Words] = [x.core("NOT", U32, value) for value in values]
    table = x.integer(s.operands[4])
    found: Words = (Constant(0),)
    for row in range(8):
        if table >> row & 1:
            chosen = [values[k] if row >> (2 - k) & 1 else opposites[k] for k in range(3)]
            both = x.core("AND", U32, chosen[0], chosen[1])
            found = x.core("OR", U32, found, x.core("AND", U32, both, chosen[2]))
    x.move(to, found)


@lowers("shl", "shr")
def shift(x: Lowering, s: Statement) -> None:
    """Shifts; amounts beyond the width count as the width."""
    type = type_of(x, s)
    to = x.to(s.operands[0])
    value, amount = operand(x, s.operands[1], type), x.value(s.operands[2], "b32")
    if SIZES[type] == 8:
        x.row("SHL_B64" if s.op == "shl" else f"SHR_{mnemonic(type)}", value, amount, to=to)
    else:
        x.core(s.op.upper(), core_type(type), value, amount, to=to)


@lowers("shf")
def funnel_shift(x: Lowering, s: Statement) -> None:
    """Shifts of two words."""
    side = "LEFT" if s.has("l") else "RIGHT"
    mode = "WRAP" if s.has("wrap") else "CLAMP"
    values = [x.value(text, "b32") for text in s.operands[1:4]]
    x.row(f"SHF_{side}_{mode}", *values, to=x.to(s.operands[0]))


@lowers("prmt")
def permute(x: Lowering, s: Statement) -> None:
    """Bytes of two words by selectors."""
    mode = s.one_of(_PERMUTATIONS)
    values = [x.value(text, "b32") for text in s.operands[1:4]]
    x.row(f"PRMT_{mode.upper() if mode else 'B32'}", *values, to=x.to(s.operands[0]))


@lowers("popc", "clz", "brev")
def count(x: Lowering, s: Statement) -> None:
    """Bits set, leading zeros, bits reversed."""
    type = type_of(x, s)
    value = x.value(s.operands[1], type)
    x.row(f"{s.op.upper()}_B{8 * SIZES[type]}", value, to=x.to(s.operands[0]))


@lowers("bfind")
def find_bit(x: Lowering, s: Statement) -> None:
    """The highest bit that is not the sign; or how far to shift it to the top."""
    type = type_of(x, s)
    to = x.to(s.operands[0])
    shift = s.has("shiftamt")
    row = f"BFIND_{mnemonic(type)}"
    place = x.row(row, x.value(s.operands[1], type), to=None if shift else to)
    if shift:  # 0xFFFFFFFF where there is none
        none = x.core("EQ", U32, place, (Constant(0xFFFFFFFF),))
        amount = x.core("SUB", U32, (Constant(8 * SIZES[type] - 1),), place)
        x.core("SELECT", U32, none, place, amount, to=to)


@lowers("bfe")
def extract_field(x: Lowering, s: Statement) -> None:
    """A field of bits, by position and length."""
    type = type_of(x, s)
    types = (type, "b32", "b32")
    values = [x.value(text, kind) for text, kind in zip(s.operands[1:4], types, strict=True)]
    x.row(f"BFE_{mnemonic(type)}", *values, to=x.to(s.operands[0]))


@lowers("bfi")
def insert_field(x: Lowering, s: Statement) -> None:
    """A field of bits into another word; position and length are one operand of the row."""
    type = type_of(x, s)
    position, length = (x.value(text, "b32") for text in s.operands[3:5])
    if isinstance(position[0], Constant) and isinstance(length[0], Constant):
        where: Words = (Constant(position[0].bits & 0xFF | (length[0].bits & 0xFF) << 8),)
    else:
        low = x.core("AND", U32, position, (Constant(0xFF),))
        high = x.core("SHL", U32, x.core("AND", U32, length, (Constant(0xFF),)), (Constant(8),))
        where = x.core("OR", U32, low, high)
    values = [x.value(text, type) for text in s.operands[1:3]]
    x.row(f"BFI_B{8 * SIZES[type]}", *values, where, to=x.to(s.operands[0]))


def _bits_of(x: Lowering, s: Statement, text: str) -> Words:
    """A position or a length; of the mode ``.wrap`` modulo 32."""
    value = x.value(text, "b32")
    return x.core("AND", U32, value, (Constant(31),)) if s.has("wrap") else value


@lowers("bmsk")
def bit_mask(x: Lowering, s: Statement) -> None:
    """A run of ones, by position and length."""
    position, length = (_bits_of(x, s, text) for text in s.operands[1:3])
    ones = x.core("SUB", U32, x.core("SHL", U32, (Constant(1),), length), (Constant(1),))
    x.core("SHL", U32, ones, position, to=x.to(s.operands[0]))


@lowers("szext")
def extend(x: Lowering, s: Statement) -> None:
    """The lower bits of a word, extended by their sign or zeros."""
    value, length = x.value(s.operands[1], "b32"), _bits_of(x, s, s.operands[2])
    beyond = x.core("MIN", U32, length, (Constant(32),))
    row = f"BFE_{mnemonic(type_of(x, s))}"
    x.row(row, value, (Constant(0),), beyond, to=x.to(s.operands[0]))


@lowers("fns", "lop", "vadd", "vmin", "vmax", "vsub", "vabsdiff")
def refused(x: Lowering, s: Statement) -> None:
    """Operations that no program of the corpus uses."""
    raise x.unsupported()
