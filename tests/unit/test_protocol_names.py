"""Are protocol ids, brackets and options read as written, and refused with what is allowed?"""

from dataclasses import replace

import pytest

from gpucoh.base.errors import ConfigError
from gpucoh.device.choices import choose, split_list, split_options
from gpucoh.device.gpu import resolve
from gpucoh.device.protocols import Protocol

DESCRIPTION = {
    "id": "tc-weak",
    "name": "temporal coherence",
    "paper": "TC",
    "family": "tc",
    "models": {"sc": "SC", "rc": "RCpc"},
    "default_consistency": "rc",
    "options": [
        {
            "name": "lifetime",
            "default": 0,
            "smallest": 0,
            "largest": 9999,
            "choices": "",
            "text": "cycles",
            "small": 2,
            "fuzz": [1, 50],
        },
        {
            "name": "private",
            "default": 1,
            "smallest": 0,
            "largest": 1,
            "choices": "off on",
            "text": "",
        },
        {
            "name": "l2",
            "default": 0,
            "smallest": 0,
            "largest": 1,
            "choices": "back through",
            "text": "",
        },
    ],
    "keeps_time": True,
    "scopes": False,
    "release_travels": False,
    "declared": {
        "weak_outcomes": ["SB", "MP"],
        "variations": ["private=off", "lifetime=3,l2=through"],
        "uncovered": [
            {"table": "L1", "states": ["V"], "events": ["LOAD"], "rules": ["sc"], "reason": "none"}
        ],
    },
    "watched": {"promise": "LEASED", "copies": False, "banks": True, "leases": True},
    "controllers": [
        {
            "name": "L1",
            "tables": [
                {
                    "name": "L1",
                    "states": [
                        {"name": "I", "kind": "stable", "text": "no copy"},
                        {"name": "V", "text": "copy"},
                    ],
                    "stable": ["I", "V"],
                    "events": [{"name": "LOAD", "text": ""}],
                    "transitions": 2,
                    "hardened": 1,
                    "table": [["I", "LOAD", "fetch", "V"], ["V", "LOAD", "HOLD_LINE", None]],
                    "hardened_cells": [["I", "LOAD"]],
                    "base": "tc-strong",
                    "patches": [["V", "LOAD", "must wait"]],
                }
            ],
        }
    ],
}
KNOWN = {"tc-weak": Protocol.from_json(DESCRIPTION)}


def test_a_list_is_not_split_inside_brackets():
    assert split_list("tc-weak[a=1,b=2], mesi,") == ["tc-weak[a=1,b=2]", "mesi"]


@pytest.mark.parametrize("text", ["a[b", "a]b", "a[[x=1]]"])
def test_brackets_that_do_not_match_are_refused(text):
    with pytest.raises(ConfigError, match="brackets do not match"):
        split_list(text)


def test_options_are_split_at_commas():
    assert split_options("gpu-vini[dir_ways=32, dir_ratio=16]") == (
        "gpu-vini",
        {"dir_ways": "32", "dir_ratio": "16"},
    )


@pytest.mark.parametrize("text", ["a[b]", "a[b=]", "a[=1]", "a[b=1]c", "a[b=1,b=2]"])
def test_malformed_options_are_refused(text):
    with pytest.raises(ConfigError):
        split_options(text)


def test_numbers_switches_and_words_are_read():
    assert choose("tc-weak[lifetime=3200,private=off,l2=through]", KNOWN).options == {
        "lifetime": 3200,
        "private": 0,
        "l2": 1,
    }
    assert choose("tc-weak[private=1]", KNOWN).options == {"private": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tc-wek", "unknown protocol 'tc-wek'; allowed: tc-weak; did you mean 'tc-weak'?"),
        ("tc-weak[lifetim=3]", "unknown option 'lifetim'"),
        ("tc-weak[lifetime=x]", "option lifetime = 'x' is not a whole number from 0 to 9999"),
        ("tc-weak[lifetime=10000]", "option lifetime = 10000 is not"),
        ("tc-weak[private=maybe]", "is not on or off"),
        ("tc-weak[l2=sideways]", "is not one of back, through"),
        ("tc-weak[consistency=drf]", "does not support consistency 'drf' (allowed: sc, rc)"),
        ("tc-weak[consistency=xc]", "unknown consistency 'xc'"),
    ],
)
def test_what_is_unknown_or_unfit_is_refused(text, message):
    with pytest.raises(ConfigError) as caught:
        choose(text, KNOWN)
    assert message in str(caught.value)


