"""Products of fragments: ``mma.sync`` with its documented layouts, which ``wmma`` (fragments.py) has, too.

What a tensor core does is done by shuffles and by one product and sum at a time, in the order of the inner dimension,
each sum rounded to the nearest (PTX leaves order and rounding open). Times are those of these instructions.

A fragment consists of tiles of 8 rows (of A and of the result), of 8 columns (of B), and of a word of the inner
dimension for each of 4 lanes. Lane 4 g + t has row or column g of a tile, and of the inner dimension the elements of
word t; of the result columns 2 t and 2 t + 1. PTX leaves the fragments of ``wmma`` open, so these are the same. Where
PTX has more registers for one than it has elements, they repeat (PTX ISA, section 9.7.14).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpucoh.lang import isa
from gpucoh.lang.ir import Constant
from gpucoh.lang.types import U32
from gpucoh.ptx.arithmetic import halves, packed
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.memory import names_of
from gpucoh.ptx.module import Statement
from gpucoh.ptx.sync import together

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")
#: Type of an operand -> its bits; types that multiply.
_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "f64": 64}
_TYPES = {*_BITS, "f32", "s32"}
_WHOLE = {"s8", "u8"}
_FLOATS = {"f16", "bf16", "tf32"}
#: Shapes of mma.sync by the bits of its operands: rows and inner dimensions. Columns are 8.
_SHAPES = {
    16: ((16, 8), (16, 16)),
    32: ((16, 4), (16, 8)),
    8: ((8, 16), (16, 16), (16, 32)),
    64: ((8, 4), (16, 4), (16, 8), (16, 16)),
}


@dataclass(frozen=True)
class Shape:
    """Rows and columns of the result, and the inner dimension."""

    m: int
    n: int
    k: int


@dataclass(frozen=True)
class Kind:
    """A fragment: tiles across and along the inner dimension (of a result: its columns); the elements that a lane has
    of a tile, which are adjacent along it.
    """

    across: int
    along: int
    elements: int
    type: str

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return _BITS.get(self.type, 32)

    @property
    def is_packed(self) -> bool:
        """Whether a lane's elements of a tile are in one register."""
        return self.bits * self.elements == 32


def shape_of(x: Lowering, s: Statement) -> Shape:
    """The shape that a statement names."""
    for modifier in s.modifiers:
        if found := _SHAPE.match(modifier):
            return Shape(*map(int, found.groups()))
    raise x.unsupported()


def types_of(s: Statement) -> list[str]:
    """Types of elements, in the order of the statement's modifiers."""
    return [modifier for modifier in s.modifiers if modifier in _TYPES]


