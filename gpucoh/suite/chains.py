"""The data of the HeteroSync microbenchmarks: chains of lines that a critical section shifts by one line.

Original: HeteroSync as used by DeNovo (CUDA). As there: a block is 32 threads; each half-warp has a chain of
``accesses`` + 1 lines of 64 bytes, whose line 0 is never written (DeNovo's read-only region); a section loads
line n and stores line n + 1 for n = ``accesses`` - 1 .. 0, a word of each line a thread. ``uvm`` does so as CUDA's
compiler makes its loop: the remainder of four first, then four lines at a time; what the compiler of DeNovo's time made
of it is not known, and ``denovo`` has the loop of the source.

Differences: line 1 becomes its old value, which the section has loaded, plus line 0. So no access is added,
line n counts the sections, and a lost or stale update of line 1 shows in every later line; the original
copies line 0, and after ``accesses`` sections all lines are equal. Integers replace floats. With ``denovo``
(:mod:`gpucoh.suite.heterosync`) lines 0 have the annotation ``readonly``, which is a kernel argument's, so that they
are in one array and the other lines in another; both have the places of the original's lines, of which the other's
stay 0.

The synchronising words lie side by side as in the original, so that cores share lines of them;
``padded=on`` places each core's words in lines of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, compare, switch, whole
from gpucoh.suite.buffers import ReadOnlyI32

BLOCK = 32
LINE = 16  # words of a line, and threads of a half-warp
APART = 32  # words between the words of two cores, at least a line of every machine


@lang.record
class Chunks:
    """The lines 0 of all chains, their other lines, each with places for all, and how many these are in a chain."""

    fixed: ReadOnlyI32
    data: lang.Buffer[lang.i32]
    accesses: lang.i32


@lang.device
def line_0(chunks: Chunks, chunk: lang.i32) -> lang.i32:
    """The place of the thread's word in line 0 of its chain of a chunk; ``LINE`` is 16."""
    thread = lang.thread_id()
    row = (chunk * lang.block_dim() + thread) >> 4
    return row * (chunks.accesses + 1) * LINE + (thread & 15)


@lang.device
def last_line(chunks: Chunks, line: lang.i32) -> lang.i32:
    """The place of the thread's word in the last line that a section loads; ``line`` is that in line 0."""
    return line + (chunks.accesses - 1) * LINE


@lang.device
def word_among_others(chunks: Chunks, line: lang.i32) -> lang.i32:
    """The thread's word of line 0, which is in the array of the other lines."""
    return chunks.data[line]


@lang.device
def word_apart(chunks: Chunks, line: lang.i32) -> lang.i32:
    """The same, in the array of lines 0."""
    return chunks.fixed[line]


FIXED = {"uvm": word_among_others, "denovo": word_apart}


@lang.device
def shift_word(chunks: Chunks, at: lang.i32, to: lang.i32) -> lang.i32:
    """Copy a word."""
    word = chunks.data[at]
    chunks.data[to] = word
    return word


@lang.device
def shift_lines(chunks: Chunks, line: lang.i32, last: lang.i32) -> lang.i32:
    """Copy lines 1 to ``accesses`` - 1, the last one first; what line 1 had."""
    moved = 0
    for at in range(last, line, -LINE):
        moved = shift_word(chunks, at, at + LINE)
    return moved


@lang.device
def shift_lines_unrolled(chunks: Chunks, line: lang.i32, last: lang.i32) -> lang.i32:
    """The same: the remainder of four first, then four at a time."""
    moved = 0
    lines = chunks.accesses - 1
    if chunks.accesses > 1:
        rest = lines & 3
        if rest > 0:
            second, third = last - LINE, last - 2 * LINE
            more = rest > 1
            moved = shift_word(chunks, last, last + LINE)
            if more:
                moved = shift_word(chunks, second, last)
                if rest > 2:
                    moved = shift_word(chunks, third, second)
        for left in range(lines - rest, 0, -4):
            at = line + left * LINE
            second, third, fourth = at - LINE, at - 2 * LINE, at - 3 * LINE
            shift_word(chunks, at, at + LINE)
            shift_word(chunks, second, at)
            shift_word(chunks, third, second)
            moved = shift_word(chunks, fourth, third)
    return moved


SHIFTS = {"uvm": shift_lines_unrolled, "denovo": shift_lines}


@functools.cache
def shift_function(version: str) -> Callable[..., None]:
    """One section on the two chains whose line 0 is at ``line``, and the last loaded one at ``last``: ``accesses``
    loads and stores a thread.
    """
    fixed, shift = FIXED[version], SHIFTS[version]

    @lang.device
    def shift_chain(chunks: Chunks, line: lang.i32, last: lang.i32) -> None:
        moved = shift(chunks, line, last)
        chunks.data[line + LINE] = fixed(chunks, line) + moved

    return shift_chain


@dataclass(frozen=True)
class Chains:
    """The chunks of one run, two chains each.

    Attributes
    ----------
    fixed
        int32, shape ``(chains, LINE)``: the lines 0.
    accesses
        Lines of a chain besides line 0.
    """

    fixed: NDArray[np.int32]
    accesses: int

    @classmethod
    def random(cls, rng: Generator, chunks: int, accesses: int) -> Chains:
        """Random lines 0."""
        return cls(rng.integers(1, 1000, (2 * chunks, LINE), dtype=np.int32), accesses)

    def after(self, sections: int | NDArray[np.int64]) -> NDArray[np.int32]:
        """The lines 1 to ``accesses`` after this number of sections on each chunk; the start is 0.

        Line n is line 0 times ``accesses + 1 - n + sections``, before and after every section.
        """
        counts = np.broadcast_to(np.asarray(sections, np.int64), len(self.fixed) // 2)
        lines = np.repeat(counts, 2)[:, None] + np.arange(self.accesses, 0, -1)
        words = lines[:, :, None] * self.fixed.astype(np.int64)[:, None, :]
        return words.astype(np.int32)

    def on(self, gpu: GpuLike, version: str) -> Chunks:
        """The chunks at the start: in one array with ``uvm``, else with the lines 0 in another."""
        lines = np.zeros((2, len(self.fixed), self.accesses + 1, LINE), np.int32)
        lines[0, :, 0], lines[1, :, 1:] = self.fixed, self.after(0)
        if version == "uvm":
            lines = np.stack((np.zeros_like(lines[0]), lines.sum(axis=0, dtype=np.int32)))
        fixed, data = (gpu.array(one.ravel()) for one in lines)
        return Chunks(fixed, data, self.accesses)

    def check(
        self, chunks: Chunks, sections: int | NDArray[np.int64], details: dict[str, Any]
    ) -> Outcome:
        """Compare the chunks of :meth:`on` with their lines after ``sections``."""
        expected = self.after(sections)
        data: Any = chunks.data
        lines = data.numpy().reshape(len(expected), self.accesses + 1, LINE)
        return compare("line", lines[:, 1:], expected, details=details)


# Parameters of the microbenchmarks.
ACCESSES = whole("loads and stores per thread and chunk of data", 2, 1024, 4, 10, 10)
PADDED = switch("whether each core's synchronising words have lines of their own", False)


def pitch(padded: bool, words: int = 1) -> int:
    """Words between those of two cores that have ``words`` each."""
    return APART if padded else words
