"""The workloads of DeNovo: accesses as the originals', checks that fail where memory is incoherent, placement."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from plain_gpu import PlainArray, PlainGPU

import gpucoh
from gpucoh.suite import workload
from gpucoh.suite.chains import Chains
from gpucoh.suite.particles import COUNT, NEIGHBOUR, STEP, box_records, exponential
from gpucoh.suite.semaphores import READER
from gpucoh.suite.treesearch import Tree
from products import rows, share

GLOBAL = ["fam_g", "slm_g", "spm_g", "spmbo_g"]
OWN_LOCKS = ["fam_l", "slm_l", "spm_l", "spmbo_l"]  # and data of their own on each core
OWN_DATA = [*OWN_LOCKS, "ss_l", "ssbo_l"]
TREES = ["tb_lg", "tbex_lg"]
SYNCHRONISED = [*GLOBAL, *OWN_DATA, *TREES, "uts"]
SHORT = {"blocks_per_core": 2, "iterations": 6, "accesses": 3}
POLLING = {"patience": 300}


def short(name: str) -> dict[str, object]:
    """Parameters of a run in plain Python that crosses cores often."""
    if name == "uts":
        return {"nodes": 400, "fertility": 1, "dealt": 16, "patience": 300}
    return SHORT | (POLLING if name[:3] in ("fam", "slm") else {})


class Accesses(PlainGPU):
    """Counts each thread's plain reads and writes by the length of the array."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
        super().__init__(cores)
        self.reads: dict[int, Counter[tuple[int, int]]] = {}
        self.writes: dict[int, Counter[tuple[int, int]]] = {}
        read, write = PlainArray.read, PlainArray.write

        def counted_read(array: PlainArray, index: int, fresh: bool = False) -> Any:
            if not fresh:
                self.count(self.reads, array)
            return read(array, index, fresh)

        def counted_write(array: PlainArray, index: int, value: Any) -> None:
            self.count(self.writes, array)
            write(array, index, value)

        monkeypatch.setattr(PlainArray, "read", counted_read)
        monkeypatch.setattr(PlainArray, "write", counted_write)

    def count(self, counts: dict[int, Counter[tuple[int, int]]], array: PlainArray) -> None:
        thread = self.block.index[0], self.thread.number
        counts.setdefault(len(array), Counter())[thread] += 1


class Elsewhere(PlainGPU):
    """Neighbouring blocks share a core, as under the placement ``first_free``."""

    def core_of(self, block: int, blocks: int) -> int:
        return block * self.machine.cores // blocks


