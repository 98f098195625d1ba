"""``sort``: a radix sort of words, byte by byte, without a scan.

QuickRelease's authors wrote it: for each byte, a first step counts the elements of each value of the byte, a second
one traverses the list to find the value at the thread's position, and a third one moves that value and swaps input and
output. So every thread reads the list again, and reuse is very high. The rest is inferred: a launch a step, 64 threads
a block; counts are added up with atomics in memory; a thread takes from the counts which value is at its position
and how many of its kind stand before it, reads the list until it has met as many, and notes the place; the third step
moves the word from there; 4,096 words, from which on ``apu`` has eight waves a compute unit.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, compare, whole
from gpucoh.suite.buffers import ReadOnlyI32
from gpucoh.suite.declaration import workload

BLOCK = 64
BINS = 256
BYTES = 4


@lang.device
def byte_of(words: ReadOnlyI32, at: lang.i32, byte: lang.i32) -> lang.i32:
    """A byte of a word, which counts as unsigned."""
    return (words[at] >> (8 * byte)) & 255


@lang.kernel
def count_values(
    words: ReadOnlyI32, counts: lang.Buffer[lang.i32], byte: lang.i32, count: lang.i32
) -> None:
    """How often each value of the byte is in the list."""
    i = lang.global_id()
    if i < count:
        lang.atomic_add(counts, byte_of(words, i, byte), 1, order="relaxed", scope="gpu")


@lang.kernel
def find_places(
    words: ReadOnlyI32,
    counts: ReadOnlyI32,
    places: lang.Buffer[lang.i32],
    byte: lang.i32,
    count: lang.i32,
) -> None:
    """The place of the word that belongs at a thread's position."""
    i = lang.global_id()
    if i < count:
        value = 0
        before = i  # words of the same value that stand before this one
        while before >= counts[value]:
            before -= counts[value]
            value += 1
        at = -1
        while before >= 0:
            at += 1
            if byte_of(words, at, byte) == value:
                before -= 1
        places[i] = at


@lang.kernel
def move_words(
    words: ReadOnlyI32, places: ReadOnlyI32, sorted: lang.Buffer[lang.i32], count: lang.i32
) -> None:
    """Move the words to their positions."""
    i = lang.global_id()
    if i < count:
        sorted[i] = words[places[i]]


def sort_words(gpu: GpuLike, data: NDArray[np.int32]) -> Outcome:
    """Three launches for each byte."""
    words = data.size
    source, target = gpu.array(data), gpu.zeros(words, np.int32)
    counts, places = gpu.zeros(BINS, np.int32), gpu.zeros(words, np.int32)
    for byte in range(BYTES):
        counts[:] = 0
        steps = (
            (count_values, (source, counts, byte, words)),
            (find_places, (source, counts, places, byte, words)),
            (move_words, (source, places, target, words)),
        )
        for kernel, args in steps:
            gpu.launch(
                kernel,
                grid=blocks_for(words, BLOCK),
                block=BLOCK,
                args=args,
            )
        source, target = target, source
    return compare("word", source.numpy(), np.sort(data), details={"words": words})


@workload(id="sort", group="N", papers="Q", check="the words are in NumPy's order")
def sort(
    gpu: GpuLike,
    rng: Generator,
    words: int = whole("number of words", 1, 1 << 20, 128, 4096, 4096),
) -> Outcome:
    """radix sort byte by byte: count, traverse the list for the position's value, move"""
    return sort_words(gpu, rng.integers(0, 2**31, words, dtype=np.int32))
