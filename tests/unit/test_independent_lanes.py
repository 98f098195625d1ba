"""Do lanes of one warp that wait for each other make progress, in a program that asks for it?

The kernels are of the kernel language, assembled as programs with independent lanes; its own programs are not.
"""

import numpy as np
import pytest

import gpucoh
from gpucoh.lang import ir, optimise, schedule
from gpucoh.lang.assemble import Assembler
from gpucoh.lang.kernel import Kernel
from gpucoh.lang.statements import lower
from lines import line_of
from products import share
from registered import COHERENT

Words = gpucoh.Buffer[gpucoh.i32]
SYNC = 15  # the number of an arrival that becomes a WARP_SYNC of all lanes


def independent(kernel, lanes=32):
    """The kernel's program, with independent lanes."""
    lowered = lower(kernel._unit, lanes, kernel.signature)
    function = lowered.function
    optimise.optimise(function)
    schedule.schedule(function)
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.op == "BARRIER_ARRIVE" and instruction.sources[0] == ir.Constant(SYNC):
                instruction.op, instruction.sources = "WARP_SYNC", [ir.Constant(0xFFFFFFFF)]
    function.independent_lanes = True
    return Assembler(function, lowered.units, kernel.signature, lanes).assemble()


def launch(kernel, protocol, args, *, grid=1, block=32, after=2_000_000):
    """Run the kernel with arrays of zeros of these sizes; the arrays."""
    gpu = gpucoh.GPU("fermi", protocol, deadlock_after=after)
    arrays = [gpu.zeros(size, np.int32) for size in args]
    gpu.launch_program(independent(kernel), (grid, 1, 1), (block, 1, 1), arrays)
    return [array.numpy() for array in arrays]


@gpucoh.kernel
def count_within_a_lock(lock: Words, count: Words):
    while gpucoh.atomic_cas(lock, 0, 0, 1, order="acquire") != 0:  # takes
        pass
    count[0] = count[0] + 1
    gpucoh.store(lock, 0, 0, order="release")


@gpucoh.kernel
def flag_from_the_first_branch(flag: Words, out: Words):
    if gpucoh.thread_id() == 7:
        gpucoh.store(flag, 0, 1, order="release")
    else:
        while gpucoh.load(flag, 0, order="acquire") == 0:
            pass
    out[gpucoh.thread_id()] = 1


@gpucoh.kernel
def flag_from_the_second_branch(flag: Words, out: Words):
    if gpucoh.thread_id() != 7:
        while gpucoh.load(flag, 0, order="acquire") == 0:
            pass
    else:
        gpucoh.store(flag, 0, 1, order="release")
    out[gpucoh.thread_id()] = 1


@gpucoh.kernel
def ticket_lock(tickets: Words, count: Words):
    mine = gpucoh.atomic_add(tickets, 0, 1)
    while gpucoh.load(tickets, 32, order="acquire") != mine:
        gpucoh.sleep(20)
    count[0] = count[0] + 1
    gpucoh.store(tickets, 32, mine + 1, order="release")


