"""Does a launch without progress end as a deadlock, with a report that names its cause, and does no other launch?"""

import time

import numpy as np
import pytest

import gpucoh
from lines import line_of
from products import share
from registered import ALL

Words = gpucoh.Buffer[gpucoh.i32]


@gpucoh.kernel
def wait_for_flag(flag: Words, other: Words):
    if gpucoh.thread_id() == 0:
        while gpucoh.load(flag, 3, order="relaxed") == other[40]:  # polls
            pass
    gpucoh.barrier()  # others wait
    other[0] = 1


@gpucoh.kernel
def never_unlock(lock: Words, beats: Words):
    if gpucoh.thread_id() == 0:
        while gpucoh.atomic_cas(lock, 2, 0, 1) != 0:  # takes the lock
            beats[gpucoh.block_id()] = 7  # changes nothing


@gpucoh.kernel
def grid_barrier(count: Words):
    if gpucoh.thread_id() == 0:
        gpucoh.atomic_add(count, 0, 1)  # arrives
        while gpucoh.load(count, 0, order="acquire") < gpucoh.grid_dim():
            gpucoh.sleep(50)
    gpucoh.barrier()


@gpucoh.kernel
def write_then_wait(x: Words, flag: Words):
    x[gpucoh.global_id()] = gpucoh.thread_id()  # whole line
    if gpucoh.global_id() == 0:
        while gpucoh.load(x, 70, order="relaxed") != gpucoh.load(flag, 0, order="relaxed"):
            pass


@gpucoh.kernel
def count_for_ever(x: Words):
    i = 0
    while i >= 0:
        i = (i + 1) & 1023
    x[0] = i


@gpucoh.kernel
def toggle(x: Words, rounds: gpucoh.i32):
    for i in range(rounds):
        gpucoh.store(x, 0, i & 1, order="relaxed")
        gpucoh.sleep(100)


@gpucoh.kernel
def toggle_by_atomics(x: Words, rounds: gpucoh.i32):
    for _ in range(rounds):
        gpucoh.atomic_xor(x, 0, 1)
        gpucoh.sleep(100)


@gpucoh.kernel
def barriers_only(rounds: gpucoh.i32):
    for _ in range(rounds):
        gpucoh.barrier()
        gpucoh.sleep(100)


@gpucoh.kernel
def scratchpad_only(x: Words, rounds: gpucoh.i32):
    tile = gpucoh.shared(gpucoh.i32, 32)
    for i in range(rounds):
        tile[gpucoh.thread_id()] = i
        gpucoh.sleep(100)
    x[gpucoh.thread_id()] = tile[gpucoh.thread_id()]


@gpucoh.kernel
def warps_that_end(x: Words):
    for _ in range(gpucoh.block_id() * 50):
        gpucoh.sleep(100)


@gpucoh.kernel
def long_sleep(cycles: gpucoh.i32):
    gpucoh.sleep(cycles)


@gpucoh.kernel
def sleep_then_set(flag: Words, cycles: gpucoh.i32):
    if gpucoh.block_id() == 1:
        gpucoh.sleep(cycles)
        gpucoh.store(flag, 0, 1, order="release")
    else:
        while gpucoh.load(flag, 0, order="acquire") == 0:
            pass


@gpucoh.kernel
def stream(x: Words, rounds: gpucoh.i32):
    for i in range(rounds):
        gpucoh.store(x, i, 1, order="relaxed")
        gpucoh.sleep(100)


def report(kernel, args, *, grid, block=64, protocol="tc-weak", machine="fermi", after=20_000):
    """The message of the deadlock of a launch."""
    gpu = gpucoh.GPU(machine, protocol)
    with pytest.raises(gpucoh.DeadlockError) as caught:
        gpu.launch(kernel, grid=grid, block=block, args=args(gpu), deadlock_after=after)
    assert after <= gpu.stats().cycles <= 2 * after + 1000
    gpu.verify()
    text = str(caught.value)
    assert "\n" not in text
    assert f"for {after // 16 * 16} core cycles no word of memory has changed" in text
    return text


