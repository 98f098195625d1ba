"""Arrays in kernels: indices, accesses, atomics, the arrays of a block or a thread."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gpucoh.lang.arithmetic import arithmetic
from gpucoh.lang.conversions import coerce, constant_integer, scalar, widened
from gpucoh.lang.ir import Argument, Constant, LocalArray, Operand
from gpucoh.lang.lowering import Lowering
from gpucoh.lang.program import MAX_SHARED_WORDS, SHARED_LENGTH
from gpucoh.lang.types import I32, MAX_DIMENSIONS, U32, Element, Scalar, Wide
from gpucoh.lang.values import (
    AnyValue,
    Array,
    BufferValue,
    Literal,
    PythonObject,
    SharedArray,
    TupleValue,
    Value,
    WideValue,
    describe,
)

#: Largest number of words of one local array; each is a register of every thread.
MAX_LOCAL_WORDS = 192


def array_of(x: Lowering, value: AnyValue, node: ast.AST) -> Array:
    """``value`` as an array."""
    if isinstance(value, (BufferValue, SharedArray, LocalArray)):
        return value
    if isinstance(value, PythonObject) and isinstance(value.value, np.ndarray):
        x.fail(node, "NumPy arrays cannot be used from outside: use a Buffer argument")
    return x.fail(node, f"an array is needed here, not {describe(value)}")


def flat_index(x: Lowering, array: Array, index: AnyValue, node: ast.AST) -> Value:
    """The flat index of an element, as i32 or u32; constant indices are checked here."""
    shape = shape_of(x, array)
    items = index.items if isinstance(index, TupleValue) else (index,)
    if len(items) != len(shape):
        hint = ""
        if isinstance(array, BufferValue):
            hint = f": annotate it Buffer[{array.type.name}, {len(items)}] for {len(items)} indices"
            hint = hint if len(items) <= MAX_DIMENSIONS else ""
        x.fail(node, f"{describe(array)} takes {len(shape)} index(es), got {len(items)}{hint}")
    flat: AnyValue | None = None
    for extent, item in zip(shape, items, strict=True):
        bound = int(extent.value) if isinstance(extent, Literal) else None
        value = _check_index(x, array, bound, item, node)
        if flat is None:
            flat = value
        else:
            flat = arithmetic(x, "ADD", _scaled(x, flat, extent, node), value, node)
    assert flat is not None
    return scalar(x, flat, node)


def shape_of(x: Lowering, array: Array) -> tuple[Value | Literal, ...]:
    """The extents of an array; those of a buffer are known at its launch."""
    if isinstance(array, BufferValue):
        return array.shape
    if isinstance(array, SharedArray) and array.elements is None:
        return (Value(Argument(SHARED_LENGTH), I32),)
    return tuple(Literal(extent) for extent in array.shape)


def _scaled(x: Lowering, index: AnyValue, extent: Value | Literal, node: ast.AST) -> AnyValue:
    """An index times the extent of the next axis, in the index's type."""
    if isinstance(extent, Value) and isinstance(index, Value) and index.type is U32:
        extent = Value(extent.operand, U32)
    return arithmetic(x, "MUL", index, extent, node)


def _check_index(
    x: Lowering, array: Array, bound: int | None, item: AnyValue, node: ast.AST
) -> AnyValue:
    given = scalar(x, item, node)
    if given.type not in (I32, U32):
        x.fail(
            node,
            f"an index of {describe(array)} must be i32 or u32, not {given.type.name}: use i32(...)",
        )
    if isinstance(given.operand, Constant):
        number = constant_integer(x, given, node, "index")
        if number < 0:
            x.fail(node, f"index {number} of {describe(array)} is negative: indices count from 0")
        if bound is not None and number >= bound:
            x.fail(node, f"index {number} of {describe(array)} is out of bounds: {bound} elements")
        return Literal(number)
    return given


def first_word(x: Lowering, index: Value) -> Value:
    """The word at which an element of 64 bits begins."""
    return x.operate("SHL", U32, index, Value(Constant(1), U32))


def _places(x: Lowering, index: Value) -> Iterator[Operand]:
    """The places of the words of an element of 64 bits."""
    first = first_word(x, index)
    for k in range(2):
        yield x.operate("ADD", U32, first, Value(Constant(k), U32)).operand


def read_element(
    x: Lowering, array: Array, index: Value, order: str = "WEAK", scope: str = "GPU"
) -> Value | WideValue:
    """One element."""
    memory, length, where = _memory_of(array, order, scope)
    if not isinstance(array.type, Wide):
        return x.add(f"{memory}LOAD", array.type, [index.operand, *length], **where)
    if isinstance(array, BufferValue):
        return x.add_wide("LOAD", array.type, [first_word(x, index).operand], **where)
    loads = (x.add("SHARED_LOAD", U32, [at, *length], **where) for at in _places(x, index))
    low, high = (word.operand for word in loads)
    return WideValue(low, high, array.type)


