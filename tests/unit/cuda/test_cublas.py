"""cuBLAS for programs: vectors, matrices and products against NumPy; statuses; what is refused."""

import functools
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from unit.cuda.compiled import cuda, needs_nvcc

pytestmark = needs_nvcc

PROGRAM = Path(__file__).parent / "libraries" / "blas.cu"
#: The parts of the program, and the protocols, one of which self-invalidates at acquires.
PARTS, PROTOCOLS = ("vectors", "products"), ("mesi", "gpu-drf")


@functools.cache
def written(part: str, protocol: str) -> dict[str, list[str]]:
    """What the program writes, by the first word of a line."""
    run = cuda(PROGRAM, "--nvcc=-lcublas", "-p", protocol, "--check", "--json", "--", part)
    assert run.returncode == 0, run.stderr
    lines = json.loads(run.stdout)["output"].splitlines()
    assert not [line for line in lines if line.startswith("status")]
    return {words[0]: words[1:] for words in map(str.split, lines)}


def drawn(size: int, seed: int) -> np.ndarray:
    """The values of the program's arrays: quarters, so that the sums are exact."""
    return ((np.arange(size) * 37 + seed * 11) % 23 - 11) / 4


def along(values: np.ndarray, n: int, increment: int) -> np.ndarray:
    """The n elements of a vector, as BLAS counts them; a view."""
    taken = values[: (n - 1) * abs(increment) + 1 : abs(increment)]
    return taken[::-1] if increment < 0 else taken


def columns(values: np.ndarray, rows: int, count: int, ld: int) -> np.ndarray:
    """A matrix in columns of ld elements; a view."""
    return values[: ld * count].reshape(count, ld).T[:rows]


def of_vectors(letter: str, n: int) -> Iterator[tuple[str, np.ndarray]]:
    x, y, alpha = drawn(2 * n + 1, 1), drawn(3 * n + 2, 2), -1.5
    along(y, n, -3)[:] += alpha * along(x, n, 2)
    yield f"{letter}axpy{n}", y.copy()
    along(x, n, 2)[:] *= alpha
    yield f"{letter}scal{n}", x.copy()
    was = along(x, n, -2).copy()
    along(x, n, -2)[:] = along(y, n, 3)
    along(y, n, 3)[:] = was
    yield f"{letter}swap{n}", x.copy()
    along(y, n, 2)[:] = along(x, n, 1)
    yield f"{letter}copy{n}", y.copy()
    xs, scalars = along(x, n, 2), drawn(4, 3)
    sizes = abs(xs)
    scalars[0], scalars[1], scalars[3] = xs @ along(y, n, -1), sizes.sum(), 0
    found = (*scalars[:2], np.linalg.norm(xs), sizes.argmax() + 1, sizes.argmin() + 1)
    yield f"{letter}results{n}", np.array(found)
    yield f"same{letter}{n}", np.ones(2)
    yield f"{letter}scalars{n}", scalars
    along(y, n, 1)[:] += scalars[2] * along(x, n, 1)
    yield f"{letter}device{n}", y


def of_matrices(letter: str) -> Iterator[tuple[str, np.ndarray]]:
    m, n, ld, alpha, beta = 37, 21, 41, 0.5, 2.0
    for name in "NTC":
        A, x, y = columns(drawn(ld * n, 1), m, n, ld), drawn(2 * m, 2), drawn(3 * m, 3)
        A = A if name == "N" else A.T
        left = along(y, len(A), -3)
        left[:] = alpha * A @ along(x, A.shape[1], 2) + (0 if name == "T" else beta) * left
        yield f"{letter}gemv{name}", y
    values = drawn(ld * n, 1)
    by = along(drawn(2 * m, 2), m, -2), along(drawn(3 * n, 3), n, 3)
    columns(values, m, n, ld)[:] += alpha * np.outer(*by)
    yield f"{letter}ger", values
    for a, b in itertools.product("NT", "NT"):
        values = drawn(ld * n, 1)
        P, Q = operand(a, m, n, ld, 2), operand(b, m, n, ld - 1, 3)
        columns(values, m, n, ld)[:] = alpha * P + beta * Q
        yield f"{letter}geam{a}{b}", values


def operand(name: str, rows: int, count: int, ld: int, seed: int, batch: int = 0) -> np.ndarray:
    """op(A) of the program's square array."""
    values = drawn((batch + 1) * ld * ld + 3 * ld, seed)[batch * ld * ld :]
    return columns(values, rows, count, ld) if name == "N" else columns(values, count, rows, ld).T


