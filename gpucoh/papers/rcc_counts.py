"""Measures of the RCC paper's claims whose measure is ``other``, by the claim's id."""

from __future__ import annotations

from gpucoh.papers.amounts import AMOUNTS, expired_loads, order_stall_cycles, share
from gpucoh.papers.claims import Claim
from gpucoh.papers.counts import Count, Measure
from gpucoh.papers.runs import Runs

SC_BASELINE = "mesi-wt[consistency=sc]"
_OFTEN = 0.2  # of the memory operations, section I
_SECONDS_PER_HOUR = 3600


def _often_stalled(claim: Claim, workloads: list[str], runs: Runs) -> float:
    shares = (AMOUNTS["sc_stalled"](runs[name, claim.subject]) for name in workloads)
    return float(sum(part is not None and part > _OFTEN for part in shares))


def _writes_over_loads(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    pairs = [order_stall_cycles(runs[name, claim.subject]) for name in workloads]
    return share(sum(writes for _, writes in pairs), sum(loads for loads, _ in pairs))


def _premature(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    pairs = [expired_loads(runs[name, claim.subject]) for name in workloads]
    unchanged, every = (sum(part) for part in zip(*pairs, strict=True))
    return share(unchanged, every - unchanged)


def _cycles_per(counter: str) -> Measure:
    """Core cycles per count of an L1's counter, over all workloads together."""

    def measured(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
        found = [runs[name, claim.subject] for name in workloads]
        core_cycles = sum(run.cycles * run.configuration["cores"] for run in found)
        return share(core_cycles, sum(run.stats.counters["L1"][counter] for run in found))

    return measured


_cycles_per_tick = _cycles_per("logical_time")


def _hours_to_rollover(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    cycles = _cycles_per_tick(claim, workloads, runs)
    machine = runs[workloads[0], claim.subject].configuration
    hertz = machine["core_mhz"] * 1e6
    ticks = 2 ** machine["timestamp_bits"]
    return None if cycles is None else ticks * cycles / hertz / _SECONDS_PER_HOUR


COUNTS: dict[str, Count] = {
    "rcc-01": Count(
        protocols=(SC_BASELINE,),
        measure=_often_stalled,
        text="workloads in which more than 20% of the memory operations of any space stall for SC",
    ),
    "rcc-02": Count(
        protocols=(SC_BASELINE,),
        measure=_writes_over_loads,
        text="SC stall cycles behind stores and atomics over those behind loads, sums over the workloads",
    ),
    "rcc-11": Count(
        protocols=("rcc-sc",),
        measure=_premature,
        text="expired loads whose line is unchanged over the others, sums over the workloads",
    ),
    "rcc-15": Count(
        protocols=("rcc-sc",),
        measure=_cycles_per("now_advances"),
        text="core cycles per advance of a core's logical clock, sums over the workloads",
    ),
    "rcc-16": Count(
        protocols=("rcc-sc",),
        measure=_hours_to_rollover,
        text="hours in which a logical time of the machine's width rolls over, by the time of its advances",
    ),
}
