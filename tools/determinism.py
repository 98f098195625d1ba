"""Print the result of every workload under every protocol, one JSON object per line, without the wall time.

``determinism.py TREE`` prints what the package in TREE counts; ``determinism.py --compare A B`` names what differs
between two such outputs, in at most ten lines, and fails if anything does.
"""

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import gpucoh


def results(workload: str) -> list[str]:
    """The lines of a workload."""
    lines = []
    for protocol in gpucoh.protocols():
        result = gpucoh.run(workload, protocol=protocol, scale="tiny", seed=7).to_dict()
        for name in ("wall_s", "cpu_s"):
            result.pop(name)
        lines.append(json.dumps(result, sort_keys=True))
    return lines


def counters(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every number of a result by its path, as ``core.loads``."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from counters(part, f"{name}.{key}" if name else key)
    else:
        yield name, value


def differences(one: Path, other: Path) -> list[str]:
    """A line for each run of which two builds count something else."""
    first, second = (file.read_text().splitlines() for file in (one, other))
    lines = [] if len(first) == len(second) else [f"{len(first)} runs and {len(second)}"]
    for text, instead in zip(first, second, strict=False):
        if text != instead:
            before, after = (dict(counters(json.loads(run))) for run in (text, instead))
            names = [name for name in before | after if before.get(name) != after.get(name)]
            values = ", ".join(f"{n}: {before.get(n)} and {after.get(n)}" for n in names[:3])
            lines.append(f"{before['workload']} under {before['protocol']}: {values}")
    return lines


def main() -> int:
    if sys.argv[1:2] == ["--compare"]:
        found = differences(*map(Path, sys.argv[2:4]))
        print(*found[:10], sep="\n", end="\n" if found else "")
        return bool(found)
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
