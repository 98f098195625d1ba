"""What a release costs under QuickRelease, and what its copies survive."""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh

LINE_WORDS = 16


@gpucoh.kernel
def release(
    data: gpucoh.Buffer[gpucoh.u32],
    lines: gpucoh.i32,
    words: gpucoh.i32,
    times: gpucoh.Buffer[gpucoh.u32],
):
    lane = gpucoh.lane_id()
    if lane < lines:
        for word in range(words):
            data[lane * 16 + word] = gpucoh.u32(word)
    gpucoh.sleep(4000)
    begin = gpucoh.clock()
    gpucoh.fence()
    times[0] = gpucoh.clock() - begin


def cycles_of_release(lines: int, words: int, **fields: int) -> int:
    machine = gpucoh.machine("apu").replace(**fields)
    gpu = gpucoh.GPU(machine=machine, protocol="qr")
    data, times = gpu.zeros(64 * LINE_WORDS, np.uint32), gpu.zeros(1, np.uint32)
    gpu.launch(release, grid=1, block=64, args=(data, lines, words, times))
    return int(times.numpy()[0])


@pytest.mark.parametrize(("words", "flits"), [(1, 1), (LINE_WORDS, 2)], ids=["word", "line"])
def test_a_release_of_n_blocks_costs_a_plus_b_n(words, flits):
    # The levels empty at the same time: the CU's link, the slowest part of the way, decides.
    numbers = (4, 12, 28, 60)
    costs = np.array([cycles_of_release(lines, words) for lines in numbers])
    slopes = np.diff(costs) / np.diff(numbers)
    assert slopes.max() <= flits + 1, costs
    assert slopes.max() - slopes.min() < 0.1, costs
    assert [cycles_of_release(lines, words, l1_kib=64) for lines in numbers] == list(costs)
    # The L2's Invs are multicasts, whose copies the switch makes: a place in its outbox each.
    assert [cycles_of_release(lines, words, cores=64) for lines in numbers] == list(costs)


def test_an_answer_of_the_memory_side_passes_its_pipeline():
    assert cycles_of_release(1, 1, l3_latency=50) == cycles_of_release(1, 1, l3_latency=20) + 30


def test_answers_that_waited_for_a_probe_of_the_cpu_keep_their_order():
    # The monitor of markers fails where one that is answered in the tick of another's probe passes it.
    gpucoh.run(
        "nw-qr",
        protocol="qr",
        machine="apu",
        scale="tiny",
        seed=1,
        params={"tiles": 12},
        set={"start_skew": 256, "cpu_probe_cycles": 50, "l3_latency": 0},
    )


def test_apsp_hardly_hits_wt_s_l1_if_neighbouring_lanes_read_neighbouring_arcs():
    rate = {
        layout: gpucoh.run(
            "apsp",
            protocol="wt",
            machine="apu",
            scale="tiny",
            params={"vertices": 64, "arcs": 2, "layout": layout},
            set={"flit_bytes": 16, "l2_ports": 4},
        ).stats.l1.hit_rate
        for layout in ("place", "vertex")
    }
    assert rate["place"] < 0.01 < 0.1 < rate["vertex"]


def test_copies_survive_acquires_under_qr_and_not_under_wt():
    across = {}
    for protocol in ("wt", "qr"):
        run = gpucoh.run("bfs", protocol=protocol, machine="apu", scale="tiny").to_dict()
        level = run["counters"]["L1"]
        across[protocol] = level["hits_across_acquires"]
    assert across["wt"] == 0 < across["qr"]


@gpucoh.kernel
def write_and_read(
    data: gpucoh.Buffer[gpucoh.u32],
    rounds: gpucoh.i32,
    sums: gpucoh.Buffer[gpucoh.u32],
):
    lane, total = gpucoh.lane_id(), gpucoh.u32(0)
    if gpucoh.block_id() == 0:
        for turn in range(rounds):
            data[turn % 64 * 64 + lane] = gpucoh.u32(turn)
    else:
        for turn in range(rounds):
            total += gpucoh.load(data, turn % 64 * 64 + lane, order="relaxed")
    sums[gpucoh.thread_id()] = total


def test_write_caches_of_all_levels_serve_whole_lines():
    machine = gpucoh.machine("apu").replace(l2_kib=16)
    gpu = gpucoh.GPU(machine=machine, protocol="qr[fifo=4]")
    data, sums = gpu.zeros(64 * 64, np.uint32), gpu.zeros(1024, np.uint32)
    gpu.launch(write_and_read, grid=2, block=64, args=(data, 1800, sums))
    counters = gpu.stats().to_dict()["counters"]
    assert counters["L2"]["hits_written"] > 0
    assert counters["L3"]["hits_written"] > 0


@gpucoh.kernel
def meet(data: gpucoh.Buffer[gpucoh.u32], writes: gpucoh.i32, fences: gpucoh.i32):
    if writes and gpucoh.thread_id() == 0:
        data[0] = gpucoh.u32(1)
    gpucoh.barrier()
    gpucoh.barrier()
    if fences:
        gpucoh.fence()


# The end of the kernel sends a marker of the CU, if it has written since the last one.
@pytest.mark.parametrize(
    ("barrier", "writes", "fences", "markers"),
    [
        ("local", 1, 0, 1),  # the kernel's end
        ("release", 1, 0, 1),  # the first barrier
        ("release", 0, 0, 0),
        ("release", 0, 1, 2),  # each wave passes on what it has read
    ],
)
def test_barriers_send_a_marker_for_what_the_cu_has_written(barrier, writes, fences, markers):
    gpu = gpucoh.GPU(machine="apu", protocol=f"qr[barrier={barrier}]", check=True)
    gpu.launch(meet, grid=1, block=128, args=(gpu.zeros(16, np.uint32), writes, fences))
    assert gpu.stats().to_dict()["counters"]["L1"]["markers"] == markers
