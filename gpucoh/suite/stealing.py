"""``dlb``: dynamic load balancing, an octree partition whose tasks blocks steal from each other.

After Cederman and Tsigas (Graphics Hardware 2008): a task is a cell of the octree with its
particles. A block sorts the particles by octant into the other of two record arrays and makes a
task of every octant with more than ``leaf`` particles. Each block keeps its tasks in its own
non-blocking deque (Arora, Blumofe and Plaxton, SPAA 1998), takes the newest task, and steals the
oldest task of another block if its deque is empty. The run starts with one task, so few blocks
process the first levels, as in the original.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import (
    REGISTRY,
    GpuLike,
    Outcome,
    Parameter,
    Setting,
    Workload,
    combine,
    compare,
)

BLOCK = 64
LEVELS = 10  # coordinates are whole numbers below 1 << LEVELS; a cell of level LEVELS is a leaf
FIELDS = 4  # words of a particle's record, as a float4: x, y, z, number
WORDS = 4  # words of a task: begin, count, level, code
# A task of level l is in a slot of at most 7 l, even if it was stolen: depth first.
SLOTS = 7 * LEVELS + 8
TOPS = 256  # an age is a tag times TOPS, plus the slot of the oldest task
NOTHING, FINISHED, GAVE_UP = 0, -1, -2  # count values if there is no task


@lang.device
def copy_task(tasks: lang.Buffer[lang.i32], slot: lang.i32, task: lang.Buffer[lang.i32]) -> None:
    """Copy a slot's words to the block's scratchpad. If another block writes the slot meanwhile, the
    compare-and-swap that follows fails.
    """
    for word in range(WORDS):
        task[word] = lang.load(tasks, WORDS * slot + word, order="relaxed", scope="gpu")


# An atomic reads the age: it must be at least as new as any that a thief has acted on, and a load
# after a fence is not if writes are not atomic (TC-Weak).
@lang.device
def take_own(
    ages: lang.Buffer[lang.i32],
    bottoms: lang.Buffer[lang.i32],
    tasks: lang.Buffer[lang.i32],
    task: lang.Buffer[lang.i32],
) -> lang.i32:
    """Take the newest task of the block's own deque; 1 on success."""
    block = lang.block_id()
    found = 0
    slot = lang.load(bottoms, block, order="relaxed", scope="gpu") - 1
    if slot >= 0:
        lang.store(bottoms, block, slot, order="relaxed", scope="gpu")
        lang.fence(order="sc", scope="gpu")
        copy_task(tasks, block * SLOTS + slot, task)
        age = lang.atomic_add(ages, block, 0, order="relaxed", scope="gpu")
        top = age % TOPS
        found = 1
        if slot <= top:
            lang.store(bottoms, block, 0, order="relaxed", scope="gpu")
            fresh = age - top + TOPS
            if (
                slot < top
                or lang.atomic_cas(ages, block, age, fresh, order="acq_rel", scope="gpu") != age
            ):
                found = 0
                lang.atomic_exch(ages, block, fresh, order="release", scope="gpu")
    return found


@lang.device
def steal(
    ages: lang.Buffer[lang.i32],
    bottoms: lang.Buffer[lang.i32],
    tasks: lang.Buffer[lang.i32],
    task: lang.Buffer[lang.i32],
    victim: lang.i32,
) -> lang.i32:
    """Take the oldest task of another block's deque; 1 on success."""
    found = 0
    age = lang.load(ages, victim, order="acquire", scope="gpu")
    top = age % TOPS
    if lang.load(bottoms, victim, order="acquire", scope="gpu") > top:
        copy_task(tasks, victim * SLOTS + top, task)
        if lang.atomic_cas(ages, victim, age, age + 1, order="acq_rel", scope="gpu") == age:
            found = 1
    return found


@lang.device
def octant_of(
    records: lang.Buffer[lang.i32],
    at: lang.i32,
    particles: lang.i32,
    bit: lang.i32,
) -> lang.i32:
    """Octant of the particle at word ``at``, in the cell whose children differ in ``bit``."""
    x = (records[at] >> bit) & 1
    y = (records[at + particles] >> bit) & 1
    z = (records[at + 2 * particles] >> bit) & 1
    return x + 2 * y + 4 * z


