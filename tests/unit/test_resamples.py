"""Are resamples, places and the interaction of protocol and machine those of their definitions?"""

import numpy as np
import pytest

from gpucoh.studies.intervals import (
    FEWEST,
    interaction,
    interval,
    interval_over_workloads,
    left_out_ends,
    ranking,
    resampled,
)


def test_configurations_have_the_same_draws_so_that_their_difference_is_exact():
    values = np.random.default_rng(1).normal(size=(1, 12, 3))
    both = resampled(np.concatenate([values, values + 0.25]))
    assert both[1] - both[0] == pytest.approx(0.25)


def test_the_interval_of_resamples_is_that_of_one_configuration_alone():
    values = np.random.default_rng(1).normal(size=(1, 60, 3))
    ends = np.percentile(resampled(values)[0], (2.5, 97.5))
    assert ends == pytest.approx(interval_over_workloads(list(values[0])), abs=0.05)


def test_a_run_that_is_missing_leaves_the_others_of_its_workload():
    values = np.array([[[1.0, np.nan], [np.nan, np.nan], [3.0, 3.0]]])
    found = resampled(values)[0]
    ends = np.nanmin(found), np.nanmax(found)
    assert ends == (1.0, 3.0)
    # A draw of the second workload and of the missing seed alone has no mean.
    assert np.isnan(found).any()


def test_the_best_in_most_resamples_wins_and_equals_are_best_together():
    values = np.random.default_rng(1).normal(0.0, 0.1, size=(4, 10, 1))
    values[0] += 1
    values[1] = values[0]
    found = ranking(resampled(values), 10)
    assert found.best.tolist() == [1, 1, 0, 0]
    assert found.winner.tolist() == found.remains.tolist() == [True, True, False, False]
    assert (found.low[0], found.high[0], found.high[1]) == (1, 1, 1)


def test_those_remain_of_which_one_is_the_best_in_nine_of_ten_resamples():
    draws = np.zeros((3, 1000))
    draws[0, :600] = draws[1, 600:950] = draws[2, 950:] = 1
    found = ranking(draws, 10)
    assert found.best.tolist() == [0.6, 0.35, 0.05]
    assert not found.winner.any()
    assert found.remains.tolist() == [True, True, False]


def test_few_workloads_name_no_winner():
    found = ranking(resampled(np.ones((2, FEWEST - 1, 1))), FEWEST - 1)
    assert np.isnan(found.best).all()
    assert not found.winner.any()
    assert found.remains.all()


def test_means_without_one_value_have_the_ends_of_the_definition():
    assert left_out_ends(np.array([1.0, 2.0, 6.0])) == (1.5, 4.0)
    assert np.isnan(left_out_ends(np.array([1.0]))).all()


def test_the_interaction_is_the_share_of_the_variances_that_made_the_values():
    draw = np.random.default_rng(1)

    def made(of_protocols, of_both):
        shape = 25, 8, 40
        return (
            draw.normal(0, of_protocols, (25, 1, 1))
            + draw.normal(0, of_both, (25, 8, 1))
            + draw.normal(0, 0.5, (25, 1, 40))
            + draw.normal(0, 2, (1, 8, 40))
            + draw.normal(0, 0.5, shape)
        )

    share, low, high = interaction(made(1, 0.5))
    assert share == pytest.approx(0.2, abs=0.08)
    assert low < share < high
    assert interaction(made(1, 0))[0] < 0.01
    assert interaction(made(0, 1))[0] > 0.95
    assert np.isnan(interaction(made(1, 1)[:, :, : FEWEST - 1])[0])


def test_an_interval_of_three_seeds_reaches_from_the_smallest_to_the_largest():
    assert interval(np.array([[1.0, 2.0, 4.0]]))[0].tolist() == [1.0, 4.0]
