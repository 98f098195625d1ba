"""Stencils: ``hsp`` and ``hsp-rcc``, the HotSpot 2-D thermal simulation with scratchpad tiles.

``hsp``: original: hotspot of Rodinia (CUDA). As there: 16 x 16 threads a block, which load a tile with
its halo from two arrays, compute the steps of a launch in the scratchpad and store the inner 12 x 12
cells of a third array, so that blocks share the lines that they store; 48 warps a core; pyramid height
2. Paper scale is the original's default, 512 x 512 and 2 steps, hence one launch (assumed: TC and RCC
state no size; DeNovo has this size too).

``hsp-rcc``: RCC altered the tile's dimensions to match cache blocks, without numbers. Here (inferred)
36 x 14 threads, 3 blocks for a core's 48 warps, store 32 x 10 cells: rows of one whole line, which no
other block stores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite import inputs
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, compare, file, whole
from gpucoh.suite.buffers import ReadOnlyF32
from gpucoh.suite.declaration import workload

TILE = 16, 16  # columns and rows of threads
LINE_TILE = 36, 14  # of which 32 columns are stored
WORDS = max(TILE[0] * TILE[1], LINE_TILE[0] * LINE_TILE[1])
AMBIENT = 80.0


@lang.record
class Coefficients:
    """What a step adds of a cell's flow, and the conductances across, down and out of the chip."""

    rate: lang.f32
    across: lang.f32
    down: lang.f32
    out: lang.f32


# Each block loads a tile with a halo of `steps` cells, computes `steps` time steps in the scratchpad,
# each valid one cell further in, and writes the inner cells. At the border of the chip the cell
# itself replaces a missing neighbour.
@lang.kernel
def hotspot(
    power: ReadOnlyF32,
    source: lang.Buffer[lang.f32],
    target: lang.Buffer[lang.f32],
    rows: lang.i32,
    columns: lang.i32,
    steps: lang.i32,
    chip: Coefficients,
) -> None:
    """``steps`` time steps of the temperature field ``source`` into ``target``."""
    tile = lang.shared(lang.f32, WORDS)
    wide = lang.block_dim(0)
    high = lang.block_dim(1)
    x = lang.thread_id(0)
    y = lang.thread_id(1)
    at = y * wide + x
    column = lang.block_id(0) * (wide - 2 * steps) + x - steps
    row = lang.block_id(1) * (high - 2 * steps) + y - steps
    inside = row >= 0 and row < rows and column >= 0 and column < columns
    temperature = lang.f32(0.0)
    heat = lang.f32(0.0)
    if inside:
        temperature = source[row * columns + column]
        heat = power[row * columns + column]
    tile[at] = temperature
    lang.barrier()
    for step in range(steps):
        if inside and x > step and x < wide - 1 - step and y > step and y < high - 1 - step:
            north = tile[at - wide * lang.min(row, 1)]
            south = tile[at + wide * lang.min(rows - 1 - row, 1)]
            west = tile[at - lang.min(column, 1)]
            east = tile[at + lang.min(columns - 1 - column, 1)]
            twice = temperature + temperature
            flow = heat + (north + south - twice) * chip.down
            flow = flow + (east + west - twice) * chip.across
            flow = flow + (AMBIENT - temperature) * chip.out
            temperature = temperature + chip.rate * flow
        lang.barrier()
        tile[at] = temperature
        lang.barrier()
    if inside and x >= steps and x < wide - steps and y >= steps and y < high - steps:
        target[row * columns + column] = temperature


@dataclass(frozen=True)
class Chip:
    """The coefficients of one chip, in f32 as passed to the kernel."""

    rate: np.float32
    across: np.float32
    down: np.float32
    out: np.float32
    cell_area: float

    @classmethod
    def of_grid(cls, rows: int, columns: int) -> Chip:
        """For a silicon die of 16 x 16 x 0.5 mm (the HotSpot example) cut into ``rows`` x
        ``columns`` cells.
        """
        side, thickness = 0.016, 0.0005
        heat_capacity, conductivity, capacity_factor = 1.75e6, 100.0, 0.5
        largest_power, precision = 3.0e6, 0.001
        height, width = side / rows, side / columns
        capacity = capacity_factor * heat_capacity * thickness * width * height
        slope = largest_power / (capacity_factor * thickness * heat_capacity)
        return cls(
            rate=np.float32(precision / slope / capacity),
            across=np.float32(2.0 * conductivity * thickness * height / width),
            down=np.float32(2.0 * conductivity * thickness * width / height),
            out=np.float32(conductivity * height * width / thickness),
            cell_area=height * width,
        )


