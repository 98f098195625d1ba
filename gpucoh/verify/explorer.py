"""Proof on a small machine: every interleaving of small programs, by the tables and the memory order that simulate.

The explorer of the core runs a protocol's own tables on two to four cores, with messages delivered in every order that
the declared networks permit, and checks values, invariants, impossible transitions, and that every state can come to
rest again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gpucoh import binding
from gpucoh.errors import ConfigError, SimulationError
from gpucoh.gpu import resolve
from gpucoh.litmus.syntax import Test, UnsupportedError
from gpucoh.litmus.verdict import UndecidedError, Verdicts
from gpucoh.protocols import Choice, Protocol
from gpucoh.verify.diagrams import draw
from gpucoh.verify.library import Exploration, shapes, translate
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import Program, every_program, fenced, without_fences
from gpucoh.verify.results import Explored, Verification, Violation

MOST_CORES, MOST_LINES, MOST_OPERATIONS = 4, 4, 4
MOST_EVICTIONS, MOST_STATES = 100, 10**9
PROGRAM_STATES = 300_000
# Leases and the like as short as the small machine needs them: what matters is that they end.
SMALL_OPTIONS = {"lifetime": 2}
_KINDS = {"ld": 0, "st": 1, "add": 2, "F": 3, "bar": 4, "exit": 5, "kernel": 6}


def explore(
    protocol: str | Choice,
    program: Program,
    *,
    consistency: str | None = None,
    evictions: int = 1,
    max_states: int = PROGRAM_STATES,
    allowed: Sequence[tuple[int, ...]] | None = None,
    invariants: bool = True,
) -> dict[str, Any]:
    """Every interleaving of one program.

    Parameters
    ----------
    protocol : str or Choice
        Options in brackets.
    program : Program
    consistency : str, optional
        Core rule; the protocol's own by default.
    evictions : int
        How many evictions by whim, of any cache at any time, at most.
    max_states : int
        The exploration is bounded (``complete`` is false) by so many.
    allowed : sequence of tuple, optional
        Outcomes that may be; another one is a violation.
    invariants : bool
        Whether the protocol's own are looked at after every step.

    Returns
    -------
    dict
        ``{states, transitions, depth, complete, outcomes, cells, violations}``, as ``gpc_explore`` tells them.

    Raises
    ------
    ConfigError
        For an unknown protocol, option or rule.
    SimulationError
        If the explorer's own limits are reached.
    """
    choice = resolve(protocol) if isinstance(protocol, str) else protocol
    orders, scopes = binding.isa()["orders"], binding.isa()["scopes"]
    threads = [
        (
            thread.core,
            [
                (
                    _KINDS[op.kind],
                    orders[op.order],
                    scopes[op.scope],
                    op.variable,
                    op.value,
                )
                for op in thread.operations
            ],
        )
        for thread in program.threads
    ]  # fmt: skip
    warm = (1 << (program.cores * program.variables)) - 1 if program.warm else 0
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
    )
    result: dict[str, Any] = json.loads(text)
    return result


def node_names(protocol: Protocol, program: Program) -> list[str]:
    """What the explorer's nodes are called: cores, then banks."""
    cores = [f"core {number}" for number in range(program.cores)]
    if program.tight:
        return [*cores, "L2"]
    lines = (program.variables + 1) // 2 if program.packed else program.variables
    names = ["xy", "zw"] if program.packed else list("xyzw")
    return [*cores, *(f"L2 of {name}" for name in names[:lines])]


def _settings(program: Program, has_l1: bool) -> tuple[list[Program], list[Program]]:
    """The program on the machines that it is to run on, the quick ones and the others."""
    several = program.variables > 1
    whole, kept = replace(program, warm=True), replace(program, warm=True, evictions=not several)
    quick, others = [program], []
    if several:
        quick.insert(0, replace(program, tight=True, evictions=False))
    if has_l1:
        quick.append(kept)
        others.append(whole)
        if several:
            quick.append(replace(kept, packed=True))
            others.append(replace(whole, packed=True))
    return quick, others


