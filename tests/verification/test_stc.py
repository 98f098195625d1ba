"""STC: shapes explored completely, litmus outcomes as listed, short epochs in random programs, the time of a change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import gpucoh
from gpucoh.fuzz import fuzz_many
from gpucoh.litmus import builtin, run_test
from gpucoh.litmus.verdict import Verdicts
from gpucoh.verify.explorer import explore, small_choice
from gpucoh.verify.library import shapes
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import fenced, parse
from products import share
from verification.explorations import passes

FAMILY = [name for name in gpucoh.protocols() if name.startswith("stc-")]
MOVING = [name for name in FAMILY if "adapt" in gpucoh.protocols()[name].options]
SHORT = "[seb=6,epochs=8,epoch=30]"
SHAPES = {shape.name: shape for shape in shapes()}
#: Of four bands the last is current at first: x and y are in two others, or in one.
BANDS = {"two bands": "[seb=3]", "one band": "[seb=4]"}


@pytest.mark.parametrize(("protocol", "bands"), share(FAMILY, BANDS, one_in=4))
def test_classical_shapes_with_fences_are_complete(protocol: str, bands: str) -> None:
    for name in ("MP+F", "SB+F", "CoRR", "CoRW", "CoWR"):
        for warm in (False, True):
            program = replace(fenced(SHAPES[name]), warm=warm, evictions=False)
            passes(small_choice(protocol + BANDS[bands]), program, "RC-MCA")


@pytest.mark.parametrize(("protocol", "bands"), share(FAMILY, BANDS, one_in=4))
def test_a_warm_line_of_the_reader_is_not_read_too_long(protocol: str, bands: str) -> None:
    program = replace(parse("st x 1; F; st y 1 | ld x; F; ld y; F; ld x"), evictions=False)
    passes(small_choice(protocol + BANDS[bands]), program, "RC-MCA")


@pytest.mark.parametrize(("protocol", "skew"), share(FAMILY, ["resume", "sync"], one_in=4))
def test_the_other_cures_of_the_skew_cure_it(protocol: str, skew: str) -> None:
    program = replace(SHAPES["MP+F"], warm=True, evictions=False)
    passes(small_choice(f"{protocol}[seb=4,skew={skew}]"), program, "RC-MCA")


@pytest.mark.parametrize("text", ["st x 1; st y 1; ld z", "st x 1; F; st y 1 | ld y; F; ld x"])
@pytest.mark.parametrize("protocol", MOVING)
def test_bands_that_move_keep_the_model(protocol: str, text: str) -> None:
    """All lines are in one band until a conflict moves the bands up."""
    for warm in (False, True):
        program = replace(parse(text), warm=warm, evictions=False)
        passes(small_choice(protocol + "[seb=2,epochs=2]"), program, "RC-MCA")


JOINED = "0: st x 1; st.release y 1 | 1: ld x; ld.acquire y; ld x"


@pytest.mark.parametrize("protocol", ["src", "stc-es"])
def test_a_load_joins_no_read_that_its_wave_has_ordered_before_it(protocol: str) -> None:
    """The first load of x may be outstanding when the acquire completes: the last one must not join it."""
    passes(small_choice(protocol), replace(parse(JOINED), evictions=False), "RC-MCA")


@pytest.mark.parametrize("protocol", ["src", "stc-es"])
def test_loads_join_outstanding_reads(protocol: str) -> None:
    found = gpucoh.run("fw", protocol, machine="gcn3", scale="tiny")
    assert found.correct
    assert found.stats.l1["load_merges"] > 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["WRC+F", "IRIW+F"])
@pytest.mark.parametrize("protocol", FAMILY)
def test_shapes_of_three_and_four_threads_pass_within_a_bound(protocol: str, name: str) -> None:
    program = replace(SHAPES[name], warm=True, evictions=False)
    allowed = allowed_outcomes(program, "RC-MCA")
    found = explore(small_choice(protocol), program, allowed=allowed, max_states=150_000)
    assert not found["violations"]


# ---- on the whole machine

FORBIDDEN = [
    "MP+fences",
    "MP+rel+acq",
    "SB+fences",
    "SB+sc",
    "LB+fences",
    "CoRR",
    "CoWR",
    "CoWW",
    "CoRW1",
    "WRC+rel+acq",
    "WRC+fences",
    "RWC+fences",
    "ISA2+rel+acq",
    "IRIW+acqs",
    "IRIW+fences",
    "IRIW+sc",
    "lock",
    "ticket-lock",
    "MP+spin",
    "MP+spin+weak",
]
ALLOWED = ["MP", "SB", "SB+rel+acq", "LB", "R+rel+acq", "S", "2+2W"]


def test_the_model_is_that_of_the_listed_outcomes() -> None:
    for name in FORBIDDEN:
        assert not Verdicts(builtin(name), "RC-MCA").allowed(), name
    for name in ALLOWED:
        assert Verdicts(builtin(name), "RC-MCA").allowed(), name


@pytest.mark.parametrize("protocol", share(FAMILY, one_in=4))
def test_runs_with_short_epochs_keep_the_model(protocol: str) -> None:
    for name in FORBIDDEN:
        result = run_test(name, protocol + SHORT, runs=40)
        assert result.ok, (name, result.forbidden or result.reason)


@pytest.mark.parametrize("protocol", share(FAMILY, one_in=4))
def test_runs_show_that_stores_between_markers_pass_each_other(protocol: str) -> None:
    """Weak stores to two bands are performed in the order of their epochs; loads do not wait for them."""
    for name in ("MP", "SB"):
        assert run_test(name, protocol, runs=300).observed, name


def test_random_programs_with_short_epochs_are_right() -> None:
    for report in fuzz_many([name + SHORT for name in FAMILY], ops=2500, every_rule=True):
        assert not report.failures, report.protocol


def counters(protocol: str, scale: str = "tiny", **changes: Any) -> dict[str, Any]:
    machine = gpucoh.machine("gcn3").replace(**changes)
    found = gpucoh.run("vec-cpy", protocol=protocol, machine=machine, scale=scale)
    assert found.correct
    return found.to_dict()["counters"]


@pytest.mark.parametrize(("cores", "paper"), [(8, 36), (32, 79)])
def test_an_idle_change_takes_the_paper_s_time(cores: int, paper: int) -> None:
    """Section 7.4, within 15%."""
    unit = counters("stc-nv", cores=cores)["EMU"]
    assert unit["idle_changes"] >= 3
    assert 0.85 * paper < unit["idle_change_cycles"] / unit["idle_changes"] < 1.15 * paper


def test_bands_settle_where_conflicts_look_at_upper_bits_first() -> None:
    assert 0 < counters("stc-ab[adapt=upper]", "small")["EMU"]["seb_steps"] <= 10
    assert counters("stc-ab", "small", dram_model="fixed")["EMU"]["seb_steps"] > 50


def test_what_is_written_together_stays_granted() -> None:
    """Section 7.3: stores of granted bands, also those that a change holds up, send no further messages."""
    setup = {"machine": gpucoh.machine("gcn3").replace(start_skew=256), "params": {"audits": False}}
    found = gpucoh.run("fg-share", protocol="stc-mb", **setup).to_dict()
    assert found["correct"]
    assert 0 < found["counters"]["EMU"]["changes"] < 10
    assert found["counters"]["L1"]["uncached_loads"] > 0.9 * found["l1"]["loads"]  # section 7.1


@pytest.mark.parametrize("workload", ["fg-share", "cache-reuse", "mis", "bfs", "reduction"])
def test_results_stay_right_where_copies_survive_acquires(workload: str) -> None:
    """Hits of ``src[acquire=off]`` read the L2's words."""
    found = gpucoh.run(workload, protocol="src[acquire=off]", machine="gcn3", scale="tiny")
    assert found.correct


