"""Does a start that fails end with status 2 and one line? Status 1 means a wrong result."""

import os
import subprocess
import sys
import threading

import pytest

from gpucoh.cli import call
from gpucoh.runs import interrupts
from products import share

RUN = ("run", "apsp", "-p", "ideal", "--scale", "tiny")


def failed_import(folder, module, error, **environment):
    """Run the program where importing a package raises: exit status, error output."""
    (folder / f"{module}.py").write_text(error)
    done = subprocess.run(
        [sys.executable, "-m", "gpucoh", *RUN],
        env=os.environ | {"PYTHONPATH": str(folder)} | environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("module", share(["numpy", "scipy"], one_in=4))
def test_a_library_that_cannot_be_mapped_is_one_line(tmp_path, module):
    """``ulimit -v`` has this effect; NumPy is imported at the start, SciPy later."""
    error = "raise ImportError('libgfortran.so.5: failed to map segment', name='_fblas')"
    assert failed_import(tmp_path, module, error) == (
        2,
        "gpucoh: _fblas cannot be loaded: libgfortran.so.5: failed to map segment\n",
    )


@pytest.mark.parametrize("module", share(["numpy", "scipy"], one_in=4))
def test_a_lack_of_memory_is_one_line(tmp_path, module):
    assert failed_import(tmp_path, module, "raise MemoryError") == (2, "gpucoh: out of memory\n")


def test_of_an_error_that_a_package_explains_its_cause_is_printed(tmp_path):
    error = (
        "try:\n    raise ImportError('libopenblas.so: no memory', name='_core')\n"
        "except ImportError as error:\n    raise ImportError('IMPORTANT: READ THIS\\n' * 9) from error\n"
    )
    status, message = failed_import(tmp_path, "numpy", error)
    assert (status, message) == (2, "gpucoh: _core cannot be loaded: libopenblas.so: no memory\n")


def test_the_traceback_of_a_start_can_be_seen(tmp_path):
    status, message = failed_import(
        tmp_path, "numpy", "raise ImportError('gone')", GPUCOH_FULL_TRACEBACK="1"
    )
    assert status == 2
    assert "Traceback" in message


def test_a_program_that_imports_gpucoh_has_pythons_own_report(tmp_path):
    (tmp_path / "numpy.py").write_text("raise ImportError('gone')")
    done = subprocess.run(
        [sys.executable, "-c", "import gpucoh"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_a_thread_that_cannot_be_started_is_one_line(monkeypatch, capsys):
    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setattr(interrupts, "_idle", [])  # an earlier run may have left its thread
    assert call(RUN) == 2
    assert capsys.readouterr().err == "gpucoh: out of threads or memory: can't start new thread\n"
