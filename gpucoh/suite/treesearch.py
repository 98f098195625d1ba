"""``uts``: unbalanced tree search with a stack of tasks per core and a global one.

Original: UTS of HeteroSync (CUDA), which DeNovo uses with 16K nodes. As there: blocks of 128 threads, whose
warps (task fronts) work on their own; a binary tree made by the host, in which a node has children with a
given probability until there are enough nodes, which are an odd number; records of 5 words (value, depth,
to add, two children), not padded; one array with the global stack, as long as there are nodes, and after it
the local ones of 32 entries; locks and heads of all stacks side by side in two arrays; the host processes
the first nodes and deals out 16 tasks a core. A front takes its core's lock, fills the empty local stack with
up to 32 tasks of the global one, if it gets that lock at the first try, and pops up to 32. Each lane adds to
its node's value; a leaf adds to two counters by atomics, another node stores depth and addend of both
children by plain stores; a third counter counts nodes. Lane 0 then pushes the children pair by pair under the
local lock; if they do not fit, they go to the global stack under both locks with half of the local stack. Idle
fronts poll without pause. Local locks have scope ``cu``, the global lock and the counters ``gpu``. Atomics of counters
and looks at the global lock are relaxed; DeNovo (section 5.3) has no relaxed atomics: ``atomics=acq_rel``.

Differences:

* The original's overflow overwrites the pair that it has pushed to the global stack and pushes it again, and
  its global lock, once seen held, is passed without being taken; here neither happens.
* The addend is the node's depth, not 0, so that the values show stale and lost stores, and double work.
* The number of blocks is unknown: assumed are 3 per core, as in the other microbenchmarks of DeNovo.
* A fruitless round is followed by 0 to 63 pseudo-random cycles, more after 32 in a row: with constant periods
  idle fronts can keep one with tasks from its core's lock for ever.
* A front gives up after ``patience`` fruitless rounds, so that a run ends even if copies stay stale.
* With 64 lanes per warp a front has 64, of which 32 take tasks.
"""

from __future__ import annotations

import functools
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, combine, compare, real, switch, whole
from gpucoh.suite.declaration import workload
from gpucoh.suite.heterosync import ATOMICS
from gpucoh.suite.synchronisation import STALE, noise, patience_on

BLOCK = 128
FRONT = 32  # tasks that a front takes together
LOCAL = 32  # entries of a local stack
# Words of a node's record. The children of a leaf are 0, which is the root.
VALUE, DEPTH, ADDEND, LEFT, RIGHT = 0, 1, 2, 3, 4
RECORD = 5
PROCESSED, LEAVES, SUM, IMPATIENT = 0, 1, 2, 3  # counters


@lang.record
class Stacks:
    """The global stack, of ``capacity`` tasks, and then the local ones, with the heads and locks of all."""

    tasks: lang.Buffer[lang.i32]
    heads: lang.Buffer[lang.i32]
    locks: lang.Buffer[lang.i32]
    capacity: lang.i32


@lang.device
def refill(stacks: Stacks, local: lang.i32, lane: lang.i32) -> lang.i32:
    """Move up to a front of tasks from the global stack to the empty local one; their number."""
    left = stacks.heads[0]
    if lane < lang.min(left, FRONT):
        stacks.tasks[local + lane] = stacks.tasks[left - lane - 1]
    return lang.min(left, FRONT)


