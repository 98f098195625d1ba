"""What a machine's numbers say in closed form, measured by kernels: latencies, coalescing, bank conflicts."""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh
from products import rows, share

WORDS_A_LINE = 32
HOPS = 64


@gpucoh.kernel
def chase(links: gpucoh.Buffer[gpucoh.i32], rounds: gpucoh.i32, times: gpucoh.Buffer[gpucoh.u32]):
    at = 0
    begin = gpucoh.clock()
    for _ in range(rounds):
        at = links[at]
        at = links[at]
        at = links[at]
        at = links[at]
        at = links[at]
        at = links[at]
        at = links[at]
        at = links[at]
    times[1] = gpucoh.u32(
        at
    )  # issues when the last word is there, and what follows issues behind it
    times[0] = gpucoh.clock() - begin


@gpucoh.kernel
def stride_loads(
    data: gpucoh.Buffer[gpucoh.u32], stride: gpucoh.i32, sums: gpucoh.Buffer[gpucoh.u32]
):
    sums[gpucoh.lane_id()] = data[gpucoh.lane_id() * stride]


@gpucoh.kernel
def stride_scratchpad(stride: gpucoh.i32, rounds: gpucoh.i32, sums: gpucoh.Buffer[gpucoh.u32]):
    tile = gpucoh.shared(gpucoh.u32, 1024)
    total = gpucoh.u32(0)
    for _ in range(rounds):
        total += tile[gpucoh.lane_id() * stride % 1024]
    sums[gpucoh.lane_id()] = total


@gpucoh.kernel
def stride_scratchpad_2048(stride: gpucoh.i32, sums: gpucoh.Buffer[gpucoh.u32]):
    tile = gpucoh.shared(gpucoh.u32, 2112)
    sums[gpucoh.lane_id()] = tile[gpucoh.lane_id() * stride]


def ring(stride_words: int) -> np.ndarray:
    """Links that visit HOPS words, ``stride_words`` apart, and come back to word 0."""
    links = np.zeros(HOPS * stride_words, np.int32)
    places = np.arange(HOPS) * stride_words
    links[places] = np.roll(places, -1)
    return links


