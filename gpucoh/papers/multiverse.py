"""How far readings, seeds and the choice of workloads move a paper's headlines.

A universe is a set of second readings, taken together. Every headline runs under each reading that touches it alone,
under the rule of docs/readings.md, and under its two extremes: all readings that lower it, all that raise it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from gpucoh.device.choices import split_options
from gpucoh.device.gpu import protocols, resolve
from gpucoh.papers.agreement import is_ratio
from gpucoh.papers.bars import PICKS, group_of
from gpucoh.papers.claims import Claim, Paper
from gpucoh.papers.counts import COUNTS
from gpucoh.papers.readings import ALL, Reading, Value, readings
from gpucoh.papers.runs import Bench, Key, merged
from gpucoh.papers.scorecard import claim_bench, planned, scorecard, seed_values, wanted_runs
from gpucoh.papers.verdicts import number, subject, table, words
from gpucoh.runs.runner import Run
from gpucoh.studies.intervals import interval, interval_of

IN_USE = "as in use"
BY_RULE = "by the rule"
COLUMNS = ("headline", "of", "paper", "ours", BY_RULE, "readings", "seeds", "workloads", "agrees")


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """One second reading: the values that replace those in use.

    Attributes
    ----------
    reading, text : str
        The reading's id, and the values as tables print them.
    by_rule : bool
        Whether they are the rule's where the values in use depart from it.
    options, in_use : dict
        Protocol id -> option -> value, and the value that it replaces.
    machine, parameters : dict
        Fields of the machine; workload -> parameter -> value.
    """

    reading: str
    text: str
    by_rule: bool
    options: Mapping[str, Mapping[str, str]]
    in_use: Mapping[str, Mapping[str, str]]
    machine: Mapping[str, Value]
    parameters: Mapping[str, Mapping[str, Value]]

    def touches(self, claim: Claim, pairs: Iterable[tuple[str, str]]) -> bool:
        """Whether it changes the machine, a workload or a protocol of a claim that needs these runs."""
        touched = {*self.options, *self.parameters}
        names = {name for run, protocol in pairs for name in (run, split_options(protocol)[0])}
        return bool(self.machine.keys() - claim.machine.keys() or touched & names)


Chosen = tuple[Alternative, ...]
Named = tuple[str, Chosen]


@dataclass(frozen=True, kw_only=True)
class Universe:
    """A headline's value under some second readings; ``name`` has their values, ``readings`` their ids."""

    name: str
    readings: tuple[str, ...]
    measured: float
    agrees: str
    workloads: int


@dataclass(frozen=True, kw_only=True)
class Headline:
    """One headline with its ranges, as ``gpucoh scorecard --readings --json`` prints it.

    Attributes
    ----------
    id, paper, place, measure, of, says, claimed
        The claim, and where the paper leads with it.
    measured, agrees
        By the values in use, with all seeds; None if nothing can be measured.
    universes : tuple of Universe
        That of the values in use first, then each reading alone, the rule, and the extremes.
    by_rule : Universe or None
        None where the rule changes nothing that can be set here.
    scale, seeds
        Scale and seeds of ``measured``.
    over_seeds, over_workloads : tuple of float or None
        95% intervals of the mean over the seeds, and of the value over resampled workloads.
    remarks : tuple of str
        Where the headline changes sides.
    """

    id: str
    paper: str
    place: str
    measure: str
    of: str
    says: str
    claimed: float | str | None
    measured: float | None
    agrees: str
    scale: str
    seeds: list[int]
    universes: tuple[Universe, ...] = ()
    by_rule: Universe | None = None
    over_seeds: tuple[float, float] | None = None
    over_workloads: tuple[float, float] | None = None
    remarks: tuple[str, ...] = ()

    @property
    def ends(self) -> tuple[Universe, Universe]:
        """The universes with the smallest and the largest value."""
        values = [one.measured for one in self.universes]
        return self.universes[int(np.argmin(values))], self.universes[int(np.argmax(values))]

    def to_dict(self) -> dict[str, Any]:
        """The headline as a plain dictionary, with the ends of its range."""
        low, high = map(asdict, self.ends) if self.universes else (None, None)
        return asdict(self) | {"low": low, "high": high}


Found = list[tuple[Chosen, Universe]]


def alternatives(paper: Paper) -> tuple[Alternative, ...]:
    """The second readings of a paper that can be run; options for analysis alone are no readings."""
    found = (
        _alternative(reading, place) for reading in readings(paper.id) for place in reading.places()
    )
    return tuple(one for one in found if one.options or one.machine or one.parameters)


def _alternative(reading: Reading, place: int) -> Alternative:
    def taken(given: Mapping[str, Sequence[Value]], at: int) -> dict[str, Value]:
        return {name: values[at] for name, values in given.items() if len(values) > 1}

    touched = protocols() if ALL in reading.touches else set(protocols()) & set(reading.touches)
    options, in_use = (
        {
            protocol: {name: str(value) for name, value in taken(reading.options, at).items()}
            for protocol in touched
            if _has(protocol, taken(reading.options, at))
        }
        for at in (place, 0)
    )
    return Alternative(
        reading=reading.id,
        text=reading.text(place),
        by_rule=bool(reading.departs) and place == 1,
        options=options,
        in_use=in_use,
        machine=taken(reading.machine, place),
        parameters={
            name: changed
            for name, given in reading.parameters.items()
            if (changed := taken(given, place))
        },
    )


