"""Numbers of 64 bits in kernels: i64, u64 and f64 against NumPy and Python."""

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, f32, f64, i32, i64, u32, u64
from products import rows
from registered import ALL

N = 96
MASK = (1 << 64) - 1


@pytest.fixture
def gpu():
    with gpucoh.GPU(machine="fermi", protocol="mesi") as gpu:
        yield gpu


def whole(seed: int) -> np.ndarray:
    dice = np.random.default_rng(seed)
    values = dice.integers(-(2**63), 2**63, N) >> dice.integers(0, 63, N)
    values[:8] = [0, 1, -1, 2**63 - 1, -(2**63), 2**32, -(2**32), 7]
    return values


@gpucoh.kernel
def integers(a: Buffer[i64], b: Buffer[i64], out: Buffer[i64], k: i64):
    i = gpucoh.global_id()
    x = a[i]
    y = b[i]
    out[i * 12] = x + y
    out[i * 12 + 1] = x - y * k
    out[i * 12 + 2] = x // y
    out[i * 12 + 3] = x % y
    out[i * 12 + 4] = (x & y) | (x ^ 5)
    out[i * 12 + 5] = x << (i & 63)
    out[i * 12 + 6] = x >> (i & 63)
    out[i * 12 + 7] = -x + ~y
    out[i * 12 + 8] = min(x, y, 9) - max(x, i)
    out[i * 12 + 9] = i64(x < y) + i64(x == y) * 2 + i64(x != 0 and y >= -1) * 4
    out[i * 12 + 10] = abs(x) if x > 3 else i64(5_000_000_000)
    total = i64(0)
    while total < 10:
        total += 3
        if total == 6:
            continue
        x += total
    out[i * 12 + 11] = x


def wrapped(value: int) -> int:
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


@pytest.mark.parametrize(("machine", "protocol"), [("fermi", "mesi"), ("apu", "qr")])
def test_integers_of_64_bits_are_those_of_python(machine, protocol):
    """With 32 and with 64 lanes a warp."""
    a, b = whole(1), whole(2)
    gpu = gpucoh.GPU(machine=machine, protocol=protocol)
    out = gpu.zeros(12 * N, np.int64)
    gpu.launch(
        integers, grid=N // 32, block=32, args=(gpu.array(a, i64), gpu.array(b, i64), out, -3)
    )
    found = out.numpy().reshape(N, 12)
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        wanted = [
            x + y, x + 3 * y, x // y if y else 0, x % y if y else 0, (x & y) | (x ^ 5), x << (i & 63), x >> (i & 63),
            -x + ~y, min(x, y, 9) - max(x, i), (x < y) + (x == y) * 2 + (x != 0 and y >= -1) * 4,
            abs(x) if x > 3 else 5_000_000_000, x + 3 + 9 + 12,
        ]  # fmt: skip
        assert found[i].tolist() == [wrapped(value) for value in wanted], (i, x, y)


@gpucoh.kernel
def floats(a: Buffer[f64], b: Buffer[f64], out: Buffer[f64], words: Buffer[i32], k: f64):
    i = gpucoh.global_id()
    x, y = a[i], b[i]
    out[i * 10] = x + y * k
    out[i * 10 + 1] = (x - y) / y
    out[i * 10 + 2] = x // y
    out[i * 10 + 3] = x % y
    out[i * 10 + 4] = gpucoh.sqrt(abs(x))
    out[i * 10 + 5] = gpucoh.fma(x, y, k)
    out[i * 10 + 6] = min(x, y) + max(x, 2.5)
    out[i * 10 + 7] = gpucoh.floor(x) + gpucoh.ceil(y)
    out[i * 10 + 8] = f64(i) + f32(0.5) + 1
    out[i * 10 + 9] = -x if x < y else f64(i64(y))
    words[i] = i32(x) + i32(u32(abs(y))) + i32(x != x)


def test_floats_of_64_bits_are_those_of_numpy(gpu):
    dice = np.random.default_rng(3)
    a, b = (dice.normal(0, 10.0 ** dice.integers(-3, 9, N)) for _ in range(2))
    a[:3] = [np.nan, np.inf, -0.0]
    out, words = gpu.zeros(10 * N, f64), gpu.zeros(N, i32)
    k = 0.1
    gpu.launch(
        floats, grid=N // 32, block=32, args=(gpu.array(a, f64), gpu.array(b, f64), out, words, k)
    )
    i = np.arange(N)
    with np.errstate(all="ignore"):
        wanted = [
            a + b * k, (a - b) / b, a // b, a % b, np.sqrt(abs(a)), None, np.fmin(a, b) + np.fmax(a, 2.5),
            np.floor(a) + np.ceil(b), i + 1.5, np.where(a < b, -a, np.trunc(b)),
        ]  # fmt: skip
        clipped = np.clip(np.where(np.isnan(a), 0, a), -(2**31), 2**31 - 1).astype(np.int64)
        unsigned = np.clip(abs(b), 0, 2**32 - 1).astype(np.int64)
    found = out.numpy().reshape(N, 10).T
    for k, values in enumerate(wanted):
        if values is not None:
            assert np.array_equal(found[k], values, equal_nan=True), k
    assert np.allclose(found[5][3:], (a * b + 0.1)[3:], rtol=1e-12)
    total = (clipped + unsigned + np.isnan(a) + 2**31) % 2**32 - 2**31
    assert words.numpy().tolist() == total.tolist()


