"""The barrier microbenchmarks: ``tb_lg`` and ``tbex_lg``, a tree barrier of local and global scope.

Original: HeteroSync's atomic tree barrier (CUDA), in both versions (:mod:`gpucoh.suite.heterosync`); DeNovo does not
say which of its tree barriers it uses; the class "atomics" in its energy figures suggests this one (inferred). With
DeNovo's sizes: 3 blocks a core and 100 iterations; in each a block shifts the chains of one chunk
(:mod:`gpucoh.suite.chains`), which no other block uses meanwhile; the blocks of a core join a local barrier, their
first one joins the global barrier of all cores, and they join the local barrier again; then every block continues with
the chunk of the next block, on the next core. ``tbex_lg`` joins a local barrier after a first shift and shifts the
chunk of the next block on the core before the tree barrier, so that each word is written twice between two global
releases. With one block a core there are no local barriers, and no local exchange.

A barrier is two halves, each with a word of its own and as many barriers of the block as there: an increment that
releases, then compare-and-swaps of the number of blocks for 0 until one reads 0. Between tries of the global half the
source has an empty loop, of which -O3 leaves no code: ``pauses=compiled`` computes its turns alone, ``pauses=kept``
runs it. ``uvm``: 3, 7, 15 .. turns, modulo 1024; ``denovo``: 15, 20 .., of 1 again after 16 failures. A barrier's two
words are neighbours; those of the next core lie 32 words per core further. ``padded`` separates the two halves' words
of the global barrier, too.

Differences: a kept pause is thread 0's alone; in ``denovo`` the others repeat a pause of 10 turns meanwhile. A launch
is not repeated (``launches``; 10 in ``uvm``).
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, whole
from gpucoh.suite.buffers import Text
from gpucoh.suite.chains import (
    ACCESSES,
    APART,
    BLOCK,
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
    PAUSES,
    VERSION,
    VERSIONS,
    Function,
    Version,
    pause,
)

DONE, PAUSE = 0, 1  # words of a block's state: whether it may leave, and the two of its back-off
STATE = 3
MOST_FAILURES = 15  # more than these make the next pause the shortest
WARPS = 32  # of the original's largest block; words between cores are this times the cores


def half_barrier(version: Version, pauses: str) -> Function:
    """Wait until ``blocks`` blocks have come. The word is 0 before and after."""
    paused, kept = bool(pauses), pauses == "kept"
    swap, fence, count = version.swap, version.fence, version.count
    start, lengthen = version.start, version.lengthen

    @lang.device
    def half(
        words: lang.Buffer[lang.i32],
        at: lang.i32,
        blocks: lang.i32,
        state: lang.Buffer[lang.i32],
        scope: Text,
    ) -> None:
        if paused and lang.thread_id() == 0:
            start(state, PAUSE)
        lang.barrier()
        if lang.thread_id() == 0:
            state[DONE] = 0
            fence(scope)
            count(words, at, scope)
        lang.barrier()
        while state[DONE] == 0:
            if lang.thread_id() == 0:
                if swap(words, at, blocks, 0, scope) == 0:
                    fence(scope)
                    state[DONE] = 1
                elif paused:
                    lengthen(state, PAUSE, MOST_FAILURES)
            lang.barrier()
            if paused and state[DONE] == 0:
                if kept and lang.thread_id() == 0:
                    pause(state, PAUSE)
                lang.barrier()

    return half


@functools.cache
def phases_kernel(version: str, pauses: str) -> lang.Kernel:
    """The kernel of a version and its pauses."""
    number, shift_chain = VERSIONS[version].number, shift_function(version)
    wait_here, wait = (half_barrier(VERSIONS[version], of) for of in ("", pauses))

    @lang.device
    def local_barrier(
        words: lang.Buffer[lang.i32],
        at: lang.i32,
        pitch: lang.i32,
        blocks: lang.i32,
        state: lang.Buffer[lang.i32],
    ) -> None:
        """Barrier of the blocks of a core, if there are several."""
        if blocks > 1:
            wait_here(words, at, blocks, state, "cu")
            wait_here(words, at + pitch, blocks, state, "cu")

    @lang.kernel
    def phases(
        joined: lang.Buffer[lang.i32],
        joined_here: lang.Buffer[lang.i32],
        begins: lang.Buffer[lang.i32],
        chunks: Chunks,
        cores: lang.i32,
        per_core: lang.i32,
        pitch: lang.i32,
        iterations: lang.i32,
        exchange: lang.i32,
    ) -> None:
        """All iterations of a block; ``exchange`` is 1 for ``tbex_lg``."""
        state = lang.shared(lang.i32, STATE)
        chunk = lang.block_id()
        here = chunk % cores * cores * WARPS
        for _ in range(iterations):
            place = line_0(chunks, chunk)
            shift_chain(chunks, place, last_line(chunks, place))
            if exchange != 0 and per_core > 1:
                local_barrier(joined_here, here, pitch, per_core, state)
                chunk = (chunk + cores) % lang.grid_dim()
                place = line_0(chunks, chunk)
                shift_chain(chunks, place, last_line(chunks, place))
            at = number(begins, 0, 0)
            local_barrier(joined_here, here, pitch, per_core, state)
            if lang.block_id() < cores:
                wait(joined, at, cores, state, "gpu")
                wait(joined, at + pitch, cores, state, "gpu")
            local_barrier(joined_here, here, pitch, per_core, state)
            chunk = (chunk + 1) % lang.grid_dim()

    return phases


def tree_barrier(id: str, title: str, exchange: bool) -> None:
    """Declare a workload: launches of a grid that is resident as a whole."""

    @workload(
        id=id,
        title=title,
        group="L",
        papers="D",
        needs_coherence=True,
        check="every word counts the shifts exactly",
    )
    def run(
        gpu: GpuLike,
        rng: Generator,
        blocks_per_core: int = whole("blocks per core, of 32 threads", 1, 8, 2, 3, 3),
        iterations: int = whole("phases per block and launch", 1, 100000, 4, 20, 100),
        launches: int = LAUNCHES,
        accesses: int = ACCESSES,
        padded: bool = PADDED,
        pauses: str = PAUSES,
        version: str = VERSION,
    ) -> Outcome:
        cores = gpu.machine.cores
        blocks = cores * blocks_per_core
        chains = Chains.random(rng, blocks, accesses)
        chunks = chains.on(gpu, version)
        joined, begins = gpu.zeros(2 * APART, np.int32), gpu.zeros(1, np.int32)
        joined_here = gpu.zeros(cores * cores * WARPS + APART, np.int32)
        for _ in range(launches):
            gpu.launch(
                phases_kernel(version, pauses),
                grid=blocks,
                block=BLOCK,
                placement="static",
                args=(
                    joined,
                    joined_here,
                    begins,
                    chunks,
                    cores,
                    blocks_per_core,
                    pitch(padded),
                    iterations,
                    int(exchange),
                ),
            )
        barriers = iterations * launches
        sections = barriers * (2 if exchange and blocks_per_core > 1 else 1)
        return chains.check(chunks, sections, {"barriers": barriers, "sections": sections})


tree_barrier(
    "tb_lg",
    "tree barrier, local and global, between shifts of chunks that move to the next core",
    exchange=False,
)
tree_barrier(
    "tbex_lg",
    "tree barrier with an exchange of chunks between the blocks of a core before it",
    exchange=True,
)
