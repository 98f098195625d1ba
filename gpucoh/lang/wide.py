"""Values of 64 bits in kernels, i64, u64 and f64: pairs of words, and the operations of extended.def on them."""

from __future__ import annotations

import ast
import struct
from collections.abc import Sequence
from typing import Any

from gpucoh.lang import isa
from gpucoh.lang.ir import Constant, Instruction, Operand, Register
from gpucoh.lang.powers import PowerEmitter
from gpucoh.lang.types import BOOL, F32, F64, I32, I64, U32, U64, Element, Scalar, Wide
from gpucoh.lang.values import (
    AnyValue,
    Array,
    BufferValue,
    Literal,
    SharedArray,
    TupleValue,
    Value,
    Variable,
    WideValue,
    describe,
)

_RZ = isa.ROUNDINGS["RZ"]
#: Language's operation -> row of extended.def, by the letter of the type.
_ARITHMETIC = {
    "ADD": "ADD_B64 ADD_F64", "SUB": "SUB_B64 SUB_F64", "MUL": "MUL_B64 MUL_F64", "AND": "AND_B64",
    "OR": "OR_B64", "XOR": "XOR_B64",
}  # fmt: skip
_KIND = {I64: "S64", U64: "U64", F64: "F64"}
#: Intrinsics of f64 and of 64-bit integers -> row and flags.
_FUNCTIONS = {
    ("sqrt", F64): ("SQRT_F64", 0), ("fma", F64): ("FMA_F64", 0), ("rsqrt", F64): ("RSQRT_F64", 0),
    ("floor", F64): ("ROUND_F64", isa.ROUNDINGS["RM"]), ("ceil", F64): ("ROUND_F64", isa.ROUNDINGS["RP"]),
    ("round", F64): ("ROUND_F64", 0), ("trunc", F64): ("ROUND_F64", _RZ), ("abs", F64): ("ABS_F64", 0),
    ("abs", I64): ("ABS_S64", 0), ("popcount", I64): ("POPC_B64", 0), ("popcount", U64): ("POPC_B64", 0),
    ("clz", I64): ("CLZ_B64", 0), ("clz", U64): ("CLZ_B64", 0),
}  # fmt: skip


def words_of(number: bool | int | float, type: Wide) -> tuple[int, int] | None:
    """The words of a Python number, the lower one first; None if it does not fit."""
    if type is F64:
        try:
            bits = int.from_bytes(struct.pack("<d", number), "little")
        except OverflowError:
            return None
        return bits & 0xFFFFFFFF, bits >> 32
    low, high = (-(2**63), 2**63 - 1) if type is I64 else (0, 2**64 - 1)
    if not isinstance(number, int) or not low <= number <= high:
        return None
    bits = number & (2**64 - 1)
    return bits & 0xFFFFFFFF, bits >> 32


