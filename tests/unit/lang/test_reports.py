"""``assert`` and ``print`` in kernels."""

import contextlib
import inspect
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpucoh
from gpucoh.lang import Buffer, device, f32, i32, kernel, u32
from gpucoh.lang.intrinsics import block_id, global_id, lane_id, thread_id


@device
def checked(v: i32, n: i32):
    assert v < n
    return v


@kernel
def bounded(x: Buffer[i32], n: i32):
    i = global_id()
    if lane_id() > 2:
        assert 0 <= x[i] != 7, "a value is out of range"
    x[i] = checked(x[i], n) + 1


@given(st.integers(0, 63), st.sampled_from([-1, 7, 100, 5]))
@settings(max_examples=20, deadline=None)
def test_an_assertion_stops_the_launch_at_the_thread_that_fails(place, value):
    gpu = gpucoh.GPU(protocol="ideal")
    values = np.zeros(64, np.int32)
    values[place] = value
    x = gpu.array(values)
    first = inspect.getsourcelines(bounded.function)[1]
    if value in (-1, 7) and place % 32 > 2:
        text, line = "a value is out of range", first + 4
    elif value == 100:
        text, line = "v < n", inspect.getsourcelines(checked.function)[1] + 2
    else:
        gpu.launch(bounded, grid=2, block=32, args=(x, 50))
        assert np.array_equal(x.numpy(), values + 1)
        return
    with pytest.raises(gpucoh.KernelError) as caught:
        gpu.launch(bounded, grid=2, block=32, args=(x, 50))
    message = str(caught.value)
    assert message.startswith(f"{__file__}:{line}: kernel 'bounded'")
    assert (
        f"assertion failed: {text}: thread ({place % 32},0,0) of block ({place // 32},0,0)"
        in message
    )
    assert "\n" not in message
    assert caught.value.line == line
    x[:] = 0  # the GPU stays usable
    gpu.launch(bounded, grid=2, block=32, args=(x, 50))
    assert set(x.numpy()) == {1}


@kernel
def report(x: Buffer[i32], y: Buffer[f32], n: i32):
    i = global_id()
    if i < n:
        print("thread", thread_id(), "of", block_id(), "has", x[i], y[i] / 4.0, x[i] > 0, 3)
        if x[i] > 0:
            print(f"{i}: {x[i]:5d}|{y[i]:.2f}", u32(x[i]), sep=";", end="!\n")
    else:
        print("none")


def expected(x, y, n, threads):
    lines = []
    for i in range(threads):
        if i >= n:
            lines.append("none")
            continue
        quarter = y[i] / np.float32(4)
        lines.append(f"thread {i % 32} of {i // 32} has {x[i]} {quarter!s} {x[i] > 0} 3")
        if x[i] > 0:
            lines.append(f"{i}: {x[i]:5d}|{y[i]:.2f};{np.uint32(x[i])}!")
    return sorted(lines)


@given(st.integers(0, 2**16), st.integers(1, 64), st.sampled_from(["no-l1", "tc-weak"]))
@settings(max_examples=20, deadline=None)
def test_prints_have_the_words_of_each_thread(seed, n, protocol):
    r = np.random.default_rng(seed)
    x, y = r.integers(-99, 99, 64, np.int32), r.standard_normal(64).astype(np.float32)
    texts = []
    for _ in range(2):
        gpu = gpucoh.GPU(protocol=protocol)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            gpu.launch(report, grid=2, block=32, args=(gpu.array(x), gpu.array(y), n))
        texts.append(out.getvalue())
    assert sorted(texts[0].splitlines()) == expected(x, y, n, 64)
    assert texts[0] == texts[1]


def test_what_a_thread_prints_is_in_its_order_and_comes_before_an_error(capsys):
    @kernel
    def k(x: Buffer[i32]):
        for j in range(3):
            print(j)
        assert x[0] == 1, "stop"

    gpu = gpucoh.GPU(protocol="ideal")
    with pytest.raises(gpucoh.KernelError, match="assertion failed: stop"):
        gpu.launch(k, grid=1, block=1, args=(gpu.zeros(1, np.int32),))
    assert capsys.readouterr().out == "0\n1\n2\n"


def test_a_launch_prints_a_bounded_number_of_values(capsys):
    @kernel
    def k(n: i32):
        for j in range(n):
            print(j)

    gpu = gpucoh.GPU(protocol="ideal")
    gpu.launch(k, grid=1, block=64, args=(1100,))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 65536 + 1
    assert (
        lines[-1]
        == f"kernel 'k': {64 * 1100 - 65536} more values are not printed (allowed: 65536 a launch)"
    )
    gpu.launch(k, grid=1, block=2, args=(1,))
    assert capsys.readouterr().out == "0\n0\n"
