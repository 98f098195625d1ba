"""Scratchpads by byte, generic addresses, local memory, shuffles of 32 lanes."""

import numpy as np
import pytest

import gpucoh
from gpucoh.lang import isa
from gpucoh.lang.ir import Constant
from gpucoh.lang.types import F32, I8, I32, U16, U32
from products import share
from unit.lang.forms import Form
from unit.lang.test_flat import address_of, flat

THREADS = 64


@pytest.fixture
def gpu():
    with gpucoh.GPU(machine="fermi", protocol="mesi") as gpu:
        yield gpu


class Spaces:
    """A form whose threads store words to an array, one row a thread."""

    def __init__(self, gpu, row: int, shared_words: int = 0) -> None:
        self.gpu, self.row = gpu, row
        self.form = Form()
        self.form.function.shared_words = shared_words
        self.thread = self.form.thread()
        self.out = gpu.zeros(THREADS * row, np.uint32, name="out")
        self.place = address_of(self.form, self.out, self.thread, 4 * row)
        self.stored = 0

    def op(self, name: str, *operands, words: int = 0):
        return self.form.add(name, list(operands), 1)[0]

    def keep(self, *words) -> None:
        for word in words:
            flat(self.form, "STORE", [*self.place, word], 0, offset=4 * self.stored)
            self.stored += 1

    def shared(self, op: str, sources, words: int = 1, offset: int = 0, flags: int = 0, **fields):
        flags |= isa.FLAG_BYTES
        return self.form.add(
            f"SHARED_{op}", sources, words, immediate=offset & 0xFFFFFFFF, flags=flags, **fields
        )

    def run(self, **fields) -> np.ndarray:
        program = self.form.program(optimised=fields.pop("optimised", True))
        self.gpu.launch_program(program, (1, 1, 1), (THREADS, 1, 1), [], **fields)
        return self.out.numpy().reshape(THREADS, self.row)


def barrier(form: Form) -> None:
    form.add("BARRIER", [0, None], 0, order="ACQ_REL", scope="CTA")


def test_a_scratchpad_is_read_and_written_by_byte(gpu):
    s = Spaces(gpu, 9, 256)
    four = s.op("SHL", s.thread, 4)
    s.shared("STORE", [four, s.thread, 0x01020384, 3, 4], 0)
    barrier(s.form)
    other = s.op("XOR", four, 16 * 33)
    s.keep(*s.shared("LOAD", [other], 4))
    s.keep(*s.shared("LOAD", [s.op("ADD", other, 100)], 2, offset=-92))
    s.keep(
        *s.shared("LOAD", [other], offset=4, type=I8),
        *s.shared("LOAD", [other], offset=6, type=U16),
    )
    s.shared("STORE", [four, s.thread], 0, offset=5, type=I8)
    s.keep(*s.shared("LOAD", [four], offset=4))
    wanted = [
        [t ^ 33, 0x01020384, 3, 4, 3, 4, 0xFFFFFF84, 0x0102, 0x01020084 | t << 8]
        for t in range(THREADS)
    ]
    assert s.run().tolist() == wanted


def test_words_of_a_lane_are_taken_in_rounds():
    """Two words a lane: two rounds, without a conflict; of four words four; one place for all
    lanes is one round; a stride of 32 words serialises a round."""

    def conflicts(width: int, step: int) -> int:
        with gpucoh.GPU(machine="fermi", protocol="no-l1") as gpu:
            form = Form()
            form.function.shared_words = 4096
            form.add(
                "SHARED_LOAD",
                [form.add("MUL", [form.thread(), step])[0]],
                width,
                flags=isa.FLAG_BYTES,
            )
            gpu.launch_program(form.program(optimised=False), (1, 1, 1), (32, 1, 1), [])
            return gpu.stats()["core"]["shared_conflict_cycles"]

    assert [conflicts(1, 4), conflicts(2, 8), conflicts(4, 16), conflicts(2, 0)] == [0, 1, 3, 0]
    assert conflicts(1, 128) == 31
    assert conflicts(2, 128) == 31


