"""Kernels of correlation.toml beside the streams: how each is compiled, launched, and its rate measured.

A kernel's source is unmodified. Its template is instantiated with what the original's ``main`` gives, but for the
number of its repetitions: a rate is that of the repetitions between two launches, so that its start does not count.
The originals have many more of them. correlation.py runs this and writes the page.
"""

from __future__ import annotations

import csv
import functools
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gpucoh.cuda import Module, RawKernel
from gpucoh.device.gpu import GPU
from gpucoh.machines import Machine, machine

#: Of NVIDIA's management library, by which the originals read clocks: declared, and never called.
NVML = """#pragma once
typedef void *nvmlDevice_t;
enum { NVML_CLOCK_SM, NVML_CLOCK_GRAPHICS, NVML_TEMPERATURE_GPU };
template <class... T> int nvmlInit(T...);
template <class... T> int nvmlDeviceGetHandleByIndex(T...);
template <class... T> int nvmlDeviceGetClockInfo(T...);
template <class... T> int nvmlDeviceGetPowerUsage(T...);
template <class... T> int nvmlDeviceGetTemperature(T...);
"""
MANGLED = {"float": "f", "double": "d"}
TYPES = {"float": np.float32, "double": np.float64}
Rate = Callable[[Path, str, Machine, str, Any], float]


