"""The workloads of LRM-GPU's paper: their references refuse wrong results, and they find what coherence they need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gpucoh
from gpucoh.suite import inputs, workload
from gpucoh.suite.hashtables import NOTHING, chains_of
from gpucoh.suite.ranking import Linked, reference_ranks
from gpucoh.suite.spanning import DENSITY, roads_of, roots_of, thinned
from products import share
from registered import COHERENT
from workloads.small_gpu import small_gpu

DIES = [("fermi", {}), ("mcm4-quarter", {"dies": 2}), ("mcm4-quarter", {})]


def graph_of(edges: list[tuple[int, int]], vertices: int) -> inputs.Graph:
    starts, ends = np.array(edges).T
    return inputs.graph_from_edges(starts, ends, vertices, directed=False, name="drawn")


def prepared(name: str, scale: str = "tiny", **params: object) -> Any:
    return workload(name).prepare(scale, 0, params)


@pytest.mark.parametrize(
    ("name", "protocol", "machine"), share(["pr", "ht", "mst"], COHERENT, DIES, one_in=24)
)
def test_it_is_right_and_has_no_race_on_one_two_and_four_dies(
    name: str, protocol: str, machine: tuple[str, dict[str, int]]
) -> None:
    preset, fields = machine
    run = gpucoh.run(name, machine=preset, set=fields, protocol=protocol, scale="tiny", check=True)
    assert run.correct


def test_ranks_of_a_star_are_those_of_its_equations() -> None:
    star = graph_of([(0, 1), (0, 2), (0, 3)], 4)
    ranks = reference_ranks(star, 200)
    assert ranks.sum() == pytest.approx(1)
    assert ranks[0] == pytest.approx(0.0375 + 0.85 * 3 * ranks[1])
    assert ranks[1] == ranks[2] == ranks[3] == pytest.approx(0.0375 + 0.85 * ranks[0] / 3)


def test_a_share_that_a_sum_lost_is_more_than_the_tolerance() -> None:
    """At each scale, of the vertex with the most neighbours."""
    for scale in ("tiny", "small"):
        given: Linked = prepared("pr", scale).input
        vertex = int(np.argmax(given.graph.degrees()))
        share = given.expected[vertex] / given.graph.degrees()[vertex]
        assert share * 0.85 / 10 > given.tolerance * given.expected[vertex]


def test_a_rank_that_is_off_is_found() -> None:
    instance = prepared("pr")
    wrong = instance.input.expected * (1 + 4 * instance.input.tolerance)
    given = replace(instance.input, expected=wrong)
    outcome = replace(instance, input=given).run(small_gpu())
    assert not outcome.correct
    assert outcome.where.startswith("rank[0] is")


def test_entries_that_are_in_no_chain_or_another_are_named() -> None:
    heads, nexts = np.array([2, NOTHING, 1]), np.array([NOTHING, NOTHING, 0, 0])
    assert chains_of(heads, nexts).tolist() == [0, 2, 0, NOTHING]


def test_a_chain_that_is_a_circle_ends() -> None:
    assert chains_of(np.array([1]), np.array([1, 0])).tolist() == [0, 0]


def test_searches_beside_inserts_lose_entries_without_coherence() -> None:
    outcome = prepared("ht", mixed=True).run(small_gpu(8, "no-coh"))
    assert not outcome.correct
    assert outcome.where.startswith("bucket[")


def test_a_tree_of_equal_and_different_weights_is_the_lightest() -> None:
    square = graph_of([(0, 1), (1, 3), (2, 3), (0, 2), (0, 3), (4, 5)], 7)
    row = np.repeat(np.arange(7), square.degrees())
    pairs = {frozenset(edge): 5 for edge in [(0, 1), (1, 3), (2, 3), (0, 2)]}
    pairs |= {frozenset((0, 3)): 4, frozenset((4, 5)): 9}
    weights = [
        pairs[frozenset(edge)] for edge in zip(row.tolist(), square.columns.tolist(), strict=True)
    ]
    found = roads_of(square, np.array(weights, np.int32))
    assert found.weight == 4 + 5 + 5 + 9
    assert found.components.tolist() == [0, 0, 0, 0, 4, 4, 6]


def test_roads_are_connected_and_have_the_density_of_their_source() -> None:
    graph = thinned(inputs.grid_graph(40, 30), np.random.default_rng(5))
    assert graph.edges // 2 == round(DENSITY * 1200)
    assert not roads_of(graph, np.ones(graph.edges, np.int32)).components.any()
    again = thinned(inputs.grid_graph(40, 30), np.random.default_rng(5))
    assert np.array_equal(graph.columns, again.columns)


def test_a_heavier_tree_and_a_missing_edge_are_found() -> None:
    instance = prepared("mst")
    right = instance.input
    lighter = replace(right, weight=right.weight - 1)
    parted = replace(right, components=np.arange(right.graph.vertices, dtype=np.int32))
    for given, where in ((lighter, f"weight[0] is {right.weight}"), (parted, "root[1] is 0")):
        outcome = replace(instance, input=given).run(small_gpu())
        assert not outcome.correct
        assert outcome.where.startswith(where)


def test_roots_are_found_along_chains_and_circles_end() -> None:
    assert roots_of(np.array([0, 0, 1, 2, 3, 4])).tolist() == [0] * 6
    assert roots_of(np.array([1, 0])).size == 2


def test_stale_roots_make_more_launches_and_no_other_tree() -> None:
    """Where threads pass over more vertices than one, an old root fails at its compare-and-swap."""
    instance = prepared("mst", rows=32, columns=32)
    early, late = (instance.run(small_gpu(4, protocol)) for protocol in ("ideal", "no-coh"))
    assert early.correct
    assert late.correct
    assert early.details["joins"] < late.details["joins"]
