"""Arithmetic and comparisons of kernels, of words and of 64 bits; ``**`` is repeated multiplication."""

from __future__ import annotations

import ast
import operator
from typing import Any

from gpucoh.lang import folding
from gpucoh.lang.conversions import (
    KINDS,
    branch,
    convert,
    scalar,
    to_word,
    truth,
    unify,
    unify_wide,
    wide_common,
    widened,
)
from gpucoh.lang.ir import Constant, Register
from gpucoh.lang.lowering import Lowering
from gpucoh.lang.types import BOOL, F32, F64, I32, U32
from gpucoh.lang.values import AnyValue, Literal, Value, WideValue, describe, is_wide

#: Largest constant exponent that is multiplied out; others are squared in a loop.
MAX_MULTIPLIED = 16
_SYMBOLS = {
    "ADD": "+", "SUB": "-", "MUL": "*", "TRUEDIV": "/", "DIV": "//", "MOD": "%", "AND": "&", "OR": "|", "XOR": "^",
    "SHL": "<<", "SHR": ">>",
}  # fmt: skip
_LITERAL: dict[str, Any] = folding.INTEGER | {
    "TRUEDIV": operator.truediv, "DIV": operator.floordiv, "MOD": operator.mod, "SHL": operator.lshift,
    "SHR": operator.rshift, "POW": operator.pow,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "EQ", ast.NotEq: "NE", ast.Lt: "LT", ast.LtE: "LE", ast.Gt: "GT", ast.GtE: "GE",
}  # fmt: skip


def arithmetic(x: Lowering, op: str, left: AnyValue, right: AnyValue, node: ast.AST) -> AnyValue:
    """A binary operation of the language on lowered operands."""
    if isinstance(left, Literal) and isinstance(right, Literal):
        return _literal_arithmetic(x, op, left.value, right.value, node)
    if is_wide(left, right):
        return _wide_arithmetic(x, op, left, right, node)
    what = f"'{_SYMBOLS[op]}'"
    if op in ("SHL", "SHR"):
        return _shift(x, op, left, right, node)
    type, (a, b) = unify(x, [left, right], node, what)
    if op in ("AND", "OR", "XOR"):
        if type is F32:
            x.fail(node, f"{what} works on integers: convert with i32(...) or u32(...)")
        return x.operate_as(op, type, a, b)
    if type is BOOL:
        type = I32
    if op == "TRUEDIV":
        return x.operate("DIV", F32, convert(x, a, F32), convert(x, b, F32))
    if op == "DIV" and type is F32:
        op = "FLOORDIV"
    result = x.operate(op, type, a, b)
    if op in ("ADD", "MUL") and isinstance(result.operand, Register):
        result.operand.positive = is_positive(a) and is_positive(b)
    return result


def _shift(x: Lowering, op: str, left: AnyValue, right: AnyValue, node: ast.AST) -> Value:
    a = scalar(x, left, node)
    b = scalar(x, right, node)
    if F32 in (a.type, b.type):
        x.fail(node, f"'{_SYMBOLS[op]}' works on integers: convert with i32(...) or u32(...)")
    if isinstance(right, Literal) and right.value < 0:
        x.fail(node, f"shift count {right.value} is negative: shift the other way")
    return x.operate(op, U32 if a.type is U32 else I32, a, b)


def _literal_arithmetic(x: Lowering, op: str, a: float, b: float, node: ast.AST) -> Literal:
    """A binary operation on Python numbers."""
    try:
        if op == "SHL" and b > 1024:
            x.fail(node, f"shift count {b} is too large")
        result = _LITERAL[op](a, b)
    except ZeroDivisionError:
        x.fail(node, "division by zero in a constant expression")
    except (OverflowError, ValueError, TypeError) as error:
        x.fail(node, f"constant expression: {error}")
    if isinstance(result, complex):
        x.fail(node, "constant expression: the result is complex")
    return Literal(result)


