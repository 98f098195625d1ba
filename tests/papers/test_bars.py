"""Are group claims ratios of mean bars, as computed by hand?"""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from gpucoh.papers.bars import group_of, measure_claim, pick, protocols_of, shown_group, usable
from gpucoh.papers.claims import load, read
from gpucoh.papers.counts import PLATEAU, from_plateau, plateau
from gpucoh.papers.lifetimes import LIFETIMES
from products import rows

CLAIM = """
[[claim]]
id = "{id}"
figure = "{figure}"
measure = "{measure}"
subject = "{subject}"
baseline = "{baseline}"
workloads = "{group}"
mean = "{mean}"
exact = "stated"
value = 2.0
says = "a test"
where = ""
"""
PAPER = """
paper = "p"
title = "A paper"
machine = "fermi"
[groups]
left = ["a", "b"]
right = ["c"]
all = ["a", "b", "c"]
[parameters]
a = { n = 3 }
"""
BY_GROUP = """
[[bars]]
groups = ["left"]
baseline = "base"
mean = { speedup = "harmonic", other = "arithmetic" }
basis = "stated"
[[bars]]
groups = ["right"]
baseline = "other"
mean = { speedup = "harmonic", other = "arithmetic" }
basis = "stated"
"""
BY_FIGURE = """
[[bars]]
figures = ["1"]
baseline = "base"
mean = { time = "arithmetic", other = "geometric" }
basis = "stated"
"""
# (workload, protocol) -> cycles, flits; "base" takes 100 of each on a and b, "other" 10 on c.
AMOUNTS = {
    ("a", "base"): (100, 100),
    ("b", "base"): (100, 100),
    ("c", "base"): (40, 40),
    ("c", "other"): (10, 10),
    ("a", "x"): (50, 20),
    ("b", "x"): (200, 180),
    ("c", "x"): (5, 30),
    ("a", "y"): (100, 50),
    ("b", "y"): (50, 50),
    ("c", "y"): (20, 20),
}


class _Stats:
    def __init__(self, flits):
        self._flits = flits

    def flits(self):
        return self._flits


RUNS = {
    pair: SimpleNamespace(cycles=cycles, stats=_Stats(flits), correct=True)
    for pair, (cycles, flits) in AMOUNTS.items()
}


def paper(bars=BY_GROUP, **claim):
    given = {
        "id": "p-1",
        "figure": "1",
        "measure": "speedup",
        "subject": "x",
        "baseline": "y",
        "group": "left",
        "mean": "unstated",
    }
    text = CLAIM.format(**given | claim)
    return read(PAPER + bars + text)


def measured(given, runs=RUNS):
    claim = given.claims[0]
    return measure_claim(given, claim, claim.workloads, runs)


def test_a_speedup_is_the_ratio_of_harmonic_mean_bars():
    # bars of x over base: 2 and 0.5, harmonic mean 0.8; of y: 1 and 2, harmonic mean 4/3
    assert measured(paper()) == pytest.approx(0.8 / (4 / 3))


def test_a_against_b_is_the_inverse_of_b_against_a():
    for bars in (BY_GROUP, BY_FIGURE):
        for measure in ("speedup", "traffic"):
            forward = measured(paper(bars, measure=measure))
            back = measured(paper(bars, measure=measure, subject="y", baseline="x"))
            assert forward == pytest.approx(1 / back)
            assert forward != pytest.approx(1)


def test_traffic_is_the_ratio_of_arithmetic_mean_bars():
    # bars of x: 0.2 and 1.8, mean 1; of y: 0.5 and 0.5
    assert measured(paper(measure="traffic")) == pytest.approx(1 / 0.5)


def test_over_all_groups_each_bar_is_relative_to_its_own_baseline():
    # bars of x: 2, 0.5, 10/5 = 2, harmonic 3/3; of y: 1, 2, 10/20 = 0.5, harmonic 3/3.5
    assert measured(paper(group="all")) == pytest.approx(1 / (3 / 3.5))
    given = paper(group="all")
    assert protocols_of(given, given.claims[0], "c") == ("x", "y", "other")
    assert protocols_of(given, given.claims[0], "a") == ("x", "y", "base")


def test_a_speedup_read_off_bars_of_times_is_the_inverse_ratio_of_the_mean_times():
    # times of x: 0.5 and 2, arithmetic mean 1.25; of y: 1 and 0.5, mean 0.75
    assert measured(paper(BY_FIGURE)) == pytest.approx(0.75 / 1.25)


def test_bars_are_found_by_figure_else_relative_to_the_claims_baseline():
    # figure 1: traffic bars over base, geometric
    assert measured(paper(BY_FIGURE, measure="traffic")) == pytest.approx(0.6 / 0.5)
    # figure 2 is not described: x over y, flits 20/50 and 180/50, by the claim's own mean
    given = paper(BY_FIGURE, figure="2", measure="traffic", mean="arithmetic")
    assert measured(given) == pytest.approx((0.4 + 3.6) / 2)
    assert protocols_of(given, given.claims[0], "a") == ("x", "y", "y")
    # no mean either: the first of the paper's file, geometric
    assert measured(paper(BY_FIGURE, figure="2", measure="traffic")) == pytest.approx(1.2)
    assert measured(paper(BY_FIGURE, figure="2")) == pytest.approx(1 / ((0.5 + 4) / 2))


