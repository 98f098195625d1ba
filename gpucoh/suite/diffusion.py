"""Speckle-reducing anisotropic diffusion of an image: ``sr`` by way of the scratchpad, ``srad-qr`` (QuickRelease) in
memory.

Original: srad_v2 of Rodinia (CUDA). As there: 16 x 16 threads a block; two launches an iteration;
every thread, not only those at the tile's edge, loads the neighbours beyond the tile, so that all 16
rows of a block load the same row above and below, and all columns the same word left and right; the
first kernel stores four slopes and a coefficient for the second one. In every iteration the host
takes the speckle scale from rows and columns 0 to 127, copies the whole image to the GPU before the
launches and back after them. Paper scale is the original's default, 2048 x 2048 and 2 iterations
(assumed: TC and RCC state no size; DeNovo's size is ``rows=256 columns=256``).

Differences: image sizes need not be multiples of 16, so that loads and stores are guarded; a pixel's
own value stays in a register instead of passing through the scratchpad.

``srad-qr``. Original: srad of OpenDwarfs (OpenCL): the same launches and the same host, without scratchpad and
barriers; every thread loads its pixel and four neighbours, and then its coefficient and two neighbours', from memory.
QuickRelease states neither the version nor a size; the default is the suite's, 2,048 x 2,048 and 2 iterations.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite import inputs
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, compare, file, real, whole
from gpucoh.suite.declaration import workload

TILE = 16
REGION = 128  # rows and columns from which the host takes the speckle scale


@lang.record
class Picture:
    """The image, the differences of each pixel to its four neighbours, and the diffusion coefficients."""

    image: lang.Buffer[lang.f32]
    slopes: lang.Buffer[lang.f32]
    coefficients: lang.Buffer[lang.f32]
    rows: lang.i32
    columns: lang.i32


@lang.device
def store_slopes(
    picture: Picture,
    at: lang.i32,
    value: lang.f32,
    north: lang.f32,
    south: lang.f32,
    west: lang.f32,
    east: lang.f32,
    speckle: lang.f32,
) -> None:
    """The coefficient of a pixel that follows from its differences, and these."""
    squares = north * north + south * south + west * west + east * east
    gradient = squares / (value * value)
    laplacian = (north + south + west + east) / value
    numerator = 0.5 * gradient - 0.0625 * (laplacian * laplacian)
    denominator = 1.0 + 0.25 * laplacian
    variation = numerator / (denominator * denominator)
    ratio = (variation - speckle) / (speckle * (1.0 + speckle))
    picture.coefficients[at] = lang.min(lang.max(1.0 / (1.0 + ratio), 0.0), 1.0)
    area = picture.rows * picture.columns
    picture.slopes[at] = north
    picture.slopes[area + at] = south
    picture.slopes[2 * area + at] = west
    picture.slopes[3 * area + at] = east


@lang.kernel
def speckle_coefficients(picture: Picture, speckle: lang.f32) -> None:
    """Differences to the four neighbours, and the diffusion coefficient that follows from them."""
    tile = lang.shared(lang.f32, (TILE, TILE))
    above = lang.shared(lang.f32, (TILE, TILE))
    below = lang.shared(lang.f32, (TILE, TILE))
    left = lang.shared(lang.f32, (TILE, TILE))
    right = lang.shared(lang.f32, (TILE, TILE))
    x = lang.thread_id(0)
    y = lang.thread_id(1)
    first_column = lang.block_id(0) * TILE
    first_row = lang.block_id(1) * TILE
    column = first_column + x
    row = first_row + y
    inside = row < picture.rows and column < picture.columns
    at = row * picture.columns + column
    if inside:
        above[y, x] = picture.image[lang.max(first_row - 1, 0) * picture.columns + column]
        below[y, x] = picture.image[
            lang.min(first_row + TILE, picture.rows - 1) * picture.columns + column
        ]
    lang.barrier()
    if inside:
        left[y, x] = picture.image[row * picture.columns + lang.max(first_column - 1, 0)]
        right[y, x] = picture.image[
            row * picture.columns + lang.min(first_column + TILE, picture.columns - 1)
        ]
    lang.barrier()
    value = lang.f32(1.0)
    if inside:
        value = picture.image[at]
    tile[y, x] = value
    lang.barrier()
    if inside:
        last_y = lang.min(TILE, picture.rows - first_row) - 1
        last_x = lang.min(TILE, picture.columns - first_column) - 1
        north = tile[y - 1, x] if y > 0 else above[y, x]
        south = tile[y + 1, x] if y < last_y else below[y, x]
        west = tile[y, x - 1] if x > 0 else left[y, x]
        east = tile[y, x + 1] if x < last_x else right[y, x]
        north = north - value
        south = south - value
        west = west - value
        east = east - value
        store_slopes(picture, at, value, north, south, west, east, speckle)


@lang.kernel
def diffuse(picture: Picture, rate: lang.f32) -> None:
    """One diffusion step, with the picture.coefficients of the pixel and its south and east neighbours."""
    tile = lang.shared(lang.f32, (TILE, TILE))
    below = lang.shared(lang.f32, (TILE, TILE))
    right = lang.shared(lang.f32, (TILE, TILE))
    x = lang.thread_id(0)
    y = lang.thread_id(1)
    first_column = lang.block_id(0) * TILE
    first_row = lang.block_id(1) * TILE
    column = first_column + x
    row = first_row + y
    inside = row < picture.rows and column < picture.columns
    at = row * picture.columns + column
    value = lang.f32(0.0)
    if inside:
        value = picture.image[at]
    lang.barrier()
    if inside:
        below[y, x] = picture.coefficients[
            lang.min(first_row + TILE, picture.rows - 1) * picture.columns + column
        ]
    lang.barrier()
    if inside:
        right[y, x] = picture.coefficients[
            row * picture.columns + lang.min(first_column + TILE, picture.columns - 1)
        ]
    lang.barrier()
    here = lang.f32(0.0)
    if inside:
        here = picture.coefficients[at]
    tile[y, x] = here
    lang.barrier()
    if inside:
        last_y = lang.min(TILE, picture.rows - first_row) - 1
        last_x = lang.min(TILE, picture.columns - first_column) - 1
        south = tile[y + 1, x] if y < last_y else below[y, x]
        east = tile[y, x + 1] if x < last_x else right[y, x]
        area = picture.rows * picture.columns
        flow = here * picture.slopes[at] + south * picture.slopes[area + at]
        flow = flow + here * picture.slopes[2 * area + at] + east * picture.slopes[3 * area + at]
        picture.image[at] = value + 0.25 * rate * flow


@lang.kernel
def coefficients_in_memory(picture: Picture, speckle: lang.f32) -> None:
    """As :func:`speckle_coefficients`, without scratchpad."""
    column = lang.global_id(0)
    row = lang.global_id(1)
    if row < picture.rows and column < picture.columns:
        at = row * picture.columns + column
        value = picture.image[at]
        north = picture.image[lang.max(row - 1, 0) * picture.columns + column] - value
        south = (
            picture.image[lang.min(row + 1, picture.rows - 1) * picture.columns + column] - value
        )
        west = picture.image[row * picture.columns + lang.max(column - 1, 0)] - value
        east = (
            picture.image[row * picture.columns + lang.min(column + 1, picture.columns - 1)] - value
        )
        store_slopes(picture, at, value, north, south, west, east, speckle)


@lang.kernel
def diffuse_in_memory(picture: Picture, rate: lang.f32) -> None:
    """As :func:`diffuse`, without scratchpad."""
    column = lang.global_id(0)
    row = lang.global_id(1)
    if row < picture.rows and column < picture.columns:
        at = row * picture.columns + column
        area = picture.rows * picture.columns
        here = picture.coefficients[at]
        south = picture.coefficients[lang.min(row + 1, picture.rows - 1) * picture.columns + column]
        east = picture.coefficients[
            row * picture.columns + lang.min(column + 1, picture.columns - 1)
        ]
        flow = here * picture.slopes[at] + south * picture.slopes[area + at]
        flow = flow + here * picture.slopes[2 * area + at] + east * picture.slopes[3 * area + at]
        picture.image[at] = picture.image[at] + 0.25 * rate * flow


def speckle_scale(image: NDArray[np.float32]) -> np.float32:
    """Squared coefficient of variation of the homogeneous region, the first 128 rows and columns."""
    ground = image[:REGION, :REGION].astype(np.float64)
    return np.float32(max(ground.var() / ground.mean() ** 2, 1e-6))


def reference_step(image: NDArray[np.float32], rate: np.float32) -> NDArray[np.float32]:
    """One iteration over the whole image in f32, each operation in the kernels' order."""
    f = np.float32
    speckle = speckle_scale(image)
    padded = np.pad(image, 1, mode="edge")
    north, south = padded[:-2, 1:-1] - image, padded[2:, 1:-1] - image
    west, east = padded[1:-1, :-2] - image, padded[1:-1, 2:] - image
    squares = north * north + south * south + west * west + east * east
    gradient = squares / (image * image)
    laplacian = (north + south + west + east) / image
    numerator = f(0.5) * gradient - f(0.0625) * (laplacian * laplacian)
    denominator = f(1.0) + f(0.25) * laplacian
    variation = numerator / (denominator * denominator)
    ratio = (variation - speckle) / (speckle * (f(1.0) + speckle))
    here = np.minimum(np.maximum(f(1.0) / (f(1.0) + ratio), f(0.0)), f(1.0))
    padded = np.pad(here, 1, mode="edge")
    flow = here * north + padded[2:, 1:-1] * south
    flow = flow + here * west + padded[1:-1, 2:] * east
    return np.asarray(image + f(0.25) * rate * flow, np.float32)


