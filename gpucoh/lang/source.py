"""The source text of a kernel, the meaning of its names, and errors with locations."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import tokenize
from collections.abc import Callable
from types import CodeType
from typing import Any

from gpucoh.base.errors import KernelError, shown_file
from gpucoh.base.parsing import parsed
from gpucoh.base.quoting import quoted


def file_of(function: Callable[..., Any]) -> list[str]:
    """The lines of the file that defines a function, as they are now; empty if there are none.

    Taken when the function is defined: at its first launch the file may have been edited.
    """
    filename = inspect.unwrap(function).__code__.co_filename
    linecache.checkcache(filename)
    return linecache.getlines(filename, function.__globals__)


class SourceUnit:
    """One Python function: its text, syntax tree and outside names.

    Attributes
    ----------
    filename : str
    first_line : int
        Line of the file, from 1, where the text begins (a decorator's line, if any).
    lines : tuple of str
        The text.
    tree : ast.FunctionDef
        Its line numbers count from 1 at ``first_line``.
    """

    def __init__(self, function: Callable[..., Any], what: str, file: list[str]) -> None:
        self.function = function
        self.name: str = function.__name__
        self.what = what  # "kernel" or "device function"
        named = inspect.getsourcefile(function) or "<unknown>"
        self.filename = shown_file(named)
        if self.filename != named:  # a profile finds the text of a cell by the cell's name
            linecache.cache[self.filename] = (sum(map(len, file)), None, file, self.filename)
        self.first_line: int = inspect.unwrap(function).__code__.co_firstlineno
        lines = file[self.first_line - 1 :]
        try:
            lines = inspect.getblock(lines)
            module = parse("".join(lines))
        except (SyntaxError, tokenize.TokenError):
            lines = []
        if not lines:
            raise KernelError(
                f"{self.filename}:{self.first_line}: the source of {what} '{self.name}' cannot be read: "
                "define it with def in a file or a notebook cell",
                self.filename,
                self.first_line,
            )
        self.lines = tuple(line.rstrip("\n") for line in lines)
        tree = module.body[0] if module.body else None
        if not isinstance(tree, ast.FunctionDef):
            raise KernelError(
                f"{self.filename}:{self.first_line}: a {what} must be a plain function: use def, "
                "not lambda, async def or a class",
                self.filename,
                self.first_line,
            )
        self.tree = tree
        self.assigned = assignment_counts(tree)

    @functools.cached_property
    def copied_loop_names(self) -> set[str]:
        """Loop variables that are copies of the loop's counter."""
        return loop_names_to_copy(self.tree)

    def lookup(self, name: str) -> tuple[bool, Any]:
        """Whether a name that is not local is known, and its value: closure, then globals, then builtins."""
        cells = self.function.__closure__ or ()
        for free, cell in zip(self.function.__code__.co_freevars, cells, strict=True):
            if free == name:
                try:
                    return True, cell.cell_contents
                except ValueError:
                    return False, None
        if name in self.function.__globals__:
            return True, self.function.__globals__[name]
        if hasattr(builtins, name):
            return True, getattr(builtins, name)
        return False, None

    def annotation(self, argument: ast.arg) -> Any:
        """The value of a parameter's annotation; strings are evaluated; None without one."""
        value = self.function.__annotations__.get(argument.arg)
        if not isinstance(value, str):
            return value
        names = {name: self.lookup(name)[1] for name in self.function.__code__.co_freevars}
        try:
            return eval(_expression(value), self.function.__globals__, names)
        except KernelError as error:
            raise self.error(argument, str(error)) from None
        except Exception as error:
            raise self.error(
                argument, f"the annotation {quoted(value)} cannot be evaluated: {error}"
            ) from None

    def error(self, node: ast.AST | None, message: str) -> KernelError:
        """A KernelError at a node of the tree: ``file:line: kernel 'name': message``."""
        offset = getattr(node, "lineno", 1) - 1
        line = self.first_line + offset
        return KernelError(
            f"{self.filename}:{line}: {self.what} '{self.name}': {message}", self.filename, line
        )


@functools.lru_cache(1024)
def _expression(text: str) -> CodeType:
    """The code of an annotation: calls of a device function evaluate it again."""
    return compile(text, "<annotation>", "eval")


def parse(text: str) -> ast.Module:
    """The syntax tree of a definition that may be inside another.

    Its indentation is kept, inside an added block: a comment, or a line of a string, may begin further
    left.
    """
    if not text[:1].isspace():
        return parsed(text)
    block = parsed("if True:\n" + text).body[0]
    assert isinstance(block, ast.If)
    return ast.increment_lineno(ast.Module(block.body, []), -1)


def assignment_counts(tree: ast.FunctionDef) -> dict[str, int]:
    """How often each local name is bound in the function's body; parameters count once."""
    counts: dict[str, int] = {}
    for argument in tree.args.posonlyargs + tree.args.args + tree.args.kwonlyargs:
        counts[argument.arg] = counts.get(argument.arg, 0) + 1
    for node in (inner for statement in tree.body for inner in ast.walk(statement)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts[node.id] = counts.get(node.id, 0) + 1
    return counts


def loop_names_to_copy(tree: ast.FunctionDef) -> set[str]:
    """Names of loop variables that cannot serve as the loop's own counter.

    These are names that are read or bound outside the body of a ``for`` over them, bound again in that body, or the
    variable of a ``for`` inside such a body.
    """
    inside: dict[str, set[int]] = {}
    copied: set[str] = set()
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For) and isinstance(n.target, ast.Name)]
    for loop in loops:
        assert isinstance(loop.target, ast.Name)
        covered = inside.setdefault(loop.target.id, set())
        covered.add(id(loop.target))
        for node in (inner for statement in loop.body for inner in ast.walk(statement)):
            if isinstance(node, ast.Name) and node.id == loop.target.id:
                covered.add(id(node))
                if isinstance(node.ctx, ast.Store):
                    copied.add(node.id)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in inside and id(node) not in inside[node.id]:
            copied.add(node.id)
    return copied | ({a.arg for a in tree.args.args} & set(inside))
