"""A paper's claims, read from the package's ``claims_<paper>.toml``, whose first lines describe the schema."""

from __future__ import annotations

import functools
import inspect
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, TypeVar

from gpucoh.base.errors import ConfigError
from gpucoh.base.wording import unknown

Made = TypeVar("Made")
_PAPERS = ("tc", "rcc", "denovo", "stc", "qr")

KINDS = ("harmonic", "geometric", "arithmetic")
# Measures that are arithmetic on declared fields, states and parameters: no run gives them.
DECLARED = (
    "parameter",
    "states",
    "states_total",
    "storage_bits",
    "storage_entries",
    "storage_ratio",
)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim of a paper.

    Attributes
    ----------
    id, figure, measure : str
        Identifier, the paper's figure, and the measured quantity.
    subject, baseline : str
        Protocols, with options in brackets; empty if there is none.
    kind : str
        ``behaviour``, or ``declared``: arithmetic on declared fields, states and parameters, or a number or sentence
        that chose a reading. By default the measure (:data:`DECLARED`), ``exact`` and ``by_outcome`` decide.
    by_outcome : str
        The reading that this claim's own number or sentence chose, or empty.
    shares : str
        The claim that has, or decides, this one's number; or empty.
    controller : str
        The controller of a count of storage, ``L1`` or ``L2``; else empty.
    per : str
        What has the state of a count of storage, ``line`` or ``word``, or the structure whose bits are counted; empty
        for timestamps.
    machine : dict
        Fields of the machine that differ from the paper's.
    input : str
        The paper's inputs of that name replace those of the scale; empty: those of the scale.
    smaller : int
        The divisor of the size of the workloads' inputs.
    workloads : tuple of str
        Workload ids.
    group : str
        The paper's name of that set of workloads, or empty.
    mean : str
        One of: harmonic geometric arithmetic unstated max min single each most.
    exact : str
        One of: stated (a number), qualitative (a direction), parameter (of the configuration), cited (a number of
        another paper).
    value : float or None
        The number, in the unit of the measure.
    direction : str or None
        One of: above, below, equal, at_most, at_least; relative to 1.
    count : dict
        How a measure ``other`` is computed; empty for others.
    tolerance : float
        The largest distance from 1 that counts as equal, or as comparable where the direction is at_most or at_least.
    says, where, note : str
        The claim in words; the section; remarks.
    """

    id: str
    figure: str
    measure: str
    subject: str
    baseline: str
    kind: str
    by_outcome: str = ""
    shares: str = ""
    controller: str = ""
    per: str = ""
    machine: Mapping[str, object] = field(default_factory=dict)
    input: str = ""
    smaller: int = 1
    workloads: tuple[str, ...]
    group: str
    mean: str
    exact: str
    value: float | None = None
    direction: str | None = None
    count: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 0.05
    says: str
    where: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Bars:
    """How the bars of some figures are drawn, from which group claims are read.

    Attributes
    ----------
    figures : tuple of str
        The figures, or empty.
    workloads : tuple of str
        The workloads of the groups, or empty.
    baseline : str
        The protocol to which each bar is relative; empty for bars that are relative to none.
    means : dict
        ``speedup``, ``time`` or ``other`` -> the mean's kind. ``time``: the figure averages times, and a speedup is
        the inverse ratio.
    basis : str
        Whether the paper states this.
    """

    figures: tuple[str, ...]
    workloads: tuple[str, ...]
    baseline: str
    means: Mapping[str, str]
    basis: str

    def quantity(self, measure: str) -> str | None:
        """The key of ``means`` that averages a measure; None if these bars do not show it."""
        wanted = {"speedup": ("speedup", "time"), "time": ("time",)}.get(measure, ("other",))
        return next((name for name in wanted if name in self.means), None)


@dataclass(frozen=True, kw_only=True)
class StateCount:
    """A paper's number of states and transitions of a controller; None where it gives none."""

    protocol: str
    controller: str
    total: int
    stable: int | None = None
    transitions: int | None = None
    source: str


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper's claims, its groups of workloads, how its bars are drawn, and its counts of states.

    ``amounts`` names the amount of a run that a measure is, where the paper means another one than its name says:
    flit crossings instead of flits as traffic. ``seeded`` names parameters that take the run's seed, in the workloads
    that have them. ``sizes`` names the parameter that is the size of a workload's input, which figures divide.
    ``inputs`` has the parameters of named inputs by scale and workload, where they are not those of the scale.
    ``headlines`` has the claims that the paper leads with, and the place where it does.
    ``options`` has the options that are added to a protocol wherever it runs.
    """

    id: str
    title: str
    machine: str
    groups: Mapping[str, tuple[str, ...]]
    claims: tuple[Claim, ...]
    bars: tuple[Bars, ...] = ()
    parameters: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    seeded: tuple[str, ...] = ()
    amounts: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, Mapping[str, Mapping[str, Mapping[str, object]]]] = field(
        default_factory=dict
    )
    state_counts: tuple[StateCount, ...] = ()
    headlines: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def repeats(self, claim: Claim) -> bool:
        """Whether the claim is the one that it shares a number with, in other words: the two count once."""
        first = next((one for one in self.claims if one.id == claim.shares), None)
        return first is not None and _compared(first) == _compared(claim)

    def amount(self, measure: str) -> str:
        """The name of the amount that this paper's measure is."""
        return self.amounts.get(measure, measure)

    def bars_of(self, measure: str, figure: str, workload: str) -> Bars | None:
        """The bars that show a measure of a workload in a figure; None if the paper has none."""
        for entry in self.bars:
            shown = figure in entry.figures or workload in entry.workloads
            if shown and entry.quantity(measure):
                return entry
        return None


