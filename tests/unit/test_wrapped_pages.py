"""Are the pages wrapped at one width, and does tools/wrap.py keep what is no paragraph?"""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORDS = "word " * 40


@pytest.fixture
def wrap(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("wrap")


def test_every_page_has_the_width(wrap):
    read = {page: page.read_text(encoding="utf-8") for page in wrap.pages()}
    assert len(read) > 20
    assert [str(page) for page, text in read.items() if wrap.wrapped(text) != text] == [], (
        "run `python tools/wrap.py`"
    )


def test_a_paragraph_is_filled(wrap):
    lines = wrap.wrapped(f"one\ntwo {WORDS}").split("\n")
    assert lines[0].startswith("one two word")
    assert max(map(len, lines)) <= 120


def test_lines_of_an_item_are_indented(wrap):
    first, second = wrap.wrapped(f"- {WORDS}").split("\n")
    assert first.startswith("- word")
    assert second.startswith("  word")


@pytest.mark.parametrize(
    "text",
    [
        f"| {WORDS}|",
        f"# {WORDS}",
        f"text:\n\n    {WORDS}",
        f"```\n{WORDS}\n```",
        f"<!-- part -->\n{WORDS}\n<!-- end -->",
    ],
    ids=["table", "heading", "indented code", "fenced code", "generated part"],
)
def test_what_is_no_paragraph_stays(wrap, text):
    assert wrap.wrapped(text) == text


def test_a_code_span_is_not_broken(wrap):
    span = "`0: st x 1; ld y | 1: st y 1; ld x`"
    assert span in wrap.wrapped(f"{'x' * 100} {span} {WORDS}")


def test_no_line_begins_as_an_item_by_chance(wrap):
    lines = wrap.wrapped(f"{'x' * 118} - {WORDS}").split("\n")
    assert not [line for line in lines if line.startswith("- ")]
