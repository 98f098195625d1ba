"""The memory model of PTX 7.5 over candidate executions, in a base and a strengthened reading: docs/litmus.md.

An atomic that writes is two events, a read and then a write. Relations are lists of bit masks: bit b of entry a says
that a precedes b. Events have the numbers of :meth:`Candidate.accesses`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from gpucoh.litmus.models import Candidate, Name
from gpucoh.litmus.paths import Event
from gpucoh.litmus.races import acquires, closure, includes, releases
from gpucoh.litmus.syntax import Thread

Relation: TypeAlias = list[int]
#: The events of a thread with atomics split, and the place of the read and of the write of each event before that.
_Split: TypeAlias = tuple[tuple[Event, ...], tuple[int, ...], tuple[int, ...]]


@functools.lru_cache(maxsize=4096)
def _split_thread(events: tuple[Event, ...]) -> _Split:
    """Replace each atomic that writes by its read, with the acquire, and its write, with the release."""
    out: list[Event] = []
    reads: list[int] = []
    writes: list[int] = []
    for event in events:
        reads.append(len(out))
        if event.kind == "U":
            out.append(replace(event, kind="R", release=False, after=frozenset()))
        writes.append(len(out))
        last = replace(event, kind="W", acquire=False) if event.kind == "U" else event
        out.append(replace(last, after=frozenset(reads[place] for place in event.after)))
    return tuple(out), tuple(reads), tuple(writes)


def _split(candidate: Candidate) -> tuple[Candidate, list[tuple[Name, Name]]]:
    """A candidate with two events for each atomic that writes, and these pairs."""
    threads = [_split_thread(events) for events in candidate.threads]

    def read(name: Name) -> Name:
        return name[0], threads[name[0]][1][name[1]]

    def write(name: Name) -> Name:
        return name[0], threads[name[0]][2][name[1]]

    out = replace(
        candidate,
        threads=[events for events, _, _ in threads],
        sources={
            read(name): source and write(source) for name, source in candidate.sources.items()
        },
        orders={
            location: [write(name) for name in order]
            for location, order in candidate.orders.items()
        },
        meetings=[[write(name) for name in meeting] for meeting in candidate.meetings],
    )
    pairs = [(read(name), write(name)) for name, event in candidate.accesses() if event.kind == "U"]
    return out, pairs


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _joined(first: Relation, second: Relation) -> Relation:
    """Pairs (a, c) with a before some b in the first relation and b before c in the second."""
    out = []
    for mask in first:
        found = 0
        for middle in _bits(mask):
            found |= second[middle]
        out.append(found)
    return out


def _union(*relations: Relation) -> Relation:
    out = list(relations[0])
    for relation in relations[1:]:
        out = [one | other for one, other in zip(out, relation, strict=True)]
    return out


def _has_loop(relation: Relation) -> bool:
    return any(mask >> place & 1 for place, mask in enumerate(relation))


def _agree(first: Relation, second: Relation) -> bool:
    """Whether no pair is in the first relation one way and in the second the other way."""
    return not _has_loop(_joined(first, second))


def strong(one: Event, first: Thread, other: Event, second: Thread) -> bool:
    """Whether two events of two threads are morally strong relative to each other."""
    if first is second:
        return True
    return all(
        event.order != "WEAK" and includes(event.scope, first, second) for event in (one, other)
    )


class Judge:
    """Decides about one candidate.

    Parameters
    ----------
    candidate : Candidate
    threads : sequence of Thread
        Of the test: their blocks and GPUs.
    strengthened : bool
        Add the axioms of the strengthened reading.
    """

    def __init__(
        self, candidate: Candidate, threads: Sequence[Thread], *, strengthened: bool = False
    ) -> None:
        self.candidate, pairs = _split(candidate)
        self.threads, self.strengthened = threads, strengthened
        self.names = [name for name, _ in self.candidate.accesses()]
        self.number = {name: place for place, name in enumerate(self.names)}
        self.events = [event for _, event in self.candidate.accesses()]
        #: Read -> write of each atomic.
        self.atomics = {self.number[read]: self.number[write] for read, write in pairs}
        self.size = len(self.names)
        self.po = self._program_order()
        self.rf, self.co = self._communication()
        self.strong = [self._strong_ones(at) for at in range(self.size)]
        #: First event and write of each release pattern.
        self.patterns = [
            (first, place)
            for place, event in enumerate(self.events)
            if event.writes
            for first in self._releases(place)
        ]

    # ---- relations

    def _empty(self) -> Relation:
        return [0] * self.size

    def _communication(self) -> tuple[Relation, Relation]:
        """Reads-from, and a total order of the writes of each location of which the model uses a part."""
        rf, co = self._empty(), self._empty()
        for order in self.candidate.orders.values():
            for first, second in itertools.combinations(order, 2):
                co[self.number[first]] |= 1 << self.number[second]
        for read, source in self.candidate.sources.items():
            if source is not None:
                rf[self.number[source]] |= 1 << self.number[read]
        return rf, co

    def _from_reads(self, co: Relation) -> Relation:
        """Each read precedes the writes after its source."""
        fr = self._empty()
        for read, source in self.candidate.sources.items():
            at, writes = (
                self.number[read],
                self.candidate.orders[self.candidate.event(read).location],
            )
            later = (
                sum(1 << self.number[write] for write in writes)
                if source is None
                else co[self.number[source]]
            )
            fr[at] = later
        return fr

    def _program_order(self) -> Relation:
        po = self._empty()
        for first, second in itertools.combinations(range(self.size), 2):
            if self.names[first][0] == self.names[second][0]:
                po[first] |= 1 << second
        return po

    def _strong(self, first: int, second: int) -> bool:
        one, other = (self.threads[self.names[at][0]] for at in (first, second))
        return strong(self.events[first], one, self.events[second], other)

    def _strong_ones(self, event: int) -> int:
        return sum(1 << other for other in range(self.size) if self._strong(event, other))

    def _strongly(self, relation: Relation) -> Relation:
        return [mask & strong for mask, strong in zip(relation, self.strong, strict=True)]

    def _observation(self) -> Relation:
        """A read observes its source, and what an atomic that wrote its source observes; by morally strong steps."""
        steps = self._strongly(self.rf)
        through = [
            sum(1 << self.atomics[end] for end in _bits(mask) if end in self.atomics)
            for mask in steps
        ]
        return _union(steps, _joined(closure(through), steps))

    def _releases(self, write: int) -> list[int]:
        """The events that release with this write: itself, fences before it, releases of its location before it."""
        found = releases(self.candidate, self.names[write])
        out = [self.number[name] for name in found]
        if self.events[write].order != "WEAK":
            out += [
                at
                for at, event in enumerate(self.events)
                if event.writes and event.release and self._follows(at, write)
            ]
        return out

    def _acquires(self, read: int) -> list[int]:
        """The events that acquire with this read: itself, fences after it, acquires of its location after it."""
        found = acquires(self.candidate, self.names[read])
        out = [self.number[name] for name in found]
        if self.events[read].order != "WEAK":
            out += [
                at
                for at, event in enumerate(self.events)
                if event.reads and event.acquire and self._follows(read, at)
            ]
        return out

    def _follows(self, first: int, second: int) -> bool:
        """Whether the second access follows the first in program order and has the same location."""
        return bool(self.po[first] >> second & 1) and self._same_location(first, second)

    def _synchronisation(self, observation: Relation) -> Relation:
        out = self._empty()
        for first, write in self.patterns:
            for read in _bits(observation[write]):
                for last in self._acquires(read):
                    if (
                        self.names[first][0] != self.names[last][0]
                        and self.strong[first] >> last & 1
                    ):
                        out[first] |= 1 << last
        for meeting in self.candidate.meetings:
            for one, other in itertools.permutations(meeting, 2):
                if self.candidate.event(other).location == "sync":
                    out[self.number[one]] |= self.po[self.number[other]]
        return out

    def _fence_orders(self) -> Iterator[Relation]:
        """Every order of the pairs of sc fences that are morally strong."""
        fences = [
            at for at, event in enumerate(self.events) if event.kind == "F" and event.order == "SC"
        ]
        tried = set()
        for order in itertools.permutations(fences):
            pairs = frozenset(
                pair
                for pair in itertools.combinations(order, 2)
                if self.strong[pair[0]] >> pair[1] & 1
            )
            if pairs not in tried:
                tried.add(pairs)
                out = self._empty()
                for first, second in pairs:
                    out[first] |= 1 << second
                yield out

    # ---- axioms

    def allowed(self) -> bool:
        """Whether the model allows the candidate."""
        if not (self._keeps_locations() and self._has_origins()):
            return False
        observation = self._observation()
        known = _union(self.po, self._synchronisation(observation))
        return any(
            self._is_causal(observation, _union(known, order), order)
            for order in self._fence_orders()
        )

    def _keeps_locations(self) -> bool:
        """SC per location: of morally strong communication and program order on a location."""
        same = [
            sum(1 << end for end in _bits(mask) if self._same_location(start, end))
            for start, mask in enumerate(self.po)
        ]
        communication = _union(self.rf, self.co, self._from_reads(self.co))
        return not _has_loop(closure(_union(self._strongly(communication), same)))

    def _same_location(self, first: int, second: int) -> bool:
        one, other = self.events[first], self.events[second]
        return one.kind in "RW" and other.kind in "RW" and one.location == other.location

    def _has_origins(self) -> bool:
        """No thin air: values do not depend on themselves."""
        needs = list(self.rf)
        for place, event in enumerate(self.events):
            for earlier in event.after:
                needs[self.number[self.names[place][0], earlier]] |= 1 << place
        return not _has_loop(closure(needs))

    def _is_causal(self, observation: Relation, steps: Relation, order: Relation) -> bool:
        """Fence-SC, Coherence, Atomicity and Causality, for one order of the sc fences."""
        base = self._waited(steps) if self.strengthened else closure(steps)
        if _has_loop(base):
            return False
        base = base[: self.size]
        cause = _union(base, _joined(observation, base))
        if not (_agree(order, cause) and _agree(self.co, cause)):
            return False
        # Coherence order relates writes that are morally strong or related by causality, no others.
        co = closure([
            mask & (strong | after)
            for mask, strong, after in zip(self.co, self.strong, cause, strict=True)
        ])  # fmt: skip
        fr = self._from_reads(co)
        if not (self._is_atomic(co, fr) and _agree(self.rf, cause) and _agree(fr, cause)):
            return False
        return not self.strengthened or self._is_coherent(_union(self.rf, co, fr), base)

    def _is_atomic(self, co: Relation, fr: Relation) -> bool:
        """No morally strong write comes between the read and the write of an atomic."""
        return not any(
            co[between] >> write & 1
            for read, write in self.atomics.items()
            for between in _bits(fr[read] & self.strong[read])
        )

    def _is_coherent(self, communication: Relation, base: Relation) -> bool:
        """Strengthened: accesses that are not weak are coherent along base causality even where scopes part them."""
        kept = sum(1 << at for at, event in enumerate(self.events) if event.order != "WEAK")
        steps = [mask & kept if kept >> at & 1 else 0 for at, mask in enumerate(communication)]
        return _agree(closure(steps), base)

    def _waited(self, steps: Relation) -> Relation:
        """Strengthened: base causality in which a release after a write carries what an older one had waited for.

        A node for each release pattern represents what has been waited for. A later release of another thread has
        waited for as much, if it follows a write that comes after the pattern's own in coherence order, or after a
        read behind an sc fence.
        """
        graph = [*steps, *(0 for _ in self.patterns)]
        mask = (1 << self.size) - 1
        for gate, (first, write) in enumerate(self.patterns, self.size):
            for earlier in range(self.size):
                if earlier == first or self.po[earlier] >> first & 1:
                    graph[earlier] |= 1 << gate
            # What synchronises with the pattern follows all that it waited for.
            graph[gate] |= steps[first] & ~self.po[first] & mask
            graph[gate] |= self._carried(first, self.co[write], write)
        fr = self._from_reads(self.co)
        for fence, event in enumerate(self.events):
            if event.kind == "F" and event.order == "SC":
                for read in _bits(self.po[fence]):
                    graph[fence] |= self._carried(fence, fr[read], read)
        return closure(graph)

    def _carried(self, first: int, later: int, access: int) -> int:
        """The release patterns behind the writes that follow an access in coherence order."""
        out = 0
        for write in _bits(later):
            if self.names[write][0] != self.names[first][0] and self._reaches(first, write, access):
                for gate, (other, _) in enumerate(self.patterns, self.size):
                    if self.po[write] >> other & 1:
                        out |= 1 << gate
        return out

    def _reaches(self, first: int, write: int, access: int) -> bool:
        thread, other = self.names[first][0], self.names[write][0]
        scope = self.events[first].scope
        return bool(self.strong[access] >> write & 1) and includes(
            scope, self.threads[thread], self.threads[other]
        )


def allows(candidate: Candidate, threads: Sequence[Thread], *, strengthened: bool) -> bool:
    """Whether PTX allows a candidate, whose reads and writes may be incoherent where they race."""
    return Judge(candidate, threads, strengthened=strengthened).allowed()