def of_products(letter: str) -> Iterator[tuple[str, np.ndarray]]:
    m, n, k, ld, alpha, beta = 19, 33, 21, 35, 0.5, 2.0
    for b, a in itertools.product("NTC", "NTC"):
        values = drawn(ld * ld, 3)
        C = columns(values, m, n, ld)
        C[:] = alpha * operand(a, m, k, ld, 1) @ operand(b, k, n, ld, 2) + beta * C
        yield f"{letter}gemm{a}{b}", values
    values = drawn(3 * ld * ld, 3)
    for batch in range(3):
        C = columns(values[batch * ld * ld :], m, n, ld)
        C[:] = alpha * operand("T", m, k, ld, 1, batch) @ operand("N", k, n, ld, 2) + beta * C
    yield f"{letter}strided", values
    yield f"{letter}batched", values


def of_types() -> Iterator[tuple[str, np.ndarray]]:
    m, n, k = 18, 5, 20
    for name in ("f32", "f64", "f16", "f16f32", "bf16f32", "s8s32"):
        left, right, values = drawn(m * k, 1), drawn(k * n, 2), drawn(2 * m * n, 3)
        if name == "s8s32":
            left, right, values = np.trunc(left), np.trunc(right), np.trunc(values)
        product = 2 * columns(left, m, k, m) @ columns(right, n, k, n).T
        columns(values, m, n, m)[:] += product
        for batch in range(2):
            columns(values[batch * m * n :], m, n, m)[:] += product
        yield f"Ex{name}", values
    yield "DotEx", np.array([np.float16(drawn(33, 1) @ drawn(33, 2))])


def expected(part: str) -> Iterator[tuple[str, np.ndarray]]:
    for letter, n in (("S", 1027), ("D", 33)):
        yield from (of_vectors(letter, n) if part == "vectors" else of_products(letter))
        if part == "vectors":
            yield from of_matrices(letter)
    if part == "products":
        yield from ((name, values.astype(np.float16)) for name, values in of_products("H"))
        yield from of_types()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("part", PARTS)
def test_results_are_numpy_s(part: str, protocol: str) -> None:
    lines = written(part, protocol)
    names = []
    for name, values in expected(part):
        found = np.array(lines[name], float)
        exact = "results" not in name  # the norm has a root
        np.testing.assert_allclose(found, values, rtol=0 if exact else 1e-6, atol=0, err_msg=name)
        names.append(name)
    assert len(names) == len(set(names))
    others = {"nothing", "overwritten", "unread", "large", "names"} if part == "vectors" else set()
    assert set(lines) == set(names) | others


def test_special_values_and_sizes() -> None:
    lines = written("vectors", "mesi")
    A = columns(drawn(16, 1), 4, 4, 4)
    product = (A @ A).T.ravel()  # beta = 0: C, which was NaN, is not read
    np.testing.assert_array_equal(np.array(lines["overwritten"], float), product)
    np.testing.assert_array_equal(np.array(lines["unread"], float), product)  # alpha = 0, A is NaN
    assert lines["nothing"] == ["0", "0"]
    assert lines["large"] == ["5e+300"]  # its squares overflow
    assert " ".join(lines["names"]) == (
        "CUBLAS_STATUS_INVALID_VALUE, the library was not initialized"
    )


def of_solves() -> Iterator[tuple[str, np.ndarray, float]]:
    """Triangles and batches of matrices, each with what its values may be off by."""
    m, n, ld, batches = 12, 9, 15, 3

    def matrices(columns_: int, count: int, seed: int, diagonal: float) -> np.ndarray:
        """[batch][column][element of ld]."""
        found = drawn(ld * columns_ * count, seed).reshape(count, columns_, ld)
        found[:, range(columns_), range(columns_)] += diagonal
        return found

    for one in range(16):
        A, whole = matrices(m, 1, 1, 20)[0].T[:m], drawn(ld * n, 2).reshape(n, ld)
        B, size = whole.T[:m], n if one & 1 else m
        A = A[:size, :size]
        A = np.triu(A) if one & 2 else np.tril(A)
        if one & 8:
            np.fill_diagonal(A, 1)
        A = A.T if one & 4 else A
        B[:] = np.linalg.solve(A.T, 0.5 * B.T).T if one & 1 else np.linalg.solve(A, 0.5 * B)
        yield f"trsm{one}", whole.ravel(), 1e-3
    A = matrices(m, batches, 3, 1)
    factors, pivots = A.copy(), np.zeros((batches, m), int)
    for batch in range(batches):
        F = factors[batch].T[:m]
        for k in range(m):
            pivots[batch, k] = k + np.abs(F[k:, k]).argmax() + 1
            F[[k, pivots[batch, k] - 1]] = F[[pivots[batch, k] - 1, k]]
            F[k + 1 :, k] /= F[k, k]
            F[k + 1 :, k + 1 :] -= np.outer(F[k + 1 :, k], F[k, k + 1 :])
    yield "factors", factors.ravel(), 1e-3
    yield "pivots", pivots.ravel(), 0
    yield "info", np.zeros(batches), 0
    yield "singular", np.array([1, 0, 0]), 0
    sides, inverses = drawn(ld * n * batches, 4).reshape(batches, n, ld), drawn(ld * m * batches, 5)
    for name, transposed in (("solution", False), ("second", True)):
        for batch in range(batches):
            M = A[batch].T[:m]
            right = sides[batch].T[:m]
            right[:] = np.linalg.solve(M.T if transposed else M, right)
        yield name, sides.ravel(), 2e-2
    for batch, inverse in enumerate(inverses.reshape(batches, m, ld)):
        inverse.T[:m] = np.linalg.inv(A[batch].T[:m])
    yield "inverse", inverses, 2e-3


