"""Kernels that run at the same time on several GPUs."""

import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpucoh
from gpucoh.device.kernels import Kernel, rounds
from products import share
from registered import COHERENT

WORDS = 32
# Protocols under which a kernel begins while others run; under the others it waits for all of them.
FOLLOWING = [name for name in COHERENT if not name.startswith("rcc")]


@gpucoh.kernel
def write(x: gpucoh.Buffer[gpucoh.i32], busy: gpucoh.Buffer[gpucoh.i32], value: gpucoh.i32):
    i = gpucoh.thread_id(0)
    for _ in range(value % 4):
        busy[i] += 1
    x[i] = value


@gpucoh.kernel
def read(x: gpucoh.Buffer[gpucoh.i32], out: gpucoh.Buffer[gpucoh.i32], turn: gpucoh.i32):
    if gpucoh.block_id(0) == 1:
        i = gpucoh.thread_id(0)
        out[WORDS * turn + i] = x[i]


@gpucoh.kernel
def put(x: gpucoh.Buffer[gpucoh.i32], flag: gpucoh.Buffer[gpucoh.i32], value: gpucoh.i32):
    i = gpucoh.thread_id(0)
    x[i] = value + i
    gpucoh.barrier(scope="sys")
    if i == 0:
        gpucoh.store(flag, 0, value, order="release", scope="sys")


@gpucoh.kernel
def wait(
    x: gpucoh.Buffer[gpucoh.i32],
    flag: gpucoh.Buffer[gpucoh.i32],
    out: gpucoh.Buffer[gpucoh.i32],
    value: gpucoh.i32,
):
    i = gpucoh.thread_id(0)
    while gpucoh.load(flag, 0, order="acquire", scope="sys") != value:
        pass
    out[i] = x[i]


@gpucoh.kernel
def fill(x: gpucoh.Buffer[gpucoh.i32], value: gpucoh.i32):
    x[gpucoh.global_id(0)] = value


@gpucoh.kernel
def mix(
    x: gpucoh.Buffer[gpucoh.i32],
    y: gpucoh.Buffer[gpucoh.i32],
    factor: gpucoh.i32,
    times: gpucoh.i32,
):
    i = gpucoh.global_id(0)
    total = 0
    for k in range(times):
        total += x[(i + 7 * k) % 128]
    y[i] = total * factor + i


@gpucoh.kernel
def where(out: gpucoh.Buffer[gpucoh.i32]):
    out[gpucoh.block_id(0)] = gpucoh.core_id()


def two_gpus(protocol: str, machine: str = "two-gpus", **more: object) -> gpucoh.GPU:
    return gpucoh.GPU(machine, protocol, check=True, deadlock_after=200_000, **more)


def together(gpu: gpucoh.GPU, *launches: tuple) -> None:
    """Launch (kernel, device, arguments, blocks) at the same time."""
    with gpu.concurrent():
        for kernel, device, args, *blocks in launches:
            gpu.launch(kernel, grid=(*blocks, 1)[0], block=WORDS, args=args, device=device)


def zeros(gpu: gpucoh.GPU, name: str, device: int, words: int = WORDS) -> gpucoh.Array:
    return gpu.zeros(words, np.int32, name=name, device=device)


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=6))
def test_a_kernel_reads_what_those_before_it_on_its_gpu_wrote(protocol: str) -> None:
    gpu, turns = two_gpus(protocol), 8
    x, busy, other = zeros(gpu, "x", 0), zeros(gpu, "busy", 0), zeros(gpu, "other", 1)
    out = zeros(gpu, "out", 0, turns * WORDS)
    with gpu.concurrent():
        gpu.launch(write, grid=1, block=WORDS, args=(other, other, 3), device=1)
        for turn in range(turns):
            gpu.launch(read, grid=2, block=WORDS, args=(x, out, turn), device=0)
            gpu.launch(write, grid=1, block=WORDS, args=(x, busy, turn + 1), device=0)
    assert (out.numpy().reshape(turns, WORDS) == np.arange(turns)[:, None]).all()
    assert (gpu.stats().launches == 1) == (protocol in FOLLOWING)