def kind_of(x: Lowering, shape: Shape, which: str, type: str) -> Kind:
    """The fragment of ``a``, ``b``, ``c`` or ``d``."""
    if which in "cd":
        return Kind(shape.m // 8, shape.n // 8, 2, type)
    if type not in _BITS:
        raise x.unsupported()
    elements = max(1, 32 // _BITS[type])
    return Kind(
        (shape.m if which == "a" else shape.n) // 8, shape.k // (4 * elements), elements, type
    )


# ---- the product ---------------------------------------------------------------------------------


def _words_of(x: Lowering, text: str, kind: Kind, is_result: bool) -> list[Words]:
    """The words of a fragment's operand: of a result one for each element."""
    names = registers_of(x, text, kind)
    if not is_result:
        return [x.value(name, "b64" if kind.type == "f64" else "b32") for name in names]
    if kind.type == "f16":
        pairs = [halves(x, x.value(name, "b32")) for name in names]
        return [x.row("F32_F16", half) for pair in pairs for half in pair]
    return [x.value(name, "f64" if kind.type == "f64" else "b32") for name in names]


def registers_of(x: Lowering, text: str, kind: Kind) -> list[str]:
    """The names of a fragment's registers, of which there may be more than it needs."""
    names = names_of(text)
    needed = kind.across * kind.along * (1 if kind.is_packed else kind.elements)
    if len(names) < needed:
        raise x.refuse(f"{len(names)} registers for a fragment of {needed}")
    return names


def _put(x: Lowering, text: str, kind: Kind, values: list[Registers]) -> None:
    names = registers_of(x, text, kind)[: len(values) // (kind.elements if kind.is_packed else 1)]
    if kind.type != "f16":
        for name, value in zip(names, values, strict=True):
            x.move(x.to(name), value)
        return
    narrow = [x.row("F16_F32", value) for value in values]
    for k, name in enumerate(names):
        packed(x, narrow[2 * k], narrow[2 * k + 1], x.to(name))


def _from(x: Lowering, value: Words, lane: Words) -> Registers:
    """A value of another lane."""
    flags = isa.SHUFFLES["IDX"] << isa.FLAG_SHUFFLE_SHIFT
    to = x.new(len(value))
    for register, word in zip(to, value, strict=True):
        x.emit("SHUFFLE", U32, (register,), (word, lane[0], Constant(31)), flags=flags)
    return to


def _elements(x: Lowering, word: Words, type: str) -> list[Words]:
    """The elements of a word of an operand, as words that are multiplied."""
    if type == "f16":
        return [x.row("F32_F16", half) for half in halves(x, word)]
    if type == "bf16":
        low = x.core("SHL", U32, word, (Constant(16),))
        return [low, x.core("AND", U32, word, (Constant(0xFFFF0000),))]
    if type == "tf32":  # a tensor core does not look at the lower bits
        return [x.core("AND", U32, word, (Constant(0xFFFFE000),))]
    if type == "f64":
        return [word]
    bits = _BITS[type]
    row = "BFE_S32" if type[0] == "s" else "BFE_U32"
    return [x.row(row, word, (Constant(at),), (Constant(bits),)) for at in range(0, 32, bits)]


def _product(
    x: Lowering,
    shape: Shape,
    types: tuple[str, str, str],
    a: list[Words],
    b: list[Words],
    c: list[Words],
    add: str,
) -> list[Registers]:
    """The elements of the result; ``add`` is the row that adds a sum of whole numbers to C's element."""
    type_a, type_b, type_c = types
    left, right = kind_of(x, shape, "a", type_a), kind_of(x, shape, "b", type_b)
    together(x, str(0xFFFFFFFF))
    lane = (x.special("LANE"),)
    row = x.core("AND", U32, lane, (Constant(28),))  # the first lane of the row's four
    column = x.core("SHL", U32, x.core("AND", U32, lane, (Constant(3),)), (Constant(3),))
    whole = type_c == "s32"
    fma = {"s32": "MAD_B32", "f64": "FMA_F64"}.get(type_c, "FMA_F32")
    sums: list[Words] = [(Constant(0),)] * len(c) if whole else list(c)
    for along in range(left.along):
        for t in range(4):
            rows = [
                _elements(x, _from(x, a[along * left.across + tile], _moved(x, row, t)), type_a)
                for tile in range(left.across)
            ]
            for tile in range(right.across):
                for k in (0, 1):
                    other = _moved(x, column, t + 4 * k)
                    found = _elements(x, _from(x, b[along * right.across + tile], other), type_b)
                    for above in range(left.across):
                        at = 2 * (tile * left.across + above) + k
                        for one, two in zip(rows[above], found, strict=True):
                            sums[at] = x.row(fma, one, two, sums[at])
    if whole:
        return [
            x.row(add, total, before) if add in isa.EXTENDED else x.core(add, U32, total, before)
            for total, before in zip(sums, c, strict=True)
        ]
    return [x.copied(total) for total in sums]


def _moved(x: Lowering, lane: Words, by: int) -> Words:
    return x.core("ADD", U32, lane, (Constant(by),)) if by else lane


def multiply(x: Lowering, s: Statement, shape: Shape, types: list[str]) -> None:
    """``d = a b + c`` of fragments; types of d, a, b and c."""
    sums = {"s32": _WHOLE, "f64": {"f64"}, "f32": _FLOATS, "f16": {"f16"}}.get(types[0], set())
    if len(types) != 4 or types[0] != types[3] or not sums.issuperset(types[1:3]):
        raise x.unsupported("a product of these types")
    a, b = (
        _words_of(x, text, kind_of(x, shape, which, type), is_result=False)
        for which, type, text in zip("ab", types[1:3], s.operands[1:3], strict=True)
    )
    c = _words_of(x, s.operands[3], kind_of(x, shape, "c", types[3]), is_result=True)
    add = "ADDSAT_S32" if s.has("satfinite") else "ADD"
    found = _product(x, shape, (types[1], types[2], types[0]), a, b, c, add)
    _put(x, s.operands[0], kind_of(x, shape, "c", types[0]), found)


@lowers("mma")
def multiply_fragments(x: Lowering, s: Statement) -> None:
    """``mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c``."""
    shape, types = shape_of(x, s), types_of(s)
    known = _SHAPES[_BITS[types[1]]] if len(types) == 4 and types[1] in _BITS else ()
    if shape.n != 8 or (shape.m, shape.k) not in known or s.has("row") + s.has("col") != 2:
        raise x.unsupported("mma of this shape and these types")
    multiply(x, s, shape, types)
