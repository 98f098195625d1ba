"""``bc``: betweenness centrality of the vertices of a directed graph.

Original: bc of Pannotia (OpenCL). As there: 128 threads a block, a vertex a thread, rows of compressed
adjacency of the graph and of its transpose. For each source there is a launch that clears the vectors, one that
clears a matrix of vertices x vertices that nothing else uses, a launch for each level forwards, after
which the host reads the word that it cleared, and as many launches backwards. Distances and that word
are stored by several threads and loaded by others: these accesses race. Sums are a load and a loop of
compare-and-swap. Paper scale is its smaller input, 1,024 vertices and 131,072 arcs (STC states none);
the arcs are drawn at random here.

What differs, and why: a compare-and-swap takes integers, so that the count of paths is one, and a
dependency is one of 65536ths. The compare-and-swap of OpenCL 1.2 is relaxed.
With ``atomics=acq_rel`` it is an acquire and a release, as atomics that name no order are in HCC, from
which STC (section 6) has benchmarks: figures 1 and 9 have hits of ``bc`` that acquires cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.base.late import LATE_IMPORT
from gpucoh.suite import inputs
from gpucoh.suite.base import GpuLike, Outcome, Refused, blocks_for, choice, compare, whole
from gpucoh.suite.buffers import PLACEMENT_SEED, RACES, RACING, Adjacency, place
from gpucoh.suite.declaration import workload

BLOCK = 128
UNIT = 65536.0  # a dependency of 1
UNREACHED = -1


@lang.kernel
def clear_score(score: lang.Buffer[lang.f32], vertices: lang.i32) -> None:
    """All centralities are 0."""
    vertex = lang.global_id()
    if vertex < vertices:
        score[vertex] = 0.0


@lang.kernel
def clear_vectors(
    distance: lang.Buffer[lang.i32],
    dependency: lang.Buffer[lang.i32],
    paths: lang.Buffer[lang.i32],
    source: lang.i32,
    vertices: lang.i32,
) -> None:
    """Before a traversal, only the source is reached."""
    vertex = lang.global_id()
    if vertex < vertices:
        dependency[vertex] = 0
        if vertex == source:
            paths[vertex] = 1
            distance[vertex] = 0
        else:
            paths[vertex] = 0
            distance[vertex] = UNREACHED


@lang.kernel
def clear_matrix(matrix: lang.Buffer[lang.i32], words: lang.i32) -> None:
    """The matrix that nothing uses."""
    i = lang.global_id()
    if i < words:
        matrix[i] = 0


ATOMICS = choice("order of the compare-and-swaps that add", ("acq_rel", "relaxed"), "relaxed")


def sum_function(load: Any, order: str) -> Any:
    """The sum in memory with one kind of its first load and one order of its compare-and-swaps."""

    @lang.device
    def swap(sums: lang.Buffer[lang.i32], at: lang.i32, old: lang.i32, new: lang.i32) -> lang.i32:
        return lang.atomic_cas(sums, at, old, new, order=order, scope="gpu")

    @lang.device
    def add(sums: lang.Buffer[lang.i32], index: lang.i32, value: lang.i32) -> None:
        old = load(sums, index)
        found = swap(sums, index, old, old + value)
        while found != old:
            old = found
            found = swap(sums, index, old, old + value)

    return add


def forward_kernel(load: Any, store: Any, order: str) -> lang.Kernel:
    """A level forwards with one kind of accesses that race and of compare-and-swaps."""
    add = sum_function(load, order)

    @lang.kernel
    def search_level(
        arcs: Adjacency,
        distance: lang.Buffer[lang.i32],
        paths: lang.Buffer[lang.i32],
        more: lang.Buffer[lang.i32],
        level: lang.i32,
    ) -> None:
        """Reach the successors of a level's vertex, and add its paths to theirs."""
        vertex = lang.global_id()
        if vertex < arcs.vertices and load(distance, vertex) == level:
            for edge in range(arcs.offsets[vertex], arcs.offsets[vertex + 1]):
                next_one = arcs.columns[edge]
                if load(distance, next_one) < 0:
                    store(more, 0, 1)
                    store(distance, next_one, level + 1)
                if load(distance, next_one) == level + 1:
                    add(paths, next_one, paths[vertex])

    return search_level


def backward_kernel(load: Any, store: Any, order: str) -> lang.Kernel:
    """A level backwards with one kind of accesses that race and of compare-and-swaps."""
    add = sum_function(load, order)

    @lang.kernel
    def track_level(
        arcs: Adjacency,
        distance: lang.Buffer[lang.i32],
        paths: lang.Buffer[lang.i32],
        dependency: lang.Buffer[lang.i32],
        score: lang.Buffer[lang.f32],
        level: lang.i32,
        source: lang.i32,
    ) -> None:
        """Add the share of a level's vertex to its predecessors', and its dependency to its score."""
        vertex = lang.global_id()
        if vertex < arcs.vertices and distance[vertex] == level - 1:
            for edge in range(arcs.offsets[vertex], arcs.offsets[vertex + 1]):
                before = arcs.columns[edge]
                if distance[before] == level - 2:
                    share = lang.f32(paths[before]) / lang.f32(paths[vertex])
                    share = share * (UNIT + lang.f32(dependency[vertex]))
                    add(dependency, before, lang.i32(share + 0.5))
            if vertex != source:
                score[vertex] = score[vertex] + lang.f32(dependency[vertex]) * (1.0 / UNIT)

    return track_level


