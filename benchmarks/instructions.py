"""Host instructions of the core, counted by callgrind: the mix against a stored baseline, what users run, and misses.

``python benchmarks/instructions.py [--pairs] [--misses] [--update WHY]``. Counts do not depend on the load of the
machine, only on the compiler: for a compiler other than the baseline's they are printed and not judged. Without options
the runs of ``mix.toml``; ``--pairs``: those of ``pairs.toml``; ``--misses``: instructions of a miss that shares no set,
under every protocol. Exit status 1: a run needs more than 3% more than its baseline. A table has the share of each part
of the core, by the source files of the instructions, also of inlined ones: the core is built with debug information.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BASELINE = HERE / "baseline.json"
CORE = HERE.parent / "csrc"
ALLOWED = 1.03
PASSES = (2, 6)  # of the stream of misses: the difference is its steady state

# The child process: one run. Only instructions inside gpc_gpu_run are counted; valgrind examines none before the run,
# which halves its time.
CHILD = """
import json, os, subprocess, sys
import gpucoh
run = json.loads(sys.argv[1])
subprocess.run(["callgrind_control", "-i", "on", str(os.getpid())], check=True, stdout=subprocess.DEVNULL)
if "passes" in run:
    sys.path.insert(0, sys.argv[2])
    from streams import STREAMS, run_stream
    gpu = gpucoh.GPU(machine=run["machine"], protocol=run["protocol"])
    run_stream(gpu, 16, STREAMS["misses"], run["passes"])
    found = gpu.stats().to_dict() | {"correct": True}
else:
    found = gpucoh.run(**run).to_dict()
print(json.dumps({"correct": found["correct"], "instructions": found["instructions"],
                  "misses": found["l1"]["load_misses"]}))
"""

#: Folder or file of the core -> part; the longest path that fits counts.
PARTS = {
    "engine/": "wheel",
    "core/frontend/": "issue",
    "core/waking": "issue",
    "core/memory/addresses": "coalescer",
    "core/memory/load_store": "coalescer",
    "core/memory/": "order",
    "core/": "execute",
    "cache/": "controllers",
    "controller/": "controllers",
    "protocols/": "protocols",
    "fabric/": "network",
    "fabric/dram": "DRAM",
    "fabric/memory": "DRAM",
    "machine/": "machine",
    "base/": "base",
    "check/": "monitors",
}
ORDER = [*dict.fromkeys(PARTS.values()), "other"]
DEAREST = 12  # files that are named


def compiler() -> str:
    """The compiler of the extension, from its note in the object."""
    from gpucoh import _core

    found = re.findall(
        rb"(GCC: \([^)]*\) [\d.]+|clang version [\d.]+)", Path(_core.__file__).read_bytes()
    )
    return found[-1].decode() if found else "unknown"


def part_of(file: str) -> str:
    """The part of a source file, by its path below csrc/; other: it is not the core's."""
    fits = [start for start in PARTS if file.startswith(start)]
    return PARTS[max(fits, key=len)] if fits else "other"


def self_costs(text: str) -> Counter[str]:
    """Source file below csrc/ -> the instructions of its lines, inlined or not, of callgrind's output.

    ``fl`` is the file of a function, ``fi`` that of the inlined lines which follow, ``fe`` of what follows them. A
    number refers to the name that an earlier record gave it, also one of a called function (``cfi``).
    """
    names: dict[str, str] = {}
    costs: Counter[str] = Counter()
    file, called = "", False
    for line in text.splitlines():
        if found := re.match(r"(c?f[lie])=\((\d+)\)(?: (.*))?", line):
            kind, number, name = found.groups()
            if name:
                names[number] = name.rpartition("csrc/")[2]
            if kind in ("fl", "fi", "fe"):
                file = names[number]
        elif line.startswith("calls="):
            called = True
        elif re.match(r"[+*\-\d]", line):
            if not called:
                costs[file] += int(line.split()[-1])
            called = False
    return costs


