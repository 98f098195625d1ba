"""The generated tables of docs/fidelity/, as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace

from gpucoh.device.gpu import VERSION
from gpucoh.papers.bars import Group, shown_group, usable
from gpucoh.papers.claims import Paper
from gpucoh.papers.multiverse import headlines_table
from gpucoh.papers.readings import RANKS, readings
from gpucoh.papers.runs import Bench, merged, missing_protocol
from gpucoh.papers.scorecard import Verdict, scorecard
from gpucoh.papers.study import BarTable, Sizes, Variant, applies, study
from gpucoh.papers.verdicts import number, spread, subject, verdict_table, words
from gpucoh.papers.verdicts import table as markdown
from gpucoh.runs.keys import code_digest

_NAMES = {"noc_energy": "network energy", "energy_without_dram": "energy with static powers"}


def _seeds(bench: Bench) -> str:
    return f"seed{'s' * (len(bench.seeds) > 1)} {', '.join(map(str, bench.seeds))}"


def origin(paper: Paper, bench: Bench) -> str:
    """Scale, seeds, version and time of the runs of the tables above it."""
    minutes = sum(run.wall_s for run in bench.done.values()) / 60
    seeds = _seeds(bench)
    if bench.beside().seeds != bench.seeds:
        seeds += f" (other columns and tables: {_seeds(bench.beside())})"
    text = (
        f"Scale {bench.scale}, {seeds}; machine {paper.machine}; gpucoh "
        f"{VERSION}, code {code_digest()}; {len(bench.done)} runs, whose times sum to {minutes:.0f} minutes."
    )
    if bench.left_out:
        text += (
            f" Not run, as they take too long: {', '.join(f'`{name}`' for name in bench.left_out)}."
        )
    return text


def _changed(bench: Bench, variant: Variant) -> Bench:
    """The bench of a variant."""
    return bench.variant(
        parameters=merged(bench.parameters, [variant.parameters]),
        options=merged(bench.options, [variant.options]),
        fields=variant.machine,
    )


def scorecard_table(paper: Paper, bench: Bench, before: str = "") -> str:
    """Every claim with its verdict, the same under variants, and the cause of what disagrees.

    ``before`` is the page's table: its columns of the other scale are kept.
    """
    columns = [item for item in _variants(paper, bench) if item.column]
    benches = [_changed(bench.beside(), variant) for variant in columns]
    return verdict_table(paper, bench, list(zip(columns, benches, strict=True)), before)


def _variants(paper: Paper, bench: Bench) -> list[Variant]:
    """The second readings that are measured at the bench's scale."""
    return [item for item in study(paper.id).variants if applies(item, bench.scale)]


def variants_table(paper: Paper, bench: Bench) -> str:
    """The claims that variants of protocols change: the paper's value, ours, the variant's."""
    bench, rows = bench.beside(), []
    for variant in _variants(paper, bench):
        claims = [claim for claim in paper.claims if claim.id in variant.claims]
        default = scorecard(paper, bench, claims)
        changed = scorecard(paper, _changed(bench, variant), claims)
        for ours, other in zip(default, changed, strict=True):
            cells = [variant.title, ours.id, subject(ours), number(ours.claimed, ours.measure)]
            rows.append([*cells, *_pair(ours), *_pair(other)])
    head = ["variant", "claim", "of", "paper", "default", "agrees", "variant", "agrees"]
    return markdown(head, rows)


def _pair(verdict: Verdict) -> list[str]:
    text = number(verdict.measured, verdict.measure) + spread(verdict.spread, verdict.measure)
    return [text, words(verdict.agrees)]


def readings_table(paper: Paper) -> str:
    """The number of readings of each rank, and every reading: its source, its other values, and what it touches."""
    found = sorted(readings(paper.id), key=lambda reading: RANKS.index(reading.rank))
    ranks = [reading.rank for reading in found]
    listed = ", ".join(f"{ranks.count(rank)} {_rank(rank)}" for rank in RANKS)
    departing = sum(bool(reading.departs) for reading in found)
    count = f"{len(found)} readings: {listed}. {departing} depart from the rule, and are not yet measured by it."
    plain = {"all", *(claim.id for claim in paper.claims)}
    rows = [
        [
            reading.what,
            _rank(reading.rank),
            reading.source,
            ", ".join(f"`{reading.text(place)}`" for place in reading.places()),
            ", ".join(name if name in plain else f"`{name}`" for name in reading.touches),
            reading.departs,
        ]
        for reading in found
    ]
    head = ["reading", "rank", "source", "second readings", "touches", "by the rule"]
    return f"{count}\n\n{markdown(head, rows)}"


