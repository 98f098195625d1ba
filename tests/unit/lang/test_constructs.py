"""Each construct of the kernel language, compiled and run on the core."""

import numpy as np
import pytest

from gpucoh.base.errors import KernelError
from gpucoh.lang import Buffer, device, f32, i32, isa, kernel, u32
from gpucoh.lang import intrinsics as g
from gpucoh.lang.intrinsics import (
    atomic_add,
    atomic_cas,
    ballot,
    barrier,
    barrier_arrive,
    block_dim,
    block_id,
    clock,
    fence,
    global_id,
    grid_dim,
    lane_id,
    load,
    local,
    shared,
    shuffle,
    sleep,
    store,
    thread_id,
    warp_id,
    warp_size,
)
from unit.lang import machine

WIDTH = 4
SCALE = np.float32(0.1)
TAPS = (1, -2, 5)


def out(n=64, dtype=np.int32):
    return np.zeros(n, dtype)


def filled(k, n=32, threads=32, *args, dtype=np.int32):
    """The n words, zeros before, of the first argument of one block's run."""
    o = out(n, dtype)
    machine.run(k, 1, threads, (o, *args))
    return o.tolist()


@kernel
def ids(o: Buffer[i32]):
    i = global_id() + global_id(1) * grid_dim() * block_dim() + global_id(2) * 1000
    o[i * 4] = thread_id() + 10 * thread_id(1)
    o[i * 4 + 1] = block_id() + 10 * block_id(1)
    o[i * 4 + 2] = lane_id() + 100 * warp_id()
    o[i * 4 + 3] = grid_dim(1) * 100 + block_dim(1)


