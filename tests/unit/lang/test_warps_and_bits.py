"""Shuffles, bit counts, powers, barriers with a scope and f32 atomics, against NumPy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import gpucoh
from gpucoh.lang import Buffer, f32, i32, kernel, u32
from gpucoh.lang.intrinsics import (
    atomic_max,
    atomic_min,
    barrier,
    clz,
    ffs,
    global_id,
    lane_id,
    popcount,
    shared,
    shuffle_down,
    shuffle_up,
    shuffle_xor,
    syncwarp,
    thread_id,
)
from registered import COHERENT
from unit.lang import machine

words = st.lists(st.integers(0, 2**32 - 1), min_size=32, max_size=32)
floats = st.lists(st.floats(width=32), min_size=32, max_size=32)


@kernel
def shuffles(x: Buffer[f32], by: i32, up: Buffer[f32], down: Buffer[f32], crossed: Buffer[f32]):
    i = thread_id()
    up[i] = shuffle_up(x[i], by)
    down[i] = shuffle_down(x[i], by)
    crossed[i] = shuffle_xor(x[i], by)


@given(st.integers(-3, 70), st.sampled_from([32, 64]))
@settings(max_examples=30, deadline=None)
def test_shuffles_take_the_word_of_another_lane_or_the_own_one(by, lanes):
    x = np.arange(lanes, dtype=np.float32) + np.float32(0.5)
    up, down, crossed = np.zeros((3, lanes), np.float32)
    machine.run(shuffles, 1, lanes, (x, by, up, down, crossed), lanes)
    i = np.arange(lanes)
    inside = 0 <= by < lanes
    assert np.array_equal(up, x[np.where((i >= by) & inside, i - by, i)])
    assert np.array_equal(down, x[np.where((i + by < lanes) & inside, i + by, i) % lanes])
    assert np.array_equal(crossed, x[(i ^ by) % lanes])


@kernel
def warp_sum(x: Buffer[i32]):
    s = shared(i32, 32)
    total = x[lane_id()]
    for k in (16, 8, 4, 2, 1):
        total += shuffle_xor(total, k)
    s[lane_id()] = total
    syncwarp()
    x[lane_id()] = s[31 - lane_id()]


def test_a_sum_over_the_warp_reaches_every_lane():
    gpu = gpucoh.GPU()
    x = gpu.array(np.arange(32, dtype=np.int32))
    gpu.launch(warp_sum, grid=1, block=32, args=(x,))
    assert set(x.numpy()) == {496}


@kernel
def counts(x: Buffer[u32], o: Buffer[i32, 2]):
    i = thread_id()
    o[0, i] = popcount(x[i])
    o[1, i] = clz(x[i])
    o[2, i] = ffs(i32(x[i]))
    o[3, i] = popcount(255) + clz(u32(1)) + ffs(u32(8)) + clz(0) + ffs(0)


@given(words)
@settings(max_examples=30, deadline=None)
def test_bits_are_counted_as_by_python(values):
    x = np.array([v >> (v % 31) for v in values], np.uint32)
    o = np.zeros((4, 32), np.int32)
    machine.run(counts, 1, 32, (x, o))
    numbers = x.tolist()
    assert o[0].tolist() == [n.bit_count() for n in numbers]
    assert o[1].tolist() == [32 - n.bit_length() for n in numbers]
    assert o[2].tolist() == [(n & -n).bit_length() for n in numbers]
    assert set(o[3]) == {8 + 31 + 4 + 32}


@kernel
def powers(
    x: Buffer[i32],
    n: Buffer[i32],
    y: Buffer[f32],
    o: Buffer[i32],
    u: Buffer[u32],
    f: Buffer[f32, 2],
):
    i = thread_id()
    o[i] = x[i] ** n[i]
    u[i] = u32(x[i]) ** u32(n[i])
    f[0, i] = y[i] ** n[i]
    f[1, i] = y[i] ** -2
    f[2, i] = 2.0 ** n[i]


@given(st.integers(0, 2**16))
@settings(max_examples=30, deadline=None)
def test_powers_equal_numpys(seed):
    r = np.random.default_rng(seed)
    x = r.integers(-(2**31), 2**31, 32).astype(np.int32) >> r.integers(0, 31, 32).astype(np.int32)
    n = r.integers(-20, 41, 32).astype(np.int32)
    y = r.uniform(0.3, 3, 32).astype(np.float32) * r.choice([-1, 1], 32).astype(np.float32)
    o, u, f = np.zeros(32, np.int32), np.zeros(32, np.uint32), np.zeros((3, 32), np.float32)
    machine.run(powers, 1, 32, (x, n, y, o, u, f))
    assert np.array_equal(o, np.where(n < 0, 0, x ** np.abs(n)))
    unsigned = [
        pow(int(a) & 0xFFFFFFFF, int(b) & 0xFFFFFFFF, 2**32) for a, b in zip(x, n, strict=True)
    ]
    assert u.tolist() == unsigned
    exact = y.astype(np.float64) ** n
    assert np.allclose(f[0], exact, rtol=45 * 2.0**-23)
    assert np.array_equal(f[1], np.float32(1) / (y * y))
    assert np.array_equal(f[2], np.exp2(n.astype(np.float32)))


@kernel
def extremes(x: Buffer[f32], o: Buffer[f32]):
    t = shared(f32, 2)
    i = thread_id()
    if i < 2:
        t[i] = x[0]
    barrier()
    atomic_min(o, 0, x[i])
    atomic_max(o, 1, x[i])
    atomic_min(t, 0, x[i])
    atomic_max(t, 1, x[i])
    barrier()
    if i < 2:
        o[2 + i] = t[i]


@given(floats)
@settings(max_examples=30, deadline=None)
def test_f32_atomic_extremes_equal_numpys(values):
    x = np.array(values, np.float32)
    want = np.array([np.fmin.reduce(x), np.fmax.reduce(x)] * 2, np.float32)
    o = np.full(4, x[0], np.float32)
    machine.run(extremes, 1, 32, (x, o))
    assert np.array_equal(o, want, equal_nan=True)
    if not want[0] and (np.signbit(x) & (x == 0)).any():
        assert np.signbit(o[0])


def test_a_barrier_with_a_scope_is_a_release_and_an_acquire():
    @kernel
    def publish(x: Buffer[i32], o: Buffer[i32], flag: Buffer[i32]):
        i = global_id()
        x[i] = i + 1
        barrier(scope="gpu")
        if thread_id() == 0:
            gpucoh.atomic_add(flag, 0, 1)
            while gpucoh.load(flag, 0, order="relaxed") < gpucoh.grid_dim():
                pass
        barrier(scope="gpu")
        o[i] = x[len(x) - 1 - i]

    ops = [op for op in machine.decode(publish.compile()) if op.name in ("FENCE", "BARRIER")]
    assert [(op.name, op.order, op.scope) for op in ops] == [("BARRIER", "ACQ_REL", "GPU")] * 2
    for protocol in COHERENT:
        gpu = gpucoh.GPU(protocol=protocol, check=True)
        x, o = gpu.zeros(256, np.int32), gpu.zeros(256, np.int32)
        gpu.launch(publish, grid=4, block=64, args=(x, o, gpu.zeros(1, np.int32)))
        assert np.array_equal(o.numpy(), np.arange(256, 0, -1)), protocol