def programs_of(
    protocol: Protocol, rule: str, cores: int, lines: int, operations: int
) -> list[Program]:
    """What a verification runs: shapes that fit, smallest first, then every program of the bound.

    Under the core rule ``sc`` nothing has fences; else every program of the bound runs without and with fences between
    its operations. Both run on the quick settings first: tight; cold with evictions by whim; warm without.
    """
    fitting = [p for p in shapes() if p.cores <= cores and p.variables <= lines]
    bound = list(every_program(min(cores, 2), lines, operations))
    fitting = [_under(program, rule) for program in fitting]
    if rule != "sc":
        bound += [fenced(program) for program in bound]
    return _in_settings([fitting, bound], protocol.has_l1)


def _in_settings(sets: Sequence[Sequence[Program]], has_l1: bool) -> list[Program]:
    """The programs in all their settings, each once: the quick ones of every set first, smallest programs first."""
    chosen: dict[tuple[object, ...], Program] = {}
    for late in (0, 1):
        for programs in sets:
            by_size = sorted(programs, key=lambda program: program.size)
            settings = [_settings(program, has_l1)[late] for program in by_size]
            for stage in range(max(map(len, settings), default=0)):
                for several in settings:
                    if stage < len(several):
                        program = several[stage]
                        chosen.setdefault((program.threads, program.setting), program)
    return list(chosen.values())


def _check_bounds(cores: int, lines: int, operations: int, evictions: int, max_states: int) -> None:
    for name, value, least, most in (
        ("cores", cores, 2, MOST_CORES),
        ("lines", lines, 1, MOST_LINES),
        ("ops", operations, 1, MOST_OPERATIONS),
        ("evictions", evictions, 0, MOST_EVICTIONS),
        ("states", max_states, 1, MOST_STATES),
    ):
        if not least <= value <= most:
            raise ConfigError(f"{name} = {value}: must be from {least} to {most:,}")


def small_choice(protocol: str) -> Choice:
    """The protocol with options as a small machine wants them, where none were given.

    Raises
    ------
    ConfigError
        For an unknown protocol or option.
    """
    choice = resolve(protocol)
    small = {name: n for name, n in SMALL_OPTIONS.items() if name in choice.protocol.options}
    return replace(choice, options={**small, **choice.options})


def _violation(choice: Choice, program: Program, found: dict[str, Any], values: str) -> Violation:
    what = found["what"] + (values if found["kind"] == "outcome" else "")
    return Violation(
        program=program,
        kind=found["kind"],
        what=what,
        trace=found["trace"],
        diagram=draw(program, node_names(choice.protocol, program), found["trace"]),
    )


def _values_seen(program: Program, outcome: Sequence[int]) -> str:
    """``": 1: ld y = 1, ld x = 0; in the end x = 1, y = 1"``."""
    values = iter(outcome)
    parts = []
    for number, thread in enumerate(program.threads):
        reads = [f"{op} = {next(values)}" for op in thread.operations if op.reads]
        if reads:
            parts.append(f"thread {number}: " + ", ".join(reads))
    final = ", ".join(f"{'xyzw'[n]} = {next(values)}" for n in range(program.variables))
    return ": " + "; ".join([*parts, f"in the end {final}"])


class _Verifier:
    """Explores programs of one protocol until there is a violation.

    Parameters
    ----------
    choice : Choice
    result : Verification
        Where everything is noted.
    tests : sequence of (Exploration, Explored)
        Litmus tests that were asked for, and what is known of them.
    """

    def __init__(
        self, choice: Choice, result: Verification, tests: Sequence[tuple[Exploration, Explored]]
    ) -> None:
        self.choice, self.result, self.tests = choice, result, tests

    def run(
        self, program: Program, evictions: int, max_states: int, invariants: bool
    ) -> dict[str, Any]:
        """Explores one program and notes what came of it."""
        result = self.result
        try:
            allowed = allowed_outcomes(program, result.model)
        except UndecidedError:
            allowed = None
            result.note_limit("too many candidate executions: values are not checked", program)
        found = explore(
            self.choice,
            program,
            consistency=result.consistency,
            evictions=evictions,
            max_states=max_states,
            allowed=allowed,
            invariants=invariants,
        )
        result.explored += 1
        result.states += found["states"]
        result.transitions += found["transitions"]
        result.depth = max(result.depth, found["depth"])
        result.complete &= found["complete"]
        for limit in found.get("limits", ()):
            result.note_limit(limit, program)
        for table, cells in found["cells"].items():
            result.cells.setdefault(table, set()).update(cells)
        for item, told in self.tests:
            if _under(item.program, result.consistency).threads == program.threads:
                _tell(item, told, found)
        if found["violations"]:
            self._violated(program, found)
        return found

    def finish(self, left: Sequence[Program]) -> None:
        """Notes which tests have settings left that were not explored."""
        bodies = {program.threads for program in left}
        for item, told in self.tests:
            if _under(item.program, self.result.consistency).threads in bodies:
                told.complete = False

    def _violated(self, program: Program, found: dict[str, Any]) -> None:
        last = found["outcomes"][-1] if found["outcomes"] else []
        first = found["violations"][0]
        values = _values_seen(program, last) if first["kind"] == "outcome" else ""
        self.result.violations.append(_violation(self.choice, program, first, values))
        self.result.complete = False


