"""``synthetic``: a parametric generator of memory traffic, for sweeps.

Blocks form groups of ``sharing`` blocks that share a region of memory. The region has two halves of
lines. In each phase the warps of a group write one half, each warp its own words, and read what the
group wrote to the other half in the previous phase; a barrier of the group (`scope`: within the
block, of the blocks of a core, or across cores) ends the phase. So all plain accesses are free of
races, and every value read is predictable. Atomics count in words of their own. NumPy draws the
sequence of lines, and whether each is read, written or counted, into a table that each block keeps
in its scratchpad; so any skew and reuse distance is possible without additional global memory
accesses.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, Refused, choice, combine, compare, real, whole
from gpucoh.suite.buffers import ReadOnlyI32
from gpucoh.suite.declaration import workload

LANES = 32  # words of a line
TABLE = 512  # table entries per block
WARP_STRIDE = 101  # distance in the table between the starts of a block's warps
COUNTER_LINES = 8
READ, WRITE, COUNT = 0, 1, 2
# The presets assume first-level caches of tens of KiB per core and a second level of about 1 MiB.
PRESETS: dict[str, dict[str, float]] = {
    "none": {},
    "l1": {"working_set": 1, "sharing": 1, "reads": 0.95, "atomics": 0.0, "period": 0},
    "l2": {
        "working_set": 48,
        "sharing": 4,
        "reads": 0.9,
        "atomics": 0.0,
        "period": 0,
        "zipf": 0.0,
        "reuse": 0.0,
    },
    "dram": {
        "working_set": 512,
        "sharing": 1,
        "reads": 0.9,
        "atomics": 0.0,
        "period": 0,
        "zipf": 0.0,
        "reuse": 0.0,
        "shift": 1021,
    },
}


@lang.device
def place(line: lang.i32, lane: lang.i32, mixed: lang.i32) -> lang.i32:
    """Word of a lane of a warp's line, where the lines of ``1 << mixed`` warps are interleaved word
    by word.
    """
    each = LANES >> mixed
    first = (line >> mixed) << mixed
    return (first + lane // each) * LANES + ((lane % each) << mixed) + line - first


@lang.record
class Pattern:
    """The numbers of a run. ``barrier_kind`` 0: only the block's own, 1: the blocks of the core, 2: consecutive blocks,
    which are on different cores. The three kinds of barrier differ in the scope of their atomics.
    """

    lines: lang.i32
    sharing: lang.i32
    phases: lang.i32
    period: lang.i32
    spread: lang.i32
    shift: lang.i32
    mixed: lang.i32
    barrier_kind: lang.i32


# `table` entries are line * 4 + kind.
@lang.kernel
def run_phases(
    table: ReadOnlyI32,
    data: lang.Buffer[lang.i32],
    counters: lang.Buffer[lang.i32],
    sums: lang.Buffer[lang.i32],
    arrived: lang.Buffer[lang.i32],
    pattern: Pattern,
) -> None:
    """``phases`` pattern.phases of ``period`` accesses per warp; see the module."""
    entries = lang.shared(lang.i32, TABLE)
    thread = lang.thread_id()
    lane = thread % LANES
    block = lang.block_id()
    for i in range(thread, TABLE, lang.block_dim()):
        entries[i] = table[block * TABLE + i]
    group = block // pattern.sharing
    member = block % pattern.sharing
    if pattern.barrier_kind == 1:
        group = block % (lang.grid_dim() // pattern.sharing)
        member = block // (lang.grid_dim() // pattern.sharing)
    warps = pattern.sharing * (lang.block_dim() // LANES)
    own = member * (lang.block_dim() // LANES) + thread // LANES
    region = pattern.lines * LANES
    step = (thread // LANES) * WARP_STRIDE
    total = 0
    lang.barrier()
    for phase in range(pattern.phases):
        writing = (2 * group + phase % 2) * region
        reading = (2 * group + (phase + 1) % 2) * region
        for _ in range(pattern.period):
            entry = entries[step % TABLE]
            step += 1
            line = ((entry >> 2) + own * pattern.shift) % pattern.lines
            kind = entry & 3
            if kind == READ:
                other = (line + lane % pattern.spread) % pattern.lines
                total = total * 5 + data[reading + place(other, lane, pattern.mixed)]
            elif kind == WRITE:
                mine = line // warps * warps + own
                data[writing + place(mine, lane, pattern.mixed)] = step * 40503 + own * 977 + lane
            else:
                word = (group * COUNTER_LINES + line % COUNTER_LINES) * LANES + lane
                if pattern.barrier_kind == 1:
                    lang.atomic_add(counters, word, 1, order="relaxed", scope="cu")
                else:
                    lang.atomic_add(counters, word, 1, order="relaxed", scope="gpu")
        lang.barrier()
        target = (phase + 1) * pattern.sharing
        if thread == 0 and pattern.barrier_kind == 1:
            lang.atomic_add(arrived, group * LANES, 1, order="release", scope="cu")
            while lang.atomic_add(arrived, group * LANES, 0, order="acquire", scope="cu") < target:
                pass
        if thread == 0 and pattern.barrier_kind == 2:
            lang.atomic_add(arrived, group * LANES, 1, order="release", scope="gpu")
            while lang.atomic_add(arrived, group * LANES, 0, order="acquire", scope="gpu") < target:
                pass
        lang.barrier()
    sums[lang.global_id()] = total


@dataclass(frozen=True)
class Shape:
    """The layout of the grid on a machine, in blocks, warps and lines.

    ``lines`` is the lines of one half of a group's region, a multiple of the group's warps.
    """

    blocks: int
    warps_per_block: int
    sharing: int
    by_core: bool
    lines: int

    @property
    def groups(self) -> int:
        """Number of groups of blocks that share a region."""
        return self.blocks // self.sharing

    @property
    def warps_per_group(self) -> int:
        """Number of warps that share a region."""
        return self.sharing * self.warps_per_block

    def group_and_rank(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Group and rank in the group of each warp of the grid, shapes ``(blocks *
        warps_per_block,)``.
        """
        block = np.repeat(np.arange(self.blocks), self.warps_per_block)
        warp = np.tile(np.arange(self.warps_per_block), self.blocks)
        if self.by_core:
            return block % self.groups, block // self.groups * self.warps_per_block + warp
        return block // self.sharing, block % self.sharing * self.warps_per_block + warp


