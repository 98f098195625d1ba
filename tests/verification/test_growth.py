"""Does gpucoh growth count states of growing programs, and say where it stopped?"""

import json
from pathlib import Path

import pytest

from gpucoh.cli import call
from gpucoh.verify import growth as module
from gpucoh.verify.growth import Exploration, Point, explorations, number_of, points


@pytest.mark.parametrize(
    ("point", "program"),
    [
        (Point(2, 2, 2), "0: st x 1; ld y | 1: st y 1; ld x"),
        (Point(3, 1, 1), "0: st x 1 | 1: st x 1 | 2: st x 1"),
        (Point(2, 4, 3), "0: st x 1; ld y; st z 3 | 1: st y 1; ld z; st w 3"),
    ],
)
def test_cores_begin_with_the_line_of_their_number(point, program):
    assert str(point.program()) == program
    assert point.program().variables == point.lines


def test_sizes_count_once():
    assert len(points()) == 10
    works = explorations(["no-l1", "mesi"], None)
    assert len({work.key for work in works}) == len(works) == 20


def test_equal_cores_count_once():
    once, each = (
        Exploration("ideal", "sc", Point(3, 1, 1), symmetry=symmetry).carry_out() for symmetry in (True, False)
    )  # fmt: skip
    assert once["verdict"] == each["verdict"] == "complete"
    assert once["states"] < each["states"] <= 6 * once["states"]


def test_a_bound_is_no_number_of_states():
    row = Exploration("mesi", "sc", Point(3, 2, 2), states=1000).carry_out()
    assert (row["verdict"], number_of(row)) == ("bounded", "> 1,000")


def test_the_command_continues_and_draws(capsys, tmp_path, monkeypatch):
    folder, store = tmp_path / "figures", str(tmp_path / "store.parquet")
    arguments = ["growth", "-p", "no-l1", "--states", "500", "-j", "1", "--store", store]
    assert call([*arguments, "--out", str(folder)]) == 0
    assert "states against lines: 2 cores, 3 operations a core" in capsys.readouterr().out
    assert (folder / "growth.svg").stat().st_size > 1000
    monkeypatch.setattr(module, "explore", None)  # nothing is explored again
    assert call([*arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["verdict"] for row in rows} == {"complete", "bounded"}


def test_a_planted_bug_is_a_violation(mutant_gpucoh):
    from gpucoh.verify.growth import Exploration, Point

    row = Exploration("gpu-vi!copy-survives", "rc", Point(2, 1, 2)).carry_out()
    assert (row["verdict"], row["correct"]) == ("violated", False)


def test_bad_input_is_refused(refused):
    assert "unknown protocol 'mesy'" in refused("growth", "-p", "mesy")
    assert "does not support consistency" in refused("growth", "-p", "tc-weak", "-c", "sc")


def test_the_page_has_what_is_counted_today():
    page = Path(__file__).parents[2] / "docs" / "verification" / "growth.md"
    text = page.read_text().partition("<!-- growth -->")[2].partition("<!-- end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    head = next(row for row in rows if row[0] == "protocol")
    sizes = {
        column: Point(*map(int, name.split("."))) for column, name in enumerate(head) if column > 1
    }
    checked = 0
    for name, rule, *numbers in (row for row in rows if row[0].startswith("`")):
        assert all(numbers)
        for column, number in enumerate(numbers, 2):
            if number.startswith(">") or int(number.replace(",", "")) > 500:
                continue
            row = Exploration(name.strip("`"), rule, sizes[column]).carry_out()
            assert (name, sizes[column], number_of(row)) == (name, sizes[column], number)
            checked += 1
    assert checked > 30
