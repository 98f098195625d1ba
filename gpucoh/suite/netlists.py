"""Netlists of the placement ``vpr``: cells, the nets that join them, and what a net costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NETS = 48  # largest number of nets of a cell
INPUTS = 33  # of a cell
DRIVEN = 6  # nets that a cell drives
NONE = -1
BOX = 8  # words of a box: left, right, top, bottom, and the cells on these edges
# VPR's factors for nets of 1 to 20 cells (Cheng, ICCAD 1994), in hundredths.
CROSSING: tuple[int, ...] = (100, 100, 100, 108, 115, 122, 128, 134, 140, 145)
CROSSING += (151, 156, 161, 166, 171, 175, 179, 184, 188, 193)
MOST_CELLS = len(CROSSING)  # of a net


@dataclass(frozen=True)
class Netlist:
    """Cells and the nets that join them.

    Parameters
    ----------
    cells
        Number of cells.
    first
        int32, shape ``(nets + 1,)``: the index of each net's first cell in ``pins``.
    pins
        int32: the cells of the nets, one net after another, none twice in a net.
    """

    cells: int
    first: NDArray[np.int32]
    pins: NDArray[np.int32]

    def factors(self) -> NDArray[np.int32]:
        """Each net's factor in hundredths, int32, shape ``(nets,)``."""
        factors: NDArray[np.int32] = np.array(CROSSING, np.int32)[np.diff(self.first) - 1]
        return factors

    def tables(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The nets of each cell and the cell's pins in these, int32, shape ``(cells, NETS)``, filled up
        with NONE.
        """
        nets = np.full((self.cells, NETS), NONE, np.int32)
        pins = np.full((self.cells, NETS), NONE, np.int32)
        net = np.repeat(np.arange(len(self.first) - 1, dtype=np.int32), np.diff(self.first))
        order = np.argsort(self.pins, kind="stable")
        owner = self.pins[order]
        column = np.arange(owner.size) - np.searchsorted(owner, np.arange(self.cells))[owner]
        nets[owner, column], pins[owner, column] = net[order], order
        return nets, pins

    def boxes(self, place: NDArray[np.integer], side: int) -> NDArray[np.int32]:
        """Box of each net for sites ``place``, int32, shape ``(nets, BOX)``."""
        sites = place.astype(np.int64)[self.pins]
        first, net = self.first[:-1], np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        columns = []
        for axis in (sites % side, sites // side):
            for edge in (np.minimum.reduceat(axis, first), np.maximum.reduceat(axis, first)):
                columns.append((edge, np.add.reduceat((axis == edge[net]).astype(np.int64), first)))
        words = [edge for edge, _ in columns] + [count for _, count in columns]
        return np.stack(words, axis=1).astype(np.int32)

    def costs(self, place: NDArray[np.integer], side: int) -> NDArray[np.int64]:
        """Cost of each net for sites ``place``, int64, shape ``(nets,)``."""
        boxes = self.boxes(place, side).astype(np.int64)
        half = boxes[:, 1] - boxes[:, 0] + boxes[:, 3] - boxes[:, 2] + 2
        return half * self.factors().astype(np.int64)


def make_netlist(cells: int, side: int, rng: np.random.Generator) -> Netlist:
    """A netlist with locality: every cell drives DRIVEN nets, whose other cells are near the driver in
    a placement that is then discarded; a few of them are far.
    """
    home = rng.permutation(side * side)[:cells]
    cell_at = np.full(side * side, NONE)
    cell_at[home] = np.arange(cells)
    used = [0] * cells
    first, pins = [0], []
    sizes = 1 + np.minimum(rng.geometric(0.35, DRIVEN * cells), MOST_CELLS - 1)
    tries = 4 * sizes  # drawn sites; some are empty, or their cells have no input left
    driver_of = np.repeat(np.arange(sizes.size) // DRIVEN, tries)
    distance = np.minimum(rng.pareto(1.5, driver_of.size) + 1, side)
    angle = rng.uniform(0, 2 * np.pi, driver_of.size)
    x = np.rint(home[driver_of] % side + distance * np.cos(angle)).astype(np.int64)
    y = np.rint(home[driver_of] // side + distance * np.sin(angle)).astype(np.int64)
    near = cell_at[np.clip(y, 0, side - 1) * side + np.clip(x, 0, side - 1)].tolist()
    begin = 0
    for number, size in enumerate(sizes.tolist()):
        net = [number // DRIVEN]
        for cell in near[begin : begin + 4 * size]:
            if cell != NONE and len(net) < size and used[cell] < INPUTS and cell not in net:
                used[cell] += 1
                net.append(cell)
        begin += 4 * size
        pins += net
        first.append(len(pins))
    return Netlist(cells, np.array(first, np.int32), np.array(pins, np.int32))
