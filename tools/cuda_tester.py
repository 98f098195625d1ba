"""Draw CUDA kernels, and compare what the simulator computes with the same source compiled for the host.

Kernels have integers of 8 to 128 bits, floats, structures by value and reference, local and shared arrays, constant
tables, divergent branches and loops, early returns, shuffles, votes, barriers and atomics, and no undefined behaviour
(``cuda_tester.h``). The CUDA compiler optimises them at one of five levels, for one of four targets; the host's C++
compiler makes the reference. A kernel that differs is made smaller, statement by statement, and written to
``build/cuda-failures``::

    python tools/cuda_tester.py --kernels 2000 --seed 1
"""

from __future__ import annotations

import argparse
import ctypes
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from cuda_drawing import COMMON, RESULTS, Drawing, Kernel

import gpucoh
from gpucoh.cuda import compiler

HEADER = Path(__file__).with_suffix(".h")
LEVELS = ("-Xcicc -O0", "-Xcicc -O1", "-Xcicc -O2", "-Xcicc -O3", "-G")
TARGETS = (75, 80, 90, 100)
PROTOCOLS = ("mesi", "tc-weak", "gpu-vi", "rcc-wo", "denovo-drf", "no-l1")
DEVICE_FLAGS = ("-std=c++17", "-w", "-lineinfo", "--fmad=false", "-ptx")
HOST_FLAGS = (
    "-x", "c++", "-std=c++17", "-w", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-shared", "-fPIC",
)  # fmt: skip
FAILURES = Path("build/cuda-failures")


@dataclass(frozen=True)
class Setting:
    """How a file of kernels is compiled and simulated."""

    level: str
    target: int
    protocol: str

    def __str__(self) -> str:
        return f"{self.level}, sm_{self.target}, {self.protocol}"


def inputs(seed: str) -> tuple[bytes, np.ndarray]:
    """64 blocks of 16 bytes, and 64 numbers."""
    draw = random.Random(seed)
    sizes = [draw.choice([3, 8, 31, 64, 128]) for _ in range(64)]
    blocks = [draw.getrandbits(size).to_bytes(16, "little") for size in sizes]
    numbers = [0.0, -0.0, 1e300, 3e-39, 1e-310, *(draw.uniform(-4, 4) for _ in range(30))]
    numbers += [draw.uniform(-1e6, 1e6) for _ in range(20)]
    numbers += [float(draw.getrandbits(40)) for _ in range(9)]
    return b"".join(blocks), np.array(numbers)


class File:
    """Kernels in a file, compiled by both compilers."""

    def __init__(self, kernels: Sequence[Kernel], setting: Setting, folder: Path) -> None:
        self.kernels, self.setting = kernels, setting
        source, library, ptx = (folder / name for name in ("kernels.cu", "host.so", "kernels.ptx"))
        texts = [
            f'#include "{HEADER}"',
            *(kernel.text() for kernel in kernels),
            "#ifndef __CUDACC__",
        ]
        texts += [*(kernel.reference() for kernel in kernels), "#endif\n"]
        source.write_text("\n".join(texts))
        host = compiler.host_compiler()
        device = [str(compiler.toolkit().nvcc), *compiler.for_host(host), *setting.level.split()]
        device += [f"-arch=sm_{setting.target}", *DEVICE_FLAGS, str(source), "-o", str(ptx)]
        compiler.run(device, str(source))
        compiler.run([*host, *HOST_FLAGS, str(source), "-o", str(library)], str(source))
        self.reference = ctypes.CDLL(str(library))
        self.module = gpucoh.cuda.Module(ptx.read_text())

    def difference(self, kernel: Kernel, seed: str) -> str:
        """What differs of a kernel; empty: nothing."""
        data, real = inputs(f"{seed} {kernel.name}")
        size = self.reference[f"size_{kernel.name}"]()
        given = random.Random(seed).randbytes(size)[: size // 2].ljust(size, b"\0")
        lengths = 16 * RESULTS * kernel.threads, 8 * len(COMMON) + 16 * kernel.threads
        wanted = [np.zeros(length, np.uint8) for length in lengths]
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in wanted]
        run = self.reference[f"run_{kernel.name}"]
        run(data, ctypes.c_void_p(real.ctypes.data), *pointers, given)
        protocol = self.setting.protocol
        try:
            with gpucoh.GPU(machine="fermi", protocol=protocol, deadlock_after=2_000_000) as gpu:
                arrays = [gpu.zeros(length, np.uint8) for length in lengths]
                read = [np.frombuffer(data, np.uint8), real]
                args = [*(gpu.array(one, dtype=one.dtype) for one in read), *arrays, given]
                gpu.launch(
                    self.module[kernel.name], grid=kernel.grid, block=kernel.block, args=args
                )
                found = [array.numpy() for array in arrays]
        except gpucoh.Error as error:
            return f"{type(error).__name__}: {error}"
        if not (found[0] == wanted[0]).all():
            at = int(np.argmax(found[0] != wanted[0])) // 16
            part = slice(16 * at, 16 * at + 16)
            texts = [array[part].tobytes().hex() for array in (found[0], wanted[0])]
            return f"thread {at // RESULTS}, result {at % RESULTS}: {texts[0]}, not {texts[1]}"
        if not (found[1] == wanted[1]).all():
            return f"byte {int(np.argmax(found[1] != wanted[1]))} of what atomic operations write"
        return ""


