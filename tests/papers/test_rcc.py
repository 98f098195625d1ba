"""Are the RCC paper's amounts, counts, figures and tables those of the runs and descriptions, as computed by hand?"""

import json
from dataclasses import replace
from types import SimpleNamespace

import matplotlib.image
import pytest

import gpucoh
from gpucoh.cli import call
from gpucoh.papers import FigureSpec, load, paper_figure, reproduce
from gpucoh.papers.agreement import agreement
from gpucoh.papers.amounts import AMOUNTS, expired_shares, stall_causes
from gpucoh.papers.bars import measure_claim, protocols_of
from gpucoh.papers.counts import COUNTS
from gpucoh.papers.descriptions import DESCRIBED, state_rows
from gpucoh.papers.drawing import by_workload, short, stacked
from gpucoh.papers.figures import chosen
from gpucoh.papers.pages import _changed
from gpucoh.papers.panels import Panel
from gpucoh.papers.runs import START_SKEW, Bench, bench_of
from gpucoh.papers.scorecard import scorecard
from gpucoh.papers.study import study
from gpucoh.results.stats import Stats
from gpucoh.suite import workloads
from products import rows

RCC = load("rcc")
CLAIMS = {claim.id: claim for claim in RCC.claims}
SC_BASELINE = "mesi-wt[consistency=sc]"
TCS = "tc-strong[consistency=sc]"


