"""Does `lrm` drop near lines where a variable comes from another die, and there alone? Who catches its planted bugs?"""

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
PAGE = 1024  # words
#: Core 2 is on the other die; x and z have their homes on die 0, y and w on die 1.
COMPLETE = {
    "WRC in a die": "0: st y 1 | 1: ld y; ld.acquire y; st.release x 1 | 2: ld.acquire x; ld y",
    "WRC between dies": "2: st x 1; st.release y 1 | 0: ld.acquire y; st.release z 1 | 1: ld.acquire z; ld x",
    "relaxed, then released": "0: ld y; ld.relaxed y; st.release x 1 | 1: ld y; ld.acquire x; ld y | 2: st y 1",
    "acquired back": "0: st y 1; st.release x 1; ld.acquire x; ld y | 2: ld.acquire x; st y 2; st.release x 2",
    "atomics": "0: ld y; add.acq_rel x 1; ld y | 2: st y 1; add.acq_rel x 1; ld y",
}


@pytest.mark.parametrize("name", COMPLETE)
def test_every_execution_of_a_small_program_is_allowed(name: str) -> None:
    passes(small_choice("lrm"), parse(COMPLETE[name]), "RCc", evictions=0, max_states=500_000)


@gpucoh.kernel
def read_far(
    data: gpucoh.Buffer[gpucoh.i32], flags: gpucoh.Buffer[gpucoh.i32], variables: gpucoh.i32,
    writes: gpucoh.i32, out: gpucoh.Buffer[gpucoh.i32]
):  # fmt: skip
    """A warp of die 1 reads a line of die 0 eight times, and acquires between; one of die 0 stores to what it names."""
    block = 2 * gpucoh.block_id() - gpucoh.grid_dim()
    if block == 0:
        total = 0
        for i in range(8):
            total += data[gpucoh.thread_id()]
            gpucoh.sleep(1000)
            if gpucoh.thread_id() == 0:
                total += gpucoh.load(flags, i % variables, order="acquire")
        out[gpucoh.thread_id()] = total
    elif block + gpucoh.grid_dim() == 0 and gpucoh.thread_id() == 0:
        for _ in range(writes):
            gpucoh.sleep(1000)
            gpucoh.store(flags, 0, 0, order="relaxed")


def reads(protocol: str, variables: int = 1, writes: int = 0) -> tuple[int, Any]:
    """Lines that cross the link for the near L2 of die 1, and the counters of L2s."""
    gpu = gpucoh.GPU(machine="fermi", protocol=protocol, set=DIES)
    data, out = gpu.full(2 * PAGE, 3, np.int32), gpu.zeros(2 * PAGE, np.int32)
    flags = gpu.zeros(2 * PAGE, np.int32)
    gpu.launch(read_far, grid=4, block=32, args=(data, flags, variables, writes, out))
    return gpu.stats().traffic["NEAR_DATA"]["messages"], gpu.stats().counters.get("L2")


def test_acquires_of_the_owner_leave_near_lines() -> None:
    assert reads("mcm")[0] == 8
    lines, counted = reads("lrm")
    assert lines == 2  # the first acquire drops: no die owns the variable
    assert (counted.sync_moved, counted.sync_local) == (1, 7)


def test_a_relaxed_store_of_another_die_takes_the_owner_away() -> None:
    lines, counted = reads("lrm", writes=100)
    assert lines == 8
    assert (counted.sync_local, counted.sync_disowned) == (0, 8)


def test_a_replaced_variable_has_no_owner() -> None:
    assert reads("lrm[sync_entries=2]", variables=2)[0] == 3
    lines, counted = reads("lrm[sync_entries=1]", variables=2)
    assert lines == 8
    assert counted.sync_replaced == 7


def test_the_directory_has_sixteen_variables_a_die_by_default() -> None:
    banks = gpucoh.machine("fermi").partitions // 2
    of_bank = -(-16 // banks)
    assert reads("lrm", variables=of_bank)[0] == 1 + of_bank
    assert reads("lrm", variables=of_bank + 1)[0] == 8


@pytest.mark.parametrize("workload", ["uts", "spm_g"])
def test_on_one_die_it_is_mcm(workload: str) -> None:
    lrm, mcm = (gpucoh.run(workload, protocol=one, scale="tiny").stats for one in ("lrm", "mcm"))
    assert lrm.cycles == mcm.cycles
    assert lrm.traffic == mcm.traffic


WORKLOADS = ("bfs", "cl", "dlb", "fg-share", "spm_g", "stn", "uts", "sr")
MACHINES: dict[str, dict[str, Any]] = {
    "two-gpus": DIES | {"dies": 4, "gpus": 2},
    "split": DIES | {"links": "split", "die_bytes": 4},
    "scarce": DIES | {"l2_kib": 16, "l2_ways": 4, "l2_mshrs": 4, "l1_mshrs": 4},
    "one-entry": DIES,
}


@pytest.mark.parametrize(("workload", "machine"), share(WORKLOADS, MACHINES, one_in=8))
def test_a_workload_is_right_on_dies(workload: str, machine: str) -> None:
    options = "[sync_entries=1]" if machine == "one-entry" else ""
    result = gpucoh.run(
        workload, protocol="lrm" + options, scale="tiny", check=True, set=MACHINES[machine]
    )
    assert result.correct


@pytest.mark.parametrize(
    ("bug", "workload"),
    [("new-owner-keeps-lines", "fg-share"), ("answer-forgotten", "stn")],
)
def test_a_monitor_catches_a_planted_bug(mutant_gpucoh: gpucoh, bug: str, workload: str) -> None:
    with pytest.raises(mutant_gpucoh.SimulationError, match="a load returns a value it may"):
        mutant_gpucoh.run(workload, protocol=f"lrm!{bug}", scale="tiny", check="protocol", set=DIES)
