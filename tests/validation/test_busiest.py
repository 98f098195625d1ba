"""Is the busiest part of a run the one that limits it? Each machine and kernel has a limit by construction."""

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, f32, fma, i32

WORDS = 1 << 16
FAST = {"noc_mhz": 2800, "flit_bytes": 256, "vc_flits": 8}  # a network that limits nothing


@gpucoh.kernel
def compute(x: Buffer[f32], n: i32):
    a = x[0]
    b = x[1]
    c = x[2]
    d = x[3]
    for _ in range(n):
        a = fma(a, 1.5, 0.5)
        b = fma(b, 1.5, 0.5)
        c = fma(c, 1.5, 0.5)
        d = fma(d, 1.5, 0.5)
    x[gpucoh.global_id()] = a + b + c + d


@gpucoh.kernel
def stream(x: Buffer[f32], y: Buffer[f32], n: i32):
    i = gpucoh.global_id()
    while i < n:
        y[i] = x[i]
        i += gpucoh.grid_dim() * gpucoh.block_dim()


@gpucoh.kernel
def strided(x: Buffer[i32], y: Buffer[i32], n: i32, stride: i32, times: i32):
    i = gpucoh.global_id()
    total = 0
    for k in range(times):
        total += x[(i + k * 97) * stride % n]
    y[i] = total


@gpucoh.kernel
def count(x: Buffer[i32], times: i32):
    for _ in range(times):
        gpucoh.atomic_add(x, gpucoh.thread_id(), 1)


def streamed(gpu, blocks=64):
    gpu.launch(stream, grid=blocks, block=256, args=(gpu.zeros(WORDS), gpu.zeros(WORDS), WORDS))


def scattered(gpu, words, stride, times, blocks=32):
    arrays = gpu.zeros(words, np.int32), gpu.zeros(blocks * 256, np.int32)
    gpu.launch(strided, grid=blocks, block=256, args=(*arrays, words, stride, times))


def computed(gpu):
    gpu.launch(compute, grid=32, block=512, args=(gpu.zeros(32 * 512), 40))


def counted(gpu):
    gpu.launch(count, grid=16, block=32, args=(gpu.zeros(32, np.int32), 40))


def rows(gpu):
    """A word of another DRAM row at each access."""
    scattered(gpu, 1 << 20, 4096 + 64, 4)


CASES = {
    "instructions": ("issue", "fermi", {}, computed),
    "instructions of wavefronts": ("issue", "gcn3", {}, computed),
    "lines that hit in the L1": ("l1", "fermi", {}, lambda gpu: scattered(gpu, 2048, 32, 48)),
    "bytes that hit in the L1": ("l1", "fermi", {"l1_bytes_per_cycle": 8}, lambda gpu: scattered(gpu, 2048, 1, 96)),
    "one bank": ("l2", "fermi", {**FAST, "partitions": 1, "l2_mhz": 350}, lambda gpu: scattered(gpu, 16384, 32, 6)),
    "slow atomics": ("l2", "fermi", {"atomic_lanes": 1, "atomic_cycles": 4}, counted),
    "narrow links": ("network", "fermi", {"flit_bytes": 8, "vc_flits": 32}, streamed),
    "a slow network": ("network", "fermi", {"noc_mhz": 175}, streamed),
    "a narrow memory": ("dram", "fermi", {"dram_bytes_per_cycle": 2}, streamed),
    "rows of memory": ("dram", "fermi", {**FAST, "dram_banks": 2}, rows),
    "slow memory of fixed latency": ("dram", "fermi", {"dram_model": "fixed", "dram_mhz": 175}, streamed),
    "128 cores over 8 partitions": ("dram", "fermi", {**FAST, "cores": 128}, lambda gpu: streamed(gpu, 256)),
    "narrow links between dies": ("links", "fermi", {"dies": 2, "page_kib": 4, "die_bytes": 2}, streamed),
    "narrow links between GPUs": ("links", "two-gpus", {"gpu_bytes": 2, "placement_of_pages": "interleave"}, streamed),
    "a slow memory side": (
        "memory",
        "fermi",
        {**FAST, "memory_mhz": 20, "l3_kib": 1024, "l3_ways": 8, "l3_mshrs": 64},
        streamed,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_part_that_limits_a_run_is_named(name):
    part, machine, fields, run = CASES[name]
    gpu = gpucoh.GPU(machine, protocol="qr" if part == "memory" else "gpu-vi", set=fields)
    run(gpu)
    busiest = gpu.stats().busiest
    assert busiest["part"] == part, gpu.stats()["busy"].to_dict()
    assert 0.6 < busiest["share"] <= 1.0


def test_a_run_that_waits_for_latencies_has_no_busy_part():
    gpu = gpucoh.GPU(protocol="no-l1")
    gpu.launch(
        strided,
        grid=1,
        block=32,
        args=(gpu.zeros(64, np.int32), gpu.zeros(32, np.int32), 64, 1, 20),
    )
    assert gpu.stats().busiest["share"] < 0.1
