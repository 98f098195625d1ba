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

from dataclasses import dataclass, replace
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
    combine,
    compare,
)
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


# `table` entries are line * 4 + kind. `barrier_kind` 0: only the block's own, 1: the blocks of the
# core, 2: consecutive blocks, which are on different cores. The three kinds of barrier differ in
# the scope of their atomics.
@lang.kernel
def run_phases(
    table: ReadOnlyI32,
    data: lang.Buffer[lang.i32],
    counters: lang.Buffer[lang.i32],
    sums: lang.Buffer[lang.i32],
    arrived: lang.Buffer[lang.i32],
    lines: lang.i32,
    sharing: lang.i32,
    phases: lang.i32,
    period: lang.i32,
    spread: lang.i32,
    shift: lang.i32,
    mixed: lang.i32,
    barrier_kind: lang.i32,
) -> None:
    """``phases`` phases of ``period`` accesses per warp; see the module."""
    entries = lang.shared(lang.i32, TABLE)
    thread = lang.thread_id()
    lane = thread % LANES
    block = lang.block_id()
    for i in range(thread, TABLE, lang.block_dim()):
        entries[i] = table[block * TABLE + i]
    group = block // sharing
    member = block % sharing
    if barrier_kind == 1:
        group = block % (lang.grid_dim() // sharing)
        member = block // (lang.grid_dim() // sharing)
    warps = sharing * (lang.block_dim() // LANES)
    own = member * (lang.block_dim() // LANES) + thread // LANES
    region = lines * LANES
    step = (thread // LANES) * WARP_STRIDE
    total = 0
    lang.barrier()
    for phase in range(phases):
        writing = (2 * group + phase % 2) * region
        reading = (2 * group + (phase + 1) % 2) * region
        for _ in range(period):
            entry = entries[step % TABLE]
            step += 1
            line = ((entry >> 2) + own * shift) % lines
            kind = entry & 3
            if kind == READ:
                other = (line + lane % spread) % lines
                total = total * 5 + data[reading + place(other, lane, mixed)]
            elif kind == WRITE:
                mine = line // warps * warps + own
                data[writing + place(mine, lane, mixed)] = step * 40503 + own * 977 + lane
            else:
                word = (group * COUNTER_LINES + line % COUNTER_LINES) * LANES + lane
                if barrier_kind == 1:
                    lang.atomic_add(counters, word, 1, order="relaxed", scope="cu")
                else:
                    lang.atomic_add(counters, word, 1, order="relaxed", scope="gpu")
        lang.barrier()
        target = (phase + 1) * sharing
        if thread == 0 and barrier_kind == 1:
            lang.atomic_add(arrived, group * LANES, 1, order="release", scope="cu")
            while lang.atomic_add(arrived, group * LANES, 0, order="acquire", scope="cu") < target:
                pass
        if thread == 0 and barrier_kind == 2:
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

    seed: int
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

    @classmethod
    def prepare(cls, setting: Setting) -> Traffic:
        """From checked parameters; a preset gives those that the user did not set."""
        preset = {
            k: v for k, v in PRESETS[setting.choice("preset")].items() if k not in setting.given
        }
        setting = replace(setting, params={**setting.params, **preset})
        reads, atomics = setting.real("reads"), setting.real("atomics")
        if reads + atomics > 1:
            raise setting.refuse(
                f"reads + atomics is {reads + atomics:g}; allowed: at most 1 (the rest are writes)"
            )
        sharing, scope = setting.integer("sharing"), setting.choice("scope")
        blocks, warps = setting.integer("blocks_per_core"), setting.integer("warps_per_block")
        if scope == "cta" and sharing != 1 and "sharing" in setting.given:
            raise setting.refuse(f"sharing is {sharing} with scope cta; allowed: 1, a block alone")
        if scope == "cu" and sharing != blocks and "sharing" in setting.given:
            raise setting.refuse(
                f"sharing is {sharing} with scope cu; allowed: {blocks}, the blocks of a core"
            )
        sharing = {"cta": 1, "cu": blocks, "gpu": sharing}[scope]
        mixed = setting.integer("false_sharing")
        if mixed & (mixed - 1) or (sharing * warps) % mixed:
            raise setting.refuse(
                f"false_sharing is {mixed}; allowed: a power of two that divides "
                f"the {sharing * warps} warps of a group"
            )
        operations, period = setting.integer("operations"), setting.integer("period")
        return cls(
            seed=setting.seed,
            working_set_lines=setting.integer("working_set") * 1024 // (4 * LANES),
            sharing=sharing,
            scope=scope,
            blocks_per_core=blocks,
            warps_per_block=warps,
            operations=operations,
            period=min(period, operations) or operations,
            reads=reads,
            atomics=atomics,
            reuse=setting.real("reuse"),
            distance=setting.integer("distance"),
            zipf=setting.real("zipf"),
            spread=setting.integer("spread"),
            shift=setting.integer("shift"),
            mixed=mixed.bit_length() - 1,
        )

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

    def run(self, gpu: GpuLike) -> Outcome:
        """One launch of a grid that is resident as a whole."""
        shape = self.shape(gpu.machine.cores)
        rng = np.random.default_rng(self.seed)
        table = self.table(shape, rng)
        start = rng.integers(0, 1 << 20, (shape.groups, 2, shape.lines, LANES), dtype=np.int32)
        threads = shape.warps_per_block * LANES
        order = self.places(shape)
        memory = np.empty((shape.groups, 2, shape.lines * LANES), np.int32)
        memory[..., order] = start.reshape(shape.groups, 2, -1)
        data = gpu.array(memory.ravel())
        counters = gpu.zeros(shape.groups * COUNTER_LINES * LANES, np.int32)
        sums = gpu.zeros(shape.blocks * threads, np.int32)
        phases = max(1, self.operations // self.period)
        barrier_kind = 0 if shape.sharing == 1 else 1 if shape.by_core else 2
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
                shape.lines,
                shape.sharing,
                phases,
                self.period,
                self.spread,
                self.shift,
                self.mixed,
                barrier_kind,
            ),
        )
        expected = reference_phases(
            shape, table, start, phases, self.period, self.spread, self.shift
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


def _number(
    name: str, low: float, high: float, defaults: Any, text: str, kind: Any = "int"
) -> Parameter:
    return Parameter(name=name, kind=kind, minimum=low, maximum=high, defaults=defaults, text=text)


REGISTRY.add(
    workload(
        Traffic,
        id="synthetic",
        title="parametric traffic: groups of blocks read what they wrote in the previous phase",
        group="I",
        papers=(),
        needs_coherence=True,
        check="sums of all values read, data and counters as computed by NumPy",
        parameters=(
            Parameter(
                name="preset",
                kind="choice",
                choices=tuple(PRESETS),
                defaults="none",
                text="where most accesses hit: sets sizes and mix unless they are given",
            ),
            _number(
                "working_set",
                1,
                65536,
                {"tiny": 4, "small": 16, "paper": 64},
                "KiB per half and group of blocks",
            ),
            _number(
                "sharing",
                1,
                256,
                4,
                "blocks that share a region (scope gpu; cta: 1, cu: the core's blocks)",
            ),
            Parameter(
                name="scope",
                kind="choice",
                choices=("cta", "cu", "gpu"),
                defaults="gpu",
                text="who shares: one block, the blocks of a core, blocks on different cores",
            ),
            _number(
                "blocks_per_core",
                1,
                8,
                {"tiny": 1, "small": 3, "paper": 4},
                "blocks per core, all resident",
            ),
            _number(
                "warps_per_block",
                1,
                16,
                {"tiny": 2, "small": 4, "paper": 6},
                "units of 32 threads per block",
            ),
            _number(
                "operations",
                1,
                1 << 20,
                {"tiny": 32, "small": 256, "paper": 4096},
                "accesses per thread",
            ),
            _number(
                "period",
                0,
                1 << 20,
                {"tiny": 8, "small": 32, "paper": 64},
                "accesses per phase; 0: one phase",
            ),
            _number("reads", 0, 1, 0.7, "fraction of accesses that are loads", "float"),
            _number(
                "atomics", 0, 1, 0.05, "fraction that are atomics; the rest are stores", "float"
            ),
            _number(
                "reuse",
                0,
                1,
                0.3,
                "probability that an access takes the line used `distance` accesses ago",
                "float",
            ),
            _number("distance", 1, TABLE - 1, 4, "reuse distance in accesses"),
            _number("zipf", 0, 4, 0.6, "skew of the lines drawn; 0: uniform", "float"),
            _number("spread", 1, LANES, 1, "lines that the lanes of one load touch; 1: coalesced"),
            _number(
                "shift",
                0,
                1 << 16,
                0,
                "lines by which each warp of a group shifts its accesses from the previous warp's",
            ),
            _number(
                "false_sharing", 1, LANES, 1, "warps that own words of one line, a power of two"
            ),
        ),
    )
)
