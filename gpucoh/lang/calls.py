"""Calls in kernels: conversions, device functions, and the intrinsics of threads, memory and barriers."""

from __future__ import annotations

import ast
import builtins
import inspect
from typing import Any, NoReturn

from gpucoh.base.quoting import quoted
from gpucoh.lang import intrinsics, isa, operations
from gpucoh.lang.arrays import (
    array_of,
    check_writable,
    first_word,
    flat_index,
    make_local,
    make_shared,
    read_element,
    read_words,
    shape_of,
    write_element,
    write_words,
)
from gpucoh.lang.conversions import (
    coerce,
    constant_integer,
    convert,
    integer,
    scalar,
    to_wide,
    to_word,
    widened,
)
from gpucoh.lang.functions import operation
from gpucoh.lang.hints import REFUSED_CALLS, SYNONYMS, hint, nearest
from gpucoh.lang.inlining import inline
from gpucoh.lang.ir import Constant, LocalArray, Operand
from gpucoh.lang.lowering import CALLS, Call, Lowering, bind, intrinsic, lowers
from gpucoh.lang.reports import print_values
from gpucoh.lang.types import F32, F64, I32, I64, U32, Element, Scalar, Wide, refusal
from gpucoh.lang.values import (
    AnyValue,
    Array,
    BufferValue,
    Literal,
    PythonObject,
    TupleValue,
    Value,
    WideValue,
    describe,
)

_ORDERS = {
    "load": ("weak", "relaxed", "acquire", "sc"),
    "store": ("weak", "relaxed", "release", "sc"),
    "atomic": ("relaxed", "acquire", "release", "acq_rel", "sc"),
    "fence": ("acquire", "release", "acq_rel", "sc"),
}
_SCOPES = ("cta", "cu", "gpu", "sys")
#: Intrinsic -> its special register, without the axis.
_REGISTERS = {
    "thread_id": "THREAD", "block_id": "BLOCK", "block_dim": "BLOCK_DIM", "grid_dim": "GRID_DIM", "lane_id": "LANE",
    "warp_id": "WARP", "core_id": "CORE",
}  # fmt: skip


def call(x: Lowering, node: ast.Call) -> AnyValue | None:
    """Lower a call; None if it has no value."""
    target = x.value(node.func)
    if not isinstance(target, PythonObject):
        x.fail(node, f"{describe(target)} cannot be called")
    function: Any = target.value
    if isinstance(function, (Scalar, Wide)):
        return _conversion(x, function, node)
    if getattr(function, "is_gpucoh_device", False):
        x.function.needs_all_blocks |= function.needs_all_blocks
        return inline(x, function, node)
    if function is builtins.len:
        return _length(x, node)
    if function is builtins.print:
        print_values(x, node)
        return None
    if function in (builtins.min, builtins.max, builtins.abs):
        function = getattr(intrinsics, function.__name__)
    name = getattr(function, "__name__", "")
    if name not in intrinsics.NAMES or getattr(intrinsics, name) is not function:
        _refuse(x, function, name, node)
    handler = operation if name in operations.OPERATIONS else CALLS[name]
    return handler(x, bind(x, function, name, node))


@lowers(ast.Call)
def _call_with_value(x: Lowering, node: ast.Call) -> AnyValue:
    result = call(x, node)
    if result is None:
        x.fail(node, "this call gives no value: use it as a statement of its own")
    return result


def _refuse(x: Lowering, function: Any, name: str, node: ast.Call) -> NoReturn:
    module = getattr(function, "__module__", "") or ""
    if getattr(builtins, name, None) is function and name in REFUSED_CALLS:
        x.fail(node, f"{name}() cannot be used: {REFUSED_CALLS[name]}")
    if name in intrinsics.NAMES:
        x.fail(node, f"{module}.{name}() cannot be used: use gpucoh.{name}")
    if getattr(function, "is_gpucoh_kernel", False):
        x.fail(node, f"kernel '{function.name}' cannot be called from a kernel: use @gpucoh.device")
    if inspect.isfunction(function):
        ours = function.__module__.startswith("gpucoh.")
        meant = hint(name) if ours else ": use @gpucoh.device on it"
        x.fail(node, f"'{name}' is a plain Python function{meant}")
    meant = SYNONYMS.get(name) or nearest(name, intrinsics.NAMES) or "gpucoh's intrinsics"
    otherwise = f"'{name or function}' cannot be called in kernels: use {meant}"
    x.fail(node, refusal("the type of the conversion", function, otherwise))


