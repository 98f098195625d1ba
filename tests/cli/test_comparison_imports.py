"""Does `gpucoh compare` do without the packages that `make demo` installs while it compares?"""

import subprocess
import sys

import pytest

from products import rows

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


@pytest.mark.long
def test_the_default_comparison_runs_without_scipy_and_pyarrow(tmp_path):
    done = run_without(
        tmp_path, "compare", "-p", "no-l1,ideal", "--scale", "tiny", "--out", "figures"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "figures" / "speedup.png").exists()


@pytest.mark.parametrize(
    ("package", "arguments"),
    rows(
        [
            ("scipy", ("run", "apsp", "-p", "ideal", "--scale", "tiny")),
            ("pyarrow", ("sweep", "study.toml", "--out", "study.parquet")),
        ],
        one_in=4,
    ),
)
@pytest.mark.long
def test_a_command_that_comes_too_early_says_so_in_one_line(tmp_path, package, arguments):
    (tmp_path / "study.toml").write_text('workload = "vec-cpy"\nscale = "tiny"\n')
    done = run_without(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (f"gpucoh: {package} is not installed: pip install {package}\n")
