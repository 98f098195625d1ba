"""Do the headers of protocol files print their derived tables as they are?"""

import importlib
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def derived(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "tools"))
        yield importlib.import_module("derived_tables")


def test_every_derived_table_is_in_its_files_header(derived):
    assert derived.files()
    for path in derived.files():
        text = path.read_text(encoding="utf-8")
        tables = text.count("GPC_PATCHED_TABLE(")
        assert len(derived.BLOCK.findall(text)) == tables, path
        assert text == derived.rewritten(text), f"{path}: run tools/derived_tables.py"


def test_a_changed_cell_is_marked(derived):
    table = derived.resolve("tc-weak[private=literal]").selected.controllers["L2"]
    lines = [line.split() for line in derived.lines_of(table)]
    assert ["*", "UPGR_OTHER", "IM", "*P", "*P", "*E", "hold", "hold", "IM"] in lines
    assert ["*", "EVICT_CLEAN", "MI", "MI", "I", "keep", "keep"] in lines