@gpucoh.device
def mixed(x, n: i64):
    if x > 5:
        return x * n
    return n - u32(7)


@gpucoh.kernel
def conversions(x: Buffer[i32], y: Buffer[f32], out: Buffer[u64], back: Buffer[f32]):
    i = gpucoh.global_id()
    s = gpucoh.shared(i64, 32)
    s[gpucoh.thread_id()] = mixed(i64(x[i]), 3)
    gpucoh.barrier()
    out[3 * i] = u64(s[31 - gpucoh.thread_id()])
    out[3 * i + 1] = u64(y[i])
    out[3 * i + 2] = u64(u32(x[i])) + 1
    back[2 * i] = f32(i64(x[i]) << 20)
    back[2 * i + 1] = f32(f64(y[i]) * 2.0)


def test_conversions_device_functions_and_scratchpads(gpu):
    x = np.arange(-48, 48, dtype=np.int32) * 1111
    y = np.linspace(-3, 3e18, N, dtype=np.float32)
    out, back = gpu.zeros(3 * N, u64), gpu.zeros(2 * N, f32)
    gpu.launch(conversions, grid=N // 32, block=32, args=(gpu.array(x), gpu.array(y), out, back))
    found = out.numpy().reshape(N, 3).tolist()
    results = [v * 3 if v > 5 else 3 - 7 for v in x.tolist()]
    for i in range(N):
        partner = i // 32 * 32 + 31 - i % 32
        assert found[i] == [
            results[partner] & MASK,
            max(int(y[i]), 0),
            (int(x[i]) & 0xFFFFFFFF) + 1,
        ]
    floats = back.numpy().reshape(N, 2)
    assert floats[:, 0].tolist() == (x.astype(np.int64) << 20).astype(np.float32).tolist()
    assert floats[:, 1].tolist() == (y * 2).tolist()


@gpucoh.kernel
def atomics(x: Buffer[u64], y: Buffer[f64], z: Buffer[i64], old: Buffer[u64]):
    i = gpucoh.global_id()
    old[i] = gpucoh.atomic_add(x, 0, u64(i) << 32)
    gpucoh.atomic_max(x, 1, u64(i) << 33)
    gpucoh.atomic_add(y, 0, 0.5)
    gpucoh.atomic_min(z, 0, i64(-5) - i)
    gpucoh.atomic_exch(z, 1, i64(i))
    known = gpucoh.load(z, 2, order="relaxed")
    while True:
        seen = gpucoh.atomic_cas(z, 2, known, known + 1_000_000_007)
        if seen == known:
            break
        known = seen


@pytest.mark.parametrize(
    ("machine", "protocol"),
    [*rows([("fermi", name) for name in ALL], one_in=3), ("apu", "qr")],
)
def test_atomics_of_64_bits_under_every_protocol(machine, protocol):
    with gpucoh.GPU(machine=machine, protocol=protocol) as gpu:
        x, y, z, old = gpu.zeros(2, u64), gpu.zeros(1, f64), gpu.zeros(3, i64), gpu.zeros(N, u64)
        gpu.launch(atomics, grid=3, block=32, args=(x, y, z, old))
        assert x.numpy().tolist() == [sum(range(N)) << 32, (N - 1) << 33]
        assert y.numpy().tolist() == [N / 2]
        values = z.numpy().tolist()
        assert values[0] == -5 - (N - 1)
        assert values[1] in range(N)
        assert values[2] == N * 1_000_000_007
        assert len(set(old.numpy().tolist())) in (N, N - 1)  # thread 0 adds 0


def test_arrays_of_64_bits_keep_their_values(gpu):
    given = whole(4)
    x = gpu.array(given)
    assert x.dtype == np.int64
    assert x.nbytes == 8 * N
    assert x.numpy().tolist() == given.tolist()
    x[3:5] = [2**40, -(2**50)]
    assert x[2:6].tolist() == [*given[2:3].tolist(), 2**40, -(2**50), *given[5:6].tolist()]
    y = gpu.array([0.1, np.pi], dtype=np.float64)
    assert y.numpy().tolist() == [0.1, np.pi]


@gpucoh.kernel
def same_bits(x: Buffer[f64], o: Buffer[i64, 2]):
    i = gpucoh.global_id()
    o[0, i] = gpucoh.bitcast(x[i], i64)
    o[1, i] = i64(gpucoh.bitcast(gpucoh.bitcast(x[i], u64) ^ u64(1 << 63), f64) == -x[i])


def test_bitcast_of_64_bits_keeps_them(gpu):
    x = np.array([0.0, -0.0, 1.5, -2.25e300, 5e-324, np.inf, 1 / 3, -7.0] * (N // 8))
    o = gpu.zeros((2, N), np.int64)
    gpu.launch(same_bits, grid=1, block=N, args=(gpu.array(x), o))
    assert np.array_equal(o.numpy()[0], x.view(np.int64))
    assert o.numpy()[1].all()