@pytest.mark.parametrize("protocol", share(FOLLOWING, one_in=6))
def test_a_kernel_waits_for_a_later_kernel_of_another_gpu(protocol: str) -> None:
    gpu = two_gpus(protocol)
    x, flag, other, out = (zeros(gpu, name, 0) for name in ("x", "flag", "other", "out"))
    with gpu.concurrent():
        gpu.launch(wait, grid=1, block=WORDS, args=(x, flag, out, 5), device=1)
        gpu.launch(fill, grid=1, block=WORDS, args=(other, 1), device=0)
        gpu.launch(put, grid=1, block=WORDS, args=(x, flag, 5), device=0)
    assert (out.numpy() == 5 + np.arange(WORDS)).all()


@gpucoh.kernel
def meet(arrived: gpucoh.Buffer[gpucoh.i32], turn: gpucoh.i32):
    if gpucoh.thread_id(0) == 0:
        gpucoh.atomic_add(arrived, turn, 1, order="release", scope="sys")
        while gpucoh.load(arrived, turn, order="acquire", scope="sys") < 2:
            pass


@pytest.mark.parametrize("protocol", ["rcc-sc", "rcc-wo", *share(FOLLOWING, one_in=6)])
def test_kernels_of_two_gpus_meet_whichever_is_launched_first(protocol: str) -> None:
    gpu = two_gpus(protocol)
    arrived = zeros(gpu, "arrived", 0)
    together(gpu, *((meet, device, (arrived, turn)) for device in (0, 1) for turn in (0, 1)))
    assert (arrived.numpy()[:2] == 2).all()


