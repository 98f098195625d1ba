"""Are the study's stored rows what runs give, its page what the store says, and the page as short as it shall be?"""

import importlib
import random
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gpucoh.runs.keys import keys_of
from gpucoh.studies.matrices import SHARING, Description
from gpucoh.studies.study import study_row

ROOT = Path(__file__).parents[2]
CHEAP = 0.1  # processor seconds of a run that is repeated
REPEATED = 8
NAMES = ("workload", "protocol", "machine", "cores", "consistency", "seed")


@pytest.fixture(scope="module")
def rows():
    found = pd.read_parquet(ROOT / "studies" / "ideas-tables.parquet")
    found["matrix"] = found["matrix"].str.split(",")
    return found.explode("matrix", ignore_index=True)


@pytest.fixture(scope="module")
def text():
    return (ROOT / "docs" / "study.md").read_text(encoding="utf-8")


def part(text, name):
    return re.search(f"<!-- {name} -->\n(.*?)<!-- end -->", text, re.DOTALL)[1]


def test_runs_drawn_by_the_commit_repeat_the_stored_ones(rows, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    plan = Description(ROOT / "studies" / "ideas.toml").plan()
    runs = {
        (place, *(plan.columns[key][name] for name in NAMES)): run
        for key, run in plan.runs.items()
        for place in plan.places[key]
    }
    cheap = rows[
        rows["cpu_s"].lt(CHEAP) & rows["error"].isna() & rows["matrix"].ne(SHARING)
    ].sort_values(["matrix", *NAMES])
    draw = random.Random(importlib.import_module("shown").commit())
    for place in draw.sample(range(len(cheap)), REPEATED):
        row = cheap.iloc[place]
        run = runs[row["matrix"], *(row[name] for name in NAMES)]
        fresh = study_row(run, keys_of([run])[0])
        found = {name: fresh[name] for name in ("cycles", "flits", "correct", "busiest")}
        assert found == {name: row[name] for name in found}, row.to_dict()


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
