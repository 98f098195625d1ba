"""Kernels that stream over arrays with one warp a core: what the start of a block costs.

They are those of gpu-benches' ``gpu-stream``: a thread a double, and a block ends after it. With one block of 32
threads a core nothing overlaps, so that the cycles of a block are those of its accesses and of its start. Each kernel
runs on a GPU of its own, on arrays that no cache holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gpucoh import lang
from gpucoh.device.gpu import GPU
from gpucoh.hardware.published import Gpu
from gpucoh.machines import Machine, machine

THREADS, BLOCKS_A_CORE = 32, 32


@lang.kernel
def init(a: lang.Buffer[lang.f64], count: lang.i32) -> None:
    """Store a constant."""
    i = lang.global_id()
    if i < count:
        a[i] = lang.f64(0.23)


@lang.kernel
def read(a: lang.Buffer[lang.f64], b: lang.Buffer[lang.f64], count: lang.i32) -> None:
    """Load a word, and store it if it has a value that none has."""
    i = lang.global_id()
    if i < count:
        value = b[i]
        if value == lang.f64(123.0):
            a[i] = value


@lang.kernel
def scale(a: lang.Buffer[lang.f64], b: lang.Buffer[lang.f64], count: lang.i32) -> None:
    """Store a product."""
    i = lang.global_id()
    if i < count:
        a[i] = b[i] * lang.f64(1.2)


@lang.kernel
def triad(
    a: lang.Buffer[lang.f64],
    b: lang.Buffer[lang.f64],
    c: lang.Buffer[lang.f64],
    d: lang.Buffer[lang.f64],
    count: lang.i32,
) -> None:
    """Store a product and sum of three words."""
    i = lang.global_id()
    if i < count:
        a[i] = b[i] * d[i] + c[i]


#: Kernel -> its function, and its arrays; each moves a double of each array a thread.
KERNELS: dict[str, tuple[Any, int]] = {
    "init": (init, 1),
    "read": (read, 2),
    "scale": (scale, 2),
    "triad": (triad, 4),
}


def cycles_a_block(kernel: str, built: Machine, protocol: str, seed: int = 0) -> float:
    """Core cycles of a block of 32 threads, of which each core has one at a time."""
    run, arrays = KERNELS[kernel]
    blocks = built.cores * BLOCKS_A_CORE
    with GPU(built.replace(blocks_per_core=1), protocol, seed=seed) as gpu:
        buffers = [gpu.zeros(blocks * THREADS, np.float64) for _ in range(arrays)]
        gpu.launch(run, grid=blocks, block=THREADS, args=(*buffers, blocks * THREADS))
        return float(gpu.stats().cycles) / BLOCKS_A_CORE


@dataclass(frozen=True)
class BlockRow:
    """Core cycles of a block of a kernel: published, and on the preset without and with the start of a block."""

    gpu: str
    kernel: str
    use: str
    published: float
    without: float
    measured: float
    source: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            name: round(value, 1) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }


def block_rows(gpus: Sequence[Gpu], protocol: str, seed: int = 0) -> list[BlockRow]:
    """Measure the streams of the GPUs that have published ones, on their presets."""
    out = []
    for gpu in gpus:
        if gpu.stream is None:
            continue
        preset = machine(gpu.id)
        bare = preset.replace(block_start_cycles=0)
        for kernel, published in gpu.stream.cycles.items():
            without = cycles_a_block(kernel, bare, protocol, seed)
            ours = without if preset == bare else cycles_a_block(kernel, preset, protocol, seed)
            use, source = gpu.stream.use, gpu.stream.source
            out.append(BlockRow(gpu.id, kernel, use, published, without, ours, source))
    return out


def fitted(rows: Sequence[BlockRow]) -> float:
    """The start of a block by the rows that are fitted: the mean of published less measured without it."""
    return float(np.mean([row.published - row.without for row in rows if row.use == "fit"]))
