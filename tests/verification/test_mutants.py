"""Planted bugs: are they available to tests, and only there?"""

import gpucoh
from registered import COHERENT


def test_the_product_has_no_planted_bugs():
    assert not [name for name in gpucoh.protocols() if "!" in name]


def test_every_protocol_that_promises_something_has_planted_bugs(mutant_gpucoh):
    names = list(mutant_gpucoh.protocols())
    for base in COHERENT:
        planted = [name for name in names if name.startswith(base + "!")]
        assert len(planted) >= 5, base


def test_a_planted_bug_takes_its_base_protocols_options(mutant_gpucoh):
    assert mutant_gpucoh.GPU(protocol="tc-weak!h1[lifetime=8]") is not None


def test_a_gpu_runs_with_a_planted_bug(mutant_gpucoh):
    result = mutant_gpucoh.run("stn", protocol="tc-weak!fence-ignores-gwct", scale="tiny")
    assert result.protocol == "tc-weak!fence-ignores-gwct"


def test_the_product_is_back_after_a_test_with_planted_bugs():
    import gpucoh as again

    assert again is gpucoh
