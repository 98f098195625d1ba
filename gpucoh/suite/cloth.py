"""``cl``: a hanging cloth with distance constraints between neighbouring particles of a mesh.

All iterations run in one launch. An iteration first bends: it moves each inner particle towards the
mean of the previous positions of its four neighbours, in two passes; then it applies the
constraints. The constraints of one colour touch each particle at most once, so their order does not
matter. A grid barrier separates the colours, because other blocks move the particles at the edge of
a block's range. The order is thereby fixed, and the result must equal the sequential one.
"""

from __future__ import annotations

from dataclasses import dataclass

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
from gpucoh.suite.synchronisation import BARRIER_WORDS, grid_barrier

BLOCK = 64
REST = 1.0
STIFFNESS = 0.0625


@lang.kernel
def relax_cloth(
    position: lang.Buffer[lang.f32],
    bend: lang.Buffer[lang.f32],
    arrived: lang.Buffer[lang.i32],
    columns: lang.i32,
    rows: lang.i32,
    iterations: lang.i32,
) -> None:
    """Move the ends of every constraint towards its rest length; the first row is fixed."""
    target = 0
    words = 3 * rows * columns
    part = (words + lang.grid_dim() - 1) // lang.grid_dim()
    low = lang.block_id() * part
    high_word = lang.min(low + part, words)
    row_words = 3 * columns
    for _ in range(iterations):
        for word in range(low + lang.thread_id(), high_word, BLOCK):
            at_x = word // 3 % columns
            at_y = word // row_words
            if at_x > 0 and at_x < columns - 1 and at_y > 0 and at_y < rows - 1:
                sides = position[word - 3] + position[word + 3]
                sides = sides + position[word - row_words] + position[word + row_words]
                bend[word] = STIFFNESS * (sides - 4.0 * position[word])
        target += lang.grid_dim()
        grid_barrier(arrived, target)
        for word in range(low + lang.thread_id(), high_word, BLOCK):
            position[word] = position[word] + bend[word]
        target += lang.grid_dim()
        grid_barrier(arrived, target)
        for colour in range(4):
            across = colour < 2
            odd = colour % 2
            wide = columns
            high = rows
            step = columns
            if across:
                wide = (columns - odd) // 2
                step = 1
            else:
                high = (rows - odd) // 2
            count = wide * high
            share = (count + lang.grid_dim() - 1) // lang.grid_dim()
            first = lang.block_id() * share
            last = lang.min(first + share, count)
            for i in range(first + lang.thread_id(), last, BLOCK):
                x = i % wide
                y = i // wide
                if across:
                    x = 2 * x + odd
                else:
                    y = 2 * y + odd
                a = 3 * (y * columns + x)
                b = a + 3 * step
                dx = position[b] - position[a]
                dy = position[b + 1] - position[a + 1]
                dz = position[b + 2] - position[a + 2]
                length = lang.sqrt(dx * dx + dy * dy + dz * dz)
                pull = (length - REST) / length
                # The first end moves half the correction, or not at all if it hangs on the bar.
                hold = lang.f32(0.5)
                if y == 0:
                    hold = lang.f32(0.0)
                    if across:
                        pull = lang.f32(0.0)
                give = (1.0 - hold) * pull
                hold = hold * pull
                position[a] = position[a] + hold * dx
                position[a + 1] = position[a + 1] + hold * dy
                position[a + 2] = position[a + 2] + hold * dz
                position[b] = position[b] - give * dx
                position[b + 1] = position[b + 1] - give * dy
                position[b + 2] = position[b + 2] - give * dz
            target += lang.grid_dim()
            grid_barrier(arrived, target)


