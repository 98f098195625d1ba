"""Do the protocols of dies keep their promises, without deadlock, and are the bugs planted in `mcm` found?"""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh
from gpucoh.verify.explorer import small_choice
from gpucoh.verify.programs import parse
from products import share
from registered import OF_DIES
from verification.explorations import passes

LINK = {"page_kib": 4, "die_latency": 50, "die_bytes": 32, "gpu_latency": 300, "gpu_bytes": 16}
MACHINES = {
    "two-dies": {"dies": 2, **LINK},
    "four-dies": {"dies": 4, **LINK},
    "two-gpus": {"dies": 4, "gpus": 2, **LINK},
    "scarce": {"dies": 2, "l2_kib": 8, "l2_ways": 2, "l2_mshrs": 2, "l1_mshrs": 4, **LINK},
}
WORKLOADS = ("bfs", "cl", "dlb", "fg-share", "spm_g", "stn", "synthetic", "uts", "vpr", "sr")


@pytest.mark.parametrize(
    ("protocol", "workload", "machine"), share(OF_DIES, WORKLOADS, MACHINES, one_in=8)
)
def test_a_workload_is_right_on_dies(protocol: str, workload: str, machine: str) -> None:
    result = gpucoh.run(
        workload, protocol=protocol, scale="tiny", check=True, set=MACHINES[machine]
    )
    assert result.correct


COMPLETE = {
    "MP": "0: st x 1; F; st y 1 | 1: ld y; F; ld x",
    "MP+rel+acq": "0: st x 1; st.release y 1 | 1: ld.acquire y; ld x",
    "MP+near": "0: st x 1; st.release y 1 | 1: ld x; ld.acquire y; ld x",
    "SB": "0: st x 1; F; ld y | 1: st y 1; F; ld x",
    "CoRR": "0: st x 1 | 1: ld x; ld.relaxed x; ld x",
    "own": "0: ld x; st x 1; ld x | 1: add x 10",
    "own twice": "0: st x 1; st x 2; ld x; st.release y 1 | 1: ld.acquire y; ld x; st x 3",
    "launches": "0: st x 1; kernel; ld x; kernel; ld x | 1: ld x; kernel; st x 2; kernel; ld x",
    "WRC": "0: st x 1 | 1: ld.acquire x; st.release y 1 | 2: ld.acquire y; ld x",
}


@pytest.mark.parametrize("name", COMPLETE)
@pytest.mark.parametrize("protocol", OF_DIES)
def test_every_execution_of_a_small_program_is_allowed(protocol: str, name: str) -> None:
    program = parse(COMPLETE[name])
    passes(small_choice(protocol), program, "RCc", evictions=0, max_states=2_000_000)


@gpucoh.kernel
def read_the_far_page(
    data: gpucoh.Buffer[gpucoh.i32], first: gpucoh.i32, out: gpucoh.Buffer[gpucoh.i32]
):
    i = gpucoh.thread_id()
    out[gpucoh.global_id()] = data[first + i]


def test_a_near_line_is_read_over_the_link_once() -> None:
    sent = {}
    for protocol in ("mcm", "src"):
        gpu = gpucoh.GPU(machine="fermi", protocol=protocol, set=MACHINES["two-dies"])
        data, out = gpu.array(np.arange(4096, dtype=np.int32)), gpu.zeros(4096, np.int32)
        # eight blocks of 32 threads on eight cores of die 0 read one line of die 1
        gpu.launch(read_the_far_page, grid=16, block=32, args=(data, 1024, out))
        assert (out.numpy()[:32] == np.arange(1024, 1056)).all()
        sent[protocol] = gpu.stats().links["1-0"]["messages"]
    assert sent["mcm"] < sent["src"]


@gpucoh.kernel
def chase(
    links: gpucoh.Buffer[gpucoh.i32],
    first: gpucoh.i32,
    hops: gpucoh.i32,
    times: gpucoh.Buffer[gpucoh.u32],
):
    at = first
    for r in range(2):
        begin = gpucoh.clock()
        for _ in range(hops):
            at = links[at]
        times[r] = gpucoh.clock() - begin
    times[2] = gpucoh.u32(at)


def cycles_of_a_round(protocol: str, die: int, latency: int, hops: int) -> int:
    """Core cycles of dependent loads of lines of the die that its core's die has had before, and its L1 has not."""
    machine = gpucoh.machine("fermi").replace(dies=2, page_kib=4, die_latency=latency)
    gpu = gpucoh.GPU(machine=machine, protocol=protocol)
    lines = np.arange(hops)  # more than the L1 has
    places = (lines // 32 * 2 + die) * 1024 + lines % 32 * 32
    links = np.zeros(places.max() + 1, np.int32)
    links[places] = np.roll(places, -1)
    array, times = gpu.array(links), gpu.zeros(3, np.uint32)
    gpu.launch(chase, grid=1, block=1, args=(array, int(places[0]), hops, times))
    return int(times.numpy()[1])


def cycles_of_a_load(protocol: str, die: int, latency: int) -> float:
    """What each further load takes."""
    long, short = (cycles_of_a_round(protocol, die, latency, hops) for hops in (512, 384))
    return (long - short) / 128


def test_a_near_hit_takes_what_a_line_of_the_own_die_takes() -> None:
    own = cycles_of_a_load("mcm", 0, 100)
    assert cycles_of_a_load("mcm", 1, 100) == own
    assert cycles_of_a_load("src", 1, 100) == own + 200


@pytest.mark.parametrize(
    ("name", "workload"),
    [
        ("mcm!near-keeps-lines", "stn"),
        ("mcm!dies-not-asked", "cl"),
        ("mcm!acquire-keeps-copies", "stn"),
        ("mcm!near-line-survives-store", "fg-share"),
    ],
)
def test_a_monitor_catches_a_planted_bug_on_two_dies(
    mutant_gpucoh: gpucoh, name: str, workload: str
) -> None:
    with pytest.raises(mutant_gpucoh.SimulationError, match="an invariant does not hold"):
        mutant_gpucoh.run(
            workload, protocol=name, scale="tiny", check="protocol", set=MACHINES["two-dies"]
        )


@pytest.mark.parametrize(("protocol", "workload"), share(OF_DIES, ("bfs", "stn", "uts"), one_in=3))
def test_without_near_lines_a_workload_is_right(protocol: str, workload: str) -> None:
    given = {"dies": 4, "gpus": 2, "l2_near": 0, **LINK}
    result = gpucoh.run(workload, protocol=protocol, scale="tiny", check=True, set=given)
    assert result.correct, result.where


@pytest.mark.parametrize("protocol", OF_DIES)
def test_every_core_reads_over_the_link_without_near_lines(protocol: str) -> None:
    sent = []
    for near in (1, 0):
        machine = MACHINES["two-dies"] | {"l2_near": near}
        with gpucoh.GPU(machine="fermi", protocol=protocol, set=machine) as gpu:
            data, out = gpu.array(np.arange(4096, dtype=np.int32)), gpu.zeros(4096, np.int32)
            gpu.launch(read_the_far_page, grid=16, block=32, args=(data, 1024, out))
            assert (out.numpy()[:512] == np.tile(np.arange(1024, 1056), 16)).all()
            sent.append(gpu.stats().links["1-0"].messages)
    assert sent[1] >= sent[0] + 7  # eight cores of die 0 read the line