# `records` holds two arrays of records, FIELDS x particles each; a cell of level l is in array
# l % 2. `progress` counts the particles in leaves, and the divided cells.
@lang.kernel
def partition_octree(
    records: lang.Buffer[lang.i32],
    ages: lang.Buffer[lang.i32],
    bottoms: lang.Buffer[lang.i32],
    tasks: lang.Buffer[lang.i32],
    progress: lang.Buffer[lang.i32],
    cells: lang.Buffer[lang.i32],
    impatient: lang.Buffer[lang.i32],
    particles: lang.i32,
    leaf: lang.i32,
    capacity: lang.i32,
    patience: lang.i32,
) -> None:
    """Take tasks and divide their cells until every particle is in a leaf."""
    task = lang.shared(lang.i32, WORDS)
    counts = lang.shared(lang.i32, 8)
    begins = lang.shared(lang.i32, 8)
    slots = lang.shared(lang.i32, 9)
    thread = lang.thread_id()
    block = lang.block_id()
    blocks = lang.grid_dim()
    victim = block
    count = NOTHING
    while count >= NOTHING:
        if thread == 0:
            found = take_own(ages, bottoms, tasks, task)
            looks = 0
            settled = 0
            while found == 0 and looks < patience and settled < particles:
                victim = (victim + 1) % blocks
                if victim != block:
                    found = steal(ages, bottoms, tasks, task, victim)
                looks += 1
                settled = lang.load(progress, 0, order="relaxed", scope="gpu")
            if found == 0:
                task[1] = FINISHED
                if settled < particles:
                    task[1] = GAVE_UP
        if thread < 8:
            counts[thread] = 0
        lang.barrier()
        begin = task[0]
        count = task[1]
        level = task[2]
        # With stale copies, words of different tasks may not combine to a task.
        sane = begin >= 0 and count <= particles - begin and level >= 0 and level < LEVELS
        if count > 0 and sane:
            source = FIELDS * particles * (level % 2) + begin
            target = FIELDS * particles * ((level + 1) % 2)
            bit = LEVELS - 1 - level
            for i in range(thread, count, BLOCK):
                octant = octant_of(records, source + i, particles, bit)
                lang.atomic_add(counts, octant, 1, order="relaxed", scope="cta")
            lang.barrier()
            if thread == 0:
                place = begin
                free = lang.load(bottoms, block, order="relaxed", scope="gpu")
                for octant in range(8):
                    begins[octant] = place
                    place += counts[octant]
                    slots[octant] = free
                    if counts[octant] > leaf and level + 1 < LEVELS and free < SLOTS:
                        free += 1
                slots[8] = free
            lang.barrier()
            if thread < 8 and slots[thread + 1] > slots[thread]:
                slot = WORDS * (block * SLOTS + slots[thread])
                lang.store(tasks, slot, begins[thread], order="relaxed", scope="gpu")
                lang.store(tasks, slot + 1, counts[thread], order="relaxed", scope="gpu")
                lang.store(tasks, slot + 2, level + 1, order="relaxed", scope="gpu")
                lang.store(tasks, slot + 3, 8 * task[3] + thread, order="relaxed", scope="gpu")
            lang.barrier()
            for i in range(thread, count, BLOCK):
                octant = octant_of(records, source + i, particles, bit)
                place = lang.atomic_add(begins, octant, 1, order="relaxed", scope="cta")
                for word in range(FIELDS):
                    records[target + word * particles + place] = records[
                        source + word * particles + i
                    ]
            lang.barrier()
            if thread == 0:
                lang.store(bottoms, block, slots[8], order="release", scope="gpu")
                done = 0
                for octant in range(8):
                    if slots[octant + 1] == slots[octant]:
                        done += counts[octant]
                cell = lang.atomic_add(progress, 1, 1, order="relaxed", scope="gpu")
                if cell < capacity:
                    for word in range(WORDS):
                        cells[WORDS * cell + word] = task[word]
                lang.atomic_add(progress, 0, done, order="relaxed", scope="gpu")
        lang.barrier()
    if count == GAVE_UP:
        lang.atomic_add(impatient, 0, 1, order="relaxed", scope="gpu")


@dataclass(frozen=True)
class Partition:
    """The reference octree, cell by cell.

    Parameters
    ----------
    cut
        int32, shape ``(cells, 4)``: begin, count, level and code of every divided cell, sorted.
    order
        int64, shape ``(particles,)``: the particles by code.
    leaves
        int64, shape ``(particles,)``: where the leaf of the particle at that place begins.
    levels
        int64, shape ``(particles,)``: level of that leaf.
    """

    cut: NDArray[np.int32]
    order: NDArray[np.int64]
    leaves: NDArray[np.int64]
    levels: NDArray[np.int64]


