"""Work-stealing deques of tasks, one per block (Arora, Blumofe and Plaxton, SPAA 1998).

The owner pushes and pops at the tail; thieves steal at the head, which has a tag against reuse. A
deque's header is two words, tail and head; its slots are an array of :data:`SLOTS` tasks. ``dlb``
and ``dlb-rcc`` (:mod:`gpucoh.suite.stealing`) say which fences each of them has.
"""

from __future__ import annotations

from gpucoh import lang

WORDS = 8  # of a task
SLOTS = 256
TOPS = 1 << 16  # a head is a tag times TOPS, plus the slot of the oldest task


@lang.record
class Deques:
    """Headers and tasks of all deques, and whether there are fences that the original has not."""

    headers: lang.Buffer[lang.i32]
    tasks: lang.Buffer[lang.i32]
    fenced: lang.i32


@lang.device
def copy_task(deques: Deques, slot: lang.i32, task: lang.Buffer[lang.i32]) -> None:
    """Copy a slot's words to the block's scratchpad. If another block writes the slot meanwhile, the
    compare-and-swap that follows fails.
    """
    for word in range(WORDS):
        task[word] = lang.load(deques.tasks, WORDS * slot + word, order="relaxed")


# An atomic reads the head: it must be at least as new as any that a thief has acted on, and a load
# after a fence is not if writes are not atomic (TC-Weak).
@lang.device
def pop(deques: Deques, task: lang.Buffer[lang.i32]) -> lang.i32:
    """Take the newest task of the block's own deque; 1 on success."""
    block = lang.block_id()
    found = 0
    tail = lang.load(deques.headers, 2 * block, order="relaxed") - 1
    if tail >= 0:
        lang.store(deques.headers, 2 * block, tail, order="relaxed")
        lang.fence(order="sc")
        copy_task(deques, block * SLOTS + tail, task)
        head = lang.atomic_add(deques.headers, 2 * block + 1, 0, order="relaxed")
        top = head % TOPS
        found = 1
        if tail <= top:
            if deques.fenced != 0:
                lang.fence(order="acq_rel")
            lang.store(deques.headers, 2 * block, 0, order="relaxed")
            fresh = head - top + TOPS
            if (
                tail < top
                or lang.atomic_cas(deques.headers, 2 * block + 1, head, fresh, order="acq_rel")
                != head
            ):
                found = 0
                lang.atomic_exch(deques.headers, 2 * block + 1, fresh, order="release")
    return found


@lang.device
def steal(deques: Deques, task: lang.Buffer[lang.i32], victim: lang.i32) -> lang.i32:
    """Take the oldest task of a block's deque; 1 on success."""
    found = 0
    head = lang.load(deques.headers, 2 * victim + 1, order="acquire")
    top = head % TOPS
    if lang.load(deques.headers, 2 * victim, order="acquire") > top:
        copy_task(deques, victim * SLOTS + top, task)
        if deques.fenced != 0:
            lang.fence(order="acq_rel")
        if lang.atomic_cas(deques.headers, 2 * victim + 1, head, head + 1, order="acq_rel") == head:
            found = 1
    return found
