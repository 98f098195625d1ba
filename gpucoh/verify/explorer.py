"""Proof on a small machine: every interleaving of small programs, with the simulator's tables and memory order.

The explorer of the core runs a protocol's own tables on two to four cores, delivers messages in every order that the
declared networks permit, and checks values, invariants, impossible transitions, and that every state can reach
completion.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpucoh.base.errors import ConfigError, SimulationError
from gpucoh.device import binding
from gpucoh.device.choices import Choice
from gpucoh.device.coverage import coverage_of
from gpucoh.device.gpu import resolve
from gpucoh.device.protocols import Protocol
from gpucoh.litmus.syntax import Test, UnsupportedError
from gpucoh.litmus.verdict import UndecidedError, Verdicts
from gpucoh.machines import machine
from gpucoh.machines.fields import core_name
from gpucoh.verify.chosen import in_settings, programs_of, under
from gpucoh.verify.diagrams import draw, node_names
from gpucoh.verify.library import (
    Exploration,
    translate,
)
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import (
    ATOMICS,
    KINDS,
    Program,
    parse,
)
from gpucoh.verify.results import Explored, Verification, Violation
from gpucoh.verify.roles import LEAST_COMPARED, MOST_COMPARED, assignments, check_alike, turned

MOST_CORES, MOST_LINES, MOST_OPERATIONS = 4, 4, 4
MOST_EVICTIONS, MOST_STATES = 100, 10**9
PROGRAM_STATES = 300_000
_F64 = 0x80  # GPC_EXPLORE_F64 of csrc/check/explore/explore.h


def explore(
    protocol: str | Choice,
    program: Program,
    *,
    consistency: str | None = None,
    evictions: int = 1,
    max_states: int = PROGRAM_STATES,
    allowed: Sequence[tuple[int, ...]] | None = None,
    invariants: bool = True,
    fields: Mapping[str, int] | None = None,
    copies: Collection[tuple[int, int]] | None = None,
    symmetry: bool = True,
    every_order: bool = False,
) -> dict[str, Any]:
    """Explore every interleaving of one program.

    Parameters
    ----------
    protocol : str or Choice
        The protocol, with options in brackets.
    program : Program
        If it names no GPU, and the protocol is explored on several, scope gpu is scope sys.
    consistency : str, optional
        Consistency rule; the protocol's own by default.
    evictions : int
        Largest number of spontaneous evictions in a run, by any cache at any time.
    max_states : int
        Largest number of states; beyond it the exploration is bounded (``complete`` is false).
    allowed : sequence of tuple, optional
        Allowed outcomes; any other one is a violation.
    invariants : bool
        Whether to check the protocol's own invariants after every step.
    fields : dict, optional
        Fields of the explorer's machine, by the core's names, that differ from its own.
    copies : collection of (int, int), optional
        The core and variable of each copy that an L1 begins with, in place of ``program.warm``.
    symmetry : bool
        Whether states that differ by exchanging equal cores count once.
    every_order : bool
        Whether to explore every order of moves that commute: the same outcomes in more states.

    Returns
    -------
    dict
        ``{states, transitions, depth, complete, outcomes, cells, roles, violations, limits}``, from ``gpc_explore``.

    Raises
    ------
    ConfigError
        For an unknown protocol, option or rule.
    SimulationError
        If the explorer's own limits are exceeded.
    """
    choice = resolve(protocol) if isinstance(protocol, str) else protocol
    orders, scopes = binding.isa()["orders"], binding.isa()["scopes"]
    atomics = binding.isa()["atomics"]
    atomics = {**atomics, "FADD": atomics["ADD"] | _F64}
    if choice.protocol.gpus > 1 and not any(thread.gpu for thread in program.threads):
        scopes = {**scopes, "GPU": scopes["SYS"]}  # the program takes the GPUs for one
    threads = [
        (
            thread.core,
            [
                (
                    KINDS[op.kind],
                    orders[op.order],
                    scopes[op.scope],
                    op.variable,
                    op.value,
                    op.read_only,
                    0 if op.source is None else op.source + 1,
                    op.source is not None and op.adds,
                    atomics[op.kind.upper()] if op.kind in ATOMICS else 0,
                    0 if op.word is None else op.word + 1,
                    op.replacement,
                )
                for op in thread.operations
            ],
        )
        for thread in program.threads
    ]  # fmt: skip
    every = itertools.product(range(program.cores), range(program.variables))
    begins_with = copies if copies is not None else every if program.warm else ()
    warm = sum(1 << (core * program.variables + variable) for core, variable in begins_with)
    text = binding.explore(
        choice.protocol.id,
        choice.rule(consistency),
        dict(choice.options),
        program.cores,
        program.variables,
        threads,
        warm,
        evictions if program.evictions else 0,
        max_states,
        program.packed,
        program.tight,
        allowed,
        not invariants,
        dict(fields or {}),
        not symmetry,
        every_order,
        sum(1 << variable for variable in program.wide),
    )
    result: dict[str, Any] = json.loads(text)
    return result


def _check_bounds(
    cores: int, lines: int, operations: int, evictions: int, max_states: int, program_states: int
) -> None:
    for name, value, least, most in (
        ("cores", cores, 2, MOST_CORES),
        ("lines", lines, 1, MOST_LINES),
        ("ops", operations, 1, MOST_OPERATIONS),
        ("evictions", evictions, 0, MOST_EVICTIONS),
        ("states", max_states, 1, MOST_STATES),
        ("program-states", program_states, 1, MOST_STATES),
    ):
        if not least <= value <= most:
            raise ConfigError(f"{name} = {value}: must be from {least} to {most:,}")


def small_choice(protocol: str) -> Choice:
    """The protocol with its declared small values for the options that are not given.

    Raises
    ------
    ConfigError
        For an unknown protocol or option.
    """
    choice = resolve(protocol)
    known = choice.protocol.options.values()
    small = {option.name: option.small for option in known if option.small is not None}
    return replace(choice, options={**small, **choice.options})


def _fields(changes: Mapping[str, Any]) -> dict[str, int]:
    """Changes of machine fields, by the core's names, as numbers."""
    core = machine().replace(**changes).to_core()
    return {core_name(name): core[core_name(name)] for name in changes}


