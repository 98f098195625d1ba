"""``rg``: the recursive Gaussian filter of an image.

Original: recursiveGaussian of the CUDA SDK. As there: pixels are packed RGBA words of 4 channels;
four launches: columns, transposition, columns, transposition. To filter the columns, a thread walks
down its column (a load and a store a pixel) and back up, where it reads its input and its own output
again; 64 threads a block, so that an image of 512 columns occupies 8 cores with 2 warps each. To
transpose, blocks of 16 x 16 threads pass tiles through the scratchpad. No thread synchronises except
at the transposition's barrier; lines that one core writes are read by others in the next launch.
Pixels beyond the border are the nearest ones. Paper scale is the original's default: 512 x 512 and
sigma 10 (assumed: TC states no size). That TC's "Gaussian Filter" RG is this sample is inferred from
its name.

Differences: the image is a grey photograph with noise of its own in every channel.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite import inputs
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, compare, file, real, whole
from gpucoh.suite.declaration import workload

BLOCK = 64
TILE = 16
SHIFTS = (0, 8, 16, 24)  # of the channels in a word, as in the kernel
LEVEL = 0.003921568627  # 1 / 255


# The four channels advance operation by operation, as the original's operators on vectors of four do:
# independent instructions follow one another. A loop variable used once is a constant in each turn.
@lang.device
def unpack(word: lang.u32, levels: lang.Buffer[lang.f32]) -> None:
    """The channels of a pixel, 0 to 1."""
    bits = lang.local(lang.u32, 4)
    for i in (0, 1, 2, 3):
        bits[i] = word >> (8 * i)
    for j in (0, 1, 2, 3):
        bits[j] = bits[j] & 255
    for k in (0, 1, 2, 3):
        levels[k] = lang.f32(bits[k])
    for m in (0, 1, 2, 3):
        levels[m] = LEVEL * levels[m]


@lang.device
def pack(levels: lang.Buffer[lang.f32]) -> lang.u32:
    """The pixel of four channels, each cut to 0 to 1."""
    bits = lang.local(lang.u32, 4)
    for i in (0, 1, 2, 3):
        levels[i] = lang.max(levels[i], 0.0)
    for j in (0, 1, 2, 3):
        levels[j] = lang.min(levels[j], 1.0)
    for k in (0, 1, 2, 3):
        levels[k] = 255.0 * levels[k]
    for m in (0, 1, 2, 3):
        bits[m] = lang.u32(levels[m])
    for n in (0, 1, 2, 3):
        bits[n] = bits[n] << (8 * n)
    return (bits[0] | bits[1]) | (bits[2] | bits[3])


@lang.device
def advance(
    inputs: lang.Buffer[lang.f32],
    gain: lang.f32,
    older: lang.Buffer[lang.f32],
    older_gain: lang.f32,
    out: lang.Buffer[lang.f32],
    b1: lang.f32,
    out2: lang.Buffer[lang.f32],
    b2: lang.f32,
) -> None:
    """The next output of every channel from two inputs and the two last outputs."""
    value = lang.local(lang.f32, 4)
    term = lang.local(lang.f32, 4)
    for i in (0, 1, 2, 3):
        value[i] = gain * inputs[i]
        term[i] = older_gain * older[i]
    for j in (0, 1, 2, 3):
        value[j] = value[j] + term[j]
        term[j] = b1 * out[j]
        out2[j] = b2 * out2[j]
    for k in (0, 1, 2, 3):
        value[k] = value[k] - term[k]
    for m in (0, 1, 2, 3):
        value[m] = value[m] - out2[m]
        out2[m] = out[m]
        out[m] = value[m]


@lang.record
class Coefficients:
    """Of the recursive filter of order 0, and the gains of the first and the last pixel."""

    a0: lang.f32
    a1: lang.f32
    a2: lang.f32
    a3: lang.f32
    b1: lang.f32
    b2: lang.f32
    first: lang.f32
    last: lang.f32


@lang.kernel
def filter_columns(
    source: lang.Buffer[lang.u32],
    target: lang.Buffer[lang.u32],
    columns: lang.i32,
    rows: lang.i32,
    c: Coefficients,
) -> None:
    """Filter a column downwards, then upwards, and add the two."""
    here = lang.local(lang.f32, 4)
    sums = lang.local(lang.f32, 4)
    before = lang.local(lang.f32, 4)  # the input one pixel and two pixels back
    before2 = lang.local(lang.f32, 4)
    out = lang.local(lang.f32, 4)  # the output one pixel and two pixels back
    out2 = lang.local(lang.f32, 4)
    column = lang.global_id()
    if column < columns:
        at = column
        unpack(source[at], before)
        for i in (0, 1, 2, 3):
            out[i] = c.first * before[i]
            out2[i] = out[i]
        for _ in range(rows):
            unpack(source[at], here)
            advance(here, c.a0, before, c.a1, out, c.b1, out2, c.b2)
            for j in (0, 1, 2, 3):
                before[j] = here[j]
                sums[j] = out[j]
            target[at] = pack(sums)
            at += columns
        at -= columns
        unpack(source[at], before)
        for k in (0, 1, 2, 3):
            before2[k] = before[k]
            out[k] = c.last * before[k]
            out2[k] = out[k]
        for _ in range(rows):
            word = source[at]
            unpack(target[at], sums)
            advance(before, c.a2, before2, c.a3, out, c.b1, out2, c.b2)
            for m in (0, 1, 2, 3):
                before2[m] = before[m]
                sums[m] = sums[m] + out[m]
            unpack(word, before)
            target[at] = pack(sums)
            at -= columns


@lang.kernel
def transpose_image(
    source: lang.Buffer[lang.u32],
    target: lang.Buffer[lang.u32],
    columns: lang.i32,
    rows: lang.i32,
) -> None:
    """Write the columns of ``source`` as rows of ``target``."""
    tile = lang.shared(lang.u32, (TILE, TILE + 1))
    tx = lang.thread_id(0)
    ty = lang.thread_id(1)
    x = lang.block_id(0) * TILE + tx
    y = lang.block_id(1) * TILE + ty
    if x < columns and y < rows:
        tile[ty, tx] = source[y * columns + x]
    lang.barrier()
    x = lang.block_id(1) * TILE + tx
    y = lang.block_id(0) * TILE + ty
    if x < rows and y < columns:
        target[y * rows + x] = tile[tx, ty]


def filter_coefficients(sigma: float) -> NDArray[np.float32]:
    """Coefficients of the recursive filter of order 0; float32: a0, a1, a2, a3, b1, b2, and the
    gains of the first and the last pixel.
    """
    alpha = 1.695 / max(sigma, 0.1)
    ema, ema2 = math.exp(-alpha), math.exp(-2 * alpha)
    k = (1 - ema) ** 2 / (1 + 2 * alpha * ema - ema2)
    a0, a1, a2, a3 = k, k * (alpha - 1) * ema, k * (alpha + 1) * ema, -k * ema2
    b1, b2 = -2 * ema, ema2
    gain = 1 + b1 + b2
    return np.array([a0, a1, a2, a3, b1, b2, (a0 + a1) / gain, (a2 + a3) / gain], np.float32)


def _levels(words: NDArray[np.uint32]) -> NDArray[np.float32]:
    channels = (words[..., None] >> np.array(SHIFTS, np.uint32)) & np.uint32(255)
    return np.asarray(np.float32(LEVEL) * channels.astype(np.float32))


def _words(levels: NDArray[np.float32]) -> NDArray[np.uint32]:
    channels = (np.float32(255) * np.clip(levels, 0, 1)).astype(np.uint32)
    return np.asarray(np.bitwise_or.reduce(channels << np.array(SHIFTS, np.uint32), axis=-1))


def reference_columns(
    image: NDArray[np.uint32], coefficients: NDArray[np.float32]
) -> NDArray[np.uint32]:
    """The filter down and up all columns, row by row in f32, in the kernel's order."""
    a0, a1, a2, a3, b1, b2, first, last = coefficients
    levels = _levels(image)
    result = np.empty_like(image)
    before = levels[0]
    out = out2 = first * before
    for row, here in enumerate(levels):
        value = a0 * here + a1 * before - b1 * out - b2 * out2
        result[row] = _words(value)
        before, out2, out = here, out, value
    before = before2 = levels[-1]
    out = out2 = last * before
    for row in reversed(range(len(levels))):
        value = a2 * before + a3 * before2 - b1 * out - b2 * out2
        before2, before, out2, out = before, levels[row], out, value
        result[row] = _words(_levels(result[row]) + value)
    return result


