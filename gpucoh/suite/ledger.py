"""``fg-share``: all blocks update one ledger in place under one lock.

STC's authors wrote it: all workgroups contend by compare-and-swap for a critical section, in which each
reads and modifies a shared structure in place, so that what is read is also written. The rest is
inferred: blocks of 64 threads, a ledger of a few lines of one word per thread, and no pause between the
turns of a block.

A turn adds its amount to all words of the ledger. That is all it accesses without ``audits``, and a store
drops the line from an incoherent first-level cache. With ``audits``, a turn reads the whole ledger again at
its end and records the sum: the copies that this leaves are stale by the block's next turn, and show in
audit and ledger. No loop depends on plain data, so a run ends whatever the loads return.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, combine, compare, switch, whole
from gpucoh.suite.buffers import PLACEMENT_SEED, place
from gpucoh.suite.declaration import workload
from gpucoh.suite.synchronisation import lock_acquire, lock_release

BLOCK = 64  # threads, and words of a line of the ledger
AMOUNTS = 1000


# The ticket is an atomic, so the order of the turns is exact even where plain loads are stale.
@lang.kernel
def keep_ledger(
    lock: lang.Buffer[lang.i32],
    ledger: lang.Buffer[lang.i32],
    clock: lang.Buffer[lang.i32],
    tickets: lang.Buffer[lang.i32],
    sums: lang.Buffer[lang.i32],
    turns: lang.i32,
    lines: lang.i32,
    audits: lang.i32,
    pause: lang.i32,
) -> None:
    """``turns`` turns of every block; see the module."""
    thread = lang.thread_id()
    for turn in range(turns):
        entry = lang.block_id() * turns + turn
        amount = 1 + entry % AMOUNTS
        if thread == 0:
            lock_acquire(lock, 0)
            if audits != 0:
                tickets[entry] = lang.atomic_add(clock, 0, 1, order="relaxed", scope="gpu")
        lang.barrier()
        for line in range(lines):
            ledger[line * BLOCK + thread] = ledger[line * BLOCK + thread] + amount
        if audits != 0:
            total = 0
            for line in range(lines):
                total += ledger[line * BLOCK + thread]
            sums[entry * BLOCK + thread] = total
        lang.barrier()
        if thread == 0:
            lock_release(lock, 0)
        if pause > 0:
            lang.sleep(pause)


@dataclass(frozen=True)
class Ledger:
    """A ledger's words at the start, and the turns of each block."""

    start: NDArray[np.int32]
    turns: int

    def check_ledger(self, ledger: NDArray[Any], entries: int) -> Outcome:
        """Check that every word has every amount."""
        amounts = 1 + np.arange(entries, dtype=np.int64) % AMOUNTS
        expected = (self.start + amounts.sum()).astype(np.int32)
        return compare(
            "ledger", ledger, expected, details={"turns": entries, "lines": len(self.start)}
        )

    def check_audits(self, tickets: NDArray[Any], sums: NDArray[Any]) -> Outcome:
        """Check that tickets are 0, 1, 2 .. once each, and the audits follow from that order."""
        order = np.argsort(tickets, kind="stable")
        counted = compare("ticket", tickets[order], np.arange(tickets.size, dtype=np.int32))
        if not counted.correct:
            return counted
        lines = len(self.start)
        so_far = lines * np.cumsum(1 + order % AMOUNTS)
        expected = np.empty(sums.shape, np.int64)
        expected[order] = self.start.sum(axis=0, dtype=np.int64) + so_far[:, None]
        wrong = sums != expected.astype(np.int32)
        if not wrong.any():
            return Outcome(correct=True)
        entry = int(next(e for e in order if wrong[e].any()))
        thread = int(np.argmax(wrong[entry]))
        block, turn = divmod(entry, self.turns)
        where = (
            f"audit of ledger turn {int(tickets[entry])} (block {block}, its turn {turn}), "
            f"thread {thread}, "
            f"is {sums[entry, thread]}, expected {expected[entry, thread]}: it read a stale line "
            f"({int(wrong.any(axis=1).sum())} of {wrong.shape[0]} turns are wrong)"
        )
        return Outcome(correct=False, mismatches=int(wrong.sum()), where=where)


@workload(
    id="fg-share",
    group="I",
    papers="S",
    check="ledger and every audit exact, in the order of the turns",
)
def share_ledger(
    gpu: GpuLike,
    rng: Generator,
    blocks_per_core: int = whole("blocks per core, of 64 threads", 1, 8, 1, 2, 3),
    turns: int = whole("turns per block", 1, 100000, 3, 12, 100),
    lines: int = whole("lines of the ledger, 64 words each", 1, 1024, 5),
    audits: bool = switch(
        "record order and sum of each turn; off: a turn accesses only lock and ledger, as the original",
        True,
    ),
    pause: int = whole("core cycles between two turns of a block", 0, 1_000_000, 0),
    placement_seed: int = PLACEMENT_SEED,
) -> Outcome:
    """all blocks contend for a shared ledger: a turn reads and writes all its lines"""
    kept = Ledger(rng.integers(0, 100_000, (lines, BLOCK), dtype=np.int32), turns)
    blocks = gpu.machine.cores * blocks_per_core
    entries = blocks * turns
    recorded = entries if audits else 1
    lock, ledger, clock, tickets, sums = place(
        gpu,
        placement_seed,
        (1, np.int32),
        kept.start.ravel(),
        (1, np.int32),
        (recorded, np.int32),
        (recorded * BLOCK, np.int32),
    )
    gpu.launch(
        keep_ledger,
        grid=blocks,
        block=BLOCK,
        args=(lock, ledger, clock, tickets, sums, turns, lines, int(audits), pause),
    )
    found = kept.check_ledger(ledger.numpy().reshape(kept.start.shape), entries)
    if not audits:
        return found
    return combine(kept.check_audits(tickets.numpy(), sums.numpy().reshape(-1, BLOCK)), found)
