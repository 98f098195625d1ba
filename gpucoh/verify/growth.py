"""How the number of states grows with cores, lines and operations."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpucoh.base.errors import SimulationError
from gpucoh.device.gpu import VERSION
from gpucoh.verify.explorer import explore, small_choice
from gpucoh.verify.programs import Operation, Program, Thread

STATES = 100_000


class Point(NamedTuple):
    """A size of a program."""

    cores: int
    lines: int
    operations: int

    def program(self) -> Program:
        """Every core stores, loads, stores .. one line after the other, beginning with the line of its number."""
        threads = tuple(
            Thread(
                core,
                tuple(
                    Operation("ld", (core + number) % self.lines)
                    if number % 2
                    else Operation("st", (core + number) % self.lines, number + 1)
                    for number in range(self.operations)
                ),
            )
            for core in range(self.cores)
        )
        return Program(" | ".join(map(str, threads)), threads, self.lines)


#: What grows -> the sizes, from the smallest.
PANELS = {
    "cores": [Point(cores, 2, 2) for cores in range(1, 5)],
    "lines": [Point(2, lines, 3) for lines in range(1, 5)],
    "operations": [Point(2, 2, operations) for operations in range(1, 5)],
}
#: What stays.
TITLES = {
    "cores": "2 lines, 2 operations a core",
    "lines": "2 cores, 3 operations a core",
    "operations": "2 cores, 2 lines",
}


def points() -> list[Point]:
    """Every size once."""
    return list(dict.fromkeys(point for panel in PANELS.values() for point in panel))


@dataclass(frozen=True)
class Exploration:
    """The exploration of one size under one protocol and rule.

    Attributes
    ----------
    protocol, rule : str
    point : Point
    states : int
        Largest number of states.
    evictions : int
        Largest number of spontaneous evictions.
    symmetry : bool
        Whether states that differ by exchanging equal cores count once.
    code : str
        A digest of the code.
    """

    protocol: str
    rule: str
    point: Point
    states: int = STATES
    evictions: int = 1
    symmetry: bool = True
    code: str = ""

    @property
    def key(self) -> str:
        """The key of its row."""
        parts = ["growth", VERSION, self.code, self.protocol, self.rule, *self.point]
        text = json.dumps([*parts, self.states, self.evictions, self.symmetry])
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def carry_out(self, stop: threading.Event | None = None) -> dict[str, Any]:
        """The row: the verdict is ``complete``, ``bounded`` or ``violated``."""
        if stop is not None and stop.is_set():
            raise SimulationError("stopped")
        choice, program = small_choice(self.protocol), self.point.program()
        found = explore(
            choice,
            program,
            consistency=self.rule,
            evictions=self.evictions,
            max_states=self.states,
            symmetry=self.symmetry,
        )
        first = found["violations"][0] if found["violations"] else None
        verdict = "violated" if first else "complete" if found["complete"] else "bounded"
        return {
            "key": self.key,
            "workload": program.name,
            "protocol": self.protocol,
            "machine": "explorer",
            "consistency": self.rule,
            "model": choice.model(self.rule),
            "scale": "exhaustive",
            "verdict": verdict,
            "where": f"{first['kind']}: {first['what']}" if first else "",
            "error": None,
            "version": VERSION,
            "code": self.code,
            "seed": 0,
            "mismatches": 0,
            "correct": first is None,
            "cores": self.point.cores,
            "lines": self.point.lines,
            "operations": self.point.operations,
            "states": found["states"],
            "transitions": found["transitions"],
            "depth": found["depth"],
        }


def explorations(names: Sequence[str], rule: str | None, **settings: Any) -> list[Exploration]:
    """Every size for every protocol, under the given rule or the protocol's own; smaller sizes first.

    Raises
    ------
    ConfigError
        For an unknown protocol, option or rule.
    """
    rules = {name: small_choice(name).rule(rule) for name in names}
    return [
        Exploration(name, own, point, **settings)
        for point in sorted(points(), key=lambda point: point.cores * point.operations)
        for name, own in rules.items()
    ]


def number_of(row: Mapping[str, Any]) -> str:
    """The states of a row, or the bound that they are above."""
    bounded = row["verdict"] == "bounded"
    return f"> {row['states'] // 1000 * 1000:,}" if bounded else f"{row['states']:,}"
