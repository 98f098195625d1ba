"""Does the diagram of an exploration draw every kind of step?"""

import pytest

from gpucoh.verify.diagrams import draw
from gpucoh.verify.programs import parse

PROGRAM = parse("0: st x 1; kernel | 1: ld x; kernel")
NODES = ["core 0", "core 1", "L2 of x"]


@pytest.mark.parametrize(
    ("step", "drawn"),
    [
        ({"kind": "issue", "thread": 0, "op": 0, "to": 0}, "[0: st x 1]"),
        ({"kind": "deliver", "message": "GETX", "from": 0, "to": 2, "line": 0}, "GETX x"),
        (
            {"kind": "memory", "message": "FILL", "to": 2, "line": 0, "detail": "data=1,0"},
            "FILL x =1",
        ),
        ({"kind": "replay", "to": 2}, "[retries a request]"),
        ({"kind": "entry", "to": 0, "line": 0, "part": "buffer"}, "[buffer x]"),
        ({"kind": "evict", "to": 1, "line": 0}, "[evicts x]"),
        ({"kind": "end", "to": 1}, "[launch ends]"),
        ({"kind": "kernel"}, "..... next launch ....."),
        ({"kind": "timer", "to": 0, "message": "TIMER"}, "[timer]"),
        ({"kind": "background", "to": 0, "message": "TIMER"}, "[background timer]"),
        ({"kind": "time", "now": 7}, "..... time is 7 ....."),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_every_kind_of_step_is_drawn(step, drawn):
    assert drawn in draw(PROGRAM, NODES, [{"detail": "", **step}])


def test_an_entry_of_no_variable_is_drawn_without_a_line():
    step = {"kind": "entry", "to": 0, "line": 2**58 - 1, "part": "fifo"}
    assert "[fifo]" in draw(PROGRAM, NODES, [step])
