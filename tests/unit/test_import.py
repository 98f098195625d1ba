"""Is ``import gpucoh`` quick and small?"""

import json
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


def imported():
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_importing_gpucoh_leaves_large_packages_out():
    _, _, modules = imported()
    assert [name for name in LATE if name in modules] == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_importing_gpucoh_takes_little_time_and_memory():
    imported()  # compiles
    measured = [imported() for _ in range(5)]
    assert min(peak for _, peak, _ in measured) < 1000 * MEGABYTES
    # Three times the limit, for slow and for busy machines.
    assert min(seconds for seconds, _, _ in measured) < 3 * SECONDS
