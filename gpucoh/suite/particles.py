"""``lava``: forces between particles of neighbouring boxes.

Original: LavaMD of Rodinia (CUDA). As there: a block of 128 threads a box, each with one of the box's 100
particles; the block copies its own particles' positions to the scratchpad, then box by box, itself first, a
neighbour's positions and charges; every pair step adds four numbers of 8 bytes to the thread's own record of forces.
Scratchpad and memory cannot overlap, so that CUDA's compiler keeps the sums of a neighbour's box in registers. With
``sums=memory`` each step loads and stores the record, as the source is written: DeNovo's section 6.2.1 has LavaMD
overflow a store buffer of 256 entries by many writes to the same places. Positions and charges are read by all blocks,
forces written by one; a box is a record of 656 bytes with its neighbours. Paper scale is DeNovo's 2 x 2 x 2 boxes: 8
blocks, 800 pair steps, 3,200 bytes of forces a block.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, choice, compare, whole
from gpucoh.suite.buffers import ReadOnlyI32
from gpucoh.suite.declaration import workload

BLOCK = 128
NUMBERS = 4  # of a particle's position (v, x, y, z) and of its forces
SPREAD = 0.5  # the potential's parameter, 2 alpha squared
# Words of the record of a box: its number, its first particle, how many neighbours it has, the number of the first one;
# sizes of the record, which has room for 26 neighbours, and of its part of a neighbour.
NUMBER, FIRST, COUNT, NEIGHBOUR = 3, 4, 6, 11
RECORD, STEP = 164, 6

ReadOnlyF64: TypeAlias = lang.ReadOnly[lang.f64]

# e ** x: x is n log 2 + rest; adding SHIFT rounds n to an integer, in the lower bits of the sum.
SHIFT = 1.5 * 2.0**52
LOG2_E = 1 / math.log(2)
LOG_2 = math.log(2)
LOG_2_REST = 2.3190468138462996e-17  # of log 2 behind LOG_2
HIGHEST = 1 / math.factorial(12)
TERMS = tuple(1 / math.factorial(k) for k in range(11, -1, -1))


@lang.device
def exponential(x: lang.f64) -> lang.f64:
    """``e ** x`` for x from -700 to 700: the exponent of a polynomial of the rest is raised by n."""
    shifted = lang.fma(x, lang.f64(LOG2_E), lang.f64(SHIFT))
    whole = shifted - SHIFT
    rest = lang.fma(whole, lang.f64(-LOG_2), x)
    rest = lang.fma(whole, lang.f64(-LOG_2_REST), rest)
    total = lang.f64(HIGHEST)
    for term in TERMS:
        total = lang.fma(total, rest, lang.f64(term))
    return lang.bitcast(
        lang.bitcast(total, lang.i64) + (lang.bitcast(shifted, lang.i64) << 52), lang.f64
    )


@lang.device
def four(numbers: ReadOnlyF64, first: lang.i32) -> tuple[lang.f64, lang.f64, lang.f64, lang.f64]:
    """Numbers that follow one another."""
    return numbers[first], numbers[first + 1], numbers[first + 2], numbers[first + 3]


@lang.device
def add_to(
    forces: lang.Buffer[lang.f64], place: lang.i32, charge: lang.f64, force: lang.f64
) -> None:
    """Add a charge's force to a number in memory."""
    forces[place] = lang.fma(charge, force, forces[place])


@lang.device
def copy_position(
    to: lang.Buffer[lang.f64, Literal[2]], positions: ReadOnlyF64, row: lang.i32, first: lang.i32
) -> None:
    """Four numbers to the scratchpad, all loaded before the first is used."""
    to[row, 0], to[row, 1], to[row, 2], to[row, 3] = four(positions, first)


