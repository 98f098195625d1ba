"""Accesses by address: offsets, bounds, and the same requests as accesses by index make."""

import json

import numpy as np
import pytest

import gpucoh
from gpucoh.lang import isa
from gpucoh.lang.ir import Branch, Jump
from gpucoh.lang.types import I8, I32, U16, U32
from unit.lang.forms import PLACE, Form


def address_of(form: Form, array: gpucoh.Array, index, bytes: int = 4):
    """The pair of words of an element's address."""
    offset = form.extended("MULWIDE_U32", [index], [bytes])
    return form.extended("ADD_B64", [array.address & 0xFFFFFFFF, array.address >> 32], offset)


def flat(form: Form, op: str, sources, words: int = 1, type=U32, offset: int = 0, **fields):
    flags = fields.pop("flags", 0) | isa.FLAG_FLAT
    return form.add(op, sources, words, type, immediate=offset & 0xFFFFFFFF, flags=flags, **fields)


@pytest.fixture
def gpu():
    with gpucoh.GPU(machine="fermi", protocol="tc-weak") as gpu:
        yield gpu


def launch(gpu, form: Form, block: int = 32) -> None:
    gpu.launch_program(form.program(), (1, 1, 1), (block, 1, 1), [])


def test_an_offset_is_a_signed_number_of_bytes(gpu):
    x, y = gpu.array(np.arange(128, dtype=np.uint32), name="x"), gpu.zeros(32, np.uint32, name="y")
    form = Form()
    thread = form.thread()
    at = address_of(form, x, thread)
    (before,) = flat(
        form, "LOAD", [*address_of(form, x, form.add("ADD", [thread, 40])[0])], offset=-160
    )
    (behind,) = flat(form, "LOAD", at, offset=256)
    (both,) = form.add("ADD", [before, behind])
    flat(form, "STORE", [*address_of(form, y, thread), both], 0)
    launch(gpu, form)
    assert y.numpy().tolist() == [2 * t + 64 for t in range(32)]


@pytest.mark.parametrize(("type", "dtype"), [(I8, np.int8), (U16, np.uint16)], ids=["i8", "u16"])
def test_narrow_and_wide_elements_have_addresses_of_bytes(gpu, type, dtype):
    values = np.arange(-64, 64).astype(dtype)
    x, y = gpu.array(values, name="x"), gpu.zeros(128, np.int32, name="y")
    form = Form()
    thread = form.thread()
    (word,) = flat(form, "LOAD", address_of(form, x, thread, type.bytes), type=type, offset=64)
    flat(form, "STORE", [*address_of(form, y, thread, 16), word, thread, word, 7], 0)
    flat(form, "STORE", [*address_of(form, x, thread, type.bytes), thread], 0, type=type)
    launch(gpu, form)
    loaded = values[64 // type.bytes :][:32]
    assert y.numpy().reshape(32, 4).tolist() == [
        [v, t, v, 7] for t, v in enumerate(loaded.tolist())
    ]
    assert x.numpy()[:32].tolist() == list(range(32))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("INC", lambda old, n: 0 if old >= n else old + 1),
        ("DEC", lambda old, n: n if old == 0 or old > n else old - 1),
    ],
)
def test_inc_and_dec_wrap_at_their_operand(gpu, name, function):
    x, old = gpu.array(np.array([3, 90], np.uint32), name="x"), gpu.zeros(32, np.uint32, name="old")
    form = Form()
    thread = form.thread()
    flags = isa.ATOMICS[name] << isa.FLAG_ATOMIC_SHIFT
    here = [x.address, 0]
    (word,) = flat(form, "ATOMIC", [*here, 9], flags=flags)
    flat(form, "ATOMIC", [*here, 9], offset=4, flags=flags)
    flat(form, "STORE", [*address_of(form, old, thread), word], 0)
    launch(gpu, form)
    values = [3, 90]
    seen = []
    for _ in range(32):
        seen.append(values[0])
        values = [function(value, 9) for value in values]
    assert old.numpy().tolist() == seen
    assert x.numpy().tolist() == values


def wild(gpu, address: int, op: str = "LOAD", words: int = 1, **fields) -> str:
    form = Form()
    form.line = 11
    sources = [address & 0xFFFFFFFF, address >> 32]
    if op == "STORE":
        flat(form, op, [*sources, *range(words)], 0, **fields)
    else:
        flat(form, op, sources, words, **fields)
    with pytest.raises(gpucoh.KernelError) as error:
        launch(gpu, form)
    return str(error.value)


