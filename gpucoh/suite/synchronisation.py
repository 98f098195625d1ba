"""Device functions for synchronisation that several workloads share.

Locks spin with atomics: an atomic is performed at the coherence point under every protocol, so they
end even where first-level caches are not coherent. The counter barrier looks at its flag with
loads, as code for coherent caches does, and with an atomic now and then, so that it ends where copies
stay stale. The flag barrier spins with loads alone and gives up after a number of tries instead.
"""

from __future__ import annotations

import gpucoh

LOOKS = 64  # at the counter barrier's flag: every so many is an atomic
FLAG = 32  # its word: not in the counter's line
BARRIER_WORDS = 64


@gpucoh.device
def lock_acquire(lock: gpucoh.Buffer[gpucoh.i32], index: gpucoh.i32) -> None:
    """Take the lock word ``lock[index]`` for one lane; the other lanes of its warp must not want
    it.
    """
    while gpucoh.atomic_cas(lock, index, 0, 1, order="acquire", scope="gpu") != 0:
        pass


@gpucoh.device
def lock_release(lock: gpucoh.Buffer[gpucoh.i32], index: gpucoh.i32) -> None:
    """Give the lock word ``lock[index]`` back."""
    gpucoh.atomic_exch(lock, index, 0, order="release", scope="gpu")


@gpucoh.device
def grid_barrier(joined: gpucoh.Buffer[gpucoh.i32], target: gpucoh.i32) -> None:
    """Join all blocks of the grid, which must all be resident and have one axis of threads.

    ``joined`` has :data:`BARRIER_WORDS` words, 0 at first: the blocks' count, which only grows, and
    in another line the flag that the last of them sets. ``target`` is the count once every block
    has come: blocks x joins so far, this included.
    """
    gpucoh.barrier()
    if gpucoh.thread_id() == 0:
        if gpucoh.atomic_add(joined, 0, 1, order="acq_rel", scope="gpu") + 1 == target:
            gpucoh.store(joined, FLAG, target, order="release", scope="gpu")
        else:
            seen = 0
            looks = 0
            while seen < target:
                looks += 1
                if looks % LOOKS == 0:
                    seen = gpucoh.atomic_add(joined, FLAG, 0, order="acquire", scope="gpu")
                else:
                    seen = gpucoh.load(joined, FLAG, order="acquire", scope="gpu")
    gpucoh.barrier()


@gpucoh.device
def flag_barrier(
    arrive: gpucoh.Buffer[gpucoh.i32],
    leave: gpucoh.Buffer[gpucoh.i32],
    turn: gpucoh.i32,
    patience: gpucoh.i32,
) -> gpucoh.i32:
    """Join all blocks of the grid, which must all be resident, without read-modify-writes.

    The fast barrier of Xiao and Feng (IPDPS 2010): each block sets its flag in ``arrive``, the
    threads of block 0 watch all of them and then set those in ``leave``. ``turn`` counts the joins
    from 1. Returns the thread's tries; one that reaches ``patience`` has given up.
    """
    thread = gpucoh.thread_id()
    block = gpucoh.block_id()
    tries = 0
    gpucoh.barrier()
    if thread == 0:
        gpucoh.store(arrive, block, turn, order="release", scope="gpu")
    if block == 0:
        for other in range(thread, gpucoh.grid_dim(), gpucoh.block_dim()):
            while tries < patience and (
                gpucoh.load(arrive, other, order="acquire", scope="gpu") < turn
            ):
                tries += 1
        gpucoh.barrier()
        for other in range(thread, gpucoh.grid_dim(), gpucoh.block_dim()):
            gpucoh.store(leave, other, turn, order="release", scope="gpu")
    if thread == 0:
        while tries < patience and gpucoh.load(leave, block, order="acquire", scope="gpu") < turn:
            tries += 1
    gpucoh.barrier()
    return tries
