"""Do our tools find the faults that public projects had, and accept their mends?"""

import sys
import tomllib
from pathlib import Path

import pytest

import gpucoh
from products import share
from registered import COHERENT
from scripts import script

ROOT = Path(__file__).parents[2]
FACTS = tomllib.loads((ROOT / "tests" / "verification" / "real_bugs.toml").read_text())["bug"]
PROGRAMS = [bug["program"] for bug in FACTS if "program" in bug]


@pytest.fixture
def tool():
    """``tools/real_bugs.py``."""
    module = script("tools/real_bugs.py")
    yield module
    sys.modules.pop(module.PROGRAMS.stem, None)


def test_a_dozen_bugs_are_found_and_each_has_a_thread():
    found = [bug for bug in FACTS if any(note["what"] for note in bug.get("found", {}).values())]
    assert len(found) >= 12
    assert len({bug["thread"] for bug in FACTS}) == len(FACTS)
    assert all("found" in bug or "missing" in bug for bug in FACTS)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_race_is_found_as_noted_and_not_in_the_mend(tool, program):
    note = next(bug["found"] for bug in FACTS if bug.get("program") == program)
    assert (tool.by_race(program) or "") == note["check"]["what"] == "race"
    assert tool.outcome(program, tool.CHECKED_UNDER, mended=True, check=True) is None


@pytest.mark.parametrize(
    "program", [PROGRAMS[0], *(pytest.param(name, marks=pytest.mark.long) for name in PROGRAMS[1:])]
)
def test_a_program_is_wrong_under_the_protocols_that_are_noted(tool, program):
    note = next(bug["found"] for bug in FACTS if bug.get("program") == program)
    assert (tool.by_run(program) or "") == note["run"]["what"]


@pytest.mark.parametrize(("program", "protocol"), share(PROGRAMS, COHERENT, one_in=24))
def test_a_mended_program_is_right_under_every_coherent_protocol(tool, program, protocol):
    assert tool.outcome(program, protocol, mended=True) is None


@pytest.mark.parametrize("name", [bug["planted"] for bug in FACTS if "planted" in bug])
def test_a_planted_bug_is_found_by_what_is_noted(mutant_gpucoh, tool, name):
    notes = next(bug["found"] for bug in FACTS if bug.get("planted") == name)
    found = {kind: note["seconds"] for kind, note in notes.items() if note["what"]}
    quickest = min(found, key=found.__getitem__)
    assert tool.FINDERS["planted"][quickest](name) == notes[quickest]["what"], quickest


def test_the_page_has_the_table(tool):
    assert tool.table() in (ROOT / "docs" / "real-bugs.md").read_text()


def test_protocols_that_are_loaded_are_not_the_package_s(tool):
    before = tool.coherent()
    gpucoh.load_protocol(ROOT / "examples" / "protocols" / "hlrc.c")
    assert tool.coherent() == before == COHERENT