@pytest.mark.parametrize("seed", share([*range(60)], one_in=10))
def test_kernels_follow_those_whose_arrays_they_use(seed: int) -> None:
    draw = random.Random(seed)
    gpu = two_gpus(draw.choice(COHERENT), draw.choice(["two-gpus", "four-gpus", "hmg4x4-eighth"]))
    gpus, i = gpu.machine.gpus, np.arange(128)
    arrays = [gpu.array(i.astype(np.int32) * k, device=draw.randrange(gpus)) for k in range(5)]
    wanted = [array.numpy() for array in arrays]
    users: list[list[Kernel]] = [[] for _ in arrays]
    launched: list[Kernel] = []
    for _ in range(12):
        (a, b), factor, times = draw.sample(range(5), 2), draw.randrange(1, 9), draw.randrange(6)
        args, device, grid = (
            (arrays[a], arrays[b], factor, times),
            draw.randrange(gpus),
            draw.choice([1, 4]),
        )
        with gpu.collected() as found:
            gpu.launch(mix, grid=grid, block=128 // grid, args=args, device=device)
        kernel = replace(found[0], after=(*users[a], *users[b]))
        launched.append(kernel)
        users[a].append(kernel)
        users[b] = [kernel]
        total = sum((wanted[a][(i + 7 * k) % 128] for k in range(times)), np.zeros(128, np.int32))
        wanted[b] = (total * factor + i).astype(np.int32)
    for kernels in rounds(launched, gpu.kernels_may_follow):
        gpu.launch_kernels(kernels)
    gpu.verify()
    for array, words in zip(arrays, wanted, strict=True):
        assert (array.numpy() == words).all()


@pytest.mark.parametrize("device", [0, 1, 2, 3])
def test_blocks_are_on_the_cores_of_their_gpu(device: int) -> None:
    gpu = two_gpus("mcm", "four-gpus")
    out = zeros(gpu, "out", device, 40)
    for placement in ("round_robin", "first_free", "static", "rotating"):
        gpu.launch(where, grid=40, block=32, args=(out,), placement=placement, device=device)
        assert {*(out.numpy() // 16)} == {device}, placement


def test_an_array_is_in_the_memory_of_its_gpu() -> None:
    hits = []
    for device in (0, 1):
        gpu = two_gpus("no-l1")
        x = zeros(gpu, "x", device)
        gpu.launch(fill, grid=1, block=WORDS, args=(x, 1), device=0)
        hits.append(gpu.stats().cycles)
    assert hits[1] > hits[0] + 2 * gpucoh.machine("two-gpus").gpu_latency


def test_a_race_of_two_gpus_is_reported_with_both() -> None:
    gpu = two_gpus("mcm")
    x = zeros(gpu, "x", 0)
    with pytest.raises(gpucoh.SimulationError, match="data race") as found:
        together(gpu, (fill, 0, (x, 1)), (put, 1, (x, x, 1)))
    for said in (r"kernel 'fill' at \S+ GPU 0 block 0", r"kernel 'put' at \S+ GPU 1 block 0"):
        assert re.search(said, str(found.value)), found.value


def test_kernels_of_one_gpu_do_not_race() -> None:
    gpu = two_gpus("mcm")
    x = zeros(gpu, "x", 0)
    with gpu.concurrent():
        for value in range(4):
            gpu.launch(fill, grid=1, block=WORDS, args=(x, value), device=0)
    assert (x.numpy() == 3).all()


def test_a_hang_names_the_words_of_both_gpus() -> None:
    gpu = two_gpus("mesi")
    x, a, b, out = (zeros(gpu, name, 0) for name in ("x", "a", "b", "out"))
    with pytest.raises(gpucoh.DeadlockError) as found:
        together(gpu, (wait, 0, (x, a, out, 1)), (wait, 1, (x, b, out, 2)))
    assert "a[0] = 0" in str(found.value)
    assert "b[0] = 0" in str(found.value)


def test_an_error_of_a_kernel_is_at_its_line() -> None:
    gpu = two_gpus("mesi")
    x, y = zeros(gpu, "x", 0), zeros(gpu, "y", 1)
    with pytest.raises(gpucoh.KernelError) as found:
        together(gpu, (write, 0, (x, x, 1)), (fill, 1, (y, 1), 2))
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[found.value.line - 1]
    assert "x[gpucoh.global_id(0)] = value" in line


@pytest.mark.parametrize("device", [-1, 2, 1.0, True, "1"])
def test_a_device_that_is_no_gpu_is_refused(device: object) -> None:
    gpu = two_gpus("mesi")
    with pytest.raises(
        gpucoh.ConfigError, match=r"device = .* is no GPU of 'two-gpus' \(allowed: 0 to 1\)"
    ):
        gpu.zeros(4, device=device)
    with pytest.raises(gpucoh.ConfigError, match="is no GPU"):
        gpu.launch(fill, grid=1, block=1, args=(zeros(gpu, "x", 0), 1), device=device)


def test_concurrent_blocks_do_not_nest() -> None:
    gpu = two_gpus("mesi")
    x = zeros(gpu, "x", 0)
    with gpu.concurrent(), pytest.raises(gpucoh.ConfigError, match="concurrent"):
        together(gpu, (fill, 0, (x, 1)))


def test_kernels_of_a_launch_that_fails_do_not_run_later() -> None:
    gpu = two_gpus("mesi")
    x, y, z = zeros(gpu, "x", 0), zeros(gpu, "y", 1), zeros(gpu, "z", 1)
    with gpu.collected() as kernels:
        gpu.launch(fill, grid=1, block=WORDS, args=(x, 1), device=0)
        gpu.launch(fill, grid=1, block=WORDS, args=(y, 1), device=1)
    y.free()
    with pytest.raises(gpucoh.Error, match="buffer 'y'"):
        gpu.launch_kernels(kernels)
    gpu.launch(fill, grid=1, block=WORDS, args=(z, 1), device=1)
    assert (x.numpy() == 0).all()
    assert (z.numpy() == 1).all()


def test_a_trace_and_a_profile_have_the_kernels_of_both_gpus() -> None:
    gpu = two_gpus("mcm")
    x, flag, out = zeros(gpu, "x", 0), zeros(gpu, "flag", 1), zeros(gpu, "out", 1)
    with gpu.profile() as profile, gpu.trace("out") as trace:
        together(gpu, (put, 0, (x, flag, 5)), (wait, 1, (x, flag, out, 5)))
    lines = profile().by("line")
    sources = Path(__file__).read_text(encoding="utf-8").splitlines()
    said = {sources[line - 1].strip() for line in lines["line"]}
    assert {"x[i] = value + i", "out[i] = x[i]"} <= said
    assert len(trace.records) > 0
