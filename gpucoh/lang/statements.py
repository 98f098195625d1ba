"""Statements of the kernel language: control flow; and the lowering of a whole kernel."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from typing import Any

from gpucoh.lang.arithmetic import is_positive
from gpucoh.lang.calls import call, declare_array
from gpucoh.lang.conversions import branch, coerce, unify
from gpucoh.lang.expressions import branch_on, looks_constant
from gpucoh.lang.folding import signed
from gpucoh.lang.ir import Argument, Constant
from gpucoh.lang.lowering import Lowering, lowers
from gpucoh.lang.program import Parameter, word_name
from gpucoh.lang.source import SourceUnit
from gpucoh.lang.types import BOOL, F32, I32, U32, Scalar, Wide
from gpucoh.lang.values import (
    AnyValue,
    BufferValue,
    Literal,
    Loop,
    PythonObject,
    RecordValue,
    TupleValue,
    Value,
    Variable,
    WideValue,
    describe,
)
from gpucoh.lang.variables import assign, assign_name, bind_parameter, set_result

#: Largest number of iterations of a loop over a tuple, which is unrolled.
MAX_UNROLLED = 64


@lowers(ast.Pass)
def _pass(x: Lowering, node: ast.Pass) -> None:
    pass


@lowers(ast.Expr)
def _expression(x: Lowering, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant) and (
        isinstance(node.value.value, str) or node.value.value is ...
    ):
        return
    if isinstance(node.value, ast.Call):
        call(x, node.value)
    else:
        x.value(node.value)


@lowers(ast.Assign)
def _assignment(x: Lowering, node: ast.Assign) -> None:
    first = node.targets[0]
    if isinstance(node.value, ast.Call) and isinstance(first, ast.Name) and len(node.targets) == 1:
        array = declare_array(x, first.id, node.value)
        if array is not None:
            assign_name(x, first.id, array, node)
            return
    value = x.value(node.value)
    x.at(node)
    if len(node.targets) > 1 and isinstance(value, (Value, WideValue)):
        value = x.captured(value)
    for target in node.targets:
        assign(x, target, value, node, only=len(node.targets) == 1)


@lowers(ast.If)
def _if(x: Lowering, node: ast.If) -> None:
    if isinstance(node.test, (ast.Name, ast.Constant, ast.Attribute, ast.Compare, ast.UnaryOp)):
        constant = x.value(node.test) if looks_constant(x, node.test) else None
        if isinstance(constant, Literal):  # as a C preprocessor: the other branch is not compiled
            x.body(node.body if constant.value else node.orelse)
            return
    true_block, false_block, join = x.new_block(), x.new_block(), x.new_block()
    branch_on(x, node.test, true_block, false_block if node.orelse else join)
    x.resume(true_block)
    x.body(node.body)
    x.jump(join)
    if node.orelse:
        x.resume(false_block)
        x.body(node.orelse)
        x.jump(join)
    x.resume(join)


@lowers(ast.While)
def _while(x: Lowering, node: ast.While) -> None:
    if node.orelse:
        x.fail(node, "while ... else cannot be used: use a flag and an if")
    # Tested once before the loop and again at its end: one branch per iteration.
    first, again, exit = x.new_block(), x.new_block(), x.new_block()
    branch_on(x, node.test, first, exit)
    x.resume(first)
    _loop_body(x, node.body, Loop(exit, again))
    x.start(again)
    x.at(node)
    branch_on(x, node.test, first, exit)
    x.resume(exit)


def _loop_body(x: Lowering, statements: Sequence[ast.stmt], loop: Loop) -> None:
    x.frame.loops.append(loop)
    x.body(statements)
    x.frame.loops.pop()


@lowers(ast.Break)
def _break(x: Lowering, node: ast.Break) -> None:
    x.jump(x.frame.loops[-1].exit)


@lowers(ast.Continue)
def _continue(x: Lowering, node: ast.Continue) -> None:
    x.jump(x.frame.loops[-1].next)


@lowers(ast.For)
def _for(x: Lowering, node: ast.For) -> None:
    if node.orelse:
        x.fail(node, "for ... else cannot be used: use a flag and an if")
    if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name):
        function = x.value(node.iter.func)
        if isinstance(function, PythonObject) and function.value is range:
            if not isinstance(node.target, ast.Name):
                x.fail(node, "for i in range(...) needs one name: use a plain variable")
            _range_loop(x, node, node.target.id, node.iter)
            return
    if not isinstance(node.iter, (ast.Name, ast.Tuple, ast.Attribute)):
        x.fail(node, "a for loop runs over range(...) or a constant tuple: use for i in range(...)")
    items = x.value(node.iter)
    if not isinstance(items, TupleValue):
        x.fail(node, f"a for loop cannot run over {describe(items)}: use for i in range(...)")
    _unrolled(x, node, items)


def _unrolled(x: Lowering, node: ast.For, items: TupleValue) -> None:
    if len(items.items) > MAX_UNROLLED:
        x.fail(
            node,
            f"a loop over a tuple of {len(items.items)} elements (allowed: up to {MAX_UNROLLED}): use range(...)",
        )
    exit = x.new_block()
    names = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
    trips = x.captured_items(items)
    fixed = len(names) == 1 and all(_fixed(x, names[0], item) for item in trips)
    with x.expansion(node, f"the loop over a tuple of {len(trips)} elements"):
        for item in trips:
            x.count_made()
            following = x.new_block()
            if fixed:
                x.frame.names[names[0]] = item
            else:
                assign(x, node.target, item, node)
            _loop_body(x, node.body, Loop(exit, following))
            x.start(following)
    x.start(exit)
    for name in names:  # a constant of the last iteration only
        if not isinstance(x.frame.names.get(name), Variable):
            x.frame.names.pop(name, None)


def _fixed(x: Lowering, name: str, item: AnyValue) -> bool:
    """Whether a loop variable can be a constant."""
    return (
        x.frame.unit.assigned.get(name) == 1
        and name not in x.frame.copied_loop_names
        and (
            isinstance(item, (Literal, TupleValue))
            or (isinstance(item, Value) and isinstance(item.operand, Constant))
        )
    )


def _range_loop(x: Lowering, node: ast.For, name: str, call: ast.Call) -> None:
    if call.keywords or not 1 <= len(call.args) <= 3:
        x.fail(node, "range() takes one to three numbers")
    values: list[AnyValue] = [x.value(argument) for argument in call.args]
    if len(values) == 1:
        values.insert(0, Literal(0))
    if len(values) == 2:
        values.append(Literal(1))
    step_literal = values[2].value if isinstance(values[2], Literal) else None
    type, words = _range_type(x, node, values, step_literal)
    if step_literal == 0 or (isinstance(words[2].operand, Constant) and words[2].operand.bits == 0):
        x.fail(node, "the step of range() is 0: use another step")
    _check_end(x, node, type, words[1], words[2])
    stop, step = x.temporary(words[1]), x.temporary(words[2])
    counter = _counter(x, node, name, type, words[0])
    now = Value(counter.registers[0], type)
    first, again, exit = x.new_block(), x.new_block(), x.new_block()

    def test() -> Value:
        return _range_test(x, now, stop, step)

    branch(x, test(), first, exit, node)
    x.resume(first)
    if name in x.frame.copied_loop_names:
        assign_name(x, name, counter.value, node, retarget=False)
    _loop_body(x, node.body, Loop(exit, again))
    x.start(again)
    x.at(node)
    x.set(counter, x.operate("ADD", type, now, step))
    branch(x, test(), first, exit, node)
    x.resume(exit)


def _check_end(x: Lowering, node: ast.For, type: Scalar, stop: Value, step: Value) -> None:
    """Refuse a constant range whose counter leaves the type before it reaches the stop: it would never end."""
    if not isinstance(stop.operand, Constant) or not isinstance(step.operand, Constant):
        return
    bits = stop.operand.bits, step.operand.bits
    end, by = bits if type is U32 else map(signed, bits)
    least, most = type.limits
    if not least <= end + by - (1 if by > 0 else -1) <= most:
        x.fail(
            node,
            f"range() to {end} by {by}: the counter would leave {type.name} ({least} to {most}) and never end",
        )


def _range_type(
    x: Lowering, node: ast.For, values: list[AnyValue], step: float | None
) -> tuple[Scalar, list[Value]]:
    for value in values:
        if (isinstance(value, Value) and value.type is F32) or (
            isinstance(value, Literal) and isinstance(value.value, float)
        ):
            x.fail(node, "range() takes integers: use i32(...)")
    type, _ = unify(x, [v for k, v in enumerate(values) if k < 2 or step is None], node, "range()")
    if type is BOOL:
        type = I32
    if type is U32 and step is not None and step < 0:
        x.fail(node, "range() of u32 cannot count down: convert with i32(...)")
    return type, [coerce(x, value, type, node, "range()") for value in values]


def _counter(x: Lowering, node: ast.For, name: str, type: Scalar, start: Value) -> Variable:
    """What counts: the loop's variable itself if nothing else assigns or reads it."""
    if name in x.frame.copied_loop_names:
        counter = x.variable(f"{name}'", type)
    else:
        counter = x.frame.names[name] = x.variable(name, type, x.line_of(node))
    x.set(counter, start, retarget=False)
    return counter