def test_ids_of_two_axes():
    o = out(8 * 8 * 4)
    machine.run(ids, (2, 2), (4, 4), (o,))
    o = o.reshape(8, 8, 4)
    y, x = np.mgrid[0:8, 0:8]
    assert np.array_equal(o[..., 0], x % 4 + 10 * (y % 4))
    assert np.array_equal(o[..., 1], x // 4 + 10 * (y // 4))
    assert np.array_equal(o[..., 2], x % 4 + 4 * (y % 4))
    assert np.all(o[..., 3] == 204)


@kernel
def saxpy(a: f32, x: Buffer[f32, "readonly"], y: Buffer[f32], n: i32):  # noqa: F821
    i = global_id()
    if i >= n:
        return
    y[i] = a * x[i] + y[i]


def test_saxpy_rounds_at_each_step():
    r = np.random.default_rng(0)
    x, y = r.standard_normal((2, 100)).astype(np.float32)
    want = np.float32(0.3) * x + y
    machine.run(saxpy, 4, 32, (0.3, x, y, 100))
    assert np.array_equal(y, want)


def test_lanes_that_return_early_do_not_part_the_rest_of_the_warp():
    @kernel
    def k(o: Buffer[i32], n: i32):
        if lane_id() > n:
            return
        s = 0
        for j in range(n):
            s += j
        o[lane_id()] = s

    assert filled(k, 32, 32, 5) == [10] * 6 + [0] * 26
    program = k.compile(32)
    adds = [op for op in machine.decode(program) if op.name == "ADD"]
    assert adds
    assert all(op.destination & isa.OPERAND_KIND == isa.OPERAND_UNIFORM for op in adds)


@kernel
def wrap(o: Buffer[i32], u: Buffer[u32], big: i32):
    o[0] = big + 1
    o[1] = -7 // (big - big + 2)
    o[2] = (big - big - 7) % 3
    o[3] = big // (big - big)
    o[4] = (big + 1) // (0 - 1)
    o[5] = (big + 1) >> 40
    o[6] = 1 << (big - big + 33)
    o[7] = i32(f32(big) * 4.0)
    o[8] = big % (big - big)
    o[9] = g.abs(big + 1)
    u[0] = u32(big) * u32(3)
    u[1] = u32(0) - u32(1)
    u[2] = u[1] >> u32(31)


def test_arithmetic_wraps_and_its_edges_are_defined():
    o, u = out(10), out(3, np.uint32)
    machine.run(wrap, 1, 1, (o, u, 2**31 - 1))
    low = -(2**31)
    assert o.tolist() == [low, -4, 2, 0, low, -1, 0, 2**31 - 1, 0, low]
    assert u.tolist() == [(2**31 - 1) * 3 % 2**32, 2**32 - 1, 1]


@kernel
def loops(o: Buffer[i32], n: i32, step: i32):
    i = lane_id()
    for k in range(n):
        if k == i:
            continue
        if k > 5:
            break
        o[i] += k
    k = 0
    while True:
        k += 1
        if k * k > i:
            break
    o[32 + i] = k
    for j in range(10, 0, step):
        o[64 + i] += j
    for j in range(i, n, block_dim()):
        o[96 + i] = j


@pytest.mark.parametrize("step", [-3, 2])
def test_loops_with_break_continue_and_steps(step):
    o = out(128)
    machine.run(loops, 1, 32, (o, 9, step))
    assert o[:32].tolist() == [sum(k for k in range(6) if k != i) for i in range(32)]
    assert o[32:64].tolist() == [next(k for k in range(1, 9) if k * k > i) for i in range(32)]
    assert o[64:96].tolist() == [sum(range(10, 0, step))] * 32
    assert o[96:].tolist() == list(range(9)) + [0] * 23


@kernel
def tile(x: Buffer[f32], y: Buffer[f32]):
    t = shared(f32, (WIDTH, WIDTH + 1))
    tx, ty = thread_id(0), thread_id(1)
    t[ty, tx] = x[ty * WIDTH + tx]
    barrier()
    y[ty * WIDTH + tx] = t[tx, ty] * SCALE


def test_two_dimensional_scratchpad_transposes():
    x, y = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    machine.run(tile, 1, (4, 4), (x, y))
    assert np.array_equal(y.reshape(4, 4), x.reshape(4, 4).T * np.float32(0.1))
    assert tile.compile(32).shared_words == 20


def test_a_block_of_several_warps_meets_at_a_barrier():
    @kernel
    def k(o: Buffer[i32]):
        t = shared(i32, 128)
        t[thread_id()] = thread_id()
        barrier()
        o[thread_id()] = t[127 - thread_id()]

    assert filled(k, 128, 128) == list(range(127, -1, -1))


def test_named_barriers_join_producers_and_consumers():
    @kernel
    def k(o: Buffer[i32]):
        t = shared(i32, 32)
        w = warp_id()
        if w == 0:
            t[lane_id()] = lane_id() * 2
            barrier_arrive(3, 64)
        else:
            barrier(3, count=64)
            o[lane_id()] = t[31 - lane_id()]

    assert filled(k, 32, 64) == list(range(62, -1, -2))


def test_local_arrays_start_at_zero_and_take_any_index():
    @kernel
    def k(o: Buffer[i32], n: i32):
        a = local(i32, (2, 3))
        i = lane_id()
        a[i & 1, i % 3] = i + 1
        s = 0
        for y in range(2):
            for x in range(3):
                s = s * 2 + a[y, x]
        o[i] = s + n

    assert filled(k, 32, 32, 0) == [(i + 1) << (5 - (i % 2 * 3 + i % 3)) for i in range(32)]
    assert "LOCAL_STORE" in machine.names(k)


def test_local_arrays_of_constant_indices_are_plain_registers():
    @kernel
    def k(o: Buffer[i32], n: i32):
        a = local(i32, 4)
        a[0] = n
        a[1] = a[0] * 2
        o[lane_id()] = a[1] + a[3]

    assert filled(k, 32, 32, 21) == [42] * 32
    assert k.compile(32).vector_registers <= 4


def test_atomics_count_and_return_the_old_value():
    @kernel
    def k(o: Buffer[i32], c: Buffer[f32]):
        old = atomic_add(o, 0, 1)
        o[1 + old] = 1
        atomic_add(c, 0, 0.5, "release", "cta")
        g.atomic_max(o, 65, lane_id())
        g.atomic_sub(o, 66, 2)
        g.atomic_xor(o, 67, 1 << (lane_id() % 5))
        t = shared(i32, 2)
        g.atomic_or(t, 1, 1 << (thread_id() % 8))
        barrier()
        g.atomic_exch(o, 68, t[1])

    o, c = out(69), np.zeros(1, np.float32)
    machine.run(k, 2, 32, (o, c))
    assert o[0] == 64
    assert o[1:65].tolist() == [1] * 64
    assert c[0] == 32.0
    assert o[65:].tolist() == [31, -128, 0, 255]


def test_a_lock_by_one_lane_a_block_protects_a_counter():
    @device
    def lock(b: Buffer[u32], k):
        while atomic_cas(b, k, 0, 1, order="acquire") != 0:
            sleep(10)

    @kernel
    def k(locks: Buffer[u32], o: Buffer[i32]):
        if thread_id() == 0:
            for _ in range(5):
                lock(locks, 0)
                o[0] = o[0] + 1
                store(locks, 0, 0, "release")
        fence("acquire", "cu")

    o, locks = out(1), out(1, np.uint32)
    machine.run(k, 4, 32, (locks, o))
    assert o[0] == 20
    code = machine.decode(k.compile(32))
    assert {op.order for op in code if op.name == "ATOMIC"} == {"ACQUIRE"}
    fences = [op for op in code if op.name == "FENCE"]
    assert [(op.order, op.scope) for op in fences] == [("ACQUIRE", "CU")]


def test_orders_and_scopes_reach_the_instructions():
    @kernel
    def k(o: Buffer[i32]):
        store(o, 1, load(o, 0, "acquire", "sys"), "release", scope="cta")

    found = [
        (op.name, op.order, op.scope)
        for op in machine.decode(k.compile(32))
        if op.name in ("LOAD", "STORE")
    ]
    assert found == [("LOAD", "ACQUIRE", "SYS"), ("STORE", "RELEASE", "CTA")]


@pytest.mark.parametrize("lanes", [32, 64])
def test_votes_and_shuffles_see_the_active_lanes(lanes):
    @kernel
    def k(o: Buffer[u32]):
        i = lane_id()
        if i % 2 == 1:
            o[i] = ballot(i < 8)
            o[64 + i] = ballot(i >= 32, high=True)
            o[128 + i] = u32(g.any(i == 3)) + u32(g.all(i % 2)) * u32(2)
        o[192 + i] = u32(shuffle(i * 3, i + 1) + warp_size())

    o = out(256, np.uint32)
    machine.run(k, 1, lanes, (o,), lanes)
    odd = np.arange(lanes) % 2 == 1
    assert np.all(o[:lanes][odd] == 0xAA)
    assert np.all(o[64 : 64 + lanes][odd] == (0xAAAAAAAA if lanes == 64 else 0))
    assert np.all(o[128 : 128 + lanes][odd] == 3)
    assert o[192 : 192 + lanes].tolist() == [(i + 1) % lanes * 3 + lanes for i in range(lanes)]


def test_clock_is_read_each_time():
    @kernel
    def k(o: Buffer[u32]):
        start = clock()
        o[1] = u32(5)
        o[0] = clock() - start

    o = out(2, np.uint32)
    machine.run(k, 1, 1, (o,))
    assert o[0] > 0


@device
def clamp(v, low: i32 = 0, high: i32 = 10):
    if v < low:
        return low
    if v > high:
        v = high
    return v


@device
def divide(a: i32, b: i32):
    return a // b, a % b


def test_device_functions_take_defaults_and_return_from_several_places():
    @kernel
    def k(o: Buffer[i32]):
        i = lane_id() - 5
        o[lane_id()] = clamp(i) + clamp(i, high=3) * 100 + clamp(v=2, low=i)
        q, m = divide(i, 3)
        o[32 + lane_id()] = q * 3 + m

    def plain(v, low=0, high=10):
        return min(max(v, low), max(high, low) if v < low else high)

    o = out(64)
    machine.run(k, 1, 32, (o,))
    want = [plain(i) + plain(i, high=3) * 100 + plain(2, low=i) for i in range(-5, 27)]
    assert o[:32].tolist() == want
    assert o[32:].tolist() == list(range(-5, 27))


@device
def add_more(a: i32, more: i32):
    return a + more


def test_a_parameter_may_have_the_name_of_the_intrinsics_extra_arguments():
    @kernel
    def k(o: Buffer[i32]):
        o[lane_id()] = add_more(lane_id(), 3)

    assert filled(k) == list(range(3, 35))


def test_loops_over_tuples_are_written_out():
    @kernel
    def k(o: Buffer[i32]):
        s = 0
        for tap in TAPS:
            if tap == -2:
                continue
            s += tap
        for a, b in ((1, 2), (3, 4)):
            s += a * b
        o[lane_id()] = s + TAPS[1]

    assert filled(k) == [18] * 32


def test_short_circuit_keeps_the_right_side_from_faulting():
    @kernel
    def k(o: Buffer[i32], n: i32):
        i = lane_id()
        if i < n and o[i] == 0:
            o[i] = 1 if i == 0 or o[i - 1] >= 0 else 2
        found = i < n and o[i] == 1
        if found:
            o[i] += 10
        j = i
        while j < n and o[j] > 0:
            j += 1

    assert filled(k, 8, 32, 8) == [11] * 8


def test_logical_values_are_the_operands_as_in_python():
    @kernel
    def k(o: Buffer[i32], a: i32, b: i32):
        o[0] = a and b
        o[1] = a or b
        o[2] = not a
        o[3] = 0 < a < 10 <= b
        o[4] = (a > 0) + (b > 0)

    assert filled(k, 5, 1, 0, 12) == [0, 12, 1, 0, 1]
    assert filled(k, 5, 1, 5, 12) == [12, 5, 0, 1, 2]


def test_the_truth_of_minus_zero_is_false_and_of_nan_true():
    @kernel
    def k(o: Buffer[i32], x: Buffer[f32]):
        i = lane_id()
        if x[i]:
            o[i] = 1
        o[2 + i] = 5 if x[i] else 6

    assert filled(k, 4, 2, np.array([-0.0, np.nan], np.float32)) == [0, 1, 6, 5]


def test_special_functions_and_minima():
    @kernel
    def k(x: Buffer[f32], y: Buffer[f32]):
        v = x[0]
        y[0] = g.sqrt(v)
        y[1] = g.floor(v) + g.exp(v) - g.log(v) + g.sin(v) * g.cos(v)
        y[2] = g.min(v, 1.0, 3)
        y[3] = max(v, y[2], 0.5)
        y[4] = abs(-v) ** 3
        y[5] = 7 / 2 + i32(3) / i32(2)

    y = np.zeros(6, np.float32)
    machine.run(k, 1, 1, (np.array([2.5], np.float32), y))
    v = 2.5
    close = [np.sqrt(v), 2 + np.exp(v) - np.log(v) + np.sin(v) * np.cos(v), 1.0, 2.5, v**3, 5.0]
    assert np.allclose(y, close, rtol=1e-6)


def test_an_index_out_of_bounds_is_an_error():
    @kernel
    def k(o: Buffer[i32], n: i32):
        o[n] = 1

    for n in (-1, 4, 2**31 - 1):
        with pytest.raises(
            KernelError, match=rf"index {n} is out of bounds of buffer 'o' of 4 words"
        ):
            machine.run(k, 1, 1, (out(4), n))


def test_annotated_variables_and_swaps():
    @kernel
    def k(o: Buffer[f32], n: i32):
        a: f32 = 0
        b = 1.0
        for _ in range(n):
            a, b = b, a + b
        a = b = a + 1
        o[0] = a
        o[1] = b

    assert filled(k, 2, 1, 10, dtype=np.float32) == [56.0, 56.0]
