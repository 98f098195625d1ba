"""Atomics and ordered accesses of 64 bits: what they give, and that they are performed at once."""

import numpy as np
import pytest

import gpucoh
from gpucoh.lang import isa
from gpucoh.lang.ir import Branch, Constant, Jump
from gpucoh.lang.types import F32, I32, U32
from products import rows, share
from registered import ALL
from unit.lang.forms import PLACE, Form
from unit.lang.test_flat import address_of, flat
from unit.lang.test_spaces import Spaces

MASK = (1 << 64) - 1
#: Its caches own and answer single words.
APART = [name for name in ALL if name.startswith("denovo")]


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def f64(value: int) -> float:
    return float(np.uint64(value).view(np.float64))


def bits(value: float) -> int:
    return 0x7FF8000000000000 if value != value else int(np.float64(value).view(np.uint64))


OPERATIONS = {
    ("ADD", U32): lambda old, x: old + x & MASK,
    ("SUB", U32): lambda old, x: old - x & MASK,
    ("MIN", I32): lambda old, x: min(old, x, key=signed),
    ("MAX", I32): lambda old, x: max(old, x, key=signed),
    ("MIN", U32): min,
    ("MAX", U32): max,
    ("AND", U32): lambda old, x: old & x,
    ("OR", U32): lambda old, x: old | x,
    ("XOR", U32): lambda old, x: old ^ x,
    ("EXCH", U32): lambda old, x: x,
    ("ADD", F32): lambda old, x: bits(f64(old) + f64(x)),
}
FIRST = [0x8000000100000002, 0x7FFFFFFFFFFFFFFF, bits(1.5), 5]


@pytest.mark.parametrize(
    ("row", "space"),
    share(list(OPERATIONS), ["global", "shared"], one_in=2),
    ids=lambda x: x if isinstance(x, str) else f"{x[0]}-{x[1].name}",
)
def test_an_atomic_of_two_words_gives_the_old_value_and_leaves_the_new_one(row, space):
    """The lanes of two warps update four places, those of a warp in order."""
    operation, type = row
    with gpucoh.GPU(machine="fermi", protocol="tc-strong") as gpu:
        s = Spaces(gpu, 4, 64)
        dice = np.random.default_rng(7)
        words = dice.integers(0, 2**63, 64).astype(np.uint64)
        words[:4] = [1 << 63, (1 << 33) - 1, bits(-2.25), 0]
        operand = gpu.array(words.view(np.uint32), name="operand")
        x = gpu.array(np.array(FIRST, np.uint64).view(np.uint32), name="x")
        place = s.op("AND", s.thread, 3)
        mine = flat(s.form, "LOAD", address_of(s.form, operand, s.thread, 8), 2)
        flags = isa.ATOMICS[operation] << isa.FLAG_ATOMIC_SHIFT
        if space == "global":
            old = flat(
                s.form, "ATOMIC", [*address_of(s.form, x, place, 8), *mine], 2, type, flags=flags
            )
        else:
            eight = s.op("SHL", place, 3)
            s.shared("STORE", [eight, *flat(s.form, "LOAD", address_of(s.form, x, place, 8), 2)], 0)
            s.form.add("BARRIER", [0, None], 0, order="ACQ_REL", scope="CTA")
            old = s.shared("ATOMIC", [eight, *mine], 2, type=type, flags=flags)
            s.form.add("BARRIER", [0, None], 0, order="ACQ_REL", scope="CTA")
            s.keep(*old)
            s.keep(*s.shared("LOAD", [eight], 2))
        if space == "global":
            s.keep(*old)
        out = s.run().view(np.uint64)
        function, now, seen = OPERATIONS[operation, type], list(FIRST), []
        if space == "global":
            final = x.numpy().view(np.uint64).tolist()
        else:
            final = out[:4, 1].tolist()
        # warps may come in any order: each warp's lanes in theirs
        for order in ((0, 1), (1, 0)):
            now, seen = list(FIRST), {}
            for warp in order:
                for t in range(32 * warp, 32 * warp + 32):
                    seen[t] = now[t % 4]
                    now[t % 4] = function(now[t % 4], int(words[t]))
            if [seen[t] for t in range(64)] == out[:, 0].tolist():
                break
        assert [seen[t] for t in range(64)] == out[:, 0].tolist()
        assert now == final


CHECKED = [(name, False) for name in ALL]
CHECKED += [(name, True) for name in ("mesi", "tc-weak", "gpu-hrf", *APART)]