def _choice(x: Lowering, node: ast.expr, what: str, allowed: tuple[str, ...]) -> str:
    value = x.value(node)
    text = value.value if isinstance(value, PythonObject) else None
    if not isinstance(text, str):
        x.fail(node, f"{what} must be a constant string, one of {' '.join(allowed)}")
    if text not in allowed:
        x.fail(node, f"{what} {quoted(text)} is not allowed here: use one of {' '.join(allowed)}")
    return text.upper()


def _axis(x: Lowering, c: Call) -> str:
    axis = constant_integer(x, x.value(c["axis"]), c["axis"], "axis")
    if axis not in (0, 1, 2):
        x.fail(c["axis"], f"axis {axis} is not allowed: use 0, 1 or 2")
    return "XYZ"[axis]


def _conversion(x: Lowering, type: Scalar | Wide, node: ast.Call) -> AnyValue:
    if len(node.args) != 1 or node.keywords:
        x.fail(node, f"{type.name}() takes one value")
    given = x.value(node.args[0])
    if isinstance(type, Wide):
        return _wide_conversion(x, type, given, node)
    if isinstance(given, WideValue):
        return to_word(x, given, type)
    if isinstance(given, Literal):
        number = given.value
        if isinstance(number, float) and type is not F32:
            return convert(x, scalar(x, given, node), type)
        if type is not F32:  # integers wrap
            return Value(Constant(int(number) & 0xFFFFFFFF), type)
    return convert(x, scalar(x, given, node, type), type)


def _wide_conversion(x: Lowering, type: Wide, given: AnyValue, node: ast.Call) -> AnyValue:
    """``i64(x)``; integers wrap, numbers with a fraction lose it."""
    if isinstance(given, Literal):
        number = given.value
        if type is not F64:
            number = int(number) & (2**64 - 1)
            number -= 2**64 if type is I64 and number >> 63 else 0
        return widened(x, Literal(number), type, node, f"{type.name}(...)")
    if not isinstance(given, WideValue):
        given = scalar(x, given, node)
    return to_wide(x, given, type)


def _length(x: Lowering, node: ast.Call) -> AnyValue:
    """``len(array)``: the first extent; of a tuple, the number of its elements."""
    if len(node.args) != 1 or node.keywords:
        x.fail(node, "len() takes one array")
    given = x.value(node.args[0])
    if isinstance(given, TupleValue):
        return Literal(len(given.items))
    return shape_of(x, array_of(x, given, node))[0]


@intrinsic(*_REGISTERS, plain=True)
def _register(x: Lowering, c: Call) -> AnyValue:
    axis = "_" + _axis(x, c) if c.arguments else ""
    return x.special(_REGISTERS[c.name] + axis, c.name.endswith("_dim"))


@intrinsic("clock")
def _clock(x: Lowering, c: Call) -> AnyValue:
    return x.special("CLOCK", type=U32)


@intrinsic("global_id", plain=True)
def _global_id(x: Lowering, c: Call) -> AnyValue:
    axis = _axis(x, c)
    start = x.operate("MUL", I32, x.special("BLOCK_" + axis), x.special("BLOCK_DIM_" + axis))
    return x.operate("ADD", I32, start, x.special("THREAD_" + axis))


@intrinsic("warp_size", plain=True)
def _warp_size(x: Lowering, c: Call) -> AnyValue:
    return Value(Constant(x.lanes), I32)


