"""Are runs and matrices of runs complete, repeatable, and honest about wrong answers?"""

import io
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pandas as pd
import pytest
from rich.console import Console

import gpucoh
from gpucoh.figures.charts import Bar
from gpucoh.figures.plots import energy_bars
from gpucoh.results.matrix import geometric_mean, harmonic_mean
from gpucoh.terminal.tables import print_comparison
from host import HOST
from products import rows
from registered import ALL

GROUPS = {"l1", "l2", "traffic", "stalls", "dram", "energy"}
COUNTS = {"cycles", "instructions", "thread_instructions", "memory_instructions"}
NAMES = {
    "workload",
    "protocol",
    "machine",
    "consistency",
    "model",
    "scale",
    "seed",
    "correct",
    "mismatches",
    *HOST,
}


def without_wall(result):
    return {name: value for name, value in result.to_dict().items() if name not in HOST}


@pytest.fixture(scope="module")
def matrix():
    return gpucoh.compare(
        ["vec-cpy", "fg-share"], ["no-l1", "no-coh", "ideal"], scale="tiny", jobs=2
    )


def test_a_run_has_everything_that_the_interface_names():
    plain = gpucoh.run("vec-cpy", protocol="ideal", scale="tiny").to_dict()
    assert set(plain) >= GROUPS | COUNTS | NAMES
    assert plain["correct"] is True
    assert all(plain[name] > 0 for name in COUNTS)
    json.dumps(plain, allow_nan=False)


def test_a_run_carries_its_whole_configuration():
    result = gpucoh.run("vec-cpy", protocol="ideal", scale="tiny", seed=3, set={"l1_kib": "16KiB"})
    plain = result.to_dict()
    assert plain["set"] == {"l1_kib": 16}
    assert plain["configuration"]["cores"] == 16
    assert (plain["seed"], plain["version"]) == (3, gpucoh.__version__)


@pytest.mark.parametrize(
    ("workload", "protocol", "machine"),
    rows(
        [
            *(("vec-cpy", protocol, "fermi") for protocol in ALL),
            *((workload, "mesi", "fermi") for workload in ("bfs", "synthetic", "reduction", "uts")),
            *(
                ("fft", "stc-mb", "gcn3"),
                ("nn", "qr[clean=on]", "apu"),
                ("spm_g", "denovo-hrf", "mesh15"),
            ),
        ],
        one_in=8,
    ),
)
def test_a_run_is_made_again_from_its_dictionary(workload, protocol, machine):
    """The number of launches, of events and the transitions were lost."""
    run = gpucoh.run(workload, protocol, machine, scale="tiny")
    again = gpucoh.RunResult.from_dict(json.loads(json.dumps(run.to_dict(), allow_nan=False)))
    assert again == run
    assert again.stats.to_dict() == run.stats.to_dict()
    pd.testing.assert_frame_equal(again.table, run.table)


def test_the_same_seed_gives_the_same_run_to_the_last_counter():
    first, second = (gpucoh.run("bfs", protocol="ideal", scale="tiny", seed=5) for _ in range(2))
    assert without_wall(first) == without_wall(second)


def test_another_seed_gives_another_run():
    first, second = (
        gpucoh.run("bfs", protocol="ideal", scale="tiny", seed=seed) for seed in (1, 2)
    )
    assert first.cycles != second.cycles


def test_eight_threads_at_once_give_what_one_gives():
    alone = without_wall(gpucoh.run("fg-share", protocol="no-coh", scale="tiny"))
    with ThreadPoolExecutor(8) as pool:
        runs = list(
            pool.map(lambda _: gpucoh.run("fg-share", protocol="no-coh", scale="tiny"), range(8))
        )
    assert all(without_wall(run) == alone for run in runs)


def test_a_wrong_answer_is_counted_and_has_a_place():
    result = gpucoh.run("fg-share", protocol="no-coh", scale="tiny")
    assert result.correct is False
    assert result.mismatches > 0
    assert ", expected " in result.where
    assert result.verdict == "wrong"


