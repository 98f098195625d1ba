"""Does the harness run tests as written: repeatable, all outcomes met, hung runs reported, wrong ones caught?"""

import pytest

import gpucoh
from gpucoh.base.errors import ConfigError
from gpucoh.litmus import builtin, parse, run_test
from gpucoh.litmus.runner import _judge, observe
from gpucoh.litmus.variation import Planner, machines
from products import share
from registered import ALL, INCOHERENT

# Programs whose every last state is known without a memory model.
ALONE = """PTX alone
{ x=5; y=-3; P0:r9=7; }
 P0@cta 0,gpu 0 ;
 ld.weak r0, x ;
 add r1, r0, r9 ;
 st.weak y, r1 ;
 ld.weak r2, y ;
 atom.relaxed.gpu.sub r3, y, 2 ;
 red.relaxed.gpu.xor y, 3 ;
 atom.relaxed.gpu.cas r4, y, 9, 11 ;
 min r5, r4, -1 ;
 ble r2, 12, LC00 ;
 mov r6, 1 ;
 LC00: ;
 sub r7, r7, 1 ;
 bgt r7, -4, LC00 ;
 ld.volatile r8, y ;
exists (P0:r8 == 11)
"""
LEFT = {"P0:r9": 7, "P0:r0": 5, "P0:r1": 12, "P0:r2": 12, "P0:r3": 12, "P0:r4": 9, "P0:r5": -1,
        "P0:r6": 0, "P0:r7": -4, "P0:r8": 11, "x": 5, "y": 11}  # fmt: skip


def states(result):
    return {outcome.state: outcome.count for outcome in result.outcomes}


@pytest.mark.parametrize("protocol", share(ALL, one_in=8))
def test_one_thread_computes_what_it_says(protocol):
    test = parse(ALONE.replace("exists", "locations [" + ";".join(LEFT) + "] exists"), "alone")
    result = run_test(test, protocol, runs=60)
    wanted = "; ".join(f"{name}={LEFT[name]}" for name in test.shown)
    assert states(result) == {wanted: 60}
    assert (result.observed, result.allowed, result.ok) == (True, True, True)


def test_the_same_seed_gives_the_same_runs_and_another_seed_others():
    first, again = (run_test("SB", "mesi", runs=300, seed=3) for _ in range(2))
    other = run_test("SB", "mesi", runs=300, seed=4)
    assert states(first) == states(again) != states(other)
    assert first.runs == 300


def test_another_test_between_changes_nothing():
    before = states(run_test("MP", "tc-weak", runs=150))
    run_test("IRIW", "tc-weak", runs=50, seed=9)
    assert states(run_test("MP", "tc-weak", runs=150)) == before


def test_all_interleavings_are_met():
    result = run_test("SB", "mesi", runs=1500)
    assert len(result.outcomes) == 4
    assert result.observed
    assert result.ok


@pytest.mark.parametrize("protocol", INCOHERENT)
def test_a_protocol_without_coherence_shows_stale_values_and_promises_nothing(protocol):
    result = run_test("SB+fences", protocol, runs=600)
    assert (result.model, result.observed, result.allowed, result.ok) == ("none", True, True, True)


def test_a_forbidden_outcome_is_caught():
    """The runs of no-coh, judged as if it had promised RC-MCA."""
    test = builtin("SB+fences")
    machine = gpucoh.machine("fermi")
    seen = observe(test, "no-coh", "rc", machine, 600, 0)
    result = _judge(test, "no-coh", "rc", "RC-MCA", seen)
    assert not result.ok
    assert all("P0:r0=0; P1:r0=0" in state for state in result.forbidden)
    assert [outcome.allowed for outcome in result.outcomes if outcome.matches] == [False]


def test_states_that_the_condition_does_not_name_are_judged_too():
    text = (
        "PTX quiet\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak x, 1 | ld.weak r0, x ;\n"
    )
    quiet = parse(
        text + " fence.sc.gpu | fence.sc.gpu ;\n st.weak y, 1 | ld.weak r1, y ;\nexists (0 == 0)",
        "q",
    )
    machine = gpucoh.machine("fermi")
    seen = observe(quiet, "mesi", "rc", machine, 50, 0)
    seen.states[(1, 1, 0, 0)] += 1  # y unwritten at the end
    assert _judge(quiet, "mesi", "rc", "RC-MCA", seen).forbidden


def test_barriers_that_wait_in_vain_hang_and_nothing_else_does():
    result = run_test("bar+never", "mesi", runs=1000)
    assert result.status == "hang"
    assert states(result) == {"hang": result.runs}
    assert (result.observed, result.allowed, result.ok) == (False, False, True)
    assert 0 < result.runs < 1000  # no need to see it a thousand times


