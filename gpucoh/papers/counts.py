"""Measures of the claims whose measure is ``other``: a count or ratio of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpucoh.papers.claims import Claim
from gpucoh.papers.runs import Runs

Measure = Callable[[Claim, list[str], Runs], float | None]


@dataclass(frozen=True, kw_only=True)
class Count:
    """How one claim is measured.

    Attributes
    ----------
    protocols : tuple of str
        The protocols to run, for each of the claim's workloads.
    measure : callable
        Maps the claim, the workloads whose runs are correct, and the runs to the number, or None.
    text : str
        Description of the number.
    also_on : tuple of dict
        Fields of other machines that need the runs too; ``runs.on(fields)`` has them.
    """

    protocols: tuple[str, ...]
    measure: Measure
    text: str
    also_on: tuple[Mapping[str, object], ...] = ()
