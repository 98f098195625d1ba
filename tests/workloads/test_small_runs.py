"""Workloads of few items, odd shapes, user files and rare parameters, on a small GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpucoh.suite import workload, workloads
from gpucoh.suite.sorting import sort_words
from products import share
from workloads.small_gpu import small_gpu


def of(names: str, *values: tuple[object, ...]) -> list[dict[str, object]]:
    """Parameters: of the same names, the values of each case."""
    return [dict(zip(names.split(), one, strict=True)) for one in values]


GRIDS = of("rows columns steps steps_per_launch", (1, 1, 1, 3), (5, 33, 3, 3), (40, 7, 4, 3))
PRODUCTS = of("rows inner columns", (1, 1, 1), (17, 5, 33), (16, 48, 16))
SEARCHES = [
    {"generator": generator, "one_launch": one_launch, "levels": 6, "source": 3}
    for generator in ("grid", "kronecker", "uniform")
    for one_launch in (True, False)
]
#: Cases that fill no tile, block or warp, and other values of parameters.
CASES = {
    "bfs": of("flags", ("bytes",), ("words",)),
    "bfs-mask": SEARCHES,
    "bh": of("bodies", (1,), (2,), (65,)),
    "cc": of("rows columns rounds", (2, 2, 3), (9, 33, 3), (3, 40, 3)),
    "cl": of("rows columns iterations", (2, 2, 3), (3, 7, 3), (9, 2, 3)),
    "dgemm": PRODUCTS,
    "dlb": of("particles leaf", (1, 2), (17, 2), (130, 2)),
    "fg-share": of("audits", (False,)),
    "fw": of("vertices arcs", (2, 0), (17, 40)),
    "histogram": of("count", (1,), (3000,), (128 * 128 + 5,)),
    "hsp": GRIDS,
    "hsp-rcc": GRIDS,
    "ht": of("keys buckets mixed", (1, 1, True), (70, 7, True), (70, 7, False), (300, 1, False)),
    "lava": of("boxes particles", (1, 5), (3, 2)),
    "lps": of("nx ny nz steps", (33, 5, 4, 2), (3, 3, 3, 1)),
    "lud": of("tiles base width", (2, 5, 39)),
    "lud-qr": of("tiles base width", (2, 5, 39)),
    "matrixmul": of("side", (4,), (36,)),
    "mst": of("rows columns joining", (1, 1, 32), (1, 9, 32), (7, 33, 32), (16, 16, 384)),
    "ndl": of("tiles", (1,)),
    "nn": of("records", (3,)),
    "pf": of("rows columns pyramid", (9, 1, 4), (4, 700, 20)),
    "pr": of("vertices most iterations", (1, 1, 1), (33, 1, 3), (300, 40, 2)),
    "reduction": of("words", (1,), (2,), (255,), (2049,)),
    "rg": of("rows columns sigma passes", (5, 37, 0.1, 2), (5, 37, 8, 2)),
    "sgemm": PRODUCTS,
    "sort": of("words", (1,), (65,), (200,)),
    "spmv": of("rows elements", (5, 0)),
    "sr": of("rows columns iterations", (5, 35, 2)),
    "st": of("nx ny nz iterations", (3, 3, 3, 3), (65, 7, 5, 2)),
    "stn": of("nx ny nz steps", (3, 5, 3, 3)),
}


@pytest.mark.parametrize(
    ("name", "params"), [(name, one) for name, listed in CASES.items() for one in listed], ids=str
)
def test_it_is_right(name: str, params: dict[str, object]) -> None:
    outcome = workload(name).prepare("tiny", 0, params).run(small_gpu(3))
    assert outcome.correct, outcome.where


@pytest.mark.parametrize(
    "name",
    share(
        [n for n, known in workloads().items() if "placement_seed" in str(known.parameters)],
        one_in=4,
    ),
)
def test_the_order_of_buffers_changes_no_result(name: str) -> None:
    assert workload(name).prepare("tiny", 0, {"placement_seed": 3}).run(small_gpu()).correct


RING = "".join(f"{i} {(i + 1) % 10}\n" for i in range(10))
STAR = "".join(f"0 {i}\n" for i in range(1, 9))
POINTS = "".join(f"{i % 3 * 10 + i / 100},{i % 3}\n" for i in range(150))


@pytest.mark.parametrize(
    ("name", "parameter", "text", "params", "details"),
    [
        ("bfs", "graph", RING, {"source": 0}, {"levels": 6}),
        ("mis", "graph", STAR, {}, {"vertices": 9}),
        ("pr", "graph", STAR, {}, {"vertices": 9}),
        ("kmn", "points", POINTS, {"clusters": 3}, {"points": 150}),
    ],
)
def test_a_file_is_read(
    tmp_path: Path,
    name: str,
    parameter: str,
    text: str,
    params: dict[str, object],
    details: dict[str, int],
) -> None:
    path = tmp_path / "input.csv"
    path.write_text(text)
    outcome = workload(name).prepare("tiny", 0, {parameter: str(path), **params}).run(small_gpu())
    assert outcome.correct
    assert details.items() <= outcome.details.items()


# A sweep of snapc has 3 launches that clear and 3 * 2 - 2 planes; the first region of lulesh is empty, the others are
# evaluated twice.
@pytest.mark.parametrize(
    ("name", "params", "launches"),
    [
        *(("cache-reuse", {"words": 100, "launches": 5, "exchange": exchange, "update": update}, 5)
          for exchange in (False, True) for update in ("replace", "in_place")),
        *(("snapc", {"side": 2, "angles": 2, "groups": 2, "outers": outers, "inners": 2},
           2 + outers * (4 + 2 * (1 + 8 * (3 + 3 * 2 - 2) + 2))) for outers in (1, 2)),
        ("lulesh", {"side": 2, "steps": 2, "regions": 3, "empty": 1}, 2 * (16 + 2 * (5 + 8 * 2))),
    ],
    ids=str,
)  # fmt: skip
def test_launches_are_as_many_as_the_input_says(
    name: str, params: dict[str, object], launches: int
) -> None:
    gpu = small_gpu(2)
    outcome = workload(name).prepare("tiny", 0, params).run(gpu)
    assert outcome.correct, outcome.where
    assert gpu.stats().launches == outcome.details.get("launches", launches) == launches


@pytest.mark.parametrize(("name", "shared"), [("hsp", True), ("hsp-rcc", False)])
def test_only_tiles_of_whole_lines_keep_blocks_from_storing_to_one_line(
    name: str, shared: bool
) -> None:
    gpu = small_gpu(protocol="mesi")
    with gpu.profile() as profile:
        assert workload(name).prepare("tiny", 0).run(gpu).correct
    assert bool(profile().by("buffer").owner_changes.any()) is shared


def test_an_instance_runs_twice_with_the_same_verdict() -> None:
    instance = workload("bfs").prepare("tiny", 0)
    assert instance.run(small_gpu(2)) == instance.run(small_gpu(3))


def test_sort_keeps_the_order_of_equal_bytes() -> None:
    words = np.array([0x102, 0x201, 0x101, 0x202, 0x100, 7, 7], np.int32)
    assert sort_words(small_gpu(), words).correct


@pytest.mark.parametrize("layout", ["place", "vertex"])
def test_apsp_converges_later_if_updates_are_seen_late(layout: str) -> None:
    params = {"vertices": 24, "arcs": 2, "layout": layout}
    instance = workload("apsp").prepare("tiny", 0, params)
    early, late = (instance.run(small_gpu(4, protocol)) for protocol in ("ideal", "no-coh"))
    assert early.correct
    assert late.correct
    assert early.details["launches"] <= late.details["launches"]


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


# no-coh drops a copy that its core writes; gpu-drf keeps it, changed, until the launch ends.
@pytest.mark.parametrize("protocol", ["no-coh", "gpu-drf"])
@pytest.mark.parametrize("name", share(["bc", "bfs", "fw", "mis"], one_in=4))
def test_races_on_stale_copies_change_no_result(name: str, protocol: str) -> None:
    outcome = workload(name).prepare("tiny", 0, {"races": "weak"}).run(small_gpu(4, protocol))
    assert outcome.correct, outcome.where
