"""Are means of ratios, and their intervals over workloads, those of the definition?"""

import numpy as np
import pandas as pd
import pytest

from gpucoh.studies.intervals import interval_over_workloads
from gpucoh.studies.means import mean_ratio


def runs(**cycles):
    """Good runs: workload -> cycles of seeds 0, 1, ..; None is a run that is missing."""
    return pd.DataFrame(
        [
            (workload, seed, value)
            for workload, values in cycles.items()
            for seed, value in enumerate(values)
            if value is not None
        ],
        columns=["workload", "seed", "cycles"],
    )


def test_a_mean_is_geometric_over_workloads_of_their_means_over_seeds():
    found = mean_ratio(runs(a=[4, 1], b=[8, 8]), runs(a=[1, 1], b=[1, 1]), "cycles", ["a", "b"])
    assert found.by_workload == pytest.approx({"a": 2, "b": 8})
    assert found.value == pytest.approx(4)


def test_a_seed_that_one_side_lacks_and_an_amount_of_zero_enter_no_mean():
    above = runs(a=[2, 50], b=[0, 0], c=[3], d=[5])
    below = runs(a=[1, None], b=[1, 1], c=[1])
    found = mean_ratio(above, below, "cycles", ["a", "b", "c"])
    assert found.by_workload == pytest.approx({"a": 2, "c": 3})
    assert found.missing == ("b",)


def test_a_mean_of_nothing_is_no_number():
    found = mean_ratio(runs(), runs(), "cycles", ["a"])
    assert np.isnan(found.value)
    assert (found.side, found.missing) == (0, ("a",))


def test_the_interval_of_equal_workloads_is_their_value_and_one_workload_has_none():
    assert interval_over_workloads([np.array([0.5, 0.5])] * 3) == pytest.approx((0.5, 0.5))
    assert np.isnan(interval_over_workloads([np.array([0.5, 0.7])])).all()


def test_the_interval_over_workloads_is_that_of_the_normal_distribution():
    draw = np.random.default_rng(1)
    workloads = [np.array([value]) for value in draw.normal(0.0, 1.0, size=400)]
    low, high = interval_over_workloads(workloads)
    values = np.concatenate(workloads)
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.02)


def test_seeds_widen_the_interval_of_workloads_with_equal_means():
    low, high = interval_over_workloads([np.array([-1.0, 1.0])] * 8)
    # Of a mean of two seeds that are -1 or 1 the variance is 1/2, of that of eight workloads 1/16.
    assert (low, high) == pytest.approx((-1.96 / 4, 1.96 / 4), abs=0.1)


def test_a_mean_has_a_side_where_its_interval_excludes_1():
    one = runs(a=[1] * 3, b=[1] * 3, c=[1] * 3)
    assert mean_ratio(runs(a=[2] * 3, b=[3] * 3, c=[2] * 3), one, "cycles", "abc").side == 1
    assert mean_ratio(one, runs(a=[2] * 3, b=[3] * 3, c=[2] * 3), "cycles", "abc").side == -1
    assert mean_ratio(runs(a=[2] * 3, b=[0.5] * 3, c=[1] * 3), one, "cycles", "abc").side == 0
