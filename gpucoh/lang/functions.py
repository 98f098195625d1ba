"""Calls of the intrinsics that compute values from values: arithmetic, and what threads of a warp exchange."""

from __future__ import annotations

import builtins
from typing import Any

from gpucoh.lang import isa, operations
from gpucoh.lang.conversions import (
    KINDS,
    coerce,
    constant_integer,
    integer,
    scalar,
    truth,
    unify,
    unify_wide,
)
from gpucoh.lang.ir import PURE, Constant
from gpucoh.lang.lowering import Call, Lowering, intrinsic
from gpucoh.lang.types import BOOL, F32, F64, I32, I64, U32, U64, Scalar, refusal
from gpucoh.lang.values import AnyValue, Literal, PythonObject, Value, WideValue, is_wide


def _vote(x: Lowering, op: str, c: Call, type: Scalar, flags: int = 0) -> AnyValue:
    node = c["x"]
    word = truth(x, x.value(node), node)
    return Value(x.add(op, U32, [word.operand], flags=flags).operand, type)


@intrinsic("any", "all")
def _any_or_all(x: Lowering, c: Call) -> AnyValue:
    return _vote(x, c.name.upper(), c, BOOL)


@intrinsic("ballot")
def _ballot(x: Lowering, c: Call) -> AnyValue:
    high = constant_integer(x, x.value(c["high"]), c.node, "high")
    if high and x.lanes == 32:
        return Value(Constant(0), U32)
    return _vote(x, "BALLOT", c, U32, isa.FLAG_HIGH if high else 0)


@intrinsic("shuffle")
def _shuffle(x: Lowering, c: Call) -> AnyValue:
    word = scalar(x, x.value(c["x"]), c.node)
    return _from_lane(x, word, integer(x, c["lane"], "the lane of shuffle"))


@intrinsic("shuffle_up", "shuffle_down")
def _shuffle_by(x: Lowering, c: Call) -> AnyValue:
    word, lane, delta = _relative(x, c, "delta")
    if c.name == "shuffle_up":
        inside, source = x.operate("GE", U32, lane, delta), "SUB"
    else:
        above = x.operate("SUB", U32, Value(Constant(x.lanes), U32), lane)
        inside, source = x.operate("LT", U32, delta, above), "ADD"
    return _from_lane(x, word, x.select(inside, x.operate(source, U32, lane, delta), lane))


@intrinsic("shuffle_xor")
def _shuffle_xor(x: Lowering, c: Call) -> AnyValue:
    word, lane, mask = _relative(x, c, "mask")
    return _from_lane(x, word, x.operate("XOR", U32, lane, mask))


def _relative(x: Lowering, c: Call, name: str) -> tuple[Value, Value, Value]:
    """The value, the thread's lane and the distance or mask of a shuffle, the last two as u32."""
    word = scalar(x, x.value(c["x"]), c["x"])
    given = integer(x, c[name], f"the {name} of a shuffle")
    return word, Value(x.special("LANE").operand, U32), Value(given.operand, U32)


def _from_lane(x: Lowering, word: Value, lane: Value) -> Value:
    type = I32 if word.type is BOOL else word.type
    return Value(x.add("SHUFFLE", type, [word.operand, lane.operand]).operand, word.type)


@intrinsic("syncwarp")
def _syncwarp(x: Lowering, c: Call) -> None:
    """Emit nothing: see the intrinsic; no pass moves an access across another one that may depend on it."""


@intrinsic("match_any")
def _match_any(x: Lowering, c: Call) -> AnyValue:
    word = scalar(x, x.value(c["x"]), c.node)
    high = constant_integer(x, x.value(c["high"]), c.node, "high")
    if high and x.lanes == 32:
        return Value(Constant(0), U32)
    return x.add("MATCH", U32, [word.operand], flags=isa.FLAG_HIGH if high else 0)


@intrinsic("bitcast", plain=True)
def _bitcast(x: Lowering, c: Call) -> AnyValue:
    dtype = x.value(c["dtype"])
    given = x.value(c["x"])
    allowed: tuple[Any, ...] = (I64, U64, F64) if is_wide(given) else (I32, U32, F32)
    if not isinstance(dtype, PythonObject) or dtype.value not in allowed:
        names = [f"gpucoh.{one.name}" for one in allowed]
        otherwise = f"the dtype of bitcast must be {names[0]}, {names[1]} or {names[2]}"
        x.fail(c.node, refusal("the dtype of bitcast", getattr(dtype, "value", None), otherwise))
    if isinstance(given, WideValue):
        return WideValue(given.low, given.high, dtype.value)
    word = scalar(x, given, c.node)
    return Value(word.operand, dtype.value)


def operation(x: Lowering, c: Call) -> AnyValue:
    """An intrinsic of the table of operations."""
    row = operations.OPERATIONS[c.name]
    nodes = list(c.arguments.values())
    given = [x.value(item) for item in nodes]
    what = f"the argument of {c.name}"
    if is_wide(*given):
        wide, operands = unify_wide(x, given, c.node, f"{c.name}()", what)
        if wide.name not in row.wide:
            x.fail(c.node, f"{c.name} does not take {wide.name}: convert with i32(...) or f32(...)")
        opcode, flags = row.wide[wide.name]
        if isa.EXTENDED[opcode].d == 1:
            return x.narrow(opcode, I32, *operands, flags=flags)
        return x.wide(opcode, wide, *operands, flags=flags)
    words, type = [], F32
    if row.takes[0] == "f32":
        words = [coerce(x, v, F32, item, what) for v, item in zip(given, nodes, strict=True)]
    elif len(nodes) == 1:
        words = [scalar(x, given[0], nodes[0])]
        type = I32 if words[0].type is BOOL else words[0].type
    else:
        type, words = unify(x, given, c.node, f"{c.name}()")
    if row.takes[0] == "int" and any(word.type not in (I32, U32) for word in words):
        x.fail(c.node, f"{what} must be i32 or u32, not {words[0].type.name}: use i32(...)")
    if row.opcode in isa.EXTENDED:
        return x.narrow(row.opcode, type if row.gives == "same" else I32, *words)
    if row.opcode in PURE:
        return x.operate(row.opcode, type, *words)
    return x.add(row.opcode, type, [word.operand for word in words], flags=row.flags)


@intrinsic("min", "max", plain=True)
def _extreme(x: Lowering, c: Call) -> AnyValue:
    values = [x.value(argument) for argument in (c["x"], c["y"], *c.more)]
    literals = [value.value for value in values if isinstance(value, Literal)]
    if len(literals) == len(values):
        return Literal(getattr(builtins, c.name)(literals))
    op = c.name.upper()
    if is_wide(*values):
        wide, (found, *others) = unify_wide(
            x, values, c.node, f"{c.name}()", f"the argument of {c.name}"
        )
        for operand in others:
            found = x.wide(f"{op}_{KINDS[wide]}", wide, found, operand)
        return found
    type, (result, *words) = unify(x, values, c.node, f"{c.name}()")
    kind = I32 if type is BOOL else type
    for word in words:
        result = x.operate(op, kind, result, word)
    return Value(result.operand, kind)


@intrinsic("abs", plain=True)
def _abs(x: Lowering, c: Call) -> AnyValue:
    given = x.value(c["x"])
    if isinstance(given, Literal):
        return Literal(abs(given.value))
    word = given if isinstance(given, WideValue) else scalar(x, given, c.node)
    if word.type in (U32, U64):
        return word
    if isinstance(word, WideValue):
        return x.wide(f"ABS_{KINDS[word.type]}", word.type, word)
    return x.operate("ABS", I32 if word.type is BOOL else word.type, word)
