"""Transforms of many small pieces: ``fft`` of 512 points (STC), ``dct`` of 8 x 8 (QuickRelease).

``fft``. Original: HCFFT of AMD's HCC examples, from SHOC. As there: 64 threads a block, a transform a block; a thread
loads 8 complex numbers of 8 bytes, 64 apart, makes three steps of radix 8 with two transpositions through a
scratchpad of 576 words (first all real, then all imaginary parts), and stores 8 numbers to another array, 64
apart: a wave of 64 stores 8 lines of 64 bytes eight times in a row. One launch to warm up and ten more do the same
work on the same input. Paper scale is one of its sizes, 96 MiB or 12M points (STC states none).

``dct``. Original: DCT of AMD's APP SDK (OpenCL). As there: 8 x 8 threads a block and a piece; a thread loads eight
words of its column straight from memory, which eight threads load, and eight coefficients, passes the sum on through 64
words of scratchpad, and loads eight more from the transposed table. Paper scale is the original's 64 x 64 (QuickRelease
states none).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.base.late import LATE_IMPORT
from gpucoh.suite.base import GpuLike, Outcome, compare, whole
from gpucoh.suite.buffers import PLACEMENT_SEED, ReadOnlyF32, place
from gpucoh.suite.declaration import workload

POINTS = 512
BLOCK = POINTS // 8
ALL = (0, 1, 2, 3, 4, 5, 6, 7)
REVERSED = (0, 4, 2, 6, 1, 5, 3, 7)  # bits of the number in reverse: the order that a step leaves
HALF = math.sqrt(0.5)
TURN = -2.0 * math.pi


@lang.device
def add_and_subtract(
    re: lang.Buffer[lang.f32], im: lang.Buffer[lang.f32], a: lang.i32, b: lang.i32
) -> None:
    """A step of radix 2."""
    x = re[a]
    y = im[a]
    re[a] = x + re[b]
    im[a] = y + im[b]
    re[b] = x - re[b]
    im[b] = y - im[b]


@lang.device
def multiply(
    re: lang.Buffer[lang.f32],
    im: lang.Buffer[lang.f32],
    a: lang.i32,
    x: lang.f32,
    y: lang.f32,
) -> None:
    """A number times x + iy."""
    old = re[a]
    re[a] = old * x - im[a] * y
    im[a] = old * y + im[a] * x


@lang.device
def four_points(re: lang.Buffer[lang.f32], im: lang.Buffer[lang.f32], a: lang.i32) -> None:
    """A step of radix 4 on numbers a to a + 3."""
    add_and_subtract(re, im, a, a + 2)
    add_and_subtract(re, im, a + 1, a + 3)
    multiply(re, im, a + 3, 0.0, -1.0)
    add_and_subtract(re, im, a, a + 1)
    add_and_subtract(re, im, a + 2, a + 3)


@lang.device
def eight_points(re: lang.Buffer[lang.f32], im: lang.Buffer[lang.f32]) -> None:
    """A step of radix 8."""
    for a in (0, 1, 2, 3):
        add_and_subtract(re, im, a, a + 4)
    multiply(re, im, 5, HALF, -HALF)
    multiply(re, im, 6, 0.0, -1.0)
    multiply(re, im, 7, -HALF, -HALF)
    four_points(re, im, 0)
    four_points(re, im, 4)


@lang.device
def twiddle(
    re: lang.Buffer[lang.f32], im: lang.Buffer[lang.f32], number: lang.i32, points: lang.i32
) -> None:
    """Factors between two steps; ``number`` of ``points``."""
    for a in (1, 2, 3, 4, 5, 6, 7):
        angle = TURN * REVERSED[a] / lang.f32(points) * lang.f32(number)
        multiply(re, im, a, lang.cos(angle), lang.sin(angle))


@lang.device
def transpose(
    part: lang.Buffer[lang.f32],
    pad: lang.Buffer[lang.f32],
    store: lang.i32,
    store_stride: lang.i32,
    load: lang.i32,
    load_stride: lang.i32,
) -> None:
    """Exchange real or imaginary parts between the threads."""
    for a in ALL:
        pad[store + a * store_stride] = part[REVERSED[a]]
    lang.barrier()
    for b in ALL:
        part[b] = pad[load + b * load_stride]
    lang.barrier()


@lang.kernel
def transform(source: ReadOnlyF32, target: lang.Buffer[lang.f32]) -> None:
    """One transform; complex numbers are pairs of words."""
    pad = lang.shared(lang.f32, 9 * BLOCK)
    re = lang.local(lang.f32, 8)
    im = lang.local(lang.f32, 8)
    thread = lang.thread_id()
    first = 2 * (lang.block_id() * POINTS + thread)
    high = thread // 8
    low = thread % 8
    for a in ALL:
        re[a], im[a] = lang.load2(source, first + 2 * BLOCK * a)
    eight_points(re, im)
    twiddle(re, im, thread, POINTS)
    transpose(re, pad, thread, 66, low * 66 + high, 8)
    transpose(im, pad, thread, 66, low * 66 + high, 8)
    eight_points(re, im)
    twiddle(re, im, high, BLOCK)
    transpose(re, pad, thread, 72, high * 72 + low, 8)
    transpose(im, pad, thread, 72, high * 72 + low, 8)
    eight_points(re, im)
    for b in ALL:
        lang.store2(target, first + 2 * BLOCK * b, re[REVERSED[b]], im[REVERSED[b]])


SIDE = 8


@lang.kernel
def transform_piece(
    source: ReadOnlyF32,
    table: ReadOnlyF32,
    transposed: ReadOnlyF32,
    target: lang.Buffer[lang.f32],
    width: lang.i32,
) -> None:
    """The cosine transform of one piece; ``table`` has its coefficients by rows."""
    pad = lang.shared(lang.f32, SIDE * SIDE)
    i = lang.thread_id(0)
    j = lang.thread_id(1)
    corner = lang.block_id(1) * SIDE * width + lang.block_id(0) * SIDE
    sum = lang.f32(0.0)
    for k in range(SIDE):
        sum = sum + table[j * SIDE + k] * source[corner + k * width + i]
    pad[j * SIDE + i] = sum
    lang.barrier()
    sum = lang.f32(0.0)
    for k in range(SIDE):
        sum = sum + pad[j * SIDE + k] * transposed[k * SIDE + i]
    target[corner + j * width + i] = sum


def cosines() -> NDArray[np.float32]:
    """Coefficients of the orthonormal cosine transform of eight points, by frequency and point."""
    frequency, point = np.indices((SIDE, SIDE))
    table = np.sqrt(2 / SIDE) * np.cos(np.pi * (2 * point + 1) * frequency / (2 * SIDE))
    table[0] = np.sqrt(1 / SIDE)
    found: NDArray[np.float32] = table.astype(np.float32)
    return found


@workload(id="fft", group="N", papers="S", check="the transforms equal NumPy's within 1e-3")
def transforms(
    gpu: GpuLike,
    rng: Generator,
    transforms: int = whole("transforms, one a block", 1, 1 << 17, 4, 256, 24576),
    launches: int = whole("launches on the same input", 1, 1000, 2, 3, 11),
    placement_seed: int = PLACEMENT_SEED,
) -> Outcome:
    """Fourier transforms of 512 points, radix 8 through the scratchpad, out of place

    Random points, parts from -1 to 1. Launches that all do the same.
    """
    points = rng.uniform(-1, 1, (transforms, POINTS, 2)).astype(np.float32)
    zeros = points.size, np.float32
    source, target = place(gpu, placement_seed, points.ravel(), zeros)
    for _ in range(launches):
        gpu.launch(
            transform,
            grid=transforms,
            block=BLOCK,
            args=(source, target),
        )
    expected = np.fft.fft(points[..., 0] + 1j * points[..., 1])
    return compare(
        "number",
        target.numpy().reshape(points.shape),
        np.stack([expected.real, expected.imag], axis=-1),
        tolerance=1e-3,
        details={"points": points.size // 2},
    )


@workload(id="dct", group="N", papers="Q", check="the transforms equal scipy's within 1e-3")
def cosine_transforms(
    gpu: GpuLike,
    rng: Generator,
    rows: int = whole("rows of pieces", 1, 1024, 2, 8, 8),
    columns: int = whole("columns of pieces", 1, 1024, 2, 8, 8),
) -> Outcome:
    """cosine transforms of 8 x 8 words, inputs and coefficients straight from memory

    Random words, 0 to 255. One launch.
    """
    shape = SIDE * rows, SIDE * columns
    image = rng.uniform(0, 255, shape).astype(np.float32)
    with LATE_IMPORT:
        import scipy.fft
    target = gpu.zeros(image.size, np.float32)
    table = cosines()
    gpu.launch(
        transform_piece,
        grid=(columns, rows),
        block=(SIDE, SIDE),
        args=(
            gpu.array(image.ravel()),
            gpu.array(table.ravel()),
            gpu.array(table.T.ravel()),
            target,
            image.shape[1],
        ),
    )
    pieces = image.reshape(rows, SIDE, columns, SIDE)
    expected = scipy.fft.dctn(pieces.astype(np.float64), axes=(1, 3), norm="ortho")
    found = target.numpy().reshape(pieces.shape)
    return compare("word", found, expected, tolerance=1e-3, details={"pieces": rows * columns})
