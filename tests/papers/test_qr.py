"""Are the QuickRelease paper's amounts, claims, figures and storage those computed by hand?"""

from dataclasses import replace

import numpy as np
import pytest

import gpucoh
from gpucoh.papers import load, paper_figure, scorecard
from gpucoh.papers.amounts import AMOUNTS
from gpucoh.papers.bars import measure_claim, ratio
from gpucoh.papers.catalogue import FIGURES
from gpucoh.papers.figures import _panels, chosen, reproduce
from gpucoh.papers.memory_amounts import accesses, received_bytes
from gpucoh.papers.runs import bench_of, present
from gpucoh.suite import workloads

QR = load("qr")
CLAIMS = {claim.id: claim for claim in QR.claims}
PROTOCOLS = next(spec.protocols for spec in FIGURES["qr"] if spec.id == "5")
REQUEST, LINE = 8, 8 + 64
# Of stores: a header, the mask of bytes, the words. dct stores each of its words once: 2 x 2 blocks of 8 x 8.
MASKED, WORDS = 8 + 8, 2 * 2 * 8 * 8


@pytest.fixture(scope="module")
def runs():
    """Runs of two workloads of a few thousand cycles."""
    return {
        (name, protocol): gpucoh.run(name, protocol, machine="apu", scale="tiny")
        for name in ("dct", "matrixmul")
        for protocol in PROTOCOLS
    }


def test_the_groups_are_of_workloads_that_exist():
    assert present(QR.groups["all"]) == list(QR.groups["all"])
    assert len(QR.groups["all"]) == 14
    assert set(QR.groups["all"]) - set(QR.groups["all but apsp"]) == {"apsp"}
    every = {name for names in QR.groups.values() for name in names}
    assert sorted(present(every - set(QR.groups["all"]))) == sorted(
        [*QR.groups["frequent"], *QR.groups["nw in memory"]]
    )
    for name in every:
        workloads()[name].setting("small", 0, QR.parameters.get(name, {}))


def test_three_claims_are_not_measured_where_planted_bugs_are_built_in(mutant_gpucoh):
    from gpucoh.papers import load
    from gpucoh.papers.runs import bench_of
    from gpucoh.papers.scorecard import why_unmeasured

    qr = load("qr")
    bench = bench_of(qr, scale="tiny")
    assert [claim.id for claim in qr.claims if why_unmeasured(qr, claim, bench)] == [
        "qr-fig5-mid-lo",
        "qr-power-share-mem",
        "qr-power-share-net",
    ]


def test_a_fifo_a_wave_is_measured_where_its_results_are_right(mutant_gpucoh):
    from gpucoh.papers import load, scorecard
    from gpucoh.papers.runs import bench_of

    qr = load("qr")
    bench = bench_of(qr, scale="tiny")
    claim = next(claim for claim in qr.claims if claim.id == "qr-fifo-split")
    (verdict,) = scorecard(qr, bench, [replace(claim, workloads=("dct",))])
    ours, base = (bench.run("dct", name, 0).cycles for name in ("qr!fifo-a-wave", "qr"))
    assert verdict.measured == pytest.approx(base / ours)


def test_a_number_of_another_paper_is_no_result():
    (verdict,) = scorecard(QR, bench_of(QR, scale="tiny"), [CLAIMS["qr-power-share-mem"]])
    assert verdict.agrees == "not_measured"
    assert verdict.reason == "an input that the paper takes from another one, not a result"


def test_races_of_bfs_are_weak():
    bench = bench_of(QR, scale="tiny")
    bench.get([("bfs", "wt")])
    assert bench.run("bfs", "wt", 0).params["races"] == "weak"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_bytes_to_the_directory_are_those_of_the_messages_beyond_the_l2(runs, protocol):
    run = runs["dct", protocol]
    sent = run.stats.traffic
    if protocol == "rfo":
        expected = REQUEST * sent.READ.messages + LINE * sent.LINE.messages
        written = LINE * sent.WRITE_BACK.messages
        expected += written
    elif protocol == "qr":
        written = MASKED * sent.BLOCK_UP.messages + 4 * WORDS
        markers = sent.MARKER_UP.messages + sent.RELEASED_DOWN.messages
        expected = written + REQUEST * (sent.READ_UP.messages + markers)
        expected += LINE * sent.DATA_DOWN.messages
    else:
        written = MASKED * sent.WRITE.messages + 4 * WORDS
        expected = written + REQUEST * (sent.READ.messages + sent.WRITTEN.messages)
        expected += LINE * sent.LINE.messages
    assert AMOUNTS["directory_bytes"](run) == expected
    assert AMOUNTS["directory_write_bytes"](run) == written
    assert (written > 0) == (protocol != "rfo")