@pytest.mark.parametrize(
    ("sources", "words", "type", "text"),
    [
        ([1024], 1, U32, r"4 bytes at byte 1024 of shared memory, of which the block has 1024"),
        ([1020], 2, U32, r"byte 1020 of shared memory is not aligned to 8 bytes"),
        ([0xFFFFFFFC], 1, U32, r"4 bytes at byte -4 of shared memory"),
        ([1023], 1, U16, r"byte 1023 of shared memory is not aligned to 2 bytes"),
        ([1024], 1, I8, r"1 bytes at byte 1024"),
    ],
)
def test_a_byte_outside_of_the_scratchpad_is_an_error(gpu, sources, words, type, text):
    s = Spaces(gpu, 1, 256)
    s.shared("LOAD", sources, words, type=type)
    with pytest.raises(
        gpucoh.KernelError, match=rf"form.cu:0: kernel 'form': {text}.*thread \(0,0,0\)"
    ):
        s.run()


def test_check_reports_a_second_word_that_nobody_has_written():
    with gpucoh.GPU(machine="fermi", protocol="mesi", check=True) as gpu:
        s = Spaces(gpu, 1, 256)
        four = s.op("SHL", s.thread, 3)
        s.shared("STORE", [four, s.thread], 0)
        s.shared("LOAD", [four], 2)
        with pytest.raises(gpucoh.SimulationError, match="uninitialised shared memory"):
            s.run()
        s = Spaces(gpu, 1, 256)
        four = s.op("SHL", s.thread, 3)
        s.shared("STORE", [four, s.thread, 5], 0)
        s.keep(s.shared("LOAD", [four], 2)[1])
        assert s.run().tolist() == [[5]] * THREADS


def pair(address: int) -> list[Constant]:
    return [Constant(address & 0xFFFFFFFF), Constant(address >> 32)]


def test_lanes_of_one_access_may_be_in_shared_and_in_global_memory(gpu):
    s = Spaces(gpu, 3, 256)
    x = gpu.array(np.arange(1000, 1000 + THREADS, dtype=np.uint32), name="x")
    four = s.op("SHL", s.thread, 2)
    s.shared("STORE", [four, s.thread], 0)
    low, high = address_of(s.form, x, s.thread)
    odd = s.op("AND", s.thread, 1)
    chosen = [s.op("SELECT", odd, four, low), s.op("SELECT", odd, isa.SHARED_WINDOW, high)]
    s.keep(*flat(s.form, "LOAD", chosen))
    add = isa.ATOMICS["ADD"] << isa.FLAG_ATOMIC_SHIFT
    s.keep(*flat(s.form, "ATOMIC", [*chosen, 7], flags=add))
    flat(s.form, "STORE", [*chosen, s.op("ADD", s.thread, 50)], 0)
    s.keep(*flat(s.form, "LOAD", chosen))
    first = [t if t % 2 else 1000 + t for t in range(THREADS)]
    assert s.run().tolist() == [[v, v, t + 50] for t, v in enumerate(first)]
    assert x.numpy().tolist() == [1000 + t if t % 2 else t + 50 for t in range(THREADS)]


def test_generic_accesses_of_shared_memory_take_the_time_of_the_scratchpad():
    def cycles(generic: bool) -> int:
        with gpucoh.GPU(machine="fermi", protocol="mesi") as gpu:
            form = Form()
            form.function.shared_words = 256
            four = form.add("SHL", [form.thread(), 2])[0]
            generally = form.extended("OR_B64", [four, isa.SHARED_WINDOW], [0, 0])
            for _ in range(8):
                if generic:
                    (word,) = flat(form, "LOAD", generally)
                else:
                    (word,) = form.add("SHARED_LOAD", generally[:1], flags=isa.FLAG_BYTES)
                form.add("ADD", [word, 1])
            gpu.launch_program(form.program(optimised=False), (1, 1, 1), (32, 1, 1), [])
            return gpu.stats()["cycles"]

    assert cycles(True) == cycles(False)


def test_local_memory_is_one_line_a_warp_and_word(gpu):
    s = Spaces(gpu, 3)
    local = gpu.zeros(THREADS * 4, np.uint32, name="local")
    window = Constant(isa.LOCAL_WINDOW)
    flat(s.form, "STORE", [8, window, s.thread], 0)
    flat(s.form, "STORE", [9, window, 0xAB], 0, type=I8, offset=4)
    own = s.op("AND", s.op("SHL", s.thread, 2), 4)
    flat(s.form, "STORE", [own, window, s.op("ADD", s.thread, 100)], 0)
    s.keep(*flat(s.form, "LOAD", [0, window], offset=8), *flat(s.form, "LOAD", [own, window]))
    s.keep(*flat(s.form, "LOAD", [13, window], type=I8))
    assert s.run(local=(local.address, 16)).tolist() == [
        [t, t + 100, 0xFFFFFFAB] for t in range(THREADS)
    ]
    words = local.numpy().reshape(4, THREADS)
    assert words[2].tolist() == list(range(THREADS))
    assert words[3].tolist() == [0xAB00] * THREADS
    assert words[1].tolist() == [t + 100 if t % 2 else 0 for t in range(THREADS)]


