"""Memory models as axioms: which candidate executions a model allows. The definitions in words: docs/litmus.md.

A candidate is a path for every thread, a source for every read, an order of the writes of every location, and the
instances in which barrier events met. A model builds a graph over it, and allows the candidate if the graph is acyclic.

There are two kinds of graph. *Single copy* (SC, RC-MCA, WO, RCsc): an access is one node, since a write reaches all
threads at once. *Many copies* (RCc, RCpc): a write has a node for each thread that may see it, and one for the copy on
which atomics operate; a store has one more, its issue, from which on threads of its core may read it. WO has two
graphs: one of the order of accesses, which need not agree with the time at which they happen, and one of time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from gpucoh.base.wording import unknown
from gpucoh.litmus.paths import Event
from gpucoh.litmus.syntax import UnsupportedError

#: The models that a protocol may promise.
MODELS = ("SC", "RC-MCA", "WO", "RCsc", "RCc", "RCpc", "DRF-SC", "HRF-indirect", "none")
#: Models of an instruction set, which no protocol promises: the base and the strengthened reading of PTX.
PTX = ("PTX", "PTX-strong")
#: Models in which a write reaches the threads one by one.
MANY_COPIES = ("RCc", "RCpc")
#: Models in which copies may go at acquires alone: a spin by weak loads need not end.
KEEPS_WEAK_COPIES = ("RCc", *PTX)
#: Models that promise something to race-free programs only.
RACE_FREE = ("DRF-SC", "HRF-indirect")


def model_name(given: str) -> str:
    """The name of a model, which may be given in any case.

    Raises
    ------
    UnsupportedError
        If there is none of that name.
    """
    known = {name.lower(): name for name in (*MODELS, *PTX)}
    if given.lower() not in known:
        raise UnsupportedError(unknown("memory model", given, tuple(known.values())))
    return known[given.lower()]


#: Thread and position in program order.
Name = tuple[int, int]


@dataclass
class Candidate:
    """One candidate execution.

    Attributes
    ----------
    threads : list of tuple of Event
    blocks : list of int
        The block of each thread.
    cores : list of int
        Threads of different numbers are on different cores.
    sources : dict
        Read -> the write it reads from, None for the initial value.
    orders : dict
        Location -> its writes, first to last.
    meetings : list of list of Name
        Barrier events that met, by instance.
    """

    threads: list[tuple[Event, ...]]
    blocks: list[int]
    cores: list[int]
    sources: dict[Name, Name | None] = field(default_factory=dict)
    orders: dict[str, list[Name]] = field(default_factory=dict)
    meetings: list[list[Name]] = field(default_factory=list)

    def event(self, name: Name) -> Event:
        """The event with this name."""
        return self.threads[name[0]][name[1]]

    def accesses(self) -> Iterator[tuple[Name, Event]]:
        """Every event with its name, thread by thread."""
        for thread, events in enumerate(self.threads):
            for place, event in enumerate(events):
                yield (thread, place), event

    def next_write(self, read: Name) -> Name | None:
        """The first write after the source of a read."""
        order = self.orders[self.event(read).location]
        source = self.sources[read]
        place = 0 if source is None else order.index(source) + 1
        if place < len(order) and order[place] == read:
            place += 1
        return order[place] if place < len(order) else None


class Graph:
    """A directed graph over small integers, as bit masks."""

    def __init__(self) -> None:
        self.edges: list[int] = []

    def node(self) -> int:
        """Add a node."""
        self.edges.append(0)
        return len(self.edges) - 1

    def edge(self, start: int, end: int) -> None:
        """Add an edge; none from a node to itself, which has several events of one access."""
        if start != end:
            self.edges[start] |= 1 << end

    def has_cycle(self) -> bool:
        """Whether the graph has a cycle."""
        left = (1 << len(self.edges)) - 1
        while left:
            kept = 0
            rest = left
            while rest:
                low = rest & -rest
                rest ^= low
                # A node without remaining successors is on no cycle.
                if self.edges[low.bit_length() - 1] & left:
                    kept |= low
            if kept == left:
                return True
            left = kept
        return False


class Drawing:
    """Builds the graph of one candidate.

    Parameters
    ----------
    candidate : Candidate
    model : str
        SC, RC-MCA, WO, RCsc, RCc or RCpc.
    time : bool
        Of WO: the graph of time, in which a read may follow the write after its source.
    """

    def __init__(self, candidate: Candidate, model: str, *, time: bool = False) -> None:
        self.candidate, self.model, self.time = candidate, model, time
        self.graph = Graph()
        # The copies that a write reaches one by one: each thread's, and memory's. None: all at once.
        self.memory = len(candidate.threads)
        self.views = range(self.memory + 1) if model in MANY_COPIES else range(1)
        self.read_nodes: dict[Name, int] = {}
        self.write_nodes: dict[Name, list[int]] = {}
        self.issues: dict[Name, int] = {}

    def allowed(self) -> bool:
        """Whether the model allows the candidate."""
        self._make_nodes()
        self._communication()
        if self.model == "SC":
            self._program_order()
        else:
            self._same_location()
            self._preserved()
        if self.model == "RCc" and not all(map(self._keeps_location, self.candidate.meetings)):
            return False
        return not self.graph.has_cycle()

    # ---- nodes

    def _make_nodes(self) -> None:
        for name, event in self.candidate.accesses():
            if event.second:
                self._join(name, (name[0], name[1] - 1))
            elif event.writes:
                nodes = [self.graph.node() for _ in self.views]
                self.write_nodes[name] = nodes
                if event.reads:
                    self.read_nodes[name] = nodes[-1]
                if len(nodes) > 1:
                    self._spread(name, event, nodes)
                if len(nodes) > 1 and not event.reads:
                    self.issues[name] = self.graph.node()
                    self._after(self.issues[name], nodes)
            else:
                self.read_nodes[name] = self.graph.node()  # fences and barriers too

    def _join(self, name: Name, first: Name) -> None:
        """The event and the one before it are one access."""
        if first in self.write_nodes:
            self.write_nodes[name] = self.write_nodes[first]
        for nodes in (self.read_nodes, self.issues):
            if first in nodes:
                nodes[name] = nodes[first]

    def _spread(self, name: Name, event: Event, nodes: list[int]) -> None:
        """Other threads see a write after memory has it; its own thread may see a store earlier, but not an atomic."""
        for view in self.views[:-1]:
            if view != name[0] or event.reads:
                self.graph.edge(nodes[self.memory], nodes[view])

    def _view(self, name: Name) -> int:
        """The copy that a read reads: its thread's; for an atomic, memory's."""
        if len(self.views) == 1:
            return 0
        return self.memory if self.candidate.event(name).writes else name[0]

    def _done(self, name: Name) -> list[int]:
        """The nodes of an access that precede what waits until it is complete and visible."""
        return self.write_nodes.get(name) or [self.read_nodes[name]]

    def _starts(self, name: Name) -> list[int]:
        """The nodes of an access that follow what it waits for."""
        return [self.issues[name]] if name in self.issues else self._done(name)

    def _before(self, ends: list[int], start: int) -> None:
        for node in ends:
            self.graph.edge(node, start)

    def _after(self, end: int, starts: list[int]) -> None:
        for node in starts:
            self.graph.edge(end, node)

    # ---- constraints from values

    def _communication(self) -> None:
        candidate = self.candidate
        for order in candidate.orders.values():
            for first, second in itertools.pairwise(order):
                for one, other in zip(
                    self.write_nodes[first], self.write_nodes[second], strict=True
                ):
                    self.graph.edge(one, other)
        for read, source in candidate.sources.items():
            view, node = self._view(read), self.read_nodes[read]
            if source is not None:
                self.graph.edge(self._readable(source, read, view), node)
            following = candidate.next_write(read)
            if following is not None and not self.time:
                self.graph.edge(node, self.write_nodes[following][view])

    def _readable(self, source: Name, read: Name, view: int) -> int:
        """The node of a write that a read follows: its issue, if both threads may be on one core."""
        cores = self.candidate.cores
        early = view < self.memory and cores[source[0]] == cores[read[0]]
        nodes = self.write_nodes[source]
        return self.issues.get(source, nodes[view]) if early else nodes[view]

    # ---- constraints from program order

    def _program_order(self) -> None:
        """SC: everything in order; events that met at a barrier precede what comes after it."""
        for thread, events in enumerate(self.candidate.threads):
            for place in range(1, len(events)):
                self.graph.edge(self._done((thread, place - 1))[0], self._done((thread, place))[0])
        self._meet()

    def _meet(self) -> None:
        for meeting in self.candidate.meetings:
            node = self.graph.node()
            for name in meeting:
                self.graph.edge(self.read_nodes[name], node)
                if self.candidate.event(name).location == "sync":
                    for later in range(name[1] + 1, len(self.candidate.threads[name[0]])):
                        self._after(node, self._starts((name[0], later)))

    def _same_location(self) -> None:
        """Accesses of one thread to one location are in order."""
        for thread, events in enumerate(self.candidate.threads):
            last: dict[str, list[Name]] = {}
            for place, event in enumerate(events):
                if event.kind in "FB":
                    continue
                name = (thread, place)
                for older in last.get(event.location, ()):
                    self._in_place(older, name)
                last.setdefault(event.location, []).append(name)

    def _in_place(self, older: Name, younger: Name) -> None:
        old_writes, new_writes = older in self.write_nodes, younger in self.write_nodes
        if len(self.views) == 1:
            self.graph.edge(self._done(older)[0], self._done(younger)[0])
            return
        own = older[0]
        for view in (own, self.memory):
            start = self.write_nodes[older][view] if old_writes else self.read_nodes[older]
            end = self.write_nodes[younger][view] if new_writes else self.read_nodes[younger]
            # A load reads its own copy, which need not wait for memory's; a store of its own even before that.
            if not new_writes and older in self.issues:
                start = self.issues[older]
            if new_writes or view == own:
                self.graph.edge(start, end)

    def _preserved(self) -> None:
        for thread, events in enumerate(self.candidate.threads):
            for place, event in enumerate(events):
                name = (thread, place)
                later = [(thread, other) for other in range(place + 1, len(events))]
                if event.kind == "F":
                    self._wait_for_older(name, self.read_nodes[name])
                    for other in later:
                        self._after(self.read_nodes[name], self._starts(other))
                elif event.kind == "B":
                    self._arrive(name)
                    for other in later:
                        self._after(self.read_nodes[name], self._starts(other))
                if event.kind not in "FB" and not event.second:
                    self._parts(name, event, later)
        self._meet()

    def _parts(self, name: Name, event: Event, later: list[Name]) -> None:
        """Acquire, release, and writes that wait for the values on which they depend."""
        if event.release:
            gate = self.graph.node()
            self._wait_for_older(name, gate)
            self._after(gate, self._starts(name))
        if event.acquire:
            for other in later:
                self._after(self.read_nodes[name], self._starts(other))
        # An atomic is one node here: its write does not wait for its own read.
        older = event.after - {name[1]}
        for place in older if self.model != "WO" or self.time else ():
            self._after(self.read_nodes[(name[0], place)], self._starts(name))
        if event.release and self.model == "RCsc":
            for other in later:
                if self.candidate.event(other).acquire:
                    self._after(self._done(name)[0], [self.read_nodes[other]])

    def _wait_for_older(self, name: Name, gate: int) -> None:
        """Release: every older access of the thread, and what its barriers ordered before, is visible everywhere.

        RCc: so is every write that the thread has read.
        """
        for other in self._covered(name, set()):
            self._before(self._done(other), gate)
            source = self.candidate.sources.get(other)
            if self.model == "RCc" and source is not None:
                self._before(self.write_nodes[source], gate)

    def _covered(self, name: Name, seen: set[Name]) -> set[Name]:
        thread, end = name
        out: set[Name] = set()
        for place in range(end):
            out.add((thread, place))
            if self.candidate.event((thread, place)).kind != "B" or len(self.views) == 1:
                continue
            for meeting in self.candidate.meetings:
                if (thread, place) in meeting:
                    for other in meeting:
                        if other not in seen and other[0] != thread:
                            seen.add(other)
                            out |= {
                                item
                                for item in self._covered(other, seen)
                                if item in self.write_nodes
                            }
        return out

    def _arrive(self, name: Name) -> None:
        """A warp arrives when its older accesses are complete: in memory, and seen by its block.

        RCc: a store is issued, and the block reads it there.
        """
        node, block = self.read_nodes[name], self.candidate.blocks[name[0]]
        for place in range(name[1]):
            older = (name[0], place)
            if len(self.views) == 1 or older not in self.write_nodes:
                self._before(self._done(older), node)
                continue
            if self.model == "RCc" and older in self.issues:
                self.graph.edge(self.issues[older], node)
                continue
            nodes = self.write_nodes[older]
            self.graph.edge(nodes[self.memory], node)
            for view, other in enumerate(self.candidate.blocks):
                if other == block:
                    self.graph.edge(nodes[view], node)

    def _keeps_location(self, meeting: list[Name]) -> bool:
        """Whether writes before a barrier precede accesses to their locations after it, in all threads that wait."""
        event, orders = self.candidate.event, self.candidate.orders
        last: dict[str, int] = {}  # place in the order of the location: the block has this write
        for thread, end in meeting:
            for name in ((thread, place) for place in range(end)):
                if name in self.write_nodes:
                    where = event(name).location
                    last[where] = max(last.get(where, 0), orders[where].index(name))
        for thread, begin in meeting:
            rest = range(begin + 1, len(self.candidate.threads[thread]))
            for name in (
                (thread, place) for place in rest if event((thread, begin)).location == "sync"
            ):
                least = last.get(event(name).location)
                write = name if name in self.write_nodes else self.candidate.sources.get(name)
                if least is None or event(name).kind in "FB":
                    continue
                if write is None or orders[event(name).location].index(write) < least:
                    return False
        return True


def allows(candidate: Candidate, model: str) -> bool:
    """Whether a model allows a candidate that is coherent location by location; race-free programs are SC."""
    if model == "none":
        return True
    if model == "WO" and not Drawing(candidate, model, time=True).allowed():
        return False
    return Drawing(candidate, "SC" if model in RACE_FREE else model).allowed()
