"""The mutex microbenchmarks after HeteroSync: ``spm_g``, one spin mutex for the whole GPU.

The original shifts data by one line per critical section, which hides lost updates once every line
is equal; here each access is new = old + 1, so the exact count is expected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import REGISTRY, GpuLike, Outcome, Parameter, Setting, Workload, compare
from gpucoh.suite.synchronisation import lock_acquire, lock_release

BLOCK = 32
HALF = 16


@lang.kernel
def spin_mutex_global(
    lock: lang.Buffer[lang.i32],
    data: lang.Buffer[lang.i32],
    iterations: lang.i32,
    accesses: lang.i32,
) -> None:
    """Every block: lock, add 1 to ``accesses`` words per thread, unlock; ``iterations``
    times.
    """
    thread = lang.thread_id()
    base = (thread // HALF) * accesses * HALF + thread % HALF
    for _ in range(iterations):
        if thread == 0:
            lock_acquire(lock, 0)
        lang.barrier()
        for n in range(accesses - 1, -1, -1):
            word = base + n * HALF
            data[word] = data[word] + 1
        lang.barrier()
        if thread == 0:
            lock_release(lock, 0)


@dataclass(frozen=True)
class SpinMutex:
    """``spm_g`` on one input."""

    initial: NDArray[np.int32]
    blocks_per_core: int
    iterations: int
    accesses: int

    @classmethod
    def prepare(cls, setting: Setting) -> SpinMutex:
        """Random initial words."""
        accesses = setting.integer("accesses")
        initial = setting.rng().integers(0, 1 << 20, 2 * HALF * accesses, dtype=np.int32)
        return cls(
            initial, setting.integer("blocks_per_core"), setting.integer("iterations"), accesses
        )

    def run(self, gpu: GpuLike) -> Outcome:
        """One launch of ``blocks_per_core`` blocks per core."""
        blocks = gpu.machine.cores * self.blocks_per_core
        data = gpu.array(self.initial)
        gpu.launch(
            spin_mutex_global,
            grid=blocks,
            block=BLOCK,
            args=(gpu.zeros(1, np.int32), data, self.iterations, self.accesses),
        )
        sections = blocks * self.iterations
        return compare(
            "data", data.numpy(), self.initial + np.int32(sections), details={"sections": sections}
        )


REGISTRY.add(
    Workload(
        id="spm_g",
        title="spin mutex, one lock for all blocks, around loads and stores of shared words",
        group="G",
        papers=("D",),
        needs_coherence=True,
        check="every word equals the number of critical sections plus its initial value",
        parameters=(
            Parameter(
                name="blocks_per_core",
                kind="int",
                minimum=1,
                maximum=8,
                defaults={"tiny": 1, "small": 3, "paper": 3},
                text="blocks per core, of 32 threads",
            ),
            Parameter(
                name="iterations",
                kind="int",
                minimum=1,
                maximum=100000,
                defaults={"tiny": 2, "small": 8, "paper": 100},
                text="critical sections per block",
            ),
            Parameter(
                name="accesses",
                kind="int",
                minimum=1,
                maximum=1024,
                defaults=10,
                text="loads and stores per thread and critical section",
            ),
        ),
        factory=SpinMutex.prepare,
    )
)
