"""Lengths of the shortest paths between all pairs of vertices: ``fw`` by the algorithm of Floyd and Warshall (STC),
``apsp`` by relaxation from all sources (QuickRelease).

``fw``. Original: fw of Pannotia (OpenCL), unblocked. As there: a launch for each intermediate vertex ``k``, from 1,
of 16 x 16 threads a block; dimension 0 of the threads runs over rows, so that neighbouring lanes touch
different lines; the matrix of lengths is updated in place, and where a path becomes shorter, ``k`` is stored in a
second one. Paper scale is its input of 512 vertices and 65,536 arcs (STC states none); arcs are drawn at
random with weights 1 to 100 here. With ``lanes=columns`` dimension 0 runs over columns, so that
neighbouring lanes share lines: STC's section 6 bounds what a workload loses without L1s, and over
rows this one loses more.

Launch ``k`` changes neither row nor column ``k``, whose element on the diagonal is 0, so that threads do
not race, although each reads words that others could write.

``apsp``. QuickRelease's authors wrote it: single-source steps are repeated until all pairs have converged, in many
launches, between which the host looks whether anything changed; load-acquires see the updates of others as soon as
store-releases have published them, so that the number of launches depends on how early that is. The rest is inferred: a
pair of source and vertex a thread, 256 a block; it takes the least over the arcs that end at the vertex; a random
graph of 256 vertices with 8 arcs each and weights 1 to 100. Arcs are stored by place, the first arcs of all vertices
before the second ones, so that neighbouring lanes read neighbouring words: section 5.3 gives ``wt`` a hit rate of 0%.
With ``layout=vertex``, a second reading, the arcs of a vertex lie in a row, and lanes read where the next one begins.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.base.late import LATE_IMPORT
from gpucoh.suite.base import GpuLike, Outcome, Refused, blocks_for, choice, combine, compare, whole
from gpucoh.suite.buffers import PLACEMENT_SEED, RACES, RACING, ReadOnlyI32, place
from gpucoh.suite.declaration import workload

TILE = 16
UNREACHED = 999999  # length where there is no path


LANES = choice(
    "what neighbouring lanes differ by: columns, whose words share lines; or rows, as in the original",
    ("columns", "rows"),
    "rows",
)


@lang.device
def dimension_0() -> lang.i32:
    """The dimension over which lanes run."""
    return lang.global_id(0)


@lang.device
def dimension_1() -> lang.i32:
    """The dimension over which waves run."""
    return lang.global_id(1)


# Row and column of a thread for each choice of LANES.
PLACES = {"columns": (dimension_1, dimension_0), "rows": (dimension_0, dimension_1)}


def relax_kernel(load: Any, store: Any, row_of: Any, column_of: Any) -> lang.Kernel:
    """The kernel with one kind of accesses to the lengths, and lanes over rows or columns."""

    @lang.kernel
    def relax_pairs(
        lengths: lang.Buffer[lang.i32],
        through: lang.Buffer[lang.i32],
        vertices: lang.i32,
        k: lang.i32,
    ) -> None:
        """Shorten the path of a thread's pair by way of ``k``."""
        row = row_of()
        column = column_of()
        if row < vertices and column < vertices:
            at = row * vertices + column
            length = load(lengths, row * vertices + k) + load(lengths, k * vertices + column)
            if length < load(lengths, at):
                store(lengths, at, length)
                through[at] = k

    return relax_pairs


KERNELS = {
    (races, lanes): relax_kernel(*accesses, *places)
    for races, accesses in RACING.items()
    for lanes, places in PLACES.items()
}


BLOCK = 256


@lang.device
def arcs_by_place(ends: ReadOnlyI32, vertex: lang.i32) -> tuple[lang.i32, lang.i32]:
    """The first arc that ends at a vertex, and the end of them: ``ends`` has the number of all arcs."""
    return vertex, vertex + ends[0]


@lang.device
def arcs_by_vertex(ends: ReadOnlyI32, vertex: lang.i32) -> tuple[lang.i32, lang.i32]:
    """The same; ``ends`` has where the arcs of each vertex begin."""
    return ends[vertex], ends[vertex + 1]


def arcs_kernel(arcs_of: Any) -> lang.Kernel:
    """The kernel of one layout."""

    @lang.kernel
    def relax_arcs(
        ends: ReadOnlyI32,
        starts: ReadOnlyI32,
        weights: ReadOnlyI32,
        lengths: lang.Buffer[lang.i32],
        more: lang.Buffer[lang.i32],
        vertices: lang.i32,
        step: lang.i32,
    ) -> None:
        """Shorten the path of a thread's pair by way of its last arc; ``more`` is set if it became shorter."""
        pair = lang.global_id()
        if pair < vertices * vertices:
            vertex = pair % vertices
            row = pair - vertex
            own = lang.load(lengths, pair, order="acquire", scope="gpu")
            best = own
            first, end = arcs_of(ends, vertex)
            for arc in range(first, end, step):
                length = lang.load(lengths, row + starts[arc], order="acquire", scope="gpu")
                best = lang.min(best, length + weights[arc])
            if best < own:
                lang.store(lengths, pair, best, order="release", scope="gpu")
                lang.store(more, 0, 1, order="relaxed", scope="gpu")

    return relax_arcs


BY_LAYOUT = {"place": arcs_kernel(arcs_by_place), "vertex": arcs_kernel(arcs_by_vertex)}


