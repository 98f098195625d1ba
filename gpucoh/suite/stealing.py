"""``dlb`` and ``dlb-rcc``: an octree partition whose tasks blocks steal from each other.

Original: the work-stealing version of "Octree Partitioning, benchmark for dynamic load balancing
using work-stealing on graphics processors" (Cederman and Tsigas 2011; Graphics Hardware 2008), which
TC and RCC cite. TC gives 100,000 particles.

The same as in the original:

* A task is a cell of the octree with its particles, in a record of 8 words. A block counts the
  particles of each octant, moves them to the other of two arrays, makes a task of every octant with
  more than ``leaf`` particles, and copies the others back to the first array if they are in the
  second. A particle is 16 bytes; a thread reads or writes one by one access.
* Each block has a deque of 256 slots (Arora, Blumofe and Plaxton, SPAA 1998), whose header of two
  words (tail, head) lies beside those of other blocks. A dequeue is one pop and then one steal from a
  block drawn at random; the state of a block's generator is a word in memory beside the other
  blocks'. There is no back-off, no fence and no atomic in a dequeue that finds both deques empty.
* After a failed dequeue every warp reads the counter of finished particles. The loop has the
  original's barriers.
* The counter is added to and the tree is stored to octant by octant, also for empty octants.
* The run starts with one task. Particles are in clusters of 100.

What differs, and why:

* Threads and blocks are arguments of the original without defaults, and so is ``leaf``: assumed are
  8 blocks of 192 threads per core, which fill 48 warps, and 20 particles.
* Coordinates are whole numbers, so that octants are exact. A cell of the last level is not divided.
* The original has no fences, and is wrong where writes are not atomic. ``dlb`` has those that the
  deque needs: a fence between the store of the tail and the read of the head in a pop that finds a
  task, where an atomic reads the head; acquiring loads and compare-and-swaps; and one releasing store
  of the tail after all tasks of a divided cell. ``dlb-rcc`` adds those of a public version with
  fences, since RCC says that it adds some: a fence between the reads of a task and the
  compare-and-swap or the store of the tail that follows, and one between each task that is pushed
  and its store of the tail.
* A block gives up after ``patience`` failed dequeues, so that a run ends even if copies stay stale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, combine, compare, whole
from gpucoh.suite.declaration import workload
from gpucoh.suite.deques import SLOTS, WORDS, Deques, pop, steal
from gpucoh.suite.synchronisation import STALE, patience_on

LEVELS = 20  # coordinates are whole numbers below 1 << LEVELS; a cell of level LEVELS is a leaf
CLUSTER = 100  # particles of a cluster
FIELDS = 4  # words of a particle's record: x, y, z, number
# Words of a task: the middle of its cell (3), half the width of a child, the array that holds the
# particles, one past the last and the first particle, the place of the children in the tree.
HALF, FLIP, END, BEGIN, NODE = 3, 4, 5, 6, 7
LEAF = 1 << 30  # an entry of the tree is LEAF plus the leaf's particles, or where the children are
FOUND, SETTLED = 0, 1  # words of a block's state


@lang.device
def octant_of(x: lang.i32, y: lang.i32, z: lang.i32, task: lang.Buffer[lang.i32]) -> lang.i32:
    """Octant of a particle in the task's cell."""
    return lang.i32(x >= task[0]) + 2 * lang.i32(y >= task[1]) + 4 * lang.i32(z >= task[2])


@lang.record
class Tree:
    """The words of the tree, how many are in use, and how many there are."""

    entries: lang.Buffer[lang.i32]
    used: lang.Buffer[lang.i32]
    capacity: lang.i32


