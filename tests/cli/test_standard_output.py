"""Does a command whose output cannot be written end as a Unix tool does: with its status, without a traceback?"""

import os
import resource
import signal
import subprocess
import sys

import pytest

from products import share


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Not where the sources lie, which have no core beside them."""
    monkeypatch.chdir(tmp_path)


# Through rich, in one piece, and by typer before any command runs.
COMMANDS = [("protocols",), ("machines", "fermi", "--toml"), ("run", "--help")]


def gpucoh(arguments, before=None, **streams):
    """The command line in a process of its own: (status, standard error)."""
    program = [sys.executable, "-B", "-m", "gpucoh", *arguments]
    done = subprocess.run(
        program, stderr=subprocess.PIPE, text=True, preexec_fn=before, check=False, **streams
    )
    return done.returncode, done.stderr


def allow_no_byte():
    """As a full disk: no file may grow."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.parametrize("arguments", share(COMMANDS, one_in=4))
def test_output_that_cannot_be_written_is_one_line_and_status_2(tmp_path, arguments):
    with (tmp_path / "out").open("w") as out:
        status, message = gpucoh(arguments, allow_no_byte, stdout=out)
    assert (status, message) == (2, "gpucoh: standard output cannot be written: File too large\n")


@pytest.mark.parametrize("arguments", share(COMMANDS, one_in=4))
def test_closed_output_is_one_line_and_status_2(arguments):
    status, message = gpucoh(arguments, lambda: os.close(1))
    assert (status, message) == (2, "gpucoh: standard output is closed\n")


@pytest.mark.parametrize("arguments", share(COMMANDS, one_in=4))
def test_a_reader_that_has_gone_is_the_status_of_its_signal_and_no_word(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as out:
        status, message = gpucoh(arguments, stdout=out)
    assert (status, message) == (128 + signal.SIGPIPE, "")


def test_closed_standard_error_changes_no_status():
    program = [sys.executable, "-m", "gpucoh", "run", "bfs", "-p", "idael"]
    done = subprocess.run(
        program, stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2), check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
