"""Are the DeNovo paper's amounts, claims, figures and storage those of runs and descriptions, as computed by hand?"""

from dataclasses import replace
from types import SimpleNamespace

import pytest

import gpucoh
from gpucoh.papers import amounts, load, paper_figure, scorecard
from gpucoh.papers.amounts import AMOUNTS, energy_by_place, flit_crossings
from gpucoh.papers.bars import measure_claim
from gpucoh.papers.catalogue import FIGURES
from gpucoh.papers.counts import COUNTS
from gpucoh.papers.figures import _panels, chosen
from gpucoh.papers.panels import Panel
from gpucoh.papers.runs import Bench
from gpucoh.results.stats import Stats
from gpucoh.suite import workloads

DENOVO = load("denovo")
CLAIMS = {claim.id: claim for claim in DENOVO.claims}
CONFIGURATIONS = ("gpu-drf", "gpu-hrf", "denovo-drf", "denovo-ro", "denovo-hrf")
SMALL = replace(DENOVO, groups={"local": ("fam_l", "ss_l"), "all": ("fam_l", "ss_l")})


def run(cycles=1000, hops=(0, 0, 0, 0, 0), caches=(1, 1, 1), core=10, dram=100):
    """A run with these flit hops of REQ, LD, REG, WB, ATO, and joules of network, L1, L2; a store buffer takes 1."""
    kinds = ("REQ", "LD", "REG", "WB", "ATO")
    traffic = {
        kind: {"messages": 1, "flits": 1, "flit_hops": count, "class": kind}
        for kind, count in zip(kinds, hops, strict=True)
    }
    network, l1, l2 = caches
    energy = {"noc_dynamic": network - 0.25, "noc_static": 0.25, "l1": l1 - 1, "l2": l2}
    energy |= {"l1_store buffer": 1, "core": core, "scratchpad": 2, "dram": dram}
    energy["total"] = sum(energy.values())
    stats = Stats({"traffic": traffic, "energy": energy})
    return SimpleNamespace(
        cycles=cycles, stats=stats, correct=True, protocol="denovo-drf", configuration={}
    )


@pytest.fixture
def all_dynamic(monkeypatch):
    """The energy of :func:`run`'s runs is dynamic energy."""
    monkeypatch.setattr(amounts, "estimate", lambda stats, *_, **__: stats.energy)


def test_the_groups_are_the_papers():
    built = workloads()
    assert [len(DENOVO.groups[name]) for name in ("nosync", "global", "local")] == [10, 4, 9]
    parts = [name for group in ("nosync", "global", "local") for name in DENOVO.groups[group]]
    assert parts == list(DENOVO.groups["all"])
    assert all("D" in built[name].papers for name in parts)
    for name, parameters in DENOVO.parameters.items():
        assert name in parts
        built[name].setting("small", 0, parameters)


def test_claims_without_workloads_are_not_measured():
    others = [claim for claim in DENOVO.claims if claim.measure == "other"]
    unnamed = [claim for claim in others if not claim.workloads]
    verdicts = scorecard(DENOVO, Bench(DENOVO.machine), unnamed)
    assert [verdict.agrees for verdict in verdicts] == ["not_measured"] * 2
    assert all("not named" in verdict.reason for verdict in verdicts)


def test_traffic_is_flit_crossings_by_use():
    one = run(hops=(1, 2, 4, 8, 16))
    assert flit_crossings(one) == {"read": 3, "registration": 4, "write": 8, "atomic": 16}
    assert AMOUNTS["flit_crossings"](one) == 31


def test_energy_excludes_dram_and_counts_the_store_buffer_as_the_l1():
    one = run(caches=(3, 5, 7), core=10, dram=100)
    assert energy_by_place(one) == {"core": 10, "scratchpad": 2, "network": 3, "l1": 5, "l2": 7}
    assert AMOUNTS["energy_without_dram"](one) == 27


