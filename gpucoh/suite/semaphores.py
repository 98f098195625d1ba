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

Differences: the count is in units of 2**20, and a writer that leaves adds 1 to it, so that the count, which a reader
loads anyway, gives the line 1 that the reader must find; in registers the reader compares this and its sum after its
section, and notes that they differ (torn or old data) at its end. The largest count is the fourth word, not the first,
which other blocks change. After 32 failures in a row a failed try to enter is followed by pseudo-random cycles: with
constant periods blocks outside can keep one that wants to leave from the lock for ever. ``noisy=off``: never, as in the
original. A launch is not repeated (``launches``; 10 in ``uvm``).
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, combine, compare, switch, whole
from gpucoh.suite.chains import (
    ACCESSES,
    BLOCK,
    FIXED,
    LINE,
    PADDED,
    Chains,
    Chunks,
    last_line,
    line_0,
    pitch,
    shift_function,
)
from gpucoh.suite.declaration import workload
from gpucoh.suite.heterosync import (
    LAUNCHES,
    VERSION,
    VERSIONS,
    Function,
    Version,
    flag,
    rank_in_block,
)
from gpucoh.suite.synchronisation import noise

COUNT, LOCK, WAITING, LARGEST = 0, 1, 2, 3  # words of a semaphore
WORDS = 4
READER = 1 << 20  # what a reader takes of the count, whose lower bits count the writer's sections
# Words of a block's state: whether it has the lock, whether it may enter, the count that it found, and of its
# back-off: turns (the next word counts failures) and the sum.
LOCKED, ENTERED, FOUND, PAUSE, SUM = 0, 1, 2, 3, 5
STATE = 6
NOISY = switch(
    "pseudo-random pauses after 32 failures in a row; off, as in the original: it may not end", True
)
MANY = 32  # failures in a row, the unit of :func:`noise`


@lang.record
class Semaphores:
    """Their words, ``pitch`` words apart, where they begin, and the writer's sections of earlier launches."""

    words: lang.Buffer[lang.i32]
    begin: lang.Buffer[lang.i32]
    pitch: lang.i32
    written: lang.i32


@lang.device
def look_inside(
    words: lang.Buffer[lang.i32],
    at: lang.i32,
    waiting: lang.i32,
    writes: lang.i32,
    free: lang.i32,
    state: lang.Buffer[lang.i32],
    rank: lang.i32,
) -> None:
    """Note whether the block may enter; it has the lock."""
    if rank == 0:
        state[ENTERED] = 0
        count = words[at + COUNT]
        if writes != 0:
            if count == free:
                state[ENTERED] = 1
        elif words[waiting] == 0 and count >= 2 * READER:
            state[ENTERED] = 1
    lang.barrier()


def enter_functions(version: Version) -> tuple[Function, Function, Function]:
    """One try for the lock; and with it, to stay outside, or to enter."""
    swap, fence, put = version.swap, version.fence, version.put

    @lang.device
    def try_lock(
        words: lang.Buffer[lang.i32], at: lang.i32, state: lang.Buffer[lang.i32], rank: lang.i32
    ) -> None:
        lang.barrier()
        if rank == 0:
            state[LOCKED] = 0
            if swap(words, at + LOCK, 0, 1, "cu") == 0:
                fence("cu")
                state[LOCKED] = 1
        lang.barrier()

    @lang.device
    def stay_outside(
        words: lang.Buffer[lang.i32],
        at: lang.i32,
        waiting: lang.i32,
        writes: lang.i32,
        rank: lang.i32,
    ) -> None:
        if writes != 0:
            words[waiting] = 1
        if rank == 0:
            fence("cu")
            put(words, at + LOCK, 0, "cu")
        lang.barrier()

    @lang.device
    def enter(
        words: lang.Buffer[lang.i32],
        at: lang.i32,
        waiting: lang.i32,
        writes: lang.i32,
        largest: lang.i32,
        state: lang.Buffer[lang.i32],
        rank: lang.i32,
    ) -> None:
        lang.barrier()
        if rank == 0:
            count = words[at + COUNT]
            if writes != 0:
                words[at + COUNT] = count - largest
                words[waiting] = 0
            else:
                state[FOUND] = count
                words[at + COUNT] = count - READER
            fence("cu")
            put(words, at + LOCK, 0, "cu")
        lang.barrier()

    return try_lock, stay_outside, enter


