"""The microbenchmarks ``mb-*``: latencies, bandwidths and costs of synchronisation, as GPUs' literature measures them.

Each measures with the cores' own clock, leaves its result in the outcome's details (``cycles`` of one step, in core
cycles), and checks its memory. ``mb-chase`` is a random cycle through a line each; ``mb-barrier`` is the pass of
gpu-benches' small kernels: a load, a multiplication and a store of a double, ``__syncthreads``, ``__threadfence``, an
increment of a counter by each block, and polling. ``gpucoh hardware --timing`` runs them on machines of published
latencies and compares them with GPUs' (docs/hardware.md); ``--cuda`` writes the same kernels in CUDA.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, choice, combine, compare, whole
from gpucoh.suite.declaration import workload

LINE = 32  # words: no two places of one line, at 128 bytes a line
LANES = 32


# ---- a chase


@lang.kernel
def chase(
    next_: lang.Buffer[lang.u32],
    out: lang.Buffer[lang.u32],
    first: lang.i32,
    warm: lang.i32,
    steps: lang.i32,
) -> None:
    """Follow indices, first untimed: out[0] is the cycles, out[1] the last index."""
    if lang.global_id() == 0:
        at = lang.u32(first)
        for _ in range(warm):
            at = next_[lang.i32(at)]
        start = lang.clock()
        for _ in range(steps):
            at = next_[lang.i32(at)]
        out[0] = lang.clock() - start
        out[1] = at


def cycle_of(rng: Generator, lines: int, stride: int, first: int = 0) -> NDArray[np.uint32]:
    """A random cycle through the first word of each of some places, ``stride`` words apart from word ``first``."""
    order = np.concatenate([[0], 1 + rng.permutation(lines - 1)]).astype(np.uint32)
    out = np.zeros(first + lines * stride, np.uint32)
    out[first + order * stride] = first + np.roll(order, -1) * stride
    return out


def after(links: NDArray[np.uint32], first: int, steps: int) -> int:
    """The index after some steps from the first."""
    at = first
    for _ in range(steps):
        at = int(links[at])
    return at


@workload(id="mb-chase", group="N", check="the last index equals NumPy's")
def chase_run(
    gpu: GpuLike,
    rng: Generator,
    kib: int = whole("KiB of the array, a word of each line read", 1, 1 << 20, 4, 64, 1024),
    stride: int = whole("bytes between places", 4, 1 << 20, 128),
    offset: int = whole("bytes before the first place", 0, 1 << 20, 0),
    warm: int = whole("passes over the array before the measured steps", 0, 16, 1),
    steps: int = whole("measured steps", 1, 1 << 20, 32, 512, 4096),
) -> Outcome:
    """pointer chase of one thread, a random cycle

    A random cycle through an array. One launch of one warp.
    """
    words = stride // 4
    lines = max(2, kib * 256 // words)
    first = offset // 4
    links = cycle_of(rng, lines, words, first)
    data, out = gpu.array(links), gpu.zeros(2, np.uint32)
    gpu.launch(chase, grid=1, block=LANES, args=(data, out, first, warm * lines, steps))
    cycles, last = (int(one) for one in out.numpy())
    wanted = after(links, first, (warm * lines + steps) % lines)
    return compare("out", [last], [wanted], details={"cycles": cycles / steps, "lines": lines})


# ---- bandwidth


@lang.kernel
def read_words(
    data: lang.Buffer[lang.u32],
    out: lang.Buffer[lang.u32],
    words: lang.i32,
    span: lang.i32,
    shift: lang.i32,
    rounds: lang.i32,
    times: lang.Buffer[lang.u32],
) -> None:
    """Sum a part of an array in accesses of 16 bytes, ``rounds`` times: the block's own, or that of a block further.

    A negative ``shift`` is the first part for all blocks. Two accesses are in flight, half of the part apart: a part is
    read once if ``span`` is half of its words, and twice if it is all.
    """
    total = lang.u32(0)
    first = 0
    if shift >= 0:
        first = (lang.block_id() + shift) % lang.grid_dim() * words
    start = lang.clock()
    for turn in range(rounds):
        if turn == 1:
            lang.barrier()
            start = lang.clock()
        i = lang.thread_id() * 4
        while i < span:
            a, b, c, d = lang.load4(data, first + i)
            j = i + words // 2
            if j >= words:
                j -= words
            e, f, g, h = lang.load4(data, first + j)
            total += a + b + c + d + e + f + g + h
            i += lang.block_dim() * 4
    lang.barrier()
    if lang.thread_id() == 0:
        times[lang.block_id()] = lang.clock() - start
    out[lang.global_id()] = total


@workload(id="mb-bandwidth", group="N", check="every thread's sum equals NumPy's")
def bandwidth_run(
    gpu: GpuLike,
    rng: Generator,
    level: str = choice(
        "what is read: one part again and again (l1), another core's part (l2), or a core's own at first (memory)",
        ("l1", "l2", "memory"),
        "l1",
    ),
    kib: int = whole("KiB that a block reads in a round", 1, 1 << 16, 2, 16, 16),
    rounds: int = whole("rounds of l1; the first is not measured", 2, 1000, 3, 21, 41),
    block: int = whole("threads a block", 32, 1024, 64, 1024, 1024),
    cores: int = whole("blocks; 0: one for each core", 0, 256, 2, 0, 0),
) -> Outcome:
    """read bandwidth of a level, 16 bytes a thread

    Random words. A block on each core. One launch; for the L2 another one before it, in which each core reads what
    another core reads then.
    """
    blocks = cores or gpu.machine.cores
    words = kib * 256
    turns = rounds if level == "l1" else 1
    span = words if level == "l1" else words // 2
    values = rng.integers(0, 1 << 16, words * (1 if level == "l1" else blocks), dtype=np.uint32)
    data, times = gpu.array(values), gpu.zeros(blocks, np.uint32)
    out = gpu.zeros(blocks * block, np.uint32)
    shifts = {"l1": (-1,), "l2": (0, 1), "memory": (0,)}[level]
    for shift in shifts:
        arguments = (data, out, words, span, shift, turns, times)
        gpu.launch(read_words, grid=blocks, block=block, args=arguments, placement="static")
    fours = values.reshape(-1, words // 4, 4).sum(axis=2, dtype=np.uint32)
    pairs = (fours + np.roll(fours, -(words // 8), axis=1))[:, : span // 4]
    sums = np.zeros((fours.shape[0], block), np.uint32)
    for begin in range(0, span // 4, block):
        part = pairs[:, begin : begin + block]
        sums[:, : part.shape[1]] += part
    read = (np.arange(blocks) + shifts[-1]) % blocks if level != "l1" else np.zeros(blocks, int)
    wanted = sums[read].reshape(-1) * np.uint32(turns)
    cycles = max(1, int(times.numpy().max()))
    moved = span * 8 * max(1, turns - 1)
    details = {"cycles": cycles, "bytes_per_cycle": moved / cycles}
    return compare("out", out.numpy(), wanted, details=details)


# ---- atomics


@lang.kernel
def add_in_turn(word: lang.Buffer[lang.u32], out: lang.Buffer[lang.u32], steps: lang.i32) -> None:
    """A dependent chain of atomics of one thread: each adds 1 at the index that the last one has found."""
    if lang.global_id() == 0:
        zero = lang.atomic_add(word, 0, lang.u32(1)) >> 31
        start = lang.clock()
        for _ in range(steps):
            zero = lang.atomic_add(word, lang.i32(zero), lang.u32(1)) >> 31
        out[0] = lang.clock() - start + zero


@lang.kernel
def add_together(word: lang.Buffer[lang.u32], out: lang.Buffer[lang.u32], steps: lang.i32) -> None:
    """Each warp's first lane adds to one word, ``steps`` times, each after the last."""
    if lang.lane_id() == 0:
        seen = lang.u32(0)
        start = lang.clock()
        for _ in range(steps):
            seen = lang.atomic_add(word, 0, lang.u32(1) + (seen >> 31))
        out[lang.block_id()] = lang.clock() - start + (seen >> 31)