@pytest.mark.parametrize(("protocol", "check"), rows(CHECKED, one_in=8))
def test_compare_and_swap_of_two_words_counts_each_thread_once(protocol, check):
    """Every thread adds (1, 2^32 - 1) with a loop of CAS: no addition is lost, and no half of one is seen."""
    with gpucoh.GPU(machine="fermi", protocol=protocol, check=check) as gpu:
        x = gpu.array(np.array([7, 0], np.uint32), name="x")
        form = Form()
        entry, loop, done = form.at, form.block(), form.block()
        here = [Constant(x.address), Constant(0)]
        first = flat(form, "LOAD", here, 2, order="RELAXED")
        known = [form.function.new_register() for _ in range(2)]
        form.function.groups.append(tuple(known))

        def move(to, source):
            form.add("MOVE", [source], 1)
            form.at.instructions[-1].dest = to

        for to, source in zip(known, first, strict=True):
            move(to, source)
        entry.terminator = Jump(loop, PLACE)
        form.at = loop
        wanted = form.extended("ADD_B64", known, [1, 0xFFFFFFFF])
        cas = isa.ATOMICS["CAS"] << isa.FLAG_ATOMIC_SHIFT
        old = flat(form, "ATOMIC", [*here, *known, *wanted], 2, flags=cas, order="RELAXED")
        (failed,) = form.extended("NE_B64", old, known)
        for to, source in zip(known, old, strict=True):
            move(to, source)
        loop.terminator = Branch(failed, loop, done, PLACE)
        gpu.launch_program(form.program(), (6, 1, 1), (32, 1, 1), [])
        assert x.numpy().view(np.uint64).tolist() == [7 + 192 * 0xFFFFFFFF00000001 & MASK]


# Its lanes say that the words of such a store belong together; the monitors took it for an atomic.
OWNED = ("denovo-drf", True)


@pytest.mark.parametrize(
    ("protocol", "check"), [OWNED, *rows([row for row in CHECKED if row != OWNED], one_in=8)]
)
def test_an_ordered_store_of_two_words_is_seen_whole(protocol, check):
    """Writers store (n, ~n); readers see no mixture."""
    with gpucoh.GPU(machine="fermi", protocol=protocol, check=check) as gpu:
        x = gpu.array(np.array([0, 0xFFFFFFFF], np.uint32), name="x")
        torn = gpu.zeros(1, np.uint32, name="torn")
        form = Form()
        (block,) = form.add("SPECIAL", [], immediate=isa.SPECIALS["BLOCK_X"], type=I32)
        here = [Constant(x.address), Constant(0)]
        write, read, done = form.block(), form.block(), form.block()
        (odd,) = form.add("AND", [block, 1])
        form.at.terminator = Branch(odd, write, read, PLACE)
        form.at = write
        for k in range(12):
            (n,) = form.add("ADD", [block, 100 * k])
            flat(form, "STORE", [*here, n, form.add("NOT", [n])[0]], 0, order="RELAXED")
        write.terminator = Jump(done, PLACE)
        form.at = read
        for _ in range(12):
            low, high = flat(form, "LOAD", here, 2, order="RELAXED")
            (mixed,) = form.add("NE", [low, form.add("NOT", [high])[0]])
            flat(form, "ATOMIC", [torn.address, 0, mixed], 0)
        read.terminator = Jump(done, PLACE)
        gpu.launch_program(form.program(), (12, 1, 1), (32, 1, 1), [])
        assert torn.numpy().tolist() == [0]
        low, high = x.numpy().tolist()
        assert low == ~high & 0xFFFFFFFF != 0


@pytest.mark.parametrize(
    ("first", "second", "races"),
    [
        (("ATOMIC", 2, "RELAXED"), ("ATOMIC", 2, "RELAXED"), False),
        (("STORE", 2, "RELAXED"), ("LOAD", 2, "RELAXED"), False),
        (("ATOMIC", 2, "RELAXED"), ("LOAD", 2, "WEAK"), True),
        (("STORE", 2, "RELAXED"), ("STORE", 1, "WEAK"), True),  # of the upper word alone
        (("STORE", 2, "WEAK"), ("LOAD", 1, "RELAXED"), True),
    ],
)
def test_races_are_found_in_both_words(first, second, races):
    with gpucoh.GPU(machine="fermi", protocol="gpu-hrf", check="races") as gpu:
        x = gpu.zeros(2, np.uint32, name="x")
        form = Form()
        (block,) = form.add("SPECIAL", [], immediate=isa.SPECIALS["BLOCK_X"], type=I32)
        sides = [form.block(), form.block()]
        form.at.terminator = Branch(block, *sides, PLACE)  # type: ignore[call-arg]
        for side, (op, words, order) in zip(sides, (first, second), strict=True):
            form.at = side
            values = [1] * words if op != "LOAD" else []
            results = 0 if op == "STORE" else words
            flat(form, op, [x.address, 0, *values], results, order=order, offset=4 * (2 - words))
        if races:
            with pytest.raises(gpucoh.SimulationError, match="data race"):
                gpu.launch_program(form.program(), (2, 1, 1), (1, 1, 1), [])
        else:
            gpu.launch_program(form.program(), (2, 1, 1), (1, 1, 1), [])


