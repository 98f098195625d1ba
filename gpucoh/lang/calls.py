"""Calls in kernels: intrinsics, conversions and device functions."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
from collections.abc import Callable
from typing import Any

from gpucoh.base.quoting import quoted
from gpucoh.lang import intrinsics, isa, operations
from gpucoh.lang.expressions import REFUSED_CALLS, REGISTERS
from gpucoh.lang.functions import Arguments, FunctionLowerer
from gpucoh.lang.hints import SYNONYMS, hint, nearest
from gpucoh.lang.ir import Constant, LocalArray, Operand
from gpucoh.lang.types import F32, F64, I32, I64, U32, Element, Scalar, Wide, refusal
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

ORDERS = {
    "load": ("weak", "relaxed", "acquire", "sc"),
    "store": ("weak", "relaxed", "release", "sc"),
    "atomic": ("relaxed", "acquire", "release", "acq_rel", "sc"),
    "fence": ("acquire", "release", "acq_rel", "sc"),
}
SCOPES = ("cta", "cu", "gpu", "sys")
SHUFFLES = (
    "; a shuffle spans the active threads of the warp, and has neither mask nor width: for segments of w lanes "
    "write shuffle(x, lane) with the lane computed"
)

#: Each call of a function asks for its signature.
_signature = functools.lru_cache(1024)(inspect.signature)


class CallLowerer(FunctionLowerer):
    """Lowers calls."""

    def inline(self, device: Any, node: ast.Call) -> AnyValue | None:
        """Lower the body of a device function in place of its call."""
        raise NotImplementedError

    def call(self, node: ast.Call) -> AnyValue | None:
        """Lower a call; None if it has no value."""
        target = self.value(node.func)
        if not isinstance(target, PythonObject):
            self.fail(node, f"{describe(target)} cannot be called")
        function = target.value
        if isinstance(function, (Scalar, Wide)):
            return self._conversion(function, node)
        if getattr(function, "is_gpucoh_device", False):
            self.function.needs_all_blocks |= function.needs_all_blocks
            return self.inline(function, node)
        if function is builtins.len:
            return self._length(node)
        if function is builtins.print:
            self.print(node)
            return None
        if function in (builtins.min, builtins.max, builtins.abs):
            function = getattr(intrinsics, function.__name__)
        name = getattr(function, "__name__", "")
        if getattr(intrinsics, name, None) is not function or name not in intrinsics.NAMES:
            self._refuse(function, name, node)
        arguments, more = self._bind(function, name, node)
        if name in operations.OPERATIONS:
            return self.operation(name, list(arguments.values()), node)
        if name in REGISTERS:
            return self._register(name, arguments)
        handler = getattr(self, f"_call_{name}", None)
        if handler is not None:
            result: AnyValue | None = handler(arguments, node)
            return result
        if name in ("min", "max"):
            return self.extreme(name, [arguments["x"], arguments["y"], *more], node)
        if name in ("load2", "load4"):
            return self._load_words(name, arguments, node)
        if name in ("store2", "store4"):
            self._store_words(name, arguments, node)
            return None
        return self._atomic(name, arguments, node)

    def _refuse(self, function: Any, name: str, node: ast.Call) -> None:
        module = getattr(function, "__module__", "") or ""
        if getattr(builtins, name, None) is function and name in REFUSED_CALLS:
            self.fail(node, f"{name}() cannot be used: {REFUSED_CALLS[name]}")
        if name in intrinsics.NAMES:
            self.fail(node, f"{module}.{name}() cannot be used: use gpucoh.{name}")
        if getattr(function, "is_gpucoh_kernel", False):
            self.fail(
                node, f"kernel '{function.name}' cannot be called from a kernel: use @gpucoh.device"
            )
        if inspect.isfunction(function):
            ours = function.__module__.startswith("gpucoh.")
            meant = hint(name) if ours else ": use @gpucoh.device on it"
            self.fail(node, f"'{name}' is a plain Python function{meant}")
        meant = SYNONYMS.get(name) or nearest(name, intrinsics.NAMES) or "gpucoh's intrinsics"
        otherwise = f"'{name or function}' cannot be called in kernels: use {meant}"
        self.fail(node, refusal("the type of the conversion", function, otherwise))

    def _bind(
        self, function: Callable[..., Any], name: str, node: ast.Call
    ) -> tuple[Arguments, list[ast.expr]]:
        """The call's argument expressions by parameter name, defaults filled in."""
        keywords = {
            keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None
        }
        if len(keywords) != len(node.keywords) or any(
            isinstance(a, ast.Starred) for a in node.args
        ):
            self.fail(node, "'*' arguments cannot be used: use each argument by name")
        signature = _signature(function)
        try:
            bound = signature.bind(*node.args, **keywords)
        except TypeError as error:
            self.fail(node, f"{name}(): {error}{SHUFFLES if name.startswith('shuffle') else ''}")
        bound.apply_defaults()
        arguments: Arguments = {}
        more: list[ast.expr] = []
        for parameter, given in bound.arguments.items():
            if signature.parameters[parameter].kind is inspect.Parameter.VAR_POSITIONAL:
                more = list(given)
                continue
            if not isinstance(given, ast.AST):
                given = ast.copy_location(ast.Constant(given), node)
            arguments[parameter] = given
        return arguments, more

    # ---- helpers --------------------------------------------------------------------------------

    def _choice(self, node: ast.expr, what: str, allowed: tuple[str, ...]) -> str:
        value = self.value(node)
        text = value.value if isinstance(value, PythonObject) else None
        if not isinstance(text, str):
            self.fail(node, f"{what} must be a constant string, one of {' '.join(allowed)}")
        if text not in allowed:
            self.fail(
                node, f"{what} {quoted(text)} is not allowed here: use one of {' '.join(allowed)}"
            )
        return text.upper()

    def _axis(self, arguments: Arguments) -> str:
        axis = self.constant_integer(self.value(arguments["axis"]), arguments["axis"], "axis")
        if axis not in (0, 1, 2):
            self.fail(arguments["axis"], f"axis {axis} is not allowed: use 0, 1 or 2")
        return "XYZ"[axis]

    def _conversion(self, type: Scalar | Wide, node: ast.Call) -> AnyValue:
        if len(node.args) != 1 or node.keywords:
            self.fail(node, f"{type.name}() takes one value")
        given = self.value(node.args[0])
        if isinstance(type, Wide):
            return self._wide_conversion(type, given, node)
        if isinstance(given, WideValue):
            return self.to_word(given, type)
        if isinstance(given, Literal):
            number = given.value
            if isinstance(number, float) and type is not F32:
                return self.convert(self.scalar(given, node), type)
            if type is not F32:  # integers wrap
                return Value(Constant(int(number) & 0xFFFFFFFF), type)
        return self.convert(self.scalar(given, node, type), type)

    def _wide_conversion(self, type: Wide, given: AnyValue, node: ast.Call) -> AnyValue:
        """``i64(x)``; integers wrap, numbers with a fraction lose it."""
        if isinstance(given, Literal):
            number = given.value
            if type is not F64:
                number = int(number) & (2**64 - 1)
                number -= 2**64 if type is I64 and number >> 63 else 0
            return self.widened(Literal(number), type, node, f"{type.name}(...)")
        if not isinstance(given, WideValue):
            given = self.scalar(given, node)
        return self.to_wide(given, type)

    def _length(self, node: ast.Call) -> AnyValue:
        """``len(array)``: the first extent; of a tuple, the number of its elements."""
        if len(node.args) != 1 or node.keywords:
            self.fail(node, "len() takes one array")
        given = self.value(node.args[0])
        if isinstance(given, TupleValue):
            return Literal(len(given.items))
        return self.shape(self.array(given, node))[0]

    # ---- threads and blocks ---------------------------------------------------------------------

    def _register(self, name: str, arguments: Arguments) -> AnyValue:
        """The special register of an intrinsic."""
        register = REGISTERS[name] + ("_" + self._axis(arguments) if arguments else "")
        return self.special(register, name.endswith("_dim"), U32 if name == "clock" else I32)

    def _call_global_id(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        axis = self._axis(arguments)
        start = self.operate(
            "MUL", I32, self.special("BLOCK_" + axis), self.special("BLOCK_DIM_" + axis)
        )
        return self.operate("ADD", I32, start, self.special("THREAD_" + axis))

    def _call_warp_size(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        return Value(Constant(self.lanes), I32)

    # ---- memory ---------------------------------------------------------------------------------

    def _place_of(self, arguments: Arguments, what: str) -> tuple[Array, Value, str, str]:
        """Array, index, order and scope of an access."""
        node = arguments["buf"]
        array = self.array(self.value(node), node)
        index = self.index(array, self.value(arguments["index"]), arguments["index"])
        order = self._choice(arguments["order"], f"order of {what}", ORDERS[what])
        scope = self._choice(arguments["scope"], "scope", SCOPES)
        if not isinstance(array, BufferValue) and order not in ("WEAK", "RELAXED"):
            self.fail(
                node,
                f"{describe(array)} has no order {quoted(order.lower())}: use barrier(), or a buffer",
            )
        return array, index, order, scope

    def _call_load(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        array, index, order, scope = self._place_of(arguments, "load")
        self.at(node)
        return self.read(array, index, order, scope)

    def _call_store(self, arguments: Arguments, node: ast.Call) -> None:
        array, index, order, scope = self._place_of(arguments, "store")
        value = self.value(arguments["value"])
        self.at(node)
        self.write(array, index, value, node, order, scope)

    def _atomic(self, name: str, arguments: Arguments, node: ast.Call) -> AnyValue:
        op = name.removeprefix("atomic_").upper()
        array, index, order, scope = self._place_of(arguments, "atomic")
        if isinstance(array, LocalArray):
            self.fail(node, f"{describe(array)} is private to its thread: use plain arithmetic")
        if isinstance(array.type, Wide):
            self.check_writable(array, node)
            values = [self.value(arguments[p]) for p in ("expected", "value") if p in arguments]
            self.at(node)
            return self.wide_atomic(op, array, index, values, node, order, scope)
        if not isinstance(array.type, Scalar):
            self.fail(
                node,
                f"{name} works on words, {describe(array)} is {array.type.name}: use an array of i32 or u32",
            )
        self.check_writable(array, node)
        if array.type is F32 and op not in ("ADD", "MIN", "MAX"):
            self.fail(
                node,
                f"{name} works on i32 and u32, {describe(array)} is f32: use atomic_add, atomic_min, atomic_max or a "
                "lock",
            )
        what = f"an element of {describe(array)}"
        operands: list[Operand | None] = [index.operand]
        for part in ("expected", "value"):
            if part in arguments:
                value = self.value(arguments[part])
                operands.append(self.coerce(value, array.type, arguments[part], what).operand)
        self.at(node)
        if isinstance(array, SharedArray):
            name, where = "SHARED_ATOMIC", {"immediate": array.base, "bound": array.elements or 0}
        else:
            name, where = "ATOMIC", {"immediate": array.slot}
        flags = isa.ATOMICS[op] << isa.FLAG_ATOMIC_SHIFT
        return self.add(name, array.type, operands, flags=flags, order=order, scope=scope, **where)

    def _wide_place(
        self, name: str, arguments: Arguments, node: ast.Call
    ) -> tuple[BufferValue, Value, int]:
        """The buffer, the index and the number of words of ``load2 load4 store2 store4``."""
        width = int(name[-1])
        array = self.array(self.value(arguments["buf"]), node)
        if not isinstance(array, BufferValue):
            self.fail(node, f"{name} takes a buffer, not {describe(array)}: use single elements")
        if not isinstance(array.type, Scalar):
            self.fail(
                node,
                f"{name} moves words, {describe(array)} is {array.type.name}: use an array of i32, u32 or f32",
            )
        index = self.index(array, self.value(arguments["index"]), arguments["index"])
        if isinstance(index.operand, Constant) and index.operand.bits % width:
            self.fail(
                arguments["index"],
                f"index {index.operand.bits} of {describe(array)} is not a multiple of {width}, as {name} needs it",
            )
        return array, index, width

    def _load_words(self, name: str, arguments: Arguments, node: ast.Call) -> AnyValue:
        array, index, width = self._wide_place(name, arguments, node)
        self.at(node)
        return self.read_words(array, index, width)

    def _store_words(self, name: str, arguments: Arguments, node: ast.Call) -> None:
        array, index, width = self._wide_place(name, arguments, node)
        values = [self.value(arguments[part]) for part in "abcd"[:width]]
        self.at(node)
        self.write_words(array, index, values, node)

    def _call_fence(self, arguments: Arguments, node: ast.Call) -> None:
        order = self._choice(arguments["order"], "order of fence", ORDERS["fence"])
        scope = self._choice(arguments["scope"], "scope", SCOPES)
        self.add_effect("FENCE", I32, [], order=order, scope=scope)

    def _call_barrier(self, arguments: Arguments, node: ast.Call) -> None:
        self._synchronise("BARRIER", arguments, node)

    def _call_barrier_arrive(self, arguments: Arguments, node: ast.Call) -> None:
        self._synchronise("BARRIER_ARRIVE", arguments, node)

    def _synchronise(self, op: str, arguments: Arguments, node: ast.Call) -> None:
        number = self.integer(arguments["id"], "the id of a barrier")
        if isinstance(number.operand, Constant) and not number.operand.bits < 16:
            self.fail(node, "the id of a barrier must be from 0 to 15")
        given = self.value(arguments["count"])
        count: Operand | None = None
        if not (isinstance(given, PythonObject) and given.value is None):
            count = self.integer(arguments["count"], "the count of a barrier").operand
            if isinstance(count, Constant) and (
                count.bits % self.lanes or not 0 < count.bits < 2**31
            ):
                self.fail(
                    node,
                    f"the count of a barrier must be a positive multiple of the warp size, {self.lanes}",
                )
        scope = self._choice(arguments["scope"], "scope", SCOPES) if "scope" in arguments else "CTA"
        self.at(node)
        order = "WEAK" if scope == "CTA" else "ACQ_REL"
        self.add_effect(op, I32, [number.operand, count], order=order, scope=scope)

    def _call_sleep(self, arguments: Arguments, node: ast.Call) -> None:
        cycles = self.integer(arguments["cycles"], "the argument of sleep")
        self.add_effect("SLEEP", cycles.type, [cycles.operand])

    # ---- arrays ---------------------------------------------------------------------------------

    def _call_shared(self, arguments: Arguments, node: ast.Call) -> AnyValue:
        self.fail(
            node, "shared(...) and local(...) stand alone: use name = gpucoh.shared(dtype, n)"
        )

    _call_local = _call_shared

    def declare_array(self, name: str, node: ast.Call) -> AnyValue | None:
        """``name = shared(...)`` or ``name = local(...)``; None for any other call."""
        if not isinstance(node.func, (ast.Name, ast.Attribute)):
            return None
        target = self.value(node.func)
        function = target.value if isinstance(target, PythonObject) else None
        if function is not intrinsics.shared and function is not intrinsics.local:
            return None
        arguments, _ = self._bind(function, function.__name__, node)
        dtype = self.value(arguments["dtype"])
        allowed = Element if function is intrinsics.shared else Scalar
        if not isinstance(dtype, PythonObject) or not isinstance(dtype.value, allowed):
            otherwise = "the dtype must be gpucoh.i32, gpucoh.u32 or gpucoh.f32"
            self.fail(node, refusal("the dtype", getattr(dtype, "value", None), otherwise))
        size = self.value(arguments["n"])
        if function is intrinsics.shared and isinstance(size, PythonObject) and size.value is None:
            return self.make_shared(name, dtype.value, (), node)
        items = size.items if isinstance(size, TupleValue) else (size,)
        shape = tuple(self.constant_integer(item, node, "the size of an array") for item in items)
        if not shape or any(extent < 1 for extent in shape):
            self.fail(node, f"the size of an array must be at least 1, got {shape}")
        if function is intrinsics.shared:
            return self.make_shared(name, dtype.value, shape, node)
        return self.make_local(name, dtype.value.loaded, shape, node)
