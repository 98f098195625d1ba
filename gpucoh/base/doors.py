"""Public functions check the types of their arguments: :func:`door` reads them from the annotations.

Numbers, and values of NumPy's own annotations, are left to the functions, which know the allowed range.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import os
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Number
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

from gpucoh.base.errors import ConfigError, short_traceback
from gpucoh.base.quoting import quoted, shortened
from gpucoh.base.starting import not_loaded
from gpucoh.base.wording import unknown_argument

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
#: Whether a value is of a kind, and the kind in words.
_Kind: TypeAlias = tuple[Callable[[Any], bool], str]
#: Packages without which most of gpucoh works: pip installs them as extras.
EXTRAS = {"cloudpickle", "distributed", "scipy"}
_UNCHECKED = (Any, object, inspect.Parameter.empty)


def _is_number(value: object) -> bool:
    # A text may be a number with a unit.
    return isinstance(value, (Number, np.generic, str))


def _is_instance(kind: type, words: str, *others: type) -> _Kind:
    """Values of a class, but not of some of its subclasses."""
    return lambda value: isinstance(value, kind) and not isinstance(value, others), words


_KINDS: dict[object, _Kind] = {
    type(None): (lambda value: value is None, "None"),
    bool: (lambda value: isinstance(value, (bool, np.bool_)), "true or false"),
    int: (_is_number, "a number"),
    float: (_is_number, "a number"),
    str: _is_instance(str, "a text"),
    typing.get_origin(Callable[..., Any]): (callable, "a function"),
}
_BASES = (
    (os.PathLike, _is_instance(os.PathLike, "a path")),
    (Mapping, _is_instance(Mapping, "a dictionary")),
    (Iterable, _is_instance(Iterable, "a list", bytes)),
)


def _kind(hint: object) -> list[_Kind] | None:
    """The kinds that an annotation allows; None: it is not checked."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        parts = [_kind(part) for part in typing.get_args(hint)]
        if None in parts:
            return None
        kinds = [kind for part in parts if part for kind in part]
        named = any(words == "a path" for _, words in kinds)  # a text names it
        return [(fits, "a path" if named and words == "a text" else words) for fits, words in kinds]
    if origin is typing.Literal:
        words = typing.get_args(hint)
        return [(lambda value: isinstance(value, str) and value in words, " or ".join(words))]
    plain = origin or hint
    if plain in _KINDS:
        return [_KINDS[plain]]
    if not isinstance(plain, type) or plain in _UNCHECKED or plain.__module__.startswith("numpy"):
        return None
    if plain.__module__.startswith("gpucoh"):
        return [_is_instance(plain, f"a {plain.__name__}")]
    # Other classes, such as executors, may be imitated.
    return next(([kind] for base, kind in _BASES if issubclass(plain, base)), None)


def _kinds(function: Callable[..., Any]) -> dict[str, list[_Kind]]:
    """Parameter -> the kinds of its values, for those that are checked."""
    out: dict[str, list[_Kind]] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint = parameter.annotation
        if isinstance(hint, str):
            try:
                hint = eval(hint, inspect.unwrap(function).__globals__)
            except (NameError, TypeError):  # imported for type checkers alone
                continue
        kind = _kind(hint)
        if kind and parameter.kind is not parameter.VAR_KEYWORD:
            out[parameter.name] = kind
    return out


@contextlib.contextmanager
def reading(what: str) -> Iterator[None]:
    """Read stored data whose parts may be missing or of another type.

    Raises
    ------
    ConfigError
        If they are; the message begins with ``what``.
    """
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        reason = shortened(f"{type(error).__name__}: {error}")
        raise ConfigError(f"{what} ({reason})") from None


def _misuse(function: Callable[..., Any], error: TypeError, named: Mapping[str, Any]) -> str:
    """What is wrong with the arguments of a call."""
    known = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    for name, value in named.items():
        if name not in known:
            return f"{function.__qualname__}(): {unknown_argument(name, value, known)}"
    return str(error)


def public(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Decorate a function that users call: missing and unknown arguments are a ConfigError, and errors leave it without
    the frames of this package.
    """

    @functools.wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            frames = error.__traceback__
            if (
                frames and frames.tb_next is None
            ):  # raised by the call itself, not within the function
                raise ConfigError(_misuse(function, error, kwargs)) from None
            raise
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] in EXTRAS:
                raise ConfigError(not_loaded(error)) from None
            raise

    return short_traceback(call)


def door(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Decorate a function that users call as :func:`public` does, which also checks the types of its arguments.

    Raises
    ------
    ConfigError
        If an argument is of another type than its annotation allows.
    """
    parameters = inspect.signature(function).parameters.values()
    names = [item.name for item in parameters if item.kind is not item.VAR_POSITIONAL]
    more = [item.name for item in parameters if item.kind is item.VAR_POSITIONAL] or [""]
    found = functools.cache(lambda: _kinds(function))

    def check(name: str, value: object) -> None:
        kinds = found()
        for fits, _ in kinds.get(name, ()):
            if fits(value):
                return
        if name in kinds:
            allowed = " or ".join(dict.fromkeys(words for _, words in kinds[name]))
            raise ConfigError(f"{name} = {quoted(value)} is not {allowed}")

    inner = public(function)

    @functools.wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        given = itertools.zip_longest(names[: len(args)], args, fillvalue=more[0])
        for name, value in (*given, *kwargs.items()):
            check(name, value)
        return inner(*args, **kwargs)

    return short_traceback(call)
