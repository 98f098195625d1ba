"""Checks of the workloads whose blocks share one structure: they accept right results and name wrong ones."""

from __future__ import annotations

import numpy as np
import pytest

from gpucoh.suite.cloth import mesh_constraints, reference_cloth, strain
from gpucoh.suite.octrees import BITS, EMPTY, check_tree

HALF = 1 << (BITS - 1)


def tree() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two bodies in octants 0 and 7 of the root, two in octant 1, of which cell 1 is made."""
    places = np.array([[0, HALF, HALF, HALF + HALF // 2], [0, HALF, 0, 0], [0, HALF, 0, 0]])
    children = np.full((4, 8), EMPTY, np.int32)
    children[0, 0], children[0, 7], children[0, 1] = 0, 1, 4 + 1
    children[1, 0], children[1, 1] = 2, 3
    centres = np.zeros((3, 4), np.float32)
    centres[:, 0] = HALF
    centres[:, 1] = HALF + HALF // 2, HALF // 2, HALF // 2
    return children, places.astype(np.int32), centres


def test_the_right_tree_is_accepted() -> None:
    children, places, centres = tree()
    assert check_tree(children, places, 2, centres).correct


@pytest.mark.parametrize(
    ("entry", "value", "mismatches", "where"),
    [
        ((1, 1), EMPTY, 1, "body 3 is found 0 times"),
        ((0, 3), 1, 2, "body 1 is in a wrong octant"),  # and found twice
        ((1, [1, 2]), [EMPTY, 3], 1, "body 3 is in a wrong octant"),
        ((1, 4), -2, 1, "an entry of cell 1 is -2"),
        ((1, slice(None)), 4 + 1, 3, "cells are reachable more than once"),  # a loop of cells ends
    ],
)
def test_a_wrong_entry_is_named(
    entry: tuple[object, ...], value: object, mismatches: int, where: str
) -> None:
    children, places, centres = tree()
    children[entry] = value
    outcome = check_tree(children, places, 2, centres)
    assert not outcome.correct
    assert (outcome.mismatches, outcome.where) == (mismatches, where)


def test_a_cell_with_another_centre_is_named() -> None:
    children, places, centres = tree()
    centres[1, 1] += 1
    assert check_tree(children, places, 2, centres).where == "cell 1 has a wrong centre"


def test_a_sheet_at_rest_stays() -> None:
    y, x = np.mgrid[:4, :5].astype(np.float32)
    sheet = np.stack([x, -y, np.zeros_like(x)]).reshape(3, -1)
    colours = mesh_constraints(4, 5)
    assert np.array_equal(reference_cloth(sheet, np.ones(20, np.float32), colours, 3), sheet)
    assert strain(sheet, colours) == 0


def test_a_stretched_thread_shrinks_and_its_first_row_stays() -> None:
    y, x = np.mgrid[:3, :2].astype(np.float32)
    sheet = np.stack([x, np.float32(-1.5) * y, np.zeros_like(x)]).reshape(3, -1)
    colours = mesh_constraints(3, 2)
    after = reference_cloth(sheet, np.minimum(y, 1).ravel(), colours, 10)
    assert np.array_equal(after[:, :2], sheet[:, :2])
    assert strain(after, colours) < 0.1 * strain(sheet, colours)


@pytest.mark.parametrize("shape", [(2, 2), (3, 7), (6, 4)])
def test_constraints_of_a_colour_share_no_particle(shape: tuple[int, int]) -> None:
    rows, columns = shape
    colours = mesh_constraints(rows, columns)
    assert all(np.unique(pairs).size == pairs.size for pairs in colours)
    pairs = {tuple(pair) for colour in colours for pair in colour.T.tolist()}
    across = {(i, i + 1) for i in range(columns, rows * columns) if (i + 1) % columns}
    assert pairs == across | {(i, i + columns) for i in range((rows - 1) * columns)}
