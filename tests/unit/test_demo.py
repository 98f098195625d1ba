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


@pytest.mark.parametrize(
    ("fail", "lock", "second"), [("0", "", False), ("1", "", True), ("1", "1", False)]
)
def test_the_tested_packages_are_taken_where_the_newest_fail(tmp_path, fail, lock, second):
    for name, text in (("make", MAKE), (".venv/bin/gpucoh", "#!/bin/sh\n")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["sh", str(ROOT / "tools/demo.sh"), "./make"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "FAIL": fail, "LOCK": lock, "CC": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ("again with the tested ones" in done.stdout) == second
    assert "done: figures" in done.stdout
    locked = [line.endswith("LOCK=1") for line in (tmp_path / "calls").read_text().splitlines()]
    assert locked == [*[False] * second, *[second or bool(lock)] * 3]


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
