"""What the fidelity page shows of a paper beyond its claims, read from the package's ``fidelity_<paper>.toml``."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A second reading of protocols, under which claims are measured again.

    Attributes
    ----------
    title : str
    options : dict
        Protocol id -> options that are added to it.
    machine : dict
        Fields of the machine that differ.
    parameters : dict
        Workload -> parameters that differ.
    claims : tuple of str
        The claims' ids; empty for a column of the scorecard.
    column : bool
        Whether every claim is measured again, in a second column of the scorecard.
    scales : tuple of str
        The scales at which it is measured; empty: every scale.
    """

    title: str
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    machine: Mapping[str, object] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    claims: tuple[str, ...] = ()
    column: bool = False
    scales: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BarTable:
    """Mean bars to tabulate: groups of workloads, measures, protocols.

    Attributes
    ----------
    groups, measures, protocols : tuple of str
    figures : dict
        Measure -> the paper's figure whose baselines and means its bars have, where the group does not have them. A
        measure without a described figure is relative to none.
    baseline : str
        The protocol to which all bars are relative, instead of the figure's; or empty.
    each : bool
        Whether there is a row for every workload and a column for every protocol, instead of means alone.
    means : tuple of str
        With ``each``, further groups whose means have a row.
    machine : dict
        Fields of the machine that differ.
    scales : tuple of str
        The scales at which it is shown; empty: every scale.
    """

    groups: tuple[str, ...]
    measures: tuple[str, ...]
    protocols: tuple[str, ...]
    figures: Mapping[str, str] = field(default_factory=dict)
    baseline: str = ""
    each: bool = False
    means: tuple[str, ...] = ()
    machine: Mapping[str, object] = field(default_factory=dict)
    scales: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Input:
    """An input of one workload: the nominal size of its arrays, and its parameters."""

    size: str
    workload: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Inputs of several sizes of a group's workloads, and the protocols whose speedups are tabulated.

    ``figure`` is the paper's figure whose baselines and means the speedups have, or empty.
    """

    group: str
    figure: str = ""
    protocols: tuple[str, ...]
    inputs: tuple[Input, ...]


@dataclass(frozen=True, kw_only=True)
class Reason:
    """The measured cause of disagreements; without scales it holds at every scale."""

    claims: tuple[str, ...]
    scales: tuple[str, ...] = ()
    text: str


@dataclass(frozen=True, kw_only=True)
class Study:
    """Variants, tables of bars, inputs and reasons of one paper; by scale the workloads that its page leaves out."""

    variants: tuple[Variant, ...]
    bars: tuple[BarTable, ...]
    sizes: Sizes | None
    reasons: tuple[Reason, ...]
    too_long: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def applies(item: Variant | BarTable | Reason, scale: str) -> bool:
    """Whether a study has this item at a scale."""
    return not item.scales or scale in item.scales


@functools.cache
def study(paper: str) -> Study:
    """Read one paper's study; empty if there is none."""
    path = files("gpucoh.papers").joinpath(f"fidelity_{paper}.toml")
    return read(path.read_text(encoding="utf-8") if path.is_file() else "")


def read(text: str) -> Study:
    """The study that the text of a file describes."""
    data = tomllib.loads(text)
    return Study(
        variants=tuple(Variant(**_tuples(item)) for item in data.get("variant", ())),
        bars=tuple(BarTable(**_tuples(item)) for item in data.get("bars", ())),
        sizes=_sizes(data["sizes"]) if "sizes" in data else None,
        reasons=tuple(Reason(**_tuples(item)) for item in data.get("reason", ())),
        too_long=_tuples(data.get("too_long", {})),
    )


def _sizes(data: dict[str, Any]) -> Sizes:
    inputs = tuple(Input(**item) for item in data.pop("input", ()))
    return Sizes(inputs=inputs, **_tuples(data))


def _tuples(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in item.items()
    }


def reason_of(paper: str, claim: str, scale: str) -> str:
    """The measured cause of a claim's disagreement at a scale; empty if none is recorded."""
    for reason in study(paper).reasons:
        if claim in reason.claims and applies(reason, scale):
            return reason.text
    return ""
