"""The semaphore microbenchmarks: ``ss_l`` and ``ssbo_l``, a reader-writer semaphore of local scope per core.

Original: HeteroSync's spin semaphore (CUDA), in both versions (:mod:`gpucoh.suite.heterosync`), with the sizes of
DeNovo: of the 3 blocks of a core one is a writer and two are readers, 100 iterations a block, 10 loads a reader's
thread. As there: a semaphore is 4 neighbouring words (count, lock, a writer waits, largest count), so that cores share
lines of them; count and flag are plain accesses under the lock, which is one compare-and-swap a try and an exchange;
all threads of a writer that may not enter store the flag. A reader takes 1 of the count, a writer all of it; readers
do not enter while a writer waits; the flag starts at 0, so that readers enter first. Each block has a chunk
(:mod:`gpucoh.suite.chains`); a reader sums lines 0 to ``accesses`` - 1 of its own in the scratchpad, with a barrier
after every load. The writer, block ``core mod blocks_per_core`` of its core, shifts its own chunk and the readers',
with ``denovo`` the readers' alone: table 4 of the paper has 20 loads and stores a thread. ``ssbo_l`` pauses after a
failed try to enter: sums in the scratchpad, of 1, 3, 7 .. terms, modulo 1024, with ``denovo`` of 10, 15, 20 .., of 1
again after 26 failures. The barriers of the block are those of the original.

Differences: a writer that leaves adds a multiple of 1024 to the count, so that the count, which a reader loads
anyway, gives the line 1 that the reader must find; in registers it compares this and its sum, and counts
differences (torn or old data), which it stores at its end. A failed try to enter is followed by 0 to 63
pseudo-random cycles, more after 32 failures in a row: with constant periods blocks outside can keep one that
wants to leave from the lock for ever. A launch is not repeated (``launches``; 10 in ``uvm``).
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, combine, compare, whole
from gpucoh.suite.chains import (
    ACCESSES,
    BLOCK,
    FIXED,
    LINE,
    PADDED,
    Chains,
    Chunks,
    line_0,
    pitch,
    shift_function,
)
from gpucoh.suite.declaration import workload
from gpucoh.suite.heterosync import LAUNCHES, VERSION, VERSIONS, Function, Version
from gpucoh.suite.synchronisation import noise

COUNT, LOCK, WAITING, LARGEST = 0, 1, 2, 3  # words of a semaphore
WORDS = 4
SECTION = 1 << 10  # what a writer's section adds to the count
# Words of a block's state: whether it has the lock, whether it has entered, how many writer's sections have
# been before, and of its back-off: turns (the next word counts failures) and the sum.
LOCKED, ENTERED, WRITTEN, PAUSE, SUM = 0, 1, 2, 3, 5
STATE = 6


@lang.record
class Semaphores:
    """Their words, ``pitch`` words apart, where they begin, and the largest count."""

    words: lang.Buffer[lang.i32]
    begin: lang.Buffer[lang.i32]
    pitch: lang.i32
    largest: lang.i32


def enter_function(version: Version) -> Function:
    """One try to enter."""
    swap, acquire, put = version.swap, version.acquire, version.put

    @lang.device
    def try_enter(
        semaphores: Semaphores,
        at: lang.i32,
        writes: lang.i32,
        state: lang.Buffer[lang.i32],
    ) -> None:
        words = semaphores.words
        lang.barrier()
        if lang.thread_id() == 0:
            state[LOCKED] = 0
            if swap(words, at + LOCK, 0, 1, "cu") == 0:
                acquire("cu")
                state[LOCKED] = 1
        lang.barrier()
        if state[LOCKED] != 0:
            if lang.thread_id() == 0:
                count = words[at + COUNT] % SECTION
                if writes != 0:
                    if count == semaphores.largest:
                        state[ENTERED] = 1
                elif words[at + WAITING] == 0 and count > 1:
                    state[ENTERED] = 1
            lang.barrier()
            if state[ENTERED] == 0:
                if writes != 0:
                    words[at + WAITING] = 1
                if lang.thread_id() == 0:
                    put(words, at + LOCK, 0, "cu")
            else:
                lang.barrier()
                if lang.thread_id() == 0:
                    if writes != 0:
                        words[at + COUNT] = words[at + COUNT] - semaphores.largest
                        words[at + WAITING] = 0
                    else:
                        before = words[at + COUNT]
                        state[WRITTEN] = before // SECTION
                        words[at + COUNT] = before - 1
                    put(words, at + LOCK, 0, "cu")
            lang.barrier()

    return try_enter


def leave_function(version: Version) -> Function:
    """Give back what was taken of the count."""
    swap, acquire, put = version.swap, version.acquire, version.put

    @lang.device
    def leave(
        semaphores: Semaphores,
        at: lang.i32,
        taken: lang.i32,
        state: lang.Buffer[lang.i32],
    ) -> None:
        words = semaphores.words
        if lang.thread_id() == 0:
            state[LOCKED] = 0
        lang.barrier()
        while state[LOCKED] == 0:
            lang.barrier()
            if lang.thread_id() == 0 and swap(words, at + LOCK, 0, 1, "cu") == 0:
                acquire("cu")
                state[LOCKED] = 1
            lang.barrier()
        if lang.thread_id() == 0:
            words[at + COUNT] = words[at + COUNT] + taken
            put(words, at + LOCK, 0, "cu")
        lang.barrier()

    return leave


def read_function(version: str) -> Function:
    """Sum a chain of the block's chunk; 1 if the sum or line 1 is torn or old."""
    fixed = FIXED[version]

    @lang.device
    def read_chain(
        chunks: Chunks, state: lang.Buffer[lang.i32], sums: lang.Buffer[lang.i32]
    ) -> lang.i32:
        thread = lang.thread_id()
        sums[thread] = 0
        line = line_0(chunks, lang.block_id())
        value = 0
        for place in range(line + (chunks.accesses - 1) * LINE, line, -LINE):
            value = chunks.data[place]
            sums[thread] += value
            lang.barrier()
        base = fixed(chunks, line)
        sums[thread] += base
        lang.barrier()
        lines = chunks.accesses - 1
        expected = base + lines * value - lines * (lines - 1) // 2 * base
        wrong = 0
        if sums[thread] != expected or value != base * (chunks.accesses + state[WRITTEN]):
            wrong = 1
        return wrong

    return read_chain