def smallest(kernel: Kernel, setting: Setting, seed: str, tries: int = 40) -> Kernel:
    """The kernel with the fewest statements that still differs, of those that dropping some leaves."""
    part = max(1, len(kernel.statements) // 2)
    while part and tries > 0:
        for begin in range(1, len(kernel.statements), part):
            fewer = kernel.statements[:begin] + kernel.statements[begin + part :]
            smaller = replace(kernel, statements=fewer)
            tries -= 1
            with TemporaryDirectory() as folder:
                if File([smaller], setting, Path(folder)).difference(smaller, seed):
                    kernel = smaller
                    break
            if tries == 0:
                break
        else:
            part //= 2
    return kernel


def report(kernel: Kernel, setting: Setting, seed: str, text: str) -> None:
    """Print what differs, and write the smallest source."""
    kernel = smallest(kernel, setting, seed)
    FAILURES.mkdir(parents=True, exist_ok=True)
    place = FAILURES / f"{kernel.name}.cu"
    head = f"// {setting}; grid {kernel.grid}, block {kernel.block}; seed {seed}: {text}"
    host = f"#ifndef __CUDACC__{kernel.reference()}#endif\n"
    place.write_text(f'{head}\n#include "{HEADER}"\n{kernel.text()}{host}')
    many = len(kernel.statements)
    print(f"{kernel.name} ({setting}): {text}; {many} statements in {place}", flush=True)


def tested(number: int, seed: str, per_file: int, first: int) -> int:
    """Test kernels; how many differ."""
    wrong = 0
    for at in range(first, first + number, per_file):
        names = [f"k{k}" for k in range(at, min(at + per_file, first + number))]
        draw = random.Random(f"{seed} {at}")
        turn = at // per_file + random.Random(seed).randrange(20)
        setting = Setting(LEVELS[turn % 5], TARGETS[turn // 5 % 4], draw.choice(PROTOCOLS))
        kernels = [Drawing(name, f"{seed} {name}").kernel() for name in names]
        with TemporaryDirectory() as folder:
            file = File(kernels, setting, Path(folder))
            for kernel in kernels:
                if text := file.difference(kernel, seed):
                    wrong += 1
                    report(kernel, setting, seed, text)
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kernels", type=int, default=40, help="Number of kernels (default: 40).")
    parser.add_argument("--first", type=int, default=0, help="Number of the first (default: 0).")
    parser.add_argument("--seed", default="1", help="What draws them (default: 1).")
    parser.add_argument("--per-file", type=int, default=10, help="Compiled at once (default: 10).")
    given = parser.parse_args(arguments)
    began = time.perf_counter()
    wrong = tested(given.kernels, given.seed, given.per_file, given.first)
    seconds = f"{time.perf_counter() - began:.0f} s"
    print(f"{given.kernels} kernels, seed {given.seed}: {wrong} differ; {seconds}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
