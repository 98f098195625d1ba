"""Types of a kernel's values: what operands have in common, implicit and explicit conversions, truth.

Numbers of 64 bits, i64, u64 and f64, are pairs of words, for the operations of extended.def.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NoReturn

from gpucoh.base.quoting import quoted
from gpucoh.lang import folding, isa
from gpucoh.lang.ir import Block, Constant
from gpucoh.lang.lowering import Lowering
from gpucoh.lang.types import BOOL, F32, F64, I32, I64, U32, U64, Scalar, Wide
from gpucoh.lang.values import AnyValue, Literal, TupleValue, Value, WideValue, describe

TOWARDS_ZERO = isa.ROUNDINGS["RZ"]
#: Type -> its name in rows of extended.def.
KINDS: dict[Scalar | Wide, str] = {
    BOOL: "S32", I32: "S32", U32: "U32", F32: "F32", I64: "S64", U64: "U64", F64: "F64",
}  # fmt: skip


def scalar(x: Lowering, value: AnyValue, node: ast.AST, type: Scalar | None = None) -> Value:
    """``value`` as a typed word; literals take ``type``, or else their default type."""
    if isinstance(value, Value):
        return value
    if isinstance(value, Literal):
        wanted = type or value.natural
        if wanted is BOOL and not isinstance(value.value, bool):
            wanted = value.natural
        number = value.value
        bits = folding.literal_bits(number, wanted)
        if bits is None:
            _refuse_literal(x, value, wanted, node)
        return Value(Constant(bits), wanted)
    if isinstance(value, TupleValue):
        x.fail(node, "a tuple is not a number here: use one of its elements")
    if isinstance(value, WideValue):
        wanted = type or I32
        x.fail(
            node,
            f"a number of 32 bits is needed here, not {value.type.name}: use {wanted.name}(...)",
        )
    return x.fail(node, f"a number is needed here, not {describe(value)}")


def _refuse_literal(x: Lowering, value: Literal, wanted: Scalar, node: ast.AST) -> NoReturn:
    number = value.value
    if isinstance(number, float) and wanted is not F32:
        x.fail(
            node,
            f"{quoted(number)} is not an integer: {wanted.name} is needed, use {wanted.name}(...)",
        )
    if wanted is I32 and 0 <= number < 2**32:
        x.fail(node, f"{number} does not fit i32: write u32({number})")
    if wanted is F32:
        x.fail(node, f"{number} does not fit f32")
    low, high = wanted.limits
    more = "" if -(2**31) <= number < 2**32 else "; a number of 64 bits is i64(...)"
    x.fail(node, f"{number} does not fit {wanted.name} (allowed: {low} to {high}{more})")


def coerce(x: Lowering, value: AnyValue, type: Scalar, node: ast.AST, what: str) -> Value:
    """``value`` as ``type`` by the implicit rules: literals adapt, bool becomes a number, integers become f32."""
    given = scalar(x, value, node, type)
    if given.type is type:
        return given
    if type is not BOOL and given.type is BOOL:
        return convert(x, given, type)
    if type is F32:
        return convert(x, given, F32)
    hint = f"{type.name}(...)" if type is not BOOL else "a comparison, as x != 0"
    return x.fail(node, f"{what} is {type.name} but the value is {given.type.name}: write {hint}")


def convert(x: Lowering, value: Value, type: Scalar) -> Value:
    """``i32() u32() f32()`` of a typed word."""
    source = I32 if value.type is BOOL else value.type
    if source is type:
        return Value(value.operand, type)
    if F32 not in (source, type):  # i32 and u32 have the same bits
        return Value(value.operand, type)
    if isinstance(value.operand, Constant):
        bits = folding.fold("CONVERT", source, [value.operand.bits], type)
        assert bits is not None
        return Value(Constant(bits), type)
    converted = x.add("CONVERT", source, [value.operand], flags=type.code)
    return Value(converted.operand, type)


def truth(x: Lowering, value: AnyValue, node: ast.AST) -> Value:
    """``value`` as a word that is zero exactly if Python's truth value is False."""
    if isinstance(value, WideValue):
        row = "NEU_F64" if value.type is F64 else "NE_B64"
        return x.narrow(row, BOOL, value, wide_constant(0, value.type))
    given = scalar(x, value, node)
    if given.type is F32:
        return x.operate("NE", F32, given, Value(Constant(0), F32))
    return given


def branch(
    x: Lowering, condition: AnyValue, if_true: Block, if_false: Block, node: ast.AST
) -> None:
    """End the current block with a branch on the truth of ``condition``."""
    if isinstance(condition, Literal):
        x.jump(if_true if condition.value else if_false)
        return
    operand = truth(x, condition, node).operand
    if isinstance(operand, Constant):
        x.jump(if_true if operand.bits else if_false)
        return
    x.split(operand, if_true, if_false)
    x.resume(x.new_block())


def unify(
    x: Lowering, values: list[AnyValue], node: ast.AST, what: str
) -> tuple[Scalar, list[Value]]:
    """The operands in their common type: literals adapt, f32 wins over integers, i32 with u32 is an error."""
    types = [value.type for value in values if isinstance(value, Value)]
    types += [F32 for v in values if isinstance(v, Literal) and isinstance(v.value, float)]
    if not types:
        types = [v.natural for v in values if isinstance(v, Literal)]
    kinds = set(types)
    if F32 in kinds:
        common = F32
    elif I32 in kinds and U32 in kinds:
        x.fail(node, f"{what} mixes i32 and u32: convert one side with i32(...) or u32(...)")
    elif U32 in kinds or I32 in kinds:
        common = U32 if U32 in kinds else I32
    else:
        common = (
            BOOL
            if all(not isinstance(v, Literal) or isinstance(v.value, bool) for v in values)
            else I32
        )
    return common, [coerce(x, value, common, node, what) for value in values]