def is_positive(value: Value) -> bool:
    """Whether a word is known to be greater than zero (barring overflow of products of positive numbers)."""
    if isinstance(value.operand, Constant):
        return 0 < value.operand.bits < 2**31
    return isinstance(value.operand, Register) and value.operand.positive


def _wide_arithmetic(
    x: Lowering, op: str, left: AnyValue, right: AnyValue, node: ast.AST
) -> WideValue:
    """A binary operation of which an operand has 64 bits."""
    what = f"'{op.lower()}'"
    if op in ("SHL", "SHR"):
        return _wide_shift(x, op, left, right, node)
    type = wide_common(x, [left, right], node, what)
    type = F64 if op == "TRUEDIV" else type
    a, b = (widened(x, value, type, node, what) for value in (left, right))
    if op == "TRUEDIV":
        return x.wide("DIV_F64", F64, a, b)
    if op in ("DIV", "MOD"):
        return x.wide(f"FLOOR{op}_{KINDS[type]}", type, a, b)
    if type is F64 and op in ("AND", "OR", "XOR"):
        x.fail(node, f"{what} works on integers: convert with i64(...) or u64(...)")
    return x.wide(f"{op}_{'F64' if type is F64 else 'B64'}", type, a, b)


def _wide_shift(x: Lowering, op: str, left: AnyValue, right: AnyValue, node: ast.AST) -> WideValue:
    if not isinstance(left, WideValue) or left.type is F64:
        x.fail(
            node,
            f"a shift of {describe(left)} by {describe(right)}: shift an integer by an i32 or u32",
        )
    if isinstance(right, Literal) and right.value < 0:
        x.fail(node, f"shift count {right.value} is negative: shift the other way")
    count = to_word(x, right, U32) if isinstance(right, WideValue) else scalar(x, right, node)
    if count.type is F32:
        x.fail(node, "a shift count is an integer: convert with i32(...)")
    row = "SHL_B64" if op == "SHL" else f"SHR_{KINDS[left.type]}"
    return x.wide(row, left.type, left, count)


def unary(x: Lowering, op: ast.unaryop, given: AnyValue, node: ast.AST) -> AnyValue:
    """``-x``, ``+x``, ``~x`` and ``not x``."""
    if isinstance(op, ast.Not):
        if isinstance(given, Literal):
            return Literal(not given.value)
        return x.operate("EQ", I32, truth(x, given, node), Value(Constant(0), I32))
    if isinstance(given, Literal):
        number = given.value
        if isinstance(op, ast.USub):
            return Literal(-number)
        if isinstance(op, ast.UAdd):
            return Literal(+number)
        if isinstance(number, (float, bool)):
            x.fail(node, "'~' works on integers")
        return Literal(~number)
    word = given if isinstance(given, WideValue) else scalar(x, given, node)
    if isinstance(op, ast.Invert):
        if word.type in (F32, BOOL, F64):
            instead = "i64(...)" if word.type is F64 else "not, or i32(...)"
            x.fail(node, f"'~' works on integers, not {word.type.name}: use {instead}")
        if isinstance(word, WideValue):
            return x.wide("NOT_B64", word.type, word)
        return x.operate("NOT", word.type, word)
    if isinstance(word, WideValue):
        row = "NEG_F64" if word.type is F64 else "NEG_B64"
        return word if isinstance(op, ast.UAdd) else x.wide(row, word.type, word)
    type = I32 if word.type is BOOL else word.type
    return Value(word.operand, type) if isinstance(op, ast.UAdd) else x.operate("NEG", type, word)


def compare(x: Lowering, op: ast.cmpop, left: AnyValue, right: AnyValue, node: ast.AST) -> AnyValue:
    """One comparison."""
    name = _COMPARE.get(type(op))
    what = "a comparison"
    if name is None:
        x.fail(node, "'is' and 'in' cannot be used: use == and !=, joined by or")
    if isinstance(left, Literal) and isinstance(right, Literal):
        return Literal(folding.COMPARISONS[name](left.value, right.value))
    if not is_wide(left, right):
        kind, words = unify(x, [left, right], node, what)
        return x.operate(name, I32 if kind is BOOL else kind, *words)
    wide, sides = unify_wide(x, [left, right], node, what)
    if wide is F64:
        return x.narrow("NEU_F64" if name == "NE" else f"{name}_F64", BOOL, *sides)
    suffix = "B64" if name in ("EQ", "NE") else KINDS[wide]
    return x.narrow(f"{name}_{suffix}", BOOL, *sides)


