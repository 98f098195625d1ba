"""``hpgmg``: a geometric multigrid solver of which the GPU does the smoothing of the fine levels.

Original: hpgmg-fv of AMD's ComputeApps (C++ AMP), second-order operator with variable coefficients, Jacobi. As there:
blocks of 32 x 8 x 2 threads, a cell a thread; a smooth reads seven words of one vector, six coefficients, the inverse
diagonal and the right side, and writes another vector; six smooths a call go to and fro between the two; before each
the host exchanges the boundary (one box, so that only the boundary condition is left), which writes the ghost cells of
the vector that is read; the host does the rest, and all of the levels below 16 cells a side. Elements have 8 bytes.
Paper scale is one box of 64 x 64 x 64 cells ("6 1", 2 MiB a vector; STC states no size).

Inferred: as many V-cycles as ``cycles``, each of a call of the smoother before and after the correction; restriction
by mean, interpolation piecewise constant, a ghost cell is minus its neighbour; six calls at the coarsest level; rows
are padded to a multiple of four elements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, Refused, blocks_for, compare, whole
from gpucoh.suite.buffers import PLACEMENT_SEED, ReadOnlyF32, doubles, place, values_of
from gpucoh.suite.declaration import workload

TILE = 32, 8, 2
COARSEST_CALLS = 6
SMALLEST = 16  # cells a side of a level of the GPU
WEIGHT = 2.0 / 3.0

Grid = NDArray[np.float32]  # with ghost cells, by k, j, i


@lang.device
def value(buffer: ReadOnlyF32, word: lang.i32) -> lang.f32:
    """The value of the double at a word."""
    found, _ = lang.load2(buffer, word)
    return found


@lang.record
class Coefficients:
    """Those of a level: of the lower faces of each cell, and the inverse of the diagonal."""

    beta_i: ReadOnlyF32
    beta_j: ReadOnlyF32
    beta_k: ReadOnlyF32
    inverse: ReadOnlyF32


@lang.kernel
def smooth_cells(
    x: ReadOnlyF32,
    level: Coefficients,
    right: ReadOnlyF32,
    result: lang.Buffer[lang.f32],
    side: lang.i32,
    row: lang.i32,
    plane: lang.i32,
    scale: lang.f32,
) -> None:
    """One Jacobi step of a cell; ``row`` and ``plane`` in words."""
    i = lang.global_id(0)
    j = lang.global_id(1)
    k = lang.global_id(2)
    if i < side and j < side and k < side:
        at = (k + 1) * plane + (j + 1) * row + 2 * i + 2
        centre = value(x, at)
        flux = value(level.beta_i, at + 2) * (value(x, at + 2) - centre)
        flux = flux + value(level.beta_i, at) * (value(x, at - 2) - centre)
        flux = flux + value(level.beta_j, at + row) * (value(x, at + row) - centre)
        flux = flux + value(level.beta_j, at) * (value(x, at - row) - centre)
        flux = flux + value(level.beta_k, at + plane) * (value(x, at + plane) - centre)
        flux = flux + value(level.beta_k, at) * (value(x, at - plane) - centre)
        rest = value(right, at) + scale * flux
        lang.store2(result, at, centre + WEIGHT * value(level.inverse, at) * rest, 0.0)


INNER = slice(1, -1)
LOWER, UPPER = slice(None, -2), slice(2, None)


def sides(array: Grid, axis: int) -> tuple[Grid, Grid]:
    """The cells one below and one above the inner cells on an axis."""
    low, high = [INNER] * 3, [INNER] * 3
    low[axis], high[axis] = LOWER, UPPER
    return array[tuple(low)], array[tuple(high)]


@dataclass(frozen=True)
class Level:
    """Coefficients of one level; the betas are those of a cell's lower faces, in the order k, j, i."""

    side: int
    betas: tuple[Grid, Grid, Grid]
    inverse: Grid = field(init=False)

    def __post_init__(self) -> None:
        diagonal = np.zeros((self.side,) * 3, np.float32)
        for axis, beta in enumerate(self.betas):
            diagonal += beta[INNER, INNER, INNER] + sides(beta, axis)[1]
        inverse = np.zeros((self.side + 2,) * 3, np.float32)
        inverse[INNER, INNER, INNER] = 1 / (self.scale * diagonal)
        object.__setattr__(self, "inverse", inverse)

    @property
    def scale(self) -> np.float32:
        """1 / h ** 2 on a cube of length 1."""
        return np.float32(self.side**2)

    def residual(self, x: Grid, right: Grid) -> Grid:
        """Right side minus operator; the inner cells."""
        inner = x[INNER, INNER, INNER]
        flux = np.zeros_like(inner)
        for axis in (2, 1, 0):
            beta = self.betas[axis]
            low, high = sides(x, axis)
            flux = flux + sides(beta, axis)[1] * (high - inner)
            flux = flux + beta[INNER, INNER, INNER] * (low - inner)
        rest: Grid = right[INNER, INNER, INNER] + self.scale * flux
        return rest

    def coarser(self) -> Level:
        """The next level; a beta is the mean of the four faces that make up one of its faces."""
        half = self.side // 2
        betas = []
        for axis in range(3):
            fine = self.betas[axis]
            faces = np.moveaxis(fine, axis, 0)[1 : self.side + 2 : 2, INNER, INNER]
            means = faces.reshape(half + 1, half, 2, half, 2).mean(axis=(2, 4))
            coarse = np.ones((half + 2,) * 3, np.float32)
            np.moveaxis(coarse, axis, 0)[1:, INNER, INNER] = means
            betas.append(coarse)
        return Level(half, (betas[0], betas[1], betas[2]))