def reference_cloth(start: NDArray[np.float32], iterations: int) -> NDArray[np.float32]:
    """The same relaxation colour by colour in f32; ``start`` has shape ``(rows, columns, 3)``."""
    f = np.float32
    cloth = start.copy()
    for _ in range(iterations):
        inner = cloth[1:-1, 1:-1]
        sides = cloth[1:-1, :-2] + cloth[1:-1, 2:]
        sides = sides + cloth[:-2, 1:-1] + cloth[2:, 1:-1]
        cloth[1:-1, 1:-1] = inner + f(STIFFNESS) * (sides - f(4) * inner)
        for colour in range(4):
            across, odd = colour < 2, colour % 2
            view = cloth if across else cloth.transpose(1, 0, 2)
            pairs = (view.shape[1] - odd) // 2
            a = view[:, odd : odd + 2 * pairs : 2]
            b = view[:, odd + 1 : odd + 2 * pairs : 2]
            delta = b - a
            squares = delta * delta
            length = np.sqrt(squares[..., 0] + squares[..., 1] + squares[..., 2])
            pull = (length - f(REST)) / length
            hold = np.full_like(pull, 0.5)
            if across:
                hold[0], pull[0] = 0, 0
            elif odd == 0:
                hold[:, 0] = 0
            give = (f(1) - hold) * pull
            a += (hold * pull)[..., None] * delta
            b -= give[..., None] * delta
    return cloth


def strain(cloth: NDArray[np.float32]) -> float:
    """Root mean square of the constraints' relative errors, without fixed pairs."""
    across = np.linalg.norm(np.diff(cloth[1:], axis=1), axis=2).ravel()
    down = np.linalg.norm(np.diff(cloth, axis=0), axis=2).ravel()
    return float(np.sqrt(np.mean((np.concatenate([across, down]) / REST - 1) ** 2)))


@dataclass(frozen=True)
class Cloth:
    """``cl`` on one input."""

    start: NDArray[np.float32]
    iterations: int
    blocks_per_core: int

    @classmethod
    def prepare(cls, setting: Setting) -> Cloth:
        """A crumpled sheet that hangs on its first row."""
        rows, columns = setting.integer("rows"), setting.integer("columns")
        y, x = np.mgrid[:rows, :columns].astype(np.float32)
        sheet = np.stack([x, -y, np.zeros_like(x)], axis=2) * np.float32(REST)
        sheet[1:] += setting.rng().uniform(-0.3, 0.3, (rows - 1, columns, 3)).astype(np.float32)
        return cls(sheet, setting.integer("iterations"), setting.integer("blocks_per_core"))

    def run(self, gpu: GpuLike) -> Outcome:
        """One launch of a grid that is resident as a whole."""
        rows, columns, _ = self.start.shape
        position = gpu.array(self.start.ravel())
        gpu.launch(
            relax_cloth,
            grid=gpu.machine.cores * self.blocks_per_core,
            block=BLOCK,
            args=(
                position,
                gpu.zeros(self.start.size, np.float32),
                gpu.zeros(BARRIER_WORDS, np.int32),
                columns,
                rows,
                self.iterations,
            ),
        )
        result = position.numpy().reshape(self.start.shape)
        expected = reference_cloth(self.start, self.iterations)
        before, after = strain(self.start), strain(result)
        details = {"particles": rows * columns, "strain_before": before, "strain_after": after}
        relaxed = Outcome(
            correct=after < before,
            mismatches=int(not after < before),
            where="" if after < before else f"the strain grew from {before:.4g} to {after:.4g}",
        )
        return combine(compare("position", result, expected, details=details), relaxed)


def _number(name: str, low: int, tiny: int, small: int, paper: int, text: str) -> Parameter:
    return Parameter(
        name=name,
        kind="int",
        minimum=low,
        maximum=8192,
        defaults={"tiny": tiny, "small": small, "paper": paper},
        text=text,
    )


REGISTRY.add(
    Workload(
        id="cl",
        title="cloth: distance constraints between particles, four colours with grid barriers",
        group="I",
        papers=("T", "R"),
        needs_coherence=True,
        check="bitwise equal to the sequential result, and less strained than the input",
        parameters=(
            _number("rows", 2, 16, 64, 128, "rows of particles; the first is fixed"),
            _number("columns", 2, 32, 64, 128, "columns of particles"),
            _number("iterations", 1, 2, 3, 10, "passes over all constraints"),
            _number(
                "blocks_per_core", 1, 1, 3, 4, f"blocks per core, of {BLOCK} threads, all resident"
            ),
        ),
        factory=Cloth.prepare,
    )
)
