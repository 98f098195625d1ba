"""Do objects show themselves in a console and in a notebook, and are the statistics typed?"""

import math
import pickle
import subprocess
import sys
import typing
from html.parser import HTMLParser

import numpy as np
import pytest

import gpucoh
from gpucoh.results import stats as statistics
from gpucoh.results.stats import Stats
from products import share
from registered import ALL


class Checker(HTMLParser):
    """Checks that tags are balanced, and collects the text."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def html_text(item):
    checker = Checker()
    checker.feed(item._repr_html_())
    assert checker.open == []
    return " ".join(checker.text)


@gpucoh.kernel
def scale(a: gpucoh.f32, x: gpucoh.Buffer[gpucoh.f32, "readonly"], n: gpucoh.i32):  # noqa: F821
    if n < 3:
        pass


@pytest.fixture(scope="module")
def matrix():
    return gpucoh.compare(["vec-cpy", "fg-share"], ["no-l1", "no-coh", "tc-weak"], scale="tiny")


@pytest.fixture(scope="module")
def result():
    return gpucoh.run("bfs", protocol="gpu-vini", scale="tiny", check=True)


# ---- display


def test_reprs_are_short_and_say_what_it_is(matrix, result):
    assert repr(matrix) == (
        "<gpucoh.Comparison 2 workloads x 3 protocols, baseline no-l1: 5 correct, 1 wrong>"
    )
    assert repr(result).startswith("<gpucoh.RunResult bfs under gpu-vini on fermi, scale tiny, ")
    assert repr(result.stats).startswith(f"<gpucoh.Stats {result.cycles:,} core cycles, ")
    assert repr(gpucoh.machine("fermi")).startswith(
        "<gpucoh.Machine fermi: 16 cores at 1400 MHz, L1 "
    )
    assert repr(gpucoh.machine("fermi").replace(cores=4)).endswith("; cores=4>")
    assert repr(gpucoh.protocols()["tc-weak"]).startswith("<gpucoh.Protocol tc-weak: ")
    assert repr(scale) == "<gpucoh.kernel scale(a: f32, x: ReadOnly[f32], n: i32)>"


def test_no_repr_has_200_characters(matrix, result):
    machines = [*gpucoh.machines().values(), gpucoh.machine("gcn3").replace(name="own", l1_kib=32)]
    items = [matrix, result, result.stats, *machines, *gpucoh.workloads().values()]
    items += [item for item in result.stats.values() if hasattr(item, "to_dict")]
    for protocol in map(gpucoh.protocols().get, ALL):
        items += [protocol, *protocol.controllers.values()]
    assert {repr(item): len(repr(item)) for item in items if len(repr(item)) >= 200} == {}


def test_a_kernel_that_cannot_be_compiled_has_a_repr():
    @gpucoh.kernel
    def untyped(x):
        pass

    assert repr(untyped) == "<gpucoh.kernel untyped(...)>"
    assert "def untyped" in html_text(untyped)


def test_notebooks_show_tables(matrix, result):
    assert "fg-share" in html_text(matrix)
    assert "wrong" in html_text(matrix)
    assert "correct" in html_text(result)
    assert f"{result.cycles:,}" in html_text(result.stats)
    assert "load_hits" in html_text(result.stats.l1)
    assert "dram_t_rcd" in html_text(gpucoh.machine("fermi"))
    assert "Buffer[gpucoh.f32" in html_text(scale)


def test_a_gpu_and_its_arrays_are_tables_in_notebooks():
    gpu = gpucoh.GPU(protocol="tc-weak[lifetime=400]")
    table = gpu.array(np.arange(100).reshape(10, 10), name="x<1>")
    assert "tc-weak[lifetime=400]" in html_text(gpu)
    assert "x<1>" in html_text(gpu)
    assert html_text(table).endswith("74 75 76 77 .. ..")
    assert html_text(gpu.zeros(3)).endswith("0 0 0")
    gpu.close()
    assert html_text(table).endswith("..")


def test_an_explanation_is_its_text_and_a_folded_table_in_notebooks():
    runs = [gpucoh.run("st", name, scale="tiny", profile=True) for name in ("no-l1", "ideal")]
    text = html_text(gpucoh.explain(*runs))
    assert text.startswith("st: no-l1 takes")
    assert "wait_cycles" in text


@pytest.mark.parametrize("name", share(gpucoh.protocols(), one_in=8))
def test_notebooks_show_a_protocol_s_tables(name):
    protocol = gpucoh.protocols()[name]
    text = html_text(protocol)
    for table in protocol.controllers.values():
        for cell in table.cells():
            assert cell.event in text
            assert cell.actions in text


def test_html_is_escaped():
    run = gpucoh.run(lambda gpu, rng: {"<b>": (np.ones(1), 0)}, protocol="ideal", scale="tiny")
    assert "<b>" not in run._repr_html_()
    assert "&lt;b&gt;[0] is 1.0" in run._repr_html_()


@pytest.mark.long
def test_a_figure_is_an_image_without_pyplot():
    text = (
        "import sys, gpucoh\n"
        "c = gpucoh.compare(['vec-cpy'], ['ideal'], scale='tiny')\n"
        "for figure in (c.plot_speedup(), c.plot_traffic(), c.plot_energy()):\n"
        "    assert figure._repr_png_()[:4] == b'\\x89PNG'\n"
        "    assert not getattr(figure, '_repr_html_', lambda: None)()\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", text], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_means_are_a_table_by_protocol(matrix):
    means = matrix.means()
    assert list(means.index) == list(means.protocol) == ["no-l1", "no-coh", "tc-weak"]
    assert means.loc["no-l1", "speedup"] == 1
    assert means.loc["no-coh", "workloads"] == 1
    assert matrix.to_dict()["means"] == matrix.mean_rows()


# ---- statistics


def test_hit_rates(result):
    l1, dram = result.l1, result.dram
    assert 0 < l1.hit_rate == l1.load_hits / l1.loads < 1
    assert l1.miss_rate == l1.load_misses / l1.loads
    rows = dram.row_hits + dram.row_misses + dram.row_conflicts
    assert dram.row_hit_rate == dram.row_hits / rows
    latency = result.core.load_latency_cycles / result.core.load_instructions
    assert result.core.load_latency == latency
    assert math.isnan(gpucoh.GPU(protocol="no-l1").stats().l1.hit_rate)
    assert "hit_rate" not in l1.to_dict()


def test_the_difference_is_what_ran_in_between():
    @gpucoh.kernel
    def add(x: gpucoh.Buffer[gpucoh.i32]):
        i = gpucoh.global_id()
        x[i] = x[i] + 1

    gpu = gpucoh.GPU(protocol="gpu-vini", check=True)
    x = gpu.zeros(256, np.int32)
    gpu.launch(add, grid=4, block=64, args=(x,))
    first = gpu.stats()
    gpu.launch(add, grid=2, block=64, args=(x,))
    both = gpu.stats()
    second = both - first
    assert isinstance(second, Stats)
    assert second.instructions * 2 == first.instructions
    assert second.l1.stores == both.l1.stores - first.l1.stores == 4
    assert second.traffic.GETX.flits == both.traffic.GETX.flits - first.traffic.GETX.flits
    assert second.traffic.GETX["class"] == "ST"
    assert second.energy.total == pytest.approx(both.energy.total - first.energy.total)
    # A table's size is no count.
    assert (
        second.storage["L2"]["directory"]["entries"] == both.storage["L2"]["directory"]["entries"]
    )
    assert sum(second.histograms["core"]["load_latency"]) == 4
    zero = both - both
    assert zero.cycles == 0
    assert set(zero.to_dict()) == set(both.to_dict())
    assert (both.l1 - first.l1).stores == 4


def test_the_difference_of_different_protocols_counts_missing_messages_as_zero(matrix):
    left, right = (matrix.run("vec-cpy", name).stats for name in ("tc-weak", "no-l1"))
    difference = left - right
    assert difference.cycles == left.cycles - right.cycles
    assert difference.flits() == left.flits() - right.flits()


def test_what_is_not_statistics_cannot_be_subtracted(result):
    with pytest.raises(TypeError):
        result.stats - 1
    with pytest.raises(TypeError):
        result.stats.l1 - result.stats.dram


def test_statistics_survive_pickling(result):
    copy = pickle.loads(pickle.dumps(result.stats))
    assert copy.to_dict() == result.stats.to_dict()
    assert copy.l1.hit_rate == result.l1.hit_rate
    with gpucoh.GPU() as gpu:
        unread = pickle.loads(pickle.dumps(gpu.stats()))
        assert unread.to_dict() == gpu.stats().to_dict()


def test_every_counter_of_the_core_is_declared_with_its_type(result):
    hints = typing.get_type_hints(Stats)
    for name, value in result.stats.items():
        kind = hints[name]
        assert isinstance(value, kind), name
        declared = typing.get_type_hints(kind)
        if kind not in (int, statistics.Energy, statistics.Check):
            counted = [key for key, item in value.items() if isinstance(item, int)]
            assert [key for key in counted if key not in declared] == [], name
