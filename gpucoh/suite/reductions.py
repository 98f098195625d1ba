"""``reduction``: the sum of many words, in one launch.

Original: Reduction of AMD's APP SDK (OpenCL). As there: 256 threads a block; a thread loads two neighbouring pieces of
16 bytes and adds them; the block sums four columns as a tree in the scratchpad and stores 16 bytes, which the host adds
up. No launch reads what another has written. QuickRelease states no sizes; figure 10 has several.

Difference: the array is padded with zeros to whole blocks.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, compare, whole
from gpucoh.suite.buffers import ReadOnlyI32
from gpucoh.suite.declaration import workload

BLOCK = 256
WIDE = 4  # words of an access
WORDS = 2 * WIDE * BLOCK  # of a block


@lang.kernel
def sum_blocks(source: ReadOnlyI32, partial: lang.Buffer[lang.i32]) -> None:
    """Each block sums its words into four, as a tree in the scratchpad."""
    sums = lang.shared(lang.i32, (BLOCK, WIDE))
    thread = lang.thread_id()
    at = 2 * WIDE * lang.global_id()
    a, b, c, d = lang.load4(source, at)
    e, f, g, h = lang.load4(source, at + WIDE)
    sums[thread, 0] = a + e
    sums[thread, 1] = b + f
    sums[thread, 2] = c + g
    sums[thread, 3] = d + h
    lang.barrier()
    width = BLOCK // 2
    while width > 0:
        if thread < width:
            for word in (0, 1, 2, 3):
                sums[thread, word] = sums[thread, word] + sums[thread + width, word]
        lang.barrier()
        width = width >> 1
    if thread == 0:
        at = WIDE * lang.block_id()
        lang.store4(partial, at, sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3])


@workload(id="reduction", group="N", papers="Q", check="the sum equals NumPy's, with wrap-around")
def reduction(
    gpu: GpuLike,
    rng: Generator,
    words: int = whole("number of words", 1, 1 << 28, 1 << 14, 1 << 19, 1 << 22),
) -> Outcome:
    """sum of words: 16-byte loads, a tree in the scratchpad, blocks added up by the host

    Random words of the whole range, so that the sum wraps. One launch; the host adds up the words of the
    blocks.
    """
    data = rng.integers(-(2**31), 2**31, words, dtype=np.int32)
    blocks = blocks_for(words, WORDS)
    partial = gpu.zeros(blocks * WIDE, np.int32)
    gpu.launch(
        sum_blocks,
        grid=blocks,
        block=BLOCK,
        args=(gpu.array(np.pad(data, (0, blocks * WORDS - words))), partial),
    )
    found, expected = (
        np.array([array.sum(dtype=np.int64)]).astype(np.int32) for array in (partial.numpy(), data)
    )
    return compare("sum", found, expected, details={"words": words, "blocks": blocks})
