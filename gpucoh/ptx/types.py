"""Types of PTX: their sizes, and the elements that loads and stores of them access."""

from __future__ import annotations

from gpucoh.lang.types import I8, I16, U8, U16, U32, Element

#: Type -> bytes. A predicate is a word, 0 or 1.
SIZES = {f"{kind}{8 * size}": size for kind in "bus" for size in (1, 2, 4, 8)} | {
    "pred": 4, "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "b128": 16, "f16x2": 4, "bf16x2": 4, "u16x2": 4, "s16x2": 4,
}  # fmt: skip
HALVES = frozenset({"f16", "bf16"})
PACKED = frozenset({"f16x2", "bf16x2"})
PAIRS = frozenset({"u16x2", "s16x2"})
FLOATS = frozenset({"f32", "f64"}) | HALVES

_NARROW: dict[str, Element] = {
    "s8": I8, "u8": U8, "b8": U8, "s16": I16, "u16": U16, "b16": U16, "f16": U16, "bf16": U16,
}  # fmt: skip


def words_of(type: str) -> int:
    """Registers that hold a value of the type."""
    return max(1, SIZES[type] // 4)


def is_signed(type: str) -> bool:
    """Whether it is a signed integer."""
    return type[0] == "s"


def element_of(type: str) -> Element:
    """What one access of the type reads or writes: a narrow element, or words."""
    return _NARROW.get(type, U32)


def mnemonic(type: str) -> str:
    """The part of an operation's name (extended.def) that names the type: ``s64`` gives ``S64``, ``b32`` ``U32``."""
    return (type if type[0] in "suf" or type.startswith("bf") else f"u{type[1:]}").upper()
