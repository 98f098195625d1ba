"""Measures of the QuickRelease paper's claims whose measure is ``other``, by the claim's id."""

from __future__ import annotations

from gpucoh.papers.bars import ratio
from gpucoh.papers.claims import Claim
from gpucoh.papers.counts import Count
from gpucoh.papers.runs import Runs
from gpucoh.results.matrix import geometric_mean

_DOUBLED = {"l1_kib": 32}
_FIFO_A_WAVE = "qr!fifo-a-wave"  # a planted bug, which the library of the tests has


def _speedup_of_doubled_l1s(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """The mean speedup that L1s of twice the size give."""
    doubled = runs.on(_DOUBLED)
    return geometric_mean(
        [
            runs[name, claim.baseline].cycles / doubled[name, claim.subject].cycles
            for name in workloads
        ]
    )


def _speedup_of_a_fifo_a_wave(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """The mean speedup if a release waits for the writes of its wave alone."""
    return geometric_mean(
        [runs[name, claim.baseline].cycles / runs[name, _FIFO_A_WAVE].cycles for name in workloads]
    )


def _doubled(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """The number of workloads whose L1s receive at least twice the bytes."""
    ratios = [
        ratio("l1_bytes", runs[name, claim.subject], runs[name, claim.baseline])
        for name in workloads
    ]
    return float(sum(one is not None and one >= 2 for one in ratios))


COUNTS: dict[str, Count] = {
    "qr-wt-double-l1": Count(
        protocols=("wt",),
        measure=_speedup_of_doubled_l1s,
        text="geometric mean speedup with L1s of 32 KiB over those of 16 KiB",
        also_on=(_DOUBLED,),
    ),
    "qr-fifo-split": Count(
        protocols=("qr", _FIFO_A_WAVE),
        measure=_speedup_of_a_fifo_a_wave,
        text="geometric mean speedup of a FIFO a wave",
    ),
    "qr-fig8-double": Count(
        protocols=("qr", "wt"),
        measure=_doubled,
        text="workloads whose L1s receive at least twice the bytes",
    ),
}
