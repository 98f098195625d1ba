"""Synchronisation of a block and of a warp: barriers, shuffles, votes, reductions."""

from __future__ import annotations

from gpucoh.lang import ir, isa
from gpucoh.lang.ir import Constant, Operand
from gpucoh.lang.types import I32, U32, Element
from gpucoh.ptx.arithmetic import type_of
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.module import Statement
from gpucoh.ptx.types import SIZES, is_signed

_SHUFFLES = frozenset({"up", "down", "bfly", "idx"})
_VOTES = {"any": "ANY", "all": "ALL", "ballot": "BALLOT"}
_ALL_LANES = 0xFFFFFFFF


@lowers("bar", "barrier")
def barrier(x: Lowering, s: Statement) -> None:
    """``bar.sync a, b`` and ``bar.arrive``; ``bar.warp.sync`` orders the lanes of a warp, which run in step."""
    if s.has("warp"):
        x.emit("WARP_SYNC", U32, (), x.value(s.operands[0], "b32"))
        return
    if s.has("cluster"):
        raise x.unsupported("a cluster of blocks")
    if s.has("red"):
        reduce_at_barrier(x, s)
        return
    is_wait = s.has("sync")
    if not is_wait and not s.has("arrive"):
        raise x.unsupported()
    operands = [x.value(text, "b32")[0] for text in s.operands]
    if is_wait:
        x.emit("BARRIER", U32, (), tuple(operands), scope="CTA")
    else:
        x.emit("BARRIER_ARRIVE", U32, (), tuple(operands))


def begin_reductions(x: Lowering) -> None:
    """Set the two words of :func:`reduce_at_barrier` to 0 before any thread counts."""
    words = (Constant(x.layout.reduction_at), Constant(0), Constant(0))
    place = x.core("OR", U32, (x.special("WARP"),), (x.special("LANE"),))
    first = x.core("EQ", U32, place, (Constant(0),))
    with x.when(first[0], negated=False):
        x.emit("SHARED_STORE", U32, (), words, flags=isa.FLAG_BYTES, scope="CTA")
    x.emit("BARRIER", U32, (), (Constant(0),), scope="CTA")


def reduce_at_barrier(x: Lowering, s: Statement) -> None:
    """``bar.red.op d, a, p``: a count of the threads of the block whose predicate is true.

    The count is kept in two words of shared memory in turn, which are never set back: a thread may be one barrier ahead
    of another, and then adds to the other word. The first active lane of each warp adds for all.
    """
    if len(s.operands) != 3:
        raise x.unsupported("a reduction at a barrier of some warps")
    counts_false = s.has("and")
    predicate = x.predicate(s.operands[2])
    if counts_false:
        predicate = x.core("XOR", U32, (predicate,), (Constant(1),))[0]
    turn, before, other = x.reductions
    offset = x.core("SHL", U32, (turn,), (Constant(2),))
    ones = x.row("POPC_B32", x.emit("BALLOT", I32, x.new(), (predicate,)))
    active = x.emit("BALLOT", I32, x.new(), (Constant(1),))
    below = x.core("AND", U32, active, x.value("%lanemask_lt", "b32"))
    at = x.layout.reduction_at
    add = isa.FLAG_BYTES | isa.ATOMICS["ADD"] << isa.FLAG_ATOMIC_SHIFT
    with x.when(x.core("EQ", U32, below, (Constant(0),))[0], negated=False):
        x.emit("SHARED_ATOMIC", U32, (), (*offset, *ones), flags=add, scope="CTA", immediate=at)
    x.emit("BARRIER", U32, (), (x.value(s.operands[1], "b32")[0],), scope="CTA")
    now = x.emit(
        "SHARED_LOAD", U32, x.new(), offset, flags=isa.FLAG_BYTES, scope="CTA", immediate=at
    )
    count = x.core("SUB", U32, now, (before,))
    x.move((before,), (x.copied((other,))))
    x.move((other,), now)
    x.move((turn,), x.core("XOR", U32, (turn,), (Constant(1),)))
    to = x.to(s.operands[0])
    if s.has("popc"):
        x.move(to, count)
    else:
        x.core("EQ" if counts_false else "NE", U32, count, (Constant(0),), to=to)


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
    """Wait until the lanes of the mask are here: an operation of a warp is one of its active lanes."""
    x.emit("WARP_SYNC", U32, (), x.value(mask, "b32"), immediate=1)


def member_mask(x: Lowering, s: Statement, at: int) -> Words | None:
    """Wait for the lanes of the operand ``at`` and give this mask; None: all lanes."""
    if not s.has("sync"):
        return None
    together(x, s.operands[at])
    mask: Words = x.value(s.operands[at], "b32")
    known = x.origin(mask[0])
    if isinstance(known, Constant) and known.bits == _ALL_LANES:
        return None
    return x.copied(mask)


