"""The inlining of device functions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpucoh.lang.conversions import as_type
from gpucoh.lang.expressions import looks_constant
from gpucoh.lang.ir import LocalArray
from gpucoh.lang.lowering import Lowering, bind
from gpucoh.lang.records import fields_of
from gpucoh.lang.source import SourceUnit
from gpucoh.lang.types import BufferType, Scalar, Wide, refusal
from gpucoh.lang.values import (
    AnyValue,
    BufferValue,
    Frame,
    Literal,
    RecordValue,
    SharedArray,
    TupleValue,
    Value,
    WideValue,
    describe,
    from_python,
)
from gpucoh.lang.variables import bind_parameter


def inline(x: Lowering, device: Any, node: ast.Call) -> AnyValue | None:
    """Lower a device function's body in place of its call."""
    unit: SourceUnit = device.unit
    if unit.tree.args.vararg or unit.tree.args.kwarg:
        x.fail(node, f"'{unit.name}' takes * or ** arguments: give each argument a name")
    if any(frame.unit is unit for frame in x.frames):
        x.fail(node, f"'{unit.name}' calls itself: use a loop")
    if unit not in x.units:
        x.units.append(unit)
    arguments = _device_arguments(x, device, unit, node)
    frame = Frame(unit, x.units.index(unit), copied_loop_names=unit.copied_loop_names)
    frame.exit = x.new_block()
    with x.expansion(node, f"the call of '{unit.name}'"):
        x.count_made()
        x.frames.append(frame)
        for parameter in (
            unit.tree.args.posonlyargs + unit.tree.args.args + unit.tree.args.kwonlyargs
        ):
            value = _parameter_value(x, unit, parameter, arguments[parameter.arg])
            bind_parameter(x, parameter.arg, value, parameter)
        x.body(unit.tree.body)
    if frame.returns_value and _reachable_end(x, unit.tree.body):
        x.fail(unit.tree, "may end without a return: use a return with a value at its end")
    x.start(frame.exit)
    x.frames.pop()
    x.at(node)
    if frame.result is None:
        return None
    # Fresh copies: a later call must not change a result's register.
    values = tuple(variable.value for variable in frame.result)
    return values[0] if frame.single_result else TupleValue(values)


def _reachable_end(x: Lowering, statements: Sequence[ast.stmt]) -> bool:
    """Whether control may reach the end of these statements, judged by their form."""
    last = statements[-1]
    if isinstance(last, ast.Return):
        return False
    if isinstance(last, ast.If):
        if looks_constant(x, last.test):
            constant = x.value(last.test)
            if isinstance(constant, Literal):
                taken = last.body if constant.value else last.orelse
                return not taken or _reachable_end(x, taken)
        return not last.orelse or _reachable_end(x, last.body) or _reachable_end(x, last.orelse)
    if isinstance(last, ast.While):
        endless = isinstance(last.test, ast.Constant) and bool(last.test.value)
        return not endless or any(isinstance(n, ast.Break) for n in ast.walk(last))
    return True


def _device_arguments(
    x: Lowering, device: Any, unit: SourceUnit, node: ast.Call
) -> dict[str, AnyValue]:
    bound = bind(x, device.function, unit.name, node).arguments
    given = {id(n) for n in node.args} | {id(keyword.value) for keyword in node.keywords}
    arguments: dict[str, AnyValue] = {}
    for name, expression in bound.items():
        if id(expression) not in given and isinstance(expression, ast.Constant):
            arguments[name] = from_python(expression.value)  # a default
        else:
            arguments[name] = x.value(expression)
    return arguments


def _parameter_value(
    x: Lowering, unit: SourceUnit, parameter: ast.arg, value: AnyValue
) -> AnyValue:
    annotation = unit.annotation(parameter)
    where = f"argument '{parameter.arg}'"
    if annotation is None:
        return value
    if isinstance(annotation, Scalar | Wide):
        number = isinstance(value, (Value, WideValue, Literal))
        if isinstance(annotation, Scalar) and not number:
            x.fail(parameter, f"{where} must be {annotation.name}, got {describe(value)}")
        return as_type(x, value, annotation, parameter, where)
    if isinstance(annotation, BufferType):
        if (
            not isinstance(value, (BufferValue, SharedArray, LocalArray))
            or value.type is not annotation.dtype
        ):
            x.fail(
                parameter,
                f"{where} must be an array of {annotation.dtype.name}, got {describe(value)}",
            )
        if len(value.shape) != annotation.dimensions > 1:
            x.fail(
                parameter,
                f"{where} must have {annotation.dimensions} dimensions, {describe(value)} has {len(value.shape)}",
            )
        if isinstance(value, BufferValue) and annotation.readonly:
            return replace(value, readonly=True)
        return value
    if fields_of(annotation) is not None:
        if not isinstance(value, RecordValue) or not issubclass(value.type, annotation):
            x.fail(
                parameter,
                f"{where} must be a record {annotation.__name__}, got {describe(value)}",
            )
        return value
    otherwise = f"{where} must be annotated i32, u32, f32, Buffer[...] or a record, or not at all"
    return x.fail(parameter, refusal(where, annotation, otherwise))