def test_a_loop_that_never_ends_hangs():
    text = "PTX spin\n{ x=0; }\n P0@cta 0,gpu 0 ;\n LC00: ;\n ld.relaxed.gpu r0, x ;\n beq r0, 0, LC00 ;"
    result = run_test(parse(text + "\nforall (x == 1)", "spin"), "tc-weak", runs=40)
    assert (result.status, result.observed) == ("hang", False)


SOME_HANG = """PTX some-hang
{ x=0; }
 P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
 st.weak x, 1   | ld.weak r1, x  ;
 ld r1, 1       | bar.cta.sync 1, r1 ;
 bar.cta.sync 1, r1 |            ;
forall (P1:r1 == 1)
"""


def test_threads_that_name_different_barriers_hang_the_others_do_not():
    result = run_test(parse(SOME_HANG, "some-hang"), "mesi", runs=300)
    assert result.status == "ran"
    found = states(result)
    assert found["hang"] > 0
    assert found["P1:r1=1"] + found["hang"] == result.runs
    assert not result.observed  # a hung run violates no forall


@pytest.mark.parametrize(
    "name", share(["MP+bar-left", "MP+bar-reg", "MP+bar-count", "MP+bar-arrive"], one_in=4)
)
def test_barriers_let_everybody_go(name):
    result = run_test(name, "tc-strong", runs=80)
    assert (result.status, result.observed, result.ok) == ("ran", False, True)


@pytest.mark.parametrize("machine", share(sorted(gpucoh.machines()), one_in=4))
def test_every_machine_runs_litmus_tests(machine):
    result = run_test("MP+rel+acq", "gpu-vi", machine=machine, runs=60)
    assert (result.status, result.observed, result.ok) == ("ran", False, True)


def test_gpus_are_distinguished_and_cus_shared_by_placement():
    for name, same in (("MP+gpus", False), ("MP+cu", True)):
        machine = machines(gpucoh.machine("fermi"))[0][1]
        planner = Planner(builtin(name), machine, 0)
        table = planner.plan(5, 20).parameters.reshape(
            -1, planner.shape.warps, planner.shape.parameters
        )
        cores: dict[int, list[int]] = {}
        for block, warps in enumerate(table):
            for row in warps:
                if row[0] < planner.shape.roles:
                    instance = int(row[4]) // (planner.shape.roles * planner.shape.results)
                    cores.setdefault(instance, []).append(block % machine.cores)
        assert len(cores) == 20
        assert all((len(set(item)) == 1) == same for item in cores.values())


def test_more_gpus_than_cores_are_refused():
    text = (
        "PTX many\n{ x=0; }\n"
        + " | ".join(f"P{i}@cta 0,gpu {i}" for i in range(20))
        + " ;\nexists (x == 0)"
    )
    with pytest.raises(ConfigError, match="20 GPUs"):
        run_test(parse(text, "many"), "mesi", runs=5)


@pytest.mark.parametrize(("runs", "seed"), [(0, 0), (-1, 0), (10**10, 0), (5, -1)])
def test_numbers_out_of_range_are_refused(runs, seed):
    with pytest.raises(ConfigError, match="out of range"):
        run_test("SB", "mesi", runs=runs, seed=seed)


# Seeds and counts at which bugs of this project's protocols were seen once; each must stay away.
REGRESSIONS = [
    ("CoWW", "mesi", 1500),  # replayed requests overtook older ones that had to wait again
    ("CoRR+merged", "tc-weak[lifetime=150]", 400),  # a load overtook its warp's merged load
    (
        "CoRW1+merged",
        "tc-weak[lifetime=150]",
        400,
    ),  # a merged load asked again behind its warp's store
    ("CoRR+merged", "tc-strong[lifetime=150]", 400),
    ("ticket-lock", "tc-weak", 400),
]


@pytest.mark.parametrize(("name", "protocol", "runs"), REGRESSIONS)
def test_bugs_seen_once_stay_away(name, protocol, runs):
    result = run_test(name, protocol, runs=runs)
    assert result.ok, result.forbidden or result.reason


@pytest.mark.parametrize(
    ("name", "protocol"), share(["MP+fences", "SB+fences", "CoRR", "RMW", "lock"], ALL, one_in=5)
)
def test_every_protocol_keeps_the_model_it_promises(name, protocol):
    result = run_test(name, protocol, runs=60)
    assert result.ok, result.forbidden or result.reason
