"""Does the race detector find the races of kernels that have one, and none in those that have none?"""

import re

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, i32
from lines import line_of
from products import share
from registered import COHERENT

BLOCK = 64


def launch(kernel, buffers, grid=2, protocol="ideal", **options):
    gpu = gpucoh.GPU(protocol=protocol, check="races", **options)
    arrays = [gpu.zeros(256, np.int32) for _ in range(buffers)]
    gpu.launch(kernel, grid=grid, block=BLOCK, args=arrays)
    return gpu, arrays


def race_of(kernel, buffers, **options):
    with pytest.raises(gpucoh.SimulationError, match=r"^data race: ") as caught:
        launch(kernel, buffers, **options)
    return str(caught.value)


# ---- kernels that race


@gpucoh.kernel
def two_blocks_write_one_word(y: Buffer[i32]):
    if gpucoh.thread_id() == 0:
        y[17] = gpucoh.block_id()


@gpucoh.kernel
def warps_exchange(y: Buffer[i32], out: Buffer[i32]):
    i = gpucoh.thread_id()
    y[i] = i
    out[gpucoh.global_id()] = y[63 - i]


@gpucoh.kernel
def warps_exchange_in_shared_memory(out: Buffer[i32]):
    s = gpucoh.shared(i32, 64)
    i = gpucoh.thread_id()
    s[i] = i
    out[gpucoh.global_id()] = s[63 - i]


def message(
    *,
    release=None,
    store="relaxed",
    scope="gpu",
    load="relaxed",
    polls="gpu",
    acquire=None,
    late=False,
):
    """Block 0 hands 42 over to the last block: orders and scopes of the flag's accesses, scopes of the fences."""
    releases, acquires = release is not None, acquire is not None
    before, behind = release or "gpu", acquire or "gpu"

    @gpucoh.kernel
    def message(data: Buffer[i32], flag: Buffer[i32], out: Buffer[i32]):
        if gpucoh.global_id() == 0:
            if not late:
                data[0] = 42
            if releases:
                gpucoh.fence(scope=before)
            gpucoh.store(flag, 0, 1, order=store, scope=scope)
            if late:
                data[0] = 42
        if gpucoh.block_id() == gpucoh.grid_dim() - 1 and gpucoh.thread_id() == 0:
            while gpucoh.load(flag, 0, order=load, scope=polls) == 0:
                pass
            if acquires:
                gpucoh.fence(scope=behind)
            out[0] = data[0]

    return message


without_fences = message()
of_the_block = message(store="release", scope="cta", load="acquire")
by_a_fence_of_the_core = message(release="cu", load="acquire")
by_release_and_acquire = message(store="release", load="acquire")


@gpucoh.kernel
def atomics_of_blocks_with_their_own_scope(count: Buffer[i32]):
    gpucoh.atomic_add(count, 0, 1, scope="cta")


@gpucoh.kernel
def reads_plainly_what_others_update(count: Buffer[i32], out: Buffer[i32]):
    gpucoh.atomic_add(count, 0, 1)
    out[gpucoh.global_id()] = count[0]


@gpucoh.kernel
def writes_what_everyone_has_read(table: Buffer[i32], out: Buffer[i32]):
    out[gpucoh.global_id()] = table[5]
    gpucoh.barrier()
    if gpucoh.global_id() == 0:
        table[5] = 1


RACES = {
    two_blocks_write_one_word: (1, "y[17]"),
    warps_exchange: (2, "y["),
    warps_exchange_in_shared_memory: (1, "shared memory"),
    without_fences: (3, "data[0]"),
    message(acquire="gpu"): (3, "data[0]"),
    message(release="gpu"): (3, "data[0]"),
    message(release="gpu", store="weak", load="acquire"): (3, "flag[0]"),
    of_the_block: (3, "flag[0]"),
    by_a_fence_of_the_core: (3, "data[0]"),
    message(late=True, store="release", load="acquire"): (3, "data[0]"),
    atomics_of_blocks_with_their_own_scope: (1, "count[0]"),
    reads_plainly_what_others_update: (2, "count[0]"),
    writes_what_everyone_has_read: (2, "table[5]"),
}


#: Races of scopes that are too narrow. DRF has no scopes.
NARROW = [of_the_block, by_a_fence_of_the_core, atomics_of_blocks_with_their_own_scope]


