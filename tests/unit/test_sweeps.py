"""Does a sweep carry out each run once, keep what is done, and go on from there?"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pandas as pd
import pytest

import gpucoh
from gpucoh import sweeps
from gpucoh.runner import Run
from gpucoh.sweeps import key_of, read_sweep

RUNS = [
    {"workload": "vec-cpy", "protocol": protocol, "scale": "tiny", "seed": seed}
    for protocol in ("no-l1", "ideal")
    for seed in (0, 1)
]


@pytest.fixture
def counted(monkeypatch):
    """The runs that were really carried out."""
    seen, original = [], sweeps._carry_out

    def count(run, key, stop=None):
        seen.append(run)
        return original(run, key, stop)

    monkeypatch.setattr(sweeps, "_carry_out", count)
    return seen


def test_a_sweep_is_a_row_a_run_in_order():
    table = gpucoh.sweep(RUNS, jobs=2)
    assert list(zip(table.protocol, table.seed, strict=True)) == [
        ("no-l1", 0),
        ("no-l1", 1),
        ("ideal", 0),
        ("ideal", 1),
    ]
    assert table.correct.all()
    assert table.cycles[0] == gpucoh.run("vec-cpy", protocol="no-l1", scale="tiny").cycles


def test_processes_give_what_threads_give():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        processes = gpucoh.sweep(RUNS[:2], pool)
    threads = gpucoh.sweep(RUNS[:2])
    pd.testing.assert_frame_equal(processes.drop(columns="wall_s"), threads.drop(columns="wall_s"))


def test_resume_carries_out_only_what_is_missing(tmp_path, counted):
    out = tmp_path / "results.parquet"
    gpucoh.sweep(RUNS[:3], out=out)
    assert len(counted) == 3
    table = gpucoh.sweep(RUNS, out=out, resume=True)
    assert len(counted) == 4
    assert len(table) == len(pd.read_parquet(out)) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["results.parquet"]


def test_an_interrupted_sweep_keeps_what_is_done(tmp_path, monkeypatch):
    out, original, seen = tmp_path / "results.parquet", sweeps._carry_out, []

    def fail_third(run, key, stop=None):
        seen.append(run)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return original(run, key, stop)

    monkeypatch.setattr(sweeps, "_carry_out", fail_third)
    with pytest.raises(KeyboardInterrupt):
        gpucoh.sweep(RUNS, out=out, jobs=1)
    assert 1 <= len(pd.read_parquet(out)) <= 3


def test_results_are_not_overwritten_unless_resumed(tmp_path):
    out = tmp_path / "results.parquet"
    gpucoh.sweep(RUNS[:1], out=out)
    with pytest.raises(gpucoh.ConfigError, match="exists"):
        gpucoh.sweep(RUNS[:1], out=out)


@pytest.mark.parametrize(
    ("runs", "options", "told"),
    [
        ([{"workload": "bsf"}], {}, "unknown workload"),
        (
            [{"workload": "bfs", "protcol": "ideal"}],
            {},
            "no field 'protcol'.*did you mean 'protocol'",
        ),
        ([{"protocol": "ideal"}], {}, "needs a workload"),
        ([{"workload": "bfs", "protocol": "mesy"}], {}, "unknown protocol"),
        ([{"workload": "bfs", "set": {"core": 3}}], {}, "unknown field 'core'"),
        (RUNS, {"jobs": 0}, "jobs = 0"),
        (RUNS, {"resume": True}, "resume needs the file"),
        (RUNS, {"out": "nowhere/at/all.parquet"}, "does not exist"),
    ],
)
def test_a_sweep_that_cannot_be_is_refused(runs, options, told):
    with pytest.raises(gpucoh.ConfigError, match=told):
        gpucoh.sweep(runs, **options)


def test_a_file_that_holds_no_results_is_refused(tmp_path):
    (tmp_path / "x.parquet").write_text("no parquet")
    with pytest.raises(gpucoh.ConfigError, match="is not a file of results"):
        gpucoh.sweep(RUNS, out=tmp_path / "x.parquet", resume=True)


def test_a_key_depends_on_what_the_result_depends_on_and_on_nothing_else():
    base = Run(workload="hsp", protocol="ideal")
    same = Run(workload="hs", protocol="ideal", consistency="rc", set={"cores": 16})
    assert key_of(base) == key_of(same)
    others = [
        Run(workload="hsp", protocol="no-l1"),
        Run(workload="hsp", protocol="ideal", seed=1),
        Run(workload="hsp", protocol="ideal", set={"cores": 2}),
        Run(workload="hsp", protocol="ideal", set={"budget": 10}),
        Run(workload="hsp", protocol="ideal", scale="tiny"),
    ]
    assert len({key_of(run) for run in [base, *others]}) == 6


def test_a_file_is_the_product_of_its_lists(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        'workloads = ["vec-cpy"]\nprotocols = ["no-l1", "ideal"]\nscale = "tiny"\nseeds = [0, 1, 2]\n'
        "[set]\nl1_kib = [16, 32]\n"
    )
    runs = read_sweep(path)
    assert len(runs) == 12
    assert {run.scale for run in runs} == {"tiny"}
    assert runs[1].set == {"l1_kib": 32}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("workloads = [", "not TOML"),
        ('protocols = ["ideal"]', "names no workloads"),
        ('worklods = ["bfs"]', "unknown entry 'worklods'.*did you mean 'workloads'"),
        ('workloads = ["bsf"]', "unknown workload"),
    ],
)
def test_a_bad_file_is_told_by_its_name(tmp_path, text, told):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(gpucoh.ConfigError, match=rf"s\.toml: .*{told}"):
        read_sweep(path)
