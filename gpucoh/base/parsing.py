"""Python's parser, by one thread at a time.

CPython 3.11 counts the depth of its syntax trees in one place for all threads: where the garbage collector runs Python
code in the middle of one, another thread may parse, and one of both gets a ``SystemError`` (AST constructor recursion
depth mismatch). Packages parse too while they are imported, so the lock is that of late imports. What other threads
parse at other times cannot be locked out: a text is parsed again.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from gpucoh.base.late import LATE_IMPORT

_ATTEMPTS = 100
_T = TypeVar("_T")


def parsed(text: str | bytes) -> ast.Module:
    """The syntax tree of a text.

    Raises
    ------
    SyntaxError
        As ``ast.parse``.
    """
    tree: ast.Module = _alone(ast.parse, text)
    return tree


def source_of(part: Any) -> str:
    """The source text of a class or function; of a class Python parses its file to find it.

    Raises
    ------
    OSError, TypeError
        As ``inspect.getsource``.
    """
    return _alone(inspect.getsource, part)


def _alone(function: Callable[[Any], _T], argument: Any) -> _T:
    with LATE_IMPORT:
        for _ in range(_ATTEMPTS):
            try:
                return function(argument)
            except SystemError as error:
                failure = error
    raise failure
