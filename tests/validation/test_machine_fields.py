"""What single machine fields cost, by microbenchmarks against a closed formula."""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh

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


def cycles_a_hop(machine: gpucoh.Machine, protocol: str, places: np.ndarray) -> float:
    """Core cycles of a dependent load that visits these words round after round, once all have been visited."""
    gpu = gpucoh.GPU(machine=machine, protocol=protocol)
    links = np.zeros(places.max() + 1, np.int32)
    links[places] = np.roll(places, -1)
    array, times = gpu.array(links), gpu.zeros(2, np.uint32)
    for _ in range(2):
        gpu.launch(chase, grid=1, block=1, args=(array, int(places[0]), times), placement="static")
    return float(times.numpy()[0]) / HOPS


@pytest.mark.parametrize("crossing", [0, 208])
@pytest.mark.parametrize("partition", [0, 3, 4, 7])
def test_a_partition_of_the_other_half_is_a_crossing_farther(crossing: int, partition: int) -> None:
    machine = gpucoh.machine("fermi").replace(l2_crossing=crossing)
    across = machine.interleave_bytes // 4 * machine.partitions
    places = partition * machine.interleave_bytes // 4 + across * np.arange(HOPS)
    trip = machine.l2_round_trip + (crossing if partition >= 4 else 0)
    assert cycles_a_hop(machine, "no-l1", places) == pytest.approx(trip, abs=1.5)


@pytest.mark.parametrize(
    ("protocol", "field"), [("no-l1", "l2_round_trip"), ("ideal", "l1_latency")]
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
    measured = cycles_a_hop(machine, "no-l1", LINE * np.arange(HOPS))
    assert (measured == pytest.approx(machine.l2_round_trip, abs=1.5)) == fits
    assert (measured > machine.l2_round_trip + 50) == (not fits)  # the least recently used went


@pytest.mark.parametrize(("ways", "fits"), [(5, True), (3, False)])
def test_an_l1_of_30_sets_holds_what_it_has_room_for(ways: int, fits: bool) -> None:
    machine = gpucoh.machine("fermi").replace(l1_kib=3.75 * ways, l1_ways=ways)
    assert machine.derived["l1_sets"] == 30
    measured = cycles_a_hop(machine, "ideal", LINE * np.arange(HOPS))
    field = machine.l1_latency if fits else machine.l2_round_trip
    assert measured == pytest.approx(field, abs=1.5)


def test_an_h100_s_l2_of_50_mib_in_80_slices_can_be_described() -> None:
    h100 = gpucoh.machine("fermi").replace(partitions=80, l2_kib=640, l2_ways=16)
    assert h100.derived["l2_total_kib"] == 50 * 1024
    assert h100.derived["l2_sets"] == 320
    result = gpucoh.run("bfs", protocol="gpu-hrf", machine=h100, scale="tiny")
    assert result.correct
