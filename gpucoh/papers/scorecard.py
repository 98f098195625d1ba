"""Every claim of a paper with its measured value."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gpucoh.papers.agreement import agreement
from gpucoh.papers.amounts import AMOUNTS, OF_ONE_RUN, RELATIVE
from gpucoh.papers.bars import measure_claim, protocols_of
from gpucoh.papers.claims import Claim, Paper
from gpucoh.papers.counts import COUNTS
from gpucoh.papers.descriptions import DESCRIBED
from gpucoh.papers.runs import Bench, by_machine, missing_protocol, present
from gpucoh.papers.study import reason_of

_TOO_LONG = "its runs take too long at this scale"
# "by_outcome" is an agreement for which a reading was chosen.
VERDICTS = ("size", "direction", "no", "by_outcome", "not_measured")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One measured claim, as ``gpucoh scorecard --json`` prints it.

    Attributes
    ----------
    id, paper, figure, measure, subject, baseline, workloads, says
        The claim; ``workloads`` are those that enter the measured value.
    kind : str
        ``behaviour``, or ``declared``: arithmetic on declared fields, or a number that chose a reading.
    shares : str
        The claim that has, or decides, this one's number; or empty.
    counted : bool
        Whether the claim counts: not if it repeats the one whose number it shares.
    claimed : float, str or None
        The paper's number or direction.
    measured : float or None
        The measured value; with several seeds the median of their values.
    spread : list of float or None
        The smallest and the largest value over the seeds; None with one seed.
    agrees : str
        One of :data:`VERDICTS`.
    reason : str
        What is counted or left out, and why the claim is not measured or does not agree.
    scale, seeds
        Scale and seeds of the runs.
    """

    id: str
    paper: str
    figure: str
    kind: str
    shares: str
    counted: bool
    measure: str
    subject: str
    baseline: str
    workloads: list[str]
    claimed: float | str | None
    measured: float | None
    spread: list[float] | None
    agrees: str
    reason: str
    says: str
    scale: str
    seeds: list[int]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as a plain dictionary."""
        return asdict(self)


def claim_bench(paper: Paper, claim: Claim, bench: Bench) -> Bench:
    """The bench of a claim's machine and inputs."""
    given = bench.on(claim.machine).given(paper.inputs.get(claim.input, {}))
    return given.smaller(paper.sizes, claim.smaller)


def _needed(paper: Paper, claim: Claim, workload: str) -> tuple[str, ...]:
    """The protocols that a claim needs to run on one of its workloads."""
    count = COUNTS[paper.id].get(claim.id)
    return count.protocols if count else protocols_of(paper, claim, workload)


def _also(paper: Paper, claim: Claim) -> tuple[Mapping[str, object], ...]:
    """The other machines, by their fields, on which a claim needs its runs too."""
    count = COUNTS[paper.id].get(claim.id)
    return count.also_on if count else ()


def why_unmeasured(paper: Paper, claim: Claim, bench: Bench) -> str:
    """Why a claim cannot be measured, or an empty text if it can."""
    if claim.exact == "parameter":
        return "a parameter of the configuration, not a result"
    if claim.exact == "cited":
        return "an input that the paper takes from another one, not a result"
    if claim.measure in DESCRIBED:
        names = [name for name in (claim.subject, claim.baseline) if name]
        return next(filter(None, map(missing_protocol, names)), "")
    if claim.id not in COUNTS[paper.id]:
        if claim.measure not in {*AMOUNTS, *RELATIVE}:
            return f"not computed: {claim.note or claim.says}"
        if not claim.subject or not (claim.baseline or claim.measure in OF_ONE_RUN):
            return "the paper names no protocol"
    if not present(claim.workloads):
        return f"workloads not built in: {' '.join(claim.workloads)}"
    if not bench.present(claim.workloads):
        return _TOO_LONG
    for workload in bench.present(claim.workloads):
        for protocol in _needed(paper, claim, workload):
            if why := missing_protocol(bench.protocol(protocol)):
                return f"{why} (planted bugs: make fidelity)" if "!" in protocol else why
    return ""


