"""Results of an exploration: states, violations, limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

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

    def to_dict(self) -> dict[str, Any]:
        """As ``gpucoh verify --json`` prints it."""
        return asdict(self)


@dataclass(kw_only=True)
class Verification:
    """The exploration of one protocol and its results.

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
            **({"tests": [item.to_dict() for item in self.tests]} if self.tests else {}),
        }
