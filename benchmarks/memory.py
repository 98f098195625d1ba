"""Resident memory of a process that makes and drops many GPUs, without the garbage collector.

``python benchmarks/memory.py [--number 200] [--part launch|run|snapshots] [--json]``

``launch``: make a GPU, launch a kernel, drop it; ``run``: ``gpucoh.run`` of a tiny workload; ``snapshots``: keep
snapshots of one GPU whose launches change a small part of its 16 MiB. Each part runs in its own process, which needs
the memory at the start for the interpreter and its modules. A part whose memory is not freed grows with ``--number``.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import gpucoh

# Of each array of ``snapshots``. Host copies of one array of 16 MiB are on glibc's heap from the second on, and two
# of them are as long as what glibc leaves free at the heap's end: resident memory differs by 33 MB from run to run.
WORDS = 2**16


@gpucoh.kernel
def add_one(x: gpucoh.Buffer[gpucoh.i32], n: gpucoh.i32):
    i = gpucoh.global_id()
    if i < n:
        x[i] = x[i] + 1


def resident_mb() -> float:
    """Resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def launches(number: int) -> float:
    """Make a GPU, launch, drop; resident memory then."""
    for _ in range(number):
        gpu = gpucoh.GPU(machine="fermi", protocol="tc-weak")
        x = gpu.array(np.arange(4096, dtype=np.int32))
        gpu.launch(add_one, grid=32, block=128, args=(x, 4096))
        assert x[1] == 2
    return resident_mb()


def runs(number: int) -> float:
    """Run a tiny workload; resident memory then."""
    for _ in range(number):
        assert gpucoh.run("vec-cpy", protocol="tc-weak", scale="tiny").correct
    return resident_mb()


def snapshots(number: int) -> float:
    """Keep snapshots of one GPU; resident memory then."""
    gpu = gpucoh.GPU(machine="fermi", protocol="tc-weak")
    arrays = [gpu.array(np.arange(WORDS, dtype=np.int32)) for _ in range(2**22 // WORDS)]
    kept = []
    for _ in range(number):
        gpu.launch(add_one, grid=1, block=128, args=(arrays[0], 128))
        kept.append(gpu.snapshot())
    return resident_mb()


PARTS: dict[str, Callable[[int], float]] = {
    "launch": launches,
    "run": runs,
    "snapshots": snapshots,
}


def measure(part: str, number: int) -> dict[str, float]:
    """Resident memory at the start, after one repetition, and after all of them.

    An earlier repetition fills the 16 MiB that a process keeps of closed GPUs.
    """
    gc.disable()
    start = resident_mb()
    PARTS[part](1)
    once = PARTS[part](1)
    return {"start_mb": start, "once_mb": once, "end_mb": PARTS[part](number)}


def main() -> None:
    """Measure every part in its own process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.part and options.json:
        print(json.dumps(measure(options.part, options.number)))
        return
    for part in [options.part] if options.part else PARTS:
        command = [sys.executable, __file__, "--json", "--part", part]
        command += ["--number", str(options.number)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        if options.json:
            print(json.dumps({"part": part, "number": options.number} | found))
        else:
            print(
                f"{part:10} {options.number} times: start {found['start_mb']:.0f} MB, "
                f"once {found['once_mb']:.0f} MB, end {found['end_mb']:.0f} MB"
            )


if __name__ == "__main__":
    main()
