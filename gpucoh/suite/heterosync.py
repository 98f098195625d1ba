"""How HeteroSync's versions synchronise, for its mutexes, semaphores and tree barriers.

Original: HeteroSync (CUDA), whose programs have two versions. ``uvm``, for GPUs with unified memory, has relaxed
atomics of the GPU's scope, a ``__threadfence`` before one that releases and after one that has acquired, in local locks
and barriers a ``__threadfence_block`` (here of scope ``cu``), exponential back-off, and loads the addresses of its
buffers from memory at every lock and unlock. ``denovo``, for DeNovo's simulator, has atomics that acquire, at every
try, or release themselves, of scope ``cu`` in local locks and barriers, and linear back-off; its kernels have the
addresses. The barriers of a block are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from gpucoh import lang
from gpucoh.suite.base import choice, whole
from gpucoh.suite.buffers import Text

Function: TypeAlias = Callable[..., Any]

VERSION = choice(
    "HeteroSync's version: uvm, relaxed atomics and fences; denovo, atomics that acquire and release",
    ("uvm", "denovo"),
    "uvm",
)
ATOMICS = choice(
    "order of the atomics that are relaxed in the original", ("relaxed", "acq_rel"), "relaxed"
)
PAUSES = choice(
    "empty back-off loops: compiled, they leave no code; kept, they pause as written",
    ("compiled", "kept"),
    "compiled",
)
LAUNCHES = whole("launches, one after another", 1, 1000, 1)


@lang.device
def swap_relaxed(
    words: lang.Buffer[lang.i32], at: lang.i32, old: lang.i32, new: lang.i32, scope: Text
) -> lang.i32:
    """Put ``new`` in the place of ``old``."""
    return lang.atomic_cas(words, at, old, new, order="relaxed", scope="gpu")


@lang.device
def swap_acquiring(
    words: lang.Buffer[lang.i32], at: lang.i32, old: lang.i32, new: lang.i32, scope: Text
) -> lang.i32:
    """The same; every try acquires."""
    return lang.atomic_cas(words, at, old, new, order="acquire", scope=scope)


@lang.device
def look_relaxed(words: lang.Buffer[lang.i32], at: lang.i32, scope: Text) -> lang.i32:
    """The word, by a load."""
    return lang.load(words, at, order="relaxed", scope="gpu")


@lang.device
def look_acquiring(words: lang.Buffer[lang.i32], at: lang.i32, scope: Text) -> lang.i32:
    """The same; every load acquires."""
    return lang.load(words, at, order="acquire", scope=scope)


@lang.device
def acquire_by_fence(scope: Text) -> None:
    """After a try or a load that found what it wants: acquire."""
    lang.fence(order="sc", scope=scope)


@lang.device
def has_acquired(scope: Text) -> None:
    """After an access that acquires: nothing."""


@lang.device
def put_after_fence(
    words: lang.Buffer[lang.i32], at: lang.i32, value: lang.i32, scope: Text
) -> None:
    """Release, and exchange the word."""
    lang.fence(order="sc", scope=scope)
    lang.atomic_exch(words, at, value, order="relaxed", scope="gpu")


@lang.device
def put_releasing(words: lang.Buffer[lang.i32], at: lang.i32, value: lang.i32, scope: Text) -> None:
    """The same."""
    lang.atomic_exch(words, at, value, order="release", scope=scope)


@lang.device
def count_after_fence(words: lang.Buffer[lang.i32], at: lang.i32, scope: Text) -> None:
    """Release, and add 1 to the word."""
    lang.fence(order="sc", scope=scope)
    lang.atomic_add(words, at, 1, order="relaxed", scope="gpu")


@lang.device
def count_releasing(words: lang.Buffer[lang.i32], at: lang.i32, scope: Text) -> None:
    """The same."""
    lang.atomic_add(words, at, 1, order="release", scope=scope)


@lang.device
def begin_in_memory(begin: lang.Buffer[lang.i32]) -> lang.i32:
    """Where the words of the locks begin, from memory."""
    return begin[0]


@lang.device
def begin_at_zero(begin: lang.Buffer[lang.i32]) -> lang.i32:
    """The same, without a load."""
    return 0


@lang.device
def start_exponential(state: lang.Buffer[lang.i32], at: lang.i32) -> None:
    """Before the first try: the next pause has one turn."""
    state[at] = 1


@lang.device
def start_linear(state: lang.Buffer[lang.i32], at: lang.i32) -> None:
    """Before the first try: the next pause has 10 turns; no failures."""
    state[at] = 10
    state[at + 1] = 0


@lang.device
def lengthen_exponentially(state: lang.Buffer[lang.i32], at: lang.i32, longest: lang.i32) -> None:
    """After a failed try: twice as many turns and one more, modulo 1024."""
    state[at] = ((state[at] << 1) + 1) & 1023


@lang.device
def lengthen_linearly(state: lang.Buffer[lang.i32], at: lang.i32, longest: lang.i32) -> None:
    """After a failed try: 5 more turns, and 1 after more than ``longest`` failures, which the next word counts."""
    state[at] += 5
    state[at + 1] += 1
    if state[at + 1] > longest:
        state[at] = 1
        state[at + 1] = 0


@lang.device
def pause(state: lang.Buffer[lang.i32], at: lang.i32) -> None:
    """An empty loop of ``state[at]`` turns of one lane."""
    for _ in range(state[at]):
        pass


class Version(NamedTuple):
    """The functions of a version: compare-and-swap and load of a word that synchronises, what acquires after them,
    exchange and increment that release, where the words begin, and the back-off's start and its next length.
    """

    swap: Function
    look: Function
    acquire: Function
    put: Function
    count: Function
    begin: Function
    start: Function
    lengthen: Function


VERSIONS = {
    "uvm": Version(
        swap=swap_relaxed,
        look=look_relaxed,
        acquire=acquire_by_fence,
        put=put_after_fence,
        count=count_after_fence,
        begin=begin_in_memory,
        start=start_exponential,
        lengthen=lengthen_exponentially,
    ),
    "denovo": Version(
        swap=swap_acquiring,
        look=look_acquiring,
        acquire=has_acquired,
        put=put_releasing,
        count=count_releasing,
        begin=begin_at_zero,
        start=start_linear,
        lengthen=lengthen_linearly,
    ),
}
