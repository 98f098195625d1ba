"""Base of the workloads: description, parameters, one prepared run, and the verdict on its result.

A workload is described by a :class:`Workload`. ``workload.prepare(scale, seed, params)`` checks the
parameters and makes the input, with randomness from ``numpy.random.default_rng(seed)``. The
resulting :class:`Instance` runs on a GPU with ``instance.run(gpu)``, which allocates, launches,
reads the result back and checks it against an independent reference. An instance may run on several
GPUs, one after another or concurrently.

This module imports neither the core nor the kernel language; the modules with kernels import both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from gpucoh.base.doors import public
from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.base.units import parse_whole
from gpucoh.base.wording import name_of, natural, unknown
from gpucoh.suite import references

Value: TypeAlias = int | float | bool | str | None
Kind: TypeAlias = Literal["int", "float", "bool", "choice", "file", "text"]

SCALES: tuple[str, ...] = ("tiny", "small", "paper")
LARGEST_SEED = 2**64 - 1
LONGEST_REPR = 200
GROUPS: dict[str, str] = {
    "I": "inter-workgroup communication: needs coherent first-level caches",
    "A": "intra-workgroup communication only",
    "N": "no synchronisation inside a kernel",
    "G": "globally scoped synchronisation",
    "L": "locally scoped or hybrid synchronisation",
    "K": "read reuse across kernels",
}
PAPERS: dict[str, str] = {
    "T": "TC",
    "R": "RCC",
    "D": "DeNovo",
    "S": "STC",
    "Q": "QuickRelease",
}


class MachineLike(Protocol):
    """The machine fields from which workloads derive their sizes."""

    @property
    def cores(self) -> int:
        """Number of cores."""
        ...


class GpuLike(Protocol):
    """The part of :class:`gpucoh.GPU` that a workload uses."""

    @property
    def machine(self) -> MachineLike:
        """The machine's description."""
        ...

    def array(self, data: Any) -> Any:
        """An array in simulated memory with the words of ``data``."""
        ...

    def zeros(self, shape: Any, dtype: Any) -> Any:
        """An array of zeros."""
        ...

    def launch(
        self, kernel: Any, *, grid: Any, block: Any, args: Any, placement: str | None = None
    ) -> Any:
        """Run a kernel to completion."""
        ...


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The verdict on one run.

    Parameters
    ----------
    correct
        Whether every word of the result equals the reference; None if nothing was compared.
    mismatches
        Number of wrong words, or wrong records if the check compares records.
    where
        The first wrong word; empty if correct.
    details
        Facts about input and run, such as vertices and levels of a graph.
    notes
        Doubts about the input, which the result names.
    """

    correct: bool | None
    mismatches: int = 0
    where: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Instance(Protocol):
    """One prepared input. ``run`` may be called repeatedly; it does not change the instance."""

    def run(self, gpu: GpuLike) -> Outcome:
        """Allocate, launch, read back and check."""
        ...


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of a workload.

    Parameters
    ----------
    name, kind, text
        Name, type and meaning. A ``file`` parameter names an input file; None means the built-in
        input.
    defaults
        One value per scale, or one value for all.
    minimum, maximum
        Bounds of a number, inclusive.
    choices
        The values of a ``choice``.
    instead_of
        Of a file: the parameters that describe the input that it replaces.
    """

    name: str
    kind: Kind
    text: str
    defaults: Mapping[str, Value] | Value
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    instead_of: tuple[str, ...] = ()

    def default(self, scale: str) -> Value:
        """The default at ``scale``."""
        if isinstance(self.defaults, Mapping):
            return self.defaults[scale]
        return self.defaults

    def allowed(self) -> str:
        """The allowed values in words, for messages and ``--help``."""
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind == "bool":
            return "on or off"
        if self.kind == "file":
            return "a file name"
        if self.kind == "text":
            return "a text"
        noun = "a whole number" if self.kind == "int" else "a number"
        if self.minimum is not None and self.maximum is not None:
            return f"{noun} from {self.minimum:.12g} to {self.maximum:.12g}"
        if self.minimum is not None:
            return f"{noun} of at least {self.minimum:.12g}"
        return noun

    def parse(self, value: object, owner: str) -> Value:
        """Convert a value from a user or a command line to the parameter's kind.

        Raises
        ------
        ConfigError
            If the value is not of the kind or not allowed; the message names ``owner`` (the workload's
            id).
        """
        try:
            return self._read(value)
        except (ValueError, TypeError, OverflowError):
            raise ConfigError(
                f"workload {owner}: parameter {self.name} is {quoted(value)}; allowed: {self.allowed()}"
            ) from None

    def _read(self, value: object) -> Value:
        """The value of the parameter's kind; raises if there is none."""
        read: Value
        match self.kind:
            case "int":
                read = parse_whole(value)
            case "float":
                read = _real(value)
            case "bool":
                read = str(value).strip().lower() in _ON
                if not read and str(value).strip().lower() not in _OFF:
                    raise ValueError
                return read
            case _:
                read = str(value)
                if not read or (self.kind == "choice" and read not in self.choices):
                    raise ValueError
                return read
        low = -math.inf if self.minimum is None else self.minimum
        if not low <= read <= (math.inf if self.maximum is None else self.maximum):
            raise ValueError
        return read


