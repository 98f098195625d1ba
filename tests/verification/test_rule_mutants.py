"""Rules broken at random: are places found in the C of a protocol, and is a broken rule found by a check?"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import script

TOOLS = Path(__file__).parents[2] / "tools"
SAMPLE = """\
/* GO(L1_I, act_comment) */
#define CELL GO(L1_I, act_defined)

static bool
is_last(const gpc_step_t *x)
{
    return x->count == 1;
}

static gpc_event_id_t
l1_classify(const gpc_step_t *x)
{
    if (x->cause == LOAD && is_last(x)) {
        return L1_LAST;
    }
    return x->late ? L1_LATE : is_last(x) ? L1_LAST : L1_OTHER;
}

GPC_ACTION(act_both, "one (and the other)")
{
    (void) gpc_act(act_one, x);
    return GPC_OK;
}

static int
check_options(const gpc_step_t *x)
{
    return x->bad ? GPC_ERROR_OPTION : GPC_OK;
}

static const gpc_cell_t l1_table[L1_NUM_STATES][L1_NUM_EVENTS] = {
    [L1_V] = {
        [L1_LOAD] = GO(L1_V, act_hit),
        [L1_STORE] = REDO(L1_V, act_both, act_one), /* a comment, with a comma */
    },
};

static const gpc_patch_t patches[] = {
    {L1_V, L1_EVICT, HOLD_QUEUE_AFTER(act_one), "a reason, GO(L1_I, act_text)"},
};
"""


@pytest.fixture(scope="module")
def tool():
    return script("tools/rule_mutants.py")


@pytest.fixture
def sample(tmp_path):
    file = tmp_path / "family" / "sample.c"
    file.parent.mkdir()
    file.write_text(SAMPLE)
    return file


def test_actions_of_cells_and_guards_are_places(tool, sample):
    found = tool.rule_places.places_of(sample, sample.parents[1])
    assert [place.key.removeprefix("sample.c ") for place in found] == [
        "is_last: not x->count == 1",
        "l1_classify: not x->cause == LOAD && is_last(x)",
        "l1_classify: not x->late",
        "l1_classify: not is_last(x)",
        "act_both: drop gpc_act(act_one, x)",
        "l1_table L1_V L1_LOAD: drop act_hit",
        "l1_table L1_V L1_STORE: drop act_both",
        "l1_table L1_V L1_STORE: drop act_one",
        "patches L1_V L1_EVICT: drop act_one",
    ]
    assert [place.line for place in found[:3]] == [7, 13, 16]


def test_a_number_chooses_the_broken_rule(tool, sample):
    found = tool.rule_places.places_of(sample, sample.parents[1])
    lines = tool.rule_places.mutated(SAMPLE, dict(enumerate(found, 1))).splitlines()
    assert "    return (x->count == 1) ? !GPC_SWITCHED(1) : GPC_SWITCHED(1);" in [
        line.replace("((", "(").replace("))", ")") for line in lines
    ]
    assert any("GO(L1_V, gpc_rule_6 /* act_hit */)" in line for line in lines)
    assert any("return GPC_SWITCHED(6) ? GPC_OK : gpc_act(act_hit, x);" in line for line in lines)


def test_rules_are_drawn_from_each_protocol_in_turn(tool):
    found = tool.places()
    users = {place.file: [place.file.split("/")[0]] for place in found}
    families = len({file for (file,) in users.values()})
    drawn = tool.draw(found, users, 3, 3 * families, None)
    assert len({place.key for place, _ in drawn}) == 3 * families
    assert [family for _, family in drawn[:families]] == sorted({family for _, family in drawn})
    assert drawn == tool.draw(found, users, 3, 3 * families, None)
    assert {family for _, family in tool.draw(found, users, 3, 5, "temporal")} == {"temporal"}


def test_every_reason_is_of_a_rule_that_exists(tool):
    known = {place.key for place in tool.places()}
    assert set(tool.NOTES.reasons()) <= known


@pytest.mark.long  # it builds an extension
def test_a_broken_rule_is_found_and_recorded(tool, tmp_path):
    command = [sys.executable, str(TOOLS / "rule_mutants.py"), "--number", "1", "--seed", "8"]
    environment = os.environ | {"RULE_MUTANTS": str(tmp_path)}
    done = subprocess.run(
        [*command, "--protocol", "tc-weak"], env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (row,) = map(json.loads, (tmp_path / "seed-8.jsonl").read_text().splitlines())
    assert row["protocol"] == row["under"] == "tc-weak"
    assert row["check"] in tool.rule_checks.NAMES
    assert row["reached"]
    assert "1 of 1 that are not equivalent are found" in done.stdout
