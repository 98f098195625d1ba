"""Python's parser, by one thread at a time.

CPython 3.11 counts the depth of its syntax trees in one place for all threads: two that parse at once may get a
``SystemError`` (AST constructor recursion depth mismatch).
"""

from __future__ import annotations

import ast
import threading

_LOCK = threading.Lock()


def parsed(text: str | bytes) -> ast.Module:
    """The syntax tree of a text.

    Raises
    ------
    SyntaxError
        As ``ast.parse``.
    """
    with _LOCK:
        return ast.parse(text)