def ghosts(x: Grid) -> None:
    """Set the ghost cells of a vector that is 0 on the faces of the cube."""
    for axis in range(3):
        moved = np.moveaxis(x, axis, 0)
        moved[0, INNER, INNER] = -moved[1, INNER, INNER]
        moved[-1, INNER, INNER] = -moved[-2, INNER, INNER]


# A call of the smoother: x after its steps.
Smoother: TypeAlias = Callable[[Level, Grid, Grid], Grid]


def smooth_on_host(level: Level, x: Grid, right: Grid, steps: int) -> Grid:
    """In NumPy."""
    x = x.copy()
    weights = np.float32(WEIGHT) * level.inverse[INNER, INNER, INNER]
    for _ in range(steps):
        ghosts(x)
        following = x.copy()
        following[INNER, INNER, INNER] += weights * level.residual(x, right)
        x = following
    return x


def padded(inner: Grid) -> Grid:
    """With ghost cells of 0."""
    return np.pad(inner, 1)


def cycle(smoother: Smoother, levels: list[Level], x: Grid, right: Grid) -> Grid:
    """One V-cycle from the first of ``levels``."""
    level, rest = levels[0], levels[1:]
    if not rest:
        for _ in range(COARSEST_CALLS):
            x = smoother(level, x, right)
        return x
    x = smoother(level, x, right)
    ghosts(x)
    half = level.side // 2
    means = level.residual(x, right).reshape(half, 2, half, 2, half, 2).mean(axis=(1, 3, 5))
    coarse = np.zeros((half + 2,) * 3, np.float32)
    correction = cycle(smoother, rest, coarse, padded(means))[INNER, INNER, INNER]
    for axis in range(3):
        correction = np.repeat(correction, 2, axis)
    return smoother(level, x + padded(correction), right)