def _place_of(x: Lowering, c: Call, what: str) -> tuple[Array, Value, str, str]:
    """Array, index, order and scope of an access."""
    node = c["buf"]
    array = array_of(x, x.value(node), node)
    index = flat_index(x, array, x.value(c["index"]), c["index"])
    order = _choice(x, c["order"], f"order of {what}", _ORDERS[what])
    scope = _choice(x, c["scope"], "scope", _SCOPES)
    if not isinstance(array, BufferValue) and order not in ("WEAK", "RELAXED"):
        x.fail(
            node,
            f"{describe(array)} has no order {quoted(order.lower())}: use barrier(), or a buffer",
        )
    return array, index, order, scope


@intrinsic("load")
def _load(x: Lowering, c: Call) -> AnyValue:
    array, index, order, scope = _place_of(x, c, "load")
    x.at(c.node)
    return read_element(x, array, index, order, scope)


@intrinsic("store")
def _store(x: Lowering, c: Call) -> None:
    array, index, order, scope = _place_of(x, c, "store")
    value = x.value(c["value"])
    x.at(c.node)
    write_element(x, array, index, value, c.node, order, scope)


@intrinsic(*(name for name in intrinsics.NAMES if name.startswith("atomic_")))
def _atomic(x: Lowering, c: Call) -> AnyValue:
    op = c.name.removeprefix("atomic_").upper()
    array, index, order, scope = _place_of(x, c, "atomic")
    if isinstance(array, LocalArray):
        x.fail(c.node, f"{describe(array)} is private to its thread: use plain arithmetic")
    if isinstance(array.type, Wide):
        return _wide_atomic(x, c, op, array, array.type, index, order=order, scope=scope)
    if not isinstance(array.type, Scalar):
        x.fail(
            c.node,
            f"{c.name} works on words, {describe(array)} is {array.type.name}: use an array of i32 or u32",
        )
    check_writable(x, array, c.node)
    if array.type is F32 and op not in ("ADD", "MIN", "MAX"):
        x.fail(
            c.node,
            f"{c.name} works on i32 and u32, {describe(array)} is f32: use atomic_add, atomic_min, atomic_max or a "
            "lock",
        )
    what = f"an element of {describe(array)}"
    operands: list[Operand | None] = [index.operand]
    for part in ("expected", "value"):
        if part in c.arguments:
            value = x.value(c[part])
            operands.append(coerce(x, value, array.type, c[part], what).operand)
    x.at(c.node)
    where = {"flags": isa.ATOMICS[op] << isa.FLAG_ATOMIC_SHIFT, "order": order, "scope": scope}
    if isinstance(array, BufferValue):
        return x.add("ATOMIC", array.type, operands, immediate=array.slot, **where)
    bound = array.elements or 0
    return x.add("SHARED_ATOMIC", array.type, operands, immediate=array.base, bound=bound, **where)


def _wide_atomic(
    x: Lowering, c: Call, op: str, array: Array, type: Wide, index: Value, **where: str
) -> WideValue:
    check_writable(x, array, c.node)
    values = [x.value(c[p]) for p in ("expected", "value") if p in c.arguments]
    x.at(c.node)
    if not isinstance(array, BufferValue):
        x.fail(c.node, f"atomics of 64 bits work on buffers, not on {describe(array)}")
    if type is F64 and op != "ADD":
        x.fail(
            c.node,
            f"{c.name} works on i64 and u64, {describe(array)} is f64: use atomic_add or a lock",
        )
    what = f"an element of {describe(array)}"
    words = [word for value in values for word in widened(x, value, type, c.node, what).words]
    sources = [first_word(x, index).operand, *words]
    flags = isa.ATOMICS[op] << isa.FLAG_ATOMIC_SHIFT
    return x.add_wide("ATOMIC", type, sources, immediate=array.slot, flags=flags, **where)


def _wide_place(x: Lowering, c: Call) -> tuple[BufferValue, Value, int]:
    """The buffer, the index and the number of words of ``load2 load4 store2 store4``."""
    width = int(c.name[-1])
    array = array_of(x, x.value(c["buf"]), c.node)
    if not isinstance(array, BufferValue):
        x.fail(c.node, f"{c.name} takes a buffer, not {describe(array)}: use single elements")
    if not isinstance(array.type, Scalar):
        x.fail(
            c.node,
            f"{c.name} moves words, {describe(array)} is {array.type.name}: use an array of i32, u32 or f32",
        )
    index = flat_index(x, array, x.value(c["index"]), c["index"])
    if isinstance(index.operand, Constant) and index.operand.bits % width:
        x.fail(
            c["index"],
            f"index {index.operand.bits} of {describe(array)} is not a multiple of {width}, as {c.name} needs it",
        )
    return array, index, width


