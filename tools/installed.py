"""Check an installed gpucoh with the Python that has it: ``installed.py``. `make package` runs it.

Every file of the package is installed, none is imported from the source tree, and the program runs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from package_files import ROOT, package_files

import gpucoh

COMMANDS = [
    "--version",
    "run bfs -p tc-weak --scale tiny",
    "compare -w vec-cpy,hsp -p no-l1,mesi --scale tiny --out figures",
    "litmus MP -p gpu-vi --runs 2",
    "scorecard --help",
]


def main() -> int:
    folder = Path(gpucoh.__file__).parent
    if folder.is_relative_to(ROOT / "gpucoh"):
        print(f"gpucoh is imported from the sources: {folder}")
        return 1
    missing = [name for name in package_files(ROOT) if not (folder.parent / name).is_file()]
    if missing:
        print(f"not installed: {', '.join(missing)}")
        return 1
    for command in COMMANDS:
        print(f"$ gpucoh {command}", flush=True)
        program = Path(sys.executable).with_name("gpucoh")
        if subprocess.run([program, *command.split()], check=False).returncode:
            print(f"gpucoh {command}: failed")
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