@functools.lru_cache(maxsize=8)
def compiled(program: Path, instance: str) -> RawKernel:
    """An instance of a kernel's template, ``void name<..>(..)``."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "nvml.h").write_text(NVML, encoding="utf-8")
        text = (
            f'#define main original_main\n#include "{program}"\ntemplate __global__ {instance};\n'
        )
        module = Module(text, ["-std=c++20", "-DPARN=0", f"-I{folder}"])
    name, given = re.match(r"void (\w+)<(.*?)>", instance).groups()  # type: ignore[union-attr]
    mangled = "".join(MANGLED.get(one, f"Li{one}E") for one in given.split(", "))
    (found,) = (one for one in module.kernels if f"{len(name)}{name}I{mangled}E" in one)
    return module[found]


def between(gpu: GPU, launches: Sequence[tuple[RawKernel, int]], block: Any, args: Any) -> int:
    """Core cycles by which the last of three launches, kernel and grid, takes longer than the one before it. The first
    one fills the caches."""
    ends = [gpu.stats().cycles]
    for kernel, grid in launches:
        gpu.launch(kernel, grid=grid, block=block, args=args)
        ends.append(gpu.stats().cycles)
    return int(ends[3] - 2 * ends[2] + ends[1])


def of_cache(program: Path, kernel: str, built: Machine, protocol: str, kib: int) -> float:
    """``gpu-cache``: every core reads the same ``kib`` by one block of 512 threads. Bytes a cycle, of all cores."""
    words = 128 * kib  # of each half
    text = f"void sumKernel<{words}, {{}}, 512>(float *, const float *, int)"
    few, many = (compiled(program, text.format(n)) for n in (2, 4))
    with GPU(built, protocol) as gpu:
        args = (*(gpu.zeros(2 * words, np.float32) for _ in range(2)), 0)
        launches = [(one, built.cores) for one in (few, few, many)]
        return built.cores * 2 * 1024 * kib / between(gpu, launches, 512, args)


def of_l2(program: Path, kernel: str, built: Machine, protocol: str, kib: int) -> float:
    """``gpu-l2-cache``: blocks of 1,024 threads read 512 KiB each, of ``kib`` in turn. Bytes a cycle, of all cores."""
    run, turn = kib // 512, built.cores * (built.warps_per_core // 32)
    of = compiled(program, "void sumKernel<64, 1024>(double *, const double *, int)")
    with GPU(built, protocol) as gpu:
        args = (gpu.zeros(1024, np.float64), gpu.zeros(65536 * run, np.float64), run)
        launches = [(of, blocks) for blocks in (run, turn, 3 * turn)]
        return 524288 * 2 * turn / between(gpu, launches, 1024, args)


def of_strides(program: Path, kernel: str, built: Machine, protocol: str, step: int) -> float:
    """``gpu-strides``: a block of 1,024 threads loads words ``step`` apart, or as ``step`` by 1024 / ``step``. Bytes a
    cycle of one core."""
    name, dtype = kernel.split()
    arg, block = (step, 1024) if name == "strideKernel" else (4098, (step, 1024 // step))
    text = f"void {name}<{dtype}, {{}}>({dtype} *, {dtype} *, int, int)"
    few, many = (compiled(program, text.format(n)) for n in (128, 384))
    with GPU(built, protocol) as gpu:
        args = (*(gpu.zeros(1 << 18, TYPES[dtype]) for _ in range(2)), 0, arg)
        launches = [(one, 1) for one in (few, few, many)]
        moved = 1024 * 256 * np.dtype(TYPES[dtype]).itemsize
        return moved / between(gpu, launches, block, args)


def of_roofline(program: Path, kernel: str, built: Machine, protocol: str, steps: int) -> float:
    """``gpu-roofline``: ``steps`` multiplications and additions of each word. Bytes a cycle, of all cores."""
    grid, (few, many) = built.cores * (built.warps_per_core // 8), (32, 96)
    text = f"void testfun<float, {steps}, {{}}, 256>(float *const, float *const, float *)"
    of = [(compiled(program, text.format(n)), grid) for n in (few, few, many)]
    with GPU(built, protocol) as gpu:
        args = tuple(gpu.zeros(grid * 256 * many, np.float32) for _ in range(3))
        return 2 * 4 * grid * 256 * (many - few) / between(gpu, of, 256, args)


#: Name of a set in correlation.toml -> how its rates are measured.
SETS: dict[str, Rate] = {
    "cache": of_cache,
    "l2": of_l2,
    "strides": of_strides,
    "roofline": of_roofline,
}
PUBLISHED = tomllib.loads(Path(__file__).with_name("correlation.toml").read_text(encoding="utf-8"))[
    "set"
]
STORE = Path(__file__).resolve().parent.parent / "benchmarks" / "correlation-kernels.csv"
#: Stores are few in these kernels, so that one store buffer is enough.
PROTOCOL = "gpu-hrf[sb_entry=line]"
HEAD = ("set", "gpu", "kernel", "case", "rate")


@dataclass(frozen=True)
class Row:
    """A rate that is published, in the unit of its set."""

    set: str
    gpu: str
    kernel: str
    case: int
    published: float


def published() -> Iterator[Row]:
    """All rates of the sets."""
    for name, found in PUBLISHED.items():
        for gpu, of in found["gpu"].items():
            for kernel, rows in of.items():
                if kernel != "file":
                    yield from (Row(name, gpu, kernel, case, float(rate)) for case, rate in rows)


def stored() -> dict[tuple[str, ...], float]:
    """The rates of the store."""
    if not STORE.is_file():
        return {}
    with STORE.open(newline="", encoding="utf-8") as file:
        return {tuple(line[:4]): float(line[4]) for line in list(csv.reader(file))[1:]}


def key(row: Row) -> tuple[str, ...]:
    """Of the store."""
    return row.set, row.gpu, row.kernel, str(row.case)


def run(folder: Path) -> None:
    """Measure what the store lacks."""
    found = stored()
    for row in published():
        if key(row) in found:
            continue
        built = machine(row.gpu)
        rate = SETS[row.set](
            folder / PUBLISHED[row.set]["program"], row.kernel, built, PROTOCOL, row.case
        )
        if PUBLISHED[row.set]["unit"] == "GB/s":
            rate *= built.core_mhz / 1e3
        found[key(row)] = rate
        print(*key(row), f"{rate:.1f}", f"{rate / row.published:.3f}", flush=True)
        with STORE.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([HEAD, *([*one, f"{at:.1f}"] for one, at in found.items())])
