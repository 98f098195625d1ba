"""``lava``: forces between particles of neighbouring boxes.

Original: LavaMD of Rodinia (CUDA). As there: a block of 128 threads a box, each with one of the box's 100
particles; the block copies its own particles' positions to the scratchpad, then box by box, itself first, a
neighbour's positions and charges; every pair step adds four numbers to the thread's own record of forces in
memory, with loads and stores. Positions and charges are read by all blocks, forces written by one. Paper
scale is DeNovo's 2 x 2 x 2 boxes: 8 blocks, 800 pair steps, 3,200 bytes of forces a block.

Differences: the original's numbers have 8 bytes, which the machine has not. A record of forces has 4 pairs of
words (32 bytes, as there): the sum in f32, and the number of additions, which is exact; so a step has two
loads and two stores for one of the original. With ``sums=registers`` a thread adds a neighbour's box in
registers, as a compiler might, and then to its record. Positions and charges have the original's 32 and 8 bytes, of
which one word of two is loaded. Boxes have a table of their neighbours without their coordinates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, choice, combine, compare, whole
from gpucoh.suite.buffers import ReadOnlyF32, ReadOnlyI32
from gpucoh.suite.declaration import workload

BLOCK = 128
NEIGHBOURS = 27  # boxes around a box, with itself
NUMBERS = 4  # of a particle's position (v, x, y, z) and of its forces
SPREAD = 0.5  # the potential's parameter, 2 alpha squared


# A pair step adds to a number of the thread's record; the end of a box.
@lang.device
def add_in_memory(
    forces: lang.Buffer[lang.f32],
    sums: lang.Buffer[lang.f32],
    force: lang.i32,
    number: lang.i32,
    value: lang.f32,
) -> None:
    """With loads and stores of the record, as the source does."""
    forces[force + 2 * number] = forces[force + 2 * number] + value
    forces[force + 2 * number + 1] = forces[force + 2 * number + 1] + 1.0


@lang.device
def add_in_registers(
    forces: lang.Buffer[lang.f32],
    sums: lang.Buffer[lang.f32],
    force: lang.i32,
    number: lang.i32,
    value: lang.f32,
) -> None:
    """To the box's sums."""
    sums[2 * number] += value
    sums[2 * number + 1] += 1.0


@lang.device
def keep_record(
    forces: lang.Buffer[lang.f32],
    sums: lang.Buffer[lang.f32],
    force: lang.i32,
) -> None:
    """The record has every sum."""


@lang.device
def add_sums(
    forces: lang.Buffer[lang.f32],
    sums: lang.Buffer[lang.f32],
    force: lang.i32,
) -> None:
    """Add the box's sums to the record."""
    for word in (0, 1, 2, 3, 4, 5, 6, 7):
        forces[force + word] = forces[force + word] + sums[word]
        sums[word] = 0.0


def forces_kernel(add: Callable[..., None], end_box: Callable[..., None]) -> lang.Kernel:
    """The kernel with one place of the sums."""

    @lang.kernel
    def pair_forces(
        neighbours: ReadOnlyI32,
        positions: ReadOnlyF32,
        charges: ReadOnlyF32,
        forces: lang.Buffer[lang.f32],
        particles: lang.i32,
    ) -> None:
        """Forces of all particles of the neighbours on those of the block's box."""
        own = lang.shared(lang.f32, BLOCK * NUMBERS)
        other = lang.shared(lang.f32, BLOCK * NUMBERS)
        charge = lang.shared(lang.f32, BLOCK)
        sums = lang.local(lang.f32, 2 * NUMBERS)
        t = lang.thread_id()
        box = lang.block_id()
        active = t < particles
        particle = box * particles + t
        force = 2 * NUMBERS * particle
        if active:
            for word in (0, 1, 2, 3):
                own[NUMBERS * t + word] = positions[2 * (NUMBERS * particle + word)]
        lang.barrier()
        for k in range(neighbours[NEIGHBOURS * box]):
            first = box * particles
            if k > 0:
                first = neighbours[NEIGHBOURS * box + k] * particles
            if active:
                for word in (0, 1, 2, 3):
                    other[NUMBERS * t + word] = positions[2 * (NUMBERS * (first + t) + word)]
                charge[t] = charges[2 * (first + t)]
            lang.barrier()
            if active:
                for j in range(particles):
                    a = NUMBERS * t
                    b = NUMBERS * j
                    dot = own[a + 1] * other[b + 1]
                    dot = dot + own[a + 2] * other[b + 2]
                    dot = dot + own[a + 3] * other[b + 3]
                    potential = lang.exp(-SPREAD * (own[a] + other[b] - dot))
                    strength = 2.0 * potential
                    potential = charge[j] * potential
                    add(forces, sums, force, 0, potential)
                    for axis in (1, 2, 3):
                        distance = own[a + axis] - other[b + axis]
                        add(forces, sums, force, axis, charge[j] * (strength * distance))
                end_box(forces, sums, force)
            lang.barrier()

    return pair_forces