@workload(id="mb-atomics", group="G", needs_coherence=True, check="the counter has every increment")
def atomics_run(
    gpu: GpuLike,
    rng: Generator,
    kind: str = choice(
        "one thread's dependent chain, or all cores on one word",
        ("dependent", "contended"),
        "dependent",
    ),
    steps: int = whole("atomics of a thread", 1, 1 << 16, 8, 64, 256),
    cores: int = whole("blocks of one warp, contended; 0: one for each core", 0, 256, 4, 0, 0),
) -> Outcome:
    """atomics on one word: a dependent chain, or all cores together

    No input. One launch.
    """
    del rng
    blocks = 1 if kind == "dependent" else cores or gpu.machine.cores
    word, out = gpu.zeros(1, np.uint32), gpu.zeros(blocks, np.uint32)
    kernel = add_in_turn if kind == "dependent" else add_together
    gpu.launch(kernel, grid=blocks, block=LANES, args=(word, out, steps))
    wanted = steps + 1 if kind == "dependent" else blocks * steps
    cycles = int(out.numpy().max()) / steps
    return compare("word", word.numpy(), [wanted], details={"cycles": cycles})


# ---- fences and releases

FENCES = ("nothing", "fence", "release", "acquire")


@lang.kernel
def fenced_stores(
    data: lang.Buffer[lang.u32],
    flag: lang.Buffer[lang.u32],
    out: lang.Buffer[lang.u32],
    steps: lang.i32,
    stores: lang.i32,
    pitch: lang.i32,
    kind: lang.i32,
) -> None:
    """``steps`` times: stores of a line each, ``pitch`` words further in each step, then a fence or release."""
    if lang.global_id() == 0:
        seen = lang.u32(0)
        start = lang.u32(0)
        for step in range(steps + 1):
            if step == 1:
                start = lang.clock()
            for i in range(stores):
                data[step * pitch + i * 32] = lang.u32(step + 1)
            if kind == 1:
                lang.fence("sc", "gpu")
            if kind == 2:
                lang.store(flag, 0, lang.u32(step + 1), order="release", scope="gpu")
            if kind == 3:
                seen += lang.load(flag, 0, order="acquire", scope="gpu")
        out[0] = lang.clock() - start + (seen >> 31)


