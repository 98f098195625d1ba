"""Protocols under finite resources, their message classes, and the counts of the TC paper's tables 1 and 4."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import gpucoh
from products import share
from registered import COHERENT, VARIATIONS

SMALLEST_DIRECTORY = "gpu-vini[dir_ways=1,dir_ratio=1]"
INVALIDATION = (
    "mesi", "gpu-vi", "gpu-vini", SMALLEST_DIRECTORY, "mesi-wt", "mesi-wt[exclusive=on]",
)  # fmt: skip
LEASED = [
    text if text == known.id else pytest.param(text, marks=pytest.mark.long)
    for known in gpucoh.protocols().values()
    if known.watched and known.watched.leases
    for text in known.with_variations()
]
WORKLOADS = ("bh", "stn", "fg-share", "hsp")

ONE_MSHR = {"l1_mshrs": 1, "l2_mshrs": 1}
SHORT_QUEUES = {"dram_queue": 1, "load_store_queue": 1, "requests_per_core": 64}
TWO_SETS = {"l1_kib": 0.25, "l1_ways": 1, "l2_kib": 0.25, "l2_ways": 1}
ONE_FLIT = {"vc_flits": 1}
LIMITS: dict[str, dict[str, Any]] = {
    "one MSHR": ONE_MSHR,
    "short queues": SHORT_QUEUES,
    "caches of two sets": TWO_SETS,
    "buffers of one flit": ONE_FLIT,
    "all at once": ONE_MSHR | SHORT_QUEUES | TWO_SETS | ONE_FLIT,
}


def _run(
    workload: str, protocol: str, changes: dict[str, Any] | None = None, *, check: bool = True
) -> gpucoh.RunResult:
    machine = gpucoh.machine("fermi").replace(**(changes or {}))
    return gpucoh.run(workload, protocol=protocol, machine=machine, scale="tiny", check=check)


@pytest.mark.parametrize(
    ("protocol", "workload", "limit"),
    [
        *share([*COHERENT, SMALLEST_DIRECTORY], WORKLOADS, list(LIMITS), one_in=75),
        *share(VARIATIONS, WORKLOADS, list(LIMITS), one_in=240),
    ],
)
def test_a_coherent_protocol_does_not_deadlock(protocol: str, workload: str, limit: str) -> None:
    run = _run(workload, protocol, LIMITS[limit])
    assert (run.error, run.correct) == (None, True), run.where


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("protocol", [*INVALIDATION, "mesi[clean_put=header]"])
def test_an_invalidation_protocol_serves_random_requests_under_every_limit(
    protocol: str, limit: str
) -> None:
    run = _run("synthetic", protocol, LIMITS[limit])
    assert (run.error, run.correct) == (None, True), run.where


@pytest.mark.parametrize("protocol", share(LEASED, one_in=4))
def test_copies_that_expire_need_no_invalidation_and_no_recall(protocol: str) -> None:
    flits: Counter[str] = Counter()
    for workload in WORKLOADS:
        run = _run(workload, protocol, TWO_SETS, check=False)
        flits.update(run.stats.flits_by_class())
    assert flits["LD"] > 0
    assert flits["INV"] == flits["RCL"] == 0


@pytest.mark.parametrize("protocol", share(INVALIDATION, one_in=4))
def test_invalidation_protocols_send_both(protocol: str) -> None:
    flits = _run("stn", protocol, TWO_SETS).stats.flits_by_class()
    assert flits["INV"] > 0
    assert flits["RCL"] > 0


def test_larger_directories_recall_less() -> None:
    def recalls(ways: int, ratio: int) -> int:
        protocol = f"gpu-vini[dir_ways={ways},dir_ratio={ratio}]"
        return int(_run("stn", protocol, {"l1_kib": 2}).traffic["RECALL"]["messages"])

    assert recalls(8, 1) > recalls(8, 2) > recalls(8, 4) == recalls(32, 16) == 0


def test_a_clean_line_given_up_without_its_words_saves_flits() -> None:
    carried = _run("stn", "mesi", TWO_SETS)
    bare = _run("stn", "mesi[clean_put=header]", TWO_SETS)
    assert bare.correct
    assert carried.traffic["PUTE"]["messages"] == 0
    assert bare.traffic["PUTE"]["flits"] == bare.traffic["PUTE"]["messages"] > 0
    assert bare.traffic["PUTX"]["flits"] < carried.traffic["PUTX"]["flits"]


# Protocol -> L1, L2: stable, transient cache, transient coherent. Table 1; tc-strong, which it leaves out, as table V
# of Singh et al., HPCA 2017, has it (there with both kinds of transient states in one: 3 and 4).
TABLE_1 = {
    "no-coh": ((2, 2, 0), (2, 2, 0)),
    "gpu-vi": ((2, 2, 1), (3, 2, 3)),
    "gpu-vini": ((2, 2, 1), (5, 2, 8)),
    "mesi": ((4, 2, 4), (4, 3, 9)),
    "tc-weak": ((2, 2, 1), (4, 2, 1)),
    "tc-strong": ((2, 2, 1), (4, 2, 2)),
}
# Table 4; mesi-wt and rcc as table III of Ren and Lis, HPCA 2017, has MESI and RCC.
NETWORKS = {
    "no-coh": 2, "gpu-vi": 4, "gpu-vini": 4, "mesi": 5, "tc-weak": 2, "tc-strong": 2, "mesi-wt": 5,
    "rcc-sc": 2, "rcc-wo": 2,
}  # fmt: skip


@pytest.mark.parametrize("protocol", TABLE_1)
def test_states_are_as_many_as_the_paper_counts(protocol: str) -> None:
    described = gpucoh.protocols()[protocol].json
    tables = [table for controller in described["controllers"] for table in controller["tables"]]
    counted = []
    for table in tables:
        kinds = Counter(state["kind"] for state in table["states"])
        counted.append(
            tuple(kinds[kind] for kind in ("stable", "transient_cache", "transient_coherence"))
        )
    assert tuple(counted) == TABLE_1[protocol]


@pytest.mark.parametrize("protocol", NETWORKS)
def test_virtual_networks_are_as_many_as_the_paper_counts(protocol: str) -> None:
    assert len(gpucoh.protocols()[protocol].json["networks"]) == NETWORKS[protocol]
