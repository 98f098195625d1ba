"""Programs that public projects had wrong, each with its mend (``mended=1``): docs/real-bugs.md names their threads."""

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

import gpucoh
from gpucoh import Buffer, i32

SCALES = {"tiny": {"mended": 0}, "small": {"mended": 0}, "paper": {"mended": 0}}


@gpucoh.kernel
def publish(values: Buffer[i32], heads: Buffer[i32], out: Buffer[i32], n: i32, mended: i32):
    """Blocks insert nodes into a list by compare-and-swap; the others look at the values of those that they see."""
    me = gpucoh.block_id()
    if gpucoh.thread_id() == 0:
        for i in range(n):
            node = me * n + i + 1
            gpucoh.store(values, node * 32, 7 * node)
            if mended == 1:
                gpucoh.atomic_exch(heads, me * 32, node, order="release")
            else:
                gpucoh.atomic_exch(heads, me * 32, node, order="relaxed")
            other = (me + 1) % gpucoh.grid_dim()
            seen = 0
            if mended == 1:
                seen = gpucoh.load(heads, other * 32, order="acquire")
            else:
                seen = gpucoh.load(heads, other * 32, order="relaxed")
            if seen != 0 and gpucoh.load(values, seen * 32) != 7 * seen:
                out[me] = out[me] + 1


@gpucoh.workload(scales=SCALES)
def list_insert(gpu, rng, mended):
    """A list whose nodes are published before their values."""
    blocks, n = gpu.machine.cores, 40
    values, heads = gpu.zeros((blocks * n + 1) * 32, np.int32), gpu.zeros(32 * blocks, np.int32)
    out = gpu.zeros(blocks, np.int32)
    gpu.launch(publish, grid=blocks, block=32, args=(values, heads, out, n, mended))
    return {"values that were not there": (out, np.zeros(blocks, np.int32))}


@gpucoh.kernel
def look_back(sums: Buffer[i32], flags: Buffer[i32], out: Buffer[i32], mended: i32):
    """A scan: each block adds its number to the sum of the block before it, which it awaits."""
    me = gpucoh.block_id()
    if gpucoh.thread_id() == 0:
        before = gpucoh.load(sums, me)  # a look at the line, as another tile of the same line has
        total = me + 1 + 0 * before
        if me > 0:
            if mended == 1:
                while gpucoh.load(flags, me - 1, order="acquire") == 0:
                    pass
            else:
                while gpucoh.load(flags, me - 1, order="relaxed") == 0:
                    pass
            total = total + gpucoh.load(sums, me - 1)
        gpucoh.store(sums, me, total)
        if mended == 1:
            gpucoh.store(flags, me, 1, order="release")
        else:
            gpucoh.store(flags, me, 1, order="relaxed")
        out[me] = total


@gpucoh.workload(scales=SCALES)
def scan(gpu, rng, mended):
    """A scan with look-back whose sums are plain and whose flags order nothing."""
    blocks = gpu.machine.cores
    sums, flags, out = (gpu.zeros(blocks, np.int32) for _ in range(3))
    gpu.launch(look_back, grid=blocks, block=32, args=(sums, flags, out, mended))
    return {"sums": (out, np.cumsum(np.arange(1, blocks + 1)))}


@gpucoh.kernel
def split_k(partial: Buffer[i32], turn: Buffer[i32], mended: i32):
    """Blocks add to one array in turns: all threads write, thread 0 passes the turn on."""
    me, t = gpucoh.block_id(), gpucoh.thread_id()
    if t == 0:
        while gpucoh.load(turn, 0, order="acquire") != me:
            pass
    gpucoh.barrier()
    partial[t] = partial[t] + me + 1
    gpucoh.barrier()
    if t == 0:
        if mended == 1:
            gpucoh.fence()
        gpucoh.store(turn, 0, me + 1, order="relaxed")


