"""The rooflines of a core of every preset: no kernel exceeds them, and one made for each reaches it to 2%."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gpucoh
from products import share

PRESETS = list(gpucoh.machines())
REACHED = 0.98


@gpucoh.kernel
def compute(rounds: gpucoh.i32, out: gpucoh.Buffer[gpucoh.u32]):
    step = gpucoh.u32(rounds)
    a, b, c, d = step, step, step, step
    for _ in range(rounds):
        for _ in (1, 2, 3, 4, 5, 6, 7, 8):  # written out, as the loops below
            for _ in (1, 2, 3, 4):
                a += step
                b += step
                c += step
                d += step
    out[gpucoh.thread_id()] = (a + b) + (c + d)


@gpucoh.kernel
def store_in_scratchpad(rounds: gpucoh.i32, out: gpucoh.Buffer[gpucoh.u32]):
    tile = gpucoh.shared(gpucoh.u32, 1024)
    at = gpucoh.thread_id()
    for _ in range(rounds):
        for _ in (1, 2, 3, 4, 5, 6, 7, 8):
            for _ in (1, 2, 3, 4, 5, 6, 7, 8):
                for _ in (1, 2, 3, 4):
                    tile[at] = gpucoh.u32(1)
    out[at] = tile[at]


@gpucoh.kernel
def load_lines(
    data: gpucoh.Buffer[gpucoh.u32],
    stride: gpucoh.i32,
    rounds: gpucoh.i32,
    out: gpucoh.Buffer[gpucoh.u32],
):
    at = gpucoh.lane_id() * stride
    total = gpucoh.u32(0)
    for _ in range(rounds):
        for _ in (1, 2, 3, 4):
            total += data[at]
    out[gpucoh.thread_id()] = total


@gpucoh.kernel
def load_words(data: gpucoh.Buffer[gpucoh.u32], rounds: gpucoh.i32, out: gpucoh.Buffer[gpucoh.u32]):
    at = gpucoh.lane_id() * 4
    total = gpucoh.u32(0)
    for _ in range(rounds):
        for _ in (1, 2, 3, 4):
            a, b, c, d = gpucoh.load4(data, at)
            total += (a + b) + (c + d)
    out[gpucoh.thread_id()] = total


def rate(
    machine: gpucoh.Machine,
    launch: Callable[[gpucoh.GPU, int], None],
    work: Callable[[gpucoh.Stats], int],
    rounds: tuple[int, int] = (4, 12),
) -> tuple[float, float]:
    """Work a cycle of one core: of a whole run, and without its first and last cycles."""
    found = []
    for number in rounds:
        gpu = gpucoh.GPU(machine=machine, protocol="ideal")
        launch(gpu, number)
        found.append((work(gpu.stats()), gpu.stats().cycles))
    (less, sooner), (more, later) = found
    return more / later, (more - less) / (later - sooner)


def check(roof: float, rates: tuple[float, float]) -> None:
    whole, steady = rates
    assert whole <= roof
    assert steady >= REACHED * roof


def one_core(name: str) -> gpucoh.Machine:
    return gpucoh.machine(name).replace(cores=1, dies=1, gpus=1, memory_units=1)


def shape_of(machine: gpucoh.Machine) -> tuple[int, int]:
    """The blocks, and threads of each, that a core has at once."""
    return machine.warps_per_core // 8, 8 * machine.lanes_per_warp


@pytest.mark.parametrize("name", share(PRESETS, one_in=4))
def test_instructions_issue_at_the_rate_of_the_ports(name: str) -> None:
    machine = one_core(name)
    grid, block = shape_of(machine)

    def launch(gpu: gpucoh.GPU, rounds: int) -> None:
        gpu.launch(compute, grid=grid, block=block, args=(rounds, gpu.zeros(block, np.uint32)))

    def instructions(stats: gpucoh.Stats) -> int:
        return stats.to_dict()["core"]["instructions"]

    roof = machine.issue_width / machine.issue_cycles
    check(roof, rate(machine, launch, instructions, rounds=(4, 20)))


@pytest.mark.parametrize("name", share(PRESETS, one_in=4))
def test_the_scratchpad_passes_a_word_a_bank_and_cycle(name: str) -> None:
    machine = one_core(name)
    grid, block = shape_of(machine)

    def launch(gpu: gpucoh.GPU, rounds: int) -> None:
        gpu.launch(
            store_in_scratchpad, grid=grid, block=block, args=(rounds, gpu.zeros(block, np.uint32))
        )

    def words(stats: gpucoh.Stats) -> int:
        return stats.to_dict()["core"]["shared_accesses"] * machine.lanes_per_warp

    check(machine.scratchpad_banks, rate(machine, launch, words))


@pytest.mark.parametrize("name", share(PRESETS, one_in=4))
def test_the_l1_takes_a_request_a_cycle(name: str) -> None:
    machine = one_core(name)
    grid, block = shape_of(machine)
    stride = machine.line_bytes // 4

    def launch(gpu: gpucoh.GPU, rounds: int) -> None:
        data = gpu.zeros(machine.lanes_per_warp * stride, np.uint32)
        gpu.launch(
            load_lines,
            grid=grid,
            block=block,
            args=(data, stride, rounds, gpu.zeros(block, np.uint32)),
        )

    check(1, rate(machine, launch, lambda stats: stats.l1.loads))


@pytest.mark.parametrize(
    "name", [name for name in PRESETS if gpucoh.machine(name).l1_bytes_per_cycle]
)
def test_the_l1_passes_its_bytes_a_cycle(name: str) -> None:
    machine = one_core(name)
    grid, block = shape_of(machine)

    def launch(gpu: gpucoh.GPU, rounds: int) -> None:
        data = gpu.zeros(4 * machine.lanes_per_warp, np.uint32)
        gpu.launch(
            load_words, grid=grid, block=block, args=(data, rounds, gpu.zeros(block, np.uint32))
        )

    def passed(stats: gpucoh.Stats) -> int:
        return stats.l1.loads * machine.line_bytes

    check(machine.l1_bytes_per_cycle, rate(machine, launch, passed))
