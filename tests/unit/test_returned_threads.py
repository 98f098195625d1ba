"""Are threads that have ended not waited for at barriers, as in CUDA?"""

import re

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, i32
from gpucoh.verify.explorer import explore, small_choice
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import parse
from products import share
from registered import ALL, COHERENT

BLOCK = 128


@gpucoh.kernel
def reverse(x: Buffer[i32], n: i32):
    t = gpucoh.thread_id()
    s = gpucoh.shared(i32, 128)
    if t >= n:
        return
    s[t] = t
    gpucoh.barrier()
    x[t] = s[n - 1 - t]


@gpucoh.kernel
def late_return(x: Buffer[i32], n: i32):
    """The threads that return do so while the others wait."""
    t = gpucoh.thread_id()
    s = gpucoh.shared(i32, 128)
    if t >= n:
        gpucoh.sleep(t * 10)
        return
    s[t] = t
    gpucoh.barrier()
    x[t] = s[n - 1 - t]
    gpucoh.barrier(3)


@gpucoh.kernel
def shrinking(x: Buffer[i32], n: i32):
    """One thread fewer comes to each barrier; each adds its neighbour's value."""
    t = gpucoh.thread_id()
    for i in range(n):
        if t >= n - i:
            return
        gpucoh.barrier()
        x[t] = x[t] + 1
        gpucoh.barrier()


@gpucoh.kernel
def handed_over(data: Buffer[i32], flag: Buffer[i32], out: Buffer[i32]):
    """A barrier of scope gpu releases what the block has written before it, whoever completes it."""
    t = gpucoh.thread_id()
    if gpucoh.block_id() == 0:
        if t >= 40:
            gpucoh.sleep(2000)
            return
        data[t] = t + 1
        gpucoh.barrier(scope="gpu")
        if t == 0:
            gpucoh.store(flag, 0, 1, order="relaxed")
    else:
        if t == 0:
            while gpucoh.load(flag, 0, order="relaxed") == 0:
                pass
        gpucoh.barrier(scope="gpu")
        out[t] = data[t]


def reversed_with(kernel, protocol, n, check):
    gpu = gpucoh.GPU(protocol=protocol, check=check)
    x = gpu.full(BLOCK, -1, np.int32)
    gpu.launch(kernel, grid=1, block=BLOCK, args=(x, n))
    gpu.verify()
    return x.numpy().tolist()


# 64: whole warps end; 70: lanes of a warp; 1: all but one thread.
@pytest.mark.parametrize(
    ("kernel", "n", "protocol"), share([reverse, late_return], [64, 70, 1], ALL, one_in=16)
)
def test_a_barrier_does_not_wait_for_threads_that_have_returned(protocol, n, kernel):
    expected = [*reversed(range(n)), *([-1] * (BLOCK - n))]
    assert reversed_with(kernel, protocol, n, check=True) == expected


def test_checks_change_neither_cycles_nor_values():
    cycles = set()
    for check in (False, True):
        gpu = gpucoh.GPU(protocol="tc-weak", check=check)
        gpu.launch(late_return, grid=1, block=BLOCK, args=(gpu.zeros(BLOCK, np.int32), 70))
        cycles.add(gpu.stats().cycles)
    assert len(cycles) == 1


def test_threads_may_return_between_barriers_of_a_loop():
    assert reversed_with(shrinking, "mesi", 100, True)[:100] == [*range(99, -1, -1)]


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=8))
def test_a_barrier_that_a_thread_completes_by_its_end_releases_the_blocks_writes(protocol):
    gpu = gpucoh.GPU(protocol=protocol, check=True)
    data, out = gpu.zeros(BLOCK, np.int32), gpu.zeros(BLOCK, np.int32)
    gpu.launch(
        handed_over, grid=2, block=BLOCK, args=(data, gpu.zeros(1, np.int32), out),
        placement="static",
    )  # fmt: skip
    assert out.numpy()[:40].tolist() == [*range(1, 41)]


def test_a_profile_names_the_end_of_a_thread_as_what_ends_the_wait():
    gpu = gpucoh.GPU(protocol="ideal")
    with gpu.profile() as profile:
        gpu.launch(late_return, grid=1, block=BLOCK, args=(gpu.zeros(BLOCK, np.int32), 64))
    chain = profile().critical()
    assert "barrier" in chain.to_string()
    assert chain["longest_cycles"].iloc[-1] >= 640  # the thread that sleeps and returns


# ---- what can never complete


@gpucoh.kernel
def counted(x: Buffer[i32]):
    if gpucoh.thread_id() >= 64:
        return
    gpucoh.barrier(0, 128)
    x[0] = 1


@gpucoh.kernel
def two_barriers(x: Buffer[i32]):
    if gpucoh.thread_id() >= 64:
        return
    gpucoh.barrier(gpucoh.warp_id())
    x[0] = 1


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (counted, "64 of 128 threads have arrived.*a barrier with a count waits for threads that have ended"),
        (two_barriers, "32 of 64 threads have arrived"),
    ],
)  # fmt: skip
def test_a_barrier_that_can_never_complete_is_an_error(kernel, message):
    gpu = gpucoh.GPU(protocol="mesi")
    with pytest.raises(gpucoh.KernelError, match=f"can never complete: {message}") as caught:
        gpu.launch(kernel, grid=1, block=BLOCK, args=(gpu.zeros(1, np.int32),))
    assert re.search(r"\.py:\d+: ", str(caught.value))


# ---- order


@gpucoh.kernel
def written_by_a_thread_that_ends(x: Buffer[i32], out: Buffer[i32]):
    t = gpucoh.thread_id()
    if t >= 96:
        if t == 96:
            x[0] = 1
        gpucoh.sleep(1000)
        return
    gpucoh.barrier()
    out[t] = x[0]


def test_what_a_thread_writes_that_ends_is_not_ordered_before_the_barrier():
    gpu = gpucoh.GPU(protocol="ideal", check="races")
    arrays = [gpu.zeros(BLOCK, np.int32) for _ in range(2)]
    with pytest.raises(gpucoh.SimulationError, match="data race: "):
        gpu.launch(written_by_a_thread_that_ends, grid=1, block=BLOCK, args=arrays)


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=8))
def test_the_explorer_lets_threads_end_before_a_barrier(protocol):
    program = parse("0: st x 1; bar | 0: bar; ld x | 0: exit")
    rows = allowed_outcomes(program, "SC")
    choice = small_choice(protocol)
    found = explore(choice, program, allowed=rows, evictions=0, max_states=10_000)
    assert not found["violations"]
    assert {tuple(row) for row in found["outcomes"]} == set(rows) == {(1, 1)}
