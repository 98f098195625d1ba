"""What threads could gain at most that simulate a die each: the events of the busiest die of each window, and all.

    sh tools/build.sh build/windows core -Dlto=false -Ddie_windows=true && python tools/develop.py build/windows
    python benchmarks/die_windows.py [--scale tiny] [--protocol mcm] [WORKLOAD ...] # .venv/bin in PATH

No message reaches another die within the least latency between dies: until then each could go on alone, and a window
takes as long as its busiest die. The bound of a run is the quotient of all its events by those of the busiest die of
each window; it counts no barriers, no misses of the host's caches, and every event as equally long. `make quick` brings
back the core without the counters.
"""

from __future__ import annotations

import argparse
import statistics
import sys

import gpucoh
from gpucoh.base.errors import ConfigError

MACHINES = {
    "`mcm4-quarter`, 2 dies": ("mcm4-quarter", {"dies": 2}),
    "`mcm4-quarter`, 4 dies": ("mcm4-quarter", {}),
    "`two-gpus`": ("two-gpus", {}),
}


def bound(workload: str, protocol: str, machine: str, scale: str, changes: dict[str, int]) -> float:
    """All events by those of the busiest die of each window.

    Raises
    ------
    SystemExit
        If the core has no counters.
    """
    run = gpucoh.run(workload, protocol, machine=machine, scale=scale, set=changes)
    if "die_windows" not in run.stats:
        sys.exit("this core counts no events by die: build it with -Ddie_windows=true")
    counted = run.stats["die_windows"]
    return float(counted["events"] / counted["longest"])


def row(name: str, bounds: dict[str, float]) -> str:
    """A line of the table: quartiles, extremes, and how many reach 1.6."""
    values = sorted(bounds.values())
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    worst, best = min(bounds, key=bounds.__getitem__), max(bounds, key=bounds.__getitem__)
    above = sum(value >= 1.6 for value in values)
    return (
        f"| {name} | {low:.2f} | {middle:.2f} | {high:.2f} | {bounds[worst]:.2f} (`{worst}`) | "
        f"{bounds[best]:.2f} (`{best}`) | {above} of {len(values)} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", default="tiny")
    parser.add_argument("--protocol", default="mcm")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD")
    arguments = parser.parse_args()
    print("| machine | lower quartile | median | upper quartile | worst | best | at least 1.6 |")
    print("|---|---|---|---|---|---|---|")
    for name, (machine, changes) in MACHINES.items():
        bounds = {}
        for workload in arguments.workloads or gpucoh.workloads():
            try:
                bounds[workload] = bound(
                    workload, arguments.protocol, machine, arguments.scale, changes
                )
            except ConfigError as error:
                print(f"{workload}: {error}", file=sys.stderr)
        print(row(name, bounds), flush=True)


if __name__ == "__main__":
    main()
