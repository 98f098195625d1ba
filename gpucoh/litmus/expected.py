"""The outcomes of a litmus test that each memory model allows, as the text of its ``.expected`` file.

The file has a line for the test's condition, for runs that hang and for races, and one for each final state; after the
colon are the models that allow it. ``race`` names the models that promise nothing, because the program has a race; the
other lines omit them::

    exists (P0:r0 == 0 /\\\\ P1:r0 == 0): RC-MCA RCsc RCc RCpc
    hang:
    race: DRF-SC HRF-indirect
    P0:r0=0; P1:r0=0; x=1; y=1: RC-MCA WO RCsc RCc RCpc
"""

from __future__ import annotations

from collections.abc import Iterable

from gpucoh.litmus.harness import names
from gpucoh.litmus.models import MODELS
from gpucoh.litmus.runner import verdicts
from gpucoh.litmus.syntax import Test

#: With more final states, the file gives only their numbers.
MOST_STATES = 100


def _line(what: str, models: Iterable[str]) -> str:
    return f"{what}: {' '.join(models)}".rstrip()


def expected(test: Test) -> str:
    """The text of a test's ``.expected`` file."""
    answers = {model: verdicts(test, model) for model in MODELS if model != "none"}
    race = [model for model, found in answers.items() if not found.promises]
    kept = {model: found for model, found in answers.items() if found.promises}
    allowed: dict[tuple[int, ...], list[str]] = {}
    for model, found in kept.items():
        for state in sorted(found.states()):
            allowed.setdefault(state, []).append(model)
    lines = [
        _line(str(test.condition), (m for m, found in kept.items() if found.allowed())),
        _line("hang", (m for m, found in kept.items() if found.may_hang())),
        _line("race", race),
    ]
    if len(allowed) > MOST_STATES:
        counts = (f"{m} {sum(m in row for row in allowed.values())}" for m in kept)
        lines.append(_line("final states", counts))
    else:
        for state in sorted(allowed):
            values = zip(names(test), state, strict=True)
            text = "; ".join(f"{name}={value}" for name, value in values)
            lines.append(_line(text, allowed[state]))
    return "\n".join(lines) + "\n"
