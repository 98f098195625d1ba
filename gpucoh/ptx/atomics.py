"""Atomic operations.

Those that the core lacks, on 16 bits and on one or two halves, are a loop of compare-and-swap on the word, as compilers
make them for GPUs that lack them, too. An array whose last word is not whole has none on its last element.
"""

from __future__ import annotations

import copy

from gpucoh.lang.ir import Constant
from gpucoh.lang.types import F32, I32, U32, Element
from gpucoh.ptx.arithmetic import floating, type_of
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.memory import Place, order_of, space_of
from gpucoh.ptx.module import Statement
from gpucoh.ptx.types import PACKED, SIZES, is_signed

_ATOMICS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
_ACQUIRING = {"ACQUIRE": "ACQUIRE", "ACQ_REL": "ACQUIRE", "SC": "SC"}


@lowers("atom", "red")
def atomic(x: Lowering, s: Statement) -> None:
    """``atom.space.op.type d, [a], b, c``; ``red`` has no result."""
    type = type_of(x, s)
    operands = s.operands if s.op == "atom" else ["_", *s.operands]
    operation = s.one_of(_ATOMICS)
    if operation is None or SIZES[type] not in (2, 4, 8):
        raise x.unsupported()
    order = order_of(x, s, "RELAXED")
    place = Place(x, operands[1], space_of(s))
    if SIZES[type] == 2 or type in PACKED:
        before = _looped(x, place, operation, type, [x.value(v, type) for v in operands[2:]], order)
        if operands[0] != "_":
            x.move(x.to(operands[0]), before)
        return
    if type[0] == "f" and operation != "add":
        raise x.unsupported()
    words = tuple(word for text in operands[2:] for word in x.value(text, type))
    element: Element = F32 if type[0] == "f" else I32 if is_signed(type) else U32
    to: Registers = () if operands[0] == "_" else x.to(operands[0])
    place.atomic(element, to, words, operation.upper(), order)


def _looped(
    x: Lowering, place: Place, operation: str, type: str, words: list[Words], order: tuple[str, str]
) -> Words:
    """``cas`` of 16 bits, or ``add`` of halves; the value before."""
    if operation not in ("cas", "add") or (operation == "cas") != (type == "b16"):
        raise x.unsupported()
    mask: Words = (Constant((1 << 8 * SIZES[type]) - 1),)
    place, shift = _word_of(x, place)
    held = x.new()
    place.load(U32, held, 0, (_ACQUIRING.get(order[0], "RELAXED"), order[1]))
    again, done = x.new_block(), x.new_block()
    before = x.new()
    x.start(again)
    x.move(before, x.core("AND", U32, x.core("SHR", U32, held, shift), mask))
    if operation == "cas":
        swap = x.new_block()
        x.split(x.core("EQ", U32, before, x.core("AND", U32, words[0], mask))[0], swap, done)
        x.resume(swap)
        after: Words = x.core("AND", U32, words[1], mask)
    else:
        after = _sum(x, type, before, words[0])
    others = x.core("AND", U32, held, x.core("NOT", U32, x.core("SHL", U32, mask, shift)))
    replacement = x.core("OR", U32, others, x.core("SHL", U32, after, shift))
    found = x.new()
    place.atomic(U32, found, (*held, *replacement), "CAS", order)
    is_done = x.core("EQ", U32, found, held)
    x.move(held, found)
    x.split(is_done[0], done, again)
    x.resume(done)
    return before


def _sum(x: Lowering, type: str, before: Words, added: Words) -> Registers:
    to = x.new()
    floating(x, "ADD", type, [before, added], to, 0)
    return to


def _word_of(x: Lowering, place: Place) -> tuple[Place, Words]:
    """The place of the word that has the address, and the bits below the value in it."""
    address = place.address
    if len(address) == 2:
        address = x.added(address, place.offset)
    else:
        address = x.core("ADD", U32, address, (Constant(place.offset & 0xFFFFFFFF),))
    made = copy.copy(place)
    made.address = (x.core("AND", U32, address, (Constant(0xFFFFFFFC),))[0], *address[1:])
    made.offset = 0
    byte = x.core("AND", U32, address, (Constant(3),))
    return made, x.core("SHL", U32, byte, (Constant(3),))
