"""Breadth-first search: ``bfs`` (two launches per level, QuickRelease) and ``bfs-mask`` (one mask that
all threads share, RCC).

``bfs``. Original: Rodinia's bfs as OpenDwarfs has it (OpenCL), with flags of words, of which QuickRelease names no
version. As there: blocks of 512 threads, a vertex a thread; two launches a level, before which the host clears a word
that it reads after them; a record of two words a vertex (first edge, degree); the graph of Rodinia's generator with
65,536 vertices. Several threads may store one flag, one cost or that word: these accesses race.

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
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite import graph_files, inputs
from gpucoh.suite.base import (
    REGISTRY,
    GpuLike,
    Outcome,
    Parameter,
    Setting,
    blocks_for,
    compare,
    scaled,
)
from gpucoh.suite.buffers import RACES, RACING, ReadOnlyI32
from gpucoh.suite.declaration import workload
from gpucoh.suite.synchronisation import BARRIER_WORDS, grid_barrier

UNREACHED = -1


def visit_kernel(load: Any, store: Any) -> lang.Kernel:
    """The first kernel of a level of ``bfs`` with one kind of accesses that race."""

    @lang.kernel
    def visit_neighbours(
        records: ReadOnlyI32,
        columns: ReadOnlyI32,
        frontier: lang.Buffer[lang.i32],
        updating: lang.Buffer[lang.i32],
        visited: lang.Buffer[lang.i32],
        distance: lang.Buffer[lang.i32],
        vertices: lang.i32,
    ) -> None:
        """Mark the neighbours of a vertex of the frontier that are not visited."""
        vertex = lang.global_id()
        if vertex < vertices and frontier[vertex] != 0:
            frontier[vertex] = 0
            first = records[2 * vertex]
            for edge in range(first, first + records[2 * vertex + 1]):
                neighbour = columns[edge]
                if visited[neighbour] == 0:
                    store(distance, neighbour, load(distance, vertex) + 1)
                    store(updating, neighbour, 1)

    return visit_neighbours


def advance_kernel(load: Any, store: Any) -> lang.Kernel:
    """The second kernel of a level of ``bfs`` with one kind of accesses that race."""

    @lang.kernel
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

    return advance_frontier


VISIT = {races: visit_kernel(*accesses) for races, accesses in RACING.items()}
ADVANCE = {races: advance_kernel(*accesses) for races, accesses in RACING.items()}


# A vertex's own thread writes `visited` in the second phase and others read it in the first;
# `updating` is the other way round. Barriers of the grid, or launches, order both, so plain accesses
# suffice where one thread writes. Several threads may set one element of `updating`, `distance`
# and `more` concurrently: relaxed.
@lang.device
def visit(
    records: ReadOnlyI32,
    columns: ReadOnlyI32,
    frontier: lang.Buffer[lang.u8],
    updating: lang.Buffer[lang.u8],
    visited: lang.Buffer[lang.u8],
    distance: lang.Buffer[lang.i32],
    vertex: lang.i32,
) -> None:
    """First phase for one vertex: mark its neighbours that are not visited."""
    if frontier[vertex] != 0:
        frontier[vertex] = 0
        first = records[2 * vertex]
        for edge in range(first, first + records[2 * vertex + 1]):
            neighbour = columns[edge]
            if visited[neighbour] == 0:
                cost = lang.load(distance, vertex, order="relaxed", scope="gpu") + 1
                lang.store(distance, neighbour, cost, order="relaxed", scope="gpu")
                lang.store(updating, neighbour, 1, order="relaxed", scope="gpu")


@lang.device
def advance(
    frontier: lang.Buffer[lang.u8],
    updating: lang.Buffer[lang.u8],
    visited: lang.Buffer[lang.u8],
    more: lang.Buffer[lang.i32],
    flag: lang.i32,
    vertex: lang.i32,
) -> None:
    """Second phase for one vertex: enter a marked vertex in the frontier, and set ``more[flag]``."""
    if lang.load(updating, vertex, order="relaxed", scope="gpu") != 0:
        frontier[vertex] = 1
        visited[vertex] = 1
        lang.store(more, flag, 1, order="relaxed", scope="gpu")
        updating[vertex] = 0


# Threads of any block mark a vertex while its own reads or clears the mark, so all accesses to the vectors are
# relaxed. A record is read again for each edge: the original's compiler cannot know that the stores leave it alone.
@lang.kernel
def expand_mask(
    records: ReadOnlyI32,
    columns: ReadOnlyI32,
    mask: lang.Buffer[lang.u8],
    visited: lang.Buffer[lang.u8],
    distance: lang.Buffer[lang.i32],
    more: lang.Buffer[lang.u8],
    vertices: lang.i32,
) -> None:
    """Mark the neighbours of the marked vertices that are not visited; ``more`` is set if there is one."""
    vertex = lang.global_id()
    if vertex < vertices and lang.load(mask, vertex, order="relaxed", scope="gpu") != 0:
        lang.store(mask, vertex, 0, order="relaxed", scope="gpu")
        lang.store(visited, vertex, 1, order="relaxed", scope="gpu")
        edge = records[2 * vertex]
        while edge < records[2 * vertex] + records[2 * vertex + 1]:
            neighbour = columns[edge]
            if lang.load(visited, neighbour, order="relaxed", scope="gpu") == 0:
                cost = lang.load(distance, vertex, order="relaxed", scope="gpu") + 1
                lang.store(distance, neighbour, cost, order="relaxed", scope="gpu")
                lang.store(mask, neighbour, 1, order="relaxed", scope="gpu")
                lang.store(more, 0, 1, order="relaxed", scope="gpu")
            edge += 1


# `more` has two slots: the second phase clears that of the next level, after every block has read
# it for the previous level.
@lang.kernel
def bfs_masked(
    records: ReadOnlyI32,
    columns: ReadOnlyI32,
    frontier: lang.Buffer[lang.u8],
    updating: lang.Buffer[lang.u8],
    visited: lang.Buffer[lang.u8],
    distance: lang.Buffer[lang.i32],
    more: lang.Buffer[lang.i32],
    arrived: lang.Buffer[lang.i32],
    vertices: lang.i32,
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
        for vertex in range(first, vertices, stride):
            visit(records, columns, frontier, updating, visited, distance, vertex)
        target += lang.grid_dim()
        grid_barrier(arrived, target)
        if first == 0:
            lang.store(more, (level + 1) % 2, 0, order="relaxed", scope="gpu")
        for vertex in range(first, vertices, stride):
            advance(frontier, updating, visited, more, level % 2, vertex)
        target += lang.grid_dim()
        grid_barrier(arrived, target)
        # An atomic, so that all blocks read one value and leave together even if loads may be
        # stale.
        if lang.thread_id() == 0:
            again[0] = lang.atomic_or(more, level % 2, 0, order="relaxed", scope="gpu")
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


FORMAT = Parameter(
    name="format",
    kind="choice",
    choices=graph_files.FORMATS,
    defaults="auto",
    text="format of the graph file: mtx, edges, metis, dimacs; auto recognises it (docs/graphs.md)",
)


def read_graph(setting: Setting, path: str, *, directed: bool) -> inputs.Graph:
    """The graph of a file."""
    return graph_files.read_graph(path, directed=directed, form=setting.choice("format"))


def graph_parameters(
    generator: str = "kronecker", small: int = 13, paper: int = 17
) -> tuple[Parameter, ...]:
    """The parameters of every graph workload, with the defaults of generator and ``levels``."""
    return (
        Parameter(
            name="graph",
            kind="file",
            defaults=None,
            text=f"{graph_files.ALLOWED}; default: `generator` makes the graph",
        ),
        FORMAT,
        Parameter(
            name="directed",
            kind="bool",
            defaults=False,
            text="whether the file's edges are directed",
        ),
        Parameter(
            name="generator",
            kind="choice",
            choices=("kronecker", "grid", "uniform"),
            defaults=generator,
            text="Graph500 Kronecker graph, 2-D grid, or random graph of Rodinia's generator",
        ),
        Parameter(
            name="levels",
            kind="int",
            minimum=1,
            maximum=24,
            defaults={"tiny": 9, "small": small, "paper": paper},
            text="log2 of the number of generated vertices",
        ),
        Parameter(
            name="edge_factor",
            kind="int",
            minimum=1,
            maximum=64,
            defaults={"tiny": 4, "small": 8, "paper": 16},
            text="Kronecker: undirected edges drawn per vertex",
        ),
        Parameter(
            name="source",
            kind="int",
            minimum=-1,
            defaults=-1,
            text="start vertex; -1: the first vertex with the most neighbours",
        ),
    )


def make_graph(setting: Setting) -> inputs.Graph:
    """The graph that the parameters of :func:`graph_parameters` describe."""
    path = setting.file_instead("graph", "generator", "levels", "edge_factor")
    if path is not None:
        return read_graph(setting, path, directed=setting.flag("directed"))
    for name in ("directed", "format"):
        if setting.params[name] not in (False, "auto"):
            raise setting.refuse(
                f"parameter {name} applies to a file's edges; allowed: with graph=FILE"
            )
    levels = setting.integer("levels")
    if setting.choice("generator") == "grid":
        return inputs.grid_graph(1 << (levels // 2), 1 << (levels - levels // 2))
    if setting.choice("generator") == "uniform":
        return inputs.uniform_graph(1 << levels, setting.rng())
    return inputs.kronecker(levels, setting.integer("edge_factor"), setting.rng())


@dataclass(frozen=True)
class Search:
    """A graph, the start vertex, and the expected distances."""

    graph: inputs.Graph
    source: int
    expected: NDArray[np.int32]

    @classmethod
    def prepare(cls, setting: Setting) -> Search:
        """From checked parameters."""
        graph = make_graph(setting)
        source = setting.integer("source")
        if source >= graph.vertices:
            raise setting.refuse(
                f"parameter source is {source}; allowed: -1 to {graph.vertices - 1}, "
                f"the vertices of {graph.name}"
            )
        if source < 0:
            source = int(np.argmax(graph.degrees()))
        return cls(graph, source, reference_distances(graph, source))

    @property
    def depth(self) -> int:
        """The largest distance."""
        return int(self.expected.max())

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


@dataclass(frozen=True)
class LevelSearch:
    """``bfs`` on one input."""

    search: Search
    block: int
    races: str

    @classmethod
    def prepare(cls, setting: Setting) -> LevelSearch:
        """From checked parameters."""
        races = setting.choice("races")
        return cls(Search.prepare(setting), setting.integer("block"), races)

    def run(self, gpu: GpuLike) -> Outcome:
        """Two launches per level until the word that the host clears stays clear."""
        graph = self.search.graph
        mask = np.zeros(graph.vertices, np.int32)
        mask[self.search.source] = 1
        records = gpu.array(np.stack([graph.offsets[:-1], graph.degrees()], axis=1).ravel())
        columns = gpu.array(graph.columns if graph.edges else np.zeros(1, np.int32))
        frontier, updating = gpu.array(mask), gpu.zeros(graph.vertices, np.int32)
        visited, distance = gpu.array(mask), gpu.array(self.search.start())
        more = gpu.zeros(1, np.int32)
        level = 0
        # A level beyond the deepest finds nothing new; a wrong run that continues is stopped
        # there.
        while level <= self.search.depth + 1:
            more[:] = 0
            steps = (
                (VISIT, (records, columns, frontier, updating, visited, distance)),
                (ADVANCE, (frontier, updating, visited, more)),
            )
            for kernels, args in steps:
                gpu.launch(
                    kernels[self.races],
                    grid=blocks_for(graph.vertices, self.block),
                    block=self.block,
                    args=(*args, graph.vertices),
                    placement="static",
                )
            level += 1
            if int(more.numpy()[0]) == 0:
                break
        return self.search.check(distance.numpy(), level)


@dataclass(frozen=True)
class MaskedSearch:
    """``bfs-mask`` on one input."""

    search: Search
    block: int
    blocks_per_core: int
    one_launch: bool

    @classmethod
    def prepare(cls, setting: Setting) -> MaskedSearch:
        """From checked parameters."""
        return cls(
            Search.prepare(setting),
            setting.integer("block"),
            setting.integer("blocks_per_core"),
            setting.flag("one_launch"),
        )

    def run(self, gpu: GpuLike) -> Outcome:
        """By levels, or at once."""
        graph = self.search.graph
        records = np.stack([graph.offsets[:-1], graph.degrees()], axis=1)
        edges = gpu.array(graph.columns if graph.edges else np.zeros(1, np.int32))
        fixed = gpu.array(records.ravel()), edges
        if self.one_launch:
            return self.run_at_once(gpu, fixed)
        return self.run_by_levels(gpu, fixed)

    def masks(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """A byte for each vertex: 1 for the source only; 0 for all."""
        mask = np.zeros(self.search.graph.vertices, np.uint8)
        mask[self.search.source] = 1
        return mask, np.zeros_like(mask)

    def run_by_levels(self, gpu: GpuLike, fixed: tuple[Any, Any]) -> Outcome:
        """A launch for each level, until one finds nothing new; a wrong run that continues is stopped."""
        search, graph = self.search, self.search.graph
        mask, visited = map(gpu.array, self.masks())
        distance, more = gpu.array(search.start()), gpu.zeros(1, np.uint8)
        launches = 0
        going = 1
        while going != 0 and launches < 2 * search.depth + 4:
            more[:] = 0
            gpu.launch(
                expand_mask,
                grid=blocks_for(graph.vertices, self.block),
                block=self.block,
                args=(*fixed, mask, visited, distance, more, graph.vertices),
            )
            launches += 1
            going = int(more.numpy()[0])
        return search.check_walks(distance.numpy(), launches)

    def run_at_once(self, gpu: GpuLike, fixed: tuple[Any, Any]) -> Outcome:
        """One launch of a grid that is resident as a whole."""
        search, graph = self.search, self.search.graph
        mask, updating = self.masks()
        gpu.launch(
            bfs_masked,
            grid=gpu.machine.cores * self.blocks_per_core,
            block=self.block,
            args=(
                *fixed,
                gpu.array(mask),
                gpu.array(updating),
                gpu.array(mask),
                distance := gpu.array(search.start()),
                gpu.zeros(2, np.int32),
                gpu.zeros(BARRIER_WORDS, np.int32),
                graph.vertices,
                search.depth + 2,
            ),
        )
        return search.check(distance.numpy(), search.depth + 1)


BLOCK_SIZE = scaled("block", 32, 1024, 128, 512, 512, "threads per block")
MASK_BLOCK_SIZE = scaled("block", 32, 1024, 128, 256, 256, "threads per block")

REGISTRY.add(
    workload(
        LevelSearch,
        id="bfs",
        title="level-synchronous breadth-first search, two launches and a host word per level",
        group="N",
        papers=("Q",),
        needs_coherence=False,
        check="distances equal scipy's",
        parameters=(*graph_parameters("uniform", small=13, paper=16), BLOCK_SIZE, RACES),
    )
)

REGISTRY.add(
    workload(
        MaskedSearch,
        id="bfs-mask",
        title="breadth-first search by one mask that all threads share, a launch per level",
        group="IN",
        papers=("R",),
        needs_coherence=True,
        check="the vertices of scipy's search are reached, none at less than its distance",
        parameters=(
            *graph_parameters("uniform", small=15, paper=16),
            MASK_BLOCK_SIZE,
            Parameter(
                name="blocks_per_core",
                kind="int",
                minimum=1,
                maximum=8,
                defaults={"tiny": 1, "small": 6, "paper": 6},
                text="blocks per core with one_launch; all must be resident; 6 of 256 threads fill 48 warps",
            ),
            Parameter(
                name="one_launch",
                kind="bool",
                defaults=False,
                text="whether one launch does all levels, in two phases with grid barriers",
            ),
        ),
    )
)
