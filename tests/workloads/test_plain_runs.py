"""The kernels' own source, run thread by thread as plain Python: right where memory is coherent."""

from __future__ import annotations

import numpy as np
import pytest
from plain_gpu import PlainArray, PlainGPU

from gpucoh.suite import workload, workloads
from gpucoh.suite.sorting import sort_words
from products import share


@pytest.mark.parametrize("name", share(list(workloads()), one_in=10))
def test_kernels_are_right_on_coherent_memory(name: str) -> None:
    outcome = workload(name).prepare("tiny", 0).run(PlainGPU(cores=4))
    assert outcome.correct, outcome.where


@pytest.mark.parametrize("seed", share(range(5), one_in=4))
def test_fg_share_is_wrong_and_says_where_on_caches_that_keep_copies(seed: int) -> None:
    # Without a pause a block of PlainGPU takes the lock again before any other looks.
    instance = workload("fg-share").prepare("tiny", seed, {"pause": 1})
    outcome = instance.run(PlainGPU(cores=16, coherent=False))
    assert not outcome.correct
    assert "block" in outcome.where
    assert "stale" in outcome.where


@pytest.mark.parametrize(
    "name",
    share([name for name, known in workloads().items() if not known.needs_coherence], one_in=12),
)
def test_workloads_that_need_no_coherence_are_right_on_caches_that_keep_copies(name: str) -> None:
    outcome = workload(name).prepare("tiny", 0).run(PlainGPU(cores=4, coherent=False))
    assert outcome.correct, outcome.where