def test_a_budget_ends_a_run():
    with pytest.raises(gpucoh.BudgetError):
        gpucoh.run("vec-cpy", protocol="ideal", scale="tiny", set={"budget": 100})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workload": "bsf"}, "unknown workload 'bsf'"),
        ({"protocol": "idael"}, "did you mean 'ideal'"),
        ({"scale": "huge"}, "scale"),
        ({"params": {"grpah": "x"}}, "unknown parameter 'grpah'"),
        ({"set": {"l1_kb": 16}}, "did you mean 'l1_kib'"),
        ({"set": {"budget": "plenty"}}, "budget = 'plenty'"),
        ({"consistency": "drf"}, "does not support consistency 'drf'"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        gpucoh.run(**({"workload": "bfs", "protocol": "ideal", "scale": "tiny"} | arguments))


def test_a_matrix_is_in_order_of_workload_then_protocol(matrix):
    assert [(run.workload, run.protocol) for run in matrix.runs] == [
        (workload, protocol)
        for workload in ("vec-cpy", "fg-share")
        for protocol in ("no-l1", "no-coh", "ideal")
    ]


def test_the_table_is_tidy(matrix):
    table = matrix.table
    assert len(table) == 6
    assert {
        "workload",
        "protocol",
        "cycles",
        "speedup",
        "correct",
        "l1_load_hits",
        "flits_REQ",
    } <= set(table.columns)
    assert (table[table.protocol == "no-l1"].speedup == 1).all()
    wrong = table[~table.correct.astype(bool)]
    assert list(zip(wrong.workload, wrong.protocol, strict=True)) == [("fg-share", "no-coh")]


def test_ratios_are_those_of_the_counters(matrix):
    base, ideal = matrix.run("fg-share", "no-l1"), matrix.run("fg-share", "ideal")
    row = next(r for r in matrix.summary if (r["workload"], r["protocol"]) == ("fg-share", "ideal"))
    assert row["speedup"] == base.cycles / ideal.cycles
    assert row["traffic"] == ideal.stats.flits() / base.stats.flits()


def test_a_comparison_of_several_machines_is_relative_to_the_baseline_on_each():
    fermi = gpucoh.machine("fermi")
    given = ["fermi", fermi, fermi.replace(name="small", cores=4)]
    several = gpucoh.compare("bfs", ["no-l1", "mesi"], machines=given, scale="tiny", jobs=2)
    assert several.machines == ["fermi", "small"]
    for name in several.machines:
        alone = gpucoh.compare(
            "bfs", ["no-l1", "mesi"], machine=given[1 + (name == "small")], scale="tiny"
        )
        assert several.on(name).summary == alone.summary
        assert [row for row in several.mean_rows() if row["machine"] == name] == alone.mean_rows()
    assert several.run("bfs", "mesi", machine="small").configuration["cores"] == 4
    assert several.means().loc[("small", "mesi")].speedup > 0
    assert list(several.table.machine.unique()) == several.machines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"machines": []}, "no machines"),
        ({"machines": 3}, "machines = 3 is not a list"),
        ({"machines": ["fermi"], "machine": "gcn3"}, "contradict"),
        ({"machines": ["ferni"]}, "unknown machine.*did you mean 'fermi'"),
        (
            {"machines": ["fermi", gpucoh.machine("fermi").replace(cores=4)]},
            "two machines are named 'fermi'",
        ),
    ],
)
def test_bad_lists_of_machines_are_refused(arguments, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        gpucoh.compare("vec-cpy", ["mesi"], scale="tiny", **arguments)


def test_every_table_says_the_memory_model():
    """mesi runs under rc beside rcc-sc under sc."""
    runs = gpucoh.compare("vec-cpy", ["mesi", "rcc-sc"], scale="tiny")
    models = ["RC-MCA", "SC"]
    assert list(runs.table.model) == list(runs.means().model) == models
    assert [row["model"] for row in runs.summary] == models
    assert all(model in runs._repr_html_() for model in models)
    console = Console(record=True, width=80, file=io.StringIO())
    print_comparison(console, runs)
    rows = [line.split() for line in console.export_text().splitlines() if " SC " in line]
    assert [row[:2] for row in rows] == [["rcc-sc", "SC"], ["rcc-sc", "SC"]]


def test_wrong_answers_without_a_promise_are_not_failures(matrix):
    assert matrix.run("fg-share", "no-coh").correct is False
    assert matrix.failures == []


def test_a_baseline_outside_the_list_is_run_too():
    matrix = gpucoh.compare(["vec-cpy"], ["ideal"], baseline="no-l1", scale="tiny")
    assert matrix.protocols == ["no-l1", "ideal"]


def test_a_run_that_ends_in_an_error_stands_in_the_matrix():
    matrix = gpucoh.compare(["vec-cpy"], ["ideal"], scale="tiny", set={"budget": 100})
    (run,) = matrix.runs
    assert (run.correct, run.error, run.verdict) == (False, "BudgetError", "hung")
    assert matrix.failures == [run]
    assert matrix.means().loc["ideal", "workloads"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workloads": []}, "no workloads"),
        ({"workloads": ["bsf"]}, "unknown workload"),
        ({"protocols": ["mesy"]}, "unknown protocol"),
        ({"baseline": "mesy"}, "unknown protocol"),
        ({"jobs": 0}, "jobs = 0"),
        ({"scale": "huge"}, "scale"),
        ({"set": {"core": 3}}, "unknown field 'core'"),
    ],
)
def test_a_matrix_that_cannot_be_run_is_refused_before_anything_runs(arguments, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        gpucoh.compare(
            **({"workloads": ["vec-cpy"], "protocols": ["ideal"], "scale": "tiny"} | arguments)
        )


def test_means():
    assert harmonic_mean([1, 2]) == pytest.approx(4 / 3)
    assert geometric_mean([1, 4]) == pytest.approx(2)
    assert harmonic_mean([]) is geometric_mean([None]) is None


# ---- figures


def test_the_speedup_figure_has_a_bar_a_run_and_a_mean(matrix):
    axes = matrix.plot_speedup().axes[0]
    assert axes.get_ylabel() == "speedup over NO-L1"
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert ticks == ["vec-cpy", "fg-share", "harmonic\nmean"]
    assert len(axes.patches) == 9


def test_the_traffic_figure_stacks_classes_to_the_ratio(matrix):
    figure = matrix.plot_traffic()
    assert figure.axes[0].get_ylabel() == "flits relative to NO-L1"
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"requests", "load data"} <= set(legend)
    tops = {}
    for bar in figure.axes[0].patches:
        x = round(bar.get_x(), 6)
        tops[x] = max(tops.get(x, 0), bar.get_y() + bar.get_height())
    expected = [row["traffic"] for row in matrix.summary]
    drawn = [height for _, height in sorted(tops.items())]
    assert drawn[: len(expected)] == pytest.approx(expected)
    ideal = [row["traffic"] for row in matrix.summary if row["protocol"] == "ideal"]
    assert drawn[-1] == pytest.approx(sum(ideal) / 2)


def test_a_broken_simulator_is_a_failure_under_any_model(matrix):
    wrong = matrix.run("fg-share", "no-coh")
    assert not wrong.counts_as_failure
    assert not replace(wrong, error="DeadlockError").counts_as_failure
    assert replace(wrong, error="ProtocolError").counts_as_failure


def test_runs_that_end_before_their_first_cycle_can_be_drawn():
    comparison = gpucoh.compare(["rg"], ["no-l1"], scale="tiny", set={"registers_per_core": 64})
    (run,) = comparison.runs
    assert (run.cycles, run.error) == (0, "KernelError")
    for power in (False, True):
        bars = energy_bars(comparison, ["no-l1"], ["l1", "noc_dynamic"], power=power)
        parts = {"l1": 0, "noc_dynamic": 0}
        assert bars == {"rg": [Bar(protocol="no-l1", parts=parts, wrong=True)]}
