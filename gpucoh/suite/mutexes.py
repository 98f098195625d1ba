"""The mutex microbenchmarks: ``spm``, ``spmbo``, ``fam`` and ``slm``, each with global (``_g``) and local
(``_l``) scope.

Original: HeteroSync (CUDA), in both versions (:mod:`gpucoh.suite.heterosync`). With DeNovo's sizes: 3 blocks a core,
100 sections a block, 10 loads and stores a thread and section (:mod:`gpucoh.suite.chains`). As there: thread 0
synchronises, with a barrier of the block before and after every try (``fam``: after) and around the unlock; block b
runs on core b mod cores. Global: one lock and one chunk of data for all blocks. Local: one of each a core; the words
of the locks lie side by side. The order of the steps is that of the code that CUDA's compiler makes of ``uvm``.

* ``spm``: a compare-and-swap a try, an exchange to unlock; no pause.
* ``spmbo``: as ``spm``. After a failed try the source has an empty loop, of which -O3 leaves no code:
  ``pauses=compiled`` computes its turns alone, ``pauses=kept`` runs it. ``uvm``: 1, 3, 7 .. turns, modulo 1024;
  ``denovo``: 10, 15, 20 .., of 1 again after 26 failures.
* ``fam``: a ticket by a relaxed increment; polls of the turn by loads; an increment of the turn that releases. Tickets
  and turns are two arrays.
* ``slm``: a slot of a ring by a relaxed increment of the tail; polls of the slot's own word by loads; the unlock resets
  its word, relaxed, and sets the next one. Slots are neighbouring words; a ring begins at a line, and is as long as the
  slots and a word a core, in whole lines. ``uvm`` has the fence of its unlock after both accesses, which is a race:
  ``fence=after``.

DeNovo (section 5.3) has no relaxed atomics: ``atomics=acq_rel``.

Differences: a launch is not repeated (``launches``; 10 in ``uvm``). The unlock of ``slm`` releases before it sets the
next slot (``fence=before``). The slot is a remainder of the tail, which only grows. The original's ring has a slot too
many, which on 15 cores is the first of the next core's ring, so that a second block enters; here it has ``slots`` per
core, and wraps. Polls by loads end after ``patience`` tries, since copies may stay stale, and a block that has given up
no longer waits; with ``patience=0``, as in the original, they never end.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, choice, combine, compare, whole
from gpucoh.suite.buffers import Text
from gpucoh.suite.chains import (
    ACCESSES,
    BLOCK,
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
    ATOMICS,
    LAUNCHES,
    PAUSES,
    VERSION,
    VERSIONS,
    Function,
    Version,
    flag,
    pause,
    rank_in_block,
)
from gpucoh.suite.synchronisation import STALE, patience_on

# Words of a block's state: whether it has the lock, its ticket or slot, and the two of its back-off.
HELD, PLACE, PAUSE = 0, 1, 2
STATE = 4


@lang.record
class Lock:
    """The words of a lock: for each unit (a core, or the whole GPU) a lock, or a ticket counter or tail, ``pitch``
    words apart; ``waits``, its turns, or rings of ``slots`` slots, ``ring`` words apart; and ``numbers``, which
    describe them: where each of the two begins, and ``slots``.
    """

    words: lang.Buffer[lang.i32]
    waits: lang.Buffer[lang.i32]
    numbers: lang.Buffer[lang.i32]
    pitch: lang.i32
    slots: lang.i32
    ring: lang.i32
    patience: lang.i32


def spin(version: Version, order: str, variant: str, limited: bool) -> tuple[Function, Function]:
    """Lock and unlock of a lock word."""
    swap, fence, number = version.swap, version.fence, version.number

    @lang.device
    def take(
        lock: Lock,
        state: lang.Buffer[lang.i32],
        rank: lang.i32,
        unit: lang.i32,
        tries: lang.i32,
        scope: Text,
    ) -> lang.i32:
        begin = number(lock.numbers, 0, 0)
        if rank == 0:
            state[HELD] = 0
        lang.barrier()
        held = state[HELD]
        at = 0
        if held == 0:
            at = begin + unit * lock.pitch
        while held == 0:
            lang.barrier()
            if rank == 0 and swap(lock.words, at, 0, 1, scope) == 0:
                fence(scope)
                state[HELD] = 1
            lang.barrier()
            held = state[HELD]
        return tries

    return take, unlock_function(version)


def spin_and_pause(
    version: Version, order: str, variant: str, limited: bool
) -> tuple[Function, Function]:
    """The same, with a pause after each failure."""
    swap, fence, number = version.swap, version.fence, version.number
    start, lengthen, kept = version.start, version.lengthen, variant == "kept"

    @lang.device
    def take(
        lock: Lock,
        state: lang.Buffer[lang.i32],
        rank: lang.i32,
        unit: lang.i32,
        tries: lang.i32,
        scope: Text,
    ) -> lang.i32:
        at = 0
        if rank == 0:
            begin = number(lock.numbers, 0, 0)
            start(state, PAUSE)
            state[HELD] = 0
            at = begin + unit * lock.pitch
        lang.barrier()
        while state[HELD] == 0:
            lang.barrier()
            if rank == 0:
                if swap(lock.words, at, 0, 1, scope) == 0:
                    fence(scope)
                    state[HELD] = 1
                else:
                    if kept:
                        pause(state, PAUSE)
                    lengthen(state, PAUSE, 25)
            lang.barrier()
        return tries

    return take, unlock_function(version)


def unlock_function(version: Version) -> Function:
    """Unlock of a lock word."""
    fence, put, number = version.fence, version.put, version.number

    @lang.device
    def free(
        lock: Lock,
        state: lang.Buffer[lang.i32],
        rank: lang.i32,
        unit: lang.i32,
        scope: Text,
    ) -> None:
        begin = number(lock.numbers, 0, 0)
        lang.barrier()
        if rank == 0:
            fence(scope)
            put(lock.words, begin + unit * lock.pitch, 0, scope)
        lang.barrier()

    return free


def ticket(version: Version, order: str, variant: str, limited: bool) -> tuple[Function, Function]:
    """Lock and unlock by tickets and turns."""
    look, fence, number = version.look, version.fence, version.number
    next, count = version.next, version.count

    @lang.device
    def take(
        lock: Lock,
        state: lang.Buffer[lang.i32],
        rank: lang.i32,
        unit: lang.i32,
        tries: lang.i32,
        scope: Text,
    ) -> lang.i32:
        begin = number(lock.numbers, 0, 0)
        turn = number(lock.numbers, 1, 0)
        own = begin + unit * lock.pitch
        turn += unit * lock.pitch
        lang.barrier()
        if rank == 0:
            state[PLACE] = next(lock.words, own, order, scope)
            state[HELD] = 0
        lang.barrier()
        patient = True
        while flag(state, HELD) == 0:
            if limited:
                if not patient:
                    break
                patient = tries < lock.patience
                tries += 1
            if rank == 0 and look(lock.waits, turn, scope) == state[PLACE]:
                fence(scope)
                state[HELD] = 1
            lang.barrier()
        if patient:
            tries = 0
        return tries

    @lang.device
    def free(
        lock: Lock,
        state: lang.Buffer[lang.i32],
        rank: lang.i32,
        unit: lang.i32,
        scope: Text,
    ) -> None:
        at = number(lock.numbers, 1, 0) + unit * lock.pitch
        lang.barrier()
        if rank == 0:
            fence(scope)
            count(lock.waits, at, scope)
        lang.barrier()

    return take, free


def sleep(version: Version, order: str, variant: str, limited: bool) -> tuple[Function, Function]:
    """Lock and unlock by slots of a ring."""
    look, fence, number, next = version.look, version.fence, version.number, version.next

    @lang.device
    def take(
        lock: Lock,
        state: lang.Buffer[lang.i32],
        rank: lang.i32,
        unit: lang.i32,
        tries: lang.i32,
        scope: Text,
    ) -> lang.i32:
        rings = number(lock.numbers, 1, 0)
        begin = number(lock.numbers, 0, 0)
        slots = number(lock.numbers, 2, lock.slots)
        lang.barrier()
        if rank == 0:
            place = next(lock.words, begin + unit * lock.pitch, order, scope)
            state[PLACE] = place % slots
            state[HELD] = 0
        lang.barrier()
        ring = unit * lock.ring
        patient = True
        while flag(state, HELD) == 0:
            if limited:
                if not patient:
                    break
                patient = tries < lock.patience
                tries += 1
            lang.barrier()
            if rank == 0 and look(lock.waits, rings + (state[PLACE] + ring), scope) == 1:
                fence(scope)
                state[HELD] = 1
            lang.barrier()
        if patient:
            tries = 0
        return tries

    return take, wake_function(version, order, variant)


def wake_function(version: Version, order: str, variant: str) -> Function:
    """Unlock by slots; its fence is before or after the access that needs it."""
    fence, number = version.fence, version.number
    reset, put = version.reset, version.put
    before = variant == "before"

    @lang.device
    def free(
        lock: Lock,
        state: lang.Buffer[lang.i32],
        rank: lang.i32,
        unit: lang.i32,
        scope: Text,
    ) -> None:
        place = state[PLACE]
        rings = number(lock.numbers, 1, 0)
        slots = number(lock.numbers, 2, lock.slots)
        lang.barrier()
        if rank == 0:
            ring = unit * lock.ring
            reset(lock.waits, rings + (ring + place), order, scope)
            following = place + 1
            if following == slots:
                following = 0
            if before:
                fence(scope)
            put(lock.waits, rings + (ring + following), 1, scope)
            if not before:
                fence(scope)
        lang.barrier()

    return free


def mutex_kernel(functions: tuple[Function, Function], version: str, scope: str) -> lang.Kernel:
    """The kernel with one kind of lock and one scope."""
    take, free = functions
    shift_chain = shift_function(version)

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
        last = last_line(chunks, line)
        rank = rank_in_block()
        tries = 0  # without success
        for _ in range(iterations):
            tries = take(lock, state, rank, unit, tries, scope)
            shift_chain(chunks, line, last)
            free(lock, state, rank, unit, scope)
        if rank == 0 and tries > lock.patience:
            lang.atomic_add(impatient, 0, 1, order="relaxed", scope="gpu")

    return critical_sections


KINDS: dict[str, tuple[Function, str]] = {
    "spm": (spin, "spin mutex"),
    "spmbo": (spin_and_pause, "spin mutex with back-off"),
    "fam": (ticket, "ticket mutex of fetch-and-add"),
    "slm": (sleep, "sleep mutex, a ring of slots"),
}
SCOPES = {
    "g": ("gpu", "one lock and one chunk for all blocks"),
    "l": ("cu", "one of each per core"),
}


@functools.cache
def kernel_of(
    kind: str, letter: str, version: str, order: str, variant: str, limited: bool
) -> lang.Kernel:
    """The kernel of a kind of lock, a scope, a version, the order of its other atomics, and its pauses or fence."""
    functions = KINDS[kind][0](VERSIONS[version], order, variant, limited)
    return mutex_kernel(functions, version, SCOPES[letter][0])


ONE_OF = {
    "patience": whole(
        f"failed polls after which a block gives up, {STALE}; 0: never, as in the original",
        0,
        1 << 30,
        4096,
        1 << 17,
        1 << 24,
    ),
    "pauses": PAUSES,
    "atomics": ATOMICS,
    "slots": whole("slots of a ring, times the number of cores", 32, 1 << 16, 128),
    "fence": choice(
        "fence of uvm's unlock: before it sets the next slot; after, as in the original: a data race",
        ("before", "after"),
        "before",
    ),
}
# The parameters of each kind beside those of all.
OWN = {
    "spm": (),
    "spmbo": ("pauses",),
    "fam": ("patience", "atomics"),
    "slm": ("patience", "atomics", "slots", "fence"),
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
        ring = (slots + cores) // LINE * LINE  # the original's; longer than the slots, or as long
        waits = np.zeros(units * apart, np.int32)
        if kind == "slm":
            waits = np.full(units * ring, -1, np.int32)
            waits[::ring] = 1
        impatient = gpu.zeros(1, np.int32)
        words = gpu.zeros(units * apart, np.int32)
        patience = patience_on(cores, own.get("patience", 0))
        order, variant = own.get("atomics", "relaxed"), own.get("pauses") or own.get("fence") or ""
        numbers = gpu.array(np.array([0, 0, slots], np.int32))
        lock = Lock(words, gpu.array(waits), numbers, apart, slots, ring, patience)
        for _ in range(launches):
            gpu.launch(
                kernel_of(kind, letter, version, order, variant, patience != 0),
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
