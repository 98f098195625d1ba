"""The declaration of a workload, by ``@gpucoh.workload``: of a function, or of a class of the suite."""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypedDict, Unpack

import numpy as np

from gpucoh.base.errors import ConfigError, KernelError, SimulationError, WorkloadError, shown_file
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import unknown
from gpucoh.suite import references
from gpucoh.suite.base import (
    GROUPS,
    SCALES,
    GpuLike,
    Instance,
    Kind,
    Outcome,
    Parameter,
    Setting,
    Value,
    Workload,
    combine,
    compare,
)

Scales = Mapping[str, Mapping[str, Value]]

# Text parameters of these names are input files.
_FILES = ("graph", "image", "points", "keys", "path")
_KINDS: dict[Any, Kind] = {bool: "bool", int: "int", float: "float", str: "text", Path: "file"}
_RESULTS = 'a dictionary {"name": (result, expected)} or {"name": (result, expected, rtol)}'
_PACKAGE = str(Path(__file__).parents[1]) + os.sep


@dataclass(frozen=True)
class Own:
    """Makes the runs of a function. It is pickled by the place of the function, where it has one."""

    function: Callable[..., Any]

    def __call__(self, setting: Setting) -> Instance:
        """The run of the function with checked parameters."""
        return _Prepared(self.function, setting)

    def __reduce__(self) -> tuple[Any, ...]:
        if not inspect.isfunction(self.function):
            return Own, (self.function,)
        return _restored, (references.packed(self.function),)


def _restored(packed: references.Packed) -> Own:
    found = references.unpacked(packed)
    return Own(getattr(found, "function", found))


@dataclass(frozen=True)
class _Prepared:
    """One run of a user's function; the function makes its input itself."""

    function: Callable[..., Any]
    setting: Setting

    def run(self, gpu: GpuLike) -> Outcome:
        """Call the function and compare what it returns; an AssertionError is a wrong result."""
        owner = f"workload {quoted(self.setting.workload)}"
        try:
            returned = self.function(gpu, self.setting.rng(), **self.setting.params)
        except AssertionError as error:
            file, line = _place(error, self.function)
            text = str(error) or linecache.getline(file, line)
            return Outcome(
                correct=False, mismatches=1, where=f"{file}:{line}: {' '.join(text.split())}"
            )
        except (KernelError, SimulationError, WorkloadError):
            raise
        except Exception as error:
            file, line = _place(error, self.function)
            kind = "" if isinstance(error, ConfigError) else f"{type(error).__name__}: "
            text = " ".join(str(error).split())
            trace = error.__traceback__ and error.__traceback__.tb_next  # from the function on
            raise WorkloadError(
                f"{shown_file(file)}:{line}: {owner}: {kind}{text}".removesuffix(": "), file, line
            ) from error.with_traceback(trace)
        try:
            return _verdict(returned)
        except (TypeError, ValueError) as error:
            file, line = references.place_of(self.function)
            raise WorkloadError(
                f"{shown_file(file)}:{line}: {owner} returned {error}; it returns {_RESULTS}",
                file,
                line,
            ) from None


def _place(error: BaseException, function: Callable[..., Any]) -> tuple[str, int]:
    """File and line of the innermost frame in the function's file, else of the innermost outside the package."""
    own, first = references.place_of(function)
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    inside = [frame for frame in frames if frame[0] == own]
    outside = [frame for frame in frames if not frame[0].startswith(_PACKAGE)]
    return (inside or outside or [(own, first)])[-1]


def _verdict(returned: Any) -> Outcome:
    """The verdict on what a function returned; None leaves the run unchecked.

    Raises
    ------
    TypeError, ValueError
        If it is not in the form of ``_RESULTS``; the message begins with what it is.
    """
    if returned is None:
        return Outcome(correct=None)
    if isinstance(returned, bool | np.bool_):
        return Outcome(
            correct=bool(returned),
            mismatches=int(not returned),
            where="" if returned else "the function returned False",
        )
    if not isinstance(returned, Mapping):
        raise TypeError(f"{type(returned).__name__} {quoted(str(returned))}")
    if not returned:
        raise ValueError("an empty dictionary")
    return combine(*(_one(str(name), item) for name, item in returned.items()))


