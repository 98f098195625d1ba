"""``st``: a 7-point stencil on a 3-D grid, several iterations.

Original: stencil of Parboil (CUDA). As there: 32 x 4 threads a block, each with two columns of the grid 32
words apart, which it follows plane by plane; the block's tile of 64 x 4 words of the current plane is in the
scratchpad, the words above and below in registers, and at the tile's edges threads load the neighbours from
memory; cells at the grid's border keep their values; two arrays take turns, one launch an iteration, so that
a block reads its own tile and its neighbours' edges of the last one. Paper scale is DeNovo's 128 x 128 x 4
and 4 iterations: 64 blocks, 4 words stored a thread and launch.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, compare, whole
from gpucoh.suite.declaration import workload

WIDE, HIGH = 32, 4
TILE = 2 * WIDE
CENTRE, NEIGHBOUR = float(np.float32(1 / 6)), float(np.float32(1 / 36))


@lang.device
def relax(
    source: lang.Buffer[lang.f32],
    target: lang.Buffer[lang.f32],
    plane: lang.Buffer[lang.f32],
    tx: lang.i32,
    ty: lang.i32,
    at: lang.i32,
    nx: lang.i32,
    above: lang.f32,
    below: lang.f32,
) -> None:
    """One cell: the weighted sum of its neighbours minus itself."""
    own = ty * TILE + tx
    south = plane[own + TILE] if ty < HIGH - 1 else source[at + nx]
    north = plane[own - TILE] if ty > 0 else source[at - nx]
    east = plane[own + 1] if tx < TILE - 1 else source[at + 1]
    west = plane[own - 1] if tx > 0 else source[at - 1]
    total = above + below + south + north + east + west
    target[at] = total * NEIGHBOUR - plane[own] * CENTRE


@lang.kernel
def stencil_iteration(
    source: lang.Buffer[lang.f32],
    target: lang.Buffer[lang.f32],
    nx: lang.i32,
    ny: lang.i32,
    nz: lang.i32,
) -> None:
    """All inner cells of the block's columns."""
    plane = lang.shared(lang.f32, TILE * HIGH)
    tx = lang.thread_id(0)
    ty = lang.thread_id(1)
    x = lang.block_id(0) * TILE + tx
    y = lang.block_id(1) * HIGH + ty
    at = y * nx + x
    area = nx * ny
    own = ty * TILE + tx
    first = x < nx and y < ny
    second = x + WIDE < nx and y < ny
    inner = x > 0 and x < nx - 1 and y > 0 and y < ny - 1
    inner2 = x + WIDE < nx - 1 and y > 0 and y < ny - 1
    below = lang.f32(0.0)
    below2 = lang.f32(0.0)
    above = lang.f32(0.0)
    above2 = lang.f32(0.0)
    plane[own] = 0.0
    plane[own + WIDE] = 0.0
    lang.barrier()
    if first:
        below = source[at]
        plane[own] = source[at + area]
    if second:
        below2 = source[at + WIDE]
        plane[own + WIDE] = source[at + area + WIDE]
    lang.barrier()
    for _ in range(1, nz - 1):
        at += area
        if first:
            above = source[at + area]
        if inner:
            relax(source, target, plane, tx, ty, at, nx, above, below)
        if second:
            above2 = source[at + area + WIDE]
        if inner2:
            relax(source, target, plane, tx + WIDE, ty, at + WIDE, nx, above2, below2)
        lang.barrier()
        below = plane[own]
        plane[own] = above
        below2 = plane[own + WIDE]
        plane[own + WIDE] = above2
        lang.barrier()


def reference_stencil(field: NDArray[np.float32], iterations: int) -> NDArray[np.float32]:
    """The iterations on the grid ``(nz, ny, nx)`` in f32, in the kernel's order."""
    for _ in range(iterations):
        inner = field[1:-1, 1:-1, 1:-1]
        total = field[2:, 1:-1, 1:-1] + field[:-2, 1:-1, 1:-1]
        total = total + field[1:-1, 2:, 1:-1] + field[1:-1, :-2, 1:-1]
        total = total + field[1:-1, 1:-1, 2:] + field[1:-1, 1:-1, :-2]
        field = field.copy()
        field[1:-1, 1:-1, 1:-1] = total * np.float32(NEIGHBOUR) - inner * np.float32(CENTRE)
    return field


@workload(
    id="st", group="N", papers="D", check="bitwise equal to NumPy's f32, iteration by iteration"
)
def stencil(
    gpu: GpuLike,
    rng: Generator,
    nx: int = whole("cells along x, with the border", 3, 1 << 12, 70, 128, 128),
    ny: int = whole("cells along y, with the border", 3, 1 << 12, 10, 128, 128),
    nz: int = whole("cells along z, with the border", 3, 1 << 12, 4),
    iterations: int = whole("iterations, one launch each", 1, 10000, 3, 4, 4),
) -> Outcome:
    """7-point stencil of a 3-D grid, planes in the scratchpad, one launch per iteration

    Random cells. A launch an iteration; both arrays start with the input.
    """
    field = rng.random((nz, ny, nx), dtype=np.float32)
    source, target = gpu.array(field.ravel()), gpu.array(field.ravel())
    for _ in range(iterations):
        gpu.launch(
            stencil_iteration,
            grid=(blocks_for(nx, TILE), blocks_for(ny, HIGH)),
            block=(WIDE, HIGH),
            args=(source, target, nx, ny, nz),
        )
        source, target = target, source
    return compare(
        "cell",
        source.numpy().reshape(field.shape),
        reference_stencil(field, iterations),
        details={"cells": field.size},
    )
