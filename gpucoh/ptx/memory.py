"""Loads, stores and atomic operations, by state space; fences.

A flat access takes a 64-bit address in two registers. Generic addresses of shared and local memory are distinguished by
their upper word, in the core; a statement that names its state space addresses it directly.
"""

from __future__ import annotations

from gpucoh.lang import isa
from gpucoh.lang.ir import Constant
from gpucoh.lang.types import U32, Element
from gpucoh.ptx import parameters
from gpucoh.ptx.arithmetic import type_of
from gpucoh.ptx.conversions import extended_to
from gpucoh.ptx.declarations import split_list
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.module import Statement
from gpucoh.ptx.types import SIZES, element_of, words_of

_SCOPES = {"cta": "CTA", "cluster": "GPU", "gpu": "GPU", "gl": "GPU", "sys": "SYS"}
_ORDERS = {
    "relaxed": "RELAXED",
    "acquire": "ACQUIRE",
    "release": "RELEASE",
    "acq_rel": "ACQ_REL",
    "sc": "SC",
}
_SPACES = ("global", "shared", "local", "param", "const")


def space_of(s: Statement) -> str | None:
    """The state space of an access; None: generic."""
    spaces = (modifier.split("::")[0] for modifier in s.modifiers)
    return next((space for space in spaces if space in _SPACES), None)


def order_of(x: Lowering, s: Statement, default: str = "WEAK") -> tuple[str, str]:
    """Order and scope. A volatile access is relaxed of scope sys (PTX ISA, section 8.4)."""
    if s.has("volatile"):
        return "RELAXED", "SYS"
    if s.has("mmio"):
        raise x.unsupported("an access to memory of a device (.mmio)")
    scope = s.one_of(_SCOPES)
    order = s.one_of(_ORDERS)
    return _ORDERS[order] if order else default, _SCOPES[scope] if scope else "GPU"


def lanes_of(s: Statement) -> int:
    """Elements of a vector access."""
    return int((s.one_of(("v2", "v4", "v8")) or "v1")[1:])


def names_of(text: str) -> list[str]:
    """The registers of ``{%r1, %r2}``, or the one."""
    return split_list(text[1:-1]) if text.startswith("{") else [text]


class Place:
    """The address of an access, in its space."""

    def __init__(self, x: Lowering, text: str, space: str | None) -> None:
        base, offset = x.address(text)
        self.x = x
        self.is_shared = space == "shared"
        self.is_local = space == "local"
        address = x.value(base, "b64")
        if self.is_shared or self.is_local:
            address = address[:1]
            if isinstance(address[0], Constant):
                address, offset = (Constant(address[0].bits + offset & 0xFFFFFFFF),), 0
        if self.is_local:
            address = (address[0], Constant(isa.LOCAL_WINDOW))
        self.address = address
        self.offset = offset

    @property
    def flags(self) -> int:
        """The flag of the kind of address."""
        return isa.FLAG_BYTES if self.is_shared else isa.FLAG_FLAT

    def load(self, element: Element, to: Registers, offset: int, order: tuple[str, str]) -> None:
        """Load a narrow element, or the words of ``to``."""
        op = "SHARED_LOAD" if self.is_shared else "LOAD"
        self._emit(op, element, to, (), offset, order)

    def store(self, element: Element, words: Words, offset: int, order: tuple[str, str]) -> None:
        """Store a narrow element, or words."""
        op = "SHARED_STORE" if self.is_shared else "STORE"
        self._emit(op, element, (), words, offset, order)

    def atomic(
        self, element: Element, to: Registers, words: Words, operation: str, order: tuple[str, str]
    ) -> None:
        """An atomic operation; ``words`` are the operand's and the replacement's."""
        op = "SHARED_ATOMIC" if self.is_shared else "ATOMIC"
        flags = isa.ATOMICS[operation] << isa.FLAG_ATOMIC_SHIFT
        self._emit(op, element, to, words, 0, order, flags)

    def _emit(
        self,
        op: str,
        element: Element,
        to: Registers,
        words: Words,
        offset: int,
        order: tuple[str, str],
        flags: int = 0,
    ) -> None:
        offset += self.offset
        address, kind = self.address, self.flags
        is_plain = order[0] == "WEAK" or (op == "SHARED_ATOMIC" and order[0] == "RELAXED")
        if (
            self.is_shared and not is_plain
        ):  # the core keeps the order of an access by a generic address
            low = self.x.core("ADD", U32, address, (Constant(offset & 0xFFFFFFFF),))
            op, address, offset, kind = (
                op.removeprefix("SHARED_"),
                (low[0], Constant(isa.SHARED_WINDOW)),
                0,
                isa.FLAG_FLAT,
            )
        self.x.emit(
            op,
            element,
            to,
            (*address, *words),
            immediate=offset,
            flags=kind | flags,
            order="WEAK" if self.is_shared and is_plain else order[0],
            scope=order[1],
        )


