"""``vpr``: placement of a netlist by simulated annealing, concurrent swaps under locks.

Original: the placement of VTR 1.0 on the netlist ``bgm``, ported to CUDA by TC's authors, who have not
published it. One iteration of the annealing (TC, section 7). What follows from VPR is the same; how
blocks share the work is inferred.

As in VPR (Betz and Rose, FPL 1997):

* Packed clusters are placed, not lookup tables: 3,500 cells with up to 33 inputs, and 6 nets that
  each drives (assumed; ``bgm`` has 32,384 lookup tables, ten in a cluster).
* A net costs half the perimeter of the bounding box of its cells times a factor for its size. Boxes are
  stored with the number of cells on each edge and updated incrementally; a box is computed from all
  cells of its net if an edge loses its last cell and, to judge a move, if the net has at most 4.
* A move swaps the cells of two sites, or moves a cell to an empty one, if the Metropolis rule accepts
  it. An iteration has cells^(4/3) moves at paper scale.

Inferred:

* Every block makes moves of its own, one at a time, with a thread for each net of two cells: 96
  threads, 8 blocks per core, so 24 warps of 48.
* A move locks its two sites, and is given up if one is taken. It is judged by places and boxes as they
  are, which others may change at the same time. If it is accepted, each thread locks its net, moves
  the cell in the net's own list of sites, updates box and cost, and unlocks it, so stored boxes and
  costs are exact. A net of both cells counts twice in the judgement.
* Blocks add up their changes and counts and add them to the totals once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, Refused, combine, compare, real, whole
from gpucoh.suite.buffers import ReadOnlyI32
from gpucoh.suite.declaration import workload
from gpucoh.suite.netlists import BOX, NETS, NONE, Netlist, make_netlist

BLOCK = 2 * NETS  # a move has a thread for each net of two cells
FEW = 4  # nets of up to as many cells are judged by all of their cells
COST, ACCEPTED, REFUSED, GIVEN_UP = 0, 1, 2, 3  # words of `totals`


@lang.record
class Nets:
    """The pins of each net in a row, its cost for each site of half its box, and the pins and nets of each cell."""

    pins: ReadOnlyI32
    first_pin: ReadOnlyI32
    factors: ReadOnlyI32
    pins_of: ReadOnlyI32
    nets_of: ReadOnlyI32


@lang.record
class Board:
    """Where cells are, each net's box and cost, and the locks of nets and sites, of ``side`` x ``side`` sites."""

    place: lang.Buffer[lang.i32]
    cell_at: lang.Buffer[lang.i32]
    boxes: lang.Buffer[lang.i32]
    sites: lang.Buffer[lang.i32]
    net_cost: lang.Buffer[lang.i32]
    net_lock: lang.Buffer[lang.i32]
    site_lock: lang.Buffer[lang.i32]
    side: lang.i32


@lang.device
def draw(random: lang.u32) -> lang.u32:
    """The next number of a linear congruential generator."""
    return lang.u32(random * 1664525 + 1013904223)


@lang.device
def moved(
    low: lang.i32, high: lang.i32, lows: lang.i32, highs: lang.i32, old: lang.i32, new: lang.i32
) -> tuple[lang.i32, lang.i32, lang.i32, lang.i32, lang.i32]:
    """Edges of a box on one axis, and the cells on them, when a cell moves from ``old`` to ``new``;
    last, whether an edge loses its last cell.
    """
    lost = 0
    if new != old:
        if new < low:
            low = new
            lows = 1
        elif new == low:
            lows += 1
        elif old == low:
            lows -= 1
        if new > high:
            high = new
            highs = 1
        elif new == high:
            highs += 1
        elif old == high:
            highs -= 1
        if lows == 0 or highs == 0:
            lost = 1
    return low, high, lows, highs, lost


@lang.device
def grown(
    low: lang.i32, high: lang.i32, lows: lang.i32, highs: lang.i32, at: lang.i32
) -> tuple[lang.i32, lang.i32, lang.i32, lang.i32]:
    """Edges of a box on one axis, and the cells on them, with one more cell."""
    if at < low:
        low = at
        lows = 0
    if at > high:
        high = at
        highs = 0
    if at == low:
        lows += 1
    if at == high:
        highs += 1
    return low, high, lows, highs