def zeros(*sizes):
    return lambda gpu: tuple(gpu.zeros(size, np.int32) for size in sizes)


# ---- reports


@pytest.mark.parametrize("protocol", share(ALL, one_in=8))
def test_a_report_names_the_polled_word_and_the_barrier(protocol):
    text = report(wait_for_flag, zeros(64, 64), grid=4, protocol=protocol)
    poll = f"poll flag[3] = 0 in kernel 'wait_for_flag' at {__file__}:{line_of(wait_for_flag, 'polls')}"
    assert f"4 warps (first: warp 0 of block (0,0,0) on core 0) {poll}" in text
    assert "which no thread has written in this launch" in text
    assert "other[40] = 0" in text
    barrier = (
        f"barrier 0 in kernel 'wait_for_flag' at {__file__}:{line_of(wait_for_flag, 'others')}"
    )
    assert f"4 warps (first: warp 1 of block (0,0,0) on core 0) wait at {barrier}" in text


@pytest.mark.parametrize("protocol", share(ALL, one_in=8))
def test_a_report_names_the_holder_of_a_lock(protocol):
    gpu_of = []

    def args(gpu):
        gpu_of.append(gpu)
        return zeros(8, 64)(gpu)

    # Under rfo a round of 20 pollers takes 2,000 cycles, more than the time without a change may be late.
    text = report(never_unlock, args, grid=12, protocol=protocol)
    line = line_of(never_unlock, "takes")
    assert (
        f"poll lock[2] = 1 in kernel 'never_unlock' at {__file__}:{line}, last written by " in text
    )
    assert "thread (0,0,0) of block (" in text
    assert f"in kernel 'never_unlock' at {__file__}:{line} at core cycle " in text


def test_a_report_names_blocks_that_have_not_started_and_their_limit():
    text = report(grid_barrier, zeros(1), grid=200, block=256)
    assert "poll count[0] = 96 in" in text
    assert f"at {__file__}:{line_of(grid_barrier, 'arrives')} at core cycle" in text
    assert (
        "; 104 of 200 blocks, from block (96,0,0) on, have not started: a core holds at most 6 blocks of this kernel "
        "(limit: warps)"
    ) in text


def test_blocks_under_static_placement_are_counted_by_core():
    text = report(grid_barrier, zeros(1), grid=95, block=1024, protocol="gpu-vi", machine="mesh15")
    cores = gpucoh.machine("mesh15").cores
    assert f"{95 - cores} of 95 blocks, from block ({cores},0,0) on, have not started" in text


def test_the_writer_of_a_whole_line_is_named_by_its_thread():
    text = report(
        write_then_wait,
        lambda gpu: (gpu.zeros(256, np.int32), gpu.full(1, 9, np.int32)),
        grid=2,
        block=128,
    )
    line = line_of(write_then_wait, "whole line")
    assert "polls x[70] = 70 in" in text
    assert (
        f"last written by thread (70,0,0) of block (0,0,0) in kernel 'write_then_wait' at {__file__}:{line}"
        in text
    )


@gpucoh.kernel
def flag_and_data(flag: Words):
    if gpucoh.block_id() == 1:
        gpucoh.sleep(2000)
        gpucoh.store(flag, 0, -1, order="relaxed")  # sets
    else:
        while flag[0] == 0:
            pass


def test_a_stale_copy_is_called_one():
    text = report(flag_and_data, zeros(32), grid=2, block=1, protocol="no-coh")
    assert "poll" in text
    assert "flag[0] = 0 (a stale copy of -1) in" in text
    assert (
        f"last written by thread (0,0,0) of block (1,0,0) in kernel 'flag_and_data' at {__file__}:"
        in text
    )


