"""Expressions of the kernel language: from Python's syntax tree to typed words."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable

from gpucoh.base.wording import unknown
from gpucoh.lang import intrinsics
from gpucoh.lang.arithmetic import arithmetic, compare, power, unary
from gpucoh.lang.arrays import array_of, flat_index, read_element, shape_of
from gpucoh.lang.conversions import (
    as_type,
    branch,
    coerce,
    constant_integer,
    scalar,
    truth,
    unify,
    wide_common,
    wide_select,
    widened,
)
from gpucoh.lang.hints import hint, nearest
from gpucoh.lang.ir import Block, Constant, Jump, LocalArray
from gpucoh.lang.lowering import PLAIN_CALLS, Lowering, lowers
from gpucoh.lang.types import BOOL, MissingType, Scalar, Wide, missing_type
from gpucoh.lang.values import (
    AnyValue,
    BufferValue,
    Literal,
    PythonObject,
    RecordValue,
    SharedArray,
    TupleValue,
    Value,
    Variable,
    WideValue,
    describe,
    from_python,
    is_wide,
)

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "ADD", ast.Sub: "SUB", ast.Mult: "MUL", ast.Div: "TRUEDIV", ast.FloorDiv: "DIV", ast.Mod: "MOD",
    ast.BitAnd: "AND", ast.BitOr: "OR", ast.BitXor: "XOR", ast.LShift: "SHL", ast.RShift: "SHR",
}  # fmt: skip


@lowers(ast.Constant)
def _constant(x: Lowering, node: ast.Constant) -> AnyValue:
    if isinstance(node.value, complex):
        x.fail(node, "complex numbers cannot be used: use two f32")
    if isinstance(node.value, (bool, int, float)):
        return Literal(node.value)
    return PythonObject(node.value)


@lowers(ast.Name)
def _name(x: Lowering, node: ast.Name) -> AnyValue:
    known = x.frame.names.get(node.id)
    if isinstance(known, Variable):
        return known.value
    if known is not None:
        return known
    if node.id in x.frame.unit.assigned:
        x.fail(node, f"'{node.id}' is read before it is assigned: assign it first")
    unit = x.frame.unit
    found, value = unit.lookup(node.id)
    if not found:
        meant = nearest(node.id, intrinsics.NAMES)
        near = hint(node.id) or (f"; did you mean {meant}?" if meant else "")
        x.fail(node, f"name '{node.id}' is not defined{near}")
    x.depend(unit, node.id, lambda: unit.lookup(node.id)[1], value)
    return from_python(value)


@lowers(ast.Attribute)
def _attribute(x: Lowering, node: ast.Attribute) -> AnyValue:
    base = x.value(node.value)
    if node.attr == "shape" and isinstance(base, (BufferValue, SharedArray, LocalArray)):
        return TupleValue(shape_of(x, base))
    if isinstance(base, RecordValue):
        return field_of(x, base, node)
    if not isinstance(base, PythonObject):
        x.fail(
            node,
            f"{describe(base)} has no attribute '{node.attr}' in kernels: use an argument instead",
        )
    of = base.value
    try:
        found = getattr(of, node.attr)
    except AttributeError as error:
        if isinstance(error, MissingType):
            x.fail(node, missing_type(node.attr))
        if of is sys.modules["gpucoh"]:
            meant = "" if hint(node.attr) else nearest(node.attr, intrinsics.NAMES)
            x.fail(node, f"{error}{f'; did you mean {meant}?' if meant else ''}")
        x.fail(node, f"{describe(base)} has no attribute '{node.attr}'")
    if of is not sys.modules["gpucoh"]:  # its names do not change
        x.depend(of, node.attr, lambda: getattr(of, node.attr, None), found)
    return from_python(found)


def field_of(x: Lowering, record: RecordValue, node: ast.Attribute) -> AnyValue:
    """A field of a record."""
    found = record.fields.get(node.attr)
    if found is None:
        meant = unknown("field", node.attr, record.fields)
        x.fail(node, f"{describe(record)} ({record.type.__name__}): {meant}")
    return found


@lowers(ast.Tuple)
def _tuple(x: Lowering, node: ast.Tuple) -> AnyValue:
    return TupleValue(tuple(x.value(item) for item in node.elts))


@lowers(ast.Subscript)
def _subscript(x: Lowering, node: ast.Subscript) -> AnyValue:
    base = x.value(node.value)
    if isinstance(base, TupleValue):
        k = constant_integer(x, x.value(node.slice), node, "the index of a tuple")
        if not -len(base.items) <= k < len(base.items):
            x.fail(node, f"index {k} of a tuple of {len(base.items)} elements")
        item: AnyValue = base.items[k]
        return item
    array = array_of(x, base, node)
    given = x.value(node.slice)
    axes = len(array.shape)
    if axes > 1 and not isinstance(given, TupleValue):
        names = ", ".join("ijk"[:axes])
        x.fail(
            node,
            f"{describe(array)} takes {axes} indices in one pair of brackets, got 1: "
            f"write {ast.unparse(node.value)}[{names}]",
        )
    index = flat_index(x, array, given, node)
    x.at(node)
    return read_element(x, array, index)


def binary(
    x: Lowering, op: ast.operator, left: AnyValue, right: AnyValue, node: ast.AST
) -> AnyValue:
    """A binary operator on lowered operands."""
    if isinstance(op, ast.Pow):
        return power(x, left, right, node)
    if type(op) not in _BINARY:
        x.fail(node, "'@' cannot be used: use loops")
    for side in (left, right):
        if not isinstance(side, (Value, WideValue, Literal)):
            x.fail(node, f"a number is needed here, not {describe(side)}")
    return arithmetic(x, _BINARY[type(op)], left, right, node)


@lowers(ast.BinOp)
def _binary_operation(x: Lowering, node: ast.BinOp) -> AnyValue:
    left = x.value(node.left)
    right = x.value(node.right)
    x.at(node)
    return binary(x, node.op, left, right, node)


@lowers(ast.UnaryOp)
def _unary_operation(x: Lowering, node: ast.UnaryOp) -> AnyValue:
    return unary(x, node.op, x.value(node.operand), node)


def plain(x: Lowering, node: ast.expr) -> bool:
    """Whether ``node`` may be evaluated even if Python would not; ``check`` reports divisions by zero."""
    if isinstance(node, ast.Subscript):
        base = node.value
        known = x.frame.names.get(base.id) if isinstance(base, ast.Name) else None
        return isinstance(known, TupleValue) and plain(x, node.slice)
    if isinstance(node, ast.Call):
        if not isinstance(node.func, (ast.Name, ast.Attribute)) or node.keywords:
            return False
        function = x.value(node.func)
        if not isinstance(function, PythonObject):
            return False
        known_plain = isinstance(function.value, (Scalar, Wide)) or (
            isinstance(function.value, (types.FunctionType, types.BuiltinFunctionType))
            and function.value in PLAIN_CALLS
        )
        return known_plain and all(plain(x, argument) for argument in node.args)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod):
        names = isinstance(node.right, ast.Constant | ast.Name | ast.Attribute)
        divisor = x.value(node.right) if names else None
        if not isinstance(divisor, Literal) or not divisor.value:
            return False
    children = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    return all(plain(x, child) for child in children)


@lowers(ast.BoolOp)
def _boolean_operation(x: Lowering, node: ast.BoolOp) -> AnyValue:
    is_and = isinstance(node.op, ast.And)
    if all(plain(x, operand) for operand in node.values[1:]):
        result = x.value(node.values[0])
        for operand in node.values[1:]:
            result = _combine(x, is_and, result, x.value(operand), node)
        return result
    # Short-circuit: operands that may not be evaluated are behind branches.
    result = x.value(node.values[0])
    if isinstance(result, Literal):
        if bool(result.value) != is_and:
            return result
        rest = node.values[1:]
        return x.value(
            rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(node.op, rest), node)
        )
    rest_node = node.values[1] if len(node.values) == 2 else ast.BoolOp(node.op, node.values[1:])
    ast.copy_location(rest_node, node.values[1])
    first = x.temporary(scalar(x, result, node))
    if is_and:
        return choose(x, first, lambda: x.value(rest_node), lambda: first, node)
    return choose(x, first, lambda: first, lambda: x.value(rest_node), node)


def _combine(x: Lowering, is_and: bool, left: AnyValue, right: AnyValue, node: ast.AST) -> AnyValue:
    if isinstance(left, Literal):
        return right if bool(left.value) == is_and else left
    a, b = scalar(x, left, node), scalar(x, right, node)
    if a.type is BOOL and b.type is BOOL:
        return x.operate_as("AND" if is_and else "OR", BOOL, a, b)
    _, sides = unify(x, [left, right], node, "'and'" if is_and else "'or'")
    condition = truth(x, a, node)
    return x.select(condition, *(reversed(sides) if is_and else sides))


def choose(
    x: Lowering,
    condition: AnyValue,
    if_true: Callable[[], AnyValue],
    if_false: Callable[[], AnyValue],
    node: ast.AST,
) -> AnyValue:
    """A value from one of two branches."""
    true_block, false_block, join = x.new_block(), x.new_block(), x.new_block()
    branch(x, condition, true_block, false_block, node)
    x.start(true_block)
    left = if_true()
    true_end = x.block
    x.resume(false_block)
    right = if_false()
    false_end = x.block
    type, what = _common(x, left, right, node)
    result = x.variable("", type)
    # Each side converts and assigns at its own end, once both types are known.
    for end, side in ((true_end, left), (false_end, right)):
        x.block = end
        x.set(result, as_type(x, side, type, node, what), retarget=False)
        end.terminator = Jump(join, x.place)
    x.resume(join)
    return result.value


def _common(
    x: Lowering, left: AnyValue, right: AnyValue, node: ast.AST
) -> tuple[Scalar | Wide, str]:
    """The common type of two alternatives, determined without emitting instructions, and what to call one of them."""
    what = "the alternatives of a choice"
    if is_wide(left, right):
        return wide_common(x, [left, right], node, what), what
    kinds: list[AnyValue] = []
    for side in (left, right):
        if not isinstance(side, (Value, Literal)):
            x.fail(
                node,
                f"only numbers can be chosen, not {describe(side)}: use if and else statements",
            )
        kinds.append(Value(Constant(0), side.type) if isinstance(side, Value) else side)
    scratch, x.block = x.block, Block(-1)
    try:
        return unify(x, kinds, node, what)[0], "the other alternative"
    finally:
        x.block = scratch


@lowers(ast.IfExp)
def _conditional(x: Lowering, node: ast.IfExp) -> AnyValue:
    condition = x.value(node.test)
    if isinstance(condition, Literal):
        return x.value(node.body if condition.value else node.orelse)
    if not (plain(x, node.body) and plain(x, node.orelse)):
        return choose(x, condition, lambda: x.value(node.body), lambda: x.value(node.orelse), node)
    test = truth(x, condition, node)
    left, right = x.value(node.body), x.value(node.orelse)
    type, what = _common(x, left, right, node)
    if isinstance(type, Wide):
        return wide_select(x, test, *(widened(x, side, type, node, what) for side in (left, right)))
    return x.select(test, *(coerce(x, side, type, node, what) for side in (left, right)))


@lowers(ast.Compare)
def _comparison(x: Lowering, node: ast.Compare) -> AnyValue:
    left = x.value(node.left)
    if len(node.ops) > 1 and not all(plain(x, c) for c in node.comparators[1:]):
        return _compare_chain(x, left, node, 0)
    result: AnyValue | None = None
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = x.value(comparator)
        one = compare(x, op, left, right, node)
        result = one if result is None else _combine(x, True, result, one, node)
        left = right
    assert result is not None
    return result


def _compare_chain(x: Lowering, left: AnyValue, node: ast.Compare, k: int) -> AnyValue:
    right = x.value(node.comparators[k])
    right = x.captured(right)
    first = compare(x, node.ops[k], left, right, node)
    if k + 1 == len(node.ops):
        return first
    return choose(
        x, first, lambda: _compare_chain(x, right, node, k + 1), lambda: Literal(False), node
    )


def branch_on(x: Lowering, node: ast.expr, if_true: Block, if_false: Block) -> None:
    """End the block with a branch on a condition; and, or and not become control flow if necessary."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        branch_on(x, node.operand, if_false, if_true)
        return
    if isinstance(node, ast.BoolOp) and not all(plain(x, operand) for operand in node.values[1:]):
        for operand in node.values[:-1]:
            following = x.new_block()
            if isinstance(node.op, ast.And):
                branch_on(x, operand, following, if_false)
            else:
                branch_on(x, operand, if_true, following)
            x.start(following)
        branch_on(x, node.values[-1], if_true, if_false)
        return
    condition = x.value(node)
    x.at(node)
    branch(x, condition, if_true, if_false, node)


def looks_constant(x: Lowering, node: ast.expr) -> bool:
    """Whether ``node`` has no local variable, call or access, so that evaluating it emits no instruction."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Call, ast.Subscript)):
            return False
        if isinstance(part, ast.Name) and not isinstance(
            x.frame.names.get(part.id), (Literal, TupleValue, type(None))
        ):
            return False
    return True