@gpucoh.workload(scales=SCALES)
def serial_sum(gpu, rng, mended):
    """A sum in turns whose turn is passed on without a fence."""
    blocks = gpu.machine.cores
    partial, turn = gpu.zeros(128, np.int32), gpu.zeros(1, np.int32)
    gpu.launch(split_k, grid=blocks, block=128, args=(partial, turn, mended))
    return {"sums": (partial, np.full(128, blocks * (blocks + 1) // 2))}


@gpucoh.kernel
def hand_over(data: Buffer[i32], ready: Buffer[i32], out: Buffer[i32], mended: i32):
    """A block writes words and sets a flag behind a barrier that should have been a fence."""
    t = gpucoh.thread_id()
    if gpucoh.block_id() == 0:
        data[t] = t + 1
        if mended == 1:
            gpucoh.fence()
        else:
            gpucoh.barrier()
        gpucoh.store(ready, t, 1, order="relaxed")
    else:
        while gpucoh.load(ready, t, order="relaxed") == 0:
            pass
        if mended == 1:
            gpucoh.fence()
        else:
            gpucoh.barrier()
        out[(gpucoh.block_id() - 1) * 32 + t] = data[t]


@gpucoh.workload(scales=SCALES)
def barrier_as_fence(gpu, rng, mended):
    """Words handed over behind barriers of the block instead of fences."""
    readers = gpu.machine.cores - 1
    data, ready, out = (
        gpu.zeros(32, np.int32),
        gpu.zeros(32, np.int32),
        gpu.zeros(32 * readers, np.int32),
    )
    gpu.launch(hand_over, grid=readers + 1, block=32, args=(data, ready, out, mended))
    return {"words": (out, np.tile(np.arange(1, 33), readers))}


@gpucoh.kernel
def low_latency(line: Buffer[i32], out: Buffer[i32], n: i32, mended: i32):
    """A sender writes words into a slot; the receiver polls the slot itself."""
    if gpucoh.thread_id() == 0:
        if gpucoh.block_id() == 0:
            for i in range(n):
                if mended == 1:
                    gpucoh.store(line, i, i + 1, order="release")
                else:
                    line[i] = i + 1
        else:
            for i in range(n):
                if mended == 1:
                    while gpucoh.load(line, i, order="acquire") == 0:
                        pass
                    out[i] = gpucoh.load(line, i, order="relaxed")
                else:
                    while line[i] == 0:
                        pass
                    out[i] = line[i]


@gpucoh.workload(scales=SCALES)
def send(gpu, rng, mended):
    """A receiver that polls words with plain loads, of a sender without fences."""
    line, out = gpu.zeros(64, np.int32), gpu.zeros(64, np.int32)
    gpu.launch(low_latency, grid=2, block=32, args=(line, out, 64, mended))
    return {"words": (out, np.arange(1, 65))}


@gpucoh.kernel
def scan_block(x: Buffer[i32], out: Buffer[i32], mended: i32):
    """A scan in the scratchpad that reads a neighbour's word which may be the next step's."""
    t = gpucoh.thread_id()
    words = gpucoh.shared(i32, 256)
    words[t] = x[t]
    gpucoh.barrier()
    step = 1
    while step < 256:
        add = 0
        if t >= step:
            add = words[t - step]
        if mended == 1:
            gpucoh.barrier()
        words[t] = words[t] + add
        gpucoh.barrier()
        step = step * 2
    out[t] = words[t]


@gpucoh.workload(scales=SCALES)
def parallel_scan(gpu, rng, mended):
    """A scan of a block that lacks a barrier between reads and writes."""
    x = rng.integers(0, 100, 256).astype(np.int32)
    out = gpu.zeros(256, np.int32)
    gpu.launch(scan_block, grid=1, block=256, args=(gpu.array(x), out, mended))
    return {"sums": (out, np.cumsum(x))}


@gpucoh.kernel
def hook(edges: Buffer[i32], parent: Buffer[i32], n: i32, mended: i32):
    """Union-find: roots are linked by compare-and-swap, paths are shortened by plain stores."""
    e = gpucoh.global_id()
    if e < n:
        u, v = edges[2 * e], edges[2 * e + 1]
        done = 0
        while done == 0:
            up = gpucoh.load(parent, u, order="relaxed")
            while up != u:
                above = gpucoh.load(parent, up, order="relaxed")
                if mended == 1:
                    gpucoh.atomic_cas(parent, u, up, above)
                else:
                    parent[u] = above
                u = up
                up = gpucoh.load(parent, u, order="relaxed")
            vp = gpucoh.load(parent, v, order="relaxed")
            while vp != v:
                v = vp
                vp = gpucoh.load(parent, v, order="relaxed")
            if u == v:
                done = 1
            elif u > v:
                if gpucoh.atomic_cas(parent, u, u, v) == u:
                    done = 1
            else:
                if gpucoh.atomic_cas(parent, v, v, u) == v:
                    done = 1


@gpucoh.workload(scales=SCALES)
def components(gpu, rng, mended):
    """Connected components whose paths are shortened by plain stores."""
    nodes, n = 256, 512
    edges = rng.integers(0, nodes, (n, 2)).astype(np.int32)
    parent = gpu.array(np.arange(nodes, dtype=np.int32))
    gpu.launch(hook, grid=n // 64, block=64, args=(gpu.array(edges.ravel()), parent, n, mended))
    root = parent.numpy().copy()
    for _ in range(8):  # 256 nodes: no path is longer
        root = root[root]
    links = coo_matrix((np.ones(n), edges.T), shape=(nodes, nodes))
    part = connected_components(links, directed=False)[1]
    first = np.array([np.flatnonzero(part == part[node])[0] for node in range(nodes)])
    return {"components": (root, first.astype(np.int32))}
