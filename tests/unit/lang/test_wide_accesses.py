"""Accesses to two and four words: ``load2 load4 store2 store4``."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpucoh
from gpucoh import (
    Buffer,
    KernelError,
    f32,
    global_id,
    i32,
    kernel,
    load2,
    load4,
    store2,
    store4,
    u32,
)
from products import share
from registered import ALL
from unit.lang import machine

N = 128


@kernel
def shuffled(p: Buffer[f32], q: Buffer[i32], r: Buffer[u32], n: i32):
    i = global_id()
    if i % 3 != 1 and i < n:
        x, y, z, w = load4(p, 4 * i)
        a, b = load2(q, 2 * i)
        for _ in range(2):
            x = x + f32(a)
            store2(q, 2 * i, b, a + 1)
        store4(p, 4 * i, w, x, 0.5, x)
        store2(r, (n - 1 - i) * 2, u32(i), 7)
        one = load4(p, 4 * i)[2]
        p[4 * i] = one + z + y


def plain(p, q, r, n):
    for i in (i for i in range(n) if i % 3 != 1):
        x, y, z, w = p[4 * i : 4 * i + 4].tolist()
        a, b = q[2 * i : 2 * i + 2].tolist()
        q[2 * i : 2 * i + 2] = b, a + 1
        p[4 * i : 4 * i + 4] = w, x + 2 * a, 0.5, x + 2 * a
        r[2 * (n - 1 - i) : 2 * (n - i)] = i, 7
        p[4 * i] = 0.5 + z + y


def arguments(seed):
    rng = np.random.default_rng(seed)
    return (
        rng.integers(-99, 99, 4 * N).astype(np.float32),
        rng.integers(-99, 99, 2 * N).astype(np.int32),
        np.zeros(2 * N, np.uint32),
    )


@given(st.integers(0, 2**16), st.integers(1, N))
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_wide_accesses_carry_each_word_of_the_active_lanes(seed, n):
    mine, wanted = arguments(seed), arguments(seed)
    machine.run(shuffled, 2, 64, (*mine, n))
    plain(*wanted, n)  # type: ignore[call-arg]
    for got, expected in zip(mine, wanted, strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("protocol", share(ALL, one_in=8))
def test_the_core_does_the_same_under_each_protocol(protocol):
    gpu = gpucoh.GPU(machine="fermi", protocol=protocol, check=True)
    arrays = [gpu.array(values) for values in arguments(1)]
    wanted = arguments(1)
    gpu.launch(shuffled, grid=2, block=64, args=(*arrays, N - 5))
    plain(*wanted, N - 5)  # type: ignore[call-arg]
    for got, expected in zip(arrays, wanted, strict=True):
        np.testing.assert_array_equal(got.numpy(), expected)


def test_a_wide_access_is_one_instruction_with_one_request_per_line():
    @kernel
    def copy(p: Buffer[f32], q: Buffer[f32]):
        a, b, c, d = load4(p, 4 * global_id())
        store4(q, 4 * global_id(), a, b, c, d)

    gpu = gpucoh.GPU(machine="fermi", protocol="no-l1")
    p = gpu.array(np.arange(N, dtype=np.float32))
    gpu.launch(copy, grid=1, block=32, args=(p, gpu.zeros(N, np.float32)))
    stats = gpu.stats().to_dict()
    assert stats["memory_instructions"] == 2
    assert (stats["l1"]["loads"], stats["l1"]["stores"]) == (4, 4)  # 512 bytes: 4 lines each
    text = copy.disassemble()
    assert "LOAD.4         f32  v0..v3" in text
    assert "MOVE" not in text  # the store takes the words from the registers of the load


@kernel
def reads_pairs(p: Buffer[i32], first: i32):
    a, b = load2(p, first + 2 * global_id())
    p[0] = a + b


@pytest.mark.parametrize(
    ("first", "text"),
    [
        (1, "index 1 of buffer 'p' is not a multiple of the access's 2 words"),
        (N, f"index {N} is out of bounds of buffer 'p' of {N} words"),
        (N - 1, f"index {N - 1} is out of bounds of buffer 'p' of {N} words"),
    ],
)
def test_a_misaligned_or_outer_index_is_an_error_at_its_line(first, text):
    gpu = gpucoh.GPU(machine="fermi", protocol="mesi")
    with pytest.raises(KernelError, match=text) as caught:
        gpu.launch(reads_pairs, grid=1, block=1, args=(gpu.zeros(N, np.int32), first))
    assert caught.value.line == reads_pairs.function.__code__.co_firstlineno + 2
