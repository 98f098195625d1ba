"""Launches without time: their values, what they leave in caches, and that nothing counts or sees them."""

import numpy as np
import pytest

import gpucoh
from products import share
from registered import COHERENT

WORDS = 512


@gpucoh.kernel
def step(
    x: gpucoh.Buffer[gpucoh.i32], y: gpucoh.Buffer[gpucoh.i32], sums: gpucoh.Buffer[gpucoh.i32]
):
    i = gpucoh.global_id(0)
    y[i] = 3 * x[(i + 33) % WORDS] + i
    gpucoh.atomic_add(sums, i % 7, x[i])


@gpucoh.kernel
def spin(x: gpucoh.Buffer[gpucoh.i32]):
    while gpucoh.load(x, 0, order="relaxed") == 0:
        pass


def expected(steps: int) -> tuple[np.ndarray, np.ndarray]:
    x, i, sums = np.arange(WORDS, dtype=np.int32), np.arange(WORDS), np.zeros(7, np.int32)
    for _ in range(steps):
        np.add.at(sums, i % 7, x)
        x = (3 * x[(i + 33) % WORDS] + i).astype(np.int32)
    return x, sums


def run(gpu: gpucoh.GPU, functional: str) -> tuple[np.ndarray, np.ndarray]:
    """Launch once for each letter: t with time, f without."""
    x, y = gpu.array(np.arange(WORDS, dtype=np.int32)), gpu.zeros(WORDS, np.int32)
    sums = gpu.zeros(7, np.int32)
    for letter in functional:
        gpu.launch(step, grid=8, block=64, args=(x, y, sums), functional=letter == "f")
        x, y = y, x
    return x.numpy(), sums.numpy()


@pytest.mark.parametrize(("protocol", "order"), share(COHERENT, ["tftf", "fttf", "ffft"], one_in=6))
def test_launches_with_and_without_time_read_what_the_other_kind_wrote(
    protocol: str, order: str
) -> None:
    machine = gpucoh.machine("fermi")
    with gpucoh.GPU(machine=machine, protocol=protocol, check=True) as gpu:
        for found, right in zip(run(gpu, order), expected(len(order)), strict=True):
            assert (found == right).all()
        gpu.verify()


@pytest.mark.parametrize("protocol", ["mcm", "flush"])
def test_pages_stay_where_a_launch_without_time_touched_them(protocol: str) -> None:
    machine = gpucoh.machine("mcm4-quarter").replace(placement_of_pages="first_touch")
    cycles = {}
    for order in ("tt", "ft"):
        with gpucoh.GPU(machine=machine, protocol=protocol, check=True) as gpu:
            found = run(gpu, order)
            assert (found[0] == expected(2)[0]).all()
            cycles[order] = gpu.stats().cycles
    assert 0 < cycles["ft"] < cycles["tt"]


def test_a_launch_without_time_is_not_counted() -> None:
    machine = gpucoh.machine("fermi").replace(timestamp_bits=8)
    with gpucoh.GPU(machine=machine, protocol="tc-weak") as gpu, gpu.record(10**9) as recorder:
        run(gpu, "t")
        before = gpu.stats()
        run(gpu, "f")
        after = gpu.stats()
        assert {key for key in after if after[key] != before[key]} == {"launches"}
        run(gpu, "t")
    assert recorder.launches["launch"].tolist() == [0, 2]
    assert recorder.launches["cycles"].min() > 0


def test_a_restored_gpu_has_its_caches_written_back_again() -> None:
    with gpucoh.GPU(machine="fermi", protocol="mesi") as gpu:
        x, y = gpu.array(np.arange(WORDS, dtype=np.int32)), gpu.zeros(WORDS, np.int32)
        sums = gpu.zeros(7, np.int32)
        gpu.launch(step, grid=8, block=64, args=(x, y, sums))
        after_one = gpu.snapshot()
        for _ in range(2):
            gpu.restore(after_one)
            for _ in range(2):  # the second one finds empty caches
                gpu.launch(step, grid=8, block=64, args=(y, x, sums), functional=True)
            found = sums.numpy()
        y = expected(1)[0]
        right = expected(1)[1]
        for _ in range(2):
            np.add.at(right, np.arange(WORDS) % 7, y)
        assert (found == right).all()


@pytest.mark.parametrize(("order", "seen"), [("fff", False), ("ftf", True)])
def test_observers_do_not_see_a_launch_without_time(order: str, seen: bool) -> None:
    with gpucoh.GPU(machine="fermi", protocol="mesi") as gpu:
        with gpu.trace() as trace, gpu.profile() as profiled:
            run(gpu, order)
        assert (len(trace.records) > 0) == seen
        assert ("no launch" in str(profiled())) != seen


def test_a_hang_without_time_is_found_and_the_gpu_stays_usable() -> None:
    with gpucoh.GPU(machine="fermi", protocol="tc-weak", deadlock_after=5000) as gpu:
        x = gpu.zeros(32, np.int32)
        with pytest.raises(gpucoh.DeadlockError, match="no word of memory has changed"):
            gpu.launch(spin, grid=1, block=32, args=(x,), functional=True)
        assert (run(gpu, "tf")[0] == expected(2)[0]).all()


def test_an_error_without_time_is_at_its_line() -> None:
    @gpucoh.kernel
    def beyond(x: gpucoh.Buffer[gpucoh.i32]):
        x[gpucoh.global_id(0) + 40] = 1

    with gpucoh.GPU(machine="fermi", protocol="denovo-drf") as gpu:
        x = gpu.zeros(32, np.int32)
        with pytest.raises(gpucoh.KernelError, match=r"test_functional\.py:\d+"):
            gpu.launch(beyond, grid=1, block=32, args=(x,), functional=True)
        assert (run(gpu, "ft")[0] == expected(2)[0]).all()


def test_kernels_of_several_gpus_run_without_time() -> None:
    with gpucoh.GPU(machine="two-gpus", protocol="mcm") as gpu:
        x, y = gpu.array(np.arange(WORDS, dtype=np.int32)), gpu.zeros(WORDS, np.int32)
        z, sums = gpu.zeros(WORDS, np.int32), gpu.zeros(7, np.int32)
        with gpu.concurrent():
            for device, into in enumerate((y, z)):
                gpu.launch(
                    step, grid=8, block=64, args=(x, into, sums), device=device, functional=True
                )
        assert (y.numpy() == z.numpy()).all()
        assert (sums.numpy() == 2 * expected(1)[1]).all()
        assert gpu.stats().cycles == 0
