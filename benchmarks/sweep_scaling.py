"""What two workers give a sweep over one, and what part of a run holds Python's lock.

    python benchmarks/sweep_scaling.py [WORKERS]

Wall times mean something only on a machine that does nothing else; so the processors that were had are printed, too.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import gpucoh
from gpucoh.runner import Run

PAIRS = [("spm_g", "no-l1"), ("hsp", "ideal"), ("kmn", "ideal"), ("bfs", "no-l1")]
RUNS = [
    {"workload": workload, "protocol": protocol, "seed": seed}
    for seed in range(3)
    for workload, protocol in PAIRS
]


class Timed:
    """A core that adds up the processor time of its run()."""

    def __init__(self, core: object) -> None:
        self.core, self.seconds = core, 0.0

    def run(self, events: int) -> bool:
        start = time.thread_time()
        try:
            return self.core.run(events)
        finally:
            self.seconds += time.thread_time() - start

    def __getattr__(self, name: str) -> object:
        return getattr(self.core, name)


def locked_part(workload: str, protocol: str) -> float:
    """The part of a run's processor time that is spent outside the simulating core."""
    run = Run(workload=workload, protocol=protocol)
    run.carry_out()  # kernels are compiled, modules are loaded
    start = time.thread_time()
    gpu, found = run.build()
    gpu.core = Timed(gpu.core)
    found.prepare(run.scale, run.seed, run.params).run(gpu)
    return 1 - gpu.core.seconds / (time.thread_time() - start)


def seconds(pool: Executor) -> tuple[float, float]:
    """Wall time and processor time (of this process) of the sweep."""
    wall, processor = time.perf_counter(), time.process_time()
    table = gpucoh.sweep(RUNS, pool)
    assert table.correct.all()
    return time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    for workload, protocol in PAIRS:
        print(f"{workload} {protocol}: {locked_part(workload, protocol):.1%} under the lock")
    print(f"{len(RUNS)} runs, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    one, _ = seconds(ThreadPoolExecutor(1))
    many, used = seconds(ThreadPoolExecutor(workers))
    print(f"threads: {one:.2f} s, {workers}: {many:.2f} s, {one / many:.2f}x")
    print(f"         {used / many:.2f} processors were had")
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        gpucoh.sweep(RUNS[:workers], pool)  # workers have started
        many, _ = seconds(pool)
    print(f"processes: {workers}: {many:.2f} s, {one / many:.2f}x")


if __name__ == "__main__":
    main()