@pytest.mark.parametrize("protocol", ["wt", "qr"])
def test_bytes_are_equal_on_links_of_any_width(runs, protocol):
    wide = runs["dct", protocol].stats.traffic
    machine = gpucoh.machine("apu").replace(flit_bytes=16)
    narrow = gpucoh.run("dct", protocol, machine=machine, scale="tiny").stats.traffic
    for name, kind in wide.items():
        assert (narrow[name].messages, narrow[name].bytes) == (kind.messages, kind.bytes), name
    assert (wide.DATA.flits, narrow.DATA.flits) == (
        2 * wide.DATA.messages,
        5 * wide.DATA.messages,
    )


def test_l1s_receive_data_and_an_inv_each(runs):
    wt, qr = runs["dct", "wt"], runs["dct", "qr"]
    assert received_bytes(wt) == {"data": LINE * wt.stats.traffic.DATA.messages, "invalidations": 0}
    sent = qr.stats.traffic
    assert received_bytes(qr) == {
        "data": LINE * sent.DATA.messages,
        "invalidations": REQUEST * sent.INV.messages * 8,
    }
    assert sent.INV.messages > 0


def test_write_requests_at_dram_are_the_gpu_s(runs):
    run = runs["dct", "wt"]
    assert run.stats.cpu.transfers > 0
    assert AMOUNTS["dram_write_requests"](run) + run.stats.cpu.transfers == run.stats.dram.writes
    assert accesses(run) == {"reads": run.stats.dram.reads, "writes": run.stats.dram.writes}


def test_power_is_inferred_as_in_section_5_5(runs):
    ours, base = runs["dct", "qr"], runs["dct", "wt"]
    memory, network = (ratio(name, ours, base) for name in ("dram_accesses", "l1_bytes"))
    expected = 1 + 0.3 * (memory - 1) + 0.1 * (network - 1)
    assert ratio("inferred_power", ours, base) == pytest.approx(expected)
    joules = ours.stats.energy
    assert AMOUNTS["dram_power"](ours) == joules["dram"] / ours.cycles
    assert AMOUNTS["power"](ours) == joules["total"] / ours.cycles


@gpucoh.kernel
def write_and_read(data: gpucoh.Buffer[gpucoh.u32], out: gpucoh.Buffer[gpucoh.u32]):
    lane = gpucoh.lane_id()
    data[lane] = gpucoh.u32(lane)
    gpucoh.fence()
    out[lane] = data[lane] + data[64 + lane]


def test_hits_on_written_lines_are_rfo_s_of_all_loads():
    gpu = gpucoh.GPU(machine="apu", protocol="rfo")
    data, out = gpu.zeros(128, np.uint32), gpu.zeros(64, np.uint32)
    gpu.launch(write_and_read, grid=1, block=64, args=(data, out))
    level = gpu.stats()
    # Four lines that are written, then read, and four that are read once.
    assert (level.l1.loads, level.l1.load_hits) == (8, 4)
    assert level.counters.L1["hits_written"] == 4


def test_sizes_are_those_of_the_scale_divided():
    bench = bench_of(QR, scale="small")
    parts = [bench.smaller(QR.sizes, divisor) for divisor in (256, 4, 1)]
    sizes = [[one.parameter(name, QR.sizes[name]) for name in QR.sizes] for one in parts]
    assert sizes == [[156, 2048], [10000, 131072], [40000, 524288]]


def test_figure_10_has_four_times_the_records_of_the_suite():
    (spec,) = chosen("qr", "10")
    large, small = (CLAIMS[f"qr-fig10-{name}-a"] for name in ("large", "small"))
    assert {spec.input, large.input, small.input} == {"scaling"}
    assert (large.smaller, small.smaller) == (1, 256)
    for scale, records in (("tiny", 2000), ("small", 684224), ("paper", 684224)):
        bench = bench_of(QR, scale=scale).given(QR.inputs["scaling"])
        assert bench.parameter("nn", "records") == records
        assert bench.smaller(QR.sizes, 256).parameter("nn", "records") == records // 256


def test_the_extremes_sort_twice_the_words():
    bench = bench_of(QR, scale="small")
    assert bench.parameter("sort", "words") == 4096
    extremes = bench.given(QR.inputs[CLAIMS["qr-fig5-extreme-b"].input])
    assert extremes.parameter("sort", "words") == 8192


def test_a_claim_about_small_inputs_is_of_runs_with_them():
    bench = bench_of(QR, scale="tiny")
    (verdict,) = scorecard(QR, bench, [replace(CLAIMS["qr-fig10-small-a"], workloads=("nn",))])
    cycles = [
        bench.smaller(QR.sizes, 256).run("nn", protocol, 0).cycles for protocol in ("rfo", "qr")
    ]
    assert verdict.measured == cycles[0] / cycles[1]
    assert len(bench.done) == 2


def test_doubled_l1s_are_compared_by_the_geometric_mean():
    bench = bench_of(QR, scale="tiny")
    claim = replace(CLAIMS["qr-wt-double-l1"], workloads=("dct", "matrixmul"))
    (verdict,) = scorecard(QR, bench, [claim])
    product = 1.0
    for name in claim.workloads:
        larger = bench.on({"l1_kib": 32}).run(name, "wt", 0)
        assert larger.configuration["l1_kib"] == 32
        product *= bench.run(name, "wt", 0).cycles / larger.cycles
    assert verdict.measured == pytest.approx(product**0.5)


