"""Do the examples of the how-to pages work as printed?"""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

import gpucoh
from gpucoh.device import outside
from gpucoh.suite.base import REGISTRY
from gpucoh.verify.explorer import verify
from products import share
from registered import ALL, COHERENT

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
# The protocol of the test library whose planted bugs add-a-protocol.md shows.
EXAMPLE = "self-inval"


def blocks(page, language):
    return re.findall(
        rf"```{language}\n(.*?)```", (PAGES / page).read_text(encoding="utf-8"), re.DOTALL
    )


@pytest.fixture
def token_ring(tmp_path, monkeypatch):
    """The workload of add-a-workload.md, registered for one test."""
    gpucoh.workloads()  # all others are registered before
    monkeypatch.setattr(REGISTRY, "_by_id", dict(REGISTRY._by_id))
    path = tmp_path / "tokens.py"
    path.write_text(blocks("add-a-workload.md", "python")[2])
    spec = importlib.util.spec_from_file_location("tokens_of_the_page", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)


def test_the_page_s_own_workload_is_wrong_without_coherence_and_right_with_it(tmp_path):
    path = tmp_path / "ring.py"
    path.write_text(blocks("add-a-workload.md", "python")[0])
    for name in ALL:
        right = name in COHERENT
        result = gpucoh.run(f"{path}:ring", protocol=name, scale="tiny", check=right)
        assert result.correct is right, name


def test_the_page_s_study_of_the_own_workload_runs(tmp_path, monkeypatch):
    own, study = blocks("add-a-workload.md", "python")[:2]
    (tmp_path / "ring.py").write_text(own)
    monkeypatch.syspath_prepend(tmp_path)
    names = {}
    exec(study, names)
    assert names["result"].correct
    assert names["matrix"].failures == []
    assert names["table"].correct.all()


def test_the_page_s_workload_is_right_under_every_protocol_with_a_model(token_ring):
    for name in ALL:
        right = name in COHERENT
        assert (
            gpucoh.run("token-ring", protocol=name, scale="tiny", check=right).correct is right
        ), name


def test_the_page_s_machine_is_read_and_runs(tmp_path):
    path = tmp_path / "fermi8.toml"
    path.write_text(blocks("add-a-machine.md", "toml")[0])
    machine = gpucoh.machine(path)
    assert (machine.derived["l2_total_kib"], machine.derived["dram_gb_per_s"]) == (512, 89.6)
    assert gpucoh.run("bfs", protocol="ideal", machine=machine, scale="tiny").correct


def code(text):
    """The lines of C, without comments and what continues them."""
    lines = (line.partition("/*")[0].strip(" \\\t") for line in text.splitlines())
    return [line for line in lines if line]


def test_the_page_s_lines_are_those_of_the_file_that_new_protocol_writes():
    copies, leases = map(code, blocks("add-a-protocol.md", "c"))
    written = code(outside.skeleton("mine", "leases"))
    without_lease = "[L1_ANSWER] = GO(L1_V, act_fill, act_complete),"
    assert [line for line in copies if not any(line in one for one in written)] == [without_lease]
    assert [line for line in leases if line not in written] == []


def test_copies_of_the_page_s_protocol_without_an_end_violate_the_model(tmp_path):
    text = outside.skeleton("how-to-copies", "leases")
    assert " && !gpc_lease_ended(x)" in text
    path = tmp_path / "copies.c"
    path.write_text(text.replace(" && !gpc_lease_ended(x)", " && false"))  # no store waits
    assert verify(str(path), max_states=200_000).violations


def test_the_page_s_protocol_keeps_the_model(tmp_path):
    path = tmp_path / "leases.c"
    path.write_text(outside.skeleton("how-to-leases", "leases"))
    for rule in ("sc", "rc"):
        found = verify(str(path), consistency=rule, cores=2, lines=1, operations=1)
        assert found.complete
        assert not found.violations
    assert gpucoh.run("stn", path, scale="tiny", check=True).correct


@pytest.fixture
def owners(tmp_path):
    """Write a protocol with owners, with these replacements, and return its path."""

    def write(name, *changes):
        text = outside.skeleton(name, "owners")
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        path = tmp_path / f"{name}.c"
        path.write_text(text)
        return path

    return write


def test_the_protocol_with_owners_keeps_the_model(owners):
    path = owners("how-to-owners")
    for rule in ("sc", "rc"):
        found = verify(str(path), consistency=rule, cores=2, lines=1, operations=1)
        assert found.complete
        assert not found.violations
    scarce = {"l1_kib": 1, "l1_mshrs": 2}
    assert gpucoh.run("stn", path, scale="tiny", check=True, set=scarce).correct


