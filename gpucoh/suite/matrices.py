"""Matrix multiply: ``sgemm`` (DeNovo), ``dgemm`` (STC) and ``matrixmul`` (QuickRelease).

Original: sgemm of Parboil (CUDA). As there: 16 x 8 threads a block, which computes 128 x 16 words of the
product, 16 in registers a thread; a tile of 8 x 16 words of the second matrix is in the scratchpad; the first
and the product are stored by columns, so that a warp loads 32 neighbouring words of the first straight from
memory, once per tile of columns; the product is loaded, scaled by ``beta`` and stored. Paper scale is
Parboil's medium input, 1024 x 992 times 992 x 1056 (alpha 1, beta 0): 528 blocks.

``dgemm`` is inferred, since STC tells neither source nor size: the same kernel on doubles, which have their values
in f32.

Differences: sizes need not be multiples of the tile, so that loads and stores are guarded.

``matrixmul``. Original: MatrixMultiplication of AMD's APP SDK (OpenCL), without scratchpad. As there: 8 x 8 threads a
block; a thread computes 4 x 4 words of the product and loads both matrices in pieces of 16 bytes, straight from memory,
so that all reuse is the first-level cache's. QuickRelease states no size; paper scale is the original's 64 x 64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, Refused, blocks_for, compare, whole
from gpucoh.suite.buffers import PLACEMENT_SEED, ReadOnlyF32, doubles, get, place, put, values_of
from gpucoh.suite.declaration import workload

WIDE, HIGH = 16, 8  # a block's threads, and its tile of the second matrix
ROWS = WIDE * HIGH  # of the product, per block
SUMS = tuple(range(WIDE))
STEPS = tuple(range(HIGH))


@lang.device
def load_single(buffer: lang.Buffer[lang.f32], index: lang.i32) -> lang.f32:
    """An element of 4 bytes."""
    return buffer[index]


@lang.device
def store_single(buffer: lang.Buffer[lang.f32], index: lang.i32, value: lang.f32) -> None:
    """To an element of 4 bytes."""
    buffer[index] = value


def product_kernel(load: Callable[..., Any], store: Callable[..., None]) -> lang.Kernel:
    """The kernel on elements of one size."""

    @lang.kernel
    def multiply_tiles(
        a: ReadOnlyF32,
        b: ReadOnlyF32,
        c: lang.Buffer[lang.f32],
        rows: lang.i32,
        inner: lang.i32,
        columns: lang.i32,
        alpha: lang.f32,
        beta: lang.f32,
    ) -> None:
        """``c = alpha * a @ b + beta * c``; ``a`` and ``c`` by columns, ``b`` by rows."""
        tile = lang.shared(lang.f32, (HIGH, WIDE))
        sums = lang.local(lang.f32, WIDE)
        x = lang.thread_id(0)
        y = lang.thread_id(1)
        row = lang.block_id(0) * ROWS + y * WIDE + x
        left = lang.block_id(1) * WIDE
        for first in range(0, inner, HIGH):
            loaded = lang.f32(0.0)
            if first + y < inner and left + x < columns:
                loaded = load(b, (first + y) * columns + left + x)
            tile[y, x] = loaded
            lang.barrier()
            for step in STEPS:
                value = lang.f32(0.0)
                if row < rows and first + step < inner:
                    value = load(a, (first + step) * rows + row)
                for k in SUMS:
                    sums[k] = sums[k] + value * tile[step, k]
            lang.barrier()
        if row < rows:
            for k in SUMS:
                if left + k < columns:
                    at = (left + k) * rows + row
                    store(c, at, load(c, at) * beta + alpha * sums[k])

    return multiply_tiles


KERNELS = {
    "sgemm": product_kernel(load_single, store_single),
    "dgemm": product_kernel(get, put),
}


def reference_product(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """The product with f32 sums in the kernel's order, from the first inner index to the last."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        total += a[:, k, None] * b[None, k, :]
    return total


WORDS = (0, 1, 2, 3)  # of a piece of 16 bytes
GROUP = 8


