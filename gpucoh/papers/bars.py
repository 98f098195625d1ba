"""Mean bars of a paper's figures, and the ratios of them that group claims state.

A bar is a run's amount relative to that of the bar's baseline on the same workload. The claim "A against B" over a
group is the ratio of A's mean bar to B's, so that it is the inverse of "B against A" for every kind of mean.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gpucoh.base.quoting import quoted
from gpucoh.papers.amounts import AMOUNTS, RELATIVE
from gpucoh.papers.claims import Claim, Paper
from gpucoh.papers.runs import Runs
from gpucoh.results.matrix import geometric_mean, harmonic_mean
from gpucoh.results.runs import RunResult

MEANS: dict[str, Callable[[Sequence[float]], float | None]] = {
    "harmonic": harmonic_mean,
    "geometric": geometric_mean,
    "arithmetic": statistics.fmean,
}
# Picks of a single workload's ratio: the value that decides whether it lies on the claimed side in every workload
# (each), or in more than half of them (most).
PICKS = ("max", "min", "each", "most")


def ratio(measure: str, ours: RunResult, base: RunResult) -> float | None:
    """A measure of one run relative to another; None if an amount is not defined, or the other's is zero."""
    if measure in RELATIVE:
        return RELATIVE[measure](ours, base)
    amount = AMOUNTS[measure]
    above, below = amount(ours), amount(base)
    if measure == "speedup":
        above, below = below, above
    return above / below if below and above is not None else None


def absolute(
    measure: str, protocol: str, workloads: Sequence[str], runs: Runs, kind: str
) -> float | None:
    """The mean amount of a protocol's runs; None if it is defined for none of them."""
    found = (AMOUNTS[measure](runs[name, protocol]) for name in workloads)
    amounts = [amount for amount in found if amount is not None]
    return MEANS[kind](amounts) if amounts else None


@dataclass(frozen=True, kw_only=True)
class Group:
    """Workloads whose bars are averaged, with the baseline of each workload's bars.

    Attributes
    ----------
    measure : str
        One of :data:`AMOUNTS`.
    baselines : dict
        Workload -> the protocol to which its bars are relative; empty for bars that are relative to none.
    kind : str
        The kind of mean, one of :data:`MEANS`.
    times : bool
        Whether the bars of a speedup are times, of which the mean is taken.
    """

    measure: str
    baselines: Mapping[str, str]
    kind: str
    times: bool = False

    def only(self, workloads: Sequence[str]) -> Group:
        """The group without the workloads that are not listed."""
        kept = {name: base for name, base in self.baselines.items() if name in workloads}
        return Group(measure=self.measure, baselines=kept, kind=self.kind, times=self.times)

    def bars(self, protocol: str, runs: Runs) -> list[float | None]:
        """The bar of every workload; None if a baseline's amount is zero."""
        return [
            ratio(self.measure, runs[name, protocol], runs[name, baseline])
            if baseline
            else AMOUNTS[self.measure](runs[name, protocol])
            for name, baseline in self.baselines.items()
        ]

    def mean(self, protocol: str, runs: Runs) -> float | None:
        """The mean bar of a protocol; None without workloads, or if a bar is not defined."""
        return self.average(self.bars(protocol, runs))

    def average(self, bars: Sequence[float | None]) -> float | None:
        """The mean of bars; for those that are times the inverse of their mean, hence a speedup."""
        heights = [bar for bar in bars if bar is not None]
        if not heights or len(heights) < len(bars):
            return None
        if not self.times:
            return MEANS[self.kind](heights)
        time = MEANS[self.kind]([1 / height for height in heights])
        return 1 / time if time else None

    def parts(
        self, protocol: str, runs: Runs, amounts: Callable[[RunResult], Mapping[str, float]]
    ) -> dict[str, float]:
        """The mean bar of a protocol by part: amounts of each part over the baseline's total, arithmetic mean."""
        out: dict[str, float] = {}
        for name, baseline in self.baselines.items():
            total = sum(amounts(runs[name, baseline]).values())
            for part, amount in amounts(runs[name, protocol]).items():
                share = amount / total / len(self.baselines) if total else 0.0
                out[part] = out.get(part, 0.0) + share
        return out

    def against(self, subject: str, baseline: str, runs: Runs) -> float | None:
        """The ratio of two mean bars; None if it is not defined."""
        above, below = self.mean(subject, runs), self.mean(baseline, runs)
        return above / below if above is not None and below else None


