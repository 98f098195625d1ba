"""Speed of the simulator on the mix of ``mix.toml``: warp instructions and L1 misses a second, peak memory.

``python benchmarks/throughput.py [--scale tiny|small] [--cores 16,64,256] [--json]``. Wall time is shown, never judged.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
import tomllib
from pathlib import Path
from typing import Any

import gpucoh

MIX = Path(__file__).with_name("mix.toml")


def measure(
    mix: dict[str, Any], entry: dict[str, Any], cores: int, scale: str | None
) -> dict[str, Any]:
    result = gpucoh.run(
        entry["workload"],
        protocol=mix["protocol"],
        machine=gpucoh.machine(mix["machine"]).replace(cores=cores),
        scale=scale or entry["scale"],
        seed=mix["seed"],
        params=entry["params"],
    ).to_dict()
    seconds = max(result["wall_s"], 1e-9)
    return {
        "name": entry["name"],
        "cores": cores,
        "correct": result["correct"],
        "instructions": result["instructions"],
        "cycles": result["cycles"],
        "misses": result["l1"]["load_misses"],
        "wall_s": seconds,
        "instructions_per_s": result["instructions"] / seconds,
        "misses_per_s": result["l1"]["load_misses"] / seconds,
        "cycles_per_s": result["cycles"] / seconds,
    }


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", choices=["tiny", "small", "paper"])
    parser.add_argument("--cores", default="16,64", help="core counts, separated by commas")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    mix = tomllib.loads(MIX.read_text())
    rows, means = [], {}
    for cores in [int(word) for word in given.cores.split(",")]:
        found = [measure(mix, entry, cores, given.scale) for entry in mix["runs"]]
        means[cores] = geometric_mean([row["instructions_per_s"] for row in found])
        rows += found
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if given.json:
        print(json.dumps({"runs": rows, "instructions_per_s": means, "peak_mib": peak}))
    else:
        print(
            f"{'run':6} {'cores':>5} {'instructions/s':>15} {'misses/s':>12} {'cycles/s':>12} {'wall s':>8}"
        )
        for row in rows:
            print(
                f"{row['name']:6} {row['cores']:5} {row['instructions_per_s']:15,.0f} {row['misses_per_s']:12,.0f} "
                f"{row['cycles_per_s']:12,.0f} {row['wall_s']:8.2f}"
            )
        for cores, mean in means.items():
            print(f"geometric mean at {cores} cores: {mean / 1e6:.2f} M warp instructions/s")
        print(f"peak memory of the process: {peak:.0f} MiB")
    return 0 if all(row["correct"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
