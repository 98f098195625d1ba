"""Do whole programs with locks count the same in other surroundings, and is a difference named?"""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.mark.long
@pytest.mark.timeout(600)
def test_lock_programs_count_the_same_in_other_surroundings():
    done = subprocess.run(
        [sys.executable, TOOLS / "surroundings.py", "--runs", "6"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    module = importlib.import_module("surroundings")
    module.can.cache_clear()
    yield module
    module.can.cache_clear()


def test_the_surroundings_of_a_time_are_drawn_again_alike_and_differ(tool):
    drawn = [tool.drawn(number) for number in range(40)]
    assert drawn == [tool.drawn(number) for number in range(40)]
    words = [words for words, _, _ in drawn]
    assert any("setarch" in one for one in words) == tool.can("setarch", "-R")
    assert {busy for _, _, busy in drawn} == {False, True}
    assert len({given["PYTHONHASHSEED"] for _, given, _ in drawn}) == 40
    assert any("MALLOC_PERTURB_" in given for _, given, _ in drawn)


def test_a_container_that_refuses_a_layout_of_addresses_is_no_difference(
    tool, tmp_path, monkeypatch
):
    refusing = tmp_path / "setarch"
    refusing.write_text("#!/bin/sh\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{tool.os.environ['PATH']}")
    assert not tool.can("setarch", "-R")
    assert not any("setarch" in tool.drawn(number)[0] for number in range(40))


def test_a_counter_that_differs_is_named_with_its_surroundings(tool, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["surroundings.py", "--runs", "3"])
    monkeypatch.setattr(tool, "measured", lambda number, rest: {"a": {"l1.loads": 7 + number // 2}})
    assert tool.main() == 1
    line, total = capsys.readouterr().out.splitlines()
    assert line.startswith("time 2, ")
    assert line.endswith("a: l1.loads: 7 and 8")
    assert total == "3 times 1 runs: 1 differ from the first"
