"""``spmv``: a sparse matrix in compressed rows times a vector.

Original: spmv of OpenDwarfs (OpenCL). As there: a row a thread, so that neighbouring lanes load words a row apart;
gathers from the vector; the result is loaded, added to and stored. QuickRelease states no input; blocks of 256 threads
and 32,768 rows of 16 elements on average are inferred: the suite's test of 512 rows leaves most cores idle.
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
    Setting,
    blocks_for,
    compare,
    scaled,
)
from gpucoh.suite.buffers import ReadOnlyF32, ReadOnlyI32
from gpucoh.suite.declaration import workload

BLOCK = 256


@lang.kernel
def multiply_rows(
    offsets: ReadOnlyI32,
    columns: ReadOnlyI32,
    elements: ReadOnlyF32,
    x: ReadOnlyF32,
    y: lang.Buffer[lang.f32],
    rows: lang.i32,
) -> None:
    """``y += A @ x``, a row a thread."""
    row = lang.global_id()
    if row < rows:
        sum = y[row]
        for k in range(offsets[row], offsets[row + 1]):
            sum = sum + elements[k] * x[columns[k]]
        y[row] = sum


@dataclass(frozen=True)
class SparseProduct:
    """``spmv`` on one input."""

    offsets: NDArray[np.int32]
    columns: NDArray[np.int32]
    elements: NDArray[np.float32]
    x: NDArray[np.float32]
    y: NDArray[np.float32]

    @classmethod
    def prepare(cls, setting: Setting) -> SparseProduct:
        """A random square matrix: lengths of rows are Poisson, columns sorted, elements -1 to 1."""
        rng, rows = setting.rng(), setting.integer("rows")
        lengths = np.clip(rng.poisson(setting.integer("elements"), rows), 0, rows)
        columns = [np.sort(rng.choice(rows, length, replace=False)) for length in lengths]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        values = rng.uniform(-1, 1, offsets[-1] + 2 * rows).astype(np.float32)
        return cls(
            offsets,
            np.concatenate(columns).astype(np.int32),
            values[: offsets[-1]],
            values[offsets[-1] :][:rows],
            values[offsets[-1] :][rows:],
        )

    def run(self, gpu: GpuLike) -> Outcome:
        """One launch."""
        rows = self.x.size
        y = gpu.array(self.y)
        columns, elements = (
            gpu.array(array if array.size else np.zeros(1, array.dtype))
            for array in (self.columns, self.elements)
        )
        gpu.launch(
            multiply_rows,
            grid=blocks_for(rows, BLOCK),
            block=BLOCK,
            args=(gpu.array(self.offsets), columns, elements, gpu.array(self.x), y, rows),
            placement="static",
        )
        products = self.elements.astype(np.float64) * self.x[self.columns]
        row = np.repeat(np.arange(rows), np.diff(self.offsets))
        expected = self.y + np.bincount(row, products, rows)
        details = {"rows": rows, "elements": self.elements.size}
        return compare("y", y.numpy(), expected, tolerance=1e-4, details=details)


REGISTRY.add(
    workload(
        SparseProduct,
        id="spmv",
        title="sparse matrix in compressed rows times a vector, a row a thread",
        group="N",
        papers=("Q",),
        needs_coherence=False,
        check="the product equals NumPy's in f64 within 1e-4",
        parameters=(
            scaled("rows", 1, 1 << 22, 512, 8192, 32768, "rows and columns"),
            scaled("elements", 0, 4096, 6, 16, 16, "elements of a row, on average"),
        ),
    )
)
