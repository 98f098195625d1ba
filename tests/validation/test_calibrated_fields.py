"""What the fields of calibrated machines say, measured by kernels: a fence's trip; rates of the L1, f64 and atomics."""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh
from products import rows, share
from registered import ALL, COHERENT

FENCES = 16


@gpucoh.kernel
def fences(scope: gpucoh.i32, rounds: gpucoh.i32, times: gpucoh.Buffer[gpucoh.u32]):
    begin = gpucoh.clock()
    for _ in range(rounds):
        if scope == 0:
            gpucoh.fence("sc", "gpu")
        elif scope == 1:
            gpucoh.fence("acq_rel", "sys")
        else:
            gpucoh.fence("acq_rel", "cta")
    times[0] = gpucoh.clock() - begin


@gpucoh.kernel
def passes(
    arrived: gpucoh.Buffer[gpucoh.u32],
    words: gpucoh.Buffer[gpucoh.u32],
    rounds: gpucoh.i32,
    times: gpucoh.Buffer[gpucoh.u32],
):
    begin = gpucoh.clock()
    for turn in range(rounds):
        words[gpucoh.global_id()] += gpucoh.u32(1)
        gpucoh.barrier()
        gpucoh.fence("sc", "gpu")
        if gpucoh.thread_id() == 0:
            gpucoh.atomic_add(arrived, turn, gpucoh.u32(1))
            seen = gpucoh.load(arrived, turn, "relaxed", "gpu")
            while seen != gpucoh.u32(gpucoh.grid_dim()):
                seen = gpucoh.load(arrived, turn, "relaxed", "gpu")
        gpucoh.barrier()
    if gpucoh.thread_id() == 0:
        times[gpucoh.block_id()] = gpucoh.clock() - begin


def with_trip(trip: int) -> gpucoh.Machine:
    """A machine of one clock, on which times are equal to the cycle."""
    return gpucoh.machine("fermi").replace(l2_mhz=1400, noc_mhz=1400, fence_trip=trip)


