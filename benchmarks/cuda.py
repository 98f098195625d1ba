"""Warp instructions a second of CUDA kernels, and of the same kernels in the kernel language.

The PTX is that of the tests (``tests/unit/cuda/kernels``). Minima of several launches on ``fermi``; compare ratios.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import gpucoh
from gpucoh import Buffer, f32, i32, u8, u32

PTX = Path(__file__).parents[1] / "tests/unit/cuda/kernels/arithmetic.ptx"
ROUNDS = 5
UNROLLED = tuple(range(16))  # a constant tuple is unrolled, as the CUDA compiler does


@gpucoh.kernel
def vector_add(a: Buffer[f32], b: Buffer[f32], c: Buffer[f32], n: i32):
    """``c = a + b``."""
    i = gpucoh.global_id()
    if i < n:
        c[i] = a[i] + b[i]


@gpucoh.kernel
def matmul(a: Buffer[f32], b: Buffer[f32], c: Buffer[f32], n: i32):
    """Tiles of 16 by 16 in shared memory."""
    left = gpucoh.shared(f32, 272)
    right = gpucoh.shared(f32, 272)
    x, y = gpucoh.thread_id(0), gpucoh.thread_id(1)
    row, column = gpucoh.block_id(1) * 16 + y, gpucoh.block_id(0) * 16 + x
    total = f32(0)
    for tile in range(0, n, 16):
        left[y * 17 + x] = a[row * n + tile + x]
        right[y * 17 + x] = b[(tile + y) * n + column]
        gpucoh.barrier()
        for k in UNROLLED:
            total = gpucoh.fma(left[y * 17 + k], right[k * 17 + x], total)
        gpucoh.barrier()
    c[row * n + column] = total


@gpucoh.kernel
def reduce(values: Buffer[i32], out: Buffer[i32], n: i32):
    """Block sums by a tree in shared memory, joined by an atomic."""
    part = gpucoh.shared(i32, 256)
    t = gpucoh.thread_id()
    total = 0
    for i in range(gpucoh.global_id(), n, gpucoh.grid_dim() * gpucoh.block_dim()):
        total += values[i]
    part[t] = total
    gpucoh.barrier()
    half = gpucoh.block_dim() // 2
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        gpucoh.barrier()
        half //= 2
    if t == 0:
        gpucoh.atomic_add(out, 0, part[0])


@gpucoh.kernel
def histogram(values: Buffer[u8], bins: Buffer[u32], n: i32):
    """Bins in shared memory, joined by atomics."""
    own = gpucoh.shared(u32, 256)
    step = gpucoh.block_dim()
    for k in range(gpucoh.thread_id(), 256, step):
        own[k] = 0
    gpucoh.barrier()
    for i in range(gpucoh.global_id(), n, gpucoh.grid_dim() * step):
        gpucoh.atomic_add(own, values[i], u32(1))
    gpucoh.barrier()
    for k in range(gpucoh.thread_id(), 256, step):
        gpucoh.atomic_add(bins, k, own[k])


def arguments(gpu: gpucoh.GPU, name: str) -> tuple[Any, Any, tuple[Any, ...]]:
    """Grid, block and arguments of a launch."""
    generator = np.random.default_rng(0)
    if name == "vector_add":
        a, b = (gpu.array(generator.random(200_000, np.float32)) for _ in range(2))
        return 782, 256, (a, b, gpu.zeros(200_000), 200_000)
    if name == "matmul":
        a, b = (gpu.array(generator.random((128, 128), np.float32)) for _ in range(2))
        return (8, 8), (16, 16), (a.view(np.float32), b.view(np.float32), gpu.zeros(128 * 128), 128)
    if name == "reduce":
        return (
            32,
            256,
            (
                gpu.array(generator.integers(0, 9, 200_000, np.int32)),
                gpu.zeros(1, np.int32),
                200_000,
            ),
        )
    return (
        32,
        256,
        (
            gpu.array(generator.integers(0, 256, 50_000, np.uint8)),
            gpu.zeros(256, np.uint32),
            50_000,
        ),
    )


def rate(kernel: Any, name: str, protocol: str) -> tuple[int, float]:
    """Warp instructions of a launch, and millions of them a second."""
    with gpucoh.GPU(machine="fermi", protocol=protocol) as gpu:
        grid, block, given = arguments(gpu, name)
        best, instructions = float("inf"), 0
        for _ in range(ROUNDS):
            before, begin = gpu.stats()["instructions"], time.process_time()
            gpu.launch(kernel, grid=grid, block=block, args=given)
            best = min(best, time.process_time() - begin)
            instructions = gpu.stats()["instructions"] - before
        return instructions, instructions / best / 1e6


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-p", "--protocol", default="tc-weak")
    protocol = parser.parse_args().protocol
    module = gpucoh.cuda.Module(PTX)
    kernels: tuple[Callable[..., Any], ...] = (vector_add, matmul, reduce, histogram)
    print("| kernel | language | million a second | PTX | million a second | ratio |")
    print("|---|---|---|---|---|---|")
    for kernel in kernels:
        name = kernel.name  # type: ignore[attr-defined]
        own, of_ptx = rate(kernel, name, protocol), rate(module[name], name, protocol)
        print(
            f"| `{name}` | {own[0]:,} | {own[1]:.2f} | {of_ptx[0]:,} | {of_ptx[1]:.2f} | {of_ptx[1] / own[1]:.2f} |"
        )


if __name__ == "__main__":
    main()