def test_bars_relative_to_none_are_the_amounts_themselves():
    plain = BY_FIGURE.replace('baseline = "base"', 'baseline = ""')
    # flits of x: 20 and 180, geometric mean 60; of y: 50
    given = paper(plain, measure="traffic")
    assert measured(given) == pytest.approx(60 / 50)
    assert protocols_of(given, given.claims[0], "a") == ("x", "y")
    group = shown_group(given, "traffic", "1", ("a", "b"))
    assert group.mean("x", RUNS) == pytest.approx(60)


def test_bars_with_means_of_different_kinds_are_not_mixed():
    mixed = BY_GROUP.replace('speedup = "harmonic"', 'speedup = "geometric"', 1)
    with pytest.raises(ValueError, match="different means"):
        measured(paper(mixed, group="all"))


@pytest.mark.parametrize(
    ("mean", "expected"), [("max", 2.0), ("min", 0.25), ("each", 0.25), ("most", 0.25)]
)
def test_claims_about_single_workloads_compare_the_runs(mean, expected):
    # x over y: a 100/50 = 2, b 50/200 = 0.25
    given = paper(mean=mean)
    claim = replace(given.claims[0], value=None, direction="above")
    assert measure_claim(given, claim, ("a", "b"), RUNS) == expected


@pytest.mark.parametrize(
    ("mean", "direction", "ratios", "expected"),
    [
        ("each", "above", [1.5, 0.9, 2.0], 0.9),
        ("each", "below", [1.5, 0.9, 0.5], 1.5),
        ("each", "equal", [0.8, 1.0, 1.1], 0.8),
        ("most", "above", [1.5, 0.9, 2.0], 1.5),  # two of three are above
        ("most", "above", [1.5, 0.9, 2.0, 0.8], 0.9),  # two of four are not most
        ("most", "below", [0.5, 0.9, 2.0, 0.8], 0.9),
        ("most", "equal", [1.0, 1.02, 3.0], 1.02),
    ],
)
def test_each_and_most_take_the_ratio_that_decides(mean, direction, ratios, expected):
    claim = replace(paper().claims[0], mean=mean, direction=direction)
    assert pick(claim, ratios) == expected


def test_a_workload_with_a_wrong_run_leaves_both_mean_bars():
    wrong = SimpleNamespace(cycles=1, stats=_Stats(1), correct=False)
    runs = RUNS | {("b", "base"): wrong}
    given = paper()
    group = usable(group_of(given, given.claims[0]), ("x", "y"), runs)
    assert list(group.baselines) == ["a"]
    assert group.against("x", "y", runs) == 2.0


def test_the_parts_of_a_mean_bar_sum_to_it():
    given = paper(measure="traffic")
    group = shown_group(given, "traffic", "1", ("a", "b"))

    def halves(run):
        return {"odd": run.stats.flits() * 0.25, "even": run.stats.flits() * 0.75}

    parts = group.parts("x", RUNS, halves)
    assert parts == pytest.approx({"odd": 0.25, "even": 0.75})
    assert sum(parts.values()) == pytest.approx(group.mean("x", RUNS))


def test_what_a_claims_file_says_beyond_claims_is_read():
    given = paper()
    assert given.parameters == {"a": {"n": 3}}
    assert given.claims[0].tolerance == 0.05
    text = (
        PAPER
        + BY_GROUP
        + CLAIM.format(
            id="p-1",
            figure="1",
            measure="speedup",
            subject="x",
            baseline="y",
            group="left",
            mean="each",
        )
    )
    assert read(text + "tolerance = 0.03\n").claims[0].tolerance == 0.03


def test_every_group_claim_of_a_paper_has_bars():
    tc = load("tc")
    for claim in tc.claims:
        if claim.group and claim.baseline:
            assert set(group_of(tc, claim).baselines.values()) <= {"no-l1", "no-coh"}


def curve(**by_lifetime):
    """Cycles by fixed lifetime, 1000 unless given."""
    return [by_lifetime.get(f"at_{lifetime}", 1000) for lifetime in LIFETIMES]


def test_the_plateau_is_what_lies_around_the_best_within_2_percent():
    assert PLATEAU == 0.02
    flat = curve(at_800=918, at_1600=900, at_3200=919, at_100=900)
    assert [LIFETIMES[place] for place in plateau(flat)] == [100]  # the first of two equal ones
    flat = curve(at_800=918, at_1600=900, at_3200=919)
    assert [LIFETIMES[place] for place in plateau(flat)] == [800, 1600]
    assert len(plateau(curve())) == len(LIFETIMES)


@pytest.mark.parametrize(
    ("lifetime", "expected"),
    rows([(800, 1), (1600, 1), (1000, 1), (400, 0.5), (3200, 2), (0, 1 / 8)], one_in=4),
)
def test_a_lifetime_is_compared_with_the_nearest_of_the_plateau(lifetime, expected):
    assert from_plateau(lifetime, curve(at_800=918, at_1600=900)) == expected


def test_lifetimes_below_the_shortest_nonzero_one_count_as_it():
    assert from_plateau(0, curve(at_0=900)) == 1
    assert from_plateau(60, curve(at_0=900)) == 1
    assert from_plateau(200, curve(at_0=900)) == 2
