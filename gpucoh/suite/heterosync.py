"""How HeteroSync's versions synchronise, for its mutexes, semaphores and tree barriers.

Original: HeteroSync (CUDA), whose programs have two versions. ``uvm``, for GPUs with unified memory, has relaxed
atomics of the GPU's scope, a ``__threadfence`` before one that releases and after one that has acquired, in local locks
and barriers a ``__threadfence_block`` (here of scope ``cu``), exponential back-off, and loads the addresses of its
buffers from memory at every lock and unlock. ``denovo``, for DeNovo's simulator, has atomics that acquire, at every
try, or release themselves, of scope ``cu`` in local locks and barriers, and linear back-off; its kernels have the
addresses. The barriers of a block are equal, as is its thread that synchronises, thread 0 of all three axes.
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


def accesses(acquire: str, release: str, own: bool) -> dict[str, Function]:
    """The accesses of a version: the orders of those that synchronise, and whether they have the lock's scope."""

    @lang.device
    def swap(
        words: lang.Buffer[lang.i32], at: lang.i32, old: lang.i32, new: lang.i32, scope: Text
    ) -> lang.i32:
        """Put ``new`` in the place of ``old``."""
        return lang.atomic_cas(words, at, old, new, order=acquire, scope=scope if own else "gpu")

    @lang.device
    def look(words: lang.Buffer[lang.i32], at: lang.i32, scope: Text) -> lang.i32:
        """The word, by a load."""
        return lang.load(words, at, order=acquire, scope=scope if own else "gpu")

    @lang.device
    def fence(scope: Text) -> None:
        """Order what is before with what follows, unless the access itself acquires or releases."""
        if not own:
            lang.fence(order="sc", scope=scope)

    @lang.device
    def put(words: lang.Buffer[lang.i32], at: lang.i32, value: lang.i32, scope: Text) -> None:
        """Exchange the word."""
        lang.atomic_exch(words, at, value, order=release, scope=scope if own else "gpu")

    @lang.device
    def count(words: lang.Buffer[lang.i32], at: lang.i32, scope: Text) -> None:
        """Add 1 to the word."""
        lang.atomic_add(words, at, 1, order=release, scope=scope if own else "gpu")

    @lang.device
    def next(words: lang.Buffer[lang.i32], at: lang.i32, order: Text, scope: Text) -> lang.i32:
        """Add 1 to a word that does not synchronise; its old value."""
        return lang.atomic_add(words, at, 1, order=order, scope=scope if own else "gpu")

    @lang.device
    def reset(words: lang.Buffer[lang.i32], at: lang.i32, order: Text, scope: Text) -> None:
        """Make a word that does not synchronise -1."""
        lang.atomic_exch(words, at, -1, order=order, scope=scope if own else "gpu")

    return {
        "swap": swap,
        "look": look,
        "fence": fence,
        "put": put,
        "count": count,
        "next": next,
        "reset": reset,
    }


@lang.device
def stored(buffer: lang.Buffer[lang.i32], at: lang.i32, value: lang.i32) -> lang.i32:
    """A number of the locks' description, from memory."""
    return buffer[at]


@lang.device
def given(buffer: lang.Buffer[lang.i32], at: lang.i32, value: lang.i32) -> lang.i32:
    """The same, without a load."""
    return value


@lang.device
def rank_in_block() -> lang.i32:
    """0 for thread 0 of all axes, which synchronises."""
    return lang.thread_id(0) | lang.thread_id(1) | lang.thread_id(2)


@lang.device
def flag(state: lang.Buffer[lang.i32], at: lang.i32) -> lang.i32:
    """A flag of the block: a byte in the original, which CUDA's compiler masks after the load."""
    return state[at] & 0xFFFF


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
    """The functions of a version: compare-and-swap and load of a word that synchronises, the fence that is after these
    and before exchange and increment of such a word, increment and reset of others, numbers of the locks' description,
    and the back-off's start and its next length.
    """

    swap: Function
    look: Function
    fence: Function
    put: Function
    count: Function
    next: Function
    reset: Function
    number: Function
    start: Function
    lengthen: Function


VERSIONS = {
    "uvm": Version(
        **accesses("relaxed", "relaxed", own=False),
        number=stored,
        start=start_exponential,
        lengthen=lengthen_exponentially,
    ),
    "denovo": Version(
        **accesses("acquire", "release", own=True),
        number=given,
        start=start_linear,
        lengthen=lengthen_linearly,
    ),
}
