"""Exports a protocol with a few small programs, and counts the states of the same programs in gpucoh's own explorer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.device.choices import Choice
from gpucoh.export.bounded import bounded
from gpucoh.export.murphi import murphi
from gpucoh.verify.explorer import explore, small_choice
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import Program, parse

#: What is exported unless programs are given: two operations on each core, which differ.
DEFAULT_PROGRAMS = ("ld x; st x 1 | add x 1; ld x", "st x 1; ld x | st x 2; ld x")
MOST_EVICTIONS = 3


@dataclass(frozen=True)
class Counted:
    """A program's exploration by gpucoh: states, and what is wrong, if anything."""

    program: Program
    states: int
    violation: str


@dataclass(frozen=True)
class Export:
    """A model for another checker.

    Attributes
    ----------
    text : str
        The file.
    counted : tuple of Counted
        Each program's exploration by gpucoh.
    """

    text: str
    counted: tuple[Counted, ...]


def programs_of(texts: Sequence[str]) -> list[Program]:
    """The programs.

    Raises
    ------
    ConfigError
        For a text that is no program.
    """
    out = []
    for text in texts:
        try:
            out.append(parse(text))
        except (ValueError, KeyError, IndexError):
            raise ConfigError(
                f"--program {quoted(text)}: no program "
                f"(allowed: ld x, st x N and add x N, as in {quoted(DEFAULT_PROGRAMS[1])})"
            ) from None
    return out


def count(choice: Choice, rule: str, program: Program, evictions: int) -> Counted:
    """Explore one program with gpucoh."""
    found = explore(
        choice,
        program,
        consistency=rule,
        evictions=evictions,
        allowed=allowed_outcomes(program, choice.model(rule)),
        invariants=False,
        max_states=10**7,
    )
    wrong = [item["what"] for item in found["violations"]]
    return Counted(program, found["states"], wrong[0] if wrong else "")


def export(
    protocol: str,
    *,
    programs: Sequence[str] = DEFAULT_PROGRAMS,
    consistency: str | None = None,
    evictions: int = 1,
) -> Export:
    """The protocol's tables as a Murphi model.

    Parameters
    ----------
    protocol : str
        Protocol id, with options in brackets; options that are not given have their declared small values.
    programs : sequence of str
        Programs of two cores and one variable, as :mod:`gpucoh.verify.programs` writes them.
    consistency : str, optional
        Consistency rule; the protocol's own by default.
    evictions : int
        Largest number of spontaneous evictions in a run.

    Raises
    ------
    ConfigError
        If a part of the protocol has no translation, or a program does not fit.

    Examples
    --------
    >>> model = export("gpu-vi", programs=["ld x | st x 1"], evictions=0)
    >>> [item.states for item in model.counted]
    [34]
    """
    if not 0 <= evictions <= MOST_EVICTIONS:
        raise ConfigError(f"evictions = {evictions}: must be from 0 to {MOST_EVICTIONS}")
    choice = small_choice(protocol)
    rule = choice.rule(consistency)
    parsed = programs_of(programs)
    model = bounded(choice, rule, parsed, evictions)
    counted = tuple(count(choice, rule, program, evictions) for program in parsed)
    model.header = [
        f"{protocol} ({choice.protocol.paper}) under {rule}: its tables, for two cores, a bank and one line.",
        f"At most {evictions} spontaneous evictions; one initial state for each program.",
        "Written by gpucoh protocols; docs/export.md says what is exported and what is not.",
        "",
        "States that gpucoh's own explorer counts:",
        *(f"  {item.program}: {item.states}{_wrong(item)}" for item in counted),
    ]
    return Export(murphi(model), counted)


def _wrong(item: Counted) -> str:
    return f" before it finds: {item.violation}" if item.violation else ""