def check_paths(
    lengths: NDArray[np.int32], found: NDArray[np.int32], through: NDArray[np.int32]
) -> Outcome:
    """Compare lengths with scipy's; a path by way of a vertex is as long as its parts."""
    with LATE_IMPORT:
        import scipy.sparse.csgraph
    given = np.where(lengths == UNREACHED, 0, lengths).astype(np.float64)
    expected = scipy.sparse.csgraph.floyd_warshall(scipy.sparse.csr_matrix(given))
    expected = np.where(np.isinf(expected), UNREACHED, expected).astype(np.int32)
    row, column = np.nonzero(through)
    by = through[row, column]
    return combine(
        compare("length", found, expected, details={"vertices": len(found)}),
        compare("path", found[row, by] + found[by, column], found[row, column]),
    )


@workload(
    id="fw",
    group="N",
    papers="S",
    check="lengths equal scipy's; each path that was shortened is as long as its two parts",
)
def all_pairs(
    gpu: GpuLike,
    rng: Generator,
    vertices: int = whole("number of vertices", 2, 4096, 16, 128, 512),
    arcs: int = whole("arcs with a weight, drawn at random", 0, 1 << 24, 60, 4096, 65536),
    races: str = RACES,
    lanes: str = LANES,
    placement_seed: int = PLACEMENT_SEED,
) -> Outcome:
    """shortest paths of all pairs in place, a launch for each vertex

    A random graph; no arc at vertex 0, by way of which the original looks for no path. A launch for each
    intermediate vertex.
    """
    if arcs > (vertices - 1) ** 2:
        raise Refused(
            f"parameter arcs is {arcs}; allowed: up to {(vertices - 1) ** 2} with vertices={vertices}"
        )
    inner = np.full((vertices - 1) ** 2, UNREACHED, np.int32)
    inner[rng.choice(inner.size, arcs, replace=False)] = rng.integers(1, 101, arcs)
    lengths = np.full((vertices, vertices), UNREACHED, np.int32)
    lengths[1:, 1:] = inner.reshape(vertices - 1, -1)
    np.fill_diagonal(lengths, 0)
    tiles = blocks_for(vertices, TILE)
    zeros = vertices * vertices, np.int32
    shortened, through = place(gpu, placement_seed, lengths.ravel(), zeros)
    for k in range(1, vertices):
        gpu.launch(
            KERNELS[races, lanes],
            grid=(tiles, tiles),
            block=(TILE, TILE),
            args=(shortened, through, vertices, k),
        )
    found = shortened.numpy().reshape(lengths.shape)
    return check_paths(lengths, found, through.numpy().reshape(found.shape))


@workload(id="apsp", group="I", papers="Q", check="lengths equal scipy's")
def relaxation(
    gpu: GpuLike,
    rng: Generator,
    vertices: int = whole("number of vertices", 2, 1024, 16, 64, 256),
    arcs: int = whole("arcs that end at each vertex", 1, 64, 3, 8, 8),
    layout: str = choice(
        "arcs that lie in a row: the first ones of all vertices, or those of a vertex",
        ("place", "vertex"),
        "place",
    ),
) -> Outcome:
    """shortest paths of all pairs by load-acquire and store-release, launches until they converge

    A random graph in which equally many arcs end at every vertex. Launches until the word that the host clears
    stays clear.
    """
    if arcs > vertices:
        raise Refused(f"parameter arcs is {arcs}; allowed: up to {vertices}, the vertices")
    chosen = [rng.choice(vertices, arcs, replace=False) for _ in range(vertices)]
    weights = rng.integers(1, 101, (vertices, arcs), dtype=np.int32)
    starts = np.array(chosen, np.int32)
    with LATE_IMPORT:
        import scipy.sparse.csgraph
    ends = np.repeat(np.arange(vertices), arcs)
    matrix = np.full((vertices, vertices), np.inf)
    matrix[starts.ravel(), ends] = weights.ravel()
    np.fill_diagonal(matrix, 0)
    graph = scipy.sparse.csgraph.csgraph_from_dense(matrix, null_value=np.inf)
    expected = scipy.sparse.csgraph.dijkstra(graph)
    expected = np.where(np.isinf(expected), UNREACHED, expected).astype(np.int32)
    start = np.full((vertices, vertices), UNREACHED, np.int32)
    np.fill_diagonal(start, 0)
    by_vertex = layout == "vertex"
    places = np.arange(vertices + 1) * arcs if by_vertex else np.array([vertices * arcs])
    order: Literal["C", "F"] = "C" if by_vertex else "F"
    arrays = places.astype(np.int32), starts.ravel(order), weights.ravel(order)
    arc_ends, arc_starts, arc_weights = (gpu.array(one) for one in arrays)
    lengths, more = gpu.array(start.ravel()), gpu.zeros(1, np.int32)
    launches = 0
    while launches <= vertices:  # a path has fewer arcs; a wrong run is stopped there
        more[:] = 0
        gpu.launch(
            BY_LAYOUT[layout],
            grid=blocks_for(vertices * vertices, BLOCK),
            block=BLOCK,
            args=(
                arc_ends,
                arc_starts,
                arc_weights,
                lengths,
                more,
                vertices,
                1 if by_vertex else vertices,
            ),
        )
        launches += 1
        if int(more.numpy()[0]) == 0:
            break
    details = {"vertices": vertices, "arcs": vertices * arcs, "launches": launches}
    found = lengths.numpy().reshape(expected.shape)
    return compare("length", found, expected, details=details)