def forces_kernel(place: Literal["registers", "memory"]) -> lang.Kernel:
    """The kernel with one place of the sums."""
    in_memory = place == "memory"

    @lang.kernel
    def pair_forces(
        boxes: ReadOnlyI32,
        positions: ReadOnlyF64,
        charges: ReadOnlyF64,
        forces: lang.Buffer[lang.f64],
        particles: lang.i32,
    ) -> None:
        """Forces of all particles of the neighbours on those of the block's box; fused as CUDA's compiler does."""
        own = lang.shared(lang.f64, (BLOCK, NUMBERS))
        other = lang.shared(lang.f64, (BLOCK, NUMBERS))
        charge = lang.shared(lang.f64, BLOCK)
        t = lang.thread_id()
        box = lang.block_id() * RECORD
        active = t < particles
        particle = NUMBERS * (boxes[box + FIRST] + t)
        if active:
            copy_position(own, positions, t, particle)
        lang.barrier()
        k = 0
        while k <= boxes[box + COUNT]:
            near = box
            if k > 0:
                near = boxes[box + NEIGHBOUR - STEP + STEP * k] * RECORD
            first = boxes[near + FIRST]
            if active:
                copy_position(other, positions, t, NUMBERS * (first + t))
                charge[t] = charges[first + t]
            lang.barrier()
            if active:
                v, x, y, z = own[t, 0], own[t, 1], own[t, 2], own[t, 3]
                if not in_memory:
                    sum_v, sum_x, sum_y, sum_z = four(forces, particle)
                for j in range(particles):
                    near_v, near_x = other[j, 0], other[j, 1]
                    near_y, near_z = other[j, 2], other[j, 3]
                    dot = lang.fma(z, near_z, lang.fma(x, near_x, y * near_y))
                    potential = exponential(-SPREAD * (v + near_v - dot))
                    strength = 2.0 * potential
                    q = charge[j]
                    force_x = strength * (x - near_x)
                    force_y = strength * (y - near_y)
                    force_z = strength * (z - near_z)
                    if in_memory:
                        add_to(forces, particle, q, potential)
                        add_to(forces, particle + 1, q, force_x)
                        add_to(forces, particle + 2, q, force_y)
                        add_to(forces, particle + 3, q, force_z)
                    else:
                        sum_v = lang.fma(q, potential, sum_v)
                        sum_x = lang.fma(q, force_x, sum_x)
                        sum_y = lang.fma(q, force_y, sum_y)
                        sum_z = lang.fma(q, force_z, sum_z)
                if not in_memory:
                    forces[particle], forces[particle + 1] = sum_v, sum_x
                    forces[particle + 2], forces[particle + 3] = sum_y, sum_z
            lang.barrier()
            k += 1

    return pair_forces


KERNELS = {
    "registers": forces_kernel("registers"),
    "memory": forces_kernel("memory"),
}


def box_records(side: int, particles: int) -> NDArray[np.int32]:
    """The records of a cube's boxes: which boxes are within 1 of each."""
    places = np.stack(np.meshgrid(*3 * [np.arange(side)], indexing="ij"), -1).reshape(-1, 3)
    near = np.abs(places[:, None] - places[None]).max(axis=-1) <= 1
    records = np.zeros((len(places), RECORD), np.int32)
    records[:, NUMBER] = np.arange(len(places))
    records[:, FIRST] = particles * np.arange(len(places))
    for box, row in enumerate(near):
        others = np.flatnonzero(row & (np.arange(len(places)) != box))
        records[box, COUNT] = others.size
        first = NEIGHBOUR + STEP * np.arange(others.size)
        records[box, first] = others
        records[box, first + FIRST - NUMBER] = particles * others
    return records


def reference_forces(
    records: NDArray[np.int32], positions: NDArray[np.float64], charges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The forces ``(count, particles, NUMBERS)``."""
    forces = np.zeros(positions.shape)
    for box, record in enumerate(records):
        near = record[NEIGHBOUR : NEIGHBOUR + STEP * record[COUNT] : STEP]
        for other in (box, *near):
            own, theirs = positions[box], positions[other]
            dots = own[:, 1:] @ theirs[:, 1:].T
            potential = np.exp(-SPREAD * (own[:, :1] + theirs[None, :, 0] - dots)) * charges[other]
            distance = own[:, None, 1:] - theirs[None, :, 1:]
            forces[box, :, 0] += potential.sum(axis=1)
            forces[box, :, 1:] += (2 * potential[:, :, None] * distance).sum(axis=1)
    return forces


@workload(id="lava", group="N", papers="D", check="forces equal NumPy's within 1e-12")
def boxes(
    gpu: GpuLike,
    rng: Generator,
    boxes: int = whole("boxes along each side of the cube", 1, 32, 2),
    particles: int = whole("particles per box", 1, BLOCK, 9, 40, 100),
    sums: str = choice(
        "where a thread adds the forces of a neighbour's box: in registers, as the original's compiler has it, or in "
        "its record in memory, as its source",
        tuple(KERNELS),
        "registers",
    ),
) -> Outcome:
    """LavaMD: particle forces in double precision between neighbouring boxes

    Random positions and charges, 0.1 to 1, as the original's. One launch, a block a box.
    """
    records = box_records(boxes, particles)
    shape = len(records), particles
    positions = rng.uniform(0.1, 1, (*shape, NUMBERS))
    charges = rng.uniform(0.1, 1, shape)
    arrays = [gpu.array(data.ravel()) for data in (records, positions, charges)]
    forces = gpu.zeros(positions.size, np.float64)
    gpu.launch(
        KERNELS[sums],
        grid=len(records),
        block=BLOCK,
        args=(*arrays, forces, particles),
    )
    expected = reference_forces(records, positions, charges)
    found = forces.numpy().reshape(expected.shape)
    return compare("force", found, expected, tolerance=1e-12, details={"boxes": len(records)})
