"""Planted faults of time: is a row that is not valid refused in a line, and one that plants nothing missed?"""

from pathlib import Path

import pytest

from scripts import script

ROOT = Path(__file__).parents[2]
ROW = {
    "id": "touch-lost",
    "unit": "replacement",
    "what": "a hit leaves the line's place",
    "file": "controller/controller.c",
    "text": "gpc_tags_touch(&self->arrays[x.array], x.way);",
    "with": ";",
    "test": "time_cache",
}


@pytest.fixture
def tool(monkeypatch, tmp_path):
    time_faults = script("tools/time_faults.py")
    monkeypatch.setattr(time_faults, "ROWS", tmp_path)
    monkeypatch.setattr(time_faults, "FOLDER", tmp_path / "build")
    return time_faults


def write(folder, *rows):
    text = "\n".join(
        "[[fault]]\n" + "".join(f"{key} = '''{value}'''\n" for key, value in row.items())
        for row in rows
    )
    (folder / "controller.toml").write_text(text)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"units": "x"}, "touch-lost: unknown key 'units' (keys: id, "),
        ({"with": ""}, "touch-lost: no 'with'"),
        ({"id": "Touch"}, "Touch: an id has lower-case letters, digits and hyphens"),
        ({"unit": "LRU order"}, "touch-lost: unit 'LRU order' cannot begin a case's name"),
        ({"file": "cache/lru.c"}, "touch-lost: no file csrc/cache/lru.c"),
        ({"text": "return GPC_OK;"}, "touch-lost: text 'return GPC_OK;' is "),
        ({"text": "no_text()"}, "touch-lost: text 'no_text()' is 0 times in csrc/controller"),
        ({"with": "(1"}, "touch-lost: with '(1' is no whole expression or statements"),
        ({"test": "time_lru"}, "touch-lost: meson.build has no C test 'time_lru'"),
    ],
)
def test_a_row_that_is_not_valid_is_refused_in_one_line(tool, tmp_path, capsys, changes, said):
    write(tmp_path, ROW | changes)
    assert tool.main([]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"controller.toml: {said}")


def test_an_id_or_a_part_of_a_text_that_is_given_twice_is_refused(tool, tmp_path, capsys):
    network = "waiter->network == x->msg->network"
    first = ROW | {"id": "first", "text": f"waiter->source == x->msg->source && {network}"}
    table = "(over_lines || table_of(self, i) == x->table_number)"
    second = ROW | {"id": "second", "text": f"{network} &&\n            {table}"}
    write(tmp_path, ROW, ROW, first, second)
    assert tool.main([]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "controller.toml: touch-lost: another row has this id, or one of equal number",
        "controller.toml: second: its text overlaps that of first",
    ]


def test_parts_within_parts_keep_their_switches(tool):
    parts = [
        (0, 5, *tool.switches.replaced(1, "a + b", "a")),
        (4, 5, *tool.switches.replaced(2, "b", "c")),
        (0, 6, *tool.switches.replaced(3, "a + b;", ";")),
    ]
    assert tool.switches.wrap("a + b;", parts) == (
        "if (GPC_SWITCHED(3)) { ; } else { (GPC_SWITCHED(1) ? (a) : (a + (GPC_SWITCHED(2) ? (c) : (b)))); }"
    )


@pytest.mark.long  # it builds a C test
def test_a_row_that_plants_nothing_is_missed(tool, tmp_path, capsys):
    nothing = ROW | {"id": "none", "with": ROW["text"]}
    other = ROW | {"id": "other-unit", "unit": "wheel"}
    write(tmp_path, ROW, nothing, other)
    assert tool.main([]) == 1
    found, missed, elsewhere, count = capsys.readouterr().out.splitlines()
    assert found.split() == ["touch-lost", "replacement", "time_cache", "replacement_follows_hits"]
    assert missed.endswith("NOT FOUND: no case fails")
    assert "NOT FOUND: other cases fail: replacement_follows_hits, " in elsewhere
    assert count == "1 of 3 faults are found by a case of their unit"