def write_element(
    x: Lowering,
    array: Array,
    index: Value,
    value: AnyValue,
    node: ast.AST,
    order: str = "WEAK",
    scope: str = "GPU",
) -> None:
    """Set one element."""
    memory, length, where = _memory_of(array, order, scope)
    if not isinstance(array.type, Wide):
        word = element_word(x, array, value, node)
        check_writable(x, array, node)
        x.emit(f"{memory}STORE", array.type, (), [index.operand, word, *length], **where)
        return
    words = widened(x, value, array.type, node, f"an element of {describe(array)}").words
    check_writable(x, array, node)
    if isinstance(array, BufferValue):
        x.emit("STORE", array.type, (), [first_word(x, index).operand, *words], **where)
        return
    for at, word in zip(_places(x, index), words, strict=True):
        x.emit("SHARED_STORE", U32, (), [at, word, *length], **where)


def element_word(x: Lowering, array: Array, value: AnyValue, node: ast.AST) -> Operand:
    """The word of a value to store; elements below the word keep the low bits of an i32 or u32."""
    given = scalar(x, value, node, array.type.loaded)
    if not isinstance(array.type, Scalar) and given.type is U32:
        return given.operand
    return coerce(x, given, array.type.loaded, node, f"an element of {describe(array)}").operand


def read_words(x: Lowering, array: BufferValue, index: Value, width: int) -> TupleValue:
    """Consecutive elements by one access."""
    words = x.emit("LOAD", array.type, x.new(width), [index.operand], immediate=array.slot)
    return TupleValue(tuple(Value(word, array.type.loaded) for word in words))


def write_words(
    x: Lowering, array: BufferValue, index: Value, values: list[AnyValue], node: ast.AST
) -> None:
    """Set consecutive elements by one access."""
    check_writable(x, array, node)
    words = [element_word(x, array, value, node) for value in values]
    x.emit("STORE", array.type, (), [index.operand, *words], immediate=array.slot)


def check_writable(x: Lowering, array: Array, node: ast.AST) -> None:
    """Reject writes to readonly buffers."""
    if isinstance(array, BufferValue) and array.readonly:
        x.fail(node, f"{describe(array)} is readonly and cannot be written: "
                        f"annotate it Buffer[{array.type.name}] to write it")  # fmt: skip


def make_shared(
    x: Lowering, name: str, type: Element, shape: tuple[int, ...], node: ast.AST
) -> SharedArray:
    """A scratchpad array; shape (): the launch gives its length, and it follows the others."""
    if isinstance(type, Wide) and not shape:
        x.fail(node, f"shared array '{name}' of {type.name} needs a size: shared({type.name}, n)")
    if x.function.dynamic_shared:
        x.fail(
            node,
            f"shared array '{name}' follows the one without a size: declare that one last, and only one",
        )
    if not shape:
        x.function.dynamic_shared = type
        return SharedArray(name, x.function.shared_words, type, shape, None)
    elements = math.prod(shape)
    words = type.words(elements)
    if x.function.shared_words + words > MAX_SHARED_WORDS:
        x.fail(node, f"shared array '{name}' has {words} words (allowed: up to {MAX_SHARED_WORDS} per block): "
                        "use a buffer")  # fmt: skip
    array = SharedArray(name, x.function.shared_words, type, shape, elements)
    x.function.shared_words += words
    return array


def make_local(
    x: Lowering, name: str, type: Scalar, shape: tuple[int, ...], node: ast.AST
) -> LocalArray:
    """A per-thread array, initialised to zero."""
    words = math.prod(shape)
    if words > MAX_LOCAL_WORDS:
        x.fail(node, f"local array '{name}' has {words} words (allowed: up to {MAX_LOCAL_WORDS}, in registers): "
                        "use a buffer or shared(...)")  # fmt: skip
    array = LocalArray(name, type, shape, words)
    for k in range(words):
        sources = [Constant(k), Constant(0), Constant(words)]
        x.emit("LOCAL_STORE", type, (), sources, array=array)
    return array


def _memory_of(
    array: Array, order: str, scope: str
) -> tuple[str, tuple[Operand, ...], dict[str, Any]]:
    """Of an array: what its operations' names begin with, the length that they check, and fields that say where."""
    if isinstance(array, BufferValue):
        return "", (), {"immediate": array.slot, "order": order, "scope": scope}
    if isinstance(array, LocalArray):
        return "LOCAL_", (Constant(array.words),), {"array": array}
    where = {"immediate": array.base}
    if array.elements is None:
        return "SHARED_", (Argument(SHARED_LENGTH),), where
    units = 2 if isinstance(array.type, Wide) else 1
    return "SHARED_", (Constant(units * array.elements),), where
