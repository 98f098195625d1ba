"""Emission of instructions: blocks, types and conversions, arithmetic, array accesses."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from gpucoh.base.quoting import quoted
from gpucoh.lang import folding, isa
from gpucoh.lang.builder import Builder
from gpucoh.lang.ir import (
    COMPARISONS,
    Argument,
    Block,
    Constant,
    Instruction,
    LocalArray,
    Operand,
    Register,
)
from gpucoh.lang.program import MAX_SHARED_WORDS, SHARED_LENGTH
from gpucoh.lang.source import SourceUnit
from gpucoh.lang.types import BOOL, F32, I32, MAX_DIMENSIONS, U32, Element, Scalar
from gpucoh.lang.values import (
    AnyValue,
    Array,
    BufferValue,
    Frame,
    Literal,
    SharedArray,
    TupleValue,
    Value,
    WideValue,
    describe,
)

#: Largest number of words of one local array; each is a register of every thread.
MAX_LOCAL_WORDS = 192
#: Instructions of a kernel with unrolled loops and inlined calls; optimising them takes some ten seconds.
MAX_INSTRUCTIONS = 1 << 14


class Emitter(Builder):
    """Builds a function of the kernel language; knows types, not Python's syntax."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.frames: list[Frame] = []
        # What makes code several times, outermost first: unit, node, text; and how much there is.
        self._expansions: list[tuple[SourceUnit, ast.AST, str]] = []
        self._made = 0

    # ---- errors, blocks -------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        """The function being lowered."""
        return self.frames[-1]

    def fail(self, node: ast.AST | None, message: str) -> NoReturn:
        """Raise a KernelError with the location of ``node``."""
        raise self.frame.unit.error(node, message)

    def at(self, node: ast.AST) -> None:
        """Assign instructions emitted from here on to the line of ``node``."""
        line = getattr(node, "lineno", None)
        if line is not None:
            self.place = (self.frame.file, line - 1)

    def branch(self, condition: AnyValue, if_true: Block, if_false: Block, node: ast.AST) -> None:
        """End the current block with a branch on the truth of ``condition``."""
        if isinstance(condition, Literal):
            self.jump(if_true if condition.value else if_false)
            return
        operand = self.truth(condition, node).operand
        if isinstance(operand, Constant):
            self.jump(if_true if operand.bits else if_false)
            return
        self.split(operand, if_true, if_false)
        self.resume(self.new_block())

    # ---- instructions ---------------------------------------------------------------------------

    @contextmanager
    def expansion(self, node: ast.AST, text: str) -> Iterator[None]:
        """While an unrolled loop or an inlined call is lowered."""
        self._expansions.append((self.frame.unit, node, text))
        yield
        self._expansions.pop()

    def count_made(self) -> None:
        """Count an instruction, or an iteration or call without one.

        Raises
        ------
        KernelError
            If there are too many; it names the outermost loop or call that makes them.
        """
        self._made += 1
        if self._made > MAX_INSTRUCTIONS:
            unit, node, text = (
                self._expansions[0] if self._expansions else (self.frame.unit, None, "the kernel")
            )
            raise unit.error(
                node,
                f"{text} makes more than {MAX_INSTRUCTIONS} instructions: use range(...), or split the kernel",
            )

    def append(self, instruction: Instruction) -> None:
        """Append an instruction, and count it."""
        self.count_made()
        super().append(instruction)

    def add(self, op: str, type: Element, sources: list[Operand | None], **fields: Any) -> Value:
        """Append an instruction with a new destination. Comparisons give bool."""
        instruction = Instruction(
            op, type, self.function.new_register(), sources, self.place, **fields
        )
        self.append(instruction)
        assert instruction.dest is not None
        return Value(instruction.dest, BOOL if op in COMPARISONS else type.loaded)

    def add_effect(
        self, op: str, type: Element, sources: list[Operand | None], **fields: Any
    ) -> None:
        """Append an instruction without destination."""
        self.append(Instruction(op, type, None, sources, self.place, **fields))

    def operate(self, op: str, type: Scalar, *operands: Value) -> Value:
        """Emit a pure operation; fold it if all sources are constants."""
        words = [v.operand.bits for v in operands if isinstance(v.operand, Constant)]
        if len(words) == len(operands):
            bits = folding.fold(op, type, words)
            if bits is not None:
                return Value(Constant(bits), BOOL if op in COMPARISONS else type)
        return self.add(op, type, [value.operand for value in operands])

    def move(self, register: Register, value: Value, retarget: bool = True) -> None:
        """Assign to a variable; a temporary just emitted becomes the variable itself."""
        last = self.block.instructions[-1] if self.block.instructions else None
        if (
            retarget
            and last is not None
            and isinstance(value.operand, Register)
            and last.dest is value.operand
            and not last.more
            and value.operand.name is None
        ):
            last.dest = register
            return
        self.append(Instruction("MOVE", value.type, register, [value.operand], self.place))

    def temporary(self, value: Value) -> Value:
        """A copy that later assignments to the variable do not change."""
        if isinstance(value.operand, Register) and value.operand.name is not None:
            return self.add("MOVE", value.type, [value.operand])
        return value

    def captured(self, value: AnyValue) -> AnyValue:
        """A value that later assignments to its variables, or to those of a tuple's elements, do not change."""
        if isinstance(value, TupleValue):
            return TupleValue(self.captured_items(value))
        return self.temporary(value) if isinstance(value, Value) else value

    def captured_items(self, value: TupleValue) -> tuple[AnyValue, ...]:
        """The elements of a tuple, unaffected by later assignments."""
        return tuple(self.captured(item) for item in value.items)

    # ---- types ----------------------------------------------------------------------------------

    def scalar(self, value: AnyValue, node: ast.AST, type: Scalar | None = None) -> Value:
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
                self._refuse_literal(value, wanted, node)
            return Value(Constant(bits), wanted)
        if isinstance(value, TupleValue):
            self.fail(node, "a tuple is not a number here: use one of its elements")
        if isinstance(value, WideValue):
            wanted = type or I32
            self.fail(
                node,
                f"a number of 32 bits is needed here, not {value.type.name}: use {wanted.name}(...)",
            )
        return self.fail(node, f"a number is needed here, not {describe(value)}")

    def _refuse_literal(self, value: Literal, wanted: Scalar, node: ast.AST) -> NoReturn:
        number = value.value
        if isinstance(number, float) and wanted is not F32:
            self.fail(
                node,
                f"{quoted(number)} is not an integer: {wanted.name} is needed, use {wanted.name}(...)",
            )
        if wanted is I32 and 0 <= number < 2**32:
            self.fail(node, f"{number} does not fit i32: write u32({number})")
        if wanted is F32:
            self.fail(node, f"{number} does not fit f32")
        low, high = (0, 2**32 - 1) if wanted is U32 else (-(2**31), 2**31 - 1)
        more = "" if -(2**31) <= number < 2**32 else "; a number of 64 bits is i64(...)"
        self.fail(node, f"{number} does not fit {wanted.name} (allowed: {low} to {high}{more})")

    def coerce(self, value: AnyValue, type: Scalar, node: ast.AST, what: str) -> Value:
        """``value`` as ``type`` by the implicit rules: literals adapt, bool becomes a number, integers become f32."""
        given = self.scalar(value, node, type)
        if given.type is type:
            return given
        if type is not BOOL and given.type is BOOL:
            return self.convert(given, type)
        if type is F32:
            return self.convert(given, F32)
        hint = f"{type.name}(...)" if type is not BOOL else "a comparison, as x != 0"
        return self.fail(
            node, f"{what} is {type.name} but the value is {given.type.name}: write {hint}"
        )

    def convert(self, value: Value, type: Scalar) -> Value:
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
        converted = self.add("CONVERT", source, [value.operand], flags=type.code)
        return Value(converted.operand, type)

    def truth(self, value: AnyValue, node: ast.AST) -> Value:
        """``value`` as a word that is zero exactly if Python's truth value is False."""
        given = self.scalar(value, node)
        if given.type is F32:
            return self.operate("NE", F32, given, Value(Constant(0), F32))
        return given

    def unify(self, values: list[AnyValue], node: ast.AST, what: str) -> tuple[Scalar, list[Value]]:
        """The operands in their common type: literals adapt, f32 wins over integers, i32 with u32 is an error."""
        types = [value.type for value in values if isinstance(value, Value)]
        types += [F32 for v in values if isinstance(v, Literal) and isinstance(v.value, float)]
        if not types:
            types = [v.natural for v in values if isinstance(v, Literal)]
        kinds = set(types)
        if F32 in kinds:
            common = F32
        elif I32 in kinds and U32 in kinds:
            self.fail(node, f"{what} mixes i32 and u32: convert one side with i32(...) or u32(...)")
        elif U32 in kinds or I32 in kinds:
            common = U32 if U32 in kinds else I32
        else:
            common = (
                BOOL
                if all(not isinstance(v, Literal) or isinstance(v.value, bool) for v in values)
                else I32
            )
        return common, [self.coerce(value, common, node, what) for value in values]

    def constant_integer(self, value: AnyValue, node: ast.AST, what: str) -> int:
        """A compile-time integer."""
        if isinstance(value, Literal) and not isinstance(value.value, float):
            return int(value.value)
        if (
            isinstance(value, Value)
            and isinstance(value.operand, Constant)
            and value.type is not F32
        ):
            bits = value.operand.bits
            return bits if value.type is U32 else folding.signed(bits)
        return self.fail(
            node,
            f"{what} must be a constant: use a number, or a global or closure variable that holds one",
        )

    # ---- arrays ---------------------------------------------------------------------------------

    def index(self, array: Array, index: AnyValue, node: ast.AST) -> Value:
        """The flat index of an element, as i32 or u32; constant indices are checked here."""
        shape = self.shape(array)
        items = index.items if isinstance(index, TupleValue) else (index,)
        if len(items) != len(shape):
            hint = ""
            if isinstance(array, BufferValue):
                hint = f": annotate it Buffer[{array.type.name}, {len(items)}] for {len(items)} indices"
                hint = hint if len(items) <= MAX_DIMENSIONS else ""
            self.fail(
                node, f"{describe(array)} takes {len(shape)} index(es), got {len(items)}{hint}"
            )
        flat: AnyValue | None = None
        for extent, item in zip(shape, items, strict=True):
            bound = int(extent.value) if isinstance(extent, Literal) else None
            value = self._check_index(array, bound, item, node)
            if flat is None:
                flat = value
            else:
                flat = self.arithmetic("ADD", self._scaled(flat, extent, node), value, node)
        assert flat is not None
        return self.scalar(flat, node)

    def shape(self, array: Array) -> tuple[Value | Literal, ...]:
        """The extents of an array; those of a buffer are known at its launch."""
        if isinstance(array, BufferValue):
            return array.shape
        if isinstance(array, SharedArray) and array.elements is None:
            return (Value(Argument(SHARED_LENGTH), I32),)
        return tuple(Literal(extent) for extent in array.shape)

    def _scaled(self, index: AnyValue, extent: Value | Literal, node: ast.AST) -> AnyValue:
        """An index times the extent of the next axis, in the index's type."""
        if isinstance(extent, Value) and isinstance(index, Value) and index.type is U32:
            extent = Value(extent.operand, U32)
        return self.arithmetic("MUL", index, extent, node)

    def _check_index(
        self, array: Array, bound: int | None, item: AnyValue, node: ast.AST
    ) -> AnyValue:
        given = self.scalar(item, node)
        if given.type not in (I32, U32):
            self.fail(
                node,
                f"an index of {describe(array)} must be i32 or u32, not {given.type.name}: use i32(...)",
            )
        if isinstance(given.operand, Constant):
            number = self.constant_integer(given, node, "index")
            if number < 0:
                self.fail(
                    node, f"index {number} of {describe(array)} is negative: indices count from 0"
                )
            if bound is not None and number >= bound:
                self.fail(
                    node, f"index {number} of {describe(array)} is out of bounds: {bound} elements"
                )
            return Literal(number)
        return given

    def read(
        self, array: Array, index: Value, order: str = "WEAK", scope: str = "GPU"
    ) -> Value | WideValue:
        """One element."""
        memory, length, where = _memory_of(array, order, scope)
        return self.add(f"{memory}LOAD", array.type, [index.operand, *length], **where)

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
        word = self.element(array, value, node)
        self.check_writable(array, node)
        memory, length, where = _memory_of(array, order, scope)
        self.add_effect(f"{memory}STORE", array.type, [index.operand, word, *length], **where)

    def element(self, array: Array, value: AnyValue, node: ast.AST) -> Operand:
        """The word of a value to store; elements below the word keep the low bits of an i32 or u32."""
        given = self.scalar(value, node, array.type.loaded)
        if not isinstance(array.type, Scalar) and given.type is U32:
            return given.operand
        return self.coerce(
            given, array.type.loaded, node, f"an element of {describe(array)}"
        ).operand

    def read_words(self, array: BufferValue, index: Value, width: int) -> TupleValue:
        """Consecutive elements by one access."""
        first = self.add("LOAD", array.type, [index.operand], immediate=array.slot)
        load = self.block.instructions[-1]
        load.more = tuple(self.function.new_register() for _ in range(width - 1))
        self.function.groups.append(load.defined)
        return TupleValue((first, *(Value(register, first.type) for register in load.more)))

    def write_words(
        self, array: BufferValue, index: Value, values: list[AnyValue], node: ast.AST
    ) -> None:
        """Set consecutive elements by one access."""
        self.check_writable(array, node)
        words = [self.element(array, value, node) for value in values]
        self.add_effect("STORE", array.type, [index.operand, *words], immediate=array.slot)

    def check_writable(self, array: Array, node: ast.AST) -> None:
        """Reject writes to readonly buffers."""
        if isinstance(array, BufferValue) and array.readonly:
            self.fail(node, f"{describe(array)} is readonly and cannot be written: "
                            f"annotate it Buffer[{array.type.name}] to write it")  # fmt: skip

    def make_shared(
        self, name: str, type: Element, shape: tuple[int, ...], node: ast.AST
    ) -> SharedArray:
        """A scratchpad array; shape (): the launch gives its length, and it follows the others."""
        if self.function.dynamic_shared:
            self.fail(
                node,
                f"shared array '{name}' follows the one without a size: declare that one last, and only one",
            )
        if not shape:
            self.function.dynamic_shared = type
            return SharedArray(name, self.function.shared_words, type, shape, None)
        elements = math.prod(shape)
        words = type.words(elements)
        if self.function.shared_words + words > MAX_SHARED_WORDS:
            self.fail(node, f"shared array '{name}' has {words} words (allowed: up to {MAX_SHARED_WORDS} per block): "
                            "use a buffer")  # fmt: skip
        array = SharedArray(name, self.function.shared_words, type, shape, elements)
        self.function.shared_words += words
        return array

    def make_local(
        self, name: str, type: Scalar, shape: tuple[int, ...], node: ast.AST
    ) -> LocalArray:
        """A per-thread array, initialised to zero."""
        words = math.prod(shape)
        if words > MAX_LOCAL_WORDS:
            self.fail(node, f"local array '{name}' has {words} words (allowed: up to {MAX_LOCAL_WORDS}, in registers): "
                            "use a buffer or shared(...)")  # fmt: skip
        array = LocalArray(name, type, shape, words)
        for k in range(words):
            self.add_effect(
                "LOCAL_STORE", type, [Constant(k), Constant(0), Constant(words)], array=array
            )
        return array

    # ---- arithmetic -----------------------------------------------------------------------------

    def special(self, name: str, positive: bool = False, type: Scalar = I32) -> Value:
        """A special register."""
        value = self.add("SPECIAL", type, [], immediate=isa.SPECIALS[name])
        assert isinstance(value.operand, Register)
        value.operand.positive = positive
        return value

    def arithmetic(self, op: str, left: AnyValue, right: AnyValue, node: ast.AST) -> AnyValue:
        """A binary operation of the language on lowered operands."""
        if isinstance(left, Literal) and isinstance(right, Literal):
            return self.literal_arithmetic(op, left.value, right.value, node)
        what = f"'{_SYMBOLS[op]}'"
        if op in ("SHL", "SHR"):
            return self._shift(op, left, right, node)
        type, (a, b) = self.unify([left, right], node, what)
        if op in ("AND", "OR", "XOR"):
            if type is F32:
                self.fail(node, f"{what} works on integers: convert with i32(...) or u32(...)")
            return self.operate_as(op, type, a, b)
        if type is BOOL:
            type = I32
        if op == "TRUEDIV":
            return self.operate("DIV", F32, self.convert(a, F32), self.convert(b, F32))
        if op == "DIV" and type is F32:
            op = "FLOORDIV"
        result = self.operate(op, type, a, b)
        if op in ("ADD", "MUL") and isinstance(result.operand, Register):
            result.operand.positive = is_positive(a) and is_positive(b)
        return result

    def operate_as(self, op: str, type: Scalar, *operands: Value) -> Value:
        """As :meth:`operate`, but the result has ``type``, bool included."""
        return Value(self.operate(op, U32 if type is U32 else I32, *operands).operand, type)

    def _shift(self, op: str, left: AnyValue, right: AnyValue, node: ast.AST) -> Value:
        a = self.scalar(left, node)
        b = self.scalar(right, node)
        if F32 in (a.type, b.type):
            self.fail(
                node, f"'{_SYMBOLS[op]}' works on integers: convert with i32(...) or u32(...)"
            )
        if isinstance(right, Literal) and right.value < 0:
            self.fail(node, f"shift count {right.value} is negative: shift the other way")
        return self.operate(op, U32 if a.type is U32 else I32, a, b)

    def literal_arithmetic(self, op: str, a: float, b: float, node: ast.AST) -> Literal:
        """A binary operation on Python numbers."""
        try:
            if op == "SHL" and b > 1024:
                self.fail(node, f"shift count {b} is too large")
            result = _LITERAL[op](a, b)
        except ZeroDivisionError:
            self.fail(node, "division by zero in a constant expression")
        except (OverflowError, ValueError, TypeError) as error:
            self.fail(node, f"constant expression: {error}")
        if isinstance(result, complex):
            self.fail(node, "constant expression: the result is complex")
        return Literal(result)


