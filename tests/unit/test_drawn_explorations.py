"""Do the C tests draw a failing exploration as ``gpucoh verify`` does, in few lines (``tools/draw_exploration.py``)?"""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gpucoh.verify.diagrams import draw, node_names
from gpucoh.verify.explorer import explore
from gpucoh.verify.programs import KINDS, parse

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "draw_exploration.py"
HARNESS = (ROOT / "csrc/tests/harness.h").read_text(encoding="utf-8")
LINES = int(re.search(r"HARNESS_DRAWING = (\d+)", HARNESS)[1])
TEXT = "0: st x 1; F; st.release y 1 | 1: await y 1; ld x; st y 0*r1+2; add x r0"


def sent(program, found, **members):
    """What a C test writes to the script (``csrc/tests/draw_exploration.c``)."""
    threads = [
        [
            thread.core,
            [
                [
                    *(KINDS[op.kind], op.order, op.scope, op.variable, op.value, int(op.read_only)),
                    *(0 if op.source is None else op.source + 1, int(op.adds)),
                ]
                for op in thread.operations
            ],
        ]
        for thread in program.threads
    ]
    setting = dict.fromkeys(("timestamp_bits", "warm", "evictions", "packed", "tight"), 0)
    named = {"lines": LINES, "protocol": "no-l1", "rule": "rc", "options": {}, "fields": {}}
    sizes = {"cores": 2, "variables": 2}
    return setting | named | sizes | {"threads": threads, "found": found} | members


def printed(what):
    """The lines that the script prints, run without any package."""
    command = [sys.executable, "-I", "-S", SCRIPT]
    done = subprocess.run(
        command, input=json.dumps(what), capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert all(line.startswith("#") for line in lines)
    return [line[4:] for line in lines]


@pytest.mark.parametrize("packed", [False, True])
def test_a_violation_is_drawn_as_gpucoh_verify_draws_it(packed):
    program = replace(parse(TEXT), packed=packed)
    found = explore("no-l1", program, allowed=[(9, 9, 9, 9, 9)])
    (violation,) = found["violations"]
    copies = "core 0 begins with y, core 1 begins with x"
    options = {
        "options": {"a": 1, "b": 2},
        "warm": 6,
        "evictions": 2**32 - 1,
        "packed": int(packed),
    }
    assert printed(sent(program, found, lines=100, **options)) == [
        "protocol no-l1[a=1,b=2], consistency rc",
        f"program {TEXT}",
        f"setting 2 cores, lines {'xy' if packed else 'x y'}, {copies}, any evictions",
        "outcome: the memory model does not allow these values",
        *draw(program, node_names(violation, program), violation["trace"]).splitlines(),
    ]


def test_a_long_drawing_loses_its_middle():
    program = parse("0: st x 1; kernel | 1: ld x; kernel")
    steps = [{"kind": "evict", "to": 0, "line": 0}] * 200 + [{"kind": "kernel"}]
    violation = {"kind": "deadlock", "what": "stuck", "nodes": [["L1", "core", 0]], "trace": steps}
    lines = printed(sent(program, {"violations": [violation]}))
    assert len(lines) == LINES
    assert lines[:4] == [
        "protocol no-l1, consistency rc",
        "program 0: st x 1; kernel | 1: ld x; kernel",
        "setting 2 cores, lines x y",
        "deadlock: stuck",
    ]
    (cut,) = [line for line in lines if line.startswith("    .. ")]
    assert cut == f"    .. {4 + 1 + 201 - (LINES - 1)} rows"
    assert "next launch" in lines[-1]


def test_outcomes_are_printed_where_nothing_is_violated():
    program = parse("0: st x 1 | 1: ld x")
    states = explore("no-l1", program)["states"]
    found = explore("no-l1", program, max_states=states - 1)
    lines = printed(sent(program, found, variables=1, timestamp_bits=4))
    assert lines[2] == "setting 2 cores, lines x, timestamp_bits = 4"
    assert len(found["outcomes"]) > 0
    assert lines[3:] == [
        f"{states} states, complete: false",
        f"limit: more than {states - 1} states",
        f"outcomes: {'; '.join(' '.join(map(str, row)) for row in found['outcomes'])}",
    ]
