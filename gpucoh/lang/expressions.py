"""Expressions of the kernel language: from Python's syntax tree to typed words."""

from __future__ import annotations

import ast
import builtins
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from gpucoh.base.wording import unknown
from gpucoh.lang import folding, intrinsics, operations
from gpucoh.lang.hints import hint, nearest
from gpucoh.lang.ir import Block, Constant, Jump, LocalArray
from gpucoh.lang.types import BOOL, F32, I32, MissingType, Scalar, Wide, missing_type
from gpucoh.lang.values import (
    AnyValue,
    Array,
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
)
from gpucoh.lang.wide import WideEmitter, is_wide

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "ADD",
    ast.Sub: "SUB",
    ast.Mult: "MUL",
    ast.Div: "TRUEDIV",
    ast.FloorDiv: "DIV",
    ast.Mod: "MOD",
    ast.BitAnd: "AND",
    ast.BitOr: "OR",
    ast.BitXor: "XOR",
    ast.LShift: "SHL",
    ast.RShift: "SHR",
}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "EQ",
    ast.NotEq: "NE",
    ast.Lt: "LT",
    ast.LtE: "LE",
    ast.Gt: "GT",
    ast.GtE: "GE",
}
#: Intrinsic -> its special register, without the axis.
REGISTERS = {
    "thread_id": "THREAD", "block_id": "BLOCK", "block_dim": "BLOCK_DIM", "grid_dim": "GRID_DIM", "lane_id": "LANE",
    "warp_id": "WARP", "core_id": "CORE", "clock": "CLOCK",
}  # fmt: skip
_OTHERS = ("global_id", "warp_size", "min", "max", "abs", "bitcast")
#: Calls without memory access, which may be evaluated even if Python would not: they need no branch.
PLAIN_CALLS = frozenset(
    {getattr(intrinsics, name) for name in (*REGISTERS, *_OTHERS) if name != "clock"}
    | {
        getattr(operations, name)
        for name, row in operations.OPERATIONS.items()
        if not row.over_warp
    }
    | {builtins.min, builtins.max, builtins.abs, builtins.len}
)
REFUSED = {
    "Dict": "dictionaries cannot be used: use a buffer or nested ifs",
    "Set": "sets cannot be used: use comparisons joined by or",
    "List": "lists cannot be used: use a tuple of constants, gpucoh.local(...) or gpucoh.shared(...)",
    "ListComp": "comprehensions cannot be used: use a for loop",
    "SetComp": "comprehensions cannot be used: use a for loop",
    "DictComp": "comprehensions cannot be used: use a for loop",
    "GeneratorExp": "generators cannot be used: use a for loop",
    "Lambda": "lambda cannot be used: use a @gpucoh.device function",
    "NamedExpr": "':=' cannot be used: use an assignment of its own",
    "JoinedStr": "strings cannot be used: use numbers, or print(f'...')",
    "Await": "await cannot be used: use a plain function",
    "Yield": "yield cannot be used: use a buffer to return values",
    "YieldFrom": "yield cannot be used: use a buffer to return values",
    "Starred": "'*' arguments cannot be used: use each argument by name",
    "Slice": "slices cannot be used: use one index and a loop",
}
REFUSED_CALLS: dict[str, str] = {
    "int": "use gpucoh.i32(...)",
    "float": "use gpucoh.f32(...)",
    "bool": "use a comparison, as x != 0",
    "round": "use gpucoh.round(x)",
    "pow": "use **, or gpucoh.pow(x, y) of f32",
    "sum": "use a loop, or gpucoh.reduce_add(x) over the warp",
    "any": "use gpucoh.any(x), over the warp",
    "all": "use gpucoh.all(x), over the warp",
    "divmod": "use // and %",
    "range": "use it in: for i in range(...)",
    "enumerate": "use for i in range(...)",
    "zip": "use for i in range(...)",
    "input": "use an argument",
}


