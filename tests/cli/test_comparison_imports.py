"""Does `gpucoh compare` do without the packages that `make demo` installs while it compares?"""

import subprocess
import sys

PROGRAM = """
import sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"scipy", "pyarrow"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
from gpucoh.cli import main

main()
"""


def run_without(folder, *arguments):
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_default_comparison_runs_without_scipy_and_pyarrow(tmp_path):
    done = run_without(tmp_path, "compare", "--scale", "tiny", "--out", "figures")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "figures" / "speedup.png").exists()
