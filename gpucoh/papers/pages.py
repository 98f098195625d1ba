"""The generated tables of docs/fidelity.md, as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from gpucoh.experiments.stored import code_digest
from gpucoh.gpu import VERSION
from gpucoh.papers.bars import shown_group, usable
from gpucoh.papers.claims import Paper
from gpucoh.papers.runs import Bench, missing_protocol, present
from gpucoh.papers.scorecard import VERDICTS, Verdict, scorecard
from gpucoh.papers.study import BarTable, Input, reason_of, study

_NAMES = {"speedup": "speedup", "traffic": "traffic", "noc_energy": "network energy"}


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _number(value: float | str | None) -> str:
    if value is None:
        return "-"
    return value.replace("_", " ") if isinstance(value, str) else f"{value:.2f}"


def _spread(values: Sequence[float] | None) -> str:
    return "-" if not values else f"{min(values):.2f} to {max(values):.2f}"


def _over_seeds(values: Sequence[float]) -> str:
    """The median, and the range if the seeds differ."""
    text = _number(statistics.median(values))
    return text if len(values) == 1 else f"{text} ({_spread(values)})"


def _of(verdict: Verdict) -> str:
    """Subject and baseline, and the workload if there is only one."""
    text = " / ".join(f"`{name}`" for name in (verdict.subject, verdict.baseline) if name)
    alone = f" ({verdict.workloads[0]})" if len(verdict.workloads) == 1 else ""
    return text + alone


def counts(verdicts: Sequence[Verdict]) -> str:
    """The number of claims by verdict, in a line."""
    number = {word: sum(verdict.agrees == word for verdict in verdicts) for word in VERDICTS}
    listed = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in number.items())
    return f"{len(verdicts)} claims: {listed}"


def origin(paper: Paper, bench: Bench) -> str:
    """Scale, seeds, version and time of the runs of the tables above it."""
    minutes = sum(run.wall_s for run in bench.done.values()) / 60
    seeds = ", ".join(map(str, bench.seeds))
    return (
        f"Scale {bench.scale}, {'seeds' if len(bench.seeds) > 1 else 'seed'} {seeds}; machine {paper.machine}; gpucoh "
        f"{VERSION}, code {code_digest()}; {len(bench.done)} runs, whose times sum to {minutes:.0f} minutes."
    )


def scorecard_table(paper: Paper, bench: Bench) -> str:
    """Every claim: the paper's value, ours, its range over the seeds, the verdict; the same under variants."""
    verdicts = scorecard(paper, bench)
    columns = [variant for variant in study(paper.id).variants if variant.column]
    others = [scorecard(paper, bench.variant(options=variant.options)) for variant in columns]
    head = ["claim", "figure", "measure", "of", "paper", "here"]
    head += ["range"] if len(bench.seeds) > 1 else []
    rows = []
    for place, verdict in enumerate(verdicts):
        row = [verdict.id, verdict.figure, verdict.measure, _of(verdict)]
        row += [_number(verdict.claimed), _number(verdict.measured)]
        row += [_spread(verdict.spread)] if len(bench.seeds) > 1 else []
        row.append(_number(verdict.agrees))
        for other in others:
            row += [_number(other[place].measured), _number(other[place].agrees)]
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
            ", ".join(dict.fromkeys(_number(verdict.claimed) for verdict in verdicts)),
            ", ".join(_number(verdict.measured) for verdict in verdicts),
            cause,
        ]
        for cause, verdicts in by_cause.items()
    ]
    return _table(["claims", "paper", "here", "cause"], rows)


def variants_table(paper: Paper, bench: Bench) -> str:
    """The claims that variants of protocols change: the paper's value, ours, the variant's."""
    rows = []
    for variant in study(paper.id).variants:
        claims = [claim for claim in paper.claims if claim.id in variant.claims]
        default = scorecard(paper, bench, claims)
        changed = scorecard(paper, bench.variant(options=variant.options), claims)
        for ours, other in zip(default, changed, strict=True):
            cells = [variant.title, ours.id, _of(ours), _number(ours.claimed)]
            rows.append([*cells, *_pair(ours), *_pair(other)])
    head = ["variant", "claim", "of", "paper", "default", "agrees", "variant", "agrees"]
    return _table(head, rows)


def _pair(verdict: Verdict) -> list[str]:
    text = _number(verdict.measured)
    if verdict.spread:
        text += f" ({_spread(verdict.spread)})"
    return [text, _number(verdict.agrees)]


def bars_table(paper: Paper, bench: Bench) -> str:
    """The mean bars of protocols by group of workloads and measure."""
    return "\n\n".join(_bars(paper, bench, table) for table in study(paper.id).bars)


def _bars(paper: Paper, bench: Bench, table: BarTable) -> str:
    places = [(group, measure) for group in table.groups for measure in table.measures]
    protocols = [name for name in table.protocols if not missing_protocol(name)]
    rows = [
        [f"`{name}`", *(_mean_bar(paper, bench, group, measure, name) for group, measure in places)]
        for name in protocols
    ]
    head = ["protocol", *(f"{group}: {_NAMES.get(measure, measure)}" for group, measure in places)]
    return _table(head, rows)


def _mean_bar(paper: Paper, bench: Bench, group: str, measure: str, protocol: str) -> str:
    """A mean bar of the workloads with right results, and their number if some are wrong."""
    names = present(paper.groups[group])
    shown = shown_group(paper, measure, "", names)
    if shown is None:
        return "-"
    bench.get(
        (name, one) for name in names for one in dict.fromkeys((protocol, shown.baselines[name]))
    )
    for seed in bench.seeds:
        shown = usable(shown, (protocol,), bench.runs(seed))
    means = [shown.mean(protocol, bench.runs(seed)) for seed in bench.seeds]
    values = [mean for mean in means if mean is not None]
    if not values:
        return "-"
    used = len(shown.baselines)
    left_out = f", {used} of {len(names)}" if used < len(names) else ""
    return _over_seeds(values) + left_out


def sizes_table(paper: Paper, bench: Bench) -> str:
    """Speedups of a group's workloads, and their mean, by size of input."""
    sizes = study(paper.id).sizes
    if sizes is None or not sizes.inputs:
        return "No inputs are declared."
    head = ["arrays", "workload", *(f"`{name}`" for name in sizes.protocols)]
    rows = []
    for size in dict.fromkeys(item.size for item in sizes.inputs):
        inputs = [item for item in sizes.inputs if item.size == size]
        smaller = replace(
            paper, groups={**paper.groups, sizes.group: tuple(i.workload for i in inputs)}
        )
        parameters = {item.workload: item.parameters for item in inputs}
        sized = bench.variant(parameters=parameters, seeds=bench.seeds[:1])
        rows += [_size_row(paper, sized, item, sizes.protocols) for item in inputs]
        means = [
            _mean_bar(smaller, sized, sizes.group, "speedup", name) for name in sizes.protocols
        ]
        rows.append([size, f"mean of {len(inputs)}", *means])
    return _table(head, rows)


def _size_row(paper: Paper, bench: Bench, item: Input, protocols: Sequence[str]) -> list[str]:
    one = replace(paper, groups={"one": (item.workload,)})
    means = [_mean_bar(one, bench, "one", "speedup", name) for name in protocols]
    return [item.size, item.workload, *means]


TABLES: dict[str, Callable[[Paper, Bench], str]] = {
    "origin": origin,
    "scorecard": scorecard_table,
    "disagreements": disagreements_table,
    "variants": variants_table,
    "bars": bars_table,
    "sizes": sizes_table,
}
