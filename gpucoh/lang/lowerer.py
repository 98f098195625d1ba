"""Lowering of a whole kernel, and the inlining of device functions."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gpucoh.lang.ir import Argument, Function, LocalArray
from gpucoh.lang.program import Parameter, word_name
from gpucoh.lang.records import fields_of
from gpucoh.lang.source import SourceUnit
from gpucoh.lang.statements import StatementLowerer
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


class Lowerer(StatementLowerer):
    """Lowers a whole kernel. ``dependencies`` collects the outside names that the program depends on."""

    def __init__(self, unit: SourceUnit, lanes: int) -> None:
        super().__init__(unit.name)
        self.lanes = lanes
        self.units: list[SourceUnit] = [unit]
        self.dependencies: list[tuple[Callable[[], Any], Any]] = []
        self._depends_on: set[tuple[int, str]] = set()  # objects in the dependencies

    def depend(self, name: str, value: Any) -> None:
        """Record a name's value."""
        unit = self.frame.unit
        self._depend(unit, name, lambda: unit.lookup(name)[1], value)

    def depend_attribute(self, base: Any, name: str, value: Any) -> None:
        """Record an attribute's value."""
        self._depend(base, name, lambda: getattr(base, name, None), value)

    def _depend(self, base: Any, name: str, current: Callable[[], Any], value: Any) -> None:
        if (id(base), name) not in self._depends_on:
            self._depends_on.add((id(base), name))
            self.dependencies.append((current, value))

    def lower(self, parameters: Sequence[Parameter]) -> Function:
        """The kernel's function."""
        unit = self.units[0]
        frame = Frame(unit, 0, copied_loop_names=unit.copied_loop_names)
        self.frames.append(frame)
        self.at(unit.tree)
        buffers = [parameter for parameter in parameters if parameter.kind == "buffer"]
        for name, group in itertools.groupby(parameters, lambda parameter: parameter.argument):
            fields: dict[str, Value | WideValue | BufferValue] = {}
            record: type[Any] | None = None
            for parameter in group:
                field, record = parameter.name.partition(".")[2], parameter.record
                if parameter.kind == "buffer":
                    fields[field] = BufferValue(
                        parameter.name,
                        buffers.index(parameter),
                        parameter.type,
                        parameter.readonly,
                        parameter.dimensions,
                    )
                elif isinstance(parameter.type, Wide):
                    low, high = (Argument(word_name(parameter.name, k)) for k in range(2))
                    fields[field] = WideValue(low, high, parameter.type)
                else:
                    fields[field] = Value(Argument(parameter.name), parameter.type.loaded)
            if record is not None:
                frame.names[name] = RecordValue(name, record, fields)
            elif isinstance(fields[""], BufferValue):
                frame.names[name] = fields[""]
            else:
                self.bind_parameter(name, fields[""], unit.tree)
        self.body(unit.tree.body)
        self.exit()
        return self.function

    def inline(self, device: Any, node: ast.Call) -> AnyValue | None:
        """Lower a device function's body in place of its call."""
        unit: SourceUnit = device.unit
        if unit.tree.args.vararg or unit.tree.args.kwarg:
            self.fail(node, f"'{unit.name}' takes * or ** arguments: give each argument a name")
        if any(frame.unit is unit for frame in self.frames):
            self.fail(node, f"'{unit.name}' calls itself: use a loop")
        if unit not in self.units:
            self.units.append(unit)
        arguments = self._device_arguments(device, unit, node)
        frame = Frame(unit, self.units.index(unit), copied_loop_names=unit.copied_loop_names)
        frame.exit = self.new_block()
        with self.expansion(node, f"the call of '{unit.name}'"):
            self.count_made()
            self.frames.append(frame)
            for parameter in (
                unit.tree.args.posonlyargs + unit.tree.args.args + unit.tree.args.kwonlyargs
            ):
                value = self._parameter_value(unit, parameter, arguments[parameter.arg])
                self.bind_parameter(parameter.arg, value, parameter)
            self.body(unit.tree.body)
        if frame.returns_value and self._reachable_end(unit.tree.body):
            self.fail(unit.tree, "may end without a return: use a return with a value at its end")
        self.start(frame.exit)
        self.frames.pop()
        self.at(node)
        if frame.result is None:
            return None
        # Fresh copies: a later call must not change a result's register.
        values = tuple(variable.value for variable in frame.result)
        return values[0] if frame.single_result else TupleValue(values)

    def _reachable_end(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether control may reach the end of these statements, judged by their form."""
        last = statements[-1]
        if isinstance(last, ast.Return):
            return False
        if isinstance(last, ast.If):
            if self._looks_constant(last.test):
                constant = self.value(last.test)
                if isinstance(constant, Literal):
                    taken = last.body if constant.value else last.orelse
                    return not taken or self._reachable_end(taken)
            return (
                not last.orelse
                or self._reachable_end(last.body)
                or self._reachable_end(last.orelse)
            )
        if isinstance(last, ast.While):
            endless = isinstance(last.test, ast.Constant) and bool(last.test.value)
            return not endless or any(isinstance(n, ast.Break) for n in ast.walk(last))
        return True

    def _device_arguments(
        self, device: Any, unit: SourceUnit, node: ast.Call
    ) -> dict[str, AnyValue]:
        bound, _ = self._bind(device.function, unit.name, node)
        given = {id(n) for n in node.args} | {id(keyword.value) for keyword in node.keywords}
        arguments: dict[str, AnyValue] = {}
        for name, expression in bound.items():
            if id(expression) not in given and isinstance(expression, ast.Constant):
                arguments[name] = from_python(expression.value)  # a default
            else:
                arguments[name] = self.value(expression)
        return arguments

    def _parameter_value(self, unit: SourceUnit, parameter: ast.arg, value: AnyValue) -> AnyValue:
        annotation = unit.annotation(parameter)
        where = f"argument '{parameter.arg}'"
        if annotation is None:
            return value
        if isinstance(annotation, Wide):
            return self.widened(value, annotation, parameter, where)
        if isinstance(annotation, Scalar):
            if not isinstance(value, (Value, WideValue, Literal)):
                self.fail(parameter, f"{where} must be {annotation.name}, got {describe(value)}")
            return self.coerce(value, annotation, parameter, where)
        if isinstance(annotation, BufferType):
            if (
                not isinstance(value, (BufferValue, SharedArray, LocalArray))
                or value.type is not annotation.dtype
            ):
                self.fail(
                    parameter,
                    f"{where} must be an array of {annotation.dtype.name}, got {describe(value)}",
                )
            if len(value.shape) != annotation.dimensions > 1:
                self.fail(
                    parameter,
                    f"{where} must have {annotation.dimensions} dimensions, {describe(value)} has {len(value.shape)}",
                )
            if isinstance(value, BufferValue) and annotation.readonly:
                return replace(value, readonly=True)
            return value
        if fields_of(annotation) is not None:
            if not isinstance(value, RecordValue) or not issubclass(value.type, annotation):
                self.fail(
                    parameter,
                    f"{where} must be a record {annotation.__name__}, got {describe(value)}",
                )
            return value
        otherwise = (
            f"{where} must be annotated i32, u32, f32, Buffer[...] or a record, or not at all"
        )
        return self.fail(parameter, refusal(where, annotation, otherwise))