@gpucoh.kernel
def two_store_and_one_polls(flag: Words):
    if gpucoh.block_id() == 1:
        flag[0] = 5
        while flag[40] == 0:
            pass
    else:
        gpucoh.sleep(2000)
        flag[0] = 7
        while flag[0] == 7:
            pass


@pytest.mark.parametrize("protocol", ["gpu-drf", "denovo-drf"])
def test_a_later_store_that_only_its_core_sees_is_no_stale_copy(protocol):
    text = report(two_store_and_one_polls, zeros(64), grid=2, block=1, protocol=protocol)
    assert "flag[0] = 7 (not yet visible to other cores, which read 5) in" in text


def test_a_loop_without_memory_is_a_deadlock_too():
    text = report(count_for_ever, zeros(1), grid=3)
    assert (
        "6 warps (first: warp 0 of block (0,0,0) on core 0) run kernel 'count_for_ever' at" in text
    )


def test_a_writer_of_an_earlier_launch_is_not_named():
    gpu = gpucoh.GPU(protocol="mesi")
    lock, beats = gpu.zeros(8, np.int32), gpu.zeros(64, np.int32)
    gpu.launch(never_unlock, grid=1, block=32, args=(lock, beats))
    with pytest.raises(gpucoh.DeadlockError, match="no thread has written in this launch"):
        gpu.launch(never_unlock, grid=1, block=32, args=(lock, beats), deadlock_after=10_000)


def test_a_deadlock_does_not_change_with_the_checks():
    gpu = gpucoh.GPU(protocol="mesi", check="protocol", deadlock_after=10_000)
    x = gpu.zeros(1, np.int32)
    with pytest.raises(gpucoh.DeadlockError, match=r"poll count\[0\] = 96"):
        gpu.launch(grid_barrier, grid=200, block=256, args=(x,))
    x[0] = 0
    gpu.launch(grid_barrier, grid=96, block=256, args=(x,))
    assert x[0] == 96


# ---- polls with a barrier inside


@gpucoh.kernel
def poll_and_meet(flag: Words):
    while gpucoh.load(flag, 0, order="relaxed") == 0:  # polls
        gpucoh.barrier()


@gpucoh.kernel
def count_polls_and_meet(flag: Words, counts: Words):
    polls = 0
    while gpucoh.load(flag, 0, order="relaxed") == 0:
        polls += 1
        gpucoh.barrier()
    counts[gpucoh.global_id()] = polls


@gpucoh.kernel
def poll_for_the_block(flag: Words, out: Words):
    ended = gpucoh.shared(gpucoh.i32, 1)
    while True:
        if gpucoh.thread_id() == 0:
            ended[0] = gpucoh.load(flag, 0, order="acquire")
        gpucoh.barrier()
        if ended[0] != 0:
            break
        gpucoh.barrier()
    out[gpucoh.global_id()] = 1


@gpucoh.kernel
def poll_with_named_barriers(flag: Words):
    while gpucoh.load(flag, 0, order="relaxed") == 0:
        if gpucoh.warp_id() == 0:
            gpucoh.barrier_arrive(1, 128)
        else:
            gpucoh.barrier(1, 128)
        gpucoh.barrier()


@gpucoh.kernel
def back_off_by_barriers(flag: Words):
    delay = 1
    while gpucoh.load(flag, 0, order="relaxed") == 0:
        for _ in range(delay):
            gpucoh.barrier()
        delay = (2 * delay) & 31 | 1


@gpucoh.kernel
def poll_two_words_alternately(flag: Words):
    word = 0
    while gpucoh.load(flag, word, order="relaxed") == 0:
        word = word ^ 1
        gpucoh.barrier()


@gpucoh.kernel
def poll_with_ten_barriers(flag: Words):
    while gpucoh.load(flag, 0, order="relaxed") == 0:
        gpucoh.barrier()
        gpucoh.barrier()
        gpucoh.barrier()
        gpucoh.barrier()
        gpucoh.barrier()
        gpucoh.barrier()
        gpucoh.barrier()
        gpucoh.barrier()
        gpucoh.barrier()
        gpucoh.barrier()


