"""Octrees: ``bh``, the Barnes-Hut tree build with locks on child pointers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import REGISTRY, GpuLike, Outcome, Parameter, Setting, Workload
from gpucoh.suite.buffers import ReadOnlyI32

BLOCK = 64
BITS = 20  # coordinates are whole numbers below 1 << BITS: octants are exact
EMPTY, LOCKED = -1, -2
# Failed tries after which a body is given up, so that a run ends whatever its loads return.
PATIENCE = 2000


@lang.device
def octant(x: lang.i32, y: lang.i32, z: lang.i32, level: lang.i32) -> lang.i32:
    """Octant of a point in the cell whose children differ in bit ``level`` of the coordinates."""
    return ((x >> level) & 1) + 2 * ((y >> level) & 1) + 4 * ((z >> level) & 1)


# An entry of `children` is EMPTY, LOCKED, a body's number, or `bodies` + a cell's number. To
# change an entry a thread locks it by compare-and-swap, and it unlocks it before it tries anything
# else, so lanes of a warp cannot wait for one another. A new subtree is private until the releasing
# store of its topmost cell.
@lang.kernel
def insert_bodies(
    places: ReadOnlyI32,
    children: lang.Buffer[lang.i32],
    cells: lang.Buffer[lang.i32],
    bodies: lang.i32,
    capacity: lang.i32,
) -> None:
    """Insert all bodies into the tree whose root is cell 0."""
    for body in range(lang.global_id(), bodies, lang.grid_dim() * BLOCK):
        x = places[body]
        y = places[bodies + body]
        z = places[2 * bodies + body]
        node = 0
        level = BITS - 1
        tries = 0
        while tries < PATIENCE:
            slot = 8 * node + octant(x, y, z, level)
            entry = lang.load(children, slot, order="acquire", scope="gpu")
            tries += 1
            if entry >= bodies:
                node = entry - bodies
                level -= 1
                tries -= 1
            elif (
                entry != LOCKED
                and lang.atomic_cas(children, slot, entry, LOCKED, order="acquire") == entry
            ):
                published = body
                if entry != EMPTY:
                    ox = places[entry]
                    oy = places[bodies + entry]
                    oz = places[2 * bodies + entry]
                    lower = level - 1
                    cell = lang.atomic_add(cells, 0, 1, order="relaxed", scope="gpu")
                    published = bodies + cell
                    mine = octant(x, y, z, lower)
                    other = octant(ox, oy, oz, lower)
                    while mine == other and lower > 0 and cell < capacity - 1:
                        deeper = lang.atomic_add(cells, 0, 1, order="relaxed", scope="gpu")
                        lang.store(children, 8 * cell + mine, bodies + deeper, order="relaxed")
                        cell = deeper
                        lower -= 1
                        mine = octant(x, y, z, lower)
                        other = octant(ox, oy, oz, lower)
                    lang.store(children, 8 * cell + mine, body, order="relaxed")
                    lang.store(children, 8 * cell + other, entry, order="relaxed")
                lang.store(children, slot, published, order="release", scope="gpu")
                tries = PATIENCE


def check_tree(children: NDArray[np.int32], places: NDArray[np.int32], cells: int) -> Outcome:
    """Check that every body is reachable from the root exactly once, in its octant at each level.

    Parameters
    ----------
    children
        int32, shape ``(capacity, 8)``.
    places
        int32, shape ``(3, bodies)``.
    cells
        Number of allocated cells, with the root.
    """
    bodies = places.shape[1]
    seen = np.zeros(bodies, np.int64)
    wrong: list[str] = []
    level_cells = np.zeros(1, np.int64)  # cells of this level, and the corner of each
    corners = np.zeros((3, 1), np.int64)
    depth = 0
    for level in range(BITS - 1, -1, -1):
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


@dataclass(frozen=True)
class TreeBuild:
    """``bh`` on one input."""

    places: NDArray[np.int32]
    blocks_per_core: int

    @classmethod
    def prepare(cls, setting: Setting) -> TreeBuild:
        """Bodies of a Plummer-like ball at distinct positions."""
        rng = setting.rng()
        bodies = setting.integer("bodies")
        wanted = bodies + bodies // 4 + 64
        direction = rng.normal(size=(3, wanted))
        radius = rng.random(wanted) ** (2 / 3) / np.linalg.norm(direction, axis=0)
        places = ((direction * radius * 0.499 + 0.5) * (1 << BITS)).astype(np.int32)
        _, first = np.unique(places, axis=1, return_index=True)
        return cls(places[:, np.sort(first)[:bodies]], setting.integer("blocks_per_core"))

    def run(self, gpu: GpuLike) -> Outcome:
        """One launch."""
        bodies = self.places.shape[1]
        capacity = 2 * bodies + 64
        children = gpu.array(np.full(8 * capacity, EMPTY, np.int32))
        cells = gpu.array(np.ones(1, np.int32))
        blocks = min(gpu.machine.cores * self.blocks_per_core, -(-bodies // BLOCK))
        gpu.launch(
            insert_bodies,
            grid=blocks,
            block=BLOCK,
            args=(gpu.array(self.places.ravel()), children, cells, bodies, capacity),
        )
        return check_tree(children.numpy().reshape(capacity, 8), self.places, int(cells.numpy()[0]))


REGISTRY.add(
    Workload(
        id="bh",
        title="Barnes-Hut octree build: walk, lock a child pointer by compare-and-swap, insert",
        group="I",
        papers=("T", "R"),
        needs_coherence=True,
        check="every body reachable once, in its octant",
        parameters=(
            Parameter(
                name="bodies",
                kind="int",
                minimum=1,
                maximum=1 << 22,
                defaults={"tiny": 1024, "small": 6000, "paper": 30000},
                text="number of bodies",
            ),
            Parameter(
                name="blocks_per_core",
                kind="int",
                minimum=1,
                maximum=8,
                defaults={"tiny": 1, "small": 3, "paper": 4},
                text=f"blocks per core, of {BLOCK} threads",
            ),
        ),
        factory=TreeBuild.prepare,
    )
)
