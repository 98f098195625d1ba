"""Do a launch's statistics say what happened, and do their parts add up?"""

import numpy as np
import pytest

import gpucoh


@gpucoh.kernel
def add_one(x: gpucoh.Buffer[gpucoh.i32], n: gpucoh.i32):
    i = gpucoh.global_id()
    if i < n:
        x[i] = x[i] + 1


@pytest.fixture
def gpu():
    return gpucoh.GPU(protocol="ideal")


def test_statistics_are_attributes_and_a_plain_dictionary(gpu):
    x = gpu.zeros(64, np.int32)
    gpu.launch(add_one, grid=1, block=64, args=(x, 64))
    stats = gpu.stats()
    plain = stats.to_dict()
    assert stats.cycles == plain["cycles"] > 0
    assert stats.memory_instructions == 4
    assert stats.l1.loads == plain["l1"]["loads"] == 2
    assert stats.thread_instructions <= 32 * stats.instructions
    assert stats.flits() == sum(stats.flits_by_class().values()) > 0
    assert (
        sum(stats.flit_hops_by_class().values())
        == sum(m.flit_hops for m in stats.traffic.values())
        > 0
    )
    with pytest.raises(AttributeError, match=r"no counter stats\.l1\.laods; there are loads"):
        _ = stats.l1.laods


@pytest.mark.parametrize(
    ("workload", "protocol", "consistency", "total", "parts"),
    [
        ("dlb", "mesi", "sc", "memory_order", ("load", "store", "atomic", "same_line")),
        ("bh", "tc-weak", "rc", "fence", ("load", "store", "atomic", "release")),
    ],
)
def test_stalls_by_predecessor_sum_up_to_their_total(workload, protocol, consistency, total, parts):
    run = gpucoh.run(workload, protocol=protocol, consistency=consistency, scale="tiny")
    stalls = run.stats.stalls
    by_part = [stalls[f"{total}_{part}"] for part in parts]
    assert stalls[total] == sum(by_part) > 0


def test_histograms_count_every_load_and_store():
    stats = gpucoh.run("hsp", protocol="mesi", scale="tiny").stats
    assert sum(stats.histograms.core.load_latency) == stats.core.load_instructions > 0
    assert sum(stats.histograms.core.store_latency) == stats.core.store_instructions > 0
    least = sum(n * (2**i // 2) for i, n in enumerate(stats.histograms.core.load_latency))
    assert least <= stats.core.load_latency_cycles < 2 * least


def test_order_stalls_are_counted_by_predecessor_and_length():
    core = gpucoh.run("dlb", protocol="mesi-wt", scale="tiny").stats.core
    weak = gpucoh.run("dlb", protocol="tc-weak", scale="tiny").stats.core
    cycles = sum(core[f"order_stall_{kind}_cycles"] for kind in ("load", "store", "atomic"))
    assert min(core.order_stalls_load, core.order_stalls_store, core.order_stalls_atomic) > 0
    assert core.order_stall_latency == cycles / core.order_stalls
    assert 0 < core.order_stall_share <= 1
    assert 0 < core.order_blocked_cycles <= cycles  # several warps may have one in a cycle
    assert weak.order_stall_share < core.order_stall_share


def test_histograms_count_every_order_stall_and_atomic():
    stats = gpucoh.run("dlb", protocol="mesi-wt", scale="tiny").stats
    assert sum(stats.histograms.core.order_stall) == stats.core.order_stalls > 0
    assert sum(stats.histograms.core.atomic_latency) == stats.core.atomic_instructions > 0
    assert stats.core.atomic_latency > stats.core.load_latency


def test_statistics_of_two_gpus_do_not_subtract(gpu):
    before = gpu.stats()
    assert (gpu.stats() - before).cycles == 0
    with pytest.raises(gpucoh.ConfigError, match="two GPUs"):
        _ = gpucoh.GPU(protocol="ideal").stats() - before


def test_statistics_of_two_runs_subtract():
    one = gpucoh.run("bfs", protocol="ideal", scale="tiny").stats
    other = gpucoh.run("bfs", protocol="mesi", scale="tiny").stats
    assert (other - one).l1.loads == other.l1.loads - one.l1.loads
    assert (other - one).cycles == other.cycles - one.cycles != 0


@pytest.mark.parametrize("protocol", ["gpu-drf", "denovo-drf"])
def test_an_aborted_launch_counts_no_hits_of_unanswered_loads(protocol):
    gpu = gpucoh.GPU("mesh15", protocol, budget=150)
    x = gpu.zeros(4096, np.int32)
    with pytest.raises(gpucoh.BudgetError):
        gpu.launch(add_one, grid=128, block=32, args=(x, 4096))
    l2 = gpu.stats().l2
    assert l2.load_misses > 0
    assert l2.load_hits + l2.load_misses <= l2.loads


@gpucoh.kernel
def copy_one_line(x: gpucoh.Buffer[gpucoh.i32], y: gpucoh.Buffer[gpucoh.i32]):
    lane = gpucoh.global_id() % 32
    y[lane] = x[lane]


@pytest.mark.parametrize(("mshr", "stores"), [("merge", 1), ("stall", 2)])
def test_requests_that_an_outstanding_one_serves_and_waits_for_the_line_have_no_latency(
    mshr, stores
):
    gpu = gpucoh.GPU(protocol=f"mesi-wt[mshr={mshr}]")
    gpu.launch(
        copy_one_line, grid=1, block=64, args=(gpu.zeros(32, np.int32), gpu.zeros(32, np.int32))
    )
    core, l1 = gpu.stats().core, gpu.stats().l1
    assert (core.loads, l1.load_merges, core.served_loads) == (2, 1, 1)
    assert core.stores == 2
    assert core.served_stores == stores
    merged = core.load_latency_cycles - core.served_load_cycles
    assert 100 < merged < core.served_load_cycles  # it came later
    merged_or_waited = core.store_latency_cycles - core.served_store_cycles
    assert 100 < merged_or_waited < core.served_store_cycles
