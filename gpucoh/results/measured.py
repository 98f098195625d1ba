"""What of runs is compared: waits by source line and array, and what serialises the accesses to an array."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gpucoh.base.errors import ConfigError
from gpucoh.results.columns import varied
from gpucoh.results.labels import labels_of
from gpucoh.results.profile import HELD, NO_BUFFER, NO_DIE, OF_DIES, OF_SEVERAL_DIES, Place, Profile
from gpucoh.results.runs import RunResult

Wait = tuple[str, int, str, str]  # file, line, cause and array
# What serialises the accesses to an array -> its name in texts.
CONTENTION = {
    "owner_changes": "owner changes",
    "requests_held": "requests held",
    "bank_cycles": "cycles at the bank",
}
# Counters of the links between dies -> their names in texts.
LINK_COUNTS = {
    "waiting_cycles": "cycles that messages wait for the link",
    "messages": "messages on the link",
    "bytes": "bytes on the link",
}
_IDLE: Wait = ("", 0, "launch", "")


@dataclass(frozen=True)
class Measured:
    """A run, its name in the text, and what is compared of it."""

    run: RunResult
    label: str
    profile: Profile
    waits: Counter[Wait]
    arrays: Mapping[str, Mapping[str, int]]
    per_core: bool  # whether the runs differ in their cores

    @property
    def cores(self) -> int:
        """Cores of its machine."""
        return int(self.run.configuration["cores"])

    @property
    def _divisor(self) -> int:
        return self.cores if self.per_core else 1

    def wait(self, key: Wait) -> float:
        """Cycles of a wait, per core or in all."""
        return self.waits[key] / self._divisor

    def count(self, array: str, name: str) -> float:
        """A counter of an array, per core or in all."""
        return self.arrays.get(array, {}).get(name, 0) / self._divisor

    @property
    def links(self) -> Mapping[str, Mapping[str, int]]:
        """Counters of the links between dies; none on one die."""
        return self.run.stats.get("links") or {}

    def link(self, pair: str, name: str) -> float:
        """A counter of a link, per core or in all."""
        return self.links.get(pair, {}).get(name, 0) / self._divisor

    @cached_property
    def waits_of_dies(self) -> dict[str, float]:
        """Cycles of the waits of each die's cores, per core or in all; empty on one die."""
        if not self.profile.dies.several:
            return {}
        table = self.profile.by(OF_SEVERAL_DIES)
        waits = (table["cycles"] - table["issue_cycles"]) / self._divisor
        return {
            die: cycles for die, cycles in zip(table["die"], waits, strict=True) if die != NO_DIE
        }

    def remote_share(self, array: str) -> float:
        """Of the requests for an array's lines, those whose line has its home on another die."""
        counts = self.arrays.get(array, {})
        return counts.get("remote_requests", 0) / max(1, counts.get("requests", 0))


def measured(runs: Sequence[RunResult]) -> list[Measured]:
    """Runs of one workload, each with what is compared of it.

    Raises
    ------
    ConfigError
        If a run has no profile, or the runs are of different workloads.
    """
    for run in runs:
        if run.workload != runs[0].workload:
            raise ConfigError(
                f"the runs are of two workloads, {runs[0].workload} and {run.workload}: explain compares runs of one"
            )
    per_core = len({run.configuration["cores"] for run in runs}) > 1
    return [
        _measured(run, label, per_core) for run, label in zip(runs, labels_of(runs), strict=True)
    ]


def _measured(run: RunResult, label: str, per_core: bool) -> Measured:
    profile = run.profile
    arrays = {}
    for row in profile.by("buffer").to_dict("records"):
        counts = {str(name): value for name, value in row.items() if name != "buffer"}
        arrays[row["buffer"]] = counts | {"requests_held": sum(counts[name] for name in HELD)}
    arrays.pop(NO_BUFFER, None)
    return Measured(run, label, profile, _waits(profile), arrays, per_core)


def _waits(profile: Profile) -> Counter[Wait]:
    """Cycles by file, line, cause and array; each core cycle without an issued instruction is in one of them."""
    places = list(profile.places())
    arrays = _arrays(places)
    found: Counter[Wait] = Counter()
    for place in places:
        for cause, cycles in place.counts["cycles"].items():
            if cause == "issue":
                continue
            array = place.buffer
            if array == NO_BUFFER:
                array = arrays.get((place.kernel, cause), "")
            idle = cause == "launch"
            found[_IDLE if idle else (place.file, place.line, cause, array)] += cycles
    return found


def _arrays(places: Sequence[Place]) -> dict[tuple[str, str], str]:
    """The array whose accesses the waits of a kernel for one cause await most."""
    awaited: dict[tuple[str, str], Counter[str]] = {}
    for place in places:
        for cause, cycles in place.counts["awaited"].items():
            if place.buffer != NO_BUFFER:
                awaited.setdefault((place.kernel, cause), Counter())[place.buffer] += cycles
    return {key: counts.most_common(1)[0][0] for key, counts in awaited.items()}


def rows_of(compared: Sequence[Measured], waits: Sequence[Wait]) -> Iterator[dict[str, Any]]:
    """The rows of the table."""
    columns = varied([one.run.setup for one in compared])
    arrays = dict.fromkeys(array for one in compared for array in one.arrays)
    for one, more in zip(compared, columns, strict=True):
        run, cores = one.run, one.cores
        about = {"run": one.label, "protocol": run.protocol, "machine": run.machine}
        about |= {"seed": run.seed, "cores": cores} | more
        found = [("wait_cycles", *wait, one.waits[wait]) for wait in waits]
        found += [
            (name, "", 0, "", array, one.arrays.get(array, {}).get(name, 0))
            for array in arrays
            for name in (*CONTENTION, *(OF_DIES if one.links else ()))
        ]
        for measure, file, line, cause, array, value in found:
            yield about | {
                "measure": measure,
                "cause": cause,
                "array": array,
                "file": file,
                "line": line,
                "source": source_of(compared, file, line) if file else "",
                "value": value,
                "per_core": value / cores,
            }


def source_of(compared: Sequence[Measured], file: str, line: int) -> str:
    """The text of a source line."""
    return next((text for one in compared if (text := one.profile.text(file, line))), "")
