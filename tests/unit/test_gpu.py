"""Does a GPU do what its arrays, launches and snapshots promise, and refuse what it cannot do?"""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import gpucoh
from gpucoh.device.gpu import occupancy
from gpucoh.lang import isa
from lines import line_of
from products import share
from registered import ALL, WITH_L1


@gpucoh.kernel
def add_one(x: gpucoh.Buffer[gpucoh.i32], n: gpucoh.i32):
    i = gpucoh.global_id()
    if i < n:
        x[i] = x[i] + 1


@gpucoh.kernel
def out_of_bounds(x: gpucoh.Buffer[gpucoh.i32]):
    x[gpucoh.global_id() + 30] = 1


@gpucoh.kernel
def endless(x: gpucoh.Buffer[gpucoh.i32]):
    while gpucoh.load(x, 0, order="relaxed") == 0:
        pass


@gpucoh.kernel
def some_never_arrive(x: gpucoh.Buffer[gpucoh.i32]):
    gpucoh.barrier(gpucoh.warp_id())
    x[0] = 1


@gpucoh.kernel
def long_sleep(cycles: gpucoh.i32):
    gpucoh.sleep(cycles)


@gpucoh.kernel
def too_much_scratchpad(x: gpucoh.Buffer[gpucoh.i32]):
    tile = gpucoh.shared(gpucoh.i32, 20000)
    tile[0] = x[0]


@pytest.fixture
def gpu():
    return gpucoh.GPU(protocol="ideal")


# ---- arrays


def test_an_array_reads_back_what_was_written(gpu):
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    array = gpu.array(data)
    assert (array.shape, array.dtype, array.size, array.nbytes) == ((3, 4), np.float32, 12, 48)
    np.testing.assert_array_equal(array.numpy(), data)
    np.testing.assert_array_equal(np.asarray(array), data)


def test_fresh_memory_reads_zero(gpu):
    assert not gpu.zeros((5, 2), np.uint32).numpy().any()
    assert gpu.full(3, 7, np.int32).numpy().tolist() == [7, 7, 7]


