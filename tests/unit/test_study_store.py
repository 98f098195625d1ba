"""Are the study's stored rows what runs give, its page what the store says, and the page as short as it shall be?"""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
CHEAP = 0.1  # processor seconds of a run that is repeated
REPEATED = 8
# The plan of all runs takes 5 to 12 processor seconds, beside other jobs minutes.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def tool():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        yield importlib.import_module("study_repeat")


@pytest.fixture(scope="module")
def rows(tool):
    return tool.stored()


@pytest.fixture(scope="module")
def runs(tool):
    return tool.runs()


@pytest.fixture(scope="module")
def text():
    return (ROOT / "docs" / "study.md").read_text(encoding="utf-8")


def part(text, name):
    return re.search(f"<!-- {name} -->\n(.*?)<!-- end -->", text, re.DOTALL)[1]


def test_runs_drawn_by_the_commit_repeat_the_stored_ones(rows, runs, tool):
    cheap = rows[rows["cpu_s"].lt(CHEAP) & rows["error"].isna()].reset_index(drop=True)
    for row in tool.drawn(cheap, REPEATED, tool.shown.commit()):
        assert list(tool.differing(row, runs[tool.place(row)])) == [], row


def test_a_changed_row_is_reported(rows, runs, tool):
    (row,) = tool.drawn(rows[rows["cpu_s"].lt(CHEAP) & rows["error"].isna()], 1, "a changed row")
    row["cycles"] += 1
    (found,) = tool.differing(row, runs[tool.place(row)])
    assert found.startswith("cycles is ")


def test_an_effect_of_the_page_follows_from_the_store(rows, text):
    good = rows[rows["matrix"].eq("pairs") & rows["error"].isna() & rows["correct"].ne(False)]
    cycles = good.pivot_table(index=["workload", "seed"], columns="protocol", values="cycles")
    logs = np.log(cycles["stc-nv"] / cycles["stc-es"]).dropna().groupby("workload").mean()
    (value,) = re.findall(r"only epochs for which a store waits: ([\d.]+) \(", part(text, "found"))
    assert value == f"{np.exp(logs.mean()):.2f}"


def test_the_page_has_at_most_1200_words_of_prose_and_five_figures(text):
    prose = "\n".join(
        line for line in text.splitlines() if not line.startswith(("|", "    ", "<!--", "!["))
    )
    assert len(re.findall(r"\S*\w\S*", prose)) <= 1200
    assert text.count("![") <= 5
