"""The generated tables of docs/fidelity/, as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

from gpucoh.device.gpu import VERSION
from gpucoh.experiments.keys import code_digest
from gpucoh.papers.amounts import digits
from gpucoh.papers.bars import Group, shown_group, usable
from gpucoh.papers.claims import Paper
from gpucoh.papers.runs import Bench, missing_protocol, present
from gpucoh.papers.scorecard import VERDICTS, Verdict, scorecard
from gpucoh.papers.study import BarTable, Sizes, Variant, applies, reason_of, study

_NAMES = {"noc_energy": "network energy", "energy_without_dram": "energy with static powers"}


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _number(value: float | str | None, measure: str) -> str:
    if value is None:
        return "-"
    return _words(value) if isinstance(value, str) else f"{value:.{digits(measure)}f}"


def _spread(values: Sequence[float] | None, measure: str) -> str:
    if not values:
        return "-"
    return f"{_number(min(values), measure)} to {_number(max(values), measure)}"


def _over_seeds(values: Sequence[float], measure: str) -> str:
    """The median, and the range if there are several seeds."""
    text = _number(statistics.median(values), measure)
    return text if len(values) == 1 else f"{text} ({_spread(values, measure)})"


def _of(verdict: Verdict) -> str:
    """Subject and baseline, and the workload if there is only one."""
    text = " / ".join(f"`{name}`" for name in (verdict.subject, verdict.baseline) if name)
    alone = f" ({verdict.workloads[0]})" if len(verdict.workloads) == 1 else ""
    return text + alone


def counts(verdicts: Sequence[Verdict]) -> str:
    """The number of claims by verdict, in a line."""
    number = {word: sum(verdict.agrees == word for verdict in verdicts) for word in VERDICTS}
    listed = ", ".join(f"{count} {_words(word)}" for word, count in number.items())
    return f"{len(verdicts)} claims: {listed}"


def _seeds(bench: Bench) -> str:
    return f"seed{'s' * (len(bench.seeds) > 1)} {', '.join(map(str, bench.seeds))}"


def origin(paper: Paper, bench: Bench) -> str:
    """Scale, seeds, version and time of the runs of the tables above it."""
    minutes = sum(run.wall_s for run in bench.done.values()) / 60
    seeds = _seeds(bench)
    if bench.beside().seeds != bench.seeds:
        seeds += f" (other columns and tables: {_seeds(bench.beside())})"
    return (
        f"Scale {bench.scale}, {seeds}; machine {paper.machine}; gpucoh "
        f"{VERSION}, code {code_digest()}; {len(bench.done)} runs, whose times sum to {minutes:.0f} minutes."
    )


def _changed(bench: Bench, variant: Variant) -> Bench:
    """The bench of a variant."""
    parameters = dict(bench.parameters)
    for workload, changed in variant.parameters.items():
        parameters[workload] = {**parameters.get(workload, {}), **changed}
    return bench.variant(parameters=parameters, options=variant.options, fields=variant.machine)


def scorecard_table(paper: Paper, bench: Bench) -> str:
    """Every claim: the paper's value, ours, its range over the seeds, the verdict; the same under variants."""
    verdicts = scorecard(paper, bench)
    variants = [item for item in study(paper.id).variants if applies(item, bench.scale)]
    columns = [variant for variant in variants if variant.column]
    others = [scorecard(paper, _changed(bench.beside(), variant)) for variant in columns]
    head = ["claim", "figure", "measure", "of", "paper", "here"]
    head += ["range"] if len(bench.seeds) > 1 else []
    rows = []
    for place, verdict in enumerate(verdicts):
        row = [verdict.id, verdict.figure, verdict.measure, _of(verdict)]
        row += [_number(value, verdict.measure) for value in (verdict.claimed, verdict.measured)]
        row += [_spread(verdict.spread, verdict.measure)] if len(bench.seeds) > 1 else []
        row.append(_words(verdict.agrees))
        for other in others:
            measured = _number(other[place].measured, verdict.measure)
            row += [measured, _words(other[place].agrees)]
        rows.append(row)
    head.append("agrees")
    for variant in columns:
        head += [variant.title, "agrees"]
    lines = [f"{counts(verdicts)}."]
    lines += [
        f"{variant.title}: {counts(other)}." for variant, other in zip(columns, others, strict=True)
    ]
    return "\n\n".join([*lines, _table(head, rows)])


