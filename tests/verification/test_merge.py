"""Does `merge=on` send one message for several atomics, each of which has an old value of its own?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpucoh
from gpucoh.verify.explorer import small_choice
from gpucoh.verify.programs import parse
from products import share
from verification.explorations import passes

LINK = {"page_kib": 4, "die_latency": 50, "die_bytes": 32}
DIES = {"dies": 2, **LINK}
PROTOCOLS = ("mcm[merge=on]", "lrm[merge=on]")
LINE = 32  # words
BLOCKS = 16  # on as many cores, the second half of them on die 1
#: Cores 2 and 3 are on the other die than x and z.
COMPLETE = {
    "two cores of a die": "2: add x 1 | 3: add x 1; ld x | 0: add x 1",
    "two dies": "0: add.acq_rel x 1; ld x | 1: add.acq_rel x 1; ld x",
    "releases": "2: st z 1; add.release x 1 | 3: add.release x 2 | 0: ld z; ld.acquire x; ld z",
    "two words": "2: add x 1; add y 1 | 0: add y 1; add x 1",
    "two operations": "2: max x 3 | 3: add x 1 | 2: or x 4",
}


@pytest.mark.parametrize(("protocol", "name"), share(PROTOCOLS, COMPLETE, one_in=3))
def test_every_execution_of_a_small_program_is_allowed(protocol: str, name: str) -> None:
    passes(small_choice(protocol), parse(COMPLETE[name]), "RCc", max_states=500_000)


@gpucoh.kernel
def count(words: gpucoh.Buffer[gpucoh.i32], stride: gpucoh.i32, out: gpucoh.Buffer[gpucoh.i32]):
    """A lane of each block adds 1 to a word of a page of die 0."""
    if gpucoh.thread_id() == 0:
        block = gpucoh.block_id()
        out[block] = gpucoh.atomic_add(words, block % 2 * stride, 1, order="relaxed")


@gpucoh.kernel
def total(words: gpucoh.Buffer[gpucoh.f32]):
    """Every thread adds its number to a word of a page of die 0."""
    gpucoh.atomic_add(words, 0, gpucoh.f32(gpucoh.thread_id()) + 0.1, order="relaxed")


@gpucoh.kernel
def elect(words: gpucoh.Buffer[gpucoh.i32], out: gpucoh.Buffer[gpucoh.i32]):
    """A lane of each block tries to be the first."""
    if gpucoh.thread_id() == 0:
        block = gpucoh.block_id()
        out[block] = gpucoh.atomic_cas(words, 0, 0, block + 1, order="acquire")


def run(protocol: str, stride: int = 0) -> tuple[list[int], Any]:
    """The old values in order, and statistics; words 0 and `stride` of a line or two are counted in."""
    gpu = gpucoh.GPU(machine="fermi", protocol=protocol, set=DIES, check=True)
    words, out = gpu.zeros(2048, np.int32), gpu.zeros(2048, np.int32)
    gpu.launch(count, grid=BLOCKS, block=32, args=(words, stride, out))
    return sorted(out.numpy()[:BLOCKS].tolist()), gpu.stats()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_message_stands_for_all_cores_of_a_die(protocol: str) -> None:
    old, stats = run(protocol)
    assert old == list(range(BLOCKS))
    assert stats.traffic["MERGED"]["messages"] == stats.traffic["MERGED_DATA"]["messages"] == 1
    assert stats.traffic["MERGED"]["bytes"] == stats.traffic["MERGED_DATA"]["bytes"] == 12 + 4
    assert stats.traffic["PASSED_ATOMIC"]["messages"] == 0
    counted = stats.counters.get("L2")
    assert (counted.merged, counted.merged_sent, counted.merged_full) == (7, 1, 0)


def test_words_of_a_line_merge_and_lines_do_not() -> None:
    assert run("mcm[merge=on]", stride=1)[1].traffic["MERGED"]["bytes"] == 12 + 4 * 2
    assert run("mcm[merge=on]", stride=LINE)[1].traffic["MERGED"]["messages"] == 2


def test_a_full_list_ends_the_countdown() -> None:
    stats = run("mcm[merge=on,merge_list=4,merge_cycles=100000]")[1]
    assert stats.traffic["MERGED"]["messages"] == 2
    assert stats.cycles < 100000


def test_an_atomic_without_an_entry_passes() -> None:
    old, stats = run("mcm[merge=on,merge_entries=1,merge_cycles=2000]", stride=256)  # of one bank
    assert old == sorted([*range(BLOCKS // 2)] * 2)
    assert stats.counters.get("L2").merged_full == 4
    assert stats.traffic["PASSED_ATOMIC"]["messages"] == 4


def test_one_of_merged_compare_and_swaps_wins() -> None:
    gpu = gpucoh.GPU(machine="fermi", protocol="lrm[merge=on]", set=DIES, check=True)
    words, out = gpu.zeros(2048, np.int32), gpu.zeros(2048, np.int32)
    gpu.launch(elect, grid=BLOCKS, block=32, args=(words, out))
    old, winner = out.numpy()[:BLOCKS], words.numpy()[0]
    assert old[winner - 1] == 0
    assert all(old[block] == winner for block in range(BLOCKS) if block + 1 != winner)
    assert gpu.stats().traffic["MERGED_CAS"]["bytes"] == 12 + 8


def test_a_sum_in_f32_is_rounded_at_each_addition() -> None:
    sums = []
    for protocol in ("mcm", "mcm[merge=on]"):
        gpu = gpucoh.GPU(machine="fermi", protocol=protocol, set=DIES, check=True)
        words = gpu.zeros(2048, np.float32)
        gpu.launch(total, grid=1, block=32, args=(words,))
        sums.append(words.numpy()[0])
    exact = np.float32(0)
    for lane in range(32):
        exact += np.float32(lane) + np.float32(0.1)
    assert sums == [exact, exact]


@pytest.mark.parametrize("protocol", ["mcm", "lrm"])
def test_it_is_off_by_default_and_on_one_die_without_effect(protocol: str) -> None:
    assert "MERGED" not in run(protocol)[1].traffic
    off, on = (
        gpucoh.run("uts", protocol=one, scale="tiny").stats.cycles
        for one in (protocol, f"{protocol}[merge=on]")
    )
    assert off == on


WORKLOADS = ("bfs", "cc", "ht", "mst", "pr", "tb_lg", "fam_g", "uts", "bc")
MACHINES: dict[str, dict[str, Any]] = {
    "two-dies": DIES,
    "two-gpus": DIES | {"dies": 4, "gpus": 2},
    "scarce": DIES | {"l2_kib": 16, "l2_ways": 4, "l2_mshrs": 4, "l1_mshrs": 4},
}


@pytest.mark.parametrize(
    ("protocol", "workload", "machine"), share(PROTOCOLS, WORKLOADS, MACHINES, one_in=8)
)
def test_a_workload_is_right_on_dies(protocol: str, workload: str, machine: str) -> None:
    small = protocol.replace("]", ",merge_entries=1,merge_list=3]")
    for one in (protocol, small):
        result = gpucoh.run(workload, protocol=one, scale="tiny", check=True, set=MACHINES[machine])
        assert result.correct


def test_a_monitor_catches_a_planted_bug(mutant_gpucoh: gpucoh) -> None:
    with pytest.raises(mutant_gpucoh.SimulationError):
        mutant_gpucoh.run(
            "cc", protocol="mcm!merged-other", scale="tiny", check="protocol", set=DIES
        )
