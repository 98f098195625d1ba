"""What single machine fields cost, by microbenchmarks against a closed formula."""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh
from gpucoh.machines.fields import REPLACEMENTS
from products import share

LINE = 32  # words
PAGE = 2**21 // 4


@gpucoh.kernel
def chase(links: gpucoh.Buffer[gpucoh.i32], first: gpucoh.i32, times: gpucoh.Buffer[gpucoh.u32]):
    at = first
    begin = gpucoh.clock()
    for _ in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15):  # written out: no loop is left
        at = links[links[links[links[links[links[links[links[at]]]]]]]]
    times[1] = gpucoh.u32(at)
    times[0] = gpucoh.clock() - begin


HOPS = 8 * 15


def cycles_a_hop(
    machine: gpucoh.Machine, protocol: str, places: np.ndarray, warm: bool = True
) -> float:
    """Core cycles of a dependent load that visits these words; warm: once all have been visited."""
    gpu = gpucoh.GPU(machine=machine, protocol=protocol)
    links = np.zeros(places.max() + 1, np.int32)
    links[places] = np.roll(places, -1)
    array, times = gpu.array(links), gpu.zeros(2, np.uint32)
    for _ in range(2 if warm else 1):
        gpu.launch(chase, grid=1, block=1, args=(array, int(places[0]), times), placement="static")
    return float(times.numpy()[0]) / HOPS


@pytest.mark.parametrize("crossing", [0, 208])
@pytest.mark.parametrize("partition", [0, 3, 4, 7])
def test_a_partition_of_the_other_half_is_a_crossing_farther(crossing: int, partition: int) -> None:
    machine = gpucoh.machine("fermi").replace(l2_crossing=crossing)
    across = machine.interleave_bytes // 4 * machine.partitions
    places = partition * machine.interleave_bytes // 4 + across * np.arange(HOPS)
    trip = machine.l2_round_trip + (crossing if partition >= 4 else 0)
    assert cycles_a_hop(machine, "no-l1[fill=line]", places) == pytest.approx(trip, abs=1.5)


@pytest.mark.parametrize(
    ("protocol", "field"), [("no-l1[fill=line]", "l2_round_trip"), ("ideal", "l1_latency")]
)
@pytest.mark.parametrize("pages", [1, 4, 5, 6])
def test_pages_beyond_the_reach_cost_the_miss_more(protocol: str, field: str, pages: int) -> None:
    machine = gpucoh.machine("fermi").replace(tlb_reach_kib="8MiB", tlb_miss_cycles=75)
    places = np.arange(HOPS) % pages * PAGE + np.arange(HOPS) * LINE
    late = 75 if pages > 4 else 0
    assert cycles_a_hop(machine, protocol, places) == pytest.approx(
        getattr(machine, field) + late, abs=1.5
    )


@pytest.mark.parametrize(("ways", "size", "fits"), [(9, 3.375, True), (4, 1.5, False)])
def test_an_l2_of_3_sets_in_5_slices_holds_what_it_has_room_for(
    ways: int, size: float, fits: bool
) -> None:
    machine = gpucoh.machine("fermi").replace(partitions=5, l2_kib=size, l2_ways=ways)
    assert machine.derived["l2_sets"] == 3  # 8 lines a set, and the result of the chase in one
    measured = cycles_a_hop(machine, "no-l1[fill=line]", LINE * np.arange(HOPS))
    assert (measured == pytest.approx(machine.l2_round_trip, abs=1.5)) == fits
    assert (measured > machine.l2_round_trip + 50) == (not fits)  # the least recently used went


@pytest.mark.parametrize(("ways", "fits"), [(5, True), (3, False)])
def test_an_l1_of_30_sets_holds_what_it_has_room_for(ways: int, fits: bool) -> None:
    machine = gpucoh.machine("fermi").replace(l1_kib=3.75 * ways, l1_ways=ways)
    assert machine.derived["l1_sets"] == 30
    measured = cycles_a_hop(machine, "ideal", LINE * np.arange(HOPS))
    field = machine.l1_latency if fits else machine.l2_round_trip
    assert measured == pytest.approx(field, abs=1.5)


# Lines of a set of four ways, visited in a cycle, and its hits under each policy once all have been visited, by hand.
CYCLES = [
    ([0, 1, 2, 0, 3, 4], {"lru": 2, "fifo": 1, "plru": 4, "rrip": 2}),
    ([0, 0, 1, 2, 3, 4], {"lru": 1, "fifo": 1, "plru": 1, "rrip": 2}),
]