@lang.kernel
def multiply_pieces(
    a: ReadOnlyF32, b: ReadOnlyF32, c: lang.Buffer[lang.f32], side: lang.i32
) -> None:
    """``c = a @ b`` of square matrices by rows; 4 x 4 words a thread."""
    sums = lang.local(lang.f32, 16)
    right = lang.local(lang.f32, 16)
    left = lang.local(lang.f32, 4)
    column = 4 * lang.global_id(0)
    row = 4 * lang.global_id(1)
    if row < side and column < side:
        for inner in range(0, side, 4):
            for k in WORDS:
                right[4 * k], right[4 * k + 1], right[4 * k + 2], right[4 * k + 3] = lang.load4(
                    b, (inner + k) * side + column
                )
            for r in WORDS:
                left[0], left[1], left[2], left[3] = lang.load4(a, (row + r) * side + inner)
                for k2 in WORDS:
                    for w in WORDS:
                        sums[4 * r + w] = sums[4 * r + w] + left[k2] * right[4 * k2 + w]
        for r2 in WORDS:
            at = (row + r2) * side + column
            first = 4 * r2
            lang.store4(c, at, sums[first], sums[first + 1], sums[first + 2], sums[first + 3])


ROWS_OF_FIRST = whole("rows of the first matrix", 1, 16384, 40, 128, 1024)
INNER = whole("columns of the first matrix, rows of the second", 1, 16384, 20, 128, 992)
COLUMNS = whole("columns of the second matrix", 1, 16384, 40, 128, 1056)
CHECK = "bitwise equal to NumPy's f32, sum by sum"


def multiply(
    gpu: GpuLike,
    rng: Generator,
    shape: tuple[int, int, int],
    placement_seed: int,
    wide: bool,
) -> Outcome:
    """One launch on random matrices, values -1 to 1; ``wide``: elements of 8 bytes."""
    rows, inner, columns = shape
    a = rng.uniform(-1, 1, (rows, inner)).astype(np.float32)
    b = rng.uniform(-1, 1, (inner, columns)).astype(np.float32)
    size = rows * columns
    left, right = a.T.ravel(), b.ravel()
    if wide:
        left, right, size = doubles(left), doubles(right), 2 * size
    zeros = size, np.float32
    product, first, second = place(gpu, placement_seed, zeros, left, right)
    gpu.launch(
        KERNELS["dgemm" if wide else "sgemm"],
        grid=(blocks_for(rows, ROWS), blocks_for(columns, WIDE)),
        block=(WIDE, HIGH),
        args=(first, second, product, rows, inner, columns, 1.0, 0.0),
    )
    words = product.numpy()
    return compare(
        "product",
        (values_of(words) if wide else words).reshape(columns, rows).T,
        reference_product(a, b),
        details={"rows": rows, "inner": inner, "columns": columns},
    )


@workload(id="sgemm", group="N", papers="D", check=CHECK)
def product_of_words(
    gpu: GpuLike,
    rng: Generator,
    rows: int = ROWS_OF_FIRST,
    inner: int = INNER,
    columns: int = COLUMNS,
    placement_seed: int = PLACEMENT_SEED,
) -> Outcome:
    """matrix multiply, f32, 128 x 16 words a block, one operand straight from memory"""
    return multiply(gpu, rng, (rows, inner, columns), placement_seed, wide=False)


@workload(id="dgemm", group="N", papers="S", check=CHECK)
def product_of_doubles(
    gpu: GpuLike,
    rng: Generator,
    rows: int = ROWS_OF_FIRST,
    inner: int = INNER,
    columns: int = COLUMNS,
    placement_seed: int = PLACEMENT_SEED,
) -> Outcome:
    """matrix multiply on elements of 8 bytes, 128 x 16 a block, one operand straight from memory"""
    return multiply(gpu, rng, (rows, inner, columns), placement_seed, wide=True)


@workload(id="matrixmul", group="N", papers="Q", check=CHECK)
def square_product(
    gpu: GpuLike,
    rng: Generator,
    side: int = whole("rows and columns, a multiple of 4", 4, 8192, 16, 64, 64),
) -> Outcome:
    """matrix multiply, f32, 4 x 4 words a thread by 16-byte loads, no scratchpad

    Random square matrices, values -1 to 1. One launch.
    """
    if side % 4:
        raise Refused(f"parameter side is {side}; allowed: a multiple of 4")
    a, b = rng.uniform(-1, 1, (2, side, side)).astype(np.float32)
    product = gpu.zeros(side * side, np.float32)
    blocks = blocks_for(side, 4 * GROUP)
    gpu.launch(
        multiply_pieces,
        grid=(blocks, blocks),
        block=(GROUP, GROUP),
        args=(gpu.array(a.ravel()), gpu.array(b.ravel()), product, side),
    )
    expected = reference_product(a, b)
    found = product.numpy().reshape(side, side)
    return compare("product", found, expected, details={"side": side})
