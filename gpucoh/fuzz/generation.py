"""Random machines, layouts and cases, all from one seed; equal seeds give equal runs.

A case is free of data races by construction: an episode first chooses the warps that it acquires from, which gives it
their knowledge, and then takes its locations from those that this knowledge permits: no concurrent episode uses them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh.base.errors import ConfigError
from gpucoh.device.gpu import GPU as Simulated
from gpucoh.fuzz.cases import (
    CTA,
    CU,
    GPU,
    NOWHERE,
    Case,
    Episode,
    Layout,
    Meeting,
    Op,
    Shape,
    Step,
    Weaver,
    Words,
)
from gpucoh.fuzz.programs import ACQUIRES, RELEASES, VECTORS
from gpucoh.machines import Machine, machine

#: Orders of data accesses: mostly weak ones.
_LOAD_ORDERS = ("WEAK",) * 12 + ("RELAXED", "RELAXED", "ACQUIRE", "SC")
_STORE_ORDERS = ("WEAK",) * 12 + ("RELAXED", "RELAXED", "RELEASE", "SC")
_ATOMIC_ORDERS = ("RELAXED", "RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SC")


class Dice:
    """Random choices from one seed: single numbers from Python's generator, arrays from NumPy's."""

    def __init__(self, *seed: int) -> None:
        self.arrays = np.random.default_rng(seed)
        self._random = random.Random(int(self.arrays.integers(2**63)))
        self.chance = self._random.random

    def below(self, end: int) -> int:
        """A whole number from 0 to ``end`` - 1."""
        return int(self.chance() * end)

    def between(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, inclusive."""
        return low + int(self.chance() * (high + 1 - low))

    def spread(self, low: float, high: float) -> float:
        """A number between the two, uniform in its logarithm."""
        return float(np.exp(self._random.uniform(np.log(low), np.log(high))))

    def pick(self, *choices: Any) -> Any:
        """One of the items."""
        return choices[int(self.chance() * len(choices))]


@dataclass(frozen=True, kw_only=True)
class Habits:
    """Parameters of the episodes of one case."""

    ops: int
    lanes: tuple[Words, ...]
    reads: float
    swaps: float
    counts: float
    fences: float
    sleeps: float
    meetings: float
    listens: int
    gather: float
    #: Probability that an access goes to a hot location, and the hot locations (a flag for each location).
    heat: float
    #: Probability that an episode runs on a recently used warp and acquires from the latest one: its locations then
    #: move between two cores while copies of them remain.
    chase: float
    #: How episodes wait: by cached flags, or at the L2, where hand-overs are faster than leases expire.
    acquires: tuple[str, ...]
    hot: NDArray[np.bool_]


def random_machine(dice: Dice, *, tiny: bool, **fixed: Any) -> Machine:
    """A machine with caches of a few lines, or of normal size; buffers, queues and latencies at random.

    Parameters
    ----------
    dice : Dice
    tiny : bool
        Whether caches have a few lines and MSHRs a handful of entries.
    **fixed
        ``cores`` and ``line_bytes`` if they are fixed.

    Raises
    ------
    ConfigError
        If no such machine can be built (an error in this function).
    """
    line = fixed.get("line_bytes") or dice.pick(32, 64, 128, 128)
    fields: dict[str, Any] = {
        "cores": fixed.get("cores") or dice.pick(2, 2, 3, 4, 6), "partitions": dice.pick(1, 2, 2, 4),
        "line_bytes": line, "interleave_bytes": dice.pick(line, 256, 256), "blocks_per_core": 4, "warps_per_core": 16,
        "requests_per_core": dice.pick(64, 128), "scratchpad_kib": 1,
        "timestamp_bits": dice.pick(32, 32, 14, 15),
        "topology": dice.pick("crossbar", "crossbar", "mesh"), "mesh_width": 2, "noc_latency": dice.pick(1, 2, 4),
        "load_store_queue": dice.pick(1, 2, 8), "dram_burst_bytes": 32, "dram_queue": dice.pick(1, 2, 8, 32),
        "l1_latency": dice.pick(1, 4, 30), "l2_round_trip": dice.pick(dice.between(40, 100), dice.between(90, 350)),
        "vc_flits": dice.pick(1, 2, 8, 8), "flit_bytes": dice.pick(8, 32), "noc_mhz": dice.pick(700, 1400),
        "alu_latency": dice.pick(1, 6), "dram_model": dice.pick("fixed", "fixed", "fr_fcfs", "closed"),
    }  # fmt: skip
    if tiny:
        l1_ways, l2_ways = dice.pick(1, 2, 2, 4), dice.pick(1, 2, 4)
        l1_sets, l2_sets = dice.pick(1, 1, 2, 4), dice.pick(1, 2, 4)
        fields |= {
            "l1_ways": l1_ways, "l1_kib": l1_sets * l1_ways * line / 1024, "l1_mshrs": dice.pick(1, 2, 4, 8, 16),
            "l2_ways": l2_ways, "l2_kib": l2_sets * l2_ways * line / 1024, "l2_mshrs": dice.pick(2, 3, 4, 8, 16),
        }  # fmt: skip
    else:
        fields |= {"l1_kib": 16, "l1_ways": 4, "l2_kib": 64, "l2_ways": 8}
    fields["dram_round_trip"] = fields["l2_round_trip"] + dice.between(
        100, 240
    )  # past a memory side
    # From what is drawn already, so that seeds keep their programs.
    fields["noc_jitter"] = 9 if fields["alu_latency"] == 6 and fields["vc_flits"] == 8 else 0
    return machine("fermi").replace(**fields)


