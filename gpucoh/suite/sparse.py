"""``spmv``: a sparse matrix in compressed rows times a vector.

Original: spmv of OpenDwarfs (OpenCL). As there: a row a thread, so that neighbouring lanes load words a row apart;
gathers from the vector; the result is loaded, added to and stored. QuickRelease states no input; blocks of 256 threads
and 32,768 rows of 16 elements on average are inferred: the suite's test of 512 rows leaves most cores idle.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, compare, whole
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


@workload(id="spmv", group="N", papers="Q", check="the product equals NumPy's in f64 within 1e-4")
def sparse_product(
    gpu: GpuLike,
    rng: Generator,
    rows: int = whole("rows and columns", 1, 1 << 22, 512, 8192, 32768),
    elements: int = whole("elements of a row, on average", 0, 4096, 6, 16, 16),
) -> Outcome:
    """sparse matrix in compressed rows times a vector, a row a thread

    A random square matrix: lengths of rows are Poisson, columns sorted, elements -1 to 1. One launch.
    """
    lengths = np.clip(rng.poisson(elements, rows), 0, rows)
    chosen = [np.sort(rng.choice(rows, length, replace=False)) for length in lengths]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    values = rng.uniform(-1, 1, offsets[-1] + 2 * rows).astype(np.float32)
    columns = np.concatenate(chosen).astype(np.int32)
    matrix, vectors = np.split(values, [offsets[-1]])
    x, start = vectors[:rows], vectors[rows:]
    y = gpu.array(start)
    places, words = (
        gpu.array(array if array.size else np.zeros(1, array.dtype)) for array in (columns, matrix)
    )
    gpu.launch(
        multiply_rows,
        grid=blocks_for(rows, BLOCK),
        block=BLOCK,
        args=(gpu.array(offsets), places, words, gpu.array(x), y, rows),
    )
    products = matrix.astype(np.float64) * x[columns]
    row = np.repeat(np.arange(rows), np.diff(offsets))
    expected = start + np.bincount(row, products, rows)
    details = {"rows": rows, "elements": matrix.size}
    return compare("y", y.numpy(), expected, tolerance=1e-4, details=details)
