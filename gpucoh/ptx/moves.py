"""Copies, packing and unpacking of vectors, addresses of state spaces."""

from __future__ import annotations

from gpucoh.lang import isa
from gpucoh.lang.ir import Constant
from gpucoh.lang.types import U32
from gpucoh.ptx.arithmetic import halves, narrowed, type_of
from gpucoh.ptx.declarations import split_list
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.module import Statement
from gpucoh.ptx.types import SIZES


@lowers("mov")
def move(x: Lowering, s: Statement) -> None:
    """A copy; packs and unpacks vectors."""
    type = type_of(x, s)
    to, value = s.operands
    if to.startswith("{"):
        _unpack(x, split_list(to[1:-1]), x.value(value, type), type)
    elif value.startswith("{"):
        _pack(x, x.to(to), split_list(value[1:-1]), type)
    else:
        x.move(x.to(to), x.value(value, type))


def _unpack(x: Lowering, names: list[str], value: Words, type: str) -> None:
    bits = 8 * SIZES[type] // len(names)
    if bits == 32:
        parts: list[Words] = [(word,) for word in x.copied(value)]
    elif bits == 64 and len(value) == 4:
        parts = [value[:2], value[2:]]
    elif bits == 16:
        parts = [half for word in value for half in halves(x, (word,))]
    else:
        raise x.unsupported("a vector of bytes")
    for name, part in zip(names, parts, strict=True):
        if name != "_":
            x.move(x.to(name), part)


def _pack(x: Lowering, to: Registers, names: list[str], type: str) -> None:
    bits = 8 * SIZES[type] // len(names)
    if bits == 32:
        x.move(to, x.copied(tuple(x.value(name, "b32")[0] for name in names)))
        return
    if bits == 64:
        x.move(to, x.copied(tuple(word for name in names for word in x.value(name, "b64"))))
        return
    if bits != 16:
        raise x.unsupported("a vector of bytes")
    parts = [narrowed(x, x.value(name, "b16"), "b16") for name in names]
    words = [
        x.core("OR", U32, parts[k], x.core("SHL", U32, parts[k + 1], (Constant(16),)))[0]
        for k in range(0, len(parts), 2)
    ]
    x.move(to, tuple(words))


@lowers("cvta")
def convert_address(x: Lowering, s: Statement) -> None:
    """Addresses of a state space to generic ones and back: the upper word names the window."""
    space = s.one_of(("global", "shared", "local", "const", "param"))
    to = x.to(s.operands[0])
    value = x.value(s.operands[1], "b64")
    if space in ("shared", "local") and s.has("to"):
        x.move(to, (value[0], Constant(0)))
    elif space in ("shared", "local"):
        window = isa.SHARED_WINDOW if space == "shared" else isa.LOCAL_WINDOW
        x.move(to, (value[0], Constant(window)))
    else:
        x.move(to, value)


@lowers("isspacep")
def is_in_space(x: Lowering, s: Statement) -> None:
    """Whether a generic address is of a state space."""
    space = s.modifiers[0].split("::")[0]
    high: Words = x.value(s.operands[1], "b64")[1:]
    to = x.to(s.operands[0])
    windows = {"shared": isa.SHARED_WINDOW, "local": isa.LOCAL_WINDOW}
    if space in windows:
        x.core("EQ", U32, high, (Constant(windows[space]),), to=to)
    elif space == "global":
        neither = [x.core("NE", U32, high, (Constant(window),)) for window in windows.values()]
        x.core("AND", U32, *neither, to=to)
    else:
        x.move(to, (Constant(0),))
