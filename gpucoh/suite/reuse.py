"""``cache-reuse``: launches that read one array again and update another.

STC's authors wrote it: ten launches, of which each reads the same read-only array and updates a second
one. The rest is inferred: an element a thread, and sizes such that a core's share of both arrays fits a
first-level cache of 64 KiB, and both fit STC's L2 of 512 KiB. In one launch no line is loaded twice by a
core, so all hits are reuse across launches.

The paper says "in place" of ``fg-share``, whose data are therefore never only read, and not of this
workload, in which figure 9 shows hits under STC-AB. So an update does not read what it replaces, and
all loads are of the array that is read again. With ``update=in_place`` the same thread adds to its
element. Then loads and waiting stores of the second array conflict, which no bands separate: STC-AB's
bands move on and on, and whenever both arrays share bands the copies of the first go. Where bands do not
move, ``stc-es[seb=15]``, they stay.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, choice, combine, compare, switch, whole
from gpucoh.suite.buffers import PLACEMENT_SEED, place
from gpucoh.suite.declaration import workload

BLOCK = 256


@lang.kernel
def add_words(
    source: lang.Buffer[lang.i32],
    target: lang.Buffer[lang.i32],
    words: lang.i32,
) -> None:
    """``target[i] += source[i]``."""
    i = lang.global_id()
    if i < words:
        target[i] = target[i] + source[i]


@lang.kernel
def replace_words(
    source: lang.Buffer[lang.i32],
    target: lang.Buffer[lang.i32],
    words: lang.i32,
    launch: lang.i32,
) -> None:
    """``target[i] = source[i] + launch``."""
    i = lang.global_id()
    if i < words:
        target[i] = source[i] + launch


@workload(
    id="cache-reuse", group="K", papers="S", check="both arrays equal NumPy's, with wrap-around"
)
def reuse(
    gpu: GpuLike,
    rng: Generator,
    words: int = whole("words of each array", 1, 1 << 24, 1 << 12, 1 << 16, 1 << 16),
    launches: int = whole("number of launches", 1, 10000, 10),
    update: str = choice(
        "what an update stores: a new value, or the element's own with the other array's added",
        ("replace", "in_place"),
        "replace",
    ),
    exchange: bool = switch(
        "exchange source and target in every launch, so that no array is only read", False
    ),
    placement_seed: int = PLACEMENT_SEED,
) -> Outcome:
    """launches that read one array again and update a second

    Random words. The launches; the reference adds with wrap-around.
    """
    start = rng.integers(-(2**31), 2**31, (2, words), np.int32)
    in_place = update == "in_place"
    arrays = place(gpu, placement_seed, *start)
    expected = list(start)
    for launch in range(launches):
        source, target = (1, 0) if exchange and launch % 2 else (0, 1)
        last = () if in_place else (launch,)
        gpu.launch(
            add_words if in_place else replace_words,
            grid=blocks_for(words, BLOCK),
            block=BLOCK,
            args=(arrays[source], arrays[target], words, *last),
        )
        kept = expected[target] if in_place else np.int32(launch)
        expected[target] = kept + expected[source]
    details = {"words": words, "launches": launches}
    return combine(
        compare("source", arrays[0].numpy(), expected[0], details=details),
        compare("target", arrays[1].numpy(), expected[1]),
    )