@gpucoh.kernel
def queue(places: Words, sums: Words):
    # Odd lanes put their numbers into four places, from which even lanes take them.
    half = gpucoh.thread_id() // 2
    place = 64 * (half & 3)
    state = 2 * (half // 4)
    if gpucoh.thread_id() & 1:
        while gpucoh.load(places, place, order="acquire") != state:
            pass
        places[place + 1] = gpucoh.thread_id()
        gpucoh.store(places, place, state + 1, order="release")
    else:
        while gpucoh.load(places, place, order="acquire") != state + 1:
            pass
        gpucoh.atomic_add(sums, 0, places[place + 1])
        gpucoh.store(places, place, state + 2, order="release")


@gpucoh.kernel
def two_locks(lock: Words, count: Words):
    for i in range(2):
        if gpucoh.thread_id() & 3 != i:
            while gpucoh.atomic_cas(lock, 0, 0, 1, order="acquire") != 0:
                pass
            while gpucoh.atomic_exch(lock, 32, 1, order="acquire") != 0:
                gpucoh.sleep(10)
            count[0] = count[0] + 1
            gpucoh.store(lock, 32, 0, order="release")
            gpucoh.store(lock, 0, 0, order="release")


@gpucoh.kernel
def meet_after_a_lock(lock: Words, votes: Words):
    while gpucoh.atomic_cas(lock, 0, 0, 1, order="acquire") != 0:
        pass
    gpucoh.store(lock, 0, 0, order="release")
    gpucoh.barrier_arrive(SYNC, 32)
    votes[gpucoh.thread_id()] = gpucoh.i32(gpucoh.ballot(True))


@gpucoh.kernel
def barrier_after_a_lock(lock: Words, out: Words):
    tile = gpucoh.shared(gpucoh.i32, 96)
    while gpucoh.atomic_cas(lock, 0, 0, 1, order="acquire") != 0:
        pass
    tile[gpucoh.thread_id()] = gpucoh.thread_id()
    gpucoh.store(lock, 0, 0, order="release")
    gpucoh.barrier()
    out[gpucoh.thread_id()] = tile[95 - gpucoh.thread_id()]


@gpucoh.kernel
def barrier_in_both_branches(out: Words):
    tile = gpucoh.shared(gpucoh.i32, 96)
    i = gpucoh.thread_id()
    tile[i] = i
    if i % 5 == 4:
        return
    if i & 1:
        gpucoh.barrier()
        out[i] = tile[95 - i]
    else:
        gpucoh.barrier()
        out[i] = -tile[95 - i]


@gpucoh.kernel
def wait_for_nothing(flag: Words):
    if gpucoh.thread_id() == 3:
        while gpucoh.load(flag, 0, order="relaxed") == 0:  # polls
            pass
    gpucoh.barrier_arrive(SYNC, 32)


@gpucoh.kernel
def poll_and_meet(flag: Words):
    if gpucoh.thread_id() & 1:
        while gpucoh.load(flag, 0, order="relaxed") == 0:  # polls
            gpucoh.barrier()
    else:
        gpucoh.barrier()
        while True:
            gpucoh.barrier()


@gpucoh.kernel
def meet_in_two_ways(out: Words):
    if gpucoh.thread_id() < 4:
        gpucoh.barrier()  # first
    else:
        gpucoh.barrier_arrive(SYNC, 32)  # second
    out[0] = 1


# ---- lanes that wait for each other


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=12))
@pytest.mark.parametrize(
    ("kernel", "count"), [(count_within_a_lock, 128), (ticket_lock, 128), (two_locks, 192)]
)
def test_every_lane_takes_the_lock(kernel, count, protocol):
    _, counted = launch(kernel, protocol, (64, 1), grid=2, block=64)
    assert counted[0] == count


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=12))
@pytest.mark.parametrize("kernel", [flag_from_the_first_branch, flag_from_the_second_branch])
def test_a_flag_reaches_the_other_lanes(kernel, protocol):
    assert launch(kernel, protocol, (1, 32))[1].all()


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=12))
def test_a_queue_delivers_every_number(protocol):
    assert launch(queue, protocol, (256, 1))[1] == sum(range(1, 32, 2))


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=12))
def test_lanes_that_a_lock_has_parted_vote_together(protocol):
    assert (launch(meet_after_a_lock, protocol, (1, 32))[1] == -1).all()


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=12))
def test_lanes_meet_at_a_barrier_from_several_places(protocol):
    i = np.arange(96)
    assert (launch(barrier_after_a_lock, protocol, (1, 96), block=96)[1] == 95 - i).all()
    [out] = launch(barrier_in_both_branches, protocol, (96,), block=96)
    assert (out == np.where(i % 5 == 4, 0, np.where(i & 1, 95 - i, i - 95))).all()


@pytest.mark.parametrize("kernel", [count_within_a_lock, flag_from_the_first_branch])
def test_other_programs_starve_their_lanes(kernel):
    gpu = gpucoh.GPU("fermi", "mesi", deadlock_after=5000)
    with pytest.raises(gpucoh.DeadlockError):
        gpu.launch(kernel, grid=1, block=32, args=[gpu.zeros(32, np.int32) for _ in range(2)])


# ---- what cannot progress


@pytest.mark.parametrize("protocol", share(["tc-weak", "mesi", "no-l1"], one_in=4))
@pytest.mark.parametrize("kernel", [wait_for_nothing, poll_and_meet])
def test_what_cannot_progress_is_a_deadlock_with_its_line(kernel, protocol):
    with pytest.raises(gpucoh.DeadlockError) as caught:
        launch(kernel, protocol, (1,), block=64, after=5000)
    place = f"kernel '{kernel.name}' at {__file__}:{line_of(kernel, 'polls')}"
    assert f"flag[0] = 0 in {place}" in str(caught.value)


def test_lanes_that_wait_for_each_other_in_two_ways_are_named():
    with pytest.raises(gpucoh.KernelError) as caught:
        launch(meet_in_two_ways, "mesi", (1,))
    first, second = (line_of(meet_in_two_ways, text) for text in ("first", "second"))
    assert f"kernel 'meet_in_two_ways' at {__file__}:{first} for lanes 4 to 31" in str(caught.value)
    assert (
        "lanes 4 to 31 wait at a warp synchronisation of mask 0xffffffff in kernel 'meet_in_two_ways' at "
        f"{__file__}:{second} for lanes 0 to 3"
    ) in str(caught.value)


# ---- other programs


@pytest.mark.parametrize("protocol", ["tc-weak", "denovo-drf"])
@pytest.mark.parametrize("name", share(gpucoh.workloads(), one_in=20))
def test_a_workload_is_right_with_independent_lanes(name, protocol, monkeypatch):
    monkeypatch.setattr(Kernel, "compile", independent)
    gpucoh.run(name, protocol=protocol, scale="tiny")
