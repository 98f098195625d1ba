"""Do the two oracles, the explorer's and that of litmus tests, allow every program the same outcomes?"""

import pytest

from gpucoh.verify.axioms import allowed_outcomes as by_pairs
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import every_program, fenced, shapes, without_fences

BOUND = list(every_program(2, 2, 2))


@pytest.mark.parametrize("model", ["SC", "RC-MCA", "RCpc"])
def test_both_oracles_agree(model):
    small = [*BOUND, *map(fenced, BOUND)]
    for program in [*small, *shapes(), *map(without_fences, shapes())]:
        assert set(by_pairs(program, model)) == set(allowed_outcomes(program, model)), program
