"""``sgemm``: tiled matrix multiply in f32."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import REGISTRY, GpuLike, Outcome, Parameter, Setting, Workload, compare
from gpucoh.suite.buffers import ReadOnlyF32

TILE = 16


@lang.kernel
def multiply_tiles(
    a: ReadOnlyF32,
    b: ReadOnlyF32,
    c: lang.Buffer[lang.f32],
    rows: lang.i32,
    inner: lang.i32,
    columns: lang.i32,
) -> None:
    """``c = a @ b``; each block computes one tile of ``c`` from pairs of tiles in the scratchpad."""
    tile_a = lang.shared(lang.f32, (TILE, TILE))
    tile_b = lang.shared(lang.f32, (TILE, TILE))
    x = lang.thread_id(0)
    y = lang.thread_id(1)
    column = lang.block_id(0) * TILE + x
    row = lang.block_id(1) * TILE + y
    total = lang.f32(0.0)
    for first in range(0, inner, TILE):
        value_a = lang.f32(0.0)
        value_b = lang.f32(0.0)
        if row < rows and first + x < inner:
            value_a = a[row * inner + first + x]
        if first + y < inner and column < columns:
            value_b = b[(first + y) * columns + column]
        tile_a[y, x] = value_a
        tile_b[y, x] = value_b
        lang.barrier()
        for k in range(TILE):
            total = total + tile_a[y, k] * tile_b[k, x]
        lang.barrier()
    if row < rows and column < columns:
        c[row * columns + column] = total


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
        target = gpu.zeros(rows * columns, np.float32)
        gpu.launch(
            multiply_tiles,
            grid=(-(-columns // TILE), -(-rows // TILE)),
            block=(TILE, TILE),
            args=(
                gpu.array(self.a.ravel()),
                gpu.array(self.b.ravel()),
                target,
                rows,
                inner,
                columns,
            ),
        )
        return compare(
            "product",
            target.numpy().reshape(rows, columns),
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
    Workload(
        id="sgemm",
        aliases=("dgemm", "matrixmul"),
        title="matrix multiply, f32 throughout, pairs of tiles in the scratchpad",
        group="N",
        papers=("D", "S", "Q"),
        needs_coherence=False,
        check="bitwise equal to NumPy's f32, sum by sum",
        parameters=(
            _size("rows", 64, 128, 1024, "rows of the first matrix"),
            _size("inner", 32, 128, 992, "columns of the first matrix, rows of the second"),
            _size("columns", 64, 128, 1056, "columns of the second matrix"),
        ),
        factory=MatrixProduct.prepare,
    )
)