@pytest.mark.parametrize(("kernel", "protocol"), share(list(RACES), COHERENT, one_in=24))
def test_a_race_is_found(kernel, protocol):
    buffers, place = RACES[kernel]
    if kernel in NARROW and gpucoh.protocols()[protocol].default_rule == "drf":
        launch(kernel, buffers, protocol=protocol)
    else:
        assert place in race_of(kernel, buffers, protocol=protocol)


def test_a_report_names_both_accesses():
    text = race_of(without_fences, 3)
    stores = line_of(without_fences, "data[0] = 42")
    loads = line_of(without_fences, "out[0] = data[0]")
    assert re.fullmatch(
        rf"data race: kernel 'message' at \S*test_races.py:{stores} block 0 warp 0 stores "
        rf"buffer data\[0\] \(weak\), kernel 'message' at \S*test_races.py:{loads} block 1 warp 0 "
        r"loads it \(weak\), no synchronisation orders them",
        text,
    )


def test_narrow_scopes_are_reported():
    text = race_of(of_the_block, 3)
    assert "(release, scope cta)" in text
    assert "scopes do not include each other" in text


def test_blocks_that_ran_one_after_the_other_on_one_core_race_too():
    with pytest.raises(gpucoh.SimulationError, match=r"^data race: "):
        launch(
            two_blocks_write_one_word,
            1,
            grid=40,
            machine=gpucoh.machine("fermi").replace(cores=1, blocks_per_core=1),
        )


def test_the_gpu_is_usable_after_a_race():
    gpu = gpucoh.GPU(protocol="ideal", check=True)
    y = gpu.zeros(64, np.int32)
    with pytest.raises(gpucoh.SimulationError, match=r"^data race: "):
        gpu.launch(two_blocks_write_one_word, grid=2, block=BLOCK, args=(y,))
    gpu.launch(two_blocks_write_one_word, grid=1, block=BLOCK, args=(y,))
    assert y[17] == 0


# ---- kernels that do not


@gpucoh.kernel
def message_through_a_third(data: Buffer[i32], flag: Buffer[i32], out: Buffer[i32]):
    if gpucoh.thread_id() == 0:
        if gpucoh.block_id() == 0:
            data[0] = 42
            gpucoh.store(flag, 0, 1, order="release")
        if gpucoh.block_id() == 1:
            while gpucoh.load(flag, 0, order="acquire") == 0:
                pass
            gpucoh.store(flag, 64, 1, order="release")
        if gpucoh.block_id() == 2:
            while gpucoh.load(flag, 64, order="acquire") == 0:
                pass
            out[0] = data[0]


@gpucoh.kernel
def barrier_then_release(data: Buffer[i32], flag: Buffer[i32], out: Buffer[i32]):
    """The release of warp 0 covers what warp 1 wrote before the barrier."""
    if gpucoh.block_id() == 0:
        data[gpucoh.thread_id()] = 42
        gpucoh.barrier()
        if gpucoh.thread_id() == 0:
            gpucoh.store(flag, 0, 1, order="release")
    else:
        if gpucoh.thread_id() == 0:
            while gpucoh.load(flag, 0, order="acquire") == 0:
                pass
        gpucoh.barrier()
        out[gpucoh.thread_id()] = data[63 - gpucoh.thread_id()]


@gpucoh.kernel
def lock_handed_over(lock: Buffer[i32], count: Buffer[i32]):
    if gpucoh.thread_id() == 0:
        while gpucoh.atomic_cas(lock, 0, 0, 1, order="acquire") != 0:
            gpucoh.sleep(20)
        count[0] = count[0] + 1
        gpucoh.atomic_exch(lock, 0, 0, order="release")


@gpucoh.kernel
def last_block_sums(part: Buffer[i32], ticket: Buffer[i32], out: Buffer[i32]):
    """A release continued by the atomics of others reaches who reads the last of them."""
    if gpucoh.thread_id() == 0:
        part[gpucoh.block_id()] = 1
        if gpucoh.atomic_add(ticket, 0, 1, order="acq_rel") == gpucoh.grid_dim() - 1:
            total = gpucoh.i32(0)
            for i in range(gpucoh.grid_dim()):
                total += part[i]
            out[0] = total


@gpucoh.kernel
def message_within_a_block(data: Buffer[i32], flag: Buffer[i32], out: Buffer[i32]):
    if gpucoh.block_id() == 0:
        if gpucoh.thread_id() == 0:
            data[0] = 42
            gpucoh.store(flag, 0, 1, order="release", scope="cta")
        if gpucoh.thread_id() == 32:
            while gpucoh.load(flag, 0, order="acquire", scope="cta") == 0:
                pass
            out[0] = data[0]


