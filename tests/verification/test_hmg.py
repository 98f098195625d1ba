"""Do `nhcc`, `hmg` and `sw-hier` keep their promises, what crosses links, and who catches the bugs planted in them?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpucoh
from gpucoh.verify.explorer import small_choice
from gpucoh.verify.programs import parse
from products import share
from verification.explorations import passes

LINK = {"page_kib": 4, "die_latency": 50, "die_bytes": 32, "gpu_latency": 300, "gpu_bytes": 16}
DIES = {"dies": 2, **LINK}
GPUS = {"dies": 4, "gpus": 2, **LINK}
LEVELS = ("hmg", "sw-hier")
#: Cores 0 and 1 are on GPU 0, 2 and 3 on GPU 1, each on a die; x, y, z and w have their homes on dies 0 to 3.
SCOPED = {
    "MP in a GPU": "0: st x 1; st.release w 1 | 1: ld x; ld.acquire w; ld x | 3@1: ld.relaxed z",
    "MP in the other GPU": "2@1: st x 1; st.release w 1 | 3@1: ld x; ld.acquire w; ld x | 0: ld.relaxed.sys y",
    "MP between GPUs": "0: st x 1; st.release.sys w 1 | 3@1: ld x; ld.acquire.sys w; ld x",
    "MP from the other GPU": "3@1: st x 1; st.release.sys w 1 | 0: ld x; ld.acquire.sys w; ld x",
    "MP in a block": "0: st x 1; st.release.cta w 1 | 0: ld x; ld.acquire.cta w; ld x | 3@1: ld.relaxed z",
    "WRC, relaxed": "0: st.relaxed.sys x 1 | 2@1: ld.relaxed.sys x; st.release w 1 | 3@1: ld x; ld.acquire w; ld x",
    "WRC, scopes": "0: st x 1; st.release.sys z 1 | 2@1: ld.acquire.sys z; st.release w 1 | 3@1: ld.acquire w; ld x",
    "CoRR": "0: st.relaxed.sys x 1 | 3@1: ld.relaxed x; ld.relaxed.sys x; ld.relaxed x; ld x; ld.relaxed w",
}  # fmt: skip


LONG = ("WRC, scopes", "WRC, relaxed", "MP between GPUs", "CoRR")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in SCOPED],
)
@pytest.mark.parametrize("protocol", LEVELS)
def test_every_execution_between_gpus_is_allowed(protocol: str, name: str) -> None:
    passes(small_choice(protocol), parse(SCOPED[name]), "PTX", evictions=0)


@pytest.mark.parametrize("options", ["region_lines=4", "directory_entries=4"])
def test_regions_and_entries_change_no_outcome(options: str) -> None:
    program = parse("0: st x 1; st.release y 1 | 1: ld x; ld z; ld.acquire y; ld x")
    passes(small_choice(f"nhcc[{options}]"), program, "RCc", evictions=0)


WORKLOADS = ("bfs", "cl", "dlb", "fg-share", "spm_g", "stn", "uts", "sr")
MACHINES: dict[str, dict[str, Any]] = {
    "two-gpus": GPUS,
    "split": GPUS | {"links": "split", "die_bytes": 4},
    "scarce": GPUS | {"l2_kib": 16, "l2_ways": 4, "l2_mshrs": 4, "l1_mshrs": 4},
    "one-entry": DIES,
}


@pytest.mark.parametrize(
    ("protocol", "workload", "machine"),
    share(("nhcc", *LEVELS), WORKLOADS, MACHINES, one_in=12),
)
def test_a_workload_is_right_on_dies_and_gpus(protocol: str, workload: str, machine: str) -> None:
    options = "[directory_entries=1,region_lines=8]" if machine == "one-entry" else ""
    result = gpucoh.run(
        workload,
        protocol=protocol + (options if protocol != "sw-hier" else ""),
        scale="tiny",
        check=True,
        set=MACHINES[machine],
    )
    assert result.correct


@pytest.mark.parametrize(("one", "other"), [("hmg", "nhcc"), ("sw-hier", "mcm")])
def test_on_one_gpu_the_second_level_is_not_there(one: str, other: str) -> None:
    runs = [gpucoh.run("uts", protocol=name, scale="tiny", set=DIES) for name in (one, other)]
    first, second = (run.stats for run in runs)
    assert first.cycles == second.cycles
    assert first.links == second.links
    if one == "hmg":
        assert first.to_dict() == second.to_dict()


PAGE = 1024  # words


@gpucoh.kernel
def read_far(
    data: gpucoh.Buffer[gpucoh.i32], blocks: gpucoh.i32, times: gpucoh.i32, out: gpucoh.Buffer[gpucoh.i32]
):  # fmt: skip
    """The first warps of some dies read a line of die 0 in turn, with acquires between the reads."""
    die = gpucoh.block_id() * 4 // gpucoh.grid_dim()
    first = gpucoh.block_id() * 4 == die * gpucoh.grid_dim()
    if first and blocks >> die & 1:
        total = 0
        gpucoh.sleep(4000 * die)
        for i in range(times):
            total += data[gpucoh.thread_id()]
            if i + 1 < times:
                total += gpucoh.load(
                    out, PAGE * die + 64, order="acquire", scope="sys"
                )  # of its own die
        out[PAGE * die + gpucoh.thread_id()] = total


def links_of_reads(protocol: str, dies: int, times: int) -> gpucoh.Stats:
    gpu = gpucoh.GPU(machine="fermi", protocol=protocol, set=GPUS)
    data, out = gpu.full(4 * PAGE, 3, np.int32), gpu.zeros(4 * PAGE, np.int32)
    gpu.launch(read_far, grid=16, block=32, args=(data, dies, times, out))
    return gpu.stats()


def test_dies_of_a_gpu_read_a_far_line_over_the_link_of_gpus_once() -> None:
    """The example of the paper's figure 6."""
    both = 0b1100  # the dies of GPU 1
    assert links_of_reads("hmg", both, 1).links["gpu0-gpu1"]["messages"] == 1
    assert links_of_reads("sw-hier", both, 1).links["gpu0-gpu1"]["messages"] == 1
    assert links_of_reads("nhcc", both, 1).links["gpu0-gpu1"]["messages"] == 2