def power(x: Lowering, base: AnyValue, exponent: AnyValue, node: ast.AST) -> AnyValue:
    """``x ** n`` of an integer n, in the type of x."""
    if isinstance(base, Literal) and isinstance(exponent, Literal):
        if isinstance(exponent.value, int) and abs(exponent.value) > 1024:
            x.fail(node, f"exponent {exponent.value} is too large")
        return _literal_arithmetic(x, "POW", base.value, exponent.value, node)
    given = scalar(x, base, node)
    if given.type is BOOL:
        given = Value(given.operand, I32)
    count = scalar(x, exponent, node)
    if count.type is F32:
        x.fail(node, "'**' takes an integer exponent: use gpucoh.pow(x, y) or gpucoh.sqrt(x)")
    if not isinstance(exponent, Literal):
        return _squared(x, given, count, node)
    number = int(exponent.value)
    if number < 0 and given.type is not F32:
        x.fail(
            node,
            f"{given.type.name} ** {number}: an integer takes no negative exponent: use f32(x) ** {number}",
        )
    if abs(number) > MAX_MULTIPLIED:
        return _squared(x, given, count, node)
    result = _multiplied(x, given, abs(number), node)
    return _inverse(x, result) if number < 0 else result


def _multiplied(x: Lowering, base: Value, count: int, node: ast.AST) -> Value:
    """``((x * x) * x) * x``."""
    if count == 0:
        return scalar(x, Literal(1), node, base.type)
    result = base
    for _ in range(count - 1):
        result = scalar(x, arithmetic(x, "MUL", result, base, node), node)
    return result


def _inverse(x: Lowering, word: Value) -> Value:
    return x.operate("DIV", F32, _constant(x, 1, word), word)


def _constant(x: Lowering, number: int, like: Value) -> Value:
    return scalar(x, Literal(number), ast.Constant(number), like.type)


def _squared(x: Lowering, base: Value, exponent: Value, node: ast.AST) -> Value:
    """A loop over the exponent's bits. Of a negative one: f32 gives 1 / x ** -n, integers give 0."""
    type, zero = base.type, Value(Constant(0), I32)
    start = _constant(x, 1, base)
    negative: Value | None = None
    if exponent.type is I32:
        negative = x.operate("LT", I32, exponent, zero)
        if type is F32:
            exponent = x.operate("ABS", I32, exponent)
        else:
            start = x.select(negative, _constant(x, 0, base), start)
    registers = [x.function.new_register() for _ in range(3)]
    result, square, rest = (
        Value(register, kind) for register, kind in zip(registers, (type, type, U32), strict=True)
    )
    for register, value in zip(registers, (start, base, exponent), strict=True):
        x.move(register, value, retarget=False)
    first, again, exit = x.new_block(), x.new_block(), x.new_block()
    branch(x, rest, first, exit, node)
    x.resume(first)
    odd = x.operate("AND", U32, rest, Value(Constant(1), U32))
    taken = x.select(odd, x.operate("MUL", type, result, square), result)
    x.move(registers[0], taken, retarget=False)
    x.move(registers[2], x.operate("SHR", U32, rest, Value(Constant(1), U32)), False)
    branch(x, rest, again, exit, node)
    x.resume(again)  # no square beyond the highest bit: it could overflow
    x.move(registers[1], x.operate("MUL", type, square, square), retarget=False)
    x.jump(first)
    x.resume(exit)
    if negative is None or type is not F32:
        return result
    return x.select(negative, _inverse(x, result), result)
