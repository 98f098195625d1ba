"""Are the counters of the runs of benchmarks/counters.toml the stored ones, and does a moved one leave its reason?"""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

import gpucoh
from gpucoh.papers import load
from gpucoh.papers.runs import bench_of
from gpucoh.papers.scorecard import planned
from scripts import script

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"


counters = script("benchmarks/counters.py")
STORED, NVCC = counters.stored()


@pytest.mark.parametrize("name", counters.runs())
def test_every_counter_of_a_run_is_the_stored_one(name):
    run = counters.runs()[name]
    if reason := counters.left_out(run, NVCC):
        pytest.skip(reason)
    line = counters.report(name, STORED[name], counters.measured(run))
    assert not line, f"{line}\nif the change means it: {counters.STORE}"


def test_the_runs_have_every_protocol_and_are_those_that_are_stored():
    runs = counters.runs()
    assert list(STORED) == list(runs)
    from gpucoh.device import outside

    others = {found.id for _, found in outside._loaded.values()}  # which other tests have loaded
    known = {run["protocol"].partition("[")[0] for run in runs.values()}
    assert known == set(gpucoh.protocols()) - others


def test_the_last_entry_has_the_hash_of_the_stored_counters():
    last = counters.MOVED.read_text(encoding="utf-8").splitlines()[-1]
    assert last == f"- `counters.json` is {counters.digest()}", counters.STORE


@pytest.fixture
def copies(tmp_path, monkeypatch):
    """A tree of its own to store in, with one run, ``hsp-mesi``, of which one counter was stored otherwise."""
    for name, path in (("STORED", counters.STORED), ("MOVED", counters.MOVED)):
        monkeypatch.setattr(counters, name, tmp_path / path.name)
    monkeypatch.setattr(counters, "runs", lambda of=counters.runs: {"hsp-mesi": of()["hsp-mesi"]})
    other = json.loads(json.dumps(STORED["hsp-mesi"]))
    other["l1"]["evictions"] -= 1
    counters.STORED.write_text(json.dumps({"nvcc": NVCC, "runs": {"hsp-mesi": other}}))
    counters.MOVED.write_text("# Head\n\n## 1: The first\n\n- `counters.json` is 0\n")
    return other["l1"]["evictions"]


def called(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["counters.py", *words])
    return counters.main()


def test_a_moved_counter_is_named_with_both_values(copies, monkeypatch, capsys):
    assert called(monkeypatch) == 1
    share = f"({100 / copies:+.2f}%)"
    assert capsys.readouterr().out == (
        f"`hsp-mesi` (`mesi` on `fermi`): l1.evictions {copies} to {copies + 1} {share}\n"
    )


def test_storing_needs_a_reason_and_appends_it(copies, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        called(monkeypatch, "--store")
    assert called(monkeypatch, "--store", "--why", "An example") == 0
    entry = counters.MOVED.read_text().partition("## 2: An example\n\n")[2]
    assert entry.startswith("- `hsp-mesi` (`mesi` on `fermi`): l1.evictions")
    assert entry.endswith(f"- `counters.json` is {counters.digest()}\n")
    assert called(monkeypatch) == 0


# ---- pages


@pytest.fixture
def tool():
    return script("tools/older_pages.py")


def test_a_page_is_older_than_a_later_entry_with_its_protocol_and_machine(
    tool, tmp_path, monkeypatch
):
    monkeypatch.setattr(tool, "MOVED", tmp_path / "moved.md")
    entries = [
        "- `a` (`mesi` on `fermi`): run.cycles 1 to 2",
        "- `a` (`qr` on `apu`): run.cycles 1 to 2",
    ]
    tool.MOVED.write_text("".join(f"## {k}: why\n\n{one}\n" for k, one in enumerate(entries, 1)))
    page = {"after": 1, "protocols": ["mesi", "qr"], "machines": ["fermi"]}
    assert tool.older(page, tool.entries()) == ""
    assert "entry 2" in tool.older(page | {"machines": ["apu"]}, tool.entries())
    assert "before" in tool.older(page | {"after": 0}, tool.entries())


def test_an_older_page_that_is_not_declared_fails(tool, tmp_path, monkeypatch, capsys):
    assert tool.main() == 0
    text = re.sub(r"older = \[.*?\]", "older = []", tool.PAGES.read_text(), flags=re.DOTALL)
    given = tmp_path / "pages.toml"
    given.write_text(re.sub(r"after = 1\b", "after = 0", text, count=1))
    monkeypatch.setattr(tool, "PAGES", given)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    assert tool.main() == 1
    assert "'docs/hardware.md'], or the pages again" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["tc", "rcc", "denovo", "stc", "qr"])
def test_a_paper_s_page_declares_the_protocols_and_machines_of_its_runs(name):
    paper = load(name)
    runs = [
        run
        for bench, pairs in planned(paper, bench_of(paper, scale="tiny"), paper.claims)
        for run in bench.wanted(pairs).values()
    ]
    page = tomllib.loads((FOLDER / "pages.toml").read_text())["pages"][f"docs/fidelity/{name}.md"]
    assert page["machines"] == sorted({str(run.machine) for run in runs})
    assert page["protocols"] == sorted({run.protocol.split("[")[0] for run in runs})