def _under(program: Program, rule: str) -> Program:
    """The program as it runs under a core rule: ``sc`` needs no fences."""
    return without_fences(program) if rule == "sc" else program


def _tell(item: Exploration, told: Explored, found: dict[str, Any]) -> None:
    """Notes what an exploration says of a litmus test."""
    condition = item.test.condition
    told.complete = found["complete"] and (told.complete or told.status == "pending")
    told.status = "explored"
    told.observed |= any(condition.matches(item.final(row)) for row in found["outcomes"])


def _translated(tests: Sequence[Test], result: Verification) -> list[tuple[Exploration, Explored]]:
    """The tests that can be explored; the result says of each what it is."""
    found = []
    for test in tests:
        told = Explored(test=test.name, condition=str(test.condition))
        result.tests.append(told)
        try:
            found.append((translate(test), told))
        except UnsupportedError as error:
            told.status, told.reason = "unsupported", str(error)
            continue
        told.allowed = Verdicts(test, result.model).allowed()
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
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
) -> Verification:
    """Explore a protocol on a small machine, exhaustively within the bound; stop at the first violation.

    Parameters
    ----------
    protocol : str
        Options in brackets; leases are two cycles long unless given.
    consistency : str, optional
        Core rule; the protocol's own by default.
    cores, lines, operations : int
        The shapes that fit on so many cores and lines; and every program of two warps, on cores of their own, over so
        many lines and of so many operations each.
    evictions : int
        At most so many in a run, by any cache at any time.
    max_states, program_states : int
        States in all and in one program after which the result is bounded.
    invariants : bool
        Whether the protocol's own are looked at after every step.
    tests : sequence of Test, optional
        Litmus tests to explore, in place of the shapes and programs of the bound.
    progress : callable, optional
        Called with programs explored and programs in all.
    stop : threading.Event, optional
        Ends the work from another thread, between two programs.

    Raises
    ------
    ConfigError
        For an unknown protocol, option or rule, or a bound that is none.

    Examples
    --------
    >>> found = verify("no-l1", cores=2, lines=1, operations=1)
    >>> found.complete, found.violations
    (True, [])
    """
    _check_bounds(cores, lines, operations, evictions, max_states)
    choice = small_choice(protocol)
    rule = choice.rule(consistency)
    result = Verification(protocol=protocol, consistency=rule, model=choice.protocol.model(rule))
    given = _translated(tests or (), result)
    if tests is None:
        programs = programs_of(choice.protocol, rule, cores, lines, operations)
    else:
        bodies = [_under(item.program, rule) for item, _ in given]
        programs = _in_settings([bodies], choice.protocol.has_l1)
    result.programs = len(programs)
    verifier = _Verifier(choice, result, given)
    for program in programs:
        if result.states >= max_states:
            result.note_limit(f"more than {max_states} states in all programs", program)
            break
        if stop is not None and stop.is_set():
            raise SimulationError("stopped")
        verifier.run(
            program, evictions, min(program_states, max_states - result.states), invariants
        )
        if progress:
            progress(result.explored, result.programs)
        if result.violations:
            break
    verifier.finish(programs[result.explored :])
    return result
