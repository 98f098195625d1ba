"""Operators and constants replaced at random: are places found in the core, and is a mutant found by a check?"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import script

ROOT = Path(__file__).parents[2]
SAMPLE = """\
enum { SIZE = 4 };

static bool
is_late(const queue_t *x, uint32_t n)
{
    assert(n < 7);
    return (uint32_t) x->at[n - 1] + 2 <= now(x, n == 3) && *x->end & UINT64_C(8) ? x->late : false;
}
"""


@pytest.fixture(scope="module")
def tool():
    return script("tools/time_mutants.py")


@pytest.fixture
def found(tool, tmp_path):
    file = tmp_path / "core" / "queue.c"
    file.parent.mkdir()
    file.write_text(SAMPLE)
    return tool.time_places.places_of(file, tmp_path)


def test_comparisons_with_their_operands_and_constants_are_places(found):
    line = "return (uint32_t) x->at[n - 1] + 2 <= now(x, n == 3) && *x->end & UINT64_C(8) ? x->late : false;"
    assert [place.key.removeprefix("core/queue.c is_late: ") for place in found] == [
        f"{line}: 1 -> 2",
        f"{line}: 1 -> 0",
        f"{line}: 2 -> 3",
        "(uint32_t) x->at[n - 1] + 2 <= now(x, n == 3) -> <",
        "n == 3 -> !=",
        f"{line}: 3 -> 4",
        f"{line}: UINT64_C(8) -> UINT64_C(9)",
    ]
    assert {place.line for place in found} == {7}


def test_a_number_chooses_the_mutant(tool, found):
    text = tool.time_places.mutated(SAMPLE, {3: found[3], 4: found[4]})
    assert (
        "return (GPC_SWITCHED(3) ? ((uint32_t) x->at[n - 1] + 2 < now(x, n == 3)) : "
        "((uint32_t) x->at[n - 1] + 2 <= now(x, (GPC_SWITCHED(4) ? (n != 3) : (n == 3))))) && *x->end"
    ) in text


def test_a_larger_draw_begins_with_a_smaller_one(tool, monkeypatch):
    monkeypatch.setattr(tool, "compiles", lambda file, drawn: "16" not in drawn[1].key)
    drawn = tool.draw(tool.places(), 3, 25)
    assert [place.folder for place in drawn[:5]] == list(tool.FOLDERS)
    assert len({place.key for place in drawn}) == 25
    assert tool.draw(tool.places(), 3, 10) == drawn[:10]
    assert tool.draw(tool.places(), 4, 10) != drawn[:10]
    left_out = [place for place in tool.places() if place != drawn[1]]
    assert tool.draw(left_out, 3, 20)[2:5] == drawn[2:5]


def test_every_reason_is_of_a_place_that_exists(tool):
    assert set(tool.NOTES.reasons()) <= {place.key for place in tool.places()}


def test_the_tests_that_know_a_file_come_first(tool):
    names = ("alu", "wheel", "time_cache", "dram")
    checks = [tool.Check("counters", "counters", ())]
    checks = [*(tool.Check("C tests", name, ()) for name in names), *checks]
    order = [check.name for check in tool.in_order(checks, tool.known_tests()["engine/wheel.c"])]
    assert order == ["wheel", "time_cache", "alu", "dram", "counters"]


@pytest.mark.long  # it builds every C test, and runs all checks once
def test_a_mutant_is_found_and_recorded(tool, tmp_path):
    command = [sys.executable, str(ROOT / "tools" / "time_mutants.py"), "--number", "1", "--seed", "1"]  # fmt: skip
    done = subprocess.run(
        command, env=os.environ | {"TIME_MUTANTS": str(tmp_path)}, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = map(json.loads, (tmp_path / "seed-1.jsonl").read_text().splitlines())
    assert row["check"] == "C tests"
    assert row["how"]
    assert "1 of 1 that are not equivalent are found" in done.stdout
