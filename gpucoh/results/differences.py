"""Why one run takes longer than another: the largest differences of their profiles, in words and as a table."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from gpucoh.base import markup
from gpucoh.base.doors import door
from gpucoh.base.late import LATE_IMPORT
from gpucoh.results.dies import link_name, number_of
from gpucoh.results.measured import (
    CONTENTION,
    LINK_COUNTS,
    Measured,
    Wait,
    measured,
    rows_of,
    source_of,
)
from gpucoh.results.profile import PHRASES
from gpucoh.results.runs import RunResult

if TYPE_CHECKING:
    import pandas as pd

_MOST_WAITS = 5  # lines of each part of the text
_MOST_COUNTS = 3
_MOST_ARRAYS = 2
_LEAST_SHARE = 0.02  # of the cycles at the bank of the most contended array
_BY_WEIGHT = tuple(CONTENTION)[::-1]
_COUNTS = {
    "l1_expired": "L1 loads that find an expired copy",
    "l1_invalidations": "copies invalidated in L1s",
    "l1_self_invalidations": "copies dropped by L1s at acquires",
    "l1_load_misses": "L1 load misses",
    "l2_load_misses": "L2 load misses",
    "flits": "flits",
    "link_requests": "requests over links between dies",
}
_MOST_LINKS = 3
_LINKS_BY = ("waiting_cycles", "bytes")  # their order


@dataclass(frozen=True)
class Explanation:
    """The largest differences of runs: ``print`` it, or read its lines and its table.

    Attributes
    ----------
    lines : tuple of str
        The text.
    waits : dict
        (file, line, cause, array) -> core cycles of the first run minus those of the last, summed over cores, the
        largest difference first.
    rows : tuple of dict
        The rows of :attr:`table`.
    """

    lines: tuple[str, ...]
    waits: dict[Wait, int] = field(repr=False)
    rows: tuple[Mapping[str, Any], ...] = field(repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """One row for each run and measured number.

        ``run`` is what distinguishes the run, beside ``protocol``, ``machine``, ``seed``, ``cores`` and what the runs
        vary (``set_l1_kib``, ``option_lifetime``, ``param_n``). ``measure`` is ``wait_cycles``, with ``cause``,
        ``array``, ``file``, ``line`` and ``source``; or, by ``array``, ``owner_changes``, ``requests_held`` or
        ``bank_cycles``, and on several dies ``requests``, ``remote_requests``, ``link_requests`` or ``link_bytes``.
        ``value`` is the sum over cores, ``per_core`` its quotient by ``cores``. The ``wait_cycles`` of a run add up to
        its core cycles without an issued instruction.
        """
        with LATE_IMPORT:
            import pandas as pd

        return pd.DataFrame(list(self.rows))

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        columns = tuple(dict.fromkeys(name for row in self.rows for name in row))
        table = markup.table(
            columns, [tuple(row.get(name) for name in columns) for row in self.rows]
        )
        return f"<pre>{html.escape(str(self))}</pre>" + markup.section("table", table)


@door
def explain(a: RunResult, b: RunResult, *more: RunResult) -> Explanation:
    """Rank the differences of runs of one workload, and name the arrays that serialise their accesses.

    Parameters
    ----------
    a, b, *more : RunResult
        Runs with ``profile=True``, under several protocols or, for instance, with several numbers of cores. Where these
        differ, all numbers of the text but whole times are per core.

    Returns
    -------
    Explanation
        Text that names arrays and source lines, and a table.

    Raises
    ------
    ConfigError
        If a run has no profile, or the runs are of different workloads.

    Examples
    --------
    >>> import gpucoh
    >>> slow, fast = (gpucoh.run("st", p, scale="tiny", profile=True) for p in ("no-l1", "ideal"))
    >>> gpucoh.explain(slow, fast).lines[0].startswith("st: no-l1 takes ")
    True
    """
    runs = measured((a, b, *more))
    waits = list(dict.fromkeys(key for one in runs for key in one.waits))
    differences = {key: runs[0].waits[key] - runs[-1].waits[key] for key in waits}
    # Cores without a block explain something only where the numbers of cores differ.
    listed = [key for key in waits if key[0] or (key[2] == "launch" and runs[0].per_core)]
    lines = _of_two(runs, listed) if len(runs) == 2 else _of_several(runs, listed)
    failed = [
        f"{run.label}: {run.run.verdict}: {run.run.where}" for run in runs if _failed(run.run)
    ]
    return Explanation(
        (*lines, *failed, *(line for one in runs if (line := _chain(one)))),
        dict(sorted(differences.items(), key=lambda item: -abs(item[1]))),
        tuple(rows_of(runs, waits)),
    )


def _failed(run: RunResult) -> bool:
    return run.verdict not in ("correct", "unchecked")


# ---- numbers


def _shown(value: float) -> str:
    """A number: whole, or per core with a fraction where it is small."""
    return f"{value:,.0f}" if value == round(value) or value >= 100 else f"{value:,.1f}"


def _basis(run: Measured) -> str:
    return "per core" if run.per_core else "summed over cores"


def _phrase(runs: Sequence[Measured], wait: Wait) -> tuple[str, str]:
    """A wait in words with its place, and the text of its line."""
    file, line, cause, array = wait
    phrase = PHRASES[cause]
    if phrase.endswith((" of", " to", " on", " in")):
        phrase = f"{phrase} {array or 'registers'}"
    source = source_of(runs, file, line) if file else ""
    return phrase + (f" at {PurePath(file).name}:{line}" if file else ""), source and f": {source}"


def _contended(runs: Sequence[Measured]) -> list[str]:
    """Arrays with many cycles at the bank, that with the most first."""
    arrays = dict.fromkeys(array for run in runs for array in run.arrays)

    def most(array: str) -> tuple[float, ...]:
        return tuple(max(run.count(array, name) for run in runs) for name in _BY_WEIGHT)

    found = sorted((array for array in arrays if any(most(array))), key=most, reverse=True)
    return [array for array in found if most(array)[0] >= _LEAST_SHARE * most(found[0])[0]]


# ---- the text of two runs


def _of_two(both: Sequence[Measured], waits: Sequence[Wait]) -> list[str]:
    a, b = both
    times = f"{a.run.cycles / b.run.cycles:.2f} times as many as" if b.run.cycles else "and"
    lines = [
        f"{a.run.workload}: {a.label} takes {a.run.cycles:,} core cycles, {times} {b.label} ({b.run.cycles:,})."
    ]
    found = []
    for wait in sorted(waits, key=lambda wait: -abs(a.wait(wait) - b.wait(wait)))[:_MOST_WAITS]:
        difference = a.wait(wait) - b.wait(wait)
        if difference:
            text, source = _phrase(both, wait)
            found.append(
                f"  {'+' if difference > 0 else '-'}{_shown(abs(difference))}: {text} "
                f"({_shown(a.wait(wait))} and {_shown(b.wait(wait))}){source}"
            )
    totals = " and ".join(_shown(sum(map(run.wait, waits))) for run in both)
    heading = f"Core cycles of waits, {_basis(a)}, {a.label} against {b.label}, in all {totals}:"
    lines += [heading, *found] if found else ["The waits of both are the same."]
    return [*lines, *_lines_of_counts(a, b), *_most_contended(a, b), *_lines_of_links(both)]


def _lines_of_counts(a: Measured, b: Measured) -> list[str]:
    found = []
    for name, text in _COUNTS.items():
        totals = [sum(run.count(array, name) for array in run.arrays) for run in (a, b)]
        for array in dict.fromkeys((*a.arrays, *b.arrays)):
            counts = [run.count(array, name) for run in (a, b)]
            if counts[0] != counts[1]:
                share = abs(counts[0] - counts[1]) / max(1, *totals)
                line = f"  {text} of {array}: {_shown(counts[0])} and {_shown(counts[1])}"
                found.append((share, line))
    found.sort(key=lambda item: -item[0])
    lines = [text for _, text in found[:_MOST_COUNTS]]
    heading = f"Counts of {a.label} and {b.label}{', per core' if a.per_core else ''}:"
    return [heading, *lines] if lines else []


def _most_contended(a: Measured, b: Measured) -> list[str]:
    for array in _contended((a, b))[:1]:
        counts = [
            f"{text} {_shown(a.count(array, name))} and {_shown(b.count(array, name))}"
            for name, text in CONTENTION.items()
        ]
        basis = ", per core" if a.per_core else ""
        return [f"The most contended array{basis}: {array}: {', '.join(counts)}."]
    return []


# ---- the text of several runs


def _of_several(runs: Sequence[Measured], waits: Sequence[Wait]) -> list[str]:
    cycles = [run.run.cycles for run in runs]
    times: list[tuple[Sequence[float], str]] = [(cycles, "core cycles")]
    if cycles[0]:
        ratios = [one / cycles[0] for one in cycles]
        times.append((ratios, f"times those of {runs[0].label}"))
    ranked = sorted(waits, key=lambda wait: _spread([run.wait(wait) for run in runs]))
    rows: list[tuple[Sequence[float], str]]
    rows = [([sum(map(run.wait, waits)) for run in runs], "all waits")]
    for wait in ranked[:_MOST_WAITS]:
        rows.append(([run.wait(wait) for run in runs], "".join(_phrase(runs, wait))))
    lines = _columns(runs, f"{runs[0].run.workload}:", times)
    lines += _columns(runs, f"Core cycles of waits, {_basis(runs[0])}:", rows)
    counts = [
        ([run.count(array, name) for run in runs], f"{text}: {array}")
        for array in _contended(runs)[:_MOST_ARRAYS]
        for name, text in CONTENTION.items()
    ]
    heading = f"The most contended arrays, {_basis(runs[0])}:"
    return [*lines, *(_columns(runs, heading, counts) if counts else []), *_lines_of_links(runs)]


# ---- links between dies


def _lines_of_links(runs: Sequence[Measured]) -> list[str]:
    """The links on which messages wait most, and the arrays with most requests for lines of other dies."""
    pairs = dict.fromkeys(pair for run in runs for pair in run.links)
    if not pairs:
        return []

    def most(pair: str) -> tuple[float, ...]:
        return tuple(max(run.link(pair, name) for run in runs) for name in _LINKS_BY)

    def remote(array: str) -> float:
        return max(run.count(array, "remote_requests") for run in runs)

    arrays = dict.fromkeys(array for run in runs for array in run.arrays)
    counts = [
        ([run.link(pair, name) for run in runs], f"{text} {link_name(pair)}")
        for pair in sorted(pairs, key=most, reverse=True)[:_MOST_LINKS]
        for name, text in LINK_COUNTS.items()
    ]
    shares = [
        ([100 * run.remote_share(array) for run in runs], f"% of the requests for {array}")
        for array in sorted(arrays, key=remote, reverse=True)[:_MOST_ARRAYS]
    ]
    dies = sorted({die for run in runs for die in run.waits_of_dies}, key=number_of)
    waits = [([run.waits_of_dies.get(die, 0) for run in runs], f"cores of {die}") for die in dies]
    basis = ", per core" if runs[0].per_core else ""
    return [
        *_columns(runs, f"Core cycles of waits by die{basis}:", waits),
        *_columns(runs, f"Links between dies{basis}:", counts),
        *_columns(runs, "Requests for lines whose home is on another die than the core:", shares),
    ]


def _spread(values: Sequence[float]) -> float:
    """The smallest for the largest difference."""
    return min(values) - max(values)


def _columns(
    runs: Sequence[Measured], heading: str, rows: Sequence[tuple[Sequence[float], str]]
) -> list[str]:
    """A heading, and rows of a number for each run."""
    shown = [([_shown(value) for value in values], text) for values, text in rows if any(values)]
    labels = [run.label for run in runs]
    widths = [max(map(len, column)) for column in zip(labels, *(v for v, _ in shown), strict=True)]

    def line(cells: Sequence[str], text: str) -> str:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        return f"  {'  '.join(padded)}  {text}".rstrip()

    return [heading, line(labels, ""), *(line(*row) for row in shown)]


# ---- what ends the longest launch


def _chain(run: Measured) -> str:
    """What ends the longest launch of a run."""
    links = list(run.profile.links())
    handed = [link for link in links if link["after"] != "launch"]
    if not links:
        return ""
    how = "under" if run.label == run.run.protocol else "of"
    text = f"The longest launch {how} {run.label} ends after {links[0]['end']:,} core cycles"
    if not handed:
        link = links[0]
        die = run.profile.dies.prefix(link["core"])
        warp = f"{die}core {link['core']}, warp {link['warp']}"
        return f"{text} with {warp}, which no other warp holds up{_longest(link)}."
    counts = Counter(
        (link["after"], link["where"], link["what"].partition("[")[0]) for link in handed
    )
    (after, where, array), count = counts.most_common(1)[0]
    last = handed[0]
    what = f"{last['after']}{' of ' + last['what'] if last['what'] else ''} at {last['where']}"
    if len(handed) == 1:
        return f"{text}, 1 handover between warps: {what}{_longest(last)}."
    most = {"barrier": "barriers", "poll": f"polls of {array}", "lock": f"locks in {array}"}[after]
    handovers = f"{len(handed):,} handovers between warps, {count:,} of them {most} at {where}"
    return f"{text}, {handovers}; the last: {what}{_longest(last)}."


def _longest(link: dict[str, object]) -> str:
    if not link["longest_wait"]:
        return ""
    return f", then {link['longest_cycles']:,} cycles of {link['longest_wait']} at {link['longest_where'] or 'no line'}"
