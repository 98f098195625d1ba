"""Programs that are explored whole."""

from __future__ import annotations

from typing import Any

from gpucoh.device.choices import Choice
from gpucoh.verify.explorer import explore
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import Program


def passes(
    choice: str | Choice, program: Program, model: str | None = None, **settings: Any
) -> dict[str, Any]:
    """What ``explore`` finds: every state, no violation and, of a model, only outcomes that it allows."""
    allowed = allowed_outcomes(program, model) if model else None
    found = explore(choice, program, allowed=allowed, **settings)
    assert found["complete"], (choice, program)
    assert not found["violations"], (choice, program)
    return found
