"""The mutex microbenchmarks: ``spm``, ``spmbo``, ``fam`` and ``slm``, each with global (``_g``) and local
(``_l``) scope.

Original: HeteroSync (CUDA), in both versions (:mod:`gpucoh.suite.heterosync`). With DeNovo's sizes: 3 blocks a core,
100 sections a block, 10 loads and stores a thread and section (:mod:`gpucoh.suite.chains`). As there: thread 0
synchronises, with a barrier of the block before and after every try (``fam``: after) and around the unlock; block b
runs on core b mod cores. Global: one lock and one chunk of data for all blocks. Local: one of each a core; the words
of the locks lie side by side.

* ``spm``: a compare-and-swap a try, an exchange to unlock; no pause.
* ``spmbo``: as ``spm``. After a failed try the source has an empty loop, of which -O3 leaves no code:
  ``pauses=compiled`` computes its turns alone, ``pauses=kept`` runs it. ``uvm``: 1, 3, 7 .. turns, modulo 1024;
  ``denovo``: 10, 15, 20 .., of 1 again after 26 failures.
* ``fam``: a ticket by a relaxed increment; polls of the turn by loads; an increment of the turn that releases. Tickets
  and turns are two arrays.
* ``slm``: a slot of a ring by a relaxed increment of the tail; polls of the slot's own word by loads; the unlock resets
  its word, relaxed, and sets the next one. Slots are neighbouring words; the ring of a core begins at a line.

DeNovo (section 5.3) has no relaxed atomics: ``atomics=acq_rel``.

Differences: a launch is not repeated (``launches``; 10 in ``uvm``). The unlock of ``slm`` releases before it sets the
next slot; that of ``uvm`` has its fence after it, which is a race. The slot is a remainder of the tail, which only
grows. The original's ring has a slot too many, whose successor lies in the next core's ring, so that a second block
enters; here it has ``slots`` per core, and wraps. Polls by loads end after ``patience`` tries, since copies may stay
stale; a block that has given up no longer waits.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, combine, compare, whole
from gpucoh.suite.buffers import Text
from gpucoh.suite.chains import (
    ACCESSES,
    BLOCK,
    PADDED,
    Chains,
    Chunks,
    line_0,
    pitch,
    shift_function,
)
from gpucoh.suite.declaration import workload
from gpucoh.suite.heterosync import (
    ATOMICS,
    LAUNCHES,
    PAUSES,
    VERSION,
    VERSIONS,
    Function,
    Version,
    pause,
)
from gpucoh.suite.synchronisation import STALE, patience_on

# Words of a block's state: whether it has the lock, its ticket or slot, and the two of its back-off.
HELD, PLACE, PAUSE = 0, 1, 2
STATE = 4


@lang.record
class Lock:
    """The words of a lock: for each unit (a core, or the whole GPU) a lock, or a ticket counter or tail, ``pitch``
    words apart; ``waits``, its turns, or rings of ``slots`` slots; and where both begin.
    """

    words: lang.Buffer[lang.i32]
    waits: lang.Buffer[lang.i32]
    begin: lang.Buffer[lang.i32]
    pitch: lang.i32
    slots: lang.i32
    patience: lang.i32


def spin(version: Version, order: str, pauses: str) -> tuple[Function, Function]:
    """Lock and unlock of a lock word, with a pause after each failure unless ``pauses`` is empty."""
    swap, acquire, put, begin = version.swap, version.acquire, version.put, version.begin
    start, lengthen = version.start, version.lengthen
    paused, kept = bool(pauses), pauses == "kept"

    @lang.device
    def take(
        lock: Lock, state: lang.Buffer[lang.i32], unit: lang.i32, tries: lang.i32, scope: Text
    ) -> lang.i32:
        at = 0
        if lang.thread_id() == 0:
            state[HELD] = 0
            at = begin(lock.begin) + unit * lock.pitch
            if paused:
                start(state, PAUSE)
        lang.barrier()
        while state[HELD] == 0:
            lang.barrier()
            if lang.thread_id() == 0:
                if swap(lock.words, at, 0, 1, scope) == 0:
                    acquire(scope)
                    state[HELD] = 1
                elif paused:
                    if kept:
                        pause(state, PAUSE)
                    lengthen(state, PAUSE, 25)
            lang.barrier()
        return tries

    @lang.device
    def free(
        lock: Lock,
        begin: lang.i32,
        state: lang.Buffer[lang.i32],
        unit: lang.i32,
        scope: Text,
    ) -> None:
        put(lock.words, begin + unit * lock.pitch, 0, scope)

    return take, free


@lang.device
def left_after(tries: lang.i32, patience: lang.i32) -> lang.i32:
    """The tries of a block that has the lock: none, unless it has given up before."""
    left = 0
    if tries >= patience:
        left = tries
    return left


def ticket(version: Version, order: str, pauses: str) -> tuple[Function, Function]:
    """Lock and unlock by tickets and turns."""
    look, acquire, count, begin = version.look, version.acquire, version.count, version.begin

    @lang.device
    def take(
        lock: Lock, state: lang.Buffer[lang.i32], unit: lang.i32, tries: lang.i32, scope: Text
    ) -> lang.i32:
        at = 0
        lang.barrier()
        if lang.thread_id() == 0:
            at = unit * lock.pitch
            own = begin(lock.begin) + at
            state[PLACE] = lang.atomic_add(lock.words, own, 1, order=order, scope=scope)
            state[HELD] = 0
            at += begin(lock.begin)
        lang.barrier()
        while state[HELD] == 0:
            if lang.thread_id() == 0:
                if look(lock.waits, at, scope) == state[PLACE]:
                    acquire(scope)
                    state[HELD] = 1
                    tries = left_after(tries, lock.patience)
                else:
                    tries += 1
                    if tries >= lock.patience:
                        state[HELD] = 1
            lang.barrier()
        return tries

    @lang.device
    def free(
        lock: Lock,
        begin: lang.i32,
        state: lang.Buffer[lang.i32],
        unit: lang.i32,
        scope: Text,
    ) -> None:
        count(lock.waits, begin + unit * lock.pitch, scope)

    return take, free


def sleep(version: Version, order: str, pauses: str) -> tuple[Function, Function]:
    """Lock and unlock by slots of a ring."""
    look, acquire, put, begin = version.look, version.acquire, version.put, version.begin

    @lang.device
    def take(
        lock: Lock, state: lang.Buffer[lang.i32], unit: lang.i32, tries: lang.i32, scope: Text
    ) -> lang.i32:
        at = 0
        lang.barrier()
        if lang.thread_id() == 0:
            own = begin(lock.begin) + unit * lock.pitch
            place = lang.atomic_add(lock.words, own, 1, order=order, scope=scope)
            state[PLACE] = place % lock.slots
            state[HELD] = 0
            at = begin(lock.begin) + unit * lock.slots + state[PLACE]
        lang.barrier()
        while state[HELD] == 0:
            lang.barrier()
            if lang.thread_id() == 0:
                if look(lock.waits, at, scope) == 1:
                    acquire(scope)
                    state[HELD] = 1
                    tries = left_after(tries, lock.patience)
                else:
                    tries += 1
                    if tries >= lock.patience:
                        state[HELD] = 1
            lang.barrier()
        return tries

    @lang.device
    def free(
        lock: Lock,
        begin: lang.i32,
        state: lang.Buffer[lang.i32],
        unit: lang.i32,
        scope: Text,
    ) -> None:
        ring = begin + unit * lock.slots
        place = state[PLACE]
        lang.atomic_exch(lock.waits, ring + place, -1, order=order, scope=scope)
        put(lock.waits, ring + (place + 1) % lock.slots, 1, scope)

    return take, free


def mutex_kernel(functions: tuple[Function, Function], version: str, scope: str) -> lang.Kernel:
    """The kernel with one kind of lock and one scope."""
    take, free = functions
    begin, shift_chain = VERSIONS[version].begin, shift_function(version)

    # `units` is 1 for a global lock, the number of cores for local ones.
    @lang.kernel
    def critical_sections(
        lock: Lock,
        chunks: Chunks,
        impatient: lang.Buffer[lang.i32],
        units: lang.i32,
        iterations: lang.i32,
    ) -> None:
        """Every block: lock, shift the chains of the unit's chunk, unlock; ``iterations`` times."""
        state = lang.shared(lang.i32, STATE)
        unit = lang.block_id() % units
        line = line_0(chunks, unit)
        tries = 0  # of thread 0, without success
        for _ in range(iterations):
            tries = take(lock, state, unit, tries, scope)
            shift_chain(chunks, line)
            at = begin(lock.begin)
            lang.barrier()
            if lang.thread_id() == 0:
                free(lock, at, state, unit, scope)
            lang.barrier()
        if lang.thread_id() == 0 and tries >= lock.patience:
            lang.atomic_add(impatient, 0, 1, order="relaxed", scope="gpu")

    return critical_sections


