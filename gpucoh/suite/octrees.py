"""Octrees: ``bh``, the Barnes-Hut tree build with locks on child pointers.

Original: the tree-building kernel of Burtscher and Pingali's CUDA Barnes-Hut, version 1.1, alone. TC
gives 30,000 bodies.

The same as in the original:

* 2 blocks of 288 threads per core, 18 warps of 48; threads stride over the bodies.
* Bodies and cells share the numbers of nodes; x, y, z, mass and start are one vector each. Cells are
  taken from the upper end by one counter.
* A walk reads a child pointer and the three coordinates of the cell's centre per level; those of the
  root are in the scratchpad. A try is one compare-and-swap that locks the pointer.
* A creator writes all 13 words of a cell, and reads the centre of the cell above, the position of the
  other body and the new child pointer. One fence precedes the store that publishes the cells.
* A thread tries once per round, and the block has a barrier after each round.

What differs, and why:

* Coordinates are whole numbers plus a half, so that centres are exact and the tree has a single
  right form.
* The original's loads of the walk are plain, which is a race. Here they are relaxed, and cost the
  same under the protocols of TC and RCC. A load in a protocol that bounds staleness by acquires alone
  may return what a cell held before its creator wrote it, a negative coordinate; then, and in tries
  after the first, the thread reads again by an acquiring load.
* The machine's barriers count every thread of a block, so warps without bodies stay in the rounds
  until the block's last body is inserted, by flags in the scratchpad.
* A thread gives a body up after ``patience`` tries, so that a run ends even if copies stay stale.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, combine, compare, whole
from gpucoh.suite.declaration import workload
from gpucoh.suite.synchronisation import STALE, patience_on

BITS = 20  # coordinates are whole numbers below 1 << BITS, plus a half: octants are exact
EMPTY, LOCKED = -1, -2
UNSET = -3  # child pointer of a cell that is not made


@lang.device
def read_child(children: lang.Buffer[lang.i32], slot: lang.i32, fresh: lang.i32) -> lang.i32:
    """A child pointer, by an acquiring load if ``fresh`` or if the cell was not yet made."""
    child = UNSET
    if fresh == 0:
        child = lang.load(children, slot, order="relaxed", scope="gpu")
    if child == UNSET:
        child = lang.load(children, slot, order="acquire", scope="gpu")
    return child


@lang.device
def read_place(places: lang.Buffer[lang.f32], node: lang.i32) -> lang.f32:
    """A coordinate of a node, by an acquiring load if it was not yet written."""
    place = lang.load(places, node, order="relaxed", scope="gpu")
    if place < 0.0:
        place = lang.load(places, node, order="acquire", scope="gpu")
    return place


@lang.record
class Places:
    """The coordinates of all nodes."""

    x: lang.Buffer[lang.f32]
    y: lang.Buffer[lang.f32]
    z: lang.Buffer[lang.f32]


@lang.device
def octant(
    x: lang.f32, y: lang.f32, z: lang.f32, px: lang.f32, py: lang.f32, pz: lang.f32
) -> lang.i32:
    """Octant of the point (px, py, pz) in a cell with centre (x, y, z)."""
    found = 0
    if x < px:
        found = 1
    if y < py:
        found += 2
    if z < pz:
        found += 4
    return found


# A child pointer is EMPTY, LOCKED, a body's number, or a cell's number, which is at least `bodies`.
# To change a pointer a thread locks it by compare-and-swap, and it unlocks it before it tries
# anything else, so lanes of a warp cannot wait for one another. New cells are private until the
# store that publishes the topmost, in slot `locked`.
@lang.kernel
def insert_bodies(
    at: Places,
    mass: lang.Buffer[lang.f32],
    start: lang.Buffer[lang.i32],
    children: lang.Buffer[lang.i32],
    bottom: lang.Buffer[lang.i32],
    deepest: lang.Buffer[lang.i32],
    bodies: lang.i32,
    root: lang.i32,
    width: lang.f32,
    patience: lang.i32,
) -> None:
    """Insert all bodies into the tree whose root is node ``root``, a cube of half width ``width``."""
    centre = lang.shared(lang.f32, 3)
    busy = lang.shared(lang.i32, 3)  # of rounds modulo 3: whether a warp has bodies left
    if lang.thread_id() == 0:
        centre[0] = lang.load(at.x, root, order="relaxed", scope="gpu")
        centre[1] = lang.load(at.y, root, order="relaxed", scope="gpu")
        centre[2] = lang.load(at.z, root, order="relaxed", scope="gpu")
        busy[0] = 0
    lang.barrier()
    body = lang.global_id()
    depth = 1
    most = 1
    tries = 0
    node = root
    r = width
    px = 0.0
    py = 0.0
    pz = 0.0
    j = 0
    going = 1
    turn = 0
    while going != 0:
        if body < bodies:
            if tries == 0:
                px = at.x[body]
                py = at.y[body]
                pz = at.z[body]
                node = root
                depth = 1
                r = width
                j = octant(centre[0], centre[1], centre[2], px, py, pz)
            child = read_child(children, 8 * node + j, tries)
            while child >= bodies:
                node = child
                depth += 1
                r = 0.5 * r
                j = octant(
                    read_place(at.x, node),
                    read_place(at.y, node),
                    read_place(at.z, node),
                    px,
                    py,
                    pz,
                )
                child = read_child(children, 8 * node + j, 0)
            tries += 1
            if child != LOCKED:
                locked = 8 * node + j
                if lang.atomic_cas(children, locked, child, LOCKED, order="acquire") == child:
                    if child == EMPTY:
                        lang.store(children, locked, body, order="relaxed", scope="gpu")
                    else:
                        patch = -1
                        # The bound holds only if copies are stale.
                        while child >= 0 and r > 1.0:
                            depth += 1
                            cell = lang.atomic_sub(bottom, 0, 1, order="relaxed", scope="gpu") - 1
                            cell = lang.max(cell, bodies)
                            patch = lang.max(patch, cell)
                            x = lang.f32(j & 1) * r
                            y = lang.f32((j >> 1) & 1) * r
                            z = lang.f32((j >> 2) & 1) * r
                            r = 0.5 * r
                            mass[cell] = -1.0
                            start[cell] = -1
                            x += lang.load(at.x, node, order="relaxed", scope="gpu") - r
                            lang.store(at.x, cell, x, order="relaxed", scope="gpu")
                            y += lang.load(at.y, node, order="relaxed", scope="gpu") - r
                            lang.store(at.y, cell, y, order="relaxed", scope="gpu")
                            z += lang.load(at.z, node, order="relaxed", scope="gpu") - r
                            lang.store(at.z, cell, z, order="relaxed", scope="gpu")
                            for k in (0, 1, 2, 3, 4, 5, 6, 7):
                                lang.store(
                                    children, 8 * cell + k, EMPTY, order="relaxed", scope="gpu"
                                )
                            if patch != cell:
                                lang.store(
                                    children, 8 * node + j, cell, order="relaxed", scope="gpu"
                                )
                            j = octant(x, y, z, at.x[child], at.y[child], at.z[child])
                            lang.store(children, 8 * cell + j, child, order="relaxed", scope="gpu")
                            node = cell
                            j = octant(x, y, z, px, py, pz)
                            child = lang.load(children, 8 * node + j, order="relaxed", scope="gpu")
                        lang.store(children, 8 * node + j, body, order="relaxed", scope="gpu")
                        lang.fence(order="release", scope="gpu")
                        lang.store(children, locked, patch, order="relaxed", scope="gpu")
                    tries = patience
            if tries >= patience:
                most = lang.max(most, depth)
                body += lang.grid_dim() * lang.block_dim()
                tries = 0
        if lang.any(body < bodies) and lang.lane_id() == 0:
            lang.atomic_or(busy, turn, 1, order="relaxed", scope="cta")
        following = (turn + 1) % 3
        if lang.thread_id() == 0:
            busy[following] = 0
        lang.barrier()
        going = busy[turn]
        turn = following
    lang.atomic_max(deepest, 0, most, order="relaxed", scope="gpu")


def check_tree(
    children: NDArray[np.int32],
    places: NDArray[np.int32],
    cells: int,
    centres: NDArray[np.float32],
) -> Outcome:
    """Check that every body is reachable from the root exactly once, in its octant at each level, and
    that each cell has its centre.

    Parameters
    ----------
    children
        int32, shape ``(capacity, 8)``.
    places
        int32, shape ``(3, bodies)``.
    cells
        Number of allocated cells, with the root.
    centres
        float32, shape ``(3, capacity)``.
    """
    bodies = places.shape[1]
    seen = np.zeros(bodies, np.int64)
    wrong: list[str] = []
    level_cells = np.zeros(1, np.int64)  # cells of this level, and the corner of each
    corners = np.zeros((3, 1), np.int64)
    depth = 0
    for level in range(BITS - 1, -1, -1):
        off = np.any(centres[:, level_cells] != corners + (1 << level), axis=0)
        wrong += [f"cell {cell} has a wrong centre" for cell in level_cells[off]]
        entries = children[level_cells]
        row, slot = np.nonzero(entries != EMPTY)
        entry = entries[row, slot].astype(np.int64)
        corner = corners[:, row] + (np.stack([slot & 1, slot >> 1 & 1, slot >> 2]) << level)
        valid = (entry >= 0) & (entry < bodies + cells)
        wrong += [
            f"an entry of cell {level_cells[r]} is {e}"
            for r, e in zip(row[~valid], entry[~valid], strict=True)
        ]
        leaf = valid & (entry < bodies)
        np.add.at(seen, entry[leaf], 1)
        astray = np.any(places[:, entry[leaf]] >> level != corner[:, leaf] >> level, axis=0)
        wrong += [f"body {body} is in a wrong octant" for body in entry[leaf][astray]]
        inner = valid & ~leaf
        level_cells, corners = entry[inner] - bodies, corner[:, inner]
        if level_cells.size == 0:
            break
        if level_cells.size > bodies:
            wrong.append("cells are reachable more than once")
            break
        depth += 1
    wrong += [f"body {body} is found {seen[body]} times" for body in np.flatnonzero(seen != 1)]
    details = {"bodies": bodies, "cells": cells, "depth": depth + 1}
    return Outcome(
        correct=not wrong, mismatches=len(wrong), where=wrong[0] if wrong else "", details=details
    )


def made(vector: Any) -> int:
    """Number of cells that wrote their word of ``vector``."""
    return int(np.count_nonzero(vector.numpy() == -1))


def ball(rng: Generator, bodies: int) -> NDArray[np.int32]:
    """Bodies of a Plummer-like ball at distinct positions; int32, shape ``(3, bodies)``."""
    wanted = bodies + bodies // 4 + 64
    direction = rng.normal(size=(3, wanted))
    radius = rng.random(wanted) ** (2 / 3) / np.linalg.norm(direction, axis=0)
    places = ((direction * radius * 0.499 + 0.5) * (1 << BITS)).astype(np.int32)
    _, first = np.unique(places, axis=1, return_index=True)
    return np.asarray(places[:, np.sort(first)[:bodies]])


@workload(
    id="bh",
    group="I",
    papers="TR",
    check="every body reachable once, in its octant; every cell's centre, the depth",
)
def build_tree(
    gpu: GpuLike,
    rng: Generator,
    bodies: int = whole("number of bodies", 1, 1 << 22, 1024, 30000, 30000),
    block: int = whole("threads per block", 32, 1024, 64, 288, 288),
    blocks_per_core: int = whole("blocks per core", 1, 8, 1, 2, 2),
    patience: int = whole(
        f"tries after which a body is given up, {STALE}",
        100,
        1 << 30,
        1000,
    ),
) -> Outcome:
    """Barnes-Hut octree build: walk, lock a child pointer by compare-and-swap, insert"""
    places = ball(rng, bodies)
    bodies = places.shape[1]
    nodes = 2 * bodies + 1024  # the root is the last node, bodies are the first
    root = nodes - 1
    half = 1 << (BITS - 1)
    positions = np.full((3, nodes), -1, np.float32)
    positions[:, :bodies] = places + 0.5
    positions[:, root] = half
    pointers = np.full((nodes, 8), UNSET, np.int32)
    pointers[root] = EMPTY
    vectors = [gpu.array(coordinate) for coordinate in positions]
    children = gpu.array(pointers.ravel())
    mass, start = gpu.zeros(nodes, np.float32), gpu.zeros(nodes, np.int32)
    bottom, deepest = gpu.array(np.full(1, root, np.int32)), gpu.zeros(1, np.int32)
    gpu.launch(
        insert_bodies,
        grid=gpu.machine.cores * blocks_per_core,
        block=block,
        args=(
            Places(*vectors),
            mass,
            start,
            children,
            bottom,
            deepest,
            bodies,
            root,
            float(half),
            patience_on(gpu.machine.cores, patience),
        ),
    )
    # Cell c of the check is node root - c.
    pointers = children.numpy().reshape(nodes, 8)[: bodies - 1 : -1]
    pointers = np.where(pointers >= bodies, bodies + root - pointers, pointers)
    centres = np.stack([vector.numpy()[: bodies - 1 : -1] for vector in vectors])
    cells = 1 + root - int(bottom.numpy()[0])
    outcome = check_tree(pointers, places, cells, centres)
    depth = compare("depth", [int(deepest.numpy()[0])], [outcome.details["depth"]])
    initial = compare("mass and start", [made(mass), made(start)], [cells - 1] * 2)
    return combine(outcome, depth, initial)
