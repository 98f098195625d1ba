"""Unrolled loops and constant parts of scratchpad indices: the same values, fewer instructions, the same errors."""

import numpy as np
import pytest

import gpucoh
from gpucoh.lang import Buffer, f32, i32, kernel
from gpucoh.lang.intrinsics import barrier, block_dim, local, shared, thread_id
from gpucoh.lang.unroll import MAX_UNROLLED_INSTRUCTIONS
from unit.lang import machine

TILE = 8


def loops(k):
    """Branches and jumps backwards."""
    code = machine.decode(k.compile())
    return sum(op.name in ("BRANCH", "JUMP") and op.target <= at for at, op in enumerate(code))


@kernel
def product(a: Buffer[f32], b: Buffer[f32], o: Buffer[f32]):
    left = shared(f32, (TILE, TILE))
    right = shared(f32, (TILE, TILE))
    x = thread_id(0)
    y = thread_id(1)
    left[y, x] = a[y * TILE + x]
    right[y, x] = b[y * TILE + x]
    barrier()
    total = f32(0.0)
    for i in range(TILE):
        total = total + left[y, i] * right[i, x]
    o[y * TILE + x] = total


def test_a_tile_product_has_no_loop_and_no_arithmetic_of_addresses():
    a, b = np.random.default_rng(0).integers(-9, 9, (2, TILE, TILE)).astype(np.float32)
    o = np.zeros((TILE, TILE), np.float32)
    machine.run(product, 1, (TILE, TILE), (a.ravel(), b.ravel(), o.reshape(-1)))
    assert np.array_equal(o, a @ b)
    names = machine.names(product)
    assert loops(product) == 0
    inner = names[names.index("BARRIER") + 1 : names.index("STORE")]
    assert sorted(set(inner)) == ["ADD", "MUL", "SHARED_LOAD"]
    assert len(inner) == 4 * TILE  # two loads, a product and a sum a step


@kernel
def triangle(o: Buffer[i32]):
    t = thread_id()
    total = 0
    for i in range(1, 6):
        for j in range(i):
            total = total * 3 + i * j + t
    for i in range(3):
        for j in range(2):
            total = total * 3 + i * j
    o[t] = total


def test_an_outer_loop_is_unrolled_if_its_inner_ones_are():
    o, wanted = np.zeros(32, np.int32), np.zeros(32, np.int32)
    machine.run(triangle, 1, 32, (o,))
    for i in range(1, 6):
        for j in range(i):
            wanted = wanted * 3 + i * j + np.arange(32, dtype=np.int32)
    for i in range(3):
        for j in range(2):
            wanted = wanted * 3 + i * j
    assert np.array_equal(o, wanted)
    assert loops(triangle) == 2


@kernel
def leaves(x: Buffer[i32], o: Buffer[i32]):
    t = thread_id()
    last = i32(-1)
    found = i32(0)
    for i in range(2, 20, 3):
        if x[t] == i:
            continue
        if x[t] < i:
            found = i * 100
            break
        last = i
    o[t] = found + last
    for i in range(3):
        if x[t] == i:
            return
    o[t] += 5000


def test_lanes_that_leave_an_unrolled_loop_keep_their_values():
    x, o = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    machine.run(leaves, 1, 32, (x, o))

    def plain(x):
        last, found = -1, 0
        for i in range(2, 20, 3):
            if x == i:
                continue
            if x < i:
                found = i * 100
                break
            last = i
        return found + last + (0 if x < 3 else 5000)

    assert o.tolist() == [plain(x) for x in range(32)]
    assert loops(leaves) == 0


@kernel
def steps(o: Buffer[i32]):
    row = shared(i32, 64)
    t = thread_id()
    row[t] = t
    barrier()
    for i in range(4):
        word = row[(t + (1 << i)) % block_dim()]
        barrier()
        if t >= i:
            row[t] = row[t] + word
        barrier()
    o[t] = row[t]


def test_barriers_in_an_unrolled_loop_keep_their_order():
    o = np.zeros(64, np.int32)
    machine.run(steps, 1, 64, (o,))
    row = np.arange(64)
    for i in range(4):
        row = row + np.where(np.arange(64) >= i, np.roll(row, -(1 << i)), 0)
    assert np.array_equal(o, row)
    assert machine.names(steps).count("BARRIER") == 9


WORK = MAX_UNROLLED_INSTRUCTIONS // 5  # iterations of five instructions


@kernel
def within(x: Buffer[i32], o: Buffer[i32]):
    t = thread_id()
    word = x[t]
    for i in range(WORK):
        word = ((word ^ t) * 3 | i) - (word & 7)
    o[t] = word


