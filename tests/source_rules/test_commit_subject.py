"""Does the hook accept good commit messages and reject others?"""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "commit_subject.py"


def check(folder, message):
    path = folder / "COMMIT_EDITMSG"
    path.write_text(message)
    return subprocess.run([sys.executable, TOOL, path], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "message",
    ["x" * 72 + "\n", "Say why\n\nBody.\n", "Say\n# comment of git\n", "fixup! " + "x" * 72],
)
def test_a_good_message_passes_in_silence(tmp_path, message):
    done = check(tmp_path, message)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("x" * 73 + "\n", "73 characters (allowed: at most 72)"),
        ("\nbody\n", "the first line is empty"),
        ("", "the first line is empty"),
        ("Say\nwhy\n", "the second line is not empty"),
    ],
)
def test_a_bad_message_is_one_line(tmp_path, message, problem):
    done = check(tmp_path, message)
    assert done.returncode == 1
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
