"""Device functions that come with the kernel language."""

from __future__ import annotations

from gpucoh.lang import intrinsics as lang
from gpucoh.lang.kernel import device
from gpucoh.lang.types import Buffer, i32

__all__ = ["grid_barrier"]


@device
def grid_barrier(state: Buffer[i32]) -> None:
    """Barrier of all threads of the grid; what they have written before it, all read after it.

    A thread of each block releases and acquires for its block, with scope ``gpu``. All blocks must be resident
    together: a launch with more is refused. All threads of the block come to it, or have ended.

    ``state`` has 64 words, 0 before its first launch, and serves any number of barriers and launches: the blocks that
    have arrived and, in another line, the barriers that are complete.
    """
    lang.barrier()
    if lang.thread_id(0) + lang.thread_id(1) + lang.thread_id(2) == 0:
        turn = lang.load(state, 32, order="relaxed")
        blocks = lang.grid_dim(0) * lang.grid_dim(1) * lang.grid_dim(2)
        if lang.atomic_add(state, 0, 1, order="acq_rel") == blocks - 1:
            lang.atomic_exch(state, 0, 0, order="relaxed")
            lang.store(state, 32, turn + 1, order="release")
        else:
            while lang.load(state, 32, order="acquire") == turn:
                pass
    lang.barrier()


grid_barrier.needs_all_blocks = True  # type: ignore[attr-defined]
