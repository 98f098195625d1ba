"""The table of all verdicts of a paper's page, in which every scale has columns, and a line that counts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gpucoh.papers.amounts import digits
from gpucoh.papers.claims import Claim, Paper
from gpucoh.papers.runs import Bench, bench_of
from gpucoh.papers.scorecard import VERDICTS, Verdict, scorecard, why_unmeasured
from gpucoh.papers.study import Variant, reason_of

KINDS = ("behaviour", "declared")
HERE = {"small": "here", "paper": "here, scale paper"}
_FIXED = ("claim", "figure", "of", "paper")
_CAUSE = "cause"
_SHORT = 80  # letters of a cause that is repeated
_NONE = ["-"] * 8  # cells of a claim that a table does not have

Cells = dict[str, list[str]]  # claim -> the cells of one scale


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def words(name: str) -> str:
    """A name of the code as a page writes it."""
    return name.replace("_", " ")


def number(value: float | str | None, measure: str) -> str:
    """A value with the digits of its measure, or a direction."""
    if value is None:
        return "-"
    return words(value) if isinstance(value, str) else f"{value:.{digits(measure)}f}"


def spread(values: Sequence[float] | None, measure: str) -> str:
    """The range over seeds, in the brackets that pages use for nothing else; empty where all give the printed value."""
    ends = [number(end, measure) for end in (min(values), max(values))] if values else []
    return f" [{' to '.join(ends)}]" if len(set(ends)) > 1 else ""


def subject(item: Claim | Verdict) -> str:
    """Subject and baseline, and the workload if there is only one."""
    text = " / ".join(f"`{name}`" for name in (item.subject, item.baseline) if name)
    alone = f", {item.workloads[0]}" if len(item.workloads) == 1 else ""
    return text + alone


def counts(verdicts: Sequence[Verdict]) -> str:
    """The number of claims by kind and verdict, in a line."""
    counted = [one for one in verdicts if one.counted]
    return _counted([(kind, [one.agrees for one in counted if one.kind == kind]) for kind in KINDS])


def _counted(parts: Sequence[tuple[str, list[str]]]) -> str:
    listed = [
        f"{len(agrees)} {kind} ({', '.join(_verdicts(agrees))})" for kind, agrees in parts if agrees
    ]
    return f"{sum(len(agrees) for _, agrees in parts)} claims: {', '.join(listed)}"


def _verdicts(agrees: Sequence[str]) -> Iterator[str]:
    """Each verdict with its number; none of what only claims that chose a reading can be."""
    for word in VERDICTS:
        if word != "by_outcome" or word in agrees:
            yield f"{agrees.count(word)} {words(word)}"


def verdict_table(
    paper: Paper, bench: Bench, variants: Sequence[tuple[Variant, Bench]], before: str
) -> str:
    """Every claim with its verdict at the bench's scale, and at the others as the page has them.

    Parameters
    ----------
    variants : sequence of pairs
        Second readings that have a column, with their benches.
    before : str
        The page's table, whose columns of other scales are kept.
    """
    verdicts = scorecard(paper, bench)
    others = [scorecard(paper, changed) for _, changed in variants]
    here = bench.scale if bench.scale in HERE else "small"
    head = [HERE[here], "agrees"]
    for variant, _ in variants:
        head += [variant.title, "agrees"]
    measured: Cells = {}
    for place, verdict in enumerate(verdicts):
        measured[verdict.id] = _cells(paper, verdict)
        for other in others:
            measured[verdict.id] += _cells(paper, other[place])
    scales = _kept(before)
    scales[here] = (head, measured)
    ordered = {scale: scales[scale] for scale in HERE if scale in scales}
    return assembled(paper, ordered)


def _cells(paper: Paper, verdict: Verdict) -> list[str]:
    claim = next(claim for claim in paper.claims if claim.id == verdict.id)
    text = number(verdict.measured, verdict.measure) + spread(verdict.spread, verdict.measure)
    if verdict.measured is not None and len(verdict.workloads) < len(claim.workloads):
        text += f", {len(verdict.workloads)} of {len(claim.workloads)}"
    return [text, words(verdict.agrees)]


def assembled(paper: Paper, scales: Mapping[str, tuple[list[str], Cells]]) -> str:
    """The counts of every column, and the table: claims about behaviour first, then declared ones."""
    columns = [name for names, _ in scales.values() for name in names]
    head, rows = [*_FIXED, *columns, _CAUSE], []
    given: dict[str, str] = {}  # cause -> the first claim that has it
    for kind in KINDS:
        of_kind = [claim for claim in paper.claims if claim.kind == kind]
        rows += [[f"**{kind}**", *[""] * (len(head) - 1)]] if of_kind else []
        for claim in of_kind:
            cells = {
                scale: found.get(claim.id, _NONE[: len(names)])
                for scale, (names, found) in scales.items()
            }
            listed = [cell for part in cells.values() for cell in part]
            cause = "; ".join(_causes(paper, claim, cells))
            first = given.setdefault(cause, claim.id)
            told = cause if first == claim.id or len(cause) < _SHORT else f"as {first}"
            rows.append([*_described(paper, claim), *listed, told])
    return "\n".join([*_column_counts(paper, scales), "", table(head, rows)])


def reassembled(paper: Paper, before: str) -> str:
    """A page's table again, with counts and causes that follow from its cells."""
    return assembled(paper, _kept(before))


