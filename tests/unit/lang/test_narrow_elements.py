"""Elements of 1 and 2 bytes: ``i8 u8 i16 u16`` arrays, in global memory and in the scratchpad."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpucoh
from gpucoh import (
    Buffer,
    ConfigError,
    KernelError,
    SimulationError,
    barrier,
    global_id,
    i8,
    i16,
    i32,
    kernel,
    shared,
    store,
    thread_id,
    u8,
    u16,
    u32,
)
from products import rows, share
from unit.lang import machine

N = 96
DTYPES = (np.int8, np.uint8, np.int16, np.uint16)


@kernel
def mixes(a: Buffer[i8], b: Buffer[u8], c: Buffer[i16], d: Buffer[u16], sums: Buffer[i32], n: i32):
    i = global_id()
    own = thread_id()
    bytes = shared(i8, 48)
    halves = shared(u16)
    if own < 48:
        bytes[own] = i * 37
        halves[47 - own] = -i
    barrier()
    if i < n and i % 5 != 2:
        sums[i] = a[i] + b[i] * 3 + c[i] * 5 + d[n - 1 - i] * 7 + bytes[47 - own] * 11 + halves[own]
        a[i] = sums[i]
        b[i] = u32(sums[i]) >> 8
        if i % 2 == 0:
            c[i] = 70000 + i
        store(d, n - 1 - i, a[i] - 1, order="relaxed")


def plain(a, b, c, d, sums, n):
    for i in range(n):
        if i % 5 == 2:
            continue
        own, block = i % 48, i // 48
        byte = np.int64((block * 48 + 47 - own) * 37).astype(np.int8)
        half = np.int64(-(block * 48 + 47 - own)).astype(np.uint16)
        values = (int(x) for x in (a[i], b[i], c[i], d[n - 1 - i], byte, half))
        total = sum(x * k for x, k in zip(values, (1, 3, 5, 7, 11, 1), strict=True))
        sums[i] = total
        a[i] = np.int64(total).astype(np.int8)
        b[i] = np.int64(total >> 8).astype(np.uint8)
        if i % 2 == 0:
            c[i] = np.int64(70000 + i).astype(np.int16)
        d[n - 1 - i] = np.int64(int(a[i]) - 1).astype(np.uint16)


def arguments(seed):
    rng = np.random.default_rng(seed)
    narrow = [
        rng.integers(np.iinfo(t).min, np.iinfo(t).max, N, endpoint=True, dtype=t) for t in DTYPES
    ]
    return [*narrow, np.zeros(N, np.int32)]


@given(st.integers(0, 2**16), st.integers(1, N))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_loads_extend_and_stores_truncate(seed, n):
    wanted = arguments(seed)
    plain(*wanted, n)  # type: ignore[call-arg]
    gpu = gpucoh.GPU(machine="fermi", protocol="mesi", check=True)
    arrays = [gpu.array(values) for values in arguments(seed)]
    gpu.launch(mixes, grid=2, block=48, args=(*arrays, n), shared=48)
    for expected, array in zip(wanted, arrays, strict=True):
        np.testing.assert_array_equal(array.numpy(), expected)


@kernel
def byte_of_each_lane(p: Buffer[u8], first: i32, step: i32):
    p[first + step * global_id()] = global_id() + 1


@pytest.mark.parametrize(
    ("first", "step", "block", "stores", "merges"),
    rows(
        [
            (0, 1, 32, 1, 0),  # whole words: a plain store
            (4, 1, 24, 1, 0),
            (1, 1, 32, 0, 1),  # parts of the first and the last word
            (0, 4, 32, 0, 1),
            (0, 64, 32, 0, 16),  # two bytes a line
            (0, 0, 32, 0, 1),
        ],
        one_in=4,
    ),
)
def test_bytes_of_a_line_are_one_request_and_whole_words_a_plain_store(
    first, step, block, stores, merges
):
    gpu = gpucoh.GPU(machine="fermi", protocol="no-l1")
    p = gpu.array(np.full(4096, 99, np.uint8))
    wanted = np.full(4096, 99, np.uint8)
    for lane in range(block):
        wanted[first + step * lane] = lane + 1
    gpu.launch(byte_of_each_lane, grid=1, block=block, args=(p, first, step))
    np.testing.assert_array_equal(p.numpy(), wanted)
    stats = gpu.stats().to_dict()
    assert (stats["l1"]["stores"], stats["l1"]["atomics"]) == (stores, merges)
    assert stats["core"]["stores"] == stores + merges
    assert stats["core"]["atomics"] == 0


def test_a_load_of_bytes_requests_their_words():
    @kernel
    def reads(p: Buffer[u8], out: Buffer[i32]):
        out[global_id()] = p[global_id()]

    gpu = gpucoh.GPU(machine="fermi", protocol="no-l1")
    p = gpu.array(np.arange(256, dtype=np.uint8))
    out = gpu.zeros(256, np.int32)
    gpu.launch(reads, grid=1, block=256, args=(p, out))
    np.testing.assert_array_equal(out.numpy(), np.arange(256))
    assert gpu.stats().to_dict()["l1"]["loads"] == 8  # one a warp; a word each would be two lines
    assert "LOAD           u8 " in reads.disassemble()


def index_out_of_bounds(p: Buffer[u16]):
    p[global_id() + 3] = 1


def test_an_array_ends_with_its_last_element():
    gpu = gpucoh.GPU(machine="fermi", protocol="mesi")
    text = "index 5 is out of bounds of buffer 'p' of 5 elements"
    with pytest.raises(KernelError, match=text):
        gpu.launch(kernel(index_out_of_bounds), grid=1, block=3, args=(gpu.zeros(5, np.uint16),))


def test_an_unwritten_byte_of_the_scratchpad_is_reported():
    @kernel
    def reads(out: Buffer[i32]):
        t = shared(u8, 8)
        t[2 * thread_id()] = 1
        out[thread_id()] = t[thread_id()]

    gpu = gpucoh.GPU(machine="fermi", protocol="mesi", check=True)
    with pytest.raises(SimulationError, match="reads element 1 of an array, which no thread"):
        gpu.launch(reads, grid=1, block=4, args=(gpu.zeros(4, np.int32),))


def test_an_array_of_another_size_is_refused():
    gpu = gpucoh.GPU()
    with pytest.raises(ConfigError, match=r"'p' .* must be an array of uint8, got one of int32"):
        gpu.launch(byte_of_each_lane, grid=1, block=1, args=(gpu.zeros(4, np.int32), 0, 1))


# ---- host arrays


@pytest.mark.parametrize(("size", "dtype"), share([1, 2, 3, 4, 5, 127, 128, 129], DTYPES, one_in=8))
def test_host_arrays_round_trip(dtype, size):
    gpu = gpucoh.GPU()
    data = np.arange(size).astype(dtype) - np.array(3).astype(dtype)
    array = gpu.array(data)
    assert (array.size, array.nbytes, array.dtype) == (size, data.nbytes, data.dtype)
    np.testing.assert_array_equal(array.numpy(), data)
    snapshot = gpu.snapshot()
    array[:] = 7
    assert (array.numpy() == 7).all()
    gpu.restore(snapshot)
    np.testing.assert_array_equal(array.numpy(), data)


@pytest.mark.parametrize(
    ("dtype", "key"),
    share(
        DTYPES,
        [slice(1, 3), 2, (slice(None), 1), (1, slice(0, 5, 2)), [0, 2], slice(None)],
        one_in=8,
    ),
)
def test_host_writes_change_their_elements_only(dtype, key):
    gpu = gpucoh.GPU()
    twin = np.arange(15).astype(dtype).reshape(3, 5)
    array = gpu.array(twin)
    array[key] = twin[key] = 99
    np.testing.assert_array_equal(array.numpy(), twin)


def test_a_host_write_beside_a_byte_in_a_cache_keeps_it():
    gpu = gpucoh.GPU(machine="fermi", protocol="mesi", check=True)
    p = gpu.zeros(64, np.uint8)
    gpu.launch(byte_of_each_lane, grid=1, block=16, args=(p, 1, 2))
    p[0:16:2] = 200
    wanted = np.zeros(64, np.uint8)
    wanted[0:16:2], wanted[1:33:2] = 200, np.arange(1, 17)
    np.testing.assert_array_equal(p.numpy(), wanted)
    gpu.launch(byte_of_each_lane, grid=1, block=1, args=(p, 3, 0))
    wanted[3] = 1
    np.testing.assert_array_equal(p.numpy(), wanted)


def test_values_that_do_not_fit_are_refused():
    gpu = gpucoh.GPU()
    with pytest.raises(
        ConfigError, match="the value 300 at index 1 does not fit an array of uint8"
    ):
        gpu.array([1, 300], dtype=np.uint8)
    assert gpu.array([1, 200], dtype=gpucoh.u8).dtype == np.uint8


@kernel
def masked(a: Buffer[i8], b: Buffer[u8], c: Buffer[i16], d: Buffer[u16], o: Buffer[i32]):
    i = thread_id()
    o[i * 8] = a[i] & 0xFF
    o[i * 8 + 1] = b[i] & 0xFF
    o[i * 8 + 2] = b[i] & 0x7F
    o[i * 8 + 3] = c[i] & 0xFFFF
    o[i * 8 + 4] = d[i] & 0xFFFF
    flag = 0
    if b[i] > 9:
        flag = 3
    o[i * 8 + 5] = flag & 7
    o[i * 8 + 6] = flag & 2
    o[i * 8 + 7] = i32(a[i] > c[i]) & 1


def test_a_mask_of_bits_that_a_value_can_have_alone_costs_no_instruction():
    given = [
        np.array([np.iinfo(t).min, np.iinfo(t).max, 5, np.iinfo(t).max // 2 + 1] * 8, t)
        for t in DTYPES
    ]
    o = np.zeros((32, 8), np.int32)
    machine.run(masked, 1, 32, (*given, o.reshape(-1)))
    a, b, c, d = (g.astype(np.int32) for g in given)
    flag = np.where(b > 9, 3, 0)
    wanted = [a & 0xFF, b, b & 0x7F, c & 0xFFFF, d, flag, flag & 2, a > c]
    assert np.array_equal(o, np.stack(wanted, 1))
    names = machine.names(masked)
    assert names.count("AND") == 4  # those that clear bits