def test_the_amounts_of_a_run_are_those_of_its_statistics():
    one = gpucoh.run("fam_l", protocol="denovo-drf", machine="mesh15", scale="tiny")
    energy = one.stats.energy
    without = energy["total"] - energy["dram"]
    assert AMOUNTS["energy_without_dram"](one) == pytest.approx(without)
    crossings = sum(kind["flit_hops"] for kind in one.stats.traffic.values())
    assert AMOUNTS["flit_crossings"](one) == crossings
    # of the core: leakage of 15 W; the network's dynamic part has no other
    seconds = one.cycles / 700e6
    dynamic = AMOUNTS["dynamic_energy"](one)
    assert energy["noc_dynamic"] + energy["core"] - 15 * seconds < dynamic
    assert dynamic < without - energy["noc_static"] - 15 * seconds


def two(measure, ours, base):
    """Runs on two workloads: the subject's and the baseline's, by what ``run`` takes."""
    return {
        (name, protocol): run(**{measure: value})
        for protocol, values in (("denovo-drf", ours), ("gpu-drf", base))
        for name, value in zip("ab", values, strict=True)
    }


def test_claims_are_ratios_of_mean_bars_relative_to_the_figures_baseline(all_dynamic):
    def value(name, runs):
        claim = replace(CLAIMS[name], workloads=("a", "b"))
        return measure_claim(DENOVO, claim, claim.workloads, runs)

    # times over GPU's 0.5 and 0.25
    times = two("cycles", (500, 500), (1000, 2000))
    assert value("dn-fig3-time", times) == pytest.approx(1 / 0.375)
    # figure 2 is relative to DeNovo: GPU's times 2 and 4
    assert value("dn-fig2-time", times) == pytest.approx(3)
    # crossings 10/20 and 30/20, of which the flits are equal
    crossings = two("hops", ((10, 0, 0, 0, 0), (0, 0, 0, 30, 0)), ((20, 0, 0, 0, 0),) * 2)
    assert value("dn-fig3-traffic", crossings) == pytest.approx(1)
    # 15 and 25 joules over 20, whatever the DRAM takes
    joules = {
        (name, protocol): run(core=core, dram=dram)
        for name, protocol, core, dram in (
            ("a", "denovo-drf", 10, 7),
            ("b", "denovo-drf", 20, 500),
            ("a", "gpu-drf", 15, 90),
            ("b", "gpu-drf", 15, 0),
        )
    }
    assert value("dn-fig3-energy", joules) == pytest.approx((15 / 20 + 25 / 20) / 2)


def test_parts_of_bars_are_compared_as_drawn(all_dynamic):
    runs = {
        ("a", "gpu-drf"): run(hops=(10, 20, 0, 30, 40), caches=(2, 2, 3), core=11),
        ("b", "gpu-drf"): run(hops=(0, 0, 0, 0, 50), caches=(2, 2, 3), core=11),
        ("a", "gpu-hrf"): run(hops=(5, 5, 0, 10, 0), caches=(1, 1, 1), core=99),
        ("b", "gpu-hrf"): run(hops=(0, 10, 0, 0, 5), caches=(2, 1, 1), core=99),
    }

    def value(name):
        return COUNTS["denovo"][name].measure(CLAIMS[name], ["a", "b"], runs)

    # parts of 100 and 50 crossings
    atomic = (0 + 5 / 50) / (40 / 100 + 50 / 50)
    assert value("dn-fig4-gh-gd-atomic-traffic") == pytest.approx(atomic)
    data = (20 / 100 + 10 / 50) / (60 / 100)
    assert value("dn-fig4-gh-gd-data-traffic") == pytest.approx(data)
    assert value("dn-fig4-gh-gd-mem-energy") == pytest.approx((3 / 20 + 4 / 20) / (14 / 20))