def _memory_of(
    array: Array, order: str, scope: str
) -> tuple[str, tuple[Operand, ...], dict[str, Any]]:
    """Of an array: what its operations' names begin with, the length that they check, and fields that say where."""
    if isinstance(array, BufferValue):
        return "", (), {"immediate": array.slot, "order": order, "scope": scope}
    if isinstance(array, LocalArray):
        return "LOCAL_", (Constant(array.words),), {"array": array}
    length = Argument(SHARED_LENGTH) if array.elements is None else Constant(array.elements)
    return "SHARED_", (length,), {"immediate": array.base}


def is_positive(value: Value) -> bool:
    """Whether a word is known to be greater than zero (barring overflow of products of positive numbers)."""
    if isinstance(value.operand, Constant):
        return 0 < value.operand.bits < 2**31
    return isinstance(value.operand, Register) and value.operand.positive


_SYMBOLS = {
    "ADD": "+", "SUB": "-", "MUL": "*", "TRUEDIV": "/", "DIV": "//", "MOD": "%", "AND": "&", "OR": "|", "XOR": "^",
    "SHL": "<<", "SHR": ">>",
}  # fmt: skip
_LITERAL: dict[str, Any] = folding.INTEGER | {
    "TRUEDIV": operator.truediv, "DIV": operator.floordiv, "MOD": operator.mod, "SHL": operator.lshift,
    "SHR": operator.rshift, "POW": operator.pow,
}  # fmt: skip