def _compared(claim: Claim) -> tuple[object, ...]:
    """What a claim measures, and what the paper says of it."""
    measured = (claim.measure, claim.subject, claim.baseline, claim.workloads, claim.machine)
    return (*measured, claim.value, claim.direction)


def papers() -> tuple[str, ...]:
    """The papers whose claims and figures are included."""
    return _PAPERS


@functools.cache
def load(paper: str) -> Paper:
    """Read one paper's claims.

    Raises
    ------
    ConfigError
        If the paper is unknown.
    """
    if paper not in _PAPERS:
        raise ConfigError(unknown("paper", paper, _PAPERS))
    return read(files("gpucoh.papers").joinpath(f"claims_{paper}.toml").read_text(encoding="utf-8"))


def read(text: str) -> Paper:
    """The paper that the text of a claims file describes."""
    data = tomllib.loads(text)
    groups = {name: tuple(ids) for name, ids in data["groups"].items()}
    kept = ("parameters", "amounts", "sizes", "inputs", "headlines", "options")
    return Paper(
        id=data["paper"],
        title=data["title"],
        machine=data["machine"],
        groups=groups,
        claims=tuple(_claim(item, groups) for item in data["claim"]),
        bars=tuple(_bars(item, groups) for item in data["bars"]),
        seeded=tuple(data.get("seeded", ())),
        state_counts=tuple(_known(StateCount, item) for item in data.get("state_count", ())),
        **{name: data[name] for name in kept if name in data},
    )


def _known(made: Callable[..., Made], item: Mapping[str, Any], /, **more: Any) -> Made:
    """An object of the entries that its class has; files have others for readers."""
    names = inspect.signature(made).parameters
    return made(**{name: value for name, value in item.items() if name in names} | more)


def _claim(item: Mapping[str, Any], groups: Mapping[str, tuple[str, ...]]) -> Claim:
    named = item["workloads"]
    fixed = item["measure"] in DECLARED or item["exact"] in ("parameter", "cited")
    declared = fixed or item.get("by_outcome")
    return _known(
        Claim,
        item,
        kind=item.get("kind") or ("declared" if declared else "behaviour"),
        workloads=groups[named] if isinstance(named, str) else tuple(named),
        group=named if isinstance(named, str) else "",
    )


def _bars(item: Mapping[str, Any], groups: Mapping[str, tuple[str, ...]]) -> Bars:
    return Bars(
        figures=tuple(item.get("figures", ())),
        workloads=tuple(name for group in item.get("groups", ()) for name in groups[group]),
        baseline=item["baseline"],
        means=item["mean"],
        basis=item["basis"],
    )
