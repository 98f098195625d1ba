"""``synthetic``: every parameter keeps the result right, and does what it says to the traffic
drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpucoh.base.errors import ConfigError
from gpucoh.suite import workload
from gpucoh.suite.synthetic import COUNT, LANES, READ, Traffic
from products import share
from workloads.small_gpu import small_gpu

SMALL = {"operations": 12, "period": 4}


def prepared(**params: object) -> Any:
    return workload("synthetic").prepare("tiny", 1, {**SMALL, **params})


def prepare(**params: object) -> Traffic:
    traffic = prepared(**params).input
    assert isinstance(traffic, Traffic)
    return traffic


@pytest.mark.parametrize(
    "params",
    share(
        [
            {"sharing": 1},
            {"sharing": 3},
            {"scope": "cta"},
            {"scope": "cu", "blocks_per_core": 2},
            {"false_sharing": 8},
            {"spread": 7},
            {"shift": 3},
            {"zipf": 2, "reuse": 1, "distance": 1},
            {"period": 0},
            {"reads": 0, "atomics": 1},
            {"preset": "l1"},
            {"preset": "l2"},
            {"preset": "dram", "working_set": 8},
        ],
        one_in=4,
    ),
    ids=str,
)
def test_the_result_is_right(params: dict[str, object]) -> None:
    outcome = prepared(**params).run(small_gpu(4))
    assert outcome.correct, outcome.where


def test_a_preset_gives_way_to_what_the_user_sets() -> None:
    assert prepare(preset="l1").reads == 0.95
    assert prepare(preset="l1", reads=0.5).reads == 0.5


def test_false_sharing_puts_words_of_several_warps_into_one_line() -> None:
    def warps_in_line_0(instance: Traffic) -> int:
        shape = instance.shape(4)
        owner = np.arange(shape.lines * LANES) // LANES
        return len(set(owner[instance.places(shape) < LANES].tolist()))

    assert warps_in_line_0(prepare()) == 1
    assert warps_in_line_0(prepare(false_sharing=4)) == 4


def test_places_are_a_permutation() -> None:
    instance = prepare(false_sharing=8)
    places = instance.places(instance.shape(4))
    assert np.array_equal(np.sort(places), np.arange(places.size))


def test_the_mix_is_as_asked() -> None:
    instance = prepare(reads=0.5, atomics=0.25, reuse=0)
    kinds = instance.table(instance.shape(16), np.random.default_rng(0)) & 3
    assert np.mean(kinds == READ) == pytest.approx(0.5, abs=0.05)
    assert np.mean(kinds == COUNT) == pytest.approx(0.25, abs=0.05)


def test_skew_concentrates_the_lines_drawn() -> None:
    def share_of_hottest(zipf: float) -> float:
        instance = prepare(zipf=zipf, reuse=0, working_set=64)
        lines = instance.table(instance.shape(16), np.random.default_rng(0)) >> 2
        return float(np.bincount(lines.ravel()).max() / lines.size)

    assert share_of_hottest(0) < 0.02 < 0.1 < share_of_hottest(1.5)


def test_reuse_repeats_the_line_at_its_distance() -> None:
    instance = prepare(reuse=1, distance=5)
    lines = instance.table(instance.shape(16), np.random.default_rng(0)) >> 2
    assert np.array_equal(lines[:, 5:], lines[:, :-5])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"reads": 0.8, "atomics": 0.3}, "reads + atomics is 1.1"),
        ({"scope": "cta", "sharing": 2}, "sharing is 2 with scope cta"),
        ({"scope": "cu", "sharing": 5}, "sharing is 5 with scope cu"),
        ({"false_sharing": 3}, "false_sharing is 3"),
        ({"sharing": 1, "false_sharing": 16}, "false_sharing is 16"),
    ],
)
def test_parameters_that_do_not_fit_together_are_refused(
    params: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        prepare(**params)
    assert message in str(caught.value)