# `records` holds two arrays of records, FIELDS x particles words each.
@lang.kernel
def partition_octree(
    records: lang.Buffer[lang.i32],
    deques: Deques,
    generators: lang.Buffer[lang.u32],
    tree: Tree,
    finished: lang.Buffer[lang.i32],
    impatient: lang.Buffer[lang.i32],
    particles: lang.i32,
    leaf: lang.i32,
    patience: lang.i32,
) -> None:
    """Take deques.tasks and divide their cells until every particle is in a leaf."""
    task = lang.shared(lang.i32, WORDS)
    state = lang.shared(lang.i32, 2)
    counts = lang.shared(lang.i32, 8)
    sums = lang.shared(lang.i32, 8)
    thread = lang.thread_id()
    block = lang.block_id()
    fails = 0
    while fails < patience:
        lang.barrier()
        if thread == 0:
            found = pop(deques, task)
            if found == 0:
                random = lang.u32(generators[block] * 1103515245 + 12345)
                generators[block] = random
                victim = (lang.i32(random >> 16) % 32768 + block) % lang.grid_dim()
                found = steal(deques, task, victim)
            state[FOUND] = found
        lang.barrier()
        dequeued = state[FOUND]
        lang.barrier()
        if dequeued == 0:
            settled = lang.load(finished, 0, order="relaxed")
            if lang.lane_id() == 0:
                lang.atomic_exch(state, SETTLED, settled, order="relaxed", scope="cta")
            lang.barrier()
            fails += 1
            if state[SETTLED] >= particles:
                fails = patience + 1
        else:
            begin = task[BEGIN]
            end = task[END]
            # With stale copies, words of different deques.tasks may not combine to a task.
            if (
                begin >= 0
                and begin < end
                and end <= particles
                and task[NODE] >= 0
                and task[NODE] + 8 <= tree.capacity
            ):
                if thread < 8:
                    counts[thread] = 0
                lang.barrier()
                source = particles * task[FLIP]
                for i in range(begin + thread, end, lang.block_dim()):
                    x, y, z, _ = lang.load4(records, FIELDS * (source + i))
                    octant = octant_of(x, y, z, task)
                    lang.atomic_add(counts, octant, 1, order="relaxed", scope="cta")
                lang.barrier()
                if thread == 0:
                    sum = 0
                    for octant in range(8):
                        sum += counts[octant]
                        sums[octant] = sum
                lang.barrier()
                target = particles - source + begin - 1
                for i in range(begin + thread, end, lang.block_dim()):
                    x, y, z, number = lang.load4(records, FIELDS * (source + i))
                    octant = octant_of(x, y, z, task)
                    place = lang.atomic_sub(sums, octant, 1, order="relaxed", scope="cta")
                    lang.store4(records, FIELDS * (target + place), x, y, z, number)
                lang.barrier()
                tail = 0
                if thread == 0:
                    tail = lang.load(deques.headers, 2 * block, order="relaxed")
                pushed = 0
                for octant in range(8):
                    start = begin + sums[octant]
                    count = counts[octant]
                    if count > leaf and task[HALF] > 0:
                        if thread == 0:
                            node = lang.atomic_add(tree.used, 0, 8, order="relaxed")
                            tree.entries[task[NODE] + octant] = node
                            slot = WORDS * (block * SLOTS + lang.min(tail, SLOTS - 1))
                            for axis in range(3):
                                side = 2 * ((octant >> axis) & 1) - 1
                                lang.store(
                                    deques.tasks,
                                    slot + axis,
                                    task[axis] + side * task[HALF],
                                    order="relaxed",
                                )
                            lang.store(deques.tasks, slot + HALF, task[HALF] // 2, order="relaxed")
                            lang.store(deques.tasks, slot + FLIP, 1 - task[FLIP], order="relaxed")
                            lang.store(deques.tasks, slot + END, start + count, order="relaxed")
                            lang.store(deques.tasks, slot + BEGIN, start, order="relaxed")
                            lang.store(deques.tasks, slot + NODE, node, order="relaxed")
                            tail += 1
                            pushed = 1
                            if deques.fenced != 0:
                                lang.fence(order="acq_rel")
                                lang.store(deques.headers, 2 * block, tail, order="relaxed")
                    else:
                        if task[FLIP] == 0:
                            for i in range(start + thread, start + count, lang.block_dim()):
                                x, y, z, number = lang.load4(records, FIELDS * (particles + i))
                                lang.store4(records, FIELDS * i, x, y, z, number)
                        lang.barrier()
                        if thread == 0:
                            lang.atomic_add(finished, 0, count, order="relaxed")
                            tree.entries[task[NODE] + octant] = LEAF + count
                if pushed != 0 and deques.fenced == 0:
                    lang.store(deques.headers, 2 * block, tail, order="release")
    if thread == 0 and fails == patience:
        lang.atomic_add(impatient, 0, 1, order="relaxed")


@dataclass(frozen=True)
class Partition:
    """The reference octree, cell by cell.

    Parameters
    ----------
    cut
        int64, shape ``(cells, 4)``: begin, count, level and code of every divided cell, by level
        and code.
    octants
        int64, shape ``(cells, 8)``: particles of each child of these cells.
    order
        int64, shape ``(particles,)``: the particles by code.
    leaves
        int64, shape ``(particles,)``: where the leaf of the particle at that place begins.
    """

    cut: NDArray[np.int64]
    octants: NDArray[np.int64]
    order: NDArray[np.int64]
    leaves: NDArray[np.int64]


def reference_partition(places: NDArray[np.int32], leaf: int) -> Partition:
    """Divide cells of more than ``leaf`` particles; ``places`` is int32 of shape ``(3, particles)``."""
    codes = np.zeros(places.shape[1], np.int64)
    for level in range(LEVELS):
        bits = (places >> (LEVELS - 1 - level)) & 1
        codes = 8 * codes + (bits[0] + 2 * bits[1] + 4 * bits[2])
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    leaves = np.zeros(codes.size, np.int64)
    rows, octants = [], []
    begins, counts, names = np.zeros(1, np.int64), np.array([codes.size]), np.zeros(1, np.int64)
    for level in range(LEVELS):
        depth = np.full(begins.size, level)
        rows.append(np.stack([begins, counts, depth, names], axis=1))
        names = (8 * names[:, None] + np.arange(8)).ravel()
        begins = np.searchsorted(codes, names << (3 * (LEVELS - 1 - level)))
        counts = np.searchsorted(codes, (names + 1) << (3 * (LEVELS - 1 - level))) - begins
        octants.append(counts.reshape(-1, 8))
        filled = counts > 0
        leaves[np.repeat(begins[filled], counts[filled]) + spread(counts[filled])] = np.repeat(
            begins[filled], counts[filled]
        )
        large = counts > leaf
        begins, counts, names = begins[large], counts[large], names[large]
        if begins.size == 0:
            break
    return Partition(np.concatenate(rows), np.concatenate(octants), order, leaves)


def spread(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, ... below each of ``counts``, one after another."""
    ends = np.cumsum(counts)
    return np.arange(counts.sum()) - np.repeat(ends - counts, counts)


def check_partition(
    expected: Partition,
    leaf: int,
    numbers: NDArray[Any],
    tree: NDArray[Any],
    nodes: int,
    finished: int,
) -> Outcome:
    """Check that the tree is the reference's, that each of its cells is divided exactly once, and
    that each particle is in its leaf.

    Parameters
    ----------
    numbers
        Numbers of the particles in the order in which the run leaves them.
    tree
        The run's tree.
    nodes, finished
        Words of the tree that were allocated, and particles that were counted in leaves.
    """
    cells = len(expected.cut)
    details = {
        "particles": len(expected.order),
        "tasks": cells,
        "depth": int(expected.cut[:, 2].max()) + 1,
    }
    place = np.zeros(1, np.int64)
    inner, got, want = [], [], []
    levels = expected.cut[:, 2]
    for level in range(int(levels.max()) + 1):
        counts = expected.octants[levels == level]
        large = (counts > leaf) & (level + 1 < LEVELS)
        entries = tree[place[:, None] + np.arange(8)].astype(np.int64)
        linked = large & (entries > 0) & (entries + 8 <= tree.size)
        # Of a divided octant: 0, or -1 if the entry is no place of a cell.
        got.append(np.where(large, linked.astype(np.int64) - 1, entries).ravel())
        want.append(np.where(large, 0, LEAF + counts).ravel())
        if not np.array_equal(linked, large):
            break
        place = entries[large]
        inner.append(place)
    taken = numbers[np.lexsort((numbers, expected.leaves))]
    wanted = expected.order[np.lexsort((expected.order, expected.leaves))]
    places = np.sort(np.concatenate(inner)) if inner else np.zeros(0, np.int64)
    done = combine(
        compare("tree entry", np.concatenate(got), np.concatenate(want), details=details),
        compare("words of the tree", [nodes], [8 * cells]),
        compare("finished particles", [finished], [len(expected.order)]),
        compare("particle", taken, wanted),
    )
    if not done.correct:
        return done
    return combine(done, compare("place of a cell", places, 8 * np.arange(1, cells)))


def stealing(id: str, papers: str, fenced: bool) -> None:
    """Declare a workload: one launch, whose first block starts with the root's task."""

    @workload(
        id=id,
        title="octree partition, one non-blocking task queue per block, with work stealing"
        + (", fences added" if fenced else ""),
        group="I",
        papers=papers,
        check="each task executed exactly once, each particle in its leaf",
    )
    def run(
        gpu: GpuLike,
        rng: Generator,
        particles: int = whole(
            "number of particles, 32 bytes each in two arrays", 1, 1 << 22, 300, 32000, 100000
        ),
        leaf: int = whole(
            "largest number of particles of a leaf (assumed)", 1, 1 << 20, 16, 20, 20
        ),
        block: int = whole("threads per block", 32, 1024, 64, 192, 192),
        blocks_per_core: int = whole(
            "blocks per core; 8 of 192 threads fill 48 warps", 1, 8, 1, 8, 8
        ),
        patience: int = whole(
            f"failed dequeues after which a block gives up, {STALE}",
            100,
            1 << 30,
            400,
            1 << 13,
            1 << 16,
        ),
    ) -> Outcome:
        places = clustered(rng, particles)
        seeds = rng.integers(0, 1 << 32, 1 << 12, np.uint32)
        blocks = gpu.machine.cores * blocks_per_core
        patience = patience_on(gpu.machine.cores, patience)
        expected = reference_partition(places, leaf)
        records = np.zeros((2, particles, FIELDS), np.int32)
        records[0, :, :3], records[0, :, 3] = places.T, np.arange(particles)
        tasks = np.zeros((blocks, SLOTS, WORDS), np.int32)
        tasks[0, 0, :3], tasks[0, 0, HALF] = 1 << (LEVELS - 1), 1 << (LEVELS - 2)
        tasks[0, 0, END] = particles
        headers = np.zeros((blocks, 2), np.int32)
        headers[0, 0] = 1
        capacity = 8 * len(expected.cut) + 512
        moved, tree = gpu.array(records.ravel()), gpu.zeros(capacity, np.int32)
        nodes, finished = gpu.array(np.full(1, 8, np.int32)), gpu.zeros(1, np.int32)
        impatient = gpu.zeros(1, np.int32)
        gpu.launch(
            partition_octree,
            grid=blocks,
            block=block,
            args=(
                moved,
                Deques(gpu.array(headers.ravel()), gpu.array(tasks.ravel()), int(fenced)),
                gpu.array(np.resize(seeds, blocks)),
                Tree(tree, nodes, capacity),
                finished,
                impatient,
                particles,
                leaf,
                patience,
            ),
        )
        stuck = int(impatient.numpy()[0])
        waited = Outcome(
            correct=stuck == 0,
            mismatches=stuck,
            where=f"{stuck} of {blocks} blocks gave up after {patience} failed dequeues each",
        )
        numbers = moved.numpy().reshape(records.shape)[0, :, 3]
        counters = int(nodes.numpy()[0]), int(finished.numpy()[0])
        return combine(check_partition(expected, leaf, numbers, tree.numpy(), *counters), waited)


def clustered(rng: Generator, count: int) -> NDArray[np.int32]:
    """Clusters of 100 particles; each fills a cube, about a tenth as wide as the space."""
    clusters = -(-count // CLUSTER)
    middles = np.repeat(rng.uniform(-400, 400, (3, clusters)), CLUSTER, axis=1)[:, :count]
    points = middles + rng.uniform(-50, 50, (3, count))
    return ((points + 512) * (1 << LEVELS) / 1024).astype(np.int32)


stealing("dlb", "TR", fenced=False)
stealing("dlb-rcc", "R", fenced=True)
