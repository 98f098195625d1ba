"""Assignments in kernels."""

from __future__ import annotations

import ast
from typing import NoReturn

from gpucoh.base.quoting import quoted
from gpucoh.lang.arithmetic import is_positive
from gpucoh.lang.arrays import array_of, check_writable, flat_index, read_element, write_element
from gpucoh.lang.conversions import as_number, as_type, scalar
from gpucoh.lang.expressions import binary, field_of
from gpucoh.lang.ir import Register
from gpucoh.lang.lowering import Lowering, lowers
from gpucoh.lang.types import F32, Scalar, Wide, refusal
from gpucoh.lang.values import (
    AnyValue,
    Array,
    Literal,
    PythonObject,
    RecordValue,
    TupleValue,
    Value,
    Variable,
    WideValue,
    describe,
)


def pinned(value: AnyValue, name: str) -> AnyValue:
    """A value bound to a name: its temporaries must not become other variables."""
    if isinstance(value, (Value, WideValue)):
        for word in value.words:
            if isinstance(word, Register) and word.name is None:
                word.name = name
    if isinstance(value, TupleValue):
        for item in value.items:
            pinned(item, name)
    return value


def bind_parameter(x: Lowering, name: str, value: AnyValue, node: ast.AST) -> None:
    """A parameter: the value itself, or a variable if the body assigns to it."""
    if x.frame.unit.assigned[name] == 1:
        x.frame.names[name] = pinned(value, name)
    else:
        assign_name(x, name, value, node)


def assign(
    x: Lowering, target: ast.expr, value: AnyValue, node: ast.AST, only: bool = True
) -> None:
    """Assign a lowered value to a target. ``only``: there is no other target."""
    if isinstance(target, ast.Name):
        assign_name(x, target.id, value, node, retarget=only)
    elif isinstance(target, ast.Subscript):
        array, index = _element_at(x, target)
        x.at(node)
        write_element(x, array, index, value, node)
    elif isinstance(target, (ast.Tuple, ast.List)):
        if not isinstance(value, TupleValue) or len(value.items) != len(target.elts):
            x.fail(node, f"{len(target.elts)} values are needed, got {describe(value)}")
        items = x.captured_items(value)
        for part, item in zip(target.elts, items, strict=True):
            assign(x, part, item, node, only=False)
    else:
        _refuse_target(x, target, node)


def _element_at(x: Lowering, target: ast.Subscript) -> tuple[Array, Value]:
    """The array and the index of a target."""
    array = array_of(x, x.value(target.value), target)
    return array, flat_index(x, array, x.value(target.slice), target)


def _refuse_target(x: Lowering, target: ast.expr, node: ast.AST) -> NoReturn:
    """Refuse an assignment to an attribute, or to ``*name``."""
    if isinstance(target, ast.Starred):
        x.fail(node, "'*' in an assignment cannot be used: name each element")
    base = x.value(target.value) if isinstance(target, ast.Attribute) else None
    if isinstance(base, RecordValue) and isinstance(target, ast.Attribute):
        field_of(x, base, target)
        x.fail(
            node,
            f"'{target.attr}' of {describe(base)} cannot be assigned: use a variable, or an element of a buffer",
        )
    x.fail(node, "assignment to attributes cannot be used: use variables and buffers")


