"""Streaming reads reach the bandwidth of the limiting resource, computed from the machine's numbers."""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh
from products import share

MIB_WORDS = 1 << 18
HEADER_BYTES = 8  # of a message, beside its data
BLOCKS_A_CORE, THREADS_A_BLOCK = 8, 192  # every warp of fermi's 48 a core, in one wave


@gpucoh.kernel
def stream(
    data: gpucoh.Buffer[gpucoh.u32],
    rounds: gpucoh.i32,
    stride: gpucoh.i32,
    mask: gpucoh.i32,
    out: gpucoh.Buffer[gpucoh.u32],
):
    at = gpucoh.global_id()
    total = gpucoh.u32(0)
    for _ in range(rounds):
        a = data[at & mask]
        b = data[at + stride & mask]
        c = data[at + 2 * stride & mask]
        d = data[at + 3 * stride & mask]
        at += 4 * stride
        total += a + b + c + d
    if total != gpucoh.u32(0):  # memory is zero: never, but the loads are needed for it
        out[0] = total


@gpucoh.kernel
def count_up(counter: gpucoh.Buffer[gpucoh.u32], lanes: gpucoh.i32, rounds: gpucoh.i32):
    if gpucoh.lane_id() < lanes:
        for _ in range(rounds):
            gpucoh.atomic_add(counter, 0, gpucoh.u32(1))


def bound(machine: gpucoh.Machine, from_dram: bool) -> float:
    """Bytes a second that the narrowest part between memory and cores passes."""
    line = machine.line_bytes
    flits = -(-(HEADER_BYTES + line) // machine.flit_bytes)
    crossbar = line / flits * machine.noc_mhz
    turns = 2 if from_dram else 1  # a request's and, from memory, the fill's
    bank = line / turns * machine.l2_mhz
    pins = machine.dram_bytes_per_cycle * machine.dram_mhz
    return machine.partitions * min(crossbar, bank, *([pins] if from_dram else [])) * 1e6


def measured(machine: gpucoh.Machine, protocol: str, words: int, read: int) -> float:
    """Bytes a second of a kernel, ramps included, that reads ``read`` words of a buffer of ``words``."""
    gpu = gpucoh.GPU(machine=machine, protocol=protocol)
    grid = machine.cores * BLOCKS_A_CORE
    threads = grid * THREADS_A_BLOCK
    data, out = gpu.zeros(words, np.uint32), gpu.zeros(1, np.uint32)
    rounds = read // threads // 4
    gpu.launch(
        stream,
        grid=grid,
        block=THREADS_A_BLOCK,
        args=(data, rounds, threads, words - 1, out),
    )
    return rounds * 4 * threads * 4 / gpu.stats().cycles * machine.core_mhz * 1e6


def test_fermi_s_bound_is_the_response_crossbar() -> None:
    machine = gpucoh.machine("fermi")
    assert bound(machine, from_dram=True) == pytest.approx(143.36e9)
    assert bound(machine, from_dram=False) == pytest.approx(143.36e9)


@pytest.mark.parametrize(
    ("protocol", "dram_model"), share(["no-l1", "ideal"], ["fixed", "fr_fcfs", "closed"], one_in=8)
)
def test_a_stream_of_16_mib_from_dram_reaches_95_percent(dram_model: str, protocol: str) -> None:
    machine = gpucoh.machine("fermi").replace(dram_model=dram_model)
    share = measured(machine, protocol, 16 * MIB_WORDS, 16 * MIB_WORDS) / bound(machine, True)
    assert 0.95 <= share <= 1


def test_a_stream_from_the_l2_reaches_95_percent() -> None:
    machine = gpucoh.machine("fermi")
    share = measured(machine, "no-l1", MIB_WORDS // 2, 12 * MIB_WORDS) / bound(machine, False)
    assert 0.95 <= share <= 1


def test_half_the_pins_bind_a_stream_from_dram() -> None:
    machine = gpucoh.machine("fermi").replace(dram_bytes_per_cycle=8, dram_model="fixed")
    assert bound(machine, True) == pytest.approx(89.6e9)
    share = measured(machine, "no-l1", 16 * MIB_WORDS, 8 * MIB_WORDS) / bound(machine, True)
    assert 0.95 <= share <= 1


@pytest.mark.parametrize(("flit_bytes", "lanes", "cycles"), [(32, 1, 1), (256, 32, 1), (32, 32, 5)])
def test_a_bank_performs_a_warp_s_atomics_on_a_line_in_one_of_its_cycles(
    flit_bytes: int, lanes: int, cycles: int
) -> None:
    # where they come in one flit; 12 B and the operands of 32 lanes are 5 flits of 32 B
    machine = gpucoh.machine("fermi").replace(flit_bytes=flit_bytes)
    gpu = gpucoh.GPU(machine=machine, protocol="no-l1")
    counter, rounds = gpu.zeros(1, np.uint32), 20
    grid = machine.cores * BLOCKS_A_CORE
    requests = grid * THREADS_A_BLOCK // machine.lanes_per_warp * rounds
    gpu.launch(count_up, grid=grid, block=THREADS_A_BLOCK, args=(counter, lanes, rounds))
    assert counter[0] == requests * lanes
    l2_cycles = gpu.stats().cycles * machine.l2_mhz / machine.core_mhz
    assert cycles <= l2_cycles / requests <= cycles + 0.05
