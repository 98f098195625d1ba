"""The measurement: every test under every protocol, explored or run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gpucoh.base.wording import natural
from gpucoh.device.choices import Choice
from gpucoh.device.gpu import resolve
from gpucoh.hardware.forms import (
    ORDER,
    are_scoped,
    exploration,
    explored,
    merged,
    placements,
    representatives,
)
from gpucoh.hardware.verdicts import FORBIDDEN, RUNS, STATES, Verdict
from gpucoh.hardware.works import Explore, Repeat
from gpucoh.litmus import hardware
from gpucoh.machines import Machine
from gpucoh.runs.store import Store, open_store
from gpucoh.runs.works import rows_of


class Study:
    """The measurement.

    Parameters
    ----------
    store : Store
        Rows of finished work; new ones are added.
    machine : Machine
        Of the runs.
    states, runs, seed : int
        Largest number of states of an exploration in all settings, and FORBIDDEN times as many where PTX forbids the
        outcome; runs of a test that it leaves undecided; seed.
    jobs : int
        Number of threads.
    progress : bool
    """

    def __init__(
        self,
        store: Store,
        machine: Machine,
        *,
        states: int = STATES,
        runs: int = RUNS,
        seed: int = 0,
        jobs: int = 1,
        progress: bool = False,
    ) -> None:
        self.store, self.machine = store, machine
        self.states = natural("states", states, smallest=1)
        self.runs = natural("runs", runs, smallest=1)
        self.seed, self.jobs, self.progress = natural("seed", seed), jobs, progress

    def verdicts(self, pairs: Sequence[tuple[str, str]], tests: Sequence[str]) -> list[Verdict]:
        """The verdicts, protocol by protocol.

        A test is explored with its blocks apart first, and with several of them on a core where that is complete and
        does not show the outcome; runs decide where an exploration is bounded.
        """
        keys = [(protocol, rule, test) for protocol, rule in pairs for test in tests]
        choices = {protocol: resolve(protocol) for protocol, _ in pairs}
        found: dict[tuple[str, str, str], Verdict] = {}
        left = {
            key: self._explorations(choices[key[0]], *key)
            for key in keys
            if _explorable(choices[key[0]], key[1])
        }
        depth = 0
        while left:
            rows = self._rows(works[depth] for works in left.values())
            for key, works in list(left.items()):
                row = rows[works[depth].key]
                if row["verdict"] == "never" and depth + 1 < len(works):
                    continue
                del left[key]
                if row["verdict"] != "bounded":
                    where = f"{row['workload']} ({row['where']})" if row["where"] else ""
                    found[key] = _verdict(key, row, by="exploration", where=where)
            depth += 1
        runs = self._repeats(choices, [key for key in keys if key not in found])
        # Test by test: protocols share the launches of a test.
        rows = self._rows(sorted(runs.values(), key=lambda work: work.test))
        for key, work in runs.items():
            row = rows[work.key]
            more = {name: row[name] for name in ("runs", "count", "where")}
            found[key] = _verdict(key, row, by="runs", **more)
        return [found[key] for key in keys]

    def _rows(self, works: Iterable[Explore | Repeat]) -> dict[str, dict[str, Any]]:
        return rows_of(works, self.store, jobs=self.jobs, progress=self.progress)

    def _explorations(self, choice: Choice, protocol: str, rule: str, test: str) -> list[Explore]:
        program = exploration(test).program
        scoped = are_scoped(choice.protocol, self.machine)
        order = tuple(getattr(self.machine, name) for name in ORDER)
        family = test.partition(".")[0]
        states = self.states * (1 if hardware.facts()[test].base else FORBIDDEN)
        programs = [
            merged(explored(placed, scoped, rule), family) for placed in placements(program)
        ]
        return [
            Explore(protocol, rule, placed, test, states, order)
            for placed in dict.fromkeys(programs)
        ]

    def _repeats(
        self, choices: Mapping[str, Choice], keys: Sequence[tuple[str, str, str]]
    ) -> dict[tuple[str, str, str], Repeat]:
        out = {}
        for name, rule in dict.fromkeys(key[:2] for key in keys):
            same = representatives(are_scoped(choices[name].protocol, self.machine), rule)
            for key in keys:
                if key[:2] == (name, rule):
                    out[key] = Repeat(name, rule, same[key[2]], self.machine, self.runs, self.seed)
        return out


def _verdict(key: tuple[str, str, str], row: Mapping[str, Any], **more: Any) -> Verdict:
    protocol, rule, test = key
    return Verdict(protocol=protocol, rule=rule, test=test, verdict=row["verdict"], **more)


def _explorable(choice: Choice, rule: str) -> bool:
    """Whether the explorer takes the protocol: not with options that are for analysis only."""
    return choice.model(rule) == choice.protocol.model(rule)


def study(
    pairs: Sequence[tuple[str, str]],
    tests: Sequence[str],
    machine: Machine,
    path: Path | None,
    **settings: Any,
) -> list[Verdict]:
    """The verdicts of a :class:`Study`, whose work a Parquet file keeps; None keeps nothing."""
    with open_store(path) as store:
        return Study(store, machine, **settings).verdicts(pairs, tests)