def _has(protocol: str, options: Mapping[str, Value]) -> bool:
    """Whether a protocol has these options, one at least, and none of them is for analysis alone."""
    choice = resolve(protocol)
    known = choice.protocol.options
    return bool(options) and all(
        name == "consistency" or (name in known and not known[name].analysis) for name in options
    )


def under(bench: Bench, chosen: Chosen) -> Bench:
    """The bench under second readings, of which later ones replace earlier ones."""
    fields: dict[str, object] = dict(bench.fields)
    for one in chosen:
        fields |= one.machine
    return replace(
        bench,
        options=merged(bench.options, [one.options for one in chosen]),
        in_use=merged(bench.in_use, [one.in_use for one in chosen]),
        parameters=merged(bench.parameters, [one.parameters for one in chosen]),
        fields=fields,
    )


def multiverse(paper: Paper, bench: Bench) -> list[Headline]:
    """Every headline of a paper with its ranges; the readings run with the seeds of tables beside the claims."""
    claims = [claim for claim in paper.claims if claim.id in paper.headlines]
    every, beside = alternatives(paper), bench.beside()
    _carry_out(paper, bench, [(claim, ()) for claim in claims])
    alone = {
        claim.id: list(_alone(every, claim, wanted_runs(paper, bench, [claim]))) for claim in claims
    }
    _carry_out(paper, beside, [(claim, one) for claim in claims for _, one in alone[claim.id]])
    found = {claim.id: _universes(paper, beside, claim, alone[claim.id]) for claim in claims}
    ends = {claim.id: list(_extremes(found[claim.id])) for claim in claims}
    _carry_out(paper, beside, [(claim, one) for claim in claims for _, one in ends[claim.id]])
    for claim in claims:
        found[claim.id] += _universes(paper, beside, claim, ends[claim.id])
    return [_headline(paper, bench, claim, [one for _, one in found[claim.id]]) for claim in claims]


def _alone(every: Chosen, claim: Claim, pairs: Sequence[tuple[str, str]]) -> Iterator[Named]:
    """The values in use, each second reading that touches a headline, and the rule where it differs."""
    touching = tuple(one for one in every if one.touches(claim, pairs))
    yield IN_USE, ()
    yield from ((one.text, (one,)) for one in touching)
    if by_rule := tuple(one for one in touching if one.by_rule):
        yield BY_RULE, by_rule


def _carry_out(paper: Paper, bench: Bench, wanted: Iterable[tuple[Claim, Chosen]]) -> None:
    """Run all that headlines need under readings, together."""
    runs: dict[Key, Run] = {}
    for claim, chosen in wanted:
        for one, pairs in planned(paper, under(bench, chosen), [claim]):
            runs |= one.wanted(pairs)
    bench.carry_out(runs)


def _universes(paper: Paper, bench: Bench, claim: Claim, named: Sequence[Named]) -> Found:
    """A headline in universes whose runs are done, but those in which it cannot be measured."""
    found: Found = []
    for name, chosen in named:
        (verdict,) = scorecard(paper, under(bench, chosen), [claim])
        if verdict.measured is not None:
            one = Universe(
                name=name,
                readings=tuple(one.reading for one in chosen),
                measured=verdict.measured,
                agrees=verdict.agrees,
                workloads=len(verdict.workloads),
            )
            found.append((chosen, one))
    return found


def _extremes(found: Found) -> Iterator[Named]:
    """All readings that lower a headline, and all that raise it; of each the value that moves it most."""
    base = next((one.measured for chosen, one in found if not chosen), None)
    if base is None:
        return
    alone = [(chosen[0], one.measured - base) for chosen, one in found if len(chosen) == 1]
    for word, sign in (("lower", -1), ("raise", 1)):
        moving = sorted((by for by in alone if sign * by[1] > 0), key=lambda by: sign * by[1])
        chosen = tuple({one.reading: one for one, _ in moving}.values())
        if len(chosen) > 1:
            yield f"all that {word} it: {'; '.join(one.text for one in chosen)}", chosen


def _headline(paper: Paper, bench: Bench, claim: Claim, found: Sequence[Universe]) -> Headline:
    (verdict,) = scorecard(paper, bench, [claim])
    same = ("id", "paper", "measure", "says", "claimed", "measured", "agrees", "scale", "seeds")
    made = Headline(
        **{name: getattr(verdict, name) for name in same},
        place=paper.headlines[claim.id],
        of=f"{words(claim.measure)}: {subject(claim)}",
    )
    if verdict.measured is None or not found:
        return made
    used, given = verdict.workloads, claim_bench(paper, claim, bench)
    made = replace(
        made,
        universes=tuple(found),
        by_rule=next((one for one in found if one.name == BY_RULE), None),
        over_seeds=_over_seeds(seed_values(paper, claim, used, given)),
        over_workloads=_over_workloads(paper, claim, used, given),
    )
    return replace(made, remarks=tuple(_remarks(claim, made)))


