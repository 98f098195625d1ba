"""Why one run takes longer than another: the largest differences of their profiles, in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.results.profile import NO_BUFFER, PHRASES, Place, Profile
from gpucoh.results.runs import RunResult

_MOST_WAITS = 5  # lines of each part of the text
_MOST_COUNTS = 3
_COUNTS = {
    "l1_expired": "L1 loads that find an expired copy",
    "l1_invalidations": "copies invalidated in L1s",
    "l1_self_invalidations": "copies dropped by L1s at acquires",
    "l1_load_misses": "L1 load misses",
    "l2_load_misses": "L2 load misses",
    "flits": "flits",
}


@dataclass(frozen=True)
class Explanation:
    """The largest differences of two runs: ``print`` it, or read its lines.

    Attributes
    ----------
    lines : tuple of str
        The text.
    waits : dict
        (file, line, cause, array) -> core cycles of the first run minus those of the second, summed over cores, the
        largest difference first.
    """

    lines: tuple[str, ...]
    waits: dict[tuple[str, int, str, str], int] = field(repr=False)

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__


@door
def explain(a: RunResult, b: RunResult) -> Explanation:
    """Rank the differences of two runs of one workload.

    Parameters
    ----------
    a, b : RunResult
        Runs with ``profile=True``.

    Returns
    -------
    Explanation
        A dozen lines of text that name arrays and source lines.

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
    if a.workload != b.workload:
        raise ConfigError(
            f"the runs are of two workloads, {a.workload} and {b.workload}: explain compares runs of one"
        )
    first, second = a.profile, b.profile
    waits = _differences(_waits(first), _waits(second))
    lines = [_summary(a, b), *_lines_of_waits(waits, a, b, first, second)]
    lines += _lines_of_counts(a, b, first, second)
    lines += [line for run in (a, b) if (line := _chain(run))]
    return Explanation(tuple(lines), waits)


def _names(a: RunResult, b: RunResult) -> tuple[str, str]:
    """How the text calls the runs: by what distinguishes them."""
    for name in ("protocol", "machine", "consistency", "seed"):
        if getattr(a, name) != getattr(b, name):
            return str(getattr(a, name)), str(getattr(b, name))
    return "the first run", "the second run"


def _summary(a: RunResult, b: RunResult) -> str:
    one, other = _names(a, b)
    text = f"{a.workload}: {one} takes {a.cycles:,} core cycles, {other} {b.cycles:,}"
    return text + (f" ({a.cycles / b.cycles:.2f} times as many)." if b.cycles else ".")


Waits = Counter[tuple[str, int, str, str]]


def _waits(profile: Profile) -> Waits:
    """Cycles by file, line, cause and array, without those of cores that have no block."""
    places = list(profile.places())
    arrays = _arrays(places)
    found: Waits = Counter()
    for place in places:
        for cause, cycles in place.counts["cycles"].items():
            if cause not in ("launch", "issue") and place.file:
                named = (
                    place.buffer
                    if place.buffer != NO_BUFFER
                    else arrays.get((place.kernel, cause), "")
                )
                found[place.file, place.line, cause, named] += cycles
    return found


def _arrays(places: list[Place]) -> dict[tuple[str, str], str]:
    """The array whose accesses the waits of a kernel for one cause await most."""
    awaited: dict[tuple[str, str], Counter[str]] = {}
    for place in places:
        for cause, cycles in place.counts["awaited"].items():
            if place.buffer != NO_BUFFER:
                awaited.setdefault((place.kernel, cause), Counter())[place.buffer] += cycles
    return {key: counts.most_common(1)[0][0] for key, counts in awaited.items()}


def _differences(first: Waits, second: Waits) -> dict[tuple[str, int, str, str], int]:
    keys = dict.fromkeys((*first, *second))
    found = {key: first[key] - second[key] for key in keys}
    return dict(sorted(found.items(), key=lambda item: -abs(item[1])))


def _lines_of_waits(
    waits: dict[tuple[str, int, str, str], int],
    a: RunResult,
    b: RunResult,
    first: Profile,
    second: Profile,
) -> list[str]:
    one, other = _names(a, b)
    charged, compared = _waits(first), _waits(second)
    lines = [f"Core cycles of waits, summed over cores, {one} against {other}:"]
    for (file, line, cause, array), difference in list(waits.items())[:_MOST_WAITS]:
        if difference:
            key = (file, line, cause, array)
            source = first.text(file, line) or second.text(file, line)
            lines.append(
                f"  {difference:+,}: {_phrase(cause, array)} at {PurePath(file).name}:{line}"
                f" ({charged[key]:,} and {compared[key]:,})" + (f": {source}" if source else "")
            )
    return lines if len(lines) > 1 else ["The waits of both are the same."]


def _phrase(cause: str, array: str) -> str:
    phrase = PHRASES[cause]
    if phrase.endswith((" of", " to", " on", " in")):
        return f"{phrase} {array or 'registers'}"
    return phrase


def _lines_of_counts(a: RunResult, b: RunResult, first: Profile, second: Profile) -> list[str]:
    one, other = _names(a, b)
    tables = [profile.by("buffer").set_index("buffer") for profile in (first, second)]
    found = []
    for name, text in _COUNTS.items():
        for array in dict.fromkeys((*tables[0].index, *tables[1].index)):
            counts = [int(t[name].get(array, 0)) if name in t else 0 for t in tables]
            if array != NO_BUFFER and counts[0] != counts[1]:
                share = abs(counts[0] - counts[1]) / max(1, *(int(t[name].sum()) for t in tables))
                found.append((share, f"  {text} of {array}: {counts[0]:,} and {counts[1]:,}"))
    found.sort(key=lambda item: -item[0])
    lines = [text for _, text in found[:_MOST_COUNTS]]
    return [f"Counts of {one} and {other}:", *lines] if lines else []


def _chain(run: RunResult) -> str:
    """What ends the longest launch of a run."""
    links = list(run.profile.links())
    handed = [link for link in links if link["after"] != "launch"]
    if not links:
        return ""
    text = f"The longest launch under {run.protocol} ends after {links[0]['end']:,} core cycles"
    if not handed:
        link = links[0]
        return f"{text} with core {link['core']}, warp {link['warp']}, which no other warp holds up{_longest(link)}."
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
