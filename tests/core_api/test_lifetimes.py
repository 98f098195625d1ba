"""Ownership: objects die in any order, snapshots outlive their GPU, nothing leaks."""

import gc
import sys

import numpy as np
import pytest

from core_api.programs import endless, finish, increment, make_gpu
from gpucoh import _core
from gpucoh.base.errors import ConfigError, Error


def words(gpu, address, count):
    out = np.zeros(count, np.uint32)
    gpu.host_read(address, out)
    return out


def test_a_gpu_may_die_in_the_middle_of_a_launch():
    gpu = make_gpu()
    endless().launch(gpu, gpu.allocate(256), 256)
    gpu.run(1000)
    del gpu
    gc.collect()


def test_a_snapshot_outlives_its_gpu_and_fits_another_of_its_kind():
    gpu = make_gpu()
    address = gpu.allocate(256)
    increment().launch(gpu, address, 256)
    finish(gpu)
    snapshot = gpu.snapshot()
    expected = words(gpu, address, 256)
    del gpu
    other = make_gpu()
    other.restore(snapshot)
    assert np.array_equal(words(other, address, 256), expected)


@pytest.mark.parametrize("what", [None, 3, "snapshot", object()])
def test_only_a_snapshot_is_restored(what):
    with pytest.raises(ConfigError, match="snapshot"):
        make_gpu().restore(what)


def test_a_snapshot_during_a_launch_is_refused():
    gpu = make_gpu()
    endless().launch(gpu, gpu.allocate(256), 256)
    gpu.run(100)
    with pytest.raises(Error):
        gpu.snapshot()
    gpu.abort()
    gpu.snapshot()


def test_types_cannot_be_made_or_derived_by_hand():
    with pytest.raises(TypeError):
        _core.Snapshot()
    with pytest.raises(TypeError):
        type("Derived", (_core.GPU,), {})


def test_an_array_may_not_change_its_size_while_it_is_read():
    gpu = make_gpu()
    out = np.zeros(16, np.uint32)
    gpu.host_read(gpu.allocate(16), out)
    out.resize(32, refcheck=False)  # the view was given back


def test_nothing_keeps_a_reference_after_calls_good_and_bad():
    gpu = make_gpu()
    address = gpu.allocate(256)
    data = np.zeros(256, np.uint32)
    buffers = [(address, 256, False, "x")]
    asm = increment()

    def calls():
        gpu.host_read(address, data)
        gpu.host_write(address, data)
        asm.launch(gpu, address, 256, buffers=buffers)
        gpu.abort()
        gpu.restore(gpu.snapshot())
        for bad in ({"grid": (1,)}, {"buffers": [*buffers, 3]}, {"constants": 5}):
            with pytest.raises(ConfigError):
                asm.launch(gpu, address, 256, **{"buffers": buffers, **bad})
        with pytest.raises(ConfigError):
            make_gpu(protocol="no-such")
        make_gpu()

    watched = [data, buffers[0], _core.GPU, _core.Snapshot]
    calls()
    gc.collect()
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(5):
        calls()
    gc.collect()
    assert [sys.getrefcount(x) for x in watched] == before


def test_abort_without_a_launch_does_nothing():
    gpu = make_gpu()
    gpu.abort()
    gpu.verify()


def test_a_launch_on_memory_that_is_not_allocated_is_refused():
    gpu = make_gpu()
    snapshot = gpu.snapshot()
    address = gpu.allocate(256)
    gpu.restore(snapshot)
    with pytest.raises(Error, match="not inside one allocation"):
        increment().launch(gpu, address, 256)