class ExpressionLowerer(WideEmitter):
    """Lowers expressions. Method names follow the tree's node names."""

    def call(self, node: ast.Call) -> AnyValue | None:
        """Lower a call; None if it has no value. (Statements and calls are mutually recursive.)"""
        raise NotImplementedError

    def value(self, node: ast.expr) -> AnyValue:
        """The value of an expression."""
        self.at(node)
        kind = type(node).__name__
        method: Callable[[Any], AnyValue] | None = getattr(self, f"_lower_{kind}", None)
        if method is None:
            self.fail(
                node, REFUSED.get(kind, f"{kind} cannot be used in kernels: use simple arithmetic")
            )
        return method(node)

    # ---- names and constants --------------------------------------------------------------------

    def _lower_Constant(self, node: ast.Constant) -> AnyValue:
        if isinstance(node.value, complex):
            self.fail(node, "complex numbers cannot be used: use two f32")
        if isinstance(node.value, (bool, int, float)):
            return Literal(node.value)
        return PythonObject(node.value)

    def _lower_Name(self, node: ast.Name) -> AnyValue:
        known = self.frame.names.get(node.id)
        if isinstance(known, Variable):
            return known.value
        if known is not None:
            return known
        if node.id in self.frame.unit.assigned:
            self.fail(node, f"'{node.id}' is read before it is assigned: assign it first")
        return from_python(self.static_name(node))

    def static_name(self, node: ast.Name) -> Any:
        """The Python object that an outside name refers to; recorded for the cache."""
        found, value = self.frame.unit.lookup(node.id)
        if not found:
            meant = nearest(node.id, intrinsics.NAMES)
            near = hint(node.id) or (f"; did you mean {meant}?" if meant else "")
            self.fail(node, f"name '{node.id}' is not defined{near}")
        self.depend(node.id, value)
        return value

    def depend(self, name: str, value: Any) -> None:
        """Record that the program depends on a name's value."""

    def _lower_Attribute(self, node: ast.Attribute) -> AnyValue:
        base = self.value(node.value)
        if node.attr == "shape" and isinstance(base, (BufferValue, SharedArray, LocalArray)):
            return TupleValue(self.shape(base))
        if isinstance(base, RecordValue):
            return self._field(base, node)
        if not isinstance(base, PythonObject):
            self.fail(
                node,
                f"{describe(base)} has no attribute '{node.attr}' in kernels: use an argument instead",
            )
        try:
            found = getattr(base.value, node.attr)
        except AttributeError as error:
            if isinstance(error, MissingType):
                self.fail(node, missing_type(node.attr))
            if base.value is sys.modules["gpucoh"]:
                meant = "" if hint(node.attr) else nearest(node.attr, intrinsics.NAMES)
                self.fail(node, f"{error}{f'; did you mean {meant}?' if meant else ''}")
            self.fail(node, f"{describe(base)} has no attribute '{node.attr}'")
        if base.value is not sys.modules["gpucoh"]:  # its names do not change
            self.depend_attribute(base.value, node.attr, found)
        return from_python(found)

    def _field(self, record: RecordValue, node: ast.Attribute) -> AnyValue:
        """A field of a record."""
        found = record.fields.get(node.attr)
        if found is None:
            meant = unknown("field", node.attr, record.fields)
            self.fail(node, f"{describe(record)} ({record.type.__name__}): {meant}")
        return found

    def depend_attribute(self, base: Any, name: str, value: Any) -> None:
        """Record that the program depends on an attribute's value."""

    def _lower_Tuple(self, node: ast.Tuple) -> AnyValue:
        return TupleValue(tuple(self.value(item) for item in node.elts))

    def array(self, value: AnyValue, node: ast.AST) -> Array:
        """``value`` as an array."""
        if isinstance(value, (BufferValue, SharedArray, LocalArray)):
            return value
        if isinstance(value, PythonObject) and isinstance(value.value, np.ndarray):
            self.fail(node, "NumPy arrays cannot be used from outside: use a Buffer argument")
        return self.fail(node, f"an array is needed here, not {describe(value)}")

    def _lower_Subscript(self, node: ast.Subscript) -> AnyValue:
        base = self.value(node.value)
        if isinstance(base, TupleValue):
            k = self.constant_integer(self.value(node.slice), node, "the index of a tuple")
            if not -len(base.items) <= k < len(base.items):
                self.fail(node, f"index {k} of a tuple of {len(base.items)} elements")
            item: AnyValue = base.items[k]
            return item
        array = self.array(base, node)
        given = self.value(node.slice)
        axes = len(getattr(array, "shape", ()))
        if axes > 1 and not isinstance(given, TupleValue):
            names = ", ".join("ijk"[:axes])
            self.fail(
                node,
                f"{describe(array)} takes {axes} indices in one pair of brackets, got 1: "
                f"write {ast.unparse(node.value)}[{names}]",
            )
        index = self.index(array, given, node)
        self.at(node)
        return self.read(array, index)

    # ---- arithmetic -----------------------------------------------------------------------------

    def binary(self, op: ast.operator, left: AnyValue, right: AnyValue, node: ast.AST) -> AnyValue:
        """A binary operator on lowered operands."""
        if isinstance(op, ast.Pow):
            return self.power(left, right, node)
        if type(op) not in BINARY:
            self.fail(node, "'@' cannot be used: use loops")
        for side in (left, right):
            if not isinstance(side, (Value, WideValue, Literal)):
                self.fail(node, f"a number is needed here, not {describe(side)}")
        if is_wide(left, right):
            return self.wide_arithmetic(BINARY[type(op)], left, right, node)
        return self.arithmetic(BINARY[type(op)], left, right, node)

    def _lower_BinOp(self, node: ast.BinOp) -> AnyValue:
        left = self.value(node.left)
        right = self.value(node.right)
        self.at(node)
        return self.binary(node.op, left, right, node)

    def _lower_UnaryOp(self, node: ast.UnaryOp) -> AnyValue:
        given = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return self.negate(given, node)
        if isinstance(given, Literal):
            number = given.value
            if isinstance(node.op, ast.USub):
                return Literal(-number)
            if isinstance(node.op, ast.UAdd):
                return Literal(+number)
            if isinstance(number, (float, bool)):
                self.fail(node, "'~' works on integers")
            return Literal(~number)
        if isinstance(given, WideValue):
            return self.wide_unary(node.op, given, node)
        word = self.scalar(given, node)
        if isinstance(node.op, ast.Invert):
            if word.type in (F32, BOOL):
                self.fail(
                    node, f"'~' works on integers, not {word.type.name}: use not, or i32(...)"
                )
            return self.operate("NOT", word.type, word)
        number_type = I32 if word.type is BOOL else word.type
        if isinstance(node.op, ast.UAdd):
            return Value(word.operand, number_type)
        return self.operate("NEG", number_type, word)

    def negate(self, value: AnyValue, node: ast.AST) -> AnyValue:
        """``not value``."""
        if isinstance(value, Literal):
            return Literal(not value.value)
        word = self.truth(value, node)
        return self.operate("EQ", I32, word, Value(Constant(0), I32))

    # ---- conditions -----------------------------------------------------------------------------

    def plain(self, node: ast.expr) -> bool:
        """Whether ``node`` may be evaluated even if Python would not; ``check`` reports divisions by zero."""
        if isinstance(node, ast.Subscript):
            base = node.value
            known = self.frame.names.get(base.id) if isinstance(base, ast.Name) else None
            return isinstance(known, TupleValue) and self.plain(node.slice)
        if isinstance(node, ast.Call):
            if not isinstance(node.func, (ast.Name, ast.Attribute)) or node.keywords:
                return False
            function = self.value(node.func)
            if not isinstance(function, PythonObject):
                return False
            known_plain = isinstance(function.value, (Scalar, Wide)) or (
                isinstance(function.value, (types.FunctionType, types.BuiltinFunctionType))
                and function.value in PLAIN_CALLS
            )
            return known_plain and all(self.plain(argument) for argument in node.args)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod):
            names = isinstance(node.right, ast.Constant | ast.Name | ast.Attribute)
            divisor = self.value(node.right) if names else None
            if not isinstance(divisor, Literal) or not divisor.value:
                return False
        children = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        return all(self.plain(child) for child in children)

    def _lower_BoolOp(self, node: ast.BoolOp) -> AnyValue:
        is_and = isinstance(node.op, ast.And)
        if all(self.plain(operand) for operand in node.values[1:]):
            result = self.value(node.values[0])
            for operand in node.values[1:]:
                result = self._combine(is_and, result, self.value(operand), node)
            return result
        # Short-circuit: operands that may not be evaluated are behind branches.
        result = self.value(node.values[0])
        if isinstance(result, Literal):
            if bool(result.value) != is_and:
                return result
            rest = node.values[1:]
            return self.value(
                rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(node.op, rest), node)
            )
        rest_node = (
            node.values[1] if len(node.values) == 2 else ast.BoolOp(node.op, node.values[1:])
        )
        ast.copy_location(rest_node, node.values[1])
        first = self.temporary(self.scalar(result, node))

        def rest_value() -> AnyValue:
            return self.value(rest_node)

        def first_value() -> AnyValue:
            return first

        return self.choose(
            first,
            rest_value if is_and else first_value,
            first_value if is_and else rest_value,
            node,
        )

    def _combine(self, is_and: bool, left: AnyValue, right: AnyValue, node: ast.AST) -> AnyValue:
        if isinstance(left, Literal):
            return right if bool(left.value) == is_and else left
        a, b = self.scalar(left, node), self.scalar(right, node)
        if a.type is BOOL and b.type is BOOL:
            return self.operate_as("AND" if is_and else "OR", BOOL, a, b)
        _, (x, y) = self.unify([left, right], node, "'and'" if is_and else "'or'")
        condition = self.truth(a, node)
        return self.select(condition, y if is_and else x, x if is_and else y)

    def choose(
        self,
        condition: AnyValue,
        if_true: Callable[[], AnyValue],
        if_false: Callable[[], AnyValue],
        node: ast.AST,
    ) -> AnyValue:
        """A value from one of two branches."""
        true_block, false_block, join = self.new_block(), self.new_block(), self.new_block()
        self.branch(condition, true_block, false_block, node)
        self.start(true_block)
        left = if_true()
        true_end = self.block
        self.resume(false_block)
        right = if_false()
        false_end = self.block
        if is_wide(left, right):
            return self._choose_wide([(true_end, left), (false_end, right)], join, node)
        type, _ = self._common(left, right, node)
        result = self.function.new_register()
        # Each side converts and assigns at its own end, once both types are known.
        for end, side in ((true_end, left), (false_end, right)):
            self.block = end
            self.move(
                result, self.coerce(side, type, node, "the other alternative"), retarget=False
            )
            end.terminator = Jump(join, self.place)
        self.resume(join)
        return Value(result, type)

    def _choose_wide(
        self, sides: list[tuple[Block, AnyValue]], join: Block, node: ast.AST
    ) -> WideValue:
        """The end of :meth:`choose` for numbers of 64 bits."""
        what = "the alternatives of a choice"
        kind = self.wide_common([side for _, side in sides], node, what)
        result = self.pair(kind)
        for end, side in sides:
            self.block = end
            self.move_pair(result, self.widened(side, kind, node, what))
            end.terminator = Jump(join, self.place)
        self.resume(join)
        return result

    def _common(
        self, left: AnyValue, right: AnyValue, node: ast.AST
    ) -> tuple[Scalar, list[AnyValue]]:
        """The common type of two alternatives, determined without emitting instructions."""
        kinds = []
        for side in (left, right):
            if not isinstance(side, (Value, Literal)):
                self.fail(
                    node,
                    f"only numbers can be chosen, not {describe(side)}: use if and else statements",
                )
            kinds.append(Value(Constant(0), side.type) if isinstance(side, Value) else side)
        scratch, self.block = self.block, Block(-1)
        try:
            type, _ = self.unify(list(kinds), node, "the alternatives of a choice")
        finally:
            self.block = scratch
        return type, [left, right]

    def _lower_IfExp(self, node: ast.IfExp) -> AnyValue:
        condition = self.value(node.test)
        if isinstance(condition, Literal):
            return self.value(node.body if condition.value else node.orelse)
        if not (self.plain(node.body) and self.plain(node.orelse)):
            return self.choose(
                condition, lambda: self.value(node.body), lambda: self.value(node.orelse), node
            )
        test = self.truth(condition, node)
        left, right = self.value(node.body), self.value(node.orelse)
        if is_wide(left, right):
            what = "the alternatives of a choice"
            kind = self.wide_common([left, right], node, what)
            sides = [self.widened(side, kind, node, what) for side in (left, right)]
            return self.wide_select(test, *sides)
        type, _ = self._common(left, right, node)
        what = "the other alternative"
        return self.select(
            test, self.coerce(left, type, node, what), self.coerce(right, type, node, what)
        )

    def _lower_Compare(self, node: ast.Compare) -> AnyValue:
        left = self.value(node.left)
        if len(node.ops) > 1 and not all(self.plain(c) for c in node.comparators[1:]):
            return self._compare_chain(left, node, 0)
        result: AnyValue | None = None
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            one = self.compare(op, left, right, node)
            result = one if result is None else self._combine(True, result, one, node)
            left = right
        assert result is not None
        return result

    def _compare_chain(self, left: AnyValue, node: ast.Compare, k: int) -> AnyValue:
        right = self.value(node.comparators[k])
        right = self.captured(right)
        first = self.compare(node.ops[k], left, right, node)
        if k + 1 == len(node.ops):
            return first
        return self.choose(
            first, lambda: self._compare_chain(right, node, k + 1), lambda: Literal(False), node
        )

    def compare(self, op: ast.cmpop, left: AnyValue, right: AnyValue, node: ast.AST) -> AnyValue:
        """One comparison."""
        if type(op) not in COMPARE:
            self.fail(node, "'is' and 'in' cannot be used: use == and !=, joined by or")
        if isinstance(left, Literal) and isinstance(right, Literal):
            return Literal(folding.COMPARISONS[COMPARE[type(op)]](left.value, right.value))
        if is_wide(left, right):
            return self.wide_compare(COMPARE[type(op)], left, right, node)
        kind, (a, b) = self.unify([left, right], node, "a comparison")
        return self.operate(COMPARE[type(op)], I32 if kind is BOOL else kind, a, b)

    def branch_on(self, node: ast.expr, if_true: Block, if_false: Block) -> None:
        """End the block with a branch on a condition; and, or and not become control flow if necessary."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.branch_on(node.operand, if_false, if_true)
            return
        if isinstance(node, ast.BoolOp) and not all(
            self.plain(operand) for operand in node.values[1:]
        ):
            for operand in node.values[:-1]:
                following = self.new_block()
                if isinstance(node.op, ast.And):
                    self.branch_on(operand, following, if_false)
                else:
                    self.branch_on(operand, if_true, following)
                self.start(following)
            self.branch_on(node.values[-1], if_true, if_false)
            return
        condition = self.value(node)
        self.at(node)
        self.branch(condition, if_true, if_false, node)

    def _lower_Call(self, node: ast.Call) -> AnyValue:
        result = self.call(node)
        if result is None:
            self.fail(node, "this call gives no value: use it as a statement of its own")
        return result
