"""Assertions and prints of kernels."""

from __future__ import annotations

import ast

from gpucoh.base.quoting import quoted
from gpucoh.lang.expressions import ExpressionLowerer
from gpucoh.lang.ir import Operand
from gpucoh.lang.program import Report
from gpucoh.lang.types import I32, Scalar
from gpucoh.lang.values import Literal, PythonObject, TupleValue, Value

_Parts = list[str | tuple[Scalar, str]]


class ReportLowerer(ExpressionLowerer):
    """Lowers ``assert`` and ``print``."""

    def _do_Assert(self, node: ast.Assert) -> None:
        text = ast.unparse(node.test)
        if node.msg is not None:
            if isinstance(node.msg, ast.JoinedStr):
                self.fail(
                    node.msg,
                    "the text of an assert must be a constant string, not an f-string: the error names line, thread "
                    'and block; print(f"...") before it shows values',
                )
            message = self.value(node.msg)
            if not isinstance(message, PythonObject) or not isinstance(message.value, str):
                self.fail(node.msg, "the text of an assert must be a constant string")
            text = message.value
        condition = self.value(node.test)
        self.at(node)
        if isinstance(condition, Literal) and condition.value:
            return
        self._report("ASSERT", [self.truth(condition, node).operand], [" ".join(text.split())])

    def print(self, node: ast.Call) -> None:
        """``print(...)`` of numbers, constant strings and f-strings; ``sep`` and ``end`` are constant."""
        between, end = " ", "\n"
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if not isinstance(value, PythonObject) or not isinstance(value.value, str):
                self.fail(node, f"print() takes sep and end, constant strings, not {keyword.arg}")
            if keyword.arg == "sep":
                between = value.value
            elif keyword.arg == "end":
                end = value.value
            else:
                self.fail(node, f"print() takes sep and end in kernels, not {keyword.arg}")
        parts: _Parts = []
        values: list[Operand | None] = []
        for k, argument in enumerate(node.args):
            parts += [between] if k else []
            self._print_one(argument, "", parts, values)
        self.at(node)
        self._report("PRINT", values or [self.scalar(Literal(0), node).operand], [*parts, end])

    def _print_one(
        self, node: ast.expr, format: str, parts: _Parts, values: list[Operand | None]
    ) -> None:
        if isinstance(node, ast.JoinedStr):
            for piece in node.values:
                if isinstance(piece, ast.FormattedValue):
                    self._print_one(piece.value, self._format_of(piece), parts, values)
                else:
                    self._print_one(piece, "", parts, values)
            return
        value = self.value(node)
        if isinstance(value, PythonObject) and isinstance(value.value, str):
            parts.append(value.value)
        elif isinstance(value, TupleValue):
            self.fail(node, "a tuple cannot be printed in a kernel: print its elements")
        elif isinstance(value, Literal):
            parts.append(format_literal(value, format))
        else:
            word: Value = self.temporary(self.scalar(value, node))
            try:
                f"{word.type.numpy.type(1).item():{format}}"
            except ValueError:
                self.fail(node, f"the format {quoted(format)} is not one of {word.type.name}")
            parts.append((word.type, format))
            values.append(word.operand)

    def _format_of(self, piece: ast.FormattedValue) -> str:
        spec = piece.format_spec
        if spec is None:
            return ""
        assert isinstance(spec, ast.JoinedStr)
        texts = [part.value for part in spec.values if isinstance(part, ast.Constant)]
        if len(texts) != len(spec.values):
            self.fail(piece, "a format in a kernel's print must be constant, as {x:.3f}")
        return "".join(str(part) for part in texts)

    def _report(self, op: str, words: list[Operand | None], parts: _Parts) -> None:
        number = len(self.function.reports)
        self.function.reports.append(Report(tuple(parts)))
        for word in words:
            self.add_effect(op, I32, [word], immediate=number)


def format_literal(value: Literal, spec: str) -> str:
    """A Python number as print and an f-string give it."""
    return format(value.value, spec) if spec else str(value.value)
