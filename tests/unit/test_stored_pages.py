"""Do a page's counts equal those of its store, counted by other code? tools/stored_pages.py compares whole parts."""

import importlib
import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


def test_the_study_s_page_counts_the_runs_of_its_store():
    text = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    found = re.search(
        r"^([\d,]+) runs .*took .*\. (\d+) failed, (\d+) are wrong", text, re.MULTILINE
    )
    rows = pd.read_parquet(ROOT / "studies" / "ideas-tables.parquet")
    rows = rows[rows["matrix"].ne("sharing") & rows["error"].ne("Gap")]
    failed, wrong = rows["error"].notna(), rows["correct"].eq(False)
    counts = [rows[which]["key"].nunique() for which in (failed | True, failed, wrong & ~failed)]
    assert [int(number.replace(",", "")) for number in found.groups()] == counts


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("stored_pages")


def test_a_verdict_that_the_counts_of_its_page_leave_out_is_found(tools, monkeypatch):
    part = tools.generated.part_of
    changed = "| tc-03 | 7 | speedup: `tc-weak` / `mesi` | 1.23 | 1.23 [1.22 to 1.24] | no |"

    def one_changed(page, name):
        return re.sub(r"\| tc-03 (\|[^|]*){5}\|", changed, part(page, name))

    paper = next(item for item in tools.stored() if item[0].stem == "tc")
    monkeypatch.setattr(tools, "stored", lambda: [paper])
    assert list(tools.differing()) == []
    monkeypatch.setattr(tools.generated, "part_of", one_changed)
    assert list(tools.differing()) == [
        "docs/fidelity/tc.md: `verdicts tc` differs from its store: make fidelity PAPER=tc"
    ]
