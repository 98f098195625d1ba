"""Calls of the intrinsics that compute values from values: arithmetic, and what threads of a warp exchange."""

from __future__ import annotations

import ast
import builtins
from typing import Any

from gpucoh.lang import isa, operations
from gpucoh.lang.ir import PURE, Constant
from gpucoh.lang.reports import ReportLowerer
from gpucoh.lang.types import BOOL, F32, F64, I32, I64, U32, U64, Scalar, refusal
from gpucoh.lang.values import AnyValue, Literal, PythonObject, Value, WideValue
from gpucoh.lang.wide import is_wide

Arguments = dict[str, ast.expr]


class FunctionLowerer(ReportLowerer):
    """Lowers these calls: ``_call_NAME``, or a row of the table of operations."""

    lanes: int

    def integer(self, node: ast.expr, what: str) -> Value:
        """The value of an expression that must be i32 or u32."""
        value = self.scalar(self.value(node), node)
        if value.type not in (I32, U32):
            self.fail(node, f"{what} must be i32 or u32, not {value.type.name}: use i32(...)")
        return value

    def _vote(self, op: str, arguments: Arguments, type: Scalar, flags: int = 0) -> AnyValue:
        node = arguments["x"]
        word = self.truth(self.value(node), node)
        return Value(self.add(op, U32, [word.operand], flags=flags).operand, type)

    def _call_any(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        return self._vote("ANY", arguments, BOOL)

    def _call_all(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        return self._vote("ALL", arguments, BOOL)

    def _call_ballot(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        high = self.constant_integer(self.value(arguments["high"]), node, "high")
        if high and self.lanes == 32:
            return Value(Constant(0), U32)
        return self._vote("BALLOT", arguments, U32, isa.FLAG_HIGH if high else 0)

    def _call_shuffle(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        word = self.scalar(self.value(arguments["x"]), node)
        return self._from_lane(word, self.integer(arguments["lane"], "the lane of shuffle"))

    def _call_shuffle_up(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        word, lane, delta = self._relative(arguments, "delta")
        inside = self.operate("GE", U32, lane, delta)
        return self._from_lane(
            word, self.select(inside, self.operate("SUB", U32, lane, delta), lane)
        )

    def _call_shuffle_down(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        word, lane, delta = self._relative(arguments, "delta")
        above = self.operate("SUB", U32, Value(Constant(self.lanes), U32), lane)
        inside = self.operate("LT", U32, delta, above)
        return self._from_lane(
            word, self.select(inside, self.operate("ADD", U32, lane, delta), lane)
        )

    def _call_shuffle_xor(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        word, lane, mask = self._relative(arguments, "mask")
        return self._from_lane(word, self.operate("XOR", U32, lane, mask))

    def _relative(self, arguments: Arguments, name: str) -> tuple[Value, Value, Value]:
        """The value, the thread's lane and the distance or mask of a shuffle, the last two as u32."""
        word = self.scalar(self.value(arguments["x"]), arguments["x"])
        given = self.integer(arguments[name], f"the {name} of a shuffle")
        return word, Value(self.special("LANE").operand, U32), Value(given.operand, U32)

    def _from_lane(self, word: Value, lane: Value) -> Value:
        type = I32 if word.type is BOOL else word.type
        return Value(self.add("SHUFFLE", type, [word.operand, lane.operand]).operand, word.type)

    def _call_syncwarp(self, arguments: Arguments, node: ast.Call) -> None:
        """Emit nothing: see the intrinsic; no pass moves an access across another one that may depend on it."""

    def _call_match_any(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        word = self.scalar(self.value(arguments["x"]), node)
        high = self.constant_integer(self.value(arguments["high"]), node, "high")
        if high and self.lanes == 32:
            return Value(Constant(0), U32)
        return self.add("MATCH", U32, [word.operand], flags=isa.FLAG_HIGH if high else 0)

    def _call_bitcast(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        dtype = self.value(arguments["dtype"])
        given = self.value(arguments["x"])
        wide = isinstance(given, WideValue)
        allowed: tuple[Any, ...] = (I64, U64, F64) if wide else (I32, U32, F32)
        if not isinstance(dtype, PythonObject) or dtype.value not in allowed:
            names = [f"gpucoh.{one.name}" for one in allowed]
            otherwise = f"the dtype of bitcast must be {names[0]}, {names[1]} or {names[2]}"
            self.fail(
                node, refusal("the dtype of bitcast", getattr(dtype, "value", None), otherwise)
            )
        if isinstance(given, WideValue):
            return WideValue(given.low, given.high, dtype.value)
        word = self.scalar(given, node)
        return Value(word.operand, dtype.value)

    def operation(self, name: str, nodes: list[ast.expr], node: ast.Call) -> AnyValue:
        """An intrinsic of the table of operations."""
        row = operations.OPERATIONS[name]
        given = [self.value(item) for item in nodes]
        if is_wide(*given):
            return self.wide_function(name, given, node)
        what = f"the argument of {name}"
        words, type = [], F32
        if row.takes[0] == "f32":
            words = [self.coerce(v, F32, item, what) for v, item in zip(given, nodes, strict=True)]
        elif len(nodes) == 1:
            words = [self.scalar(given[0], nodes[0])]
            type = I32 if words[0].type is BOOL else words[0].type
        else:
            type, words = self.unify(given, node, f"{name}()")
        if row.takes[0] == "int" and any(word.type not in (I32, U32) for word in words):
            self.fail(node, f"{what} must be i32 or u32, not {words[0].type.name}: use i32(...)")
        if row.opcode in isa.EXTENDED:
            return self.narrow(row.opcode, I32, *words)
        if row.opcode in PURE:
            return self.operate(row.opcode, type, *words)
        return self.add(row.opcode, type, [word.operand for word in words], flags=row.flags)

    def extreme(self, name: str, nodes: list[ast.expr], node: ast.Call) -> AnyValue:
        """``min`` and ``max`` of two or more values."""
        values = [self.value(argument) for argument in nodes]
        if all(isinstance(value, Literal) for value in values):
            return Literal(
                getattr(builtins, name)(v.value for v in values if isinstance(v, Literal))
            )
        if is_wide(*values):
            return self.wide_function(name, values, node)
        type, words = self.unify(values, node, f"{name}()")
        kind = I32 if type is BOOL else type
        result = words[0]
        for word in words[1:]:
            result = self.operate(name.upper(), kind, result, word)
        return Value(result.operand, kind)

    def _call_abs(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        given = self.value(arguments["x"])
        if isinstance(given, Literal):
            return Literal(abs(given.value))
        if is_wide(given):
            return self.wide_function("abs", [given], node)
        word = self.scalar(given, node)
        if word.type is U32:
            return word
        return self.operate("ABS", I32 if word.type is BOOL else word.type, word)
