"""Kernels whose loads all miss the L1, for the other benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpucoh

WORDS = 32  # of a line of fermi, and lanes of a warp

#: Name -> warps of a core, passes over its lines with 16 cores, lines of a warp, and lines between two loads of a
#: thread beyond those of the other warps. ``misses``: lines of the L2, more than the L1 holds, spread over its sets.
#: ``conflicts``: lines of the L2 whose loads share a set of the L1. ``flood``: the same with as many requests as the
#: cores allow, more than the response network carries. ``memory``: lines from memory.
STREAMS: dict[str, dict[str, int]] = {
    "misses": {"warps": 4, "passes": 60, "lines": 112, "padding": 1},
    "conflicts": {"warps": 4, "passes": 400, "lines": 16, "padding": 0},
    "flood": {"warps": 24, "passes": 10, "lines": 16, "padding": 0},
    "memory": {"warps": 24, "passes": 1, "lines": 128, "padding": 0},
}


def streaming_kernel(stride: int) -> gpucoh.Kernel:
    """A thread's loads per pass, ``stride`` words apart, 16 of them outstanding."""
    s = stride

    @gpucoh.kernel
    def stream(data: gpucoh.Buffer[gpucoh.u32], passes: gpucoh.i32, lines: gpucoh.i32):
        i = gpucoh.global_id()
        total = gpucoh.u32(0)
        for _ in range(passes):
            k = i
            for _ in range(0, lines, 16):
                total += data[k] + data[k + s] + data[k + 2 * s] + data[k + 3 * s]
                total += data[k + 4 * s] + data[k + 5 * s] + data[k + 6 * s] + data[k + 7 * s]
                total += data[k + 8 * s] + data[k + 9 * s] + data[k + 10 * s] + data[k + 11 * s]
                total += data[k + 12 * s] + data[k + 13 * s] + data[k + 14 * s] + data[k + 15 * s]
                k += 16 * s
        if total == 1:
            data[i] = total

    return stream


def run_stream(gpu: gpucoh.GPU, cores: int, stream: dict[str, int], passes: int = 0) -> None:
    """Launch a stream once; its answer is not checked, since only its loads matter."""
    warps, lines, padding = (stream[name] for name in ("warps", "lines", "padding"))
    threads = cores * warps * WORDS
    stride = threads + padding * WORDS
    data = gpu.zeros(stride * lines, np.uint32)
    blocks = cores * (4 if warps % 4 == 0 else 1)
    arguments: Any = (data, passes or max(1, stream["passes"] * 16 // cores), lines)
    gpu.launch(streaming_kernel(stride), grid=blocks, block=threads // blocks, args=arguments)