KINDS = {
    (races, order): (*accesses, order)
    for races, accesses in RACING.items()
    for order in ("acq_rel", "relaxed")
}
FORWARD = {kind: forward_kernel(*accesses) for kind, accesses in KINDS.items()}
BACKWARD = {kind: backward_kernel(*accesses) for kind, accesses in KINDS.items()}


def reference_dependencies(matrix: Any, source: int) -> tuple[NDArray[Any], float, int]:
    """Brandes' algorithm in f64, a level at a time, on a matrix with 1 for each arc from row to column.

    Returns
    -------
    Each vertex's dependency (0 for the source), the largest number of paths, and the number of levels.
    """
    count = matrix.shape[0]
    transposed = matrix.T.tocsr()
    paths = np.zeros(count)
    paths[source] = 1
    levels = [np.arange(count) == source]
    reached = levels[0].copy()
    while levels[-1].any():
        sums = transposed @ np.where(levels[-1], paths, 0)
        levels.append((sums > 0) & ~reached)
        paths[levels[-1]] = sums[levels[-1]]
        reached |= levels[-1]
    dependency = np.zeros(count)
    for before, level in zip(levels[-2::-1], levels[:0:-1], strict=True):
        shares = np.divide(1 + dependency, paths, out=np.zeros(count), where=level)
        dependency += np.where(before, paths * (matrix @ shares), 0)
    dependency[source] = 0
    return dependency, float(paths.max()), len(levels) - 1


@dataclass(frozen=True)
class Traversals:
    """A directed graph and the same with all arcs turned round, and the reference."""

    graph: inputs.Graph
    turned: inputs.Graph
    expected: NDArray[np.float64]
    levels: tuple[int, ...]  # of the traversal from each source


def random_graph(
    rng: Generator,
    vertices: int = whole("number of vertices", 2, 16384, 64, 1024, 1024),
    arcs: int = whole("arcs, drawn at random", 0, 1 << 24, 512, 131072, 131072),
    sources: int = whole(
        "sources of traversals; the original uses all vertices", 1, 16384, 2, 2, 1024
    ),
) -> Traversals:
    """A random directed graph; the sources are its first vertices."""
    most = vertices * (vertices - 1)
    if arcs > most:
        raise Refused(f"parameter arcs is {arcs}; allowed: up to {most} with vertices={vertices}")
    if sources > vertices:
        raise Refused(f"parameter sources is {sources}; allowed: up to {vertices}, the vertices")
    with LATE_IMPORT:
        import scipy.sparse
    places = rng.choice(most, arcs, replace=False)
    start, end = places // (vertices - 1), places % (vertices - 1)
    end = end + (end >= start)
    shape = vertices, vertices
    matrix = scipy.sparse.csr_matrix((np.ones(arcs), (start, end)), shape)
    found = [reference_dependencies(matrix, source) for source in range(sources)]
    if max(paths for _, paths, _ in found) >= 2**31:
        raise Refused(
            f"parameter arcs is {arcs}; allowed: a graph with less than 2**31 shortest paths between two vertices"
        )

    def graph_of(sources: NDArray[Any], targets: NDArray[Any]) -> inputs.Graph:
        return inputs.graph_from_edges(
            sources, targets, vertices, directed=True, name="random graph"
        )

    return Traversals(
        graph_of(start, end),
        graph_of(end, start),
        np.sum([dependency for dependency, _, _ in found], axis=0),
        tuple(levels for _, _, levels in found),
    )


@workload(
    id="bc",
    group="KN",
    papers="S",
    check="centralities equal those of Brandes' algorithm in f64 within 1e-3",
    input=random_graph,
)
def centrality(
    gpu: GpuLike,
    given: Traversals,
    races: str = RACES,
    atomics: str = ATOMICS,
    placement_seed: int = PLACEMENT_SEED,
) -> Outcome:
    """betweenness centrality: a launch per level forwards and backwards from each source"""
    kind = races, atomics
    count = given.graph.vertices
    zeros, none = (count, np.int32), np.zeros(1, np.int32)
    graph, turned = (
        (one.offsets, one.columns if one.edges else none) for one in (given.graph, given.turned)
    )
    offsets, columns, into, before, distance, paths, dependency, matrix, score, more = place(
        gpu,
        placement_seed,
        *graph,
        *turned,
        zeros,
        zeros,
        zeros,
        (count * count, np.int32),
        (count, np.float32),
        (1, np.int32),
    )

    forwards, backwards = Adjacency(offsets, columns, count), Adjacency(into, before, count)

    def launch(kernel: lang.Kernel, *args: Any, threads: int = count) -> None:
        grid = blocks_for(threads, BLOCK)
        gpu.launch(kernel, grid=grid, block=BLOCK, args=args)

    launch(clear_score, score, count)
    for source, depth in enumerate(given.levels):
        launch(clear_vectors, distance, dependency, paths, source, count)
        launch(clear_matrix, matrix, count * count, threads=count * count)
        level = 0
        while level <= depth:  # a wrong run is stopped there
            more[:] = 0
            launch(FORWARD[kind], forwards, distance, paths, more, level)
            level += 1
            if int(more.numpy()[0]) == 0:
                break
        while level:
            launch(BACKWARD[kind], backwards, distance, paths, dependency, score, level, source)
            level -= 1
    details = {"vertices": count, "arcs": given.graph.edges, "levels": max(given.levels)}
    return compare("centrality", score.numpy(), given.expected, tolerance=1e-3, details=details)