@pytest.mark.parametrize(("version", "pointers"), [("uvm", (2, 2)), ("denovo", (0, 0))])
def test_a_section_has_the_loads_and_stores_of_the_original(
    version: str, pointers: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = Accesses(monkeypatch, cores=2)
    params = {"blocks_per_core": 1, "iterations": 1, "launches": 2, "accesses": 10}
    assert workload("spm_g").prepare("tiny", 0, params | {"version": version}).run(gpu).correct
    chunk = 2 * 11 * 16  # words: two chains of 11 lines
    assert set(gpu.reads[chunk].values()) == {2 * 10}
    assert set(gpu.writes[chunk].values()) == {2 * 10}
    begin = gpu.reads.get(3, Counter())
    assert (begin[0, 0], begin[0, 5]) == (2 * pointers[0], 2 * pointers[1])


@pytest.mark.parametrize(("version", "shifted"), [("uvm", 3), ("denovo", 2)])
def test_readers_load_ten_words_and_writers_ten_of_each_chunk(
    version: str, shifted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = Accesses(monkeypatch, cores=1)
    params = {"iterations": 1, "accesses": 10, "version": version}
    assert workload("ss_l").prepare("tiny", 0, params).run(gpu).correct
    loads, stores = gpu.reads[3 * 352], gpu.writes[3 * 352]  # three chunks of two chains
    assert {block: loads[block, 5] for block in range(3)} == {0: 10 * shifted, 1: 10, 2: 10}
    assert {block: stores[block, 5] for block in range(3)} == {0: 10 * shifted, 1: 0, 2: 0}


def test_chains_count_sections_as_shifts_do() -> None:
    chains = Chains.random(np.random.default_rng(3), 2, 4)
    lines = np.concatenate((chains.fixed[:, None], chains.after(0)), axis=1)
    for section in range(1, 7):
        first = lines[:, 1].copy()
        lines[:, 2:] = lines[:, 1:-1]
        lines[:, 1] = first + lines[:, 0]
        assert np.array_equal(lines[:, 1:], chains.after(section))


@pytest.mark.parametrize(("padded", "name"), share(["on", "off"], SYNCHRONISED, one_in=4))
def test_padded_and_packed_words_are_right(name: str, padded: str) -> None:
    params = short(name) | {"padded": padded}
    outcome = workload(name).prepare("tiny", 1, params).run(PlainGPU(cores=2))
    assert outcome.correct, outcome.where


def test_blocks_of_a_large_machine_wait_longer_before_they_give_up():
    params = {"blocks_per_core": 1, "iterations": 2, "patience": 100}
    for cores, enough in ((16, False), (64, True)):
        run = gpucoh.run("fam_g", "ideal", scale="tiny", params=params, set={"cores": cores})
        assert run.correct is enough
        assert enough or "gave up" in run.where


@pytest.mark.parametrize("name", share([*GLOBAL, *TREES, "uts"], one_in=4))
def test_data_of_several_cores_show_copies_that_are_kept(name: str) -> None:
    gpu = PlainGPU(cores=2, coherent=False, updates=True)
    params = short(name) | ({"patience": 20} if name == "uts" else {})
    outcome = workload(name).prepare("tiny", 0, params).run(gpu)
    assert not outcome.correct
    assert outcome.where


@pytest.mark.parametrize("name", share(OWN_LOCKS, one_in=4))
def test_data_of_one_core_need_its_blocks_on_that_core(name: str) -> None:
    instance = workload(name).prepare("tiny", 0, short(name))
    assert instance.run(PlainGPU(cores=2, coherent=False, updates=True)).correct
    outcome = instance.run(Elsewhere(cores=2, coherent=False, updates=True))
    assert not outcome.correct


def test_readers_notice_a_writer_that_enters_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    read = PlainArray.read

    def whole_count(array: PlainArray, index: int, fresh: bool = False) -> Any:
        count = read(array, index, fresh)
        return 11 * READER + count % READER if len(array) == 32 and index == 0 else count

    instance = workload("ss_l").prepare("tiny", 0, {"iterations": 4, "padded": True})
    assert instance.run(PlainGPU(cores=1)).correct
    monkeypatch.setattr(PlainArray, "read", whole_count)
    assert instance.run(PlainGPU(cores=1)).where.startswith("torn or old sums")


def test_the_ring_of_the_sleep_mutex_wraps() -> None:
    params = {"blocks_per_core": 2, "iterations": 40, "accesses": 2, "slots": 32}
    outcome = workload("slm_g").prepare("tiny", 0, params).run(PlainGPU(cores=2))
    assert outcome.correct, outcome.where
    assert outcome.details["sections"] > 2 * 32


def test_full_stacks_spill_and_empty_ones_refill(monkeypatch: pytest.MonkeyPatch) -> None:
    spilled: list[int] = []
    write = PlainArray.write

    def recorded(array: PlainArray, index: int, value: Any) -> None:
        if len(array) == 401 + 2 * 32 and index < 401:
            spilled.append(array.gpu.block.core)
        write(array, index, value)

    monkeypatch.setattr(PlainArray, "write", recorded)
    outcome = workload("uts").prepare("tiny", 0, short("uts")).run(PlainGPU(cores=2))
    assert outcome.correct, outcome.where
    assert spilled


@pytest.mark.parametrize(("nodes", "fertility"), [(1, 0.9), (2, 0.9), (400, 0.05), (1001, 1)])
def test_every_node_of_a_tree_has_one_parent(nodes: int, fertility: float) -> None:
    tree = Tree.random(np.random.default_rng(0), nodes | 1, fertility)
    children = tree.children[tree.children[:, 0] > 0]
    assert sorted(children.ravel()) == list(range(1, nodes | 1))
    assert tree.depths()[1:].min(initial=1) == 1


def test_a_frontier_has_no_node_above_another() -> None:
    tree = Tree.random(np.random.default_rng(1), 401, 0.6)
    found = set(tree.frontier(40))
    assert len(found) == 40
    level = np.array([node for node in found if tree.children[node, 0]])
    while level.size:
        level = tree.children[level].ravel()
        assert not found & set(level.tolist())
        level = level[tree.children[level, 0] > 0]


def test_rows_of_17_words_make_blocks_store_to_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    writers: dict[tuple[int, int], set[int]] = {}
    write = PlainArray.write

    def recorded(array: PlainArray, index: int, value: Any) -> None:
        key = id(array), int(index) // array.line
        writers.setdefault(key, set()).add(array.gpu.block.index[0])
        write(array, index, value)

    monkeypatch.setattr(PlainArray, "write", recorded)
    assert workload("bp").prepare("tiny", 0).run(PlainGPU()).correct
    assert max(map(len, writers.values())) > 1


def test_boxes_know_all_boxes_around_them() -> None:
    records = box_records(3, 100)
    counts = records[:, COUNT].reshape(3, 3, 3)
    assert counts[1, 1, 1] == 26
    assert counts[0, 2, 0] == 7
    middle = records[13]
    assert middle[NEIGHBOUR::STEP].tolist() == [k for k in range(27) if k != 13]
    assert middle[NEIGHBOUR + 1 :: STEP].tolist() == [100 * k for k in range(27) if k != 13]
    assert box_records(1, 100)[0, COUNT] == 0


@gpucoh.kernel
def power(out: gpucoh.Buffer[gpucoh.f64], x: gpucoh.f64) -> None:
    out[0] = exponential(x)


@pytest.mark.core
@pytest.mark.parametrize("x", [0.0, -1e-9, 1.0, -0.7, 0.34657359, 20.25, -650.0])
def test_the_exponential_of_lava_is_that_of_math(x: float) -> None:
    with gpucoh.GPU(protocol="ideal") as gpu:
        out = gpu.zeros(1, np.float64)
        gpu.launch(power, grid=1, block=1, args=(out, x))
        assert out.numpy()[0] == pytest.approx(math.exp(x), rel=1e-15)


@pytest.mark.parametrize(
    ("name", "params"),
    rows(
        [
            ("pf", {"rows": 9, "columns": 1, "pyramid": 4}),
            ("pf", {"rows": 4, "columns": 700, "pyramid": 20}),
            ("st", {"nx": 3, "ny": 3, "nz": 3}),
            ("st", {"nx": 65, "ny": 7, "nz": 5, "iterations": 2}),
            ("nn", {"records": 3}),
            ("lava", {"boxes": 1, "particles": 5}),
            ("lava", {"boxes": 3, "particles": 2}),
        ],
        one_in=4,
    ),
    ids=str,
)
def test_sizes_that_fill_no_block_are_right(name: str, params: dict[str, object]) -> None:
    outcome = workload(name).prepare("tiny", 0, params).run(PlainGPU(cores=3))
    assert outcome.correct, outcome.where


@pytest.mark.core
@pytest.mark.parametrize("name", share([*OWN_DATA, *TREES, "uts"], one_in=4))
def test_local_scopes_need_static_placement(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import gpucoh

    machine = gpucoh.machine("fermi").replace(cores=2, blocks_per_core=2, placement="first_free")
    params = {"blocks_per_core": 2} | ({} if name == "uts" else {"version": "denovo"})
    options = {"machine": machine, "protocol": "ideal", "scale": "tiny", "check": "races"}
    assert gpucoh.run(name, params=params, **options).correct
    launch = gpucoh.GPU.launch
    monkeypatch.setattr(
        gpucoh.GPU, "launch", lambda *args, placement, **rest: launch(*args, **rest)
    )
    with pytest.raises(gpucoh.SimulationError, match=r"data race: .*scope"):
        gpucoh.run(name, params=params, **options)


@pytest.mark.core
@pytest.mark.parametrize("name", ["ss_l", "ssbo_l", "uts"])
def test_retries_of_one_block_do_not_lock_out_another_for_ever(name: str) -> None:
    import gpucoh

    for protocol in ("tc-strong", "mesi"):
        gpu = gpucoh.GPU(protocol=protocol, budget=2_000_000)
        assert workload(name).prepare("tiny", 0).run(gpu).correct


@pytest.mark.parametrize("scope", ["g", "l"])
def test_compiled_back_off_loops_leave_no_code(scope: str) -> None:
    def cycles(name: str, **params: object) -> int:
        return gpucoh.run(name, "gpu-hrf", "mesh15", scale="tiny", params=params).cycles

    name = {"g": "tb_lg", "l": "spmbo_l"}[scope]
    for version in ("uvm", "denovo"):
        kept = cycles(name, pauses="kept", version=version)
        assert cycles(name, version=version) < kept


@pytest.mark.core
@pytest.mark.parametrize("version", ["uvm", "denovo"])
@pytest.mark.parametrize("name", share([*GLOBAL, *OWN_DATA, *TREES], one_in=4))
def test_both_versions_are_right_and_free_of_races(name: str, version: str) -> None:
    params = {"version": version, "launches": 2}
    run = gpucoh.run(name, "gpu-hrf", "mesh15", scale="tiny", params=params, check="races")
    assert run.correct, run.where


@pytest.mark.core
@pytest.mark.parametrize("name", ["slm_g", "slm_l"])
def test_the_fence_of_the_original_sleep_mutex_is_too_late(name: str) -> None:
    params = {"fence": "after", "patience": 0}
    assert gpucoh.run(name, "no-l1", scale="tiny", params=params).correct
    with pytest.raises(gpucoh.SimulationError, match="data race"):
        gpucoh.run(name, "no-l1", scale="tiny", params=params, check="races")


def test_sums_in_registers_reach_the_records_once_a_box() -> None:
    memory, registers = (
        gpucoh.run("lava", "no-l1", scale="tiny", params={"sums": sums})
        for sums in ("memory", "registers")
    )
    assert memory.correct
    assert registers.correct
    # 8 neighbours of 9 particles: 4 numbers a step, or a box
    assert memory.stats.core.store_instructions == 9 * registers.stats.core.store_instructions
