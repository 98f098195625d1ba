"""``cl``: a hanging cloth with distance constraints between neighbouring particles of a mesh.

Original: the Distance Solver kernel of RopaDemo, whose source is not public. TC says that it moves the
particles by a list of constraints, which model springs between masses. Hence here (inferred): a
constraint is a record in memory, the indices of its two particles and its rest length, which threads
read one after another and never write; a constraint reads both particles and, if the spring is
stretched, moves them by their inverse masses, of which fixed particles have 0. The records are sorted
by colour: constraints of one colour touch each particle at most once, so that their order does not
matter. All iterations run in one launch; a grid barrier separates the colours, because other blocks
move the particles at the edge of a block's range. The order is thereby fixed, and the result must
equal the sequential one. 3 blocks of 512 threads fill a core's 48 warps. The mesh's size is assumed.

A particle is a record of 16 bytes, its position and its inverse mass, which one access reads and one
writes (inferred: as solvers do).
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, combine, compare, whole
from gpucoh.suite.buffers import ReadOnlyF32, ReadOnlyI32
from gpucoh.suite.declaration import workload
from gpucoh.suite.synchronisation import BARRIER_WORDS, grid_barrier

REST = 1.0
COLOURS = 4


@lang.kernel
def relax_cloth(
    particles: lang.Buffer[lang.f32],
    ends: ReadOnlyI32,
    rest: ReadOnlyF32,
    arrived: lang.Buffer[lang.i32],
    constraints: lang.i32,
    end0: lang.i32,
    end1: lang.i32,
    end2: lang.i32,
    iterations: lang.i32,
) -> None:
    """Move particles farther apart than the rest length towards it, colour by colour."""
    target = 0
    for _ in range(iterations):
        first = 0
        for colour in range(COLOURS):
            end = constraints
            if colour == 0:
                end = end0
            elif colour == 1:
                end = end1
            elif colour == 2:
                end = end2
            share = (end - first + lang.grid_dim() - 1) // lang.grid_dim()
            low = first + lang.block_id() * share
            for i in range(low + lang.thread_id(), lang.min(low + share, end), lang.block_dim()):
                a = ends[i]
                b = ends[constraints + i]
                wanted = rest[i]
                ax, ay, az, mass_a = lang.load4(particles, 4 * a)
                bx, by, bz, mass_b = lang.load4(particles, 4 * b)
                dx = bx - ax
                dy = by - ay
                dz = bz - az
                length = lang.sqrt(dx * dx + dy * dy + dz * dz)
                if length > wanted:
                    pull = (length - wanted) / (length * (mass_a + mass_b))
                    move_a = mass_a * pull
                    move_b = mass_b * pull
                    ax += move_a * dx
                    ay += move_a * dy
                    az += move_a * dz
                    bx -= move_b * dx
                    by -= move_b * dy
                    bz -= move_b * dz
                    lang.store4(particles, 4 * a, ax, ay, az, mass_a)
                    lang.store4(particles, 4 * b, bx, by, bz, mass_b)
            first = end
            target += lang.grid_dim()
            grid_barrier(arrived, target)


def mesh_constraints(rows: int, columns: int) -> list[NDArray[np.int32]]:
    """Pairs of neighbours by colour: even and odd ones along the rows, then along the columns; int32,
    shape ``(2, count)`` each. The first row is fixed and has none of its own.
    """
    index = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    colours = []
    for odd in (0, 1):
        a, b = index[1:, odd:-1:2], index[1:, odd + 1 :: 2]
        colours.append(np.stack([a.ravel(), b.ravel()]))
    for odd in (0, 1):
        a, b = index[odd:-1:2], index[odd + 1 :: 2]
        colours.append(np.stack([a.ravel(), b.ravel()]))
    return colours


def reference_cloth(
    start: NDArray[np.float32],
    inverse_mass: NDArray[np.float32],
    colours: list[NDArray[np.int32]],
    iterations: int,
) -> NDArray[np.float32]:
    """The same relaxation colour by colour in f32; ``start`` has shape ``(3, particles)``."""
    position = start.copy()
    for _ in range(iterations):
        for a, b in colours:
            delta = position[:, b] - position[:, a]
            squares = delta * delta
            length = np.sqrt(squares[0] + squares[1] + squares[2])
            give = inverse_mass[a] + inverse_mass[b]
            pull = np.maximum(length - np.float32(REST), 0) / (length * give)
            position[:, a] += inverse_mass[a] * pull * delta
            position[:, b] -= inverse_mass[b] * pull * delta
    return position


def strain(position: NDArray[np.float32], colours: list[NDArray[np.int32]]) -> float:
    """Root mean square of the constraints' relative excess over the rest length."""
    a, b = np.concatenate(colours, axis=1)
    length = np.linalg.norm(position[:, b].astype(np.float64) - position[:, a], axis=0)
    return float(np.sqrt(np.mean(np.maximum(length / REST - 1, 0) ** 2)))


@workload(
    id="cl",
    group="I",
    papers="TR",
    check="bitwise equal to the sequential result, and less strained than the input",
)
def cloth(
    gpu: GpuLike,
    rng: Generator,
    rows: int = whole("rows of particles; the first is fixed", 2, 8192, 16, 256, 256),
    columns: int = whole("columns of particles", 2, 8192, 32, 256, 256),
    iterations: int = whole("passes over all constraints", 1, 8192, 2, 2, 10),
    blocks_per_core: int = whole("blocks per core; all must be resident", 1, 8, 1, 3, 3),
    threads: int = whole("threads per block", 32, 1024, 64, 512, 512),
) -> Outcome:
    """cloth: a list of distance constraints, four colours with grid barriers

    A crumpled sheet that hangs on its first row. One launch of a grid that is resident as a whole.
    """
    y, x = np.mgrid[:rows, :columns].astype(np.float32)
    sheet = np.stack([x, -y, np.zeros_like(x)]) * np.float32(REST)
    sheet[:, 1:] += rng.uniform(-0.3, 0.3, (3, rows - 1, columns)).astype(np.float32)
    start = sheet.reshape(3, -1)
    inverse_mass = np.minimum(y, 1).ravel()
    colours = mesh_constraints(rows, columns)
    particles = inverse_mass.size
    ends = np.cumsum([pairs.shape[1] for pairs in colours])
    constraints = int(ends[-1])
    records = gpu.array(np.vstack([start, inverse_mass]).T.ravel())
    gpu.launch(
        relax_cloth,
        grid=gpu.machine.cores * blocks_per_core,
        block=threads,
        args=(
            records,
            gpu.array(np.concatenate(colours, axis=1).ravel()),
            gpu.array(np.full(constraints, REST, np.float32)),
            gpu.zeros(BARRIER_WORDS, np.int32),
            constraints,
            *(int(end) for end in ends[:-1]),
            iterations,
        ),
    )
    result = records.numpy().reshape(particles, 4).T[:3]
    expected = reference_cloth(start, inverse_mass, colours, iterations)
    before, after = strain(start, colours), strain(result, colours)
    details = {"particles": particles, "strain_before": before, "strain_after": after}
    relaxed = Outcome(
        correct=after < before,
        mismatches=int(not after < before),
        where="" if after < before else f"the strain grew from {before:.4g} to {after:.4g}",
    )
    return combine(compare("position", result, expected, details=details), relaxed)