def test_words_of_local_memory_are_one_request_a_warp():
    with gpucoh.GPU(machine="fermi", protocol="mesi") as gpu:
        s = Spaces(gpu, 1)
        local = gpu.zeros(THREADS * 4, np.uint32, name="local")
        flat(s.form, "LOAD", [8, isa.LOCAL_WINDOW])
        s.run(local=(local.address, 16), optimised=False)
        assert gpu.stats()["l1"]["loads"] == THREADS // 32


@pytest.mark.parametrize(
    ("byte", "words", "text"),
    [
        (16, 1, "4 bytes at byte 16 of local memory, of which a thread has 16"),
        (6, 1, "byte 6 of local memory is not aligned"),
        (8, 2, "an access of 2 words to local memory"),
    ],
)
def test_a_byte_outside_of_local_memory_is_an_error(gpu, byte, words, text):
    s = Spaces(gpu, 1)
    local = gpu.zeros(THREADS * 4, np.uint32, name="local")
    flat(s.form, "LOAD", [byte, isa.LOCAL_WINDOW], words)
    with pytest.raises(gpucoh.KernelError, match=text):
        s.run(local=(local.address, 16))


def test_without_local_memory_an_access_to_it_is_an_error(gpu):
    s = Spaces(gpu, 1)
    flat(s.form, "LOAD", [0, isa.LOCAL_WINDOW])
    with pytest.raises(gpucoh.KernelError, match="of which a thread has 0"):
        s.run()


def shuffled(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """As the specification of PTX has it."""
    clamp, mask = c & 31, c >> 8 & 31
    most = (lane & mask) | (clamp & ~mask)
    least = lane & mask
    b &= 31
    j, inside = {
        "UP": (lane - b, lane - b >= most),
        "DOWN": (lane + b, lane + b <= most),
        "BFLY": (lane ^ b, (lane ^ b) <= most),
        "IDX": (least | (b & ~mask), (least | (b & ~mask)) <= most),
    }[mode]
    return (j if inside else lane), inside


@pytest.mark.parametrize(
    ("mode", "c"),
    share(["UP", "DOWN", "BFLY", "IDX"], [0, 31, 0x181F, 0x1C07, 0x1800, 0x0010], one_in=4),
)
def test_shuffles_give_the_word_and_the_predicate_of_ptx(gpu, mode, c):
    s = Spaces(gpu, 4)
    flags = isa.SHUFFLES[mode] << isa.FLAG_SHUFFLE_SHIFT
    value, b = s.op("MUL", s.thread, 3), s.op("AND", s.op("MUL", s.thread, 7), 31)
    s.keep(*s.form.add("SHUFFLE", [value, b, c], 2, flags=flags))
    s.keep(*s.form.add("SHUFFLE", [value, 3, c], 1, flags=flags))
    s.keep(*s.form.add("SHUFFLE", [value, b], 1))
    wanted = []
    for t in range(THREADS):
        warp, lane = t // 32 * 32, t % 32
        j, inside = shuffled(mode, lane, t * 7 & 31, c)
        k, _ = shuffled(mode, lane, 3, c)
        wanted.append([3 * (warp + j), int(inside), 3 * (warp + k), 3 * (warp + (t * 7 & 31))])
    assert s.run().tolist() == wanted


def test_a_program_for_32_lanes_is_refused_by_a_machine_of_64():
    with gpucoh.GPU(machine="apu", protocol="qr") as gpu:
        form = Form()
        form.function.lanes_needed = 32
        with pytest.raises(
            gpucoh.ConfigError, match="needs warps of 32 lanes, and machine 'apu' has 64"
        ):
            gpu.launch_program(form.program(64), (1, 1, 1), (64, 1, 1), [])
    assert I32.bytes == F32.bytes == 4
