"""Measures of the TC paper's claims whose measure is ``other``, by the claim's id."""

from __future__ import annotations

from collections.abc import Sequence

from gpucoh.papers.claims import Claim
from gpucoh.papers.counts import Count, Measure
from gpucoh.papers.runs import Runs
from gpucoh.papers.tc_figures import LIFETIMES
from gpucoh.results.matrix import geometric_mean

INVALIDATION_PROTOCOLS = ("mesi", "gpu-vi", "gpu-vini")
FIXED = tuple(f"tc-weak[lifetime={lifetime}]" for lifetime in LIFETIMES)
# Fixed lifetimes whose cycles are within this share of the best are equally good.
PLATEAU = 0.02


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


def plateau(cycles: Sequence[float]) -> range:
    """The places around the smallest number of cycles, without a gap, that are within 2% of it."""
    best = min(range(len(cycles)), key=lambda place: cycles[place])
    limit = cycles[best] * (1 + PLATEAU)
    first = last = best
    while first > 0 and cycles[first - 1] <= limit:
        first -= 1
    while last + 1 < len(cycles) and cycles[last + 1] <= limit:
        last += 1
    return range(first, last + 1)


def from_plateau(lifetime: float, cycles: Sequence[float]) -> float:
    """A lifetime over the nearest fixed one of the plateau; 1 within it.

    ``cycles`` are those of :data:`LIFETIMES`. Lifetimes below the shortest nonzero one count as that one.
    """
    best = plateau(cycles)
    given, lowest, highest = (
        max(LIFETIMES[1], value) for value in (lifetime, LIFETIMES[best[0]], LIFETIMES[best[-1]])
    )
    return given / min(max(given, lowest), highest)


def _lifetime_beside_best(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """Predicted lifetime over the plateau of the fixed ones, geometric mean."""
    ratios = []
    for name in workloads:
        l2 = runs[name, claim.subject].stats["l2"]
        if l2["leases"]:
            cycles = [runs[name, protocol].cycles for protocol in FIXED]
            ratios.append(from_plateau(l2["lease_cycles"] / l2["leases"], cycles))
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


def _class_ratio(kind: str) -> Measure:
    def ratio(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
        subject, baseline = (
            sum(runs[name, protocol].stats.flits_by_class().get(kind, 0) for name in workloads)
            for protocol in (claim.subject, claim.baseline)
        )
        return subject / baseline if baseline else None

    return ratio


_LARGE, _SMALL = "gpu-vini[dir_ways=32,dir_ratio=16]", "gpu-vini[dir_ways=8,dir_ratio=2]"
COUNTS: dict[str, Count] = {
    "tc-09": Count(
        protocols=("tc-weak", *INVALIDATION_PROTOCOLS),
        measure=_best_speedup,
        text="largest speedup over mesi, gpu-vi and gpu-vini",
    ),
    "tc-13": Count(
        protocols=("tc-weak[lifetime=0]", "no-l1"),
        measure=_load_requests,
        text="load requests at the L2, over the baseline's",
    ),
    "tc-17": Count(
        protocols=("tc-weak", *FIXED),
        measure=_lifetime_beside_best,
        text="average predicted lifetime over the plateau of the fixed ones (within 2% of the best), geometric mean",
    ),
    "tc-29": Count(
        protocols=("tc-weak",), measure=_calls, text="invalidation and recall messages, maximum"
    ),
    "tc-31": Count(
        protocols=(_LARGE, _SMALL),
        measure=_class_ratio("RCL"),
        text="recall flits, over the baseline's",
    ),
    "tc-31b": Count(
        protocols=(_LARGE, _SMALL),
        measure=_class_ratio("INV"),
        text="invalidation flits, over the baseline's",
    ),
    "tc-61": Count(protocols=("tc-weak",), measure=_rollovers, text="flushes by rollover, maximum"),
}
