"""Matrices of 8 by 8 elements in shared memory, as kernels of Triton load them to turn a tile."""

from __future__ import annotations

from gpucoh.lang import isa
from gpucoh.lang.ir import Constant
from gpucoh.lang.types import U16, U32, Element
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.memory import names_of
from gpucoh.ptx.module import Statement
from gpucoh.ptx.sync import together


@lowers("ldmatrix")
def load_matrices(x: Lowering, s: Statement) -> None:
    """``ldmatrix.sync.aligned.m8n8.xN{.trans}.shared.b16 {d, ..}, [a]``: N matrices of 8 rows of 8 elements.

    Lane 8 i + r has the address of row r of matrix i. Of each matrix, lane t gets two elements: 2 (t % 4) and the next
    of row t / 4, or if transposed those of column t / 4.
    """
    if not s.has("m8n8") or not s.has("b16"):
        raise x.unsupported()
    name, offset = x.address(s.operands[1])
    base = x.copied(x.value(name, "b32"))
    together(x, str(0xFFFFFFFF))
    lane = (x.special("LANE"),)
    across = x.core("SHR", U32, lane, (Constant(2),))
    along = x.core("AND", U32, lane, (Constant(3),))
    for matrix, name in enumerate(names_of(s.operands[0])):
        row = x.core("SHL", U32, along, (Constant(1),)) if s.has("trans") else across
        first = x.core("ADD", U32, row, (Constant(8 * matrix),))
        if s.has("trans"):
            column = x.core("SHL", U32, across, (Constant(1),))
            low, high = (
                _shared(x, U16, base, offset, x.core("ADD", U32, first, (Constant(k),)), column)
                for k in (0, 1)
            )
            x.core("OR", U32, low, x.core("SHL", U32, high, (Constant(16),)), to=x.to(name))
        else:
            x.move(
                x.to(name),
                _shared(x, U32, base, offset, first, x.core("SHL", U32, along, (Constant(2),))),
            )


def _shared(
    x: Lowering, type: Element, base: Words, offset: int, lane: Words, at: Words
) -> Registers:
    """What is ``at`` bytes behind the address that a lane has."""
    flags = isa.SHUFFLES["IDX"] << isa.FLAG_SHUFFLE_SHIFT
    sources = (base[0], lane[0], Constant(31))
    address = x.core("ADD", U32, x.emit("SHUFFLE", U32, x.new(), sources, flags=flags), at)
    return x.emit(
        "SHARED_LOAD", type, x.new(), address, immediate=offset, flags=isa.FLAG_BYTES, scope="CTA"
    )
