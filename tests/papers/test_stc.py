"""Are the STC paper's amounts, claims, figures and hardware cost those of runs and descriptions, computed by hand?"""

from dataclasses import replace
from types import SimpleNamespace

import pytest

import gpucoh
from gpucoh.papers import load, paper_figure, scorecard
from gpucoh.papers.agreement import agreement
from gpucoh.papers.amounts import AMOUNTS
from gpucoh.papers.bars import measure_claim, protocols_of, ratio
from gpucoh.papers.catalogue import FIGURES
from gpucoh.papers.counts import COUNTS
from gpucoh.papers.figures import _panels, chosen
from gpucoh.papers.memory_amounts import message_bytes
from gpucoh.papers.runs import START_SKEW, Bench, bench_of, present
from gpucoh.papers.structures import structure_size
from gpucoh.results.stats import Stats
from gpucoh.suite import workloads
from products import share

STC = load("stc")
CLAIMS = {claim.id: claim for claim in STC.claims}
TURNS = [f"stc-{name}" for name in ("nv", "es", "ab", "mb")]


def run(cycles=1000, hits=0, l1=None, emu=None):
    """A run on 8 CUs with 100 loads, these hits, and these counters of the L1s and of the epoch unit."""
    counters = {"L1": l1 or {}, "L2": {}} | ({"EMU": emu} if emu else {})
    stats = Stats({"counters": counters, "l1": {"loads": 100, "load_hits": hits}})
    configuration = {"cores": 8}
    return SimpleNamespace(cycles=cycles, stats=stats, correct=True, configuration=configuration)


@pytest.fixture(scope="module")
def runs():
    """Runs whose messages differ."""
    return {
        ("nn", protocol): gpucoh.run("nn", protocol, machine="gcn3", scale="tiny")
        for protocol in ("src", "stc-mb", "tc-strong")
    }


def test_the_groups_and_parameters_are_of_workloads_that_exist():
    built = workloads()
    assert len(STC.groups["all"]) == 12
    assert set(STC.groups["all"]) >= {name for names in STC.groups.values() for name in names}
    assert set(STC.groups["others"]) == set(STC.groups["all"]) - set(STC.groups["reuse"])
    for name in present(STC.groups["all"]):
        assert "S" in built[name].papers, name
        assert "placement_seed" in {parameter.name for parameter in built[name].parameters}
        built[name].setting("small", 0, STC.parameters.get(name, {}))


def test_parameters_and_prior_work_are_not_measured():
    bench = bench_of(STC, scale="tiny")
    unmeasured = [CLAIMS[name] for name in ("stc-bw-hw", "stc-lulesh-kernels")]
    assert [item.agrees for item in scorecard(STC, bench, unmeasured)] == ["not_measured"] * 2


def test_races_are_weak_and_the_order_of_buffers_takes_the_seed():
    bench = bench_of(STC, scale="tiny", seeds=(2,))
    bench.get([("mis", "src"), ("fg-share", "src")])
    bench.get([("bc", "src"), ("fw", "src")])
    params = [bench.run(name, "src", 2).params for name in ("mis", "fg-share", "bc", "fw")]
    assert (params[0]["races"], params[0]["placement_seed"]) == ("weak", 2)
    assert (params[1]["audits"], params[1]["placement_seed"]) == (False, 2)
    assert (params[2]["atomics"], params[3]["lanes"]) == ("relaxed", "rows")


def test_bandwidth_is_one_and_what_the_protocol_adds_over_the_bytes_of_src(runs):
    base, ours, timed = (runs["nn", name] for name in ("src", "stc-mb", "tc-strong"))
    sent = base.stats.traffic
    # requests and acknowledgements of 8 bytes, lines of 64 with 8 more, stores of 8 with a mask of 8 and the words, of
    # which nn stores one a record
    plain = 8 * (sent.READ.messages + sent.WRITE_ACK.messages) + 72 * sent.DATA.messages
    stores = 16 * sent.WRITE.messages + 4 * base.params["records"]
    assert message_bytes(base) == plain + stores
    epochs = sum(kind.messages for kind in ours.stats.traffic.values() if kind["class"] == "EPOCH")
    assert epochs > 0
    assert ratio("bandwidth", ours, base) == pytest.approx(1 + 8 * epochs / message_bytes(base))
    requests = timed.stats.traffic.GETS.messages
    assert ratio("bandwidth", timed, base) == 1 + 4 * requests / message_bytes(base)
    assert ratio("bandwidth", base, base) == 1
    assert ratio("added_bytes", ours, base) == pytest.approx(8 * epochs / message_bytes(base))
    assert ratio("added_bytes", base, base) == 0


