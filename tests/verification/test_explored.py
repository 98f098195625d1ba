"""Are the outcomes of chosen programs, over every interleaving, those that ``csrc/protocols/*/explored.toml`` lists?

An entry there has a ``program`` in the language of ``gpucoh verify``, ``protocols``, and ``settings``: ``options`` of
the protocol, beside those of ``gpucoh verify``; ``warm`` (each L1 begins with a copy of each variable) or ``copies``
(each with its core); ``packed`` (two variables on a line); ``evictions`` (any number, at any time);
``timestamp_bits``; ``long`` (left to ``make proof``); ``protocols``, where not all. With ``always``, as of the
baselines, every `make test` explores it. In each the exploration is complete and without violations; no outcome (the
values read, thread by thread, then the memory) is as ``forbidden`` says, some are as each of ``seen`` says, and the
cell that ``entered`` names is entered.
"""

import importlib
import tomllib
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import pytest

from gpucoh.verify.diagrams import draw
from gpucoh.verify.explorer import explore, node_names, small_choice
from gpucoh.verify.programs import VARIABLES, parse
from products import rows

FILES = sorted((Path(__file__).parents[2] / "csrc" / "protocols").glob("*/explored.toml"))
ANY_NUMBER = 100
LINES = 40  # of a failure


def explorations(*, always):
    for file in FILES:
        for entry in tomllib.loads(file.read_text(encoding="utf-8"))["exploration"]:
            if (file.parent.name == "baseline" or entry.get("always", False)) != always:
                continue
            for protocol in entry["protocols"]:
                for number, setting in enumerate(entry["settings"]):
                    if protocol not in setting.get("protocols", entry["protocols"]):
                        continue
                    marks = [pytest.mark.long] if setting.get("long") else []
                    name = f"{file.parent.name}: {entry['text']}, {protocol}, setting{number}"
                    yield pytest.param(protocol, entry, setting, marks=marks, id=name)


def matches(pattern, outcome):
    wanted = pattern.split()
    return all(one in ("_", str(value)) for one, value in zip_longest(wanted, outcome))


def faults(entry, found):
    outcomes = found["outcomes"]
    yield from (violation["what"] for violation in found["violations"])
    if not (found["complete"] or found["violations"]):
        yield f"not complete: {'; '.join(found['limits'])}"
    for pattern in entry.get("forbidden", ()):
        yield from (f"forbidden: {row}" for row in outcomes if matches(pattern, row))
    for pattern in entry.get("seen", ()):
        if not any(matches(pattern, row) for row in outcomes):
            yield f"not seen: {pattern}"
    if entry.get("entered") and not found["cells"].get(entry["entered"]):
        yield f"not entered: {entry['entered']}"


def exploration(protocol, entry, setting):
    """What the exploration of an entry in one of its settings found, and the program."""
    changes = {name: setting.get(name, False) for name in ("warm", "packed", "evictions")}
    program = replace(parse(entry["program"]), **changes)
    copies = [
        (int(core), VARIABLES.index(name))
        for core, name in map(str.split, setting.get("copies", ()))
    ]
    options = setting.get("options", "")
    found = explore(
        small_choice(f"{protocol}[{options}]" if options else protocol),
        program,
        consistency=entry.get("consistency"),
        evictions=ANY_NUMBER,
        max_states=3_000_000,
        copies=copies or None,
        fields={name: setting[name] for name in ("timestamp_bits",) if name in setting},
    )
    return found, program


def told(protocol, entry, setting):
    """What is wrong, in at most LINES lines; empty if nothing is."""
    found, program = exploration(protocol, entry, setting)
    wrong = list(faults(entry, found))
    if not wrong:
        return ""
    lines = [f"{protocol}: {entry['text']}", f"program {program}", f"setting {setting}", *wrong[:8]]
    for violation in found["violations"][:1]:
        names = node_names(violation, program)
        lines += draw(program, names, violation["trace"]).splitlines()
    return "\n".join(lines[:LINES])


#: The baselines' take a second in all.
EXPLORATIONS = [*explorations(always=True), *rows(list(explorations(always=False)), one_in=8)]


@pytest.mark.parametrize(("protocol", "entry", "setting"), EXPLORATIONS)
def test_outcomes_are_those_listed(protocol, entry, setting):
    fault = told(protocol, entry, setting)
    if fault:
        pytest.fail(fault, pytrace=False)


def test_a_fault_is_told_with_its_drawing(mutant_gpucoh, monkeypatch):
    explorer = importlib.import_module(f"{mutant_gpucoh.__name__}.verify.explorer")
    monkeypatch.setitem(globals(), "explore", explorer.explore)
    monkeypatch.setitem(globals(), "small_choice", explorer.small_choice)
    entry = {"text": "a store completes", "program": "0: st x 1 | 1: ld x"}
    lines = told("no-l1!ack-dropped", entry, {"warm": True}).splitlines()
    assert lines[:3] == [
        "no-l1!ack-dropped: a store completes",
        "program 0: st x 1 | 1: ld x",
        "setting {'warm': True}",
    ]
    assert any("core 0" in line for line in lines[4:])
    assert len(lines) <= LINES
