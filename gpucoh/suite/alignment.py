"""Needleman-Wunsch alignment, a wavefront of tiles, one launch per diagonal: ``ndl`` with tiles in the scratchpad,
``nw-qr`` in memory, a second reading of QuickRelease's ``nw``.

Original: needle of Rodinia (CUDA). As there: a tile of 16 x 16 letters a block of 16 threads, half a
warp; a launch a diagonal of tiles; gains and scores both have one row and one column more than there
are letters, so that rows of tiles straddle lines and neighbouring tiles share lines; a thread loads 16
gains and the scores at the tile's edges (left of it a word of 16 lines), and stores 16 scores; 34
barriers. The next diagonal, on other cores, reads a tile's last row and column. The original does not
fill its cores: at most 8 half warps a core. Paper scale is the original's default, 2048 letters or 255
launches (assumed for TC, RCC and QuickRelease, which state no size; DeNovo's 512 letters are ``tiles=32``).

Differences: one kernel with the first tile's column as an argument in place of two kernels, for the
diagonals before and after the longest; gains are random numbers of a symmetric matrix, not BLOSUM62.

``nw-qr``. Original: nw of OpenDwarfs (OpenCL), which has no scratchpad: a thread reads the three scores that it needs
from memory and writes its own there, each once, and a barrier with a fence of global memory follows each of the 31
steps, so that scores are read again soon. QuickRelease states neither the version nor a size; its section 5.2, where
each address of ``nw`` is written once as a full line, and 5.1, where ``lud`` reads most of what it wrote, are true of
``ndl``.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, compare, whole
from gpucoh.suite.buffers import ReadOnlyI32
from gpucoh.suite.declaration import workload

TILE = 16


@lang.record
class Scores:
    """Gains and scores of all pairs of letters, both of ``side`` + 1 rows and columns."""

    similarity: ReadOnlyI32
    score: lang.Buffer[lang.i32]
    side: lang.i32
    penalty: lang.i32


@lang.device
def score_cell(
    tile: lang.Buffer[lang.i32, Literal[2]],
    gains: lang.Buffer[lang.i32, Literal[2]],
    row: lang.i32,
    column: lang.i32,
    penalty: lang.i32,
) -> None:
    """The best of the three scores before a cell."""
    best = tile[row, column] + gains[row, column]
    best = lang.max(best, tile[row + 1, column] - penalty)
    tile[row + 1, column + 1] = lang.max(best, tile[row, column + 1] - penalty)


# The block fills the tile along its diagonals, with a barrier between two. Up to the longest diagonal, thread t has
# column t, then the cells behind the diagonal's first ones.
@lang.kernel
def align_diagonal(scores: Scores, diagonal: lang.i32, first_column: lang.i32) -> None:
    """Fill the tiles of one diagonal; both arrays have ``side + 1`` rows and columns."""
    tile = lang.shared(lang.i32, (TILE + 1, TILE + 1))
    gains = lang.shared(lang.i32, (TILE, TILE))
    t = lang.thread_id()
    tile_column = first_column + lang.block_id()
    width = scores.side + 1
    corner = (diagonal - tile_column) * TILE * width + tile_column * TILE
    own = corner + width + t + 1
    if t == 0:
        tile[0, 0] = scores.score[corner]
    for row in range(TILE):
        gains[row, t] = scores.similarity[own + row * width]
    lang.barrier()
    tile[t + 1, 0] = scores.score[corner + width + t * width]
    lang.barrier()
    tile[0, t + 1] = scores.score[corner + t + 1]
    lang.barrier()
    for step in range(TILE):
        if t <= step:
            score_cell(tile, gains, step - t, t, scores.penalty)
        lang.barrier()
    for step in range(TILE - 2, -1, -1):
        if t <= step:
            score_cell(tile, gains, TILE - 1 - t, t + TILE - 1 - step, scores.penalty)
        lang.barrier()
    for row in range(TILE):
        scores.score[own + row * width] = tile[row + 1, t + 1]


@lang.kernel
def align_in_memory(scores: Scores, diagonal: lang.i32, first_column: lang.i32) -> None:
    """As :func:`align_diagonal`, with all scores in memory."""
    t = lang.thread_id()
    tile_column = first_column + lang.block_id()
    width = scores.side + 1
    corner = ((diagonal - tile_column) * TILE + 1) * width + tile_column * TILE + 1
    for step in range(2 * TILE - 1):
        row = step - t
        if row >= 0 and row < TILE:
            at = corner + row * width + t
            best = scores.score[at - width - 1] + scores.similarity[at]
            best = lang.max(best, scores.score[at - 1] - scores.penalty)
            scores.score[at] = lang.max(best, scores.score[at - width] - scores.penalty)
        lang.barrier(scope="gpu")


def reference_alignment(similarity: NDArray[np.int32], penalty: int) -> NDArray[np.int32]:
    """The dynamic programme along antidiagonals; int32, one row and column more than the input."""
    side = similarity.shape[0]
    score = np.zeros((side + 1, side + 1), np.int32)
    score[0] = score[:, 0] = -penalty * np.arange(side + 1)
    for diagonal in range(2, 2 * side + 1):
        row = np.arange(max(1, diagonal - side), min(side, diagonal - 1) + 1)
        column = diagonal - row
        score[row, column] = np.maximum(
            score[row - 1, column - 1] + similarity[row - 1, column - 1],
            np.maximum(score[row, column - 1], score[row - 1, column]) - penalty,
        )
    return score


def align(
    gpu: GpuLike,
    rng: Generator,
    tiles: int,
    penalty: int,
    kernel: lang.Kernel,
) -> Outcome:
    """One launch per diagonal of tiles, on two random sequences of 20 letters and random symmetric gains."""
    side = tiles * TILE
    gains = rng.integers(-4, 8, (20, 20), dtype=np.int32)
    gains = np.minimum(gains, gains.T) + 6 * np.eye(20, dtype=np.int32)
    first, second = rng.integers(0, 20, (2, side))
    similarity = gains[first[:, None], second]
    start = np.zeros((side + 1, side + 1), np.int32)
    start[0] = start[:, 0] = -penalty * np.arange(side + 1)
    gains_of_pairs = gpu.array(np.pad(similarity, ((1, 0), (1, 0))).ravel())
    score = gpu.array(start.ravel())
    scores = Scores(gains_of_pairs, score, side, penalty)
    for diagonal in range(2 * tiles - 1):
        first_column = max(0, diagonal - tiles + 1)
        gpu.launch(
            kernel,
            grid=min(diagonal, tiles - 1) - first_column + 1,
            block=TILE,
            args=(scores, diagonal, first_column),
        )
    expected = reference_alignment(similarity, penalty)
    return compare(
        "score", score.numpy().reshape(expected.shape), expected, details={"letters": side}
    )


TILES = whole(f"tiles of {TILE} letters per side", 1, 1024, 4, 28, 128)
PENALTY = whole("gap penalty", 0, 1000, 10)
CHECK = "every score equals NumPy's dynamic programme"


@workload(id="ndl", aliases=("nw",), group="AN", papers="TRDQ", check=CHECK)
def alignment(gpu: GpuLike, rng: Generator, tiles: int = TILES, penalty: int = PENALTY) -> Outcome:
    """Needleman-Wunsch alignment: a wavefront of scratchpad tiles, one launch per diagonal"""
    return align(gpu, rng, tiles, penalty, align_diagonal)


@workload(id="nw-qr", group="A", papers="Q", check=CHECK)
def alignment_in_memory(
    gpu: GpuLike, rng: Generator, tiles: int = TILES, penalty: int = PENALTY
) -> Outcome:
    """Needleman-Wunsch alignment in memory: a barrier with a global fence after each step of a tile"""
    return align(gpu, rng, tiles, penalty, align_in_memory)
