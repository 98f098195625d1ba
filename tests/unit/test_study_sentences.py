"""Does a sentence of the former study fall by what contradicts it first: its matrix, a machine, or the interval?"""

import importlib
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gpucoh.studies.matrices import Settings
from gpucoh.studies.tabulation import Tables

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("study_evidence"), importlib.import_module("study_sentences")


def tables(cycles, workloads=6):
    """Runs: (matrix, protocol) -> cycles of each workload."""
    rows = [
        (matrix, protocol, f"w{number}", values[number % len(values)])
        for (matrix, protocol), values in cycles.items()
        for number in range(workloads)
    ]
    frame = pd.DataFrame(rows, columns=["matrix", "protocol", "workload", "cycles"])
    same = {"machine": "fermi", "cores": 16, "scale": "tiny", "consistency": "rc", "own_rule": 1}
    same |= {"model": "RC", "verdict": "correct", "correct": True, "seed": 0, "flits": 1}
    same |= {"error": None, "key": [str(number) for number in range(len(frame))]}
    return Tables(frame.assign(**same), Settings(baseline="p0"))


def test_every_sentence_of_the_file_has_a_relation_and_the_reverse(tools):
    _, sentences = tools
    listed = [one["id"] for one in tomllib.loads(sentences.FILE.read_text())["sentence"]]
    assert listed == list(sentences.SENTENCES)


def test_a_ratio_is_of_the_workloads_that_both_ran(tools):
    evidence, _ = tools
    found = evidence.Evidence(
        tables({("pairs", "p0"): [4, 4], ("pairs", "p1"): [2, np.nan]}), evidence.Place("pairs")
    )
    assert np.exp(found.ratio("p0", "p1")[0]) == pytest.approx(2)
    assert list(found.speeds(["p0", "p1"])) == ["p0"]


def test_a_relation_is_sure_where_no_resample_contradicts_it(tools):
    evidence, _ = tools
    found = evidence.Evidence(
        tables({("pairs", "p0"): [4, 4], ("pairs", "p1"): [2, 3], ("pairs", "p2"): [1, 9]}),
        evidence.Place("pairs"),
    )
    one, other = (evidence.answer("", found.ratio("p0", name) > 0) for name in ("p1", "p2"))
    assert (one.holds, one.share, one.sure) == (True, 1.0, True)
    assert (other.holds, other.sure) == (True, False)
    assert evidence.Answer("", True).sure


@pytest.mark.parametrize(
    ("holds", "contrary", "share", "word"),
    [
        (False, ("l1",), 0.1, "port"),
        (True, ("l1",), 0.1, "proportion"),
        (True, (), 0.9, "interval"),
        (True, (), 0.99, "stands"),
        (True, (), np.nan, "stands"),
    ],
)
def test_the_first_contradiction_names_the_fall(tools, holds, contrary, share, word):
    evidence, sentences = tools
    answer = evidence.Answer("", holds, share)
    assert sentences.Fate("", "", answer, 3, contrary).word == word


def test_the_rank_correlation_of_equal_and_of_reversed_orders(tools):
    evidence, _ = tools
    order = np.array([[1, 1], [2, 2], [3, 3]])
    assert evidence.correlated(order, order[::-1]).tolist() == [-1, -1]
    assert evidence.correlated(order, order).tolist() == [1, 1]
