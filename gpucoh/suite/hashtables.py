"""``ht``: a hash table of chains, filled by all threads under a lock per bucket.

Original: the hash table of CUDA by Example (Sanders and Kandrot, 2010, appendix A). LRM-GPU (HPCA 2026) runs a hash
table of 65536 x 2048 and names no source; it is read as 65,536 keys in 2,048 buckets. As there: 60 blocks of 256
threads; a thread inserts every 15,360th key; the lanes of a warp take turns, so that no two wait for one lock; an entry
is 24 bytes of a pool, for each key its own, with a key, a value of 8 bytes and a pointer; it is filled before its
bucket is locked, and becomes the head of the chain under the lock; a lock is a word of an allocation of its own,
whose place is loaded first.

What differs: the original's host searches the table; here a second launch does, without locks, for as many keys, of
which about half are in none of the chains. With ``mixed=on`` there is one launch, in which a thread searches a key
after each that it inserts, under the lock of that key's bucket. Pointers are numbers of entries. Values are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, combine, compare, switch, whole
from gpucoh.suite.buffers import ReadOnlyI32
from gpucoh.suite.declaration import workload
from gpucoh.suite.synchronisation import lock_acquire, lock_release

BLOCKS = 60
ENTRY = 6  # words of an entry: key, padding, value and its upper half, next and its upper half
VALUE, NEXT = 2, 4
POINTER = 2  # words
LOCK = 64  # words between locks: the host allocates pieces of 256 bytes
NOTHING = -1


@lang.record
class Table:
    """The first entry of each bucket's chain, all entries, and the locks and where they are."""

    heads: lang.Buffer[lang.i32]
    pool: lang.Buffer[lang.i32]
    locks: lang.Buffer[lang.i32]
    places: ReadOnlyI32
    buckets: lang.i32


@lang.device
def insert(table: Table, key: lang.i32, value: lang.i32, number: lang.i32) -> None:
    """The entry of that number becomes the head of its bucket's chain."""
    entry = ENTRY * number
    bucket = key % table.buckets
    table.pool[entry] = key
    lang.store2(table.pool, entry + VALUE, value, 0)
    lock = table.places[bucket]
    lock_acquire(table.locks, lock)
    head, upper = lang.load2(table.heads, POINTER * bucket)
    lang.store2(table.pool, entry + NEXT, head, upper)
    lang.store2(table.heads, POINTER * bucket, number, 0)
    lock_release(table.locks, lock)


@lang.device
def find(table: Table, key: lang.i32) -> lang.i32:
    """The value of a key, or :data:`NOTHING`."""
    number, _ = lang.load2(table.heads, POINTER * (key % table.buckets))
    answer = NOTHING
    while number != NOTHING:
        if table.pool[ENTRY * number] == key:
            answer, _ = lang.load2(table.pool, ENTRY * number + VALUE)
            number = NOTHING
        else:
            number, _ = lang.load2(table.pool, ENTRY * number + NEXT)
    return answer


@lang.kernel
def insert_keys(table: Table, keys: ReadOnlyI32, values: ReadOnlyI32, count: lang.i32) -> None:
    """Insert all keys."""
    for i in range(lang.global_id(), count, lang.grid_dim() * lang.block_dim()):
        key = keys[i]
        for turn in range(lang.warp_size()):
            if lang.lane_id() == turn:
                insert(table, key, values[i], i)


@lang.kernel
def find_keys(
    table: Table, keys: ReadOnlyI32, answers: lang.Buffer[lang.i32], count: lang.i32
) -> None:
    """Search all keys."""
    for i in range(lang.global_id(), count, lang.grid_dim() * lang.block_dim()):
        answers[i] = find(table, keys[i])