IMAGE = file(f"{inputs.IMAGE_KINDS}; default: matplotlib's photograph")
ROWS = whole("rows, to which the image is resampled", 2, 16384, 64, 256, 2048)
COLUMNS = whole("columns", 2, 16384, 64, 256, 2048)
ITERATIONS = whole("diffusion steps", 1, 10000, 1, 2, 2)
RATE = real("step length", 0, 1, 0.5)
CHECK = "bitwise equal to NumPy's f32, step by step"


def diffuse_image(
    gpu: GpuLike,
    start: NDArray[np.float32],
    iterations: int,
    rate: float,
    kernels: tuple[lang.Kernel, lang.Kernel],
) -> Outcome:
    """Two launches per iteration, before and after which the host copies the image."""
    rows, columns = start.shape
    image = gpu.zeros(rows * columns, np.float32)
    slopes = gpu.zeros(4 * rows * columns, np.float32)
    coefficients = gpu.zeros(rows * columns, np.float32)
    picture = Picture(image, slopes, coefficients, rows, columns)
    grid = (blocks_for(columns, TILE), blocks_for(rows, TILE))
    result = expected = start
    for _ in range(iterations):
        speckle = speckle_scale(result)
        image[:] = result.ravel()
        for kernel, number in zip(kernels, (speckle, np.float32(rate)), strict=True):
            gpu.launch(
                kernel,
                grid=grid,
                block=(TILE, TILE),
                args=(picture, number),
            )
        result = image.numpy().reshape(rows, columns)
        expected = reference_step(expected, np.float32(rate))
    return compare("pixel", result, expected, details={"pixels": rows * columns})