def run(
    cycles=1000,
    stalls=(0, 0, 0),
    stall_cycles=(0, 0, 0),
    instructions=100,
    shared=0,
    loads=100,
    misses=0,
    merges=0,
    expired=(0, 0),
    advances=0,
    logical=0,
    latencies=(1, 1),
):
    """A run with these counters; stalls and their cycles behind loads, stores, atomics; expired: unchanged, all."""
    kinds = ("load", "store", "atomic")
    core = {f"order_stalls_{kind}": count for kind, count in zip(kinds, stalls, strict=True)}
    core |= {f"order_stall_{kind}_cycles": c for kind, c in zip(kinds, stall_cycles, strict=True)}
    core |= {"memory_instructions": instructions, "shared_accesses": shared}
    core |= {"order_blocked_cycles": sum(stall_cycles) // 2}
    core |= {"load_instructions": 10, "load_latency_cycles": 20 * latencies[0]}
    core |= {"store_instructions": 10, "store_latency_cycles": 10 * latencies[1]}
    core |= {"served_loads": 20, "served_load_cycles": 20 * latencies[0]}
    core |= {"served_stores": 10, "served_store_cycles": 10 * latencies[1]}
    core |= {"served_atomics": 30, "served_atomic_cycles": 30 * latencies[-1]}
    stats = Stats(
        {
            "core": core,
            "l1": {"loads": loads, "load_hits": loads - misses - merges, "load_misses": misses},
            "counters": {
                "L1": {
                    "expired_loads": expired[1],
                    "now_advances": advances,
                    "logical_time": logical,
                },
                "L2": {"expired_unchanged": expired[0]},
            },
        }
    )
    machine = {"cores": 4, "core_mhz": 1400, "timestamp_bits": 32}
    return SimpleNamespace(cycles=cycles, stats=stats, configuration=machine, correct=True)


def counted(name, runs):
    count = COUNTS["rcc"][name]
    by_pair = {(number, p): one for number, one in enumerate(runs) for p in count.protocols}
    return count.measure(CLAIMS[name], list(range(len(runs))), by_pair)


def test_the_groups_are_the_papers():
    assert set(RCC.groups["inter"]) == {"bh", "bfs-mask", "cl", "dlb-rcc", "stn", "vpr"}
    assert set(RCC.groups["intra"]) == {"hsp-rcc", "kmn", "lps", "ndl", "sr", "lud"}
    assert set(RCC.groups["all"]) == {*RCC.groups["inter"], *RCC.groups["intra"]}
    built = workloads()
    for name in RCC.groups["all"]:
        assert "R" in built[name].papers
    assert all(built[name].needs_coherence for name in RCC.groups["inter"])
    assert not any(built[name].needs_coherence for name in RCC.groups["intra"])


def test_workloads_with_more_than_a_fifth_of_stalled_operations_are_counted():
    runs = [run(stalls=(20, 0, 0)), run(stalls=(10, 10, 1)), run(stalls=(0, 0, 90)), run()]
    runs.append(run(stalls=(20, 10, 0), shared=50))  # of operations of any space
    assert counted("rcc-01", runs) == 2
    claim = CLAIMS["rcc-01"]
    assert [agreement(claim, value) for value in (0, 1, 2)] == ["size", "size", "no"]


def test_stall_cycles_behind_stores_and_atomics_are_divided_by_those_behind_loads():
    runs = [run(stall_cycles=(10, 20, 5)), run(stall_cycles=(40, 0, 0))]
    assert counted("rcc-02", runs) == 25 / 50
    assert counted("rcc-02", [run(stall_cycles=(0, 7, 0))]) is None


def test_unchanged_expired_loads_are_divided_by_the_others():
    assert counted("rcc-11", [run(expired=(30, 40)), run(expired=(0, 10))]) == 30 / 20


def test_logical_time_advances_per_cycle_of_a_core():
    # 4 cores for 1000 and 3000 cycles, whose clocks advance 10 times in all, by more than 1 each
    runs = [
        run(cycles=1000, advances=4, logical=40),
        run(cycles=3000, advances=6, logical=600),
    ]
    assert counted("rcc-15", runs) == 4 * 4000 / 10
    assert counted("rcc-15", [run()]) is None
    hours = counted("rcc-16", [run(cycles=1073, logical=4)])
    assert hours == pytest.approx(2**32 * 1073 / 1.4e9 / 3600)
    assert agreement(CLAIMS["rcc-16"], hours) == "size"


@pytest.mark.parametrize(
    ("measure", "given", "expected"),
    rows(
        [
            ("sc_stalled", {"stalls": (1, 2, 3)}, 0.06),
            ("sc_stalled", {"instructions": 0}, None),
            ("sc_behind_writes", {"stall_cycles": (10, 20, 10)}, 0.75),
            ("sc_behind_writes", {}, None),
            ("sc_stalls", {"stall_cycles": (10, 20, 10)}, 20),
            ("stall_latency", {"stalls": (1, 1, 2), "stall_cycles": (10, 20, 10)}, 10),
            ("stall_latency", {}, None),
            ("expired_loads", {"expired": (3, 5)}, 0.05),
            ("expired_loads", {"loads": 0}, None),
            ("expired_unchanged", {"expired": (3, 5)}, 0.6),
            ("expired_unchanged", {}, None),
            ("l1_miss_rate", {"misses": 73}, 0.73),
            ("l1_miss_rate", {"misses": 60, "merges": 20}, 0.75),
            ("l1_miss_rate", {"loads": 0}, None),
            ("l1_hit_rate", {"misses": 73}, 0.27),
            ("sc_stalled", {"stalls": (1, 2, 3), "shared": 20}, 0.05),
            ("store_latency_ratio", {"latencies": (100, 240)}, 2.4),
            ("write_latency_ratio", {"latencies": (100, 240, 80)}, 1.2),
            ("store_latency_ratio", {"latencies": (0, 240)}, None),
            ("instruction_latency_ratio", {"latencies": (100, 240)}, 1.2),
        ],
        one_in=4,
    ),
)
def test_an_amount_of_a_run(measure, given, expected):
    assert AMOUNTS[measure](run(**given)) == expected


def test_the_parts_of_figures_1b_and_6():
    assert stall_causes(run(stall_cycles=(10, 20, 10))) == {
        "load": 0.25,
        "store": 0.5,
        "atomic": 0.25,
    }
    assert stall_causes(run()) == {}
    assert expired_shares(run(expired=(3, 5))) == {"unchanged": 0.03, "changed": 0.02}


def test_claims_about_one_protocol_are_means_of_its_amounts():
    runs = {("a", SC_BASELINE): run(latencies=(10, 40)), ("b", SC_BASELINE): run()}
    claim = CLAIMS["rcc-03"]
    assert protocols_of(RCC, claim, "bh") == (SC_BASELINE,)
    assert measure_claim(RCC, claim, ("a", "b"), runs) == pytest.approx(2)  # geometric
    assert measure_claim(RCC, CLAIMS["rcc-04"], ("a", "b"), runs) == 4  # the largest
    expired = {("a", "rcc-sc"): run(expired=(0, 10)), ("b", "rcc-sc"): run(expired=(0, 20))}
    assert measure_claim(RCC, CLAIMS["rcc-10"], ("a", "b"), expired) == pytest.approx(0.15)
    missed = {("a", "rcc-sc"): run(misses=60)}
    assert measure_claim(RCC, CLAIMS["rcc-36"], ("a",), missed) == 0.6


def test_the_stalls_of_figure_8_are_geometric_means_over_mesi():
    # bars of rcc-sc over mesi-wt: 0.5 and 0.125, of tc-strong 1 and 0.25
    stalls = {SC_BASELINE: (80, 80), TCS: (80, 20), "rcc-sc": (40, 10)}
    runs = {
        (name, protocol): run(stall_cycles=(0, 2 * cycles, 0))
        for protocol, both in stalls.items()
        for name, cycles in zip(("bh", "cl"), both, strict=True)
    }
    measured = {
        name: measure_claim(RCC, CLAIMS[name], ("bh", "cl"), runs) for name in ("rcc-20", "rcc-21")
    }
    assert measured["rcc-20"] == pytest.approx(0.25)
    assert measured["rcc-21"] == pytest.approx(0.25 / 0.5)


def test_figures_without_a_baseline_show_the_amounts_and_their_means(tmp_path):
    names = ("hsp-rcc", "lud", "bfs-mask")
    paper = replace(RCC, groups={"inter": ("bfs-mask",), "intra": ("hsp-rcc", "lud")})
    spec = FigureSpec(
        id="x",
        title="Title",
        groups=("inter", "intra"),
        protocols=(TCS, "mesi[consistency=sc]"),
        baseline="",
        measures=("sc_stalled", "store_latency_ratio"),
        mean="geometric",
        draw=by_workload({"sc_stalled": "share", "store_latency_ratio": "store / load"}),
    )
    (drawn,) = reproduce(paper, [spec], Bench("fermi", "tiny"), tmp_path)
    skewed = {"start_skew": START_SKEW}
    runs = {name: gpucoh.run(name, TCS, scale="tiny", set=skewed) for name in names}
    data = json.loads((tmp_path / "rcc-x.json").read_text())
    bars = {(row["workload"], row["protocol"]): row for row in data["bars"]}
    for name, one in runs.items():
        assert bars[name, TCS]["sc_stalled"] == pytest.approx(AMOUNTS["sc_stalled"](one))
    ratios = [AMOUNTS["store_latency_ratio"](runs[name]) for name in ("hsp-rcc", "lud")]
    means = {(row["group"], row["protocol"]): row for row in drawn["means"]}
    geometric = (ratios[0] * ratios[1]) ** 0.5
    assert means["intra", TCS]["store_latency_ratio"] == pytest.approx(geometric)
    assert drawn["kinds"] == dict.fromkeys(spec.measures, "geometric mean")
    assert matplotlib.image.imread(tmp_path / "rcc-x.png")[..., :3].std() > 0.05


def test_stacked_parts_have_the_mean_of_the_runs_that_have_parts():
    comparison = gpucoh.compare(["hsp-rcc", "lud", "bfs-mask"], [TCS], scale="tiny")
    heights = {"hsp-rcc": {"load": 0.2, "store": 0.4}, "lud": {"load": 0.4, "store": 0.0}}
    draw = stacked(
        lambda one: heights.get(one.workload, {}),
        {"load": ("LD", "loads"), "store": ("ST", "stores")},
        "share",
    )
    panel = SimpleNamespace(title="Title", group="all", comparison=comparison)
    axes = draw([panel]).axes[0]
    bars = sorted((bar.get_x(), bar.get_height()) for bar in axes.patches)
    assert [height for _, height in bars[-2:]] == pytest.approx([0.2, 0.3])
    assert [text.get_text() for text in axes.texts if " of " in text.get_text()] == ["2 of 3"]
    assert axes.get_ylim()[1] < 1


def test_a_claim_of_state_counts_and_storage_needs_no_run():
    bench = Bench("fermi", "tiny")
    wanted = ("rcc-62a", "rcc-62b", "rcc-62c", "rcc-60", "rcc-61")
    verdicts = scorecard(RCC, bench, [CLAIMS[name] for name in wanted])
    assert [verdict.measured for verdict in verdicts] == [5 + 7, 5 + 8, 5 + 4, 32, 64]
    assert not bench.done
    # a lease's end per line of the L1, in the machine's timestamp bits
    strong = replace(CLAIMS["rcc-60"], subject="tc-strong")
    assert DESCRIBED["storage_bits"](RCC, strong) == 32


def test_table_v_shows_the_papers_numbers_beside_ours(tmp_path, capsys):
    ours = {(row["protocol"], row["controller"]): row for row in state_rows(RCC)}
    assert len(ours) == 10
    exclusive = ours["mesi-wt[exclusive=on]", "L1"]
    assert exclusive["here: states"] > ours["mesi-wt", "L1"]["here: states"]
    for controller in ("L1", "L2"):
        row = ours["rcc-sc", controller]
        for number in ("states", "stable", "transitions"):
            assert row[f"here: {number}"] == row[f"paper: {number}"]
    status = call(["reproduce", "rcc", "tableV", "--out", str(tmp_path)])
    out = capsys.readouterr().out
    assert status == 0
    rows = [line.split() for line in out.splitlines()]
    row = next(row for row in rows if row[:2] == ["tc-strong", "L1"])
    table = gpucoh.protocols()["tc-strong"].controllers["L1"]
    assert row[2:] == ["5", "2", "27", "5", "2", str(table.transitions), str(table.hardened)]
    assert (tmp_path / "rcc-table-V.csv").read_text().count("\n") == 11
    assert len(json.loads((tmp_path / "rcc-table-V.json").read_text())["rows"]) == 10
    assert matplotlib.image.imread(tmp_path / "rcc-table-V.png")[..., :3].std() > 0.05
    shown = paper_figure("rcc", "table-V")
    assert list(shown.table["paper: transitions"])[-2:] == [33, 14]


def test_the_storage_of_section_iv_c_has_the_papers_overheads():
    table = paper_figure("rcc", "storage").table
    assert list(table["paper: overhead"]) == ["3.1%", "6.1%"]  # printed as 3% and 6%


def test_a_variant_changes_fields_of_the_machine():
    bench = Bench("fermi", "tiny")
    changed = bench.variant(fields={"l1_kib": 16})
    for one in (bench, changed):
        one.get([("hsp-rcc", "tc-weak")])
    assert len(bench.done) == 2
    skewed = {"start_skew": START_SKEW}
    assert changed.run("hsp-rcc", "tc-weak", 0).changes == {"l1_kib": 16} | skewed
    assert bench.run("hsp-rcc", "tc-weak", 0).changes == skewed


def test_the_figures_are_those_of_the_paper():
    ids = [spec.id for spec in chosen("rcc", None)]
    assert ids == [
        "1a",
        "1b",
        "1c",
        "1d",
        "6",
        "7a",
        "7b",
        "8",
        "9a",
        "9b",
        "9c",
        "10",
        "table-V",
        "storage",
    ]
    assert [spec.id for spec in chosen("rcc", "1")] == ["1a", "1b", "1c", "1d"]
    for name in ("table-V", "TableV", "v"):
        assert [spec.id for spec in chosen("rcc", name)] == ["table-V"]


def test_labels_name_the_rule_and_switches():
    assert short(TCS) == "TC-Strong SC"
    assert short("tc-weak[lifetime=0]") == "TC-Weak-0"
    assert short("rcc-sc[renew=0]") == "RCC-SC -renew"
    assert short("mesi-wt[exclusive=on,consistency=sc]") == "MESI-WT +exclusive SC"


def test_a_long_label_of_an_axis_has_several_lines(tmp_path):
    comparison = gpucoh.compare(["hsp-rcc"], [SC_BASELINE, "rcc-sc"], scale="tiny")
    bars = {"speedup": {"hsp-rcc": dict.fromkeys(comparison.protocols, 1.0)}}
    panel = Panel(title="Title", group="all", comparison=comparison, bars=bars)
    draw = by_workload({"speedup": "SC stall cycles relative to {base}"})
    label = draw([panel]).axes[0].get_ylabel()
    assert label == "SC stall cycles relative to\nMESI-WT SC"


def test_protocols_run_with_the_sizes_and_constants_of_the_authors_simulator():
    bench = bench_of(RCC, scale="tiny")
    assert bench.protocol(TCS) == "tc-strong[bytes=public,consistency=sc]"
    assert bench.protocol("tc-weak") == "tc-weak[bytes=public,predictor=reference]"
    (listed,) = (one for one in study("rcc").variants if one.title.startswith("TC-Weak's"))
    assert _changed(bench, listed).protocol("tc-weak") == "tc-weak[bytes=public,predictor=paper]"
    other = replace(bench, replaced={"tc-strong": "mesi"})
    assert other.protocol(TCS) == "mesi[consistency=sc]"  # which has no such option


def test_a_figure_has_the_options_that_the_paper_s_protocols_run_with(tmp_path):
    paper = replace(RCC, groups={"inter": ("stn",), "intra": ("kmn",)})
    (drawn,) = reproduce(paper, chosen("rcc", "9a"), bench_of(paper, scale="tiny"), tmp_path)
    assert drawn["baseline"] == "mesi-wt[bytes=public,consistency=sc]"
    means = {(row["group"], row["protocol"]): row["speedup"] for row in drawn["means"]}
    assert means["inter", drawn["baseline"]] == means["intra", drawn["baseline"]] == 1
    assert means["inter", "tc-weak[bytes=public,predictor=reference]"] > 1