@pytest.mark.parametrize("second", [("LOAD", 2), ("ATOMIC", 1), ("ATOMIC", 2)])
def test_races_are_found_in_the_words_of_a_scratchpad(second):
    with gpucoh.GPU(machine="fermi", protocol="gpu-hrf", check="races") as gpu:
        s = Spaces(gpu, 1, 64)
        last = s.op("SHR", s.thread, 5)  # the second warp
        sides = [s.form.block(), s.form.block()]
        s.form.at.terminator = Branch(last, *sides, PLACE)  # type: ignore[call-arg]
        s.form.at = sides[0]
        s.shared("STORE", [0, 1, 2], 0)
        s.form.at = sides[1]
        op, words = second
        s.shared(op, [0, *([1] * words if op == "ATOMIC" else [])], words, offset=4 * (2 - words))
        with pytest.raises(gpucoh.SimulationError, match="data race"):
            s.run()


@pytest.mark.parametrize("protocol", share(ALL, one_in=8))
def test_atomics_of_many_lines_add_up(protocol):
    """The lanes of each instruction are on several lines, and several lanes on one place."""
    with gpucoh.GPU(machine="fermi", protocol=protocol) as gpu:
        x = gpu.zeros(2 * 200, np.uint32, name="x")
        form = Form()
        thread = form.thread()
        for k in range(4):
            (place,) = form.add("MOD", [form.add("MUL", [thread, 7 + k])[0], 200])
            add = isa.ATOMICS["ADD"] << isa.FLAG_ATOMIC_SHIFT
            results = 2 if k % 2 else 0
            flat(
                form,
                "ATOMIC",
                [*address_of(form, x, place, 8), thread, 0x80000000],
                results,
                flags=add,
            )
        gpu.launch_program(form.program(), (5, 1, 1), (64, 1, 1), [])
        wanted = [0] * 200
        for t in range(320):
            for k in range(4):
                place = t * (7 + k) % 200
                wanted[place] = wanted[place] + t + (0x80000000 << 32) & MASK
        assert x.numpy().view(np.uint64).tolist() == wanted


@pytest.mark.parametrize("protocol", share([name for name in ALL if name != "no-coh"], one_in=8))
def test_a_flag_of_two_words_passes_a_message(protocol):
    with gpucoh.GPU(machine="fermi", protocol=protocol) as gpu:
        data, flag = gpu.zeros(32, np.uint32, name="data"), gpu.zeros(2, np.uint32, name="flag")
        out = gpu.zeros(32, np.uint32, name="out")
        form = Form()
        (block,) = form.add("SPECIAL", [], immediate=isa.SPECIALS["BLOCK_X"], type=I32)
        (lane,) = form.add("SPECIAL", [], immediate=isa.SPECIALS["THREAD_X"], type=I32)
        sends, waits, reads, done = (form.block() for _ in range(4))
        form.at.terminator = Branch(block, waits, sends, PLACE)
        form.at = sends
        flat(form, "STORE", [*address_of(form, data, lane), form.add("ADD", [lane, 7])[0]], 0)
        flat(form, "STORE", [flag.address, 0, 0, 1], 0, order="RELEASE")
        sends.terminator = Jump(done, PLACE)
        form.at = waits
        seen = flat(form, "LOAD", [flag.address, 0], 2, order="ACQUIRE")
        (absent,) = form.extended("EQ_B64", seen, [0, 0])
        waits.terminator = Branch(absent, waits, reads, PLACE)
        form.at = reads
        (word,) = flat(form, "LOAD", address_of(form, data, lane))
        flat(form, "STORE", [*address_of(form, out, lane), word], 0)
        reads.terminator = Jump(done, PLACE)
        gpu.launch_program(form.program(), (2, 1, 1), (32, 1, 1), [])
        assert out.numpy().tolist() == [lane + 7 for lane in range(32)]
