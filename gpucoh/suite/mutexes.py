"""The mutex microbenchmarks: ``spm``, ``spmbo``, ``fam`` and ``slm``, each with global (``_g``) and local
(``_l``) scope.

Original: HeteroSync in its DeNovo version (CUDA), which DeNovo uses: 3 blocks a core, 100 sections a block,
10 loads and stores a thread and section (:mod:`gpucoh.suite.chains`), one launch. As there: thread 0
synchronises, with a barrier after every try; block b runs on core b mod cores. Global: one lock and one chunk
of data for all blocks. Local: one of each a core, of scope ``cu``; the words of the locks lie side by side.

* ``spm``: a compare-and-swap a try (acquire), an exchange (release); no pause.
* ``spmbo``: as ``spm``. After a failed try the source has an empty loop of 10, 15, 20 .. turns, of 1 again after
  26 failures, of which -O3 leaves no code (inferred): ``pauses=compiled``. ``pauses=kept`` runs it.
* ``fam``: a ticket by an increment without release; polls of the turn by loads (acquire); an increment of the
  turn (release). Tickets and turns are two arrays.
* ``slm``: a slot of a ring by an increment of the tail without release; polls of the slot's own word by loads
  (acquire); the unlock resets its word without release and sets the next one (release). Slots are
  neighbouring words; the ring of a core begins at a line.

Differences: the slot is a remainder of the tail, which only grows. The original's ring has a slot too many,
whose successor lies in the next core's ring, so that a second block enters; here it has ``slots`` per core,
and wraps. Polls by loads end after ``patience`` tries, since copies may stay stale; a block that has given up
no longer waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, combine, compare, whole
from gpucoh.suite.buffers import Text
from gpucoh.suite.chains import ACCESSES, BLOCK, PADDED, Chains, Chunks, pitch, shift_chain
from gpucoh.suite.declaration import workload
from gpucoh.suite.synchronisation import PAUSES, STALE, back_off, patience_on, start_back_off

# Words of a block's state: whether it has the lock, its ticket or slot, its polls that failed, which remain `patience`
# once it has given up, and the two of its back-off.
HELD, PLACE, TRIES, PAUSE = 0, 1, 2, 3
STATE = 5
Function: TypeAlias = Callable[..., None]


@lang.record
class Lock:
    """The words of a lock: for each unit (a core, or the whole GPU) a lock, or a ticket counter or tail, ``pitch``
    words apart; and ``waits``, its turns, or rings of ``slots`` slots.
    """

    words: lang.Buffer[lang.i32]
    waits: lang.Buffer[lang.i32]
    pitch: lang.i32
    slots: lang.i32
    patience: lang.i32


@lang.device
def take_spin(lock: Lock, state: lang.Buffer[lang.i32], unit: lang.i32, scope: Text) -> None:
    """Spin on the lock word without pause."""
    while state[HELD] == 0:
        if lang.thread_id() == 0 and (
            lang.atomic_cas(lock.words, unit * lock.pitch, 0, 1, order="acquire", scope=scope) == 0
        ):
            state[HELD] = 1
        lang.barrier()


@lang.device
def take_back_off(lock: Lock, state: lang.Buffer[lang.i32], unit: lang.i32, scope: Text) -> None:
    """Spin on the lock word with a pause after each failure."""
    if lang.thread_id() == 0:
        start_back_off(state, PAUSE)
    lang.barrier()
    while state[HELD] == 0:
        if lang.thread_id() == 0:
            if (
                lang.atomic_cas(lock.words, unit * lock.pitch, 0, 1, order="acquire", scope=scope)
                == 0
            ):
                state[HELD] = 1
            else:
                back_off(state, PAUSE, 25)
        lang.barrier()


@lang.device
def free_spin(lock: Lock, state: lang.Buffer[lang.i32], unit: lang.i32, scope: Text) -> None:
    """Release the lock word."""
    lang.atomic_exch(lock.words, unit * lock.pitch, 0, order="release", scope=scope)


@lang.device
def poll(
    lock: Lock, at: lang.i32, wanted: lang.i32, state: lang.Buffer[lang.i32], scope: Text
) -> None:
    """Load the word, with a barrier after every try, until it is as wanted."""
    while state[HELD] == 0:
        if lang.thread_id() == 0:
            if state[TRIES] >= lock.patience:
                state[HELD] = 1
            elif lang.load(lock.waits, at, order="acquire", scope=scope) == wanted:
                state[HELD] = 1
                state[TRIES] = 0
            else:
                state[TRIES] += 1
        lang.barrier()


@lang.device
def take_ticket(lock: Lock, state: lang.Buffer[lang.i32], unit: lang.i32, scope: Text) -> None:
    """Draw a ticket and wait for its turn."""
    if lang.thread_id() == 0:
        state[PLACE] = lang.atomic_add(
            lock.words, unit * lock.pitch, 1, order="relaxed", scope=scope
        )
    lang.barrier()
    poll(lock, unit * lock.pitch, state[PLACE], state, scope)


@lang.device
def free_ticket(lock: Lock, state: lang.Buffer[lang.i32], unit: lang.i32, scope: Text) -> None:
    """Next turn."""
    lang.atomic_add(lock.waits, unit * lock.pitch, 1, order="release", scope=scope)


@lang.device
def take_slot(lock: Lock, state: lang.Buffer[lang.i32], unit: lang.i32, scope: Text) -> None:
    """Queue in the ring and wait until the own slot is set."""
    if lang.thread_id() == 0:
        place = lang.atomic_add(lock.words, unit * lock.pitch, 1, order="relaxed", scope=scope)
        state[PLACE] = place % lock.slots
    lang.barrier()
    poll(lock, unit * lock.slots + state[PLACE], 1, state, scope)


@lang.device
def free_slot(lock: Lock, state: lang.Buffer[lang.i32], unit: lang.i32, scope: Text) -> None:
    """Reset the own slot and set the next one."""
    place = state[PLACE]
    lang.atomic_sub(lock.waits, unit * lock.slots + place, 2, order="relaxed", scope=scope)
    following = (place + 1) % lock.slots
    lang.atomic_exch(lock.waits, unit * lock.slots + following, 1, order="release", scope=scope)


def mutex_kernel(take: Function, free: Function, scope: str) -> lang.Kernel:
    """The kernel with one kind of lock and one scope."""

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
        if lang.thread_id() == 0:
            state[TRIES] = 0
        for _ in range(iterations):
            if lang.thread_id() == 0:
                state[HELD] = 0
            lang.barrier()
            take(lock, state, unit, scope)
            shift_chain(chunks, unit)
            lang.barrier()
            if lang.thread_id() == 0:
                free(lock, state, unit, scope)
        if lang.thread_id() == 0 and state[TRIES] >= lock.patience:
            lang.atomic_add(impatient, 0, 1, order="relaxed", scope="gpu")

    return critical_sections


KINDS: dict[str, tuple[Function, Function, str]] = {
    "spm": (take_spin, free_spin, "spin mutex"),
    "spmbo": (take_back_off, free_spin, "spin mutex with linear back-off"),
    "fam": (take_ticket, free_ticket, "ticket mutex of fetch-and-add"),
    "slm": (take_slot, free_slot, "sleep mutex, a ring of slots"),
}
SCOPES = {
    "g": ("gpu", "one lock and one chunk for all blocks"),
    "l": ("cu", "one of each per core"),
}
KERNELS = {
    (kind, letter): mutex_kernel(take, free, scope)
    for kind, (take, free, _) in KINDS.items()
    for letter, (scope, _) in SCOPES.items()
}


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
    "slots": whole("slots of a ring, times the number of cores", 32, 1 << 16, 128),
}
# The parameters of each kind beside those of all.
OWN = {"spm": (), "spmbo": ("pauses",), "fam": ("patience",), "slm": ("patience", "slots")}


def mutex(kind: str, letter: str) -> None:
    """Declare the workload of one kind of lock and one scope: one launch of ``blocks_per_core`` blocks per core."""
    fewest = 1 if letter == "g" else 2

    @workload(
        id=f"{kind}_{letter}",
        title=f"{KINDS[kind][2]}, {SCOPES[letter][1]}, around loads and stores",
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
        iterations: int = whole("critical sections per block", 1, 100000, 2, 8, 100),
        accesses: int = ACCESSES,
        padded: bool = PADDED,
        **own: Any,
    ) -> Outcome:
        cores = gpu.machine.cores
        blocks = cores * blocks_per_core
        units = cores if letter == "l" else 1
        chains = Chains.random(rng, units, accesses)
        chunks = chains.on(gpu)
        apart, slots = pitch(padded), own.get("slots", 1) * cores
        waits = np.zeros(units * apart, np.int32)
        if kind == "slm":
            waits = np.full(units * slots, -1, np.int32)
            waits[::slots] = 1
        impatient = gpu.zeros(1, np.int32)
        words = gpu.zeros(units * apart, np.int32)
        patience = patience_on(cores, own.get("patience", 1))
        lock = Lock(words, gpu.array(waits), apart, slots, patience)
        paused = own.get("pauses", "kept") == "kept"
        gpu.launch(
            KERNELS[kind if paused else "spm", letter],
            grid=blocks,
            block=BLOCK,
            placement="static",
            args=(lock, chunks, impatient, units, iterations),
        )
        sections = blocks * iterations
        return combine(
            compare("blocks that gave up", impatient.numpy(), [0]),
            chains.check(chunks, sections // units, {"sections": sections}),
        )


for _kind, _letter in KERNELS:
    mutex(_kind, _letter)