def _described(paper: Paper, claim: Claim) -> list[str]:
    of = f"{words(claim.measure)}: {subject(claim)}".removesuffix(": ")
    if claim.shares:
        of += f" ({'counted as' if paper.repeats(claim) else 'number shared with'} {claim.shares})"
    claimed = claim.value if claim.value is not None else claim.direction
    return [claim.id, claim.figure, of, number(claimed, claim.measure)]


def _column_counts(paper: Paper, scales: Mapping[str, tuple[list[str], Cells]]) -> Iterator[str]:
    """The number of claims by kind and verdict, of every scale and second reading."""
    for columns, found in scales.values():
        for at in range(0, len(columns), 2):
            agrees = [
                (
                    kind,
                    [
                        found[claim.id][at + 1].replace(" ", "_")
                        for claim in paper.claims
                        if claim.kind == kind
                        and not paper.repeats(claim)
                        and found.get(claim.id, _NONE)[at + 1] != "-"
                    ],
                )
                for kind in KINDS
            ]
            yield f"- {columns[at]}: {_counted(agrees)}."


def _causes(paper: Paper, claim: Claim, cells: Mapping[str, list[str]]) -> Iterator[str]:
    """Why a claim disagrees, or is not measured, at each scale; an equal cause once."""
    told = set()
    for scale, (_, agrees, *_others) in cells.items():
        cause = ""
        if agrees == "no":
            cause = reason_of(paper.id, claim.id, scale) or "no cause is recorded"
        elif agrees == words("not_measured"):
            cause = why_unmeasured(paper, claim, bench_of(paper, scale=scale, shorter=True))
        if cause and cause not in told:
            yield cause if scale == "small" else f"scale {scale}: {cause}"
        told.add(cause)


def _kept(before: str) -> dict[str, tuple[list[str], Cells]]:
    """The columns of each scale in a page's table, and their cells by claim."""
    rows = [_split(line) for line in before.splitlines() if line.startswith("| ")]
    if not rows:
        return {}
    head = rows[0]
    starts = {head.index(name): scale for scale, name in HERE.items() if name in head}
    found = {}
    for start, scale in starts.items():
        end = min(place for place in (*starts, head.index(_CAUSE)) if place > start)
        cells = {row[0]: row[start:end] for row in rows[2:] if row[1] or row[2]}
        found[scale] = (head[start:end], cells)
    return found


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