def count(run: dict[str, Any]) -> tuple[Counter[str], dict[str, Any]]:
    """A run's host instructions inside the core by source file, and what it simulated."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        command = [
            "valgrind", "--tool=callgrind", "--instr-atstart=no", "--toggle-collect=gpc_gpu_run",
            f"--callgrind-out-file={out}", sys.executable, "-c", CHILD, json.dumps(run), str(HERE),
        ]  # fmt: skip
        environment = {
            **os.environ,
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, cwd=HERE
        )
        if done.returncode != 0:
            raise SystemExit(f"{run}: valgrind failed:\n{done.stderr[-2000:]}")
        report = json.loads(done.stdout)
        if not report["correct"]:
            raise SystemExit(f"{run}: the run is wrong")
        text = out.read_text()
        costs = self_costs(text)
        total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
        if total is None or int(total[1]) == 0:
            raise SystemExit(f"{run}: callgrind counted nothing: is gpc_gpu_run gone?")
        if costs.total() != int(total[1]):
            raise SystemExit(
                f"{run}: the files have {costs.total():,} instructions of {int(total[1]):,}"
            )
        return costs, report


def runs_of(name: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """The runs of a TOML file, whose keys outside ``runs`` hold for each."""
    given = tomllib.loads((HERE / name).read_text())
    common = {"scale": "tiny"} | {key: value for key, value in given.items() if key != "runs"}
    for entry in given["runs"]:
        run = common | entry
        yield run.pop("name"), run


def compare(name: str, total: int, report: dict[str, Any], stored: dict[str, int]) -> bool:
    """Print a run's total beside its baseline; whether it is worse."""
    before = stored.get(name)
    change = f"{100 * (total / before - 1):+.1f}%" if before else "new"
    print(
        f"{name:13} {total:14,} host instructions, {total / report['instructions']:8.1f} per warp instruction, "
        f"{change}",
        flush=True,
    )
    return before is not None and total > ALLOWED * before


def by_part(table: dict[str, Counter[str]]) -> None:
    """Print each run's share of each part in percent, and the dearest files of all."""
    print(f"\n{'% of':13}" + "".join(f"{name:>12}" for name in ORDER))
    every: Counter[str] = Counter()
    for name, costs in table.items():
        sums: Counter[str] = Counter()
        for file, cost in costs.items():
            sums[part_of(file)] += cost
        every += costs
        print(f"{name:13}" + "".join(f"{100 * sums[one] / costs.total():12.1f}" for one in ORDER))
    unnamed = set(ORDER) - {part_of(file) for file in every} - {"monitors", "other"}
    if unnamed:
        raise SystemExit(
            f"no instruction is attributed to {', '.join(sorted(unnamed))}: was the core built with -Ddebug=true?"
        )
    share = {file: 100 * cost / every.total() for file, cost in every.most_common(DEAREST)}
    print("dearest files: " + ", ".join(f"{file} {part:.1f}%" for file, part in share.items()))


def misses() -> None:
    """Print the host instructions of a miss under every protocol, of the whole core's."""
    import gpucoh

    found = {}
    for name in gpucoh.protocols():
        ends = []
        for passes in PASSES:
            costs, report = count({"protocol": name, "machine": "fermi", "passes": passes})
            ends.append((costs.total(), report["misses"]))
        found[name] = (ends[1][0] - ends[0][0]) / (ends[1][1] - ends[0][1])
        print(f"{name:12} {found[name]:8,.0f} host instructions per miss", flush=True)
    print(f"the dearest of the cheapest: {max(found.values()) / min(found.values()):.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", action="store_true", help="runs of pairs.toml")
    parser.add_argument("--misses", action="store_true", help="a miss under every protocol")
    parser.add_argument(
        "--update", metavar="WHY", help="store the counts as the baseline, with the reason"
    )
    given = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: host instructions are not counted")
        return 0
    if given.misses:
        misses()
        return 0
    stored = json.loads(BASELINE.read_text()) if BASELINE.exists() else {"compiler": None}
    comparable = stored["compiler"] == compiler()
    part = "pairs" if given.pairs else "counts"
    table, worse = {}, []
    for name, run in runs_of("pairs.toml" if given.pairs else "mix.toml"):
        table[name], report = count(run)
        if compare(name, table[name].total(), report, stored.get(part, {})) and comparable:
            worse.append(name)
    by_part(table)
    if given.update:
        totals = {part: {name: costs.total() for name, costs in table.items()}}
        kept = stored if comparable else {}
        BASELINE.write_text(
            json.dumps(
                {**kept, "compiler": compiler(), f"why {part}": given.update, **totals}, indent=2
            )
            + "\n"
        )
    elif not comparable:
        print(f"the baseline is {stored['compiler']}'s, this is {compiler()}: not judged")
    elif worse:
        print(f"slower than the baseline by more than 3%: {', '.join(worse)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
