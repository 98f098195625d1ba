"""Reports of the tester, and failures with the shortest failing program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpucoh.device.coverage import TableCoverage
from gpucoh.fuzz.cases import Case, Op, Weaver, Woven
from gpucoh.fuzz.shrinking import Shrinker
from gpucoh.fuzz.tester import Failure, Setup, prepare_all, trace_cases

SHRINK_SECONDS = 20.0


@dataclass
class Report:
    """The results for one protocol under one consistency rule.

    Attributes
    ----------
    protocol, consistency, model : str
    seed : int
    ops, episodes, runs : int
        Memory operations of lanes (loads, stores, atomics of one word each), episodes, launches.
    seconds : float
        Simulation time of this protocol, without program generation and shrinking.
    failures : list of dict
        ``kind text round machine options check launches episodes ops program trace``, shrunk.
    coverage : dict
        Table -> TableCoverage.
    """

    protocol: str
    consistency: str
    model: str
    seed: int
    ops: int = 0
    episodes: int = 0
    runs: int = 0
    seconds: float = 0.0
    failures: list[dict[str, Any]] = field(default_factory=list)
    coverage: dict[str, TableCoverage] = field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """Whether a failure counts: a protocol without a promised model may fail."""
        return self.model != "none"

    def to_dict(self) -> dict[str, Any]:
        """The report as a plain dictionary."""
        return {
            "protocol": self.protocol,
            "consistency": self.consistency,
            "model": self.model,
            "seed": self.seed,
            "ops": self.ops,
            "episodes": self.episodes,
            "runs": self.runs,
            "seconds": round(self.seconds, 3),
            "failures": self.failures,
            "coverage": {name: table.to_dict() for name, table in self.coverage.items()},
        }


def describe_failure(
    setup: Setup, cases: Sequence[Case], number: int, failure: Failure, shrink: bool
) -> dict[str, Any]:
    """A failure with the shortest failing program and the trace of its line.

    Parameters
    ----------
    setup : Setup
    cases : sequence of Case
        The launches of the round.
    number : int
        Number of the round.
    failure : Failure
    shrink : bool
    """
    cases = list(cases[: failure.launch + 1])
    if shrink:
        cases, failure = Shrinker(setup, cases, failure, SHRINK_SECONDS).run()
    return {
        "kind": failure.kind,
        "text": failure.text,
        "round": number,
        "protocol": setup.protocol,
        "machine": dict(setup.machine.changes),
        "check": setup.check,
        "launches": len(cases),
        "episodes": sum(case.episodes for case in cases),
        "ops": sum(case.ops for case in cases),
        "program": list(_listing(setup, cases)),
        "trace": trace_cases(setup, cases, failure),
    }


_SCOPES = ("block", "core", "gpu")


def _listing(setup: Setup, cases: Sequence[Case]) -> Iterator[str]:
    """The program as text: one line per step, and one per operation."""
    weaver = Weaver(setup.shape, setup.layout)
    for number, prepared in enumerate(prepare_all(weaver, cases)):
        if len(prepared.stored):
            where = zip(prepared.stored.tolist(), prepared.values.tolist(), strict=True)
            yield "the host stores " + " ".join(
                f"{4 * word:#x}={value:#x}" for word, value in where
            )
        yield f"launch {number}"
        for step in prepared.steps:
            if not isinstance(step, Woven):
                yield f"  block {step.block}: barrier"
                continue
            yield "  " + _step_text(setup, step)
            for op, value in zip(step.episode.ops, step.values, strict=True):
                yield "      " + _op_text(setup, op, value)


def _step_text(setup: Setup, step: Woven) -> str:
    episode = step.episode
    text = f"warp {episode.warp} (core {setup.shape.core_of(episode.warp)}) episode {step.number}"
    for other, scope, number in step.waits:
        text += f", after warp {other} episode {number} ({_SCOPES[scope]} flag, {episode.acquire})"
    for scope in sorted(step.releases):
        text += f", releases to {_SCOPES[scope]} ({episode.release})"
    return text


def _op_text(setup: Setup, op: Op, value: int) -> str:
    if op.kind == "sleep":
        return f"sleep {op.cycles}"
    letter = "c" if op.kind == "count" else "x"
    words = setup.layout.counters if op.kind == "count" else setup.layout.data
    pairs = zip(op.lanes.tolist(), op.places.tolist(), strict=True)
    where = " ".join(f"{lane}:{letter}{at}@{4 * words[at]:#x}" for lane, at in pairs)
    stored = f" = {value:#x} + lane" if op.kind in ("store", "swap") else ""
    return f"{op.kind}.{op.order.lower()}.{op.scope.lower()} {where}{stored}"
