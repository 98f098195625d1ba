"""What a memory model allows a small program to read: by trying every candidate execution, axiomatically.

An oracle for the explorer that knows nothing of caches. A candidate is a choice, for every load, of the write that it
reads, and for every variable of an order of its writes (an atomic reads the write just before its own). A model forbids
cycles:

``SC``
    of program order, reads-from, coherence order and from-reads.
``RC-MCA``
    the same with what fences and one variable's accesses order of program order: writes reach all others at
    once.
``RCpc``
    coherence for every variable; beyond that, such cycles that pass two threads only (writes may reach others one
    by one).
``none``
    nothing.

Orders beyond fences (acquire, release) do not occur in these programs.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

from gpucoh.verify.programs import Operation, Program

Edge = tuple[int, int]


class _Events:
    """The accesses of a program as numbered events, initial writes first."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.operations: list[Operation] = [
            Operation("st", variable, 0) for variable in range(program.variables)
        ]
        self.thread = [-1] * program.variables
        self.po_loc: list[Edge] = []
        self.fenced: list[Edge] = []
        self.po: list[Edge] = []
        for number, thread in enumerate(program.threads):
            earlier: list[tuple[int, int]] = []  # event, fences before it
            fences = 0
            for operation in thread.operations:
                if operation.kind == "F":
                    fences += 1
                    continue
                event = len(self.operations)
                for before, count in earlier:
                    self.po.append((before, event))
                    if count < fences:
                        self.fenced.append((before, event))
                    if self.operations[before].variable == operation.variable:
                        self.po_loc.append((before, event))
                earlier.append((event, fences))
                self.operations.append(operation)
                self.thread.append(number)

    def writes_to(self, variable: int) -> list[int]:
        return [
            number
            for number, item in enumerate(self.operations)
            if item.writes and item.variable == variable
        ]


def _is_acyclic(edges: Iterable[Edge]) -> bool:
    order: TopologicalSorter[int] = TopologicalSorter()
    for start, end in edges:
        order.add(end, start)
    try:
        order.prepare()
    except CycleError:
        return False
    return True


def _coherence_orders(events: _Events) -> Iterator[list[list[int]]]:
    """For every variable its writes in some order, the initial one first."""
    choices = []
    for variable in range(events.program.variables):
        first, *others = events.writes_to(variable)
        choices.append([[first, *order] for order in itertools.permutations(others)])
    for chosen in itertools.product(*choices):
        yield list(chosen)


def _sources(events: _Events, orders: Sequence[Sequence[int]]) -> Iterator[dict[int, int]]:
    """For every read the write that it reads."""
    reads = [n for n, item in enumerate(events.operations) if item.reads]
    choices = []
    for read in reads:
        order = orders[events.operations[read].variable]
        is_atomic = events.operations[read].writes
        choices.append([order[order.index(read) - 1]] if is_atomic else list(order))
    for chosen in itertools.product(*choices):
        yield dict(zip(reads, chosen, strict=True))


def _values(
    events: _Events, orders: Sequence[Sequence[int]], source: dict[int, int]
) -> tuple[int, ...]:
    written: dict[int, int] = {}
    for order in orders:
        for event in order:
            item = events.operations[event]
            before = written[source[event]] if item.kind == "add" else 0
            written[event] = before + item.value
    reads = [written[source[read]] for read in sorted(source)]
    return (*reads, *(written[order[-1]] for order in orders))


def _communication(orders: Sequence[Sequence[int]], source: dict[int, int]) -> list[Edge]:
    """Reads-from, coherence order and from-reads, the last two in full."""
    edges = [(write, read) for read, write in source.items()]
    for order in orders:
        edges += itertools.combinations(order, 2)
    for read, write in source.items():
        order = next(order for order in orders if write in order)
        edges += [(read, later) for later in order[order.index(write) + 1 :] if later != read]
    return edges


def _is_allowed(events: _Events, communication: list[Edge], model: str) -> bool:
    if model == "SC":
        return _is_acyclic(events.po + communication)
    if not _is_acyclic(events.po_loc + communication):
        return False
    if model == "RC-MCA":
        return _is_acyclic(events.po_loc + events.fenced + communication)
    edges = events.fenced + communication
    for pair in itertools.combinations(range(len(events.program.threads)), 2):
        within = [e for e in edges if events.thread[e[0]] in pair and events.thread[e[1]] in pair]
        if not _is_acyclic(within):
            return False
    return True


MODELS = ("SC", "RC-MCA", "RCpc")


@functools.lru_cache(maxsize=4096)
def allowed_outcomes(program: Program, model: str) -> tuple[tuple[int, ...], ...] | None:
    """Every outcome that the model allows: values of loads and atomics in order of threads, then the final values.

    None for a model that these axioms do not cover: anything may come.

    Examples
    --------
    >>> from gpucoh.verify.programs import parse
    >>> sorted(allowed_outcomes(parse("st x 1 | ld x; ld x"), "RC-MCA"))
    [(0, 0, 1), (0, 1, 1), (1, 1, 1)]
    """
    if model not in MODELS:
        return None
    events = _Events(program)
    found: dict[tuple[int, ...], None] = {}
    for orders in _coherence_orders(events):
        for source in _sources(events, orders):
            if any(read == write for read, write in source.items()):
                continue
            if _is_allowed(events, _communication(orders, source), model):
                found[_values(events, orders, source)] = None
    return tuple(found)
