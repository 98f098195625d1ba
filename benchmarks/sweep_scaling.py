"""Speedup of a sweep with two workers, and the fraction of a run that holds Python's global lock.

    python benchmarks/sweep_scaling.py [WORKERS [SEEDS]]

Wall times are meaningful only on an idle machine. The mean number of threads inside the simulator core, which runs
without Python's lock, hardly depends on the load: with one processor per thread, it is the speedup of threads.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import gpucoh

PAIRS = [("spm_g", "no-l1"), ("hsp", "ideal"), ("kmn", "ideal"), ("bfs", "no-l1")]
SEEDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
RUNS = [
    {"workload": workload, "protocol": protocol, "seed": seed}
    for seed in range(SEEDS)
    for workload, protocol in PAIRS
]

# (wall, processor) seconds of every call of the core.
stays: list[tuple[float, float]] = []


class Timed:
    """A core whose run() records its duration."""

    def __init__(self, core: Any) -> None:
        self.core = core

    def run(self, events: int) -> bool:
        wall, processor = time.perf_counter(), time.thread_time()
        try:
            return bool(self.core.run(events))
        finally:
            stays.append((time.perf_counter() - wall, time.thread_time() - processor))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.core, name)


def time_cores() -> None:
    """Give every GPU of this process a timed core."""
    make = gpucoh.GPU.__init__

    def make_timed(self: gpucoh.GPU, *arguments: Any, **options: Any) -> None:
        make(self, *arguments, **options)
        self._core = Timed(self.core)

    gpucoh.GPU.__init__ = make_timed


def locked_part(workload: str, protocol: str) -> float:
    """The fraction of a run's processor time outside the core, with kernels already compiled."""
    gpucoh.run(workload, protocol)
    stays.clear()
    start = time.process_time()  # a run may use a thread of its own
    gpucoh.run(workload, protocol)
    return 1 - sum(processor for _, processor in stays) / (time.process_time() - start)


def sweep(pool: Executor) -> tuple[float, float]:
    """Wall seconds of the sweep, and the mean number of threads in the core."""
    stays.clear()
    start = time.perf_counter()
    assert gpucoh.sweep(RUNS, pool).correct.all()
    wall = time.perf_counter() - start
    return wall, sum(stay for stay, _ in stays) / wall


def sweep_in_processes(workers: int) -> float:
    """Wall seconds of the sweep in processes that have started and imported gpucoh."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        gpucoh.sweep(RUNS[:workers], pool)
        wall, _ = sweep(pool)
    return wall


def main() -> None:
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    time_cores()
    for workload, protocol in PAIRS:
        print(f"{workload} {protocol}: {locked_part(workload, protocol):.1%} under the lock")
    print(f"{len(RUNS)} runs, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    one, one_inside = sweep(ThreadPoolExecutor(1))
    many, many_inside = sweep(ThreadPoolExecutor(workers))
    print(f"1 thread: {one:.2f} s, {one_inside:.2f} in the core")
    print(
        f"{workers} threads: {many:.2f} s ({one / many:.2f}x), {many_inside:.2f} in the core "
        f"({many_inside / one_inside:.2f}x)"
    )
    one, many = sweep_in_processes(1), sweep_in_processes(workers)
    print(f"1 process: {one:.2f} s")
    print(f"{workers} processes: {many:.2f} s ({one / many:.2f}x)")


if __name__ == "__main__":
    main()
