"""The units of work: a program explored, or a test run many times; each gives one row of a result file."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

from gpucoh.base.errors import SimulationError
from gpucoh.hardware.forms import ORDER, exploration, stale_copies
from gpucoh.litmus import hardware
from gpucoh.litmus.harness import Observations, names, observe
from gpucoh.machines import Machine
from gpucoh.runs import works
from gpucoh.verify.explorer import explore, small_choice
from gpucoh.verify.programs import Program

#: The settings in which a program is explored, all without spontaneous evictions: L1s with copies of what the condition
#: demands to be read as before all stores, or of all if it demands none; L1s and an L2 of one line; no copies at first.
SETTINGS = ("warm", "tight", "cold")


_CODE = (
    "litmus",
    "verify",
    "hardware",
)  # parts of the package on which a row depends beside those of a run


@dataclass(frozen=True)
class Explore:
    """The exploration of one program under one protocol and rule.

    Attributes
    ----------
    protocol, rule : str
    program : Program
        In its normal form.
    test : str
        A test with this program, whose condition is that of all its tests.
    states : int
        Largest number of states in all settings.
    order : tuple of int
        The options of the memory order.
    """

    protocol: str
    rule: str
    program: Program
    test: str
    states: int
    order: tuple[int, ...]

    @property
    def key(self) -> str:
        """The key of its row."""
        family = self.test.partition(".")[0]
        parts = (self.protocol, self.rule, family, str(self.program), self.states, self.order)
        return works.key_of(_CODE, "explore", SETTINGS, *parts)

    def carry_out(self, stop: threading.Event | None = None) -> dict[str, Any]:
        """The row: the outcome is ``shown``, ``never`` shown, or the exploration is ``bounded`` or has ``failed``."""
        given, choice = exploration(self.test), small_choice(self.protocol)
        states, verdict, where = 0, "never", ""
        for setting in SETTINGS:
            if setting == "warm" and not choice.protocol.has_l1:
                continue
            if stop is not None and stop.is_set():
                raise SimulationError("stopped")
            if states >= self.states:
                verdict, where = "bounded", setting
                break
            stale = stale_copies(self.test, self.program) if setting == "warm" else set()
            program = replace(
                self.program, evictions=False, warm=setting == "warm", tight=setting == "tight"
            )
            found = explore(
                choice,
                program,
                consistency=self.rule,
                max_states=self.states - states,
                invariants=False,
                fields=dict(zip(ORDER, self.order, strict=True)),
                copies=stale or None,
            )
            states += found["states"]
            if found["violations"]:
                first = found["violations"][0]
                verdict, where = "failed", f"{setting}: {first['kind']}: {first['what']}"
            elif any(given.test.condition.matches(given.final(row)) for row in found["outcomes"]):
                verdict, where = "shown", setting
            elif not found["complete"]:
                verdict, where = "bounded", setting
            if verdict != "never":
                break
        return works.row(
            self, _CODE, self.rule, machine="explorer", scale="exhaustive", workload=str(self.program),
            verdict=verdict, where=where, states=states,
        )  # fmt: skip


@dataclass(frozen=True)
class Repeat:
    """Many runs of one test under one protocol and rule, until one shows the outcome."""

    protocol: str
    rule: str
    test: str
    machine: Machine
    runs: int
    seed: int

    @property
    def key(self) -> str:
        """The key of its row."""
        parts = (self.protocol, self.rule, self.test, self.machine.to_core(), self.runs, self.seed)
        return works.key_of(_CODE, "runs", *parts)

    def carry_out(self, stop: threading.Event | None = None) -> dict[str, Any]:
        """The row: the outcome is ``shown`` or ``not seen``, or a run has ``failed``."""
        test = hardware.programs()[self.test]
        listed = names(test)

        def shows(found: Observations) -> int:
            return sum(
                number
                for final, number in found.states.items()
                if test.condition.matches(dict(zip(listed, final, strict=True)))
            )

        seen = observe(
            test, self.protocol, self.rule, self.machine, self.runs, self.seed,
            stop=stop, enough=lambda found: shows(found) > 0,
        )  # fmt: skip
        if stop is not None and stop.is_set():
            raise SimulationError("stopped")
        count = shows(seen)
        where = seen.error or (f"{seen.hung} of {seen.runs} runs hang" if seen.hung else "")
        verdict = "failed" if where else "shown" if count else "not seen"
        return works.row(
            self, _CODE, self.rule, machine=self.machine.name, scale="runs", workload=self.test,
            verdict=verdict, where=where, seed=self.seed, runs=seen.runs, count=count,
        )  # fmt: skip
