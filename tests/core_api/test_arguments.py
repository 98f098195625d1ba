"""Bad arguments: one clear line that names what is wrong; nothing else happens."""

import re

import numpy as np
import pytest

from core_api.programs import ISA, endless, finish, increment, make_gpu, small_machine
from gpucoh import _core
from gpucoh.base.errors import BudgetError, ConfigError, KernelError, SimulationError
from products import rows, share


@pytest.mark.parametrize(
    ("changes", "text"),
    rows(
        [
            ({"protocol": "no-such"}, "no-such"),
            ({"protocol": "no-l1\0"}, "protocol"),
            ({"protocol": "\ud800"}, "protocol"),
            ({"protocol": 3}, "protocol"),
            ({"rule": "tso"}, "tso"),
            ({"options": {"no_such": 1}}, "no_such"),
            ({"options": {"lifetime": 1.5}}, "lifetime"),
            ({"options": {1: 1}}, "option"),
            ({"options": {f"o{i}": 1 for i in range(100)}}, "options"),
            ({"options": []}, "options"),
            ({"seed": -1}, "seed"),
            ({"seed": 2**64}, "seed"),
            ({"seed": "7"}, "seed"),
            ({"budget": 1.5}, "budget"),
            ({"machine": {}}, "missing"),
            ({"machine": None}, "machine"),
            ({"machine": small_machine(cores=0)}, "cores"),
            ({"machine": small_machine(cores=2**40)}, "cores"),
            ({"machine": small_machine(cores=-1)}, "cores"),
            ({"machine": {**small_machine(), "cors": 1}}, "cors"),
            ({"machine": small_machine(l1_bytes=100)}, "l1"),
            (
                {"machine": small_machine(scratchpad_banks=3)},
                "scratchpad_banks = 3: must be 0 or a power of two",
            ),
            (
                {
                    "machine": small_machine(
                        core_mhz=99991, noc_mhz=99989, l2_mhz=99971, dram_mhz=99961
                    )
                },
                "clock",
            ),
        ],
        one_in=4,
    ),
)
def test_a_gpu_that_cannot_be_is_refused_by_name(changes, text):
    with pytest.raises(ConfigError) as error:
        make_gpu(**changes)
    assert text.lower() in str(error.value).lower()
    assert "\n" not in str(error.value)


def test_every_machine_field_is_asked_for():
    for name in _core.machine_fields():
        machine = small_machine()
        del machine[name]
        with pytest.raises(ConfigError, match=name):
            make_gpu(machine=machine)


def test_every_machine_field_has_its_bounds_checked():
    for name, (low, high, _) in _core.machine_fields().items():
        with pytest.raises(ConfigError, match=name):
            make_gpu(machine=small_machine(**{name: high + 1}))
        if low > 0:
            with pytest.raises(ConfigError, match=name):
                make_gpu(machine=small_machine(**{name: low - 1}))


@pytest.mark.parametrize("array", [
    np.zeros(8, np.int64),
    np.zeros(8, np.float32),
    np.zeros(8, np.dtype(">u4")),
    np.zeros((8, 8), np.uint32)[:, 1],
    np.array([None]),
    3,
    None,
    b"12345678",
])  # fmt: skip
def test_an_array_that_is_not_of_words_is_refused(array):
    gpu = make_gpu()
    address = gpu.allocate(64)
    with pytest.raises(ConfigError, match="uint32"):
        gpu.host_read(address, array)
    with pytest.raises(ConfigError, match="uint32"):
        gpu.host_write(address, array)
    for places, data in (array, np.zeros(8, np.uint32)), (np.zeros(8, np.uint32), array):
        with pytest.raises(ConfigError, match="uint32"):
            gpu.host_write_places(address, places, data)


def test_a_read_into_a_read_only_array_is_refused():
    gpu = make_gpu()
    out = np.zeros(4, np.uint32)
    out.flags.writeable = False
    with pytest.raises(ConfigError, match="writable"):
        gpu.host_read(gpu.allocate(4), out)


def test_host_writes_come_back_whatever_the_shape():
    gpu = make_gpu()
    address = gpu.allocate(1000)
    data = np.arange(1000, dtype=np.uint32).reshape(10, 100)
    gpu.host_write(address, data)
    out = np.zeros((100, 10), np.uint32)
    gpu.host_read(address, out)
    assert np.array_equal(out.ravel(), data.ravel())


