"""Do the examples of the how-to pages work as printed?"""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

import gpucoh
from gpucoh.suite.base import REGISTRY

PAGES = Path(__file__).parents[2] / "docs" / "how-to"


def blocks(page, language):
    return re.findall(
        rf"```{language}\n(.*?)```", (PAGES / page).read_text(encoding="utf-8"), re.DOTALL
    )


@pytest.fixture
def token_ring(tmp_path, monkeypatch):
    """The workload of add-a-workload.md, registered for one test."""
    monkeypatch.setattr(REGISTRY, "_by_id", dict(REGISTRY._by_id))
    path = tmp_path / "tokens.py"
    path.write_text(blocks("add-a-workload.md", "python")[0])
    spec = importlib.util.spec_from_file_location("tokens_of_the_page", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)


def test_the_page_s_workload_is_right_under_every_protocol_with_a_model(token_ring):
    for name in gpucoh.protocols():
        right = name != "no-coh"
        assert (
            gpucoh.run("token-ring", protocol=name, scale="tiny", check=right).correct is right
        ), name


def test_the_page_s_machine_is_read_and_runs(tmp_path):
    path = tmp_path / "fermi8.toml"
    path.write_text(blocks("add-a-machine.md", "toml")[0])
    machine = gpucoh.machine(path)
    assert (machine.derived["l2_total_kib"], machine.derived["dram_gb_per_s"]) == (512, 89.6)
    assert gpucoh.run("bfs", protocol="ideal", machine=machine, scale="tiny").correct