KINDS: dict[str, tuple[Function, str]] = {
    "spm": (spin, "spin mutex"),
    "spmbo": (spin, "spin mutex with back-off"),
    "fam": (ticket, "ticket mutex of fetch-and-add"),
    "slm": (sleep, "sleep mutex, a ring of slots"),
}
SCOPES = {
    "g": ("gpu", "one lock and one chunk for all blocks"),
    "l": ("cu", "one of each per core"),
}


@functools.cache
def kernel_of(kind: str, letter: str, version: str, order: str, pauses: str) -> lang.Kernel:
    """The kernel of a kind of lock, a scope, a version, the order of its other atomics, and its pauses."""
    functions = KINDS[kind][0](VERSIONS[version], order, pauses)
    return mutex_kernel(functions, version, SCOPES[letter][0])


ONE_OF = {
    "patience": whole(
        f"failed polls after which a block gives up, {STALE}",
        100,
        1 << 30,
        4096,
        1 << 17,
        1 << 24,
    ),
    "pauses": PAUSES,
    "atomics": ATOMICS,
    "slots": whole("slots of a ring, times the number of cores", 32, 1 << 16, 128),
}
# The parameters of each kind beside those of all.
OWN = {
    "spm": (),
    "spmbo": ("pauses",),
    "fam": ("patience", "atomics"),
    "slm": ("patience", "atomics", "slots"),
}


