"""Runs of a litmus test on a simulated GPU, many instances per launch, and counts of final states."""

from __future__ import annotations

import functools
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpucoh.base.errors import BudgetError, DeadlockError, KernelError, SimulationError
from gpucoh.device.arrays import Array
from gpucoh.device.gpu import GPU
from gpucoh.lang.program import Program
from gpucoh.litmus import program as p
from gpucoh.litmus.syntax import Test
from gpucoh.litmus.variation import Plan, Planner, machines, most_instances
from gpucoh.machines import Machine

#: A full final state: every register of every thread, then every location.
Final = tuple[int, ...]
#: Cycles that a launch may take beyond the limit of its threads.
BUDGET = 2 * p.LIMIT
#: If the first launches give only hung runs, no more are made.
HUNG_LAUNCHES = 2
#: Launches on one GPU, whose state carries over; then a new GPU is made.
LAUNCHES_A_GPU = 4


@dataclass
class Observations:
    """The results of the runs of one test.

    Attributes
    ----------
    runs : int
        Instances that ended or hung.
    states : Counter
        Final state -> number of runs.
    hung : int
        Number of hung runs.
    error : str
        The protocol error that ended the runs early, in one line.
    """

    runs: int = 0
    states: Counter[Final] = field(default_factory=Counter)
    hung: int = 0
    error: str = ""


class Key:
    """A test as a cache key: its meaning without its names and texts."""

    def __init__(self, test: Test) -> None:
        self.test = test

    def __hash__(self) -> int:
        return id(self.test)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and other.test is self.test


@functools.lru_cache(maxsize=64)
def _prepared(key: Key, machine: Machine, seed: int) -> tuple[Program, Planner]:
    """The parts of a test that do not depend on the protocol."""
    program = p.Compiler(key.test, machine.lanes_per_warp).compile()
    return program, Planner(key.test, machine, seed)


class Bench:
    """One simulated GPU with the arrays of one test."""

    def __init__(
        self, test: Test, machine: Machine, protocol: str, rule: str | None, seed: int
    ) -> None:
        self.test, self.machine = test, machine
        self.shape = p.shape_of(test)
        self.program, self.planner = _prepared(Key(test), machine, seed)
        self.how = (protocol, rule, seed)
        self.memory_words = self.planner.end
        self.launches = 0
        self.initial = np.array(list(test.initial.values()), dtype=np.int64)
        #: Numbers of the locations of 64 bits.
        self.wide = [number for number, name in enumerate(test.initial) if name in test.wide]
        self._renew()

    def _renew(self) -> None:
        """Make a new GPU, with predictors and caches in their initial state."""
        protocol, rule, seed = self.how
        test, machine = self.test, self.machine
        self.gpu = GPU(machine, protocol, rule, seed=seed, budget=BUDGET)
        self.memory: Array = self.gpu.zeros(self.memory_words, np.uint32)
        most = most_instances(test, machine)
        self.results: Array = self.gpu.zeros(
            most * self.shape.roles * self.shape.results, np.uint32
        )
        slots = machine.cores * machine.blocks_per_core
        self.table: Array = self.gpu.zeros(
            slots * self.shape.warps * self.shape.parameters, np.uint32
        )

    def launch(self, plan: Plan, into: Observations) -> None:
        """Run one launch and count its outcomes."""
        if self.launches == LAUNCHES_A_GPU:
            self._renew()
            self.launches = 0
        self.launches += 1
        memory = np.zeros(self.memory_words, dtype=np.uint32)
        memory[plan.addresses] = (self.initial & 0xFFFFFFFF).astype(np.uint32)
        memory[plan.addresses[:, self.wide] + 1] = (self.initial[self.wide] >> 32).astype(np.uint32)
        table = np.zeros(self.table.size, dtype=np.uint32)
        table[: len(plan.parameters)] = plan.parameters
        self.memory[:] = memory
        self.table[:] = table
        self.results[:] = np.zeros(self.results.size, dtype=np.uint32)
        threads = self.shape.warps * self.machine.lanes_per_warp
        failed = False
        try:
            self.gpu.launch_program(
                self.program,
                (plan.blocks, 1, 1),
                (threads, 1, 1),
                (self.table, self.memory, self.results),
                placement="static",  # block b on core b mod cores, whatever the dies
            )
        except KernelError:
            failed = True  # barrier counts in registers disagree: a thread waits forever
        except (BudgetError, DeadlockError) as error:
            # Threads end themselves at their time limit: here the protocol waits forever.
            failed = True
            into.error = " ".join(str(error).split())
        self._count(plan, into, failed)

    def _count(self, plan: Plan, into: Observations, failed: bool) -> None:
        shape, instances = self.shape, plan.instances
        words = self.results.numpy()[: instances * shape.roles * shape.results]
        left = words.reshape(instances, shape.roles, shape.results)
        ended = (left[:, :, 0] == p.ENDED).all(axis=1)
        into.runs += instances
        into.hung += int((~ended).sum())
        if failed:
            # Memory after a failed launch is only what could be saved, not a result.
            into.runs -= int(ended.sum())
            return
        columns = []
        for index, thread in enumerate(self.test.threads):
            at = p.places(thread)
            wide = [number for number, name in enumerate(at) if name in thread.wide]
            columns.append(_values(left[:, index, 1:], np.array([*at.values()], int), wide))
        memory = self.memory.numpy()[None, :]
        columns.append(_values(memory, plan.addresses, self.wide))
        finals = np.concatenate(columns, axis=1)[ended]
        if not len(finals):
            return
        if not finals.shape[1]:
            into.states[()] += len(finals)
            return
        states, counts = np.unique(finals, axis=0, return_counts=True)
        for state, count in zip(states.tolist(), counts.tolist(), strict=True):
            into.states[tuple(state)] += count


