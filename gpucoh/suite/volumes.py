"""3-D grids: ``lps``, a Laplace solver with scratchpad planes, and ``stn``, a wave equation in one
launch.

``lps``: original: LPS (3-D Laplace solver) of the ISPASS-2009 benchmarks of GPGPU-Sim. As there: 32 x
4 threads a block, which moves through the planes of its column of the grid; a plane, a thread loads
one word and 76 of 128 threads one of the halo (corners too), and every thread stores a word, border
cells too; two barriers a plane; three planes in the scratchpad; rows without padding, since
GPGPU-Sim's pitched allocation adds none, so that a warp's row may span two lines. Paper scale is the
original's default, 100 x 100 x 100 and one repetition (assumed: the papers state no size): 100 blocks,
24 to 28 warps a core.

``stn``: no source is public. TC describes it: finite differences for a 3-D wave, each node with 24
neighbours, a subset of the nodes a block, the fast barrier of Xiao and Feng (flags, polled by loads)
a time step. A step loads a cell with its neighbours and its previous value, and stores it. The
barrier's authors run one large block a core; here 2 blocks of 768 threads fill a core's 48 warps, and
the blocks divide the cells in the order of memory (inferred). The grid's size is assumed.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, compare, whole
from gpucoh.suite.declaration import workload
from gpucoh.suite.synchronisation import STALE, Flags, flag_barrier, patience_on

WIDE, HIGH = 32, 4  # a block's tile of lps
PITCH = WIDE + 2  # of the tile with its halo
PLANE = PITCH * (HIGH + 2)
HALO = 2 * (WIDE + HIGH + 2)  # words around the tile, corners too
REACH = 4  # neighbours of stn on each side of each axis: 24 in all
# Eighth-order second derivative: centre, then distances 1 to 4; divided by 4 for a stable
# time step.
WEIGHTS = tuple(np.float32(w) for w in (-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560))
W0, W1, W2, W3, W4 = (float(w) for w in WEIGHTS)


@lang.kernel
def laplace_step(
    source: lang.Buffer[lang.f32],
    target: lang.Buffer[lang.f32],
    nx: lang.i32,
    ny: lang.i32,
    nz: lang.i32,
) -> None:
    """One Jacobi step. A block keeps a tile of three planes in the scratchpad and moves up plane by
    plane.
    """
    planes = lang.shared(lang.f32, (3, PLANE))  # above, here, below
    tx = lang.thread_id(0)
    ty = lang.thread_id(1)
    x = lang.block_id(0) * WIDE + tx
    y = lang.block_id(1) * HIGH + ty
    area = nx * ny
    own = (ty + 1) * PITCH + tx + 1
    inside = x < nx and y < ny
    # Threads 0 to 63 have a halo word in the rows before and after the tile, 64 to 75 one in the
    # columns left and right of it.
    thread = ty * WIDE + tx
    edge_x = tx
    edge_y = ty * (HIGH + 1) - 1
    if ty >= 2:
        edge_x = thread % 2 * (WIDE + 1) - 1
        edge_y = thread // 2 - WIDE - 1
    edge = (edge_y + 1) * PITCH + edge_x + 1
    edge_x += lang.block_id(0) * WIDE
    edge_y += lang.block_id(1) * HIGH
    halo = thread < HALO and edge_x >= 0 and edge_x < nx and edge_y >= 0 and edge_y < ny
    at = y * nx + x
    edge_at = edge_y * nx + edge_x
    if inside:
        planes[0, own] = source[at]
        planes[1, own] = 0.0  # the plane below the first, which no result depends on
    if halo:
        planes[0, edge] = source[edge_at]
        planes[1, edge] = 0.0
    for z in range(nz):
        if inside:
            planes[2, own] = planes[1, own]
            planes[1, own] = planes[0, own]
            if z < nz - 1:
                planes[0, own] = source[at + area]
        if halo:
            planes[2, edge] = planes[1, edge]
            planes[1, edge] = planes[0, edge]
            edge_at += area
            if z < nz - 1:
                planes[0, edge] = source[edge_at]
        lang.barrier()
        if inside:
            value = planes[1, own]
            if x > 0 and x < nx - 1 and y > 0 and y < ny - 1 and z > 0 and z < nz - 1:
                total = planes[1, own - 1] + planes[1, own + 1]
                total = total + planes[1, own - PITCH] + planes[1, own + PITCH]
                value = (total + planes[2, own] + planes[0, own]) / 6.0
            target[at] = value
        at += area
        lang.barrier()


def reference_laplace(field: NDArray[np.float32], steps: int) -> NDArray[np.float32]:
    """Jacobi steps over the whole grid ``(nz, ny, nx)`` in f32, in the kernel's order; borders
    are constant.
    """
    for _ in range(steps):
        after = field.copy()
        total = field[1:-1, 1:-1, :-2] + field[1:-1, 1:-1, 2:]
        total = total + field[1:-1, :-2, 1:-1] + field[1:-1, 2:, 1:-1]
        total = total + field[:-2, 1:-1, 1:-1] + field[2:, 1:-1, 1:-1]
        after[1:-1, 1:-1, 1:-1] = total / np.float32(6)
        field = after
    return field


# The grid has a border of REACH cells on each side, which is constantly 0. Two fields: threads read
# `now` with its neighbours, and read and replace `before`, each its own cell; then the fields swap
# roles. Other blocks read the cells at the edge of a block's range in the next step: the grid
# barrier orders that.
@lang.kernel
def wave_steps(
    fields: lang.Buffer[lang.f32],
    flags: Flags,
    nx: lang.i32,
    ny: lang.i32,
    nz: lang.i32,
    steps: lang.i32,
    courant: lang.f32,
) -> None:
    """All time steps; the blocks share the cells, with a grid barrier after each step."""
    wide = nx + 2 * REACH
    area = wide * (ny + 2 * REACH)
    size = area * (nz + 2 * REACH)
    cells = nx * ny * nz
    share = (cells + lang.grid_dim() - 1) // lang.grid_dim()
    first = lang.block_id() * share
    last = lang.min(first + share, cells)
    stuck = lang.shared(lang.i32, 1)
    if lang.thread_id() == 0:
        stuck[0] = 0
    step = 0
    while step < steps:
        now = (step % 2) * size
        before = size - now
        for cell in range(first + lang.thread_id(), last, lang.block_dim()):
            x = cell % nx
            y = cell // nx % ny
            z = cell // (nx * ny)
            at = (z + REACH) * area + (y + REACH) * wide + x + REACH
            middle = fields[now + at]
            total = (3.0 * W0) * middle
            for axis in range(3):
                stride = 1
                if axis == 1:
                    stride = wide
                if axis == 2:
                    stride = area
                centre = now + at
                total = total + W1 * (fields[centre - stride] + fields[centre + stride])
                total = total + W2 * (fields[centre - 2 * stride] + fields[centre + 2 * stride])
                total = total + W3 * (fields[centre - 3 * stride] + fields[centre + 3 * stride])
                total = total + W4 * (fields[centre - 4 * stride] + fields[centre + 4 * stride])
            fields[before + at] = 2.0 * middle - fields[before + at] + courant * total
        step += 1
        if flag_barrier(flags, step) >= flags.patience:
            stuck[0] = 1
        lang.barrier()
        if stuck[0] != 0:
            step = steps
        lang.barrier()


def reference_wave(
    start: NDArray[np.float32], steps: int, courant: np.float32
) -> NDArray[np.float32]:
    """Both fields after ``steps`` steps in f32, in the kernel's order; shape ``(2, nz, ny, nx)``
    with borders.
    """
    fields = start.copy()
    inner = slice(REACH, -REACH)

    def moved(field: NDArray[np.float32], axis: int, distance: int) -> NDArray[np.float32]:
        places = [inner, inner, inner]
        places[axis] = slice(REACH + distance, field.shape[axis] - REACH + distance)
        return field[tuple(places)]

    for step in range(steps):
        now, before = fields[step % 2], fields[1 - step % 2]
        middle = now[inner, inner, inner]
        total = np.float32(3.0 * W0) * middle
        for axis in (2, 1, 0):
            for distance in range(1, REACH + 1):
                pair = moved(now, axis, -distance) + moved(now, axis, distance)
                total = total + WEIGHTS[distance] * pair
        before[inner, inner, inner] = (
            np.float32(2) * middle - before[inner, inner, inner] + courant * total
        )
    return fields


@workload(id="lps", group="A", papers="TR", check="bitwise equal to NumPy's f32, step by step")
def laplace(
    gpu: GpuLike,
    rng: Generator,
    nx: int = whole("cells along x", 3, 1 << 10, 33, 100, 100),
    ny: int = whole("cells along y", 3, 1 << 10, 30, 100, 100),
    nz: int = whole("cells along z", 3, 1 << 10, 10, 100, 100),
    steps: int = whole("steps", 1, 10000, 1),
) -> Outcome:
    """3-D Laplace solver, planes of tiles in the scratchpad

    Random values in the grid and on its borders. One launch per step.
    """
    field = rng.random((nz, ny, nx), dtype=np.float32)
    source, target = gpu.array(field.ravel()), gpu.zeros(field.size, np.float32)
    for _ in range(steps):
        gpu.launch(
            laplace_step,
            grid=(blocks_for(nx, WIDE), blocks_for(ny, HIGH)),
            block=(WIDE, HIGH),
            args=(source, target, nx, ny, nz),
        )
        source, target = target, source
    expected = reference_laplace(field, steps)
    result = source.numpy().reshape(expected.shape)
    return compare("value", result, expected, details={"cells": field.size})


@workload(id="stn", group="I", papers="TR", check="bitwise equal to NumPy's f32, step by step")
def wave(
    gpu: GpuLike,
    rng: Generator,
    nx: int = whole("cells along x", 3, 1 << 10, 32, 64, 128),
    ny: int = whole("cells along y", 3, 1 << 10, 8, 64, 128),
    nz: int = whole("cells along z", 3, 1 << 10, 8, 24, 64),
    steps: int = whole("steps", 1, 10000, 4, 4, 8),
    blocks_per_core: int = whole("blocks per core; all must be resident", 1, 8, 1, 2, 2),
    threads: int = whole("threads per block", 32, 1 << 10, 128, 768, 768),
    patience: int = whole(
        f"polls of a flag after which a block gives up, {STALE}",
        100,
        1 << 30,
        1 << 13,
        1 << 16,
        1 << 20,
    ),
) -> Outcome:
    """3-D wave equation, 24 neighbours, all steps in one launch with a grid barrier each

    A random field with zero velocity. One launch of a grid that is resident as a whole.
    """
    start = np.zeros((2, nz + 2 * REACH, ny + 2 * REACH, nx + 2 * REACH), np.float32)
    inner = slice(REACH, -REACH)
    start[:, inner, inner, inner] = rng.uniform(-1, 1, (nz, ny, nx))
    courant = np.float32(0.1)
    blocks = gpu.machine.cores * blocks_per_core
    fields = gpu.array(start.ravel())
    gpu.launch(
        wave_steps,
        grid=blocks,
        block=threads,
        args=(
            fields,
            Flags(
                gpu.zeros(blocks, np.int32),
                gpu.zeros(blocks, np.int32),
                patience_on(gpu.machine.cores, patience),
            ),
            nx,
            ny,
            nz,
            steps,
            courant,
        ),
    )
    expected = reference_wave(start, steps, courant)
    result = fields.numpy().reshape(expected.shape)
    return compare("field", result, expected, details={"cells": nx * ny * nz})