class WideEmitter(PowerEmitter):
    """Emits operations of 64 bits."""

    def pair(self, type: Wide, name: str | None = None) -> WideValue:
        """Two new registers."""
        group = (self.function.new_register(name), self.function.new_register(name))
        self.function.groups.append(group)
        return WideValue(*group, type)

    def _row(self, name: str, *values: Value | WideValue, flags: int = 0) -> tuple[Register, ...]:
        """An extended operation; the registers of its result."""
        row = isa.EXTENDED[name]
        sources: list[Operand | None] = []
        for value in values:
            sources += value.words if isinstance(value, WideValue) else (value.operand,)
        results = tuple(self.function.new_register() for _ in range(row.d))
        if row.d == 2:
            self.function.groups.append(results)
        self.append(
            Instruction(
                "EXTENDED", I32, results[0], sources, self.place, immediate=row.number, flags=flags,
                more=results[1:],
            )
        )  # fmt: skip
        return results

    def wide(self, name: str, type: Wide, *values: Value | WideValue, flags: int = 0) -> WideValue:
        """An extended operation with a result of 64 bits."""
        low, high = self._row(name, *values, flags=flags)
        return WideValue(low, high, type)

    def narrow(self, name: str, type: Scalar, *values: Value | WideValue, flags: int = 0) -> Value:
        """An extended operation with a result of one word."""
        return Value(self._row(name, *values, flags=flags)[0], type)

    # ---- types ----------------------------------------------------------------------------------

    def _number(self, value: AnyValue, node: ast.AST) -> Value | WideValue | Literal:
        if isinstance(value, (Value, WideValue, Literal)):
            return value
        return self.fail(node, f"a number is needed here, not {describe(value)}")

    def wide_common(self, values: Sequence[AnyValue], node: ast.AST, what: str) -> Wide:
        """The common type of operands of which one has 64 bits: f64 wins, i64 takes u32, not u64."""
        numbers = [self._number(value, node) for value in values]
        kinds = {number.type for number in numbers if not isinstance(number, Literal)}
        if F64 in kinds or F32 in kinds:
            return F64
        if any(isinstance(n, Literal) and isinstance(n.value, float) for n in numbers):
            return F64
        if U64 in kinds and kinds & {I64, I32}:
            self.fail(
                node,
                f"{what} mixes u64 with a signed type: convert one side with i64(...) or u64(...)",
            )
        return U64 if U64 in kinds else I64

    def widened(self, value: AnyValue, type: Wide, node: ast.AST, what: str) -> WideValue:
        """``value`` as a wide type by the implicit rules: of a smaller range, or a literal that fits."""
        number = self._number(value, node)
        if isinstance(number, Literal):
            words = words_of(number.value, type)
            if words is None:
                self.fail(node, f"{number.value} does not fit {type.name}, the type of {what}")
            return WideValue(Constant(words[0]), Constant(words[1]), type)
        allowed = {F64: (I64, U64, F32, I32, U32, BOOL), I64: (I32, U32, BOOL), U64: (U32, BOOL)}
        if number.type is not type and number.type not in allowed[type]:
            self.fail(
                node,
                f"{what} is {type.name} but the value is {number.type.name}: write {type.name}(...)",
            )
        return self.to_wide(number, type)

    def to_wide(self, value: Value | WideValue, type: Wide) -> WideValue:
        """``i64() u64() f64()`` of a number."""
        if isinstance(value, WideValue):
            if value.type is type or F64 not in (value.type, type):
                return WideValue(value.low, value.high, type)
            if type is F64:
                return self.wide(f"F64_{_KIND[value.type]}", F64, value)
            return self._unless_nan(value, self.wide(f"{_KIND[type]}_F64", type, value, flags=_RZ))
        if type is F64:
            source = {F32: "F32", U32: "U32"}.get(value.type, "S32")
            return self.wide(f"F64_{source}", F64, value)
        if value.type is F32:
            found = self.wide(f"{_KIND[type]}_F32", type, value, flags=_RZ)
            absent = self.narrow("NAN_F32", BOOL, value, value)
            return self.wide_select(absent, WideValue(Constant(0), Constant(0), type), found)
        if value.type is I32:
            return self.wide("SEXT_S32", type, value)
        return WideValue(value.operand, Constant(0), type)

    def to_word(self, value: WideValue, type: Scalar) -> Value:
        """``i32() u32() f32()`` of a number of 64 bits: integers keep their low bits, f64 saturates, NaN gives 0."""
        if type is F32:
            return self.narrow(f"F32_{_KIND[value.type]}", F32, value)
        if value.type is not F64:
            return Value(value.low, type)
        found = self.narrow(f"{'U32' if type is U32 else 'S32'}_F64", type, value, flags=_RZ)
        absent = self.narrow("NAN_F64", BOOL, value, value)
        return self.select(absent, Value(Constant(0), type), found)

    def _unless_nan(self, value: WideValue, found: WideValue) -> WideValue:
        absent = self.narrow("NAN_F64", BOOL, value, value)
        return self.wide_select(absent, WideValue(Constant(0), Constant(0), found.type), found)

    def wide_select(self, condition: Value, if_true: WideValue, if_false: WideValue) -> WideValue:
        """One of two values."""
        return self.wide("SELECT_B64", if_true.type, condition, if_true, if_false)

    def truth(self, value: AnyValue, node: ast.AST) -> Value:
        """As of words."""
        if isinstance(value, WideValue):
            row = "NEU_F64" if value.type is F64 else "NE_B64"
            return self.narrow(row, BOOL, value, WideValue(Constant(0), Constant(0), value.type))
        return super().truth(value, node)

    # ---- variables ------------------------------------------------------------------------------

    def captured(self, value: AnyValue) -> AnyValue:
        """As of words."""
        named = isinstance(value, WideValue) and any(
            isinstance(word, Register) and word.name is not None for word in value.words
        )
        if not isinstance(value, WideValue) or not named:
            return super().captured(value)
        copy = self.pair(value.type)
        self.move_pair(copy, value)
        return copy

    def move_pair(self, to: WideValue, value: WideValue) -> None:
        """Assign both words."""
        for register, word in zip(to.words, value.words, strict=True):
            assert isinstance(register, Register)
            self.append(Instruction("MOVE", I32, register, [word], self.place))

    def wide_variable(self, name: str, type: Wide, line: int) -> Variable:
        """A variable of 64 bits."""
        pair = self.pair(type, name)
        assert isinstance(pair.low, Register)
        assert isinstance(pair.high, Register)
        return Variable(name, pair.low, type, line, pair.high)

    def set_wide(self, variable: Variable, value: WideValue) -> None:
        """Assign a value of the variable's type."""
        pair = variable.value
        assert isinstance(pair, WideValue)
        self.move_pair(pair, value)

    def assign_wide(
        self, name: str, value: AnyValue, node: ast.AST, type: Scalar | Wide | None
    ) -> None:
        """Assign to a variable of 64 bits, or a number of 64 bits to a variable."""
        known = self.frame.names.get(name)
        if known is None:
            wanted = type or (value.type if isinstance(value, WideValue) else I64)
            if not isinstance(wanted, Wide):
                self.fail(node, f"'{name}' is {wanted.name} but the value is {describe(value)}")
            line = self.frame.unit.first_line + getattr(node, "lineno", 1) - 1
            known = self.wide_variable(name, wanted, line)
            self.frame.names[name] = known
        if not isinstance(known, Variable):
            self.fail(
                node,
                f"'{name}' is {describe(known)} and cannot be assigned again: use another name",
            )
        what = f"'{name}' (line {known.line})"
        if not isinstance(known.type, Wide):
            self.fail(
                node,
                f"{what} is {known.type.name} but the value is {describe(value)}: write {known.type.name}(...)",
            )
        self.set_wide(known, self.widened(value, known.type, node, what))

    def result_variable(self, value: AnyValue, line: int, node: ast.AST) -> Variable:
        """A variable for a return value of a device function."""
        if isinstance(value, WideValue):
            return self.wide_variable("return value", value.type, line)
        word = self.scalar(value, node)
        return Variable("return value", self.function.new_register(), word.type, line)

    def as_variable(
        self, value: AnyValue, variable: Variable, node: ast.AST, what: str
    ) -> Value | WideValue:
        """``value`` in the variable's type."""
        if isinstance(variable.type, Wide):
            return self.widened(value, variable.type, node, what)
        return self.coerce(value, variable.type, node, what)

    # ---- arithmetic -----------------------------------------------------------------------------

    def wide_arithmetic(self, op: str, left: AnyValue, right: AnyValue, node: ast.AST) -> WideValue:
        """A binary operation of which an operand has 64 bits."""
        what = f"'{op.lower()}'"
        if op in ("SHL", "SHR"):
            return self._wide_shift(op, left, right, node)
        type = self.wide_common([left, right], node, what)
        type = F64 if op == "TRUEDIV" else type
        a, b = (self.widened(value, type, node, what) for value in (left, right))
        if op == "TRUEDIV":
            return self.wide("DIV_F64", F64, a, b)
        if op in ("DIV", "MOD"):
            return self.wide(f"FLOOR{op}_{_KIND[type]}", type, a, b)
        rows = _ARITHMETIC[op].split()
        if type is F64 and len(rows) == 1:
            self.fail(node, f"{what} works on integers: convert with i64(...) or u64(...)")
        return self.wide(rows[type is F64], type, a, b)

    def _wide_shift(self, op: str, left: AnyValue, right: AnyValue, node: ast.AST) -> WideValue:
        if not isinstance(left, WideValue) or left.type is F64:
            self.fail(
                node,
                f"a shift of {describe(left)} by {describe(right)}: shift an integer by an i32 or u32",
            )
        if isinstance(right, Literal) and right.value < 0:
            self.fail(node, f"shift count {right.value} is negative: shift the other way")
        count = (
            self.to_word(right, U32) if isinstance(right, WideValue) else self.scalar(right, node)
        )
        if count.type is F32:
            self.fail(node, "a shift count is an integer: convert with i32(...)")
        row = "SHL_B64" if op == "SHL" else f"SHR_{_KIND[left.type]}"
        return self.wide(row, left.type, left, count)

    def wide_unary(self, op: ast.unaryop, value: WideValue, node: ast.AST) -> WideValue:
        """``-x``, ``+x`` and ``~x``."""
        if isinstance(op, ast.UAdd):
            return value
        if isinstance(op, ast.Invert):
            if value.type is F64:
                self.fail(node, "'~' works on integers, not f64: use i64(...)")
            return self.wide("NOT_B64", value.type, value)
        return self.wide("NEG_F64" if value.type is F64 else "NEG_B64", value.type, value)

    def wide_compare(self, op: str, left: AnyValue, right: AnyValue, node: ast.AST) -> Value:
        """A comparison of which an operand has 64 bits."""
        type = self.wide_common([left, right], node, "a comparison")
        a, b = (self.widened(value, type, node, "a comparison") for value in (left, right))
        if type is F64:
            return self.narrow("NEU_F64" if op == "NE" else f"{op}_F64", BOOL, a, b)
        return self.narrow(f"{op}_{'B64' if op in ('EQ', 'NE') else _KIND[type]}", BOOL, a, b)

    def wide_function(self, name: str, values: list[AnyValue], node: ast.AST) -> AnyValue:
        """An intrinsic of values alone, of which one has 64 bits."""
        what = f"the argument of {name}"
        type = self.wide_common(values, node, f"{name}()")
        operands = [self.widened(value, type, node, what) for value in values]
        if name in ("min", "max"):
            result = operands[0]
            for operand in operands[1:]:
                result = self.wide(f"{name.upper()}_{_KIND[type]}", type, result, operand)
            return result
        if name == "abs" and type is U64:
            return operands[0]
        if (name, type) not in _FUNCTIONS:
            self.fail(node, f"{name} does not take {type.name}: convert with i32(...) or f32(...)")
        row, flags = _FUNCTIONS[name, type]
        if isa.EXTENDED[row].d == 1:
            return self.narrow(row, I32, *operands, flags=flags)
        return self.wide(row, type, *operands, flags=flags)

    # ---- memory ---------------------------------------------------------------------------------

    def _first_word(self, index: Value) -> Value:
        return self.operate("SHL", U32, index, Value(Constant(1), U32))

    def read(
        self, array: Array, index: Value, order: str = "WEAK", scope: str = "GPU"
    ) -> Value | WideValue:
        """One element."""
        if not isinstance(array.type, Wide):
            return super().read(array, index, order, scope)
        first = self._first_word(index)
        if isinstance(array, SharedArray):
            low, high = (self._shared_word(array, first, k) for k in range(2))
            return WideValue(low, high, array.type)
        assert isinstance(array, BufferValue)
        pair = self.pair(array.type)
        self._access("LOAD", array, pair, [first.operand], order=order, scope=scope)
        return pair

    def _shared_word(self, array: SharedArray, first: Value, k: int) -> Operand:
        place = self.operate("ADD", U32, first, Value(Constant(k), U32))
        words = Constant(2 * (array.elements or 0))
        return self.add("SHARED_LOAD", U32, [place.operand, words], immediate=array.base).operand

    def _access(
        self,
        op: str,
        array: BufferValue,
        pair: WideValue | None,
        sources: list[Operand | None],
        **fields: Any,
    ) -> None:
        """An access of two words to a buffer."""
        dest, more = (None, ()) if pair is None else (pair.low, (pair.high,))
        self.append(
            Instruction(
                op, array.type, dest, sources, self.place, immediate=array.slot, more=more, **fields  # type: ignore[arg-type]
            )
        )  # fmt: skip

    def write(
        self,
        array: Array,
        index: Value,
        value: AnyValue,
        node: ast.AST,
        order: str = "WEAK",
        scope: str = "GPU",
    ) -> None:
        """Set one element."""
        if not isinstance(array.type, Wide):
            super().write(array, index, value, node, order, scope)
            return
        given = self.widened(value, array.type, node, f"an element of {describe(array)}")
        first = self._first_word(index)
        if isinstance(array, BufferValue):
            self.check_writable(array, node)
            self._access(
                "STORE", array, None, [first.operand, *given.words], order=order, scope=scope
            )
            return
        assert isinstance(array, SharedArray)
        for k, word in enumerate(given.words):
            place = self.operate("ADD", U32, first, Value(Constant(k), U32))
            words = Constant(2 * (array.elements or 0))
            self.add_effect("SHARED_STORE", U32, [place.operand, word, words], immediate=array.base)

    def wide_atomic(
        self,
        op: str,
        array: Array,
        index: Value,
        values: list[AnyValue],
        node: ast.AST,
        order: str,
        scope: str,
    ) -> WideValue:
        """An atomic of 64 bits; the old value."""
        if not isinstance(array, BufferValue):
            self.fail(node, f"atomics of 64 bits work on buffers, not on {describe(array)}")
        assert isinstance(array.type, Wide)
        if array.type is F64 and op != "ADD":
            self.fail(
                node,
                f"atomic_{op.lower()} works on i64 and u64, {describe(array)} is f64: use atomic_add or a lock",
            )
        what = f"an element of {describe(array)}"
        operands = [self.widened(value, array.type, node, what).words for value in values]
        pair = self.pair(array.type)
        sources: list[Operand | None] = [self._first_word(index).operand]
        for words in operands:
            sources += words
        flags = isa.ATOMICS[op] << isa.FLAG_ATOMIC_SHIFT
        self._access("ATOMIC", array, pair, sources, flags=flags, order=order, scope=scope)
        return pair

    def make_shared(
        self, name: str, type: Element, shape: tuple[int, ...], node: ast.AST
    ) -> SharedArray:
        """A scratchpad array; of 64-bit elements it has a size."""
        if isinstance(type, Wide) and not shape:
            self.fail(
                node, f"shared array '{name}' of {type.name} needs a size: shared({type.name}, n)"
            )
        return super().make_shared(name, type, shape, node)


def is_wide(*values: AnyValue) -> bool:
    """Whether one of the values has 64 bits."""
    return any(isinstance(value, WideValue) for value in values)


__all__ = ["TupleValue", "WideEmitter", "is_wide", "words_of"]
