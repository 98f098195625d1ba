"""Programs that enter the cells of a small machine's tables that shapes and programs of one warp per core do not enter.

Two warps of a core and one of another meet at a line: each request finds the line in the state that another one's
outstanding request leaves, before and after an acquire. Then lines of two words, caches of one line that two lines
want, three sharers, launches, and lines that cores hand over.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from gpucoh.verify.programs import Program, parse

#: The accesses of a warp to a variable; stored and added values tell warps apart.
_ACCESSES = ("ld {0}", "ld.acquire {0}", "st {0} {1}", "add {0} {1}0")
_LAUNCHES = (
    "0: ld x; kernel; kernel; ld x | 1: kernel; st x 1; kernel",
    "0: st x 1; kernel; kernel; ld x | 1: kernel; add x 10; kernel",
    "0: add x 10; kernel; ld x; kernel; st x 1; kernel | 1: ld y; kernel; ld x; kernel; kernel; ld x",
)
_SHARERS = ("0: ld x | 1: ld x | 2: st x 1", "0: ld x | 1: ld x; add x 10 | 2: ld x; F; ld x")
_BUFFERED = (
    "0: st x 1; st x 2; ld x | 0: add x 10 | 1: ld x",
    "0: st x 1; F; ld x | 0: st x 2; ld.relaxed x | 1: ld x",
    "0: ld x; st x 1 | 0: st x 2; ld x | 1: ld x",
    "0: ld x | 0: st x 1; ld x; st x 2 | 1: st x 3",
)
_PACKED = (
    "0: st x 1; ld y | 1: st y 2; ld x",
    "0: ld x; st.release y 1 | 1: add y 10; ld x",
    "0: ld y; ld x | 0: F; ld y | 1: st x 1",
    "0: ld x; add x 10 | 0: ld.acquire x; F | 1: add y 20; ld y",
    "0: st y 1; add y 10 | 0: st y 2; st x 1 | 1: st y 3",
    "0: add x 10; F; ld.acquire y | 0: add y 20 | 1: ld y; st x 1",
)
_TIGHT = (
    "0: ld x; ld y; ld x | 1: st x 1; st y 2",
    "0: st x 1; ld y | 0: ld x | 1: ld y; st x 2",
    "0: add x 10; st y 1 | 1: st y 2; ld x",
    "0: st y 1 | 0: ld x | 1: st x 1; ld x | 1: ld y",
    "0: add x 10; ld y; st y 1 | 1: ld y | 2: ld y; ld x",
    "0: st x 1 | 0: ld y | 1: st x 2; add y 10 | 1: st y 3",
)
#: The last core reads what the first one has written since it read it itself.
_HANDED_OVER = (
    "0: ld x; st.release y 1; await y 2; ld x | 1: await y 1; st x 1; st.release y 2",
    "0: st x 1; st.release y 1; await y 2; ld x | 1: await y 1; add x 10; st.release y 2",
    "0: add x 10; st.release y 1; await y 2; add x 10 | 1: await y 1; ld x; st x 1; st.release y 2",
    "0: ld y; st.release z 1; st.release x 1; ld.acquire y | 1: await z 1; st.release y 1; ld.acquire x",
)


def _meeting() -> Iterator[str]:
    """Two warps of a core and one of another at one line, which the core may have a copy of."""
    for copy, fence in itertools.product(("", "ld x; "), ("", "F; ")):
        for own, other, remote in itertools.product(
            _ACCESSES, _ACCESSES, _ACCESSES[::2] + _ACCESSES[3:]
        ):
            yield (
                f"0: {copy}{own.format('x', 1)} | 0: {fence}{other.format('x', 2)} | 1: {remote.format('x', 3)}"
            )


def _race_free() -> Iterator[str]:
    """A warp reads what another core has handed over, while one of its core accesses another word of the line."""
    for copy, own in itertools.product(("", "ld y; "), _ACCESSES):
        for other, remote in itertools.product((*_ACCESSES[:2], _ACCESSES[3]), _ACCESSES[2:]):
            yield (
                f"0: {copy}{own.format('y', 1)} | 0: await z 1; {other.format('x', 2)} "
                f"| 1: {remote.format('x', 3)}; st.release z 1"
            )


def corners(race_free: bool) -> list[Program]:
    """The programs; ``race_free``: for a model that promises something only to programs without races, too."""
    ordered = (
        _HANDED_OVER if race_free else ()
    )  # others need not let a warp that waits make progress
    packed = [*(_race_free() if race_free else ()), *_PACKED]
    return [
        *map(parse, (*_LAUNCHES, *ordered)),
        *(replace(parse(text), packed=True) for text in packed),
        *(replace(parse(text), tight=True, evictions=False) for text in _TIGHT),
        *map(parse, (*_SHARERS, *_BUFFERED, *_meeting())),
    ]
