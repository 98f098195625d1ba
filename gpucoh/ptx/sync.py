"""Synchronisation of a block and of a warp: barriers, shuffles, votes, reductions."""

from __future__ import annotations

from gpucoh.lang import isa
from gpucoh.lang.ir import Constant
from gpucoh.lang.types import I32, U32
from gpucoh.ptx.arithmetic import type_of
from gpucoh.ptx.lowering import Lowering, Words, lowers
from gpucoh.ptx.module import Statement
from gpucoh.ptx.types import SIZES, is_signed

_SHUFFLES = frozenset({"up", "down", "bfly", "idx"})
_VOTES = {"any": "ANY", "all": "ALL", "ballot": "BALLOT"}
_ALL_LANES = 0xFFFFFFFF


@lowers("bar", "barrier")
def barrier(x: Lowering, s: Statement) -> None:
    """``bar.sync a, b`` and ``bar.arrive``; ``bar.warp.sync`` orders the lanes of a warp, which run in step."""
    if s.has("warp"):
        together(x, s.operands[0])
        return
    if s.has("cluster"):
        raise x.unsupported("a cluster of blocks")
    is_wait = s.has("sync")
    if not is_wait and not s.has("arrive"):
        raise x.unsupported("a reduction at a barrier")
    operands = [x.value(text, "b32")[0] for text in s.operands]
    if is_wait:
        x.emit("BARRIER", U32, (), tuple(operands), scope="CTA")
    else:
        x.emit("BARRIER_ARRIVE", U32, (), tuple(operands))


@lowers("shfl")
def shuffle(x: Lowering, s: Statement) -> None:
    """``shfl.sync.mode d|p, a, b, c, mask``."""
    mode = s.one_of(_SHUFFLES)
    if mode is None or len(s.operands) < 4:
        raise x.unsupported()
    if s.has("sync"):
        together(x, s.operands[4])
    names = [name.strip() for name in s.operands[0].split("|")]
    sources = tuple(x.value(text, "b32")[0] for text in s.operands[1:4])
    to = x.new(2) if len(names) > 1 else x.new()
    x.emit("SHUFFLE", U32, to, sources, flags=isa.SHUFFLES[mode.upper()] << isa.FLAG_SHUFFLE_SHIFT)
    for name, word in zip(names, to, strict=True):
        if name != "_":
            x.move(x.to(name), (word,))


def together(x: Lowering, mask: str) -> None:
    """Wait until the lanes of the mask are together: an operation of a warp is one of its active lanes."""
    x.emit("WARP_SYNC", U32, (), x.value(mask, "b32"))


@lowers("vote")
def vote(x: Lowering, s: Statement) -> None:
    """``vote.sync.mode d, p, mask``."""
    mode = s.one_of(frozenset((*_VOTES, "uni")))
    if s.has("sync"):
        together(x, s.operands[2])
    predicate = x.predicate(s.operands[1])
    to = x.to(s.operands[0])
    if mode == "uni":
        every = x.emit("ALL", I32, x.new(), (predicate,))
        some = x.emit("ANY", I32, x.new(), (predicate,))
        x.core("EQ", U32, every, some, to=to)
    elif mode is not None:
        x.emit(_VOTES[mode], I32, to, (predicate,))
    else:
        raise x.unsupported()


@lowers("activemask")
def active_mask(x: Lowering, s: Statement) -> None:
    """The lanes that execute this."""
    x.emit("BALLOT", I32, x.to(s.operands[0]), (Constant(1),))


@lowers("match")
def match(x: Lowering, s: Statement) -> None:
    """``match.any.sync`` and ``match.all.sync``."""
    type = type_of(x, s)
    together(x, s.operands[2])
    names = [name.strip() for name in s.operands[0].split("|")]
    value = x.value(s.operands[1], type)
    same: Words = x.emit("MATCH", U32, x.new(), value[:1])
    if SIZES[type] == 8:
        same = x.core("AND", U32, same, x.emit("MATCH", U32, x.new(), value[1:]))
    if s.has("any"):
        x.move(x.to(names[0]), same)
        return
    active = x.emit("BALLOT", I32, x.new(), (Constant(1),))
    alike = x.core("EQ", U32, same, active)
    x.core("SELECT", U32, alike, active, (Constant(0),), to=x.to(names[0]))
    if len(names) > 1:
        x.move(x.to(names[1]), alike)


@lowers("redux")
def reduce(x: Lowering, s: Statement) -> None:
    """``redux.sync.op d, a, mask``."""
    type = type_of(x, s)
    operation = s.one_of(("add", "min", "max", "and", "or", "xor"))
    if operation is None or type == "f32":
        raise x.unsupported()
    together(x, s.operands[2])
    flags = isa.ATOMICS[operation.upper()] << isa.FLAG_ATOMIC_SHIFT
    x.emit(
        "REDUCE",
        I32 if is_signed(type) else U32,
        x.to(s.operands[0]),
        x.value(s.operands[1], type),
        flags=flags,
    )


@lowers("nanosleep")
def sleep(x: Lowering, s: Statement) -> None:
    """A wait; a nanosecond counts as a cycle."""
    x.emit("SLEEP", U32, (), x.value(s.operands[0], "u32"))
