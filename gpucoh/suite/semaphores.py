"""The semaphore microbenchmarks: ``ss_l`` and ``ssbo_l``, a reader-writer semaphore of local scope per core.

Original: HeteroSync's spin semaphore in its DeNovo version (CUDA), with the sizes of DeNovo: of the 3 blocks
of a core one is a writer and two are readers, 100 iterations a block, 10 loads a reader's thread, 20 loads and
stores a writer's. As there: a semaphore is 4 neighbouring words (count, lock, a writer waits, largest count),
so that cores share lines of them; count and flag are plain accesses under the lock, which is one
compare-and-swap a try (acquire) and an exchange (release); all threads of a writer that may not enter store
the flag. A reader takes 1 of the count, a writer all of it; readers do not enter while a writer waits; the
flag starts at 0, so that readers enter first. Each reader has a chunk (:mod:`gpucoh.suite.chains`), whose
lines 0 to ``accesses`` - 1 it sums in the scratchpad, with a barrier after every load. The writer, block
``core mod blocks_per_core`` of its core, shifts the chunks of the readers. ``ssbo_l`` pauses after a failed
try: sums of 10, 15, 20 .. terms in the scratchpad, of 1 again after 26 failures, for both.

Differences: the public version's writer has a chunk of its own and shifts it, too; the paper's does not.
A writer that leaves adds a multiple of 1024 to the count, so that the count, which a reader loads
anyway, gives the line 1 that the reader must find; in registers it compares this and its sum, and counts
differences (torn or old data), which it stores at its end. A failed try to enter is followed by 0 to 63
pseudo-random cycles, more after 32 failures in a row: with constant periods blocks outside can keep one that
wants to leave from the lock for ever.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, combine, compare, whole
from gpucoh.suite.chains import ACCESSES, BLOCK, LINE, PADDED, Chains, Chunks, pitch, shift_chain
from gpucoh.suite.declaration import workload
from gpucoh.suite.synchronisation import lengthen_back_off, noise, start_back_off

COUNT, LOCK, WAITING, LARGEST = 0, 1, 2, 3  # words of a semaphore
WORDS = 4
SECTION = 1 << 10  # what a writer's section adds to the count
# Words of a block's state: whether it has the lock, whether it has entered, how many writer's sections have
# been before, and of its back-off: turns (the next word counts failures) and the sum.
LOCKED, ENTERED, WRITTEN, PAUSE, SUM = 0, 1, 2, 3, 5
STATE = 6


@lang.device
def try_enter(
    semaphores: lang.Buffer[lang.i32],
    at: lang.i32,
    writes: lang.i32,
    largest: lang.i32,
    state: lang.Buffer[lang.i32],
) -> None:
    """One try to enter."""
    if lang.thread_id() == 0:
        state[LOCKED] = 0
        if lang.atomic_cas(semaphores, at + LOCK, 0, 1, order="acquire", scope="cu") == 0:
            state[LOCKED] = 1
    lang.barrier()
    if state[LOCKED] != 0:
        if lang.thread_id() == 0:
            count = semaphores[at + COUNT] % SECTION
            if writes != 0:
                if count == largest:
                    state[ENTERED] = 1
            elif semaphores[at + WAITING] == 0 and count > 1:
                state[ENTERED] = 1
        lang.barrier()
        if state[ENTERED] == 0 and writes != 0:
            semaphores[at + WAITING] = 1
        if lang.thread_id() == 0:
            if state[ENTERED] != 0:
                if writes != 0:
                    semaphores[at + COUNT] = semaphores[at + COUNT] - largest
                    semaphores[at + WAITING] = 0
                else:
                    before = semaphores[at + COUNT]
                    state[WRITTEN] = before // SECTION
                    semaphores[at + COUNT] = before - 1
            lang.atomic_exch(semaphores, at + LOCK, 0, order="release", scope="cu")
        lang.barrier()


@lang.device
def leave(
    semaphores: lang.Buffer[lang.i32],
    at: lang.i32,
    taken: lang.i32,
    state: lang.Buffer[lang.i32],
) -> None:
    """Give back what was taken of the count."""
    if lang.thread_id() == 0:
        state[LOCKED] = 0
    lang.barrier()
    while state[LOCKED] == 0:
        if lang.thread_id() == 0 and (
            lang.atomic_cas(semaphores, at + LOCK, 0, 1, order="acquire", scope="cu") == 0
        ):
            state[LOCKED] = 1
        lang.barrier()
    if lang.thread_id() == 0:
        semaphores[at + COUNT] = semaphores[at + COUNT] + taken
        lang.atomic_exch(semaphores, at + LOCK, 0, order="release", scope="cu")
    lang.barrier()


@lang.device
def pause_in_scratchpad(state: lang.Buffer[lang.i32]) -> None:
    """The back-off of one lane after a failed try."""
    for term in range(state[PAUSE]):
        state[SUM] += term
    lengthen_back_off(state, PAUSE, 25)


@lang.kernel
def readers_and_writers(
    semaphores: lang.Buffer[lang.i32],
    chunks: Chunks,
    torn: lang.Buffer[lang.i32],
    cores: lang.i32,
    per_core: lang.i32,
    pitch: lang.i32,
    iterations: lang.i32,
    largest: lang.i32,
    pauses: lang.i32,
) -> None:
    """All sections of a block; ``pauses`` is 1 for ``ssbo_l``."""
    state = lang.shared(lang.i32, STATE)
    sums = lang.shared(lang.i32, BLOCK)
    thread = lang.thread_id()
    core = lang.block_id() % cores
    rank = lang.block_id() // cores
    writer = core % per_core
    at = core * pitch
    first = core * (per_core - 1)
    chain = 2 * (first + rank) + thread // LINE
    if rank > writer:
        chain -= 2
    writes = 1 if rank == writer else 0
    wrong = 0
    random = lang.block_id() + 1
    for _ in range(iterations):
        if thread == 0:
            state[ENTERED] = 0
            start_back_off(state, PAUSE)
            state[SUM] = 0
        lang.barrier()
        fails = 0
        while state[ENTERED] == 0:
            try_enter(semaphores, at, writes, largest, state)
            if thread == 0 and state[ENTERED] == 0 and pauses != 0:
                pause_in_scratchpad(state)
            lang.barrier()
            if state[ENTERED] == 0:
                random = noise(random, fails)
                fails += 1
        if writes != 0:
            for chunk in range(first, first + per_core - 1):
                shift_chain(chunks, chunk)
            lang.barrier()
            leave(semaphores, at, largest + SECTION, state)
        else:
            sums[thread] = 0
            line = chain * chunks.accesses * LINE + thread % LINE
            value = 0
            for place in range(line + (chunks.accesses - 2) * LINE, line - 1, -LINE):
                value = chunks.data[place]
                sums[thread] += value
                lang.barrier()
            base = chunks.fixed[chain * LINE + thread % LINE]
            sums[thread] += base
            lang.barrier()
            lines = chunks.accesses - 1
            expected = base + lines * value - lines * (lines - 1) // 2 * base
            if sums[thread] != expected or value != base * (chunks.accesses + state[WRITTEN]):
                wrong += 1
            leave(semaphores, at, 1, state)
    torn[lang.global_id()] = wrong


def semaphore(id: str, text: str, tiny: int, pauses: bool) -> None:
    """Declare a workload, with ``tiny`` sections at scale tiny: one launch of ``blocks_per_core`` blocks per core."""

    @workload(
        id=id,
        title=f"reader-writer semaphore per core, one writer block shifts the readers' data, {text}",
        group="L",
        papers="D",
        needs_coherence=True,
        check="every word counts the shifts exactly; no reader's sum is torn or old",
    )
    def run(
        gpu: GpuLike,
        rng: Generator,
        blocks_per_core: int = whole("blocks per core, of 32 threads", 2, 8, 3),
        iterations: int = whole("sections per block", 1, 100000, tiny, 8, 100),
        accesses: int = ACCESSES,
        padded: bool = PADDED,
        count: int = whole(
            "readers that may be inside together (the original's script)", 1, SECTION // 2, 10
        ),
    ) -> Outcome:
        cores = gpu.machine.cores
        blocks = cores * blocks_per_core
        chains = Chains.random(rng, blocks - cores, accesses)
        chunks = chains.on(gpu)
        apart = pitch(padded, WORDS)
        start = np.zeros((cores, apart), np.int32)
        start[:, COUNT] = start[:, LARGEST] = count + 1
        semaphores = gpu.array(start.ravel())
        torn = gpu.zeros(blocks * BLOCK, np.int32)
        gpu.launch(
            readers_and_writers,
            grid=blocks,
            block=BLOCK,
            placement="static",
            args=(
                semaphores,
                chunks,
                torn,
                cores,
                blocks_per_core,
                apart,
                iterations,
                count + 1,
                int(pauses),
            ),
        )
        end = start.copy()
        end[:, COUNT] += SECTION * iterations
        return combine(
            chains.check(chunks, iterations, {"sections": blocks * iterations}),
            compare("torn or old sums", torn.numpy(), np.zeros(blocks * BLOCK)),
            compare("semaphore", semaphores.numpy().reshape(end.shape), end),
        )


semaphore("ss_l", "no pause", tiny=2, pauses=False)
semaphore("ssbo_l", "linear back-off", tiny=1, pauses=True)
