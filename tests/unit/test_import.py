"""Is ``import gpucoh`` quick and small?"""

import json
import os
import subprocess
import sys

import pytest

SECONDS = 0.4  # processor time, the least of several runs
MEGABYTES = 60  # largest resident set
LATE = ("scipy", "matplotlib", "pandas", "pyarrow", "PIL", "rich", "typer", "tomli_w", "asyncio")

IMPORT = """
import json, re, sys, time
import gpucoh
status = open("/proc/self/status").read()
peak = int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]) if "VmHWM" in status else None
print(json.dumps([time.process_time(), peak, sorted(sys.modules)]))
"""


@pytest.fixture
def imported(tmp_path):
    """A function that imports gpucoh in a new process, from bytecode as after an installation."""
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def once():
        done = subprocess.run(
            [sys.executable, "-P", "-c", IMPORT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    once()
    return once


def test_importing_gpucoh_leaves_large_packages_out(imported):
    _, _, modules = imported()
    assert [name for name in LATE if name in modules] == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_importing_gpucoh_takes_little_time_and_memory(imported):
    measured = [imported() for _ in range(5)]
    assert min(peak for _, peak, _ in measured) < 1000 * MEGABYTES
    # Twice the limit, for slow and for busy machines.
    assert min(seconds for seconds, _, _ in measured) < 2 * SECONDS


def test_a_star_import_hides_no_function_of_python():
    names = {}
    exec("from gpucoh import *", names)
    assert {"GPU", "kernel", "i32", "barrier"} <= names.keys()
    assert not {"max", "min", "abs", "all", "any"} & names.keys()
