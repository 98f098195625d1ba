"""Print the result of every workload under every protocol, one JSON object per line, without the wall time."""

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import gpucoh


def results(workload: str) -> list[str]:
    """The lines of a workload."""
    lines = []
    for protocol in gpucoh.protocols():
        result = gpucoh.run(workload, protocol=protocol, scale="tiny", seed=7).to_dict()
        result.pop("wall_s")
        lines.append(json.dumps(result, sort_keys=True))
    return lines


def main() -> int:
    tree = Path(sys.argv[1]).resolve()
    if not Path(gpucoh.__file__).resolve().is_relative_to(tree):
        print(f"gpucoh comes from {gpucoh.__file__}, not from {tree}", file=sys.stderr)
        return 2
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for lines in pool.map(results, gpucoh.workloads()):
            print("\n".join(lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