def test_tcs_has_the_paper_s_mshrs_and_leases() -> None:
    """Section 7.5: 128 MSHRs a bank, leases of 32 bits."""
    machine = gpucoh.machine("gcn3")
    assert (machine.l2_mshrs, machine.timestamp_bits) == (128, 32)
    assert gpucoh.run("vec-cpy", protocol="tc-strong", machine=machine, scale="tiny").correct


@gpucoh.kernel
def store_and_load_in_a_change(words: gpucoh.Buffer[gpucoh.i32]) -> None:
    """Of two bands the second runs; the store to the first changes that while one to the second is outstanding."""
    gpucoh.store(words, 0, 1)
    gpucoh.sleep(60)
    gpucoh.store(words, 1024, 1)
    gpucoh.sleep(60)
    gpucoh.store(words, 1024 + 32, 1)  # held up
    words[16] = words[1024 + 64]


@pytest.mark.parametrize("protocol", MOVING)
def test_a_load_of_a_band_whose_stores_a_change_holds_up_is_a_conflict(protocol: str) -> None:
    """Section 4.4: "a CU has a blocked write to a band and then a subsequent read to the same band happens"."""
    gpu = gpucoh.GPU("gcn3", protocol=f"{protocol}[epochs=2,ack=pipeline]")
    gpu.launch(store_and_load_in_a_change, grid=1, block=1, args=(gpu.zeros(2048, "int32"),))
    counts = gpu.stats().to_dict()["counters"]["L1"]
    assert (counts["uncached_loads"], counts["conflicts"]) == (1, 1)


def test_the_etv_keeps_an_epoch_from_moving_the_bands_again() -> None:
    def steps(etv: str) -> int:
        options = f"seb=6,adapt=lower,etv={etv}"
        found = gpucoh.run("stn", protocol=f"stc-ab[{options}]", machine="gcn3", scale="tiny")
        assert found.correct
        return int(found.to_dict()["counters"]["EMU"]["seb_steps"])

    assert 0 < steps("on") < steps("off")