@dataclass(frozen=True)
class OnGpu:
    """The vectors of one level in simulated memory, and the smoother that uses them."""

    level: Level
    launch: Callable[..., None]
    arrays: list[Any]  # x, result, betas of i, j, k, inverse diagonal, right side
    row: int

    @classmethod
    def of(cls, level: Level, gpu: GpuLike, placement_seed: int) -> OnGpu:
        """Allocate the vectors, and write the coefficients."""
        row = -(-(level.side + 2) // 4) * 4
        zeros = 2 * row * (level.side + 2) ** 2, np.float32
        fixed = [doubles(wide(grid, row)) for grid in (*level.betas[::-1], level.inverse)]
        arrays = place(gpu, placement_seed, zeros, zeros, *fixed, zeros)

        def launch(*args: Any) -> None:
            gpu.launch(
                smooth_cells,
                grid=tuple(blocks_for(level.side, size) for size in TILE),
                block=TILE,
                args=args,
            )

        return cls(level, launch, arrays, row)

    def smooth(self, x: Grid, right: Grid, steps: int) -> Grid:
        """A call: the host writes x and the right side, and before each step the ghost cells."""
        source, result, *fixed, right_side = self.arrays
        source[:] = doubles(wide(x, self.row))
        right_side[:] = doubles(wide(right, self.row))
        for _ in range(steps):
            self._write_ghosts(source)
            scale = float(self.level.scale)
            sizes = self.level.side, 2 * self.row, 2 * self.row * (self.level.side + 2)
            self.launch(source, Coefficients(*fixed), right_side, result, *sizes, scale)
            source, result = result, source
        return self._read(source)

    def _read(self, array: Any) -> Grid:
        cells = self.level.side + 2
        flat = values_of(array.numpy())
        return np.ascontiguousarray(flat.reshape(cells, cells, self.row)[:, :, :cells])

    def _write_ghosts(self, array: Any) -> None:
        x = self._read(array)
        changed = x.copy()
        ghosts(changed)
        places = np.zeros(x.shape, bool)
        for axis in range(3):
            moved = np.moveaxis(places, axis, 0)
            moved[[0, -1], INNER, INNER] = True
        words = np.flatnonzero(np.repeat(wide(places, self.row), 2))
        array[words] = doubles(wide(changed, self.row))[words]


def wide(grid: NDArray[Any], row: int) -> NDArray[Any]:
    """With rows padded to ``row`` elements."""
    return np.pad(grid, ((0, 0), (0, 0), (0, row - grid.shape[2])))


@dataclass(frozen=True)
class Problem:
    """The levels of a grid, and the right side of the finest."""

    levels: list[Level]
    right: Grid

    @classmethod
    def random(cls, rng: Generator, side: int) -> Problem:
        """Random right side, and coefficients from 1 to 2."""
        shape = (side + 2,) * 3
        betas = [rng.uniform(1, 2, shape).astype(np.float32) for _ in range(3)]
        levels = [Level(side, (betas[0], betas[1], betas[2]))]
        while levels[-1].side > 2:
            levels.append(levels[-1].coarser())
        return cls(levels, padded(rng.uniform(-1, 1, (side,) * 3).astype(np.float32)))

    def solve(self, smoother: Smoother, cycles: int) -> Grid:
        """The inner cells of x."""
        x = np.zeros_like(self.right)
        for _ in range(cycles):
            x = cycle(smoother, self.levels, x, self.right)
        return x[INNER, INNER, INNER]


@workload(
    id="hpgmg",
    group="K",
    papers="S",
    check="the solution equals NumPy's, call by call, within 1e-4",
)
def multigrid(
    gpu: GpuLike,
    rng: Generator,
    side: int = whole("cells a side, a power of two", 16, 256, 16, 32, 64),
    smooths: int = whole("smooths in a call; the original has 6", 1, 100, 2, 6, 6),
    cycles: int = whole("V-cycles", 1, 100, 1, 1, 4),
    placement_seed: int = PLACEMENT_SEED,
) -> Outcome:
    """multigrid V-cycles: Jacobi smooths of the fine levels, boundaries and the rest by the host

    The reference does the same with NumPy's smoother.
    """
    if side & (side - 1) or side < SMALLEST:
        raise Refused(f"parameter side is {side}; allowed: a power of two of at least {SMALLEST}")
    problem = Problem.random(rng, side)
    on_gpu = {
        level.side: OnGpu.of(level, gpu, placement_seed)
        for level in problem.levels
        if level.side >= SMALLEST
    }

    def on_host(level: Level, x: Grid, right: Grid) -> Grid:
        return smooth_on_host(level, x, right, smooths)

    def smoother(level: Level, x: Grid, right: Grid) -> Grid:
        if level.side in on_gpu:
            return on_gpu[level.side].smooth(x, right, smooths)
        return on_host(level, x, right)

    found, expected = (problem.solve(one, cycles) for one in (smoother, on_host))
    details = {"cells": side**3, "levels": len(on_gpu)}
    return compare("x", found, expected, tolerance=1e-4, floor=1e-4, details=details)
