"""Assertions and prints of kernels."""

from __future__ import annotations

import ast

from gpucoh.base.quoting import quoted
from gpucoh.lang.conversions import scalar, truth
from gpucoh.lang.ir import Operand
from gpucoh.lang.lowering import Lowering, lowers
from gpucoh.lang.program import Report
from gpucoh.lang.types import I32, Scalar
from gpucoh.lang.values import Literal, PythonObject, TupleValue, Value

_Parts = list[str | tuple[Scalar, str]]


@lowers(ast.Assert)
def _assert(x: Lowering, node: ast.Assert) -> None:
    text = ast.unparse(node.test)
    if node.msg is not None:
        if isinstance(node.msg, ast.JoinedStr):
            x.fail(
                node.msg,
                "the text of an assert must be a constant string, not an f-string: the error names line, thread "
                'and block; print(f"...") before it shows values',
            )
        message = x.value(node.msg)
        if not isinstance(message, PythonObject) or not isinstance(message.value, str):
            x.fail(node.msg, "the text of an assert must be a constant string")
        text = message.value
    condition = x.value(node.test)
    x.at(node)
    if isinstance(condition, Literal) and condition.value:
        return
    _report(x, "ASSERT", [truth(x, condition, node).operand], [" ".join(text.split())])


def print_values(x: Lowering, node: ast.Call) -> None:
    """``print(...)`` of numbers, constant strings and f-strings; ``sep`` and ``end`` are constant."""
    between, end = " ", "\n"
    for keyword in node.keywords:
        value = x.value(keyword.value)
        if not isinstance(value, PythonObject) or not isinstance(value.value, str):
            x.fail(node, f"print() takes sep and end, constant strings, not {keyword.arg}")
        if keyword.arg == "sep":
            between = value.value
        elif keyword.arg == "end":
            end = value.value
        else:
            x.fail(node, f"print() takes sep and end in kernels, not {keyword.arg}")
    parts: _Parts = []
    values: list[Operand | None] = []
    for k, argument in enumerate(node.args):
        parts += [between] if k else []
        _print_one(x, argument, "", parts, values)
    x.at(node)
    _report(x, "PRINT", values or [scalar(x, Literal(0), node).operand], [*parts, end])


def _print_one(
    x: Lowering, node: ast.expr, format: str, parts: _Parts, values: list[Operand | None]
) -> None:
    if isinstance(node, ast.JoinedStr):
        for piece in node.values:
            if isinstance(piece, ast.FormattedValue):
                _print_one(x, piece.value, _format_of(x, piece), parts, values)
            else:
                _print_one(x, piece, "", parts, values)
        return
    value = x.value(node)
    if isinstance(value, PythonObject) and isinstance(value.value, str):
        parts.append(value.value)
    elif isinstance(value, TupleValue):
        x.fail(node, "a tuple cannot be printed in a kernel: print its elements")
    elif isinstance(value, Literal):
        parts.append(f"{value.value:{format}}")
    else:
        word: Value = x.temporary(scalar(x, value, node))
        try:
            f"{word.type.numpy.type(1).item():{format}}"
        except ValueError:
            x.fail(node, f"the format {quoted(format)} is not one of {word.type.name}")
        parts.append((word.type, format))
        values.append(word.operand)


def _format_of(x: Lowering, piece: ast.FormattedValue) -> str:
    spec = piece.format_spec
    if spec is None:
        return ""
    assert isinstance(spec, ast.JoinedStr)
    texts = [part.value for part in spec.values if isinstance(part, ast.Constant)]
    if len(texts) != len(spec.values):
        x.fail(piece, "a format in a kernel's print must be constant, as {x:.3f}")
    return "".join(str(part) for part in texts)


def _report(x: Lowering, op: str, words: list[Operand | None], parts: _Parts) -> None:
    number = len(x.function.reports)
    x.function.reports.append(Report(tuple(parts)))
    for word in words:
        x.emit(op, I32, (), [word], immediate=number)
