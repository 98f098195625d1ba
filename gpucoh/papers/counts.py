"""Measures of the claims whose measure is ``other``: a count or ratio of runs, by the claim's id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpucoh.experiments.comparison import geometric_mean
from gpucoh.experiments.runner import RunResult
from gpucoh.papers.claims import Claim
from gpucoh.papers.drawing import LIFETIMES

Runs = Mapping[tuple[str, str], RunResult]  # (workload, protocol) -> run
INVALIDATION_PROTOCOLS = ("mesi", "gpu-vi", "gpu-vini")
FIXED = tuple(f"tc-weak[lifetime={lifetime}]" for lifetime in LIFETIMES)


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
    """

    protocols: tuple[str, ...]
    measure: Callable[[Claim, list[str], Runs], float | None]
    text: str


def _best_speedup(claim: Claim, workloads: list[str], runs: Runs) -> float:
    return max(
        runs[name, other].cycles / runs[name, claim.subject].cycles
        for name in workloads
        for other in INVALIDATION_PROTOCOLS
    )


def _load_requests(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    ratios = [
        runs[name, claim.subject].stats["l2"]["loads"]
        / runs[name, claim.baseline].stats["l2"]["loads"]
        for name in workloads
    ]
    return geometric_mean(ratios)


def _lifetime_beside_best(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """Predicted over best fixed lifetime; a best lifetime of 0 counts as the shortest nonzero one."""
    ratios = []
    for name in workloads:
        best = min(range(len(FIXED)), key=lambda place: runs[name, FIXED[place]].cycles)
        l2 = runs[name, claim.subject].stats["l2"]
        if l2["leases"]:
            average = l2["lease_cycles"] / l2["leases"]
            ratios.append(max(1.0, average) / max(LIFETIMES[1], LIFETIMES[best]))
    return geometric_mean(ratios)


def _calls(claim: Claim, workloads: list[str], runs: Runs) -> float:
    """Invalidations and recalls, maximum over the workloads."""
    return float(
        max(
            sum(
                group["messages"]
                for group in runs[name, claim.subject].stats["traffic"].values()
                if group["class"] in ("INV", "RCL")
            )
            for name in workloads
        )
    )


def _rollovers(claim: Claim, workloads: list[str], runs: Runs) -> float:
    return float(max(runs[name, claim.subject].stats["rollovers"] for name in workloads))


def _class_ratio(kind: str) -> Callable[[Claim, list[str], Runs], float | None]:
    def ratio(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
        subject, baseline = (
            sum(runs[name, protocol].stats.flits_by_class().get(kind, 0) for name in workloads)
            for protocol in (claim.subject, claim.baseline)
        )
        return subject / baseline if baseline else None

    return ratio


_LARGE, _SMALL = "gpu-vini[dir_ways=32,dir_ratio=16]", "gpu-vini[dir_ways=8,dir_ratio=2]"
COUNTS: dict[tuple[str, str], Count] = {
    ("tc", "tc-09"): Count(
        protocols=("tc-weak", *INVALIDATION_PROTOCOLS),
        measure=_best_speedup,
        text="largest speedup over mesi, gpu-vi and gpu-vini",
    ),
    ("tc", "tc-13"): Count(
        protocols=("tc-weak[lifetime=0]", "no-l1"),
        measure=_load_requests,
        text="load requests at the L2, over the baseline's",
    ),
    ("tc", "tc-17"): Count(
        protocols=("tc-weak", *FIXED),
        measure=_lifetime_beside_best,
        text="average predicted lifetime over the best fixed one, geometric mean",
    ),
    ("tc", "tc-29"): Count(
        protocols=("tc-weak",), measure=_calls, text="invalidation and recall messages, maximum"
    ),
    ("tc", "tc-31"): Count(
        protocols=(_LARGE, _SMALL),
        measure=_class_ratio("RCL"),
        text="recall flits, over the baseline's",
    ),
    ("tc", "tc-31b"): Count(
        protocols=(_LARGE, _SMALL),
        measure=_class_ratio("INV"),
        text="invalidation flits, over the baseline's",
    ),
    ("tc", "tc-61"): Count(
        protocols=("tc-weak",), measure=_rollovers, text="flushes by rollover, maximum"
    ),
}