def speckled(
    rng: Generator, image: str | None = IMAGE, rows: int = ROWS, columns: int = COLUMNS
) -> NDArray[np.float32]:
    """The image with multiplicative speckle, as exp of grey values, so that no pixel is 0."""
    grey = inputs.resample(inputs.read_image(image, "photograph"), rows, columns)
    speckle = rng.gamma(20.0, 1 / 20.0, (rows, columns)).astype(np.float32)
    return np.asarray(np.exp(grey) * speckle, np.float32)


@workload(id="sr", aliases=("srad",), group="AN", papers="TRD", check=CHECK, input=speckled)
def diffusion(
    gpu: GpuLike,
    start: NDArray[np.float32],
    iterations: int = ITERATIONS,
    rate: float = RATE,
) -> Outcome:
    """speckle-reducing anisotropic diffusion, scratchpad tiles, two launches per iteration"""
    return diffuse_image(gpu, start, iterations, rate, (speckle_coefficients, diffuse))


@workload(id="srad-qr", group="N", papers="Q", check=CHECK, input=speckled)
def diffusion_in_memory(
    gpu: GpuLike,
    start: NDArray[np.float32],
    iterations: int = ITERATIONS,
    rate: float = RATE,
) -> Outcome:
    """speckle-reducing anisotropic diffusion, neighbours straight from memory"""
    kernels = coefficients_in_memory, diffuse_in_memory
    return diffuse_image(gpu, start, iterations, rate, kernels)
