"""Host instructions of the core for the runs of ``mix.toml``, counted by callgrind, against a stored baseline.

``python benchmarks/instructions.py [--update]``. Counts do not depend on the load of the machine, only on the compiler:
for a compiler other than the baseline's they are printed and not judged. Exit status 1: a run needs more than 3% more.
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
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BASELINE = HERE / "baseline.json"
ALLOWED = 1.03

# The child process: one run of the mix. Only instructions inside gpc_gpu_run are counted.
CHILD = """
import json, sys
import gpucoh
entry, mix = json.loads(sys.argv[1]), json.loads(sys.argv[2])
result = gpucoh.run(entry["workload"], protocol=mix["protocol"], machine=mix["machine"], scale="tiny",
                    seed=mix["seed"], params=entry["params"])
print(json.dumps({"correct": result.correct, "instructions": result.to_dict()["instructions"]}))
"""


def compiler() -> str:
    """The compiler of the extension, from its note in the object."""
    from gpucoh import _core

    found = re.findall(
        rb"(GCC: \([^)]*\) [\d.]+|clang version [\d.]+)", Path(_core.__file__).read_bytes()
    )
    return found[-1].decode() if found else "unknown"


def count(mix: dict[str, Any], entry: dict[str, Any]) -> tuple[int, int]:
    """Host instructions inside the core, and simulated warp instructions."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        command = [
            "valgrind", "--tool=callgrind", "--toggle-collect=gpc_gpu_run", f"--callgrind-out-file={out}",
            sys.executable, "-c", CHILD, json.dumps(entry), json.dumps(mix),
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
            raise SystemExit(f"{entry['name']}: valgrind failed:\n{done.stderr[-2000:]}")
        report = json.loads(done.stdout)
        if not report["correct"]:
            raise SystemExit(f"{entry['name']}: the run is wrong")
        total = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
        if total is None or int(total[1]) == 0:
            raise SystemExit(f"{entry['name']}: callgrind counted nothing: is gpc_gpu_run gone?")
        return int(total[1]), report["instructions"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="store the counts as the baseline")
    given = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: host instructions are not counted")
        return 0
    mix = tomllib.loads((HERE / "mix.toml").read_text())
    stored = (
        json.loads(BASELINE.read_text()) if BASELINE.exists() else {"compiler": None, "counts": {}}
    )
    counts, worse = {}, []
    comparable = stored["compiler"] == compiler()
    for entry in mix["runs"]:
        host, simulated = count(mix, entry)
        counts[entry["name"]] = host
        before = stored["counts"].get(entry["name"])
        change = f"{100 * (host / before - 1):+.1f}%" if before else "new"
        print(
            f"{entry['name']:6} {host:14,} host instructions, {host / simulated:8.1f} per warp instruction, {change}"
        )
        if before and comparable and host > ALLOWED * before:
            worse.append(entry["name"])
    if given.update:
        BASELINE.write_text(json.dumps({"compiler": compiler(), "counts": counts}, indent=2) + "\n")
    elif not comparable:
        print(f"the baseline is {stored['compiler']}'s, this is {compiler()}: not judged")
    elif worse:
        print(f"slower than the baseline by more than 3%: {', '.join(worse)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