def _violation(choice: Choice, program: Program, found: dict[str, Any], values: str) -> Violation:
    what = found["what"] + (values if found["kind"] == "outcome" else "")
    return Violation(
        program=program,
        kind=found["kind"],
        what=what,
        trace=found["trace"],
        diagram=draw(program, node_names(found, program), found["trace"]),
    )


def _values_seen(program: Program, outcome: Sequence[int]) -> str:
    """``": 1: ld y = 1, ld x = 0; in the end x = 1, y = 1"``."""
    words = iter(outcome)

    def value(wide: bool) -> str:
        low = next(words)
        return hex(next(words) << 32 | low) if wide else str(low)

    parts = []
    for number, thread in enumerate(program.threads):
        reads = [f"{op} = {value(op.bits == 64)}" for op in thread.operations if op.reads]
        if reads:
            parts.append(f"thread {number}: " + ", ".join(reads))
    final = ", ".join(f"{'xyzw'[n]} = {value(n in program.wide)}" for n in range(program.variables))
    return ": " + "; ".join([*parts, f"in the end {final}"])


class _Verifier:
    """Explores programs of one protocol until a violation.

    Parameters
    ----------
    choice : Choice
    result : Verification
        The result, to which the sweep adds.
    tests : sequence of (Exploration, Explored)
        The given litmus tests and their results.
    max_states : int
        Largest number of states in all programs; beyond it the result is bounded.
    fields : dict
        Fields of the explorer's machine that differ from its own.
    every_order : bool
        Whether to explore every order of moves that commute.
    """

    def __init__(
        self,
        choice: Choice,
        result: Verification,
        tests: Sequence[tuple[Exploration, Explored]],
        max_states: int,
        fields: Mapping[str, int],
        every_order: bool,
    ) -> None:
        self.choice, self.result, self.tests = choice, result, tests
        self.max_states, self.fields, self.every_order = max_states, fields, every_order
        self.roles: dict[int, tuple[int, ...]] = {}
        self.compared = 0  # states of explorations that check that L1s are alike

    def run(
        self, program: Program, cores: int, evictions: int, program_states: int, invariants: bool
    ) -> None:
        """Explore one program in every assignment of roles to its cores, and note its results."""
        result = self.result
        try:
            allowed = allowed_outcomes(program, result.model)
        except UndecidedError:
            allowed = None
            result.note_limit("too many candidate executions: values are not checked", program)
        roles = self._roles(max(cores, program.cores))
        result.explored += 1
        complete = True
        for one in assignments(program, roles):
            left = self.max_states - result.states
            if left <= 0:
                self.no_states_left(program)
                complete = False
                break
            found = explore(
                self.choice,
                one,
                consistency=result.consistency,
                evictions=evictions,
                max_states=min(program_states, left),
                allowed=allowed,
                invariants=invariants,
                fields=self.fields,
                every_order=self.every_order,
            )
            complete &= found["complete"]
            for limit in found["limits"]:
                if left < program_states and limit == f"more than {left} states":
                    self.no_states_left(program)
                else:
                    result.note_limit(limit, program)
            self._note(program, found)
            self._check_alike(one, found, evictions)
            if found["violations"]:
                self._violated(one, found)
                break
        result.complete &= complete
        result.completed += complete

    def _note(self, program: Program, found: dict[str, Any]) -> None:
        """Add the exploration of a program, in one assignment, to the results."""
        result = self.result
        result.states += found["states"]
        result.transitions += found["transitions"]
        result.depth = max(result.depth, found["depth"])
        for table, cells in found["cells"].items():
            result.cells.setdefault(table, set()).update(cells)
            if table in result.tables:
                result.tables[table].note(cells)
        for item, entry in self.tests:
            if under(item.program, result.consistency).threads == program.threads:
                _note(item, entry, found)

    def _roles(self, cores: int) -> tuple[int, ...]:
        """The roles of the L1s of a machine."""
        if not self.choice.protocol.json["roles"]:
            return (0,) * cores
        if cores not in self.roles:
            idle = replace(parse("ld x"), least_cores=cores)
            self.roles[cores] = tuple(self._explored(idle, 0)["roles"])
        return self.roles[cores]

    def _explored(self, program: Program, evictions: int) -> dict[str, Any]:
        """Every execution of a program, each with its own name."""
        return explore(
            self.choice,
            program,
            consistency=self.result.consistency,
            evictions=evictions,
            max_states=4 * MOST_COMPARED,
            invariants=False,
            fields=self.fields,
            symmetry=False,
            every_order=True,
        )

    def _check_alike(self, program: Program, found: dict[str, Any], evictions: int) -> None:
        """Check that a small program has the same executions on other cores of the same roles, for a few states in a
        hundred. Warm copies are fetched in the order of cores, which leases of logical time show.
        """
        other = turned(program, found["roles"])
        within = self.compared + 2 * found["states"] <= LEAST_COMPARED + self.result.states // 64
        if other is None or program.warm or found["states"] > MOST_COMPARED or not within:
            return
        both = [self._explored(item, evictions) for item in (program, other)]
        self.compared += sum(item["states"] for item in both)
        if all(item["complete"] for item in both):
            check_alike(self.result.protocol, program, *both)

    def no_states_left(self, program: Program) -> None:
        """Note that the limit on the states of all programs is reached."""
        self.result.note_limit(f"more than {self.max_states} states in all programs", program)

    def finish(self, left: Sequence[Program]) -> None:
        """Note the tests that have unexplored settings left."""
        bodies = {program.threads for program in left}
        for item, entry in self.tests:
            if under(item.program, self.result.consistency).threads in bodies:
                entry.complete = False

    def _violated(self, program: Program, found: dict[str, Any]) -> None:
        last = found["outcomes"][-1] if found["outcomes"] else []
        first = found["violations"][0]
        values = _values_seen(program, last) if first["kind"] == "outcome" else ""
        self.result.violations.append(_violation(self.choice, program, first, values))
        self.result.complete = False