def test_the_protocol_whose_acquires_drop_copies_keeps_the_model(tmp_path):
    path = tmp_path / "acquires.c"
    path.write_text(outside.skeleton("how-to-acquires", "acquires"))
    found = verify(str(path), cores=2, lines=1, operations=1)
    assert found.complete
    assert not found.violations
    scarce = {"l1_kib": 1, "l1_mshrs": 2}
    assert gpucoh.run("stn", path, scale="tiny", check=True, set=scarce).correct


def test_the_explorer_finds_a_copy_beside_an_owner_that_no_value_shows(owners):
    held = "[L1_INV] = GO({}, act_inv_ack),\n        [L1_DATA] = GO(L1_S"
    path = owners("how-to-kept-copy", (held.format("L1_ISI"), held.format("L1_IS")))
    found = verify(str(path), cores=2, lines=1, operations=2)
    assert "single writer or many readers" in found.violations[0].what


def test_an_access_to_a_way_that_is_gone_is_an_error_with_its_cell(owners):
    path = owners(
        "how-to-no-way", ("[L1_RECALL] = GO(L1_MI),", "[L1_RECALL] = GO(L1_MI, act_recall_data),")
    )
    found = verify(str(path), cores=2, lines=1, operations=2)
    assert found.violations[0].kind == "protocol error"
    place = "L1 . of how-to-no-way, table L1, line 0x0, state L1_MI, event L1_RECALL: the line has no way"
    assert re.search(place, found.violations[0].what)
    message = place.replace("0x0", "0x[0-9a-f]+")
    with pytest.raises(gpucoh.ProtocolError, match=message):
        gpucoh.run("bfs", path, scale="tiny", set={"l1_kib": 1})


def test_the_page_names_files_that_exist():
    page = (
        (PAGES / "add-a-protocol.md")
        .read_text(encoding="utf-8")
        .partition("## Where to read on")[2]
    )
    csrc = PAGES.parents[1] / "csrc"
    named = re.findall(r"`([\w/]+\.[ch])`", page)
    assert named
    for name in named:
        assert (csrc / name).is_file() or (csrc / "controller" / name).is_file(), name


def test_the_page_s_planted_bug_is_one_of_the_test_library():
    page = (PAGES / "add-a-protocol.md").read_text(encoding="utf-8")
    source = PAGES.parents[1] / "csrc" / "tests" / "example_planted.c"
    row = re.search(
        r'    BUG\("self-inval!evicted-lease-forgotten".*?\)\),\n',
        source.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert row is not None
    assert row[0] in page


def test_the_example_s_protocol_is_for_tests_alone():
    assert EXAMPLE not in gpucoh.protocols()


def test_the_example_s_protocol_describes_itself(mutant_gpucoh):
    described = mutant_gpucoh.protocols()[EXAMPLE].json
    tables = {unit["name"]: unit["tables"][0] for unit in described["controllers"]}
    assert [state["name"] for state in tables["L1"]["states"]] == ["I", "V", "R", "IV", "II"]
    assert described["models"] == {"sc": "SC", "rc": "RC-MCA"}


@pytest.mark.parametrize(
    "workload", share(["bfs", "stn", "dlb", "cl", "fg-share", "kmn"], one_in=4)
)
def test_the_example_s_protocol_runs_workloads_with_monitors(mutant_gpucoh, workload):
    result = mutant_gpucoh.run(workload, protocol=EXAMPLE, scale="tiny", check=True)
    assert result.correct


def test_the_example_s_protocol_renews_leases_without_data(mutant_gpucoh):
    result = mutant_gpucoh.run("stn", protocol=EXAMPLE, scale="tiny")
    assert result.stats.counters["L2"]["renewals"] > 100


def test_the_example_s_protocol_outlives_its_timestamps(mutant_gpucoh):
    narrow = {"timestamp_bits": 10, "l1_kib": 4}
    result = mutant_gpucoh.run("bfs", protocol=EXAMPLE, scale="tiny", check=True, set=narrow)
    assert result.correct
    assert result.stats.rollovers > 0


@pytest.mark.parametrize(
    "name", share(["MP+fences", "SB+fences", "IRIW+fences", "CoRR+merged", "lock"], one_in=4)
)
def test_the_example_s_protocol_keeps_its_memory_model(mutant_gpucoh, name):
    from gpucoh.litmus import run_test

    assert run_test(name, EXAMPLE, runs=100).ok


@pytest.mark.parametrize("rule", share(["sc", "rc"], one_in=4))
def test_the_explorer_finds_no_violation_of_the_example_s_protocol(mutant_gpucoh, rule):
    from gpucoh.verify.explorer import verify

    result = verify(EXAMPLE, consistency=rule, max_states=60_000)
    assert result.states >= 60_000
    assert not result.violations


@pytest.mark.long
def test_random_programs_enter_every_cell_of_the_example_s_protocol(mutant_gpucoh):
    from gpucoh.fuzz import fuzz

    report = fuzz(EXAMPLE, ops=60_000, seed=1)
    assert report.failures == []
    assert [table.missed for table in report.coverage.values()] == [[], []]