@pytest.mark.parametrize("protocol", share(["tc-weak", "mesi", "gpu-drf"], one_in=4))
@pytest.mark.parametrize(("grid", "block"), [(1, 32), (1, 128), (40, 128)])
def test_a_poll_loop_with_a_barrier_is_a_deadlock(protocol, grid, block):
    text = report(poll_and_meet, zeros(1), grid=grid, block=block, protocol=protocol, after=10_000)
    line = line_of(poll_and_meet, "polls")
    assert f"flag[0] = 0 in kernel 'poll_and_meet' at {__file__}:{line}" in text


@pytest.mark.parametrize("protocol", share(["tc-weak", "mesi", "denovo-drf"], one_in=4))
@pytest.mark.parametrize(
    ("kernel", "sizes"),
    [
        (count_polls_and_meet, (1, 1024)),
        (poll_for_the_block, (1, 1024)),
        (poll_with_named_barriers, (1,)),
        (back_off_by_barriers, (1,)),
        (poll_two_words_alternately, (2,)),
        (poll_with_ten_barriers, (1,)),
    ],
    ids=lambda item: getattr(item, "name", ""),
)
def test_polls_of_a_block_that_meets_are_a_deadlock(kernel, sizes, protocol):
    report(kernel, zeros(*sizes), grid=4, block=128, protocol=protocol, after=10_000)


@gpucoh.kernel
def meet_until_a_warp_sets(flag: Words, rounds: gpucoh.i32):
    i = 0
    while gpucoh.load(flag, 0, order="relaxed") == 0:
        gpucoh.barrier()
        if gpucoh.warp_id() == 1:
            i += 1
            if i == rounds:
                gpucoh.store(flag, 0, 1, order="relaxed")
        gpucoh.barrier()


@gpucoh.kernel
def meet_until_a_warp_wakes(flag: Words, cycles: gpucoh.i32):
    if gpucoh.warp_id() == 3:
        gpucoh.sleep(cycles)
        gpucoh.store(flag, 0, 1, order="release")
    gpucoh.barrier()
    while gpucoh.load(flag, 0, order="acquire") == 0:
        gpucoh.barrier()


@gpucoh.kernel
def meet_while_another_block_counts(flag: Words, rounds: gpucoh.i32):
    ended = gpucoh.shared(gpucoh.i32, 1)
    if gpucoh.block_id() == 0:
        ended[0] = 0
        gpucoh.barrier()
        while ended[0] == 0:
            gpucoh.barrier()
            if gpucoh.thread_id() == 0:
                ended[0] = gpucoh.load(flag, 0, order="acquire")
            gpucoh.barrier()
    else:
        for i in range(rounds):
            gpucoh.barrier()
            gpucoh.sleep(100 + (i & 1))
        gpucoh.store(flag, 0, 1, order="release")


@gpucoh.kernel
def meet_with_counts_in_a_local_array(flag: Words, rounds: gpucoh.i32):
    counts = gpucoh.local(gpucoh.i32, 4)
    for i in range(4):
        counts[i] = 0
    while gpucoh.load(flag, 0, order="relaxed") == 0:
        gpucoh.barrier()
        k = gpucoh.thread_id() & 3
        counts[k] = counts[k] + 1
        if counts[k] == rounds:
            gpucoh.store(flag, 0, 1, order="relaxed")
        gpucoh.barrier()


@gpucoh.kernel
def meet_in_nested_loops(flag: Words, rounds: gpucoh.i32):
    for _ in range(rounds):
        for _ in range(7):
            gpucoh.barrier()
            gpucoh.sleep(10)
        gpucoh.barrier()
    gpucoh.store(flag, 0, 1, order="relaxed")


@gpucoh.kernel
def meet_until_a_wrapping_count_matches(flag: Words, rounds: gpucoh.i32):
    i = 0
    j = 0
    while i != 5 or j != rounds:
        i = (i + 1) % 8
        if i == 0:
            j += 1
        gpucoh.barrier()
        gpucoh.sleep(10)
    gpucoh.store(flag, 0, 1, order="relaxed")


