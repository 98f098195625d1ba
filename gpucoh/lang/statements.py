"""Statements of the kernel language."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from gpucoh.base.quoting import quoted
from gpucoh.lang.calls import CallLowerer
from gpucoh.lang.emitter import is_positive
from gpucoh.lang.folding import signed
from gpucoh.lang.ir import Constant, Register
from gpucoh.lang.types import BOOL, F32, I32, U32, Scalar, Wide, refusal
from gpucoh.lang.values import (
    AnyValue,
    BufferValue,
    Frame,
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

#: Largest number of iterations of a loop over a tuple, which is unrolled.
MAX_UNROLLED = 64
REFUSED = {
    "Try": "try cannot be used: use if",
    "TryStar": "try cannot be used: use if",
    "Raise": "raise cannot be used: use a store of an error code into a buffer",
    "With": "with cannot be used: use plain statements",
    "Import": "import cannot be used: use it at the top of the file",
    "ImportFrom": "import cannot be used: use it at the top of the file",
    "FunctionDef": "functions cannot be defined in kernels: use a @gpucoh.device function outside",
    "AsyncFunctionDef": "functions cannot be defined in kernels: use a @gpucoh.device function outside",
    "ClassDef": "classes cannot be defined in kernels: use plain variables",
    "Global": "global cannot be used: use a buffer",
    "Nonlocal": "nonlocal cannot be used: use a buffer",
    "Delete": "del cannot be used: use another name",
    "Match": "match cannot be used: use if and elif",
    "AsyncFor": "async cannot be used: use for",
    "AsyncWith": "async cannot be used: use plain statements",
}


def pinned(value: AnyValue, name: str) -> AnyValue:
    """A value bound to a name: its temporaries must not become other variables."""
    if (
        isinstance(value, Value)
        and isinstance(value.operand, Register)
        and value.operand.name is None
    ):
        value.operand.name = name
    if isinstance(value, WideValue):
        for word in value.words:
            if isinstance(word, Register) and word.name is None:
                word.name = name
    if isinstance(value, TupleValue):
        for item in value.items:
            pinned(item, name)
    return value


class StatementLowerer(CallLowerer):
    """Lowers statements."""

    def bind_parameter(self, name: str, value: AnyValue, node: ast.AST) -> None:
        """A parameter: the value itself, or a variable if the body assigns to it."""
        if self.frame.unit.assigned[name] == 1:
            self.frame.names[name] = pinned(value, name)
        else:
            self.assign_name(name, value, node)

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Statements in order."""
        for statement in statements:
            self.at(statement)
            kind = type(statement).__name__
            method: Callable[[Any], None] | None = getattr(self, f"_do_{kind}", None)
            if method is None:
                self.fail(
                    statement,
                    REFUSED.get(kind, f"{kind} cannot be used in kernels: use simpler statements"),
                )
            method(statement)

    def _do_Pass(self, node: ast.Pass) -> None:
        pass

    def _do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and (
            isinstance(node.value.value, str) or node.value.value is ...
        ):
            return
        if isinstance(node.value, ast.Call):
            self.call(node.value)
        else:
            self.value(node.value)

    # ---- assignment -----------------------------------------------------------------------------

    def _do_Assign(self, node: ast.Assign) -> None:
        first = node.targets[0]
        if (
            isinstance(node.value, ast.Call)
            and isinstance(first, ast.Name)
            and len(node.targets) == 1
        ):
            array = self.declare_array(first.id, node.value)
            if array is not None:
                self.assign_name(first.id, array, node)
                return
        value = self.value(node.value)
        self.at(node)
        if len(node.targets) > 1 and isinstance(value, (Value, WideValue)):
            value = self.captured(value)
        for target in node.targets:
            self.assign(target, value, node, only=len(node.targets) == 1)

    def assign(self, target: ast.expr, value: AnyValue, node: ast.AST, only: bool = True) -> None:
        """Assign a lowered value to a target. ``only``: there is no other target."""
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value, node, retarget=only)
        elif isinstance(target, ast.Subscript):
            array = self.array(self.value(target.value), target)
            index = self.index(array, self.value(target.slice), target)
            self.at(node)
            self.write(array, index, value, node)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if not isinstance(value, TupleValue) or len(value.items) != len(target.elts):
                self.fail(node, f"{len(target.elts)} values are needed, got {describe(value)}")
            items = self.captured_items(value)
            for part, item in zip(target.elts, items, strict=True):
                self.assign(part, item, node, only=False)
        elif isinstance(target, ast.Starred):
            self.fail(node, "'*' in an assignment cannot be used: name each element")
        else:
            self._refuse_attribute(target, node)

    def _refuse_attribute(self, target: ast.expr, node: ast.AST) -> NoReturn:
        """Refuse an assignment to an attribute."""
        base = self.value(target.value) if isinstance(target, ast.Attribute) else None
        if isinstance(base, RecordValue) and isinstance(target, ast.Attribute):
            self._field(base, target)
            self.fail(
                node,
                f"'{target.attr}' of {describe(base)} cannot be assigned: use a variable, or an element of a buffer",
            )
        self.fail(node, "assignment to attributes cannot be used: use variables and buffers")

    def assign_name(
        self,
        name: str,
        value: AnyValue,
        node: ast.AST,
        retarget: bool = True,
        type: Scalar | Wide | None = None,
    ) -> None:
        """Assign to a variable; the first assignment gives it its type."""
        known = self.frame.names.get(name)
        wide = isinstance(known, Variable) and isinstance(known.type, Wide)
        if isinstance(value, WideValue) or isinstance(type, Wide) or wide:
            self.assign_wide(name, value, node, type)
            return
        if isinstance(value, (Value, Literal)):
            if known is not None and not isinstance(known, Variable):
                self.fail(
                    node,
                    f"'{name}' is {describe(known)} and cannot be assigned again: use another name",
                )
            assert known is None or not isinstance(known.type, Wide)
            assert not isinstance(type, Wide)
            if known is None:
                wanted = type or (value.type if isinstance(value, Value) else value.natural)
                line = self.frame.unit.first_line + getattr(node, "lineno", 1) - 1
                known = Variable(name, self.function.new_register(name), wanted, line)
                self.frame.names[name] = known
            if (
                isinstance(value, Literal)
                and isinstance(value.value, float)
                and known.type is not F32
            ):
                self.fail(
                    node,
                    f"'{name}' is {known.type.name} since line {known.line} "
                    f"and {quoted(value.value)} is not an integer: "
                    f"make '{name}' a float there, as 1.0 or {name}: gpucoh.f32 = 1",
                )
            assert isinstance(known.type, Scalar)
            word = self.coerce(value, known.type, node, f"'{name}' (line {known.line})")
            self.move(known.register, word, retarget)
            if self.frame.unit.assigned.get(name) == 1:
                known.register.positive = self._is_positive(word)
            return
        if self.frame.unit.assigned.get(name, 1) != 1 or isinstance(known, Variable):
            self.fail(
                node,
                f"'{name}' names {describe(value)} and is assigned more than once: use another name",
            )
        if (
            known is not None
        ):  # lanes that left in an earlier iteration would see the other value, too
            self.fail(
                node,
                f"'{name}' names {describe(value)} and is assigned in each iteration of a loop over a tuple: "
                "assign it before the loop, or use numbers",
            )
        self.frame.names[name] = pinned(self.captured(value), name)

    def _is_positive(self, word: Value) -> bool:
        last = self.block.instructions[-1] if self.block.instructions else None
        return is_positive(word) or bool(last and last.dest and last.dest.positive)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if not isinstance(node.target, ast.Name) or node.value is None:
            self.fail(node, "an annotation needs a name and a value: use name: gpucoh.i32 = 0")
        type = self.value(node.annotation)
        if not isinstance(type, PythonObject) or not isinstance(type.value, (Scalar, Wide)):
            otherwise = "a variable's type must be gpucoh.i32, u32, f32, i64, u64 or f64"
            what = f"the type of '{node.target.id}'"
            self.fail(node, refusal(what, getattr(type, "value", None), otherwise))
        known = self.frame.names.get(node.target.id)
        if isinstance(known, Variable) and known.type is not type.value:
            self.fail(
                node, f"'{known.name}' (line {known.line}) is {known.type.name}: use another name"
            )
        self.assign_name(node.target.id, self.value(node.value), node, type=type.value)

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            left = self.value(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            result = self.binary(node.op, left, self.value(node.value), node)
            self.assign_name(target.id, result, node)
        elif isinstance(target, ast.Subscript):
            array = self.array(self.value(target.value), target)
            index = self.index(array, self.value(target.slice), target)
            if isinstance(array, BufferValue):
                self.check_writable(array, node)
            index = self.temporary(index)
            left = self.read(array, index)
            result = self.binary(node.op, left, self.value(node.value), node)
            self.at(node)
            self.write(array, index, result, node)
        elif isinstance(target, ast.Starred):
            self.fail(node, "'*' in an assignment cannot be used: name each element")
        else:
            self._refuse_attribute(target, node)

    # ---- control flow ---------------------------------------------------------------------------

    def _do_If(self, node: ast.If) -> None:
        if isinstance(node.test, (ast.Name, ast.Constant, ast.Attribute, ast.Compare, ast.UnaryOp)):
            constant = self.value(node.test) if self._looks_constant(node.test) else None
            if isinstance(
                constant, Literal
            ):  # as a C preprocessor: the other branch is not compiled
                self.body(node.body if constant.value else node.orelse)
                return
        true_block, false_block, join = self.new_block(), self.new_block(), self.new_block()
        self.branch_on(node.test, true_block, false_block if node.orelse else join)
        self.resume(true_block)
        self.body(node.body)
        self.jump(join)
        if node.orelse:
            self.resume(false_block)
            self.body(node.orelse)
            self.jump(join)
        self.resume(join)

    def _looks_constant(self, node: ast.expr) -> bool:
        """Whether ``node`` has no local variable, call or access, so that evaluating it emits no instruction."""
        for part in ast.walk(node):
            if isinstance(part, (ast.Call, ast.Subscript)):
                return False
            if isinstance(part, ast.Name) and not isinstance(
                self.frame.names.get(part.id), (Literal, TupleValue, type(None))
            ):
                return False
        return True

    def _do_While(self, node: ast.While) -> None:
        if node.orelse:
            self.fail(node, "while ... else cannot be used: use a flag and an if")
        # Tested once before the loop and again at its end: one branch per iteration.
        first, again, exit = self.new_block(), self.new_block(), self.new_block()
        self.branch_on(node.test, first, exit)
        self.resume(first)
        self._loop_body(node.body, Loop(exit, again))
        self.start(again)
        self.at(node)
        self.branch_on(node.test, first, exit)
        self.resume(exit)

    def _loop_body(self, statements: Sequence[ast.stmt], loop: Loop) -> None:
        self.frame.loops.append(loop)
        self.body(statements)
        self.frame.loops.pop()

    def _do_Break(self, node: ast.Break) -> None:
        self.jump(self.frame.loops[-1].exit)

    def _do_Continue(self, node: ast.Continue) -> None:
        self.jump(self.frame.loops[-1].next)

    def _do_For(self, node: ast.For) -> None:
        if node.orelse:
            self.fail(node, "for ... else cannot be used: use a flag and an if")
        if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name):
            function = self.value(node.iter.func)
            if isinstance(function, PythonObject) and function.value is range:
                if not isinstance(node.target, ast.Name):
                    self.fail(node, "for i in range(...) needs one name: use a plain variable")
                self._range_loop(node, node.target.id, node.iter)
                return
        if not isinstance(node.iter, (ast.Name, ast.Tuple, ast.Attribute)):
            self.fail(
                node, "a for loop runs over range(...) or a constant tuple: use for i in range(...)"
            )
        items = self.value(node.iter)
        if not isinstance(items, TupleValue):
            self.fail(
                node, f"a for loop cannot run over {describe(items)}: use for i in range(...)"
            )
        self._unrolled(node, items)

    def _unrolled(self, node: ast.For, items: TupleValue) -> None:
        if len(items.items) > MAX_UNROLLED:
            self.fail(
                node,
                f"a loop over a tuple of {len(items.items)} elements (allowed: up to {MAX_UNROLLED}): use range(...)",
            )
        exit = self.new_block()
        names = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
        trips = self.captured_items(items)
        fixed = len(names) == 1 and all(self._fixed(names[0], item) for item in trips)
        with self.expansion(node, f"the loop over a tuple of {len(trips)} elements"):
            for item in trips:
                self.count_made()
                following = self.new_block()
                if fixed:
                    self.frame.names[names[0]] = item
                else:
                    self.assign(node.target, item, node)
                self._loop_body(node.body, Loop(exit, following))
                self.start(following)
        self.start(exit)
        for name in names:  # a constant of the last iteration only
            if not isinstance(self.frame.names.get(name), Variable):
                self.frame.names.pop(name, None)

    def _fixed(self, name: str, item: AnyValue) -> bool:
        """Whether a loop variable can be a constant."""
        return (
            self.frame.unit.assigned.get(name) == 1
            and name not in self.frame.copied_loop_names
            and (
                isinstance(item, (Literal, TupleValue))
                or (isinstance(item, Value) and isinstance(item.operand, Constant))
            )
        )

    def _range_loop(self, node: ast.For, name: str, call: ast.Call) -> None:
        if call.keywords or not 1 <= len(call.args) <= 3:
            self.fail(node, "range() takes one to three numbers")
        values: list[AnyValue] = [self.value(argument) for argument in call.args]
        if len(values) == 1:
            values.insert(0, Literal(0))
        if len(values) == 2:
            values.append(Literal(1))
        step_literal = values[2].value if isinstance(values[2], Literal) else None
        type, words = self._range_type(node, values, step_literal)
        if step_literal == 0 or (
            isinstance(words[2].operand, Constant) and words[2].operand.bits == 0
        ):
            self.fail(node, "the step of range() is 0: use another step")
        self._check_end(node, type, words[1], words[2])
        stop, step = self.temporary(words[1]), self.temporary(words[2])
        own = name not in self.frame.copied_loop_names
        counter = self._counter(node, name, type, words[0], own)
        first, again, exit = self.new_block(), self.new_block(), self.new_block()

        def test() -> Value:
            return self._range_test(Value(counter, type), stop, step, node)

        self.branch(test(), first, exit, node)
        self.resume(first)
        if not own:
            self.assign_name(name, Value(counter, type), node, retarget=False)
        self._loop_body(node.body, Loop(exit, again))
        self.start(again)
        self.at(node)
        self.move(counter, self.operate("ADD", type, Value(counter, type), step))
        self.branch(test(), first, exit, node)
        self.resume(exit)

    def _check_end(self, node: ast.For, type: Scalar, stop: Value, step: Value) -> None:
        """Refuse a constant range whose counter leaves the type before it reaches the stop: it would never end."""
        if not isinstance(stop.operand, Constant) or not isinstance(step.operand, Constant):
            return
        bits = stop.operand.bits, step.operand.bits
        end, by = bits if type is U32 else map(signed, bits)
        least, most = (0, 2**32 - 1) if type is U32 else (-(2**31), 2**31 - 1)
        if not least <= end + by - (1 if by > 0 else -1) <= most:
            self.fail(
                node,
                f"range() to {end} by {by}: the counter would leave {type.name} ({least} to {most}) and never end",
            )

    def _range_type(
        self, node: ast.For, values: list[AnyValue], step: float | None
    ) -> tuple[Scalar, list[Value]]:
        for value in values:
            if (isinstance(value, Value) and value.type is F32) or (
                isinstance(value, Literal) and isinstance(value.value, float)
            ):
                self.fail(node, "range() takes integers: use i32(...)")
        type, _ = self.unify(
            [v for k, v in enumerate(values) if k < 2 or step is None], node, "range()"
        )
        if type is BOOL:
            type = I32
        if type is U32 and step is not None and step < 0:
            self.fail(node, "range() of u32 cannot count down: convert with i32(...)")
        return type, [self.coerce(value, type, node, "range()") for value in values]

    def _counter(self, node: ast.For, name: str, type: Scalar, start: Value, own: bool) -> Register:
        """The register that counts: the variable itself if nothing else assigns or reads it."""
        if own:
            line = self.frame.unit.first_line + node.lineno - 1
            register = self.function.new_register(name)
            self.frame.names[name] = Variable(name, register, type, line)
        else:
            register = self.function.new_register(f"{name}'")
        self.move(register, start, retarget=False)
        return register

    def _range_test(self, counter: Value, stop: Value, step: Value, node: ast.AST) -> Value:
        """Whether the loop continues. For a step of unknown sign, both tests are made."""
        type = counter.type
        if type is U32 or is_positive(step):
            return self.operate("LT", type, counter, stop)
        if isinstance(step.operand, Constant):
            return self.operate("GT", type, counter, stop)
        zero = Value(Constant(0), I32)
        up = self.operate(
            "AND", I32, self.operate("GT", I32, step, zero), self.operate("LT", I32, counter, stop)
        )
        down = self.operate(
            "AND", I32, self.operate("LT", I32, step, zero), self.operate("GT", I32, counter, stop)
        )
        return self.operate_as("OR", BOOL, up, down)

    def _do_Return(self, node: ast.Return) -> None:
        frame = self.frame
        if frame.exit is None:
            if node.value is not None and not (
                isinstance(node.value, ast.Constant) and node.value.value is None
            ):
                self.fail(node, "a kernel returns no value: use a store into a buffer")
            self.exit()
            return
        if node.value is not None and not (
            isinstance(node.value, ast.Constant) and node.value.value is None
        ):
            if frame.returned and not frame.returns_value:
                self.fail(
                    node,
                    "a device function returns a value everywhere or nowhere: use return with a value",
                )
            self._set_result(frame, self.value(node.value), node)
        elif frame.returns_value:
            self.fail(
                node,
                "a device function returns a value everywhere or nowhere: use return with a value",
            )
        frame.returned = True
        self.jump(frame.exit)

    # ---- device functions -----------------------------------------------------------------------

    def _set_result(self, frame: Frame, value: AnyValue, node: ast.AST) -> None:
        items = value.items if isinstance(value, TupleValue) else (value,)
        if frame.result is None:
            line = frame.unit.first_line + getattr(node, "lineno", 1) - 1
            frame.result = tuple(self.result_variable(item, line, node) for item in items)
            frame.single_result = not isinstance(value, TupleValue)
        if len(items) != len(frame.result):
            self.fail(node, f"{len(frame.result)} values are returned elsewhere, {len(items)} here")
        frame.returns_value = True
        copies = [
            self.as_variable(i, v, node, f"the return value (line {v.line})")
            for i, v in zip(items, frame.result, strict=True)
        ]
        for variable, copy in zip(frame.result, copies, strict=True):
            if isinstance(copy, Value):
                self.move(variable.register, copy, retarget=len(copies) == 1)
            else:
                self.set_wide(variable, copy)
