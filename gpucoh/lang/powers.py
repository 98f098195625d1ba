"""Emission of ``**``: repeated multiplication."""

from __future__ import annotations

import ast

from gpucoh.lang.emitter import Emitter
from gpucoh.lang.ir import Constant
from gpucoh.lang.types import BOOL, F32, I32, U32
from gpucoh.lang.values import AnyValue, Literal, Value

#: Largest constant exponent that is multiplied out; others are squared in a loop.
MAX_MULTIPLIED = 16


class PowerEmitter(Emitter):
    """Emits ``**``."""

    def power(self, base: AnyValue, exponent: AnyValue, node: ast.AST) -> AnyValue:
        """``x ** n`` of an integer n, in the type of x."""
        if isinstance(base, Literal) and isinstance(exponent, Literal):
            if isinstance(exponent.value, int) and abs(exponent.value) > 1024:
                self.fail(node, f"exponent {exponent.value} is too large")
            return self.literal_arithmetic("POW", base.value, exponent.value, node)
        given = self.scalar(base, node)
        if given.type is BOOL:
            given = Value(given.operand, I32)
        count = self.scalar(exponent, node)
        if count.type is F32:
            self.fail(
                node, "'**' takes an integer exponent: use gpucoh.pow(x, y) or gpucoh.sqrt(x)"
            )
        if not isinstance(exponent, Literal):
            return self._squared(given, count, node)
        number = int(exponent.value)
        if number < 0 and given.type is not F32:
            self.fail(
                node,
                f"{given.type.name} ** {number}: an integer takes no negative exponent: use f32(x) ** {number}",
            )
        if abs(number) > MAX_MULTIPLIED:
            return self._squared(given, count, node)
        result = self._multiplied(given, abs(number), node)
        return self._inverse(result) if number < 0 else result

    def _multiplied(self, base: Value, count: int, node: ast.AST) -> Value:
        """``((x * x) * x) * x``."""
        if count == 0:
            return self.scalar(Literal(1), node, base.type)
        result = base
        for _ in range(count - 1):
            result = self.scalar(self.arithmetic("MUL", result, base, node), node)
        return result

    def _inverse(self, word: Value) -> Value:
        return self.operate("DIV", F32, self._constant(1, word), word)

    def _constant(self, number: int, like: Value) -> Value:
        return self.scalar(Literal(number), ast.Constant(number), like.type)

    def _squared(self, base: Value, exponent: Value, node: ast.AST) -> Value:
        """A loop over the exponent's bits. Of a negative one: f32 gives 1 / x ** -n, integers give 0."""
        type, zero = base.type, Value(Constant(0), I32)
        start = self._constant(1, base)
        negative: Value | None = None
        if exponent.type is I32:
            negative = self.operate("LT", I32, exponent, zero)
            if type is F32:
                exponent = self.operate("ABS", I32, exponent)
            else:
                start = self.select(negative, self._constant(0, base), start)
        registers = [self.function.new_register() for _ in range(3)]
        result, square, rest = (
            Value(register, kind)
            for register, kind in zip(registers, (type, type, U32), strict=True)
        )
        for register, value in zip(registers, (start, base, exponent), strict=True):
            self.move(register, value, retarget=False)
        first, again, exit = self.new_block(), self.new_block(), self.new_block()
        self.branch(rest, first, exit, node)
        self.resume(first)
        odd = self.operate("AND", U32, rest, Value(Constant(1), U32))
        taken = self.select(odd, self.operate("MUL", type, result, square), result)
        self.move(registers[0], taken, retarget=False)
        self.move(registers[2], self.operate("SHR", U32, rest, Value(Constant(1), U32)), False)
        self.branch(rest, again, exit, node)
        self.resume(again)  # no square beyond the highest bit: it could overflow
        self.move(registers[1], self.operate("MUL", type, square, square), retarget=False)
        self.jump(first)
        self.resume(exit)
        if negative is None or type is not F32:
            return result
        return self.select(negative, self._inverse(result), result)

    def select(self, condition: Value, if_true: Value, if_false: Value) -> Value:
        """``if_true if condition else if_false``, both evaluated, of one type."""
        result = self.operate(
            "SELECT", I32 if if_true.type is BOOL else if_true.type, condition, if_true, if_false
        )
        return Value(result.operand, if_true.type)
