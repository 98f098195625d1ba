"""Does a measured value agree with a claim as the interface says, at the edges too?"""

from dataclasses import replace

import pytest

from gpucoh.papers import load
from gpucoh.papers.agreement import agreement
from products import rows

RATIO = next(claim for claim in load("tc").claims if claim.id == "tc-01")
COUNT = next(claim for claim in load("tc").claims if claim.id == "tc-52")
ALONE = next(claim for claim in load("tc").claims if claim.id == "tc-09")


@pytest.mark.parametrize(
    ("value", "measured", "expected"),
    rows(
        [
            (1.85, 1.95, "size"),  # 0.10 at most
            (1.85, 1.9501, "direction"),
            (1.85, 1.75, "size"),
            (1.85, 1.0101, "direction"),
            (1.85, 1.01, "no"),  # not by more than 1%
            (1.85, 0.5, "no"),
            (1.12, 1.06, "size"),  # half the distance from 1
            (1.12, 1.0599, "direction"),
            (1.12, 1.18, "size"),
            (1.08, 0.99, "no"),  # the wrong sign within ten points
            (0.44, 0.54, "size"),
            (0.44, 0.5401, "direction"),
            (0.44, 0.9899, "direction"),
            (0.44, 0.99, "no"),
            (0.92, 0.96, "size"),
            (0.92, 0.9601, "direction"),
            (1.0043, 1.0243, "size"),  # 0.02 at least
            (1.0043, 1.0244, "direction"),
            (1.0, 1.02, "size"),
            (1.0, 1.03, "no"),
        ],
        one_in=4,
    ),
)
def test_a_ratio(value, measured, expected):
    assert agreement(replace(RATIO, value=value), measured) == expected


@pytest.mark.parametrize(
    ("direction", "measured", "expected"),
    rows(
        [
            ("above", 1.011, "direction"),
            ("above", 1.01, "no"),
            ("below", 0.989, "direction"),
            ("below", 0.99, "no"),
            ("below", 1.2, "no"),
            ("equal", 1.05, "size"),
            ("equal", 1.0501, "no"),
            ("equal", 0.95, "size"),
            ("equal", 0.9499, "no"),
            ("at_most", 1.05, "size"),
            ("at_most", 1.0501, "no"),
            ("at_least", 0.95, "size"),
            ("at_least", 0.9499, "no"),
        ],
        one_in=4,
    ),
)
def test_a_direction(direction, measured, expected):
    claim = replace(RATIO, value=None, direction=direction)
    assert agreement(claim, measured) == expected


def test_a_claims_own_tolerance_decides_what_is_equal():
    claim = replace(RATIO, value=None, direction="equal", tolerance=0.03)
    assert (agreement(claim, 1.03), agreement(claim, 1.04)) == ("size", "no")


@pytest.mark.parametrize(
    ("claim", "value", "measured", "expected"),
    [
        (COUNT, 12, 15, "size"),
        (COUNT, 12, 9, "size"),
        (COUNT, 12, 16, "no"),  # a count never agrees in direction
        (COUNT, 0, 0, "size"),
        (COUNT, 0, 1, "no"),
        (ALONE, 2.0, 1.5, "size"),
        (ALONE, 2.0, 1.49, "no"),
    ],
)
def test_counts_and_values_without_a_baseline(claim, value, measured, expected):
    assert agreement(replace(claim, value=value), measured) == expected


@pytest.mark.parametrize(
    ("measured", "expected"), [(0.63, "size"), (0.83, "size"), (0.62, "no"), (0.84, "no")]
)
def test_rates(measured, expected):
    claim = replace(RATIO, measure="l1_miss_rate", baseline="", value=0.73)
    assert agreement(claim, measured) == expected


def test_a_rate_relative_to_a_baseline_is_a_ratio():
    claim = replace(RATIO, measure="expired_loads", baseline="x", value=0.69)
    assert agreement(claim, 0.85) == "direction"
