"""QuickRelease and its baselines: what is explored completely, and what copies are dropped for."""

from __future__ import annotations

import pytest

import gpucoh
from gpucoh.litmus import run_test
from gpucoh.verify.explorer import explore, verify
from gpucoh.verify.library import find_all
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import parse

SHAPES = ("CoRR", "CoRW", "CoWR", "MP+F", "MP+rel+acq", "SB+F")
LONG = [pytest.param(name, marks=pytest.mark.long) for name in ("rfo", "qr")]


@pytest.mark.parametrize("protocol", ["wt", *LONG])
def test_two_threads_are_explored_completely(protocol):
    found = verify(protocol, tests=find_all(SHAPES))
    assert found.complete
    assert not found.violations


def test_sync_sc_makes_releases_and_acquires_sequentially_consistent():
    program = parse("0: st.release x 1; ld.acquire y | 1: st.release y 1; ld.acquire x")
    allowed = allowed_outcomes(program, "SC")
    found = explore("qr[sync_sc=on,clean=on]", program, allowed=allowed, evictions=0)
    assert found["complete"]
    assert not found["violations"]


@pytest.mark.parametrize("options", ["fifo=4", "inv=ack", "sync_sc=on"])
@pytest.mark.parametrize("name", ["MP+fences", "SB+fences", "CoRR", "lock"])
def test_litmus_tests_pass_with_short_fifos_acknowledged_invs_and_sync_sc(name, options):
    result = run_test(name, f"qr[{options}]", runs=60)
    assert result.ok, result.forbidden or result.reason


@pytest.mark.parametrize("workload", ["bfs", "apsp"])
def test_copies_are_dropped_for_invs_only(workload):
    levels = {}
    for protocol in ("wt", "qr"):
        run = gpucoh.run(workload, protocol=protocol, machine="apu", scale="tiny").to_dict()
        levels[protocol] = run["l1"] | run["counters"]["L1"]
    assert levels["qr"]["hits_across_acquires"] > 0 == levels["wt"]["hits_across_acquires"]
    assert levels["qr"]["self_invalidations"] == 0 < levels["wt"]["self_invalidations"]
    assert levels["qr"]["invalidations"] == levels["qr"]["invalidations_hit"]