@pytest.mark.parametrize(("name", "shared"), [("hsp", True), ("hsp-rcc", False)])
def test_only_tiles_of_whole_lines_keep_blocks_from_storing_to_one_line(
    name: str, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers: dict[tuple[int, int], set[int]] = {}
    write = PlainArray.write

    def recorded(array: PlainArray, index: int, value: object) -> None:
        key = id(array), int(index) // array.line
        writers.setdefault(key, set()).add(id(array.gpu.block))
        write(array, index, value)

    monkeypatch.setattr(PlainArray, "write", recorded)
    assert workload(name).prepare("tiny", 0).run(PlainGPU(cores=4)).correct
    assert (max(map(len, writers.values())) > 1) is shared


def test_an_instance_runs_twice_with_the_same_verdict() -> None:
    instance = workload("bfs").prepare("tiny", 0)
    assert instance.run(PlainGPU(cores=2)) == instance.run(PlainGPU(cores=3))


@pytest.mark.parametrize("flags", ["bytes", "words"])
def test_bfs_is_right_with_flags_of_both_sizes(flags: str) -> None:
    assert workload("bfs").prepare("tiny", 0, {"flags": flags}).run(PlainGPU(cores=2)).correct


def test_bfs_reads_a_graph_from_a_file(tmp_path: object) -> None:
    path = f"{tmp_path}/ring.txt"
    with open(path, "w") as file:
        file.writelines(f"{i} {(i + 1) % 10}\n" for i in range(10))
    outcome = workload("bfs").prepare("tiny", 0, {"graph": path, "source": 0}).run(PlainGPU())
    assert outcome.correct
    assert outcome.details["levels"] == 6


@pytest.mark.parametrize("name", share(["hsp", "hsp-rcc"], one_in=4))
@pytest.mark.parametrize(("rows", "columns", "steps"), [(1, 1, 1), (5, 33, 3), (40, 7, 4)])
def test_hsp_is_right_on_grids_that_fill_no_tile(
    name: str, rows: int, columns: int, steps: int
) -> None:
    params = {"rows": rows, "columns": columns, "steps": steps, "steps_per_launch": 3}
    outcome = workload(name).prepare("tiny", 0, params).run(PlainGPU())
    assert outcome.correct, outcome.where


@pytest.mark.parametrize("words", share([1, 2, 255, 2049], one_in=4))
def test_reduction_sums_any_number_of_words(words: int) -> None:
    outcome = workload("reduction").prepare("tiny", 0, {"words": words}).run(PlainGPU())
    assert outcome.correct, outcome.where


@pytest.mark.parametrize(
    ("shape", "name"), share([(1, 1, 1), (17, 5, 33), (16, 48, 16)], ["sgemm", "dgemm"], one_in=4)
)
def test_products_are_right_on_matrices_that_fill_no_tile(
    name: str, shape: tuple[int, int, int]
) -> None:
    params = dict(zip(("rows", "inner", "columns"), shape, strict=True))
    outcome = workload(name).prepare("tiny", 0, params).run(PlainGPU())
    assert outcome.correct, outcome.where


@pytest.mark.parametrize("sigma", share([0.1, 8], one_in=4))
def test_rg_is_right_on_images_that_fill_no_tile(sigma: float) -> None:
    params = {"rows": 5, "columns": 37, "sigma": sigma, "passes": 2}
    outcome = workload("rg").prepare("tiny", 0, params).run(PlainGPU())
    assert outcome.correct, outcome.where


@pytest.mark.parametrize("count", share([1, 3000, 128 * 128 + 5], one_in=4))
def test_histogram_counts_any_number_of_values(count: int) -> None:
    outcome = workload("histogram").prepare("tiny", 0, {"count": count}).run(PlainGPU())
    assert outcome.correct, outcome.where


@pytest.mark.parametrize("words", share([1, 65, 200], one_in=4))
def test_sort_orders_words_that_fill_no_block(words: int) -> None:
    outcome = workload("sort").prepare("tiny", 0, {"words": words}).run(PlainGPU())
    assert outcome.correct, outcome.where


def test_sort_keeps_the_order_of_equal_bytes() -> None:
    words = np.array([0x102, 0x201, 0x101, 0x202, 0x100, 7, 7], np.int32)
    assert sort_words(PlainGPU(), words).correct


@pytest.mark.parametrize("side", share([4, 36], one_in=4))
def test_matrixmul_is_right_on_matrices_that_fill_no_block(side: int) -> None:
    assert workload("matrixmul").prepare("tiny", 0, {"side": side}).run(PlainGPU()).correct


def test_spmv_is_right_without_elements() -> None:
    assert workload("spmv").prepare("tiny", 0, {"rows": 5, "elements": 0}).run(PlainGPU()).correct


@pytest.mark.parametrize("layout", ["place", "vertex"])
def test_apsp_converges_later_if_updates_are_seen_late(layout: str) -> None:
    params = {"vertices": 24, "arcs": 2, "layout": layout}
    instance = workload("apsp").prepare("tiny", 0, params)
    early, late = (instance.run(PlainGPU(coherent=coherent)) for coherent in (True, False))
    assert early.correct
    assert late.correct
    assert early.details["launches"] <= late.details["launches"]


def test_kmn_reads_points_from_a_file(tmp_path: object) -> None:
    path = f"{tmp_path}/points.csv"
    with open(path, "w") as file:
        file.writelines(f"{i % 3 * 10 + i / 100},{i % 3}\n" for i in range(150))
    outcome = workload("kmn").prepare("tiny", 0, {"points": path, "clusters": 3}).run(PlainGPU())
    assert outcome.correct
    assert outcome.details["points"] == 150


@pytest.mark.parametrize(
    ("generator", "launches"),
    share(["grid", "kronecker", "uniform"], ["one_launch=on", "one_launch=off"], one_in=4),
)
def test_masked_search_agrees_from_any_source(generator: str, launches: str) -> None:
    params = {"generator": generator, "levels": 6, "source": 3}
    params |= dict([launches.split("=")])
    outcome = workload("bfs-mask").prepare("tiny", 0, params).run(PlainGPU(cores=3))
    assert outcome.correct, outcome.where


@pytest.mark.parametrize(("vertex", "change"), [(5, -1), (5, None), (-1, 1)])
def test_a_masked_search_may_take_longer_ways_only(vertex: int, change: int | None) -> None:
    search = (
        workload("bfs-mask")
        .prepare("tiny", 0, {"generator": "grid", "levels": 4, "source": -1})
        .input
    )
    found = search.expected.copy()
    found[found > 1] += 2
    assert search.check_walks(found, 3).correct
    vertex = search.source if vertex < 0 else int(np.argmax(search.expected))
    found[vertex] = -1 if change is None else search.expected[vertex] + change
    assert not search.check_walks(found, 3).correct


def test_fg_share_is_right_without_audits() -> None:
    instance = workload("fg-share").prepare("tiny", 0, {"audits": False})
    assert instance.run(PlainGPU(cores=2)).correct


@pytest.mark.parametrize("update", ["replace", "in_place"])
@pytest.mark.parametrize("exchange", [False, True])
def test_cache_reuse_updates_in_every_launch(exchange: bool, update: str) -> None:
    gpu = PlainGPU()
    params = {"words": 100, "exchange": exchange, "update": update, "launches": 5}
    outcome = workload("cache-reuse").prepare("tiny", 0, params).run(gpu)
    assert outcome.correct
    assert gpu.launches == 5


@pytest.mark.parametrize("params", [{"vertices": 2, "arcs": 0}, {"vertices": 17, "arcs": 40}])
def test_fw_is_right_on_graphs_that_fill_no_tile(params: dict[str, int]) -> None:
    outcome = workload("fw").prepare("tiny", 0, params).run(PlainGPU())
    assert outcome.correct, outcome.where


@pytest.mark.parametrize("name", share(["bc", "bfs", "fw", "mis"], one_in=4))
def test_races_on_stale_copies_change_no_result(name: str) -> None:
    instance = workload(name).prepare("tiny", 0, {"races": "weak"})
    for updates in (False, True):
        outcome = instance.run(PlainGPU(coherent=False, updates=updates))
        assert outcome.correct, outcome.where


def test_mis_reads_a_graph_from_a_file(tmp_path: object) -> None:
    path = f"{tmp_path}/star.txt"
    with open(path, "w") as file:
        file.writelines(f"0 {i}\n" for i in range(1, 9))
    outcome = workload("mis").prepare("tiny", 0, {"graph": path}).run(PlainGPU())
    assert outcome.correct
    assert outcome.details["vertices"] == 9


@pytest.mark.parametrize(
    "name",
    share(
        [name for name, known in workloads().items() if "placement_seed" in str(known.parameters)],
        one_in=4,
    ),
)
def test_the_order_of_buffers_changes_no_result(name: str) -> None:
    assert workload(name).prepare("tiny", 0, {"placement_seed": 3}).run(PlainGPU()).correct


@pytest.mark.parametrize("outers", share([1, 2], one_in=4))
def test_snapc_launches_as_often_as_its_planes_say(outers: int) -> None:
    params = {"side": 2, "angles": 2, "groups": 2, "outers": outers, "inners": 2}
    gpu = PlainGPU(cores=2)
    outcome = workload("snapc").prepare("tiny", 0, params).run(gpu)
    assert outcome.correct, outcome.where
    inner = 1 + 8 * (3 + 3 * 2 - 2) + 2
    assert gpu.launches == outcome.details["launches"] == 2 + outers * (4 + 2 * inner)


def test_lulesh_launches_as_often_as_its_regions_say() -> None:
    params = {"side": 2, "steps": 2, "regions": 3, "empty": 1}
    gpu = PlainGPU(cores=2)
    outcome = workload("lulesh").prepare("tiny", 0, params).run(gpu)
    assert outcome.correct, outcome.where
    # The empty region is the first; the others are evaluated twice.
    assert gpu.launches == outcome.details["launches"] == 2 * (16 + 2 * (5 + 8 * 2))
