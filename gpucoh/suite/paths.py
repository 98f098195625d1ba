"""``pf``: the cheapest path down a grid, a dynamic programme with several rows per launch.

Original: pathfinder of Rodinia (CUDA). As there: blocks of 256 threads, each with a column of the grid and
``pyramid`` columns of halo at both sides, which the next blocks load, too; a thread loads a word of the
previous row, then one of the grid per row, keeps the row in two arrays of the scratchpad, and stores one
word; two arrays of rows take turns. The grid of blocks is sized for ``pyramid`` rows per launch also if there
are fewer, so that some blocks have no columns. Paper scale is DeNovo's 10 rows of 100,000 columns, with the
original's usual pyramid of 20: one launch of 463 blocks.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, compare, whole
from gpucoh.suite.buffers import ReadOnlyI32
from gpucoh.suite.declaration import workload

BLOCK = 256


@lang.kernel
def cheapest_paths(
    wall: ReadOnlyI32,
    source: lang.Buffer[lang.i32],
    target: lang.Buffer[lang.i32],
    columns: lang.i32,
    first_row: lang.i32,
    rows: lang.i32,
    halo: lang.i32,
) -> None:
    """``rows`` rows of the wall from ``first_row`` on; a block computes all its threads' columns but those lost at the
    edges, one per row and side.
    """
    previous = lang.shared(lang.i32, BLOCK)
    current = lang.shared(lang.i32, BLOCK)
    t = lang.thread_id()
    start = (BLOCK - 2 * rows) * lang.block_id() - halo
    column = start + t
    lowest = lang.max(-start, 0)
    highest = lang.min(BLOCK - 1, columns - 1 - start)
    west = lang.max(t - 1, lowest)
    east = lang.min(t + 1, highest)
    inside = t >= lowest and t <= highest
    if column >= 0 and column < columns:
        previous[t] = source[column]
    lang.barrier()
    computed = False
    at = columns * first_row + column
    for row in range(rows):
        computed = False
        if inside and t > row and t < BLOCK - 1 - row:
            computed = True
            best = lang.min(lang.min(previous[west], previous[t]), previous[east])
            current[t] = best + wall[at]
        lang.barrier()
        if row == rows - 1:
            break
        if computed:
            previous[t] = current[t]
        lang.barrier()
        at += columns
    if computed:
        target[column] = current[t]


def reference_paths(wall: NDArray[np.int32]) -> NDArray[np.int32]:
    """The cost of the cheapest path to each column of the last row."""
    best = wall[0]
    for row in wall[1:]:
        padded = np.pad(best, 1, mode="edge")
        best = row + np.minimum(np.minimum(padded[:-2], best), padded[2:])
    return np.asarray(best, np.int32)


@workload(id="pf", group="N", papers="D", check="every cost equals NumPy's dynamic programme")
def paths(
    gpu: GpuLike,
    rng: Generator,
    rows: int = whole("rows of the grid", 2, 100000, 6, 10, 10),
    columns: int = whole("columns of the grid", 1, 1 << 22, 1000, 25000, 100000),
    pyramid: int = whole(
        "largest number of rows per launch, and columns of halo", 1, 100, 3, 20, 20
    ),
) -> Outcome:
    """pathfinder: cheapest paths down a grid, several rows per launch in the scratchpad

    Random costs 0 to 9. A launch for every ``pyramid`` rows.
    """
    wall = rng.integers(0, 10, (rows, columns), dtype=np.int32)

    source, target = gpu.array(wall[0]), gpu.zeros(columns, np.int32)
    grid = gpu.array(wall[1:].ravel())
    for row in range(0, rows - 1, pyramid):
        gpu.launch(
            cheapest_paths,
            grid=blocks_for(columns, BLOCK - 2 * pyramid),
            block=BLOCK,
            args=(
                grid,
                source,
                target,
                columns,
                row,
                min(pyramid, rows - 1 - row),
                pyramid,
            ),
        )
        source, target = target, source
    details = {"rows": rows, "columns": columns}
    return compare("cost", source.numpy(), reference_paths(wall), details=details)
