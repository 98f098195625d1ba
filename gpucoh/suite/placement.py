"""``vpr``: placement of a netlist by simulated annealing, concurrent swaps under locks.

One temperature of the annealing of VPR (Betz and Rose, FPL 1997): cells are on the sites of a
square, a net costs half the perimeter of the bounding box of its cells times a factor for its size,
and a move swaps the cells of two sites, or moves a cell to an empty one, if the Metropolis rule
accepts it. Every block makes moves of its own, one at a time, with one thread per net. A move first
locks the two sites and then all nets of their cells; only the owner of a net moves its cells, so
every difference in cost is exact. If a lock is taken, the block gives up the move; blocks never
wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import (
    REGISTRY,
    GpuLike,
    Outcome,
    Parameter,
    Setting,
    Workload,
    combine,
    compare,
)
from gpucoh.suite.buffers import ReadOnlyI32

BLOCK = 32
NETS = BLOCK // 2  # largest number of nets of a cell: a move has a thread for each net of two cells
INPUTS = 6  # of a cell, a lookup table
NONE = -1
COST, ACCEPTED, REFUSED, GIVEN_UP = 0, 1, 2, 3  # words of `totals`
# VPR's factors for nets of 1 to 20 cells (Cheng, ICCAD 1994), in hundredths.
CROSSING: tuple[int, ...] = (100, 100, 100, 108, 115, 122, 128, 134, 140, 145)
CROSSING += (151, 156, 161, 166, 171, 175, 179, 184, 188, 193)
MOST_CELLS = len(CROSSING)  # of a net


@lang.device
def draw(random: lang.u32) -> lang.u32:
    """The next number of a linear congruential generator."""
    return lang.u32(random * 1664525 + 1013904223)


@lang.device
def box_cost(
    place: lang.Buffer[lang.i32],
    pins: ReadOnlyI32,
    first: lang.i32,
    last: lang.i32,
    factor: lang.i32,
    side: lang.i32,
    swapped: lang.Buffer[lang.i32],
) -> lang.i32:
    """Cost of a net when the cells ``swapped[0]`` and ``swapped[1]`` are on ``swapped[3]`` and
    ``swapped[2]``.
    """
    left = side
    right = 0
    top = side
    bottom = 0
    for pin in range(first, last):
        cell = pins[pin]
        site = place[cell]
        if cell == swapped[0]:
            site = swapped[3]
        if cell == swapped[1]:
            site = swapped[2]
        left = lang.min(left, site % side)
        right = lang.max(right, site % side)
        top = lang.min(top, site // side)
        bottom = lang.max(bottom, site // side)
    return (right - left + bottom - top + 2) * factor


@lang.kernel
def anneal(
    pins: ReadOnlyI32,
    first_pin: ReadOnlyI32,
    factors: ReadOnlyI32,
    nets_of: ReadOnlyI32,
    place: lang.Buffer[lang.i32],
    cell_at: lang.Buffer[lang.i32],
    net_cost: lang.Buffer[lang.i32],
    net_lock: lang.Buffer[lang.i32],
    site_lock: lang.Buffer[lang.i32],
    totals: lang.Buffer[lang.i32],
    side: lang.i32,
    reach: lang.i32,
    moves: lang.i32,
    temperature: lang.f32,
    seed: lang.i32,
) -> None:
    """``moves`` moves of every block."""
    swapped = lang.shared(lang.i32, 4)  # two cells, then their sites
    state = lang.shared(lang.i32, 3)  # change in cost; no sites to swap; a net was taken
    thread = lang.thread_id()
    holder = lang.block_id() + 1
    random = lang.u32(seed + holder * 40503)
    for _ in range(moves):
        random = draw(random)
        here = lang.i32(random >> 8) % (side * side)
        random = draw(random)
        x = here % side + lang.i32(random >> 8) % (2 * reach + 1) - reach
        random = draw(random)
        y = here // side + lang.i32(random >> 8) % (2 * reach + 1) - reach
        x = lang.max(0, lang.min(x, side - 1))
        there = lang.max(0, lang.min(y, side - 1)) * side + x
        if thread == 0:
            state[0] = 0
            state[1] = 0
            state[2] = 0
            swapped[0] = NONE
            swapped[1] = NONE
            swapped[2] = here
            swapped[3] = there
            held = 0
            if here != there and (
                lang.atomic_cas(site_lock, here, 0, holder, order="acquire", scope="gpu") == 0
            ):
                held = 1
                if lang.atomic_cas(site_lock, there, 0, holder, order="acquire", scope="gpu") == 0:
                    held = 2
                    swapped[0] = cell_at[here]
                    swapped[1] = cell_at[there]
            if held < 2 or swapped[0] == NONE:
                state[1] = 1
                if held > 0:
                    lang.atomic_exch(site_lock, here, 0, order="release", scope="gpu")
                if held > 1:
                    lang.atomic_exch(site_lock, there, 0, order="release", scope="gpu")
        lang.barrier()
        if state[1] == 0:
            cell = swapped[thread // NETS]
            net = NONE
            mine = 0
            if cell != NONE:
                net = nets_of[cell * NETS + thread % NETS]
            if net != NONE:
                owner = lang.atomic_cas(net_lock, net, 0, holder, order="acquire", scope="gpu")
                if owner == 0:
                    mine = 1
                elif owner != holder:
                    lang.atomic_or(state, 2, 1, order="relaxed", scope="cta")
            lang.barrier()
            cost = 0
            if mine == 1 and state[2] == 0:
                cost = box_cost(
                    place, pins, first_pin[net], first_pin[net + 1], factors[net], side, swapped
                )
                lang.atomic_add(state, 0, cost - net_cost[net], order="relaxed", scope="cta")
            lang.barrier()
            random = draw(random)
            chance = lang.f32(random >> 8) * (1.0 / 16777216.0)
            change = state[0]
            accepted = state[2] == 0 and (
                change <= 0 or chance < lang.exp(-lang.f32(change) / temperature)
            )
            if accepted and mine == 1:
                net_cost[net] = cost
            if thread == 0:
                if accepted:
                    place[swapped[0]] = there
                    cell_at[there] = swapped[0]
                    cell_at[here] = swapped[1]
                    if swapped[1] != NONE:
                        place[swapped[1]] = here
                    lang.atomic_add(totals, COST, change, order="relaxed", scope="gpu")
                    lang.atomic_add(totals, ACCEPTED, 1, order="relaxed", scope="gpu")
                elif state[2] == 0:
                    lang.atomic_add(totals, REFUSED, 1, order="relaxed", scope="gpu")
                else:
                    lang.atomic_add(totals, GIVEN_UP, 1, order="relaxed", scope="gpu")
            lang.barrier()
            if mine == 1:
                lang.atomic_exch(net_lock, net, 0, order="release", scope="gpu")
            if thread == 0:
                lang.atomic_exch(site_lock, here, 0, order="release", scope="gpu")
                lang.atomic_exch(site_lock, there, 0, order="release", scope="gpu")
        lang.barrier()


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

    def nets_of(self) -> NDArray[np.int32]:
        """The nets of each cell, int32, shape ``(cells, NETS)``, filled up with NONE."""
        table = np.full((self.cells, NETS), NONE, np.int32)
        net = np.repeat(np.arange(len(self.first) - 1, dtype=np.int32), np.diff(self.first))
        order = np.argsort(self.pins, kind="stable")
        owner = self.pins[order]
        begins = np.searchsorted(owner, np.arange(self.cells))
        table[owner, np.arange(owner.size) - begins[owner]] = net[order]
        return table

    def costs(self, place: NDArray[np.integer], side: int) -> NDArray[np.int64]:
        """Cost of each net for sites ``place``, int64, shape ``(nets,)``."""
        sites = place.astype(np.int64)[self.pins]
        first = self.first[:-1]
        half = np.zeros(len(first), np.int64)
        for axis in (sites % side, sites // side):
            half += np.maximum.reduceat(axis, first) - np.minimum.reduceat(axis, first) + 1
        return half * self.factors().astype(np.int64)


def make_netlist(cells: int, side: int, rng: np.random.Generator) -> Netlist:
    """A netlist with locality: every cell drives one net, whose other cells are near the driver in
    a placement that is then discarded; a few of them are far.
    """
    home = rng.permutation(side * side)[:cells]
    cell_at = np.full(side * side, NONE)
    cell_at[home] = np.arange(cells)
    used = np.zeros(cells, np.int64)
    first, pins = [0], []
    sizes = 1 + np.minimum(rng.geometric(0.35, cells), MOST_CELLS - 1)
    for driver in range(cells):
        count = int(sizes[driver])
        distance = np.minimum(rng.pareto(1.5, 4 * count) + 1, side)
        angle = rng.uniform(0, 2 * np.pi, 4 * count)
        x = np.rint(home[driver] % side + distance * np.cos(angle)).astype(np.int64)
        y = np.rint(home[driver] // side + distance * np.sin(angle)).astype(np.int64)
        near = cell_at[np.clip(y, 0, side - 1) * side + np.clip(x, 0, side - 1)]
        net = [driver]
        for cell in near[near != NONE]:
            if len(net) < count and cell not in net and used[cell] < INPUTS:
                used[cell] += 1
                net.append(int(cell))
        pins += net
        first.append(len(pins))
    return Netlist(cells, np.array(first, np.int32), np.array(pins, np.int32))


@dataclass(frozen=True)
class Placement:
    """``vpr`` on one input."""

    netlist: Netlist
    start: NDArray[np.int32]
    side: int
    reach: int
    moves: int
    temperature: float
    seed: int
    blocks_per_core: int

    @classmethod
    def prepare(cls, setting: Setting) -> Placement:
        """A netlist and a random placement of it."""
        rng = setting.rng()
        cells, side = setting.integer("cells"), setting.integer("side")
        if cells > side * side:
            raise setting.refuse(f"parameter cells is {cells}; allowed: 1 to side x side")
        netlist = make_netlist(cells, side, rng)
        start = rng.permutation(side * side)[:cells].astype(np.int32)
        return cls(
            netlist,
            start,
            side,
            setting.integer("reach"),
            setting.integer("moves"),
            setting.real("temperature"),
            int(rng.integers(1 << 30)),
            setting.integer("blocks_per_core"),
        )

    def run(self, gpu: GpuLike) -> Outcome:
        """One launch."""
        nets = len(self.netlist.first) - 1
        sites = self.side * self.side
        cell_at = np.full(sites, NONE, np.int32)
        cell_at[self.start] = np.arange(self.netlist.cells)
        costs = self.netlist.costs(self.start, self.side).astype(np.int32)
        place, where = gpu.array(self.start), gpu.array(cell_at)
        net_cost, totals = gpu.array(costs), gpu.array(np.array([costs.sum(), 0, 0, 0], np.int32))
        gpu.launch(
            anneal,
            grid=gpu.machine.cores * self.blocks_per_core,
            block=BLOCK,
            args=(
                gpu.array(self.netlist.pins),
                gpu.array(self.netlist.first),
                gpu.array(self.netlist.factors()),
                gpu.array(self.netlist.nets_of().ravel()),
                place,
                where,
                net_cost,
                gpu.zeros(nets, np.int32),
                gpu.zeros(sites, np.int32),
                totals,
                self.side,
                self.reach,
                self.moves,
                self.temperature,
                self.seed,
            ),
        )
        return self.check(place.numpy(), where.numpy(), net_cost.numpy(), totals.numpy())

    def check(
        self,
        place: NDArray[Any],
        cell_at: NDArray[Any],
        net_cost: NDArray[Any],
        totals: NDArray[Any],
    ) -> Outcome:
        """Check that every cell is on one site of its own, and every stored cost equals the recomputed one."""
        details = {
            "cells": self.netlist.cells,
            "nets": len(self.netlist.first) - 1,
            "accepted": int(totals[ACCEPTED]),
            "refused": int(totals[REFUSED]),
            "given_up": int(totals[GIVEN_UP]),
            "cost_before": int(self.netlist.costs(self.start, self.side).sum()),
            "cost_after": int(totals[COST]),
        }
        outside = (place < 0) | (place >= self.side * self.side)
        if outside.any():
            cell = int(np.argmax(outside))
            return Outcome(
                correct=False,
                mismatches=int(outside.sum()),
                where=f"cell {cell} is on site {place[cell]}, of {self.side * self.side}",
                details=details,
            )
        expected = np.full(self.side * self.side, NONE, np.int32)
        expected[place] = np.arange(self.netlist.cells)
        costs = self.netlist.costs(place, self.side)
        return combine(
            compare("cell at site", cell_at, expected, details=details),
            compare("site of cell", place[expected[place]], place),
            compare("cost of net", net_cost, costs),
            compare("cost", [totals[COST]], [costs.sum()]),
        )


def _number(name: str, high: int, tiny: int, small: int, paper: int, text: str) -> Parameter:
    return Parameter(
        name=name,
        kind="int",
        minimum=1,
        maximum=high,
        defaults={"tiny": tiny, "small": small, "paper": paper},
        text=text,
    )


REGISTRY.add(
    Workload(
        id="vpr",
        title="placement by simulated annealing: concurrent swaps under locks of sites and nets",
        group="I",
        papers=("T", "R"),
        needs_coherence=True,
        check="a valid placement; the incremental cost equals the recomputed cost",
        parameters=(
            _number("cells", 65536, 200, 4000, 32384, "cells of the netlist"),
            _number("side", 256, 16, 68, 190, "sites along each side of the square"),
            _number(
                "reach", 256, 8, 20, 60, "largest distance of a move, in sites along each side"
            ),
            _number("moves", 1 << 20, 12, 24, 256, "moves per block"),
            _number("blocks_per_core", 8, 1, 8, 8, f"blocks per core, of {BLOCK} threads"),
            Parameter(
                name="temperature",
                kind="float",
                minimum=1.0,
                maximum=1e6,
                defaults=1000.0,
                text="temperature, in hundredths of a unit of cost",
            ),
        ),
        factory=Placement.prepare,
    )
)