def usable(group: Group, protocols: Sequence[str], runs: Runs) -> Group:
    """The group without the workloads in which a protocol, or the bar's baseline, gives wrong results.

    An empty id is no protocol.
    """
    return group.only(
        [
            name
            for name, baseline in group.baselines.items()
            if all(
                runs[name, protocol].correct is not False
                for protocol in (*protocols, baseline)
                if protocol
            )
        ]
    )


def shown_group(paper: Paper, measure: str, figure: str, workloads: Sequence[str]) -> Group | None:
    """The bars of some workloads as the paper's file describes them; None if it does not describe them all.

    Raises
    ------
    ValueError
        If the workloads' bars have means of different kinds.
    """
    found = {name: paper.bars_of(measure, figure, name) for name in workloads}
    entries = {name: entry for name, entry in found.items() if entry is not None}
    if not entries or len(entries) < len(found):
        return None
    kinds = {
        (key, entry.means[key])
        for entry in entries.values()
        if (key := entry.quantity(measure)) is not None
    }
    if len(kinds) > 1:
        raise ValueError(
            f"figure {quoted(figure)}, {measure}: bars with different means: {sorted(kinds)}"
        )
    quantity, kind = kinds.pop()
    baselines = {name: entry.baseline for name, entry in entries.items()}
    times = measure == "speedup" and quantity == "time"
    return Group(measure=paper.amount(measure), baselines=baselines, kind=kind, times=times)


def first_mean(paper: Paper, measure: str) -> tuple[str, str]:
    """The quantity of which the paper's first bars of a measure are means, and the kind of mean."""
    return next(
        (key, entry.means[key])
        for entry in paper.bars
        if (key := entry.quantity(measure)) is not None
    )


def group_of(paper: Paper, claim: Claim) -> Group:
    """The bars from which a claim over several workloads is read.

    A figure whose bars the paper's file does not describe is read as bars relative to the claim's own baseline, with
    the claim's mean or, where it states none, the paper's first one for the measure.
    """
    shown = shown_group(paper, claim.measure, claim.figure, claim.workloads)
    if shown is not None:
        return shown
    key, kind = first_mean(paper, claim.measure)
    stated = claim.mean != "unstated"
    return Group(
        measure=paper.amount(claim.measure),
        baselines=dict.fromkeys(claim.workloads, claim.baseline),
        kind=claim.mean if stated else kind,
        times=key == "time" and not stated,
    )


def measure_claim(paper: Paper, claim: Claim, workloads: Sequence[str], runs: Runs) -> float | None:
    """The value of a claim about a ratio of two protocols, or about one, from the runs of some of its workloads.

    Where a claim about one protocol states no mean, it is arithmetic.
    """
    amount = paper.amount(claim.measure)
    if claim.mean == "single" or claim.mean in PICKS:
        values = [
            ratio(amount, runs[name, claim.subject], runs[name, claim.baseline])
            if claim.baseline
            else AMOUNTS[amount](runs[name, claim.subject])
            for name in workloads
        ]
        ratios = [value for value in values if value is not None]
        return pick(claim, ratios) if ratios else None
    if not claim.baseline:
        kind = "arithmetic" if claim.mean == "unstated" else claim.mean
        return absolute(amount, claim.subject, workloads, runs, kind)
    return group_of(paper, claim).only(workloads).against(claim.subject, claim.baseline, runs)


def pick(claim: Claim, ratios: Sequence[float]) -> float:
    """The workload's ratio that a claim is about, or that decides a claim about each or most of them."""
    if claim.mean in ("max", "min"):
        return max(ratios) if claim.mean == "max" else min(ratios)
    nearest_first = {
        "above": sorted(ratios, reverse=True),
        "below": sorted(ratios),
        "at_most": sorted(ratios),
        "at_least": sorted(ratios, reverse=True),
        "equal": sorted(ratios, key=lambda value: abs(value - 1)),
    }[claim.direction or "equal"]
    return nearest_first[len(ratios) // 2 if claim.mean == "most" else -1]


def protocols_of(paper: Paper, claim: Claim, workload: str) -> tuple[str, ...]:
    """The protocols whose runs a claim needs on a workload."""
    if not claim.baseline:
        return (claim.subject,)
    if claim.mean == "single" or claim.mean in PICKS:
        return (claim.subject, claim.baseline)
    drawn_over = group_of(paper, claim).baselines[workload]
    return (claim.subject, claim.baseline, *filter(None, [drawn_over]))