def test_words_are_written_to_their_places_in_order():
    gpu = make_gpu()
    address = gpu.allocate(100)
    places = np.array([[7, 8, 9], [40, 3, 4], [99, 7, 0]], np.uint32)
    data = np.arange(10, 19, dtype=np.uint32)
    gpu.host_write_places(address, places, data)
    gpu.host_write_places(address, places[:0], data[:0])
    out, wanted = np.zeros(100, np.uint32), np.zeros(100, np.uint32)
    gpu.host_read(address, out)
    wanted[[8, 9, 40, 3, 4, 99, 7, 0]] = data[1:]  # place 7 is written twice
    assert np.array_equal(out, wanted)


def test_as_many_places_as_words_are_needed():
    gpu = make_gpu()
    with pytest.raises(ConfigError, match="data has 3 words, places 2"):
        gpu.host_write_places(gpu.allocate(4), np.zeros(2, np.uint32), np.zeros(3, np.uint32))


def test_host_accesses_outside_an_allocation_are_refused():
    gpu = make_gpu()
    address = gpu.allocate(4)
    for bad in (address + 4 * 10**6, 2**63, 2**64 - 4, address + 1):
        with pytest.raises(KernelError):
            gpu.host_read(bad, np.zeros(4, np.uint32))
        with pytest.raises(KernelError):
            gpu.host_write(bad, np.zeros(4, np.uint32))
        with pytest.raises(KernelError):
            gpu.host_write_places(bad, np.arange(4, dtype=np.uint32), np.zeros(4, np.uint32))
    with pytest.raises(KernelError):
        gpu.host_write_places(address, np.array([0, 2**32 - 1], np.uint32), np.zeros(2, np.uint32))
    wraps = np.array(
        [address // 4 + 2], np.uint32
    )  # 2**64 - 8 + 4 * wraps is the address beyond 64 bits
    with pytest.raises(KernelError):
        gpu.host_write_places(2**64 - 8, wraps, np.ones(1, np.uint32))
    out = np.ones(4, np.uint32)
    gpu.host_read(address, out)
    assert not out.any()


@pytest.mark.parametrize("words", [10**12, 2**62, 2**64 - 1])
def test_an_allocation_beyond_all_memory_is_refused(words):
    gpu = make_gpu()
    with pytest.raises((MemoryError, ConfigError)):
        gpu.allocate(words)
    assert gpu.allocate(4) > 0


@pytest.mark.parametrize("words", [-1, 1.5, "8", None, 2**64])
def test_words_to_allocate_are_a_whole_number(words):
    with pytest.raises(ConfigError, match="words"):
        make_gpu().allocate(words)


def test_memory_is_released_once():
    gpu = make_gpu()
    address = gpu.allocate(8)
    gpu.release(address)
    with pytest.raises((KernelError, ConfigError)):
        gpu.release(address)


@pytest.mark.parametrize(
    "changes",
    share(
        [
            {"program": b"1" * 31},
            {"program": "text"},
            {"program": bytearray(32)},
            {"vector_registers": 2**16},
            {"uniform_registers": -1},
            {"shared_words": 2**32},
            {"constants": np.zeros(4, np.float64)},
            {"buffers": 5},
            {"buffers": [[256, 4, False, "x"]]},
            {"buffers": [(256, 4, False)]},
            {"buffers": [(256, 4, False, 7)]},
            {"buffers": [(-1, 4, False, "x")]},
            {"grid": (1, 1)},
            {"grid": 1},
            {"grid": (1, 1, -1)},
            {"block": (2**32, 1, 1)},
            {"placement": 4},
            {"kernel": None},
        ],
        one_in=4,
    ),
)
def test_a_launch_of_the_wrong_types_is_refused(changes):
    gpu = make_gpu()
    with pytest.raises(ConfigError):
        increment().launch(gpu, gpu.allocate(256), 256, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"program": b""},
        {"program": b"\xff" * 32},
        {"vector_registers": 1},
        {"constants": np.zeros(0, np.uint32)},
        {"buffers": []},
        {"grid": (0, 1, 1)},
        {"block": (0, 1, 1)},
        {"block": (1024, 1024, 1)},
        {"shared_words": 2**30},
    ],
)
def test_a_launch_that_cannot_run_is_refused_and_leaves_the_gpu_usable(changes):
    gpu = make_gpu()
    address = gpu.allocate(256)
    with pytest.raises(KernelError):
        increment().launch(gpu, address, 256, **changes)
    increment().launch(gpu, address, 256)
    finish(gpu)


