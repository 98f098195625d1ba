"""cuSPARSE for programs: products of sparse matrices and vectors against SciPy, and statuses."""

from pathlib import Path

import numpy as np
import pytest

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