def random_options(
    dice: Dice, ranges: Mapping[str, tuple[int, int]], given: Mapping[str, int]
) -> dict[str, int]:
    """Random values for a protocol's options, large, small or default; given options are kept.

    Parameters
    ----------
    dice : Dice
    ranges : mapping
        Option -> smallest and largest value to use.
    given : mapping
        The options that the user gave.
    """
    out = dict(given)
    for name, (low, high) in ranges.items():
        draw = dice.chance()
        value = low - 1 + int(dice.spread(1, high - low + 2))
        if draw < 0.3:
            value = dice.between(low, high)
        if name not in out and draw < 0.7:
            out[name] = min(value, high)
    return out


def random_shape(dice: Dice, built: Machine, most_warps: int) -> Shape:
    """A random number of blocks and warps, all resident at once."""
    warps_per_block = dice.pick(1, 1, 2, 2, 4)
    blocks_per_core = dice.between(1, 3)
    registers = warps_per_block * (VECTORS + 1) * built.lanes_per_warp
    by_warps, by_registers = (
        built.warps_per_core // warps_per_block,
        built.registers_per_core // registers,
    )
    most = min(built.blocks_per_core, by_warps, by_registers)
    blocks = built.cores * min(blocks_per_core, most)
    blocks = max(2, min(blocks, most_warps // warps_per_block))
    return Shape(
        cores=built.cores, blocks=blocks, warps_per_block=warps_per_block, lanes=built.lanes_per_warp,
        line_words=built.line_bytes // 4,
    )  # fmt: skip


def random_layout(dice: Dice, shape: Shape, built: Machine) -> Layout:
    """Data, flags and counters mixed on a few lines, adjacent or apart by the stride of an L2 set."""
    counters = _counters(dice, shape)
    lines = int(dice.spread(3, 80))
    reserved = 3 * shape.warps + len(counters)
    lines = max(lines, -(-(reserved + 8) // shape.line_words))
    sets = max(1, built.derived["l2_sets"])
    stride = dice.pick(1, 1, 2, int(min(sets * built.partitions, 4096 // lines + 1)))
    places = np.arange(lines * shape.line_words)
    words = places // shape.line_words * stride * shape.line_words + places % shape.line_words
    words = dice.arrays.permutation(words)
    left = len(words) - reserved
    data = max(8, int(left * dice.pick(0.15, 0.5, 1.0)))
    flags = words[: 3 * shape.warps].reshape(shape.warps, 3)
    return Layout(
        words=int(words.max()) + 1, flags=flags, counters=words[3 * shape.warps : reserved],
        data=np.sort(words[reserved : reserved + data]), reach=tuple(counters),
    )  # fmt: skip


def _counters(dice: Dice, shape: Shape) -> list[tuple[int, int]]:
    """Scopes of counters: GPU, each core, and some blocks."""
    out = [(GPU, 0)] * dice.between(1, 3)
    out += [(CU, core) for core in range(shape.cores)]
    out += [(CTA, block) for block in range(min(shape.blocks, 6))]
    return out


def random_habits(dice: Dice, shape: Shape, locations: int) -> Habits:
    """Random parameters of the episodes of a case."""
    few, many = (1, 2, 3), (shape.lanes // 4, shape.lanes // 2, shape.lanes, shape.lanes)
    sizes = dice.pick(few, many, many, few + many)
    lanes = [dice.arrays.permutation(shape.lanes)[: dice.pick(*sizes)] for _ in range(24)]
    hot = np.zeros(locations, np.bool_)
    hot[dice.arrays.permutation(locations)[: dice.pick(2, 6, 16)]] = True
    return Habits(
        ops=dice.pick(dice.between(1, 3), dice.between(1, 24)), lanes=tuple(np.sort(some) for some in lanes),
        reads=0.3 + 0.67 * dice.chance(), acquires=dice.pick(("atomic",), ACQUIRES, (*ACQUIRES, "atomic")),
        swaps=dice.pick(0.0, 0.05, 0.3), counts=dice.pick(0.0, 0.2, 1.0), fences=dice.pick(0.0, 0.03),
        sleeps=dice.pick(0.0, 0.05), meetings=dice.pick(0.0, 0.02, 0.1), listens=dice.between(0, 3),
        gather=dice.chance(), heat=dice.pick(0.0, 0.5, 0.9), hot=hot, chase=dice.pick(0.0, 0.5, 0.9),
    )  # fmt: skip


def random_stores(dice: Dice, locations: int) -> Words:
    """The data locations that the host stores to before a launch: none, a few, or many."""
    share = dice.pick(0.0, 0.05, 0.3)
    return np.flatnonzero(dice.arrays.random(locations) < share)


def random_case(dice: Dice, weaver: Weaver, ops: int) -> Case:
    """Steps with about ``ops`` memory operations of lanes, after a begin of ``weaver``, which takes them, too."""
    habits = random_habits(dice, weaver.shape, len(weaver.layout.data))
    steps: list[Step] = []
    recent: list[int] = []
    done = 0
    while done < ops:
        if dice.chance() < habits.meetings:
            step: Step = Meeting(dice.below(weaver.shape.blocks))
        else:
            step = _episode(dice, weaver, habits, recent)
            recent.append(step.warp)
            done += sum(len(op.lanes) for op in step.ops) or 1
        weaver.add(step)
        steps.append(step)
    return Case(steps=tuple(steps), stored=weaver.stored)


def _episode(dice: Dice, weaver: Weaver, habits: Habits, recent: list[int]) -> Episode:
    warp, last = dice.below(weaver.shape.warps), None
    if recent and dice.chance() < habits.chase:
        warp, last = dice.pick(*recent[-4:]), recent[-1]
    free = _listen(dice, weaver, habits, warp, last)
    ops: list[Op] = []
    if dice.chance() < habits.counts:
        ops.append(_count(dice, weaver, warp, habits))
    ops += [_op(dice, habits, free) for _ in range(dice.between(1, habits.ops))]
    if dice.chance() < habits.counts:
        ops.append(_count(dice, weaver, warp, habits))
    return Episode(
        warp=warp, ops=tuple(ops), acquire=dice.pick(*habits.acquires), release=dice.pick(*RELEASES),
        widen=dice.pick(0, 0, 1, 2), pause=dice.pick(0, 1, 2, 12, 100), always_releases=dice.chance() < 0.5,
    )  # fmt: skip


def _listen(
    dice: Dice, weaver: Weaver, habits: Habits, warp: int, last: int | None
) -> dict[bool, Words]:
    """Choose warps to acquire from, until some location is free for reading (False) and for writing (True)."""
    knows = weaver.knows[warp].copy()
    heard, start = habits.listens, dice.below(weaver.shape.warps)
    if last is not None:
        _hear(weaver, knows, last, int(weaver.done[last]))
    for position in range(weaver.shape.warps):
        if position >= heard:
            free = {write: weaver.free(warp, knows, write=write) for write in (False, True)}
            if len(free[True]) >= 2:
                return free
            heard = position + 4
        other = (start + position) % weaver.shape.warps
        _hear(weaver, knows, other, int(weaver.done[other]) - dice.pick(0, 0, 0, 1, 2))
    return {write: weaver.free(warp, knows, write=write) for write in (False, True)}


def _hear(weaver: Weaver, knows: Words, other: int, number: int) -> None:
    clock = weaver.clock[other].get(number)
    if clock is not None:
        np.maximum(knows, clock, out=knows)


def _op(dice: Dice, habits: Habits, free: dict[bool, Words]) -> Op:
    draw, pick = dice.chance(), dice.pick
    if draw < habits.fences:
        order = pick("ACQUIRE", "RELEASE", "ACQ_REL", "SC")
        scope = pick("CTA", "CU", "GPU", "SYS")
        return Op(kind="fence", lanes=NOWHERE, places=NOWHERE, order=order, scope=scope)
    if draw < habits.fences + habits.sleeps:
        return Op(kind="sleep", lanes=NOWHERE, places=NOWHERE, cycles=dice.between(1, 400))
    kind = "load" if dice.chance() < habits.reads else "store"
    if dice.chance() < habits.swaps:
        kind = "swap"
    places = free[kind != "load"]
    hot = places[habits.hot[places]]
    if len(hot) and dice.chance() < habits.heat:
        places = hot
    if len(places) == 0:
        return Op(kind="sleep", lanes=NOWHERE, places=NOWHERE, cycles=1)
    lanes = pick(*habits.lanes)
    if dice.chance() < habits.gather:
        chosen = places[dice.arrays.integers(0, len(places), len(lanes))]
    else:
        # Neighbouring locations: mostly the words of one or two lines.
        chosen = places[(dice.below(len(places)) + np.arange(len(lanes))) % len(places)]
    order = pick(*{"load": _LOAD_ORDERS, "store": _STORE_ORDERS, "swap": _ATOMIC_ORDERS}[kind])
    return Op(kind=kind, lanes=lanes, places=chosen, order=order, scope=pick("GPU", "SYS"))


def _count(dice: Dice, weaver: Weaver, warp: int, habits: Habits) -> Op:
    """Racing atomics on counters of one scope, which the access names."""
    may = weaver.layout.may_count(weaver.shape, warp)
    scope = weaver.layout.reach[dice.pick(*may)][0]
    same = np.array([number for number in may if weaver.layout.reach[number][0] == scope])
    lanes = dice.pick(*habits.lanes)
    names = {CTA: ("CTA",), CU: ("CU",), GPU: ("GPU", "SYS")}[scope]
    places = same[dice.arrays.integers(0, len(same), len(lanes))]
    order, scope_name = dice.pick(*_ATOMIC_ORDERS), dice.pick(*names)
    return Op(kind="count", lanes=lanes, places=places, order=order, scope=scope_name)


def on_dies(machine: Machine, dies: int, gpus: int) -> Machine:
    """The machine with these numbers of dies and GPUs, if its cores are a multiple; the smallest pages, so that all
    have some.

    A fast network goes with split links so narrow that messages wait for them.
    """
    if dies == 1 or machine.cores % dies:
        return machine
    shares = machine.partitions % dies == 0
    narrow = machine.noc_mhz > 1000  # drawn already, so that seeds keep their programs
    return machine.replace(
        dies=dies,
        partitions=machine.partitions if shares else machine.partitions * dies,
        page_kib=machine.interleave_bytes / 1024,
        topology="crossbar",
        die_latency=10 * machine.noc_latency,
        die_bytes=2 if narrow else 0,
        gpus=gpus,
        gpu_latency=20 * machine.noc_latency if gpus > 1 else 0,
        gpu_bytes=2 if narrow and gpus > 1 else 0,
        links="split" if narrow else "joined",
        placement="static",  # block b on core b mod cores, as on one die
    )


def buildable(dice: Dice, *, tiny: bool, **fixed: Any) -> Machine:
    """A random machine that is valid: latencies below the network's are drawn again."""
    for _ in range(50):
        try:
            built = random_machine(dice, tiny=tiny, **fixed)
            Simulated(built)
            return built
        except ConfigError:
            continue
    raise ConfigError("the tester found no valid machine in 50 draws")
