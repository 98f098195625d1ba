"""``vec-cpy``: a vector copy, one word per thread."""

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
from gpucoh.suite.buffers import PLACEMENT_SEED, ReadOnlyI32, place
from gpucoh.suite.declaration import workload

BLOCK = 256


@lang.kernel
def copy_words(
    source: ReadOnlyI32,
    target: lang.Buffer[lang.i32],
    words: lang.i32,
) -> None:
    """``target[i] = source[i]``."""
    i = lang.global_id()
    if i < words:
        target[i] = source[i]


@dataclass(frozen=True)
class Copy:
    """``vec-cpy`` on one input."""

    data: NDArray[np.int32]
    placement_seed: int

    @classmethod
    def prepare(cls, setting: Setting) -> Copy:
        """Random words."""
        words = setting.integer("words")
        data = setting.rng().integers(-(2**31), 2**31, words, dtype=np.int32)
        return cls(data, setting.integer("placement_seed"))

    def run(self, gpu: GpuLike) -> Outcome:
        """One launch."""
        zeros = self.data.size, np.int32
        source, target = place(gpu, self.placement_seed, self.data, zeros)
        gpu.launch(
            copy_words,
            grid=blocks_for(self.data.size, BLOCK),
            block=BLOCK,
            args=(source, target, self.data.size),
        )
        return compare("target", target.numpy(), self.data, details={"words": self.data.size})


REGISTRY.add(
    workload(
        Copy,
        id="vec-cpy",
        title="vector copy, one word per thread",
        group="N",
        papers=("S",),
        needs_coherence=False,
        check="the copy equals the source",
        parameters=(
            Parameter(
                name="words",
                kind="int",
                minimum=1,
                maximum=1 << 28,
                defaults={"tiny": 1 << 14, "small": 1 << 19, "paper": 1 << 22},
                text="number of words",
            ),
            PLACEMENT_SEED,
        ),
    )
)