def test_the_storage_is_that_of_section_4_2():
    storage = [claim for claim in DENOVO.claims if claim.measure == "storage_bits"]
    bench = Bench(DENOVO.machine)
    verdicts = scorecard(DENOVO, bench, storage)
    assert [verdict.measured for verdict in verdicts] == [1, 1, 1, 1, 2, 1, 2, 1, 0]
    assert {verdict.agrees for verdict in verdicts} == {"size"}
    assert not bench.done
    table = paper_figure("denovo", "storage").table
    shares = dict(
        zip(
            zip(table["protocol"], table["controller"], strict=True),
            table["paper: overhead"],
            strict=True,
        )
    )
    # printed as 3% over gpu-drf, and 3% over gpu-hrf, which has 3% itself
    assert (shares["gpu-hrf", "L1"], shares["denovo-drf", "L1"]) == ("3.1%", "6.2%")
    assert shares["denovo-drf", "L2"] == "3.1%"
    states = paper_figure("denovo", "states").table
    assert list(states["here: stable"]) == list(states["paper: stable"]) == [3, 3]


def test_the_figures_are_those_of_the_paper():
    ids = [spec.id for spec in chosen("denovo", None)]
    numbered = [number + part for number in "234" for part in "abc"]
    assert ids == [*numbered, "states", "storage"]
    figures = {spec.id: spec for spec in FIGURES["denovo"]}
    assert [figures[name].baseline for name in ("2a", "3b", "4c")] == [
        "denovo-drf",
        "gpu-drf",
        "gpu-drf",
    ]
    assert figures["4a"].protocols == CONFIGURATIONS
    for part, measure in zip("abc", ("time", "energy", "traffic"), strict=True):
        assert [figures[number + part].measures for number in "234"] == [(measure,)] * 3


def test_a_figures_bars_are_the_amounts_of_the_runs():
    bench = Bench(DENOVO.machine, "tiny")
    panels = _panels(SMALL, chosen("denovo", "4"), bench)
    runs, names = bench.runs(0), SMALL.groups["local"]
    shown = {"time": "time", "energy": "dynamic_energy", "traffic": "flit_crossings"}
    for part, (measure, amount) in zip("abc", shown.items(), strict=True):
        (panel,) = panels[f"4{part}"]
        bars = {
            name: {
                protocol: AMOUNTS[amount](runs[name, protocol])
                / AMOUNTS[amount](runs[name, "gpu-drf"])
                for protocol in CONFIGURATIONS
            }
            for name in names
        }
        assert panel.bars[measure] == bars
        means = {
            protocol: (bars["fam_l"][protocol] + bars["ss_l"][protocol]) / 2
            for protocol in CONFIGURATIONS
        }
        assert panel.means[measure] == pytest.approx(means)
        assert panel.kinds[measure] == "arithmetic mean"


@pytest.mark.parametrize(
    ("figure", "axis", "legend"),
    [
        ("4a", "execution time relative to\nGPU-DRF", []),
        (
            "4b",
            "dynamic energy relative to\nGPU-DRF",
            ["network", "L2", "L1", "scratchpads", "cores"],
        ),
        (
            "4c",
            "flit crossings relative to\nGPU-DRF",
            ["atomics", "write-backs and write-throughs", "registrations", "reads"],
        ),
    ],
)
def test_a_drawing_names_its_parts(figure, axis, legend):
    (spec,) = chosen("denovo", figure)
    names = ["gpu-drf", "denovo-drf"]
    bench = Bench(DENOVO.machine, "tiny")
    comparison = bench.comparison(["fam_l"], names, "gpu-drf")
    bars = {spec.measures[0]: {"fam_l": dict.fromkeys(names, 1.0)}}
    panel = Panel(title=spec.title, group="local", comparison=comparison, bars=bars)
    drawing = spec.draw([panel])
    assert drawing.axes[0].get_ylabel() == axis
    shown = [text.get_text() for one in drawing.legends for text in one.get_texts()]
    assert shown == legend
    assert "locally scoped or hybrid synchronisation" in drawing.get_suptitle()
    if legend:
        heights = [bar.get_height() for bar in drawing.axes[0].patches]
        amount = {"4b": "dynamic_energy", "4c": "flit_crossings"}[figure]
        ours, base = (AMOUNTS[amount](comparison.run("fam_l", name)) for name in reversed(names))
        assert sum(heights) == pytest.approx(1 + ours / base)