def _one(name: str, item: Any) -> Outcome:
    """The verdict on one pair of a result and its reference."""
    if not isinstance(item, tuple | list) or not 2 <= len(item) <= 3:
        raise TypeError(f"{quoted(name)}: {type(item).__name__} in place of (result, expected)")
    try:
        got, want = (np.asarray(value) for value in item[:2])
    except ValueError as error:
        raise ValueError(f"{quoted(name)}: not an array: {error}") from None
    for array in (got, want):
        if array.dtype.kind not in "iufb":
            raise TypeError(f"{quoted(name)}: an array of {array.dtype}, not of numbers")
    rtol = item[2] if len(item) == 3 else 0.0
    if isinstance(rtol, bool) or not isinstance(rtol, int | float | np.number) or not rtol >= 0:
        raise ValueError(f"{quoted(name)}: rtol {quoted(rtol)}, not a number of at least 0")
    if want.ndim == 0:
        want = np.broadcast_to(want, got.shape)
    if got.shape != want.shape:
        raise ValueError(f"{quoted(name)}: a result of shape {got.shape} and expected {want.shape}")
    return compare(name, got, want, tolerance=float(rtol), floor=0.0)


class Made(Protocol):
    """A class of the suite: ``prepare`` makes the input, and an object runs on it."""

    @classmethod
    def prepare(cls, setting: Setting) -> Instance:
        """The object for one input."""
        ...


class Declared(TypedDict, total=False):
    """What a workload declares; by default what its function says."""

    id: str
    title: str
    group: str | None
    papers: tuple[str, ...]
    needs_coherence: bool
    check: str
    aliases: tuple[str, ...]
    parameters: tuple[Parameter, ...]


def workload(
    source: Callable[..., Any] | type[Made],
    *,
    scales: Scales | None = None,
    **declared: Unpack[Declared],
) -> Workload:
    """Describe a function or a class as a workload.

    A function (gpu, rng, **parameters) makes its input, launches, and returns results with what they must be; its
    signature and ``scales`` give the parameters. A class separates the input from the run, so that one input may run
    on several GPUs: ``prepare(setting)`` and ``run(gpu)``; it declares its parameters with ranges and texts.

    Raises
    ------
    ConfigError
        If a function does not take ``(gpu, rng, **parameters)``, or scales and parameters do not fit together.
    """
    if not callable(source):
        raise ConfigError(f"workload {quoted(source)} is not a name or a function")
    name = declared.get("id") or references.name_of(source)
    if getattr(source, "is_gpucoh_kernel", False):
        raise ConfigError(
            f"kernel {quoted(name)} is not a workload: launch it in a function (gpu, rng, **parameters)"
        )
    label = f"workload {quoted(name)}"
    group = declared.get("group")
    if group is not None and not (
        isinstance(group, str) and group and all(letter in GROUPS for letter in group)
    ):
        raise ConfigError(
            f"{label}: group {quoted(group)} is not of the letters {', '.join(GROUPS)}"
        )
    text = inspect.getdoc(source) if inspect.isroutine(source) else None
    made: dict[str, Any] = {
        "id": name,
        "title": text.splitlines()[0] if text else "a workload of the user",
        "papers": (),
        "needs_coherence": "I" in (group or ""),
        "check": "what the function expects",
    }
    if inspect.isclass(source) and hasattr(source, "prepare"):
        made["make"] = source.prepare
    else:
        described = _Described(label, source, _checked_scales(label, scales))
        made |= {"make": Own(source), "parameters": described.parameters}
        made |= {"required": described.required}
        made["scales"] = tuple(scale for scale in SCALES if scales is None or scale in scales)
    made |= {**declared, "group": group or ""}
    return Workload(**made)


def _checked_scales(label: str, scales: Any) -> Scales:
    if scales is None:
        return {}
    if not isinstance(scales, Mapping) or not scales:
        raise ConfigError(
            f'{label}: scales = {quoted(scales)} is not of the form {{"tiny": {{"n": 1}}}}'
        )
    for scale, values in scales.items():
        if scale not in SCALES:
            raise ConfigError(f"{label}: {unknown('scale', scale, SCALES)}")
        if not isinstance(values, Mapping):
            raise ConfigError(f"{label}: scale {scale} is {quoted(values)}, not a dictionary")
    return scales