def test_acquires_leave_near_lines_that_hardware_keeps_coherent() -> None:
    once = 0b0010
    for protocol, reads in (("nhcc", 1), ("hmg", 1), ("mcm", 4), ("sw-hier", 4)):
        assert links_of_reads(protocol, once, 4).traffic["NEAR_DATA"]["messages"] == reads


@gpucoh.kernel
def read_then_store(
    data: gpucoh.Buffer[gpucoh.i32], lines: gpucoh.i32, stores: gpucoh.i32, out: gpucoh.Buffer[gpucoh.i32]
):  # fmt: skip
    """A warp of die 1 reads lines of die 0, of which a warp of die 0 later stores some."""
    total = 0
    if 2 * gpucoh.block_id() == gpucoh.grid_dim():
        for i in range(lines):
            total += data[i * 32 + gpucoh.thread_id()]
        out[PAGE + gpucoh.thread_id()] = total
    elif gpucoh.block_id() == 0:
        gpucoh.sleep(20000)
        for i in range(stores):
            data[i * 32 + gpucoh.thread_id()] = 1


def invalidations(options: str, lines: int, stores: int) -> tuple[int, int, int]:
    gpu = gpucoh.GPU(machine="fermi", protocol=f"nhcc[{options}]", set=DIES)
    data, out = gpu.zeros(2 * PAGE, np.int32), gpu.zeros(2 * PAGE, np.int32)
    gpu.launch(read_then_store, grid=4, block=32, args=(data, lines, stores, out))
    l2 = gpu.stats().counters["L2"]
    return l2.inv_by_store, l2.inv_by_eviction, gpu.stats().l2.invalidations


def test_invalidations_are_counted_by_cause() -> None:
    assert invalidations("region_lines=1", 16, 16) == (16, 0, 16)
    assert invalidations("region_lines=2", 16, 16) == (8, 0, 16)  # an INV drops both lines
    banks = gpucoh.machine("fermi").partitions // 2  # of a die
    by_store, by_eviction, dropped = invalidations("region_lines=1,directory_entries=1", 16, 0)
    assert (by_store, by_eviction, dropped) == (0, 16 - banks, 16 - banks)