@functools.cache
def readers_and_writers(version: str, paused: bool) -> lang.Kernel:
    """The kernel of a version; ``paused`` for ``ssbo_l``."""
    of = VERSIONS[version]
    begin, start, lengthen = of.begin, of.start, of.lengthen
    try_enter, leave = enter_function(VERSIONS[version]), leave_function(VERSIONS[version])
    shift_chain, read_chain = shift_function(version), read_function(version)
    first = int(not shifts_own(version))

    @lang.kernel
    def read_or_write(
        semaphores: Semaphores,
        chunks: Chunks,
        torn: lang.Buffer[lang.i32],
        cores: lang.i32,
        per_core: lang.i32,
        iterations: lang.i32,
    ) -> None:
        """All sections of a block."""
        state = lang.shared(lang.i32, STATE)
        sums = lang.shared(lang.i32, BLOCK)
        thread = lang.thread_id()
        core = lang.block_id() % cores
        at = core * semaphores.pitch
        writes = 1 if lang.block_id() // cores == core % per_core else 0
        wrong = 0
        random = lang.block_id() + 1
        for _ in range(iterations):
            if thread == 0:
                state[ENTERED] = 0
                if paused:
                    start(state, PAUSE)
                    state[SUM] = 0
            lang.barrier()
            fails = 0
            place = at + begin(semaphores.begin)
            while state[ENTERED] == 0:
                try_enter(semaphores, place, writes, state)
                lang.barrier()
                if state[ENTERED] == 0:
                    if paused:
                        if thread == 0:
                            for term in range(state[PAUSE]):
                                state[SUM] += term
                            lengthen(state, PAUSE, 25)
                        lang.barrier()
                    random = noise(random, fails)
                    fails += 1
            if writes != 0:
                for turn in range(first, per_core):
                    chunk = (lang.block_id() + turn * cores) % lang.grid_dim()
                    shift_chain(chunks, line_0(chunks, chunk))
                place = at + begin(semaphores.begin)
                leave(semaphores, place, semaphores.largest + SECTION, state)
            else:
                wrong += read_chain(chunks, state, sums)
                place = at + begin(semaphores.begin)
                leave(semaphores, place, 1, state)
        torn[lang.global_id()] += wrong

    return read_or_write


def shifts_own(version: str) -> bool:
    """Whether a writer shifts its own chunk beside the readers'."""
    return version == "uvm"


def semaphore(id: str, text: str, tiny: int, pauses: bool) -> None:
    """Declare a workload, with ``tiny`` sections at scale scale tiny: launches of blocks per core."""

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
        iterations: int = whole("sections per block and launch", 1, 100000, tiny, 8, 100),
        launches: int = LAUNCHES,
        accesses: int = ACCESSES,
        padded: bool = PADDED,
        count: int = whole(
            "readers that may be inside together (the original's script)", 1, SECTION // 2, 10
        ),
        version: str = VERSION,
    ) -> Outcome:
        cores = gpu.machine.cores
        blocks = cores * blocks_per_core
        chains = Chains.random(rng, blocks, accesses)
        chunks = chains.on(gpu, version)
        apart = pitch(padded, WORDS)
        begin = np.zeros((cores, apart), np.int32)
        begin[:, COUNT] = begin[:, LARGEST] = count + 1
        words = gpu.array(begin.ravel())
        torn = gpu.zeros(blocks * BLOCK, np.int32)
        for _ in range(launches):
            gpu.launch(
                readers_and_writers(version, pauses),
                grid=blocks,
                block=BLOCK,
                placement="static",
                args=(
                    Semaphores(words, gpu.zeros(1, np.int32), apart, count + 1),
                    chunks,
                    torn,
                    cores,
                    blocks_per_core,
                    iterations,
                ),
            )
        number = np.arange(blocks)
        shifted = (number // cores != number % cores % blocks_per_core) | shifts_own(version)
        end = begin.copy()
        end[:, COUNT] += SECTION * iterations * launches
        details = {"sections": blocks * iterations * launches}
        return combine(
            chains.check(chunks, iterations * launches * shifted, details),
            compare("torn or old sums", torn.numpy(), np.zeros(blocks * BLOCK)),
            compare("semaphore", words.numpy().reshape(end.shape), end),
        )


semaphore("ss_l", "no pause", tiny=2, pauses=False)
semaphore("ssbo_l", "back-off", tiny=1, pauses=True)
