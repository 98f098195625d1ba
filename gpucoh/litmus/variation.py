"""Variation among runs of a litmus test: machine, placement, timing, layout of variables, copies, stress.

Everything follows from a seed: equal seeds give equal runs, for every protocol.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.litmus import program as p
from gpucoh.litmus.code import MOST_REGISTERS
from gpucoh.litmus.program import Shape
from gpucoh.litmus.syntax import Test
from gpucoh.machines import Machine

#: Largest number of cores on which blocks are placed.
CORES = 6
BLOCKS_A_CORE = 8
LAYOUTS = ("one line", "own lines", "one set", "scattered", "packed")
#: Largest difference of the threads' first cycles, in core cycles.
SKEWS = (0, 12, 120, 500, 1400)
#: Largest distance between the first cycles of consecutive threads that begin in order; 0: they do not.
STEPS = (0, 0, 0, 250, 600)
STRESS_LINES = 8
#: Number of launches that a planner caches for the next protocol.
PLANS_KEPT = 256
#: Core cycles of an L2 miss for which the times below are chosen.
_USUAL_MISS = 460


@dataclass(frozen=True)
class Plan:
    """One launch, ready to run.

    Attributes
    ----------
    instances : int
        Number of instances of the test.
    blocks : int
        Number of blocks.
    parameters : numpy.ndarray
        uint32, the table that the warps read.
    addresses : numpy.ndarray
        int64 (instances, locations): word of each variable in the launch's memory.
    about : str
        Description of the choices.
    """

    instances: int
    blocks: int
    parameters: NDArray[np.uint32]
    addresses: NDArray[np.int64]
    about: str


def machines(machine: Machine) -> list[tuple[str, Machine]]:
    """Variants of a machine: few cores, then with small caches, narrow buffers, one bank (a die).

    Raises
    ------
    ConfigError
        If not even the first is valid.
    """
    line = machine.line_bytes / 1024
    cores = max(CORES - CORES % machine.dies, machine.dies)  # an equal share of each die
    few = machine.replace(
        cores=min(machine.cores, cores), blocks_per_core=BLOCKS_A_CORE, launch_latency=0
    )
    tiny = {"l2_kib": 8 * line, "l2_ways": 4, "l2_mshrs": 4}
    if few.l1_kib:
        tiny |= {"l1_kib": 4 * line, "l1_ways": 2, "l1_mshrs": 4}
    thin = {"l2_kib": 8 * line, "l2_ways": 2, "l2_mshrs": 8}
    narrow: dict[str, float] = {"vc_flits": 1, "load_store_queue": 2, "l1_mshrs": 3, "l2_mshrs": 2}
    direct: dict[str, float] = {"partitions": machine.dies, "interleave_bytes": machine.line_bytes}
    if few.l1_kib:
        direct |= {"l1_kib": 8 * line, "l1_ways": 1}
    out = [("as given", few)]
    changed = {"tiny caches": tiny, "narrow": narrow, "one bank": direct, "small L2": thin}
    for name, changes in changed.items():
        try:
            out.append((name, few.replace(**changes)))
        except ConfigError:
            continue  # skip a change that does not fit the machine
    return out


def memory_words(test: Test, machine: Machine) -> int:
    """Largest number of words of memory that a layout needs."""
    words = machine.line_bytes // 4
    lines = 2 * most_instances(test, machine) * max(len(test.locations), 1)
    return (lines + 64 * (len(test.locations) + 1) + STRESS_LINES) * words


def slots_a_core(shape: Shape, machine: Machine) -> int:
    """Number of blocks that fit on a core."""
    registers = machine.registers_per_core // (shape.warps * MOST_REGISTERS)
    return max(1, min(machine.blocks_per_core, machine.warps_per_core // shape.warps, registers))


def most_instances(test: Test, machine: Machine) -> int:
    """Largest number of instances of one launch."""
    slots = machine.cores * slots_a_core(p.shape_of(test), machine)
    return max(1, slots // len(test.blocks))


class Planner:
    """Makes the launches of one test on one machine.

    Parameters
    ----------
    test : Test
    machine : Machine
    seed : int

    Raises
    ------
    ConfigError
        If the machine has too few cores, or its cores have too few warps.
    """

    def __init__(self, test: Test, machine: Machine, seed: int) -> None:
        self.test, self.machine, self.seed = test, machine, seed
        self.shape = p.shape_of(test)
        if self.shape.warps > machine.warps_per_core:
            raise ConfigError(
                f"litmus test {quoted(test.name)}: a block of {self.shape.warps} warps; a core of machine "
                f"{quoted(machine.name)} holds {machine.warps_per_core}"
            )
        self.groups = _groups(test)
        self.slots = slots_a_core(self.shape, machine)
        self.end = memory_words(test, machine)
        # Several protocols use the same launches, one after the other.
        self.made: dict[tuple[int, int], Plan] = {}
        self._check_gpus()

    def _check_gpus(self) -> None:
        """Whether the machine has the test's GPUs and dies; one GPU's cores represent several."""
        test, machine = self.test, self.machine
        begin = f"litmus test {quoted(test.name)}: threads on"
        gpus = len({thread.gpu for thread in test.threads})
        if gpus > (machine.cores if machine.gpus == 1 else machine.gpus):
            has = "cores to represent them" if machine.gpus == 1 else "GPUs"
            number = machine.cores if machine.gpus == 1 else machine.gpus
            raise ConfigError(
                f"{begin} {gpus} GPUs; machine {quoted(machine.name)} has {number} {has}"
            )
        for members in self.groups.values():
            blocks = [list(test.blocks.values())[number] for number in members]
            if len({test.threads[thread].die for block in blocks for thread in block}) > 1:
                raise ConfigError(f"litmus test {quoted(test.name)}: one core is on two dies")
        for gpu, numbers in self._dies().items():
            if len(numbers) > machine.dies // machine.gpus:
                raise ConfigError(
                    f"{begin} {len(numbers)} dies of GPU {gpu}; a GPU of machine {quoted(machine.name)} has "
                    f"{machine.dies // machine.gpus}"
                )

    def _dies(self) -> dict[int, list[int]]:
        """The dies that the test names, by GPU."""
        out: dict[int, set[int]] = {}
        for thread in self.test.threads:
            if thread.die is not None:
                out.setdefault(thread.gpu, set()).add(thread.die)
        return {gpu: sorted(dies) for gpu, dies in out.items()}

    def plan(self, number: int, wanted: int) -> Plan:
        """The launch with this number, of at most ``wanted`` instances."""
        wanted = min(wanted, self.slots * self.machine.cores)
        key = (number, wanted)
        if key not in self.made:
            if len(self.made) >= PLANS_KEPT:
                self.made.clear()
            self.made[key] = self._plan(number, wanted)
        return self.made[key]

    def _plan(self, number: int, wanted: int) -> Plan:
        rng = np.random.default_rng([self.seed, number])
        apart = rng.choice(["apart", "together", "anywhere"], p=[0.5, 0.15, 0.35])
        places = self._places(rng, str(apart), wanted)
        layout = str(rng.choice(LAYOUTS))
        addresses = self._layout(rng, layout, len(places))
        skew = int(rng.choice(SKEWS))
        stress = float(rng.choice([0.0, 0.0, 0.3, 1.0]))
        warm = float(rng.choice([0.0, 0.5, 0.5, 1.0]))
        parameters = self._parameters(rng, places, addresses, skew, stress, warm)
        about = f"{apart}, {layout}, skew {skew}, warm {warm}, stress {stress}"
        blocks = len(parameters) // (self.shape.warps * self.shape.parameters)
        return Plan(len(places), blocks, parameters, addresses, about)

    # ---- blocks on cores

    def _places(self, rng: np.random.Generator, apart: str, wanted: int) -> list[list[int]]:
        """For each instance the block number of each of its ctas; block b runs on core b mod cores."""
        cores = self.machine.cores
        free = [list(range(core, cores * self.slots, cores))
                for core in range(cores)]  # fmt: skip
        out: list[list[int]] = []
        while len(out) < wanted:
            chosen = self._cores_of_one(rng, apart, free)
            if chosen is None:
                break
            out.append([free[core].pop(0) for core in chosen])
        return out

    def _cores_of_one(
        self, rng: np.random.Generator, apart: str, free: list[list[int]]
    ) -> list[int] | None:
        """A core for each block of one more instance; None if there is no space."""
        order = [int(core) for core in rng.permutation(len(free))]
        allowed = self._allowed_cores(rng)
        for attempt in (apart, "anywhere"):
            room = [len(slots) for slots in free]
            owner: dict[int, int] = {}
            chosen: dict[int, int] = {}
            for (gpu, which), members in self.groups.items():
                used = set(chosen.values())
                fits = [
                    core for core in order
                    if room[core] >= len(members) and owner.get(core, gpu) == gpu
                    and not (attempt == "apart" and core in used)
                    and core in allowed[gpu, which]
                ]  # fmt: skip
                if not fits:
                    break
                mine = [core for core in fits if core in used]
                core = mine[0] if attempt == "together" and mine else fits[0]
                if attempt == "anywhere":
                    core = fits[int(rng.integers(len(fits)))]
                owner[core] = gpu
                room[core] -= len(members)
                chosen.update(dict.fromkeys(members, core))
            else:
                return [chosen[block] for block in range(len(chosen))]
        return None

    def _allowed_cores(self, rng: np.random.Generator) -> dict[tuple[int, object], range]:
        """The cores of each group's GPU and die, which are chosen at random for those of the test."""
        machine = self.machine
        everywhere = dict.fromkeys(self.groups, range(machine.cores))
        if machine.dies == 1:
            return everywhere
        dies = machine.dies // machine.gpus
        numbers = sorted({gpu for gpu, _ in self.groups}) if machine.gpus > 1 else []
        gpu_of = dict(zip(numbers, rng.permutation(machine.gpus).tolist(), strict=False))
        die_of: dict[tuple[int, int | None], int] = {
            (gpu, die): chosen
            for gpu, named in self._dies().items()
            for die, chosen in zip(named, rng.permutation(dies).tolist(), strict=False)
        }
        out = {}
        for (gpu, which), members in self.groups.items():
            first = list(self.test.blocks.values())[members[0]][0]
            die = die_of.get((gpu, self.test.threads[first].die))
            begin, count = gpu_of.get(gpu, 0) * dies, dies if machine.gpus > 1 else machine.dies
            begin, count = (begin, count) if die is None else (begin + die, 1)
            each = machine.cores // machine.dies
            out[gpu, which] = range(begin * each, (begin + count) * each)
        return out

    # ---- variables in memory

    def _layout(self, rng: np.random.Generator, layout: str, instances: int) -> NDArray[np.int64]:
        """The word of every variable of every instance."""
        size = 2 if self.test.wide else 1  # each has the place of 64 bits where one has them
        words, variables = self.machine.line_bytes // 4 // size, len(self.test.locations)
        return size * self._places_of(rng, layout, instances, words, variables)

    def _places_of(
        self, rng: np.random.Generator, layout: str, instances: int, words: int, variables: int
    ) -> NDArray[np.int64]:
        """The place of every variable in lines of `words` places."""
        i = np.arange(instances)[:, None]
        v = np.arange(variables)[None, :]
        if layout == "packed":
            line = v * (-(-instances // words)) + i // words
            return np.asarray(line * words + i % words, dtype=np.int64)
        if layout == "one line" and variables <= words:
            word = np.argsort(rng.random((instances, words)), axis=1)[:, :variables]
            return np.asarray(i * words + word, dtype=np.int64)
        if layout == "one set":
            sets = min(64, max(1, int(self.machine.derived["l1_sets"] or 1)))
            line = (i // sets * variables + v) * sets + i % sets
        elif layout == "scattered":
            line = rng.permutation(2 * instances * variables)[: instances * variables]
            line = line.reshape(instances, variables)
        else:
            line = i * variables + v
        word = rng.integers(words, size=(instances, variables))
        return np.asarray(line * words + word, dtype=np.int64)

    # ---- parameters of each warp

    def _parameters(
        self,
        rng: np.random.Generator,
        places: list[list[int]],
        addresses: NDArray[np.int64],
        skew: int,
        stress: float,
        warm: float,
    ) -> NDArray[np.uint32]:
        shape, test = self.shape, self.test
        blocks = 1 + max(max(place) for place in places)
        table = np.zeros((blocks, shape.warps, shape.parameters), dtype=np.int64)
        table[:, :, p.ROLE] = -1
        slow = max(1.0, self.machine.dram_round_trip / _USUAL_MISS)
        first = int(2600 * slow)
        longest = int(rng.choice([300, 1300]) * slow)
        gaps = rng.integers(30, longest, size=len(places))
        step = int(rng.choice(STEPS) * slow)
        members = list(test.blocks.values())
        used = set(addresses.reshape(-1).tolist())
        if test.wide:
            used |= {word + 1 for word in used}
        variables = len(test.locations)
        for instance, place in enumerate(places):
            begin = first + int(gaps[instance])
            starts = begin + self._starts(rng, skew, step)
            copies = rng.random((shape.roles, max(variables, 1))) < warm
            waits = rng.random(shape.roles) < 0.8
            for cta, block in enumerate(place):
                for warp, thread in enumerate(members[cta]):
                    row = table[block, warp]
                    row[p.ROLE], row[p.BEGIN], row[p.WARM_AT] = thread, starts[thread], first
                    bits = copies[thread, : p.MOST_WARMED]
                    row[p.FLAGS] = int(bits @ (1 << np.arange(len(bits)))) | (
                        int(waits[thread]) << p.WAIT_FOR_WARM
                    )
                    row[p.RESULT] = (instance * shape.roles + thread) * shape.results
                    row[p.ADDRESSES : p.ADDRESSES + variables] = addresses[instance]
                if shape.watched:
                    table[block, shape.warps - 2, p.ROLE] = shape.roles + 1 + cta
                if variables and rng.random() < stress:
                    self._stress(
                        rng, table[block, shape.warps - 1], addresses[instance], used, begin
                    )
        return np.ascontiguousarray(table.reshape(-1) & 0xFFFFFFFF, dtype=np.uint32)

    def _starts(self, rng: np.random.Generator, skew: int, step: int) -> NDArray[np.int64]:
        """First cycles of an instance's threads: random, or in the order of the test."""
        roles = self.shape.roles
        if step == 0:
            return rng.integers(skew + 1, size=roles)
        return np.cumsum(rng.integers(step + 1, size=roles))

    def _stress(
        self,
        rng: np.random.Generator,
        row: NDArray[np.int64],
        mine: NDArray[np.int64],
        used: set[int],
        begin: int,
    ) -> None:
        """A warp that reads the instance's variables and writes other words of their lines, or words of its own."""
        words = self.machine.line_bytes // 4

        def neighbour() -> int:
            line = int(mine[rng.integers(len(mine))]) // words
            word = line * words + int(rng.integers(words))
            if word in used or rng.random() < 0.3:
                return self.end - 1 - int(rng.integers(STRESS_LINES * words))
            return word

        row[p.ROLE] = self.shape.roles
        row[p.BEGIN] = begin - int(rng.integers(400))
        row[p.ITERATIONS] = int(rng.integers(1, 12))
        row[p.PAUSE] = int(rng.integers(200))
        row[p.ADDRESSES : p.ADDRESSES + 4] = (
            int(mine[rng.integers(len(mine))]),
            neighbour(),
            int(mine[rng.integers(len(mine))]),
            neighbour(),
        )


def _groups(test: Test) -> dict[tuple[int, object], list[int]]:
    """Blocks that must be on one core: (gpu, which) -> numbers of the blocks."""
    out: dict[tuple[int, object], list[int]] = {}
    for number, (block, members) in enumerate(test.blocks.items()):
        units = [unit for index in members if (unit := test.threads[index].cu) is not None]
        which: object = ("cu", min(units)) if units else ("cta", block[1])
        out.setdefault((block[0], which), []).append(number)
    return out
