"""Is a protocol that only the registry knows of in every list of tests, figures and tools, by itself?

The test library (``csrc/tests/mutants.h``) gives a copy of a protocol another id; the package over it knows the
product's protocols and the copy.
"""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gpucoh
from registered import ALL, COHERENT

ROOT = Path(__file__).parents[2]
BASE, ADDED = "tc-strong", "added"
# The test library's own: the example of docs/how-to/add-a-protocol.md, and csrc/tests/tardis.c.
OWN = ("self-inval", "tardis")

# What the tools and the package know of protocols: name -> the texts that name one.
LISTS = """
import json, sys
sys.path[:0] = ["tools", "tests"]
import mutants
mutants.add()
import gpucoh, monitors, registered, weak_outcomes
from gpucoh.fuzz.campaigns import option_ranges
from gpucoh.device.coverage import coverage_of
from gpucoh.figures.looks import protocol_looks
from gpucoh.verify.explorer import small_choice

known = gpucoh.protocols()
runs = list(monitors.matrix("tiny"))
print(json.dumps({
    "registered": {name: value for name, value in vars(registered).items() if name[0].isupper()},
    "weak outcomes": weak_outcomes.meant(),
    "monitors": sorted({run.protocol for run in runs}),
    "monitors, sc": sorted({run.protocol for run in runs if run.consistency == "sc"}),
    "small": {name: dict(small_choice(name).options) for name in known},
    "fuzz": {name: option_ranges(item) for name, item in known.items()},
    "not entered": {
        name: sorted(map(str, coverage_of(item, "sc" if "sc" in item.models else "rc")["L1"].reasons))
        for name, item in known.items()
    },
    "looks": {name: str(look) for name, look in protocol_looks(list(known)).items()},
}))
"""  # fmt: skip

# Every test of the suite with the texts among its parameters. Of a share, each value of each list once: whether a
# protocol is in the list does not depend on where its share begins.
COLLECT = """
import json, sys
sys.path[:0] = ["tools", "tests"]
import mutants
mutants.add()
import pytest, products

def every(*axes, one_in):
    axes = [list(axis) for axis in axes]
    places = range(max(map(len, axes)))
    several = [tuple(axis[place % len(axis)] for axis in axes) for place in places]
    return several if len(axes) > 1 else axes[0]

products.share = every

class Collected:
    def pytest_collection_finish(self, session):
        tests = {}
        for item in session.items:
            given = item.callspec.params.values() if hasattr(item, "callspec") else ()
            tests.setdefault(item.nodeid.partition("[")[0], set()).update(
                one for one in given if isinstance(one, str))
        with open(sys.argv[1], "w") as file:
            json.dump({name: sorted(given) for name, given in tests.items()}, file)

sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", "tests"], plugins=[Collected()]))
"""


def with_the_copy(*command):
    """Carry out a Python command in which the copy is registered: its standard output."""
    package = str(Path(gpucoh.__file__).parents[1])
    paths = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=ROOT, env={**os.environ, "GPUCOH_ADDED": BASE, "PYTHONPATH": paths},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def lists():
    return json.loads(with_the_copy("-c", LISTS))


def test_the_copy_is_registered_beside_the_product_s_protocols():
    listed = json.loads(with_the_copy("tools/mutants.py", "protocols", "--json"))
    assert [item["id"] for item in listed] == [*ALL, *OWN, ADDED]


def test_tests_are_parametrised_with_it_where_they_are_with_its_base(lists):
    for name, listed in lists["registered"].items():
        renamed = [text.replace(BASE, ADDED) for text in listed if text.startswith(BASE)]
        assert [text for text in listed if text.startswith(ADDED)] == renamed, name
    assert sum(ADDED in listed for listed in lists["registered"].values()) >= 4


