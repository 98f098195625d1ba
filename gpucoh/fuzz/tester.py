"""Run cases on a simulated GPU and check the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpucoh.base.errors import ConfigError, Error, SimulationError
from gpucoh.device.gpu import GPU
from gpucoh.fuzz import programs
from gpucoh.fuzz.cases import HOST, Case, Episode, Layout, Meeting, Shape, Weaver, Woven
from gpucoh.lang.program import widened
from gpucoh.machines import PLACEMENTS, Machine

#: Budget of a launch in core cycles: per memory instruction, and the constant part.
CYCLES_AN_INSTRUCTION, CYCLES_ANYWAY = 12_000, 100_000
CHUNK_EVENTS = 400_000
#: Largest number of trace records, and how many lines of a trace are reported.
MOST_RECORDS, FIRST_LINES, LAST_LINES = 1 << 16, 100, 200


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A machine under a protocol, and what runs on it."""

    protocol: str
    consistency: str
    machine: Machine
    seed: int
    check: bool
    shape: Shape
    layout: Layout
    #: Factor on the budget of a launch: with long leases stores wait longer.
    patience: int = 1


@dataclass
class Failure:
    """The first failure.

    Attributes
    ----------
    kind : str
        ``value`` (a load), ``atomic`` (the values that racing atomics returned), ``memory`` (the content at the end),
        or the simulator's error: ``ProtocolError``, ``DeadlockError``, ``BudgetError`` ...
    text : str
        One line.
    launch : int
        Number of the failed case, from 0.
    word : int or None
        The word of the buffer that failed.
    address : int or None
        The line that a simulator's error concerns.
    """

    kind: str
    text: str
    launch: int
    word: int | None = None
    address: int | None = None


@dataclass
class Outcome:
    """The outcome of a run of cases."""

    failure: Failure | None
    statistics: dict[str, Any] = field(default_factory=dict)


class Stopped(Exception):
    """The time limit has passed."""


@dataclass
class Prepared:
    """One launch, ready for any protocol: the program, and the expected memory and counters.

    Attributes
    ----------
    steps : list of Woven or Meeting
    stored, values : ndarray
        The words of the buffer that the host stores to before the launch, and their values.
    listing : programs.Listing
    counted : ndarray
        The value of each counter before the launch.
    memory : ndarray
        The expected content of the buffer after the launch.
    ops, episodes, instructions : int
        Memory operations of lanes, episodes, memory instructions of warps (without polls).
    """

    steps: list[Woven | Meeting]
    stored: Any
    values: Any
    listing: programs.Listing
    counted: Any
    memory: Any
    ops: int
    episodes: int
    instructions: int


def prepare(weaver: Weaver, counted: Any, values: Any, case: Case) -> Prepared:
    """Write the program of the launch that the weaver walked last.

    Parameters
    ----------
    weaver : Weaver
        The weaver, at the end of the launch.
    counted : ndarray
        The weaver's counters before the launch.
    values : ndarray
        What the host stores to ``case.stored``.
    case : Case
    """
    steps = weaver.end()
    instructions = sum(len(step.ops) + 2 for step in case.steps if isinstance(step, Episode))
    return Prepared(
        steps, weaver.layout.data[case.stored], values,
        programs.write(weaver.shape, weaver.layout, steps), counted, weaver.memory(), case.ops,
        case.episodes, instructions,
    )  # fmt: skip


def prepare_all(weaver: Weaver, cases: Sequence[Case]) -> list[Prepared]:
    """Prepare all launches, from an empty buffer."""
    out = []
    for case in cases:
        counted = weaver.counted.copy()
        weaver.begin(case.stored)
        values = weaver.content[case.stored]
        for step in case.steps:
            weaver.add(step)
        out.append(prepare(weaver, counted, values, case))
    return out


