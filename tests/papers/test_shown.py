"""Do the runs of the scorecards that CI repeats cover every claim, and do their failures show?"""

from pathlib import Path

import pytest

from gpucoh.runs.runner import Run
from scripts import script

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool():
    return script("tools/shown.py")


@pytest.fixture
def run():
    return Run(workload="vec-cpy", protocol="ideal", machine="fermi", scale="tiny")


@pytest.mark.parametrize("scale", ["tiny", "small"])
def test_every_run_of_the_scorecards_has_stored_cycles_and_no_other_has(tool, scale):
    stored = {name for name, cycles in tool.read().items() if scale in cycles}
    assert stored == set(tool.shown(scale))


def test_the_runs_are_those_of_every_paper_with_their_skew(tool):
    runs = tool.shown("small").values()
    assert {run.machine for run in runs} == {"fermi", "mesh15", "gcn3", "apu"}
    assert all("start_skew" in run.set for run in runs)
    assert any("[" in run.protocol for run in runs)


def test_a_draw_is_repeated_by_its_text_and_has_a_fortieth(tool):
    runs = tool.shown("small")
    first = tool.drawn(runs, 40, "a")
    assert first == tool.drawn(runs, 40, "a") != tool.drawn(runs, 40, "b")
    assert len(first) == -(-len(runs) // 40)


def test_a_run_that_takes_other_cycles_or_over_three_times_as_many_fails(tool, run):
    cycles, failure = tool.carry_out(run, None)
    assert failure == ""
    assert tool.carry_out(run, cycles) == (cycles, "")
    assert tool.carry_out(run, cycles - 1)[1].startswith(f"{cycles:,} cycles, stored are")
    assert "more than 3 times" in tool.carry_out(run, cycles // 3 - 1)[1]
    other = Run(**{**vars(run), "seed": 1})
    assert tool.carry_out(other, cycles - 1)[1] == ""


def test_a_deadlock_and_a_wrong_result_fail(tool, run, monkeypatch):
    tries = {"deadlock_after": 1}
    assert "DeadlockError" in tool.carry_out(Run(**{**vars(run), "set": tries}), None)[1]
    wrong = Run(workload="stn", protocol="no-coh", scale="tiny")
    assert tool.carry_out(wrong, None)[1] == ""  # it promises no memory model
    monkeypatch.setattr(
        tool.Run,
        "carry_out",
        lambda self, original=Run.carry_out, **given: tool.replace(
            original(self, **given), model="SC"
        ),
    )
    assert "wrong" in tool.carry_out(wrong, None)[1]


def test_the_command_that_repeats_a_run_names_its_options(tool):
    run = Run(
        workload="vec-cpy",
        protocol="tc-weak[lifetime=3]",
        machine="apu",
        scale="small",
        seed=4,
        set={"start_skew": 256},
    )
    assert tool.command(tool.named(run), run) == (
        "gpucoh run vec-cpy -p 'tc-weak[lifetime=3]' -m apu --set start_skew=256 --scale small --seed 4"
    )
