"""``cc``: minimum cut of an image by push and relabel.

Original: CUDA Cuts (Vineet and Narayanan 2008), in the version with atomics. TC joins push, pull and
relabel in one kernel through coherent memory, and gives no size; an example of the public code has
200 x 150 pixels, which is assumed.

The same as in the original:

* A block of 32 x 8 threads for each tile of the image, whose rows are padded to whole tiles; 6 blocks
  fill a core. A launch is one iteration, without barriers of the grid.
* Heights are read through a tile of 34 x 10 words in the scratchpad and written to a second array.
* A mask selects the pixels that push. The excess is read again before each of five pushes, to the sink
  and to the left, up, right and down. A push is four atomics: capacity and excess of the pixel
  decrease, those of the neighbour increase.
* The end is tested after every 10 iterations.

What differs, and why:

* Relabelling follows in the same launch, as TC says, with what other blocks have pushed so far; that
  no barrier of the grid lies between is inferred. Heights may become wrong in this way, so that with
  the test for the end the host sets every height to the distance from the sink (global relabelling,
  Hong and He, IPDPS 2011), and the run ends when no excess can reach the sink.
* The counts of pulls, which the original keeps and never reads, are left out: 9 words a pixel, not 13.
* The image is the bundled photograph. At ``small`` a run ends after 20 iterations, before the flow
  is maximal.

Only a pixel's own thread decreases its excess and capacities, so values that other blocks have since
increased may be stale without a loss of flow. The result is right also under ``no-coh``, whose atomics
drop the core's own copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.base.late import LATE_IMPORT
from gpucoh.suite import inputs
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, combine, compare, file, whole
from gpucoh.suite.declaration import workload

WIDE, HIGH = 32, 8  # pixels of a tile, and threads of a block
PITCH = WIDE + 2  # of the heights of a tile and its neighbours
SIDES = 4  # right, left, down, up: side ^ 1 is the opposite one
PUSHING, RAISED, IDLE = 1, 0, 2  # words of the mask


@lang.record
class Flow:
    """The state of a padded image: what is left of excess, capacity to the sink and on the edges, marks and heights."""

    excess: lang.Buffer[lang.i32]
    sink: lang.Buffer[lang.i32]
    residual: lang.Buffer[lang.i32]
    mask: lang.Buffer[lang.i32]
    height: lang.Buffer[lang.i32]
    columns: lang.i32
    rows: lang.i32


@lang.device
def capacity(residual: lang.Buffer[lang.i32], edge: lang.i32) -> lang.i32:
    """The capacity that is left on an edge; a neighbour may increase it at the same time."""
    return lang.load(residual, edge, order="relaxed", scope="gpu")


@lang.device
def push(
    flow: Flow, pixels: lang.i32, pixel: lang.i32, side: lang.i32, other: lang.i32, drop: lang.i32
) -> None:
    """Push to the pixel ``other`` on a side if it is lower by 1, which ``drop`` states."""
    left = lang.load(flow.excess, pixel, order="relaxed", scope="gpu")
    room = capacity(flow.residual, side * pixels + pixel)
    if left > 0 and room > 0 and drop == 1:
        pushed = lang.min(left, room)
        lang.atomic_sub(flow.residual, side * pixels + pixel, pushed, order="relaxed", scope="gpu")
        lang.atomic_add(
            flow.residual, (side ^ 1) * pixels + other, pushed, order="relaxed", scope="gpu"
        )
        lang.atomic_sub(flow.excess, pixel, pushed, order="relaxed", scope="gpu")
        lang.atomic_add(flow.excess, other, pushed, order="relaxed", scope="gpu")


# `height` holds two arrays: a launch reads the one that begins at `now` and writes that at `after`.
# Only its own pixel's thread writes a word of `sink`, `mask` and `height`. Neighbours change
# `excess` and `residual`, by atomics.
@lang.kernel
def push_relabel(flow: Flow, now: lang.i32, after: lang.i32) -> None:
    """One iteration; ``columns`` and ``rows`` are those of the padded image."""
    tile = lang.shared(lang.i32, PITCH * (HIGH + 2))
    x = lang.global_id(0)
    y = lang.global_id(1)
    pixels = flow.rows * flow.columns
    pixel = y * flow.columns + x
    at = (lang.thread_id(1) + 1) * PITCH + lang.thread_id(0) + 1
    tile[at] = flow.height[now + pixel]
    # No edge leads out of the image; the flow.height there is that of an unreachable pixel.
    if lang.thread_id(0) == WIDE - 1:
        tile[at + 1] = flow.height[now + pixel + 1] if x < flow.columns - 1 else pixels
    if lang.thread_id(0) == 0:
        tile[at - 1] = flow.height[now + pixel - 1] if x > 0 else pixels
    if lang.thread_id(1) == HIGH - 1:
        tile[at + PITCH] = flow.height[now + pixel + flow.columns] if y < flow.rows - 1 else pixels
    if lang.thread_id(1) == 0:
        tile[at - PITCH] = flow.height[now + pixel - flow.columns] if y > 0 else pixels
    lang.barrier()
    mine = tile[at]
    if flow.mask[pixel] == PUSHING:
        left = lang.load(flow.excess, pixel, order="relaxed", scope="gpu")
        room = flow.sink[pixel]
        if left > 0 and room > 0 and mine == 1:
            pushed = lang.min(left, room)
            flow.sink[pixel] = room - pushed
            lang.atomic_sub(flow.excess, pixel, pushed, order="relaxed", scope="gpu")
        push(flow, pixels, pixel, 1, pixel - 1, mine - tile[at - 1])
        push(flow, pixels, pixel, 3, pixel - flow.columns, mine - tile[at - PITCH])
        push(flow, pixels, pixel, 0, pixel + 1, mine - tile[at + 1])
        push(flow, pixels, pixel, 2, pixel + flow.columns, mine - tile[at + PITCH])
    lowest = pixels
    if capacity(flow.residual, pixel) > 0:
        lowest = lang.min(lowest, tile[at + 1])
    if capacity(flow.residual, pixels + pixel) > 0:
        lowest = lang.min(lowest, tile[at - 1])
    if capacity(flow.residual, 2 * pixels + pixel) > 0:
        lowest = lang.min(lowest, tile[at + PITCH])
    if capacity(flow.residual, 3 * pixels + pixel) > 0:
        lowest = lang.min(lowest, tile[at - PITCH])
    if flow.sink[pixel] > 0:
        lowest = 0
    state = IDLE
    if lang.load(flow.excess, pixel, order="relaxed", scope="gpu") > 0 and lowest < pixels:
        state = RAISED
        if mine == lowest + 1:
            state = PUSHING
    flow.mask[pixel] = state
    flow.height[after + pixel] = lowest + 1


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
        with LATE_IMPORT:
            import scipy.sparse
            from scipy.sparse.csgraph import maximum_flow
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


def check_flow(
    cut: Cut,
    excess: NDArray[Any],
    sink: NDArray[Any],
    residual: NDArray[Any],
    launches: int,
    settled: bool,
    still: bool,
) -> Outcome:
    """Check that no flow is lost at any pixel or edge and no capacity is exceeded, and that a flow
    that has settled is maximal.

    Parameters
    ----------
    excess, sink, residual
        int32, shapes ``(1, rows, columns)`` and, of ``residual``, ``(4, rows, columns)``.
    settled, still
        Whether no excess can reach the sink; whether the last launches changed nothing.
    """
    pushed = cut.sides - residual
    used = cut.sink - sink[0]
    flow = int(used.sum(dtype=np.int64))
    details = {"pixels": used.size, "launches": launches, "flow": flow, "settled": settled}
    stopped = Outcome(
        correct=settled or not still,
        mismatches=int(not settled and still),
        where="launches changed nothing although excess could still reach the sink",
        details=details,
    )
    least = min(int(values.min()) for values in (excess, sink, residual))
    kept = combine(
        compare("flow to the right", pushed[0, :, :-1], -pushed[1, :, 1:]),
        compare("flow down", pushed[2, :-1], -pushed[3, 1:]),
        compare("flow of pixel", excess[0] + used + pushed.sum(axis=0), cut.source),
        compare("smallest excess or capacity", [min(least, 0)], [0]),
        stopped,
    )
    if not settled:
        return kept
    return combine(kept, compare("flow", [flow], [cut.flow()]))


def cut_of(
    rng: Generator,
    image: str | None = file(f"{inputs.IMAGE_KINDS}; default: a bundled photograph"),
    rows: int = whole("rows, to which the image is resampled (assumed)", 2, 2048, 16, 150, 150),
    columns: int = whole("columns of pixels (assumed)", 2, 2048, 48, 200, 200),
    smoothness: int = whole("capacity between similar pixels", 0, 10000, 30),
) -> Cut:
    """The image resampled to the requested size, with a little noise that depends on the seed."""
    grey = inputs.resample(inputs.read_image(image, "photograph"), rows, columns)
    return Cut.of(grey + rng.normal(0, 0.05, (rows, columns)).astype(np.float32), smoothness)


@workload(
    id="cc",
    group="I",
    papers="T",
    check="no flow is lost at any pixel; a settled flow equals scipy's maximum flow",
    input=cut_of,
)
def segmentation(
    gpu: GpuLike,
    cut: Cut,
    rounds: int = whole("launches between tests for the end", 1, 10000, 10),
    iterations: int = whole("largest number of launches", 1, 1 << 20, 1 << 20, 20, 1 << 20),
) -> Outcome:
    """minimum cut of an image: push, pull and relabel in one kernel, atomics on neighbours

    Launches until no excess can reach the sink, until some change nothing, or as many as the parameter allows.
    """
    high, wide = cut.source.shape
    across, down = blocks_for(wide, WIDE), blocks_for(high, HIGH)
    columns, rows = across * WIDE, down * HIGH
    pixels = rows * columns

    def inner(values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape(-1, rows, columns)[:, :high, :wide]

    def padded(values: NDArray[np.int32]) -> NDArray[np.int32]:
        grown = np.zeros((*values.shape[:-2], rows, columns), np.int32)
        grown[..., : values.shape[-2], : values.shape[-1]] = values
        return grown.ravel()

    excess, sink = gpu.array(padded(cut.source)), gpu.array(padded(cut.sink))
    residual, mask = gpu.array(padded(cut.sides)), gpu.zeros(pixels, np.int32)
    height = gpu.zeros(2 * pixels, np.int32)
    flow = Flow(excess, sink, residual, mask, height, columns, rows)
    launches, before = 0, None
    while True:
        state = excess.numpy(), sink.numpy(), residual.numpy()
        reach = distances(state[2].reshape(SIDES, rows, columns), state[1].reshape(rows, -1))
        settled = not np.any((state[0] > 0) & (reach.ravel() <= pixels))
        # An unchanged state would repeat forever.
        still = before is not None and all(map(np.array_equal, before, state))
        if settled or still or launches >= iterations:
            break
        before = state
        height[:] = np.tile(reach.ravel(), 2)
        mask[:] = np.where(state[0] > 0, PUSHING, IDLE).astype(np.int32)
        for turn in range(min(rounds, iterations - launches)):
            now = turn % 2 * pixels
            gpu.launch(
                push_relabel,
                grid=(across, down),
                block=(WIDE, HIGH),
                args=(flow, now, pixels - now),
            )
            launches += 1
    final = [inner(values) for values in state]
    return check_flow(cut, final[0], final[1], final[2], launches, settled, still)