def reference_partition(places: NDArray[np.int32], leaf: int) -> Partition:
    """Divide cells of more than ``leaf`` particles; ``places`` is int32 of shape ``(3, particles)``."""
    codes = np.zeros(places.shape[1], np.int64)
    for level in range(LEVELS):
        bits = (places >> (LEVELS - 1 - level)) & 1
        codes = 8 * codes + (bits[0] + 2 * bits[1] + 4 * bits[2])
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    leaves, levels = np.zeros(codes.size, np.int64), np.zeros(codes.size, np.int64)
    active = np.ones(codes.size, bool)
    rows = []
    for level in range(LEVELS + 1):
        names, begins, inverse, counts = np.unique(
            codes >> (3 * (LEVELS - level)),
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        if level > 0:
            leaves[active], levels[active] = begins[inverse][active], level
        large = (counts > leaf) & (level < LEVELS) | (level == 0)
        chosen = large & active[begins]
        depth = np.full(int(chosen.sum()), level)
        rows.append(np.stack([begins[chosen], counts[chosen], depth, names[chosen]], axis=1))
        active &= large[inverse]
    cut = np.concatenate(rows).astype(np.int32)
    return Partition(cut[np.lexsort(cut.T[::-1])], order, leaves, levels)


@dataclass(frozen=True)
class Stealing:
    """``dlb`` on one input."""

    places: NDArray[np.int32]
    leaf: int
    blocks_per_core: int
    patience: int

    @classmethod
    def prepare(cls, setting: Setting) -> Stealing:
        """Particles in clusters of different sizes, so that branches have different depths."""
        rng = setting.rng()
        count = setting.integer("particles")
        middles = rng.uniform(0.2, 0.8, (3, 8))
        widths = rng.uniform(0.01, 0.15, 8)
        cluster = rng.integers(0, 8, count)
        points = middles[:, cluster] + rng.normal(size=(3, count)) * widths[cluster]
        places = (np.clip(points, 0, 0.999999) * (1 << LEVELS)).astype(np.int32)
        return cls(
            places,
            setting.integer("leaf"),
            setting.integer("blocks_per_core"),
            setting.integer("patience"),
        )

    def run(self, gpu: GpuLike) -> Outcome:
        """One launch; the first block starts with the root's task."""
        particles = self.places.shape[1]
        blocks = gpu.machine.cores * self.blocks_per_core
        expected = reference_partition(self.places, self.leaf)
        records = np.zeros((2, FIELDS, particles), np.int32)
        records[0, :3], records[0, 3] = self.places, np.arange(particles)
        tasks = np.zeros((blocks, SLOTS, WORDS), np.int32)
        tasks[0, 0] = 0, particles, 0, 0
        bottoms = np.zeros(blocks, np.int32)
        bottoms[0] = 1
        capacity = len(expected.cut) + 64
        moved, cells = gpu.array(records.ravel()), gpu.zeros(WORDS * capacity, np.int32)
        progress, impatient = gpu.zeros(2, np.int32), gpu.zeros(1, np.int32)
        gpu.launch(
            partition_octree,
            grid=blocks,
            block=BLOCK,
            args=(
                moved,
                gpu.zeros(blocks, np.int32),
                gpu.array(bottoms),
                gpu.array(tasks.ravel()),
                progress,
                cells,
                impatient,
                particles,
                self.leaf,
                capacity,
                self.patience,
            ),
        )
        stuck = int(impatient.numpy()[0])
        waited = Outcome(
            correct=stuck == 0,
            mismatches=stuck,
            where=f"{stuck} of {blocks} blocks gave up waiting after {self.patience} polls each",
        )
        done = int(progress.numpy()[1])
        return combine(
            self.check(expected, moved.numpy().reshape(records.shape), cells.numpy(), done), waited
        )

    def check(
        self, expected: Partition, records: NDArray[Any], cells: NDArray[Any], done: int
    ) -> Outcome:
        """Check that each cell is divided exactly once, and each particle is in its leaf."""
        details = {
            "particles": len(expected.order),
            "tasks": len(expected.cut),
            "depth": int(expected.levels.max()),
        }
        if done != len(expected.cut):
            where = f"{done} tasks were executed, expected {len(expected.cut)}"
            wrong = abs(done - len(expected.cut))
            return Outcome(correct=False, mismatches=wrong, where=where, details=details)
        table = cells[: WORDS * done].reshape(-1, WORDS)
        table = table[np.lexsort(table.T[::-1])]
        place = np.arange(len(expected.order))
        numbers = records[expected.levels % 2, 3, place]
        numbers = numbers[np.lexsort((numbers, expected.leaves))]
        wanted = expected.order[np.lexsort((expected.order, expected.leaves))]
        return combine(
            compare("task", table, expected.cut, details=details),
            compare("particle", numbers, wanted),
        )


REGISTRY.add(
    Workload(
        id="dlb",
        title="octree partition, one non-blocking task queue per block, with work stealing",
        group="I",
        papers=("T", "R"),
        needs_coherence=True,
        check="each task executed exactly once, each particle in its leaf",
        parameters=(
            Parameter(
                name="particles",
                kind="int",
                minimum=1,
                maximum=1 << 22,
                defaults={"tiny": 600, "small": 12000, "paper": 100000},
                text="number of particles",
            ),
            Parameter(
                name="leaf",
                kind="int",
                minimum=1,
                maximum=1 << 20,
                defaults={"tiny": 16, "small": 20, "paper": 20},
                text="largest number of particles of a leaf",
            ),
            Parameter(
                name="blocks_per_core",
                kind="int",
                minimum=1,
                maximum=8,
                defaults={"tiny": 1, "small": 3, "paper": 4},
                text=f"blocks per core, of {BLOCK} threads",
            ),
            Parameter(
                name="patience",
                kind="int",
                minimum=100,
                maximum=1 << 30,
                defaults={"tiny": 4096, "small": 1 << 16, "paper": 1 << 20},
                text="polls for a task after which a block gives up, since copies may stay stale",
            ),
        ),
        factory=Stealing.prepare,
    )
)
