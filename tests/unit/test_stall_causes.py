"""Is a cycle without an issue charged to the warp that holds up the others, under the cause of its wait?"""

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, i32

PARTS = ("memory_order", "fence")  # sums of other causes


@gpucoh.kernel
def sleeper(x: Buffer[i32], who: i32, n: i32):
    if gpucoh.warp_id() == who:
        for _i in range(n):
            gpucoh.sleep(500)
    gpucoh.barrier()
    x[gpucoh.thread_id()] = 1


@gpucoh.kernel
def adder(x: Buffer[i32], who: i32):
    if gpucoh.warp_id() == who:
        for _i in range(20):
            gpucoh.atomic_add(x, 100, 1, order="acq_rel")
    gpucoh.barrier()
    x[gpucoh.thread_id()] = 1


@gpucoh.kernel
def handover(x: Buffer[i32], ready: Buffer[i32], n: i32):
    """Block 0 sets the flags, after some time; block 1 polls them."""
    for i in range(n):
        if gpucoh.block_id() == 0:
            gpucoh.sleep(2000)
            gpucoh.store(ready, i, 1)
        else:
            while gpucoh.load(ready, i, order="acquire") == 0:
                pass


@gpucoh.kernel
def spin(x: Buffer[i32], locks: Buffer[i32], n: i32):
    """Each thread adds to one of n words under its lock."""
    h = gpucoh.global_id() % n
    done = False
    while not done:
        if gpucoh.atomic_cas(locks, h, 0, 1, order="acquire") == 0:
            x[h] = x[h] + 1
            gpucoh.atomic_exch(locks, h, 0, order="release")
            done = True


@gpucoh.kernel
def spin_at_barriers(x: Buffer[i32], locks: Buffer[i32], n: i32):
    """As ``suite.mutexes``: the outcome of an attempt reaches the loop's end through the scratchpad."""
    held = gpucoh.shared(i32, 1)
    if gpucoh.thread_id() == 0:
        held[0] = 0
    gpucoh.barrier()
    while held[0] == 0:
        if gpucoh.thread_id() == 0 and gpucoh.atomic_cas(locks, 0, 0, 1, order="acquire") == 0:
            held[0] = 1
        gpucoh.barrier()
    if gpucoh.thread_id() == 0:
        x[0] = x[0] + 1
        gpucoh.atomic_exch(locks, 0, 0, order="release")


@gpucoh.kernel
def probe(keys: Buffer[i32], next: Buffer[i32], n: i32):
    """A walk and a search: loops that end by a loaded value, but of another word each time."""
    at = gpucoh.global_id()
    while next[at] != at:
        at = next[at]
    while gpucoh.atomic_cas(keys, at, 0, 1) != 0:
        at = (at + 1) % n


@gpucoh.kernel
def repeat(x: Buffer[i32], out: Buffer[i32], n: i32):
    """A word that a counted loop reads again is no poll."""
    total = 0
    for _i in range(n):
        total += gpucoh.load(x, 0, order="relaxed")
    out[gpucoh.global_id()] = total


def launched(kernel, *args, grid=1, block=32, protocol="no-l1", arrays=2):
    gpu = gpucoh.GPU(protocol=protocol)
    given = [gpu.zeros(512, np.int32) for _ in range(arrays)]
    gpu.launch(kernel, grid=grid, block=block, args=(*given, *args))
    stats = gpu.stats()
    charged = (n for cause, n in stats.stalls.items() if cause not in (*PARTS, "launch"))
    assert sum(charged) + stats.core.issue_cycles == stats.core.active_cycles
    return stats


@pytest.mark.parametrize("warps", [2, 8])
@pytest.mark.parametrize("who", [0, 1])
def test_the_warp_that_holds_up_a_barrier_is_charged(warps, who):
    asleep = launched(sleeper, who, 20, block=32 * warps, arrays=1)
    assert asleep.stalls.sleep >= 9_900
    assert asleep.stalls.barrier == 0
    assert asleep.core.barrier_blocked_cycles >= 10_000
    busy = launched(adder, who, block=32 * warps, arrays=1)
    atomics = busy.stalls.memory_order_atomic + busy.stalls.fence_atomic + busy.stalls.fence_release
    assert atomics + busy.stalls.scoreboard > 0.8 * busy.core.barrier_blocked_cycles > 4_000
    assert busy.stalls.barrier == 0


def test_no_cycle_is_passed_on_by_a_single_warp():
    assert launched(sleeper, 0, 20, arrays=1).core.barrier_blocked_cycles == 0


@pytest.mark.parametrize("protocol", ["no-l1", "tc-weak", "gpu-vi"])
def test_polls_are_a_cause(protocol):
    stalls = launched(handover, 10, grid=2, protocol=protocol).stalls
    assert stalls.poll > 10 * 2000 * 0.8
    assert stalls.lock == 0
    assert stalls.sleep > 10 * 2000 * 0.9


@pytest.mark.parametrize("kernel", [spin, spin_at_barriers])
def test_attempts_to_take_a_lock_are_a_cause(kernel):
    stalls = launched(kernel, 16, grid=4, block=64).stalls
    assert stalls.lock > 1000
    assert stalls.poll == 0


@pytest.mark.parametrize("kernel", [probe, repeat])
def test_accesses_that_do_not_wait_for_a_change_are_no_polls(kernel):
    stalls = launched(kernel, 64).stalls
    assert stalls.scoreboard > 0
    assert stalls.poll == stalls.lock == 0


def test_the_total_counts_no_cycle_twice():
    """Those of memory_order and fence are also in their parts."""
    run = gpucoh.run("fg-share", "denovo-drf", scale="tiny")
    stalls = run.stalls
    assert stalls.memory_order > 0
    assert stalls.fence > 0
    assert stalls.total == run.core.active_cycles - run.core.issue_cycles + stalls.launch
    assert stalls.total < sum(stalls.values())


@pytest.mark.parametrize("field", ["start_skew", "block_start_cycles"])
def test_waits_for_the_start_of_a_block_are_counted_once(field):
    machine = gpucoh.machine("fermi").replace(**{field: 300})
    run = gpucoh.run("bfs", "gpu-hrf", machine, scale="tiny").to_dict()
    sums = {"total", "memory_order", "fence", "launch"}
    causes = sum(cycles for cause, cycles in run["stalls"].items() if cause not in sums)
    assert run["core"]["active_cycles"] == run["core"]["issue_cycles"] + causes
