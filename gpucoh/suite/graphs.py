"""Breadth-first search: ``bfs`` (two launches per level, QuickRelease) and ``bfs-mask`` (one mask that
all threads share, RCC).

``bfs``. Original: bfs of Rodinia (CUDA). As there: blocks of 512 threads, a vertex a thread; two launches a level,
before which the host clears a flag that it reads after them; flags of bytes; a record of two words a vertex (first
edge, degree), read again after each new neighbour, since the stores might change it, as the own cost for each; the
graph of Rodinia's generator with 65,536 vertices. Several threads may store one flag or one cost: these accesses race.
QuickRelease's ``bfs`` is of Rodinia or of OpenDwarfs, which the paper names without saying what is whose; OpenDwarfs
has flags of words (``flags=words``).

``bfs-mask``. Original: BFS of the GPGPU-Sim paper's benchmarks (Bakhoda et al., ISPASS 2009), which RCC cites
for it. RCC says that all threads share a mask of the nodes of the next level. As there: one kernel, launched
until it finds nothing new, whose threads read and mark vertices in one vector; blocks of 256 threads, which
fill 48 warps; a vertex a thread; mask, visited and the host's flag of bytes; cost of words; a record of two
words a vertex (first edge, degree), read again for each edge, as the own cost for each new neighbour. A thread
may find its vertex marked in the same launch, so that levels are not kept apart: a cost is the length of a way
to the vertex, not always of the shortest, and the number of launches is at most that of the levels.

What differs: the original reads its graph of 65,536 vertices from a file; here it is that of Rodinia's
generator, each vertex with edges to two to four random vertices, in both directions, without edges drawn twice.
``one_launch=on`` does all levels in one launch of the resident threads, in the two phases of Rodinia's bfs,
with grid barriers between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.lang.types import I32, U8
from gpucoh.suite import graph_files, inputs
from gpucoh.suite.base import (
    GpuLike,
    Outcome,
    Refused,
    blocks_for,
    choice,
    compare,
    file,
    switch,
    whole,
)
from gpucoh.suite.buffers import RACES, RACING, ReadOnlyI32
from gpucoh.suite.declaration import workload
from gpucoh.suite.synchronisation import BARRIER_WORDS, grid_barrier

UNREACHED = -1
# Arrays of flags, and their types in kernels and on the host.
FLAGS = frozenset({"frontier", "updating", "visited", "more"})
ELEMENTS: dict[str, tuple[lang.BufferType, type[np.generic]]] = {
    "bytes": (lang.BufferType(U8), np.uint8),
    "words": (lang.BufferType(I32), np.int32),
}


@lang.record
class Graph:
    """A record of two words for each vertex (first edge, degree), and the vertices that the edges lead to."""

    records: ReadOnlyI32
    columns: ReadOnlyI32
    vertices: lang.i32


@lang.record
class Marks:
    """The vectors of a search that marks vertices by bytes."""

    frontier: lang.Buffer[lang.u8]
    updating: lang.Buffer[lang.u8]
    visited: lang.Buffer[lang.u8]
    distance: lang.Buffer[lang.i32]


def kernel_of_flags(function: Any, flags: lang.BufferType) -> lang.Kernel:
    """A kernel whose arrays of flags have that type."""
    function.__annotations__.update(
        {name: flags for name in function.__annotations__ if name in FLAGS}
    )
    return lang.kernel(function)


def visit_kernel(load: Any, store: Any, flags: lang.BufferType) -> lang.Kernel:
    """The first kernel of a level of ``bfs`` with one kind of accesses that race."""

    def visit_neighbours(
        graph: Graph,
        frontier: lang.Buffer[lang.i32],
        updating: lang.Buffer[lang.i32],
        visited: lang.Buffer[lang.i32],
        distance: lang.Buffer[lang.i32],
    ) -> None:
        """Mark the neighbours of a vertex of the frontier that are not visited."""
        vertex = lang.global_id()
        if vertex < graph.vertices and frontier[vertex] != 0:
            frontier[vertex] = 0
            degree = graph.records[2 * vertex + 1]
            if degree > 0:
                first = graph.records[2 * vertex]
                edge = first
                while edge < first + degree:
                    neighbour = graph.columns[edge]
                    if visited[neighbour] == 0:
                        store(distance, neighbour, load(distance, vertex) + 1)
                        store(updating, neighbour, 1)
                        degree = graph.records[2 * vertex + 1]
                        first = graph.records[2 * vertex]
                    edge += 1

    return kernel_of_flags(visit_neighbours, flags)


def advance_kernel(load: Any, store: Any, flags: lang.BufferType) -> lang.Kernel:
    """The second kernel of a level of ``bfs`` with one kind of accesses that race."""

    def advance_frontier(
        frontier: lang.Buffer[lang.i32],
        updating: lang.Buffer[lang.i32],
        visited: lang.Buffer[lang.i32],
        more: lang.Buffer[lang.i32],
        vertices: lang.i32,
    ) -> None:
        """Enter a marked vertex in the frontier; ``more`` is set if there is one."""
        vertex = lang.global_id()
        if vertex < vertices and updating[vertex] != 0:
            frontier[vertex] = 1
            visited[vertex] = 1
            store(more, 0, 1)
            updating[vertex] = 0

    return kernel_of_flags(advance_frontier, flags)


# The kernels of a level by kind of the accesses that race, and by the flags.
LEVELS = {
    (races, flags): (visit_kernel(*accesses, buffer), advance_kernel(*accesses, buffer))
    for races, accesses in RACING.items()
    for flags, (buffer, _) in ELEMENTS.items()
}


# A vertex's own thread writes `visited` in the second phase and others read it in the first;
# `updating` is the other way round. Barriers of the grid, or launches, order both, so plain accesses
# suffice where one thread writes. Several threads may set one element of `updating`, `distance`
# and `more` concurrently: relaxed.
@lang.device
def visit(graph: Graph, marks: Marks, vertex: lang.i32) -> None:
    """First phase for one vertex: mark its neighbours that are not marks.visited."""
    if marks.frontier[vertex] != 0:
        marks.frontier[vertex] = 0
        first = graph.records[2 * vertex]
        for edge in range(first, first + graph.records[2 * vertex + 1]):
            neighbour = graph.columns[edge]
            if marks.visited[neighbour] == 0:
                cost = lang.load(marks.distance, vertex, order="relaxed") + 1
                lang.store(marks.distance, neighbour, cost, order="relaxed")
                lang.store(marks.updating, neighbour, 1, order="relaxed")


@lang.device
def advance(marks: Marks, more: lang.Buffer[lang.i32], flag: lang.i32, vertex: lang.i32) -> None:
    """Second phase for one vertex: enter a marked vertex in the marks.frontier, and set ``more[flag]``."""
    if lang.load(marks.updating, vertex, order="relaxed") != 0:
        marks.frontier[vertex] = 1
        marks.visited[vertex] = 1
        lang.store(more, flag, 1, order="relaxed")
        marks.updating[vertex] = 0


# Threads of any block mark a vertex while its own reads or clears the mark, so all accesses to the vectors are
# relaxed. A record is read again for each edge: the original's compiler cannot know that the stores leave it alone.
@lang.kernel
def expand_mask(
    graph: Graph,
    mask: lang.Buffer[lang.u8],
    visited: lang.Buffer[lang.u8],
    distance: lang.Buffer[lang.i32],
    more: lang.Buffer[lang.u8],
) -> None:
    """Mark the neighbours of the marked graph.vertices that are not visited; ``more`` is set if there is one."""
    vertex = lang.global_id()
    if vertex < graph.vertices and lang.load(mask, vertex, order="relaxed") != 0:
        lang.store(mask, vertex, 0, order="relaxed")
        lang.store(visited, vertex, 1, order="relaxed")
        edge = graph.records[2 * vertex]
        while edge < graph.records[2 * vertex] + graph.records[2 * vertex + 1]:
            neighbour = graph.columns[edge]
            if lang.load(visited, neighbour, order="relaxed") == 0:
                cost = lang.load(distance, vertex, order="relaxed") + 1
                lang.store(distance, neighbour, cost, order="relaxed")
                lang.store(mask, neighbour, 1, order="relaxed")
                lang.store(more, 0, 1, order="relaxed")
            edge += 1


# `more` has two slots: the second phase clears that of the next level, after every block has read
# it for the previous level.
@lang.kernel
def bfs_masked(
    graph: Graph,
    marks: Marks,
    more: lang.Buffer[lang.i32],
    arrived: lang.Buffer[lang.i32],
    limit: lang.i32,
) -> None:
    """Breadth-first search by shared vectors with two grid barriers per level; at most ``limit``
    levels.
    """
    again = lang.shared(lang.i32, 1)
    stride = lang.grid_dim() * lang.block_dim()
    first = lang.global_id()
    target = 0
    level = 0
    going = 1
    while going != 0:
        for vertex in range(first, graph.vertices, stride):
            visit(graph, marks, vertex)
        target += lang.grid_dim()
        grid_barrier(arrived, target)
        if first == 0:
            lang.store(more, (level + 1) % 2, 0, order="relaxed")
        for vertex in range(first, graph.vertices, stride):
            advance(marks, more, level % 2, vertex)
        target += lang.grid_dim()
        grid_barrier(arrived, target)
        # An atomic, so that all blocks read one value and leave together even if loads may be
        # stale.
        if lang.thread_id() == 0:
            again[0] = lang.atomic_or(more, level % 2, 0, order="relaxed")
        lang.barrier()
        level += 1
        going = again[0]
        if level >= limit:
            going = 0
        lang.barrier()


def reference_distances(graph: inputs.Graph, source: int) -> NDArray[np.int32]:
    """Levels of a breadth-first search; int32, shape ``(vertices,)``, -1 if not reachable from ``source``."""
    distances = np.full(graph.vertices, UNREACHED, np.int32)
    frontier, level = np.array([source], np.int64), 0
    while frontier.size:
        distances[frontier] = level
        begins = graph.offsets[frontier].astype(np.int64)
        counts = graph.offsets[frontier + 1] - begins
        # Places of the frontier's neighbours: each vertex's begin, and from there on its count.
        places = np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        reached = graph.columns[places]
        frontier = np.unique(reached[distances[reached] == UNREACHED]).astype(np.int64)
        level += 1
    return distances


FORMAT = choice(
    "format of the graph file: mtx, edges, metis, dimacs; auto recognises it (docs/graphs.md)",
    graph_files.FORMATS,
    "auto",
)


@dataclass(frozen=True)
class Search:
    """A graph, the start vertex, and the expected distances."""

    graph: inputs.Graph
    source: int
    expected: NDArray[np.int32]

    @property
    def depth(self) -> int:
        """The largest distance."""
        return int(self.expected.max())

    def on(self, gpu: GpuLike, records_first: bool) -> Graph:
        """The graph in simulated memory."""
        graph = self.graph
        records = np.stack([graph.offsets[:-1], graph.degrees()], axis=1).ravel()
        columns = graph.columns if graph.edges else np.zeros(1, np.int32)
        if records_first:
            return Graph(gpu.array(records), gpu.array(columns), graph.vertices)
        return Graph(
            columns=gpu.array(columns), records=gpu.array(records), vertices=graph.vertices
        )

    def start(self) -> NDArray[np.int32]:
        """Initial distances."""
        distances = np.full(self.graph.vertices, UNREACHED, np.int32)
        distances[self.source] = 0
        return distances

    def check(self, distances: NDArray[Any], levels: int) -> Outcome:
        """Compare with the reference."""
        outcome = compare("distance", distances, self.expected, details=self.details(levels))
        return replace(outcome, notes=self.graph.notes)

    def check_walks(self, distances: NDArray[Any], launches: int) -> Outcome:
        """Compare with the reference what a search by one mask promises: the vertices that are reached, and none at
        less than its distance; a vertex that is marked and visited in one launch may take a longer way.
        """
        longer = np.where(self.expected > 0, np.maximum(distances, self.expected), self.expected)
        details = self.details(launches) | {"longer": int(np.sum(distances > self.expected))}
        outcome = compare("distance", distances, longer, details=details)
        return replace(outcome, notes=self.graph.notes)

    def details(self, levels: int) -> dict[str, Any]:
        """Of the input and the run."""
        return {
            "graph": self.graph.name,
            "vertices": self.graph.vertices,
            "edges": self.graph.edges,
            "source": self.source,
            "levels": levels,
        }


def search_from(
    rng: Generator,
    graph: str | None = file(
        f"{graph_files.ALLOWED}; default: `generator` makes the graph",
        ("generator", "levels", "edge_factor"),
    ),
    format: str = FORMAT,
    directed: bool = switch("whether the file's edges are directed", False),
    generator: str = choice(
        "Graph500 Kronecker graph, 2-D grid, or random graph of Rodinia's generator",
        ("kronecker", "grid", "uniform"),
        "uniform",
    ),
    levels: int = whole("log2 of the number of generated vertices", 1, 24, 9, 13, 16),
    edge_factor: int = whole("Kronecker: undirected edges drawn per vertex", 1, 64, 4, 8, 16),
    source: int = whole(
        "start vertex; -1: the first vertex with the most neighbours", -1, None, -1
    ),
) -> Search:
    """The graph of the file or the generator, and its reference."""
    if graph is not None:
        made = graph_files.read_graph(graph, directed=directed, form=format)
    elif directed or format != "auto":
        name = "directed" if directed else "format"
        raise Refused(f"parameter {name} applies to a file's edges; allowed: with graph=FILE")
    elif generator == "grid":
        made = inputs.grid_graph(1 << (levels // 2), 1 << (levels - levels // 2))
    elif generator == "uniform":
        made = inputs.uniform_graph(1 << levels, rng)
    else:
        made = inputs.kronecker(levels, edge_factor, rng)
    if source >= made.vertices:
        raise Refused(
            f"parameter source is {source}; allowed: -1 to {made.vertices - 1}, "
            f"the vertices of {made.name}"
        )
    if source < 0:
        source = int(np.argmax(made.degrees()))
    return Search(made, source, reference_distances(made, source))


@workload(id="bfs", group="N", papers="Q", check="distances equal scipy's", input=search_from)
def search_by_levels(
    gpu: GpuLike,
    search: Search,
    block: int = whole("threads per block", 32, 1024, 128, 512, 512),
    races: str = RACES,
    flags: str = choice(
        "flags of bytes, as Rodinia's, or of words, as OpenDwarfs'", tuple(ELEMENTS), "bytes"
    ),
) -> Outcome:
    """level-synchronous breadth-first search, two launches and a flag for the host per level

    Two launches per level until the flag that the host clears stays clear.
    """
    vertices, type = search.graph.vertices, ELEMENTS[flags][1]
    mask = np.zeros(vertices, type)
    mask[search.source] = 1
    graph = search.on(gpu, records_first=True)
    frontier, updating = gpu.array(mask), gpu.zeros(vertices, type)
    visited, distance = gpu.array(mask), gpu.array(search.start())
    more = gpu.zeros(1, type)
    level = 0
    # A level beyond the deepest finds nothing new; a wrong run that continues is stopped there.
    while level <= search.depth + 1:
        more[:] = 0
        visit, advance = LEVELS[races, flags]
        steps = (
            (visit, (graph, frontier, updating, visited, distance)),
            (advance, (frontier, updating, visited, more, vertices)),
        )
        for kernel, args in steps:
            gpu.launch(
                kernel,
                grid=blocks_for(vertices, block),
                block=block,
                args=args,
            )
        level += 1
        if int(more.numpy()[0]) == 0:
            break
    return search.check(distance.numpy(), level)


@workload(
    id="bfs-mask",
    group="IN",
    papers="R",
    check="the vertices of scipy's search are reached, none at less than its distance",
    input=search_from,
    scales={"tiny": {}, "small": {"levels": 15}, "paper": {}},
)
def search_by_mask(
    gpu: GpuLike,
    search: Search,
    block: int = whole("threads per block", 32, 1024, 128, 256, 256),
    blocks_per_core: int = whole(
        "blocks per core with one_launch; all must be resident; 6 of 256 threads fill 48 warps",
        1,
        8,
        1,
        6,
        6,
    ),
    one_launch: bool = switch(
        "whether one launch does all levels, in two phases with grid barriers", False
    ),
) -> Outcome:
    """breadth-first search by one mask that all threads share, a launch per level"""
    graph = search.on(gpu, records_first=False)
    mask = np.zeros(graph.vertices, np.uint8)
    mask[search.source] = 1
    if one_launch:
        return run_at_once(gpu, search, graph, mask, block, blocks_per_core)
    return run_by_levels(gpu, search, graph, mask, block)


def run_by_levels(
    gpu: GpuLike, search: Search, graph: Graph, mask: NDArray[np.uint8], block: int
) -> Outcome:
    """A launch for each level, until one finds nothing new; a wrong run that continues is stopped."""
    marked, visited = gpu.array(mask), gpu.array(np.zeros_like(mask))
    distance, more = gpu.array(search.start()), gpu.zeros(1, np.uint8)
    launches = 0
    going = 1
    while going != 0 and launches < 2 * search.depth + 4:
        more[:] = 0
        gpu.launch(
            expand_mask,
            grid=blocks_for(graph.vertices, block),
            block=block,
            args=(graph, marked, visited, distance, more),
        )
        launches += 1
        going = int(more.numpy()[0])
    return search.check_walks(distance.numpy(), launches)


def run_at_once(
    gpu: GpuLike,
    search: Search,
    graph: Graph,
    mask: NDArray[np.uint8],
    block: int,
    blocks_per_core: int,
) -> Outcome:
    """One launch of a grid that is resident as a whole."""
    frontier, updating, visited = map(gpu.array, (mask, np.zeros_like(mask), mask))
    distance = gpu.array(search.start())
    gpu.launch(
        bfs_masked,
        grid=gpu.machine.cores * blocks_per_core,
        block=block,
        args=(
            graph,
            Marks(frontier, updating, visited, distance),
            gpu.zeros(2, np.int32),
            gpu.zeros(BARRIER_WORDS, np.int32),
            search.depth + 2,
        ),
    )
    return search.check(distance.numpy(), search.depth + 1)
