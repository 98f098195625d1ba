"""Every planted bug is caught by what `planted.toml` says; `tools/planted_bugs.py` makes and checks that file."""

import importlib.util
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "planted_bugs.py"


@pytest.fixture
def tool(mutant_gpucoh):
    sys.path.insert(0, str(TOOL.parent))
    try:
        spec = importlib.util.spec_from_file_location("planted_bugs", TOOL)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(TOOL.parent))


def test_every_planted_bug_is_caught_by_something(tool):
    notes = tool.read_notes()
    assert [name for name in tool.planted() if not notes.get(name)] == []
    assert [name for name in notes if name not in tool.planted()] == []


def test_every_literal_reading_is_found_by_the_explorer(tool):
    notes = tool.read_notes()
    readings = [name for name, p in tool.planted().items() if p.paper != tool.ORDINARY]
    assert len(readings) >= 12
    assert [name for name in readings if "verify" not in notes[name]] == []


def test_the_explorer_finds_each_where_it_is_noted(tool):
    quick = {
        name: row["verify"]
        for name, row in tool.read_notes().items()
        if "verify" in row and row["verify"]["steps"] <= 13
    }
    assert len(quick) > 20
    missed = [name for name, note in quick.items() if not tool.check_verify(name, note)]
    assert missed == []