def pieces_of(x: Lowering, space: str | None, type: str, lanes: int) -> tuple[int, int]:
    """How an access of words is divided: words a piece, and pieces.

    A thread's words of local memory are not adjacent, since they are interleaved by thread.
    """
    words = words_of(type) * lanes
    if space == "local" or (space is None and x.has_local_addresses):
        return 1, words
    if words > 4:
        return 4, words // 4
    return words, 1


@lowers("ld", "ldu")
def load(x: Lowering, s: Statement) -> None:
    """``ld.space.type d, [a]``."""
    type, space, lanes = type_of(x, s), space_of(s), lanes_of(s)
    names = names_of(s.operands[0])
    if space == "param" and x.registers_of(x.address(s.operands[1])[0]) is None:
        parameters.load(x, s, type, names)
        return
    order = order_of(x, s) if space != "local" else ("WEAK", "GPU")  # no other thread reads it
    place = Place(x, s.operands[1], space)
    if SIZES[type] < 4:
        _load_narrow(x, place, type, names, order)
        return
    words, pieces = pieces_of(x, space, type, lanes)
    if pieces > 1 and order[0] != "WEAK" and words_of(type) > words:
        raise x.unsupported(
            "an ordered access of 64 bits by a generic address, since addresses of local memory are taken"
        )
    whole = lanes == 1 and pieces == 1
    target = x.to(names[0]) if whole and names[0] != "_" else ()
    if whole and len(target) == words:
        place.load(U32, target, 0, order)
        return
    parts = [x.new(words) for _ in range(pieces)]
    for k, part in enumerate(parts):
        place.load(U32, part, 4 * words * k, order)
    loaded = [word for part in parts for word in part]
    size = words_of(type)
    for k, name in enumerate(names):
        if name != "_":
            value = tuple(loaded[k * size : (k + 1) * size])
            _assign(x, type, value, x.to(name))


def _assign(x: Lowering, type: str, value: Registers, to: Registers) -> None:
    """A loaded value in its register, which may be wider: extended by the type's sign."""
    if len(value) == 1:
        extended_to(x, type, value, to)
    else:
        x.move(to, value)


def _load_narrow(
    x: Lowering, place: Place, type: str, names: list[str], order: tuple[str, str]
) -> None:
    parts = [x.new() for _ in names]
    for k, part in enumerate(parts):
        place.load(element_of(type), part, k * SIZES[type], order)
    for name, part in zip(names, parts, strict=True):
        if name != "_":
            extended_to(x, type, part, x.to(name))


@lowers("st")
def store(x: Lowering, s: Statement) -> None:
    """``st.space.type [a], b``."""
    type, space, lanes = type_of(x, s), space_of(s), lanes_of(s)
    names = names_of(s.operands[1])
    if space == "param":
        parameters.store(x, s, type, names)
        return
    order = order_of(x, s) if space != "local" else ("WEAK", "GPU")  # no other thread reads it
    place = Place(x, s.operands[0], space)
    if SIZES[type] < 4:
        for k, name in enumerate(names):
            place.store(element_of(type), x.value(name, type), k * SIZES[type], order)
        return
    words, pieces = pieces_of(x, space, type, lanes)
    if pieces > 1 and order[0] != "WEAK" and words_of(type) > words:
        raise x.unsupported(
            "an ordered access of 64 bits by a generic address, since addresses of local memory are taken"
        )
    values = [word for name in names for word in x.value(name, type)]
    for k in range(pieces):
        place.store(U32, tuple(values[k * words : (k + 1) * words]), 4 * words * k, order)


@lowers("membar", "fence")
def fence(x: Lowering, s: Statement) -> None:
    """``membar.level`` is ``fence.sc`` (PTX ISA, section 9.7.13.4)."""
    if s.has("proxy") or any(modifier.startswith("proxy") for modifier in s.modifiers):
        raise x.unsupported("a fence between proxies")
    scope = s.one_of(_SCOPES)
    order = "SC" if s.op == "membar" else _ORDERS[s.one_of(_ORDERS) or "sc"]
    x.emit("FENCE", U32, (), (), order=order, scope=_SCOPES[scope] if scope else "GPU")


@lowers("prefetch", "prefetchu", "applypriority", "discard")
def hint(x: Lowering, s: Statement) -> None:
    """Hints about caches: the protocols here have none."""
    if s.op == "discard":
        raise x.unsupported()
