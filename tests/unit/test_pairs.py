"""Do the configurations of each pair differ only in what the pair says, as far as their declarations show it?"""

import dataclasses
import tomllib
from pathlib import Path

import pytest

from gpucoh.base.errors import ConfigError
from gpucoh.device.choices import split_options
from gpucoh.device.gpu import resolve
from gpucoh.studies.pairs import differences, read_pairs

STUDIES = Path(__file__).parents[2] / "studies"
PAIRS = read_pairs(STUDIES / "pairs.toml")


def chosen(text):
    name, bracket, rest = text.partition("[")
    place = str((STUDIES / name).resolve()) if name.endswith(".c") else name
    return resolve(place + bracket + rest)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.without} {pair.with_it}")
def test_a_pair_lists_everything_in_which_the_declarations_differ(pair):
    both = chosen(pair.without), chosen(pair.with_it)
    rules = tuple(pair.rule or one.rule(None) for one in both)
    assert differences(*both, rules) == list(pair.differs)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.without} {pair.with_it}")
def test_a_pair_of_one_protocol_differs_in_one_option_or_in_the_rule(pair):
    names, options = zip(*map(split_options, (pair.without, pair.with_it)), strict=True)
    if names[0] == names[1]:
        keys = options[0].keys() | options[1].keys()
        assert len(keys) == 1
        named = [one for one in pair.differs if one.startswith("option ") or one == "rule"]
        assert named == ["rule" if keys == {"consistency"} else f"option {keys.pop()}"]
    else:
        assert pair.differs[0] == "protocol"
        assert not options[1]  # the idea is the protocol as its paper has it


def test_pairs_that_share_a_rule_differ_in_neither_rule_nor_model():
    for pair in PAIRS:
        if pair.rule:
            assert not {"rule", "model"} & set(pair.differs)


def test_no_pair_is_listed_twice():
    assert len({(pair.without, pair.with_it, pair.rule) for pair in PAIRS}) == len(PAIRS)


def test_differences_see_an_option_more():
    first, second = resolve("tc-strong[lifetime=100]"), resolve("tc-strong[stall=bank]")
    assert differences(first, second, ("rc", "rc")) == ["option lifetime", "option stall"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[[pair]]\nidea = "a"\n', "has no what"),
        ('[[pair]]\nides = "a"\n', "did you mean 'idea'"),
    ],
)
def test_a_mistake_in_the_file_of_pairs_is_named(tmp_path, text, problem):
    path = tmp_path / "pairs.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=problem):
        read_pairs(path)


def test_the_file_has_every_field_of_a_pair():
    data = tomllib.loads((STUDIES / "pairs.toml").read_text())
    assert len(data["pair"]) == len(PAIRS)
    assert {field.name for field in dataclasses.fields(PAIRS[0])} >= {"idea", "what", "differs"}