def _range_test(x: Lowering, counter: Value, stop: Value, step: Value) -> Value:
    """Whether the loop continues. For a step of unknown sign, both tests are made."""
    type = counter.type
    if type is U32 or is_positive(step):
        return x.operate("LT", type, counter, stop)
    if isinstance(step.operand, Constant):
        return x.operate("GT", type, counter, stop)
    zero = Value(Constant(0), I32)
    up = x.operate(
        "AND", I32, x.operate("GT", I32, step, zero), x.operate("LT", I32, counter, stop)
    )
    down = x.operate(
        "AND", I32, x.operate("LT", I32, step, zero), x.operate("GT", I32, counter, stop)
    )
    return x.operate_as("OR", BOOL, up, down)


@lowers(ast.Return)
def _return(x: Lowering, node: ast.Return) -> None:
    frame, given = x.frame, node.value
    if isinstance(given, ast.Constant) and given.value is None:
        given = None
    if frame.exit is None:
        if given is not None:
            x.fail(node, "a kernel returns no value: use a store into a buffer")
        x.exit()
        return
    if frame.returned and frame.returns_value != (given is not None):
        x.fail(
            node,
            "a device function returns a value everywhere or nowhere: use return with a value",
        )
    if given is not None:
        set_result(x, x.value(given), node)
    frame.returned = True
    x.jump(frame.exit)


def lower(unit: SourceUnit, lanes: int, parameters: Sequence[Parameter]) -> Lowering:
    """Lower a kernel: its function, the units that it consists of, and what it depends on."""
    x = Lowering(unit, lanes)
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
            x.frame.names[name] = RecordValue(name, record, fields)
        elif isinstance(fields[""], BufferValue):
            x.frame.names[name] = fields[""]
        else:
            bind_parameter(x, name, fields[""], unit.tree)
    x.body(unit.tree.body)
    x.exit()
    return x
