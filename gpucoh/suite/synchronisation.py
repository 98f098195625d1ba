"""Device functions for synchronisation that several workloads share.

Locks spin with atomics: an atomic is performed at the coherence point under every protocol, so they
end even where first-level caches are not coherent. The counter barrier looks at its flag with
loads, as code for coherent caches does, and with an atomic now and then, so that it ends where copies
stay stale. The flag barrier spins with loads alone and gives up after a number of tries instead.
"""

from __future__ import annotations

from gpucoh import lang

LOOKS = 64  # at the counter barrier's flag: every so many is an atomic
FLAG = 32  # its word: not in the counter's line
BARRIER_WORDS = 64


@lang.device
def lock_acquire(lock: lang.Buffer[lang.i32], index: lang.i32) -> None:
    """Take the lock word ``lock[index]`` for one lane; the other lanes of its warp must not want
    it.
    """
    while lang.atomic_cas(lock, index, 0, 1, order="acquire", scope="gpu") != 0:
        pass


@lang.device
def lock_release(lock: lang.Buffer[lang.i32], index: lang.i32) -> None:
    """Give the lock word ``lock[index]`` back."""
    lang.atomic_exch(lock, index, 0, order="release", scope="gpu")


@lang.device
def grid_barrier(joined: lang.Buffer[lang.i32], target: lang.i32) -> None:
    """Join all blocks of the grid, which must all be resident and have one axis of threads.

    ``joined`` has :data:`BARRIER_WORDS` words, 0 at first: the blocks' count, which only grows, and
    in another line the flag that the last of them sets. ``target`` is the count once every block
    has come: blocks x joins so far, this included.
    """
    lang.barrier()
    if lang.thread_id() == 0:
        if lang.atomic_add(joined, 0, 1, order="acq_rel", scope="gpu") + 1 == target:
            lang.store(joined, FLAG, target, order="release", scope="gpu")
        else:
            seen = 0
            looks = 0
            while seen < target:
                looks += 1
                if looks % LOOKS == 0:
                    seen = lang.atomic_add(joined, FLAG, 0, order="acquire", scope="gpu")
                else:
                    seen = lang.load(joined, FLAG, order="acquire", scope="gpu")
    lang.barrier()


@lang.device
def flag_barrier(
    arrive: lang.Buffer[lang.i32],
    leave: lang.Buffer[lang.i32],
    turn: lang.i32,
    patience: lang.i32,
) -> lang.i32:
    """Join all blocks of the grid, which must all be resident, without read-modify-writes.

    The fast barrier of Xiao and Feng (IPDPS 2010): each block sets its flag in ``arrive``, the
    threads of block 0 watch all of them and then set those in ``leave``. ``turn`` counts the joins
    from 1. Returns the thread's tries; one that reaches ``patience`` has given up.
    """
    thread = lang.thread_id()
    block = lang.block_id()
    tries = 0
    lang.barrier()
    if thread == 0:
        lang.store(arrive, block, turn, order="release", scope="gpu")
    if block == 0:
        for other in range(thread, lang.grid_dim(), lang.block_dim()):
            while tries < patience and (
                lang.load(arrive, other, order="acquire", scope="gpu") < turn
            ):
                tries += 1
        lang.barrier()
        for other in range(thread, lang.grid_dim(), lang.block_dim()):
            lang.store(leave, other, turn, order="release", scope="gpu")
    if thread == 0:
        while tries < patience and lang.load(leave, block, order="acquire", scope="gpu") < turn:
            tries += 1
    lang.barrier()
    return tries
