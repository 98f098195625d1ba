"""Does hLRC, an example of a protocol outside the tree, keep its memory model, and are bugs planted in it found?"""

from dataclasses import replace
from pathlib import Path

import pytest

import gpucoh
from gpucoh.litmus import find, placed, run_test
from gpucoh.verify.explorer import explore, small_choice, verify
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import parse
from products import share
from verification.explorations import passes

EXAMPLES = Path(__file__).parents[2] / "examples" / "protocols"
HLRC = EXAMPLES / "hlrc.c"

#: Bugs that short programs show, with the words of the violation.
PLANTED = {
    "no_drop": ("0: st x 1; st.release y 1 | 1: await y 1; ld x", "memory model"),
    "no_flush": ("0: st x 1; st.release y 1 | 1: await y 1; ld x", "memory model"),
    "recalled_hits": (
        "0: st.release y 1; st z 1; st x 1; st.release y 2 | 1: ld.relaxed y; await y 2; ld x",
        "memory model",
    ),
    "two_owners": ("0: add.acq_rel x 1 | 1: add.acq_rel x 1", "names the owner"),
    "write_beside": (
        "0: add.acq_rel x 1; st.release y 1; await z 1; ld x | 1: await y 1; st x 2; st.release z 1",
        "memory model",
    ),
    "write_waits": (
        "0: add.acq_rel y 1; st x 1 | 1: add.acq_rel x 1; st y 1 | 2: add.acq_rel x 1 | 3: add.acq_rel y 1",
        "no move is possible",
    ),
    "owner_misnamed": (
        "0: add.acq_rel x 1; st y 1; add.acq_rel x 1 | 1: add.acq_rel x 1 | 2: st x 3",
        "names the owner",
    ),
    "relaxed_kept": ("0: add x 1; ld x | 1: ld y", "memory model"),
    "relaxed_beside": (
        "0: st.release x 2; st.release y 1 | 1: await y 1; add x 1",
        "memory model",
    ),
}


#: Bugs in what a relaxed load and a fence order. The programs race, so their outcomes are compared.
NEW_THEN_OLD = (1, 0, 1, 1)
PASSED = {
    "relaxed_takes": "0: st x 1; st.release y 1 | 1: ld.relaxed y; F; ld x",
    "fence_keeps": "0: st x 1; F; st.relaxed y 1 | 1: ld.relaxed y; F; ld x",
    "fence_leaves": "0: st x 1; F; st.relaxed y 1 | 1: ld.relaxed y; F; ld x",
}


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def violations(protocol, text):
    """Of two threads, on caches that begin with their line, which has all variables; of more, the invariants'."""
    program = parse(text)
    if len(program.threads) > 2:
        found = explore(small_choice(protocol), program, evictions=0)
    else:
        program = replace(program, warm=True, packed=True)
        found = explore(
            small_choice(protocol), program, allowed=allowed_outcomes(program, "DRF-SC")
        )
    assert found["complete"] or found["violations"]
    return [violation["what"] for violation in found["violations"]]


def test_exploration_is_complete():
    result = verify(str(HLRC), cores=2, lines=1, operations=1)
    assert result.ok
    assert result.complete


def test_it_keeps_its_memory_model_on_the_machine():
    assert run_test("ISA2+fence+acqrel+fence", str(HLRC), runs=20).ok


def test_a_workload_is_right_under_the_monitors():
    result = gpucoh.run("spm_g", HLRC, scale="tiny", check=True)
    assert result.correct


LINK = {"page_kib": 1, "die_latency": 50, "gpu_latency": 200}
SHAPES = {
    "two-dies": {"dies": 2, "die_bytes": 16, **LINK},
    "split": {"dies": 2, "die_bytes": 4, "links": "split", **LINK},
    "two-gpus": {"dies": 4, "gpus": 2, "gpu_bytes": 8, **LINK},
}


@pytest.mark.parametrize(
    ("workload", "shape"), share(("spm_g", "tb_lg", "dlb", "uts", "bfs"), SHAPES, one_in=5)
)
def test_a_workload_is_right_on_dies(workload, shape):
    """A variable's registry is the L2 of its home, on whatever die; owners are of any."""
    result = gpucoh.run(workload, HLRC, scale="tiny", check=True, set=SHAPES[shape])
    assert result.correct
    assert sum(link.messages for link in result.stats.links.values()) > 0


@pytest.mark.parametrize("place", ["dies", "gpus"])
def test_no_outcome_is_forbidden_between_dies_and_gpus(place):
    machine = gpucoh.machine("fermi").replace(**SHAPES["two-gpus"])
    for name in ("MP+rel+acq", "SB+fences", "WRC+rel+acq", "ISA2+rel+acq+acq", "lock"):
        assert run_test(placed(find(name), place), str(HLRC), machine=machine, runs=40).ok


@pytest.mark.parametrize("bug", PLANTED)
def test_exploration_finds_planted_bugs(bug):
    text, words = PLANTED[bug]
    assert not violations(str(HLRC), text)
    assert words in violations(f"{EXAMPLES / 'hlrc_planted.c'}[bug={bug}]", text)[0]


@pytest.mark.parametrize("bug", PASSED)
def test_relaxed_accesses_and_fences_pass_messages(bug):
    program = replace(parse(PASSED[bug]), warm=True)

    def outcomes(protocol):
        return {tuple(outcome) for outcome in passes(small_choice(protocol), program)["outcomes"]}

    assert NEW_THEN_OLD not in outcomes(str(HLRC))
    assert NEW_THEN_OLD in outcomes(f"{EXAMPLES / 'hlrc_planted.c'}[bug={bug}]")