def leave_function(version: Version, paused: bool) -> Function:
    """Give back what was taken of the count; where the barriers are differs with and without pauses."""
    swap, fence, put = version.swap, version.fence, version.put

    @lang.device
    def leave(
        words: lang.Buffer[lang.i32],
        at: lang.i32,
        taken: lang.i32,
        state: lang.Buffer[lang.i32],
        rank: lang.i32,
    ) -> None:
        if rank == 0:
            state[LOCKED] = 0
        lang.barrier()
        while flag(state, LOCKED) == 0:
            if paused:
                lang.barrier()
            if rank == 0:
                if swap(words, at + LOCK, 0, 1, "cu") == 0:
                    fence("cu")
                    state[LOCKED] = 1
                else:
                    state[LOCKED] = 0
            lang.barrier()
        if not paused:
            lang.barrier()
        if rank == 0:
            words[at + COUNT] = words[at + COUNT] + taken
            fence("cu")
            put(words, at + LOCK, 0, "cu")
        lang.barrier()

    return leave


@lang.device
def add_terms(state: lang.Buffer[lang.i32], turns: lang.i32) -> None:
    """A pause: a sum in the scratchpad of 0, 1, .. ``turns`` - 1; four terms at a time, then the remainder."""
    rest = turns & 3
    term = 0
    left = turns - rest
    while left != 0:
        state[SUM] = state[SUM] + term
        state[SUM] = state[SUM] + term + 1
        state[SUM] = state[SUM] + term + 2
        state[SUM] = state[SUM] + term + 3
        term += 4
        left -= 4
    while rest != 0:
        state[SUM] = state[SUM] + term
        term += 1
        rest -= 1


@lang.device
def add_line(
    chunks: Chunks, sums: lang.Buffer[lang.i32], thread: lang.i32, at: lang.i32
) -> lang.i32:
    """Add the thread's word of a line to its sum."""
    value = chunks.data[at]
    sums[thread] += value
    lang.barrier()
    return value


@lang.device
def add_lines(
    chunks: Chunks, sums: lang.Buffer[lang.i32], thread: lang.i32, line: lang.i32
) -> lang.i32:
    """Add lines 1 to ``accesses`` - 1, the last one first; what line 1 had."""
    value = 0
    for at in range(line + (chunks.accesses - 1) * LINE, line, -LINE):
        value = add_line(chunks, sums, thread, at)
    return value


@lang.device
def add_lines_unrolled(
    chunks: Chunks, sums: lang.Buffer[lang.i32], thread: lang.i32, line: lang.i32
) -> lang.i32:
    """The same: the remainder of four first, then four at a time."""
    value = 0
    lines = chunks.accesses - 1
    if chunks.accesses > 1:
        rest = lines & 3
        at = line + lines * LINE
        if rest > 0:
            second, third = at - LINE, at - 2 * LINE
            more = rest > 1
            value = add_line(chunks, sums, thread, at)
            if more:
                value = add_line(chunks, sums, thread, second)
                if rest > 2:
                    value = add_line(chunks, sums, thread, third)
        for left in range(lines - rest, 0, -4):
            at = line + left * LINE
            second, third, fourth = at - LINE, at - 2 * LINE, at - 3 * LINE
            add_line(chunks, sums, thread, at)
            add_line(chunks, sums, thread, second)
            add_line(chunks, sums, thread, third)
            value = add_line(chunks, sums, thread, fourth)
    return value


SUMS = {"uvm": add_lines_unrolled, "denovo": add_lines}


def read_function(version: str) -> Function:
    """Sum a chain of the block's chunk: what lines 1 and 0 had."""
    fixed, add = FIXED[version], SUMS[version]

    @lang.device
    def read_chain(
        chunks: Chunks, line: lang.i32, sums: lang.Buffer[lang.i32]
    ) -> tuple[lang.i32, lang.i32]:
        thread = lang.thread_id()
        sums[thread] = 0
        value = add(chunks, sums, thread, line)
        base = fixed(chunks, line)
        sums[thread] += base
        lang.barrier()
        return value, base

    return read_chain


@lang.device
def difference(
    chunks: Chunks,
    value: lang.i32,
    base: lang.i32,
    bases: lang.i32,
    state: lang.Buffer[lang.i32],
    sums: lang.Buffer[lang.i32],
) -> lang.i32:
    """0, unless line 1 is torn or old, or the sum, of which ``bases`` times ``base`` does not change."""
    written = state[FOUND] & (READER - 1)
    expected = value * (chunks.accesses - 1) + base * bases
    return (sums[lang.thread_id()] - expected) | (value - base * (chunks.accesses + written))