def disagreements_table(paper: Paper, bench: Bench) -> str:
    """The claims that do not agree, those with the same cause in one row."""
    by_cause: dict[str, list[Verdict]] = {}
    for verdict in scorecard(paper, bench):
        if verdict.agrees == "no":
            cause = reason_of(paper.id, verdict.id, bench.scale) or "no reason is recorded"
            by_cause.setdefault(cause, []).append(verdict)
    rows = [
        [
            ", ".join(verdict.id for verdict in verdicts),
            ", ".join(dict.fromkeys(_number(one.claimed, one.measure) for one in verdicts)),
            ", ".join(_number(one.measured, one.measure) for one in verdicts),
            cause,
        ]
        for cause, verdicts in by_cause.items()
    ]
    return _table(["claims", "paper", "here", "cause"], rows)


def variants_table(paper: Paper, bench: Bench) -> str:
    """The claims that variants of protocols change: the paper's value, ours, the variant's."""
    bench, rows = bench.beside(), []
    for variant in [item for item in study(paper.id).variants if applies(item, bench.scale)]:
        claims = [claim for claim in paper.claims if claim.id in variant.claims]
        default = scorecard(paper, bench, claims)
        changed = scorecard(paper, _changed(bench, variant), claims)
        for ours, other in zip(default, changed, strict=True):
            cells = [variant.title, ours.id, _of(ours), _number(ours.claimed, ours.measure)]
            rows.append([*cells, *_pair(ours), *_pair(other)])
    head = ["variant", "claim", "of", "paper", "default", "agrees", "variant", "agrees"]
    return _table(head, rows)


def _pair(verdict: Verdict) -> list[str]:
    text = _number(verdict.measured, verdict.measure)
    if verdict.spread:
        text += f" ({_spread(verdict.spread, verdict.measure)})"
    return [text, _words(verdict.agrees)]


def bars_table(paper: Paper, bench: Bench) -> str:
    """The mean bars of protocols by group of workloads and measure, or every workload's."""
    shown = [item for item in study(paper.id).bars if applies(item, bench.scale)]
    return "\n\n".join(
        (_workloads if table.each else _bars)(paper, bench.beside().on(table.machine), table)
        for table in shown
    )


def _group(paper: Paper, table: BarTable, group: str, measure: str) -> Group:
    """The bars of a group's workloads; those that the paper's file does not describe are relative to none."""
    names = present(paper.groups[group])
    shown = shown_group(paper, measure, table.figures.get(measure, ""), names)
    if shown is not None:
        return shown
    baselines = dict.fromkeys(names, "")
    return Group(measure=paper.amount(measure), baselines=baselines, kind="arithmetic")


def _bars(paper: Paper, bench: Bench, table: BarTable) -> str:
    places = [(group, measure) for group in table.groups for measure in table.measures]
    rows = [
        [f"`{name}`", *(_mean_bar(bench, _group(paper, table, *place), name) for place in places)]
        for name in table.protocols
        if not missing_protocol(name)
    ]
    head = ["protocol", *(f"{group}: {_name(measure)}" for group, measure in places)]
    return _table(head, rows)


def _workloads(paper: Paper, bench: Bench, table: BarTable) -> str:
    """A row for every workload of the groups, and one for their mean: columns by measure and protocol."""
    columns = [(measure, name) for measure in table.measures for name in table.protocols]
    rows = []
    for group in table.groups:
        shown = {measure: _group(paper, table, group, measure) for measure in table.measures}
        every = present(paper.groups[group])
        parts = [(name, [name]) for name in every] + [(f"{group}: mean", every)]
        rows += [
            [title, *(_mean_bar(bench, shown[of].only(names), name) for of, name in columns)]
            for title, names in parts
        ]
    head = [f"{_name(measure)} `{name}`" for measure, name in columns]
    return _table(["workload", *head], rows)


def _name(measure: str) -> str:
    return _NAMES.get(measure, _words(measure))


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
    number, every = len(used.baselines), len(shown.baselines)
    return _over_seeds(values, shown.measure) + (f", {number} of {every}" if number < every else "")


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
    return _table(head, rows)


def _speedups(paper: Paper, bench: Bench, sizes: Sizes, workloads: Sequence[str]) -> list[str]:
    shown = shown_group(paper, "speedup", sizes.figure, workloads)
    return ["-" if shown is None else _mean_bar(bench, shown, name) for name in sizes.protocols]


TABLES: dict[str, Callable[[Paper, Bench], str]] = {
    "origin": origin,
    "scorecard": scorecard_table,
    "disagreements": disagreements_table,
    "variants": variants_table,
    "bars": bars_table,
    "sizes": sizes_table,
}