@pytest.mark.parametrize("start_skew", share([0, START_SKEW], one_in=4))
def test_reuse_across_launches_hits_under_stc_unless_every_array_is_written(start_skew):
    machine = gpucoh.machine("gcn3").replace(start_skew=start_skew)

    def rate(protocol, **params):
        one = gpucoh.run("cache-reuse", protocol, machine=machine, params=params)
        assert one.correct
        return AMOUNTS["l1_hit_rate"](one)

    kept, ours = rate("src[acquire=off]"), rate("stc-mb[adapt=upper]")
    assert rate("src") == 0
    assert ours >= 0.8 * kept > 0
    assert rate("stc-mb[adapt=upper]", exchange=True) < ours
    in_place = rate("src[acquire=off]", update="in_place")
    assert rate("stc-es[seb=15]", update="in_place") == pytest.approx(in_place, abs=0.01)
    # Its own loads move the bands.
    assert rate("stc-ab[adapt=upper]", update="in_place") < 0.1 * in_place
    # Section 3.4: "sustained caching" of a read-only array. By section 4.4's sentence the bands swing.
    assert rate("stc-ab[adapt=upper]") > 0.6
    assert rate("stc-ab") == (pytest.approx(0.52, abs=0.03) if start_skew else 0)


def test_amounts_of_turns_are_quotients_of_counters():
    l1 = {"bsq_cycles": 16000, "bsq_at_changes": 960, "bsq_most": 80, "uncached_loads": 25}
    emu = {"changes": 4, "change_cycles": 400, "idle_changes": 2, "idle_change_cycles": 72}
    one = run(l1=l1, emu=emu | {"seb_steps": 3})
    names = "queued queued_at_changes queued_most uncached_loads change_cycles idle_change_cycles"
    # 8 CUs; 1,000 cycles; 4 changes; 100 loads
    expected = [2, 30, 10, 0.25, 100, 36]
    assert [AMOUNTS[name](one) for name in names.split()] == expected
    assert [AMOUNTS[name](one) for name in ("epoch_changes", "band_steps")] == [4, 3]
    never = run(l1=l1, emu=dict.fromkeys(emu, 0))
    undefined = ("queued_at_changes", "change_cycles", "idle_change_cycles")
    assert [AMOUNTS[name](never) for name in undefined] == [None] * 3
    assert [AMOUNTS[name](run()) for name in (*undefined, "queued", "queued_most")] == [None] * 5


def test_rates_are_compared_by_their_means():
    rates = {"src": (0, 50), "stc-ab": (40, 50), "src[acquire=off]": (50, 50)}
    found = {
        (name, protocol): run(hits=hits)
        for protocol, values in rates.items()
        for name, hits in zip("ab", values, strict=True)
    }
    for name, expected in (("stc-fig1-hit", 2), ("stc-fig9-others-hit", 1)):
        claim = replace(CLAIMS[name], workloads=("a", "b"))
        assert measure_claim(STC, claim, ("a", "b"), found) == expected
        assert protocols_of(STC, claim, "a") == (claim.subject, "src")


def test_three_orders_of_magnitude_are_at_most_a_316th():
    claim = CLAIMS["stc-fig10-ab"]
    assert [agreement(claim, value) for value in (0.0001, 0.003, 0.004)] == ["size", "size", "no"]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [("stc-bsq-small", 2 / 3), ("stc-bsq-drain-most", 2 / 3), ("stc-bsq-drain-fft", 4)],
)
def test_queues_are_drained_32_entries_a_cycle(claim, expected):
    def of(cycles, at_changes):
        l1 = {"bsq_cycles": 8000 * cycles, "bsq_at_changes": 8 * at_changes}
        return run(l1=l1, emu={"changes": 1})

    found = dict(zip("abc", (of(32, 33), of(0.5, 32), of(100, 40)), strict=True))
    pairs = {(name, "stc-mb"): one for name, one in found.items()}
    names = ["c"] if claim == "stc-bsq-drain-fft" else list("abc")
    assert COUNTS["stc"][claim].measure(CLAIMS[claim], names, pairs) == expected