def _used(paper: Paper, claim: Claim, bench: Bench) -> tuple[list[str], list[str]]:
    """The workloads with right results under every protocol and seed, and notes about the others."""
    built_in, chosen = present(claim.workloads), bench.present(claim.workloads)
    absent = {
        "not built in": [name for name in claim.workloads if name not in built_in],
        _TOO_LONG: [name for name in built_in if name not in chosen],
    }
    left_out = {why: names for why, names in absent.items() if names}
    used = []
    for name in chosen:
        runs = [
            one.run(name, protocol, seed)
            for one in (bench, *map(bench.on, _also(paper, claim)))
            for seed in bench.seeds
            for protocol in _needed(paper, claim, name)
        ]
        broken = next((run for run in runs if run.correct is False), None)
        if broken is None:
            used.append(name)
        else:
            left_out.setdefault(f"{broken.protocol}: {broken.verdict}", []).append(name)
    notes = [f"without {' '.join(names)} ({why})" for why, names in left_out.items()]
    return used, notes


def seed_values(paper: Paper, claim: Claim, used: list[str], bench: Bench) -> list[float]:
    """The measured value of each seed for which it is defined, from some workloads; of :func:`claim_bench`."""
    if not used:
        return []
    count = COUNTS[paper.id].get(claim.id)
    values = [
        count.measure(claim, used, bench.runs(seed))
        if count
        else measure_claim(paper, claim, used, bench.runs(seed))
        for seed in bench.seeds
    ]
    return [value for value in values if value is not None]


def wanted_runs(
    paper: Paper, bench: Bench, claims: Iterable[Claim] | None = None
) -> list[tuple[str, str]]:
    """The (workload, protocol) pairs that claims need; by default all claims of the paper."""
    return [
        (name, protocol)
        for claim in (paper.claims if claims is None else claims)
        if claim.measure not in DESCRIBED and not why_unmeasured(paper, claim, bench)
        for name in bench.present(claim.workloads)
        for protocol in _needed(paper, claim, name)
    ]


def planned(
    paper: Paper, bench: Bench, claims: Sequence[Claim]
) -> Iterator[tuple[Bench, list[tuple[str, str]]]]:
    """The (workload, protocol) pairs that a scorecard of these claims needs, and the bench that runs them."""
    for _, claims_on_it in by_machine(claims):
        for size in dict.fromkeys((claim.input, claim.smaller) for claim in claims_on_it):
            alike = [claim for claim in claims_on_it if (claim.input, claim.smaller) == size]
            yield claim_bench(paper, alike[0], bench), wanted_runs(paper, bench, alike)
    for claim in claims:
        for fields in _also(paper, claim):
            yield bench.on(fields), wanted_runs(paper, bench, [claim])


def scorecard(paper: Paper, bench: Bench, claims: Sequence[Claim] | None = None) -> list[Verdict]:
    """Measure claims of a paper.

    Parameters
    ----------
    paper : Paper
    bench : Bench
        Runs the runs, or has run them.
    claims : sequence of Claim, optional
        By default every claim of the paper.
    """
    chosen = paper.claims if claims is None else claims
    for one, pairs in planned(paper, bench, chosen):
        one.get(pairs)
    return [_verdict(paper, claim, bench) for claim in chosen]


def _verdict(paper: Paper, claim: Claim, bench: Bench) -> Verdict:
    bench = claim_bench(paper, claim, bench)
    count = COUNTS[paper.id].get(claim.id)
    why = why_unmeasured(paper, claim, bench)
    used, values, notes = list(claim.workloads), [], [why] if why else []
    if not why and claim.measure in DESCRIBED:
        values = [float(DESCRIBED[claim.measure](paper, claim))]
    elif not why:
        used, excluded = _used(paper, claim, bench)
        values = seed_values(paper, claim, used, bench)
        notes = ([count.text] if count else []) + excluded
        if used and not values:
            notes.append("the baseline's value is zero")
    measured = statistics.median(values) if values else None
    agrees = "not_measured" if measured is None else agreement(claim, measured)
    if claim.by_outcome and agrees in ("size", "direction"):
        agrees = "by_outcome"
    if agrees == "no":
        notes += filter(None, [reason_of(paper.id, claim.id, bench.scale)])
    same = ("id", "figure", "kind", "shares", "measure", "subject", "baseline", "says")
    return Verdict(
        **{name: getattr(claim, name) for name in same},
        paper=paper.id,
        counted=not paper.repeats(claim),
        workloads=used,
        claimed=claim.value if claim.value is not None else claim.direction,
        measured=measured,
        spread=[min(values), max(values)] if len(bench.seeds) > 1 and values else None,
        agrees=agrees,
        reason="; ".join(notes),
        scale=bench.scale,
        seeds=list(bench.seeds),
    )