def test_tools_search_its_weak_outcomes_and_run_its_variations(lists):
    known = gpucoh.protocols()[BASE]
    searched = [test for protocol, test in lists["weak outcomes"] if protocol == ADDED]
    assert searched == list(known.weak_outcomes)
    variations = {text.replace(BASE, ADDED) for text in known.with_variations()}
    assert {text for text in lists["monitors"] if text.startswith(ADDED)} == variations
    assert ADDED in lists["monitors, sc"]


def test_explorer_and_fuzzer_know_its_options_and_cells(lists):
    for name in ("small", "fuzz", "not entered"):
        assert lists[name][ADDED] == lists[name][BASE]
        assert lists[name][ADDED], name


def test_figures_give_it_a_look_of_its_own(lists):
    assert len(set(lists["looks"].values())) == len(lists["looks"])


@pytest.mark.long
def test_every_test_of_all_coherent_protocols_runs_with_it(tmp_path):
    with_the_copy("-c", COLLECT, tmp_path / "tests.json")
    tests = json.loads((tmp_path / "tests.json").read_text())
    of_all = {name: given for name, given in tests.items() if set(given) >= set(COHERENT)}
    assert len(of_all) >= 15
    assert [name for name, given in of_all.items() if ADDED not in given] == []


@pytest.mark.long
def test_it_is_run_explored_and_fuzzed():
    result = json.loads(
        with_the_copy(
            "tools/mutants.py", "run", "stn", "-p", ADDED, "--scale", "tiny", "--check", "--json"
        )
    )
    assert (result["protocol"], result["correct"]) == (ADDED, True)
    bound = ("--cores", "2", "--lines", "1", "--ops", "1")
    found = json.loads(with_the_copy("tools/mutants.py", "verify", "-p", ADDED, *bound, "--json"))
    assert (found["complete"], found["violations"]) == (True, [])
    report = json.loads(
        with_the_copy("tools/mutants.py", "fuzz", "-p", ADDED, "--ops", "3000", "--json")
    )
    assert report["failures"] == []


# ---- and no other file has a list of their names

# Selections, not lists of all: the demo's six, the paper's claims, the counts of its tables 1 and 4, the
# looks that were chosen (other protocols take free ones), and protocols for which a formula holds.
SELECTIONS = {
    "gpucoh/runs/comparison.py",
    "gpucoh/hardware/recognition.py",  # one a family, named before the first run
    "gpucoh/figures/looks.py",
    "tests/papers/test_denovo.py",  # those of its figure 4
    "tests/papers/test_multiverse.py",  # invented cycles
    "tests/unit/test_cpu_cache.py",
    "tools/cuda_tester.py",  # values do not depend on it
    "tools/study_sentences.py",  # of 0.3.0's page
    "tests/unit/test_studies.py",
    "tests/unit/test_traces.py",
    "tests/validation/test_machine_fields.py",
    "tests/validation/test_resource_limits.py",
}


def named_together(text):
    """The most protocols that one list, tuple, set or dictionary of a source names; 0 if the whole names few."""
    known, most = set(ALL), 0
    if len(known & set(re.findall(r"""["']([\w-]+)""", text))) < 4:
        return 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
            parts = node.keys if isinstance(node, ast.Dict) else node.elts
            texts = [part.value for part in parts if isinstance(part, ast.Constant)]
            named = {text.partition("[")[0] for text in texts if isinstance(text, str)}
            most = max(most, len(named & known))
    return most


def test_a_list_of_names_is_seen():
    assert named_together("x = ['no-l1', 'mesi', 'gpu-vi', 'tc-weak[lifetime=1]', 'bfs']") == 4
    assert named_together("x = {'no-l1': 1, 'mesi': 2, 'ideal': 3, 'nothing': 'rfo'}") == 3


def test_no_other_file_lists_protocols():
    files = [
        path for part in ("gpucoh", "tests", "tools", "benchmarks") for path in (ROOT / part).rglob("*.py")
    ]  # fmt: skip
    listing = {
        str(path.relative_to(ROOT)) for path in files if named_together(path.read_text()) >= 4
    }
    assert listing <= SELECTIONS | {str(Path(__file__).relative_to(ROOT))}