@dataclass
class _Described:
    """The parameters of a function, from its signature, its annotations and the values of the scales."""

    label: str
    function: Callable[..., Any]
    scales: Scales
    parameters: tuple[Parameter, ...] = ()
    required: frozenset[str] = frozenset()
    _hints: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            signature = inspect.signature(self.function)
        except (TypeError, ValueError):
            raise ConfigError(f"{self.label} is not a function (gpu, rng, **parameters)") from None
        given = list(signature.parameters.values())
        leading = [item for item in given[:2] if item.kind <= item.POSITIONAL_OR_KEYWORD]
        taken = [item for item in given[2:] if item.kind in _NAMED]
        if len(leading) < 2 or any(item.kind is item.POSITIONAL_ONLY for item in given[2:]):
            raise ConfigError(
                f"{self.label} takes {signature}; a workload takes (gpu, rng, **parameters)"
            )
        self._hints = _hints_of(self.function)
        known = {item.name: item.default for item in taken}
        extra = [name for values in self.scales.values() for name in values if name not in known]
        if extra and not any(item.kind is item.VAR_KEYWORD for item in given):
            raise ConfigError(f"{self.label}: {unknown('parameter', extra[0], known)}")
        known |= dict.fromkeys(extra, inspect.Parameter.empty)
        self.parameters = tuple(self._parameter(name, value) for name, value in known.items())
        self.required = frozenset(
            name
            for name, value in known.items()
            if value is inspect.Parameter.empty and not self.scales
        )

    def _parameter(self, name: str, default: Any) -> Parameter:
        has_default = default is not inspect.Parameter.empty
        values: dict[str, Any] = {}
        for scale, listed in self.scales.items():
            if name not in listed and not has_default:
                raise ConfigError(
                    f"{self.label}: scale {scale} gives no value for {name}{self._optional_file(name)}"
                )
            values[scale] = listed.get(name, default)
        if not self.scales:
            values = dict.fromkeys(SCALES, default if has_default else None)
        kind, choices = self._kind(name, [*values.values(), default if has_default else None])
        parameter = Parameter(name=name, kind=kind, text="", defaults={}, choices=choices)
        parsed = {
            scale: None
            if value is None
            else parameter.parse(value, references.name_of(self.function))
            for scale, value in values.items()
        }
        return Parameter(name=name, kind=kind, text="", defaults=parsed, choices=choices)

    def _optional_file(self, name: str) -> str:
        """How to leave out a file that the runs give, if the parameter is one."""
        if self._hints.get(name) is not Path and name not in _FILES:
            return ""
        return (
            f": for a file that each run gives (--param {name}=FILE, params=), write {name}: Path | None = None in the "
            "function's signature"
        )

    def _kind(self, name: str, values: list[Any]) -> tuple[Kind, tuple[str, ...]]:
        """Kind and choices of a parameter, from its annotation, else from its values."""
        hint = self._hints.get(name)
        if typing.get_origin(hint) in (typing.Union, types.UnionType):
            inner = [item for item in typing.get_args(hint) if item is not types.NoneType]
            hint = inner[0] if len(inner) == 1 else None
        if typing.get_origin(hint) is Literal:
            words = typing.get_args(hint)
            if all(isinstance(word, str) for word in words):
                return "choice", words
        found = _KINDS.get(hint) or _kind_of_values(
            [value for value in values if value is not None]
        )
        if found is None:
            raise ConfigError(
                f"{self.label}: the type of parameter {name} is not known: annotate it as int, float, bool, str, "
                'Path or Literal["a", "b"]'
            )
        return ("file" if found == "text" and name in _FILES else found), ()


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations as types; none if one of them cannot be evaluated."""
    plain: Any = function.func if isinstance(function, functools.partial) else function
    if not inspect.isroutine(plain):
        plain = type(plain).__call__
    try:
        return typing.get_type_hints(plain)
    except Exception:  # whatever the user's annotations raise
        return {}


def _kind_of_values(values: list[Any]) -> Kind | None:
    """The narrowest kind of all values; None if there are none, or of another type."""
    kinds: set[Kind] = set()
    for value in values:
        plain = value.item() if isinstance(value, np.generic) else value
        kind = "file" if isinstance(plain, Path) else _KINDS.get(type(plain))
        if kind is None:
            return None
        kinds.add(kind)
    if kinds == {"int", "float"}:
        return "float"
    return kinds.pop() if len(kinds) == 1 else None
