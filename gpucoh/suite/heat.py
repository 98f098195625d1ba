"""``st``: a 7-point stencil on a 3-D grid, several iterations.

Original: stencil of Parboil (CUDA). As there: 32 x 4 threads a block, each with two columns of the grid 32
words apart, which it follows plane by plane; the block's tile of 64 x 4 words of the current plane is in the
scratchpad, the words above and below in registers, and at the tile's edges threads load the neighbours from
memory; cells at the grid's border keep their values; two arrays take turns, one launch an iteration, so that
a block reads its own tile and its neighbours' edges of the last one. Paper scale is DeNovo's 128 x 128 x 4
and 4 iterations: 64 blocks, 4 words stored a thread and launch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import (
    REGISTRY,
    GpuLike,
    Outcome,
    Parameter,
    Setting,
    blocks_for,
    compare,
)
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


@dataclass(frozen=True)
class Stencil:
    """``st`` on one input."""

    field: NDArray[np.float32]
    iterations: int

    @classmethod
    def prepare(cls, setting: Setting) -> Stencil:
        """Random cells."""
        shape = tuple(setting.integer(name) for name in ("nz", "ny", "nx"))
        return cls(setting.rng().random(shape, dtype=np.float32), setting.integer("iterations"))

    def run(self, gpu: GpuLike) -> Outcome:
        """A launch an iteration; both arrays start with the input."""
        nz, ny, nx = self.field.shape
        source, target = gpu.array(self.field.ravel()), gpu.array(self.field.ravel())
        for _ in range(self.iterations):
            gpu.launch(
                stencil_iteration,
                grid=(blocks_for(nx, TILE), blocks_for(ny, HIGH)),
                block=(WIDE, HIGH),
                args=(source, target, nx, ny, nz),
            )
            source, target = target, source
        return compare(
            "cell",
            source.numpy().reshape(self.field.shape),
            reference_stencil(self.field, self.iterations),
            details={"cells": self.field.size},
        )


def _extent(name: str, tiny: int, full: int) -> Parameter:
    return Parameter(
        name=name,
        kind="int",
        minimum=3,
        maximum=4096,
        defaults={"tiny": tiny, "small": full, "paper": full},
        text=f"cells along {name[1]}, with the border",
    )


REGISTRY.add(
    workload(
        Stencil,
        id="st",
        title="7-point stencil of a 3-D grid, planes in the scratchpad, one launch per iteration",
        group="N",
        papers=("D",),
        needs_coherence=False,
        check="bitwise equal to NumPy's f32, iteration by iteration",
        parameters=(
            _extent("nx", 70, 128),
            _extent("ny", 10, 128),
            _extent("nz", 4, 4),
            Parameter(
                name="iterations",
                kind="int",
                minimum=1,
                maximum=10000,
                defaults={"tiny": 3, "small": 4, "paper": 4},
                text="iterations, one launch each",
            ),
        ),
    )
)