@pytest.mark.parametrize(
    "key", [slice(None), slice(1, 3), 2, (slice(None), 1), (1, slice(0, 4, 2)), [0, 2]]
)
def test_parts_are_written_as_numpy_writes_them(gpu, key):
    array, twin = (
        gpu.array(np.arange(12, dtype=np.int32).reshape(3, 4)),
        np.arange(12, dtype=np.int32).reshape(3, 4),
    )
    array[key] = twin[key] = 99
    np.testing.assert_array_equal(array.numpy(), twin)
    np.testing.assert_array_equal(array[key], twin[key])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            np.zeros(4, np.float16),
            r"float16 is not one of int8, .* float32, float64; convert with .astype\(np.float32\)",
        ),
        (np.zeros(4, np.complex64), r"complex64 is not one of"),
        (np.array(["a"]), "is not one of"),
        (np.zeros(0, np.int32), "every extent must be at least 1"),
    ],
)
def test_data_that_cannot_be_words_is_refused(gpu, value, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        gpu.array(value)


@pytest.mark.parametrize("shape", [0, -1, 10**12, (10**6, 10**6), 2.5, "4", (), (3, 0)])
def test_a_shape_that_is_none_or_too_large_is_refused(gpu, shape):
    with pytest.raises(gpucoh.ConfigError):
        gpu.zeros(shape, np.int32)


def test_a_value_that_would_change_is_refused(gpu):
    array = gpu.zeros(4, np.int32)
    for value in (1.5, 2**31, np.array([1, 2**40])):
        with pytest.raises(gpucoh.ConfigError, match="does not fit"):
            array[:] = value


def test_a_freed_array_is_refused(gpu):
    array = gpu.zeros(4, np.int32)
    array.free()
    array.free()
    for use in (array.numpy, lambda: array[0], lambda: array.__setitem__(0, 1)):
        with pytest.raises(gpucoh.ConfigError, match="has been freed"):
            use()
    with pytest.raises(
        gpucoh.ConfigError, match=r"argument 'x' of kernel 'add_one'.*has been freed"
    ):
        gpu.launch(add_one, grid=1, block=32, args=(array, 4))


def test_an_array_is_compared_by_its_values(gpu):
    x = gpu.array([1, 2], np.int32)
    for use in (lambda: x == x, lambda: x != 1, lambda: bool(x)):
        with pytest.raises(gpucoh.ConfigError, match=r"numpy\(\)"):
            use()
    assert x in {x}
    assert (np.array([1, 2]) == x).all()


# ---- launches


@pytest.mark.parametrize("protocol", share(ALL, one_in=8))
def test_a_kernel_computes(protocol):
    gpu = gpucoh.GPU(protocol=protocol)
    x = gpu.array(np.arange(100, dtype=np.int32))
    gpu.launch(add_one, grid=2, block=64, args=(x, 100))
    assert x.numpy().tolist() == list(range(1, 101))


def test_host_writes_between_launches_are_seen(gpu):
    x = gpu.zeros(64, np.int32)
    gpu.launch(add_one, grid=1, block=64, args=(x, 64))
    x[3] = 41
    gpu.launch(add_one, grid=1, block=64, args=(x, 64))
    assert (x[3], x[4]) == (42, 2)


@gpucoh.kernel
def note_cores(cores: gpucoh.Buffer[gpucoh.i32]):
    if gpucoh.core_id() == 0:
        gpucoh.sleep(5000)  # the other cores have room long before core 0 has
    if gpucoh.thread_id() == 0:
        cores[gpucoh.block_id()] = gpucoh.core_id()


@pytest.mark.parametrize("given", [None, "static", "round_robin"])
def test_blocks_run_where_the_placement_says(given):
    machine = gpucoh.machine("gcn3").replace(cores=3, blocks_per_core=2)
    gpu = gpucoh.GPU(machine, protocol="no-coh")
    cores = gpu.zeros(20, np.int32)
    for _ in range(2):
        gpu.launch(note_cores, grid=20, block=32, args=(cores,), placement=given)
        same = np.array_equal(np.asarray(cores), np.arange(20) % 3)
        assert same == (given != "round_robin")


def test_rotating_blocks_go_on_after_the_last_core_used():
    gpu = gpucoh.GPU(gpucoh.machine("mesh15").replace(cores=5), protocol="no-coh")
    cores = gpu.zeros(3, np.int32)
    found = []
    for _ in range(3):
        snapshot = gpu.snapshot()
        gpu.launch(note_cores, grid=3, block=32, args=(cores,))
        found += np.asarray(cores).tolist()
    assert found == [0, 1, 2, 3, 4, 0, 1, 2, 3]
    gpu.restore(snapshot)
    gpu.launch(note_cores, grid=3, block=32, args=(cores,))
    assert np.asarray(cores).tolist() == [1, 2, 3]


@gpucoh.kernel
def note_clocks(clocks: gpucoh.Buffer[gpucoh.u32]):
    if gpucoh.thread_id() == 0:
        clocks[gpucoh.block_id()] = gpucoh.clock()


def starts(seed, skew, launches=2):
    """The clocks at which the first 40 blocks of a launch and the 8 after them start."""
    machine = gpucoh.machine("fermi").replace(cores=5, start_skew=skew)
    gpu = gpucoh.GPU(machine, protocol="no-coh", seed=seed)
    clocks = gpu.zeros(48, np.uint32)
    for _ in range(launches):
        gpu.launch(note_clocks, grid=48, block=32, args=(clocks,))
    return np.asarray(clocks).astype(np.int64), gpu.stats()


def test_the_seed_delays_the_first_blocks_of_each_launch():
    together, plain = starts(3, 0)
    clocks, stats = starts(3, 200)
    delays = (clocks - starts(3, 0, launches=1)[0].min())[:40]
    first, again = starts(3, 200, launches=1)[0][:40], starts(3, 200, launches=1)[0][:40]
    assert (first == again).all()
    assert 100 < first.max() - first.min() <= 200 + 40
    assert len(set(first.tolist())) > 25
    assert (starts(4, 200, launches=1)[0][:40] != first).any()
    assert (np.argsort(clocks[:40]) != np.argsort(first)).any()  # drawn for each launch
    assert delays.min() > 0
    assert together[:40].max() - together[:40].min() < 20
    for one in (plain, stats):  # a cycle counted once: the waits are stalls for the launch
        counted = one.core.issue_cycles + sum(one.stalls.values())
        assert counted - 5 * one.cycles == 2 * 5
    assert stats.stalls.launch > plain.stalls.launch


def test_only_the_machines_whose_papers_reuse_across_kernels_place_blocks_statically():
    placements = {name: gpucoh.machine(name).placement for name in gpucoh.machines()}
    others = {name: how for name, how in placements.items() if how != "round_robin"}
    assert others == {"mesh15": "rotating", "gcn3": "static", "apu": "static"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grid": 0}, "grid = 0 is out of range"),
        ({"block": (8, 8, 8, 8)}, "one to three numbers"),
        ({"block": "32"}, "is not a whole number"),
        ({"block": 1537}, "has 1537 threads \\(allowed: up to 1536"),
        ({"placement": "random"}, "allowed: round_robin, first_free, static, rotating"),
        ({"args": (3, 4)}, "argument 'x' of kernel 'add_one'"),
        ({"args": ()}, "takes 2 arguments"),
        ({"kernel": print}, "is not a kernel"),
    ],
)
def test_a_launch_that_does_not_fit_is_refused(gpu, changes, message):
    x = gpu.zeros(32, np.int32)
    launch = {"kernel": add_one, "grid": 1, "block": 32, "args": (x, 32)} | changes
    with pytest.raises(gpucoh.ConfigError, match=message):
        gpu.launch(launch.pop("kernel"), **launch)