def test_the_rule_is_the_one_asked_for_else_the_brackets_else_the_papers():
    assert choose("tc-weak", KNOWN).rule(None) == "rc"
    assert choose("tc-weak", KNOWN).rule("sc") == "sc"
    assert choose("tc-weak[consistency=wo]", KNOWN).rule(None) == "rc"
    with pytest.raises(ConfigError, match="contradicts consistency rc"):
        choose("tc-weak[consistency=sc]", KNOWN).rule("wo")


def test_the_id_is_kept_as_asked_for():
    assert choose("tc-weak[lifetime=5]", KNOWN).text == "tc-weak[lifetime=5]"


def test_a_table_has_names_cells_and_hardened_marks():
    table = KNOWN["tc-weak"].controllers["L1"]
    assert (table.states, table.stable, table.events) == (("I", "V"), ("I", "V"), ("LOAD",))
    assert [(cell.state, cell.next, cell.hardened) for cell in table.cells()] == [
        ("I", "V", True),
        ("V", "", False),
    ]
    assert table.texts["I"] == "no copy"


def test_the_graph_names_every_state():
    dot = KNOWN["tc-weak"].dot()
    assert dot.startswith("digraph")
    assert '"L1.I" -> "L1.V" [label="LOAD"]' in dot


def test_options_select_tables():
    default, other = resolve("mesi-wt"), resolve("mesi-wt[exclusive=on]")
    assert default.selected is default.protocol
    l1 = other.selected.controllers["L1"]
    assert default.protocol.controllers["L1"].stable == ("I", "S")
    assert l1.stable == ("I", "S", "E", "M")
    assert l1.transitions > default.protocol.controllers["L1"].transitions
    assert other.selected.options == default.protocol.options


def test_a_table_says_which_cells_differ_from_its_base_and_why():
    table = KNOWN["tc-weak"].controllers["L1"]
    assert table.base == "tc-strong"
    assert [cell.reason for cell in table.cells()] == ["", "must wait"]
    assert table.to_dict()["patches"] == [["V", "LOAD", "must wait"]]
    assert "* differs from tc-strong" in table._repr_html_()


def test_a_derived_table_is_its_base_but_for_the_patches():
    def cells(protocol):
        table = resolve(protocol).selected.controllers["L1"]
        return {(cell.state, cell.event): cell for cell in table.cells()}

    base, derived = cells("denovo-drf"), cells("denovo-ro")
    assert all(not cell.reason for cell in base.values())
    for key, cell in derived.items():
        same = key in base and replace(cell, reason="") == base[key]
        assert same == (not cell.reason)
    assert set(base) < set(derived)


def test_what_a_protocol_declares_for_tests_and_tools_is_read():
    known = KNOWN["tc-weak"]
    assert (known.keeps_time, known.weak_outcomes) == (True, ("SB", "MP"))
    assert known.with_variations() == [
        "tc-weak",
        "tc-weak[private=off]",
        "tc-weak[lifetime=3,l2=through]",
    ]
    assert [(cells.table, cells.events, cells.rules) for cells in known.uncovered] == [
        ("L1", ("LOAD",), ("sc",))
    ]
    assert (known.watched.promise, known.watched.leases) == ("LEASED", True)
    assert (known.options["lifetime"].small, known.options["lifetime"].fuzz) == (2, (1, 50))
    assert (known.options["private"].small, known.options["private"].fuzz) == (None, None)
