"""Is what is stored of the study's second set of programs what its examples give?"""

import importlib
import random
from pathlib import Path

import pandas as pd
import pytest

from unit.cuda.compiled import needs_nvcc

ROOT = Path(__file__).parents[3]
REPEATED = 3


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("second_set")


@needs_nvcc
def test_examples_drawn_by_the_commit_repeat_the_stored_cycles(tool, tmp_path):
    stored = pd.read_csv(tool.STORE, keep_default_na=False)
    stored = stored[stored["set"].eq("examples") & stored["why"].eq("")].reset_index(drop=True)
    examples = {
        program.name: (suite, program, folder) for suite, program, folder in tool.chosen(tmp_path)
    }
    assert set(stored["program"]) == set(examples)
    paths = {Path(one).stem: one for one in tool.of_the_study()}
    draw = random.Random(importlib.import_module("shown").commit())
    for place in draw.sample(range(len(stored)), REPEATED):
        row = dict(stored.iloc[place])
        (found,) = tool.rows_of(*examples[row["program"]], [paths[row["protocol"]]])
        assert found == row
