"""Measures of the QuickRelease paper's claims whose measure is ``other``, by the claim's id."""

from __future__ import annotations

from gpucoh.papers.claims import Claim
from gpucoh.papers.counts import Count
from gpucoh.papers.runs import Runs
from gpucoh.results.matrix import geometric_mean

_DOUBLED = {"l1_kib": 32}


def _speedup_of_doubled_l1s(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """The mean speedup that L1s of twice the size give."""
    doubled = runs.on(_DOUBLED)
    return geometric_mean(
        [
            runs[name, claim.baseline].cycles / doubled[name, claim.subject].cycles
            for name in workloads
        ]
    )


COUNTS: dict[str, Count] = {
    "qr-wt-double-l1": Count(
        protocols=("wt",),
        measure=_speedup_of_doubled_l1s,
        text="geometric mean speedup with L1s of 32 KiB over those of 16 KiB",
        also_on=(_DOUBLED,),
    ),
}
