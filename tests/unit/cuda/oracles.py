"""The kernels of ``kernels/*.ptx``: a launch of each, and what NumPy says of it."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

import gpucoh

FOLDER = Path(__file__).parent / "kernels"
ORACLES: dict[str, Callable[[gpucoh.GPU], None]] = {}
#: Kernels that are right only if blocks see each other's writes within a launch.
NEEDS_COHERENCE = ("message_passing", "grid_stencil")


@cache
def module(name: str) -> gpucoh.cuda.Module:
    """A module, parsed once; its kernels are translated once."""
    return gpucoh.cuda.Module(FOLDER / f"{name}.ptx")


def oracle(file: str):
    """Register an oracle of a kernel of a file; the kernel has its name."""

    def register(check):
        def run(gpu):
            check(gpu, module(file)[check.__name__])

        run.on = check
        ORACLES[check.__name__] = run
        return check

    return register


def randoms(seed: int = 53) -> np.random.Generator:
    """A generator of a test's input."""
    return np.random.default_rng(seed)


def array(gpu, values):
    """An array of exactly this dtype."""
    return gpu.array(values, dtype=values.dtype)


# ---- arithmetic.cu


@oracle("arithmetic")
def vector_add(gpu, kernel):
    a, b = randoms().random((2, 1000), np.float32)
    c = gpu.zeros(1000)
    kernel[4, 256](array(gpu, a), array(gpu, b), c, 1000)
    np.testing.assert_array_equal(c.numpy(), a + b)


@oracle("arithmetic")
def axpy_double(gpu, kernel):
    x, y = randoms().integers(-1000, 1000, (2, 500)).astype(np.float64)
    out = array(gpu, y)
    kernel[4, 128](2.5, array(gpu, x), out, 500)
    np.testing.assert_array_equal(out.numpy(), 2.5 * x + y)  # exact: whole numbers and halves


@oracle("arithmetic")
def reduce(gpu, kernel):
    values = randoms().integers(-1000, 1000, 2000, np.int32)
    out = gpu.zeros(1, np.int32)
    kernel[4, 256](array(gpu, values), out, 2000)
    assert out.numpy()[0] == values.sum()


@oracle("arithmetic")
def histogram(gpu, kernel):
    values = randoms().integers(0, 256, 3000, np.uint8)
    bins = gpu.zeros(256, np.uint32)
    kernel[4, 128](array(gpu, values), bins, 3000)
    np.testing.assert_array_equal(bins.numpy(), np.bincount(values, minlength=256))


@oracle("arithmetic")
def matmul(gpu, kernel):
    a, b = randoms().integers(-8, 8, (2, 32, 32)).astype(np.float32)
    c = gpu.zeros((32, 32))
    kernel[(2, 2), (16, 16)](array(gpu, a), array(gpu, b), c, 32)
    np.testing.assert_array_equal(c.numpy(), a @ b)


@oracle("arithmetic")
def warp_scan(gpu, kernel):
    values = randoms().integers(-50, 50, 128, np.int32)
    sums, positive = gpu.zeros(128, np.int32), gpu.zeros(4, np.uint32)
    kernel[2, 64](array(gpu, values), sums, positive)
    np.testing.assert_array_equal(sums.numpy(), values.reshape(4, 32).cumsum(axis=1).reshape(-1))
    np.testing.assert_array_equal(positive.numpy(), (values.reshape(4, 32) > 0).sum(axis=1))


@oracle("arithmetic")
def attract(gpu, kernel):
    body = np.dtype(
        [("x", "f4"), ("y", "f4"), ("mass", "f8"), ("kind", "i2"), ("name", "i1")], align=True
    )
    bodies = np.zeros(40, body)
    generator = randoms()
    for name in body.names:
        bodies[name] = generator.integers(-100, 100, 40)
    centre = np.array((10, -20, 0.5, 3, 7), body)
    memory = array(gpu, bodies.view(np.uint8))
    kernel[2, 32](centre, memory, 40)
    found = memory.numpy().view(body)
    np.testing.assert_array_equal(found["x"], bodies["x"] + (10 - bodies["x"]) * np.float32(0.5))
    np.testing.assert_array_equal(found["y"], bodies["y"] + (-20 - bodies["y"]) * np.float32(0.5))
    np.testing.assert_array_equal(found["mass"], bodies["mass"] + 0.5)
    np.testing.assert_array_equal(found["kind"], bodies["kind"] - 3)
    np.testing.assert_array_equal(found["name"], bodies["name"] + np.int8(7))


