"""Results of an exploration: states, violations, limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from gpucoh.device.coverage import Cell, TableCoverage, listed
from gpucoh.verify.programs import Program


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A violation, and a shortest execution that leads to it.

    Attributes
    ----------
    program : Program
        The program.
    kind : str
        ``outcome``, ``invariant``, ``protocol error``, ``deadlock`` or ``livelock``.
    what : str
        Description of the violation.
    trace : list of dict
        Steps as the core returns them.
    diagram : str
        The trace as a diagram.
    """

    program: Program
    kind: str
    what: str
    trace: list[dict[str, Any]] = field(repr=False)
    diagram: str = field(repr=False)

    def __str__(self) -> str:
        """The violation, its program and setting, and the drawing."""
        setting = f" ({self.program.setting})" if self.program.setting else ""
        program = f"program {self.program.name}{setting}: {self.program}"
        return f"{self.kind}: {self.what}\n{program}\n\n{self.diagram}"

    def to_dict(self) -> dict[str, Any]:
        """As ``gpucoh verify --json`` prints it."""
        return {
            "program": str(self.program),
            "name": self.program.name,
            "setting": self.program.setting,
            "kind": self.kind,
            "what": self.what,
            "steps": len(self.trace),
            "trace": self.trace,
            "diagram": self.diagram,
        }


@dataclass(kw_only=True)
class Limit:
    """A limit that an exploration has reached.

    Attributes
    ----------
    what : str
        The limit.
    programs : int
        Number of programs that reached it.
    first : str
        The first of them, with its setting.
    """

    what: str
    first: str
    programs: int = 1


@dataclass(kw_only=True)
class Explored:
    """A litmus test that was explored.

    Attributes
    ----------
    test : str
        Its name.
    status : str
        ``explored``; ``unsupported``: not explored, see ``reason``; ``pending``: a violation ended the exploration.
    reason : str
        Why it was not explored; empty otherwise.
    condition : str
    observed : bool
        Whether an execution reached a final state that the condition describes (``forall``: one that violates it).
    allowed : bool
        Whether the promised model allows such a state.
    complete : bool
        Whether every state was explored in every setting.
    """

    test: str
    status: str = "pending"
    reason: str = ""
    condition: str = ""
    observed: bool = False
    allowed: bool = False
    complete: bool = False

    def __str__(self) -> str:
        """The result in one line."""
        if self.status != "explored":
            result = f"{self.status}: {self.reason}" if self.reason else self.status
            return f"{self.test}: {result}"
        seen = (
            "observed" if self.observed else "never observed" if self.complete else "not observed"
        )
        may = "allowed" if self.allowed else "forbidden"
        bounded = "" if self.complete else " (bounded)"
        return f"{self.test}: {self.condition}: {seen}, {may}{bounded}"

    def to_dict(self) -> dict[str, Any]:
        """As ``gpucoh verify --json`` prints it."""
        return asdict(self)


@dataclass(kw_only=True, repr=False)
class Verification:
    """The exploration of one protocol and its results; printed, it draws the first violation.

    Attributes
    ----------
    protocol, consistency, model : str
        Protocol id, consistency rule, and the memory model promised under it.
    states, transitions : int
        Sum over all programs.
    depth : int
        Distance of the farthest state of any program.
    complete : bool
        Whether every program of the bound was explored completely.
    explored, completed, programs : int
        Programs explored, those of them explored completely, and programs in the bound.
    violations : list of Violation
        Empty, or the first one.
    limits : list of Limit
        Reasons why the exploration of some programs ended early, or their values were not checked.
    tests : list of Explored
        Results of the given litmus tests, in order.
    cells : dict
        Table -> numbers of the entered cells.
    tables : dict
        Table -> its cells and those that programs have entered; empty for given litmus tests.
    """

    protocol: str
    consistency: str
    model: str
    states: int = 0
    transitions: int = 0
    depth: int = 0
    complete: bool = True
    explored: int = 0
    completed: int = 0
    programs: int = 0
    violations: list[Violation] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    tests: list[Explored] = field(default_factory=list)
    cells: dict[str, set[int]] = field(default_factory=dict)
    tables: dict[str, TableCoverage] = field(default_factory=dict)

    @property
    def never_entered(self) -> dict[str, list[Cell]]:
        """Table -> the cells that some program can enter and none of these has; tables without such cells left out."""
        return {name: table.missed for name, table in self.tables.items() if table.missed}

    @property
    def ok(self) -> bool:
        """Whether nothing is violated."""
        return not self.violations

    def __repr__(self) -> str:
        """As ``gpucoh verify`` prints it."""
        counts = f"{self.states:,} states, {self.transitions:,} transitions, depth {self.depth}"
        lines = [
            f"{self.protocol}  {self.consistency}, {self.model}: {self._verdict()}: {self._extent()}; {counts}"
        ]
        for limit in self.limits:
            more = f" and {limit.programs - 1:,} more" if limit.programs > 1 else ""
            lines.append(f"  limit: {limit.what}: {limit.first}{more}")
        lines += [f"  {test}" for test in self.tests]
        if self.complete:
            never = self.never_entered.items()
            lines += [f"  {name}, never entered: {listed(cells)}" for name, cells in never]
        lines += [f"\n{item}" for item in self.violations]
        return "\n".join(lines)

    def _verdict(self) -> str:
        if not self.complete:
            return "bounded" if self.ok else "VIOLATED"
        missed = sum(map(len, self.never_entered.values()))
        return (
            f"complete for these programs, {missed} of {self._cells()} cells never entered"
            if missed
            else "complete"
        )

    def _extent(self) -> str:
        extent = f"{self.completed:,} of {self.programs:,} programs"
        if not self.complete and self.ok:
            extent += f" ({100 * self.completed // self.programs}%)"
            if self.tables:
                missed = sum(map(len, self.never_entered.values()))
                extent += f", {self._cells() - missed} of {self._cells()} cells entered"
        return extent

    def _cells(self) -> int:
        return sum(len(table.reachable) for table in self.tables.values())

    def note_limit(self, what: str, program: Program) -> None:
        """Note a limit that a program has reached; the result is bounded."""
        self.complete = False
        for limit in self.limits:
            if limit.what == what:
                limit.programs += 1
                return
        setting = f" ({program.setting})" if program.setting else ""
        self.limits.append(Limit(what=what, first=program.name + setting))

    def to_dict(self) -> dict[str, Any]:
        """As ``gpucoh verify --json`` prints it."""
        return {
            "protocol": self.protocol,
            "consistency": self.consistency,
            "model": self.model,
            "states": self.states,
            "transitions": self.transitions,
            "depth": self.depth,
            "complete": self.complete,
            "explored": self.explored,
            "completed": self.completed,
            "programs": self.programs,
            "violations": [item.to_dict() for item in self.violations],
            "limits": [asdict(item) for item in self.limits],
            "cells": {
                name: {
                    "entered": len(table.visited),
                    "reachable": len(table.reachable),
                    "never_entered": [" ".join(cell) for cell in table.missed],
                }
                for name, table in self.tables.items()
            },
            **({"tests": [item.to_dict() for item in self.tests]} if self.tests else {}),
        }
