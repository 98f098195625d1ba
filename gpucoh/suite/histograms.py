"""``histogram``: 256 bins counted with atomics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite import inputs
from gpucoh.suite.base import (
    REGISTRY,
    GpuLike,
    Outcome,
    Parameter,
    Setting,
    blocks_for,
    compare,
)
from gpucoh.suite.buffers import ReadOnlyI32
from gpucoh.suite.declaration import workload

BINS = 256
BLOCK = 256


@lang.kernel
def count_globally(
    values: ReadOnlyI32,
    bins: lang.Buffer[lang.i32],
    count: lang.i32,
) -> None:
    """One atomic in memory per value."""
    for i in range(lang.global_id(), count, lang.grid_dim() * lang.block_dim()):
        lang.atomic_add(bins, values[i], 1, order="relaxed", scope="gpu")


@lang.kernel
def count_by_block(
    values: ReadOnlyI32,
    bins: lang.Buffer[lang.i32],
    count: lang.i32,
) -> None:
    """Each block counts in its scratchpad and adds its bins to those in memory."""
    mine = lang.shared(lang.i32, BINS)
    thread = lang.thread_id()
    for b in range(thread, BINS, BLOCK):
        mine[b] = 0
    lang.barrier()
    for i in range(lang.global_id(), count, lang.grid_dim() * lang.block_dim()):
        lang.atomic_add(mine, values[i], 1, order="relaxed", scope="cta")
    lang.barrier()
    for b in range(thread, BINS, BLOCK):
        lang.atomic_add(bins, b, mine[b], order="relaxed", scope="gpu")


@dataclass(frozen=True)
class Histogram:
    """``histogram`` on one input."""

    values: NDArray[np.int32]
    by_block: bool

    @classmethod
    def prepare(cls, setting: Setting) -> Histogram:
        """Grey values of the image, drawn at random until there are ``count``."""
        grey = (
            (inputs.read_image(setting.file("image"), "photograph") * np.float32(255))
            .astype(np.int32)
            .ravel()
        )
        values = setting.rng().choice(grey, setting.integer("count"))
        return cls(values.astype(np.int32), setting.flag("by_block"))

    def run(self, gpu: GpuLike) -> Outcome:
        """One launch, about four values per thread."""
        bins = gpu.zeros(BINS, np.int32)
        gpu.launch(
            count_by_block if self.by_block else count_globally,
            grid=blocks_for(self.values.size, 4 * BLOCK),
            block=BLOCK,
            args=(gpu.array(self.values), bins, self.values.size),
        )
        expected = np.bincount(self.values, minlength=BINS).astype(np.int32)
        return compare("bin", bins.numpy(), expected, details={"values": self.values.size})


REGISTRY.add(
    workload(
        Histogram,
        id="histogram",
        title="256-bin histogram with atomics, on grey values of a photograph",
        group="N",
        papers=("Q",),
        needs_coherence=False,
        check="the bins equal NumPy's",
        parameters=(
            Parameter(
                name="image",
                kind="file",
                defaults=None,
                text=f"image with the grey values: {inputs.IMAGE_KINDS}; default: matplotlib's photograph",
            ),
            Parameter(
                name="count",
                kind="int",
                minimum=1,
                maximum=1 << 28,
                defaults={"tiny": 1 << 14, "small": 1 << 17, "paper": 1 << 20},
                text="number of values",
            ),
            Parameter(
                name="by_block",
                kind="bool",
                defaults=False,
                text="count in scratchpads first; off: one atomic in memory per value",
            ),
        ),
    )
)
