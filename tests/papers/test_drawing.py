"""Are the papers' figures drawn for a column or a page, with marked means and honest axes?"""

import numpy as np
import pytest

import gpucoh
from gpucoh.figures.legends import WRONG
from gpucoh.papers import lifetimes as drawn
from gpucoh.papers.drawing import mean_speedups, mean_traffic
from gpucoh.papers.lifetimes import LIFETIMES, lifetimes
from gpucoh.papers.panels import Panel

FIXED = [f"tc-weak[lifetime={lifetime}]" for lifetime in LIFETIMES]


def panel(comparison, **more):
    every = dict.fromkeys(comparison.protocols, len(comparison.workloads))
    means = dict.fromkeys(comparison.protocols, 1.0)
    given = {
        "title": "Title",
        "group": "all",
        "comparison": comparison,
        "means": {"speedup": means},
        "traffic": {name: {"LD": 1.0} for name in comparison.protocols},
        "counted": {"speedup": every, "traffic": every},
        "kinds": {"speedup": "harmonic mean", "traffic": "arithmetic mean"},
    }
    return Panel(**(given | more))


@pytest.fixture(scope="module")
def swept():
    return gpucoh.compare(["hsp", "fg-share"], ["no-coh", "tc-weak", *FIXED], scale="tiny")


@pytest.fixture(scope="module")
def sweep_axes(swept):
    return lifetimes([panel(swept)]).axes[0]


def test_lifetime_0_is_joined_to_no_point_of_the_logarithmic_axis(sweep_axes):
    assert sweep_axes.get_xscale() == "log"
    lines = [line for line in sweep_axes.lines if len(line.get_xdata()) > 1]
    joined = [line for line in lines if len(line.get_xdata()) == len(LIFETIMES) - 1]
    assert len(joined) == 3  # two workloads and the mean
    assert all(min(line.get_xdata()) == LIFETIMES[1] for line in joined)
    ticks = [label.get_text() for label in sweep_axes.get_xticklabels()]
    assert ticks == [str(lifetime) for lifetime in LIFETIMES]


def test_a_marker_has_one_meaning(sweep_axes):
    shown = {}
    for line in sweep_axes.lines:
        marker = line.get_marker()
        if marker in ("None", None, ""):
            continue
        kind = line.get_color() if marker not in ("v", "x") else marker
        assert shown.setdefault(marker, kind) == kind
    assert {"v", "o", "s", "*"} <= set(shown)
    assert not set(drawn._MARKERS) & {"v", "x", "*"}
    assert WRONG not in drawn._SHADES


def test_a_mean_over_fewer_workloads_is_marked(swept):
    counted = {"speedup": dict.fromkeys(swept.protocols, 2) | {"tc-weak": 1}}
    figure = mean_speedups([panel(swept, counted=counted)])
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert [text for text in texts if " of " in text] == ["1.00, 1 of 2"]
    assert "harmonic mean" in figure.get_suptitle()


def test_mean_figures_have_the_width_of_a_column(swept):
    for draw in (mean_speedups, mean_traffic, lifetimes):
        assert draw([panel(swept)]).get_size_inches()[0] == pytest.approx(3.3)


def test_mean_traffic_names_its_mean(swept):
    assert "arithmetic mean" in mean_traffic([panel(swept)]).get_suptitle()


def test_the_predictors_point_is_its_average_lifetime(swept, sweep_axes):
    average = drawn.average_lifetime(swept, "hsp")
    marks = [line.get_xdata() for line in sweep_axes.lines if line.get_marker() == "v"]
    points = [places[0] for places in marks if len(places)]
    assert np.isclose(points, min(average, 1.4 * LIFETIMES[-1])).any()
