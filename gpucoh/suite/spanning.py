"""``mst``: a minimum spanning tree, by Boruvka's algorithm on a union-find forest.

Original: mst of LonestarGPU (CUDA), which LRM-GPU (HPCA 2026) runs on USA-road-d.NY. As there: five launches a round
until one joins no components. The first clears the round's vectors; the second finds the lightest edge of each
vertex to another component, and the least of a component by an atomic; the third makes one of the vertices that
have it the component's, by a compare-and-swap; the fourth marks these vertices. The fifth, on all threads that are
resident, joins the components of the marked vertices: it finds both ends' components, waits at a barrier of the grid,
joins them by a compare-and-swap at the higher root, and waits again; it is launched again until no thread was too late
at its root. Every search for a root stores what it found at the vertex: these accesses race in the original, as do a
component's least weight and the words for the host; here they are relaxed. Roots are tested by a compare-and-swap where
components are joined. A vertex reads its neighbours only where an edge is lighter than the lightest so far.

Paper scale has the size of USA-road-d.NY, 264,346 vertices and 365,050 edges: of a grid the edges of a random spanning
tree, and more at random up to 1.38 edges a vertex; weights are drawn. The original's grid barrier has a flag for each
block; this one is a counter (:mod:`gpucoh.suite.synchronisation`).
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
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, combine, compare, whole
from gpucoh.suite.buffers import Adjacency, ReadOnlyI32
from gpucoh.suite.declaration import workload
from gpucoh.suite.synchronisation import BARRIER_WORDS, grid_barrier

INFINITY = 1 << 30
HEAVIEST = 4096
DENSITY = 1.381  # edges a vertex: 365,050 / 264,346
NEVER = -1
STEPS = 64  # more than rounds


@lang.record
class Round:
    """Of each vertex: its lightest edge outwards, where that leads, the lightest of its component and the vertex that
    has it, and whether the vertex joins components.
    """

    lightest: lang.Buffer[lang.i32]
    partners: lang.Buffer[lang.i32]
    least: lang.Buffer[lang.i32]
    chosen: lang.Buffer[lang.i32]
    joins: lang.Buffer[lang.u8]


@lang.record
class Totals:
    """The tree's weight, the number of components, and whether a thread came too late to join two."""

    weight: lang.Buffer[lang.i32]
    components: lang.Buffer[lang.i32]
    again: lang.Buffer[lang.i32]


@lang.device
def root_of(parents: lang.Buffer[lang.i32], vertex: lang.i32) -> lang.i32:
    """The root of a vertex, which is stored as its parent."""
    at = vertex
    above = lang.load(parents, at, order="relaxed", scope="gpu")
    while above != at:
        at = above
        above = lang.load(parents, at, order="relaxed", scope="gpu")
    lang.store(parents, vertex, at, order="relaxed", scope="gpu")
    return at


@lang.device
def is_root(parents: lang.Buffer[lang.i32], vertex: lang.i32) -> lang.i32:
    """Whether a vertex is a root now."""
    found = lang.atomic_cas(parents, vertex, vertex, vertex, order="relaxed", scope="gpu")
    return lang.i32(found == vertex)


@lang.device
def join(parents: lang.Buffer[lang.i32], one: lang.i32, other: lang.i32) -> lang.i32:
    """Put the higher of two roots under the lower, and return whether both were roots."""
    joined = 0
    if is_root(parents, one) != 0 and is_root(parents, other) != 0:
        low, high = lang.min(one, other), lang.max(one, other)
        found = lang.atomic_cas(parents, high, high, low, order="relaxed", scope="gpu")
        joined = lang.i32(found == high)
    return joined


@lang.kernel
def clear_round(of: Round, vertices: lang.i32) -> None:
    """No vertex has an edge."""
    vertex = lang.global_id()
    if vertex < vertices:
        of.lightest[vertex] = INFINITY
        of.least[vertex] = INFINITY
        of.chosen[vertex] = NEVER
        of.partners[vertex] = vertex
        of.joins[vertex] = 0


