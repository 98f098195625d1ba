"""Does every reading of a paper say where it comes from, and has every setting of a paper's files a reading?"""

from dataclasses import replace
from importlib.resources import files

import pytest

from gpucoh.base.errors import ConfigError
from gpucoh.device.gpu import protocols, resolve
from gpucoh.machines import machine
from gpucoh.papers import load, papers
from gpucoh.papers.counts import COUNTS
from gpucoh.papers.readings import OTHERS, read, readings, settings
from gpucoh.papers.study import study
from gpucoh.suite import workloads

STC = load("stc")
TEXT = files("gpucoh.papers").joinpath("readings_stc.toml").read_text(encoding="utf-8")
NEW = """
[[variant]]
title = "new"
"""


def refused(text=TEXT, paper=STC, of=None):
    with pytest.raises(ConfigError) as caught:
        read(text, paper, of or study("stc"))
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            'rank = "text"',
            'rank = "guess"',
            "reading 'stc-ack': rank: Input should be 'text', 'code',",
        ),
        ('source = "Pannotia"', 'source = ""', "reading 'stc-races': source:"),
        ('source = "Pannotia"\n', "", "reading 'stc-races': source: Field required"),
        ("departs =", "departed =", "reading 'stc-placement': departed: Extra inputs"),
        ('id = "stc-etv"', 'id = "stc-ack"', "two readings have one id"),
        (
            "flit_bytes = [64, 16]",
            "flit_bytes = [64, 16], l2_ports = [4, 2, 1]",
            "reading 'stc-links': names with other values have equally many",
        ),
        ("[64, 16]", "[64]", "variant 'links of 16 bytes' sets machine flit_bytes = 16, which no"),
        ("audits = [false]", "audit = [false]", "sets parameter fg-share.audits = False, which no"),
        ('["off", "on"] }', '["off"] }', "variant 'bands move once an epoch (ETV)' sets option"),
        ('"src", "stc-fig1-hit"', '"stc-fig1-hit"', "claim 'stc-fig1-hit' sets option src.acquire"),
        (
            'rank = "outcome"\nsource = "section 7.1',
            'rank = "text"\nsource = "',
            "chose 'stc-star'",
        ),
    ],
)
def test_a_reading_without_rank_or_source_and_a_setting_without_a_reading_are_refused(
    before, after, said
):
    assert before in TEXT
    assert said in refused(TEXT.replace(before, after, 1))


def test_a_new_variant_option_or_parameter_without_a_reading_is_refused():
    from gpucoh.papers.study import read as study_of

    option = study_of(NEW + 'options = { stc-mb = { bands = "2" } }')
    assert "variant 'new' sets option stc-mb.bands = 2, which no" in refused(of=option)
    parameter = study_of(NEW + "parameters = { mis = { vertices = 8 } }")
    assert "variant 'new' sets parameter mis.vertices = 8, which no" in refused(of=parameter)
    changed = replace(STC, parameters={**STC.parameters, "lulesh": {"edge": 4}})
    assert "[parameters] sets parameter lulesh.edge = 4, which no" in refused(paper=changed)
    added = replace(STC, options={"stc-mb": {"bands": "2"}})
    assert "[options] sets option stc-mb.bands = 2, which no" in refused(paper=added)
    lost = replace(STC, claims=(replace(STC.claims[0], shares="lost"), *STC.claims[1:]))
    assert "shares the number of 'lost', which is no claim" in refused(paper=lost)


@pytest.mark.parametrize("name", papers())
def test_readings_touch_what_there_is_and_cover_the_measures_of_single_claims(name):
    paper, found = load(name), readings(name)
    known = {"all", *protocols(), *workloads(), *(claim.id for claim in paper.claims)}
    assert {touched for reading in found for touched in reading.touches} <= known
    counted = replace(
        paper,
        bars=(),
        claims=tuple(
            replace(paper.claims[0], subject=protocol, baseline="", machine=fields)
            for count in COUNTS[name].values()
            for protocol in count.protocols
            for fields in ({}, *count.also_on)
        ),
    )
    for setting in settings(counted, study(name)):
        assert any(reading.names(setting) for reading in found), str(setting)


def plain(value):
    """A value as claims, options and fields of machines all write it."""
    words = {"on": "1", "off": "0", "True": "1", "False": "0"}
    text = str(value).removesuffix(".0")
    return words.get(text, text)


def in_use(paper, kind, owner, name):
    """The values of a setting where no variant changes it: those of claims, and the default."""
    of_claims = settings(paper, replace(study(paper.id), variants=(), bars=(), sizes=None))
    found = {plain(one.value) for one in of_claims if one[1:4] == (kind, owner, name)}
    if kind == "machine":
        return found | {plain(getattr(machine(paper.machine), name))}
    if kind == "parameter":
        return found or {plain(workloads()[owner].setting("small", 0, {}).params[name])}
    choice = resolve(owner)
    return found | {plain({"consistency": choice.rule(None), **choice.values()}.get(name))}


@pytest.mark.parametrize("name", papers())
def test_the_first_value_of_a_reading_is_in_use(name):
    paper = load(name)
    for reading in readings(name):
        named = [("machine", "", reading.machine)]
        named += [("parameter", *item) for item in reading.parameters.items()]
        named += [
            ("option", owner, {key: reading.options[key] for key in options_of(owner, reading)})
            for owner in set(reading.touches) & set(protocols())
        ]
        for kind, owner, given in named:
            for key, (first, *_) in given.items():
                if first != OTHERS:
                    assert plain(first) in in_use(paper, kind, owner, key), (reading.id, owner, key)


def options_of(protocol, reading):
    """The reading's options that the protocol has."""
    return {"consistency", *resolve(protocol).values()} & set(reading.options)
