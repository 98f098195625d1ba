"""Does a sweep carry out each run once, keep what is done, and go on from there?"""

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpucoh
import gpucoh.litmus
from gpucoh.runs import store, sweeps
from gpucoh.runs.keys import key_of
from gpucoh.runs.runner import Run
from gpucoh.runs.store import Journal, Store, as_frame
from host import HOST
from products import rows

RUNS = [
    {"workload": "vec-cpy", "protocol": protocol, "scale": "tiny", "seed": seed}
    for protocol in ("no-l1", "ideal")
    for seed in (0, 1)
]


@gpucoh.kernel
def _nothing(n: gpucoh.i32, x: gpucoh.f32):
    pass


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


def test_what_is_varied_is_a_column_with_its_type_and_the_presets_value():
    """A sweep's columns were texts ("16", "None"), empty where the value is the preset's."""
    runs = gpucoh.grid(
        workload="vec-cpy",
        protocol=["tc-strong", "tc-strong[lifetime=200]", "mesi"],
        scale="tiny",
        set={"cores": [8, "16"], "budget": 10**6},
        params={"words": [256]},
    )
    table = gpucoh.sweep([*runs, {"workload": "bfs", "scale": "tiny"}], jobs=2)
    assert table.set_cores.tolist() == [8, 16, 8, 16, 8, 16, 16]
    assert table.set_budget.tolist() == [10**6] * 6 + [10**9]
    assert table.option_lifetime.dropna().tolist() == [800, 800, 200, 200]
    assert table.option_lifetime.dtype == "Int64"
    assert table.param_words.dropna().tolist() == [256] * 6
    assert table.param_directed.dtype == "boolean"
    assert table.protocol_id.unique().tolist() == ["tc-strong", "mesi", "no-l1"]
    compared = gpucoh.compare("vec-cpy", ["mesi", "tc-strong[lifetime=200]"], scale="tiny").table
    assert compared.option_lifetime.isna().tolist() == [True, False]
    assert compared.option_lifetime[1] == 200


def test_rows_of_a_file_get_the_columns_of_the_study_that_continues_it(tmp_path):
    out = tmp_path / "results.parquet"
    gpucoh.sweep(RUNS[:1], out=out)
    table = gpucoh.sweep([RUNS[0], RUNS[0] | {"set": {"cores": 8}}], out=out, resume=True)
    assert table.set_cores.tolist() == [16, 8]
    assert sorted(pd.read_parquet(out).set_cores) == [8, 16]


def test_all_counters_are_every_statistic_under_names_without_spaces(tmp_path):
    run = {"workload": "vec-cpy", "protocol": "stc-mb", "machine": "gcn3", "scale": "tiny"}
    out = tmp_path / "results.parquet"
    usual = gpucoh.sweep([run], out=out)
    table = gpucoh.sweep([run], out=out, resume=True, counters="all")
    pd.testing.assert_frame_equal(table, gpucoh.sweep([run], out=out, resume=True, counters="all"))
    result = gpucoh.run(**run)

    def leaves(group):
        return sum(leaves(item) if isinstance(item, dict) else 1 for item in group.values())

    assert len(result.row("all")) - len(result.row()) >= leaves(result.stats.to_dict()) - 90
    assert set(usual) < set(table) == set(result.table) | {"key", "error", "version", "code"}
    assert all(name.isidentifier() for name in table)
    assert table.core_load_latency_cycles[0] == result.core.load_latency_cycles
    assert table.histograms_core_load_latency[0] == result.histograms.core.load_latency
    matrix = gpucoh.compare("vec-cpy", ["mesi"], scale="tiny", counters="all")
    assert matrix.table.core_loads[0] == matrix.runs[0].core.loads
    for wrong in (
        gpucoh.sweep,
        lambda runs, counters: gpucoh.compare("vec-cpy", counters=counters),
    ):
        with pytest.raises(gpucoh.ConfigError, match="unknown value of counters 'al'"):
            wrong([run], counters="al")


