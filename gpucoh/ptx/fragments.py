"""Fragments of matrices in memory: ``wmma``, whose products are those of tensor.py."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from gpucoh.lang.ir import Constant
from gpucoh.lang.types import U8, U16, U32, Element
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.memory import Place, space_of
from gpucoh.ptx.module import Statement
from gpucoh.ptx.sync import together
from gpucoh.ptx.tensor import Kind, kind_of, multiply, registers_of, shape_of, types_of

_ORDER = ("WEAK", "CTA")


@lowers("wmma")
def fragment(x: Lowering, s: Statement) -> None:
    """``wmma.load.{a,b,c}``, ``wmma.mma`` and ``wmma.store.d``."""
    shape, types = shape_of(x, s), types_of(s)
    if s.has("mma"):
        multiply(x, s, shape, types if len(types) == 4 else [types[0], "f16", "f16", types[-1]])
        return
    which = s.one_of(("a", "b", "c", "d"))
    if which is None or len(types) != 1:
        raise x.unsupported()
    loads = s.has("load")
    at, names = (s.operands[1], s.operands[0]) if loads else (s.operands[0], s.operands[1])
    # Rows of B are its inner dimension, along which a lane's elements are.
    is_adjacent = s.has("row") != (which == "b")
    rows, columns = {"a": (shape.m, shape.k), "b": (shape.n, shape.k)}.get(
        which, (shape.m, shape.n)
    )
    default: Words = (Constant(columns if is_adjacent else rows),)
    stride = x.value(s.operands[2], "b32") if len(s.operands) > 2 else default
    together(x, str(0xFFFFFFFF))
    kind = kind_of(x, shape, which, types[0])
    listed = registers_of(x, names, kind)
    tiles = _Tiles(x, Place(x, at, space_of(s)), kind, stride, is_adjacent)
    if loads:
        tiles.load(listed)
    else:
        tiles.store(listed)


class _Tiles:
    """Moves a fragment between registers and a matrix in memory, whose rows are ``stride`` elements apart.

    ``is_adjacent``: a lane's elements of a tile are adjacent in memory; else they are in as many of its rows.
    """

    def __init__(
        self, x: Lowering, place: Place, kind: Kind, stride: Words, is_adjacent: bool
    ) -> None:
        self.x, self.place, self.kind = x, place, kind
        self.stride, self.is_adjacent = stride, is_adjacent
        self.address: Words = place.address
        lane = (x.special("LANE"),)
        self.row = x.core("SHR", U32, lane, (Constant(2),))
        t = x.core("AND", U32, lane, (Constant(3),))
        self.first = x.core("MUL", U32, t, (Constant(kind.elements),))

    def load(self, names: list[str]) -> None:
        """Load the fragment's registers; those beyond its elements repeat them."""
        x, kind = self.x, self.kind
        found: list[Words] = []
        for k in range(kind.across * kind.along):
            if kind.is_packed and self.is_adjacent:
                found.append(self._loaded(U32, k, 0))
                continue
            parts = [self._loaded(self._element, k, e) for e in range(kind.elements)]
            found += [self._joined(parts)] if kind.is_packed else parts
        for k, name in enumerate(names):
            x.move(x.to(name), found[k % len(found)])

    def store(self, names: list[str]) -> None:
        """Store the fragment."""
        x, kind = self.x, self.kind
        values = [x.value(name, "b64" if kind.bits == 64 else "b32") for name in names]
        for k in range(kind.across * kind.along):
            if kind.is_packed and self.is_adjacent:
                self._store(U32, values[k], k, 0)
                continue
            for e in range(kind.elements):
                if kind.is_packed:
                    part = x.core("SHR", U32, values[k], (Constant(kind.bits * e),))
                    self._store(self._element, part, k, e)
                else:
                    self._store(U32, values[kind.elements * k + e], k, e)

    @property
    def _element(self) -> Element:
        return {8: U8, 16: U16}.get(self.kind.bits, U32)

    def _joined(self, parts: Sequence[Words]) -> Words:
        word = parts[0]
        for e, part in enumerate(parts[1:], 1):
            shifted = self.x.core("SHL", U32, part, (Constant(self.kind.bits * e),))
            word = self.x.core("OR", U32, word, shifted)
        return word

    def _loaded(self, element: Element, k: int, e: int) -> Registers:
        to = self.x.new(2 if self.kind.bits == 64 else 1)
        self._at(k, e).load(element, to, 0, _ORDER)
        return to

    def _store(self, element: Element, words: Words, k: int, e: int) -> None:
        self._at(k, e).store(element, words, 0, _ORDER)

    def _at(self, k: int, e: int) -> Place:
        """The place of a lane's element ``e`` of tile ``k``."""
        x, kind = self.x, self.kind
        tile, along = k % kind.across, k // kind.across
        row = x.core("ADD", U32, self.row, (Constant(8 * tile),))
        column = x.core("ADD", U32, self.first, (Constant(4 * kind.elements * along + e),))
        far, near = (row, column) if self.is_adjacent else (column, row)
        at = x.core("ADD", U32, x.core("MUL", U32, far, self.stride), near)
        offset = x.core("MUL", U32, at, (Constant(kind.bits // 8),))
        place = copy.copy(self.place)
        if len(self.address) == 1:
            place.address = x.core("ADD", U32, self.address, offset)
        else:
            place.address = x.row("ADD_B64", self.address, (*offset, Constant(0)))
        return place
