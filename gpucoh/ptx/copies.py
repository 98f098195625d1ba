"""Asynchronous copies to shared memory, ``cp.async``, and barriers in memory, ``mbarrier``.

A copy is a load and then a store, so that it has ended before anything waits for it, and waiting is nothing. Copies
that follow each other load first and store then, so that their loads overlap; else a warp waits for each.

A barrier is 8 bytes of shared memory, which PTX leaves open: in the lower word the phase's parity at the top and the
arrivals that it lacks below, in the upper word how many a phase has. A state is a lower word.
"""

from __future__ import annotations

from gpucoh.lang.ir import Constant
from gpucoh.lang.types import U32
from gpucoh.ptx.lowering import Lowering, Registers, Words, lowers
from gpucoh.ptx.memory import Place, order_of
from gpucoh.ptx.module import Statement

_WEAK = ("WEAK", "CTA")
_PARITY = 0x80000000
_LACKING = 0x7FFFFFFF
#: Statements between copies that do not make their stores come first: they compute addresses.
_BETWEEN = frozenset(
    {
        "add",
        "sub",
        "mul",
        "mad",
        "shl",
        "shr",
        "and",
        "or",
        "xor",
        "mov",
        "cvt",
        "cvta",
        "setp",
        "selp",
    }
)


@lowers("cp")
def copy(x: Lowering, s: Statement) -> None:
    """``cp.async.cg.shared.global [d], [a], size {, size of a}``, and groups of copies."""
    if s.has("commit_group") or s.has("wait_group") or s.has("wait_all"):
        return
    if s.has(
        "mbarrier"
    ):  # when the copies so far have ended; without .noinc it expects an arrival more
        if s.has("noinc"):
            _arrive(x, Place(x, s.operands[0], "shared"), (Constant(1),), ("RELEASE", "CTA"))
        return
    if not s.has("async") or len(s.operands) < 3:
        raise x.unsupported()
    bytes = x.integer(s.operands[2])
    if bytes not in ((16,) if s.has("cg") else (4, 8, 16)):
        raise x.refuse(f"a copy of {bytes} bytes")
    source, to = Place(x, s.operands[1], "global"), Place(x, s.operands[0], "shared")
    if len(s.operands) == 4:
        words: Words = _filled(x, source, bytes // 4, s.operands[3])
    else:
        words = x.new(bytes // 4)
        source.load(U32, words, 0, _WEAK)
    to.address = x.copied(to.address)
    x.copies.append((to, words))


def _filled(x: Lowering, source: Place, words: int, text: str) -> Registers:
    """Words of which only the first bytes, an operand, are read; the others are 0."""
    if x.frame.function.registers.get(text) == "pred":
        raise x.unsupported("a copy that a predicate turns off")
    bytes = x.copied(x.value(text, "u32"))
    out = x.copied((Constant(0),) * words)
    for k in range(words):
        with x.when(x.core("GT", U32, bytes, (Constant(4 * k),))[0], negated=False):
            left = x.core("MIN", U32, x.core("SUB", U32, bytes, (Constant(4 * k),)), (Constant(4),))
            bits = x.core("SHL", U32, left, (Constant(3),))
            word = x.new()
            source.load(U32, word, 4 * k, _WEAK)
            unused = x.core("SUB", U32, (Constant(32),), bits)
            mask = x.core("SHR", U32, (Constant(0xFFFFFFFF),), unused)
            x.move((out[k],), x.core("AND", U32, word, mask))
    return out


def store_before(x: Lowering, s: Statement | None) -> None:
    """Store what copies have loaded, unless the statement is one more copy or computes an address for one."""
    if not x.copies or (s is not None and (s.op in _BETWEEN or (s.op == "cp" and s.has("global")))):
        return
    for place, words in x.copies:
        place.store(U32, words, 0, _WEAK)
    x.copies = []


# ---- mbarrier ------------------------------------------------------------------------------------


@lowers("mbarrier")
def barrier_in_memory(x: Lowering, s: Statement) -> None:
    """``mbarrier.init``, ``arrive``, ``test_wait``, ``try_wait``, ``pending_count`` and their kin."""
    if s.has("pending_count"):
        state = x.value(s.operands[1], "b64")
        x.core("AND", U32, state, (Constant(_LACKING),), to=x.to(s.operands[0]))
        return
    if s.has("inval"):
        return
    if s.has("init"):
        count = x.value(s.operands[1], "u32")
        Place(x, s.operands[0], "shared").store(U32, (count[0], count[0]), 0, _WEAK)
        return
    if s.has("test_wait") or s.has("try_wait"):
        _wait(x, s)
        return
    if not s.has("arrive") and not s.has("arrive_drop"):
        raise x.unsupported()
    to, *rest = s.operands if not s.operands[0].startswith("[") else ["_", *s.operands]
    place = Place(x, rest[0], "shared")
    count = x.value(rest[1], "u32") if len(rest) > 1 else (Constant(1),)
    if s.has("arrive_drop"):
        upper = Place(x, rest[0], "shared")
        upper.offset += 4
        upper.atomic(U32, (), count, "SUB", ("RELAXED", "CTA"))
    before = _arrive(x, place, count, order_of(x, s, "RELEASE"))
    if to != "_":
        x.move(x.to(to), before)


def _arrive(x: Lowering, place: Place, count: Words, order: tuple[str, str]) -> Words:
    """Take arrivals from the phase, and begin the next one if it lacks none; the lower word before."""
    upper, held = x.new(), x.new()
    place.load(U32, held, 0, ("RELAXED", "CTA"))
    again, done = x.new_block(), x.new_block()
    x.start(again)
    place.load(U32, upper, 4, ("RELAXED", "CTA"))
    left = x.core("SUB", U32, held, count)
    lacking = x.core("AND", U32, left, (Constant(_LACKING),))
    parity = x.core("AND", U32, held, (Constant(_PARITY),))
    begun = x.core("OR", U32, x.core("XOR", U32, parity, (Constant(_PARITY),)), upper)
    is_last = x.core("EQ", U32, lacking, (Constant(0),))
    after = x.core("SELECT", U32, is_last, begun, left)
    found = x.new()
    place.atomic(U32, found, (*held, *after), "CAS", order)
    is_done = x.core("EQ", U32, found, held)
    before = x.copied(held)
    x.move(held, found)
    x.split(is_done[0], done, again)
    x.resume(done)
    return before


def _wait(x: Lowering, s: Statement) -> None:
    """Whether the phase of a state, or of a parity, has ended."""
    to, at, given = s.operands[:3]
    word = x.new()
    Place(x, at, "shared").load(U32, word, 0, order_of(x, s, "ACQUIRE"))
    now = x.core("SHR", U32, word, (Constant(31),))
    if s.has("parity"):
        then: Words = x.core("AND", U32, x.value(given, "u32"), (Constant(1),))
    else:
        then = x.core("SHR", U32, x.value(given, "b64"), (Constant(31),))
    x.core("NE", U32, now, then, to=x.to(to))