def reference_filter(
    image: NDArray[np.uint32], coefficients: NDArray[np.float32]
) -> NDArray[np.uint32]:
    """The filter of columns and then of rows."""
    between = reference_columns(image, coefficients).T
    return np.ascontiguousarray(reference_columns(between, coefficients).T)


@workload(id="rg", group="A", papers="T", check="every pixel equals NumPy's f32")
def gaussian_filter(
    gpu: GpuLike,
    rng: Generator,
    image: str | None = file(f"{inputs.IMAGE_KINDS}; default: matplotlib's photograph"),
    rows: int = whole("rows, to which the image is resampled", 1, 16384, 12, 512, 512),
    columns: int = whole("columns", 1, 16384, 72, 512, 512),
    sigma: float = real("standard deviation of the filter in pixels", 0.1, 1000, 3, 10, 10),
    passes: int = whole("repetitions of the filter, as in the sample's timing loop", 1, 1000, 1),
) -> Outcome:
    """recursive Gaussian filter of an RGBA image: columns, transposition, twice

    The image resampled to the requested size, with a little noise in each channel. Four launches per pass.
    """
    grey = inputs.resample(inputs.read_image(image, "photograph"), rows, columns)
    noise = rng.random((rows, columns, 4), dtype=np.float32)
    levels = np.float32(0.96) * grey[..., None] + np.float32(0.04) * noise
    start = _words(levels)
    coefficients = filter_coefficients(sigma)
    source = gpu.array(start.ravel())
    between = gpu.zeros(rows * columns, np.uint32)
    target = gpu.zeros(rows * columns, np.uint32)
    for _ in range(passes):
        filtered = source
        for wide, high in ((columns, rows), (rows, columns)):
            gpu.launch(
                filter_columns,
                grid=blocks_for(wide, BLOCK),
                block=BLOCK,
                args=(filtered, between, wide, high, Coefficients(*coefficients)),
            )
            gpu.launch(
                transpose_image,
                grid=(blocks_for(wide, TILE), blocks_for(high, TILE)),
                block=(TILE, TILE),
                args=(between, target, wide, high),
            )
            filtered = target
    result = target.numpy().reshape(rows, columns)
    expected = reference_filter(start, coefficients)
    return compare("pixel", result, expected, details={"pixels": rows * columns})
