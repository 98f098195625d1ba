"""A paper's claims, read from the package's ``claims_<paper>.toml``, whose first lines describe the schema."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib.resources import files

from gpucoh.errors import ConfigError
from gpucoh.units import nearest

_PAPERS = ("tc",)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim of a paper.

    Attributes
    ----------
    id, figure, measure : str
        Identifier, the paper's figure, and the measured quantity.
    subject, baseline : str
        Protocols, with options in brackets; empty if there is none.
    workloads : tuple of str
        Workload ids.
    group : str
        The paper's name of that set of workloads, or empty.
    mean : str
        One of: harmonic geometric arithmetic unstated max min single.
    exact : str
        One of: stated (a number), qualitative (a direction), parameter.
    value : float or None
        The number, in the unit of the measure.
    direction : str or None
        One of: above, below, equal; relative to 1.
    says, where, note : str
        The claim in words; the section; remarks.
    """

    id: str
    figure: str
    measure: str
    subject: str
    baseline: str
    workloads: tuple[str, ...]
    group: str
    mean: str
    exact: str
    value: float | None
    direction: str | None
    says: str
    where: str
    note: str


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper's claims and its groups of workloads."""

    id: str
    title: str
    machine: str
    groups: dict[str, tuple[str, ...]]
    claims: tuple[Claim, ...]


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
        raise ConfigError(
            f"unknown paper {paper!r}; papers are {', '.join(_PAPERS)}{nearest(paper, _PAPERS)}"
        )
    text = files("gpucoh.papers").joinpath(f"claims_{paper}.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    groups = {name: tuple(ids) for name, ids in data["groups"].items()}
    claims = []
    for item in data["claim"]:
        named = item["workloads"]
        claims.append(
            Claim(
                id=item["id"],
                figure=item["figure"],
                measure=item["measure"],
                subject=item["subject"],
                baseline=item["baseline"],
                workloads=groups[named] if isinstance(named, str) else tuple(named),
                group=named if isinstance(named, str) else "",
                mean=item["mean"],
                exact=item["exact"],
                value=item.get("value"),
                direction=item.get("direction"),
                says=item["says"],
                where=item["where"],
                note=item.get("note", ""),
            )
        )
    return Paper(
        id=paper,
        title=data["title"],
        machine=data["machine"],
        groups=groups,
        claims=tuple(claims),
    )