@gpucoh.kernel
def share_then_store(
    data: gpucoh.Buffer[gpucoh.i32], die: gpucoh.i32, times: gpucoh.i32, out: gpucoh.Buffer[gpucoh.i32]
):  # fmt: skip
    """A warp of each other die reads a line, of which a warp of the die later stores several times."""
    if gpucoh.block_id() % 4 == 0:
        if gpucoh.block_id() // 4 == die:
            gpucoh.sleep(20000)
            for i in range(times):
                gpucoh.store(data, gpucoh.thread_id(), i, order="relaxed")
        else:
            out[PAGE * (gpucoh.block_id() // 4) + gpucoh.thread_id()] = data[gpucoh.thread_id()]


def test_stores_and_evictions_that_invalidate_are_counted_once_each() -> None:
    """Three dies read a line of die 0, which stores to it: the first store sends three INVs, the others none."""
    gpu = gpucoh.GPU(machine="fermi", protocol="nhcc", set=GPUS | {"gpus": 1})
    data, out = gpu.zeros(4 * PAGE, np.int32), gpu.zeros(4 * PAGE, np.int32)
    gpu.launch(share_then_store, grid=16, block=32, args=(data, 0, 5, out))
    l2 = gpu.stats().counters["L2"]
    assert (l2.inv_by_store, l2.invalidating_stores, l2.invalidating_evictions) == (3, 1, 0)
    gpu = gpucoh.GPU(machine="fermi", protocol="nhcc[region_lines=1,directory_entries=1]", set=DIES)
    data, out = gpu.zeros(2 * PAGE, np.int32), gpu.zeros(2 * PAGE, np.int32)
    gpu.launch(read_then_store, grid=4, block=32, args=(data, 16, 0, out))
    l2 = gpu.stats().counters["L2"]
    assert l2.invalidating_evictions == l2.inv_by_eviction > 0
    assert l2.invalidating_stores == 0


def reads_of_last_lines(gpucoh: Any, protocol: str, check: bool | str = False) -> int:
    """How many of 32 threads see the last store, over links on which INVs wait for each other, and for nothing else."""

    @gpucoh.kernel
    def pass_lines(
        data: gpucoh.Buffer[gpucoh.i32],
        lines: gpucoh.i32,
        flags: gpucoh.Buffer[gpucoh.i32],
        out: gpucoh.Buffer[gpucoh.i32],
    ):
        """A warp of die 0 stores to lines that one of die 1 has read, and raises a flag; it reads the last again."""
        total = 0
        at = gpucoh.thread_id() * 32  # a line for each thread
        if 2 * gpucoh.block_id() == gpucoh.grid_dim():
            for i in range(lines // 32):
                total += data[2048 * i + at]
            gpucoh.store(flags, 0, 1, order="release")
            while gpucoh.load(flags, 1024, order="acquire") == 0:
                pass
            out[gpucoh.thread_id()] = total + data[2048 * (lines // 32 - 1) + at]
        elif gpucoh.block_id() == 0:
            while gpucoh.load(flags, 0, order="acquire") == 0:
                pass
            for i in range(lines // 32):
                data[2048 * i + at] = 1
            gpucoh.store(flags, 1024, 1, order="release")

    slow = DIES | {"links": "split", "die_bytes": 1}
    gpu = gpucoh.GPU(machine="fermi", protocol=protocol, set=slow, check=check)
    data, flags = gpu.zeros(16 * PAGE, np.int32), gpu.zeros(2 * PAGE, np.int32)
    out = gpu.zeros(2 * PAGE, np.int32)
    gpu.launch(pass_lines, grid=4, block=32, args=(data, 256, flags, out))
    return int(out.numpy()[:32].sum())


def test_a_release_waits_for_the_last_invalidation(mutant_gpucoh: gpucoh) -> None:
    assert reads_of_last_lines(gpucoh, "nhcc[region_lines=1]") == 32
    for bug in ("home-answers", "release-waits-for-nothing"):
        assert reads_of_last_lines(mutant_gpucoh, f"nhcc!{bug}[region_lines=1]") < 32
        with pytest.raises(mutant_gpucoh.SimulationError, match="a load returns a value it may"):
            reads_of_last_lines(mutant_gpucoh, f"nhcc!{bug}[region_lines=1]", "protocol")


def test_a_region_is_a_power_of_two() -> None:
    with pytest.raises(gpucoh.ConfigError, match="region_lines = 3 is not a power of two"):
        gpucoh.GPU(machine="fermi", protocol="nhcc[region_lines=3]", set=DIES)


@pytest.mark.parametrize(
    ("name", "workload", "fields"),
    [
        ("nhcc!near-line-survives-store", "fg-share", DIES),
        ("hmg!inv-not-forwarded", "bfs", GPUS),
        ("hmg!passed-reader-forgotten", "cc", MACHINES["scarce"]),
        ("sw-hier!sys-acquire-keeps-gpu-lines", "stn", GPUS),
    ],
)
def test_a_monitor_catches_a_planted_bug(
    mutant_gpucoh: gpucoh, name: str, workload: str, fields: dict[str, int]
) -> None:
    with pytest.raises(mutant_gpucoh.SimulationError, match="an invariant does not hold"):
        mutant_gpucoh.run(workload, protocol=name, scale="tiny", check="protocol", set=fields)
