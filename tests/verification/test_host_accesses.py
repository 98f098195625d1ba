"""What the host stores and loads between launches: do protocols pass, and checkers find planted bugs?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpucoh.base.errors import ConfigError
from gpucoh.verify.explorer import explore, small_choice
from gpucoh.verify.library import HOST
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import parse
from products import share
from registered import COHERENT
from verification.explorations import passes

KEEPERS = ["qr!host-write-keeps-copies", "wt!host-write-keeps-copies"]


@pytest.mark.parametrize("text", HOST.values(), ids=HOST)
def test_the_oracle_orders_the_host_between_launches(text):
    (outcome,) = allowed_outcomes(parse(text), "RCpc")
    assert set(outcome) <= {0, 1, 2}


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=8))
def test_a_host_store_is_seen_and_a_launchs_store_is_loaded(protocol):
    choice = small_choice(protocol)
    for text in (HOST["host+store"], HOST["host+load"]):
        program = parse(text)
        assert len(passes(choice, program, "SC", evictions=0)["outcomes"]) == 1


def test_the_host_keeps_the_other_word_of_the_line():
    program = replace(parse("0: st x 1; host_st y 2; ld x; ld y"), packed=True)
    for protocol in ("qr", "mesi", "denovo-drf"):
        found = explore(small_choice(protocol), program, evictions=0)
        assert found["outcomes"] == [[1, 2, 1, 2]], protocol


def test_every_thread_ends_as_many_launches():
    with pytest.raises(ConfigError, match="threads 0 and 1 have different numbers of kernels"):
        explore("no-l1", parse("0: ld x; host_st x 1; ld x | 1: ld x"))


@pytest.mark.parametrize("name", KEEPERS)
def test_the_explorer_finds_a_host_write_that_keeps_copies(mutant_gpucoh, name):
    from gpucoh.verify.explorer import verify

    found = verify(name, cores=2, lines=1, operations=1, max_states=200_000)
    assert found.violations[0].program.name == "host+store"


@pytest.mark.parametrize("name", KEEPERS)
def test_the_random_tester_finds_a_host_write_that_keeps_copies(mutant_gpucoh, name):
    from gpucoh.fuzz import fuzz

    (failure,) = fuzz(name, ops=60_000, shrink=False).failures
    assert any(line.startswith("the host stores 0x") for line in failure["program"])


@pytest.mark.parametrize("name", KEEPERS)
def test_litmus_tests_find_a_host_write_that_keeps_copies(mutant_gpucoh, name):
    """The harness stores initial values before each launch."""
    from gpucoh.litmus import run_test

    assert not run_test("MP+fences", name, runs=200).ok


@pytest.mark.parametrize(
    ("name", "invariant"),
    [
        ("qr!released-at-l2", "a marker is answered when it has left S-FIFO3"),
        ("qr!rl1-keeps-old-copy", "no copy to read is older than words that a write cache gave up"),
        ("qr!rl2-keeps-old-copy", "no copy to read is older than words that a write cache gave up"),
    ],
)  # fmt: skip
def test_monitors_of_qr_end_a_run(mutant_gpucoh, name, invariant):
    with pytest.raises(mutant_gpucoh.SimulationError, match=invariant):
        mutant_gpucoh.run("bfs", protocol=name, scale="tiny", check=True)


@pytest.mark.parametrize(
    ("name", "workload"), [("no-l1!host-read-passes-by", "bfs"), ("mesi!writeback-lost", "dlb")]
)
def test_a_monitor_compares_what_the_host_reads(mutant_gpucoh, name, workload):
    with pytest.raises(mutant_gpucoh.ProtocolError, match="the host reads the last write: it gets"):
        mutant_gpucoh.run(workload, protocol=name, scale="tiny", check="protocol")
