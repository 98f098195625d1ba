"""``snapc``: discrete ordinates transport, swept over a grid of cells from its eight corners.

Original: snap-hcc of AMD's ComputeApps, the SNAP proxy. As there: a time step clears scalar flux and moments; an outer
iteration computes four tables; an inner one computes its source, sweeps the octants one after another, and sums the
angular fluxes to scalar flux and moments. An octant is three launches that clear the fluxes of the faces and one for
each diagonal plane of cells: a work item for each angle, group and cell of the plane, the cell fastest, so that
neighbours touch words an angle's and group's block apart; each reads source, coefficients, denominator and the old
angular flux, updates three face fluxes in place, which the next plane reads, and writes an angular flux. Negative
fluxes are set to 0 and the cell is solved again. The sums have a block of one thread an angle for each cell and group.
The moments of the outer source add up over outer iterations. Elements have 8 bytes.

Paper scale: 64 angles, 30 groups and 4 moments are the original's; 12 x 12 x 12 cells and one outer iteration of ten
inner ones are inferred, since their 2,996 launches are nearest to the 2,992 that STC states. Blocks of 256 work items
are inferred, too: the original leaves them to the runtime. Quadrature and cross sections are random numbers here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, Refused, blocks_for, combine, compare, whole
from gpucoh.suite.buffers import (
    PLACEMENT_SEED,
    ReadOnlyF32,
    ReadOnlyI32,
    doubles,
    get,
    place,
    put,
    values_of,
)
from gpucoh.suite.declaration import workload
from gpucoh.suite.ordinates import FIXUPS, MOMENTS, OCTANTS, RATE, Problem, Reference, planes

BLOCK = 256
MOST_ANGLES = 256
HIGHER = tuple(range(1, MOMENTS))
TINY = 1.0e-12


@lang.record
class Terms:
    """What the equations of all cells have in common."""

    coefficients: ReadOnlyF32
    faces: ReadOnlyF32
    times: ReadOnlyF32
    cross_sections: ReadOnlyF32
    inverse: ReadOnlyF32


@lang.record
class Edges:
    """The fluxes into the next cells in i, j and k."""

    i: lang.Buffer[lang.f32]
    j: lang.Buffer[lang.f32]
    k: lang.Buffer[lang.f32]


@lang.record
class Size:
    """Of the problem."""

    angles: lang.i32
    groups: lang.i32
    side: lang.i32


@lang.kernel
def clear(buffer: lang.Buffer[lang.f32], count: lang.i32) -> None:
    """All elements are 0."""
    i = lang.global_id()
    if i < count:
        put(buffer, i, 0.0)


@lang.kernel
def time_terms(
    velocities: ReadOnlyF32, terms: lang.Buffer[lang.f32], rate: lang.f32, groups: lang.i32
) -> None:
    """The term of each group that the time step gives."""
    g = lang.global_id()
    if g < groups:
        put(terms, g, rate / get(velocities, g))


@lang.kernel
def face_terms(
    cosines: ReadOnlyF32, terms: lang.Buffer[lang.f32], size: lang.f32, angles: lang.i32
) -> None:
    """The terms of each angle for faces in i, j and k, from its three cosines."""
    t = lang.global_id()
    if t < 3 * angles:
        put(terms, t, 2.0 / size * get(cosines, t))


@lang.kernel
def denominators(
    cross_sections: ReadOnlyF32,
    faces: ReadOnlyF32,
    times: ReadOnlyF32,
    inverse: lang.Buffer[lang.f32],
    angles: lang.i32,
    groups: lang.i32,
    count: lang.i32,
) -> None:
    """One over the sum of what a cell loses, for each angle, group and cell."""
    t = lang.global_id()
    if t < count:
        a = t % angles
        g = t // angles % groups
        total = get(cross_sections, g) + get(faces, a) + get(faces, angles + a)
        put(inverse, t, 1.0 / (total + get(faces, 2 * angles + a) + get(times, g)))


@lang.kernel
def outer_source(
    fixed: ReadOnlyF32,
    scattering: ReadOnlyF32,
    scalar: ReadOnlyF32,
    moments: ReadOnlyF32,
    source: lang.Buffer[lang.f32],
    groups: lang.i32,
    cells: lang.i32,
) -> None:
    """What a cell's groups receive from its other groups, a cell a thread."""
    cell = lang.global_id()
    if cell < cells:
        for g in range(groups):
            to = cell * groups + g
            put(source, MOMENTS * to, get(fixed, to))
            for other in range(groups):
                if other != g:
                    at = cell * groups + other
                    part = get(scattering, other * groups + g)
                    sum = get(source, MOMENTS * to) + part * get(scalar, at)
                    put(source, MOMENTS * to, sum)
                    part = get(scattering, (groups + other) * groups + g)
                    for m in HIGHER:
                        sum = get(source, MOMENTS * to + m)
                        sum = sum + part * get(moments, (MOMENTS - 1) * at + m - 1)
                        put(source, MOMENTS * to + m, sum)


