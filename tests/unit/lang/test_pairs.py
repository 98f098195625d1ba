"""Words of one operand: neighbours in registers and in the constant bank, whatever the passes have made of them."""

import numpy as np
import pytest

import gpucoh
from gpucoh.lang import isa
from gpucoh.lang.assemble import disassemble
from gpucoh.lang.ir import Argument, Instruction
from gpucoh.lang.types import U32
from unit.lang.forms import PLACE, Form, run


def test_a_pair_of_constants_is_in_the_bank_once():
    form = Form("out")
    thread = form.thread()
    for k in range(3):
        low, high = form.extended("ADD_B64", [thread, 0], [7, 8])
        form.add(
            "STORE", [form.add("ADD", [thread, 64 * k])[0], form.add("ADD", [low, high])[0]], 0
        )
    bank = form.program(optimised=False).constants
    assert bank.count(8) == 1
    assert bank[bank.index(8) - 1] == 7


def test_words_of_an_argument_are_neighbours_though_used_alone_before():
    form = Form("out")
    thread = form.thread()
    form.add("STORE", [thread, Argument("p.high")], 0)
    form.extended("ADD_B64", [Argument("p.low"), Argument("p.high")], [thread, 0])
    bank = form.program(optimised=False).constants
    assert any(bank[k : k + 2] == ("p.low", "p.high") for k in range(len(bank)))


@pytest.mark.parametrize("optimised", [False, True])
def test_words_of_several_pairs_are_brought_together(optimised):
    """Low words of one value with upper ones of another; a constant beside a register."""
    form = Form("out")
    thread = form.thread()
    a = form.extended("MULWIDE_U32", [thread], [0x80000001])
    b = form.extended("ADD_B64", a, [5, 6])
    mixed = form.extended("ADD_B64", [a[0], b[1]], [thread, 9])
    (four,) = form.add("SHL", [thread, 1])
    form.add("STORE", [four, *mixed], 0)
    (out,) = run(form.program(optimised=optimised), [np.zeros(64, np.uint32)])
    wanted = []
    for t in range(32):
        first = t * 0x80000001
        second = first + (6 << 32 | 5)
        value = (second >> 32 << 32 | first & 0xFFFFFFFF) + (9 << 32 | t)
        wanted.append(value & (1 << 64) - 1)
    assert out.view(np.uint64).tolist() == wanted


def test_results_that_are_no_group_are_moved_to_their_registers():
    """Four words loaded into two pairs."""
    form = Form("x", "out")
    thread = form.thread()
    pairs = [form.function.new_register() for _ in range(4)]
    form.function.groups += [tuple(pairs[:2]), tuple(pairs[2:])]
    (place,) = form.add("SHL", [thread, 2])
    form.at.instructions.append(
        Instruction("LOAD", U32, pairs[0], [place], PLACE, more=tuple(pairs[1:]))
    )
    total = form.extended("ADD_B64", pairs[:2], pairs[2:])
    (two,) = form.add("SHL", [thread, 1])
    form.add("STORE", [two, *total], 0, immediate=1)
    x = np.random.default_rng(5).integers(0, 2**32, 128).astype(np.uint32)
    _, out = run(form.program(), [x, np.zeros(64, np.uint32)])
    values = x.view(np.uint64).reshape(32, 2)
    assert out.view(np.uint64).tolist() == (values[:, 0] + values[:, 1]).tolist()


def test_an_unused_pair_is_not_computed_and_a_used_word_is():
    form = Form("out")
    thread = form.thread()
    form.extended("MUL_B64", [thread, 0], [thread, 0])
    _, high = form.extended("MULWIDE_U32", [thread], [0x40000000])
    form.add("STORE", [thread, high], 0)
    program = form.program()
    text = disassemble(program)
    assert "MUL_B64" not in text
    assert "MULWIDE_U32" in text
    (out,) = run(program, [np.zeros(32, np.uint32)])
    assert out.tolist() == [t >> 2 for t in range(32)]


def test_equal_operations_with_one_word_are_computed_once_of_their_own_row():
    form = Form("out")
    thread = form.thread()
    words = [form.extended(name, [thread])[0] for name in ("POPC_B32", "POPC_B32", "BREV_B32")]
    (total,) = form.add("ADD", [form.add("ADD", words[:2])[0], words[2]])
    form.add("STORE", [thread, total], 0)
    program = form.program()
    assert disassemble(program).count("POPC_B32") == 1
    (out,) = run(program, [np.zeros(32, np.uint32)])
    assert out.tolist() == [2 * t.bit_count() + int(f"{t:032b}"[::-1], 2) for t in range(32)]


def test_flags_and_addresses_are_disassembled():
    form = Form()
    flags = isa.ROUNDINGS["RZ"] | isa.FLAG_FTZ
    (word,) = form.extended("ADD_F32", [1], [2], flags=flags)
    form.add("STORE", [0x10000, 0, word], 0, flags=isa.FLAG_FLAT, immediate=0xFFFFFFFC)
    text = disassemble(form.program(optimised=False))
    assert "ADD_F32.rz.ftz" in text
    assert "0x10000:0x0" in text
    assert "-4, weak.gpu" in text


def test_a_row_gets_as_many_words_as_it_has():
    form = Form("out")
    row = isa.EXTENDED["ADD_B64"]
    form.add("EXTENDED", [form.thread(), 0, 1, 0], 1, immediate=row.number)
    with pytest.raises(
        gpucoh.KernelError, match="as many registers as the extended operation's result"
    ):
        run(form.program(optimised=False), [np.zeros(1, np.uint32)])
