"""`make demo`: does it go back to the tested packages when the newest ones fail?"""

import os
import subprocess
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scripts import script

ROOT = Path(__file__).parents[2]
#: A make whose first part fails, unless the tested packages are taken, and a gpucoh that compares nothing.
MAKE = """#!/bin/sh
echo "$@" >> calls
case "$*" in *build/.build*) [ "$FAIL" = 0 ] || [ "${*##*LOCK=1}" = "" ] ;; esac
"""


def demo(folder, **variables):
    """What demo.sh does in a folder with these variables of the environment."""
    for name, text in (("make", MAKE), (".venv/bin/gpucoh", "#!/bin/sh\n")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return subprocess.run(
        ["sh", str(ROOT / "tools/demo.sh"), "./make"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("fail", "lock", "second"), [("0", "", False), ("1", "", True), ("1", "1", False)]
)
def test_the_tested_packages_are_taken_where_the_newest_fail(tmp_path, fail, lock, second):
    done = demo(tmp_path, FAIL=fail, LOCK=lock, CC="true")
    assert done.returncode == 0, done.stderr
    assert ("again with the tested ones" in done.stdout) == second
    assert "done: figures" in done.stdout
    locked = [line.endswith("LOCK=1") for line in (tmp_path / "calls").read_text().splitlines()]
    assert locked == [*[False] * second, *[second or bool(lock)] * 3]


def test_a_missing_compiler_is_named_before_anything_is_installed(tmp_path):
    done = demo(tmp_path, CC="no-such-compiler -m64")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no C compiler (no-such-compiler -m64)" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_lock_has_a_version_that_every_requirement_allows(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    parts = script("tools/requirements.py").parts()
    lines = (ROOT / "tools/lock.txt").read_text().splitlines()
    locked = dict(line.split("==") for line in lines if not line.startswith("#"))
    for text in parts["build"] + parts["run"]:
        one = Requirement(text)
        assert one.specifier.contains(locked[one.name]), text
    found = script("tools/lock.py").versions(list(parts["build"] + parts["run"]))
    assert found["numpy"] == metadata.version("numpy")