def constant_integer(x: Lowering, value: AnyValue, node: ast.AST, what: str) -> int:
    """A compile-time integer."""
    if isinstance(value, Literal) and not isinstance(value.value, float):
        return int(value.value)
    if isinstance(value, Value) and isinstance(value.operand, Constant) and value.type is not F32:
        bits = value.operand.bits
        return bits if value.type is U32 else folding.signed(bits)
    return x.fail(
        node,
        f"{what} must be a constant: use a number, or a global or closure variable that holds one",
    )


def integer(x: Lowering, node: ast.expr, what: str) -> Value:
    """The value of an expression that must be i32 or u32."""
    value = scalar(x, x.value(node), node)
    if value.type not in (I32, U32):
        x.fail(node, f"{what} must be i32 or u32, not {value.type.name}: use i32(...)")
    return value


def wide_constant(bits: int, type: Wide) -> WideValue:
    """A constant of 64 bits."""
    return WideValue(Constant(bits & 0xFFFFFFFF), Constant(bits >> 32), type)


def as_number(x: Lowering, value: AnyValue, node: ast.AST) -> Value | WideValue | Literal:
    """``value``, which must be a number."""
    if isinstance(value, (Value, WideValue, Literal)):
        return value
    return x.fail(node, f"a number is needed here, not {describe(value)}")


def wide_common(x: Lowering, values: Sequence[AnyValue], node: ast.AST, what: str) -> Wide:
    """The common type of operands of which one has 64 bits: f64 wins, i64 takes u32, not u64."""
    numbers = [as_number(x, value, node) for value in values]
    kinds = {number.type for number in numbers if not isinstance(number, Literal)}
    if F64 in kinds or F32 in kinds:
        return F64
    if any(isinstance(n, Literal) and isinstance(n.value, float) for n in numbers):
        return F64
    if U64 in kinds and kinds & {I64, I32}:
        x.fail(
            node,
            f"{what} mixes u64 with a signed type: convert one side with i64(...) or u64(...)",
        )
    return U64 if U64 in kinds else I64


def widened(x: Lowering, value: AnyValue, type: Wide, node: ast.AST, what: str) -> WideValue:
    """``value`` as a wide type by the implicit rules: of a smaller range, or a literal that fits."""
    number = as_number(x, value, node)
    if isinstance(number, Literal):
        bits = folding.literal_bits(number.value, type)
        if bits is None:
            x.fail(node, f"{number.value} does not fit {type.name}, the type of {what}")
        return wide_constant(bits, type)
    allowed = {F64: (I64, U64, F32, I32, U32, BOOL), I64: (I32, U32, BOOL), U64: (U32, BOOL)}
    if number.type is not type and number.type not in allowed[type]:
        x.fail(
            node,
            f"{what} is {type.name} but the value is {number.type.name}: write {type.name}(...)",
        )
    return to_wide(x, number, type)


def unify_wide(
    x: Lowering, values: Sequence[AnyValue], node: ast.AST, what: str, each: str = ""
) -> tuple[Wide, list[WideValue]]:
    """The operands, of which one has 64 bits, in their common type; ``each``: what one of them is."""
    type = wide_common(x, values, node, what)
    return type, [widened(x, value, type, node, each or what) for value in values]


def as_type(
    x: Lowering, value: AnyValue, type: Scalar | Wide, node: ast.AST, what: str
) -> Value | WideValue:
    """``value`` as ``type`` by the implicit rules."""
    if isinstance(type, Wide):
        return widened(x, value, type, node, what)
    return coerce(x, value, type, node, what)


def to_wide(x: Lowering, value: Value | WideValue, type: Wide) -> WideValue:
    """``i64() u64() f64()`` of a number; NaN gives the integer 0."""
    if isinstance(value, WideValue) and (value.type is type or F64 not in (value.type, type)):
        return WideValue(value.low, value.high, type)
    if type is F64:
        return x.wide(f"F64_{KINDS[value.type]}", F64, value)
    if value.type is I32:
        return x.wide("SEXT_S32", type, value)
    if value.type not in (F32, F64):
        return WideValue(value.words[0], Constant(0), type)
    source = KINDS[value.type]
    found = x.wide(f"{KINDS[type]}_{source}", type, value, flags=TOWARDS_ZERO)
    absent = x.narrow(f"NAN_{source}", BOOL, value, value)
    return wide_select(x, absent, wide_constant(0, type), found)


def to_word(x: Lowering, value: WideValue, type: Scalar) -> Value:
    """``i32() u32() f32()`` of a number of 64 bits: integers keep their low bits, f64 saturates, NaN gives 0."""
    if type is F32:
        return x.narrow(f"F32_{KINDS[value.type]}", F32, value)
    if value.type is not F64:
        return Value(value.low, type)
    found = x.narrow(f"{KINDS[type]}_F64", type, value, flags=TOWARDS_ZERO)
    absent = x.narrow("NAN_F64", BOOL, value, value)
    return x.select(absent, Value(Constant(0), type), found)


def wide_select(
    x: Lowering, condition: Value, if_true: WideValue, if_false: WideValue
) -> WideValue:
    """One of two values."""
    return x.wide("SELECT_B64", if_true.type, condition, if_true, if_false)
