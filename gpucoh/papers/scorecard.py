"""Every claim of a paper with its measured value.

A measured value agrees with a stated number in ``size`` within 10 percentage points, and in ``direction`` if both lie
on the same side of 1 by more than 1%. It agrees with a stated direction if it lies on that side by more than 1%, and
with ``equal`` within 10%.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from gpucoh.experiments.comparison import geometric_mean, harmonic_mean
from gpucoh.experiments.runner import RunResult
from gpucoh.gpu import protocols, resolve
from gpucoh.papers.claims import Claim, Paper
from gpucoh.papers.counts import COUNTS, Count
from gpucoh.papers.runs import Bench, missing_protocol, present

SIZE = 0.10
SIDE = 0.01


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One measured claim, as ``gpucoh scorecard --json`` prints it."""

    id: str
    paper: str
    figure: str
    measure: str
    subject: str
    baseline: str
    workloads: list[str]
    claimed: float | str | None
    measured: float | None
    agrees: str
    reason: str
    says: str

    def to_dict(self) -> dict[str, Any]:
        """The verdict as a plain dictionary."""
        return asdict(self)


def _network_energy(run: RunResult) -> float:
    return float(run.stats.energy["noc_dynamic"] + run.stats.energy["noc_static"])


# measure -> ratio of the subject's run to the baseline's
_RATIOS: dict[str, Callable[[RunResult, RunResult], float]] = {
    "speedup": lambda ours, base: base.cycles / ours.cycles,
    "traffic": lambda ours, base: ours.stats.flits() / base.stats.flits(),
    "noc_energy": lambda ours, base: _network_energy(ours) / _network_energy(base),
    "noc_power": lambda ours, base: (
        (_network_energy(ours) / ours.cycles) / (_network_energy(base) / base.cycles)
    ),
    "energy": lambda ours, base: ours.stats.energy["total"] / base.stats.energy["total"],
}


def _mean(kind: str, measure: str, values: list[float]) -> float | None:
    """The claim's mean; if the paper names none, harmonic for speedups (as in its figures), else geometric."""
    if kind in ("max", "min"):
        return max(values) if kind == "max" else min(values)
    if kind == "arithmetic":
        return sum(values) / len(values)
    if kind == "harmonic" or (kind == "unstated" and measure == "speedup"):
        return harmonic_mean(values)
    return geometric_mean(values)


def agreement(claim: Claim, measured: float) -> str:
    """The agreement: ``size``, ``direction`` or ``no``."""
    if claim.value is not None:
        if abs(measured - claim.value) <= SIZE + 1e-9:  # tolerance for decimal fractions
            return "size"
        same = (measured - 1) * (claim.value - 1) > 0
        return "direction" if same and abs(measured - 1) > SIDE else "no"
    agrees = {
        "above": measured > 1 + SIDE,
        "below": measured < 1 - SIDE,
        "equal": abs(measured - 1) <= SIZE,
    }
    return "direction" if agrees[str(claim.direction)] else "no"


def _states(protocol: str) -> int:
    """Number of transient coherence states, L1 and L2."""
    tables = (
        table
        for controller in protocols()[protocol].json["controllers"]
        for table in controller["tables"]
    )
    return sum(
        state["kind"] == "transient_coherence" for table in tables for state in table["states"]
    )


def _unmeasured(claim: Claim, count: Count | None) -> str:
    """Why a claim cannot be measured, or an empty text if it can."""
    if claim.exact == "parameter":
        return "a parameter of the configuration, not a result"
    if count is None and claim.measure != "states" and claim.measure not in _RATIOS:
        return f"not computed: {claim.note or claim.says}"
    for protocol in _protocols(claim, count):
        if not protocol:
            return "the paper names no protocol"
        if missing_protocol(protocol):
            return missing_protocol(protocol)
    if claim.measure != "states" and not present(claim.workloads):
        return f"workloads not built in: {' '.join(claim.workloads)}"
    return ""


def _protocols(claim: Claim, count: Count | None) -> tuple[str, ...]:
    """The protocols that a claim needs to run."""
    return count.protocols if count else (claim.subject, claim.baseline)


def _measure(
    claim: Claim, count: Count | None, bench: Bench
) -> tuple[float | None, list[str], str]:
    """The measured value, the workloads used, and remarks."""
    if claim.measure == "states":
        ours, base = (resolve(name).protocol.id for name in (claim.subject, claim.baseline))
        return float(_states(ours) - _states(base)), [], ""
    notes = [count.text] if count else []
    absent = [name for name in claim.workloads if name not in present(claim.workloads)]
    if absent:
        notes.append(f"without {' '.join(absent)} (not built in)")
    used = []
    for name in present(claim.workloads):
        runs = [bench.done[name, protocol] for protocol in _protocols(claim, count)]
        broken = [run for run in runs if run.correct is False]
        if broken:
            notes.append(f"without {name} ({broken[0].protocol}: {broken[0].verdict})")
        else:
            used.append(name)
    measured = None
    if used and count:
        measured = count.measure(claim, used, bench.done)
    elif used:
        ratio = _RATIOS[claim.measure]
        values = [
            ratio(bench.done[name, claim.subject], bench.done[name, claim.baseline])
            for name in used
        ]
        measured = _mean(claim.mean, claim.measure, values)
    if measured is None:
        notes.append("the baseline's value is zero")
    return measured, used, "; ".join(notes)


def scorecard(paper: Paper, bench: Bench) -> list[Verdict]:
    """Measure every claim of a paper.

    Parameters
    ----------
    paper : Paper
    bench : Bench
        Runs the runs, or has run them.
    """
    wanted = []
    for claim in paper.claims:
        count = COUNTS.get((paper.id, claim.id))
        if claim.measure != "states" and not _unmeasured(claim, count):
            protocols = _protocols(claim, count)
            wanted += [
                (name, protocol) for name in present(claim.workloads) for protocol in protocols
            ]
    bench.get(wanted)
    return [_verdict(paper, claim, bench) for claim in paper.claims]


def _verdict(paper: Paper, claim: Claim, bench: Bench) -> Verdict:
    count = COUNTS.get((paper.id, claim.id))
    reason = _unmeasured(claim, count)
    measured, used = None, list(claim.workloads)
    if not reason:
        measured, used, reason = _measure(claim, count, bench)
    if measured is None:
        agrees = "not_measured"
    elif claim.measure == "states":
        agrees = "size" if measured == claim.value else "no"
    else:
        agrees = agreement(claim, measured)
    return Verdict(
        id=claim.id,
        paper=paper.id,
        figure=claim.figure,
        measure=claim.measure,
        subject=claim.subject,
        baseline=claim.baseline,
        workloads=used,
        claimed=claim.value if claim.value is not None else claim.direction,
        measured=measured,
        agrees=agrees,
        reason=reason,
        says=claim.says,
    )
