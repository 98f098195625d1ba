"""LU decomposition of a matrix in place, tile by tile, without pivoting: ``lud`` by way of the scratchpad, ``lud-qr``
(QuickRelease) in memory.

Original: lud of Rodinia (CUDA). As there: tiles of 16 x 16 words; for each tile of the diagonal three
launches: one block of 16 threads decomposes the tile; blocks of 32 threads, half of which take the row
of tiles to its right and half the column of tiles below it, solve against that tile; blocks of 16 x 16
threads update the other tiles below and to the right (3 loads, 16 multiply-adds and a store of its own
word a thread). The last diagonal tile is a launch by itself. Rows of a tile are half a line, so that
two tiles share lines of 128 bytes; lines of 64 bytes have a row of one tile, and share none unless ``base`` or
``width`` move the rows; launches read what other cores wrote before. The original does not fill its
cores: the number of blocks shrinks with every step, and the diagonal has half a warp. Paper scale is
256 x 256 (Rodinia's default, and DeNovo's size).

Difference: the matrix is random with a dominant diagonal.

``lud-qr``. Original: lud of OpenDwarfs (OpenCL), inferred from what QuickRelease says of it: no scratchpad, so that a
thread loads, reduces and stores its own words again and again; two barriers with fences of global memory a step in the
diagonal tile. Its barriers stand in a branch that not all threads take; here all threads reach them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, Refused, compare, whole
from gpucoh.suite.declaration import workload

TILE = 16


@lang.record
class Layout:
    """Where the matrix is in its buffer: words before it, and from a row to the next."""

    base: lang.i32
    width: lang.i32


@lang.kernel
def decompose_diagonal(matrix: lang.Buffer[lang.f32], layout: Layout, offset: lang.i32) -> None:
    """Decompose the tile at ``offset``, ``offset``; thread t owns row and column t."""
    tile = lang.shared(lang.f32, (TILE, TILE))
    t = lang.thread_id()
    at = layout.base + offset * layout.width + offset + t
    for row in range(TILE):
        tile[row, t] = matrix[at + row * layout.width]
    lang.barrier()
    for i in range(TILE - 1):
        if t > i:
            for j in range(i):
                tile[t, i] = tile[t, i] - tile[t, j] * tile[j, i]
            tile[t, i] = tile[t, i] / tile[i, i]
        lang.barrier()
        if t > i:
            for j in range(i + 1):
                tile[i + 1, t] = tile[i + 1, t] - tile[i + 1, j] * tile[j, t]
        lang.barrier()
    for row in range(1, TILE):
        matrix[at + row * layout.width] = tile[row, t]


@lang.kernel
def solve_perimeter(matrix: lang.Buffer[lang.f32], layout: Layout, offset: lang.i32) -> None:
    """Solve a tile of the row to the right of the diagonal tile, and one of the column below it."""
    diagonal = lang.shared(lang.f32, (TILE, TILE))
    across = lang.shared(lang.f32, (TILE, TILE))
    down = lang.shared(lang.f32, (TILE, TILE))
    corner = layout.base + offset * layout.width + offset
    distance = (lang.block_id() + 1) * TILE
    t = lang.thread_id() % TILE
    # Each half of the warp loads half of the diagonal tile and one of the other tiles.
    if lang.thread_id() < TILE:
        for row in range(TILE // 2):
            diagonal[row, t] = matrix[corner + row * layout.width + t]
        for row in range(TILE):
            across[row, t] = matrix[corner + row * layout.width + distance + t]
    else:
        for row in range(TILE // 2, TILE):
            diagonal[row, t] = matrix[corner + row * layout.width + t]
        for row in range(TILE):
            down[row, t] = matrix[corner + (distance + row) * layout.width + t]
    lang.barrier()
    if lang.thread_id() < TILE:
        for i in range(1, TILE):
            for j in range(i):
                across[i, t] = across[i, t] - diagonal[i, j] * across[j, t]
    else:
        for i in range(TILE):
            for j in range(i):
                down[t, i] = down[t, i] - down[t, j] * diagonal[j, i]
            down[t, i] = down[t, i] / diagonal[i, i]
    lang.barrier()
    if lang.thread_id() < TILE:
        for row in range(1, TILE):
            matrix[corner + row * layout.width + distance + t] = across[row, t]
    else:
        for row in range(TILE):
            matrix[corner + (distance + row) * layout.width + t] = down[row, t]


@lang.kernel
def update_internal(matrix: lang.Buffer[lang.f32], layout: Layout, offset: lang.i32) -> None:
    """Subtract the product of a tile of the column and a tile of the row from the tile between."""
    across = lang.shared(lang.f32, (TILE, TILE))
    down = lang.shared(lang.f32, (TILE, TILE))
    x = lang.thread_id(0)
    y = lang.thread_id(1)
    row = offset + (lang.block_id(1) + 1) * TILE + y
    column = offset + (lang.block_id(0) + 1) * TILE + x
    across[y, x] = matrix[layout.base + (offset + y) * layout.width + column]
    down[y, x] = matrix[layout.base + row * layout.width + offset + x]
    lang.barrier()
    total = lang.f32(0.0)
    for i in range(TILE):
        total = total + down[y, i] * across[i, x]
    own = layout.base + row * layout.width + column
    matrix[own] = matrix[own] - total


@lang.kernel
def decompose_in_memory(matrix: lang.Buffer[lang.f32], layout: Layout, offset: lang.i32) -> None:
    """As :func:`decompose_diagonal`, in memory."""
    t = lang.thread_id()
    corner = layout.base + offset * layout.width + offset
    row = corner + t * layout.width
    for i in range(TILE - 1):
        if t > i:
            for j in range(i):
                matrix[row + i] = (
                    matrix[row + i] - matrix[row + j] * matrix[corner + j * layout.width + i]
                )
            matrix[row + i] = matrix[row + i] / matrix[corner + i * layout.width + i]
        lang.barrier(scope="gpu")
        if t > i:
            own = corner + (i + 1) * layout.width
            for j in range(i + 1):
                part = matrix[own + j] * matrix[corner + j * layout.width + t]
                matrix[own + t] = matrix[own + t] - part
        lang.barrier(scope="gpu")


@lang.kernel
def solve_in_memory(matrix: lang.Buffer[lang.f32], layout: Layout, offset: lang.i32) -> None:
    """As :func:`solve_perimeter`, in memory."""
    corner = layout.base + offset * layout.width + offset
    distance = (lang.block_id() + 1) * TILE
    t = lang.thread_id() % TILE
    if lang.thread_id() < TILE:
        own = corner + distance + t
        for i in range(1, TILE):
            for j in range(i):
                part = matrix[corner + i * layout.width + j] * matrix[own + j * layout.width]
                matrix[own + i * layout.width] = matrix[own + i * layout.width] - part
    else:
        own = corner + (distance + t) * layout.width
        for i in range(TILE):
            for j in range(i):
                part = matrix[own + j] * matrix[corner + j * layout.width + i]
                matrix[own + i] = matrix[own + i] - part
            matrix[own + i] = matrix[own + i] / matrix[corner + i * layout.width + i]


@lang.kernel
def update_in_memory(matrix: lang.Buffer[lang.f32], layout: Layout, offset: lang.i32) -> None:
    """As :func:`update_internal`, in memory."""
    row = (offset + (lang.block_id(1) + 1) * TILE + lang.thread_id(1)) * layout.width + layout.base
    column = offset + (lang.block_id(0) + 1) * TILE + lang.thread_id(0)
    above = offset * layout.width + layout.base + column
    total = lang.f32(0.0)
    for i in range(TILE):
        total = total + matrix[row + offset + i] * matrix[above + i * layout.width]
    matrix[row + column] = matrix[row + column] - total


def random_matrix(rng: np.random.Generator, side: int) -> NDArray[np.float32]:
    """A random matrix whose diagonal dominates, so that the decomposition needs no pivots."""
    matrix = rng.uniform(-1, 1, (side, side)).astype(np.float32)
    matrix[np.diag_indices(side)] += np.float32(side)
    return matrix


def reconstruct(factors: NDArray[np.float32]) -> NDArray[np.float64]:
    """The product L U in f64 of factors that share one matrix; the diagonal of L is 1."""
    wide = factors.astype(np.float64)
    return np.asarray((np.tril(wide, -1) + np.eye(len(wide))) @ np.triu(wide))


def factorise(
    gpu: GpuLike,
    rng: Generator,
    tiles: int,
    base: int,
    width: int,
    kernels: tuple[lang.Kernel, lang.Kernel, lang.Kernel],
) -> Outcome:
    """Three launches per tile of the diagonal, one for the last, on a random matrix of whole tiles."""
    diagonal, perimeter, internal = kernels
    matrix = random_matrix(rng, tiles * TILE)
    side = len(matrix)
    if 0 < width < side:
        raise Refused(f"parameter width is {width}; allowed: 0, or at least the side, {side}")
    layout = Layout(base, width or side)
    rows = np.pad(matrix, ((0, 0), (0, layout.width - side)))
    factors = gpu.array(np.pad(rows.ravel(), (base, 0)))
    for offset in range(0, side, TILE):
        left = (side - offset) // TILE - 1
        steps: list[tuple[lang.Kernel, Any, Any]] = [(diagonal, 1, TILE)]
        if left:
            steps += [(perimeter, left, 2 * TILE), (internal, (left, left), (TILE, TILE))]
        for kernel, grid, block in steps:
            gpu.launch(
                kernel,
                grid=grid,
                block=block,
                args=(factors, layout, offset),
            )
    product = reconstruct(factors.numpy()[base:].reshape(rows.shape)[:, :side])
    return compare(
        "L U",
        product / side,
        matrix.astype(np.float64) / side,
        tolerance=1e-6,
        details={"side": side},
    )


TILES = whole(f"tiles of {TILE} x {TILE} words per side", 1, 256, 3, 16, 16)
BASE = whole(
    "words before the matrix, which lines of 64 bytes then part from its tiles", 0, 1023, 0
)
WIDTH = whole("words from a row to the next; 0: as many as it has", 0, 8192, 0)
CHECK = "the product of the factors equals the matrix, within 1e-6 of its diagonal"


@workload(id="lud", group="AN", papers="RD", check=CHECK)
def decomposition(
    gpu: GpuLike, rng: Generator, tiles: int = TILES, base: int = BASE, width: int = WIDTH
) -> Outcome:
    """blocked LU decomposition in place: diagonal, perimeter and internal tiles"""
    kernels = decompose_diagonal, solve_perimeter, update_internal
    return factorise(gpu, rng, tiles, base, width, kernels)


@workload(id="lud-qr", group="A", papers="Q", check=CHECK)
def decomposition_in_memory(
    gpu: GpuLike, rng: Generator, tiles: int = TILES, base: int = BASE, width: int = WIDTH
) -> Outcome:
    """blocked LU decomposition in memory: words loaded, reduced and stored again and again"""
    kernels = decompose_in_memory, solve_in_memory, update_in_memory
    return factorise(gpu, rng, tiles, base, width, kernels)
