"""``dlb``, ``cc`` and ``vpr``: references against simple ones, and checks that name the error."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from gpucoh.suite import workload
from gpucoh.suite.maxflow import Cut, check_flow, distances
from gpucoh.suite.netlists import DRIVEN, INPUTS, NETS, NONE, Netlist, make_netlist
from gpucoh.suite.placement import check_placement
from gpucoh.suite.stealing import LEAF, LEVELS, check_partition, clustered, reference_partition
from products import share
from registered import COHERENT
from workloads.small_gpu import small_gpu

COMMUNICATING = ("bh", "cc", "cl", "dlb", "dlb-rcc", "stn", "vpr")


def cells_by_recursion(
    places: np.ndarray, leaf: int, numbers: list[int], level: int, code: int, begin: int
) -> list[tuple[int, ...]]:
    """Begin, count, level and code of the cell's and its children's cuts."""
    found = [(begin, len(numbers), level, code)]
    for octant in range(8):
        bit = LEVELS - 1 - level
        inside = [
            i
            for i in numbers
            if sum(int(places[axis, i] >> bit & 1) << axis for axis in range(3)) == octant
        ]
        if len(inside) > leaf and level + 1 < LEVELS:
            found += cells_by_recursion(places, leaf, inside, level + 1, 8 * code + octant, begin)
        begin += len(inside)
    return found


@pytest.mark.parametrize(("count", "leaf"), [(1, 1), (40, 3), (200, 8)])
def test_the_partition_is_that_of_a_plain_recursion(count: int, leaf: int) -> None:
    places = np.random.default_rng(count).integers(0, 1 << LEVELS, (3, count), dtype=np.int32)
    expected = sorted(cells_by_recursion(places, leaf, list(range(count)), 0, 0, 0))
    part = reference_partition(places, leaf)
    assert sorted(tuple(row) for row in part.cut.tolist()) == expected
    assert np.array_equal(part.octants.sum(axis=1), part.cut[:, 1])


def test_particles_at_one_place_are_cut_to_the_last_level() -> None:
    part = reference_partition(np.full((3, 5), 77, np.int32), 2)
    assert len(part.cut) == LEVELS
    assert set(part.leaves) == {0}


def partition() -> dict[str, Any]:
    """Arguments of dlb's check that are right."""
    expected = reference_partition(clustered(np.random.default_rng(0), 90), 4)
    tree = np.zeros(8 * len(expected.cut) + 512, np.int32)
    names = [(level, code) for _, _, level, code in expected.cut.tolist()]
    for cell, (level, code) in enumerate(names):
        for octant, count in enumerate(expected.octants[cell]):
            child = (level + 1, 8 * code + octant)
            tree[8 * cell + octant] = 8 * names.index(child) if child in names else LEAF + count
    return {
        "expected": expected,
        "leaf": 4,
        "numbers": expected.order.copy(),
        "tree": tree,
        "nodes": 8 * len(expected.cut),
        "finished": 90,
    }


def test_a_task_done_twice_is_found() -> None:
    state = partition()
    assert check_partition(**state).correct
    cells = state["nodes"] // 8
    twice = check_partition(**(state | {"nodes": state["nodes"] + 8}))
    assert (
        twice.where
        == f"words of the tree[0] is {8 * cells + 8}, expected {8 * cells} (1 of 1 words differ)"
    )
    assert "finished particles" in check_partition(**(state | {"finished": 93})).where


def test_a_wrong_tree_is_found() -> None:
    state = partition()
    inner = np.flatnonzero((state["tree"] > 0) & (state["tree"] < LEAF))
    leaf = int(np.argmax(state["tree"] > LEAF))
    for place, entry in ((leaf, state["tree"][leaf] + 1), (inner[0], 0), (inner[0], 1 << 29)):
        tree = state["tree"].copy()
        tree[place] = entry
        assert "tree entry" in check_partition(**(state | {"tree": tree})).where
    tree = state["tree"].copy()
    words = tree[inner[0]]
    tree[-8:] = tree[words : words + 8]  # the cell is in a place that was not allocated
    tree[inner[0]] = tree.size - 8
    assert "place of a cell" in check_partition(**(state | {"tree": tree})).where