class Bench:
    """One simulated GPU with the tester's buffer in its memory.

    Parameters
    ----------
    setup : Setup
    weaver : Weaver
        The weaver that walked the launches: it knows which episode stored each value.
    budget : int
        Largest number of core cycles of a launch.
    tick : callable, optional
        Called periodically during a launch; may raise to end it.
    """

    def __init__(
        self, setup: Setup, weaver: Weaver, budget: int, tick: Callable[[], None] | None = None
    ) -> None:
        self.setup, self.tick, self.weaver = setup, tick, weaver
        self.gpu = GPU(
            setup.machine, setup.protocol, setup.consistency, setup.seed, setup.check, budget=budget
        )
        self.memory = self.gpu.zeros(setup.layout.words, np.uint32)
        self.launches = 0

    def launch(self, prepared: Prepared) -> Failure | None:
        """Run one launch and check it."""
        listing = prepared.listing
        results = self.gpu.full(listing.results, programs.UNTOUCHED, np.uint32)
        number, self.launches = self.launches, self.launches + 1
        if len(prepared.stored):
            self.memory[prepared.stored] = prepared.values.astype(np.uint32)
        try:
            self._launch(listing, results)
            self.gpu.verify()
            found = np.asarray(results.numpy())
            held = np.asarray(self.memory.numpy())
        except ConfigError:
            raise
        except Error as error:
            address = error.address if isinstance(error, SimulationError) else None
            text = " ".join(str(error).split())
            return Failure(type(error).__name__, text, number, address=address)
        results.free()
        return (
            self._check_loads(number, listing, found)
            or self._check_counts(number, listing, found, prepared.counted)
            or self._check_memory(number, held, prepared.memory)
        )

    def statistics(self) -> dict[str, Any]:
        """The core's counters."""
        counted: dict[str, Any] = json.loads(self.gpu.core.statistics())
        return counted

    def _launch(self, listing: programs.Listing, results: Any) -> None:
        shape, memory = self.setup.shape, self.memory
        # its blocks take several GPUs for one
        code = widened(listing.code) if self.setup.machine.gpus > 1 else listing.code
        self.gpu.core.launch(
            "fuzz", code, programs.VECTORS, programs.UNIFORMS, 0, listing.constants,
            [(memory.address, memory.size, False, "shared"), (results.address, results.size, False, "results"),
             (memory.address, memory.size, True, "constant")],
            (shape.blocks, 1, 1), (shape.warps_per_block * shape.lanes, 1, 1),
            PLACEMENTS.index(self.setup.machine.placement),
        )  # fmt: skip
        try:
            while not self.gpu.core.run(CHUNK_EVENTS):
                if self.tick is not None:
                    self.tick()
        except BaseException:
            self.gpu.core.abort()
            raise

    # ---- checks

    def _check_loads(self, launch: int, listing: programs.Listing, found: Any) -> Failure | None:
        lanes = self.setup.shape.lanes
        for read in listing.loads:
            if found[read.offset] == programs.UNTOUCHED:
                continue
            op, expected = read.woven.episode.ops[read.op], read.woven.expected[read.op]
            assert expected is not None
            got = found[read.offset : read.offset + lanes][op.lanes]
            wrong = np.flatnonzero(got != expected)
            if len(wrong):
                one = int(wrong[0])
                word = int(self.setup.layout.data[op.places[one]])
                read_value, must = self.describe(int(got[one])), self.describe(int(expected[one]))
                text = (
                    f"{self.name(read.woven)}, {op.kind}.{op.order.lower()} of x{op.places[one]} by lane "
                    f"{op.lanes[one]}: read {read_value}, must read {must}"
                )
                return Failure("value", text, launch, word)
        return None

    def _check_counts(
        self, launch: int, listing: programs.Listing, found: Any, before: Any
    ) -> Failure | None:
        """Check that values occur once, none is missing, and each warp sees a counter grow."""
        lanes = self.setup.shape.lanes
        seen: dict[int, list[Any]] = {}
        last: dict[tuple[int, int], int] = {}
        for read in listing.counts:
            op = read.woven.episode.ops[read.op]
            got = found[read.offset : read.offset + lanes][op.lanes].astype(np.int64)
            for counter in np.unique(op.places).tolist():
                values = got[op.places == counter]
                seen.setdefault(counter, []).append(values)
                key = (read.woven.episode.warp, counter)
                order = np.concatenate(([last.get(key, -1)], values))
                if (np.diff(order) <= 0).any():
                    text = (
                        f"{self.name(read.woven)}, atomic add on c{counter} returned {values.tolist()} after "
                        f"{order[0]}: must grow"
                    )
                    return Failure("atomic", text, launch, int(self.setup.layout.counters[counter]))
                last[key] = int(values[-1])
        for counter, parts in seen.items():
            values = np.sort(np.concatenate(parts))
            must = before[counter] + np.arange(len(values))
            wrong = np.flatnonzero(values != must)
            if len(wrong):
                text = (
                    f"{len(values)} atomic adds on c{counter} from {before[counter]}: the {wrong[0]}th smallest value "
                    f"returned is {values[wrong[0]]}, must be {must[wrong[0]]} (each once)"
                )
                return Failure("atomic", text, launch, int(self.setup.layout.counters[counter]))
        return None

    def _check_memory(self, launch: int, held: Any, must: Any) -> Failure | None:
        wrong = np.flatnonzero(held != must)
        if len(wrong) == 0:
            return None
        word = int(wrong[0])
        text = (
            f"after the launch {self.place(word)} holds {self.describe(int(held[word]))}, must hold "
            f"{self.describe(int(must[word]))}; {len(wrong)} words differ"
        )
        return Failure("memory", text, launch, word)

    # ---- names for messages

    def name(self, woven: Woven) -> str:
        """The name of an episode."""
        warp = woven.episode.warp
        shape = self.setup.shape
        return f"warp {warp} (block {shape.block_of(warp)}, core {shape.core_of(warp)}) episode {woven.number}"

    def place(self, word: int) -> str:
        """The name of a word: x data, c counter, f flag."""
        layout = self.setup.layout
        for letter, words in (("x", layout.data), ("c", layout.counters)):
            found = np.flatnonzero(words == word)
            if len(found):
                return f"{letter}{found[0]}"
        flags = np.argwhere(layout.flags == word)
        return f"flag of warp {flags[0][0]}" if len(flags) else f"word {word}"

    def describe(self, value: int) -> str:
        """A value and the episode that stored it."""
        who = self.weaver.who_wrote(value)
        if who is None:
            return f"{value}" if value else "0"
        if who[0] == HOST:
            return f"{value:#x} (of the host)"
        return f"{value:#x} (of warp {who[0]} episode {who[1]} lane {who[2]})"