def reference_hotspot(
    temperature: NDArray[np.float32], power: NDArray[np.float32], chip: Chip, steps: int
) -> NDArray[np.float32]:
    """The same simulation over whole arrays in f32, each operation in the kernel's order: bitwise
    equal.
    """
    field = temperature.astype(np.float32)
    ambient = np.float32(AMBIENT)
    for _ in range(steps):
        padded = np.pad(field, 1, mode="edge")
        twice = field + field
        flow = power + (padded[:-2, 1:-1] + padded[2:, 1:-1] - twice) * chip.down
        flow = flow + (padded[1:-1, 2:] + padded[1:-1, :-2] - twice) * chip.across
        flow = flow + (ambient - field) * chip.out
        field = (field + chip.rate * flow).astype(np.float32)
    return field


IMAGE = file(f"initial temperature: {inputs.IMAGE_KINDS}; default: matplotlib's elevation model")
ROWS = whole("rows of the grid, to which the image is resampled", 1, 16384, 64, 512, 512)
COLUMNS = whole("columns of the grid", 1, 16384, 64, 512, 512)
STEPS = whole("time steps", 1, 10000, 2)
CHECK = "bitwise equal to NumPy's f32, step by step"


def steps_per_launch_in(tile: tuple[int, int]) -> Any:
    """The parameter: a tile keeps at least two rows."""
    return whole("time steps in the scratchpad per launch", 1, tile[1] // 2 - 1, 2)


@dataclass(frozen=True)
class Die:
    """A chip with its temperature and power in each cell."""

    chip: Chip
    temperature: NDArray[np.float32]
    power: NDArray[np.float32]


def die(rng: Generator, image: str | None = IMAGE, rows: int = ROWS, columns: int = COLUMNS) -> Die:
    """Temperature from the image (50 to 70 degrees), random power up to the die's maximum."""
    chip = Chip.of_grid(rows, columns)
    grey = inputs.resample(inputs.read_image(image), rows, columns)
    temperature = np.float32(50.0) + np.float32(20.0) * grey
    power = (rng.random((rows, columns)) * 3.0e6 * chip.cell_area).astype(np.float32)
    return Die(chip, temperature, power)


def simulate(
    gpu: GpuLike, given: Die, steps: int, steps_per_launch: int, tile: tuple[int, int]
) -> Outcome:
    """Ping-pong between two arrays, ``steps_per_launch`` steps per launch."""
    rows, columns = given.temperature.shape
    chip, (wide, high) = given.chip, tile
    numbers = chip.rate, chip.across, chip.down, chip.out
    coefficients = Coefficients(*map(float, numbers))
    power = gpu.array(given.power.ravel())
    source = gpu.array(given.temperature.ravel())
    target = gpu.zeros(rows * columns, np.float32)
    done = 0
    while done < steps:
        now = min(steps_per_launch, steps - done)
        gpu.launch(
            hotspot,
            grid=(blocks_for(columns, wide - 2 * now), blocks_for(rows, high - 2 * now)),
            block=tile,
            args=(
                power,
                source,
                target,
                rows,
                columns,
                now,
                coefficients,
            ),
        )
        source, target = target, source
        done += now
    result = source.numpy().reshape(rows, columns)
    expected = reference_hotspot(given.temperature, given.power, chip, steps)
    return compare("temperature", result, expected, details={"cells": rows * columns})


@workload(id="hsp", aliases=("hs",), group="AN", papers="TRD", check=CHECK, input=die)
def tiles(
    gpu: GpuLike,
    given: Die,
    steps: int = STEPS,
    steps_per_launch: int = steps_per_launch_in(TILE),
) -> Outcome:
    """HotSpot 2-D thermal stencil with scratchpad tiles, several time steps per launch"""
    return simulate(gpu, given, steps, steps_per_launch, TILE)


@workload(id="hsp-rcc", group="A", papers="R", check=CHECK, input=die)
def tiles_of_lines(
    gpu: GpuLike,
    given: Die,
    steps: int = STEPS,
    steps_per_launch: int = steps_per_launch_in(LINE_TILE),
) -> Outcome:
    """HotSpot with tiles whose stored rows are whole lines"""
    return simulate(gpu, given, steps, steps_per_launch, LINE_TILE)
