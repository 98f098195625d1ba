"""Measures of the DeNovo paper's claims whose measure is ``other``, by the claim's id."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpucoh.papers.amounts import dynamic_energy_by_place, flit_crossings
from gpucoh.papers.bars import Group
from gpucoh.papers.claims import Claim
from gpucoh.papers.counts import Count, Measure
from gpucoh.papers.runs import Runs
from gpucoh.results.runs import RunResult


def _parts(amounts: Callable[[RunResult], Mapping[str, float]], *names: str) -> Measure:
    """The mean heights of parts of a figure's bars: the subject's over the baseline's."""

    def measured(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
        baselines = dict.fromkeys(workloads, claim.baseline)
        group = Group(measure="", baselines=baselines, kind="arithmetic")
        subject, baseline = (
            sum(group.parts(protocol, runs, amounts)[name] for name in names)
            for protocol in (claim.subject, claim.baseline)
        )
        return subject / baseline if baseline else None

    return measured


_PROTOCOLS = ("gpu-hrf", "gpu-drf")
COUNTS: dict[str, Count] = {
    "dn-fig4-gh-gd-atomic-traffic": Count(
        protocols=_PROTOCOLS,
        measure=_parts(flit_crossings, "atomic"),
        text="flit crossings of atomics, mean parts of the bars",
    ),
    "dn-fig4-gh-gd-data-traffic": Count(
        protocols=_PROTOCOLS,
        measure=_parts(flit_crossings, "read", "registration", "write"),
        text="flit crossings but atomics, mean parts of the bars",
    ),
    "dn-fig4-gh-gd-mem-energy": Count(
        protocols=_PROTOCOLS,
        measure=_parts(dynamic_energy_by_place, "l1", "l2", "network"),
        text="dynamic energy of L1, L2 and network, mean parts of the bars",
    ),
}