def _values(words: NDArray[np.uint32], at: NDArray[np.int64], wide: list[int]) -> NDArray[np.int64]:
    """The signed numbers at the places, of which some columns have 64 bits.

    Parameters
    ----------
    words : numpy.ndarray
        uint32 (rows, words); one row for all rows of ``at``, or a row for each.
    at : numpy.ndarray
        int64 (columns) or (rows, columns): the first word of each number.
    wide : list of int
        Columns of 64 bits.
    """
    low = words[:, at] if at.ndim == 1 else words[0, at]
    out = low.astype(np.uint32).view(np.int32).astype(np.int64)
    if wide:
        high = words[:, at[wide] + 1] if at.ndim == 1 else words[0, at[:, wide] + 1]
        bits = high.astype(np.uint64) << np.uint64(32) | low[:, wide].astype(np.uint64)
        out[:, wide] = bits.view(np.int64)
    return out


def names(test: Test) -> tuple[str, ...]:
    """The positions in a :data:`Final`."""
    registers = [
        f"P{thread.id}:{register}" for thread in test.threads for register in thread.registers
    ]
    return (*registers, *test.locations)


def observe(
    test: Test,
    protocol: str,
    rule: str | None,
    machine: Machine,
    runs: int,
    seed: int,
    progress: Callable[[int], None] | None = None,
    stop: threading.Event | None = None,
    enough: Callable[[Observations], bool] | None = None,
) -> Observations:
    """Run a test.

    Parameters
    ----------
    test : Test
    protocol, rule : str
        Protocol id with options; consistency rule, or None for the protocol's own.
    machine : Machine
        The machine; runs use its variants in turn.
    runs : int
        Number of runs.
    seed : int
        Random seed of all variation. Equal seeds give equal observations.
    progress : callable, optional
        Called with the number of finished runs after each launch.
    stop : threading.Event, optional
        Setting it ends the runs early.
    enough : callable, optional
        Called with what is found after each launch; true ends the runs early.

    Raises
    ------
    ConfigError
        If protocol, rule and machine contradict each other or the test.
    """
    out = Observations()
    benches: list[Bench] = []
    variants = machines(machine)
    number = 0
    while out.runs < runs and not (stop is not None and stop.is_set()):
        which = number % len(variants)
        if which >= len(benches):
            benches.append(Bench(test, variants[which][1], protocol, rule, seed))
        bench = benches[which]
        before = out.runs
        try:
            bench.launch(bench.planner.plan(number, runs - out.runs), out)
        except SimulationError as error:
            out.error = " ".join(str(error).split())
            break
        number += 1
        if progress is not None:
            progress(out.runs)
        if out.error or (enough is not None and enough(out)):
            break
        all_hang = out.hung == out.runs and number >= HUNG_LAUNCHES
        if all_hang or (out.runs == before and number > runs + HUNG_LAUNCHES):
            break
    return out