@kernel
def beyond(x: Buffer[i32], o: Buffer[i32]):
    t = thread_id()
    word = x[t]
    for i in range(WORK + 1):
        word = ((word ^ t) * 3 | i) - (word & 7)
    o[t] = word


@pytest.mark.parametrize(("k", "count", "looped"), [(within, WORK, 0), (beyond, WORK + 1, 1)])
def test_the_bound_is_on_the_instructions_of_all_copies(k, count, looped):
    x, o = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    machine.run(k, 1, 32, (x, o))
    word, t = x.copy(), np.arange(32, dtype=np.int32)
    for i in range(count):
        word = ((word ^ t) * np.int32(3) | np.int32(i)) - (word & np.int32(7))
    assert np.array_equal(o, word)
    assert loops(k) == looped
    assert len(machine.names(k)) < MAX_UNROLLED_INSTRUCTIONS + 20


@kernel
def many_words(x: Buffer[i32], o: Buffer[i32]):
    t = thread_id()
    words = local(i32, 100)
    more = local(i32, 100)
    for i in range(100):
        words[i] = x[(t + i) % 32]
    for i in range(100):
        more[i] = x[(t * i) % 32]
    total = i32(0)
    for i in range(100):
        total += words[i] * more[i]
    o[t] = total


def test_a_kernel_that_fits_the_registers_with_its_loops_alone_keeps_them():
    x, o = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    machine.run(many_words, 1, 32, (x, o))
    t, i = np.arange(32)[:, None], np.arange(100)
    assert np.array_equal(o, (x[(t + i) % 32] * x[t * i % 32]).sum(1))


@kernel
def guarded(x: Buffer[i32], o: Buffer[i32], n: i32):
    t = thread_id()
    few = local(i32, 2)
    row = shared(i32, 4)
    row[t % 4] = t
    barrier()
    total = i32(0)
    for i in range(6):
        if i < n:
            few[i] = x[t] + i
            total += row[i] + few[i]
    o[t] = total


def test_an_index_outside_an_array_is_an_error_only_where_it_is_reached():
    x = np.arange(32, dtype=np.int32)
    with gpucoh.GPU("fermi") as gpu:
        o = gpu.zeros(32, np.int32)
        gpu.launch(guarded, grid=1, block=32, args=(gpu.array(x), o, 2))
        assert np.array_equal(o.numpy(), 28 + 29 + 2 * x + 1)
    with gpucoh.GPU("fermi") as gpu, pytest.raises(gpucoh.Error, match=r"index 2 .*out of bounds"):
        gpu.launch(guarded, grid=1, block=32, args=(gpu.array(x), gpu.zeros(32, np.int32), 3))


@kernel
def before_first(x: Buffer[i32], o: Buffer[i32]):
    row = shared(i32, 32)
    t = thread_id()
    row[t] = x[t]
    barrier()
    left = t - 1
    total = i32(0)
    for i in range(1, 4):
        if left + i < 32:
            total = total * 10 + row[left + i]
    o[t] = total


def test_an_index_below_zero_with_an_offset_within_the_array_is_right():
    x, o = np.arange(32, dtype=np.int32) % 7, np.zeros(32, np.int32)
    with gpucoh.GPU("fermi") as gpu:
        found = gpu.zeros(32, np.int32)
        gpu.launch(before_first, grid=1, block=32, args=(gpu.array(x), found))
        for t in range(32):
            for i in range(t, min(t + 3, 32)):
                o[t] = o[t] * 10 + x[i]
        assert np.array_equal(found.numpy(), o)
    assert any(
        op.name == "SHARED_LOAD" and op.target for op in machine.decode(before_first.compile())
    )


@kernel
def outside(o: Buffer[i32]):
    row = shared(i32, 32)
    t = thread_id()
    row[t] = t
    barrier()
    for i in range(3):
        o[t] = row[t + i]


def test_an_error_in_an_unrolled_loop_names_the_index_and_its_line():
    with (
        gpucoh.GPU("fermi") as gpu,
        pytest.raises(gpucoh.Error, match="index 32 is out of bounds") as raised,
    ):
        gpu.launch(outside, grid=1, block=32, args=(gpu.zeros(32, np.int32),))
    line = next(k for k, text in enumerate(outside.source_lines) if "row[t + i]" in text)
    number = outside.function.__code__.co_firstlineno + line
    assert f"test_unrolling.py:{number}" in str(raised.value)
