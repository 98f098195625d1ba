"""Loads, stores and atomic operations, by state space; fences.

A flat access takes a 64-bit address in two registers. Generic addresses of shared and local memory are distinguished by
their upper word, in the core; a statement that names its state space addresses it directly.
"""

from __future__ import annotations

from dataclasses import dataclass

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
_ORDERS = {name: name.upper() for name in ("relaxed", "acquire", "release", "acq_rel", "sc")}
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
        address, kind = self.address, isa.FLAG_BYTES if self.is_shared else isa.FLAG_FLAT
        name, scope = order
        if self.is_shared and (name == "WEAK" or (op == "SHARED_ATOMIC" and name == "RELAXED")):
            name = "WEAK"
        elif self.is_shared:  # the core keeps the order of an access by a generic address
            low = self.x.core("ADD", U32, address, (Constant(offset & 0xFFFFFFFF),))
            address, offset = (low[0], Constant(isa.SHARED_WINDOW)), 0
            op, kind = op.removeprefix("SHARED_"), isa.FLAG_FLAT
        sources, flags = (*address, *words), kind | flags
        self.x.emit(
            op, element, to, sources, immediate=offset, flags=flags, order=name, scope=scope
        )


@dataclass(frozen=True)
class Access:
    """How a load or store is divided: its pieces, their words and their distance in bytes."""

    place: Place
    order: tuple[str, str]
    element: Element
    pieces: int
    words: int
    step: int


def access(x: Lowering, s: Statement, type: str, address: str) -> Access:
    """A load or store's division.

    A thread's words of local memory are not adjacent, since they are interleaved by thread.
    """
    space = space_of(s)
    order = order_of(x, s) if space != "local" else ("WEAK", "GPU")  # no other thread reads it
    place = Place(x, address, space)
    lanes = int((s.one_of(("v2", "v4", "v8")) or "v1")[1:])
    if SIZES[type] < 4:
        return Access(place, order, element_of(type), lanes, 1, SIZES[type])
    total = words_of(type) * lanes
    words = min(total, 4)
    if space == "local" or (space is None and x.has_local_addresses):
        words = 1
    if order[0] != "WEAK" and words < words_of(type):
        raise x.unsupported(
            "an ordered access of 64 bits by a generic address, since addresses of local memory are taken"
        )
    return Access(place, order, U32, total // words, words, 4 * words)


@lowers("ld", "ldu")
def load(x: Lowering, s: Statement) -> None:
    """``ld.space.type d, [a]``."""
    type, names = type_of(x, s), names_of(s.operands[0])
    if space_of(s) == "param" and x.registers_of(x.address(s.operands[1])[0]) is None:
        parameters.load(x, s, type, names)
        return
    by = access(x, s, type, s.operands[1])
    whole = by.element is U32 and len(names) == by.pieces == 1 and names[0] != "_"
    target = x.to(names[0]) if whole else ()
    if whole and len(target) == by.words:
        by.place.load(U32, target, 0, by.order)
        return
    parts = [x.new(by.words) for _ in range(by.pieces)]
    for k, part in enumerate(parts):
        by.place.load(by.element, part, by.step * k, by.order)
    loaded = [word for part in parts for word in part]
    size = words_of(type)
    for k, name in enumerate(names):
        if name != "_":
            extended_to(x, type, tuple(loaded[k * size : (k + 1) * size]), x.to(name))


@lowers("st")
def store(x: Lowering, s: Statement) -> None:
    """``st.space.type [a], b``."""
    type, names = type_of(x, s), names_of(s.operands[1])
    if space_of(s) == "param":
        parameters.store(x, s, type, names)
        return
    by = access(x, s, type, s.operands[0])
    values = [word for name in names for word in x.value(name, type)]
    for k in range(by.pieces):
        words = tuple(values[k * by.words : (k + 1) * by.words])
        by.place.store(by.element, words, by.step * k, by.order)


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
