"""The site: do links of the tree's pages lead where they did, and does its check find what is broken?"""

import re
import sys
from pathlib import Path

import pandas as pd
import pytest

from scripts import script

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path_kept(monkeypatch):
    """What the scripts put before sys.path is removed."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools" / "site"), str(ROOT / "tools"), *sys.path])


@pytest.mark.usefixtures("path_kept")
def test_links_to_what_the_site_lacks_lead_to_the_repository() -> None:
    build = script("tools/site/build.py")
    files = {path.relative_to(ROOT) for path in build.of_the_tree()}
    text = (
        "[a](cuda.md#speed) [b](../Makefile) [c](https://x.org/y.md) `[d](../Makefile)` "
        "[e](../examples/cuda/kmeans.cu#L3) [f](#here) [g](nowhere.md) [h](../README.md#try-it)"
    )
    assert build.linked(text, Path("docs"), files) == (
        f"[a](cuda.md#speed) [b]({build.REPOSITORY}/Makefile) [c](https://x.org/y.md) `[d](../Makefile)` "
        f"[e]({build.REPOSITORY}/examples/cuda/kmeans.cu#L3) [f](#here) [g](nowhere.md) "
        "[h](../index.md#try-it)"
    )


@pytest.mark.usefixtures("path_kept")
def test_protocol_pages_have_every_controller_and_state(tmp_path) -> None:
    reference = script("tools/site/reference.py")
    page = reference.protocol(tmp_path, "mesi")
    for text in ("## L1", "## L2", "| IS_I |", "| FWD_GETX |", "`clean_put`", "RC-MCA"):
        assert text in page
    assert '"L1.IS" -> "L1.S"' in reference.graph("mesi", "L1")
    assert "`tlb_reach_kib`" in reference.machines()


@pytest.mark.usefixtures("path_kept")
def test_names_are_main_entries_of_the_search(tmp_path) -> None:
    reference = script("tools/site/reference.py")
    assert "!single: mesi-wt\n" in reference.protocol(tmp_path, "mesi-wt")
    for page, names in (
        (reference.machines(), ("fermi", "l1_kib")),
        (reference.workloads(), ("bfs", "mst")),
        (reference.commands(), ("run", "new-protocol")),
        (reference.python(), ("GPU", "atomic_add")),
    ):
        assert all(f"!single: {name}\n" in page for name in names)


def test_the_check_names_broken_links_and_anchors(tmp_path) -> None:
    check = script("tools/site/check.py")
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(
        '<a href="sub/page.html#there">x</a><a href="sub/page.html#gone">x</a><a href="none.html">x</a>'
        '<img src="none.png"><a href="https://x.org">x</a><a href="#own">x</a><p id="own">'
    )
    (tmp_path / "sub" / "page.html").write_text(
        '<h1 id="there">x</h1><a href="../index.html">x</a>'
    )
    broken, outside = check.broken_links(tmp_path)
    assert broken == [
        "index.html: sub/page.html#gone has no such anchor",
        "index.html: none.html",
        "index.html: none.png",
    ]
    assert outside == ["https://x.org"]


@pytest.mark.skipif(
    script("tools/site/check.py").browser.FOUND is None, reason="Chromium is not installed"
)
def test_the_check_finds_a_page_that_is_too_wide(tmp_path) -> None:
    page = '<meta name="viewport" content="width=device-width"><div style="width:{}px">x</div>'
    (tmp_path / "html").mkdir()
    for name, width in (("index", 300), ("wide", 800)):
        (tmp_path / "html" / f"{name}.html").write_text(page.format(width))
    wrong = script("tools/site/check.py").shown_wrong(tmp_path / "html", tmp_path / "screens")
    assert len(wrong) == 1
    assert wrong[0].startswith("wide.html is ")
    assert wrong[0].endswith(" too wide at 390")


@pytest.mark.usefixtures("path_kept")
def test_the_whole_tables_of_the_study_can_be_sorted_and_have_every_row() -> None:
    tables = script("tools/site/study_tables.py")
    found = tables.html(pd.DataFrame({"a<b": [0.12345678, float("nan")], "name": ["x", None]}))
    assert found.startswith('<div class="table-wrapper"><table class="docutils sortable">')
    assert "<th>a&lt;b</th><th>name</th>" in found
    assert re.findall("<td>(.*?)</td>", found) == ["0.1235", "x", "", ""]
