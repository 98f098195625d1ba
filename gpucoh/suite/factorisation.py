"""LU decomposition of a matrix in place, tile by tile, without pivoting: ``lud`` by way of the scratchpad, ``lud-qr``
(QuickRelease) in memory.

Original: lud of Rodinia (CUDA). As there: tiles of 16 x 16 words; for each tile of the diagonal three
launches: one block of 16 threads decomposes the tile; blocks of 32 threads, half of which take the row
of tiles to its right and half the column of tiles below it, solve against that tile; blocks of 16 x 16
threads update the other tiles below and to the right (3 loads, 16 multiply-adds and a store of its own
word a thread). The last diagonal tile is a launch by itself. Rows of a tile are half a line, so that
two tiles share lines; launches read what other cores wrote before. The original does not fill its
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
from gpucoh.suite.base import GpuLike, Outcome, compare, whole
from gpucoh.suite.declaration import workload

TILE = 16


@lang.kernel
def decompose_diagonal(matrix: lang.Buffer[lang.f32], side: lang.i32, offset: lang.i32) -> None:
    """Decompose the tile at ``offset``, ``offset``; thread t owns row and column t."""
    tile = lang.shared(lang.f32, (TILE, TILE))
    t = lang.thread_id()
    at = offset * side + offset + t
    for row in range(TILE):
        tile[row, t] = matrix[at + row * side]
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
        matrix[at + row * side] = tile[row, t]


@lang.kernel
def solve_perimeter(matrix: lang.Buffer[lang.f32], side: lang.i32, offset: lang.i32) -> None:
    """Solve a tile of the row to the right of the diagonal tile, and one of the column below it."""
    diagonal = lang.shared(lang.f32, (TILE, TILE))
    across = lang.shared(lang.f32, (TILE, TILE))
    down = lang.shared(lang.f32, (TILE, TILE))
    corner = offset * side + offset
    distance = (lang.block_id() + 1) * TILE
    t = lang.thread_id() % TILE
    # Each half of the warp loads half of the diagonal tile and one of the other tiles.
    if lang.thread_id() < TILE:
        for row in range(TILE // 2):
            diagonal[row, t] = matrix[corner + row * side + t]
        for row in range(TILE):
            across[row, t] = matrix[corner + row * side + distance + t]
    else:
        for row in range(TILE // 2, TILE):
            diagonal[row, t] = matrix[corner + row * side + t]
        for row in range(TILE):
            down[row, t] = matrix[corner + (distance + row) * side + t]
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
            matrix[corner + row * side + distance + t] = across[row, t]
    else:
        for row in range(TILE):
            matrix[corner + (distance + row) * side + t] = down[row, t]


@lang.kernel
def update_internal(matrix: lang.Buffer[lang.f32], side: lang.i32, offset: lang.i32) -> None:
    """Subtract the product of a tile of the column and a tile of the row from the tile between."""
    across = lang.shared(lang.f32, (TILE, TILE))
    down = lang.shared(lang.f32, (TILE, TILE))
    x = lang.thread_id(0)
    y = lang.thread_id(1)
    row = offset + (lang.block_id(1) + 1) * TILE + y
    column = offset + (lang.block_id(0) + 1) * TILE + x
    across[y, x] = matrix[(offset + y) * side + column]
    down[y, x] = matrix[row * side + offset + x]
    lang.barrier()
    total = lang.f32(0.0)
    for i in range(TILE):
        total = total + down[y, i] * across[i, x]
    matrix[row * side + column] = matrix[row * side + column] - total


@lang.kernel
def decompose_in_memory(matrix: lang.Buffer[lang.f32], side: lang.i32, offset: lang.i32) -> None:
    """As :func:`decompose_diagonal`, in memory."""
    t = lang.thread_id()
    corner = offset * side + offset
    row = corner + t * side
    for i in range(TILE - 1):
        if t > i:
            for j in range(i):
                matrix[row + i] = matrix[row + i] - matrix[row + j] * matrix[corner + j * side + i]
            matrix[row + i] = matrix[row + i] / matrix[corner + i * side + i]
        lang.barrier(scope="gpu")
        if t > i:
            own = corner + (i + 1) * side
            for j in range(i + 1):
                part = matrix[own + j] * matrix[corner + j * side + t]
                matrix[own + t] = matrix[own + t] - part
        lang.barrier(scope="gpu")


@lang.kernel
def solve_in_memory(matrix: lang.Buffer[lang.f32], side: lang.i32, offset: lang.i32) -> None:
    """As :func:`solve_perimeter`, in memory."""
    corner = offset * side + offset
    distance = (lang.block_id() + 1) * TILE
    t = lang.thread_id() % TILE
    if lang.thread_id() < TILE:
        own = corner + distance + t
        for i in range(1, TILE):
            for j in range(i):
                part = matrix[corner + i * side + j] * matrix[own + j * side]
                matrix[own + i * side] = matrix[own + i * side] - part
    else:
        own = corner + (distance + t) * side
        for i in range(TILE):
            for j in range(i):
                part = matrix[own + j] * matrix[corner + j * side + i]
                matrix[own + i] = matrix[own + i] - part
            matrix[own + i] = matrix[own + i] / matrix[corner + i * side + i]


@lang.kernel
def update_in_memory(matrix: lang.Buffer[lang.f32], side: lang.i32, offset: lang.i32) -> None:
    """As :func:`update_internal`, in memory."""
    row = (offset + (lang.block_id(1) + 1) * TILE + lang.thread_id(1)) * side
    column = offset + (lang.block_id(0) + 1) * TILE + lang.thread_id(0)
    total = lang.f32(0.0)
    for i in range(TILE):
        total = total + matrix[row + offset + i] * matrix[(offset + i) * side + column]
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
    kernels: tuple[lang.Kernel, lang.Kernel, lang.Kernel],
    placement: str | None = None,
) -> Outcome:
    """Three launches per tile of the diagonal, one for the last, on a random matrix of whole tiles."""
    diagonal, perimeter, internal = kernels
    matrix = random_matrix(rng, tiles * TILE)
    side = len(matrix)
    factors = gpu.array(matrix.ravel())
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
                args=(factors, side, offset),
                placement=placement,
            )
    product = reconstruct(factors.numpy().reshape(side, side))
    return compare(
        "L U",
        product / side,
        matrix.astype(np.float64) / side,
        tolerance=1e-6,
        details={"side": side},
    )


TILES = whole(f"tiles of {TILE} x {TILE} words per side", 1, 256, 3, 16, 16)
CHECK = "the product of the factors equals the matrix, within 1e-6 of its diagonal"


@workload(id="lud", group="AN", papers="RD", check=CHECK)
def decomposition(gpu: GpuLike, rng: Generator, tiles: int = TILES) -> Outcome:
    """blocked LU decomposition in place: diagonal, perimeter and internal tiles"""
    return factorise(gpu, rng, tiles, (decompose_diagonal, solve_perimeter, update_internal))


@workload(id="lud-qr", group="A", papers="Q", check=CHECK)
def decomposition_in_memory(gpu: GpuLike, rng: Generator, tiles: int = TILES) -> Outcome:
    """blocked LU decomposition in memory: words loaded, reduced and stored again and again"""
    kernels = decompose_in_memory, solve_in_memory, update_in_memory
    return factorise(gpu, rng, tiles, kernels, "static")
