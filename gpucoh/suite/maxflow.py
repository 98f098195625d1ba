"""``cc``: minimum cut of an image by push and relabel, after CudaCuts (Vineet and Narayanan 2008).

A pixel has edges to its four neighbours, with larger capacity the more similar they are, and to the
source if it is bright or the sink if it is dark. Push, pull and relabel are one kernel: between two
grid barriers a pixel reads its neighbours' pushes and heights from memory; neighbours at the edge
of a block's range belong to another block. Between launches the host sets every height to the
distance from the sink (global relabelling, as in Hong and He, IPDPS 2011), and ends when no excess
can reach the sink. Within a launch all pixels use the state of the previous round, so that the
result does not depend on timing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import maximum_flow

from gpucoh import lang
from gpucoh.suite import inputs
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

WIDE, HIGH = 32, 8  # pixels of a tile, and threads of a block
SIDES = 4  # right, left, down, up: side ^ 1 is the opposite one


@lang.device
def neighbour(side: lang.i32, columns: lang.i32) -> lang.i32:
    """Distance in pixels to the neighbour on that side."""
    step = 1
    if side >= 2:
        step = columns
    if side % 2 == 1:
        step = -step
    return step


@lang.device
def inside(side: lang.i32, x: lang.i32, y: lang.i32, columns: lang.i32, rows: lang.i32) -> lang.i32:
    """Whether there is a neighbour on that side."""
    there = 1
    if side == 0 and x == columns - 1:
        there = 0
    if side == 1 and x == 0:
        there = 0
    if side == 2 and y == rows - 1:
        there = 0
    if side == 3 and y == 0:
        there = 0
    return there


# `height` holds two arrays: heights before and after a round. `pushed[side]` is the amount that a
# pixel pushed over that side in this round; the neighbour takes it. Only its own pixel's thread
# writes a word; neighbours read heights and pushes.
@lang.kernel
def push_relabel(
    excess: lang.Buffer[lang.i32],
    sink: lang.Buffer[lang.i32],
    residual: lang.Buffer[lang.i32],
    height: lang.Buffer[lang.i32],
    pushed: lang.Buffer[lang.i32],
    arrived: lang.Buffer[lang.i32],
    columns: lang.i32,
    rows: lang.i32,
    rounds: lang.i32,
) -> None:
    """``rounds`` rounds of push, pull and relabel over all pixels."""
    pixels = rows * columns
    across = (columns + WIDE - 1) // WIDE
    tiles = across * ((rows + HIGH - 1) // HIGH)
    joins = 0
    for turn in range(rounds):
        now = (turn % 2) * pixels
        after = pixels - now
        for tile in range(lang.block_id(), tiles, lang.grid_dim()):
            x = tile % across * WIDE + lang.thread_id() % WIDE
            y = tile // across * HIGH + lang.thread_id() // WIDE
            if x < columns and y < rows:
                pixel = y * columns + x
                left = excess[pixel]
                mine = height[now + pixel]
                if mine > pixels:
                    left = 0
                flow = lang.min(left, sink[pixel])
                sink[pixel] = sink[pixel] - flow
                spent = flow
                for side in range(SIDES):
                    edge = side * pixels + pixel
                    flow = 0
                    if (
                        left > spent
                        and residual[edge] > 0
                        and height[now + pixel + neighbour(side, columns)] == mine - 1
                    ):
                        flow = lang.min(left - spent, residual[edge])
                    pushed[edge] = flow
                    spent += flow
                excess[pixel] = excess[pixel] - spent
        joins += lang.grid_dim()
        grid_barrier(arrived, joins)
        for tile in range(lang.block_id(), tiles, lang.grid_dim()):
            x = tile % across * WIDE + lang.thread_id() % WIDE
            y = tile // across * HIGH + lang.thread_id() // WIDE
            if x < columns and y < rows:
                pixel = y * columns + x
                total = excess[pixel]
                mine = height[now + pixel]
                lowest = pixels + 1
                for side in range(SIDES):
                    if inside(side, x, y, columns, rows):
                        edge = side * pixels + pixel
                        other = pixel + neighbour(side, columns)
                        flow = pushed[(side ^ 1) * pixels + other]
                        room = residual[edge] + flow - pushed[edge]
                        residual[edge] = room
                        total += flow
                        if room > 0:
                            lowest = lang.min(lowest, height[now + other] + 1)
                excess[pixel] = total
                if sink[pixel] > 0:
                    lowest = 1
                if total > 0:
                    mine = lang.max(mine, lowest)
                height[after + pixel] = mine
        joins += lang.grid_dim()
        grid_barrier(arrived, joins)


@dataclass(frozen=True)
class Cut:
    """The graph of an image.

    Parameters
    ----------
    source, sink
        int32, shape ``(rows, columns)``: capacity from the source, to the sink; one of the two is 0.
    sides
        int32, shape ``(4, rows, columns)``: capacity over each side; 0 at the border.
    """

    source: NDArray[np.int32]
    sink: NDArray[np.int32]
    sides: NDArray[np.int32]

    @classmethod
    def of(cls, image: NDArray[np.float32], smoothness: int) -> Cut:
        """Connect bright pixels to the source, dark ones to the sink; ``image`` is between 0 and 1."""
        terminal = np.rint(100 * (image.astype(np.float64) - np.median(image))).astype(np.int32)
        sides = np.zeros((SIDES, *image.shape), np.int32)
        for axis, side in ((1, 0), (0, 2)):
            step = np.diff(image.astype(np.float64), axis=axis)
            weight = 1 + np.rint(smoothness * np.exp(-50 * step * step)).astype(np.int32)
            pair = np.moveaxis(sides[side : side + 2], 1 + axis, 1)
            pair[0, :-1] = pair[1, 1:] = np.moveaxis(weight, axis, 0)
        return cls(np.maximum(terminal, 0), np.maximum(-terminal, 0), sides)

    def flow(self) -> int:
        """The maximum flow, by scipy."""
        pixels = self.source.size
        number = np.arange(pixels).reshape(self.source.shape)
        rows, columns = [np.full(pixels, pixels), number.ravel()], [number.ravel()]
        columns.append(np.full(pixels, pixels + 1))
        for side in range(SIDES):
            rows.append(number.ravel())
            columns.append(np.roll(number, -1 if side % 2 == 0 else 1, 1 - side // 2).ravel())
        values = np.concatenate([self.source.ravel(), self.sink.ravel(), self.sides.ravel()])
        shape = (pixels + 2, pixels + 2)
        edges = np.concatenate(rows), np.concatenate(columns)
        # Any: scipy's stubs do not know int32 here
        graph: Any = scipy.sparse.csr_matrix((values, edges), shape, np.int32)
        graph.sum_duplicates()
        graph.eliminate_zeros()
        return int(maximum_flow(graph, pixels, pixels + 1).flow_value)


def distances(residual: NDArray[np.int32], sink: NDArray[np.int32]) -> NDArray[np.int32]:
    """Edges from each pixel to the sink where capacity is left; more than the number of pixels if the
    sink is unreachable.

    Parameters
    ----------
    residual
        int32, shape ``(4, rows, columns)``.
    sink
        int32, shape ``(rows, columns)``.
    """
    far = np.int32(sink.size + 1)
    height = np.where(sink > 0, np.int32(1), far)
    front = sink > 0
    level = 1
    while front.any():
        level += 1
        reached = np.zeros_like(front)
        reached[:, :-1] |= front[:, 1:] & (residual[0, :, :-1] > 0)
        reached[:, 1:] |= front[:, :-1] & (residual[1, :, 1:] > 0)
        reached[:-1] |= front[1:] & (residual[2, :-1] > 0)
        reached[1:] |= front[:-1] & (residual[3, 1:] > 0)
        front = reached & (height == far)
        height[front] = level
    return height


@dataclass(frozen=True)
class Segmentation:
    """``cc`` on one input."""

    cut: Cut
    rounds: int
    blocks_per_core: int

    @classmethod
    def prepare(cls, setting: Setting) -> Segmentation:
        """The image resampled to the requested size, with a little noise that depends on the seed."""
        rows, columns = setting.integer("rows"), setting.integer("columns")
        image = inputs.resample(
            inputs.read_image(setting.file("image"), "photograph"), rows, columns
        )
        noise = setting.rng().normal(0, 0.05, (rows, columns)).astype(np.float32)
        cut = Cut.of(image + noise, setting.integer("smoothness"))
        return cls(cut, setting.integer("rounds"), setting.integer("blocks_per_core"))

    def run(self, gpu: GpuLike) -> Outcome:
        """Launches until no excess can reach the sink, or until a launch changes nothing."""
        rows, columns = self.cut.source.shape
        pixels = rows * columns
        tiles = -(-rows // HIGH) * -(-columns // WIDE)
        excess, sink = gpu.array(self.cut.source.ravel()), gpu.array(self.cut.sink.ravel())
        residual = gpu.array(self.cut.sides.ravel())
        height, pushed = gpu.zeros(2 * pixels, np.int32), gpu.zeros(SIDES * pixels, np.int32)
        launches, before = 0, None
        while True:
            state = excess.numpy(), sink.numpy(), residual.numpy()
            reach = distances(state[2].reshape(SIDES, rows, columns), state[1].reshape(rows, -1))
            settled = not np.any((state[0] > 0) & (reach.ravel() <= pixels))
            # The next launch depends only on the state: an unchanged state would repeat forever.
            if settled or (before and all(map(np.array_equal, before, state))):
                break
            before = state
            height[:] = np.tile(reach.ravel(), 2)
            arrived = gpu.zeros(BARRIER_WORDS, np.int32)
            gpu.launch(
                push_relabel,
                grid=min(tiles, gpu.machine.cores * self.blocks_per_core),
                block=WIDE * HIGH,
                args=(excess, sink, residual, height, pushed, arrived, columns, rows, self.rounds),
            )
            launches += 1
        return self.check(state[0], state[1], settled, launches)

    def check(
        self, excess: NDArray[Any], sink: NDArray[Any], settled: bool, launches: int
    ) -> Outcome:
        """Check that the flow is maximal, and that flow and remaining excess equal the input."""
        details = {"pixels": sink.size, "launches": launches}
        flow = int(self.cut.sink.sum()) - int(sink.sum(dtype=np.int64))
        details["flow"] = flow
        kept = int(excess.sum(dtype=np.int64)) + flow
        stopped = Outcome(
            correct=settled,
            mismatches=int(not settled),
            where="a launch changed nothing although excess could still reach the sink",
        )
        return combine(
            compare("flow", [flow], [self.cut.flow()], details=details),
            compare("flow and excess", [kept], [int(self.cut.source.sum())]),
            stopped,
        )


def _number(
    name: str, low: int, high: int, tiny: int, small: int, paper: int, text: str
) -> Parameter:
    return Parameter(
        name=name,
        kind="int",
        minimum=low,
        maximum=high,
        defaults={"tiny": tiny, "small": small, "paper": paper},
        text=text,
    )


REGISTRY.add(
    Workload(
        id="cc",
        title="minimum cut of an image: push, pull and relabel in one kernel, grid barriers",
        group="I",
        papers=("T",),
        needs_coherence=True,
        check="flow equals scipy's maximum flow; no excess is lost",
        parameters=(
            Parameter(
                name="image",
                kind="file",
                defaults=None,
                text=f"{inputs.IMAGE_KINDS}; default: a bundled photograph",
            ),
            _number("rows", 2, 2048, 24, 60, 225, "rows, to which the image is resampled"),
            _number("columns", 2, 2048, 48, 80, 300, "columns of pixels"),
            _number("smoothness", 0, 10000, 30, 30, 30, "capacity between similar pixels"),
            _number("rounds", 1, 10000, 8, 12, 32, "rounds per launch"),
            _number(
                "blocks_per_core",
                1,
                6,
                1,
                4,
                4,
                f"largest number of blocks per core, of {WIDE * HIGH} threads",
            ),
        ),
        factory=Segmentation.prepare,
    )
)