@lang.kernel
def inner_source(
    outer: ReadOnlyF32,
    scattering: ReadOnlyF32,
    scalar: ReadOnlyF32,
    moments: ReadOnlyF32,
    source: lang.Buffer[lang.f32],
    groups: lang.i32,
    cells: lang.i32,
) -> None:
    """And from the group itself."""
    cell = lang.global_id()
    if cell < cells:
        for g in range(groups):
            at = cell * groups + g
            part = get(scattering, g * groups + g)
            put(source, MOMENTS * at, get(outer, MOMENTS * at) + part * get(scalar, at))
            part = get(scattering, (groups + g) * groups + g)
            for m in HIGHER:
                sum = get(outer, MOMENTS * at + m)
                sum = sum + part * get(moments, (MOMENTS - 1) * at + m - 1)
                put(source, MOMENTS * at + m, sum)


@lang.device
def mirrored(place: lang.i32, step: lang.i32, side: lang.i32) -> lang.i32:
    """A coordinate counted from the octant's corner, counted from 0."""
    if step < 0:
        place = side - 1 - place
    return place


@lang.device
def positive(value: lang.f32) -> lang.f32:
    """1, or 0 of a negative value."""
    result = lang.f32(1.0)
    if value < 0.0:
        result = lang.f32(0.0)
    return result