def test_a_numpy_array_as_argument_is_refused_with_what_to_do(gpu):
    with pytest.raises(
        gpucoh.ConfigError, match=r"must be an array of this GPU, got ndarray; .*gpu.array"
    ):
        gpu.launch(add_one, grid=1, block=32, args=(np.zeros(4, np.int32), 4))


def test_an_array_of_another_gpu_is_refused(gpu):
    with pytest.raises(
        gpucoh.ConfigError, match=r"argument 'x' of kernel 'add_one' is an array of another GPU"
    ):
        gpu.launch(add_one, grid=1, block=32, args=(gpucoh.GPU().zeros(4, np.int32), 4))


def test_an_index_out_of_bounds_names_kernel_buffer_index_thread_and_line(gpu):
    with pytest.raises(gpucoh.KernelError) as caught:
        gpu.launch(out_of_bounds, grid=1, block=32, args=(gpu.zeros(32, np.int32),))
    line = line_of(out_of_bounds, "+ 30")
    assert caught.value.filename == __file__
    assert caught.value.line == line
    text = str(caught.value)
    assert text.startswith(f"{__file__}:{line}: kernel 'out_of_bounds': index ")
    for part in ("'out_of_bounds'", "'x'", "32", "thread (2,0,0)", "block (0,0,0)"):
        assert part in text
    assert "\n" not in text


def test_a_gpu_is_usable_after_a_kernel_failed(gpu):
    x = gpu.zeros(32, np.int32)
    with pytest.raises(gpucoh.KernelError):
        gpu.launch(out_of_bounds, grid=1, block=32, args=(x,))
    x[:] = 0
    gpu.launch(add_one, grid=1, block=32, args=(x, 32))
    assert x.numpy().tolist() == [1] * 32