def cycles_a_hop(protocol: str, stride_words: int, warm: bool) -> float:
    """Core cycles of a dependent load, over one round through the ring."""
    gpu = gpucoh.GPU(machine="fermi", protocol=protocol)
    links = gpu.array(ring(stride_words))
    times = gpu.zeros(2, np.uint32)
    if warm:
        gpu.launch(chase, grid=1, block=1, args=(links, HOPS // 8, times))
    gpu.launch(chase, grid=1, block=1, args=(links, HOPS // 8, times))
    return float(times.numpy()[0]) / HOPS


def test_a_chase_through_the_l1_takes_its_latency_a_hop() -> None:
    latency = gpucoh.machine("fermi").l1_latency
    measured = cycles_a_hop("ideal", WORDS_A_LINE, warm=True)
    assert latency <= measured <= latency + 8  # a loop iteration's overhead falls on eight hops


def test_a_chase_through_the_l2_takes_its_round_trip_a_hop() -> None:
    measured = cycles_a_hop("no-l1[fill=line]", WORDS_A_LINE, warm=True)
    assert measured == pytest.approx(gpucoh.machine("fermi").l2_round_trip, abs=1.5)


def test_a_chase_through_closed_rows_takes_the_dram_round_trip_a_hop() -> None:
    # lines far apart: every one in a row of its own
    measured = cycles_a_hop("no-l1[fill=line]", 2048 // 4 * 8, warm=False)
    trip = gpucoh.machine("fermi").dram_round_trip
    assert trip - 1.5 <= measured <= trip * 1.05


@gpucoh.kernel
def chase_from(
    links: gpucoh.Buffer[gpucoh.i32], first: gpucoh.i32, times: gpucoh.Buffer[gpucoh.u32]
):
    at = first
    begin = gpucoh.clock()
    for _ in (
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
    ):  # written out: no loop is left that would take time of its own
        at = links[links[links[links[links[links[links[links[at]]]]]]]]
    times[1] = gpucoh.u32(at)
    times[0] = gpucoh.clock() - begin


def straight_cycles_a_hop(
    name: str | gpucoh.Machine, protocol: str, stride_words: int, warm: bool
) -> float:
    """As :func:`cycles_a_hop`, on any machine, without a loop."""
    gpu = gpucoh.GPU(machine=name, protocol=protocol)
    links, times = gpu.array(ring(stride_words)), gpu.zeros(2, np.uint32)
    for _ in range(2 if warm else 1):
        gpu.launch(chase_from, grid=1, block=1, args=(links, 0, times), placement="static")
    return float(times.numpy()[0]) / HOPS


MACHINES = ["fermi", "mesh15", "gcn3", "apu"]


@pytest.mark.parametrize("name", MACHINES)
def test_on_every_machine_a_hop_through_the_l1_takes_its_latency(name: str) -> None:
    machine = gpucoh.machine(name)
    measured = straight_cycles_a_hop(name, "ideal", machine.line_bytes // 4, warm=True)
    assert machine.l1_latency <= measured <= machine.l1_latency + 0.7


@pytest.mark.parametrize("name", MACHINES)
def test_on_every_machine_a_hop_through_the_nearest_l2_takes_its_round_trip(name: str) -> None:
    machine = gpucoh.machine(name)
    same_bank = machine.interleave_bytes // 4 * machine.partitions
    measured = straight_cycles_a_hop(name, "no-l1[fill=line]", same_bank, warm=True)
    assert machine.l2_round_trip <= measured <= machine.l2_round_trip + 1.5


@pytest.mark.parametrize("name", ["mesh15", "gcn3"])
def test_a_memory_of_fixed_latency_takes_its_round_trip_a_hop(name: str) -> None:
    machine = gpucoh.machine(name).replace(dram_model="fixed")
    nearest = machine.interleave_bytes // 4 * machine.partitions * max(machine.dram_channels, 1)
    measured = straight_cycles_a_hop(machine, "no-l1[fill=line]", nearest, warm=False)
    assert machine.dram_round_trip <= measured <= machine.dram_round_trip + 1.5


@pytest.mark.parametrize("name", MACHINES)
def test_a_closed_row_takes_the_round_trip_and_another_row_of_a_bank_the_precharge_more(
    name: str,
) -> None:
    machine = gpucoh.machine(name).replace(cpu_kib=0)  # the host's lines are in memory
    row_words = machine.dram_row_bytes // 4 * (machine.dram_channels or machine.partitions)
    closed = straight_cycles_a_hop(
        machine.replace(dram_banks=HOPS), "no-l1[fill=line]", row_words, warm=False
    )
    other_rows = straight_cycles_a_hop(
        machine, "no-l1[fill=line]", row_words * machine.dram_banks, warm=False
    )
    precharge = machine.dram_t_rp * machine.core_mhz / machine.dram_mhz
    assert closed == pytest.approx(machine.dram_round_trip, abs=1.5)
    assert other_rows == pytest.approx(machine.dram_round_trip + precharge, abs=2)


@pytest.mark.parametrize(
    ("warm", "field", "least", "most"),
    [(True, "noc_latency", 29, 61), (False, "dram_round_trip", 213, 245)],
)
def test_the_mesh_s_nearest_and_farthest_banks_take_what_its_sources_tell(
    warm: bool, field: str, least: int, most: int
) -> None:  # memory: 3 hops to a corner on average; test_mesh15.py measures every corner
    machine = gpucoh.machine("mesh15").replace(dram_model="fixed")  # rows aside
    across = machine.interleave_bytes // 4 * machine.partitions
    hops = []
    for bank in range(machine.partitions):
        gpu = gpucoh.GPU(machine=machine, protocol="no-l1[fill=line]")
        first = bank * machine.interleave_bytes // 4
        links = np.roll(np.pad(ring(across), (0, across)), first)
        links[first : first + HOPS * across : across] += first
        array, times = gpu.array(links), gpu.zeros(2, np.uint32)
        for _ in range(2 if warm else 1):
            gpu.launch(chase_from, grid=1, block=1, args=(array, first, times), placement="static")
        hops.append(float(times.numpy()[0]) / HOPS)
    assert (min(hops), max(hops)) == pytest.approx((least, most), abs=1.5)
    assert ("29 to 61" if warm else "197 to 261") in machine.source(field)


def test_open_rows_of_ddr3_answer_sooner_and_other_rows_of_a_bank_later() -> None:
    apu = gpucoh.machine("apu").replace(cpu_kib=0)  # DDR3-800; the host's lines are in memory
    cycle = apu.core_mhz / apu.dram_mhz
    in_a_row = straight_cycles_a_hop(apu, "no-l1[fill=line]", apu.line_bytes // 4, warm=False)
    row_words = apu.dram_row_bytes // 4 * apu.dram_channels
    other_rows = straight_cycles_a_hop(
        apu, "no-l1[fill=line]", row_words * apu.dram_banks, warm=False
    )
    assert in_a_row == pytest.approx(apu.dram_round_trip - apu.dram_t_rcd * cycle, abs=2)
    assert other_rows == pytest.approx(apu.dram_round_trip + apu.dram_t_rp * cycle, abs=2)


def test_closed_banks_answer_lines_of_any_address_alike() -> None:
    apu = gpucoh.machine("apu").replace(
        cpu_kib=0, dram_model="closed", dram_banks=32, dram_bytes_per_cycle=32
    )
    line_words = apu.line_bytes // 4
    in_turn = straight_cycles_a_hop(apu, "no-l1[fill=line]", line_words, warm=False)
    same_bank = straight_cycles_a_hop(
        apu, "no-l1[fill=line]", line_words * apu.dram_channels * apu.dram_banks, warm=False
    )
    assert in_turn == pytest.approx(apu.dram_round_trip, abs=2)
    assert same_bank == pytest.approx(apu.dram_round_trip, abs=2)


@pytest.mark.parametrize(
    ("l2_ways", "warm", "tags"),
    [
        pytest.param(16, True, 1, id="L2"),  # more lines of an L1's set than it has ways
        pytest.param(2, True, 1 + 4, id="L3"),  # and of an L2's set
        pytest.param(16, False, 1 + 4 + 4, id="memory"),
    ],
)
def test_a_read_of_quickrelease_pays_a_write_cache_s_tag_at_each_level_that_lacks_the_block(
    l2_ways: int, warm: bool, tags: int
) -> None:
    apu = gpucoh.machine("apu").replace(cpu_kib=0, l2_kib=16 * l2_ways, l2_ways=l2_ways)
    words = 64 * apu.line_bytes // 4
    with_tags, without = (
        straight_cycles_a_hop(apu, protocol, words, warm) for protocol in ("qr", "wt")
    )
    assert with_tags - without == pytest.approx(tags, abs=0.5 if warm else 2)


@pytest.mark.parametrize("stride", share([1, 2, 4, 8, 16, 32, 64], one_in=4))
def test_a_warp_makes_one_request_a_distinct_line(stride: int) -> None:
    gpu = gpucoh.GPU(machine="fermi", protocol="ideal")
    data = gpu.zeros(32 * 64, np.uint32)
    sums = gpu.zeros(32, np.uint32)
    gpu.launch(stride_loads, grid=1, block=32, args=(data, stride, sums))
    assert gpu.stats().l1.loads == min(stride, 32)


def scratchpad_conflict_cycles(stride: int, banks: int, rounds: int) -> int:
    machine = gpucoh.machine("fermi").replace(scratchpad_banks=banks)
    gpu = gpucoh.GPU(machine=machine, protocol="ideal")
    sums = gpu.zeros(32, np.uint32)
    gpu.launch(stride_scratchpad, grid=1, block=32, args=(stride, rounds, sums))
    return int(gpu.stats().to_dict()["core"]["shared_conflict_cycles"])


@pytest.mark.parametrize(
    ("stride", "ways"), rows([(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (32, 32)], one_in=4)
)
def test_lanes_on_one_bank_take_turns(stride: int, ways: int) -> None:
    assert scratchpad_conflict_cycles(stride, 32, rounds=10) == 10 * (ways - 1)


@pytest.mark.parametrize(
    ("stride", "ways"), rows([(1, 2), (2, 4), (16, 32), (32, 64), (33, 2)], one_in=4)
)
def test_64_lanes_on_32_banks_take_two_turns_and_more(stride: int, ways: int) -> None:
    gpu = gpucoh.GPU(machine="gcn3", protocol="ideal")
    sums = gpu.zeros(64, np.uint32)
    gpu.launch(stride_scratchpad_2048, grid=1, block=64, args=(stride, sums))
    assert gpu.stats().to_dict()["core"]["shared_conflict_cycles"] == ways - 1


@pytest.mark.parametrize("stride", share([1, 2, 4, 8, 16, 32], one_in=4))
def test_64_lanes_make_one_request_a_distinct_line(stride: int) -> None:
    machine = gpucoh.machine("gcn3")
    gpu = gpucoh.GPU(machine=machine, protocol="ideal")
    data, sums = gpu.zeros(64 * 32, np.uint32), gpu.zeros(64, np.uint32)
    gpu.launch(stride_loads, grid=1, block=64, args=(data, stride, sums))
    assert gpu.stats().l1.loads == min(64 * stride * 4 // machine.line_bytes, 64)


def test_lanes_on_one_word_share_it() -> None:
    assert scratchpad_conflict_cycles(0, 32, rounds=10) == 0
