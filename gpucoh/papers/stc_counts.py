"""Measures of the STC paper's claims whose measure is ``other``, by the claim's id."""

from __future__ import annotations

import math

from gpucoh.papers.amounts import AMOUNTS
from gpucoh.papers.claims import Claim
from gpucoh.papers.counts import Count, Measure
from gpucoh.papers.runs import Runs
from gpucoh.results.matrix import geometric_mean

DRAINED_A_CYCLE = 32  # entries of the blocked-store queue, section 7.2
MANY = {"cores": 32}


def _drain(entries: float) -> int:
    """Cycles in which a queue of some entries is looked at."""
    return math.ceil(entries / DRAINED_A_CYCLE)


def _share_in_a_cycle(amount: str) -> Measure:
    """The share of the workloads whose mean queue is looked at in one cycle."""

    def measured(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
        found = [AMOUNTS[amount](runs[name, claim.subject]) for name in workloads]
        means = [mean for mean in found if mean is not None]
        return sum(_drain(mean) <= 1 for mean in means) / len(means) if means else None

    return measured


def _drain_of_one(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    (name,) = workloads
    entries = AMOUNTS["queued"](runs[name, claim.subject])
    return None if entries is None else float(_drain(entries))


def _speedup_of_scale(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """The mean speedup on 32 CUs over that on the paper's 8."""
    mean = [
        geometric_mean(
            [on[name, claim.baseline].cycles / on[name, claim.subject].cycles for name in workloads]
        )
        for on in (runs.on(MANY), runs)
    ]
    many, few = mean
    return many / few if many and few else None


_MB = ("stc-mb",)
COUNTS: dict[str, Count] = {
    "stc-bsq-small": Count(
        protocols=_MB,
        measure=_share_in_a_cycle("queued"),
        text="share of the workloads with a mean of at most 32 entries over the cycles of the launches",
    ),
    "stc-bsq-drain-most": Count(
        protocols=_MB,
        measure=_share_in_a_cycle("queued"),
        text="share of the workloads with a mean of at most 32 entries over the cycles of the launches",
    ),
    "stc-bsq-drain-fft": Count(
        protocols=_MB,
        measure=_drain_of_one,
        text="a 32nd of the mean entries over the cycles of the launches, rounded up",
    ),
    "stc-scale-mean": Count(
        protocols=("stc-mb", "src"),
        measure=_speedup_of_scale,
        text="geometric mean speedup on 32 CUs over that on 8",
        also_on=(MANY,),
    ),
}