@functools.cache
def search_kernel(order: str) -> lang.Kernel:
    """The kernel with one order of the atomics that are relaxed in the original."""

    @lang.device
    def spill(
        stacks: Stacks, local: lang.i32, head: lang.i32, left: lang.i32, right: lang.i32
    ) -> lang.i32:
        """Of one lane with the local lock: push a pair and half of the full local stack to the global one. The
        local stack's new head.
        """
        taken = 1
        while taken != 0:
            if lang.atomic_add(stacks.locks, 0, 0, order=order, scope="gpu") == 0:
                taken = lang.atomic_cas(stacks.locks, 0, 0, 1, order="acquire", scope="gpu")
        top = stacks.heads[0]
        kept = head
        if top + 2 + LOCAL // 2 <= stacks.capacity:
            stacks.tasks[top] = left
            stacks.tasks[top + 1] = right
            top += 2
            for _ in range(LOCAL // 2):
                kept -= 1
                stacks.tasks[top] = stacks.tasks[local + kept]
                top += 1
            stacks.heads[0] = top
        lang.atomic_exch(stacks.locks, 0, 0, order="release", scope="gpu")
        return kept

    @lang.kernel
    def search_tree(
        nodes: lang.Buffer[lang.i32],
        stacks: Stacks,
        counters: lang.Buffer[lang.i32],
        total: lang.i32,
        cores: lang.i32,
        pitch: lang.i32,
        patience: lang.i32,
    ) -> None:
        """Process tasks until all ``total`` nodes are. Stack 0 is the global one, stack c + 1 that of core c."""
        processed = lang.shared(lang.i32, BLOCK // FRONT)
        got = lang.shared(lang.i32, BLOCK // FRONT)
        lefts = lang.shared(lang.i32, BLOCK)
        rights = lang.shared(lang.i32, BLOCK)
        front = lang.warp_id()
        lane = lang.lane_id()
        thread = lang.thread_id()
        core = lang.block_id() % cores
        own = (core + 1) * pitch
        local = stacks.capacity + core * LOCAL
        fruitless = 0
        random = lang.global_id() + 1
        if lane == 0:
            processed[front] = lang.atomic_add(counters, PROCESSED, 0, order=order, scope="gpu")
        lang.syncwarp()
        while processed[front] < total:
            node = -1
            if lane == 0:
                while lang.atomic_cas(stacks.locks, own, 0, 1, order="acquire", scope="cu") != 0:
                    pass
            lang.syncwarp()
            head = stacks.heads[own]
            if head == 0:
                if lane == 0:
                    got[front] = lang.atomic_cas(
                        stacks.locks, 0, 0, 1, order="acquire", scope="gpu"
                    )
                lang.syncwarp()
                if got[front] == 0:
                    head = refill(stacks, local, lane)
                    lang.syncwarp()
                    if lane == 0:
                        stacks.heads[0] = stacks.heads[0] - head
                        lang.atomic_exch(stacks.locks, 0, 0, order="release", scope="gpu")
            if lane < lang.min(head, FRONT):
                node = stacks.tasks[local + head - lane - 1]
            lang.syncwarp()
            if lane == 0:
                stacks.heads[own] = lang.max(head - FRONT, 0)
                lang.atomic_exch(stacks.locks, own, 0, order="release", scope="cu")
            left = 0
            right = 0
            if node >= 0:
                record = RECORD * node
                left = nodes[record + LEFT]
                right = nodes[record + RIGHT]
                value = nodes[record + VALUE] + nodes[record + ADDEND]
                nodes[record + VALUE] = value
                if left == 0:
                    lang.atomic_add(counters, SUM, value, order=order, scope="gpu")
                    lang.atomic_add(counters, LEAVES, 1, order=order, scope="gpu")
                else:
                    depth = nodes[record + DEPTH] + 1
                    nodes[RECORD * left + DEPTH] = depth
                    nodes[RECORD * right + DEPTH] = depth
                    nodes[RECORD * left + ADDEND] = depth
                    nodes[RECORD * right + ADDEND] = depth
                lang.atomic_add(counters, PROCESSED, 1, order=order, scope="gpu")
            lefts[thread] = left
            rights[thread] = right
            lang.syncwarp()
            if lane == 0:
                at = thread
                while at < thread + FRONT:
                    if lefts[at] != 0:
                        while (
                            lang.atomic_cas(stacks.locks, own, 0, 1, order="acquire", scope="cu")
                            != 0
                        ):
                            pass
                        head = stacks.heads[own]
                        if head <= LOCAL - 2:
                            stacks.tasks[local + head] = lefts[at]
                            stacks.tasks[local + head + 1] = rights[at]
                            head += 2
                        else:
                            head = spill(stacks, local, head, lefts[at], rights[at])
                        stacks.heads[own] = head
                        lang.atomic_exch(stacks.locks, own, 0, order="release", scope="cu")
                    at += 1
                fruitless = fruitless + 1 if node < 0 else 0
                if node < 0:
                    random = noise(random, fruitless)
                found = lang.atomic_add(counters, PROCESSED, 0, order=order, scope="gpu")
                if fruitless >= patience and found < total:
                    lang.atomic_add(counters, IMPATIENT, 1, order="relaxed", scope="gpu")
                    found = total
                processed[front] = found
            lang.syncwarp()

    return search_tree


@dataclass(frozen=True)
class Tree:
    """A binary tree; the root is node 0, and every other node's parent has a lower number.

    Attributes
    ----------
    values
        int32, shape ``(nodes,)``.
    children
        int32, shape ``(nodes, 2)``; 0 for a leaf.
    """

    values: NDArray[np.int32]
    children: NDArray[np.int32]

    @classmethod
    def random(cls, rng: np.random.Generator, nodes: int, fertility: float) -> Tree:
        """A node has children with probability ``fertility``; if none is left to decide, the leaves are
        decided again.
        """
        children = np.zeros((nodes, 2), np.int32)
        undecided, leaves = deque([0]), deque[int]()
        made = 1
        while made < nodes:
            if not undecided:
                undecided, leaves = leaves, deque[int]()
            node = undecided.popleft()
            if rng.random() < fertility:
                children[node] = made, made + 1
                undecided.extend((made, made + 1))
                made += 2
            else:
                leaves.appendleft(node)
        return cls(rng.integers(0, 100, nodes, dtype=np.int32), children)

    def frontier(self, size: int) -> list[int]:
        """``size`` nodes, or all leaves if there are fewer: the host processes the first nodes in breadth."""
        waiting, leaves = deque([0]), list[int]()
        while waiting and len(waiting) + len(leaves) < size:
            node = waiting.popleft()
            if self.children[node, 0]:
                waiting.extend(int(child) for child in self.children[node])
            else:
                leaves.append(node)
        return [*leaves, *waiting]

    def depths(self) -> NDArray[np.int32]:
        """Depth of every node."""
        found = np.zeros(len(self.values), np.int32)
        level, depth = np.zeros(1, np.int32), 0
        while level.size:
            found[level] = depth
            inner = self.children[level]
            level, depth = inner[inner > 0], depth + 1
        return found


def _above(tree: Tree, dealt: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The nodes above the dealt ones, which the host processes."""
    found = np.zeros(len(dealt), bool)
    level = np.zeros(1, np.int32)
    while level.size:
        level = level[~dealt[level]]
        found[level] = True
        level = tree.children[level].ravel()
    return found


@workload(
    id="uts",
    group="L",
    papers="D",
    needs_coherence=True,
    check="every node processed once: counts, sum and depths exact, stacks empty",
)
def tree_search(
    gpu: GpuLike,
    rng: Generator,
    nodes: int = whole("nodes of the tree, made odd", 1, 1 << 22, 300, 4096, 16384),
    fertility: float = real("probability that a node has children", 0.05, 1, 0.9),
    blocks_per_core: int = whole("blocks per core (assumed)", 1, 8, 1, 3, 3),
    threads: int = whole("threads per block", 1, BLOCK, 64, BLOCK, BLOCK),
    dealt: int = whole("tasks per core that the host deals out", 1, LOCAL, 2, 16, 16),
    padded: bool = switch("whether each stack's lock and head have lines of their own", False),
    atomics: str = ATOMICS,
    patience: int = whole(
        f"fruitless rounds after which a front gives up, {STALE}",
        10,
        1 << 30,
        4000,
        1 << 15,
        1 << 20,
    ),
) -> Outcome:
    """unbalanced tree search: local stacks that spill to and refill from a global one

    A random tree with an odd number of nodes. One launch; the host has processed the nodes above the dealt
    tasks.
    """
    tree, cores = Tree.random(rng, nodes | 1, fertility), gpu.machine.cores
    total = len(tree.values)
    capacity = max(total, 256)
    depths = tree.depths()
    tasks = tree.frontier(dealt * cores)
    known_to_host = np.zeros(total, bool)
    known_to_host[tasks] = True
    above = _above(tree, known_to_host)
    pitch = 32 if padded else 1
    records = np.zeros((total, RECORD), np.int32)
    records[:, VALUE], records[:, LEFT:] = tree.values, tree.children
    known = above | known_to_host
    records[known, DEPTH] = depths[known]
    stacks = np.zeros(capacity + cores * LOCAL, np.int32)
    heads = np.zeros((cores + 1) * pitch, np.int32)
    for place, task in enumerate(tasks):
        stacks[capacity + place % cores * LOCAL + place // cores] = task
        heads[(place % cores + 1) * pitch] += 1
    memory, tops = gpu.array(records.ravel()), gpu.array(heads)
    counters = gpu.array(np.array([above.sum(), 0, 0, 0], np.int32))
    gpu.launch(
        search_kernel(atomics),
        grid=cores * blocks_per_core,
        block=threads,
        placement="static",
        args=(
            memory,
            Stacks(gpu.array(stacks), tops, gpu.zeros((cores + 1) * pitch, np.int32), capacity),
            counters,
            total,
            cores,
            pitch,
            patience_on(cores, patience),
        ),
    )
    values = tree.values + np.where(known, 0, depths)
    leaves = tree.children[:, 0] == 0
    expected = np.column_stack((values, depths, np.where(known, 0, depths), tree.children))
    return combine(
        compare(
            "counter",
            counters.numpy(),
            [total, leaves.sum(), values[leaves].sum(), 0],
            details={"nodes": total, "leaves": int(leaves.sum()), "depth": int(depths.max())},
        ),
        compare("word of node", memory.numpy().reshape(total, RECORD), expected),
        compare("head", tops.numpy(), np.zeros_like(heads)),
    )