@lang.kernel
def find_lightest(
    edges: Adjacency, weights: ReadOnlyI32, parents: lang.Buffer[lang.i32], of: Round
) -> None:
    """The lightest edge of each vertex to another component, and of each component."""
    vertex = lang.global_id()
    if vertex < edges.vertices:
        own = root_of(parents, vertex)
        partner = NEVER
        lightest = INFINITY
        for edge in range(edges.offsets[vertex], edges.offsets[vertex + 1]):
            weight = weights[edge]
            if weight < lightest:
                root = root_of(parents, edges.columns[edge])
                if root != own:
                    lightest = weight
                    partner = root
        of.lightest[vertex] = lightest
        of.partners[vertex] = partner
        if lightest < lang.load(of.least, own, order="relaxed", scope="gpu"):
            lang.atomic_min(of.least, own, lightest, order="relaxed", scope="gpu")


@lang.kernel
def choose_vertex(
    edges: Adjacency, weights: ReadOnlyI32, parents: lang.Buffer[lang.i32], of: Round
) -> None:
    """Of the vertices that have a component's lightest edge, the first to come is the component's."""
    vertex = lang.global_id()
    if vertex < edges.vertices:
        own = root_of(parents, vertex)
        lightest = of.lightest[vertex]
        partner = of.partners[vertex]
        if lightest == of.least[own] and partner != NEVER and partner != own:
            for edge in range(edges.offsets[vertex], edges.offsets[vertex + 1]):
                if weights[edge] == lightest and root_of(parents, edges.columns[edge]) == partner:
                    lang.atomic_cas(of.chosen, own, NEVER, vertex, order="relaxed", scope="gpu")


@lang.kernel
def mark_chosen(
    edges: Adjacency, weights: ReadOnlyI32, parents: lang.Buffer[lang.i32], of: Round
) -> None:
    """Each root marks its component's vertex, once it has found the edge there."""
    root = lang.global_id()
    if root < edges.vertices and lang.load(parents, root, order="relaxed", scope="gpu") == root:
        vertex = of.chosen[root]
        if vertex != NEVER:
            edge = edges.offsets[vertex]
            end = edges.offsets[vertex + 1]
            while edge < end:
                if weights[edge] == of.least[root]:
                    found = root_of(parents, edges.columns[edge])
                    if found == of.partners[vertex] and found != root:
                        of.joins[vertex] = 1
                        edge = end
                edge += 1


@lang.kernel
def join_components(
    parents: lang.Buffer[lang.i32],
    of: Round,
    totals: Totals,
    arrived: lang.Buffer[lang.i32],
    vertices: lang.i32,
) -> None:
    """Join the components of marked vertices with their partners'."""
    target = 0
    for base in range(0, vertices, lang.grid_dim() * lang.block_dim()):
        vertex = base + lang.global_id()
        own = 0
        other = 0
        if vertex < vertices and of.joins[vertex] != 0:
            own = root_of(parents, vertex)
            other = root_of(parents, of.partners[vertex])
        target += lang.grid_dim()
        grid_barrier(arrived, target)
        if own != other:
            if join(parents, own, other) != 0:
                lang.atomic_add(totals.weight, 0, of.lightest[vertex], order="relaxed", scope="gpu")
                lang.atomic_sub(totals.components, 0, 1, order="relaxed", scope="gpu")
                of.joins[vertex] = 0
                of.lightest[vertex] = INFINITY
            else:
                lang.store(totals.again, 0, 1, order="relaxed", scope="gpu")
        target += lang.grid_dim()
        grid_barrier(arrived, target)


@dataclass(frozen=True)
class Roads:
    """A graph with the weight of each of its directed edges, and the weight and components of its spanning forest."""

    graph: inputs.Graph
    weights: NDArray[np.int32]
    weight: int
    components: NDArray[np.int32]  # of each vertex: the least vertex that is connected to it


def roads_of(graph: inputs.Graph, weights: NDArray[np.int32]) -> Roads:
    """The graph with its reference; ``weights`` are those of ``graph.columns``, equal in both directions."""
    with LATE_IMPORT:
        import scipy.sparse.csgraph as csgraph
    matrix = graph.matrix()
    matrix.data = weights.astype(np.float64)
    weight = int(csgraph.minimum_spanning_tree(matrix).sum())
    _, labels = csgraph.connected_components(matrix, directed=False)
    _, first = np.unique(labels, return_index=True)
    return Roads(graph, weights, weight, first[labels].astype(np.int32))