def test_numbers_of_numpy_are_numbers():
    runs = [
        {
            "workload": "vec-cpy",
            "protocol": "ideal",
            "scale": "tiny",
            "seed": seed,
            "set": {"cores": seed + 4},
        }
        for seed in np.arange(2)
    ]
    assert gpucoh.sweep(runs).seed.tolist() == [0, 1]
    result = gpucoh.run(**runs[1], params={"words": np.int32(512)}, budget=np.int64(10**6))
    assert gpucoh.RunResult.from_dict(json.loads(json.dumps(result.to_dict()))).seed == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"deadlock_after": np.float64(1e6), "budget": np.float64(1e7), "seed": np.float64(3)},
        {"set": {"l1_kib": np.float32(16), "core_mhz": np.int64(700), "cores": np.uint8(8)}},
        {"params": {"words": np.float64(256)}, "check": np.bool_(True), "every": np.int64(1000)},
    ],
)
def test_numbers_of_numpy_are_numbers_wherever_a_run_takes_one(arguments):
    """Sizes and clocks of machines refused them, and limits of a GPU their floats."""
    plain = {
        name: {key: item.item() for key, item in value.items()}
        if isinstance(value, dict)
        else value.item()
        for name, value in arguments.items()
    }
    first, second = (
        gpucoh.run("vec-cpy", "ideal", scale="tiny", **given).to_dict() | dict.fromkeys(HOST)
        for given in (arguments, plain)
    )
    assert json.dumps(first) == json.dumps(second)


def test_numbers_of_numpy_are_numbers_elsewhere():
    machine = gpucoh.machine("fermi").replace(l1_kib=np.int64(32), core_mhz=np.int64(700))
    gpu = gpucoh.GPU(
        machine, budget=np.float64(1e6), deadlock_after=np.float64(1e5), seed=np.uint8(1)
    )
    gpu.launch(
        _nothing, grid=np.ceil(33 / 32), block=np.int16(32), args=(np.int64(1), np.float64(2))
    )
    matrix = gpucoh.compare(
        "vec-cpy", "ideal", scale="tiny", seed=np.int64(2), seeds=np.int64(2), jobs=np.float64(2)
    )
    assert matrix.seeds == [2, 3]
    json.dumps(matrix.to_dict())
    assert gpucoh.litmus.run_test("SB", "ideal", runs=np.float64(5), seed=np.int64(1)).runs == 5
    with pytest.raises(
        gpucoh.ConfigError, match=r"budget = np.float64\(1.5\) is not a whole number"
    ):
        gpucoh.GPU(budget=np.float64(1.5))


@pytest.mark.long
def test_a_script_that_lacks_a_main_guard_is_named(tmp_path):
    (tmp_path / "study.py").write_text(
        "import gpucoh\nfrom concurrent.futures import ProcessPoolExecutor\n"
        "from multiprocessing import get_context\n"
        "with ProcessPoolExecutor(1, mp_context=get_context('spawn')) as pool:\n"
        f"    gpucoh.sweep({RUNS[:1]!r}, pool)\n"
    )
    done = subprocess.run(
        [sys.executable, tmp_path / "study.py"], capture_output=True, text=True, timeout=60
    )
    assert "under if __name__ == '__main__'" in done.stderr.splitlines()[-1]


@pytest.mark.long
def test_processes_give_what_threads_give():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        processes = gpucoh.sweep(RUNS[:2], pool)
    threads = gpucoh.sweep(RUNS[:2])
    pd.testing.assert_frame_equal(processes.drop(columns=HOST), threads.drop(columns=HOST))


def test_resume_carries_out_only_what_is_missing(tmp_path, counted):
    out = tmp_path / "results.parquet"
    gpucoh.sweep(RUNS[:3], out=out)
    assert len(counted) == 3
    table = gpucoh.sweep(RUNS, out=out, resume=True)
    assert len(counted) == 4
    assert len(table) == len(pd.read_parquet(out)) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["results.parquet"]