def trip_cycles(machine: gpucoh.Machine) -> int:
    """The L2's round trip, less the cycles in which a load's line passes after its header."""
    return machine.l2_round_trip - -(-(8 + machine.line_bytes) // machine.flit_bytes) + 1


def cycles_a_fence(protocol: str, trip: int, scope: int) -> float:
    """Core cycles of a fence with nothing outstanding, and of the loop around it."""
    gpu = gpucoh.GPU(machine=with_trip(trip), protocol=protocol)
    times = gpu.zeros(1, np.uint32)
    gpu.launch(fences, grid=1, block=32, args=(scope, FENCES, times))
    return float(times[0]) / FENCES


@pytest.mark.parametrize("protocol", rows([(name,) for name in ALL], one_in=4))
def test_a_wide_fence_alone_costs_a_trip(protocol: str) -> None:
    travels = gpucoh.protocols()[protocol].release_travels
    for scope, expected in ((0, trip_cycles(with_trip(1))), (1, trip_cycles(with_trip(1))), (2, 0)):
        more = cycles_a_fence(protocol, 1, scope) - cycles_a_fence(protocol, 0, scope)
        assert more == (0 if travels else expected)


@pytest.mark.parametrize("protocol", ["gpu-hrf", "no-l1", "src"])
def test_a_pass_of_a_grid_barrier_takes_about_a_trip_longer(protocol: str) -> None:
    rounds, blocks, found = 8, 16, []
    for trip in (0, 1):
        gpu = gpucoh.GPU(machine=with_trip(trip), protocol=protocol)
        arrived, words = gpu.zeros(rounds, np.uint32), gpu.zeros(64 * blocks, np.uint32)
        times = gpu.zeros(blocks, np.uint32)
        gpu.launch(passes, grid=blocks, block=64, args=(arrived, words, rounds, times))
        assert (words.numpy() == rounds).all()
        found.append(float(times.numpy().max()) / rounds)
    assert found[1] - found[0] == pytest.approx(trip_cycles(with_trip(1)), rel=0.1)


@gpucoh.kernel
def words_of_l1(
    data: gpucoh.Buffer[gpucoh.u32], rounds: gpucoh.i32, sums: gpucoh.Buffer[gpucoh.u32]
):
    at = gpucoh.thread_id()
    total = gpucoh.u32(0)
    for _ in range(rounds):  # eight loads in flight, and few other instructions
        a, b = data[at], data[at + 512]
        c, d = data[at + 1024], data[at + 1536]
        e, f = data[at + 2048], data[at + 2560]
        g, h = data[at + 3072], data[at + 3584]
        total += (a + b) + (c + d) + (e + f) + (g + h)
    sums[gpucoh.global_id()] = total


@gpucoh.kernel
def wide_words_of_l1(
    data: gpucoh.Buffer[gpucoh.u32], rounds: gpucoh.i32, sums: gpucoh.Buffer[gpucoh.u32]
):
    at = gpucoh.thread_id() * 4
    total = gpucoh.u32(0)
    for _ in range(rounds):
        a, b, c, d = gpucoh.load4(data, at)
        e, f, g, h = gpucoh.load4(data, at + 2048)
        total += (a + b) + (c + d) + (e + f) + (g + h)
    sums[gpucoh.global_id()] = total


def l1_bytes_a_cycle(width: int, wide: bool, line_bytes: int) -> float:
    """Bytes that one core loads from its L1 per cycle, the first misses and the kernel's ends included."""
    machine = gpucoh.machine("fermi").replace(
        cores=1,
        issue_width=4,
        alu_latency=4,
        line_bytes=line_bytes,
        l1_bytes_per_cycle=width,
    )
    gpu = gpucoh.GPU(machine=machine, protocol="gpu-hrf")
    data, sums = gpu.array(np.arange(4096, dtype=np.uint32)), gpu.zeros(1024, np.uint32)
    rounds, of_a_round = 128, 32
    kernel = wide_words_of_l1 if wide else words_of_l1
    gpu.launch(kernel, grid=2, block=512, args=(data, rounds, sums))
    first = np.arange(512, dtype=np.uint32)
    once = 8 * (4 * first) + 2 * 6 + 4 * 2048 if wide else 8 * first + 512 * 28
    assert (sums.numpy() == np.tile(once * rounds, 2)).all()
    return rounds * of_a_round * 1024 / gpu.stats().cycles


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("width", "line_bytes"), [(128, 128), (64, 128), (128, 64), (48, 128)])
def test_loads_of_the_l1_pass_at_its_rate(width: int, line_bytes: int, wide: bool) -> None:
    assert 0.85 * width <= l1_bytes_a_cycle(width, wide, line_bytes) <= width


@gpucoh.kernel
def products(rounds: gpucoh.i32, seed: gpucoh.f64, found: gpucoh.Buffer[gpucoh.f64]):
    a = seed
    for _ in range(rounds):
        a = a * 1.5 * 0.5 * 1.5 * 0.5 * 1.5 * 0.5 * 1.5 * 0.5
    found[gpucoh.global_id()] = a


def cycles_of_products(f64_cycles: int, warps: int, rounds: int) -> int:
    """Core cycles of a block whose warps multiply eight times per round."""
    machine = gpucoh.machine("fermi").replace(f64_cycles=f64_cycles, issue_width=4, alu_latency=4)
    gpu = gpucoh.GPU(machine=machine, protocol="no-l1")
    found = gpu.zeros(32 * warps, np.float64)
    gpu.launch(products, grid=1, block=32 * warps, args=(rounds, 1.0, found))
    assert found.numpy() == pytest.approx(0.75 ** (4 * rounds))
    return gpu.stats().cycles


@gpucoh.kernel
def begins(times: gpucoh.Buffer[gpucoh.u32]):
    times[gpucoh.block_id()] = gpucoh.clock()