@gpucoh.kernel
def exchange_with_barrier(y: Buffer[i32], out: Buffer[i32]):
    s = gpucoh.shared(i32, 64)
    i = gpucoh.thread_id()
    s[i] = i
    if gpucoh.block_id() == 0:
        y[i] = i
    gpucoh.barrier()
    out[gpucoh.global_id()] = s[63 - i]
    if gpucoh.block_id() == 0:
        out[128 + i] = y[63 - i]


@gpucoh.kernel
def producer_arrives(y: Buffer[i32], out: Buffer[i32]):
    if gpucoh.warp_id() == 0:
        y[gpucoh.global_id()] = 1
        gpucoh.barrier_arrive(1, 64)
    else:
        gpucoh.barrier(1, 64)
        out[gpucoh.global_id()] = y[gpucoh.global_id() - 32]


@gpucoh.kernel
def relaxed_counters(count: Buffer[i32], out: Buffer[i32]):
    gpucoh.atomic_add(count, 0, 1)
    out[gpucoh.global_id()] = gpucoh.load(count, 0, order="relaxed")


@gpucoh.kernel
def lanes_of_one_warp(y: Buffer[i32]):
    if gpucoh.global_id() < 32:
        y[0] = gpucoh.lane_id()
        y[1] = y[0]


RIGHT = {
    message(release="gpu", acquire="gpu"): (3, 2),
    by_release_and_acquire: (3, 2),
    message_through_a_third: (3, 3),
    barrier_then_release: (3, 2),
    lock_handed_over: (2, 6),
    last_block_sums: (3, 6),
    message_within_a_block: (3, 2),
    exchange_with_barrier: (2, 2),
    producer_arrives: (2, 2),
    relaxed_counters: (2, 2),
    lanes_of_one_warp: (1, 1),
}


@pytest.mark.parametrize(("kernel", "protocol"), share(list(RIGHT), COHERENT, one_in=24))
def test_no_race_is_found_where_there_is_none(kernel, protocol):
    buffers, grid = RIGHT[kernel]
    gpu, _ = launch(kernel, buffers, grid=grid, protocol=protocol)
    assert gpu.stats().check.race_accesses or gpu.stats().check.race_synchronising


def test_launches_and_the_host_order_everything():
    gpu = gpucoh.GPU(protocol="ideal", check="races")
    y = gpu.zeros(64, np.int32)
    for _ in range(2):
        gpu.launch(two_blocks_write_one_word, grid=1, block=BLOCK, args=(y,))
        y[17] = 5


def test_scopes_of_the_core_synchronise_blocks_of_one_core():
    machine = gpucoh.machine("fermi").replace(cores=1)
    gpu, _ = launch(by_a_fence_of_the_core, 3, machine=machine)
    assert gpu.stats().check.race_fences == 1


# ---- the suite


@pytest.mark.parametrize("name", share(gpucoh.workloads(), one_in=5))
def test_a_workload_is_free_of_races(name):
    result = gpucoh.run(name, protocol="ideal", scale="tiny", check="races")
    assert result.correct is not False
    assert result.stats.check.race_accesses > 0


# ---- scopes gpu and sys on two GPUs


def message_behind_a_fence(scope):
    """The flag has scope sys, the fence before it another one."""
    return message(release=scope, scope="sys", polls="sys", acquire="sys")


def machine_of(gpus):
    return gpucoh.machine("fermi").replace(dies=2, gpus=gpus, page_kib=4)


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (by_release_and_acquire, "their scopes do not include each other's warp"),
        (message_behind_a_fence("gpu"), "no synchronisation orders them"),
    ],
)
def test_scope_gpu_orders_nothing_between_gpus(kernel, text):
    assert text in race_of(kernel, 3, machine=machine_of(2))
    gpu, (_, _, out) = launch(kernel, 3, machine=machine_of(1))
    assert out[0] == 42
    assert gpu.stats().check.race_acquires


def test_scope_sys_orders_two_gpus():
    _, (_, _, out) = launch(message_behind_a_fence("sys"), 3, machine=machine_of(2))
    assert out[0] == 42


def test_blocks_of_one_gpu_need_no_more_than_scope_gpu():
    machine = gpucoh.machine("fermi").replace(dies=4, gpus=2, page_kib=4)
    gpu = gpucoh.GPU(machine=machine, protocol="ideal", check="races")
    arrays = [gpu.zeros(256, np.int32) for _ in range(3)]
    gpu.launch(by_release_and_acquire, grid=2, block=BLOCK, args=arrays, placement="static")
    assert arrays[2][0] == 42
