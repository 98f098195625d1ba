"""Buffers of two and three dimensions, and the extents of arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpucoh
from gpucoh.lang import Buffer, device, f32, i32, kernel, local, shared, u32
from gpucoh.lang.intrinsics import atomic_add, block_id, global_id, load, store, thread_id
from unit.lang import machine


@kernel
def matmul(a: Buffer[i32, 2], b: Buffer[i32, 2], c: Buffer[i32, 2]):
    row, column = block_id(), thread_id()
    total = 0
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, column]
    c[row, column] = total


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 40), st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_matrix_product_equals_numpys(n, m, k, seed):
    r = np.random.default_rng(seed)
    a, b = r.integers(-99, 99, (n, m), np.int32), r.integers(-99, 99, (m, k), np.int32)
    c = np.zeros((n, k), np.int32)
    machine.run(matmul, n, k, (a, b, c))
    assert np.array_equal(c, a @ b)


@device
def corner(x: Buffer[f32, 3], plane: i32):
    return x[plane, x.shape[1] - 1, len(x) - 1]


@kernel
def cube(x: Buffer[f32, 3], flat: Buffer[f32], o: Buffer[i32]):
    t = shared(i32, (3, 5))
    s = local(i32, 4)
    depth, rows, columns = x.shape
    o[0], o[1], o[2] = depth, rows, columns
    o[3], o[4] = len(flat), flat.shape[0]
    o[5], o[6], o[7] = len(t), t.shape[1], len(s)
    o[8] = len(x.shape)
    x[1, 2, 3] += 1.0
    store(x, (0, 0, 1), load(x, (1, 2, 3)) + corner(x, 1))
    atomic_add(x, (u32(1), u32(1), u32(0)), 2.0)


def test_three_dimensions_extents_and_ordered_accesses():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    o = np.zeros(9, np.int32)
    gpu = gpucoh.GPU(protocol="ideal")
    xs, os = gpu.array(x), gpu.array(o)
    gpu.launch(cube, grid=1, block=1, args=(xs, gpu.array(x), os))
    x[1, 2, 3] += 1
    x[0, 0, 1] = x[1, 2, 3] + x[1, 2, 1]
    x[1, 1, 0] += 2
    assert np.array_equal(xs.numpy(), x)
    assert os.numpy().tolist() == [2, 3, 4, 24, 24, 3, 5, 4, 3]


@kernel
def fill(x: Buffer[i32, 2]):
    x[global_id(), 0] = 1


def test_an_array_of_other_dimensions_is_refused():
    gpu = gpucoh.GPU(protocol="ideal")
    with pytest.raises(
        gpucoh.ConfigError, match=r"'x' of .* must be an array of 2 dimensions, got .*\(4,\)"
    ):
        gpu.launch(fill, grid=1, block=1, args=(gpu.zeros(4, np.int32),))


def test_an_index_beyond_the_array_is_an_error():
    gpu = gpucoh.GPU(protocol="ideal")
    with pytest.raises(gpucoh.KernelError, match=r"index 12 .* of 12 words"):
        gpu.launch(fill, grid=1, block=8, args=(gpu.zeros((4, 3), np.int32),))


def test_a_device_function_takes_an_array_of_its_dimensions():
    @device
    def f(x: Buffer[i32, 2]):
        return x[0, 0]

    @kernel
    def k(x: Buffer[i32]):
        x[0] = f(x)

    with pytest.raises(gpucoh.KernelError, match="must have 2 dimensions, the buffer 'x' has 1"):
        k.compile()