def _rank(rank: str) -> str:
    return "by outcome" if rank == "outcome" else rank


def bars_table(paper: Paper, bench: Bench) -> str:
    """The mean bars of protocols by group of workloads and measure, or every workload's."""
    shown = [item for item in study(paper.id).bars if applies(item, bench.scale)]
    return "\n\n".join(
        (_workloads if table.each else _bars)(paper, bench.beside().on(table.machine), table)
        for table in shown
    )


def _group(paper: Paper, bench: Bench, table: BarTable, group: str, measure: str) -> Group:
    """The bars of a group's workloads; those that the paper's file does not describe are relative to none."""
    names = bench.present(paper.groups[group])
    shown = shown_group(paper, measure, table.figures.get(measure, ""), names)
    if shown is not None:
        if not table.baseline:
            return shown
        return replace(shown, baselines=dict.fromkeys(names, table.baseline))
    baselines = dict.fromkeys(names, "")
    return Group(measure=paper.amount(measure), baselines=baselines, kind="arithmetic")


def _bars(paper: Paper, bench: Bench, table: BarTable) -> str:
    places = [(group, measure) for group in table.groups for measure in table.measures]
    rows = [
        [
            f"`{name}`",
            *(_mean_bar(bench, _group(paper, bench, table, *place), name) for place in places),
        ]
        for name in table.protocols
        if not missing_protocol(name)
    ]
    head = ["protocol", *(f"{group}: {_name(measure)}" for group, measure in places)]
    return markdown(head, rows)


def _workloads(paper: Paper, bench: Bench, table: BarTable) -> str:
    """A row for every workload of the groups, and one for the mean of each: columns by measure and protocol."""
    columns = [(measure, name) for measure in table.measures for name in table.protocols]
    rows = []
    for group in (*table.groups, *table.means):
        shown = {measure: _group(paper, bench, table, group, measure) for measure in table.measures}
        every = bench.present(paper.groups[group])
        parts = [(name, [name]) for name in every] if group in table.groups else []
        parts += [(f"{group}: mean", every)] if len(every) > 1 else []
        rows += [
            [title, *(_mean_bar(bench, shown[of].only(names), name) for of, name in columns)]
            for title, names in parts
        ]
    head = [f"{_name(measure)} `{name}`" for measure, name in columns]
    return markdown(["workload", *head], rows)


def _name(measure: str) -> str:
    return _NAMES.get(measure, words(measure))


def _mean_bar(bench: Bench, shown: Group, protocol: str) -> str:
    """A mean bar of the workloads with right results, and their number if some are wrong."""
    pairs = [
        (name, one) for name, base in shown.baselines.items() for one in (protocol, base) if one
    ]
    bench.get(dict.fromkeys(pairs))
    used = shown
    for seed in bench.seeds:
        used = usable(used, (protocol,), bench.runs(seed))
    means = [used.mean(protocol, bench.runs(seed)) for seed in bench.seeds]
    values = [mean for mean in means if mean is not None]
    if not values:
        return "-"
    text = number(statistics.median(values), shown.measure) + spread(values, shown.measure)
    used_of, every = len(used.baselines), len(shown.baselines)
    return text + (f", {used_of} of {every}" if used_of < every else "")


def sizes_table(paper: Paper, bench: Bench) -> str:
    """Speedups of a group's workloads, and their mean, by size of input."""
    sizes = study(paper.id).sizes
    if sizes is None or not sizes.inputs:
        return "No inputs are declared."
    head = ["arrays", "workload", *(f"`{name}`" for name in sizes.protocols)]
    rows = []
    for size in dict.fromkeys(item.size for item in sizes.inputs):
        inputs = [item for item in sizes.inputs if item.size == size]
        parameters = {item.workload: item.parameters for item in inputs}
        sized = bench.variant(parameters=parameters, seeds=bench.seeds[:1])
        names = [item.workload for item in inputs]
        rows += [[size, name, *_speedups(paper, sized, sizes, [name])] for name in names]
        rows.append([size, f"mean of {len(names)}", *_speedups(paper, sized, sizes, names)])
    return markdown(head, rows)


def _speedups(paper: Paper, bench: Bench, sizes: Sizes, workloads: Sequence[str]) -> list[str]:
    shown = shown_group(paper, "speedup", sizes.figure, workloads)
    return ["-" if shown is None else _mean_bar(bench, shown, name) for name in sizes.protocols]


# The tables that a part's name begins with; that of the verdicts has one part for all scales.
TABLES: dict[str, Callable[[Paper, Bench], str]] = {
    "headlines": headlines_table,
    "origin": origin,
    "variants": variants_table,
    "bars": bars_table,
    "sizes": sizes_table,
}