@oracle("arithmetic")
def smooth(gpu, kernel):
    values = randoms().integers(-100, 100, (100, 4), np.int32)
    out = gpu.zeros((100, 4), np.int32)
    weights = kernel.module.get_global(gpu, "weights", np.int32)
    np.testing.assert_array_equal(weights.numpy(), [1, 3, 3, 1])
    weights[:] = [1, 2, -3, 4]
    gpu.launch(kernel, grid=2, block=64, args=(array(gpu, values), out, 100), shared=64 * 16)
    padded = np.zeros((128, 4), np.int32)
    padded[:100] = values
    mirrored = padded.reshape(2, 64, 4)[:, ::-1].reshape(128, 4)
    wanted = np.stack(
        [mirrored @ [1, 2, -3, 4], mirrored[:, 3], mirrored[:, 0], np.arange(128)], axis=1
    )
    np.testing.assert_array_equal(out.numpy(), wanted[:100])
    visits = kernel.module.get_global(gpu, "visits")
    assert visits.dtype == np.uint64
    assert visits.numpy()[0] == 2 << 32


@oracle("arithmetic")
def digits(gpu, kernel):
    values = randoms().integers(0, 2**32, 100, np.uint32)
    out = gpu.zeros(100, np.int32)
    kernel[2, 64](array(gpu, values), out, 100)
    for value, found in zip(values.tolist(), out.numpy().tolist(), strict=True):
        counts = [str(value).count(str(k)) for k in range(10)]
        best = max(range(10), key=lambda k: (counts[k], -k))
        assert found == best * 100 + counts[best]


@oracle("arithmetic")
def generic(gpu, kernel):
    values = randoms().integers(-100, 100, 64, np.int32)
    out = gpu.zeros(64, np.int32)
    kernel[1, 64](array(gpu, values), out)
    threads = np.arange(64)
    np.testing.assert_array_equal(
        out.numpy(), 2 * (values[63 - threads] + 1000 * (threads % 3 == 0))
    )


@oracle("arithmetic")
def half_axpy(gpu, kernel):
    x, y = randoms().standard_normal((2, 100)).astype(np.float16)
    out = array(gpu, y.view(np.uint16))
    kernel[2, 64](array(gpu, x.view(np.uint16)), out, np.float32(1.5), 100)
    wanted = np.float32(1.5) * x.astype(np.float32) + y.astype(
        np.float32
    )  # exact in f32 but for one rounding
    np.testing.assert_array_equal(out.numpy().view(np.float16), wanted.astype(np.float16))


@oracle("arithmetic")
def functions(gpu, kernel):
    values = randoms().random(100, np.float32) * 10
    out, wide = gpu.zeros(100), gpu.zeros(100, np.float64)
    kernel[1, 128](array(gpu, values), out, wide, 100)
    v = values.astype(np.float64)
    np.testing.assert_allclose(
        out.numpy(), np.sin(v) + np.exp(-v) + np.sqrt(v) / (1 + np.log(1 + v)), rtol=2e-6, atol=1e-6
    )
    single = np.sqrt(1.0 + v)
    np.testing.assert_allclose(wide.numpy(), np.exp(-v) + v**1.5 / single, rtol=1e-15)


# ---- sharing.cu


@oracle("sharing")
def spin_lock(gpu, kernel):
    data = gpu.zeros(4, np.int32)
    kernel[6, 32](gpu.zeros(1, np.int32), data, 2)
    assert data.numpy().tolist() == [12] * 4


@oracle("sharing")
def lane_lock(gpu, kernel):
    data = gpu.zeros(4, np.int32)
    kernel[2, 32](gpu.zeros(1, np.int32), data)
    assert data.numpy().tolist() == [64] * 4


