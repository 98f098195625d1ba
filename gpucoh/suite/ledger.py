"""``fg-share``: all blocks update one ledger under one lock.

The ledger has an index line and several pages of balances, one word per lane in each. In a turn a
block reads the index and all pages with plain loads, records their sum (the audit), and writes one
line: on some turns the index, which gives the page for entries, on others the page that the index
gives. The store drops that line from an incoherent first-level cache, but the copies of the other
lines stay, are stale by its next turn, and show in audit and ledger. Between two turns a block
pauses, so that another block writes in between. No loop depends on plain data, so a run ends
whatever the loads return.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import (
    REGISTRY,
    GpuLike,
    Outcome,
    Parameter,
    Setting,
    combine,
    compare,
)
from gpucoh.suite.buffers import ReadOnlyI32
from gpucoh.suite.declaration import workload
from gpucoh.suite.synchronisation import lock_acquire, lock_release

LANES = 32  # words of a ledger line: 128 bytes


# The ticket is an atomic, so the order of the turns is exact even where plain loads are stale.
@lang.kernel
def keep_ledger(
    lock: lang.Buffer[lang.i32],
    clock: lang.Buffer[lang.i32],
    ledger: lang.Buffer[lang.i32],
    amounts: ReadOnlyI32,
    audits: lang.Buffer[lang.i32],
    tickets: lang.Buffer[lang.i32],
    turns: lang.i32,
    pages: lang.i32,
    pause: lang.i32,
) -> None:
    """``turns`` turns of every block; see the module."""
    lane = lang.thread_id()
    block = lang.block_id()
    for turn in range(turns):
        entry = block * turns + turn
        amount = amounts[entry]
        if lane == 0:
            lock_acquire(lock, 0)
            tickets[entry] = lang.atomic_add(clock, 0, 1, order="relaxed", scope="gpu")
        lang.barrier()
        index = ledger[lane]
        total = index
        for page in range(1, pages + 1):
            total += ledger[page * LANES + lane]
        audits[entry * LANES + lane] = total
        if (block + turn) % 2 == 0:
            ledger[lane] = index + 1
        else:
            word = (1 + index % pages) * LANES + lane
            ledger[word] = ledger[word] + amount
        lang.barrier()
        if lane == 0:
            lock_release(lock, 0)
        lang.sleep(pause)


def replay(
    start: NDArray[np.int32], amounts: NDArray[np.int32], order: NDArray[np.int64], turns: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Apply the turns to the ledger in order.

    Parameters
    ----------
    start
        int32, shape ``(1 + pages, LANES)``: index line and pages before the first turn.
    amounts
        int32, shape ``(entries,)``.
    order
        int64, shape ``(entries,)``: the entries in the order of their turns.
    turns
        Turns per block; entry ``e`` is turn ``e % turns`` of block ``e // turns``.

    Returns
    -------
    The final ledger and the audits, int32, shapes as ``start`` and ``(entries, LANES)``.
    """
    ledger = start.copy()
    audits = np.zeros((amounts.size, LANES), np.int32)
    pages = ledger.shape[0] - 1
    lanes = np.arange(LANES)
    for entry in order:
        block, turn = divmod(int(entry), turns)
        audits[entry] = ledger.sum(axis=0, dtype=np.int64).astype(np.int32)
        if (block + turn) % 2 == 0:
            ledger[0] += np.int32(1)
        else:
            ledger[1 + ledger[0] % pages, lanes] += amounts[entry]
    return ledger, audits


