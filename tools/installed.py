"""Check an installed gpucoh with the Python that has it: ``installed.py``. `make package` runs it.

Every file of the package is installed, none is imported from the source tree, and the program runs. In an empty folder
its commands take C files of protocols, a new one and the examples, which are compiled with the installed headers. The
lines of ``tools/command_lines.py`` use every option of the commands with many runs.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import command_lines
from package_files import ROOT, headers, package_files

import gpucoh

COMMANDS = [
    "--version",
    "run bfs -p tc-weak --scale tiny",
    "compare -w vec-cpy,hsp -p no-l1,mesi --scale tiny --out figures",
    "litmus MP -p gpu-vi --runs 2",
    "scorecard --help",
    "hardware --cuda",
]
# Where there is a CUDA compiler.
CUDA = "cuda kmeans.cu -p no-l1,tc-weak -- 500 3 2"
# Of a protocol that the first one writes.
OUTSIDE = [
    "new-protocol mine",
    "new-protocol lease --leases",
    "new-protocol owner --owners",
    "new-protocol acquirer --acquires",
    *(
        f"{command}{name}.c{rest}"
        for name in ("lease", "owner", "acquirer")
        for command, rest in (
            ("run stn -p ./", " --scale tiny --check"),
            ("verify -p ./", " --cores 2 --lines 1 --ops 1"),
            ("fuzz -p ./", " --ops 6000"),
        )
    ),
    "protocols ./mine.c",
    "run stn -p ./mine.c --scale tiny --check",
    "compare -w vec-cpy,hsp -p no-l1,./mine.c --scale tiny",
    "sweep sweep.toml --out rows.parquet",
    "sweep sweep.toml --out rows.parquet --resume",
    "verify -p ./mine.c MP",
    "litmus MP SB -p ./mine.c --runs 20",
    "fuzz -p ./mine.c --ops 6000",
    "hardware -p ./mine.c --family iriw --runs 20 --states 2000",
    "explain vec-cpy -p no-l1,./mine.c --scale tiny",
    "run vec-cpy -p ./mine.c --scale tiny --profile",
    "scorecard tc --scale tiny --replace tc-weak=./mine.c",
    "reproduce tc 7a --scale tiny --replace tc-weak=./mine.c",
]
# Of each example.
EXAMPLE = [
    "run stn -p ./FILE --scale tiny --check",
    "verify -p ./FILE MP",
    "litmus MP SB IRIW+fences -p ./FILE --runs 20",
    "fuzz -p ./FILE --ops 20000",
]
EXAMPLES = ROOT / "examples" / "protocols"
SWEEP = """
workload = "vec-cpy"
protocols = ["no-l1", "./mine.c"]
scale = "tiny"
"""


def main() -> int:
    folder = Path(gpucoh.__file__).parent
    if folder.is_relative_to(ROOT / "gpucoh"):
        print(f"gpucoh is imported from the sources: {folder}")
        return 1
    wanted = package_files(ROOT)
    for part in ("base", "cache", "controller"):
        wanted += [name.replace("csrc", "gpucoh/include", 1) for name in headers(f"csrc/{part}")]
    wanted += ["gpucoh/include/protocol-api.md", "gpucoh/include/machines/fields.def"]
    missing = [name for name in wanted if not (folder.parent / name).is_file()]
    if missing:
        print(f"not installed: {', '.join(missing)}")
        return 1
    with tempfile.TemporaryDirectory() as empty:
        Path(empty, "sweep.toml").write_text(SWEEP, encoding="utf-8")
        commands = list(OUTSIDE)
        for file in sorted(set(EXAMPLES.glob("*.c")) - set(EXAMPLES.glob("*_planted.c"))):
            shutil.copy(file, empty)
            commands += [one.replace("FILE", file.name) for one in EXAMPLE]
        if shutil.which("nvcc"):
            shutil.copy(ROOT / "examples" / "cuda" / "kmeans.cu", empty)
            commands.append(CUDA)
        else:
            print("there is no nvcc: CUDA programs are not run")
        fine = all(map(carry_out, COMMANDS)) and all(carry_out(one, empty) for one in commands)
    return int(not fine) or command_lines.main([])


def carry_out(command: str, folder: str | None = None) -> bool:
    """Whether a command of the program succeeds."""
    print(f"$ gpucoh {command}", flush=True)
    program = Path(sys.executable).with_name("gpucoh")
    done = subprocess.run([program, *command.split()], cwd=folder, check=False)
    if done.returncode:
        print(f"gpucoh {command}: failed")
    return not done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
