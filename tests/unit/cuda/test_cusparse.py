"""cuSPARSE for programs: products of sparse matrices and vectors against SciPy, and statuses."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from products import share
from unit.cuda.compiled import cuda, needs_nvcc

sparse = pytest.importorskip("scipy.sparse")
pytestmark = needs_nvcc

PROGRAM = Path(__file__).parent / "libraries" / "sparse.cu"


@pytest.mark.parametrize("protocol", ["mesi", "gpu-drf"])
def test_products_are_scipy_s(protocol: str) -> None:
    text, wanted = [], {}
    for letter, rows, columns, base in (("S", 37, 53, 0), ("D", 65, 9, 1)):
        generator = np.random.default_rng(rows)
        dense = generator.integers(-9, 9, (rows, columns)) / 4
        dense *= generator.random((rows, columns)) < np.linspace(0, 0.9, rows)[:, None]
        A = sparse.csr_array(dense)  # its first row is empty
        x, y = generator.integers(-9, 9, columns) / 4, generator.integers(-9, 9, rows) / 4
        arrays = (A.indptr + base, A.tocoo().row + base, A.indices + base, A.data, x, y, [0, 0])
        text.append(f"{rows} {columns} {A.nnz} {base}")
        text += [" ".join(map(str, array)) for array in arrays]
        for one in range(8):
            beta = 0 if one & 4 else -2
            product = 1.5 * (A.T @ y) + beta * x if one & 2 else 1.5 * (A @ x) + beta * y
            wanted[f"{letter}{one}"] = product
    run = cuda(PROGRAM, "--nvcc=-lcusparse", "-p", protocol, "--check", text="\n".join(text))
    assert run.returncode == 0, run.stderr
    lines = {line.split()[0]: line.split()[1:] for line in run.stdout.split("\n\n")[0].splitlines()}
    for name, product in wanted.items():
        np.testing.assert_array_equal(np.array(lines.pop(name), float), product, err_msg=name)
    assert lines == {"names": ["CUSPARSE_STATUS_INVALID_VALUE,", "success"]}


def drawn(size: int, seed: int) -> np.ndarray:
    """The values of the program's arrays."""
    return ((np.arange(size) * 37 + seed * 11) % 23 - 11) / 4


def of_matrices(dense: np.ndarray, base: int) -> Iterator[tuple[str, np.ndarray]]:
    """What the program of matrices writes, by its lines' names without the letter."""
    n, columns, alpha, beta = len(dense), 7, 1.5, -2
    A, ld = sparse.csr_array(dense), n + 3
    for one in range(8):
        B, C = drawn(ld * ld, 1).reshape(ld, ld), drawn(ld * ld, 2).reshape(ld, ld)
        rows = (C if one & 4 else C.T)[:n, :columns]
        right = B if one & 4 else B.T
        right = right[:columns, :n].T if one & 2 else right[:n, :columns]
        rows[:] = alpha * (A.T if one & 1 else A) @ right + beta * rows
        yield f"spmm{one}", C.ravel()
    product = drawn(n * columns, 3).reshape(n, -1) @ drawn(n * columns, 4).reshape(columns, -1)
    at = A.tocoo()
    yield "sddmm", alpha * product[at.row, at.col] + beta * drawn(A.nnz, 5)
    whole = drawn(n * (n + 1), 6).reshape(n, -1)
    whole[:, :n] = dense
    yield "dense", whole.ravel()
    square = sparse.csr_array(alpha * (np.abs(dense) > 0) @ (np.abs(dense) > 0))
    square.sort_indices()
    for name, one in (("", A), ("square_", square)):
        yield f"{name}offsets", one.indptr + base
        yield f"{name}columns", one.indices + base
    if base == 0:  # 32-bit indices
        columns_of = A.tocsc()
        yield "csc_offsets", columns_of.indptr
        yield "csc_rows", columns_of.indices
        yield "csc_values", columns_of.data
    at = square.tocoo()
    yield "values", A.data
    yield "square_values", alpha * (dense @ dense)[at.row, at.col]
    for one in range(4):
        triangle = np.triu(dense) if one & 1 else np.tril(dense)
        if one & 2:
            np.fill_diagonal(triangle, 1)
        yield f"spsv{one}", np.linalg.solve(triangle, alpha * drawn(n, 8))
        right = drawn(n * columns, 9).reshape(n, columns)
        yield f"spsm{one}", np.linalg.solve(triangle, alpha * right).ravel()
    y, places = beta * drawn(n, 10), 3 * np.arange(columns)
    y[places] += alpha * drawn(columns, 11)
    yield "axpby", y
    yield "gather", y[places]
    scattered = np.zeros(n)
    scattered[places] = y[places]
    yield "scatter", scattered


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["mesi", *share(["gpu-drf", "tc-weak"], one_in=2)])
def test_functions_of_matrices_are_scipy_s(protocol: str) -> None:
    text, wanted = [], {}
    for letter, n, base in (("S", 29, 0), ("D", 40, 1)):
        generator = np.random.default_rng(n)
        dense = generator.integers(-3, 4, (n, n)) / 4 * (generator.random((n, n)) < 0.15)
        np.fill_diagonal(dense, 4)
        A = sparse.csr_array(dense)
        text.append(f"{n} {A.nnz} {base}")
        text += [" ".join(map(str, array)) for array in (A.indptr + base, A.indices + base, A.data)]
        wanted |= {f"{letter}{name}": values for name, values in of_matrices(dense, base)}
    program = PROGRAM.with_name("sparse_matrices.cu")
    run = cuda(program, "-p", protocol, "--check", text="\n".join(text))
    assert run.returncode == 0, run.stderr
    lines = {line.split()[0]: line.split()[1:] for line in run.stdout.split("\n\n")[0].splitlines()}
    assert lines.keys() == wanted.keys()
    for name, values in wanted.items():
        found = np.array(lines[name], float)
        solved = 1e-4 if "sps" in name else 0  # only solutions divide
        np.testing.assert_allclose(found, values, rtol=solved, atol=solved / 10, err_msg=name)