def _over_seeds(values: Sequence[float]) -> tuple[float, float] | None:
    if len(values) < 2:
        return None
    low, high = interval(np.array([values]))[0]
    return float(low), float(high)


def _over_workloads(
    paper: Paper, claim: Claim, used: Sequence[str], bench: Bench
) -> tuple[float, float] | None:
    """None for a claim that is not the ratio of two means over several workloads."""
    if claim.id in COUNTS[paper.id] or claim.mean in ("single", *PICKS) or len(used) < 2:
        return None
    group = group_of(paper, claim).only(used)
    pairs = [
        tuple(group.bars(name, bench.runs(seed)) for name in (claim.subject, claim.baseline))
        for seed in bench.seeds
    ]

    def value(chosen: Sequence[int]) -> float:
        ratios = []
        for bars in pairs:
            above, below = (group.average([one[at] for at in chosen]) for one in bars)
            ratios.append(above / below if above is not None and below else np.nan)
        return statistics.median(ratios)

    low, high = interval_of(len(used), value)
    return None if np.isnan(low) else (low, high)


def _remarks(claim: Claim, made: Headline) -> Iterator[str]:
    """Where a headline changes sides, in words: of 1, else of what counts as agreement."""
    low, high = made.ends
    sided = is_ratio(claim) and claim.direction not in ("equal", "at_most", "at_least")
    for what, ends in (("the seeds", made.over_seeds), ("workloads", made.over_workloads)):
        if sided and ends and ends[0] < 1 < ends[1]:
            text = " to ".join(number(end, claim.measure) for end in ends)
            yield f"{claim.id} has no sure side of 1 over {what}: {text}"
    agreeing = [one for one in made.universes if one.agrees != "no"]
    others = [one for one in made.universes if one.agrees == "no"]
    if sided and low.measured < 1 < high.measured:
        ends_of = f"{_at(claim, low)}, {_at(claim, high)}"
        yield f"{claim.id} changes sides of 1 with its readings: {ends_of}"
    elif agreeing and others:
        good = agreeing[0]
        far = max(others, key=lambda one: abs(one.measured - good.measured))
        yield f"{claim.id} agrees with the paper at {_at(claim, good)} and not at {_at(claim, far)}"


def _at(claim: Claim, one: Universe) -> str:
    return f"{number(one.measured, claim.measure)} ({one.name})"


def cells(made: Headline) -> list[str]:
    """A headline's row of the table."""
    head = [
        made.id,
        made.of,
        number(made.claimed, made.measure),
        number(made.measured, made.measure),
    ]
    if not made.universes:
        return [*head, *["-"] * 4, words(made.agrees)]
    low, high = made.ends
    several = max(one.workloads for one in made.universes)

    def end(one: Universe) -> str:
        fewer = f", {one.workloads} of {several}" if one.workloads < several else ""
        return f"{number(one.measured, made.measure)} ({one.name}{fewer})"

    def ends(pair: tuple[float, float] | None) -> str:
        return " to ".join(number(one, made.measure) for one in pair) if pair else "-"

    return [
        *head,
        number(made.by_rule.measured, made.measure) if made.by_rule else "-",
        f"{end(low)} to {end(high)}" if low is not high else end(low),
        ends(made.over_seeds),
        ends(made.over_workloads),
        " / ".join(words(one) for one in (low.agrees, made.agrees, high.agrees)),
    ]


def summary(found: Sequence[Headline]) -> list[str]:
    """How many headlines agree at each end, the remarks, and what the rule asks for and nothing here can set."""
    measured = [one for one in found if one.universes]
    counted = {
        "Headlines by the values in use": [one.agrees for one in measured],
        "At the lower ends of the readings": [one.ends[0].agrees for one in measured],
        "At the upper ends": [one.ends[1].agrees for one in measured],
    }
    lines = [f"{where}: {_counted(agrees)}." for where, agrees in counted.items()]
    lines += [f"{remark}." for one in measured for remark in one.remarks]
    for paper in dict.fromkeys(one.paper for one in found):
        left = [one.id for one in readings(paper) if one.departs and not one.places()]
        if left:
            lines.append(
                f"By the rule leaves as in use what nothing here can set: {', '.join(left)}."
            )
    return lines


def _counted(agrees: Sequence[str]) -> str:
    return ", ".join(f"{agrees.count(word)} {word}" for word in ("size", "direction", "no"))


def page(found: Sequence[Headline]) -> str:
    """The table in Markdown, and what it says in words."""
    return "\n".join(
        [table(COLUMNS, map(cells, found)), "", *(f"- {line}" for line in summary(found))]
    )


def headlines_table(paper: Paper, bench: Bench) -> str:
    """The headlines with their ranges, for a page of fidelity."""
    return page(multiverse(paper, bench))
