"""Speed of the simulator: warp instructions and L1-miss round trips a second, ns an event, peak memory.

``python benchmarks/throughput.py [--scale tiny|small] [--cores 16,64,256] [--json]``

The mix of ``mix.toml`` and one stream of L1 misses run in a process each. Counted is the processor time of the
thread that runs the core, inside the core: making inputs and checking answers is Python's and not the simulator's.
Shown, never judged: the judged figure is that of ``benchmarks/instructions.py``.
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
    """A GPU that adds up the processor time of its launches."""

    seconds = 0.0

    def launch(self, *args: Any, **options: Any) -> Any:
        start = time.thread_time()
        try:
            return super().launch(*args, **options)
        finally:
            self.seconds += time.thread_time() - start


@gpucoh.kernel
def stream(data: gpucoh.Buffer[gpucoh.u32], rounds: gpucoh.i32, stride: gpucoh.i32):
    i = gpucoh.global_id()
    total = gpucoh.u32(0)
    for k in range(0, rounds, 8):
        total += data[i + k * stride] + data[i + (k + 1) * stride]
        total += data[i + (k + 2) * stride] + data[i + (k + 3) * stride]
        total += data[i + (k + 4) * stride] + data[i + (k + 5) * stride]
        total += data[i + (k + 6) * stride] + data[i + (k + 7) * stride]
    if total == 1:
        data[i] = total


def run_misses(gpu: TimedGPU, cores: int) -> bool:
    """Every load of every warp misses the L1; the lines are in the L2 after the first pass."""
    threads, rounds = cores * 768, 32
    data = gpu.zeros(threads * rounds, np.uint32)
    gpu.launch(stream, grid=cores * 4, block=192, args=(data, rounds, threads))
    return True


def measure(mix: dict[str, Any], entry: dict[str, Any], cores: int, scale: str) -> dict[str, Any]:
    """One run, in this process."""
    machine = gpucoh.machine(mix["machine"]).replace(cores=cores)
    gpu = TimedGPU(machine=machine, protocol=mix["protocol"], seed=mix["seed"])
    if entry["name"] == "misses":
        correct = run_misses(gpu, cores)
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
    """The same in a process of its own, so that its peak memory is its own."""
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
        mine = [row for row in rows if row["cores"] == cores and row["name"] != "misses"]
        mean = geometric_mean([row["instructions"] / row["seconds"] for row in mine])
        event = geometric_mean([row["seconds"] / row["events"] for row in mine])
        print(
            f"{cores} cores: {mean / 1e6:.2f} M warp instructions/s on the mix, {event * 1e9:.0f} ns an event"
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
    entries = [*mix["runs"], {"name": "misses"}]
    cores = [int(word) for word in given.cores.split(",")]
    rows = [in_a_process(entry, count, given.scale) for count in cores for entry in entries]
    if given.json:
        print(json.dumps(rows))
    else:
        show(rows)
    return 0 if all(row["correct"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
