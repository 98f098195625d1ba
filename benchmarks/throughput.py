"""Speed of the simulator: warp instructions and L1-miss round trips per second, ns per event, peak memory.

``python benchmarks/throughput.py [--scale tiny|small] [--cores 16,64,256] [--json]``

The mix of ``mix.toml`` and three streams of L1 misses run in one process each. The time is the processor time of the
thread that runs the core, inside the core, without making inputs and checking answers in Python. The figures are for
information; ``benchmarks/instructions.py`` judges.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

import gpucoh
from gpucoh.suite import workload

MIX = Path(__file__).with_name("mix.toml")


class TimedGPU(gpucoh.GPU):
    """A GPU that accumulates the processor time of its launches."""

    seconds = 0.0

    def launch(self, *args: Any, **options: Any) -> Any:
        start = time.thread_time()
        try:
            return super().launch(*args, **options)
        finally:
            self.seconds += time.thread_time() - start


# Streams of coalesced loads that all miss the L1: lines that are in the L2, with few outstanding requests and with as
# many as the cores allow (the answer network is then saturated), and lines from memory.
STREAMS: dict[str, dict[str, int]] = {
    "misses": {"warps": 4, "passes": 400, "lines": 16},
    "flood": {"warps": 24, "passes": 10, "lines": 16},
    "memory": {"warps": 24, "passes": 1, "lines": 128},
}


def streaming_kernel(stride: int, lines: int) -> gpucoh.Kernel:
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


def run_stream(gpu: TimedGPU, cores: int, warps: int, passes: int, lines: int) -> bool:
    """An instance whose answer is not checked: only its loads matter."""
    threads = cores * warps * 32
    passes = max(1, passes * 16 // cores)
    data = gpu.zeros(threads * lines, np.uint32)
    blocks = cores * (4 if warps % 4 == 0 else 1)
    gpu.launch(
        streaming_kernel(threads, lines),
        grid=blocks,
        block=threads // blocks,
        args=(data, passes, lines),
    )
    return True


def measure(mix: dict[str, Any], entry: dict[str, Any], cores: int, scale: str) -> dict[str, Any]:
    """One run, in this process."""
    machine = gpucoh.machine(mix["machine"]).replace(cores=cores)
    gpu = TimedGPU(machine=machine, protocol=mix["protocol"], seed=mix["seed"])
    if entry["name"] in STREAMS:
        correct = run_stream(gpu, cores, **STREAMS[entry["name"]])
    else:
        instance = workload(entry["workload"]).prepare(scale, mix["seed"], entry["params"])
        correct = instance.run(gpu).correct
    counted = gpu.stats().to_dict()
    return {
        "name": entry["name"],
        "cores": cores,
        "correct": correct,
        "instructions": counted["instructions"],
        "misses": counted["l1"]["load_misses"],
        "events": counted["events"],
        "seconds": gpu.seconds,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def in_a_process(entry: dict[str, Any], cores: int, scale: str) -> dict[str, Any]:
    """Run in a process of its own, so that the peak memory is the run's."""
    command = [sys.executable, __file__, "--one", json.dumps([entry, cores, scale])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def show(rows: list[dict[str, Any]]) -> None:
    print(
        f"{'run':7} {'cores':>5} {'instructions':>13} {'M instr/s':>10} {'M misses/s':>11} "
        f"{'ns/event':>9} {'CPU s':>7} {'peak MiB':>9}"
    )
    for row in rows:
        print(
            f"{row['name']:7} {row['cores']:5} {row['instructions']:13,} "
            f"{row['instructions'] / row['seconds'] / 1e6:10.2f} {row['misses'] / row['seconds'] / 1e6:11.2f} "
            f"{row['seconds'] / row['events'] * 1e9:9.0f} {row['seconds']:7.2f} {row['peak_mib']:9.0f}"
        )
    for cores in sorted({row["cores"] for row in rows}):
        mine = [row for row in rows if row["cores"] == cores and row["name"] not in STREAMS]
        mean = geometric_mean([row["instructions"] / row["seconds"] for row in mine])
        event = geometric_mean([row["seconds"] / row["events"] for row in mine])
        print(
            f"{cores} cores: {mean / 1e6:.2f} M warp instructions/s on the mix, {event * 1e9:.0f} ns per event"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", choices=["tiny", "small", "paper"], default="small")
    parser.add_argument("--cores", default="16,64,256", help="core counts, separated by commas")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    mix = tomllib.loads(MIX.read_text())
    if given.one:
        print(json.dumps(measure(mix, *json.loads(given.one))))
        return 0
    entries = [*mix["runs"], *({"name": name} for name in STREAMS)]
    cores = [int(word) for word in given.cores.split(",")]
    rows = [in_a_process(entry, count, given.scale) for count in cores for entry in entries]
    if given.json:
        print(json.dumps(rows))
    else:
        show(rows)
    return 0 if all(row["correct"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
