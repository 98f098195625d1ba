"""Do errors say what to write, for what users of other GPU languages try first?"""

import numpy as np
import pytest

import gpucoh
from products import rows, share


@gpucoh.kernel
def saxpy(a: gpucoh.f32, x: gpucoh.Buffer[gpucoh.f32], y: gpucoh.Buffer[gpucoh.f32], n: gpucoh.i32):
    i = gpucoh.global_id()
    if i < n:
        y[i] = a * x[i] + y[i]


@gpucoh.kernel
def row_then_column(x: gpucoh.Buffer[gpucoh.f32]):
    s = gpucoh.shared(gpucoh.f32, (4, 4))
    s[1][2] = x[0]


@gpucoh.kernel
def row_then_column_read(x: gpucoh.Buffer[gpucoh.f32]):
    s = gpucoh.local(gpucoh.f32, (4, 4))
    x[0] = s[1][2]


@gpucoh.kernel
def numba(x: gpucoh.Buffer[gpucoh.f32]):
    x[gpucoh.grid(1)] = 1.0  # type: ignore[call-arg]


@gpucoh.kernel
def cuda(x: gpucoh.Buffer[gpucoh.f32]):
    gpucoh.syncthreads()


@pytest.fixture
def gpu():
    return gpucoh.GPU("fermi", "ideal")


def said(error, call, *arguments, **named):
    with pytest.raises(error) as caught:
        call(*arguments, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_launch_names_grid_and_block(gpu):
    x = gpu.zeros(8)
    arguments = (2.0, x, x, 8)
    text = said(gpucoh.ConfigError, gpu.launch, saxpy, 8, 128, arguments)
    assert "gpu.launch(saxpy, grid=8, block=128, args=(...))" in text
    text = said(gpucoh.ConfigError, gpu.launch, saxpy, (4, 2), 128, *arguments)
    assert "gpu.launch(saxpy, grid=(4, 2), block=128, args=(...))" in text
    for named in ({}, {"grid": 8}, {"block": 32}):
        text = said(gpucoh.ConfigError, gpu.launch, saxpy, args=arguments, **named)
        assert "gpu.launch(saxpy, grid=" in text


def test_a_subscripted_kernel_without_arrays_leads_to_launch():
    text = said(gpucoh.ConfigError, lambda: saxpy[8, 128](2.0, None, None, 8))
    assert "gpu.launch(saxpy, grid=8, block=128, args=(...))" in text
    for extents in (8, ((4, 2), (16, 16), 0)):
        assert "saxpy[grid, block](...)" in said(gpucoh.ConfigError, lambda e=extents: saxpy[e])
    assert "grid=..., block=...," in said(gpucoh.KernelError, saxpy, 2.0)


@pytest.mark.parametrize(
    "name", share(["array", "zeros", "ones", "empty", "full", "to_device"], one_in=4)
)
def test_memory_belongs_to_a_gpu(name):
    text = said(AttributeError, lambda: getattr(gpucoh, name)(np.zeros(4)))
    assert f"'gpucoh' has no attribute '{name}'" in text
    assert "gpu.array(" in text


@pytest.mark.parametrize(
    ("name", "meant"),
    rows(
        [
            ("launch", "gpu.launch"),
            ("syncthreads", "gpucoh.barrier()"),
            ("threadIdx", "gpucoh.thread_id(axis)"),
            ("blockIdx", "gpucoh.block_id(axis)"),
            ("blockDim", "gpucoh.block_dim(axis)"),
            ("gridDim", "gpucoh.grid_dim(axis)"),
            ("jit", "@gpucoh.kernel"),
            ("float32", "gpucoh.f32"),
            ("int32", "gpucoh.i32"),
            ("uint32", "gpucoh.u32"),
            ("threadfence", "gpucoh.fence("),
        ],
        one_in=4,
    ),
)
def test_names_of_other_languages_lead_to_ours(name, meant):
    assert meant in said(AttributeError, getattr, gpucoh, name)


def test_other_names_are_just_unknown():
    assert said(AttributeError, getattr, gpucoh, "foo") == "module 'gpucoh' has no attribute 'foo'"
    assert not hasattr(gpucoh, "__path_of_nothing__")


@pytest.mark.parametrize(("kernel", "meant"), [("cuda", "barrier()"), ("numba", "global_id(axis)")])
def test_a_kernel_gets_the_same_hint(gpu, kernel, meant):
    kernel = {"cuda": cuda, "numba": numba}[kernel]
    text = said(gpucoh.KernelError, gpu.launch, kernel, grid=1, block=32, args=(gpu.zeros(1),))
    assert f"gpucoh.{meant}" in text


@pytest.mark.parametrize("kernel", [row_then_column, row_then_column_read])
def test_an_array_of_two_axes_takes_one_index(gpu, kernel):
    text = said(gpucoh.KernelError, gpu.launch, kernel, grid=1, block=32, args=(gpu.zeros(1),))
    assert "takes 2 indices in one pair of brackets, got 1: write s[i, j]" in text