@lang.device
def word(boxes: lang.Buffer[lang.i32], net: lang.i32, place: lang.i32) -> lang.i32:
    """A word of a net's box, which another block may change."""
    return lang.load(boxes, BOX * net + place, order="relaxed", scope="gpu")


@lang.device
def judged(
    nets: Nets,
    board: Board,
    first: lang.i32,
    last: lang.i32,
    net: lang.i32,
    cell: lang.i32,
    old: lang.i32,
    new: lang.i32,
) -> lang.i32:
    """Half perimeter of a net's box if ``cell`` moves from site ``old`` to ``new``."""
    left = board.side
    right = 0
    top = board.side
    bottom = 0
    lost = 1
    if last - first > FEW:
        lows = word(board.boxes, net, 4)
        highs = word(board.boxes, net, 5)
        left, right, lows, highs, lost = moved(
            word(board.boxes, net, 0),
            word(board.boxes, net, 1),
            lows,
            highs,
            old % board.side,
            new % board.side,
        )
        lows = word(board.boxes, net, 6)
        highs = word(board.boxes, net, 7)
        top, bottom, lows, highs, lost_too = moved(
            word(board.boxes, net, 2),
            word(board.boxes, net, 3),
            lows,
            highs,
            old // board.side,
            new // board.side,
        )
        lost = lost | lost_too
    if lost != 0:
        left = new % board.side
        right = left
        top = new // board.side
        bottom = top
        for pin in range(first, last):
            if nets.pins[pin] != cell:
                site = lang.load(board.place, nets.pins[pin], order="relaxed", scope="gpu")
                left = lang.min(left, site % board.side)
                right = lang.max(right, site % board.side)
                top = lang.min(top, site // board.side)
                bottom = lang.max(bottom, site // board.side)
    return right - left + bottom - top + 2


@lang.device
def coordinate(site: lang.i32, axis: lang.i32, side: lang.i32) -> lang.i32:
    """Column (axis 0) or row (axis 2) of a site."""
    at = site % side
    if axis != 0:
        at = site // side
    return at


@lang.device
def commit(
    board: Board,
    first: lang.i32,
    last: lang.i32,
    net: lang.i32,
    old: lang.i32,
    new: lang.i32,
    axis: lang.i32,
) -> lang.i32:
    """Update a locked net's box on one axis, after a cell has moved; its width."""
    low, high, lows, highs, lost = moved(
        word(board.boxes, net, axis),
        word(board.boxes, net, axis + 1),
        word(board.boxes, net, axis + 4),
        word(board.boxes, net, axis + 5),
        coordinate(old, axis, board.side),
        coordinate(new, axis, board.side),
    )
    if lost != 0:
        low = board.side
        high = -1
        for pin in range(first, last):
            at = coordinate(board.sites[pin], axis, board.side)
            low, high, lows, highs = grown(low, high, lows, highs, at)
    lang.store(board.boxes, BOX * net + axis, low, order="relaxed", scope="gpu")
    lang.store(board.boxes, BOX * net + axis + 1, high, order="relaxed", scope="gpu")
    lang.store(board.boxes, BOX * net + axis + 4, lows, order="relaxed", scope="gpu")
    lang.store(board.boxes, BOX * net + axis + 5, highs, order="relaxed", scope="gpu")
    return high - low


@lang.kernel
def anneal(
    nets: Nets,
    board: Board,
    totals: lang.Buffer[lang.i32],
    reach: lang.i32,
    moves: lang.i32,
    temperature: lang.f32,
    seed: lang.i32,
) -> None:
    """``moves`` moves of every block."""
    swapped = lang.shared(lang.i32, 2)  # cells
    state = lang.shared(lang.i32, 2)  # judged change; no board.sites to swap
    sums = lang.shared(lang.i32, 4)  # the block's share of `totals`
    thread = lang.thread_id()
    random = lang.u32(seed + lang.block_id() * 40503)
    if thread < 4:
        sums[thread] = 0
    lang.barrier()
    for _ in range(moves):
        random = draw(random)
        here = lang.i32(random >> 8) % (board.side * board.side)
        random = draw(random)
        x = here % board.side + lang.i32(random >> 8) % (2 * reach + 1) - reach
        random = draw(random)
        y = here // board.side + lang.i32(random >> 8) % (2 * reach + 1) - reach
        x = lang.max(0, lang.min(x, board.side - 1))
        there = lang.max(0, lang.min(y, board.side - 1)) * board.side + x
        if thread == 0:
            state[0] = 0
            state[1] = 1
            if here != there and (
                lang.atomic_cas(board.site_lock, here, 0, 1, order="acquire", scope="gpu") == 0
            ):
                if lang.atomic_cas(board.site_lock, there, 0, 1, order="acquire", scope="gpu") == 0:
                    swapped[0] = board.cell_at[here]
                    swapped[1] = board.cell_at[there]
                    if swapped[0] == NONE:
                        lang.atomic_exch(board.site_lock, there, 0, order="release", scope="gpu")
                    else:
                        state[1] = 0
                else:
                    sums[GIVEN_UP] += 1
                if state[1] == 1:
                    lang.atomic_exch(board.site_lock, here, 0, order="release", scope="gpu")
            elif here != there:
                sums[GIVEN_UP] += 1
        lang.barrier()
        if state[1] == 0:
            cell = swapped[thread // NETS]
            new = there
            if thread >= NETS:
                new = here
            net = NONE
            if cell != NONE:
                net = nets.nets_of[cell * NETS + thread % NETS]
            if net != NONE:
                half = judged(
                    nets,
                    board,
                    nets.first_pin[net],
                    nets.first_pin[net + 1],
                    net,
                    cell,
                    here + there - new,
                    new,
                )
                before = lang.load(board.net_cost, net, order="relaxed", scope="gpu")
                lang.atomic_add(
                    state, 0, half * nets.factors[net] - before, order="relaxed", scope="cta"
                )
            lang.barrier()
            random = draw(random)
            chance = lang.f32(random >> 8) * (1.0 / 16777216.0)
            change = state[0]
            if change <= 0 or chance < lang.exp(-lang.f32(change) / temperature):
                waiting = net
                while waiting != NONE:
                    if (
                        lang.atomic_cas(board.net_lock, net, 0, 1, order="acquire", scope="gpu")
                        == 0
                    ):
                        pin = nets.pins_of[cell * NETS + thread % NETS]
                        board.sites[pin] = new
                        first = nets.first_pin[net]
                        last = nets.first_pin[net + 1]
                        old = here + there - new
                        half = commit(board, first, last, net, old, new, 0) + 2
                        half += commit(board, first, last, net, old, new, 2)
                        cost = half * nets.factors[net]
                        gained = cost - lang.load(board.net_cost, net, order="relaxed", scope="gpu")
                        lang.store(board.net_cost, net, cost, order="relaxed", scope="gpu")
                        lang.atomic_add(sums, COST, gained, order="relaxed", scope="cta")
                        waiting = NONE
                        lang.atomic_exch(board.net_lock, net, 0, order="release", scope="gpu")
                if thread == 0:
                    sums[ACCEPTED] += 1
                    lang.store(board.place, swapped[0], there, order="relaxed", scope="gpu")
                    board.cell_at[there] = swapped[0]
                    board.cell_at[here] = swapped[1]
                    if swapped[1] != NONE:
                        lang.store(board.place, swapped[1], here, order="relaxed", scope="gpu")
            elif thread == 0:
                sums[REFUSED] += 1
            lang.barrier()
            if thread == 0:
                lang.atomic_exch(board.site_lock, here, 0, order="release", scope="gpu")
                lang.atomic_exch(board.site_lock, there, 0, order="release", scope="gpu")
        lang.barrier()
    if thread < 4:
        lang.atomic_add(totals, thread, sums[thread], order="relaxed", scope="gpu")


def check_placement(
    netlist: Netlist,
    start: NDArray[np.int32],
    side: int,
    place: NDArray[Any],
    cell_at: NDArray[Any],
    boxes: NDArray[Any],
    net_cost: NDArray[Any],
    totals: NDArray[Any],
) -> Outcome:
    """Check that every cell is on one site of its own, and every stored box and cost equals the
    recomputed one.
    """
    details = {
        "cells": netlist.cells,
        "nets": len(netlist.first) - 1,
        "accepted": int(totals[ACCEPTED]),
        "refused": int(totals[REFUSED]),
        "given_up": int(totals[GIVEN_UP]),
        "cost_before": int(netlist.costs(start, side).sum()),
        "cost_after": int(totals[COST]),
    }
    outside = (place < 0) | (place >= side * side)
    if outside.any():
        cell = int(np.argmax(outside))
        return Outcome(
            correct=False,
            mismatches=int(outside.sum()),
            where=f"cell {cell} is on site {place[cell]}, of {side * side}",
            details=details,
        )
    expected = np.full(side * side, NONE, np.int32)
    expected[place] = np.arange(netlist.cells)
    costs = netlist.costs(place, side)
    return combine(
        compare("cell at site", cell_at, expected, details=details),
        compare("site of cell", place[expected[place]], place),
        compare("box of net", boxes, netlist.boxes(place, side)),
        compare("cost of net", net_cost, costs),
        compare("cost", [totals[COST]], [costs.sum()]),
    )


@workload(
    id="vpr",
    group="I",
    papers="TR",
    check="a valid placement; incremental boxes and costs equal the recomputed ones",
)
def placement(
    gpu: GpuLike,
    rng: Generator,
    cells: int = whole("cells of the netlist (assumed)", 1, 65536, 200, 3500, 3500),
    side: int = whole("sites along each side of the square", 1, 256, 16, 60, 60),
    reach: int = whole("largest distance of a move, in sites along each side", 1, 256, 8, 20, 60),
    moves: int = whole("moves per block", 1, 1 << 20, 4, 8, 416),
    blocks_per_core: int = whole(f"blocks per core, of {BLOCK} threads", 1, 8, 1, 8, 8),
    temperature: float = real("temperature, in hundredths of a unit of cost", 1.0, 1e6, 1000.0),
) -> Outcome:
    """placement by simulated annealing: concurrent swaps under locks of sites and nets (inferred)

    One launch on a netlist and a random placement of it.
    """
    if cells > side * side:
        raise Refused(f"parameter cells is {cells}; allowed: 1 to side x side")
    netlist = make_netlist(cells, side, rng)
    start = rng.permutation(side * side)[:cells].astype(np.int32)
    seed = int(rng.integers(1 << 30))
    cell_at = np.full(side * side, NONE, np.int32)
    cell_at[start] = np.arange(netlist.cells)
    costs = netlist.costs(start, side).astype(np.int32)
    nets_of, pins_of = netlist.tables()
    place, where = gpu.array(start), gpu.array(cell_at)
    boxes = gpu.array(netlist.boxes(start, side).ravel())
    net_cost, totals = gpu.array(costs), gpu.array(np.array([costs.sum(), 0, 0, 0], np.int32))
    nets = Nets(
        pins=gpu.array(netlist.pins),
        first_pin=gpu.array(netlist.first),
        factors=gpu.array(netlist.factors()),
        pins_of=gpu.array(pins_of.ravel()),
        nets_of=gpu.array(nets_of.ravel()),
    )
    board = Board(
        place=place,
        cell_at=where,
        boxes=boxes,
        sites=gpu.array(start[netlist.pins]),
        net_cost=net_cost,
        net_lock=gpu.zeros(costs.size, np.int32),
        site_lock=gpu.zeros(cell_at.size, np.int32),
        side=side,
    )
    gpu.launch(
        anneal,
        grid=gpu.machine.cores * blocks_per_core,
        block=BLOCK,
        args=(nets, board, totals, reach, moves, temperature, seed),
    )
    return check_placement(
        netlist,
        start,
        side,
        place.numpy(),
        where.numpy(),
        boxes.numpy().reshape(-1, BOX),
        net_cost.numpy(),
        totals.numpy(),
    )
