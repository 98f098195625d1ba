"""``pr``: PageRank of the vertices of a graph, by pushing ranks along its edges.

Original: pagerank of Pannotia (OpenCL, HIP), which LRM-GPU (HPCA 2026) runs on coAuthorsDBLP. As there: 256 threads a
block, a vertex a thread, rows of compressed adjacency; a launch that sets the ranks, then 20 times two launches. The
first adds, for each edge, the vertex's rank by its degree to the sum of the other vertex, by an atomic in f32; rank and
quotient are made again for each edge, since the sums might be the ranks. The second makes ranks of the sums by the
damping factor 0.85, and clears the sums.

Paper scale has as many vertices as coAuthorsDBLP, 299,067, and a like distribution of degrees: a power law whose
exponent gives its mean degree, 6.5, with its largest, 336. Edges join vertices at random, so that there are no
communities, as coAuthorsDBLP has; ``graph=FILE`` takes the graph itself. The original damps in f64, here in f32.
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
from gpucoh.suite.buffers import Adjacency
from gpucoh.suite.declaration import workload
from gpucoh.suite.graphs import FORMAT

EXPONENT = 1.78  # of the degrees: 6.5 in the mean, up to 336
DAMPING = 0.85


@lang.kernel
def set_ranks(
    ranks: lang.Buffer[lang.f32], sums: lang.Buffer[lang.f32], vertices: lang.i32
) -> None:
    """All vertices have equal ranks."""
    vertex = lang.global_id()
    if vertex < vertices:
        ranks[vertex] = 1.0 / lang.f32(vertices)
        sums[vertex] = 0.0


@lang.kernel
def push_ranks(edges: Adjacency, ranks: lang.Buffer[lang.f32], sums: lang.Buffer[lang.f32]) -> None:
    """Add a vertex's rank, in equal shares, to the sums of its neighbours."""
    vertex = lang.global_id()
    if vertex < edges.vertices:
        first = edges.offsets[vertex]
        end = edges.offsets[vertex + 1]
        for edge in range(first, end):
            share = ranks[vertex] / lang.f32(end - first)
            lang.atomic_add(sums, edges.columns[edge], share, order="relaxed", scope="gpu")


@lang.kernel
def damp_ranks(
    ranks: lang.Buffer[lang.f32], sums: lang.Buffer[lang.f32], vertices: lang.i32
) -> None:
    """The ranks of the next iteration."""
    vertex = lang.global_id()
    if vertex < vertices:
        ranks[vertex] = (1.0 - DAMPING) / lang.f32(vertices) + DAMPING * sums[vertex]
        sums[vertex] = 0.0


def reference_ranks(graph: inputs.Graph, iterations: int) -> NDArray[np.float64]:
    """The ranks in f64; shape ``(vertices,)``."""
    degrees = graph.degrees()
    count = graph.vertices
    ranks = np.full(count, 1 / count)
    for _ in range(iterations):
        shares = np.repeat(ranks / np.maximum(degrees, 1), degrees)
        sums = np.bincount(graph.columns, shares, count)
        ranks = (1 - DAMPING) / count + DAMPING * sums
    return ranks


@dataclass(frozen=True)
class Linked:
    """A graph, the iterations, and the ranks after them."""

    graph: inputs.Graph
    iterations: int
    expected: NDArray[np.float64]

    @property
    def tolerance(self) -> float:
        """Largest relative error of positive sums in f32: each of a sum's roundings, and four more an iteration."""
        most = np.bincount(self.graph.columns, minlength=1).max()
        return self.iterations * float(most + 4) * 2.0**-24


def linked_graph(
    rng: Generator,
    graph: str | None = file(
        f"{graph_files.ALLOWED}; default: degrees of a power law", ("vertices", "most")
    ),
    format: str = FORMAT,
    vertices: int = whole("number of vertices", 1, 1 << 24, 256, 16384, 299067),
    most: int = whole("largest degree that is drawn", 1, 1 << 20, 24, 128, 336),
    iterations: int = whole("number of iterations", 1, 1000, 2, 4, 20),
) -> Linked:
    """The graph of the file, or a random one."""
    if graph is not None:
        made = graph_files.read_graph(graph, form=format)
    elif format != "auto":
        raise Refused("parameter format applies to a file's edges; allowed: with graph=FILE")
    else:
        made = inputs.power_law_graph(vertices, EXPONENT, most, rng)
    return Linked(made, iterations, reference_ranks(made, iterations))


@workload(
    id="pr",
    group="N",
    check="ranks equal NumPy's in f64 within iterations x (largest degree + 4) x 2^-24, the rounding of sums in f32",
    input=linked_graph,
)
def page_rank(
    gpu: GpuLike,
    given: Linked,
    block: int = whole("threads per block", 32, 1024, 32, 256, 256),
) -> Outcome:
    """PageRank: every vertex adds its share to its neighbours' sums by atomics, two launches an iteration"""
    graph = given.graph
    count = graph.vertices
    columns = graph.columns if graph.edges else np.zeros(1, np.int32)
    edges = Adjacency(gpu.array(graph.offsets), gpu.array(columns), count)
    ranks, sums = gpu.zeros(count, np.float32), gpu.zeros(count, np.float32)

    def launch(kernel: lang.Kernel, *args: Any) -> None:
        gpu.launch(kernel, grid=blocks_for(count, block), block=block, args=args)

    launch(set_ranks, ranks, sums, count)
    for _ in range(given.iterations):
        launch(push_ranks, edges, ranks, sums)
        launch(damp_ranks, ranks, sums, count)
    details = {"graph": graph.name, "vertices": count, "edges": graph.edges}
    outcome = compare(
        "rank",
        ranks.numpy(),
        given.expected,
        tolerance=given.tolerance,
        floor=0.0,
        details=details,
    )
    return replace(outcome, notes=graph.notes)