@lowers("vote")
def vote(x: Lowering, s: Statement) -> None:
    """``vote.sync.mode d, p, mask``."""
    mode = s.one_of(frozenset((*_VOTES, "uni")))
    if mode is None:
        raise x.unsupported()
    mask = member_mask(x, s, 2)
    predicate = x.predicate(s.operands[1])
    to = x.to(s.operands[0])
    if mask is not None:
        _vote_of(x, mode, predicate, mask, to)
    elif mode == "uni":
        every = x.emit("ALL", I32, x.new(), (predicate,))
        some = x.emit("ANY", I32, x.new(), (predicate,))
        x.core("EQ", U32, every, some, to=to)
    else:
        x.emit(_VOTES[mode], I32, to, (predicate,))


def _vote_of(x: Lowering, mode: str, predicate: Operand, mask: Words, to: Registers) -> None:
    """A vote of the lanes of a mask, since lanes of several masks may be together."""
    other = x.core("XOR", U32, (predicate,), (Constant(1),))[0]
    yes, no = (
        x.core("AND", U32, x.emit("BALLOT", I32, x.new(), (word,)), mask)
        for word in (predicate, other)
    )
    if mode == "ballot":
        x.move(to, yes)
        return
    none_yes, none_no = (x.core("EQ", U32, votes, (Constant(0),)) for votes in (yes, no))
    if mode == "any":
        x.core("XOR", U32, none_yes, (Constant(1),), to=to)
    elif mode == "all":
        x.move(to, none_no)
    else:
        x.core("OR", U32, none_yes, none_no, to=to)


@lowers("activemask")
def active_mask(x: Lowering, s: Statement) -> None:
    """The lanes that execute this."""
    x.emit("BALLOT", I32, x.to(s.operands[0]), (Constant(1),))


@lowers("match")
def match(x: Lowering, s: Statement) -> None:
    """``match.any.sync`` and ``match.all.sync``."""
    type = type_of(x, s)
    mask = member_mask(x, s, 2)
    names = [name.strip() for name in s.operands[0].split("|")]
    value = x.value(s.operands[1], type)
    same: Words = x.emit("MATCH", U32, x.new(), value[:1])
    if SIZES[type] == 8:
        same = x.core("AND", U32, same, x.emit("MATCH", U32, x.new(), value[1:]))
    if mask is not None:
        same = x.core("AND", U32, same, mask)
    if s.has("any"):
        x.move(x.to(names[0]), same)
        return
    active = x.emit("BALLOT", I32, x.new(), (Constant(1),))
    if mask is not None:
        active = x.core("AND", U32, active, mask)
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
    element = I32 if is_signed(type) else U32
    value = x.copied(x.value(s.operands[1], type))
    mask = member_mask(x, s, 2)
    to = x.to(s.operands[0])
    flags = isa.ATOMICS[operation.upper()] << isa.FLAG_ATOMIC_SHIFT
    if mask is None:
        x.emit("REDUCE", element, to, value, flags=flags)
        return
    active = x.emit("BALLOT", I32, x.new(), (Constant(1),))
    alone = x.core("EQ", U32, x.core("AND", U32, active, x.core("NOT", U32, mask)), (Constant(0),))
    others, after = x.new_block(), x.new_block()
    here = x.new_block()
    x.split(alone[0], here, others)
    x.resume(here)
    x.emit("REDUCE", element, to, value, flags=flags)
    x.block.terminator = ir.Jump(after, x.place)
    x.resume(others)
    _reduce_of(x, operation.upper(), element, value, x.core("AND", U32, active, mask), to)
    x.start(after)


def _reduce_of(
    x: Lowering, op: str, type: Element, value: Words, lanes: Words, to: Registers
) -> None:
    """A reduction over some of the active lanes, this one among them: a shuffle for each lane."""
    flags = isa.SHUFFLES["IDX"] << isa.FLAG_SHUFFLE_SHIFT
    total = value
    lane = (x.special("LANE"),)
    for k in range(32):
        found = x.emit("SHUFFLE", U32, x.new(), (value[0], Constant(k), Constant(31)), flags=flags)
        counts = x.core("AND", U32, x.core("SHR", U32, lanes, (Constant(k),)), (Constant(1),))
        counts = x.core("AND", U32, counts, x.core("NE", U32, lane, (Constant(k),)))
        total = x.core("SELECT", U32, counts, x.core(op, type, total, found), total)
    x.move(to, total)


@lowers("nanosleep")
def sleep(x: Lowering, s: Statement) -> None:
    """A wait; a nanosecond counts as a cycle."""
    x.emit("SLEEP", U32, (), x.value(s.operands[0], "u32"))
