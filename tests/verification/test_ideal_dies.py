"""Are near lines of `ideal-dies` never stale and free, and who catches its planted bugs?"""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh

LINK = {"dies": 2, "page_kib": 4, "die_latency": 50, "die_bytes": 32}
ROUNDS = 8


@gpucoh.kernel
def watch(data: gpucoh.Buffer[gpucoh.i32], rounds: gpucoh.i32, seen: gpucoh.Buffer[gpucoh.i32]):
    """A thread of die 1 stores to its own page; one of die 0 reads the word by relaxed loads until it has the last."""
    if gpucoh.block_id() == 0:
        last = 0
        while last < rounds:
            now = gpucoh.load(data, 1024, order="relaxed")
            if now != last:
                seen[now] = 1
            last = now
    elif 2 * gpucoh.block_id() == gpucoh.grid_dim():
        for i in range(rounds):
            gpucoh.sleep(2000)
            gpucoh.store(data, 1024, i + 1, order="relaxed")


def watched(protocol: str) -> gpucoh.Stats:
    gpu = gpucoh.GPU(machine="fermi", protocol=protocol, set=LINK, check=True)
    data, seen = gpu.zeros(4096, np.int32), gpu.zeros(1024, np.int32)
    gpu.launch(watch, grid=4, block=1, args=(data, ROUNDS, seen))
    assert (seen.numpy()[1 : ROUNDS + 1] == 1).all()
    return gpu.stats()


def test_polls_of_a_near_line_take_no_link_and_see_every_store() -> None:
    links = watched("ideal-dies").links
    assert (links["0-1"]["messages"], links["1-0"]["messages"]) == (1, 1)  # the line comes once
    assert watched("mcm").links["0-1"]["messages"] > 3 * ROUNDS


@pytest.mark.parametrize(
    ("name", "workload"),
    [
        ("ideal-dies!near-line-stays", "stn"),
        ("ideal-dies!line-as-sent", "stn"),
        ("ideal-dies!acquire-keeps-copies", "stn"),
    ],
)
def test_a_monitor_catches_a_planted_bug_on_two_dies(
    mutant_gpucoh: gpucoh, name: str, workload: str
) -> None:
    with pytest.raises(mutant_gpucoh.SimulationError):
        mutant_gpucoh.run(workload, protocol=name, scale="tiny", check="protocol", set=LINK)
