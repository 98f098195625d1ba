"""The intrinsics of the kernel language, as Python functions.

So kernels can be written, documented, completed by editors and type-checked as plain Python. The compiler recognises
them by identity; outside a kernel, each raises :class:`~gpucoh.KernelError`.

Orders of :func:`load`: ``weak relaxed acquire sc``; of :func:`store`: ``weak relaxed release sc``; of atomics:
``relaxed acquire release acq_rel sc``; of :func:`fence`: ``acquire release acq_rel sc``. Scopes: ``cta`` (the block),
``cu`` (all blocks on one core), ``gpu``, ``sys``. Both are constants of the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from gpucoh.lang import operations
from gpucoh.lang.operations import *  # noqa: F403
from gpucoh.lang.operations import abs, max, min, pow, refuse, round  # noqa: F401

if TYPE_CHECKING:
    from gpucoh.lang.types import Buffer, ReadOnly

_T = TypeVar("_T", int, float)
_Index = int | tuple[int, ...]


__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_exch",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_sub",
    "atomic_xor",
    "ballot",
    "barrier",
    "barrier_arrive",
    "block_dim",
    "block_id",
    "clock",
    "core_id",
    "fence",
    "global_id",
    "grid_dim",
    "lane_id",
    "load",
    "load2",
    "load4",
    "local",
    "shared",
    "shuffle",
    "shuffle_down",
    "shuffle_up",
    "shuffle_xor",
    "sleep",
    "store",
    "store2",
    "store4",
    "syncwarp",
    "thread_id",
    "warp_id",
    "warp_size",
]
#: Those that hide functions of Python, which a star import leaves out.
HIDING = ["abs", "all", "any", "max", "min", "pow", "round"]
#: Every intrinsic.
NAMES = [*__all__, *operations.__all__, *HIDING]


def thread_id(axis: int = 0) -> int:
    """Index of the thread in its block along ``axis`` (0, 1, 2), i32."""
    refuse()


def block_id(axis: int = 0) -> int:
    """Index of the block in the grid along ``axis``, i32."""
    refuse()


def block_dim(axis: int = 0) -> int:
    """Threads per block along ``axis``, i32."""
    refuse()


def grid_dim(axis: int = 0) -> int:
    """Blocks in the grid along ``axis``, i32."""
    refuse()


def global_id(axis: int = 0) -> int:
    """``block_id(axis) * block_dim(axis) + thread_id(axis)``, i32."""
    refuse()


def lane_id() -> int:
    """Lane of the thread in its warp, i32."""
    refuse()


def warp_id() -> int:
    """Warp of the thread in its block, i32."""
    refuse()


def core_id() -> int:
    """Core that executes the block, i32."""
    refuse()


def warp_size() -> int:
    """Lanes per warp, 32 or 64: a constant of the machine."""
    refuse()


def clock() -> int:
    """The core's cycle counter, low 32 bits, u32: subtract two values to measure a time."""
    refuse()


def load(buf: ReadOnly[_T], index: _Index, order: str = "weak", scope: str = "gpu") -> _T:
    """Read ``buf[index]`` with a memory order and scope."""
    refuse()


def store(
    buf: Buffer[_T], index: _Index, value: _T, order: str = "weak", scope: str = "gpu"
) -> None:
    """Write ``buf[index] = value`` with a memory order and scope."""
    refuse()


def load2(buf: ReadOnly[_T], index: _Index) -> tuple[_T, _T]:
    """Read ``buf[index]`` and ``buf[index + 1]`` by one weak access of 8 bytes; ``index`` is a multiple of 2."""
    refuse()


def load4(buf: ReadOnly[_T], index: _Index) -> tuple[_T, _T, _T, _T]:
    """Read ``buf[index]`` to ``buf[index + 3]`` by one weak access of 16 bytes; ``index`` is a multiple of 4."""
    refuse()


def store2(buf: Buffer[_T], index: _Index, a: _T, b: _T) -> None:
    """Write ``buf[index]`` and ``buf[index + 1]`` by one weak access of 8 bytes; ``index`` is a multiple of 2."""
    refuse()


def store4(buf: Buffer[_T], index: _Index, a: _T, b: _T, c: _T, d: _T) -> None:
    """Write ``buf[index]`` to ``buf[index + 3]`` by one weak access of 16 bytes; ``index`` is a multiple of 4."""
    refuse()


def atomic_add(
    buf: Buffer[_T], index: _Index, value: _T, order: str = "relaxed", scope: str = "gpu"
) -> _T:
    """``buf[index] += value`` atomically; returns the old value. i32, u32 and f32."""
    refuse()


def atomic_sub(
    buf: Buffer[int], index: _Index, value: int, order: str = "relaxed", scope: str = "gpu"
) -> int:
    """``buf[index] -= value`` atomically; returns the old value. i32 and u32."""
    refuse()