@pytest.mark.long
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_triangles_and_batches_of_matrices_are_numpy_s(protocol: str) -> None:
    run = cuda(PROGRAM.with_name("solves.cu"), "-p", protocol, "--check")
    assert run.returncode == 0, run.stderr
    lines = {line.split()[0]: line.split()[1:] for line in run.stdout.split("\n\n")[0].splitlines()}
    for name, values, error in of_solves():
        for letter, share_of_error in (("S", 1), ("D", 1e-7)):
            found = np.array(lines.pop(letter + name), float)
            off = error * share_of_error
            np.testing.assert_allclose(found, values, rtol=off, atol=off, err_msg=letter + name)
    assert not lines


@pytest.mark.long
def test_products_of_cublaslt_have_epilogues() -> None:
    run = cuda(PROGRAM.with_name("epilogues.cu"), "--nvcc=-lcublasLt", "-p", "mesi", "--check")
    assert run.returncode == 0, run.stderr
    lines = {line.split()[0]: line.split()[1:] for line in run.stdout.split("\n\n")[0].splitlines()}
    m, n, k, batches = 18, 7, 20, 2
    A, B = drawn(k * m * batches, 1).reshape(-1, m, k), drawn(k * n * batches, 2).reshape(-1, n, k)
    product = 0.125 * B @ A.transpose(0, 2, 1) + 2 * drawn(m * n * batches, 3).reshape(-1, n, m)
    bias = drawn(m, 5)
    tanh = np.tanh(np.sqrt(2 / np.pi) * (product + 0.044715 * product**3))
    wanted = {
        "none": product,
        "relu_bias": np.maximum(product + bias, 0),
        "gelu": 0.5 * product * (1 + tanh),
        "bias": product + bias,
    }
    assert lines.keys() == wanted.keys()
    for name, values in wanted.items():
        error = 1e-3 if name == "bias" else 1e-5  # halves
        found = np.array(lines[name], float)
        np.testing.assert_allclose(found, values.ravel(), rtol=error, atol=error, err_msg=name)


HOST = """
#include <cstdio>
extern "C" {
#include <cublas_v2.h>
}
int main() {
    cublasHandle_t handle;
    float *x, sum, values[] = {1, -2, 4};
    cublasCreate(&handle);
    cudaMalloc(&x, sizeof values);
    cublasSetVector(3, sizeof(float), values, 1, x, 1);
    cublasSasum(handle, 3, x, 1, &sum);
    printf("sum %g\\n", sum);
}
"""


def test_a_file_of_cpp_is_compiled_as_cuda(tmp_path: Path) -> None:
    (tmp_path / "host.cpp").write_text(HOST)
    run = cuda(tmp_path / "host.cpp", "-p", "mesi")
    assert run.stdout.startswith("sum 7\n"), run.stderr


@pytest.mark.parametrize(
    ("file", "call", "message"),
    [
        ("bad.cu", "cublasCgemm()", 'identifier "cublasCgemm" is undefined'),
        ("bad.c", "0", "CUDA and C++ files of a program can include it, C files cannot"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, file: str, call: str, message: str) -> None:
    (tmp_path / file).write_text(f"#include <cublas_v2.h>\nint main() {{ {call}; }}\n")
    run = cuda(tmp_path / file, "-p", "mesi")
    assert run.returncode == 2
    assert message in run.stderr
    assert len(run.stderr.splitlines()) == 1