def test_an_endless_kernel_ends_with_its_budget():
    gpu = gpucoh.GPU(budget=20_000)
    with pytest.raises(gpucoh.BudgetError, match="20000") as error:
        gpu.launch(endless, grid=64, block=256, args=(gpu.zeros(1, np.int32),))
    assert "'endless'" in str(error.value)
    assert f"{__file__}:" in str(error.value)
    assert "512 warps (first: warp 0 of block (0,0,0) on core 0) poll x[0] = 0" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_budget_is_not_slept_through():
    gpu = gpucoh.GPU(budget=20_000)
    with pytest.raises(gpucoh.BudgetError, match=r"sleep\(\)"):
        gpu.launch(long_sleep, grid=1, block=32, args=(10**9,))
    gpu.launch(long_sleep, grid=1, block=32, args=(19_000,))
    before = gpu.stats().cycles
    gpu.launch(long_sleep, grid=1, block=32, args=(-1,))
    assert gpu.stats().cycles - before < 100


def test_a_block_that_fits_no_core_is_refused_with_its_place(gpu):
    with pytest.raises(
        gpucoh.KernelError, match="80000 bytes of scratchpad; a core has 49152"
    ) as error:
        gpu.launch(too_much_scratchpad, grid=1, block=32, args=(gpu.zeros(1, np.int32),))
    assert error.value.filename == __file__
    assert str(error.value).startswith(
        f"{__file__}:{error.value.line}: kernel 'too_much_scratchpad'"
    )


def test_a_barrier_that_some_threads_never_reach_is_reported(gpu):
    message = "some_never_arrive.*barrier [01] of block .* can never complete: 32 of 64 threads"
    with pytest.raises(gpucoh.KernelError, match=message):
        gpu.launch(some_never_arrive, grid=1, block=64, args=(gpu.zeros(1, np.int32),))


def test_stop_ends_a_launch_within_a_fifth_of_a_second_of_cpu_time(gpu):
    x = gpu.zeros(1, np.int32)
    gpu.stop = threading.Event()
    stopped = []
    timer = threading.Timer(0.3, lambda: (stopped.append(time.process_time()), gpu.stop.set()))
    timer.start()
    with pytest.raises(gpucoh.SimulationError, match="stopped"):
        gpu.launch(endless, grid=16, block=256, args=(x,))
    assert time.process_time() - stopped[0] < 0.2
    gpu.stop = None
    x[0] = 1
    gpu.launch(endless, grid=1, block=32, args=(x,))


def test_ctrl_c_is_raised_and_leaves_the_gpu_usable(gpu):
    x = gpu.zeros(1, np.int32)

    def interrupt(done, blocks):
        raise KeyboardInterrupt

    gpu.progress = interrupt
    with pytest.raises(KeyboardInterrupt):
        gpu.launch(endless, grid=1, block=32, args=(x,))
    gpu.progress = None
    x[0] = 1
    gpu.launch(endless, grid=1, block=32, args=(x,))
    gpu.verify()


def test_progress_tells_blocks(gpu):
    seen = []
    gpu.stop = threading.Event()

    def report(done, blocks):
        seen.append((done, blocks))
        gpu.stop.set()

    gpu.progress = report
    with pytest.raises(gpucoh.SimulationError, match="stopped"):
        gpu.launch(endless, grid=5, block=32, args=(gpu.zeros(1, np.int32),))
    assert seen[0] == (0, 5)


# ---- counters and snapshots


def test_reset_starts_the_counters_at_zero(gpu):
    x = gpu.zeros(64, np.int32)
    gpu.launch(add_one, grid=1, block=64, args=(x, 64))
    gpu.reset_stats()
    assert (gpu.stats().cycles, gpu.stats().instructions, gpu.stats().flits()) == (0, 0, 0)


