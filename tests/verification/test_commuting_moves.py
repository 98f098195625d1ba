"""Of the orders of moves that commute the explorer visits one: are outcomes and steps those of every order?"""

from dataclasses import replace

import pytest

from gpucoh.cli import call
from gpucoh.verify.explorer import explore, small_choice, verify
from gpucoh.verify.programs import parse
from products import share

# Program, evictions, whether copies are warm, two variables on a line.
PROGRAMS = {
    "a store and a reader": ("0: st x 1 | 1: ld x", 1, False, False),
    "its own stores": ("0: ld x; st x 1; ld x", 1, False, False),
    "fences": ("0: st x 1; F; ld x | 1: ld x; F; st x 2", 0, True, False),
    "atomics": ("0: add x 1 | 1: add x 1; ld x", 1, False, False),
    "a flag": ("0: st x 1; F; st y 1 | 1: ld y; F; ld x", 0, False, False),
    "two variables on a line": ("0: st x 1; ld y | 1: st y 1", 0, False, True),
    "a barrier": ("0: st x 1; bar | 0: bar; ld x", 1, False, False),
}


@pytest.mark.parametrize(("name", "options"), share(PROGRAMS, ["", "[inv=ack]"], one_in=4))
def test_outcomes_and_cells_are_those_of_every_order(name, options):
    text, evictions, warm, packed = PROGRAMS[name]
    program = replace(parse(text), warm=warm, packed=packed)
    few, all_orders = (
        explore(small_choice(f"qr{options}"), program, evictions=evictions, every_order=every_order)
        for every_order in (False, True)
    )
    assert few["complete"]
    assert all_orders["complete"]
    assert sorted(few["outcomes"]) == sorted(all_orders["outcomes"])
    assert few["cells"] == all_orders["cells"]
    assert few["states"] < all_orders["states"]


def test_every_order_of_the_epoch_messages_has_the_same_outcomes():
    program = parse("0: st x 1 | 1: ld x")
    few, all_orders = (
        explore(small_choice("stc-es"), program, every_order=every) for every in (False, True)
    )
    assert few["complete"]
    assert sorted(few["outcomes"]) == sorted(all_orders["outcomes"])
    assert few["states"] < all_orders["states"]


def test_a_protocol_that_declares_nothing_has_one_number_of_states():
    few, all_orders = (
        verify("gpu-vi", cores=2, lines=1, operations=1, every_order=every)
        for every in (False, True)
    )
    assert few.states == all_orders.states


def test_the_command_explores_every_order_if_it_is_to(capsys):
    bounds = ["verify", "-p", "qr[clean=off]", "--cores", "2", "--lines", "1", "--ops", "1"]
    states = []
    for more in ([], ["--every-order", "--states", "5000"]):
        assert call([*bounds, *more]) == 0
        states.append(capsys.readouterr().out)
    assert "complete" in states[0]
    assert "bounded" in states[1]
