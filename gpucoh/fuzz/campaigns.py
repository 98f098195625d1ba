"""Many random runs of many protocols: rounds of programs, failures, coverage, and reports.

A round makes a few launches for one shape of grid and runs them on several random machines under every protocol, so
that the programs are written once. (seed, round) determines everything: equal seeds give equal rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gpucoh.base.errors import ConfigError
from gpucoh.base.wording import natural, out_of_range
from gpucoh.device.choices import Choice
from gpucoh.device.coverage import coverage_of
from gpucoh.device.gpu import protocols, resolve
from gpucoh.device.protocols import Protocol, rule_name
from gpucoh.fuzz.cases import Case, Layout, Shape, Weaver
from gpucoh.fuzz.generation import (
    Dice,
    buildable,
    on_dies,
    random_case,
    random_layout,
    random_options,
    random_shape,
    random_stores,
)
from gpucoh.fuzz.reports import Report, describe_failure
from gpucoh.fuzz.tester import Prepared, Setup, Stopped, prepare, run_launches
from gpucoh.machines import Machine

#: Machines per round, launches on each, operations per launch.
MACHINES, LAUNCHES = 3, 2
SMALLEST_LAUNCH, LARGEST_LAUNCH = 600, 4000
MOST_WARPS = 24
DEFAULT_OPS = 100_000


@dataclass
class Round:
    """The programs of one round and the machines that they run on."""

    number: int
    shape: Shape
    layout: Layout
    weaver: Weaver
    cases: list[Case]
    launches: list[Prepared]
    machines: list[Machine]

    @property
    def ops(self) -> int:
        """Memory operations of one run of the launches."""
        return sum(prepared.ops for prepared in self.launches)


def make_round(seed: int, number: int) -> Round:
    """Generate a round, without the protocols."""
    dice = Dice(seed, number)
    first = buildable(dice, tiny=dice.chance() < 0.7)
    shape = random_shape(dice, first, MOST_WARPS)
    layout = random_layout(dice, shape, first)
    weaver = Weaver(shape, layout)
    cases, launches = [], []
    for launch in range(LAUNCHES):
        counted = weaver.counted.copy()
        weaver.begin(random_stores(Dice(seed, number, launch), len(layout.data)))
        values = weaver.content[weaver.stored]
        ops = int(dice.spread(SMALLEST_LAUNCH, LARGEST_LAUNCH))
        cases.append(random_case(dice, weaver, ops))
        launches.append(prepare(weaver, counted, values, cases[-1]))
    machines = [first] + [
        buildable(dice, tiny=dice.chance() < 0.7, cores=first.cores, line_bytes=first.line_bytes)
        for _ in range(MACHINES - 1)
    ]
    return Round(number, shape, layout, weaver, cases, launches, machines)


def option_ranges(protocol: Protocol) -> dict[str, tuple[int, int]]:
    """Options of a protocol that the tester changes, with their smallest and largest values."""
    return {name: option.fuzz for name, option in protocol.options.items() if option.fuzz}


@dataclass
class Task:
    """The test of one protocol under one rule."""

    choice: Choice
    rule: str
    report: Report
    tick: Callable[[], None] | None = None

    def run(self, made: Round, shrink: bool) -> None:
        """Run a round on all of its machines, up to the first failure."""
        for number, machine in enumerate(made.machines):
            setup = self._setup(made, number, machine)
            start = time.perf_counter()
            outcome = run_launches(setup, made.weaver, made.launches, self.tick)
            self.report.seconds += time.perf_counter() - start
            for name, table in self.report.coverage.items():
                table.add(outcome.statistics["transitions"][name])
            reached = len(made.launches) if outcome.failure is None else outcome.failure.launch + 1
            self.report.runs += reached
            self.report.ops += sum(one.ops for one in made.launches[:reached])
            self.report.episodes += sum(one.episodes for one in made.launches[:reached])
            if outcome.failure is not None:
                failure = describe_failure(setup, made.cases, made.number, outcome.failure, shrink)
                self.report.failures.append(failure)
                return

    def _setup(self, made: Round, number: int, machine: Machine) -> Setup:
        dice = Dice(self.report.seed, made.number, number, sum(map(ord, self.choice.protocol.id)))
        known = self.choice.protocol.options
        options = random_options(dice, option_ranges(self.choice.protocol), self.choice.options)
        words = ",".join(f"{name}={known[name].word(value)}" for name, value in options.items())
        machine = on_dies(machine, self.choice.protocol.dies, self.choice.protocol.gpus)
        return Setup(
            protocol=f"{self.choice.protocol.id}[{words}]" if words else self.choice.protocol.id,
            consistency=self.rule, machine=machine, seed=self.report.seed, check=number == 0,
            shape=made.shape, layout=made.layout, patience=1 + max([0, *options.values()]) // 250,
        )  # fmt: skip


def tasks_of(names: Sequence[str], consistency: str | None, seed: int, *, every_rule: bool) -> list[Task]:  # fmt: skip
    """What to test: each protocol under the given rule, its default rule, or every rule that it supports."""
    out = []
    for name in names:
        choice = resolve(name)
        if every_rule and consistency is None and choice.consistency is None:
            rules = list(choice.protocol.models)
        elif every_rule and consistency and rule_name(consistency) not in choice.protocol.models:
            continue
        else:
            rules = [choice.rule(consistency)]
        for rule in rules:
            report = Report(name, rule, choice.model(rule), seed)
            report.coverage = coverage_of(choice.selected, rule)
            out.append(Task(choice, rule, report))
    return out


def fuzz_many(
    names: Sequence[str],
    consistency: str | None = None,
    *,
    ops: int | None = DEFAULT_OPS,
    seconds: float | None = None,
    seed: int = 0,
    shrink: bool = True,
    failures: int = 1,
    every_rule: bool = False,
    progress: Callable[[Report], None] | None = None,
    found: Callable[[Report], None] | None = None,
) -> list[Report]:
    """Test several protocols with the same random programs.

    Parameters
    ----------
    names : sequence of str
        Protocol ids, with options in brackets. Given options are kept; others vary.
    consistency : str, optional
        Consistency rule; by default the paper's for each protocol.
    ops : int or None
        Memory operations per protocol and rule; None: limited by ``seconds`` only.
    seconds : float, optional
        Time limit.
    seed : int
    shrink : bool
        Whether to search for a shorter failing program.
    failures : int
        Number of failures after which a protocol is no longer tested.
    every_rule : bool
        Test each protocol under every rule that it supports.
    progress : callable, optional
        Called with a report after each of its rounds.
    found : callable, optional
        Called with a report after each new failure.

    Returns
    -------
    list of Report

    Raises
    ------
    ConfigError
        For an unknown protocol or rule, or a number out of range.
    """
    if ops is not None:
        ops = natural("ops", ops, smallest=1)
    seed = natural("seed", seed, 2**63 - 1)
    if seconds is not None and not seconds > 0:
        raise ConfigError(out_of_range("seconds", seconds, "more than 0"))
    tasks = tasks_of(names, consistency, seed, every_rule=every_rule)
    end = None if seconds is None else time.monotonic() + seconds

    def tick() -> None:
        if end is not None and time.monotonic() > end:
            raise Stopped

    number, active = 0, tasks
    try:
        while active:
            made = make_round(seed, number)
            for task in active:
                tick()
                task.tick = tick
                before = len(task.report.failures)
                task.run(made, shrink)
                if len(task.report.failures) > before and found is not None:
                    found(task.report)
                if progress is not None:
                    progress(task.report)
            number += 1
            active = [
                task
                for task in active
                if len(task.report.failures) < failures and (ops is None or task.report.ops < ops)
            ]
    except Stopped:
        pass
    return [task.report for task in tasks]


def fuzz(protocol: str, consistency: str | None = None, **choices: Any) -> Report:
    """Test one protocol with random data-race-free programs.

    Parameters
    ----------
    protocol : str
        Protocol id, with options in brackets.
    consistency : str, optional
        Consistency rule; by default the paper's.
    **choices
        ``ops seconds seed shrink failures progress``, as in :func:`fuzz_many`.

    Returns
    -------
    Report

    Examples
    --------
    >>> from gpucoh.fuzz import fuzz
    >>> fuzz("ideal", ops=2000).failures
    []
    """
    return fuzz_many([protocol], consistency, **choices)[0]


def all_protocols() -> list[str]:
    """The ids of all protocols."""
    return list(protocols())


__all__ = ["DEFAULT_OPS", "Report", "all_protocols", "fuzz", "fuzz_many", "make_round"]