_ON, _OFF = ("1", "on", "t", "true", "y", "yes"), ("0", "off", "f", "false", "n", "no")


# Parameters in a workload's signature: ``words: int = whole("number of words", 1, 1 << 20, 64)``. One default holds at
# every scale; three are those of the scales. The result is a Parameter without its name; a type checker takes it for
# the default.
def _declared(kind: Kind, text: str, given: tuple[Value, ...], **more: Any) -> Any:
    defaults = given[0] if len(given) == 1 else dict(zip(SCALES, given, strict=True))
    return Parameter(name="", kind=kind, text=text, defaults=defaults, **more)


def whole(text: str, minimum: int, maximum: int | None, *defaults: int) -> Any:
    """A whole number."""
    return _declared("int", text, defaults, minimum=minimum, maximum=maximum)


def real(text: str, minimum: float, maximum: float, *defaults: float) -> Any:
    """A number."""
    return _declared("float", text, defaults, minimum=minimum, maximum=maximum)


def switch(text: str, *defaults: bool) -> Any:
    """On or off."""
    return _declared("bool", text, defaults)


def choice(text: str, choices: tuple[str, ...], *defaults: str) -> Any:
    """One of some words."""
    return _declared("choice", text, defaults, choices=choices)


def file(text: str, instead_of: tuple[str, ...] = ()) -> Any:
    """An input file; by default None, the built-in input, which the parameters ``instead_of`` describe."""
    return _declared("file", text, (None,), instead_of=instead_of)


def _real(value: object) -> float:
    """A finite number; a bool is none, nor are digits that are grouped by ``_``."""
    plain: Any = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or (
        isinstance(plain, str) and ("_" in plain or not plain.isascii())
    ):
        raise ValueError
    number = float(plain)
    if not math.isfinite(number):
        raise ValueError
    return number