@workload(id="mb-fence", group="N", check="every stored word is there")
def fence_run(
    gpu: GpuLike,
    rng: Generator,
    kind: str = choice("what follows the stores of a step", FENCES, "fence"),
    stores: int = whole("stores of a step, a line each", 0, 32, 1),
    lines: str = choice("the same lines in each step, or new ones", ("warm", "cold"), "warm"),
    steps: int = whole("steps", 1, 4096, 4, 32, 256),
) -> Outcome:
    """fences, releases and acquires of one thread after stores

    No input. One launch of one warp. The first step is not measured.
    """
    del rng
    pitch = LINE * max(1, stores) if lines == "cold" else 0
    words = LINE * max(1, stores) * (steps + 1 if pitch else 1)
    data, flag, out = (gpu.zeros(size, np.uint32) for size in (words, LINE, 1))
    arguments = (data, flag, out, steps, stores, pitch, FENCES.index(kind))
    gpu.launch(fenced_stores, grid=1, block=LANES, args=arguments)
    wanted = np.zeros(words, np.uint32)
    for step in range(steps + 1):
        wanted[step * pitch + np.arange(stores) * LINE] = step + 1
    last = steps + 1 if kind == "release" else 0
    details = {"cycles": int(out.numpy()[0]) / steps}
    return combine(
        compare("data", data.numpy(), wanted, details=details),
        compare("flag", flag.numpy()[:1], [last]),
    )


# ---- flags

PATIENCE = 1 << 12  # polls after which a block goes on: without coherence none may see the flag


