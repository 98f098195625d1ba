"""Does what a model declares of C's actions do what the explorer, which runs them, does?

The model is carried out in Python: as many states, as many moves to the farthest, the same outcomes.
"""

import ast

import pytest

from gpucoh.export.bounded import bounded, exportable
from gpucoh.export.exporting import programs_of
from gpucoh.verify.explorer import explore, small_choice
from verification.interpreter import Interpreter

PROGRAMS = ("ld x; st x 1 | add x 2", "st x 1 | ld x; add x 2")


def compared(protocol, change=lambda model: None):
    """What the model shows and what the explorer shows, for each program with one eviction."""
    choice = small_choice(protocol)
    rule = choice.rule(None)
    programs = programs_of(PROGRAMS)
    model = bounded(choice, rule, programs, 1)
    change(model)
    interpreter = Interpreter(model)
    for number, program in enumerate(programs):
        visited = interpreter.visit(number)
        found = explore(choice, program, consistency=rule, evictions=1)
        outcomes = {tuple(row) for row in found["outcomes"]}
        yield (
            (visited.states, visited.depth, visited.outcomes, visited.failures),
            (found["states"], found["depth"], outcomes, []),
        )


# The states of the others take seconds.
QUICK = "no-coh"


@pytest.mark.parametrize(
    "protocol",
    [
        name if name == QUICK else pytest.param(name, marks=pytest.mark.long)
        for name in exportable()
    ],
)
def test_a_model_does_what_the_explorer_does(protocol):
    for model, explorer in compared(protocol):
        assert model == explorer


@pytest.mark.parametrize(
    "action",
    [
        "act_fill",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("act_write_back", "act_complete", "act_add_sharer")
        ),
    ],
)
def test_an_action_that_a_model_declares_wrong_is_found(action):
    def forget(model):
        model.definitions.functions[action].body = [ast.Pass()]

    assert any(model != explorer for model, explorer in compared("gpu-vi", forget))