@pytest.mark.parametrize(("level", "protocol"), [("l1", "ideal"), ("l2", "no-l1[fill=line]")])
@pytest.mark.parametrize(("lines", "hits"), CYCLES)
@pytest.mark.parametrize("policy", REPLACEMENTS)
def test_a_cycle_of_more_lines_than_ways_hits_by_policy(
    policy: str, lines: list[int], hits: dict[str, int], level: str, protocol: str
) -> None:
    machine = gpucoh.machine("fermi").replace(
        partitions=1, l2_ways=4, l2_kib=64, dram_model="fixed"
    )
    places = np.array(lines) * LINE * machine.derived[f"{level}_sets"] + np.arange(len(lines))
    changed = machine.replace(**{f"{level}_replacement": policy})
    measured = cycles_a_hop(changed, protocol, np.tile(places, HOPS // len(lines)))
    times = (machine.l1_latency, machine.l2_round_trip, machine.dram_round_trip)
    hit, miss = times[:2] if level == "l1" else times[1:]
    expected = miss - (miss - hit) * hits[policy] / len(lines)
    assert measured == pytest.approx(expected, abs=1.5)


@pytest.mark.parametrize(("policy", "protocol"), share(REPLACEMENTS, gpucoh.protocols(), one_in=12))
def test_results_are_right_under_every_replacement_policy(policy: str, protocol: str) -> None:
    small = {"l1_kib": 2, "l2_kib": 2, "l1_replacement": policy, "l2_replacement": policy}
    machine = gpucoh.machine("fermi").replace(**small)
    result = gpucoh.run("bfs", protocol=protocol, machine=machine, scale="tiny", check=True)
    assert result.correct
    assert result.stats.l2.evictions > 100


def test_an_h100_s_l2_of_50_mib_in_80_slices_can_be_described() -> None:
    h100 = gpucoh.machine("fermi").replace(partitions=80, l2_kib=640, l2_ways=16)
    assert h100.derived["l2_total_kib"] == 50 * 1024
    assert h100.derived["l2_sets"] == 320
    result = gpucoh.run("bfs", protocol="gpu-hrf", machine=h100, scale="tiny")
    assert result.correct


@gpucoh.kernel
def store_and_fence(data: gpucoh.Buffer[gpucoh.u32], times: gpucoh.Buffer[gpucoh.u32]):
    begin = gpucoh.clock()
    data[0] = gpucoh.u32(1)
    gpucoh.fence("sc", "gpu")
    times[0] = gpucoh.clock() - begin


@pytest.mark.parametrize("protocol", ["gpu-hrf", "no-l1", "tc-weak", "gpu-vi"])
def test_a_fence_after_a_cold_store_costs_no_trip_to_memory_with_byte_masks(protocol: str) -> None:
    fermi = gpucoh.machine("fermi").replace(dram_model="fixed")
    measured = []
    for machine in (fermi, fermi.replace(l2_byte_masks=1)):
        gpu = gpucoh.GPU(machine=machine, protocol=protocol)
        data, times = gpu.zeros(LINE, np.uint32), gpu.zeros(LINE, np.uint32)
        gpu.launch(store_and_fence, grid=1, block=1, args=(data, times))
        measured.append(int(times.numpy()[0]))
        assert data.numpy()[0] == 1
    trip = fermi.dram_round_trip - fermi.l2_round_trip
    assert measured[0] - measured[1] == pytest.approx(trip, abs=4)


# Leases of tc-weak last until a line's last word is read.
@pytest.mark.parametrize("protocol", ["ideal", "gpu-hrf", "src", "tc-weak[lifetime=3200]", "mesi"])
@pytest.mark.parametrize("sector", [0, 32, 64])
def test_a_chase_through_the_words_of_a_line_misses_once_a_sector(
    protocol: str, sector: int
) -> None:
    machine = gpucoh.machine("fermi").replace(dram_model="fixed", sector_bytes=sector)
    shorter = (LINE * 4 - (sector or LINE * 4)) // machine.flit_bytes * 2  # flits of 2 core cycles
    hops = (sector or LINE * 4) // 32  # of 32 bytes, in each of 30 lines of 4
    miss = machine.dram_round_trip - shorter
    hop = (miss + (hops - 1) * machine.l1_latency) / hops
    places = 8 * np.arange(HOPS)
    assert cycles_a_hop(machine, protocol, places, warm=False) == pytest.approx(hop, abs=3)
    warm = cycles_a_hop(machine, "ideal", places)
    assert warm == pytest.approx(machine.l1_latency, abs=1)


@gpucoh.kernel
def gather(data: gpucoh.Buffer[gpucoh.u32], sums: gpucoh.Buffer[gpucoh.u32]):
    sums[gpucoh.global_id()] = data[gpucoh.global_id() * 32]


@pytest.mark.parametrize("protocol", ["no-l1[fill=line]", "gpu-hrf", "src", "mesi"])
def test_a_gather_of_a_word_a_line_moves_a_quarter_with_sectors(protocol: str) -> None:
    fermi = gpucoh.machine("fermi").replace(l2_byte_masks=1)
    busy, flits = [], []
    for machine in (fermi, fermi.replace(sector_bytes=32)):
        gpu = gpucoh.GPU(machine=machine, protocol=protocol)
        words = np.arange(32 * 4096, dtype=np.uint32)
        data, sums = gpu.array(words), gpu.zeros(4096, np.uint32)
        gpu.launch(gather, grid=32, block=128, args=(data, sums))
        assert (sums.numpy() == words[::32]).all()
        stats = gpu.stats().to_dict()
        busy.append(stats["dram"]["busy_cycles"])
        flits.append(sum(kind["flits"] for kind in stats["traffic"].values()))
    assert busy[1] <= busy[0] / 3  # the sums, too, are fetched where a protocol owns lines
    assert flits[1] <= flits[0] / 1.5


@pytest.mark.parametrize("protocol", sorted(gpucoh.protocols()))
def test_every_protocol_stays_right_with_every_field(protocol: str) -> None:
    machine = gpucoh.machine("fermi").replace(
        l2_crossing=221,
        tlb_reach_kib="2MiB",
        tlb_miss_cycles=75,
        partitions=6,
        l1_kib=24,
        l2_kib=12,
        sector_bytes=32,
        l2_byte_masks=1,
    )
    result = gpucoh.run("hsp", protocol=protocol, machine=machine, scale="tiny", check=True)
    assert result.correct or protocol == "no-coh"
