"""``kernel[grid, block](...)``, and scratchpad arrays whose length the launch gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpucoh
from gpucoh.lang import Buffer, f32, i32, kernel, shared
from gpucoh.lang.intrinsics import atomic_add, barrier, global_id, thread_id


@kernel
def count_up(x: Buffer[i32], by: i32):
    i = global_id()
    if i < len(x):
        x[i] += by


@kernel
def nothing(n: i32):
    pass


def test_brackets_launch_on_the_gpu_of_the_arrays():
    gpu, other = gpucoh.GPU(), gpucoh.GPU(protocol="mesi")
    x = gpu.zeros(100, np.int32)
    count_up[(4,), 32](x, 3)
    count_up[4, 32](x, 4, placement="static")
    assert set(x.numpy()) == {7}
    assert gpu.stats().cycles > 0
    assert other.stats().cycles == 0


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (
            lambda a, b: nothing[1, 1](3),
            "none of the arguments is an array of a GPU: pass arrays of one GPU, or use gpu.launch",
        ),
        (lambda a, b: count_up[1, 1](a, b), "the arrays belong to different GPUs"),
        (lambda a, b: count_up[1](a, 1), "1 in brackets is not a grid and a block"),
        (lambda a, b: count_up[1, 2, 3](a, 1), "in brackets is not a grid and a block"),
        (lambda a, b: count_up[1, 1](a, 1, shared=4), "has no gpucoh.shared(dtype) without a size"),
        (lambda a, b: count_up[0, 1](a, 1), "grid = 0"),
    ],
)
def test_brackets_refuse_what_they_cannot_launch(launch, message):
    a, b = gpucoh.GPU().zeros(1, np.int32), gpucoh.GPU().zeros(1, np.int32)
    with pytest.raises(gpucoh.ConfigError) as caught:
        launch(a, b)
    assert message in str(caught.value)


@kernel
def reverse(x: Buffer[f32], o: Buffer[i32]):
    fixed = shared(i32, 5)
    t = shared(f32)
    i = thread_id()
    if i < 5:
        fixed[i] = 7
    n = len(t)
    for k in range(i, n, 32):
        t[k] = x[k]
    barrier()
    for k in range(i, n, 32):
        x[k] = t[n - 1 - k]
    barrier()
    atomic_add(t, n - 1, 1.0)
    o[i] = fixed[i % 5] + t.shape[0]


@given(st.integers(1, 3000))
@settings(max_examples=20, deadline=None)
def test_the_launch_gives_the_length_of_a_scratchpad_array(n):
    x, o = np.arange(n, dtype=np.float32), np.zeros(32, np.int32)
    gpu = gpucoh.GPU(protocol="ideal", check=True)
    a, b = gpu.array(x), gpu.array(o)
    reverse[1, 32](a, b, shared=n)
    assert gpu.occupancy["reverse"]["scratchpad_bytes"] == 4 * (n + 5)
    assert np.array_equal(a.numpy(), x[::-1])
    assert set(b.numpy()) == {7 + n}


def test_an_index_beyond_the_given_length_is_an_error():
    @kernel
    def k(n: i32, x: Buffer[i32]):
        t = shared(i32)
        t[n] = 1

    x = gpucoh.GPU().zeros(1, np.int32)
    k[1, 1](3, x, shared=4)
    with pytest.raises(
        gpucoh.KernelError, match=r"index 4 is out of bounds of a shared array of 4 words"
    ):
        k[1, 1](4, x, shared=4)
    with pytest.raises(
        gpucoh.ConfigError, match=r"shared = None: .* give its number of elements at the launch"
    ):
        k[1, 1](3, x)
    with pytest.raises(gpucoh.KernelError, match="scratchpad"):
        k[1, 1](3, x, shared=100_000)
