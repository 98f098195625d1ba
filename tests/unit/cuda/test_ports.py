"""The comparison of ports with their originals (tools/cuda_ports.py), without the originals."""

import dataclasses
import importlib.util
import math
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gpucoh
from gpucoh.suite import find

TOOL = Path(gpucoh.__file__).parents[1] / "tools" / "cuda_ports.py"


@pytest.fixture(scope="module")
def ports():
    spec = importlib.util.spec_from_file_location("cuda_ports", TOOL)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cuda_ports", module)
        patch.syspath_prepend(TOOL.parent)
        spec.loader.exec_module(module)
        yield module


@pytest.fixture(scope="module")
def table(ports):
    return list(ports.pairs(tomllib.loads(ports.TABLE.read_text(encoding="utf-8"))))


def pair(ports, **fields):
    given = {"workload": "w", "folder": "f", "sources": ["a.cu"], "arguments": "", **fields}
    return ports.Pair(**given)


def test_every_pair_of_the_table_has_a_workload_and_arguments_that_it_gives(ports, table):
    for one in table:
        find(one.workload)
        assert "{" not in one.arguments.format(**ports.Port.of(one).values())
        assert not one.files or one.files in ports.FILES


def test_a_pair_without_a_check_or_with_an_unknown_field_is_refused(ports):
    given = {"workload": "w", "folder": "f", "sources": [], "arguments": ""}
    with pytest.raises(ValueError, match="its check"):
        list(ports.pairs({"pair": [given]}))
    with pytest.raises(TypeError):
        list(ports.pairs({"pair": [{**given, "says": "x", "sorces": []}]}))


def test_the_arrays_of_a_workload_are_kept_as_they_begin_and_end(ports):
    port = ports.Port.of(
        pair(ports, workload="pf", says="x", parameters={"columns": 500, "rows": 4})
    )
    port.run(ports.BASELINE)
    assert not port.side.wrong
    source, target, wall = port.first
    assert source.any()
    assert not target.any()
    assert port.last[1].any()
    assert (port.last[2] == wall).all()


@pytest.mark.parametrize(
    ("data", "why"),
    [([1, 2, 3], ""), ([1, 2, 4], "1 of 3 words differ"), ([1, 2], "copy 1 has 8 bytes")],
)
def test_results_are_compared_word_by_word(ports, tmp_path, monkeypatch, data, why):
    monkeypatch.chdir(tmp_path)
    np.zeros(1, np.int32).tofile("out-0.bin")
    np.array(data, np.int32).tofile("out-1.bin")
    results = (ports.Copy(-1, 0),) if not why.startswith("copy") else (ports.Copy(1, 0),)
    found = ports.differences(pair(ports, results=results), [np.array([1, 2, 3], np.int32)])
    assert found.startswith(why)
    assert bool(found) == bool(why)


def test_a_result_that_was_not_copied_is_a_difference(ports, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = (ports.Copy(0, 0),)
    assert "no copy 0" in ports.differences(pair(ports, results=results), [np.zeros(1)])


def test_cells_are_bold_where_numbers_are_apart(ports):
    assert ports.cell(1.0, 1.04, 0.05, "{:.2f}") == "1.00 / 1.04"
    assert ports.cell(1.0, 1.06, 0.05, "{:.2f}") == "**1.00 / 1.06**"
    assert ports.cell(math.nan, 1.0, 0.05, "{:.2f}") == "-"


def test_a_row_has_counts_speedups_and_faults(ports, monkeypatch):
    monkeypatch.setattr(ports, "toolkit", lambda: SimpleNamespace(version="13"))
    port = ports.Port.of(pair(ports, workload="nn", says="x", parameters={"records": 500}))
    for protocol in ports.PROTOCOLS:
        port.run(protocol)
    row = ports.Row(port.pair, port.side, dataclasses.replace(port.side, wrong={"mesi": "why"}))
    assert not any("**" in cell for cell in [*ports.counts(row), *ports.speedups(row)])
    assert ports.results(row) == "**not under `mesi`**"
    table = {"head": "{speedups} of {all}{uncounted}", "left_out": {"uts": "why"}}
    for part in ("1 of 1\n", "| `nn` |", "## What is not compared"):
        assert part in ports.page([row], table)
    on_purpose = ports.Row(dataclasses.replace(port.pair, counted=False), port.side, row.theirs)
    assert "1 of 1 `nn` differs on purpose" in ports.page([row, on_purpose], table)
    kept = ports.kept(ports.Row(port.pair), ports.page([row], table))
    assert list(kept.cells) == list(row.cells)
    with pytest.raises(ValueError, match="no row `nn`"):
        ports.kept(ports.Row(port.pair), "")
    row.theirs = ports.Side()
    assert set(ports.counts(row)) | set(ports.speedups(row)) == {"-"}
    assert "0 of 1\n" in ports.page([row], table)
