"""How processor time and memory grow with cores, bytes of arrays, launches and arrays.

``python benchmarks/growth.py [--axis cores|bytes|launches|arrays] [--repeat 3] [--most N] [--markdown]``

Each point runs in a process of its own: the least processor time of the repeats, and the peak of resident memory beyond
that of a process which has imported gpucoh. A row is marked if its time or memory has grown by more than a factor of
n log n and ``SLACK`` from the first row of its axis on; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import gpucoh

SLACK = 1.5  # times differ by a third on a shared host
#: Less than this is start, not growth.
LEAST_S, LEAST_MIB = 0.05, 8.0


@gpucoh.kernel
def work(data: gpucoh.Buffer[gpucoh.u32], passes: gpucoh.i32):
    i = gpucoh.global_id()
    total = gpucoh.u32(0)
    for _ in range(passes):
        total += data[i]
        data[i] = total


@gpucoh.kernel
def sample(data: gpucoh.Buffer[gpucoh.u32], stride: gpucoh.i32):
    i = gpucoh.global_id() * stride
    data[i] = data[i] + 1


def cores(n: int) -> None:
    """A block of 256 threads on each core, equally long."""
    gpu = gpucoh.GPU(gpucoh.machine("fermi").replace(cores=n), "tc-weak")
    data = gpu.zeros(256 * n, np.uint32)
    gpu.launch(work, grid=n, block=256, args=(data, 40))
    gpu.stats()


def megabytes(n: int) -> None:
    """An array of n MB, of which 4,096 threads change a word each; made from one of NumPy, and read back."""
    gpu = gpucoh.GPU("fermi", "tc-weak")
    words = n * 250_000
    data = gpu.array(np.zeros(words, np.uint32))
    gpu.launch(sample, grid=16, block=256, args=(data, words // 4096))
    assert int(data.numpy().sum()) == 4096


def launches(n: int) -> None:
    """One GPU, n launches of one warp."""
    gpu = gpucoh.GPU("fermi", "tc-weak")
    data = gpu.zeros(32, np.uint32)
    for _ in range(n):
        gpu.launch(work, grid=1, block=32, args=(data, 1))
    gpu.stats()


def arrays(n: int) -> None:
    """n arrays of 4 KB, each in a launch, and 100 launches while all live."""
    gpu = gpucoh.GPU("fermi", "tc-weak")
    held = [gpu.array(np.full(1024, i, np.uint32)) for i in range(n)]
    for i in range(100):
        gpu.launch(work, grid=1, block=32, args=(held[-1 - i % n], 1))
    for one in held:
        assert one[1] >= 0
        one.free()


#: Axis -> what it runs, points, and what one is.
AXES: dict[str, tuple[Callable[[int], None], tuple[int, ...], str]] = {
    "cores": (cores, (16, 32, 64, 128, 256), "cores"),
    "bytes": (megabytes, (1, 10, 100, 1000), "MB"),
    "launches": (launches, (1, 10, 100, 1000, 10_000), "launches"),
    "arrays": (arrays, (1, 10, 100, 1000, 10_000), "arrays"),
}


def one(axis: str, n: int) -> dict[str, float]:
    """A point, in this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    AXES[axis][0](n)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "mib": (peak - before) / 1024}


def measured(axis: str, n: int, repeat: int) -> tuple[float, float]:
    """Seconds and MiB of a point, the least of processes of its own."""
    command = [sys.executable, __file__, "--one", axis, str(n)]
    found = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(repeat)
    ]
    return min(point["seconds"] for point in found), min(point["mib"] for point in found)


def beyond(first: float, now: float, least: float, of: int, n: int) -> bool:
    """Whether a measure of n has grown by more than n log n from that of `of` on."""
    return now > SLACK * (n / of) * math.log2(n + 1) / math.log2(of + 1) * max(first, least)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--axis", choices=AXES, help="one axis")
    parser.add_argument("--repeat", type=int, default=3, help="processes of a point")
    parser.add_argument("--most", type=int, help="leave out larger points")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.one[0], int(given.one[1]))))
        return 0
    worse = 0
    print(
        "| what | seconds | MiB | microseconds each | KiB each |\n| --- | --- | --- | --- | --- |"
    )
    for axis in [given.axis] if given.axis else AXES:
        _, points, unit = AXES[axis]
        first: tuple[int, float, float] | None = None
        for n in (n for n in points if n <= (given.most or n)):
            seconds, mib = measured(axis, n, given.repeat)
            first = first or (n, seconds, mib)
            grown = beyond(first[1], seconds, LEAST_S, first[0], n)
            grown |= beyond(first[2], mib, LEAST_MIB, first[0], n)
            worse += grown
            each = f"{1e6 * seconds / n:,.1f} | {1024 * mib / n:,.1f}"
            mark = " more than n log n" if grown else ""
            print(f"| {n:,} {unit} | {seconds:.3f} | {mib:.1f} | {each} |{mark}", flush=True)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
