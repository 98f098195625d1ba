"""Are accesses of 64 bits single copies under every protocol, against each other and against accesses of one word?"""

from dataclasses import replace

import pytest

from gpucoh.device.gpu import protocols
from gpucoh.litmus import builtin, builtins, run_test
from gpucoh.verify.explorer import small_choice, verify
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import parse
from products import share
from verification.explorations import passes

TESTS = [name for name in builtins() if "+b64" in name]
#: Words registered one by one, and the accesses of 64 bits that need both.
SPLIT = [
    "0: add x+0 1; add.b64 x 4294967295 | 1: add x+4 1; add.b64 x 1",
    "0: add.b64 x 1; add x+4 1 | 1: add.b64 x 4294967295; add x+0 1",
    "0: add x+4 1; add.b64 x 1 | 1: add.b64 x 4294967295; st.relaxed x+0 7",
    "0: add.b64 x 1; add.b64 y 1 | 1: add.b64 y 2; add.b64 x 2",
]
#: Two cores ask for both words one by one, in any order.
APART = "0: add x+0 1; add x+4 1 | 0: add.b64 x 1 | 1: add x+0 1; add x+4 1 | 1: add.b64 x 1"
OWNERS = [name for name in protocols() if name.startswith("denovo")]


@pytest.mark.parametrize("protocol", share(list(protocols()), one_in=4))
def test_no_interleaving_tears_an_access(protocol) -> None:
    tests = [builtin(name) for name in ("ADD+b64", "CAS+b64+b32", "MP+b64+b32", "ADD+b64+b32")]
    found = verify(protocol, tests=tests)
    assert found.violations == []
    assert found.complete
    seen = [entry.test for entry in found.tests if entry.observed and not entry.allowed]
    assert seen == []


@pytest.mark.parametrize(("protocol", "test"), share(list(protocols()), TESTS, one_in=8))
def test_no_run_tears_an_access(protocol, test) -> None:
    result = run_test(test, protocol, runs=60)
    assert result.status == "ran"
    assert result.ok


@pytest.mark.parametrize("text", SPLIT)
@pytest.mark.parametrize("protocol", OWNERS)
def test_words_that_l1s_own_apart_come_together(protocol, text) -> None:
    """Every outcome of the model and no other is reached, and each state can reach rest."""
    choice = small_choice(protocol)
    for tight in (False, True):
        program = replace(parse(text), tight=tight, evictions=not tight)
        model = choice.model(choice.rule(None))
        outcomes = passes(choice, program, model)["outcomes"]
        assert sorted(map(tuple, outcomes)) == list(allowed_outcomes(program, model))


@pytest.mark.parametrize("protocol", OWNERS[:1])
def test_cores_that_ask_for_both_words_do_not_wait_for_each_other(protocol) -> None:
    passes(protocol, parse(APART), evictions=0)


def test_registrations_of_single_words_are_no_order(mutant_gpucoh) -> None:
    from gpucoh.verify.explorer import explore
    from gpucoh.verify.programs import parse

    found = explore("denovo-drf!words-asked-apart", parse(APART), evictions=0)
    assert found["violations"][0]["what"] == "operations are incomplete and no move is possible"


@pytest.mark.parametrize(
    ("bug", "test"),
    [("no-l1!atomic-torn", "ADD+b64"), ("no-l1!store-torn", "CoRR+b64+rlx")],
)
def test_a_torn_access_is_caught(mutant_gpucoh, bug, test) -> None:
    from gpucoh.litmus import builtin, run_test
    from gpucoh.verify.explorer import verify

    assert run_test(test, bug, runs=200).forbidden
    found = verify(bug, tests=[builtin(test)])
    assert found.violations[0].kind == "outcome"
