"""Are the protocols of ``examples/protocols`` explored, run and checked as those of the package are?

Everything takes them by the paths of their files.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import gpucoh
from gpucoh.litmus.runner import run_test
from gpucoh.verify.explorer import explore, small_choice, verify
from gpucoh.verify.programs import parse

EXAMPLES = Path(__file__).parents[2] / "examples" / "protocols"
GTSC = str(EXAMPLES / "gtsc.c")
PLANTED = str(EXAMPLES / "gtsc_planted.c")
NEW_THEN_OLD = [1, 0, 1, 1]


def explored(protocol: str, copies: str, bits: int | None = None):
    """An exploration of message passing with fences; the reader's core has copies of these variables."""
    return explore(
        small_choice(protocol),
        replace(parse("0: st x 1; F; st y 1 | 1: ld y; F; ld x"), evictions=True),
        copies=[(1, "xy".index(name)) for name in copies],
        fields={"timestamp_bits": bits} if bits else None,
    )


@pytest.mark.parametrize("rule", ["sc", "rc"])
def test_programs_of_two_cores_and_a_line_are_explored_completely(rule: str) -> None:
    found = verify(GTSC, consistency=rule, cores=2, lines=1, operations=1)

    assert found.complete
    assert not found.violations


@pytest.mark.parametrize("test", ["MP+fences", "SB+fences", "IRIW+fences"])
def test_litmus_tests_show_no_forbidden_state(test: str) -> None:
    assert run_test(test, GTSC, runs=20).ok


def test_a_workload_is_correct_under_monitors() -> None:
    result = gpucoh.run("stn", protocol=GTSC, scale="tiny", check=True, set={"timestamp_bits": 8})

    assert result.correct
    assert result.rollovers > 0


def test_rollovers_hide_no_message() -> None:
    found = explored(GTSC, "xy", bits=2)

    assert found["complete"]
    assert not found["violations"]
    assert NEW_THEN_OLD not in found["outcomes"]
    assert found["cells"]["L2.rollover"]


@pytest.mark.parametrize("bug", ["early_store", "gts_unraised"])
def test_planted_bugs_show_what_the_model_forbids(bug: str) -> None:
    assert NEW_THEN_OLD not in explored(PLANTED, "x")["outcomes"]
    assert NEW_THEN_OLD in explored(f"{PLANTED}[bug={bug}]", "x")["outcomes"]


@pytest.mark.parametrize(("bug", "bits"), [("lease_unkept", None), ("no_flush", 2)])
def test_planted_bugs_violate_the_invariants_of_the_protocol(bug: str, bits: int | None) -> None:
    assert explored(f"{PLANTED}[bug={bug}]", "xy", bits)["violations"]
