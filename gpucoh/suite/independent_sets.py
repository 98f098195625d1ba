"""``mis``: a maximal independent set of a graph, by random priorities.

Original: mis of Pannotia (OpenCL). As there: 128 threads a block, a vertex a thread, rows of compressed
adjacency; after one launch that clears the vectors, three launches a round. The first finds the least
priority among a live vertex's live neighbours; the second takes vertices with less than that into the set and
marks their neighbours in a vector of its own; the third copies the marks. Every live vertex stores the word
that the host reads after each round; several threads may store one mark: these accesses race.

Paper scale is the graph ecology1 of its inputs, the grid of 1,000 x 1,000 with four neighbours a vertex
(STC states none). Priorities are a random order here, because two equal numbers side by side never end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite import graph_files, inputs
from gpucoh.suite.base import GpuLike, Outcome, Refused, blocks_for, compare, file, whole
from gpucoh.suite.buffers import (
    PLACEMENT_SEED,
    RACES,
    RACING,
    Adjacency,
    ReadOnlyF32,
    place,
)
from gpucoh.suite.declaration import workload
from gpucoh.suite.graphs import FORMAT

BLOCK = 128
LIVE, DONE, MEMBER = -1, -2, 2
LARGEST = 99999999.0  # above all priorities


@lang.record
class Sets:
    """For each vertex: whether it is in the set, whether it is live, and whether a neighbour has marked it."""

    members: lang.Buffer[lang.i32]
    state: lang.Buffer[lang.i32]
    marks: lang.Buffer[lang.i32]


@lang.kernel
def clear_sets(sets: Sets, vertices: lang.i32) -> None:
    """All vertices are live."""
    vertex = lang.global_id()
    if vertex < vertices:
        sets.state[vertex] = LIVE
        sets.marks[vertex] = LIVE
        sets.members[vertex] = 0


def least_kernel(load: Any, store: Any) -> lang.Kernel:
    """The first kernel of a round with one kind of accesses that race."""

    @lang.kernel
    def find_least(
        arcs: Adjacency,
        priorities: ReadOnlyF32,
        state: lang.Buffer[lang.i32],
        least: lang.Buffer[lang.f32],
        more: lang.Buffer[lang.i32],
    ) -> None:
        """Least priority of a live vertex's live neighbours; ``more`` is set if a vertex is live."""
        vertex = lang.global_id()
        if vertex < arcs.vertices and state[vertex] == LIVE:
            store(more, 0, 1)
            found = lang.f32(LARGEST)
            for edge in range(arcs.offsets[vertex], arcs.offsets[vertex + 1]):
                neighbour = arcs.columns[edge]
                if state[neighbour] == LIVE and priorities[neighbour] < found:
                    found = priorities[neighbour]
            least[vertex] = found

    return find_least


def choose_kernel(load: Any, store: Any) -> lang.Kernel:
    """The second kernel of a round with one kind of accesses that race."""

    @lang.kernel
    def choose(
        arcs: Adjacency,
        priorities: ReadOnlyF32,
        sets: Sets,
        least: lang.Buffer[lang.f32],
    ) -> None:
        """Take a vertex below all its neighbours into the set, and mark these."""
        vertex = lang.global_id()
        if (
            vertex < arcs.vertices
            and priorities[vertex] < least[vertex]
            and sets.state[vertex] == LIVE
        ):
            sets.members[vertex] = MEMBER
            sets.state[vertex] = DONE
            for edge in range(arcs.offsets[vertex], arcs.offsets[vertex + 1]):
                if sets.state[arcs.columns[edge]] == LIVE:
                    store(sets.marks, arcs.columns[edge], DONE)

    return choose


@lang.kernel
def copy_marks(sets: Sets, vertices: lang.i32) -> None:
    """Marked vertices are done."""
    vertex = lang.global_id()
    if vertex < vertices and sets.marks[vertex] == DONE:
        sets.state[vertex] = sets.marks[vertex]


LEAST = {races: least_kernel(*accesses) for races, accesses in RACING.items()}
CHOOSE = {races: choose_kernel(*accesses) for races, accesses in RACING.items()}


def reference_set(
    graph: inputs.Graph, priorities: NDArray[np.float32]
) -> tuple[NDArray[np.bool_], int]:
    """Members of the set, in rounds of all vertices at once, and the number of rounds."""
    live = np.ones(graph.vertices, bool)
    members = np.zeros(graph.vertices, bool)
    rows = np.repeat(np.arange(graph.vertices), graph.degrees())
    rounds = 0
    while live.any():
        least = np.full(graph.vertices, LARGEST)
        among = live[graph.columns]
        np.minimum.at(least, rows[among], priorities[graph.columns[among]])
        taken = live & (priorities < least)
        members |= taken
        live &= ~taken
        live[graph.columns[taken[rows]]] = False
        rounds += 1
    return members, rounds


@dataclass(frozen=True)
class Ordered:
    """A graph, and the priority of each of its vertices."""

    graph: inputs.Graph
    priorities: NDArray[np.float32]


def graph_of(
    rng: Generator,
    graph: str | None = file(f"{graph_files.ALLOWED}; default: a grid", ("rows", "columns")),
    format: str = FORMAT,
    rows: int = whole("rows of the grid", 1, 4096, 16, 128, 1000),
    columns: int = whole("columns of the grid", 1, 4096, 16, 128, 1000),
) -> Ordered:
    """The graph of the file, or a grid; priorities are a random order."""
    if graph is not None:
        made = graph_files.read_graph(graph, form=format)
    elif format != "auto":
        raise Refused("parameter format applies to a file's edges; allowed: with graph=FILE")
    else:
        made = inputs.grid_graph(rows, columns)
    priorities = rng.permutation(made.vertices) / np.float32(made.vertices)
    return Ordered(made, priorities.astype(np.float32))


@workload(
    id="mis",
    group="N",
    papers="S",
    check="the set equals NumPy's, round by round",
    input=graph_of,
)
def independent_set(
    gpu: GpuLike, given: Ordered, races: str = RACES, placement_seed: int = PLACEMENT_SEED
) -> Outcome:
    """maximal independent set by random priorities, three launches and a host word a round

    Rounds of three launches until the word that the host clears stays clear.
    """
    graph = given.graph
    count = graph.vertices
    columns = graph.columns if graph.edges else np.zeros(1, np.int32)
    zeros = count, np.int32
    expected, rounds = reference_set(graph, given.priorities)
    offsets, columns, priorities, members, state, marks, least, more = place(
        gpu,
        placement_seed,
        graph.offsets,
        columns,
        given.priorities,
        zeros,
        zeros,
        zeros,
        (count, np.float32),
        (1, np.int32),
    )
    arcs, sets = Adjacency(offsets, columns, count), Sets(members, state, marks)

    def launch(kernel: lang.Kernel, *args: Any) -> None:
        gpu.launch(
            kernel,
            grid=blocks_for(count, BLOCK),
            block=BLOCK,
            args=args,
        )

    launch(clear_sets, sets, count)
    for _ in range(rounds + 1):  # the last one finds nothing; a wrong run is stopped there
        more[:] = 0
        launch(LEAST[races], arcs, priorities, state, least, more)
        launch(CHOOSE[races], arcs, priorities, sets, least)
        launch(copy_marks, sets, count)
        if int(more.numpy()[0]) == 0:
            break
    details = {"graph": graph.name, "vertices": count, "rounds": rounds}
    found = members.numpy()
    outcome = compare("member", found, np.where(expected, MEMBER, 0), details=details)
    return replace(outcome, notes=graph.notes)