def thinned(grid: inputs.Graph, rng: Generator) -> inputs.Graph:
    """The edges of a random spanning tree of a grid, and more at random up to the density of roads."""
    with LATE_IMPORT:
        import scipy.sparse
        import scipy.sparse.csgraph as csgraph
    count = grid.vertices
    rows = np.repeat(np.arange(count), grid.degrees())
    once = rows < grid.columns
    ends = rows[once], grid.columns[once]
    order = rng.permutation(ends[0].size) + 1.0
    tree = csgraph.minimum_spanning_tree(scipy.sparse.csr_matrix((order, ends), (count, count)))
    kept = np.isin(order, tree.data)
    others = rng.permutation(np.flatnonzero(~kept))
    kept[others[: max(0, round(DENSITY * count) - (count - 1))]] = True
    name = f"roads on {grid.name}"
    return inputs.graph_from_edges(ends[0][kept], ends[1][kept], count, directed=False, name=name)


def roads(
    rng: Generator,
    rows: int = whole("rows of the grid", 1, 4096, 16, 96, 514),
    columns: int = whole("columns of the grid", 1, 4096, 16, 96, 514),
) -> Roads:
    """A grid with the density of roads, and random weights."""
    graph = thinned(inputs.grid_graph(rows, columns), rng)
    start = np.repeat(np.arange(graph.vertices), graph.degrees())
    low, high = np.minimum(start, graph.columns), np.maximum(start, graph.columns)
    pairs, of = np.unique(low * graph.vertices + high, return_inverse=True)
    drawn = rng.integers(1, HEAVIEST + 1, pairs.size, dtype=np.int32)
    return roads_of(graph, drawn[of])


def roots_of(parents: NDArray[np.int32]) -> NDArray[np.int32]:
    """The root of each vertex; of parents that are in a circle, one of them."""
    for _ in range(parents.size.bit_length()):
        parents = parents[parents]
    return parents


@workload(
    id="mst",
    group="I",
    check="the tree's weight equals that of scipy's, and vertices have one root where edges connect them",
    input=roads,
)
def spanning_tree(
    gpu: GpuLike,
    given: Roads,
    block: int = whole("threads per block", 32, 1024, 32, 256, 256),
    joining: int = whole("threads per block that joins components", 32, 1024, 32, 384, 384),
    blocks_per_core: int = whole(
        "blocks per core that join components; all must be resident; 4 of 384 threads fill 48 warps",
        1,
        8,
        1,
        4,
        4,
    ),
) -> Outcome:
    """minimum spanning tree: the lightest edge of each component, joined between grid barriers by compare-and-swap"""
    graph = given.graph
    count = graph.vertices
    none = np.zeros(1, np.int32)
    columns, weights = (
        gpu.array(words if graph.edges else none) for words in (graph.columns, given.weights)
    )
    edges = Adjacency(gpu.array(graph.offsets), columns, count)
    parents = gpu.array(np.arange(count, dtype=np.int32))
    lightest, partners, least, chosen = (gpu.zeros(count, np.int32) for _ in range(4))
    of = Round(lightest, partners, least, chosen, gpu.zeros(count, np.uint8))
    weight, components, again = gpu.zeros(1, np.int32), gpu.array([count]), gpu.zeros(1, np.int32)
    totals = Totals(weight, components, again)

    def launch(kernel: lang.Kernel, *args: Any) -> None:
        gpu.launch(kernel, grid=blocks_for(count, block), block=block, args=args)

    grid = min(gpu.machine.cores * blocks_per_core, blocks_for(count, joining))
    before, left = count + 1, count
    rounds = launches = 0
    while left != before:
        launch(clear_round, of, count)
        for kernel in (find_lightest, choose_vertex, mark_chosen):
            launch(kernel, edges, weights, parents, of)
        going = True
        while going and launches < count + STEPS:  # a wrong run is stopped there
            again[:] = 0
            gpu.launch(
                join_components,
                grid=grid,
                block=joining,
                args=(parents, of, totals, gpu.zeros(BARRIER_WORDS, np.int32), count),
            )
            launches += 1
            going = bool(again.numpy()[0])
        before, left = left, int(components.numpy()[0])
        rounds += 1
    details = {
        "graph": graph.name,
        "vertices": count,
        "edges": graph.edges // 2,
        "rounds": rounds,
        "joins": launches,
    }
    return combine(
        compare("weight", weight.numpy(), [given.weight], details=details),
        compare("root", roots_of(parents.numpy()), given.components),
    )
