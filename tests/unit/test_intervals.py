"""Do the statistics by interval, launch and core sum to the run's, and does recording change nothing?"""

import json

import numpy as np
import pytest

import gpucoh
from gpucoh.base.errors import ConfigError
from gpucoh.results.runs import RunResult
from gpucoh.results.series import counter_row
from host import HOST

RUNS = [
    ("bfs", "tc-weak", "fermi", 1000),
    ("reduction", "mesi", "fermi", 137),
    ("fg-share", "denovo-drf", "mesh15", 5000),
    ("reduction", "qr", "apu", 1000),
    ("stn", "stc-mb", "gcn3", 3000),
]


@gpucoh.kernel
def add_one(x: gpucoh.Buffer[gpucoh.i32], n: gpucoh.i32):
    i = gpucoh.global_id()
    if i < n:
        x[i] = x[i] + 1


def plain(run, *without):
    return {key: value for key, value in run.to_dict().items() if key not in (*without, *HOST)}


@pytest.mark.parametrize(("workload", "protocol", "machine", "every"), RUNS)
def test_rows_sum_to_the_run_and_recording_changes_nothing(workload, protocol, machine, every):
    bare = gpucoh.run(workload, protocol, machine, scale="tiny")
    run = gpucoh.run(workload, protocol, machine, scale="tiny", every=every)
    assert plain(run, "series") == plain(bare)

    whole = run.table.iloc[0]
    counters = [name for name in counter_row(run.stats) if not name.startswith("busiest")]
    for rows in (run.intervals, run.launches):
        assert set(counters) <= set(rows.columns)
    for rows in (run.intervals, run.launches, run.cores):
        for name in set(rows.columns) & set(counters):
            assert rows[name].sum() == pytest.approx(whole[name], rel=1e-9), name
    assert run.cores["core_active_cycles"].sum() == run.core.active_cycles
    assert (run.intervals["cycles"][:-1] == every).all()
    assert list(run.intervals["begin"]) == list(range(0, run.cycles, every))
    assert len(run.launches) == run.stats.launches
    assert len(run.cores) == run.configuration["cores"]


def test_an_interval_counts_the_cycles_of_idle_cores():
    run = gpucoh.run("bfs", "tc-weak", scale="tiny", set={"launch_latency": 0}, every=500)
    table, cores = run.intervals, len(run.cores)
    stalls = [
        name
        for name in table
        if name.startswith("stalls_") and name not in ("stalls_memory_order", "stalls_fence")
    ]
    waited = table[stalls].sum(axis=1)
    # Exactly: cores count the cycle in which a launch ends, too.
    ends = run.launches["begin"] + run.launches["cycles"]
    ended = [
        ((begin < ends) & (ends <= begin + cycles)).sum()
        for begin, cycles in zip(table["begin"], table["cycles"], strict=True)
    ]
    assert (waited + table["core_issue_cycles"] == (table["cycles"] + ended) * cores).all()


def test_launches_have_kernel_and_extent():
    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.zeros(256, np.int32)
    with gpu.record(every=50) as record:
        for grid in (1, 2):
            gpu.launch(add_one, grid=grid, block=(16, 4), args=(x, 256))
    table = record.launches
    assert table[["launch", "kernel", "grid", "block"]].to_dict("split")["data"] == [
        [0, "add_one", "1", "16x4"],
        [1, "add_one", "2", "16x4"],
    ]
    assert table["begin"].tolist() == [0, table["cycles"][0]]
    assert table["cycles"].sum() == record.intervals["cycles"].sum() == gpu.stats().cycles


def test_a_run_reads_back_with_its_series():
    run = gpucoh.run("reduction", "mesi", scale="tiny", every=2000)
    again = RunResult.from_dict(json.loads(json.dumps(run.to_dict())))
    assert again.intervals.equals(run.intervals)
    assert again.launches.equals(run.launches)
    assert again.cores.equals(run.cores)


def test_a_reset_of_statistics_begins_the_recording_again():
    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.zeros(256, np.int32)
    with gpu.record(every=100) as record:
        gpu.launch(add_one, grid=4, block=64, args=(x, 256))
        gpu.reset_stats()
        gpu.launch(add_one, grid=4, block=64, args=(x, 256))
    assert len(record.launches) == 1
    assert record.cores["instructions"].sum() == gpu.stats().instructions
    assert record.intervals["instructions"].sum() == gpu.stats().instructions


def test_what_recording_refuses():
    gpu = gpucoh.GPU(protocol="ideal")
    for bad in (0, -1, 1.5, "many"):
        with pytest.raises(ConfigError, match="every"), gpu.record(every=bad):
            pass
    with gpu.record(every=100) as record:
        with pytest.raises(ConfigError, match="records already"), gpu.record(every=100):
            pass
        with pytest.raises(ConfigError, match="while it records"):
            gpu.restore(gpu.snapshot())
        with pytest.raises(ConfigError, match="has not ended"):
            _ = record.intervals
    run = gpucoh.run("vec-cpy", "ideal", scale="tiny")
    for name in ("intervals", "launches", "cores"):
        with pytest.raises(ConfigError, match="every=10_000"):
            getattr(run, name)


def test_the_figure_draws_columns_rates_and_stalls():
    run = gpucoh.run("reduction", "mesi", scale="tiny", every=1000)
    figure = gpucoh.plot_intervals(run, ["ipc", "stalls", "dram_reads"], title=None)
    labels = [axes.get_ylabel().replace("\n", " ") for axes in figure.axes]
    assert labels == ["warp instructions per cycle", "share of core cycles", "dram_reads per cycle"]
    assert figure.get_suptitle() == ""
    with pytest.raises(ConfigError, match="dram_read"):
        gpucoh.plot_intervals(run, ["dram_read"])