def test_a_kernel_that_never_ends_meets_its_budget_and_leaves_the_gpu_usable():
    gpu = make_gpu(budget=20_000)
    address = gpu.allocate(256)
    endless().launch(gpu, address, 256)
    with pytest.raises(BudgetError):
        finish(gpu)
    increment().launch(gpu, address, 256)
    finish(gpu)
    gpu.verify()


def test_a_launch_during_a_launch_is_refused():
    gpu = make_gpu()
    address = gpu.allocate(256)
    endless().launch(gpu, address, 256)
    with pytest.raises(SimulationError):
        increment().launch(gpu, address, 256)
    gpu.abort()


def test_a_run_without_a_launch_is_refused():
    with pytest.raises(SimulationError):
        make_gpu().run(100)


def test_methods_refuse_the_wrong_number_of_arguments():
    gpu = make_gpu()
    for call in (
        gpu.allocate,
        gpu.host_read,
        gpu.launch,
        gpu.run,
        gpu.restore,
        _core.GPU,
        _core.explore,
    ):
        with pytest.raises(TypeError):
            call()  # type: ignore[call-arg]


def test_an_unknown_protocol_is_not_described():
    with pytest.raises(ConfigError, match="no-such"):
        _core.describe_protocol("no-such")


@pytest.mark.parametrize(
    "threads",
    share(
        [
            5,
            [5],
            [(0,)],
            [(0, 5)],
            [(-1, [])],
            [(0, [(0, 0, 0)])],
            [(0, [(9, 0, 0, 0, 0, 0, 0, 0)])],
            [(0, [(0, 9, 0, 0, 0, 0, 0, 0)])],
            [(0, [(1, 0, 0, 0, 0, 0, 1, 1)])],  # depends on itself
            [(0, [(1, 0, 0, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0, 1, 1)])],  # on a store
            [(0, [(0, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 1, 1)])],  # a load that depends
        ],
        one_in=4,
    ),
)
def test_threads_that_cannot_be_explored_are_refused(threads):
    with pytest.raises(ConfigError):
        _core.explore("no-l1", None, {}, 2, 2, threads, 0, False, 1000)


def test_the_instruction_set_is_complete():
    assert len(ISA["opcodes"]) == len(ISA["operands"])
    assert list(ISA["opcodes"].values()) == list(range(len(ISA["opcodes"])))
    assert ISA["size"] == 32


def outside(**changes):
    """The error of an increment of four blocks in a buffer of one word."""
    gpu = make_gpu()
    increment().launch(gpu, gpu.allocate(1), 1, **changes)
    with pytest.raises(KernelError) as caught:
        finish(gpu)
    return caught.value


def test_an_error_of_a_kernel_has_its_place_as_a_fact():
    error = outside()
    assert str(error).startswith("kernel 'by_hand': index ")
    assert error.place == (0, 7)  # the LOAD is the program's seventh instruction, and its line is 7


def test_messages_name_the_files_that_a_launch_gives():
    gpu = make_gpu(budget=120)
    increment().launch(gpu, gpu.allocate(256), 256, files=(("by_hand.py", 100),))
    with pytest.raises(BudgetError, match=r"in kernel 'by_hand' at by_hand\.py:1\d\d "):
        finish(gpu)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"files": ["a.py"]}, "files and reports must be tuples"),
        ({"files": ("a.py",)}, "a file must be a tuple (name, first line), got 'a.py'"),
        ({"files": (("a.py", -1),)}, "the first line of a file"),
        ({"reports": (1,)}, "a report must be a string"),
    ],
)
def test_wrong_files_and_reports_are_refused(changes, text):
    gpu = make_gpu()
    with pytest.raises(ConfigError, match=re.escape(text)):
        increment().launch(gpu, gpu.allocate(256), 256, **changes)
