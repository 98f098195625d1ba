"""Which barrier events of a test can meet in one instance, and when nobody can go on.

A small machine of counters: threads come to their barriers in every order. ``sync`` waits, ``arrive`` does not; one
with a count is complete when so many have come, one without it when all live threads of the block have.
"""

from __future__ import annotations

from gpucoh.litmus.models import Name
from gpucoh.litmus.paths import Event

Meetings = list[list[Name]]
#: More ways than these of meeting are not told apart.
MOST_WAYS = 200


def meetings(threads: list[tuple[Event, ...]], blocks: list[int]) -> list[Meetings]:
    """Every way in which all threads come to their ends; none, if they always hang."""
    ways: list[Meetings] = [[]]
    for block in dict.fromkeys(blocks):
        members = [index for index, other in enumerate(blocks) if other == block]
        inside = _of_block({index: threads[index] for index in members})
        ways = [way + more for way in ways for more in inside][:MOST_WAYS]
    return ways


class _State:
    """How far each thread of a block is."""

    def __init__(self, left: dict[int, tuple[int, ...]]) -> None:
        self.left = left
        # Barrier -> who has come: (event, whether it waits).
        self.here: dict[int, tuple[tuple[Name, bool], ...]] = {}
        self.waiting: frozenset[int] = frozenset()
        self.done: tuple[tuple[Name, ...], ...] = ()

    def key(self) -> object:
        return (
            tuple(sorted(self.left.items())),
            tuple(sorted(self.here.items())),
            self.waiting,
            self.done,
        )

    def copy(self) -> _State:
        new = _State(dict(self.left))
        new.here, new.waiting, new.done = dict(self.here), self.waiting, self.done
        return new


def _of_block(threads: dict[int, tuple[Event, ...]]) -> list[Meetings]:
    places = {
        index: tuple(place for place, event in enumerate(events) if event.kind == "B")
        for index, events in threads.items()
    }
    start = _State(places)
    stack, seen = [start], {start.key()}
    found: list[Meetings] = []
    while stack and len(found) < MOST_WAYS:
        state = stack.pop()
        if not any(state.left.values()) and not state.waiting:
            found.append([list(meeting) for meeting in state.done])
            continue
        for index, left in state.left.items():
            if not left or index in state.waiting:
                continue
            new = _come(state, threads, index, left[0])
            if new.key() not in seen:
                seen.add(new.key())
                stack.append(new)
    unique: dict[object, Meetings] = {}
    for way in found:
        unique[tuple(sorted(tuple(sorted(meeting)) for meeting in way))] = way
    return list(unique.values())


def _come(state: _State, threads: dict[int, tuple[Event, ...]], index: int, place: int) -> _State:
    new = state.copy()
    event = threads[index][place]
    waits = event.location == "sync"
    new.left[index] = new.left[index][1:]
    new.here[event.read] = (*new.here.get(event.read, ()), ((index, place), waits))
    if waits:
        new.waiting |= {index}
    _complete(new, threads)
    return new


def _complete(state: _State, threads: dict[int, tuple[Event, ...]]) -> None:
    """Lets go those whose barrier is complete. A thread without barriers left will leave, and is waited for no more."""
    changed = True
    while changed:
        changed = False
        for barrier, here in list(state.here.items()):
            if not here:
                continue
            counts = {threads[name[0]][name[1]].written for name, _ in here}
            if len(counts) > 1:
                continue  # counts that disagree: nobody knows when this is complete
            count = counts.pop()
            if count >= 0:
                complete = len(here) == count
            else:
                come = {name[0] for name, _ in here}
                live = {
                    index for index, left in state.left.items() if left or index in state.waiting
                }
                complete = live <= come
            if complete:
                state.here[barrier] = ()
                state.waiting -= {name[0] for name, waits in here if waits}
                state.done += (tuple(name for name, _ in here),)
                changed = True
