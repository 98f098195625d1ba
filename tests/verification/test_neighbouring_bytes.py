"""Threads of several cores access neighbouring bytes, half-words and words: does any protocol lose or mix one?

Each element of a small array is of one thread, so there is no race and every thread must read what it wrote itself,
whatever its neighbours in the word do: through caches that write back, that write through, and store buffers.
"""

import functools

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, global_id, i16, i32, kernel, load, store, u8
from products import share
from registered import ALL, VARIATIONS, WITH_L1

WORDS, BLOCKS, THREADS, STEPS = 96, 4, 64, 24
STORE8, LOAD8, STORE16, LOAD16, STORE32, LOAD32 = range(6)


class Alias(gpucoh.Array):
    """The memory of another array as elements of another size."""

    def __init__(self, of, dtype):
        dtype = np.dtype(dtype)
        super().__init__(of.gpu, of.address, (of.nbytes // dtype.itemsize,), dtype)

    def __del__(self):
        pass


def script_kernel(order, scope):
    @kernel
    def run_scripts(
        b: Buffer[u8],
        h: Buffer[i16],
        w: Buffer[i32],
        scripts: Buffer[i32],
        sums: Buffer[i32],
        steps: i32,
    ):
        at = global_id() * 3 * steps
        total = 0
        for _ in range(steps):
            kind = scripts[at]
            i = scripts[at + 1]
            value = scripts[at + 2]
            at += 3
            if kind == STORE8:
                store(b, i, value, order, scope)
            elif kind == LOAD8:
                total = total * 31 + load(b, i, order, scope)
            elif kind == STORE16:
                store(h, i, value, order, scope)
            elif kind == LOAD16:
                total = total * 31 + load(h, i, order, scope)
            elif kind == STORE32:
                store(w, i, value, order, scope)
            else:
                total = total * 31 + load(w, i, order, scope)
        sums[global_id()] = total

    return run_scripts


@functools.cache
def scripts(seed):
    """Random operations of all threads, the memory before and after them, and the sums of what the threads read."""
    rng = np.random.default_rng(seed)
    threads = BLOCKS * THREADS
    owner = np.full(4 * WORDS + 4, -1)  # of each byte; the last word has none
    for word in range(WORDS):
        parts = rng.choice([1, 2, 4])
        owner[4 * word : 4 * word + 4] = np.repeat(rng.integers(0, threads, parts), 4 // parts)
    before = rng.integers(0, 256, owner.size, dtype=np.uint8)
    before[-4:] = 0
    memory = before.copy()
    operations = np.tile(np.array([LOAD32, WORDS, 0], np.int32), (threads, STEPS, 1))
    sums = np.zeros(threads, np.int64)
    for thread in np.unique(owner[owner >= 0]):
        places = np.flatnonzero(owner == thread)
        for step in range(STEPS):
            byte, value = rng.choice(places), rng.integers(-(2**31), 2**31)
            log = rng.choice(
                [k for k in range(3) if (owner[byte >> k << k :][: 1 << k] == thread).all()]
            )
            part = memory[byte >> log << log :][: 1 << log].view(("u1", "i2", "i4")[log])
            load = rng.integers(2)
            operations[thread, step] = 2 * log + load, byte >> log, value
            if load:
                sums[thread] = (sums[thread] * 31 + int(part[0])) & 0xFFFFFFFF
            else:
                part[0] = value.astype(part.dtype)
    return operations.ravel(), before, memory, sums.astype(np.uint32).view(np.int32)


def run(protocol, seed, machine="fermi", order="weak", scope="gpu"):
    operations, before, after, expected = scripts(seed)
    gpu = gpucoh.GPU(machine=machine, protocol=protocol, check=True)
    b = gpu.array(before)
    views = (b, Alias(b, np.int16), Alias(b, np.int32))
    sums = gpu.zeros(BLOCKS * THREADS, np.int32)
    gpu.launch(
        script_kernel(order, scope),
        grid=BLOCKS,
        block=THREADS,
        args=(*views, gpu.array(operations), sums, STEPS),
    )
    np.testing.assert_array_equal(b.numpy(), after)
    np.testing.assert_array_equal(sums.numpy(), expected)


@pytest.mark.parametrize(("protocol", "seed"), share(ALL, range(3), one_in=15))
def test_no_byte_is_lost_and_every_thread_reads_its_own(protocol, seed):
    run(protocol, seed)


@pytest.mark.parametrize(
    ("protocol", "strength"),
    share(ALL, [("relaxed", "gpu"), ("relaxed", "cu"), ("weak", "cta")], one_in=15),
)
def test_nor_with_other_orders_and_scopes(protocol, strength):
    order, scope = strength
    run(protocol, 5, order=order, scope=scope)


@pytest.mark.parametrize("protocol", share(VARIATIONS, one_in=9))
def test_nor_with_other_options(protocol):
    run(protocol, 3)


@pytest.mark.parametrize("protocol", share(WITH_L1, one_in=8))
def test_nor_when_caches_evict(protocol):
    run(protocol, 4, gpucoh.machine("fermi").replace(l1_kib=1, l1_ways=2))
