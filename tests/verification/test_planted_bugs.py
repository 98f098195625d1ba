"""Is every planted bug caught by what `planted.toml` of its family says? `tools/planted_bugs.py` makes these files."""

from pathlib import Path

import pytest

from scripts import script

TOOL = Path(__file__).parents[2] / "tools" / "planted_bugs.py"


@pytest.fixture
def tool(mutant_gpucoh):
    return script("tools/planted_bugs.py")


def test_every_planted_bug_is_caught_by_something(tool):
    notes = tool.read_notes()
    assert [name for name in tool.planted() if not notes.get(name)] == []
    assert [name for name in notes if name not in tool.planted()] == []


def test_a_search_tries_litmus_tests(tool):
    name = "gpu-vi!w2"
    note = tool.find_litmus(name, tool.planted()[name], {})
    assert tool.check_litmus(name, note)


def search(tool, monkeypatch, tmp_path, *names, **found):
    """``--find`` with searches that find this; what it notes of the first bug."""
    (tmp_path / "planted.c").write_text(f'BUG("{names[0]}", ..)')
    monkeypatch.setattr(tool, "LISTS", [tmp_path / "planted.c"])
    monkeypatch.setattr(tool, "SEARCHES", {key: lambda *_, key=key: found[key] for key in found})
    status = tool.find(list(names))
    return status, tool.read_notes().get(names[0])


def test_a_search_says_when_nothing_was_found(tool, monkeypatch, tmp_path, capsys):
    found = search(tool, monkeypatch, tmp_path, "gpu-vi!w2", verify=None, litmus=None)
    assert found == (1, None)
    assert "nothing catches it (tried: verify, litmus)" in capsys.readouterr().out


def test_a_search_notes_what_it_found(tool, monkeypatch, tmp_path):
    note = {"test": "CoRR", "runs": 300}
    found = search(tool, monkeypatch, tmp_path, "gpu-vi!w2", verify=None, litmus=note)
    assert found == (0, {"litmus": note})


def test_a_search_for_an_unknown_bug_is_one_line(tool, monkeypatch, tmp_path, capsys):
    assert search(tool, monkeypatch, tmp_path, "gpu-vi!w9") == (2, None)
    assert capsys.readouterr().out.startswith("unknown planted bug 'gpu-vi!w9'")


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
