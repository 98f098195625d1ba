"""``fw``: lengths of the shortest paths between all pairs of vertices, by the algorithm of Floyd and Warshall.

Original: fw of Pannotia (OpenCL), unblocked. As there: a launch for each intermediate vertex ``k``, from 1,
of 16 x 16 threads a block; dimension 0 of the threads runs over rows, so that neighbouring lanes touch
different lines; the matrix of lengths is updated in place, and where a path becomes shorter, ``k`` is stored in a
second one. Paper scale is its input of 512 vertices and 65,536 arcs (STC states none); arcs are drawn at
random with weights 1 to 100 here.

Launch ``k`` changes neither row nor column ``k``, whose element on the diagonal is 0, so that threads do
not race, although each reads words that others could write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.base.late import LATE_IMPORT
from gpucoh.suite.base import (
    REGISTRY,
    GpuLike,
    Outcome,
    Setting,
    blocks_for,
    combine,
    compare,
    scaled,
)
from gpucoh.suite.buffers import PLACEMENT_SEED, RACES, RACING, place
from gpucoh.suite.declaration import workload

TILE = 16
UNREACHED = 999999  # length where there is no path


def relax_kernel(load: Any, store: Any) -> lang.Kernel:
    """The kernel with one kind of accesses to the lengths."""

    @lang.kernel
    def relax_pairs(
        lengths: lang.Buffer[lang.i32],
        through: lang.Buffer[lang.i32],
        vertices: lang.i32,
        k: lang.i32,
    ) -> None:
        """Shorten the path of a thread's pair by way of ``k``."""
        row = lang.global_id(0)
        column = lang.global_id(1)
        if row < vertices and column < vertices:
            at = row * vertices + column
            length = load(lengths, row * vertices + k) + load(lengths, k * vertices + column)
            if length < load(lengths, at):
                store(lengths, at, length)
                through[at] = k

    return relax_pairs


KERNELS = {races: relax_kernel(*accesses) for races, accesses in RACING.items()}


@dataclass(frozen=True)
class AllPairs:
    """``fw`` on one input."""

    lengths: NDArray[np.int32]
    races: str
    placement_seed: int

    @classmethod
    def prepare(cls, setting: Setting) -> AllPairs:
        """A random graph; no arc at vertex 0, by way of which the original looks for no path."""
        rng, vertices = setting.rng(), setting.integer("vertices")
        arcs = setting.integer("arcs")
        if arcs > (vertices - 1) ** 2:
            raise setting.refuse(
                f"parameter arcs is {arcs}; allowed: up to {(vertices - 1) ** 2} with vertices={vertices}"
            )
        inner = np.full((vertices - 1) ** 2, UNREACHED, np.int32)
        inner[rng.choice(inner.size, arcs, replace=False)] = rng.integers(1, 101, arcs)
        lengths = np.full((vertices, vertices), UNREACHED, np.int32)
        lengths[1:, 1:] = inner.reshape(vertices - 1, -1)
        np.fill_diagonal(lengths, 0)
        return cls(lengths, setting.choice("races"), setting.integer("placement_seed"))

    def run(self, gpu: GpuLike) -> Outcome:
        """A launch for each intermediate vertex."""
        count = len(self.lengths)
        tiles = blocks_for(count, TILE)
        zeros = count * count, np.int32
        lengths, through = place(gpu, self.placement_seed, self.lengths.ravel(), zeros)
        for k in range(1, count):
            gpu.launch(
                KERNELS[self.races],
                grid=(tiles, tiles),
                block=(TILE, TILE),
                args=(lengths, through, count, k),
                placement="static",
            )
        found = lengths.numpy().reshape(self.lengths.shape)
        return self.check(found, through.numpy().reshape(found.shape))

    def check(self, found: NDArray[np.int32], through: NDArray[np.int32]) -> Outcome:
        """Compare lengths with scipy's; a path by way of a vertex is as long as its parts."""
        with LATE_IMPORT:
            import scipy.sparse.csgraph
        given = np.where(self.lengths == UNREACHED, 0, self.lengths).astype(np.float64)
        expected = scipy.sparse.csgraph.floyd_warshall(scipy.sparse.csr_matrix(given))
        expected = np.where(np.isinf(expected), UNREACHED, expected).astype(np.int32)
        row, column = np.nonzero(through)
        by = through[row, column]
        return combine(
            compare("length", found, expected, details={"vertices": len(found)}),
            compare("path", found[row, by] + found[by, column], found[row, column]),
        )


REGISTRY.add(
    workload(
        AllPairs,
        id="fw",
        title="shortest paths of all pairs in place, a launch for each vertex, lanes over rows",
        group="N",
        papers=("S",),
        needs_coherence=False,
        check="lengths equal scipy's; each path that was shortened is as long as its two parts",
        parameters=(
            scaled("vertices", 2, 4096, 16, 128, 512, "number of vertices"),
            scaled("arcs", 0, 1 << 24, 60, 4096, 65536, "arcs with a weight, drawn at random"),
            RACES,
            PLACEMENT_SEED,
        ),
    )
)