class Refused(ConfigError):
    """Parameters that contradict each other, as a workload's function finds them; the text names them and what is
    allowed.
    """


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The arguments of a workload's factory: scale, seed and the checked parameters with
    defaults.

    ``given`` names the parameters that the user set.
    """

    workload: str
    scale: str
    seed: int
    params: Mapping[str, Value]
    given: frozenset[str] = frozenset()

    def rng(self) -> np.random.Generator:
        """A new generator; equal seeds give equal numbers."""
        return np.random.default_rng(self.seed)

    def refuse(self, problem: str) -> ConfigError:
        """The error for parameters that contradict each other; ``problem`` names them and what is
        allowed.
        """
        return ConfigError(f"workload {self.workload}: {problem}")


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The description of a workload.

    Parameters
    ----------
    id, aliases
        The id, and other accepted names, which are printed as ``id``.
    title
        One line on algorithm and access pattern.
    group
        Letters of :data:`GROUPS`, one for each use (papers may place a workload in different
        groups).
    papers
        Letters of :data:`PAPERS`: the papers whose evaluation uses it.
    needs_coherence
        Whether incoherent first-level caches may give wrong results.
    check
        What its result is compared with.
    make
        Makes an :class:`Instance` from a :class:`Setting`.
    parameters
        Its parameters.
    scales
        The input sizes that it has.
    required
        Parameters without a value at any scale, which every run must give.
    """

    id: str
    title: str
    group: str
    papers: tuple[str, ...]
    needs_coherence: bool
    check: str
    make: Callable[[Setting], Instance] = field(repr=False)
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()
    scales: tuple[str, ...] = SCALES
    required: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        names = ", ".join(parameter.name for parameter in self.parameters)
        text = f"<gpucoh.Workload {self.id}({names}) {' '.join(self.scales)}>"
        return text if len(text) < LONGEST_REPR else f"<gpucoh.Workload {self.id[:100]}>"

    @property
    def function(self) -> Callable[..., Any] | None:
        """The function under ``@gpucoh.workload``."""
        return getattr(self.make, "function", None)

    @property
    def built_in(self) -> bool:
        """Whether it is a workload of the suite."""
        return getattr(self.function, "__module__", "").startswith(__package__ + ".")

    @property
    def code(self) -> str | None:
        """A hash of the function's source and of the kernels, functions and constants that it uses.

        None for a workload of the suite, which is code of gpucoh.
        """
        if self.function is None or self.built_in:
            return None
        return references.digest(self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, as without the decorator."""
        if self.function is None:
            raise ConfigError(
                f"workload {self.id} is not a function: gpucoh.run({quoted(self.id)}, ...) runs it"
            )
        return self.function(*args, **kwargs)

    @public
    def prepare(
        self, scale: str = "small", seed: int = 0, params: Mapping[str, object] | None = None
    ) -> Instance:
        """Make one input.

        Parameters
        ----------
        scale
            ``tiny`` (for tests), ``small`` (seconds) or ``paper`` (the paper's input size).
        seed
            Non-negative; equal seeds give equal inputs.
        params
            Values for some of :attr:`parameters`, as Python values or as text from a command line.

        Raises
        ------
        ConfigError
            For an unknown scale or parameter, a value that is not allowed, or a bad input file.
        """
        return self.make(self.setting(scale, seed, params))

    @public
    def setting(
        self, scale: str = "small", seed: int = 0, params: Mapping[str, object] | None = None
    ) -> Setting:
        """The checked parameters with defaults that :meth:`prepare` uses; raises the same
        errors.
        """
        if name_of("scale", scale) not in self.scales:
            raise ConfigError(f"workload {self.id}: {unknown('scale', scale, self.scales)}")
        natural("seed", seed, LARGEST_SEED)
        if not isinstance(params, Mapping | None):
            raise ConfigError(f"params = {quoted(params)} is not a dictionary of names and values")
        known = {parameter.name: parameter for parameter in self.parameters}
        values = {name: parameter.default(scale) for name, parameter in known.items()}
        for name, value in (params or {}).items():
            if name not in known:
                raise ConfigError(f"workload {self.id}: {unknown('parameter', name, known)}")
            if value is not None:  # None means the default
                values[name] = known[name].parse(value, self.id)
        given = frozenset(name for name, value in (params or {}).items() if value is not None)
        setting = Setting(workload=self.id, scale=scale, seed=int(seed), params=values, given=given)
        for parameter in self.parameters:
            made = [name for name in parameter.instead_of if name in given]
            if made and values[parameter.name] is not None:
                raise setting.refuse(
                    f"parameter {made[0]} describes the generated input; "
                    f"allowed: {made[0]} or {parameter.name}={values[parameter.name]}, not both"
                )
        for name in sorted(self.required - given):
            raise setting.refuse(
                f"parameter {name} has no value: give params={{{quoted(name)}: ...}} or --param {name}=..."
            )
        return setting

    def to_dict(self) -> dict[str, Any]:
        """The description as plain data, for ``gpucoh workloads --json``."""
        return {
            "id": self.id,
            "aliases": list(self.aliases),
            "title": self.title,
            "group": self.group,
            "papers": [PAPERS[letter] for letter in self.papers],
            "needs_coherence": self.needs_coherence,
            "check": self.check,
            "parameters": [
                {
                    "name": parameter.name,
                    "kind": parameter.kind,
                    "text": parameter.text,
                    "defaults": {scale: parameter.default(scale) for scale in self.scales},
                    "allowed": parameter.allowed(),
                }
                for parameter in self.parameters
            ],
        }


class Registry:
    """The workloads by id."""

    def __init__(self) -> None:
        self._by_id: dict[str, Workload] = {}

    def add(self, workload: Workload) -> Workload:
        """Add a workload; its id and aliases must be new."""
        taken = {name for known in self._by_id.values() for name in (known.id, *known.aliases)}
        for name in (workload.id, *workload.aliases):
            if name in taken:
                raise ValueError(f"workload name {quoted(name)} is taken")
        self._by_id[workload.id] = workload
        return workload

    def all(self) -> dict[str, Workload]:
        """A copy of the table, in alphabetical order."""
        return {name: self._by_id[name] for name in sorted(self._by_id)}

    def __contains__(self, workload: object) -> bool:
        return isinstance(workload, Workload) and self._by_id.get(workload.id) is workload

    def get(self, name: str) -> Workload:
        """The workload with this id or alias.

        Raises
        ------
        ConfigError
            For an unknown name; the message suggests the nearest.
        """
        name_of("workload", name)
        for workload in self._by_id.values():
            if name == workload.id or name in workload.aliases:
                return workload
        raise ConfigError(unknown("workload", name, self.all()))


REGISTRY = Registry()  # the suite


def compare(
    name: str,
    got: ArrayLike,
    want: ArrayLike,
    *,
    tolerance: float = 0.0,
    floor: float = 1.0,
    details: dict[str, Any] | None = None,
) -> Outcome:
    """Compare a result with its reference, word by word.

    Parameters
    ----------
    name
        Name of the array in messages.
    got, want
        Result and reference, of one shape.
    tolerance
        Largest allowed difference relative to ``max(floor, |want|)``; 0 requires equality. NaN is always
        wrong.
    """
    result = np.asarray(got)
    reference = np.asarray(want)
    if result.shape != reference.shape:
        raise ValueError(f"{name}: shape {result.shape} is compared with {reference.shape}")
    if tolerance > 0:
        scale = np.maximum(floor, np.abs(reference.astype(np.float64)))
        with np.errstate(invalid="ignore"):  # equal infinities have no difference
            difference = np.abs(result.astype(np.float64) - reference.astype(np.float64))
            wrong = ~(difference <= tolerance * scale) & (result != reference)
    else:
        wrong = result != reference
    count = int(np.count_nonzero(wrong))
    if count == 0:
        return Outcome(correct=True, details=details or {})
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    place = ", ".join(str(i) for i in first)
    where = (
        f"{name}[{place}] is {result[first]}, expected {reference[first]} "
        f"({count} of {result.size} words differ)"
    )
    return Outcome(correct=False, mismatches=count, where=where, details=details or {})


def combine(*outcomes: Outcome) -> Outcome:
    """The verdict on a result of several arrays: the sum of mismatches and the first wrong word."""
    details: dict[str, Any] = {}
    for outcome in outcomes:
        details.update(outcome.details)
    return Outcome(
        correct=all(bool(outcome.correct) for outcome in outcomes),
        mismatches=sum(outcome.mismatches for outcome in outcomes),
        where=next((outcome.where for outcome in outcomes if not outcome.correct), ""),
        details=details,
    )


def blocks_for(items: int, block: int) -> int:
    """The number of blocks of ``block`` threads that cover ``items`` threads."""
    return max(1, -(-items // block))