@dataclass(frozen=True)
class Traffic:
    """The parameters of ``synthetic``; the workload's description below documents them."""

    rng: Generator  # whose next numbers are those of table and data
    working_set_lines: int
    sharing: int
    scope: str
    blocks_per_core: int
    warps_per_block: int
    operations: int
    period: int
    reads: float
    atomics: float
    reuse: float
    distance: int
    zipf: float
    spread: int
    shift: int
    mixed: int

    def shape(self, cores: int) -> Shape:
        """The grid on a machine of ``cores`` cores, without blocks that do not fill a group."""
        wanted = cores * self.blocks_per_core
        sharing = min(self.sharing, wanted)
        warps = sharing * self.warps_per_block
        lines = max(1, self.working_set_lines // warps) * warps
        return Shape(
            wanted - wanted % sharing, self.warps_per_block, sharing, self.scope == "cu", lines
        )

    def table(self, shape: Shape, rng: np.random.Generator) -> NDArray[np.int32]:
        """Accesses of each block, ``line * 4 + kind``; int32, shape ``(blocks, TABLE)``."""
        weights = 1.0 / np.arange(1, shape.lines + 1) ** self.zipf
        ranks = np.searchsorted(
            np.cumsum(weights), rng.random((shape.blocks, TABLE)) * weights.sum()
        )
        lines = rng.permutation(shape.lines)[np.minimum(ranks, shape.lines - 1)]
        again = rng.random((shape.blocks, TABLE)) < self.reuse
        for i in range(self.distance, TABLE):
            lines[again[:, i], i] = lines[again[:, i], i - self.distance]
        dice = rng.random((shape.blocks, TABLE))
        kinds = np.where(
            dice < self.reads, READ, np.where(dice < self.reads + self.atomics, COUNT, WRITE)
        )
        return np.asarray(lines * 4 + kinds, np.int32)

    def places(self, shape: Shape) -> NDArray[np.int64]:
        """Position of word ``line * LANES + lane`` of a warp's line in a half, as in the device
        function `place` has it.
        """
        line, lane = np.divmod(np.arange(shape.lines * LANES), LANES)
        each = LANES >> self.mixed
        first = (line >> self.mixed) << self.mixed
        return np.asarray(
            (first + lane // each) * LANES + ((lane % each) << self.mixed) + line - first
        )


def reference_phases(
    shape: Shape,
    table: NDArray[np.int32],
    start: NDArray[np.int32],
    phases: int,
    period: int,
    spread: int,
    shift: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """The expected result, by NumPy over all warps at once.

    Returns
    -------
    Sums, int32, shape ``(threads of the grid,)``; the data, shape as ``start`` ``(groups, 2, lines,
    LANES)``; the counters, shape ``(groups, COUNTER_LINES, LANES)``.
    """
    data = start.copy()
    counters = np.zeros((shape.groups, COUNTER_LINES, LANES), np.int32)
    group, own = shape.group_and_rank()
    block = np.repeat(np.arange(shape.blocks), shape.warps_per_block)
    step = np.tile(np.arange(shape.warps_per_block) * WARP_STRIDE, shape.blocks)
    lane = np.arange(LANES)
    sums = np.zeros((group.size, LANES), np.uint32)
    for phase in range(phases):
        writing, reading = phase % 2, (phase + 1) % 2
        for _ in range(period):
            entry = table[block, step % TABLE]
            step = step + 1
            line, kind = ((entry >> 2) + own * shift) % shape.lines, entry & 3
            r = kind == READ
            other = (line[r, None] + lane % spread) % shape.lines
            sums[r] = sums[r] * np.uint32(5) + data[group[r, None], reading, other, lane].view(
                np.uint32
            )
            w = kind == WRITE
            mine = line[w] // shape.warps_per_group * shape.warps_per_group + own[w]
            value = step[w, None] * 40503 + own[w, None] * 977 + lane
            data[group[w], writing, mine] = value.astype(np.int64).astype(np.int32)
            c = kind == COUNT
            np.add.at(counters, (group[c], line[c] % COUNTER_LINES), np.int32(1))
    return sums.view(np.int32).ravel(), data, counters


def traffic_of(
    rng: Generator,
    given: frozenset[str],
    preset: str = choice(
        "where most accesses hit: sets sizes and mix unless they are given", tuple(PRESETS), "none"
    ),
    working_set: int = whole("KiB per half and group of blocks", 1, 65536, 4, 16, 64),
    sharing: int = whole(
        "blocks that share a region (scope gpu; cta: 1, cu: the core's blocks)", 1, 256, 4
    ),
    scope: str = choice(
        "who shares: one block, the blocks of a core, blocks on different cores",
        ("cta", "cu", "gpu"),
        "gpu",
    ),
    blocks_per_core: int = whole("blocks per core, all resident", 1, 8, 1, 3, 4),
    warps_per_block: int = whole("units of 32 threads per block", 1, 16, 2, 4, 6),
    operations: int = whole("accesses per thread", 1, 1 << 20, 32, 256, 4096),
    period: int = whole("accesses per phase; 0: one phase", 0, 1 << 20, 8, 32, 64),
    reads: float = real("fraction of accesses that are loads", 0, 1, 0.7),
    atomics: float = real("fraction that are atomics; the rest are stores", 0, 1, 0.05),
    reuse: float = real(
        "probability that an access takes the line used `distance` accesses ago", 0, 1, 0.3
    ),
    distance: int = whole("reuse distance in accesses", 1, TABLE - 1, 4),
    zipf: float = real("skew of the lines drawn; 0: uniform", 0, 4, 0.6),
    spread: int = whole("lines that the lanes of one load touch; 1: coalesced", 1, LANES, 1),
    shift: int = whole(
        "lines by which each warp of a group shifts its accesses from the previous warp's",
        0,
        1 << 16,
        0,
    ),
    false_sharing: int = whole("warps that own words of one line, a power of two", 1, LANES, 1),
) -> Traffic:
    """From checked parameters; a preset gives those that the user did not set."""
    values: dict[str, Any] = {
        "working_set": working_set,
        "sharing": sharing,
        "reads": reads,
        "atomics": atomics,
        "period": period,
        "zipf": zipf,
        "reuse": reuse,
        "shift": shift,
    }
    values |= {name: value for name, value in PRESETS[preset].items() if name not in given}
    if values["reads"] + values["atomics"] > 1:
        raise Refused(
            f"reads + atomics is {values['reads'] + values['atomics']:g}; allowed: at most 1 (the rest are writes)"
        )
    sharing = values["sharing"]
    if scope == "cta" and sharing != 1 and "sharing" in given:
        raise Refused(f"sharing is {sharing} with scope cta; allowed: 1, a block alone")
    if scope == "cu" and sharing != blocks_per_core and "sharing" in given:
        raise Refused(
            f"sharing is {sharing} with scope cu; allowed: {blocks_per_core}, the blocks of a core"
        )
    sharing = {"cta": 1, "cu": blocks_per_core, "gpu": sharing}[scope]
    if false_sharing & (false_sharing - 1) or (sharing * warps_per_block) % false_sharing:
        raise Refused(
            f"false_sharing is {false_sharing}; allowed: a power of two that divides "
            f"the {sharing * warps_per_block} warps of a group"
        )
    return Traffic(
        rng=rng,
        working_set_lines=values["working_set"] * 1024 // (4 * LANES),
        sharing=sharing,
        scope=scope,
        blocks_per_core=blocks_per_core,
        warps_per_block=warps_per_block,
        operations=operations,
        period=min(values["period"], operations) or operations,
        reads=values["reads"],
        atomics=values["atomics"],
        reuse=values["reuse"],
        distance=distance,
        zipf=values["zipf"],
        spread=spread,
        shift=values["shift"],
        mixed=false_sharing.bit_length() - 1,
    )


@workload(
    id="synthetic",
    group="I",
    check="sums of all values read, data and counters as computed by NumPy",
    input=traffic_of,
)
def synthetic(gpu: GpuLike, traffic: Traffic) -> Outcome:
    """parametric traffic: groups of blocks read what they wrote in the previous phase

    One launch of a grid that is resident as a whole.
    """
    shape = traffic.shape(gpu.machine.cores)
    rng = copy.deepcopy(traffic.rng)
    table = traffic.table(shape, rng)
    start = rng.integers(0, 1 << 20, (shape.groups, 2, shape.lines, LANES), dtype=np.int32)
    threads = shape.warps_per_block * LANES
    order = traffic.places(shape)
    memory = np.empty((shape.groups, 2, shape.lines * LANES), np.int32)
    memory[..., order] = start.reshape(shape.groups, 2, -1)
    data = gpu.array(memory.ravel())
    counters = gpu.zeros(shape.groups * COUNTER_LINES * LANES, np.int32)
    sums = gpu.zeros(shape.blocks * threads, np.int32)
    phases = max(1, traffic.operations // traffic.period)
    barrier_kind = 0 if shape.sharing == 1 else 1 if shape.by_core else 2
    pattern = Pattern(
        lines=shape.lines,
        sharing=shape.sharing,
        phases=phases,
        period=traffic.period,
        spread=traffic.spread,
        shift=traffic.shift,
        mixed=traffic.mixed,
        barrier_kind=barrier_kind,
    )
    gpu.launch(
        run_phases,
        grid=shape.blocks,
        block=threads,
        args=(
            gpu.array(table.ravel()),
            data,
            counters,
            sums,
            gpu.zeros(shape.groups * LANES, np.int32),
            pattern,
        ),
    )
    expected = reference_phases(
        shape, table, start, phases, traffic.period, traffic.spread, traffic.shift
    )
    details: dict[str, Any] = {
        "blocks": shape.blocks,
        "groups": shape.groups,
        "lines": shape.lines,
    }
    words = data.numpy().reshape(memory.shape)[..., order].reshape(start.shape)
    return combine(
        compare("sum", sums.numpy(), expected[0], details=details),
        compare("data", words, expected[1]),
        compare("counter", counters.numpy().reshape(expected[2].shape), expected[2]),
    )