@lang.kernel
def sweep_plane(
    plane: ReadOnlyI32,
    source: ReadOnlyF32,
    terms: Terms,
    old: ReadOnlyF32,
    edges: Edges,
    result: lang.Buffer[lang.f32],
    first: lang.i32,
    cells: lang.i32,
    size: Size,
    octant: lang.i32,
) -> None:
    """Solve one angle and group of one cell of a plane."""
    t = lang.global_id()
    both = t // cells
    if both < size.angles * size.groups:
        a = both % size.angles
        g = both // size.angles
        at = 3 * (first + t % cells)
        i = mirrored(plane[at], (octant // 4) * 2 - 1, size.side)
        j = mirrored(plane[at + 1], (octant // 2 % 2) * 2 - 1, size.side)
        k = mirrored(plane[at + 2], (octant % 2) * 2 - 1, size.side)
        cell = (k * size.side + j) * size.side + i
        given = get(source, MOMENTS * (cell * size.groups + g))
        for m in HIGHER:
            given = given + get(terms.coefficients, (octant * MOMENTS + m) * size.angles + a) * get(
                source, MOMENTS * (cell * size.groups + g) + m
            )
        face_i = get(terms.faces, a)
        face_j = get(terms.faces, size.angles + a)
        face_k = get(terms.faces, 2 * size.angles + a)
        at_i = (k * size.side + j) * size.groups * size.angles + both
        at_j = (k * size.side + i) * size.groups * size.angles + both
        at_k = (j * size.side + i) * size.groups * size.angles + both
        here = cell * size.groups * size.angles + both
        in_i = get(edges.i, at_i)
        in_j = get(edges.j, at_j)
        in_k = get(edges.k, at_k)
        before = get(old, here)
        term = get(terms.times, g)
        psi = given + in_i * face_i + in_j * face_j + in_k * face_k + term * before
        psi = psi * get(terms.inverse, here)
        out_i = 2.0 * psi - in_i
        out_j = 2.0 * psi - in_j
        out_k = 2.0 * psi - in_k
        psi = 2.0 * psi - before
        right = lang.f32(4.0)
        keep_i = lang.f32(1.0)
        keep_j = lang.f32(1.0)
        keep_k = lang.f32(1.0)
        keep = lang.f32(1.0)
        for _ in FIXUPS:
            keep_i = positive(out_i)
            keep_j = positive(out_j)
            keep_k = positive(out_k)
            keep = positive(psi)
            if right != keep_i + keep_j + keep_k + keep:
                right = keep_i + keep_j + keep_k + keep
                psi = in_i * face_i * (1.0 + keep_i) + in_j * face_j * (1.0 + keep_j)
                psi = psi + in_k * face_k * (1.0 + keep_k) + term * before * (1.0 + keep)
                psi = 0.5 * psi + given
                total = get(terms.cross_sections, g) + face_i * keep_i + face_j * keep_j
                total = total + face_k * keep_k + term * keep
                if total > TINY:
                    psi = psi / total
                else:
                    psi = lang.f32(0.0)
                out_i = 2.0 * psi - in_i
                out_j = 2.0 * psi - in_j
                out_k = 2.0 * psi - in_k
                psi = 2.0 * psi - before
        put(edges.i, at_i, out_i * keep_i)
        put(edges.j, at_j, out_j * keep_j)
        put(edges.k, at_k, out_k * keep_k)
        put(result, here, psi * keep)


@lang.device
def mean(new: ReadOnlyF32, old: ReadOnlyF32, at: lang.i32) -> lang.f32:
    """Of the angular fluxes before and after the step."""
    return 0.5 * (get(new, at) + get(old, at))


@lang.device
def factor(coefficients: ReadOnlyF32, moment: lang.i32, at: lang.i32) -> lang.f32:
    """Of an angle in a moment; the scalar flux has none."""
    found = lang.f32(1.0)
    if moment > 0:
        found = get(coefficients, at)
    return found


@lang.device
def tree_sum(sums: lang.Buffer[lang.f32], thread: lang.i32, angles: lang.i32) -> None:
    """The sum of the block's words, in the first."""
    lang.barrier()
    offset = angles // 2
    while offset > 0:
        if thread < offset:
            sums[thread] = sums[thread] + sums[thread + offset]
        lang.barrier()
        offset = offset // 2


@lang.record
class Octants:
    """The angular flux of each octant."""

    octant0: ReadOnlyF32
    octant1: ReadOnlyF32
    octant2: ReadOnlyF32
    octant3: ReadOnlyF32
    octant4: ReadOnlyF32
    octant5: ReadOnlyF32
    octant6: ReadOnlyF32
    octant7: ReadOnlyF32


@lang.kernel
def sum_angles(
    new: Octants,
    old: Octants,
    weights: ReadOnlyF32,
    coefficients: ReadOnlyF32,
    result: lang.Buffer[lang.f32],
    angles: lang.i32,
    groups: lang.i32,
    begin: lang.i32,
    end: lang.i32,
) -> None:
    """Weighted sums over the angles of a cell and group: moments ``begin`` to ``end``, 0 the scalar flux."""
    sums = lang.shared(lang.f32, MOST_ANGLES)
    a = lang.thread_id()
    at = lang.block_id(0) * groups + lang.block_id(1)
    here = at * angles + a
    step = MOMENTS * angles
    for m in range(begin, end):
        c = m * angles + a
        total = factor(coefficients, m, c) * mean(new.octant0, old.octant0, here)
        total = total + factor(coefficients, m, c + step) * mean(new.octant1, old.octant1, here)
        total = total + factor(coefficients, m, c + 2 * step) * mean(new.octant2, old.octant2, here)
        total = total + factor(coefficients, m, c + 3 * step) * mean(new.octant3, old.octant3, here)
        total = total + factor(coefficients, m, c + 4 * step) * mean(new.octant4, old.octant4, here)
        total = total + factor(coefficients, m, c + 5 * step) * mean(new.octant5, old.octant5, here)
        total = total + factor(coefficients, m, c + 6 * step) * mean(new.octant6, old.octant6, here)
        total = total + factor(coefficients, m, c + 7 * step) * mean(new.octant7, old.octant7, here)
        sums[a] = get(weights, a) * total
        tree_sum(sums, a, angles)
        if a == 0:
            put(result, (end - begin) * at + m - begin, sums[0])
        lang.barrier()


@workload(
    id="snapc",
    group="KN",
    papers="S",
    check="scalar flux and moments equal NumPy's within 1e-4 and 1e-3",
)
def transport(
    gpu: GpuLike,
    rng: Generator,
    side: int = whole("cells a side", 1, 64, 2, 4, 12),
    angles: int = whole("angles an octant, a power of two", 1, MOST_ANGLES, 8, 32, 64),
    groups: int = whole("groups of energy", 1, 256, 2, 4, 30),
    outers: int = whole("outer iterations", 1, 100, 1),
    inners: int = whole("inner iterations of each outer one", 1, 100, 1, 2, 10),
    placement_seed: int = PLACEMENT_SEED,
) -> Outcome:
    """discrete ordinates transport: eight sweeps by diagonal planes, a launch each

    Random cross sections and sources. One time step, which begins without flux.
    """
    if angles & (angles - 1):
        raise Refused(f"parameter angles is {angles}; allowed: a power of two up to {MOST_ANGLES}")
    it = Problem.random(rng, side, angles, groups)
    cells = side**3
    count = cells * groups * angles
    sizes = [3 * angles, groups, count, cells * groups * MOMENTS, cells * groups * MOMENTS]
    sizes += [cells * groups, cells * groups * (MOMENTS - 1)]
    sizes += 3 * [side * side * groups * angles] + 16 * [count]
    every = list(planes(side))
    given = it.cosines, it.coefficients, it.weights, it.cross_sections, it.velocities
    arrays = place(
        gpu,
        placement_seed,
        np.concatenate(every).ravel(),
        *(doubles(values) for values in (*given, it.scattering, it.fixed)),
        *((2 * size, np.float32) for size in sizes),
    )
    plane_cells, cosines, coefficients, weights, sections, velocities = arrays[:6]
    scattering, fixed, faces, times, inverse, outer, inner, scalar, moments = arrays[6:15]
    edges, old, new = arrays[15:18], arrays[18:26], arrays[26:34]
    launches = 0

    def launch(kernel: lang.Kernel, threads: int, *args: Any) -> None:
        nonlocal launches
        launches += 1
        grid = blocks_for(threads, BLOCK)
        gpu.launch(kernel, grid=grid, block=BLOCK, args=args)

    def sum_up(result: Any, begin: int, end: int) -> None:
        nonlocal launches
        launches += 1
        numbers = angles, groups, begin, end
        gpu.launch(
            sum_angles,
            grid=(cells, groups),
            block=angles,
            args=(Octants(*new), Octants(*old), weights, coefficients, result, *numbers),
        )

    launch(clear, cells * groups, scalar, cells * groups)
    launch(clear, sizes[6], moments, sizes[6])
    for _ in range(outers):
        launch(time_terms, groups, velocities, times, RATE, groups)
        launch(face_terms, 3 * angles, cosines, faces, 1 / side, angles)
        launch(denominators, count, sections, faces, times, inverse, angles, groups, count)
        fluxes = scattering, scalar, moments
        launch(outer_source, cells, fixed, *fluxes, outer, groups, cells)
        for _ in range(inners):
            launch(inner_source, cells, outer, *fluxes, inner, groups, cells)
            for octant in range(len(OCTANTS)):
                for edge in edges:
                    launch(clear, sizes[7], edge, sizes[7])
                terms = Terms(coefficients, faces, times, sections, inverse)
                first = 0
                for plane in every:
                    launch(
                        sweep_plane,
                        len(plane) * groups * angles,
                        plane_cells,
                        inner,
                        terms,
                        old[octant],
                        Edges(*edges),
                        new[octant],
                        first,
                        len(plane),
                        Size(angles, groups, side),
                        octant,
                    )
                    first += len(plane)
            sum_up(scalar, 0, 1)
            sum_up(moments, 1, MOMENTS)
    details = {"cells": cells, "launches": launches}
    expected, expected_moments = Reference(it, outers, inners).solve()
    found, found_moments = (
        values_of(array.numpy()).reshape(like.shape)
        for array, like in ((scalar, expected), (moments, expected_moments))
    )
    return combine(
        compare("flux", found, expected, tolerance=1e-4, floor=1e-2, details=details),
        compare("moment", found_moments, expected_moments, tolerance=1e-3, floor=1e-2),
    )
