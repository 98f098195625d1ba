"""``rg``: a separable Gaussian filter of an image, rows then columns, each through scratchpad
tiles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.ndimage
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite import inputs
from gpucoh.suite.base import REGISTRY, GpuLike, Outcome, Parameter, Setting, Workload, compare
from gpucoh.suite.buffers import ReadOnlyF32

MAX_RADIUS = 8
WIDE, HIGH = 32, 8


@lang.kernel
def filter_rows(
    source: ReadOnlyF32,
    weights: ReadOnlyF32,
    target: lang.Buffer[lang.f32],
    rows: lang.i32,
    columns: lang.i32,
    radius: lang.i32,
) -> None:
    """The filter along the rows; pixels beyond the border are the nearest ones."""
    tile = lang.shared(lang.f32, (HIGH, WIDE + 2 * MAX_RADIUS))
    taps = lang.shared(lang.f32, 2 * MAX_RADIUS + 1)
    x = lang.thread_id(0)
    y = lang.thread_id(1)
    if y == 0 and x < 2 * radius + 1:
        taps[x] = weights[x]
    left = lang.block_id(0) * WIDE
    row = lang.block_id(1) * HIGH + y
    if row < rows:
        for i in range(x, WIDE + 2 * radius, WIDE):
            column = lang.min(lang.max(left + i - radius, 0), columns - 1)
            tile[y, i] = source[row * columns + column]
    lang.barrier()
    if row < rows and left + x < columns:
        total = lang.f32(0.0)
        for tap in range(2 * radius + 1):
            total = total + taps[tap] * tile[y, x + tap]
        target[row * columns + left + x] = total


@lang.kernel
def filter_columns(
    source: lang.Buffer[lang.f32],
    weights: ReadOnlyF32,
    target: lang.Buffer[lang.f32],
    rows: lang.i32,
    columns: lang.i32,
    radius: lang.i32,
) -> None:
    """The filter along the columns."""
    tile = lang.shared(lang.f32, (HIGH + 2 * MAX_RADIUS, WIDE))
    taps = lang.shared(lang.f32, 2 * MAX_RADIUS + 1)
    x = lang.thread_id(0)
    y = lang.thread_id(1)
    if y == 0 and x < 2 * radius + 1:
        taps[x] = weights[x]
    column = lang.block_id(0) * WIDE + x
    top = lang.block_id(1) * HIGH
    if column < columns:
        for i in range(y, HIGH + 2 * radius, HIGH):
            row = lang.min(lang.max(top + i - radius, 0), rows - 1)
            tile[i, x] = source[row * columns + column]
    lang.barrier()
    if column < columns and top + y < rows:
        total = lang.f32(0.0)
        for tap in range(2 * radius + 1):
            total = total + taps[tap] * tile[y + tap, x]
        target[(top + y) * columns + column] = total


def gaussian_weights(radius: int) -> NDArray[np.float32]:
    """Taps of a Gaussian of standard deviation ``radius / 2``, sum 1; float32, shape ``(2 * radius
    + 1,)``.
    """
    offsets = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (offsets / max(radius / 2, 1e-9)) ** 2)
    return np.asarray(weights / weights.sum(), np.float32)


@dataclass(frozen=True)
class GaussianFilter:
    """``rg`` on one input."""

    image: NDArray[np.float32]
    weights: NDArray[np.float32]
    passes: int

    @classmethod
    def prepare(cls, setting: Setting) -> GaussianFilter:
        """The image resampled to the requested size, values 0 to 255; a little noise makes every seed
        different.
        """
        rows, columns = setting.integer("rows"), setting.integer("columns")
        image = inputs.resample(
            inputs.read_image(setting.file("image"), "photograph"), rows, columns
        )
        noise = setting.rng().random((rows, columns), dtype=np.float32)
        return cls(
            np.float32(250.0) * image + np.float32(5.0) * noise,
            gaussian_weights(setting.integer("radius")),
            setting.integer("passes"),
        )

    def run(self, gpu: GpuLike) -> Outcome:
        """Two launches per pass: each pass overwrites what the previous one read."""
        rows, columns = self.image.shape
        radius = self.weights.size // 2
        source = gpu.array(self.image.ravel())
        weights = gpu.array(self.weights)
        between = gpu.zeros(rows * columns, np.float32)
        target = gpu.zeros(rows * columns, np.float32)
        grid = (-(-columns // WIDE), -(-rows // HIGH))
        for _ in range(self.passes):
            gpu.launch(
                filter_rows,
                grid=grid,
                block=(WIDE, HIGH),
                args=(source, weights, between, rows, columns, radius),
            )
            gpu.launch(
                filter_columns,
                grid=grid,
                block=(WIDE, HIGH),
                args=(between, weights, target, rows, columns, radius),
            )
        expected = self.image.astype(np.float64)
        for axis in (1, 0):
            expected = scipy.ndimage.correlate1d(
                expected, self.weights.astype(np.float64), axis=axis, mode="nearest"
            )
        result = target.numpy().reshape(rows, columns)
        return compare(
            "pixel", result, expected, tolerance=1e-5, details={"pixels": rows * columns}
        )


REGISTRY.add(
    Workload(
        id="rg",
        title="separable Gaussian filter of an image, scratchpad tiles with halos",
        group="A",
        papers=("T",),
        needs_coherence=False,
        check="scipy.ndimage in f64, within 1e-5",
        parameters=(
            Parameter(
                name="image",
                kind="file",
                defaults=None,
                text=f"{inputs.IMAGE_KINDS}; default: matplotlib's photograph",
            ),
            Parameter(
                name="rows",
                kind="int",
                minimum=1,
                maximum=16384,
                defaults={"tiny": 64, "small": 384, "paper": 512},
                text="rows, to which the image is resampled",
            ),
            Parameter(
                name="columns",
                kind="int",
                minimum=1,
                maximum=16384,
                defaults={"tiny": 64, "small": 384, "paper": 512},
                text="columns",
            ),
            Parameter(
                name="radius",
                kind="int",
                minimum=1,
                maximum=MAX_RADIUS,
                defaults={"tiny": 3, "small": 5, "paper": 8},
                text="radius of the filter in pixels",
            ),
            Parameter(
                name="passes",
                kind="int",
                minimum=1,
                maximum=1000,
                defaults={"tiny": 1, "small": 2, "paper": 2},
                text="repetitions of the filter, as in the sample's timing loop",
            ),
        ),
        factory=GaussianFilter.prepare,
    )
)