def test_scaling_compares_the_speedups_of_32_and_8_cus():
    class Of(dict):
        def on(self, fields):
            assert fields == {"cores": 32}
            return {
                pair: run(cycles=one.cycles * (1 + (pair[1] == "src")))
                for pair, one in self.items()
            }

    few = Of({(name, of): run() for name in "ab" for of in ("src", "stc-mb")})
    count = COUNTS["stc"]["stc-scale-mean"]
    assert count.measure(CLAIMS["stc-scale-mean"], ["a", "b"], few) == pytest.approx(2)
    assert count.also_on == ({"cores": 32},)


def test_the_hardware_cost_is_that_of_table_4_and_section_7_5():
    storage = [claim for claim in STC.claims if claim.measure == "storage_bits"]
    bench = bench_of(STC, scale="tiny")
    verdicts = {verdict.id: verdict for verdict in scorecard(STC, bench, storage)}
    assert {verdict.agrees for verdict in verdicts.values()} == {"size"}
    # 8 queues of 256 addresses; 16 epochs; a counter of 16 epochs and one of 200 cycles; 16,896 leases
    expected = [65536, 528, 16, 12, 4, 0, 540672]
    assert [verdict.measured for verdict in verdicts.values()] == expected
    assert not bench.done
    table = paper_figure("stc", "table-4").table
    assert list(table["paper: bits"]) == list(table["here: bits"]) == expected
    assert structure_size("stc-mb", "CER", "gcn3") == 16
    assert structure_size("src", "BSQ", "gcn3") == 0


def test_states_are_those_of_table_1_but_src_s_poisoned_fill():
    states = paper_figure("stc", "table-1").table
    assert list(states["here: stable"]) == list(states["paper: stable"])
    more = dict(
        zip(states["protocol"], states["here: states"] - states["paper: states"], strict=True)
    )
    assert more == {"src": 1} | dict.fromkeys(TURNS, 0)


def test_the_figures_are_those_of_the_paper():
    ids = [spec.id for spec in chosen("stc", None)]
    numbers = ["1", "7.1", "8", "9", "10", *(f"7.2{part}" for part in "abcde"), "11"]
    assert ids == [*numbers, "12a", "12b", "12c", "7.4", "7.5", "table-1", "table-4"]
    figures = {spec.id: spec for spec in FIGURES["stc"]}
    assert [dict(figures[f"12{part}"].machine) for part in "abc"] == [
        {},
        {"cores": 16},
        {"cores": 32},
    ]
    assert figures["7.2d"].machine == {"l1_kib": 16}
    assert [spec.id for spec in chosen("stc", "7.2")] == [f"7.2{part}" for part in "abcde"]


def test_a_figures_bars_are_the_amounts_of_the_runs():
    paper = replace(STC, groups={"all": ("nn",), "scaling": ("nn",), "reuse_scaling": ("nn",)})
    bench = Bench("gcn3", "tiny")
    panels = _panels(
        paper, [*chosen("stc", "9"), *chosen("stc", "8"), *chosen("stc", "12c")], bench
    )
    runs = bench.runs(0)
    rates = {
        name: runs["nn", name].stats.l1.hit_rate for name in ("src", "stc-ab", "src[acquire=off]")
    }
    assert panels["9"][0].bars["l1_hit_rate"]["nn"] == rates
    assert panels["9"][0].means["l1_hit_rate"] == pytest.approx(rates)
    times = {name: runs["nn", name].cycles / runs["nn", "src"].cycles for name in ("src", *TURNS)}
    assert panels["8"][0].means["time"] == pytest.approx(times)
    assert panels["8"][0].kinds == {"time": "geometric mean"}
    many = bench.on({"cores": 32}).runs(0)
    slower = many["nn", "stc-mb"].cycles / many["nn", "src"].cycles
    for panel in panels["12c"]:
        assert panel.bars["time"]["nn"]["stc-mb"] == slower
    drawing = chosen("stc", "9")[0].draw(panels["9"])
    assert drawing.axes[0].get_ylabel() == "L1 hit rate"
