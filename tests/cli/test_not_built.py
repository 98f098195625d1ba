"""Does a source tree whose core is not built, or cannot be loaded, report that in one line?"""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import gpucoh


@pytest.fixture
def tree(tmp_path):
    """A folder as a clone is: the package's sources and their bytecode, without the core."""
    shutil.copytree(
        Path(gpucoh.__file__).parent,
        tmp_path / "gpucoh",
        ignore=shutil.ignore_patterns("_core*"),
    )
    return tmp_path


def run_in(folder, *arguments):
    command = [sys.executable, "-m", "gpucoh", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "arguments", [("run", "vec-cpy", "-p", "ideal"), ("protocols",), ("compare",)]
)
def test_sources_without_the_core_tell_what_to_do(tree, arguments):
    done = run_in(tree, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gpucoh: the simulator core is not built in ")
    assert "pip install ." in done.stderr
    assert done.stderr.count("\n") == 1
    assert [place.name for place in tree.iterdir()] == ["gpucoh"]


def test_a_core_that_cannot_be_loaded_is_not_called_missing(tree):
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    (tree / "gpucoh" / f"_core{suffix}").write_bytes(b"no library")
    done = run_in(tree, "protocols")
    assert done.returncode == 2
    assert "cannot load the simulator core" in done.stderr
    assert done.stderr.count("\n") == 1


def test_machines_are_printed_without_the_core(tree):
    done = run_in(tree, "machines", "fermi")
    assert (done.returncode, done.stderr) == (0, "")