@lang.kernel
def insert_and_find(
    table: Table,
    keys: ReadOnlyI32,
    values: ReadOnlyI32,
    searched: ReadOnlyI32,
    answers: lang.Buffer[lang.i32],
    count: lang.i32,
) -> None:
    """Insert all keys, and search another after each, under its bucket's lock."""
    for i in range(lang.global_id(), count, lang.grid_dim() * lang.block_dim()):
        key = keys[i]
        other = searched[i]
        for turn in range(lang.warp_size()):
            if lang.lane_id() == turn:
                insert(table, key, values[i], i)
                lock = table.places[other % table.buckets]
                lock_acquire(table.locks, lock)
                answers[i] = find(table, other)
                lock_release(table.locks, lock)


def chains_of(heads: NDArray[np.int32], nexts: NDArray[np.int32]) -> NDArray[np.int64]:
    """The bucket in whose chain each entry is, :data:`NOTHING` for none; int64, shape ``(entries,)``."""
    found = np.full(nexts.size, NOTHING, np.int64)
    buckets, entries = np.arange(heads.size), heads
    for _ in range(nexts.size):
        inside = (entries >= 0) & (entries < nexts.size)
        buckets, entries = buckets[inside], entries[inside]
        if not entries.size:
            break
        found[entries] = buckets
        entries = nexts[entries]
    return found


@dataclass(frozen=True)
class Pairs:
    """Keys, all different, and their values; and the keys that are searched, with the answers."""

    keys: NDArray[np.int32]
    values: NDArray[np.int32]
    searched: NDArray[np.int32]
    answers: NDArray[np.int32]


def random_pairs(
    rng: Generator,
    keys: int = whole("number of keys", 1, 1 << 24, 512, 8192, 65536),
) -> Pairs:
    """Random keys and values; of the keys that are searched every other one was inserted, on average."""
    known: NDArray[Any] = rng.choice(1 << 30, 2 * keys, replace=False).astype(np.int32)
    values = rng.integers(0, 1 << 30, keys, dtype=np.int32)
    searched = rng.integers(0, 2 * keys, keys)
    answers = np.where(searched < keys, values[searched % keys], np.int32(NOTHING))
    return Pairs(known[:keys], values, known[searched], answers)


@workload(
    id="ht",
    group="I",
    check="every entry is in the chain of its key's bucket, and every search finds its key's value",
    input=random_pairs,
)
def hash_table(
    gpu: GpuLike,
    pairs: Pairs,
    buckets: int = whole("number of buckets", 1, 1 << 20, 16, 256, 2048),
    block: int = whole("threads per block", 32, 1024, 64, 256, 256),
    mixed: bool = switch(
        "whether keys are searched in the launch that inserts, under locks", False
    ),
) -> Outcome:
    """hash table of chains: all threads insert under a lock per bucket, then search without locks"""
    count = pairs.keys.size
    heads = gpu.array(np.tile(np.array([NOTHING, 0], np.int32), buckets))
    pool = gpu.zeros(ENTRY * count, np.int32)
    locks = gpu.zeros(LOCK * buckets, np.int32)
    places = gpu.array(LOCK * np.arange(buckets, dtype=np.int32))
    table = Table(heads, pool, locks, places, buckets)
    grid = min(BLOCKS, blocks_for(count, block))
    keys, values = gpu.array(pairs.keys), gpu.array(pairs.values)
    searched, answers = gpu.array(pairs.searched), gpu.zeros(count, np.int32)
    if mixed:
        args = table, keys, values, searched, answers, count
        gpu.launch(insert_and_find, grid=grid, block=block, args=args)
    else:
        gpu.launch(insert_keys, grid=grid, block=block, args=(table, keys, values, count))
        gpu.launch(find_keys, grid=grid, block=block, args=(table, searched, answers, count))
    found = answers.numpy()
    expected = pairs.answers
    if mixed:  # a key that is searched may come later
        expected = np.where(found == NOTHING, NOTHING, expected)
    chained = chains_of(heads.numpy()[::POINTER], pool.numpy()[NEXT::ENTRY])
    details = {"keys": count, "buckets": buckets}
    return combine(
        compare("bucket", chained, pairs.keys % buckets, details=details),
        compare("answer", found, expected),
    )
