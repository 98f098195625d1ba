"""A pointer chase takes the sum of its parts, to the cycle, on every preset: each part from the machine's numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gpucoh

HOPS = 64
HEADER_BYTES = 8
PRESETS = list(gpucoh.machines())


@gpucoh.kernel
def chase(links: gpucoh.Buffer[gpucoh.i32], times: gpucoh.Buffer[gpucoh.u32]):
    at = 0
    begin = gpucoh.clock()
    for _ in (1, 2, 3, 4, 5, 6, 7, 8):  # written out: the loads follow one another
        at = links[links[links[links[links[links[links[links[at]]]]]]]]
    times[2] = gpucoh.u32(at)  # issues when the last word is there
    times[1] = gpucoh.clock()
    times[0] = begin


class Parts:
    """Times of a machine's parts, in ticks: a tick divides the cycle of each clock."""

    def __init__(self, machine: gpucoh.Machine) -> None:
        self.machine = machine
        clocks = {name: getattr(machine, f"{name}_mhz") for name in ("core", "l2", "noc", "dram")}
        second = math.lcm(*clocks.values())
        self.core, self.l2, self.noc, self.dram = (second // mhz for mhz in clocks.values())

    def network(self, words: int) -> int:
        """A message between core 0 and bank 0, which a mesh has at one router."""
        machine = self.machine
        flits = math.ceil((HEADER_BYTES + 4 * words) / machine.flit_bytes)
        return (machine.noc_latency + (flits - 1) * (1 + machine.noc_flit_gap)) * self.noc

    def pipeline_and_fill(self) -> tuple[int, int]:
        """What the L2's round trip leaves: whole cycles of the L2, then of the core."""
        machine = self.machine
        step = edge(self.network(0), self.l2)
        line = self.network(machine.line_bytes // 4)
        whole = machine.l2_round_trip * self.core
        pipeline = (whole - step - line) // self.l2 * self.l2
        while edge(step + pipeline, self.noc) + line > whole:
            pipeline -= self.l2
        return pipeline, whole - edge(edge(step + pipeline, self.noc) + line, self.core)

    def row_cycles(self, hop: int, first: int) -> int:
        """DRAM cycles of the hop's row beyond those of a closed one; the links begin at this piece of their channel."""
        machine = self.machine
        if machine.dram_model == "fixed":
            return 0
        banks = machine.partitions if machine.dram_channels else 1  # of a channel, by turns
        hops = machine.dram_row_bytes // (machine.interleave_bytes * banks)
        if hop != 0 and (first + hop) % hops != 0:
            return -machine.dram_t_rcd
        rows = (first + hop) // hops - first // hops
        return machine.dram_t_rp if rows >= machine.dram_banks else 0

    def memory(self, at: int, row_cycles: int) -> int:
        """When memory answers what reaches it at this tick."""
        machine = self.machine
        latency = (machine.dram_round_trip - machine.l2_round_trip) * self.core
        if machine.dram_model == "fixed":
            return at + latency
        return edge(at, self.dram) + latency + row_cycles * self.dram

    def load(self, at: int, crossing: int, from_memory: bool, row_cycles: int) -> int:
        """When a load of this tick, an edge of the core's clock, has its word."""
        machine = self.machine
        pipeline, fill = self.pipeline_and_fill()
        words = (machine.sector_bytes or machine.line_bytes) // 4
        sent = edge(at + (crossing - crossing // 2) * self.core, self.noc)
        step = edge(sent + self.network(0), self.l2)
        if from_memory:
            step = edge(self.memory(step, row_cycles), self.l2)
        answer = edge(step + pipeline + crossing // 2 * self.core, self.noc) + self.network(words)
        return edge(answer, self.core) + fill


def edge(tick: int, period: int) -> int:
    """The clock's first edge at or after the tick."""
    return -(-tick // period) * period


def measured(
    machine: gpucoh.Machine, protocol: str, stride: int, warm: bool
) -> tuple[int, int, int]:
    """The core cycles before the first load and behind the last one's use, and the links' address."""
    gpu = gpucoh.GPU(machine=machine, protocol=protocol)
    places = np.arange(HOPS) * stride
    words = np.zeros(HOPS * stride, np.int32)
    words[places] = np.roll(places, -1)
    links, times = gpu.array(words), gpu.zeros(3, np.uint32)
    for _ in range(2 if warm else 1):
        gpu.launch(chase, grid=1, block=1, args=(links, times), placement="static")
    begin, end, _ = times.numpy()
    return int(begin) + 1, int(end) - 1, links.address


@pytest.mark.parametrize("name", PRESETS)
def test_a_chase_through_the_l1_is_the_sum_of_its_hits(name: str) -> None:
    machine = gpucoh.machine(name)
    begin, end, _ = measured(machine, "ideal", machine.line_bytes // 4, warm=True)
    assert end - begin == HOPS * machine.l1_latency


@pytest.mark.parametrize("from_memory", [False, True])
@pytest.mark.parametrize("name", PRESETS)
def test_a_chase_beyond_the_l1_is_the_sum_of_its_parts(name: str, from_memory: bool) -> None:
    machine = gpucoh.machine(name).replace(cpu_kib=0, dies=1, gpus=1, memory_units=1)
    parts = Parts(machine)
    # one bank, and one channel where these are apart from the banks
    stride = machine.interleave_bytes // 4 * machine.partitions * max(machine.dram_channels, 1)
    begin, end, address = measured(machine, "no-l1[fill=line]", stride, warm=not from_memory)
    far = 2 * (address // machine.interleave_bytes % machine.partitions) >= machine.partitions
    now, first = begin * parts.core, address // (4 * stride)
    for hop in range(HOPS):
        crossing = machine.l2_crossing if far else 0
        now = parts.load(now, crossing, from_memory, parts.row_cycles(hop, first))
    assert end == now // parts.core