@pytest.mark.parametrize("places", [1, 2])
def test_a_block_starts_its_cycles_after_the_one_before_it_in_its_place(places: int) -> None:
    started = {}
    for cycles in (0, 291):
        machine = gpucoh.machine("fermi").replace(
            cores=1, blocks_per_core=places, block_start_cycles=cycles
        )
        gpu = gpucoh.GPU(machine=machine, protocol="ideal")
        times = gpu.zeros(6, np.uint32)
        gpu.launch(begins, grid=6, block=32, args=(times,))
        started[cycles] = times.numpy().astype(np.int64)
    later = (started[291] - started[0]).reshape(-1, places)
    assert np.abs(later - 291 * np.arange(1, len(later) + 1)[:, None]).max() <= len(later)


@pytest.mark.parametrize("f64_cycles", [2, 16])
def test_warps_share_the_unit_of_f64(f64_cycles: int) -> None:
    more = cycles_of_products(f64_cycles, 16, 24) - cycles_of_products(f64_cycles, 16, 8)
    assert more == pytest.approx(16 * 8 * 16 * f64_cycles, rel=0.02)  # warps, products, rounds


def test_a_chain_of_products_takes_its_latency() -> None:
    taken = [
        cycles_of_products(f64_cycles, 1, 24) - cycles_of_products(f64_cycles, 1, 8)
        for f64_cycles in (1, 16)
    ]
    # rounds, products; the end of a round hides some cycles
    assert taken[1] - taken[0] == pytest.approx(16 * 8 * 15, rel=0.06)
    assert cycles_of_products(0, 1, 8) == cycles_of_products(1, 1, 8)


@gpucoh.kernel
def count_up(counter: gpucoh.Buffer[gpucoh.u32], rounds: gpucoh.i32):
    for _ in range(rounds):
        gpucoh.atomic_add(counter, 0, gpucoh.u32(1))


def counted(lanes: int, cycles: int, grid: int, rounds: int) -> tuple[float, int]:
    """L2 cycles of a request of 32 lanes on one word, and the number of operations."""
    machine = gpucoh.machine("fermi").replace(
        flit_bytes=256, atomic_lanes=lanes, atomic_cycles=cycles
    )
    gpu = gpucoh.GPU(machine=machine, protocol="gpu-hrf")
    counter = gpu.zeros(1, np.uint32)
    gpu.launch(count_up, grid=grid, block=128, args=(counter, rounds))
    assert counter[0] == grid * 128 * rounds
    l2_cycles = gpu.stats().cycles * machine.l2_mhz / machine.core_mhz
    operations = gpu.stats().to_dict()["l2"]["atomic_operations"]
    return l2_cycles / (grid * 4 * rounds), operations


def test_lanes_are_merged_as_on_a_qv100() -> None:
    assert counted(lanes=16, cycles=1, grid=128, rounds=10)[1] == 163_840 // 16 == 10_240


@pytest.mark.parametrize(
    ("lanes", "cycles", "expected"), [(16, 1, 2), (16, 4, 8), (8, 2, 8), (0, 3, 3)]
)
def test_operations_on_one_word_follow_at_the_rate_of_a_slice(
    lanes: int, cycles: int, expected: int
) -> None:
    measured, _ = counted(lanes, cycles, grid=64, rounds=10)
    assert expected <= measured <= expected * 1.1


#: Every field of calibrated machines, at a value that changes runs.
FIELDS = {
    "fence_trip": 1,
    "l1_bytes_per_cycle": 48,
    "f64_cycles": 3,
    "atomic_lanes": 16,
    "atomic_cycles": 3,
}


@pytest.mark.parametrize(
    ("name", "workload"), share(COHERENT, ["uts", "tbex_lg", "ss_l"], one_in=16)
)
def test_workloads_are_right_with_all_the_fields(name: str, workload: str) -> None:
    machine = gpucoh.machine("fermi").replace(**FIELDS)
    assert gpucoh.run(workload, name, machine=machine, scale="tiny", check=True).correct
