"""One litmus test under one protocol: its outcomes, what the promised model allows, and whether they agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpucoh.litmus.syntax import Test

HANG = "hang"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One final state: its shown part as text (``hang`` if a run did not end), and its count."""

    state: str
    count: int
    allowed: bool = True
    matches: bool = False


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of a test under a protocol.

    Attributes
    ----------
    test : str
        Name of the test.
    file : str
        The path of its file; empty for a built-in test or a text.
    protocol : str
        Protocol id, with options in brackets.
    consistency, model : str
        Consistency rule and the memory model promised under it.
    status : str
        ``ran``; ``hang``: no run ended; ``unsupported``: not run, see ``reason``.
    reason : str
        Why the test was not run, or the error of its runs; otherwise empty.
    runs : int
    outcomes : tuple of Outcome
        Outcomes, the most frequent first.
    condition : str
    observed : bool
        Whether a run reached a final state that the condition describes (``forall``: one that violates it).
    allowed : bool
        Whether the model allows such a state.
    ok : bool
        No outcome is forbidden, and no run hung unless the model allows an execution without end.
    forbidden : tuple of str
        Observed forbidden final states, with all registers and locations; ``hang`` if runs hung that should have
        ended.
    """

    test: str
    protocol: str
    consistency: str
    model: str
    status: str
    file: str = ""
    reason: str = ""
    runs: int = 0
    outcomes: tuple[Outcome, ...] = ()
    condition: str = ""
    observed: bool = False
    allowed: bool = False
    ok: bool = True
    forbidden: tuple[str, ...] = ()
    about: Test | None = None

    def to_dict(self) -> dict[str, Any]:
        """As ``gpucoh litmus --json`` prints it."""
        return {
            "test": self.test,
            "file": self.file,
            "protocol": self.protocol,
            "consistency": self.consistency,
            "model": self.model,
            "status": self.status,
            "reason": self.reason,
            "runs": self.runs,
            "outcomes": [
                {"state": item.state, "count": item.count, "allowed": item.allowed}
                for item in self.outcomes
            ],
            "condition": self.condition,
            "observed": self.observed,
            "allowed": self.allowed,
            "ok": self.ok,
            "forbidden": list(self.forbidden),
        }
