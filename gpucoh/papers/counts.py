"""Measures of the claims whose measure is ``other``: a count or ratio of runs, by the claim's id."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from gpucoh.papers.amounts import (
    AMOUNTS,
    Parts,
    dynamic_energy_by_place,
    expired_loads,
    flit_crossings,
    order_stall_cycles,
    share,
)
from gpucoh.papers.bars import Group, ratio
from gpucoh.papers.claims import Claim, load, papers
from gpucoh.papers.lifetimes import LIFETIMES
from gpucoh.papers.runs import Runs
from gpucoh.results.matrix import geometric_mean
from gpucoh.results.runs import RunResult

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


def _mean_speedup(base: Runs, ours: Runs, claim: Claim, workloads: list[str]) -> float | None:
    """The geometric mean of the baseline's cycles over the subject's, each of their own runs."""
    return geometric_mean(
        [base[name, claim.baseline].cycles / ours[name, claim.subject].cycles for name in workloads]
    )


# ---- TC

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
    of = (claim.subject, claim.baseline)
    loads = [[runs[name, one].stats["l2"]["loads"] for one in of] for name in workloads]
    return geometric_mean([ours / base for ours, base in loads])


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


def _largest(
    of: Callable[[RunResult], float], claim: Claim, workloads: list[str], runs: Runs
) -> float:
    return float(max(of(runs[name, claim.subject]) for name in workloads))


def _calls(run: RunResult) -> int:
    """Invalidations and recalls."""
    traffic = run.stats["traffic"].values()
    return sum(kind["messages"] for kind in traffic if kind["class"] in ("INV", "RCL"))


def _class_ratio(kind: str, claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """Flits of a class over the baseline's, sums over the workloads."""
    subject, baseline = (
        sum(runs[name, protocol].stats.flits_by_class().get(kind, 0) for name in workloads)
        for protocol in (claim.subject, claim.baseline)
    )
    return share(subject, baseline)


# ---- RCC

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


def _cycles_per(counter: str, claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """Core cycles per count of an L1's counter, over all workloads together."""
    found = [runs[name, claim.subject] for name in workloads]
    core_cycles = sum(run.cycles * run.configuration["cores"] for run in found)
    return share(core_cycles, sum(run.stats.counters["L1"][counter] for run in found))


def _hours_to_rollover(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    cycles = _cycles_per("logical_time", claim, workloads, runs)
    machine = runs[workloads[0], claim.subject].configuration
    hertz = machine["core_mhz"] * 1e6
    ticks = 2 ** machine["timestamp_bits"]
    return None if cycles is None else ticks * cycles / hertz / _SECONDS_PER_HOUR


# ---- DeNovo


def _parts(
    amounts: Parts, names: str, claim: Claim, workloads: list[str], runs: Runs
) -> float | None:
    """The mean heights of parts of a figure's bars: the subject's over the baseline's."""
    baselines = dict.fromkeys(workloads, claim.baseline)
    group = Group(measure="", baselines=baselines, kind="arithmetic")
    subject, baseline = (
        sum(group.parts(protocol, runs, amounts)[name] for name in names.split())
        for protocol in (claim.subject, claim.baseline)
    )
    return share(subject, baseline)


# ---- STC

_DRAINED_A_CYCLE = 32  # entries of the blocked-store queue, section 7.2
_MANY = {"cores": 32}


def _drain(entries: float) -> int:
    """Cycles in which a queue of some entries is looked at."""
    return math.ceil(entries / _DRAINED_A_CYCLE)


def _share_in_a_cycle(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """The share of the workloads whose mean queue is looked at in one cycle."""
    found = [AMOUNTS["queued"](runs[name, claim.subject]) for name in workloads]
    means = [mean for mean in found if mean is not None]
    return share(sum(_drain(mean) <= 1 for mean in means), len(means))


def _drain_of_one(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    (name,) = workloads
    entries = AMOUNTS["queued"](runs[name, claim.subject])
    return None if entries is None else float(_drain(entries))


def _speedup_of_scale(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """The mean speedup on 32 CUs over that on the paper's 8."""
    many, few = (_mean_speedup(on, on, claim, workloads) for on in (runs.on(_MANY), runs))
    return many / few if many and few else None


# ---- QuickRelease

_DOUBLED = {"l1_kib": 32}
_FIFO_A_WAVE = "qr!fifo-a-wave"  # a planted bug, which the library of the tests has


def _speedup_of_doubled_l1s(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """The mean speedup that L1s of twice the size give."""
    return _mean_speedup(runs, runs.on(_DOUBLED), claim, workloads)


def _speedup_of_a_fifo_a_wave(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """The mean speedup if a release waits for the writes of its wave alone."""
    return geometric_mean(
        [runs[name, claim.baseline].cycles / runs[name, _FIFO_A_WAVE].cycles for name in workloads]
    )


def _doubled(claim: Claim, workloads: list[str], runs: Runs) -> float | None:
    """The number of workloads whose L1s receive at least twice the bytes."""
    of = (claim.subject, claim.baseline)
    ratios = [ratio("l1_bytes", *(runs[name, one] for one in of)) for name in workloads]
    return float(sum(one is not None and one >= 2 for one in ratios))


MEASURES: dict[str, Callable[..., float | None]] = {
    "best_speedup": _best_speedup,
    "class_ratio": _class_ratio,
    "cycles_per": _cycles_per,
    "doubled": _doubled,
    "drain_of_one": _drain_of_one,
    "hours_to_rollover": _hours_to_rollover,
    "lifetime_beside_best": _lifetime_beside_best,
    "load_requests": _load_requests,
    "most_calls": partial(_largest, _calls),
    "most_rollovers": partial(_largest, lambda run: run.stats["rollovers"]),
    "often_stalled": _often_stalled,
    "parts_of_crossings": partial(_parts, flit_crossings),
    "parts_of_energy": partial(_parts, dynamic_energy_by_place),
    "premature": _premature,
    "share_in_a_cycle": _share_in_a_cycle,
    "speedup_of_a_fifo_a_wave": _speedup_of_a_fifo_a_wave,
    "speedup_of_doubled_l1s": _speedup_of_doubled_l1s,
    "speedup_of_scale": _speedup_of_scale,
    "writes_over_loads": _writes_over_loads,
}


def _count(measure: str, protocols: str, text: str, of: str = "", **more: Any) -> Count:
    found = MEASURES[measure]
    also_on = tuple(more.get("also_on", ()))
    measured = partial(found, of) if of else found
    return Count(protocols=tuple(protocols.split()), measure=measured, text=text, also_on=also_on)


# paper -> claim -> how it is measured
COUNTS = {
    paper: {claim.id: _count(**claim.count) for claim in load(paper).claims if claim.count}
    for paper in papers()
}