def test_an_interrupted_sweep_keeps_what_is_done(tmp_path, monkeypatch):
    out, original, seen = tmp_path / "results.parquet", sweeps.carry_out, []

    def fail_third(run, key, stop=None):
        seen.append(run)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return original(run, key, stop)

    monkeypatch.setattr(sweeps, "carry_out", fail_third)
    with pytest.raises(KeyboardInterrupt):
        gpucoh.sweep(RUNS, out=out, jobs=1)
    assert 1 <= len(pd.read_parquet(out)) <= 3


class Elsewhere:
    """An executor that has nothing but submit, as a cluster's client; it loses the runs of some seeds."""

    def __init__(self, lost=()):
        self.lost = lost

    def submit(self, function, run, *arguments):
        future = Future()
        if run.seed in self.lost:
            future.set_exception(RuntimeError("worker killed"))
        else:
            future.set_result(function(run, *arguments))
        return future


def test_any_executor_with_submit_will_do():
    assert gpucoh.sweep(RUNS[:2], Elsewhere()).correct.tolist() == [True, True]


def test_runs_that_have_ended_are_kept_whenever_the_interruption_comes(tmp_path, monkeypatch):
    out, original, seen = tmp_path / "results.parquet", store.Store.add, []

    def interrupt_first(self, row, replaced):
        seen.append(row)
        if len(seen) == 1:
            raise KeyboardInterrupt
        original(self, row, replaced)

    monkeypatch.setattr(store.Store, "add", interrupt_first)
    with pytest.raises(KeyboardInterrupt):
        gpucoh.sweep(RUNS, Elsewhere(), out=out)
    assert len(pd.read_parquet(out)) == len(RUNS)


def test_runs_that_the_executor_lost_are_reported_and_carried_out_at_resume(tmp_path, counted):
    out = tmp_path / "results.parquet"
    with pytest.raises(gpucoh.Error, match=r"2 of 4 runs were lost .*worker killed.*resume"):
        gpucoh.sweep(RUNS, Elsewhere(lost=[1]), out=out)
    assert pd.read_parquet(out).seed.tolist() == [0, 0]
    assert gpucoh.sweep(RUNS, out=out, resume=True).seed.tolist() == [0, 1, 0, 1]
    assert len(counted) == 4


def test_a_failing_run_is_recorded_with_its_error_and_the_others_run(tmp_path):
    runs = [
        {"workload": "bfs", "scale": "tiny", "params": {"graph": str(tmp_path / "no.mtx")}},
        RUNS[0] | {"set": {"budget": 100}},
        RUNS[0],
    ]
    out = tmp_path / "results.parquet"
    table = gpucoh.sweep(runs, out=out, jobs=1)
    assert table.correct.tolist() == [False, False, True]
    assert table.error.tolist()[:2] == ["ConfigError", "BudgetError"]
    assert pd.isna(table.error[2])
    assert "no.mtx" in table["where"][0]
    assert table.verdict.tolist() == ["failed", "hung", "correct"]
    pd.testing.assert_frame_equal(gpucoh.sweep(runs, out=out, resume=True), table)


def test_columns_do_not_depend_on_the_order_in_which_runs_finish():
    failed = {"key": "a", "where": "no.mtx", "param_graph": "no.mtx", "error": "ConfigError"}
    right = {"key": "b", "where": "", "cycles": 1, "set_cores": "2", "error": None}
    expected = ["key", "where", "cycles", "param_graph", "set_cores", "error"]
    for order in ([failed, right], [right, failed]):
        assert store.as_table(order).column_names == expected


def rows_on_disk(out):
    """The rows that a kill would leave: those of the file, and those of the journal."""
    journal = Journal(out)
    rows = len(pq.read_table(pa.BufferReader(out.read_bytes()))) if out.exists() else 0
    try:
        return rows + len(list(journal.read()))
    except gpucoh.ConfigError:  # there is none
        return rows


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_a_row_is_on_disk_before_the_next_run_ends(tmp_path, monkeypatch, seconds):
    """The file has the first; whether it is written again after the others, or the journal has them, is the same."""
    monkeypatch.setattr(store, "FLUSH_SECONDS", seconds)
    out, original, seen = tmp_path / "results.parquet", sweeps.carry_out, []

    def look(run, key, stop=None):
        time.sleep(0.2)  # so that the row before was taken
        seen.append((rows_on_disk(out), out.exists()))
        return original(run, key, stop)

    monkeypatch.setattr(sweeps, "carry_out", look)
    gpucoh.sweep(RUNS, out=out, jobs=1)
    assert seen == [(0, False), (1, True), (2, True), (3, True)]