@pytest.mark.parametrize("protocol", share(["tc-weak", "mesi", "gpu-drf"], one_in=4))
@pytest.mark.parametrize(
    ("kernel", "grid", "last"),
    [
        (meet_until_a_warp_sets, 1, 300),
        (meet_until_a_warp_wakes, 1, 60_000),
        (meet_while_another_block_counts, 2, 400),
        (meet_with_counts_in_a_local_array, 1, 300),
        (meet_in_nested_loops, 1, 300),
        (meet_until_a_wrapping_count_matches, 1, 300),
    ],
    ids=lambda item: getattr(item, "name", ""),
)
def test_a_barrier_that_a_warp_will_end_is_no_deadlock(kernel, grid, last, protocol):
    gpu = gpucoh.GPU(protocol=protocol, deadlock_after=5000)
    gpu.launch(kernel, grid=grid, block=128, args=(gpu.zeros(1, np.int32), last))
    assert gpu.stats().cycles > 5 * 5000


# ---- launches that make progress


@pytest.mark.parametrize(
    ("kernel", "args"),
    [
        (toggle, lambda gpu: (gpu.zeros(1, np.int32), 2000)),
        (toggle_by_atomics, lambda gpu: (gpu.zeros(1, np.int32), 2000)),
        (barriers_only, lambda gpu: (2000,)),
        (scratchpad_only, lambda gpu: (gpu.zeros(64, np.int32), 2000)),
        (stream, lambda gpu: (gpu.zeros(2000, np.int32), 2000)),
        (warps_that_end, zeros(1)),
        (sleep_then_set, lambda gpu: (gpu.zeros(1, np.int32), 200_000)),
        (long_sleep, lambda gpu: (2**31 - 1,)),
    ],
    ids=lambda item: getattr(item, "name", ""),
)
@pytest.mark.parametrize("protocol", share(["tc-weak", "mesi", "no-l1"], one_in=4))
def test_a_launch_with_progress_is_no_deadlock(kernel, args, protocol):
    gpu = gpucoh.GPU(protocol=protocol, deadlock_after=16_000, budget=2**40)
    grid = {warps_that_end: 40, sleep_then_set: 2}.get(kernel, 1)
    gpu.launch(kernel, grid=grid, block=32, args=args(gpu))
    assert gpu.stats().cycles > 5 * 16_000


def test_the_detector_does_not_change_a_run():
    runs = [
        gpucoh.run("dlb", protocol="mesi", scale="tiny", deadlock_after=after)
        for after in (3000, 10**7)
    ]
    assert runs[0].stats.to_dict() == runs[1].stats.to_dict()


# ---- the keyword


@pytest.mark.parametrize("value", [0, -1, 1.5, "x"])
def test_a_bad_number_of_cycles_is_refused(value):
    with pytest.raises(gpucoh.ConfigError, match="deadlock_after"):
        gpucoh.GPU(deadlock_after=value)
    gpu = gpucoh.GPU()
    with pytest.raises(gpucoh.ConfigError, match="deadlock_after"):
        gpu.launch(long_sleep, grid=1, block=32, args=(1,), deadlock_after=value)
    with pytest.raises(gpucoh.ConfigError, match="deadlock_after"):
        gpucoh.run("vec-cpy", protocol="ideal", scale="tiny", deadlock_after=value)


def test_the_default_ends_a_hang_long_before_the_budget():
    gpu = gpucoh.GPU(protocol="ideal")
    start = time.perf_counter()
    with pytest.raises(gpucoh.DeadlockError, match="for 10000000 core cycles"):
        gpu.launch(wait_for_flag, grid=1, block=32, args=zeros(4, 64)(gpu))
    assert 10**7 <= gpu.stats().cycles < 2 * 10**7
    assert time.perf_counter() - start < 60