def test_a_particle_lost_from_its_leaf_is_found() -> None:
    state = partition()
    state["numbers"][7] = state["numbers"][8]
    assert "particle[" in check_partition(**state).where


@pytest.mark.parametrize("shape", [(2, 2), (5, 7), (9, 4)])
def test_distances_are_those_of_a_plain_search(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape[0])
    cut = Cut.of(rng.random(shape, dtype=np.float32), 20)
    residual = np.where(rng.random(cut.sides.shape) < 0.4, 0, cut.sides).astype(np.int32)
    far = shape[0] * shape[1] + 1
    want = np.where(cut.sink > 0, 1, far)
    steps = ((0, 1), (0, -1), (1, 0), (-1, 0))
    for _ in range(far):
        for side, (dy, dx) in enumerate(steps):
            for y, x in np.argwhere(residual[side] > 0):
                want[y, x] = min(want[y, x], want[y + dy, x + dx] + 1)
    assert np.array_equal(distances(residual, cut.sink), np.minimum(want, far))


def test_flow_of_two_pixels_is_what_the_weaker_side_carries() -> None:
    sides = np.zeros((4, 1, 2), np.int32)
    sides[0, 0, 0] = sides[1, 0, 1] = 3
    cut = Cut(np.array([[7, 0]], np.int32), np.array([[0, 5]], np.int32), sides)
    assert cut.flow() == 3


def settled_cut() -> dict[str, Any]:
    """Arguments of cc's check, for two pixels, that are right."""
    sides = np.zeros((4, 1, 2), np.int32)
    sides[0, 0, 0] = sides[1, 0, 1] = 3
    cut = Cut(np.array([[7, 0]], np.int32), np.array([[0, 5]], np.int32), sides)
    residual = sides.copy()
    residual[0, 0, 0], residual[1, 0, 1] = 0, 6
    state = {"excess": np.array([[[4, 0]]]), "sink": np.array([[[0, 2]]]), "residual": residual}
    return state | {"cut": cut, "launches": 1, "settled": True, "still": False}


def test_flow_that_is_lost_is_found() -> None:
    state = settled_cut()
    assert check_flow(**state).correct
    lost = state | {"excess": state["excess"] - 1}
    assert check_flow(**lost).where.startswith("flow of pixel[0, 0] is 6, expected 7")
    residual = state["residual"].copy()
    residual[1, 0, 1] = 5
    assert "flow to the right[0, 0]" in check_flow(**(state | {"residual": residual})).where
    assert (
        "launches changed nothing"
        in check_flow(**(state | {"settled": False, "still": True})).where
    )


def test_flow_that_is_not_maximal_is_found_where_it_has_settled() -> None:
    state = settled_cut()
    state["excess"], state["sink"] = np.array([[[7, 0]]]), np.array([[[0, 5]]])
    state["residual"] = state["cut"].sides
    assert check_flow(**state).where.startswith("flow[0] is 0, expected 3")
    assert check_flow(**(state | {"settled": False})).correct


def test_flow_beyond_a_capacity_is_found() -> None:
    state = settled_cut()
    state["excess"], state["sink"] = np.array([[[3, 0]]]), np.array([[[0, 1]]])
    state["residual"][0, 0, 0], state["residual"][1, 0, 1] = -1, 7
    assert "smallest excess or capacity" in check_flow(**(state | {"settled": False})).where


def test_cut_ends_where_its_iterations_end() -> None:
    params = {"iterations": 3, "rounds": 2}
    outcome = workload("cc").prepare("tiny", 0, params).run(small_gpu(3))
    assert outcome.correct, outcome.where
    assert (outcome.details["launches"], outcome.details["settled"]) == (3, False)