def atomic_min(
    buf: Buffer[_T], index: _Index, value: _T, order: str = "relaxed", scope: str = "gpu"
) -> _T:
    """``buf[index] = min(buf[index], value)`` atomically; returns the old value. i32, u32 and f32.

    Of f32, a number replaces NaN, and -0.0 is smaller than 0.0: the order of the operations does not matter.
    """
    refuse()


def atomic_max(
    buf: Buffer[_T], index: _Index, value: _T, order: str = "relaxed", scope: str = "gpu"
) -> _T:
    """``buf[index] = max(buf[index], value)`` atomically; returns the old value. i32, u32 and f32.

    Of f32, a number replaces NaN, and -0.0 is smaller than 0.0: the order of the operations does not matter.
    """
    refuse()


def atomic_and(
    buf: Buffer[int], index: _Index, value: int, order: str = "relaxed", scope: str = "gpu"
) -> int:
    """``buf[index] &= value`` atomically; returns the old value. i32 and u32."""
    refuse()


def atomic_or(
    buf: Buffer[int], index: _Index, value: int, order: str = "relaxed", scope: str = "gpu"
) -> int:
    """``buf[index] |= value`` atomically; returns the old value. i32 and u32."""
    refuse()


def atomic_xor(
    buf: Buffer[int], index: _Index, value: int, order: str = "relaxed", scope: str = "gpu"
) -> int:
    """``buf[index] ^= value`` atomically; returns the old value. i32 and u32."""
    refuse()


def atomic_exch(
    buf: Buffer[int], index: _Index, value: int, order: str = "relaxed", scope: str = "gpu"
) -> int:
    """``buf[index] = value`` atomically; returns the old value. i32 and u32."""
    refuse()


def atomic_cas(
    buf: Buffer[int],
    index: _Index,
    expected: int,
    value: int,
    order: str = "relaxed",
    scope: str = "gpu",
) -> int:
    """``buf[index] = value`` if it equals ``expected``, atomically; returns the old value.

    i32 and u32.
    """
    refuse()


def fence(order: str = "sc", scope: str = "gpu") -> None:
    """Order the memory accesses before it and after it."""
    refuse()


def barrier(id: int = 0, count: int | None = None, scope: str = "cta") -> None:
    """Wait at named barrier ``id`` (0..15) until ``count`` threads have arrived (default: all that have not ended).

    ``scope="cta"`` orders the accesses of the block's threads for the block. A wider scope makes the barrier a
    release and an acquire of that scope for the whole block: the last warp to arrive performs the release part for
    all, before any warp leaves, and each warp performs the acquire part when it leaves.
    """
    refuse()


def barrier_arrive(id: int, count: int) -> None:
    """Arrive at named barrier ``id`` without waiting; ``count`` is in threads, a multiple of the
    warp size.
    """
    refuse()


def sleep(cycles: int) -> None:
    """Issue nothing for ``cycles`` core cycles (the largest of the warp's active threads; negative i32: 0)."""
    refuse()


def shared(dtype: type[_T], n: int | tuple[int, ...] | None = None) -> Buffer[_T]:
    """A scratchpad array of the block, initially 0. ``n`` is constant; a tuple makes it 2-D.

    A read before a write is an error under ``check``, as real GPUs do not initialise it.

    Without ``n``, the launch gives the number of elements (``shared=``); a kernel has at most one such array, behind
    all others.
    """
    refuse()


def local(dtype: type[_T], n: int | tuple[int, ...]) -> Buffer[_T]:
    """A small array of the thread, in registers, initialised to zero.

    ``n`` is constant; a tuple makes it 2-D.
    """
    refuse()


def any(x: float) -> bool:
    """Whether ``x`` is true in any active thread of the warp."""
    refuse()


def all(x: float) -> bool:
    """Whether ``x`` is true in every active thread of the warp."""
    refuse()


def ballot(x: float, high: bool = False) -> int:
    """Bit l is set if ``x`` is true in active lane l (``high``: lane 32 + l of a 64-lane
    warp), u32.
    """
    refuse()


def shuffle(x: _T, lane: int) -> _T:
    """``x`` of lane ``lane`` modulo the warp size.

    That lane must be active; otherwise the value is undefined.
    """
    refuse()


def shuffle_up(x: _T, delta: int) -> _T:
    """``x`` of the lane that is ``delta`` lower; the thread's own ``x`` if there is none."""
    refuse()


def shuffle_down(x: _T, delta: int) -> _T:
    """``x`` of the lane that is ``delta`` higher; the thread's own ``x`` if there is none."""
    refuse()


def shuffle_xor(x: _T, mask: int) -> _T:
    """``x`` of lane ``lane_id() ^ mask``, modulo the warp size."""
    refuse()


def syncwarp() -> None:
    """Order the accesses of a warp's active threads for each other.

    The threads of a warp that are on one path execute in lockstep and see each other's accesses in program order, so
    that the call costs nothing. Threads on different paths do not wait for each other here.
    """
    refuse()
