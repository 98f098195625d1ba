"""``reduction``: a tree sum, one launch for each level of blocks."""

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
    blocks_for,
    compare,
)
from gpucoh.suite.declaration import workload

BLOCK = 256


@lang.kernel
def sum_blocks(
    source: lang.Buffer[lang.i32],
    partial: lang.Buffer[lang.i32],
    words: lang.i32,
) -> None:
    """Each block sums ``2 * BLOCK`` words into one of ``partial``, as a tree in the scratchpad."""
    sums = lang.shared(lang.i32, BLOCK)
    thread = lang.thread_id()
    i = lang.block_id() * (2 * BLOCK) + thread
    value = 0
    if i < words:
        value = source[i]
    if i + BLOCK < words:
        value += source[i + BLOCK]
    sums[thread] = value
    lang.barrier()
    width = BLOCK // 2
    while width > 0:
        if thread < width:
            sums[thread] = sums[thread] + sums[thread + width]
        lang.barrier()
        width = width >> 1
    if thread == 0:
        partial[lang.block_id()] = sums[0]


@dataclass(frozen=True)
class Reduction:
    """``reduction`` on one input."""

    data: NDArray[np.int32]

    @classmethod
    def prepare(cls, setting: Setting) -> Reduction:
        """Random words of the whole range, so that the sum wraps."""
        words = setting.integer("words")
        return cls(setting.rng().integers(-(2**31), 2**31, words, dtype=np.int32))

    def run(self, gpu: GpuLike) -> Outcome:
        """Launches until one word is left."""
        source = gpu.array(self.data)
        words = self.data.size
        launches = 0
        while words > 1 or launches == 0:
            blocks = blocks_for(words, 2 * BLOCK)
            partial = gpu.zeros(blocks, np.int32)
            gpu.launch(sum_blocks, grid=blocks, block=BLOCK, args=(source, partial, words))
            source, words = partial, blocks
            launches += 1
        expected = np.array([self.data.sum(dtype=np.int64)]).astype(np.int32)
        return compare(
            "sum", source.numpy(), expected, details={"words": self.data.size, "launches": launches}
        )


REGISTRY.add(
    workload(
        Reduction,
        id="reduction",
        title="tree reduction: sum of words in the scratchpad, one launch per level of blocks",
        group="N",
        papers=("Q",),
        needs_coherence=False,
        check="the sum equals NumPy's, with wrap-around",
        parameters=(
            Parameter(
                name="words",
                kind="int",
                minimum=1,
                maximum=1 << 28,
                defaults={"tiny": 1 << 14, "small": 1 << 19, "paper": 1 << 22},
                text="number of words",
            ),
        ),
    )
)
