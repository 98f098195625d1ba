"""``sgemm``: matrix multiply in f32.

Original: sgemm of Parboil (CUDA). As there: 16 x 8 threads a block, which computes 128 x 16 words of the
product, 16 in registers a thread; a tile of 8 x 16 words of the second matrix is in the scratchpad; the first
and the product are stored by columns, so that a warp loads 32 neighbouring words of the first straight from
memory, once per tile of columns; the product is loaded, scaled by ``beta`` and stored. Paper scale is
Parboil's medium input, 1024 x 992 times 992 x 1056 (alpha 1, beta 0): 528 blocks. DeNovo uses it; STC's dgemm
and QuickRelease's matrixmul are other kernels, for which the aliases stand in.

Differences: sizes need not be multiples of the tile, so that loads and stores are guarded.
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
from gpucoh.suite.buffers import ReadOnlyF32
from gpucoh.suite.declaration import workload

WIDE, HIGH = 16, 8  # a block's threads, and its tile of the second matrix
ROWS = WIDE * HIGH  # of the product, per block
SUMS = tuple(range(WIDE))
STEPS = tuple(range(HIGH))


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
            loaded = b[(first + y) * columns + left + x]
        tile[y, x] = loaded
        lang.barrier()
        for step in STEPS:
            value = lang.f32(0.0)
            if row < rows and first + step < inner:
                value = a[(first + step) * rows + row]
            for k in SUMS:
                sums[k] = sums[k] + value * tile[step, k]
        lang.barrier()
    if row < rows:
        for k in SUMS:
            if left + k < columns:
                at = (left + k) * rows + row
                c[at] = c[at] * beta + alpha * sums[k]


def reference_product(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """The product with f32 sums in the kernel's order, from the first inner index to the last."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        total += a[:, k, None] * b[None, k, :]
    return total


@dataclass(frozen=True)
class MatrixProduct:
    """``sgemm`` on one input."""

    a: NDArray[np.float32]
    b: NDArray[np.float32]

    @classmethod
    def prepare(cls, setting: Setting) -> MatrixProduct:
        """Random matrices, values -1 to 1."""
        rng = setting.rng()
        rows, inner, columns = (setting.integer(name) for name in ("rows", "inner", "columns"))
        return cls(
            rng.uniform(-1, 1, (rows, inner)).astype(np.float32),
            rng.uniform(-1, 1, (inner, columns)).astype(np.float32),
        )

    def run(self, gpu: GpuLike) -> Outcome:
        """One launch."""
        rows, inner = self.a.shape
        columns = self.b.shape[1]
        product = gpu.zeros(rows * columns, np.float32)
        gpu.launch(
            multiply_tiles,
            grid=(blocks_for(rows, ROWS), blocks_for(columns, WIDE)),
            block=(WIDE, HIGH),
            args=(
                gpu.array(self.a.T.ravel()),
                gpu.array(self.b.ravel()),
                product,
                rows,
                inner,
                columns,
                1.0,
                0.0,
            ),
        )
        return compare(
            "product",
            product.numpy().reshape(columns, rows).T,
            reference_product(self.a, self.b),
            details={"rows": rows, "inner": inner, "columns": columns},
        )


def _size(name: str, tiny: int, small: int, paper: int, text: str) -> Parameter:
    return Parameter(
        name=name,
        kind="int",
        minimum=1,
        maximum=16384,
        defaults={"tiny": tiny, "small": small, "paper": paper},
        text=text,
    )


REGISTRY.add(
    workload(
        MatrixProduct,
        id="sgemm",
        aliases=("dgemm", "matrixmul"),
        title="matrix multiply, f32, 128 x 16 words a block, one operand straight from memory",
        group="N",
        papers=("D", "S", "Q"),
        needs_coherence=False,
        check="bitwise equal to NumPy's f32, sum by sum",
        parameters=(
            _size("rows", 40, 128, 1024, "rows of the first matrix"),
            _size("inner", 20, 128, 992, "columns of the first matrix, rows of the second"),
            _size("columns", 40, 128, 1056, "columns of the second matrix"),
        ),
    )
)