def assign_name(
    x: Lowering,
    name: str,
    value: AnyValue,
    node: ast.AST,
    retarget: bool = True,
    type: Scalar | Wide | None = None,
) -> None:
    """Assign to a variable; the first assignment gives it its type."""
    known = x.frame.names.get(name)
    wide = isinstance(value, WideValue) or isinstance(type, Wide)
    wide |= isinstance(known, Variable) and isinstance(known.type, Wide)
    if not wide and not isinstance(value, (Value, Literal)):
        _bind_name(x, name, value, node)
        return
    if known is None:
        number = as_number(x, value, node)
        wanted = type or (number.natural if isinstance(number, Literal) else number.type)
        if isinstance(number, WideValue) and not isinstance(wanted, Wide):
            x.fail(node, f"'{name}' is {wanted.name} but the value is {describe(value)}")
        known = x.frame.names[name] = x.variable(name, wanted, x.line_of(node))
    if not isinstance(known, Variable):
        x.fail(
            node,
            f"'{name}' is {describe(known)} and cannot be assigned again: use another name",
        )
    what, kind = f"'{name}' (line {known.line})", known.type
    if isinstance(value, WideValue) and not isinstance(kind, Wide):
        x.fail(
            node,
            f"{what} is {kind.name} but the value is {describe(value)}: write {kind.name}(...)",
        )
    if (
        isinstance(value, Literal)
        and isinstance(value.value, float)
        and isinstance(kind, Scalar)
        and kind is not F32
    ):
        x.fail(
            node,
            f"'{name}' is {kind.name} since line {known.line} "
            f"and {quoted(value.value)} is not an integer: "
            f"make '{name}' a float there, as 1.0 or {name}: gpucoh.f32 = 1",
        )
    word = as_type(x, value, kind, node, what)
    x.set(known, word, retarget)
    if isinstance(word, Value) and x.frame.unit.assigned.get(name) == 1:
        last = x.block.instructions[-1] if x.block.instructions else None
        positive = bool(last and last.dest and last.dest.positive)
        known.registers[0].positive = positive or is_positive(word)


def _bind_name(x: Lowering, name: str, value: AnyValue, node: ast.AST) -> None:
    """Let a name mean a value that is not a number."""
    known = x.frame.names.get(name)
    if x.frame.unit.assigned.get(name, 1) != 1 or isinstance(known, Variable):
        x.fail(
            node,
            f"'{name}' names {describe(value)} and is assigned more than once: use another name",
        )
    if known is not None:  # lanes that left in an earlier iteration would see the other value, too
        x.fail(
            node,
            f"'{name}' names {describe(value)} and is assigned in each iteration of a loop over a tuple: "
            "assign it before the loop, or use numbers",
        )
    x.frame.names[name] = pinned(x.captured(value), name)


@lowers(ast.AnnAssign)
def _annotated_assignment(x: Lowering, node: ast.AnnAssign) -> None:
    if not isinstance(node.target, ast.Name) or node.value is None:
        x.fail(node, "an annotation needs a name and a value: use name: gpucoh.i32 = 0")
    type = x.value(node.annotation)
    if not isinstance(type, PythonObject) or not isinstance(type.value, (Scalar, Wide)):
        otherwise = "a variable's type must be gpucoh.i32, u32, f32, i64, u64 or f64"
        what = f"the type of '{node.target.id}'"
        x.fail(node, refusal(what, getattr(type, "value", None), otherwise))
    known = x.frame.names.get(node.target.id)
    if isinstance(known, Variable) and known.type is not type.value:
        x.fail(node, f"'{known.name}' (line {known.line}) is {known.type.name}: use another name")
    assign_name(x, node.target.id, x.value(node.value), node, type=type.value)


@lowers(ast.AugAssign)
def _augmented_assignment(x: Lowering, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        left = x.value(ast.copy_location(ast.Name(target.id, ast.Load()), target))
        result = binary(x, node.op, left, x.value(node.value), node)
        assign_name(x, target.id, result, node)
    elif isinstance(target, ast.Subscript):
        array, index = _element_at(x, target)
        check_writable(x, array, node)
        index = x.temporary(index)
        left = read_element(x, array, index)
        result = binary(x, node.op, left, x.value(node.value), node)
        x.at(node)
        write_element(x, array, index, result, node)
    else:
        _refuse_target(x, target, node)


def set_result(x: Lowering, value: AnyValue, node: ast.AST) -> None:
    """Assign to the variables of a device function's return value."""
    frame = x.frame
    items = value.items if isinstance(value, TupleValue) else (value,)
    if frame.result is None:
        numbers = [item if isinstance(item, WideValue) else scalar(x, item, node) for item in items]
        line = x.line_of(node)
        frame.result = tuple(x.variable("", number.type, line) for number in numbers)
        frame.single_result = not isinstance(value, TupleValue)
    if len(items) != len(frame.result):
        x.fail(node, f"{len(frame.result)} values are returned elsewhere, {len(items)} here")
    frame.returns_value = True
    copies = [
        as_type(x, i, v.type, node, f"the return value (line {v.line})")
        for i, v in zip(items, frame.result, strict=True)
    ]
    for variable, copy in zip(frame.result, copies, strict=True):
        x.set(variable, copy, retarget=len(copies) == 1)
