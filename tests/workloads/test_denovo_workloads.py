"""The workloads of DeNovo: accesses as the originals', checks that fail where memory is incoherent, placement."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gpucoh
from gpucoh.suite import semaphores, workload
from gpucoh.suite.chains import Chains
from gpucoh.suite.particles import COUNT, NEIGHBOUR, STEP, box_records, exponential
from gpucoh.suite.treesearch import Tree
from products import share
from workloads.small_gpu import small_gpu

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


def accesses(name: str, cores: int, params: dict[str, object]) -> Any:
    """A run's instructions, and loads and stores of lines, by buffer."""
    gpu = small_gpu(cores)
    with gpu.profile() as profile:
        assert workload(name).prepare("tiny", 0, params).run(gpu).correct
    return profile().by("buffer").set_index("buffer")


# A warp's two chains are two lines, so that an access of a warp is two of lines.
@pytest.mark.parametrize(("version", "pointers"), [("uvm", 2), ("denovo", 0)])
def test_a_section_has_the_loads_and_stores_of_the_original(version: str, pointers: int) -> None:
    params = {"blocks_per_core": 1, "iterations": 1, "launches": 2, "accesses": 10}
    found = accesses("spm_g", 2, params | {"version": version})
    blocks_and_launches = 2 * 2
    data = found.loc[["chunks.data", "chunks.fixed"]].sum()
    assert data.instructions == blocks_and_launches * 2 * 10
    assert data.l1_loads == data.l1_stores == blocks_and_launches * 2 * 10
    assert found.loc["lock.numbers"].instructions == blocks_and_launches * pointers


@pytest.mark.parametrize(("version", "shifted"), [("uvm", 3), ("denovo", 2)])
def test_readers_load_ten_words_and_writers_ten_of_each_chunk(version: str, shifted: int) -> None:
    found = accesses("ss_l", 1, {"iterations": 1, "accesses": 10, "version": version})
    data = found.loc[["chunks.data", "chunks.fixed"]].sum()
    assert data.l1_loads == 2 * (10 * shifted + 10 + 10)
    assert data.l1_stores == 2 * 10 * shifted


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
    outcome = workload(name).prepare("tiny", 1, params).run(small_gpu(2))
    assert outcome.correct, outcome.where


def test_blocks_of_a_large_machine_wait_longer_before_they_give_up():
    params = {"blocks_per_core": 1, "iterations": 2, "patience": 100}
    for cores, enough in ((16, False), (64, True)):
        run = gpucoh.run("fam_g", "ideal", scale="tiny", params=params, set={"cores": cores})
        assert run.correct is enough
        assert enough or "gave up" in run.where


@pytest.mark.parametrize("version", ["uvm", "denovo"])
def test_an_update_that_a_chunk_lost_is_found(version: str) -> None:
    chains = Chains.random(np.random.default_rng(3), 2, 4)
    chunks = chains.on(small_gpu(), version)
    for line, sections in ((4, 1), (1, 0)):  # a stale word of the last line, then of the first
        right = chunks.data.numpy().reshape(4, 5, 16)
        right[:, 1:] = chains.after(2)
        wrong = right.copy()
        wrong[1, line, 7] = chains.after(sections)[1, line - 1, 7]
        for words, correct in ((right, True), (wrong, False)):
            chunks.data[:] = words.ravel()
            assert chains.check(chunks, 2, {}).correct is correct
    assert chains.check(chunks, 2, {}).where.startswith("line[1, 0, 7] is")


@gpucoh.device
def let_in(words, at, waiting, writes, free, state, rank):  # type: ignore[no-untyped-def]
    if rank == 0:
        state[semaphores.ENTERED] = 1
    gpucoh.barrier()


def test_readers_notice_a_writer_that_enters_beside_them(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = workload("ss_l").prepare("tiny", 0, {"iterations": 4, "padded": True})
    assert instance.run(small_gpu(1)).correct
    monkeypatch.setattr(semaphores, "look_inside", let_in)
    outcome = instance.run(small_gpu(1))
    assert outcome.where.startswith("torn or old sums"), outcome.where


def test_the_ring_of_the_sleep_mutex_wraps() -> None:
    params = {"blocks_per_core": 2, "iterations": 40, "accesses": 2, "slots": 32}
    outcome = workload("slm_g").prepare("tiny", 0, params).run(small_gpu(2))
    assert outcome.correct, outcome.where
    assert outcome.details["sections"] > 2 * 32


def test_full_stacks_spill_and_empty_ones_refill() -> None:
    gpu = small_gpu(2)
    with gpu.profile() as profile:
        outcome = workload("uts").prepare("tiny", 0, short("uts")).run(gpu)
    assert outcome.correct, outcome.where
    sources = set(profile().by("line").query("instructions > 0").source.str.strip())
    assert {"stacks.tasks[top + 1] = right", "stacks.heads[0] = stacks.heads[0] - head"} <= sources


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


def test_rows_of_17_words_make_blocks_store_to_one_line() -> None:
    gpu = small_gpu(protocol="mesi")
    with gpu.profile() as profile:
        assert workload("bp").prepare("tiny", 0).run(gpu).correct
    assert profile().by("buffer").set_index("buffer").loc["weights"].owner_changes > 0


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


@pytest.mark.parametrize("x", [0.0, -1e-9, 1.0, -0.7, 0.34657359, 20.25, -650.0])
def test_the_exponential_of_lava_is_that_of_math(x: float) -> None:
    with gpucoh.GPU(protocol="ideal") as gpu:
        out = gpu.zeros(1, np.float64)
        gpu.launch(power, grid=1, block=1, args=(out, x))
        assert out.numpy()[0] == pytest.approx(math.exp(x), rel=1e-15)


@pytest.mark.parametrize("name", share([*OWN_DATA, *TREES, "uts"], one_in=4))
def test_local_scopes_need_static_placement(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("name", ["ss_l", "ssbo_l", "uts"])
def test_retries_of_one_block_do_not_lock_out_another_for_ever(name: str) -> None:
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


@pytest.mark.parametrize("version", ["uvm", "denovo"])
@pytest.mark.parametrize("name", share([*GLOBAL, *OWN_DATA, *TREES], one_in=4))
def test_both_versions_are_right_and_free_of_races(name: str, version: str) -> None:
    params = {"version": version, "launches": 2}
    run = gpucoh.run(name, "gpu-hrf", "mesh15", scale="tiny", params=params, check="races")
    assert run.correct, run.where


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
