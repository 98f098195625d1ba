"""Data races of candidate executions, which DRF-SC and HRF-indirect forbid."""

from __future__ import annotations

from gpucoh.litmus.models import Candidate, Name
from gpucoh.litmus.paths import Event
from gpucoh.litmus.syntax import Test, Thread


def has_race(test: Test, candidate: Candidate, scoped: bool) -> bool:
    """Whether two conflicting accesses are neither ordered nor both synchronisation.

    Parameters
    ----------
    test : Test
    candidate : Candidate
    scoped : bool
        HRF-indirect: synchronisation works between threads that both scopes include. DRF: scopes have no meaning.
    """
    names = [name for name, _ in candidate.accesses()]
    number = {name: place for place, name in enumerate(names)}
    reach = closure(_ordered(test, candidate, number, scoped))
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            if first[0] == second[0]:
                continue
            one, other = candidate.event(first), candidate.event(second)
            if one.kind in "FB" or other.kind in "FB" or one.location != other.location:
                continue
            if not (one.writes or other.writes):
                continue
            a, b = number[first], number[second]
            if reach[a] >> b & 1 or reach[b] >> a & 1:
                continue
            synchronise = "WEAK" not in (one.order, other.order)
            if not synchronise or (scoped and not _meet(test, first, one, second, other)):
                return True
    return False


def _meet(test: Test, first: Name, one: Event, second: Name, other: Event) -> bool:
    """Whether both scopes include both threads."""
    threads = (test.threads[first[0]], test.threads[second[0]])
    return all(includes(event.scope, *threads) for event in (one, other))


def includes(scope: str, one: Thread, other: Thread) -> bool:
    """Whether a scope of one of two threads includes the other."""
    if scope == "CTA":
        return one.block == other.block
    if scope == "CU":
        same = one.cu is not None and (one.gpu, one.cu) == (other.gpu, other.cu)
        return one.block == other.block or same
    return scope == "SYS" or one.gpu == other.gpu


def _ordered(test: Test, candidate: Candidate, number: dict[Name, int], scoped: bool) -> list[int]:
    """Program order and synchronises-with, as bit masks of successors."""
    edges = [0] * len(number)
    for thread, events in enumerate(candidate.threads):
        for place in range(1, len(events)):
            edges[number[(thread, place - 1)]] |= 1 << number[(thread, place)]
    for meeting in candidate.meetings:
        for first in meeting:
            for second in meeting:
                if first[0] != second[0] and candidate.event(second).location == "sync":
                    edges[number[first]] |= 1 << number[second]
    for read, source in candidate.sources.items():
        if source is None or source[0] == read[0]:
            continue
        for release in releases(candidate, source):
            for acquire in acquires(candidate, read):
                ends = (release, source, acquire, read) if scoped else ()
                threads = (test.threads[source[0]], test.threads[read[0]])
                if all(includes(candidate.event(name).scope, *threads) for name in ends):
                    edges[number[release]] |= 1 << number[acquire]
    return edges


def releases(candidate: Candidate, write: Name) -> list[Name]:
    """The events that release with this write: itself, or fences before it."""
    event = candidate.event(write)
    out = [write] if event.release else []
    if event.order != "WEAK":
        fences = range(write[1])
        out += [(write[0], at) for at in fences if candidate.threads[write[0]][at].kind == "F"]
    return out


def acquires(candidate: Candidate, read: Name) -> list[Name]:
    """The events that acquire with this read: itself, or fences after it."""
    event, events = candidate.event(read), candidate.threads[read[0]]
    out = [read] if event.acquire else []
    if event.order != "WEAK":
        out += [(read[0], at) for at in range(read[1] + 1, len(events)) if events[at].kind == "F"]
    return out


def closure(edges: list[int]) -> list[int]:
    """What can be reached from each node over one or more edges."""
    reach = list(edges)
    changed = True
    while changed:
        changed = False
        for node, mask in enumerate(reach):
            more, rest = mask, mask
            while rest:
                low = rest & -rest
                rest ^= low
                more |= reach[low.bit_length() - 1]
            if more != mask:
                reach[node] = more
                changed = True
    return reach
