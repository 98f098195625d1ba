"""The declaration of a workload, by ``@gpucoh.workload``."""

from __future__ import annotations

import functools
import importlib
import inspect
import linecache
import os
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, cast

import numpy as np

from gpucoh.base.errors import ConfigError, KernelError, SimulationError, WorkloadError, shown_file
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import unknown
from gpucoh.suite import references
from gpucoh.suite.base import (
    GROUPS,
    REGISTRY,
    SCALES,
    GpuLike,
    Instance,
    Kind,
    Outcome,
    Parameter,
    Refused,
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
    """Makes the runs of a function. It is pickled by the place of the function, where it has one; in the suite by the
    workload's id.
    """

    id: str
    function: Callable[..., Any]
    input: Callable[..., Any] | None = None

    def __call__(self, setting: Setting) -> Instance:
        """The run of the function with checked parameters, on the input that it has apart from the run, if any."""
        if self.input is None:
            return _Prepared(self.function, setting)
        taken = inspect.signature(self.input).parameters
        values = {"given": setting.given, **setting.params}
        known = {name: value for name, value in values.items() if name in taken}
        try:
            return _Prepared(self.function, setting, self.input(setting.rng(), **known))
        except Refused as error:
            raise setting.refuse(str(error)) from None

    def __reduce__(self) -> tuple[Any, ...]:
        if _built_in(self.function):
            return _registered, (self.function.__module__, self.id)
        if not inspect.isfunction(self.function):
            return Own, (self.id, self.function)
        return _restored, (references.packed(self.function), self.id)


def _registered(module: str, name: str) -> Own:
    importlib.import_module(module)  # which registers it
    made: Any = REGISTRY.get(name).make
    return cast(Own, made)


def _restored(packed: references.Packed, id: str) -> Own:
    found = references.unpacked(packed)
    return Own(id, getattr(found, "function", found))


def _built_in(function: Callable[..., Any]) -> bool:
    return getattr(function, "__module__", "").startswith(__package__ + ".")


@dataclass(frozen=True)
class _Prepared:
    """One run of a function: on ``input``, or on an input that the function makes itself."""

    function: Callable[..., Any]
    setting: Setting
    input: Any = None

    def run(self, gpu: GpuLike) -> Outcome:
        """Call the function and compare what it returns; an AssertionError is a wrong result."""
        try:
            returned = self._called(gpu)
        except Refused as error:
            raise self.setting.refuse(str(error)) from None
        except AssertionError as error:
            file, line = _place(error, self.function)
            text = str(error) or linecache.getline(file, line)
            return Outcome(
                correct=False, mismatches=1, where=f"{file}:{line}: {' '.join(text.split())}"
            )
        except (KernelError, SimulationError, WorkloadError):
            raise
        except Exception as error:
            if _built_in(self.function):
                raise
            raise _failed(error, self.function, self.setting.workload) from error
        try:
            return returned if isinstance(returned, Outcome) else _verdict(returned)
        except (TypeError, ValueError) as error:
            file, line = references.place_of(self.function)
            raise WorkloadError(
                f"{shown_file(file)}:{line}: workload {quoted(self.setting.workload)} returned {error}; "
                f"it returns {_RESULTS}",
                file,
                line,
            ) from None

    def _called(self, gpu: GpuLike) -> Any:
        values = self.setting.params
        if self.input is None:
            return self.function(gpu, self.setting.rng(), **values)
        signature = inspect.signature(self.function).parameters
        known = {name: value for name, value in values.items() if name in signature}
        return self.function(gpu, self.input, **known)


def _failed(error: Exception, function: Callable[..., Any], workload: str) -> WorkloadError:
    """The error for an exception in a user's function, which it changes to begin there."""
    file, line = _place(error, function)
    kind = "" if isinstance(error, ConfigError) else f"{type(error).__name__}: "
    text = " ".join(str(error).split())
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.with_traceback(trace)
    place = f"{shown_file(file)}:{line}: workload {quoted(workload)}"
    return WorkloadError(f"{place}: {kind}{text}".removesuffix(": "), file, line)


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


class Declared(TypedDict, total=False):
    """What a workload declares; by default what its function says."""

    id: str
    title: str
    group: str | None
    papers: str
    needs_coherence: bool
    check: str
    aliases: tuple[str, ...]
    scales: Scales | None
    input: Callable[..., Any] | None
    parameters: Mapping[str, Any]


def workload(**how: Unpack[Declared]) -> Callable[[Callable[..., Any]], Workload]:
    """The decorator of the suite: describe a function as a workload, and register it."""
    return lambda function: REGISTRY.add(described(function, **how))


def described(source: Callable[..., Any], **declared: Unpack[Declared]) -> Workload:
    """Describe a function as a workload.

    The function (gpu, rng, **parameters) makes its input, launches, and returns results with what they must be. With
    ``input``, a function (rng, **parameters), it is (gpu, input, **parameters), and runs under several protocols share
    one input. The signatures, ``scales`` and ``parameters`` give the parameters.

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
    scales, input = declared.pop("scales", None), declared.pop("input", None)
    more = declared.pop("parameters", {})
    found = _Described(label, source, _checked_scales(label, scales), input, more)
    made |= {"make": Own(str(name), source, input), "parameters": found.parameters}
    made |= {"required": found.required}
    made["scales"] = tuple(scale for scale in SCALES if scales is None or scale in scales)
    made |= {**declared, "group": group or "", "papers": tuple(declared.get("papers", ""))}
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
    input: Callable[..., Any] | None
    more: Mapping[str, Any]
    parameters: tuple[Parameter, ...] = ()
    required: frozenset[str] = frozenset()

    @functools.cached_property
    def _hints(self) -> dict[str, Any]:
        """The annotations as types; evaluated only for parameters that a default does not describe."""
        found = {} if self.input is None else _hints_of(self.input)
        return found | _hints_of(self.function)

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
        known = {item.name: item.default for item in taken}
        if self.input is not None:
            of_input = list(inspect.signature(self.input).parameters.values())[1:]
            first = {item.name: item.default for item in of_input if item.name != "given"}
            known = first | {name: value for name, value in known.items() if name not in first}
        known |= self.more
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
        if isinstance(default, Parameter):
            own = {scale: listed[name] for scale, listed in self.scales.items() if name in listed}
            every = {scale: default.default(scale) for scale in SCALES} if own else {}
            return replace(default, name=name, defaults={**every, **own} or default.defaults)
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