def test_a_wild_pointer_is_an_error_with_thread_line_and_nearest_array(gpu):
    x = gpu.array(np.arange(100, dtype=np.uint32), name="x")
    y = gpu.array(np.arange(10, dtype=np.int8), name="y")
    assert wild(gpu, 0xC0) == (
        "form.cu:11: kernel 'form': load of 4 bytes at address 0xc0, which is in no array; nearest: 'x' of 400 bytes "
        "at 0x10000, 65344 bytes before it: thread (0,0,0) of block (0,0,0)"
    )
    assert "store of 8 bytes at address 0x10190" in (text := wild(gpu, 0x10190, "STORE", 2))
    assert "nearest: 'x' of 400 bytes at 0x10000, 0 bytes behind its end" in text
    assert "'y' of 10 bytes" in (text := wild(gpu, y.address + 10, type=I8))
    assert "0 bytes behind its end" in text
    assert "which ends in no array; nearest: 'y' of 10 bytes" in (text := wild(gpu, y.address + 8))
    assert "2 bytes before its end" in text
    assert "'y' of 10 bytes" in wild(gpu, 1 << 40)
    assert "is not aligned to 4 bytes" in wild(gpu, x.address + 2)


def test_a_freed_array_is_in_no_array(gpu):
    x = gpu.array(np.arange(100, dtype=np.uint32), name="x")
    address = x.address
    x.free()
    assert "in no array; there are no arrays" in wild(gpu, address)


def test_the_lane_that_leaves_an_array_is_named(gpu):
    x = gpu.array(np.arange(40, dtype=np.uint32), name="x")
    form = Form()
    flat(form, "LOAD", address_of(form, x, form.thread()))
    with pytest.raises(
        gpucoh.KernelError, match=r"0 bytes behind its end: thread \(40,0,0\) of block"
    ):
        launch(gpu, form, 64)


@pytest.mark.parametrize("index", ["thread", "thread * 5", "thread >> 9", "thread ^ 21"])
def test_accesses_by_address_make_the_requests_of_accesses_by_index(index):
    """Whole lines, strides, one word for all, other orders; the last warp is half empty."""

    def requests(by_address: bool) -> dict:
        with gpucoh.GPU(machine="fermi", protocol="tc-weak") as gpu:
            x = gpu.array(np.arange(4096, dtype=np.uint32), name="x")
            form = Form(*([] if by_address else ["x"]))
            thread = form.thread()
            op, number = (
                {"*": "MUL", ">": "SHR", "^": "XOR"}.get(index[7:8], "ADD"),
                index.split()[-1],
            )
            (at,) = form.add(op, [thread, int(number) if number.isdigit() else 0])
            pair = address_of(form, x, at)
            for op, sources in (("LOAD", []), ("STORE", [thread]), ("ATOMIC", [thread])):
                words = int(op != "STORE")
                if by_address:
                    flat(form, op, [*pair, *sources], words)
                else:
                    form.add(op, [at, *sources], words)
            gpu.launch_program(
                form.program(optimised=False), (2, 1, 1), (80, 1, 1), [] if by_address else [x]
            )
            counted = json.loads(gpu.core.statistics())
            return {name: counted["l1"][name] for name in ("loads", "stores", "atomics")} | {
                "x": x.numpy().tolist()
            }

    assert requests(True) == requests(False)


def test_values_of_i32_are_kept(gpu):
    x = gpu.array(np.array([-5], np.int32), name="x")
    form = Form()
    (word,) = flat(form, "LOAD", [x.address, 0], type=I32)
    flat(form, "STORE", [x.address, 0, form.add("NEG", [word], type=I32)[0]], 0, type=I32)
    launch(gpu, form)
    assert x.numpy().tolist() == [5]


def test_a_loop_of_extended_operations_on_a_loaded_pair_is_a_poll(gpu):
    """The address is computed in the loop, from values that it does not change."""
    x = gpu.zeros(64, np.uint32, name="x")
    form = Form()
    (block,) = form.add("SPECIAL", [], immediate=isa.SPECIALS["BLOCK_X"], type=I32)
    waits, sets, done = form.block(), form.block(), form.block()
    form.at.terminator = Branch(block, waits, sets, PLACE)
    form.at = waits
    at = address_of(form, x, block)
    word = flat(form, "LOAD", at, 2, order="RELAXED", offset=4)
    (again,) = form.extended("EQ_B64", word, [0, 0])
    waits.terminator = Branch(again, waits, done, PLACE)
    form.at = sets
    form.add("SLEEP", [3000], 0)
    flat(form, "STORE", [x.address, 0, 5, 0], 0, order="RELAXED", offset=8)
    sets.terminator = Jump(done, PLACE)
    gpu.launch_program(form.program(), (2, 1, 1), (32, 1, 1), [])
    assert gpu.stats()["stalls"]["poll"] > 1000


def test_a_trace_follows_an_array_that_is_reached_by_address(gpu):
    x = gpu.zeros(64, np.uint32, name="x")
    form = Form()
    thread = form.thread()
    flat(form, "STORE", [*address_of(form, x, thread), thread], 0)
    with gpu.trace("x") as trace:
        launch(gpu, form)
    assert trace.requests