@dataclass(frozen=True)
class Ledger:
    """``fg-share`` on one input."""

    seed: int
    blocks_per_core: int
    turns: int
    pages: int
    pause: int

    @classmethod
    def prepare(cls, setting: Setting) -> Ledger:
        """Sizes only: the amounts depend on the number of cores and are drawn in :meth:`run`."""
        return cls(
            setting.seed,
            setting.integer("blocks_per_core"),
            setting.integer("turns"),
            setting.integer("pages"),
            setting.integer("pause"),
        )

    def run(self, gpu: GpuLike) -> Outcome:
        """One launch; the reference then replays the turns in the order of their tickets."""
        blocks = gpu.machine.cores * self.blocks_per_core
        rng = np.random.default_rng(self.seed)
        amounts = rng.integers(1, 1000, blocks * self.turns, dtype=np.int32)
        start = np.zeros((1 + self.pages, LANES), np.int32)
        start[1:] = rng.integers(0, 100_000, (self.pages, LANES), dtype=np.int32)
        ledger = gpu.array(start.ravel())
        audits = gpu.zeros(amounts.size * LANES, np.int32)
        tickets = gpu.zeros(amounts.size, np.int32)
        gpu.launch(
            keep_ledger,
            grid=blocks,
            block=LANES,
            args=(
                gpu.zeros(1, np.int32),
                gpu.zeros(1, np.int32),
                ledger,
                gpu.array(amounts),
                audits,
                tickets,
                self.turns,
                self.pages,
                self.pause,
            ),
        )
        return self.check(
            start,
            amounts,
            tickets.numpy(),
            ledger.numpy().reshape(start.shape),
            audits.numpy().reshape(-1, LANES),
        )

    def check(
        self,
        start: NDArray[np.int32],
        amounts: NDArray[np.int32],
        tickets: NDArray[Any],
        ledger: NDArray[Any],
        audits: NDArray[Any],
    ) -> Outcome:
        """Check that tickets are 0, 1, 2 .. once each, and ledger and audits follow from that order."""
        details = {"turns": int(amounts.size), "lines": 1 + self.pages}
        order = np.argsort(tickets, kind="stable")
        counted = compare(
            "ticket", tickets[order], np.arange(tickets.size, dtype=np.int32), details=details
        )
        if not counted.correct:
            return counted
        expected_ledger, expected_audits = replay(start, amounts, order, self.turns)
        return combine(
            self._check_audits(audits, expected_audits, order, tickets),
            compare("ledger", ledger, expected_ledger, details=details),
        )

    def _check_audits(
        self,
        audits: NDArray[Any],
        expected: NDArray[np.int32],
        order: NDArray[np.int64],
        tickets: NDArray[Any],
    ) -> Outcome:
        wrong = audits != expected
        if not wrong.any():
            return Outcome(correct=True)
        entry = int(next(e for e in order if wrong[e].any()))
        lane = int(np.argmax(wrong[entry]))
        block, turn = divmod(entry, self.turns)
        where = (
            f"audit of ledger turn {int(tickets[entry])} (block {block}, its turn {turn}), "
            f"lane {lane}, "
            f"is {audits[entry, lane]}, expected {expected[entry, lane]}: it read a stale line "
            f"({int(wrong.any(axis=1).sum())} of {wrong.shape[0]} turns are wrong)"
        )
        return Outcome(correct=False, mismatches=int(wrong.sum()), where=where)


REGISTRY.add(
    workload(
        Ledger,
        id="fg-share",
        title="all blocks contend for a shared ledger: a turn reads all its lines, writes one",
        group="I",
        papers=("S",),
        needs_coherence=True,
        check="ledger and every audit exact, replayed in the order of the turns",
        parameters=(
            Parameter(
                name="blocks_per_core",
                kind="int",
                minimum=1,
                maximum=8,
                defaults={"tiny": 1, "small": 2, "paper": 3},
                text="blocks per core, of 32 threads",
            ),
            Parameter(
                name="turns",
                kind="int",
                minimum=1,
                maximum=100000,
                defaults={"tiny": 3, "small": 12, "paper": 100},
                text="turns per block",
            ),
            Parameter(
                name="pages",
                kind="int",
                minimum=1,
                maximum=1024,
                defaults=4,
                text="pages of the ledger besides its index, one line each",
            ),
            Parameter(
                name="pause",
                kind="int",
                minimum=0,
                maximum=1_000_000,
                defaults=2000,
                text="core cycles between two turns of a block",
            ),
        ),
    )
)