def test_restore_goes_back_and_the_future_is_the_same_again(gpu):
    x = gpu.zeros(64, np.int32)
    gpu.launch(add_one, grid=1, block=64, args=(x, 64))
    snapshot = gpu.snapshot()
    gpu.launch(add_one, grid=1, block=64, args=(x, 64))
    first = (x.numpy().tolist(), gpu.stats().to_dict())
    late = gpu.zeros(4, np.int32)
    gpu.restore(snapshot)
    assert x[0] == 1
    with pytest.raises(gpucoh.ConfigError, match="freed"):
        late.numpy()
    gpu.launch(add_one, grid=1, block=64, args=(x, 64))
    assert (x.numpy().tolist(), gpu.stats().to_dict()) == first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, "seed = -1"),
        ({"seed": "x"}, "seed = 'x'"),
        ({"budget": 0}, "budget = 0"),
    ],
)
def test_a_gpu_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        gpucoh.GPU(**arguments)


@pytest.mark.parametrize("protocol", share(WITH_L1, one_in=8))
def test_a_machine_without_l1s_is_refused_by_its_field_where_the_protocol_needs_one(protocol):
    bare = gpucoh.machine("fermi").replace(l1_kib=0)
    message = f"^l1_kib = 0: protocol {protocol} needs an L1 of at least 512 bytes"
    with pytest.raises(gpucoh.ConfigError, match=message):
        gpucoh.GPU(bare, protocol)
    gpucoh.GPU(bare, "no-l1")


def test_occupancy_tells_what_limits_a_core(gpu):
    gpu.launch(add_one, grid=1, block=256, args=(gpu.zeros(64, np.int32), 64))
    fit = gpu.occupancy["add_one"]
    assert (fit["blocks"], fit["warps"], fit["limit"]) == (6, 48, "warps_per_core")


exit_at_once = isa.PACKING.pack(
    isa.OPCODES["EXIT"], 0, 0, 0, 1, 0, 0, *[isa.OPERAND_NONE] * 4, 0, 0, 0, 1, 0
)


@pytest.mark.parametrize(
    ("vector", "uniform", "fields", "blocks"),
    [
        (
            64,
            4,
            {},
            1,
        ),  # 32768 registers hold two blocks of 64 registers a thread, without the uniform ones
        (64, 0, {}, 2),
        (16, 8, {"registers_per_core": 4096}, 0),
        (16, 8, {"registers_per_core": 4160}, 1),
        (0, 0, {}, 6),
    ],
)
def test_occupancy_counts_the_registers_that_the_core_counts(vector, uniform, fields, blocks):
    machine = gpucoh.machine("fermi").replace(**fields)
    program = replace(
        add_one.compile(32), vector_registers=vector, uniform_registers=uniform, code=exit_at_once
    )
    assert occupancy(machine, program, 256)["blocks"] == blocks
    gpu = gpucoh.GPU(machine=machine, protocol="ideal")
    arguments = (gpu.zeros(64, np.int32), 64)
    if blocks:
        gpu.launch_program(program, (1, 1, 1), (256, 1, 1), arguments)
    else:
        with pytest.raises(gpucoh.KernelError, match="a block needs 4160 registers"):
            gpu.launch_program(program, (1, 1, 1), (256, 1, 1), arguments)


@pytest.mark.parametrize("values", [[2**40], [np.nan], [-np.inf], [0, 2**31], ["a"], [1j]])
def test_values_that_a_dtype_cannot_hold_are_refused(gpu, values):
    with pytest.raises(gpucoh.ConfigError, match="does not fit an array of int32"):
        gpu.array(values, dtype=np.int32)
    with pytest.raises(gpucoh.ConfigError, match="does not fit an array of int32"):
        gpu.zeros(len(values), np.int32)[:] = values