def mutex(kind: str, letter: str) -> None:
    """Declare the workload of one kind of lock and one scope: launches of ``blocks_per_core`` blocks per core."""
    fewest = 1 if letter == "g" else 2

    @workload(
        id=f"{kind}_{letter}",
        title=f"{KINDS[kind][1]}, {SCOPES[letter][1]}, around loads and stores",
        group=letter.upper(),
        papers="D",
        needs_coherence=True,
        check="every word counts the critical sections exactly",
        parameters={name: ONE_OF[name] for name in OWN[kind]},
    )
    def run(
        gpu: GpuLike,
        rng: Generator,
        blocks_per_core: int = whole("blocks per core, of 32 threads", 1, 8, fewest, 3, 3),
        iterations: int = whole("critical sections per block and launch", 1, 100000, 2, 8, 100),
        launches: int = LAUNCHES,
        accesses: int = ACCESSES,
        padded: bool = PADDED,
        version: str = VERSION,
        **own: Any,
    ) -> Outcome:
        cores = gpu.machine.cores
        blocks = cores * blocks_per_core
        units = cores if letter == "l" else 1
        chains = Chains.random(rng, units, accesses)
        chunks = chains.on(gpu, version)
        apart, slots = pitch(padded), own.get("slots", 1) * cores
        waits = np.zeros(units * apart, np.int32)
        if kind == "slm":
            waits = np.full(units * slots, -1, np.int32)
            waits[::slots] = 1
        impatient = gpu.zeros(1, np.int32)
        words = gpu.zeros(units * apart, np.int32)
        patience = patience_on(cores, own.get("patience", 1))
        order, pauses = own.get("atomics", "relaxed"), own.get("pauses", "")
        begin = gpu.zeros(1, np.int32)
        lock = Lock(words, gpu.array(waits), begin, apart, slots, patience)
        for _ in range(launches):
            gpu.launch(
                kernel_of(kind, letter, version, order, pauses),
                grid=blocks,
                block=BLOCK,
                placement="static",
                args=(lock, chunks, impatient, units, iterations),
            )
        sections = blocks * iterations * launches
        return combine(
            compare("blocks that gave up", impatient.numpy(), [0]),
            chains.check(chunks, sections // units, {"sections": sections}),
        )


for _kind in KINDS:
    for _letter in SCOPES:
        mutex(_kind, _letter)
