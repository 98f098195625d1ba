"""The language of the models: a subset of Python's syntax, parsed and never executed.

A model has records (classes), procedures (functions without a result, which may change the state), functions, and
rules: procedures with ``@rule(guard)``. The fields of ``World`` are the state, and are named alone. A protocol's model
begins with ``use(..)``, and its definitions replace those of the models that it uses; fields of a record are added.
These records are no types of the model:

- ``Networks``: which ways each network has;
- ``Options``: the options that the model knows, with the only value that it covers, or ``int``: then the option is a
  constant, with its name in capitals;
- ``Ranges``: the largest value of a type of numbers from 0 on;
- ``Without``: tables over units that take no event in a model, and why;
- ``Parts``: tables over entries that the model has, and the controller of each.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources

WORLD, NETWORKS, OPTIONS, RANGES = "World", "Networks", "Options", "Ranges"
WITHOUT, PARTS = "Without", "Parts"
#: Calls that the printers translate themselves.
BUILT_IN = {"blank", "require", "impossible", "range"}


class ModelError(Exception):
    """A model outside the language: a fault of a model, not of its user."""


def text_of(name: str) -> str | None:
    """The text of a model, or None if there is none."""
    path = resources.files("gpucoh.export").joinpath("models", f"{name}.model")
    return path.read_text(encoding="utf-8") if path.is_file() else None


@dataclass
class Definitions:
    """What the files of a model define.

    Attributes
    ----------
    records : dict
        Fields of each record: names and annotations.
    functions : dict
        Functions, procedures and rules, by name.
    used : list of str
        The files, in order.
    """

    records: dict[str, dict[str, ast.expr]] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)

    def read(self, name: str) -> None:
        """Add a file, after those that it uses."""
        if name in self.used:
            return
        text = text_of(name)
        if text is None:
            raise ModelError(f"no model {name}")
        module = ast.parse(text, f"{name}.model")
        for item in module.body:
            if isinstance(item, ast.Expr) and isinstance(item.value, ast.Call):
                for other in item.value.args:
                    self.read(ast.unparse(other))
        self.used.append(name)
        self.add(module)

    def add(self, module: ast.Module) -> None:
        """Add the definitions of a module."""
        for item in module.body:
            if isinstance(item, ast.ClassDef):
                fields = self.records.setdefault(item.name, {})
                for line in item.body:
                    if isinstance(line, ast.AnnAssign):
                        fields[ast.unparse(line.target)] = line.annotation
            elif isinstance(item, ast.FunctionDef):
                self.functions.pop(item.name, None)
                self.functions[item.name] = item

    def rules(self) -> list[ast.FunctionDef]:
        """The moves, in order."""
        return [item for item in self.functions.values() if guard_of(item) is not None]

    def reachable(self, names: Iterator[str]) -> list[ast.FunctionDef]:
        """The functions that the named ones call, each after those that it calls itself."""
        out: dict[str, ast.FunctionDef] = {}

        def visit(name: str, path: tuple[str, ...]) -> None:
            if name in out or name in BUILT_IN:
                return
            if name in path:
                raise ModelError(f"{name} calls itself")
            if name not in self.functions:
                raise ModelError(
                    f"{path[-1] if path else 'the model'} calls {name}, which no model defines"
                )
            for other in calls(self.functions[name]):
                visit(other, (*path, name))
            out[name] = self.functions[name]

        for name in names:
            visit(name, ())
        return list(out.values())


def calls(item: ast.AST) -> list[str]:
    """The names of what is called within, in order."""
    return [
        node.func.id
        for node in ast.walk(item)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id != "rule"
    ]


def guard_of(item: ast.FunctionDef) -> ast.expr | None:
    """The guard of a rule; None: it is no rule."""
    for mark in item.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "rule":
            return mark.args[0]
    return None


def parameters(item: ast.FunctionDef) -> list[tuple[str, ast.expr]]:
    """Names and types of the parameters."""
    out = []
    for arg in item.args.args:
        if arg.annotation is None:
            raise ModelError(f"{item.name}: parameter {arg.arg} has no type")
        out.append((arg.arg, arg.annotation))
    return out


def body_of(item: ast.FunctionDef) -> list[ast.stmt]:
    """The statements, without the text that describes them."""
    return item.body[1:] if ast.get_docstring(item) is not None else item.body


def locals_of(item: ast.FunctionDef) -> dict[str, ast.expr]:
    """Names and types of the local variables."""
    return {
        ast.unparse(node.target): node.annotation
        for node in ast.walk(item)
        if isinstance(node, ast.AnnAssign)
    }


def number_of(node: ast.expr, constants: Mapping[str, int]) -> int:
    """The value of an expression of numbers and constants."""
    return int(
        eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}}, dict(constants))
    )


def is_array(annotation: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The types of an array's indices and items; None: it is no array."""
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
        index, item = annotation.slice.elts
        return index, item
    return None
