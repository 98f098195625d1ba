"""Device functions for synchronisation that several workloads share.

Locks spin with atomics: every protocol performs an atomic at the coherence point, so they make
progress even if first-level caches are not coherent. The counter barrier polls its flag with loads,
as code for coherent caches does, and periodically with an atomic, so that it ends even if copies
stay stale. The flag barrier polls with loads alone and gives up after a number of tries.
"""

from __future__ import annotations

from gpucoh import lang

LOOKS = 64  # every LOOKS-th poll of the counter barrier's flag is an atomic
FLAG = 32  # the flag's word: not in the counter's line
BARRIER_WORDS = 64
NOISE = 64  # cycles


@lang.device
def lock_acquire(lock: lang.Buffer[lang.i32], index: lang.i32) -> None:
    """Take the lock word ``lock[index]`` for one lane; the other lanes of its warp must not request
    it.
    """
    while lang.atomic_cas(lock, index, 0, 1, order="acquire", scope="gpu") != 0:
        pass


@lang.device
def lock_release(lock: lang.Buffer[lang.i32], index: lang.i32) -> None:
    """Release the lock word ``lock[index]``."""
    lang.atomic_exch(lock, index, 0, order="release", scope="gpu")


@lang.device
def grid_barrier(joined: lang.Buffer[lang.i32], target: lang.i32) -> None:
    """Barrier of all blocks of the grid, which must be resident and have one axis of threads.

    ``joined`` has :data:`BARRIER_WORDS` words, initially 0: the count of arrived blocks, which only
    grows, and in another line the flag that the last block sets. ``target`` is the count when every
    block has arrived: blocks x barriers so far, including this one.
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


# The end of the text of each parameter `patience`.
STALE = "since copies may stay stale; times the square of cores / 16, rounded up"


def patience_on(cores: int, patience: int) -> int:
    """The tries after which a block or thread gives up, so that a run ends even if copies stay stale.

    ``patience`` is of a machine of 16 cores. On a larger one a block waits for proportionally more turns, of which each
    takes longer, since more blocks poll: the number grows with the square of the cores.
    """
    return patience * (-(-max(cores, 16) // 16)) ** 2


@lang.record
class Flags:
    """Those of a flag barrier, one of each for a block, and the tries after which a thread gives up."""

    arrive: lang.Buffer[lang.i32]
    leave: lang.Buffer[lang.i32]
    patience: lang.i32


@lang.device
def flag_barrier(flags: Flags, turn: lang.i32) -> lang.i32:
    """Barrier of all blocks of the grid, which must be resident, without read-modify-writes.

    The fast barrier of Xiao and Feng (IPDPS 2010): each block sets its flag in ``arrive``; the
    threads of block 0 poll all of them and then set those in ``leave``. ``turn`` counts the barriers
    from 1. Returns the thread's tries; a thread that reaches ``patience`` has given up.
    """
    thread = lang.thread_id()
    block = lang.block_id()
    tries = 0
    lang.barrier()
    if thread == 0:
        lang.store(flags.arrive, block, turn, order="release", scope="gpu")
    if block == 0:
        for other in range(thread, lang.grid_dim(), lang.block_dim()):
            while tries < flags.patience and (
                lang.load(flags.arrive, other, order="acquire", scope="gpu") < turn
            ):
                tries += 1
        lang.barrier()
        for other in range(thread, lang.grid_dim(), lang.block_dim()):
            lang.store(flags.leave, other, turn, order="release", scope="gpu")
    if thread == 0:
        while (
            tries < flags.patience
            and lang.load(flags.leave, block, order="acquire", scope="gpu") < turn
        ):
            tries += 1
    lang.barrier()
    return tries


@lang.device
def noise(last: lang.i32, fails: lang.i32) -> lang.i32:
    """Pause for a pseudo-random number of cycles after a failed try; the generator's next word.

    Warps that retry for ever while others need the same lock can lock these out for ever if all periods
    are constant, which they are in a simulator. The pause is below :data:`NOISE`, and below twice as much
    after every 32 failures in a row, since what is enough depends on protocol and machine.
    """
    following = (last * 1103515245 + 12345) & 0x7FFFFFFF
    lang.sleep((following >> 12) % (NOISE << lang.min(fails // 32, 8)))
    return following
