"""Counters of the runs of ``counters.toml``: what a change of speed has to leave equal.

``python benchmarks/counters.py FILE`` stores every counter of every run as JSON; ``--against FILE`` compares this
build's with those stored by another one and names the first counters that differ. Exit status 1: some do.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

import gpucoh

RUNS = Path(__file__).parent / "counters.toml"
HOST = ("wall_s", "cpu_s", "version")  # what a host or a build says of itself
SHOWN = 3


def measured() -> dict[str, Any]:
    """Name of a run -> all that it found, without what depends on the host."""
    given = tomllib.loads(RUNS.read_text())
    common = {key: value for key, value in given.items() if key != "runs"}
    found = {}
    for entry in tqdm(given["runs"], unit="run"):
        run = common | entry
        name = run.pop("name")
        result = gpucoh.run(**run).to_dict()
        found[name] = {key: value for key, value in result.items() if key not in HOST}
    here = str(Path(gpucoh.__file__).parent)
    return json.loads(json.dumps(found, sort_keys=True, default=str).replace(here, "gpucoh"))


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """A line for each value that differs."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from differences(before.get(key), after.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{path}[{i}]")
    elif before != after:
        yield f"{path}: {str(before)[:60]} -> {str(after)[:60]}"


def compare(before: dict[str, Any], after: dict[str, Any]) -> int:
    """Print the differences of each run; how many runs differ."""
    differ = 0
    for name in sorted(before.keys() | after.keys()):
        lines = list(differences(before.get(name), after.get(name)))
        differ += bool(lines)
        for line in lines[:SHOWN]:
            print(f"{name}: {line}")
        if len(lines) > SHOWN:
            print(f"{name}: {len(lines) - SHOWN} more")
    print(f"{len(after)} runs, {differ} differ")
    return differ


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, nargs="?", help="file that keeps the counters")
    parser.add_argument("--against", type=Path, help="compare with the counters of this file")
    given = parser.parse_args()
    if given.out is None and given.against is None:
        parser.error("a file to store the counters in, or --against FILE")
    before = json.loads(given.against.read_text()) if given.against else None
    found = measured()
    if given.out:
        given.out.write_text(json.dumps(found, sort_keys=True) + "\n")
    return int(before is not None and compare(before, found) > 0)


if __name__ == "__main__":
    sys.exit(main())