def budget_of(launches: Sequence[Prepared]) -> int:
    """The budget of each of these launches in core cycles: far more than a live one needs."""
    most = max((prepared.instructions for prepared in launches), default=0)
    return CYCLES_ANYWAY + CYCLES_AN_INSTRUCTION * most


def run_launches(
    setup: Setup,
    weaver: Weaver,
    launches: Sequence[Prepared],
    tick: Callable[[], None] | None = None,
) -> Outcome:
    """Run launches on one new GPU, up to the first failure."""
    bench = Bench(setup, weaver, setup.patience * budget_of(launches), tick)
    for prepared in launches:
        failure = bench.launch(prepared)
        if failure is not None:
            return Outcome(failure, bench.statistics())
    return Outcome(None, bench.statistics())


def run_cases(
    setup: Setup, cases: Sequence[Case], tick: Callable[[], None] | None = None
) -> Outcome:
    """Prepare and run cases."""
    weaver = Weaver(setup.shape, setup.layout)
    return run_launches(setup, weaver, prepare_all(weaver, cases), tick)


def trace_cases(setup: Setup, cases: Sequence[Case], failure: Failure) -> list[str]:
    """A trace of the line of a failure, in columns; empty if the failure names no line.

    A long trace is cut in the middle.
    """
    weaver = Weaver(setup.shape, setup.layout)
    launches = prepare_all(weaver, cases)
    bench = Bench(setup, weaver, setup.patience * budget_of(launches))
    polled = [step for step in launches[-1].steps if isinstance(step, Woven) and step.waits]
    if failure.word is not None:
        address = bench.memory.address + 4 * failure.word
    elif failure.address is not None:
        address = failure.address
    elif polled:
        # A hang: the flag that the last waiting warp polls.
        warp, scope, _ = polled[-1].waits[-1]
        address = bench.memory.address + 4 * int(setup.layout.flags[warp, scope])
    else:
        return []
    word = address - bench.memory.address >> 2
    if not 0 <= word < bench.memory.size:  # of the results, which the host reads
        return []
    with bench.gpu.trace(bench.memory, word, records=MOST_RECORDS) as trace:
        for prepared in launches:
            if bench.launch(prepared) is not None:
                break
    lines = trace.life()
    if len(lines) > FIRST_LINES + LAST_LINES:
        lines = [*lines[:FIRST_LINES], "...", *lines[-LAST_LINES:]]
    return lines
