"""Does a process that makes many GPUs keep its memory small, and who keeps whom alive?"""

import gc
import json
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import gpucoh
from products import share

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "memory.py"


@gpucoh.kernel
def add_one(x: gpucoh.Buffer[gpucoh.i32], n: gpucoh.i32):
    i = gpucoh.global_id()
    if i < n:
        x[i] = x[i] + 1


@pytest.fixture
def no_collector():
    """Only reference counts free objects."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
@pytest.mark.parametrize("part", share(["launch", "run"], one_in=4))
@pytest.mark.long
def test_200_gpus_stay_below_150_mb(part):
    command = [sys.executable, str(BENCHMARK), "--json", "--part", part, "--number", "200"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert found["end_mb"] < 150
    assert found["end_mb"] < found["once_mb"] + 15


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs ru_maxrss in KiB")
@pytest.mark.long
def test_growth_has_a_row_for_each_point():
    command = [sys.executable, str(BENCHMARK.with_name("growth.py")), "--axis", "launches"]
    done = subprocess.run(
        [*command, "--most", "100", "--repeat", "1"], capture_output=True, text=True, check=True
    )
    rows = done.stdout.splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows] == [
        "1 launches",
        "10 launches",
        "100 launches",
    ]


USED = [("st", "denovo-drf", "mesh15"), ("bfs", "qr", "apu")]


def counters(workload, protocol, machine):
    with gpucoh.GPU(machine, protocol) as gpu:
        assert gpucoh.workload(workload).prepare("tiny", 1).run(gpu).correct
        return gpu.stats().to_dict()


@pytest.mark.long
def test_memory_of_earlier_gpus_changes_nothing():
    fresh = ProcessPoolExecutor(2, get_context("spawn"), max_tasks_per_child=1)
    with fresh, ThreadPoolExecutor(2) as threads:  # the threads use kept memory at the same time
        expected = list(fresh.map(counters, *zip(*USED, strict=True)))
        again = [*USED, *reversed(USED)] * 2
        assert list(threads.map(counters, *zip(*again, strict=True))) == (
            [*expected, *reversed(expected)] * 2
        )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_snapshot_holds_what_differs():
    command = [sys.executable, str(BENCHMARK), "--json", "--part", "snapshots", "--number", "20"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert found["end_mb"] < found["once_mb"] + 2 * 20  # the GPU has 16 MiB of memory


def test_a_gpu_goes_with_its_last_reference(no_collector):
    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.zeros(64, np.int32)
    gpu.launch(add_one, grid=1, block=64, args=(x, 64))
    gone = weakref.ref(gpu)
    del gpu
    assert x[3] == 1  # an array keeps its GPU
    x.gpu.launch(add_one, grid=1, block=64, args=(x, 64))
    assert x[3] == 2
    del x
    assert gone() is None


def test_the_gpu_of_a_failed_launch_goes(no_collector):
    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.zeros(32, np.int32)
    with pytest.raises(gpucoh.KernelError):
        gpu.launch(add_one, grid=1, block=64, args=(x, 64))
    gone = weakref.ref(gpu)
    del gpu, x
    assert gone() is None


def test_a_dropped_array_frees_its_memory(no_collector):
    gpu = gpucoh.GPU(protocol="ideal")
    for _ in range(5):  # 2**32 words at most
        gpu.zeros(2**31, np.int32)
    kept = gpu.array(np.arange(64, dtype=np.int32))
    gpu.zeros(2**31, np.int32)
    gpu.launch(add_one, grid=1, block=64, args=(kept, 64))
    assert kept[5] == 6


@gpucoh.kernel
def add_often(x: gpucoh.Buffer[gpucoh.i32], rounds: gpucoh.i32):
    for _ in range(rounds):
        gpucoh.atomic_add(x, 0, 1)


def test_an_array_dropped_during_a_launch_is_freed_afterwards(no_collector):
    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.zeros(4096, np.int32)
    held = [gpu.zeros(2**31, np.int32)]

    def drop(done, blocks):
        held.clear()
        gpu.zeros(1, np.int32)

    gpu.progress = drop
    gpu.launch(add_often, grid=16, block=64, args=(x, 1000))
    assert not held  # several chunks of 50 ms
    gpu.zeros(2**32 - 8192, np.int32)


def test_an_array_dropped_before_a_restore_takes_no_later_array_with_it(no_collector):
    gpu = gpucoh.GPU(protocol="ideal")
    snapshot = gpu.snapshot()
    late = gpu.zeros(4, np.int32)
    del late
    gpu.restore(snapshot)
    again = gpu.full(4, 7, np.int32)  # at the address of the dropped one
    gpu.zeros(4, np.int32)
    assert again.numpy().tolist() == [7, 7, 7, 7]


def test_a_restored_gpu_refuses_arrays_of_another_future(no_collector):
    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.full(4, 1, np.int32)
    snapshot = gpu.snapshot()
    late = gpu.zeros(4, np.int32)
    x.free()
    gpu.restore(snapshot)
    again = gpu.full(4, 7, np.int32)
    assert x.numpy().tolist() == [1, 1, 1, 1]
    with pytest.raises(gpucoh.ConfigError, match="freed"):
        late.numpy()
    del late
    gpu.zeros(4, np.int32)
    assert again.numpy().tolist() == [7, 7, 7, 7]


def test_a_snapshot_keeps_neither_gpu_nor_arrays(no_collector):
    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.full(4, 5, np.int32)
    snapshot = gpu.snapshot()
    gone = weakref.ref(gpu), weakref.ref(x)
    del gpu, x
    assert [item() for item in gone] == [None, None]
    gpucoh.GPU(protocol="ideal").restore(snapshot)


# ---- close


def test_a_closed_gpu_is_one_clear_error():
    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.zeros(64, np.int32)
    snapshot = gpu.snapshot()
    gpu.close()
    gpu.close()
    uses = {
        "array": lambda: gpu.array(np.zeros(4, np.int32)),
        "zeros": lambda: gpu.zeros(4),
        "launch": lambda: gpu.launch(add_one, grid=1, block=64, args=(x, 64)),
        "stats": gpu.stats,
        "reset": gpu.reset_stats,
        "verify": gpu.verify,
        "snapshot": gpu.snapshot,
        "restore": lambda: gpu.restore(snapshot),
        "read": x.numpy,
        "write": lambda: x.__setitem__(0, 1),
        "free": x.free,
        "enter": gpu.__enter__,
    }
    for use in uses.values():
        with pytest.raises(gpucoh.ConfigError, match=r"this GPU \(fermi ideal\) is closed"):
            use()
    assert "closed" in repr(gpu)


def test_a_with_block_closes_also_after_an_error(no_collector):
    with gpucoh.GPU(protocol="ideal") as gpu:
        x = gpu.zeros(64, np.int32)
        gpu.launch(add_one, grid=1, block=64, args=(x, 64))
        assert x[0] == 1
    with pytest.raises(gpucoh.ConfigError, match="is closed"):
        x.numpy()
    with pytest.raises(ZeroDivisionError), gpucoh.GPU(protocol="ideal") as gpu:
        _ = 1 // 0
    with pytest.raises(gpucoh.ConfigError, match="is closed"):
        gpu.stats()


@gpucoh.kernel
def count(x: gpucoh.Buffer[gpucoh.i32]):
    while gpucoh.atomic_add(x, 0, 1) >= 0:
        pass


def test_closing_during_a_launch_ends_it():
    gpu = gpucoh.GPU(protocol="ideal")
    gpu.progress = lambda done, blocks: closer.start() if closer.ident is None else None
    closer = threading.Thread(target=gpu.close)
    x = gpu.zeros(1, np.int32)
    with pytest.raises(gpucoh.ConfigError, match="is closed"):
        gpu.launch(count, grid=1, block=32, args=(x,))
    closer.join()


# ---- arrays


def test_a_write_to_a_copy_is_refused():
    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.zeros((3, 4), np.int32)
    with pytest.raises(ValueError, match="read-only"):
        x[1][0] = 99
    x[1, 0] = 99
    assert x[1].tolist() == [99, 0, 0, 0]
    x.numpy()[1][0] = 5  # a copy that the caller owns


def test_masked_arrays_are_refused():
    gpu = gpucoh.GPU(protocol="ideal")
    masked = np.ma.array(np.arange(4, dtype=np.int32), mask=[0, 1, 0, 0])
    x = gpu.zeros(4, np.int32)
    for use in (
        lambda: gpu.array(masked),
        lambda: gpu.array(masked, dtype=np.int32),
        lambda: x.__setitem__(slice(None), masked),
        lambda: gpu.full(4, masked, np.int32),
    ):
        with pytest.raises(gpucoh.ConfigError, match=r"masked array.*filled"):
            use()
    assert gpu.array(masked.filled(0)).numpy().tolist() == [0, 0, 2, 3]


ReadOnly = gpucoh.Buffer[gpucoh.i32, "readonly"]


@gpucoh.kernel
def copy(x: ReadOnly, y: gpucoh.Buffer[gpucoh.i32]):
    y[gpucoh.global_id()] = x[gpucoh.global_id()]


@gpucoh.kernel
def add_two(
    x: ReadOnly,
    y: ReadOnly,
    z: gpucoh.Buffer[gpucoh.i32],
):
    z[gpucoh.global_id()] = x[gpucoh.global_id()] + y[gpucoh.global_id()]


def test_one_array_is_not_both_readonly_and_writable():
    gpu = gpucoh.GPU(protocol="ideal")
    x, y = gpu.full(32, 3, np.int32), gpu.zeros(32, np.int32)
    with pytest.raises(
        gpucoh.ConfigError,
        match=r"'x' and 'y' of kernel 'copy' are one array.*'x' is declared readonly",
    ):
        gpu.launch(copy, grid=1, block=32, args=(x, x))
    gpu.launch(copy, grid=1, block=32, args=(x, y))
    gpu.launch(add_two, grid=1, block=32, args=(x, x, y))
    assert y[0] == 6