@oracle("sharing")
def ticket_lock(gpu, kernel):
    data = gpu.zeros(1, np.uint32)
    kernel[1, 64](gpu.zeros(1, np.uint32), gpu.zeros(1, np.uint32), data)
    wanted = 0
    for _ in range(64):
        wanted = (wanted * 3 + 1) & 0xFFFFFFFF
    assert data.numpy()[0] == wanted


@oracle("sharing")
def lane_flag(gpu, kernel):
    for setter in (0, 31):
        out = gpu.zeros(32, np.int32)
        kernel[1, 32](gpu.zeros(1, np.int32), out, setter)
        wanted = np.full(32, 2)
        wanted[setter] = 1
        np.testing.assert_array_equal(out.numpy(), wanted)


@oracle("sharing")
def lane_queue(gpu, kernel):
    out = gpu.zeros(32, np.int32)
    kernel[1, 32](gpu.zeros(32, np.int32), out)
    np.testing.assert_array_equal(out.numpy(), 7 + np.arange(32))


def _passed(gpu, kernel, scale):
    out = gpu.zeros(32, np.int32)
    kernel[2, 32](gpu.zeros(64, np.int32), gpu.zeros(32, np.int32), out, 4)
    np.testing.assert_array_equal(out.numpy(), 6 * scale + 4 * np.arange(32))


@oracle("sharing")
def message_passing(gpu, kernel):
    _passed(gpu, kernel, 100)


@oracle("sharing")
def volatile_flags(gpu, kernel):
    _passed(gpu, kernel, 10)


@oracle("sharing")
def grid_stencil(gpu, kernel):
    values = randoms().integers(-5, 5, 200, np.int32)
    a, b = array(gpu, values), gpu.zeros(200, np.int32)
    kernel[4, 64](a, b, 200, 4)
    for _ in range(4):
        padded = np.pad(values, 1)
        values = padded[1:-1] + padded[:-2] + padded[2:]
    np.testing.assert_array_equal(a.numpy(), values)


@oracle("sharing")
def wide_atomics(gpu, kernel):
    values = randoms().integers(1, 2**33, 100, np.int64)
    most, total = gpu.zeros(1, np.uint64), gpu.zeros(1, np.float64)
    joined = gpu.zeros(1, np.uint64)
    kernel[2, 64](array(gpu, values), most, total, joined, 100)
    assert most.numpy()[0] == values.max()
    assert total.numpy()[0] == values.sum()
    assert int(joined.numpy()[0]) == (int(values.sum()) << 20) + 100


@oracle("sharing")
def block_votes(gpu, kernel):
    rounds, n = 6, 90
    values = randoms().integers(-100, 100, (rounds, n), np.int32)
    counts, flags = gpu.zeros((rounds, n), np.int32), gpu.zeros((rounds, n), np.int32)
    kernel[1, 128](array(gpu, values), counts, flags, rounds, n)
    wanted = (values > 0).sum(axis=1)
    np.testing.assert_array_equal(counts.numpy(), np.repeat(wanted, n).reshape(rounds, n))
    wanted = 2 * (values > 98).any(axis=1) + (values > -98).all(axis=1)
    assert len(set(wanted)) > 2
    np.testing.assert_array_equal(flags.numpy(), np.repeat(wanted, n).reshape(rounds, n))


# ---- pointers.cu


@oracle("pointers")
def by_table(gpu, kernel):
    generator = randoms()
    which, values = (
        generator.integers(0, 3, 100, np.int32),
        generator.integers(-99, 99, 100, np.int32),
    )
    place, out = np.arange(100), gpu.zeros(100, np.int32)
    kernel[2, 64](array(gpu, which), array(gpu, values), out, 100)
    wanted = np.stack([values + place, values * place, values - place])
    np.testing.assert_array_equal(out.numpy(), wanted[which, place])


@oracle("pointers")
def by_class(gpu, kernel):
    values = randoms().integers(0, 10, 64, np.int32)
    side, out = np.arange(64), gpu.zeros(64, np.int32)
    kernel[1, 64](array(gpu, values), out)
    wanted = (side + values) * np.where(values % 2, side + values, 3 + values)
    np.testing.assert_array_equal(out.numpy(), wanted)
