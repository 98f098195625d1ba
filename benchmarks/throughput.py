"""Speed of the simulator: warp instructions and L1-miss round trips per second, ns per event, peak memory.

``python benchmarks/throughput.py [--scale tiny|small] [--cores 16,64,256] [--json]``

The mix of ``mix.toml`` and the streams of ``streams.py`` run in one process each. The time is the processor time of the
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

from streams import STREAMS, run_stream

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


def measure(mix: dict[str, Any], entry: dict[str, Any], cores: int, scale: str) -> dict[str, Any]:
    """One run, in this process."""
    machine = gpucoh.machine(mix["machine"]).replace(cores=cores)
    gpu = TimedGPU(machine=machine, protocol=mix["protocol"], seed=mix["seed"])
    if entry["name"] in STREAMS:
        run_stream(gpu, cores, STREAMS[entry["name"]])
        correct = True
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
        f"{'run':9} {'cores':>5} {'instructions':>13} {'M instr/s':>10} {'M misses/s':>11} "
        f"{'ns/event':>9} {'CPU s':>7} {'peak MiB':>9}"
    )
    for row in rows:
        print(
            f"{row['name']:9} {row['cores']:5} {row['instructions']:13,} "
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
