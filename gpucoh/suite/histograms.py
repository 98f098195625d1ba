"""``histogram``: 256 bins, counted in bytes of the scratchpad.

Original: Histogram of AMD's APP SDK (OpenCL). As there: 128 threads a block; a thread counts its 128 values in 256
bytes of its own in a scratchpad of 32 KiB; then the block adds up the bytes of each bin and stores its 256 counts once,
without atomics, and the host adds up the blocks. Lanes load neighbouring words. QuickRelease states no size; paper
scale is the original's 1,024 x 1,024 words, 64 blocks, launched once for each of ``launches``, after which the host
reads all counts.

Difference: values beyond the last are not counted, so that any number may be.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite import inputs
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, combine, compare, file, whole
from gpucoh.suite.buffers import ReadOnlyI32
from gpucoh.suite.declaration import workload

BINS = 256
BLOCK = 128
VALUES = 128  # of a thread; a byte counts as many


@lang.kernel
def count_bytes(values: ReadOnlyI32, counts: lang.Buffer[lang.i32], count: lang.i32) -> None:
    """Count a block's values in bytes of each thread, and store the sums."""
    mine = lang.shared(lang.u8, BLOCK * BINS)
    thread = lang.thread_id()
    row = thread * BINS
    for bin in range(BINS):
        mine[row + bin] = 0
    first = lang.block_id() * BLOCK * VALUES + thread
    for i in range(VALUES):
        at = first + i * BLOCK
        if at < count:
            bin = values[at]
            mine[row + bin] = mine[row + bin] + 1
    lang.barrier()
    for bin in range(thread, BINS, BLOCK):
        total = 0
        for other in range(BLOCK):
            total += mine[other * BINS + bin]
        counts[lang.block_id() * BINS + bin] = total


@workload(id="histogram", group="N", papers="Q", check="the bins equal NumPy's")
def histogram(
    gpu: GpuLike,
    rng: Generator,
    image: str | None = file(
        f"image with the grey values: {inputs.IMAGE_KINDS}; default: matplotlib's photograph"
    ),
    count: int = whole("number of values", 1, 1 << 28, 1 << 14, 1 << 17, 1 << 20),
    launches: int = whole("launches on the same values", 1, 1000, 1, 2, 4),
) -> Outcome:
    """256-bin histogram in bytes of the scratchpad, on grey values of a photograph

    Grey values of the image, drawn at random until there are ``count``. Equal launches; after each the host
    adds up the counts of the blocks.
    """
    grey = (inputs.read_image(image, "photograph") * np.float32(255)).astype(np.int32).ravel()
    values = rng.choice(grey, count).astype(np.int32)
    blocks = blocks_for(count, BLOCK * VALUES)
    words, counts = gpu.array(values), gpu.zeros(blocks * BINS, np.int32)
    expected = np.bincount(values, minlength=BINS)
    checks = []
    for _ in range(launches):
        gpu.launch(
            count_bytes,
            grid=blocks,
            block=BLOCK,
            args=(words, counts, count),
        )
        found = counts.numpy().reshape(blocks, BINS).sum(axis=0)
        checks.append(compare("bin", found, expected, details={"values": count}))
    return combine(*checks)
