"""QuickRelease and its baselines: what is explored completely, and what copies are dropped for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpucoh
from gpucoh.device.gpu import resolve
from gpucoh.fuzz import fuzz
from gpucoh.litmus import run_test
from gpucoh.verify.explorer import explore, verify
from gpucoh.verify.library import find_all
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import parse
from products import share
from verification.explorations import passes

SHAPES = ("CoRR", "CoRW", "CoWR", "MP+F", "MP+rel+acq", "SB+F")
LONG = [pytest.param(name, marks=pytest.mark.long) for name in ("rfo", "qr")]
MODEL = {"wt": "RCc", "rfo": "RC-MCA", "rfo[l2=store]": "RC-MCA", "qr": "RCc"}
# Of qr, whose stores may wait in six write caches, these have more states than a test may visit.
LARGE = ("IRIW", "SB+rel+acq")
BOUND = 10_000
CAUSAL = {
    "WRC": "0: st x 1 | 1: ld x; F; st y 1 | 2: ld y; F; ld x",
    "WRC on two cores": "0: st x 1 | 0: ld x; F; st y 1 | 1: ld y; F; ld x",
    "RWC": "0: st x 1 | 1: ld x; F; ld y | 2: st y 1; F; ld x",
    "IRIW": "0: st x 1 | 1: ld x; F; ld y | 2: st y 1 | 3: ld y; F; ld x",
    "SB+rel+acq": "0: st.release x 1; ld.acquire y | 1: st.release y 1; ld.acquire x",
}


@pytest.mark.parametrize("protocol", ["wt", *LONG])
def test_two_threads_are_explored_completely(protocol):
    found = verify(protocol, tests=find_all(SHAPES))
    assert found.complete
    assert found.ok, found


@pytest.mark.long
def test_acknowledgements_of_many_banks_are_bounded_and_hold_up_no_core():
    # On a mesh the L1s answer more slowly than banks may invalidate: unbounded, the acknowledgements filled the pool of
    # messages; and a far L1, whose outbox of them is always full, never sent its core's release.
    run = gpucoh.run("tb_lg", "qr", machine="mesh15", scale="tiny", check="protocol")
    assert run.correct, run.where


@pytest.mark.parametrize(("shape", "protocol"), share(CAUSAL, MODEL, one_in=4))
def test_causality_is_explored_completely_and_under_qr_the_largest_up_to_a_bound(shape, protocol):
    program, bounded = parse(CAUSAL[shape]), protocol == "qr" and shape in LARGE
    allowed, bound = allowed_outcomes(program, MODEL[protocol]), BOUND if bounded else 300_000
    found = explore(protocol, program, allowed=allowed, evictions=0, max_states=bound)
    assert found["complete"] != bounded
    assert found["states"] > (BOUND if bounded else 1000)
    assert not found["violations"]


@pytest.mark.long
@pytest.mark.parametrize("options", ["clean=off", "clean=on"])
def test_one_line_is_explored_completely_with_evictions(options):
    """Under ``clean=on`` blocks leave at any time."""
    found = verify(f"qr[{options}]", cores=2, lines=1, operations=1)
    assert found.complete
    assert found.ok, found


def cells_not_entered(choice, controller, entered):
    """Cells of the controller's first table that are not entered; those that keep a line from eviction never are."""
    table = resolve(choice).selected.controllers[controller]
    cells = (cell for cell in table.cells() if "NOT_A_VICTIM" not in cell.actions)
    return {(cell.state, cell.event) for cell in cells} - {
        (table.states[one // len(table.events)], table.events[one % len(table.events)])
        for one in entered
    }


@pytest.mark.long
def test_every_cell_of_rfo_with_a_tracked_l2_is_entered_and_no_program_is_wrong():
    """Also those for a line that the L2 has evicted while L1s share it, and for victims that cross with requests."""
    programs = [  # evictions, whether caches begin warm, the text
        (2, False, "0: ld x | 1: ld x | 2: ld x | 3: ld x"),
        (3, False, "0: ld x; st x 1 | 1: ld x; ld x"),
        (4, False, "0: st x 1 | 1: st x 2 | 2: ld x"),
        (1, True, "0: ld x; st x 1 | 0: ld x; st x 2 | 1: st x 2"),
    ]
    name, controllers = "rfo", ("L1", "L2")
    entered: dict[str, set[int]] = {controller: set() for controller in controllers}
    for evictions, warm, text in programs:
        program = replace(parse(text), warm=warm)
        found = passes(name, program, MODEL[name], evictions=evictions)
        for controller in controllers:
            entered[controller] |= set(found["cells"][controller])
    assert not any(cells_not_entered(name, each, entered[each]) for each in controllers)


@pytest.mark.long
def test_every_cell_of_the_memory_side_of_qr_is_entered():
    """Also those that need words to pass while the block is fetched."""
    programs = [  # two variables on a line, evictions, the text, a bound of states
        (False, 0, "0: ld x; ld x | 1: st x 1; F; ld x", BOUND),
        (True, 0, "0: ld x | 1: st x 1; st x 2; st y 2; ld x", 4 * BOUND),
        (True, 0, "0: add x 1 | 1: st x 2; st y 2; ld x", 2 * BOUND),
        (True, 0, "0: add x 1 | 1: st y 2; add x 2", BOUND),
        (True, 0, "0: ld x | 1: st x 1; st y 2; add x 1", 2 * BOUND),
        (False, 1, "0: ld x | 1: st x 1; add x 1", BOUND),
        (False, 0, "0: add x 1 | 1: add x 1", BOUND),
        (False, 0, "0: ld x | 1: ld x", BOUND),
    ]
    entered: set[int] = set()
    for packed, evictions, text, bound in programs:
        program = replace(parse(text), packed=packed)
        found = explore("qr[clean=on]", program, evictions=evictions, max_states=bound)
        assert not found["violations"]
        entered |= set(found["cells"]["L3"])
    assert not cells_not_entered("qr", "L3", entered)


STORE_BAR_ATOMIC = parse("0: st x 1; bar; add y 1 | 1: st y 1; bar; add x 1")


@pytest.mark.parametrize(("barrier", "weak"), [("local", True), ("release", False)])
def test_a_barrier_of_the_block_brings_stores_to_memory_if_it_is_a_release(barrier, weak):
    choice, bound = f"qr[barrier={barrier}]", 50_000
    found = passes(choice, STORE_BAR_ATOMIC, "RCc", evictions=0, max_states=bound)
    assert any(outcome[:2] == [0, 0] for outcome in found["outcomes"]) == weak


@pytest.mark.parametrize("barrier", ["local", "release"])
@pytest.mark.parametrize("protocol", ["wt", "qr"])
def test_a_release_after_a_barrier_covers_what_its_block_wrote_before(protocol, barrier):
    program = parse("0: st x 1; bar | 0: bar; st.release y 1 | 1: ld.acquire y; ld x")
    choice = f"{protocol}[barrier={barrier}]"
    passes(choice, program, "RCc", evictions=0, max_states=50_000)


@pytest.mark.parametrize("barrier", ["local", "release"])
def test_a_release_after_its_waves_barrier_has_a_marker_of_its_own(barrier):
    program = parse("0: st y 1; bar; st x 1; F; add y 1 | 1: ld.acquire y; ld x")
    passes(f"qr[barrier={barrier}]", program, "RCc", evictions=0, max_states=50_000)


@pytest.mark.long
def test_a_release_of_a_core_without_writes_passes_on_what_it_has_read():
    """A whole block is written: a wL2 serves reads of it, and invalidates no copy until it leaves."""
    program = "0: st x 1; st y 1 | 1: ld.acquire x; add.release z 1 | 2: ld.acquire z; ld x"
    program = replace(parse(program), packed=True, warm=True)
    passes("qr[clean=on,sync_sc=on]", program, "RCc", evictions=0, max_states=200_000)


def test_a_store_that_a_wave_reads_early_on_its_core_may_be_in_memory_later():
    program = parse("0: st x 1 | 0: ld.acquire x; add y 1 | 1: st y 1; F; add x 1")
    allowed = allowed_outcomes(program, "RCc")
    found = explore("qr", program, allowed=allowed, evictions=0, max_states=60_000)
    assert not found["violations"]
    assert (1, 0, 0, 1, 1) in allowed


@pytest.mark.parametrize("options", ["fifo=4", "inv=ack"])
def test_random_programs_pass_with_short_fifos_and_acknowledged_invs(options):
    report = fuzz(f"qr[{options}]", ops=8000, shrink=False)
    assert not report.failures
    assert report.ops >= 8000


def test_sync_sc_makes_releases_and_acquires_sequentially_consistent():
    program = parse("0: st.release x 1; ld.acquire y | 1: st.release y 1; ld.acquire x")
    passes("qr[sync_sc=on,clean=on]", program, "SC", evictions=0)


@pytest.mark.parametrize(
    ("name", "options"),
    share(
        ["MP+fences", "SB+fences", "WRC+fences", "IRIW+fences", "CoRR", "lock"],
        ["fifo=4", "inv=ack", "sync_sc=on"],
        one_in=8,
    ),
)
def test_litmus_tests_pass_with_short_fifos_acknowledged_invs_and_sync_sc(name, options):
    result = run_test(name, f"qr[{options}]", runs=60)
    assert result.ok, result.forbidden or result.reason


@pytest.mark.parametrize("workload", ["apsp", "bfs", "kmn-qr"])
def test_rfo_with_a_tracked_l2_keeps_its_invariants_in_the_papers_workloads(workload):
    run = gpucoh.run(
        workload,
        protocol="rfo",
        machine="apu",
        scale="tiny",
        set={"start_skew": 256},
        check=True,
    )
    assert run.correct


@pytest.mark.parametrize("workload", ["bfs", "apsp"])
def test_copies_are_dropped_for_invs_only(workload):
    levels = {}
    for protocol in ("wt", "qr"):
        run = gpucoh.run(workload, protocol=protocol, machine="apu", scale="tiny").to_dict()
        levels[protocol] = run["l1"] | run["counters"]["L1"]
    assert levels["qr"]["hits_across_acquires"] > 0 == levels["wt"]["hits_across_acquires"]
    assert levels["qr"]["self_invalidations"] == 0 < levels["wt"]["self_invalidations"]
    assert levels["qr"]["invalidations"] == levels["qr"]["invalidations_hit"]


@gpucoh.kernel
def swap_store(x: gpucoh.Buffer[gpucoh.i32], out: gpucoh.Buffer[gpucoh.i32]):
    gpucoh.atomic_exch(x, 0, 5)
    x[0] = 7
    out[0] = x[1]  # flushes the store while the swap is on its way
    gpucoh.fence()
    out[1] = x[1]


@gpucoh.kernel
def compare_beside_store(x: gpucoh.Buffer[gpucoh.i32], out: gpucoh.Buffer[gpucoh.i32]):
    if gpucoh.block_id() == 0:
        gpucoh.atomic_cas(x, 0, 2, 3)
        gpucoh.sleep(3000)
        out[0] = x[1]
    else:
        gpucoh.sleep(20)
        gpucoh.store(x, 0, 7, order="relaxed")


@pytest.mark.parametrize(("kernel", "blocks"), [(swap_store, 1), (compare_beside_store, 2)])
def test_a_store_that_overtakes_an_atomic_on_its_way_to_the_memory_side_is_the_later_one(
    kernel, blocks
):
    gpu = gpucoh.GPU(protocol="qr", check="protocol")
    x, out = gpu.array(np.ones(32, np.int32)), gpu.zeros(32, np.int32)
    for _ in range(2):  # the copies outlive the first launch
        gpu.launch(kernel, grid=blocks, block=1, args=(x, out))
    assert x.numpy()[0] == 7


@gpucoh.kernel
def add_to_lines(x: gpucoh.Buffer[gpucoh.i32]):
    first = 512 * (gpucoh.thread_id() // 32)
    for i in range(16):
        gpucoh.atomic_add(x, first + 32 * i, 1)


def test_atomics_wait_for_a_place_in_a_short_fifo():
    gpu = gpucoh.GPU(protocol="qr[fifo=2]", check="protocol")
    x = gpu.zeros(32 * 16 * 8, np.int32)
    gpu.launch(add_to_lines, grid=1, block=256, args=(x,))  # 128 atomics of one core
    assert (x.numpy()[::32] == 32).all()