KERNELS = {
    "memory": forces_kernel(add_in_memory, keep_record),
    "registers": forces_kernel(add_in_registers, add_sums),
}


def neighbour_table(side: int) -> NDArray[np.int32]:
    """Of each box of a cube: how many boxes are within 1 of it, itself included, and the numbers of the
    others.
    """
    places = np.stack(np.meshgrid(*3 * [np.arange(side)], indexing="ij"), -1).reshape(-1, 3)
    near = np.abs(places[:, None] - places[None]).max(axis=-1) <= 1
    table = np.zeros((len(places), NEIGHBOURS), np.int32)
    for box, row in enumerate(near):
        others = np.flatnonzero(row & (np.arange(len(places)) != box))
        table[box, 0] = others.size + 1
        table[box, 1 : others.size + 1] = others
    return table


def reference_forces(
    table: NDArray[np.int32], positions: NDArray[np.float32], charges: NDArray[np.float32]
) -> NDArray[np.float64]:
    """The forces ``(count, particles, NUMBERS)`` in f64."""
    forces = np.zeros(positions.shape, np.float64)
    wide = positions.astype(np.float64)
    for box, row in enumerate(table):
        for other in (box, *row[1 : row[0]]):
            own, theirs = wide[box], wide[other]
            dots = own[:, 1:] @ theirs[:, 1:].T
            potential = np.exp(-SPREAD * (own[:, :1] + theirs[None, :, 0] - dots)) * charges[other]
            distance = own[:, None, 1:] - theirs[None, :, 1:]
            forces[box, :, 0] += potential.sum(axis=1)
            forces[box, :, 1:] += (2 * potential[:, :, None] * distance).sum(axis=1)
    return forces


def _wide(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Numbers in 8 bytes each: the word and an unused one."""
    words = np.zeros((numbers.size, 2), np.float32)
    words[:, 0] = numbers.ravel()
    return words.ravel()


@workload(
    id="lava",
    group="N",
    papers="D",
    check="forces equal NumPy's f64 within 1e-4, numbers of additions exact",
)
def boxes(
    gpu: GpuLike,
    rng: Generator,
    boxes: int = whole("boxes along each side of the cube", 1, 32, 2),
    particles: int = whole("particles per box", 1, BLOCK, 9, 40, 100),
    sums: str = choice(
        "where a thread adds the forces of a neighbour's box: in its record, or in registers",
        ("memory", "registers"),
        "memory",
    ),
) -> Outcome:
    """LavaMD: particle forces between neighbouring boxes, sums in memory

    Random positions and charges, 0.1 to 1, as the original's. One launch, a block a box.
    """
    table = neighbour_table(boxes)
    shape = len(table), particles
    positions = rng.uniform(0.1, 1, (*shape, NUMBERS)).astype(np.float32)
    charges = rng.uniform(0.1, 1, shape).astype(np.float32)

    count = len(table)
    forces = gpu.zeros(2 * positions.size, np.float32)
    gpu.launch(
        KERNELS[sums],
        grid=count,
        block=BLOCK,
        args=(
            gpu.array(table.ravel()),
            gpu.array(_wide(positions)),
            gpu.array(_wide(charges)),
            forces,
            particles,
        ),
    )
    found = forces.numpy().reshape(count, particles, NUMBERS, 2)
    steps = np.broadcast_to(table[:, :1, None] * particles, (count, particles, NUMBERS)).astype(
        np.float32
    )
    expected = reference_forces(table, positions, charges)
    return combine(
        compare("additions", found[..., 1], steps, details={"boxes": count}),
        compare("force", found[..., 0], expected, tolerance=1e-4),
    )
