"""The barrier events of a test that can meet in one instance, and the threads that wait forever.

The module explores a small machine of counters: threads reach their barriers in every order. ``sync`` waits,
``arrive`` does not; a barrier with a count is complete when that many threads have come, one without a count when all
live threads of the block have. A barrier that does not exist, or whose count the block cannot reach, is never complete,
and threads that reach it wait.
"""

from __future__ import annotations

from gpucoh.litmus.models import Name
from gpucoh.litmus.paths import Event, Path

#: Barriers of a block.
BARRIERS = 16
Meetings = list[list[Name]]
#: Largest number of ways of meeting that are distinguished.
MOST_WAYS = 200


def meetings(paths: tuple[Path, ...], blocks: list[int]) -> list[Meetings]:
    """Every way in which all threads reach the ends of their paths, or barriers where they wait."""
    ways: list[Meetings] = [[]]
    for block in dict.fromkeys(blocks):
        members = [index for index, other in enumerate(blocks) if other == block]
        inside = _Block({index: paths[index] for index in members}).ways()
        ways = [way + more for way in ways for more in inside][:MOST_WAYS]
    return ways


class _State:
    """The progress of each thread of a block."""

    def __init__(self, left: dict[int, tuple[int, ...]]) -> None:
        self.left = left
        # Barrier -> arrived threads: (event, whether it waits).
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


class _Block:
    """The barriers of one block.

    Parameters
    ----------
    paths : dict
        Thread -> its path.
    """

    def __init__(self, paths: dict[int, Path]) -> None:
        self.threads = {index: path.events for index, path in paths.items()}
        # Threads that never leave, and threads that wait at the end.
        self.staying = {index for index, path in paths.items() if path.ending == "spins"}
        self.stuck = {index for index, path in paths.items() if path.ending == "waits"}

    def ways(self) -> list[Meetings]:
        """Every way in which the threads reach their targets."""
        places = {
            index: tuple(place for place, event in enumerate(events) if event.kind == "B")
            for index, events in self.threads.items()
        }
        start = _State(places)
        stack, seen = [start], {start.key()}
        found: list[Meetings] = []
        while stack and len(found) < MOST_WAYS:
            state = stack.pop()
            if not any(state.left.values()) and state.waiting == self.stuck:
                found.append([list(meeting) for meeting in state.done])
                continue
            for index, left in state.left.items():
                if not left or index in state.waiting:
                    continue
                new = self._come(state, index, left[0])
                if new.key() not in seen:
                    seen.add(new.key())
                    stack.append(new)
        unique: dict[object, Meetings] = {}
        for way in found:
            unique[tuple(sorted(tuple(sorted(meeting)) for meeting in way))] = way
        return list(unique.values())

    def _is_possible(self, event: Event) -> bool:
        """Whether the barrier exists and the block has as many threads as its count."""
        return 0 <= event.read < BARRIERS and (
            event.written == -1 or 1 <= event.written <= len(self.threads)
        )

    def _come(self, state: _State, index: int, place: int) -> _State:
        new = state.copy()
        event = self.threads[index][place]
        new.left[index] = new.left[index][1:]
        if not self._is_possible(event):
            new.waiting |= {index}
            return new
        waits = event.location == "sync"
        new.here[event.read] = (*new.here.get(event.read, ()), ((index, place), waits))
        if waits:
            new.waiting |= {index}
        self._complete(new)
        return new

    def _complete(self, state: _State) -> None:
        """Release the threads of a complete barrier. A thread without barriers left leaves, unless it spins."""
        changed = True
        while changed:
            changed = False
            for barrier, here in list(state.here.items()):
                if not here:
                    continue
                counts = {self.threads[name[0]][name[1]].written for name, _ in here}
                if len(counts) > 1:
                    continue  # counts disagree: it is undefined when the barrier is complete
                count = counts.pop()
                if count >= 0:
                    complete = len(here) == count
                else:
                    come = {name[0] for name, _ in here}
                    live = self.staying | {
                        index
                        for index, left in state.left.items()
                        if left or index in state.waiting
                    }
                    complete = live <= come
                if complete:
                    state.here[barrier] = ()
                    state.waiting -= {name[0] for name, waits in here if waits}
                    state.done += (tuple(name for name, _ in here),)
                    changed = True
