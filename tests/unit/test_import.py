"""Is ``import gpucoh`` quick and small?"""

import builtins
import json
import os
import subprocess
import sys

import pytest

import gpucoh
from gpucoh import lang
from gpucoh.lang import intrinsics

SECONDS = 0.25  # processor time, the least of several runs
MEGABYTES = 60  # largest resident set
LATE = ("scipy", "matplotlib", "pandas", "pyarrow", "PIL", "rich", "typer", "tomli_w", "asyncio")
LATE += ("networkx", "pydantic", "tqdm", "multiprocessing", "subprocess")
LATE += (
    "gpucoh.cuda",
    "gpucoh.plot",
    "gpucoh.runs",
    "gpucoh.studies",
    "gpucoh.ptx",
    "gpucoh.suite",
)

IMPORT = """
import json, re, sys, time
import gpucoh
status = open("/proc/self/status").read()
peak = int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]) if "VmHWM" in status else None
print(json.dumps([time.process_time(), peak, sorted(sys.modules)]))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """A function that imports gpucoh in a new process, from bytecode as after an installation."""
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}
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


@pytest.mark.long
def test_importing_gpucoh_leaves_large_packages_out(imported):
    _, _, modules = imported()
    assert [name for name in LATE if name in modules] == []


RUN = """
import json, sys
from gpucoh.cli import call
print(call(["run", "mb-flag", "--scale", "tiny", "--json"]), json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def test_a_run_imports_its_workload_and_its_command_alone():
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    status, modules = done.stderr.splitlines()[-1].split(maxsplit=1)
    assert status == "0"
    left_out = {
        "gpucoh.suite.graphs",
        "gpucoh.cli.compare",
        "gpucoh.cuda",
        "gpucoh.results.trace.trace",
    }
    left_out |= {"pydantic", "matplotlib", "pandas", "scipy", "networkx", "multiprocessing"}
    assert left_out & {*json.loads(modules)} == set()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.long
def test_importing_gpucoh_takes_little_time_and_memory(imported):
    measured = [imported() for _ in range(3)]
    assert min(peak for _, peak, _ in measured) < 1000 * MEGABYTES
    # Twice the limit, for slow and for busy machines.
    assert min(seconds for seconds, _, _ in measured) < 2 * SECONDS


def test_a_star_import_hides_no_function_of_python():
    names = {}
    exec("from gpucoh import *", names)
    assert {"GPU", "kernel", "i32", "barrier"} <= names.keys()
    assert not {"max", "min", "abs", "all", "any"} & names.keys()


def test_the_public_names_are_those_of_the_kernel_language_and_the_package():
    hidden = {name for name in intrinsics.NAMES if hasattr(builtins, name)}
    assert hidden == set(intrinsics.HIDING)
    assert set(intrinsics.NAMES) - hidden <= set(gpucoh.__all__)
    assert all(getattr(gpucoh, name) is getattr(intrinsics, name) for name in intrinsics.NAMES)
    assert set(lang.__all__) >= set(intrinsics.NAMES)
    assert dir(gpucoh) == sorted({*gpucoh.__all__} | hidden)


@pytest.mark.parametrize(
    ("public", "shown", "hidden"),
    [
        (lambda gpu: gpu, {"array", "launch", "stats"}, {"core", "drop", "launch_program"}),
        (lambda gpu: gpu.zeros(4), {"numpy", "shape", "free"}, {"check"}),
        (lambda gpu: gpu.snapshot(), set(), {"core", "arrays"}),
        (lambda gpu: gpu.machine, {"cores", "l1_kib", "replace"}, {"model_dump", "parse_raw"}),
    ],
    ids=["GPU", "Array", "Snapshot", "Machine"],
)
def test_dir_shows_what_is_public(public, shown, hidden):
    names = set(dir(public(gpucoh.GPU(protocol="ideal"))))
    assert shown <= names
    assert not hidden & names
