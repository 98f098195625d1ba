"""Comparisons, and selections by a condition."""

from __future__ import annotations

from gpucoh.lang import isa
from gpucoh.lang.ir import Constant
from gpucoh.lang.types import I32, U32
from gpucoh.ptx.arithmetic import core_type, flags_of, operand, type_of
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.module import Statement
from gpucoh.ptx.types import FLOATS, PACKED, SIZES, mnemonic

_RELATIONS = {
    "eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE",
    "lo": "LT", "ls": "LE", "hi": "GT", "hs": "GE",
}  # fmt: skip
#: What `set` gives of each type where the relation holds.
_TRUE = {"u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f32": 0x3F800000, "u16": 0xFFFF, "s16": 0xFFFF, "f16": 0x3C00,
         "bf16": 0x3F80}  # fmt: skip
_JOINS = ("and", "or", "xor")


def _compared(x: Lowering, relation: str, type: str, a: str, b: str, flags: int) -> Registers:
    """A word, 1 where the relation holds."""
    if relation in ("eq", "ne") and type == "s16":
        type = "u16"  # one instruction clears upper bits, two extend the sign
    left, right = operand(x, a, type), operand(x, b, type)
    if type in FLOATS:
        return x.row(
            f"{relation.upper()}_{mnemonic(type)}", left, right, flags=flags & isa.FLAG_FTZ
        )
    if type in PACKED or relation not in _RELATIONS:
        raise x.unsupported()
    name = _RELATIONS[relation]
    order = U32 if relation in ("lo", "ls", "hi", "hs") else core_type(type)
    if SIZES[type] == 8:
        sign = "B" if name in ("EQ", "NE") else "U" if order is U32 else "S"
        return x.row(f"{name}_{sign}64", left, right)
    return x.core(name, order, left, right)


def _joined(x: Lowering, s: Statement, found: Words, third: int) -> Words:
    """``found`` joined with the predicate operand, if the instruction has one."""
    join = s.one_of(_JOINS)
    if join is None:
        return found
    return x.core(join.upper(), U32, found, (x.predicate(s.operands[third]),))


@lowers("setp")
def set_predicate(x: Lowering, s: Statement) -> None:
    """``p|q = (a relation b) join c``."""
    type = type_of(x, s)
    found: Words = _compared(
        x, s.modifiers[0], type, s.operands[1], s.operands[2], flags_of(s, type)
    )
    names = [name.strip() for name in s.operands[0].split("|")]
    results = [_joined(x, s, found, 3)]
    if len(names) > 1:
        results.append(_joined(x, s, x.core("XOR", U32, found, (Constant(1),)), 3))
    for name, result in zip(names, results, strict=True):
        if name != "_":
            x.move(x.to(name), result)


@lowers("set")
def set_value(x: Lowering, s: Statement) -> None:
    """1.0 or all ones where the relation holds, else 0."""
    types = [modifier for modifier in s.modifiers if modifier in SIZES]
    if types[0] not in _TRUE or types[1] in PACKED:
        raise x.unsupported()
    found = _compared(
        x, s.modifiers[0], types[1], s.operands[1], s.operands[2], flags_of(s, types[1])
    )
    one = Constant(_TRUE[types[0]])
    x.core("SELECT", U32, _joined(x, s, found, 3), (one,), (Constant(0),), to=x.to(s.operands[0]))


@lowers("selp")
def select(x: Lowering, s: Statement) -> None:
    """``d = c ? a : b``."""
    type = type_of(x, s)
    _selected(x, s, (x.predicate(s.operands[3]),), type)


def _selected(x: Lowering, s: Statement, condition: Words, type: str) -> None:
    """The first operand is the second where the condition holds, else the third; of any width."""
    a, b = (x.value(text, type) for text in s.operands[1:3])
    to = x.to(s.operands[0])
    if len(a) == 2:
        x.row("SELECT_B64", condition, a, b, to=to)
    else:
        x.core("SELECT", U32, condition, a, b, to=to)


@lowers("slct")
def select_by_sign(x: Lowering, s: Statement) -> None:
    """``d = c >= 0 ? a : b``."""
    by = type_of(x, s)
    type = next(modifier for modifier in s.modifiers if modifier in SIZES)
    sign = x.value(s.operands[3], by)
    if by == "f32":
        condition = x.row("GE_F32", sign, (Constant(0),), flags=flags_of(s, by) & isa.FLAG_FTZ)
    else:
        condition = x.core("GE", I32, sign, (Constant(0),))
    _selected(x, s, condition, type)
