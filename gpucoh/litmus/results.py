"""One litmus test under one protocol: what was seen, what the promised model allows, and whether they agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpucoh.litmus.syntax import Test

HANG = "hang"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One final state: the shown part of it as text (``hang`` where a run did not end), and how often it was seen."""

    state: str
    count: int
    allowed: bool = True
    matches: bool = False


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of a test under a protocol.

    Attributes
    ----------
    test : str
        Name of the test.
    protocol : str
        As asked for.
    consistency, model : str
        Core rule and the memory model promised under it.
    status : str
        ``ran``; ``hang``: no run came to its end; ``unsupported``: not run, see ``reason``.
    reason : str
        Why it was not run, or what went wrong; empty where there is nothing to say.
    runs : int
    outcomes : tuple of Outcome
        The most frequent first.
    condition : str
    observed : bool
        Whether a final state was seen that the condition is about (``forall``: one that violates it).
    allowed : bool
        Whether the model allows such a state.
    ok : bool
        Nothing was seen that the model forbids, and no run hung unless the model allows an execution without end.
    forbidden : tuple of str
        Final states that were seen and are forbidden, all registers and locations named; ``hang`` if runs hung that
        should have ended.
    """

    test: str
    protocol: str
    consistency: str
    model: str
    status: str
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