@intrinsic("load2", "load4")
def _load_words(x: Lowering, c: Call) -> AnyValue:
    array, index, width = _wide_place(x, c)
    x.at(c.node)
    return read_words(x, array, index, width)


@intrinsic("store2", "store4")
def _store_words(x: Lowering, c: Call) -> None:
    array, index, width = _wide_place(x, c)
    values = [x.value(c[part]) for part in "abcd"[:width]]
    x.at(c.node)
    write_words(x, array, index, values, c.node)


@intrinsic("fence")
def _fence(x: Lowering, c: Call) -> None:
    order = _choice(x, c["order"], "order of fence", _ORDERS["fence"])
    scope = _choice(x, c["scope"], "scope", _SCOPES)
    x.emit("FENCE", I32, (), [], order=order, scope=scope)


@intrinsic("barrier", "barrier_arrive")
def _barrier(x: Lowering, c: Call) -> None:
    number = integer(x, c["id"], "the id of a barrier")
    if isinstance(number.operand, Constant) and not number.operand.bits < 16:
        x.fail(c.node, "the id of a barrier must be from 0 to 15")
    given = x.value(c["count"])
    count: Operand | None = None
    if not (isinstance(given, PythonObject) and given.value is None):
        count = integer(x, c["count"], "the count of a barrier").operand
        if isinstance(count, Constant) and (count.bits % x.lanes or not 0 < count.bits < 2**31):
            x.fail(
                c.node,
                f"the count of a barrier must be a positive multiple of the warp size, {x.lanes}",
            )
    scope = _choice(x, c["scope"], "scope", _SCOPES) if "scope" in c.arguments else "CTA"
    x.at(c.node)
    order = "WEAK" if scope == "CTA" else "ACQ_REL"
    x.emit(c.name.upper(), I32, (), [number.operand, count], order=order, scope=scope)


@intrinsic("sleep")
def _sleep(x: Lowering, c: Call) -> None:
    cycles = integer(x, c["cycles"], "the argument of sleep")
    x.emit("SLEEP", cycles.type, (), [cycles.operand])


@intrinsic("shared", "local")
def _array(x: Lowering, c: Call) -> NoReturn:
    x.fail(c.node, "shared(...) and local(...) stand alone: use name = gpucoh.shared(dtype, n)")


def declare_array(x: Lowering, name: str, node: ast.Call) -> AnyValue | None:
    """``name = shared(...)`` or ``name = local(...)``; None for any other call."""
    if not isinstance(node.func, (ast.Name, ast.Attribute)):
        return None
    target = x.value(node.func)
    function = target.value if isinstance(target, PythonObject) else None
    if function is not intrinsics.shared and function is not intrinsics.local:
        return None
    c = bind(x, function, function.__name__, node)
    dtype = x.value(c["dtype"])
    allowed = Element if function is intrinsics.shared else Scalar
    if not isinstance(dtype, PythonObject) or not isinstance(dtype.value, allowed):
        otherwise = "the dtype must be gpucoh.i32, gpucoh.u32 or gpucoh.f32"
        x.fail(node, refusal("the dtype", getattr(dtype, "value", None), otherwise))
    size = x.value(c["n"])
    if function is intrinsics.shared and isinstance(size, PythonObject) and size.value is None:
        return make_shared(x, name, dtype.value, (), node)
    items = size.items if isinstance(size, TupleValue) else (size,)
    shape = tuple(constant_integer(x, item, node, "the size of an array") for item in items)
    if not shape or any(extent < 1 for extent in shape):
        x.fail(node, f"the size of an array must be at least 1, got {shape}")
    if function is intrinsics.shared:
        return make_shared(x, name, dtype.value, shape, node)
    return make_local(x, name, dtype.value.loaded, shape, node)