def test_traffic_of_figure_8_is_relative_to_wt_s_data(runs):
    claim = replace(CLAIMS["qr-fig8-avg"], workloads=("dct", "matrixmul"))
    bars = [
        sum(received_bytes(runs[name, "qr"]).values()) / received_bytes(runs[name, "wt"])["data"]
        for name in claim.workloads
    ]
    assert measure_claim(QR, claim, claim.workloads, runs) == pytest.approx(sum(bars) / 2)


def test_the_figures_are_those_of_the_paper():
    ids = [spec.id for spec in chosen("qr", None)]
    assert ids == [*(str(number) for number in range(3, 10)), "5.5a", "5.5b", "10", "table-1"]
    assert {spec.baseline for spec in FIGURES["qr"][:-1]} == {
        "",
        "wt",
        "no-l1[l2=through]",
    }
    assert [spec.id for spec in chosen("qr", "5")] == ["5"]
    assert [spec.id for spec in chosen("qr", "5.5")] == ["5.5a", "5.5b"]


def test_workloads_are_ordered_by_their_reuse_under_rfo():
    paper = replace(QR, groups={"all": ("sort", "dct", "nn"), "sized": ("nn",)})
    bench = bench_of(paper, scale="tiny")
    panel = _panels(paper, chosen("qr", "5"), bench)["5"][0]
    assert panel.comparison.workloads == ["nn", "dct", "sort"]
    assert panel.kinds == {"time": "geometric mean"}


def test_figure_10_has_five_sizes_of_each_workload(tmp_path):
    paper = replace(QR, groups={"sized": ("nn",)})
    bench = bench_of(paper, scale="tiny")
    (drawn,) = reproduce(paper, chosen("qr", "10"), bench, tmp_path)
    of_qr = [row for row in drawn["means"] if row["protocol"] == "qr"]
    assert [row["smaller"] for row in of_qr] == [256, 64, 16, 4, 1]
    panels = _panels(paper, chosen("qr", "10"), bench)["10"]
    assert [panel.sizes for panel in panels] == [{"nn": size} for size in (7, 31, 125, 500, 2000)]
    assert [row["speedup"] for row in of_qr] == [
        bench.smaller(QR.sizes, size).run("nn", PROTOCOLS[0], 0).cycles
        / bench.smaller(QR.sizes, size).run("nn", "qr", 0).cycles
        for size in (256, 64, 16, 4, 1)
    ]
    chart = chosen("qr", "10")[0].draw(panels)
    assert chart.axes[0].get_ylabel() == "speedup over NO-L1-through"


def test_storage_is_that_of_table_1():
    table = paper_figure("qr", "table-1").table
    here = dict(zip(table["structure"], table["here: bits"], strict=True))
    # 8 x 64, 256 and 512 lines; bytes of a line; V or VW; 8 bytes for each of eight entries a line of the L2; 1,024
    # MSHRs of an address of 26 bits, 48 bits of fields and a line.
    directory = 32768 * 64
    assert here == {
        "write caches": 80 * 1024 * 8,
        "write mask": 64,
        "written bit": 1,
        "directory": directory,
        "directory and MSHRs": directory + 1024 * (26 + 48 + 512),
        "caches": (8 * 16 + 256) * 1024 * 8,
    }
    paper = dict(zip(table["structure"], table["paper: bits"], strict=True))
    assert {name for name in here if paper[name] != here[name]} == {"directory and MSHRs"}


@pytest.mark.parametrize(
    ("claim", "measured", "agrees"),
    [
        (
            "qr-st-fifo1",
            64 + 41,
            "no",
        ),  # a place for the marker of each wave, and of the launch's end
        ("qr-st-fifo2", 128, "size"),
        ("qr-st-fifo3", 256, "size"),
        ("rfo-st-mshr", 8 * 128, "size"),
        ("qr-st-ratio", 4 / 16, "size"),
    ],
)
def test_entries_are_those_of_the_arrays_as_built(claim, measured, agrees):
    (verdict,) = scorecard(QR, bench_of(QR, scale="tiny"), [CLAIMS[claim]])
    assert (verdict.measured, verdict.agrees) == (measured, agrees)


def test_a_doubling_is_counted_by_workload():
    bench = bench_of(QR, scale="tiny")
    claim = replace(CLAIMS["qr-fig8-double"], workloads=("lud-qr", "nn", "dct"))
    (verdict,) = scorecard(QR, bench, [claim])
    received = AMOUNTS["l1_bytes"]
    doubled = [
        name
        for name in claim.workloads
        if received(bench.run(name, "qr", 0)) >= 2 * received(bench.run(name, "wt", 0))
    ]
    assert verdict.measured == len(doubled)
    assert 0 < len(doubled) < len(claim.workloads)
