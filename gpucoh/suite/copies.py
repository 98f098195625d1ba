"""``vec-cpy``: a vector copy, one word per thread."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, compare, whole
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


@workload(id="vec-cpy", group="N", papers="S", check="the copy equals the source")
def copy(
    gpu: GpuLike,
    rng: Generator,
    words: int = whole("number of words", 1, 1 << 28, 1 << 14, 1 << 19, 1 << 22),
    placement_seed: int = PLACEMENT_SEED,
) -> Outcome:
    """vector copy, one word per thread

    Random words. One launch.
    """
    data = rng.integers(-(2**31), 2**31, words, dtype=np.int32)

    zeros = data.size, np.int32
    source, target = place(gpu, placement_seed, data, zeros)
    gpu.launch(
        copy_words,
        grid=blocks_for(data.size, BLOCK),
        block=BLOCK,
        args=(source, target, data.size),
    )
    return compare("target", target.numpy(), data, details={"words": data.size})