def test_costs_of_nets_are_half_perimeters_with_their_factors() -> None:
    netlist = Netlist(4, np.array([0, 2, 6], np.int32), np.array([0, 1, 0, 1, 2, 3], np.int32))
    place = np.array([0, 3, 9, 14])  # of 4 x 4 sites: (0, 0) (3, 0) (1, 2) (2, 3)
    assert netlist.costs(place, 4).tolist() == [(4 + 1) * 100, (4 + 4) * 108]
    nets, pins = netlist.tables()
    assert nets[:, :2].tolist() == [[0, 1], [0, 1], [1, NONE], [1, NONE]]
    assert pins[:, :2].tolist() == [[0, 2], [1, 3], [4, NONE], [5, NONE]]
    assert netlist.boxes(place, 4).tolist() == [
        [0, 3, 0, 0, 1, 1, 2, 2],
        [0, 3, 0, 3, 1, 1, 2, 1],
    ]


def test_netlists_fit_what_a_move_can_hold() -> None:
    netlist = make_netlist(150, 14, np.random.default_rng(0))
    for first, last in zip(netlist.first[:-1], netlist.first[1:], strict=True):
        assert len(set(netlist.pins[first:last])) == last - first >= 1
    nets, pins = netlist.tables()
    assert 6 < (nets != NONE).sum(axis=1).max() <= INPUTS + DRIVEN <= NETS
    used = nets != NONE
    assert np.array_equal(netlist.pins[pins[used]], np.nonzero(used)[0])


def placement() -> dict[str, Any]:
    """Arguments of vpr's check that are right."""
    rng = np.random.default_rng(0)
    netlist = make_netlist(200, 16, rng)
    start = rng.permutation(256)[:200].astype(np.int32)
    cell_at = np.full(256, NONE, np.int32)
    cell_at[start] = np.arange(200)
    costs = netlist.costs(start, 16)
    state = {"place": start.copy(), "cell_at": cell_at, "boxes": netlist.boxes(start, 16)}
    state |= {"net_cost": costs, "totals": np.array([costs.sum(), 0, 0, 0])}
    return state | {"netlist": netlist, "start": start, "side": 16}


def test_wrong_placements_and_costs_are_named() -> None:
    state = placement()
    assert check_placement(**state).correct
    twice, state_of = state["start"].copy(), dict(state)
    twice[3] = twice[4]
    assert not check_placement(**(state_of | {"place": twice})).correct
    outside = state["start"].copy()
    outside[5] = 256
    assert "cell 5 is on site 256" in check_placement(**(state_of | {"place": outside})).where
    costs = state["net_cost"].copy()
    costs[9] += 100
    assert "cost of net[9]" in check_placement(**(state_of | {"net_cost": costs})).where
    boxes = state["boxes"].copy()
    boxes[7, 5] += 1
    assert "box of net[7, 5]" in check_placement(**(state | {"boxes": boxes})).where
    totals = state["totals"] + np.array([1, 0, 0, 0])
    assert check_placement(**(state_of | {"totals": totals})).where.startswith("cost[0]")


def test_moves_are_made_and_the_cost_falls_when_it_is_cold() -> None:
    params = {"temperature": 1.0, "moves": 30}
    outcome = workload("vpr").prepare("tiny", 0, params).run(small_gpu(2))
    assert outcome.correct, outcome.where
    assert outcome.details["accepted"] > 5
    assert outcome.details["cost_after"] < outcome.details["cost_before"]


def test_more_cells_than_sites_are_refused() -> None:
    with pytest.raises(ValueError, match="cells is 257; allowed: 1 to side x side"):
        workload("vpr").prepare("tiny", 0, {"cells": 257}).run(small_gpu())


@functools.cache
def verdict(name: str, protocol: str) -> tuple[str, str]:
    from gpucoh.runs.runner import Run

    result = Run(workload=name, protocol=protocol, scale="tiny").carry_out(capture=True)
    return result.verdict, result.where


@pytest.mark.parametrize(("name", "protocol"), share(COMMUNICATING, COHERENT, one_in=24))
def test_communicating_workloads_are_right_under_every_coherent_protocol(
    name: str, protocol: str
) -> None:
    assert verdict(name, protocol) == ("correct", "")