def test_two_sweeps_do_not_write_one_file(tmp_path):
    out = tmp_path / "results.parquet"
    with (
        Store(out, resume=False),
        pytest.raises(gpucoh.ConfigError, match="written by another sweep"),
    ):
        gpucoh.sweep(RUNS[:1], out=out)
    assert len(gpucoh.sweep(RUNS[:1], out=out)) == 1


def test_rows_with_different_columns_and_types_make_one_table():
    frame = as_frame([{"a": 1, "b": "x"}, {"a": 2.5, "c": True}, {"a": 3, "b": 7}])
    assert frame.a.tolist() == [1, 2.5, 3]
    assert frame.b.dropna().tolist() == ["x", "7"]
    assert frame.c.dropna().tolist() == [True]


@pytest.mark.long
def test_ctrl_c_keeps_what_is_done_and_leaves_nothing_half_written(tmp_path):
    """The command is interrupted in the long run that follows three short ones, and then goes on."""
    (tmp_path / "s.toml").write_text(
        'workload = "vec-cpy"\nprotocol = "ideal"\nscale = "tiny"\nseeds = [0, 1, 2]\n'
    )
    out = tmp_path / "r.parquet"
    program = (
        "import signal, sys\n"
        "from gpucoh.cli import call, sweeps as command\n"
        "from gpucoh.runs import grids, sweeps\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background ignores it
        "original = grids.read_sweep\n"
        "long = sweeps.Run(workload='spm_g', protocol='no-l1', scale='paper')\n"
        "command.read_sweep = lambda path: [*original(path), long]\n"
        "sys.exit(call(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, "sweep", "s.toml", "--out", out.name, "--jobs", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while rows_on_disk(out) < 3:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.parquet", "s.toml"]
    assert pd.read_parquet(out).correct.tolist() == [True, True, True]


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    rows(
        [
            ([{"workload": "bsf"}], {}, "unknown workload"),
            (
                [{"workload": "bfs", "protcol": "ideal"}],
                {},
                "unknown field 'protcol'.*did you mean 'protocol'",
            ),
            ([{"protocol": "ideal"}], {}, "needs the field workload"),
            ([{"workload": "bfs", "protocol": "mesy"}], {}, "unknown protocol"),
            ([{"workload": "bfs", "set": {"core": 3}}], {}, "unknown field 'core'"),
            ([*RUNS, RUNS[0] | {"set": {"budget": -5}}], {}, "budget = -5 is out of range"),
            ([RUNS[0] | {"seed": 2**64}], {}, "seed"),
            ([RUNS[0] | {"check": "rases"}], {}, "check = 'rases'"),
            ([RUNS[0] | {"check": []}], {}, r"check = \[\]"),
            (RUNS, {"jobs": 0}, "jobs = 0"),
            (RUNS, {"resume": True}, "resume needs a result file"),
            (RUNS, {"out": "nowhere/at/all.parquet"}, "does not exist"),
        ],
        one_in=4,
    ),
)
def test_a_sweep_that_cannot_be_is_refused_before_anything_runs(counted, runs, options, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        gpucoh.sweep(runs, **options)
    assert counted == []


def test_a_key_depends_on_what_is_in_the_files_that_are_named(tmp_path):
    graph = tmp_path / "g.mtx"
    run = Run(workload="bfs", params={"graph": str(graph)})
    keys = []
    for text in ("one", "two", "one"):
        graph.write_text(text)
        keys.append(key_of(run))
    assert keys[0] == keys[2] != keys[1]
