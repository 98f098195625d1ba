"""Does a comparison over several seeds hold all runs, and do its means have their spread?"""

import pytest

import gpucoh


@pytest.fixture(scope="module")
def matrix():
    return gpucoh.compare(
        ["bfs", "fg-share"], ["no-l1", "no-coh", "ideal"], scale="tiny", seeds=[0, 3]
    )


def test_the_runs_are_in_order_of_workload_protocol_and_seed(matrix):
    assert [(run.workload, run.protocol, run.seed) for run in matrix.runs] == [
        (workload, protocol, seed)
        for workload in ("bfs", "fg-share")
        for protocol in ("no-l1", "no-coh", "ideal")
        for seed in (0, 3)
    ]
    assert matrix.seeds == [0, 3]


def test_a_run_is_found_by_its_seed(matrix):
    assert matrix.run("fg-share", "ideal", 3).seed == 3
    assert matrix.run("fg-share", "ideal").seed == 0
    with pytest.raises(gpucoh.ConfigError, match="with seed 7"):
        matrix.run("fg-share", "ideal", 7)


def test_a_run_is_relative_to_the_baseline_of_its_own_seed(matrix):
    rows = {(row["workload"], row["protocol"], row["seed"]): row for row in matrix.summary}
    expected = {
        seed: matrix.run("bfs", "no-l1", seed).cycles / matrix.run("bfs", "ideal", seed).cycles
        for seed in (0, 3)
    }
    assert {seed: rows["bfs", "ideal", seed]["speedup"] for seed in (0, 3)} == expected
    assert expected[0] != expected[3]


def test_the_table_has_a_seed_column(matrix):
    assert sorted(set(matrix.table.seed)) == [0, 3]
    assert len(matrix.table) == 12


def test_means_are_over_seeds_with_the_smallest_and_the_largest(matrix):
    one = {
        seed: gpucoh.compare(
            ["bfs", "fg-share"], ["no-l1", "ideal"], scale="tiny", seed=seed
        ).mean_rows()
        for seed in (0, 3)
    }
    mean = next(row for row in matrix.mean_rows() if row["protocol"] == "ideal")
    for measure in ("speedup_harmonic", "speedup", "traffic", "energy"):
        values = sorted(one[seed][1][measure] for seed in (0, 3))
        assert mean[measure] == pytest.approx(sum(values) / 2)
        assert mean[f"{measure}_spread"] == pytest.approx(values)
    assert "speedup_spread" not in one[0][1]


def test_a_workload_that_is_wrong_with_one_seed_enters_no_mean(matrix):
    counted = {row["protocol"]: row["workloads"] for row in matrix.mean_rows()}
    assert counted == {"no-l1": 2, "no-coh": 1, "ideal": 2}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": []}, "no seeds are given"),
        ({"seeds": [0, -1]}, "seed = -1"),
        ({"seeds": 0}, "seeds = 0"),
        ({"seeds": "3"}, "seed = .3"),
        ({"seeds": [1, 2], "seed": 5}, "seed = 5 and seeds"),
    ],
)
def test_bad_seeds_are_refused(arguments, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        gpucoh.compare(["vec-cpy"], ["ideal"], scale="tiny", **arguments)