def _note(item: Exploration, entry: Explored, found: dict[str, Any]) -> None:
    """Note the result of an exploration for a litmus test."""
    condition = item.test.condition
    entry.complete = found["complete"] and (entry.complete or entry.status == "pending")
    entry.status = "explored"
    entry.observed |= any(condition.matches(item.final(row)) for row in found["outcomes"])


def _translated(
    tests: Sequence[Test], result: Verification, protocol: Protocol
) -> list[tuple[Exploration, Explored]]:
    """The tests that can be explored; the result has an entry for every test."""
    found = []
    for test in tests:
        entry = Explored(test=test.name, condition=str(test.condition))
        result.tests.append(entry)
        try:
            item = translate(test)
            if item.program.wide and protocol.splits_pairs:
                raise UnsupportedError(
                    "cores make one access of the words of 64 bits, which the L1s split; the explorer has no cores"
                )
            found.append((item, entry))
        except UnsupportedError as error:
            entry.status, entry.reason = "unsupported", str(error)
            continue
        entry.allowed = Verdicts(test, result.model).allowed()
    return found


def verify(
    protocol: str,
    *,
    consistency: str | None = None,
    cores: int = 3,
    lines: int = 2,
    operations: int = 2,
    evictions: int = 1,
    max_states: int = 2_000_000,
    program_states: int = PROGRAM_STATES,
    invariants: bool = True,
    tests: Sequence[Test] | None = None,
    set: Mapping[str, Any] | None = None,
    every_order: bool = False,
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
) -> Verification:
    """Explore a protocol on a small machine, exhaustively within the bound; stop at the first violation.

    Parameters
    ----------
    protocol : str
        Protocol id, with options in brackets; options that are not given have their declared small values.
    consistency : str, optional
        Consistency rule; the protocol's own by default.
    cores, lines, operations : int
        Largest numbers of cores and lines of the shapes; and the lines, and operations per thread, of the generated
        programs of two warps on two cores.
    evictions : int
        Largest number of spontaneous evictions in a run, by any cache at any time.
    max_states, program_states : int
        Largest number of states in all programs and in one; beyond it the result is bounded.
    invariants : bool
        Whether to check the protocol's own invariants after every step.
    tests : sequence of Test, optional
        Litmus tests to explore, in place of the shapes and programs of the bound.
    set : dict, optional
        Fields of the explorer's machine, as in :func:`gpucoh.run`: ``{"timestamp_bits": 4}``. The programs and their
        settings determine numbers of cores and lines, and the sizes of caches.
    every_order : bool
        Whether to explore every order of moves that commute: the same outcomes in more states.
    progress : callable, optional
        Called with the number of explored programs and of all programs.
    stop : threading.Event, optional
        Setting it from another thread ends the work, between two programs.

    Raises
    ------
    ConfigError
        For an unknown protocol, option or rule, or a bound out of range.

    Examples
    --------
    >>> found = verify("no-l1", cores=2, lines=1, operations=1)
    >>> found.complete, found.violations
    (True, [])
    """
    _check_bounds(cores, lines, operations, evictions, max_states, program_states)
    choice = small_choice(protocol)
    rule = choice.rule(consistency)
    result = Verification(
        protocol=protocol,
        consistency=rule,
        model=choice.model(rule),
        tables={} if tests is not None else coverage_of(choice.selected, rule),
    )
    given = _translated(tests or (), result, choice.protocol)
    if tests is None:
        programs = programs_of(choice.protocol, rule, cores, lines, operations)
    else:
        bodies = [under(item.program, rule) for item, _ in given]
        programs = in_settings([bodies], choice.protocol.has_l1)
    result.programs = len(programs)
    verifier = _Verifier(choice, result, given, max_states, _fields(set or {}), every_order)
    for program in programs:
        if result.states >= max_states:
            verifier.no_states_left(program)
            break
        if stop is not None and stop.is_set():
            raise SimulationError("stopped")
        verifier.run(program, cores, evictions, program_states, invariants)
        if progress:
            progress(result.explored, result.programs)
        if result.violations:
            break
    verifier.finish(programs[result.explored :])
    return result
