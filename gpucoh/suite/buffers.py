"""Buffers of workloads: types of parameters, order in memory, doubles, and words on which threads race."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, choice, whole

ReadOnlyF32: TypeAlias = lang.ReadOnly[lang.f32]
ReadOnlyI32: TypeAlias = lang.ReadOnly[lang.i32]
# The kernel language takes a text, a tuple or a buffer of any type for an argument without annotation.
if TYPE_CHECKING:
    Text: TypeAlias = str
    Numbers: TypeAlias = tuple[float, ...]
    AnyBuffer: TypeAlias = lang.Buffer[lang.i32]
else:
    Text = Numbers = AnyBuffer = None

PLACEMENT_SEED = whole(
    "seed of the order of the buffers in memory; 0: as the workload lists them", 0, 2**31 - 1, 0
)


@lang.record
class Adjacency:
    """The arcs of a graph by vertex: where those of each begin, and the vertices that they lead to."""

    offsets: ReadOnlyI32
    columns: ReadOnlyI32
    vertices: lang.i32


def place(gpu: GpuLike, seed: int, *contents: Any) -> list[Any]:
    """Arrays with ``contents``, in their order, allocated in the order that ``seed`` draws.

    A pair of size and dtype means zeros. Protocols that tell buffers apart by address bits depend on the order.
    """
    order = np.arange(len(contents))
    if seed:
        order = np.random.default_rng(seed).permutation(order)
    made: dict[int, Any] = {}
    for i in order:
        content = contents[i]
        made[int(i)] = gpu.zeros(*content) if isinstance(content, tuple) else gpu.array(content)
    return [made[i] for i in range(len(contents))]


# A double has an f32 value in its first word and 0 in the second, so that strides and lines are those of f64.
def doubles(values: ArrayLike) -> NDArray[np.float32]:
    """The words of an array of doubles."""
    flat = np.asarray(values, np.float32).ravel()
    return np.stack([flat, np.zeros_like(flat)], axis=1).ravel()


def values_of(words: NDArray[np.float32]) -> NDArray[np.float32]:
    """The values of an array of doubles."""
    return words[::2]


@lang.device
def get(buffer: ReadOnlyF32, index: lang.i32) -> lang.f32:
    """The value of a double."""
    value, _ = lang.load2(buffer, 2 * index)
    return value


@lang.device
def put(buffer: lang.Buffer[lang.f32], index: lang.i32, value: lang.f32) -> None:
    """To a double."""
    lang.store2(buffer, 2 * index, value, 0.0)


RACES = choice(
    "accesses on which threads race: relaxed, or weak as in the original, an error under check",
    ("relaxed", "weak"),
    "relaxed",
)


def racing(order: str) -> tuple[Any, Any]:
    """Load and store of elements on which threads race; ``weak``, as if they did not."""

    @lang.device
    def load(buffer: AnyBuffer, index: lang.i32) -> lang.i32:
        return lang.load(buffer, index, order=order, scope="gpu")

    @lang.device
    def store(buffer: AnyBuffer, index: lang.i32, value: lang.i32) -> None:
        lang.store(buffer, index, value, order=order, scope="gpu")

    return load, store


# For each choice of RACES.
RACING = {order: racing(order) for order in ("relaxed", "weak")}