def come_in_function(version: Version, paused: bool, noisy: bool) -> Function:
    """Try until the block enters; the next word of the generator of pauses."""
    lengthen = version.lengthen
    try_lock, stay_outside, enter = enter_functions(version)

    @lang.device
    def come_in(
        words: lang.Buffer[lang.i32],
        at: lang.i32,
        writes: lang.i32,
        free: lang.i32,
        largest: lang.i32,
        state: lang.Buffer[lang.i32],
        rank: lang.i32,
        random: lang.i32,
    ) -> lang.i32:
        fails = 0
        locked_out = False
        waiting = at + WAITING
        while True:
            if noisy:
                locked_out = fails >= MANY
                fails += 1
            try_lock(words, at, state, rank)
            if flag(state, LOCKED) != 0:
                look_inside(words, at, waiting, writes, free, state, rank)
                if flag(state, ENTERED) != 0:
                    break
                stay_outside(words, at, waiting, writes, rank)
            lang.barrier()
            if paused:
                if rank == 0:
                    add_terms(state, state[PAUSE])
                    lengthen(state, PAUSE, 25)
                lang.barrier()
            if locked_out:
                random = noise(random, fails)
        enter(words, at, waiting, writes, largest, state, rank)
        if paused:
            lang.barrier()
        return random

    return come_in


@functools.cache
def readers_and_writers(version: str, paused: bool, noisy: bool) -> lang.Kernel:
    """The kernel of a version; ``paused`` for ``ssbo_l``; ``noisy``: pseudo-random pauses after many failures."""
    of = VERSIONS[version]
    number, start = of.number, of.start
    come_in, leave = come_in_function(of, paused, noisy), leave_function(of, paused)
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
        words = semaphores.words
        largest = words[LARGEST]
        rank = rank_in_block()
        core = lang.block_id() % cores
        offset = core * semaphores.pitch
        writes = 1 if lang.block_id() // cores == core % per_core else 0
        line = line_0(chunks, lang.block_id())
        free = largest + semaphores.written  # the count, if no reader is inside
        bases = 1 - (chunks.accesses - 1) * (chunks.accesses - 2) // 2
        wrong = 0
        random = lang.block_id() + 1
        for _ in range(iterations):
            begin = number(semaphores.begin, 0, 0)
            if paused:
                if rank == 0:
                    start(state, PAUSE)
                    state[SUM] = 0
                lang.barrier()
            at = begin + offset
            random = come_in(words, at, writes, free, largest, state, rank, random)
            if writes != 0:
                for turn in range(first, per_core):
                    chunk = (lang.block_id() + turn * cores) % lang.grid_dim()
                    place = line_0(chunks, chunk)
                    shift_chain(chunks, place, last_line(chunks, place))
                begin = number(semaphores.begin, 0, 0)
                leave(words, begin + offset, largest + 1, state, rank)
                free += 1
            else:
                value, base = read_chain(chunks, line, sums)
                begin = number(semaphores.begin, 0, 0)
                wrong |= difference(chunks, value, base, bases, state, sums)
                leave(words, begin + offset, READER, state, rank)
        if wrong != 0:
            torn[lang.global_id()] = 1

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
            "readers that may be inside together (the original's script)", 1, 512, 10
        ),
        noisy: bool = NOISY,
        version: str = VERSION,
    ) -> Outcome:
        cores = gpu.machine.cores
        blocks = cores * blocks_per_core
        chains = Chains.random(rng, blocks, accesses)
        chunks = chains.on(gpu, version)
        apart = pitch(padded, WORDS)
        begin = np.zeros((cores, apart), np.int32)
        begin[:, COUNT] = begin[:, LARGEST] = (count + 1) * READER
        words = gpu.array(begin.ravel())
        torn, at_zero = gpu.zeros(blocks * BLOCK, np.int32), gpu.zeros(1, np.int32)
        for launch in range(launches):
            gpu.launch(
                readers_and_writers(version, pauses, noisy),
                grid=blocks,
                block=BLOCK,
                placement="static",
                args=(
                    Semaphores(words, at_zero, apart, launch * iterations),
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
        end[:, COUNT] += iterations * launches
        details = {"sections": blocks * iterations * launches}
        return combine(
            chains.check(chunks, iterations * launches * shifted, details),
            compare("torn or old sums", torn.numpy(), np.zeros(blocks * BLOCK)),
            compare("semaphore", words.numpy().reshape(end.shape), end),
        )


semaphore("ss_l", "no pause", tiny=2, pauses=False)
semaphore("ssbo_l", "back-off", tiny=1, pauses=True)
