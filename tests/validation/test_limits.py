"""Every link, bank and DRAM channel of every preset reaches its bandwidth to 2 percent and never exceeds it.

Each case leaves the numbers of one part as the preset has them and makes the others faster. The least number of cycles
follows from the machine's numbers alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np
import pytest

import gpucoh
from gpucoh.machines.presets import DESCRIPTIONS
from products import share

HEADER_BYTES, MASK_BYTES = 8, 4  # of a message, beside its data; the mask of a store's words
CYCLES = 40000  # of a run: its first and last latencies are less than a fiftieth
LOADS = 8  # of a thread in a round
CACHED_WORDS, MEMORY_WORDS = 1 << 14, 1 << 21
FAST_NETWORK = {"flit_bytes": 256, "vc_flits": 1024, "noc_flit_gap": 0}
FAST_CORES = {"issue_width": 4, "issue_cycles": 1, "alu_latency": 1, "l1_bytes_per_cycle": 0}
OUTSTANDING = {  # more than the latency
    "warps_per_core": 64,
    "blocks_per_core": 8,
    "registers_per_core": 1 << 20,
    "requests_per_core": 65536,
    "l1_mshrs": 1024,
    "l2_mshrs": 1024,
    "l2_crossing": 0,
}


@gpucoh.kernel
def load(
    data: gpucoh.Buffer[gpucoh.u32],
    rounds: gpucoh.i32,
    mask: gpucoh.i32,
    out: gpucoh.Buffer[gpucoh.u32],
):
    at = gpucoh.global_id()
    stride = gpucoh.grid_dim() * gpucoh.block_dim()
    total = gpucoh.u32(0)
    for _ in range(rounds):
        a = data[at & mask]
        b = data[at + stride & mask]
        c = data[at + 2 * stride & mask]
        d = data[at + 3 * stride & mask]
        e = data[at + 4 * stride & mask]
        f = data[at + 5 * stride & mask]
        g = data[at + 6 * stride & mask]
        h = data[at + 7 * stride & mask]
        at += LOADS * stride
        total += a + b + c + d + e + f + g + h
    if total != gpucoh.u32(0):  # memory is zero: never, but the loads are needed for it
        out[0] = total


@gpucoh.kernel
def store(
    data: gpucoh.Buffer[gpucoh.u32],
    rounds: gpucoh.i32,
    mask: gpucoh.i32,
    out: gpucoh.Buffer[gpucoh.u32],
):
    at = gpucoh.global_id()
    stride = gpucoh.grid_dim() * gpucoh.block_dim()
    for _ in range(rounds * LOADS):
        data[at & mask] = gpucoh.u32(1)
        at += stride


@dataclass(frozen=True)
class Case:
    """A part: its machine, the words that a kernel passes over, and the core cycles of a line."""

    fields: Callable[[gpucoh.Machine], dict[str, object]]
    words: int
    cycles: Callable[[gpucoh.Machine], float]
    kernel: gpucoh.Kernel = load


def link_cycles(machine: gpucoh.Machine, mask_bytes: int = 0) -> float:
    """Core cycles in which a line crosses a link."""
    flits = ceil((HEADER_BYTES + mask_bytes + machine.line_bytes) / machine.flit_bytes)
    return flits * (1 + machine.noc_flit_gap) * machine.core_mhz / machine.noc_mhz


def one_core(machine: gpucoh.Machine) -> dict[str, object]:
    """All banks answer one core."""
    banks = machine.partitions if machine.topology == "mesh" else min(machine.partitions, 8)
    return {"cores": 1, "partitions": banks, **FAST_CORES, **OUTSTANDING}


def one_bank(machine: gpucoh.Machine) -> dict[str, object]:
    cores = min(machine.cores, 16)
    return {"cores": cores, "partitions": 1, "topology": "crossbar", **FAST_CORES, **OUTSTANDING}


def behind_a_fast_network(machine: gpucoh.Machine) -> dict[str, object]:
    return one_bank(machine) | {"noc_mhz": max(machine.noc_mhz, 2 * machine.l2_mhz), **FAST_NETWORK}


def one_channel(machine: gpucoh.Machine) -> dict[str, object]:
    """A channel serves one core, whose lines come in order, where lines of several would have to wait for rows.

    Closed banks: no bank may have two lines close together. Banks with rows: if activations are so far apart that each
    has to serve more than two lines (mesh15: 6 cycles apart, and a line takes 2, so that 15 cores reach 0.89).
    """
    line = ceil(machine.line_bytes / machine.dram_bytes_per_cycle)
    rows_decide = machine.dram_model == "fr_fcfs" and machine.dram_t_rrd > 2 * line
    cores = {"cores": 1} if machine.dram_model == "closed" or rows_decide else {}
    return behind_a_fast_network(machine) | {"l2_ports": 4, "dram_channels": 0, **cores}


CASES = {
    "the link to a core": Case(one_core, CACHED_WORDS, link_cycles),
    "the link of a bank": Case(one_bank, CACHED_WORDS, lambda m: link_cycles(m) / m.l2_ports),
    "the link to a bank": Case(
        one_bank, CACHED_WORDS, lambda m: link_cycles(m, MASK_BYTES) / m.l2_ports, store
    ),
    "a bank": Case(
        behind_a_fast_network, CACHED_WORDS, lambda m: m.core_mhz / m.l2_mhz / m.l2_ports
    ),
    "a DRAM channel": Case(
        one_channel,
        MEMORY_WORDS,
        lambda m: ceil(m.line_bytes / m.dram_bytes_per_cycle) * m.core_mhz / m.dram_mhz,
    ),
}


def run(
    machine: gpucoh.Machine, kernel: gpucoh.Kernel, words: int, lines: float
) -> tuple[gpucoh.Stats, int]:
    """The statistics of a kernel that loads over the words again and again, and the lines that it passes."""
    gpu = gpucoh.GPU(machine=machine, protocol="no-l1")
    block = 8 * machine.lanes_per_warp
    grid = 8 * machine.cores
    a_round = LOADS * grid * block
    data, out = gpu.zeros(words, np.uint32), gpu.zeros(1, np.uint32)
    if words == CACHED_WORDS:
        gpu.launch(
            kernel, grid=grid, block=block, args=(data, words // a_round + 1, words - 1, out)
        )
        gpu.reset_stats()
    a_line = machine.line_bytes // 4
    rounds = ceil(lines * a_line / a_round)
    gpu.launch(kernel, grid=grid, block=block, args=(data, rounds, words - 1, out))
    return gpu.stats(), rounds * a_round // a_line


@pytest.mark.parametrize("part", CASES)
@pytest.mark.parametrize("name", share(list(DESCRIPTIONS), one_in=4))
def test_a_stream_reaches_a_part_s_bandwidth_and_exceeds_none(name: str, part: str) -> None:
    case = CASES[part]
    machine = gpucoh.machine(name)
    # A launch is no part of the stream: cpelide4's takes 3,780 cycles, a tenth of the run.
    machine = machine.replace(
        dies=1, gpus=1, memory_units=1, launch_latency=0, block_start_cycles=0
    )
    machine = machine.replace(**case.fields(machine))
    a_line = case.cycles(machine)
    stats, lines = run(machine, case.kernel, case.words, CYCLES / a_line)
    assert 0.98 <= lines * a_line / stats.cycles <= 1
    for busy in stats["busy"].to_dict().values():
        assert max(busy) <= stats.cycles
