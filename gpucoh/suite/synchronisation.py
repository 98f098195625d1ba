"""Device functions for synchronisation that several workloads share.

All of them spin with atomics, never with loads: an atomic is performed at the coherence point under
every protocol, so a run ends even where first-level caches are not coherent.
"""

from __future__ import annotations

import gpucoh


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
def grid_barrier(arrived: gpucoh.Buffer[gpucoh.i32], target: gpucoh.i32) -> None:
    """Join all blocks of the grid, which must all be resident.

    ``arrived[0]`` only grows; ``target`` is its value once every block has come: blocks x joins so
    far, this included.
    """
    gpucoh.barrier()
    if gpucoh.thread_id() == 0:
        gpucoh.atomic_add(arrived, 0, 1, order="release", scope="gpu")
        while gpucoh.atomic_add(arrived, 0, 0, order="acquire", scope="gpu") < target:
            pass
    gpucoh.barrier()