def test_a_conversion_that_is_asked_for_cuts_the_fraction(gpu):
    made = gpu.array([1.5, -1.5, 2.0**31 - 1], dtype=np.int32)
    assert made.numpy().tolist() == [1, -1, 2**31 - 1]
    for narrow in (np.array([2**31], np.float32), np.array([np.inf], np.float16)):
        with pytest.raises(gpucoh.ConfigError, match="does not fit an array of int32"):
            gpu.array(narrow, dtype=np.int32)
    largest = np.finfo(np.float32).max
    assert gpu.array([3.4028235e38, np.inf], dtype=np.float32).numpy().tolist() == [largest, np.inf]
    with pytest.raises(gpucoh.ConfigError, match="does not fit an array of float32"):
        gpu.array([1e300], dtype=np.float32)


def test_a_snapshot_of_another_machine_or_protocol_is_refused(gpu):
    for other in ({"protocol": "mesi"}, {"machine": "gcn3", "protocol": "ideal"}):
        with pytest.raises(gpucoh.ConfigError, match="snapshot is of another"):
            gpucoh.GPU(**other).restore(gpu.snapshot())


def test_arguments_that_are_no_sequence_are_refused(gpu):
    for arguments in (None, 3, "ab"):
        with pytest.raises(gpucoh.ConfigError, match="is not a sequence"):
            gpu.launch(add_one, grid=1, block=32, args=arguments)


def test_a_value_of_a_wrong_shape_is_reported() -> None:
    gpu = gpucoh.GPU(machine="fermi", protocol="ideal")
    array = gpu.zeros(64, np.float32)
    with pytest.raises(
        gpucoh.ConfigError, match=r"shape \(3,\) cannot be broadcast to shape \(64,\)"
    ):
        array[:] = np.zeros(3, np.float32)


@gpucoh.kernel
def long_pauses(x: gpucoh.Buffer[gpucoh.i32], pauses: gpucoh.i32, cycles: gpucoh.i32):
    i = gpucoh.global_id()
    total = 0
    for k in range(pauses):
        gpucoh.sleep(cycles)
        total += x[i] * (k + 1)
    x[i] = total


def test_registers_are_waited_for_beyond_2_to_the_32_cycles():
    """The scoreboard counts in 32 bits from a base that has to move on."""
    gpu = gpucoh.GPU(protocol="ideal", budget=2**40)
    x = gpu.array(np.arange(64, dtype=np.int32))
    result = gpu.launch(long_pauses, grid=1, block=64, args=(x, 6, 2**31 - 1))
    assert (x.numpy() == 21 * np.arange(64)).all()
    assert 6 * (2**31 - 1) < gpu.stats().to_dict()["cycles"] < 6 * 2**31 + 10_000, result


@gpucoh.kernel
def even_and_not(x: gpucoh.Buffer[gpucoh.i32], out: gpucoh.Buffer[gpucoh.i32], n: gpucoh.i32):
    i = gpucoh.global_id()
    lane = gpucoh.thread_id() % 32
    one = x[0]  # the same word for all lanes: even
    part = one + 3
    if lane % 3 == 0:
        part = lane  # written for some lanes: no longer even
    elif lane % 3 == 1:
        part += one
    again = part - part + one  # even once more, found by its words
    old = gpucoh.atomic_add(x, 1, 0) + one
    one += gpucoh.shuffle(part, lane - lane % 8)
    if lane > 16:
        again = old
    out[i] = part + 100 * again + 10_000 * one + n


@pytest.mark.parametrize("threads", [32, 40, 64])
def test_registers_that_are_the_same_in_all_lanes_may_cease_to_be(threads):
    gpu = gpucoh.GPU(protocol="ideal")
    x = gpu.array(np.array([7, 5] + 62 * [0], dtype=np.int32))
    out = gpu.zeros(threads, np.int32)
    gpu.launch(even_and_not, grid=1, block=threads, args=(x, out, 1))
    lane = np.arange(threads) % 32
    part = np.where(lane % 3 == 0, lane, np.where(lane % 3 == 1, 17, 10))
    again = np.where(lane > 16, 5 + 7, 7)
    one = 7 + part[np.arange(threads) // 8 * 8]
    assert (out.numpy() == part + 100 * again + 10_000 * one + 1).all()