@lang.kernel
def ping_pong(
    flag: lang.Buffer[lang.u32],
    data: lang.Buffer[lang.u32],
    out: lang.Buffer[lang.u32],
    rounds: lang.i32,
    message: lang.i32,
) -> None:
    """Two blocks answer each other by one flag, with a word of data if ``message``; out counts what they read."""
    if lang.thread_id() == 0:
        me = lang.block_id()
        got = lang.u32(0)
        start = lang.clock()
        for turn in range(rounds):
            want = lang.u32(2 * turn + me)
            tries = 0
            while tries < PATIENCE and (lang.load(flag, 0, order="acquire", scope="gpu") != want):
                tries += 1
            if message != 0:
                if data[32 - 32 * me] == want:
                    got += lang.u32(1)
                data[32 * me] = want + lang.u32(1)
            lang.store(flag, 0, want + lang.u32(1), order="release", scope="gpu")
        out[32 * me] = lang.clock() - start
        out[32 * me + 1] = got


@workload(
    id="mb-flag",
    group="G",
    needs_coherence=True,
    check="the flag has every turn, and each message the other block's last word",
)
def flag_run(
    gpu: GpuLike,
    rng: Generator,
    message: int = whole("words of data with the flag", 0, 1, 0),
    rounds: int = whole("round trips", 1, 1 << 16, 4, 64, 256),
) -> Outcome:
    """round trip of a flag between two cores

    No input. One launch of two blocks.
    """
    del rng
    flag, data, out = (gpu.zeros(2 * LINE, np.uint32) for _ in range(3))
    gpu.launch(ping_pong, grid=2, block=LANES, args=(flag, data, out, rounds, message))
    found = out.numpy()
    details = {"cycles": int(max(found[0], found[LINE])) / rounds}
    return combine(
        compare("flag", flag.numpy()[:1], [2 * rounds], details=details),
        compare("out", found[[1, LINE + 1]], [message * rounds] * 2),
    )


# ---- a barrier of the grid


@lang.kernel
def passes(
    counters: lang.Buffer[lang.u32],
    target: lang.Buffer[lang.f64],
    source: lang.Buffer[lang.f64],
    words: lang.i32,
    warm: lang.i32,
    count: lang.i32,
    out: lang.Buffer[lang.u32],
) -> None:
    """Passes over an array with a barrier of all blocks after each; the first ``warm`` are not measured."""
    start = lang.clock()
    for turn in range(warm + count):
        if turn == warm:
            start = lang.clock()
        i = lang.global_id()
        while i < words:
            target[i] = source[i] * lang.f64(0.25)
            i += lang.block_dim() * lang.grid_dim()
        lang.barrier()
        lang.fence("sc", "gpu")
        if lang.thread_id() == 0:
            lang.atomic_add(counters, turn, lang.u32(1))
            while lang.load(counters, turn, order="relaxed", scope="gpu") != lang.u32(
                lang.grid_dim()
            ):
                pass
        lang.barrier()
    if lang.thread_id() == 0:
        out[lang.block_id()] = lang.clock() - start


@workload(
    id="mb-barrier",
    group="G",
    needs_coherence=True,
    check="every word is a quarter of its source, and every counter has all blocks",
)
def barrier_run(
    gpu: GpuLike,
    rng: Generator,
    words: int = whole("doubles that a pass loads and stores", 32, 1 << 20, 128, 4096, 4096),
    block: int = whole("threads a block", 32, 1024, 32, 256, 256),
    warm: int = whole("passes before the measured ones", 0, 1000, 1, 4, 4),
    passes_: int = whole("measured passes", 1, 4096, 2, 28, 60),
) -> Outcome:
    """passes over an array with a barrier of the grid after each

    Random numbers. One launch, whose blocks must be resident.
    """
    blocks = max(1, words // block)
    numbers = rng.random(words)
    source, target = gpu.zeros(words, np.float64), gpu.zeros(words, np.float64)
    source[:] = numbers
    counters, out = gpu.zeros(warm + passes_, np.uint32), gpu.zeros(blocks, np.uint32)
    arguments = (counters, target, source, words, warm, passes_, out)
    gpu.launch(passes, grid=blocks, block=block, args=arguments)
    details = {"cycles": int(out.numpy().max()) / passes_, "blocks": blocks}
    return combine(
        compare("target", target.numpy(), numbers * 0.25, details=details),
        compare("counters", counters.numpy(), np.full(warm + passes_, blocks)),
    )
