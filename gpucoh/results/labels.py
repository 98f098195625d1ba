"""What distinguishes runs, as their names in texts and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpucoh.results.runs import RunResult

_LONGEST = 40  # letters of a value


def labels_of(runs: Sequence[RunResult]) -> list[str]:
    """Names of runs of one workload: all in which they differ, and nothing else.

    ``mesi``, ``cores=64``, or ``mesi, cores=64, seed=1`` where several things differ. Runs that do not differ are
    numbered.
    """
    parts: list[list[str]] = [[] for _ in runs]

    def add(values: Sequence[Any], text: Callable[[Any], str]) -> None:
        if len(set(map(repr, values))) > 1:
            for part, value in zip(parts, values, strict=True):
                part.append(text(value))

    add([run.protocol for run in runs], str)
    add([run.machine for run in runs], str)
    for name in _fields(runs):
        add([run.configuration.get(name) for run in runs], _text(name))
    if len({tuple(part) for part in parts}) < len(runs):  # else the protocol implies it
        add([run.consistency for run in runs], str)
    if len({run.scale for run in runs}) > 1:
        add([run.scale for run in runs], _text("scale"))
    else:
        for name in dict.fromkeys(name for run in runs for name in run.params):
            add([run.params.get(name) for run in runs], _text(name))
    add([run.seed for run in runs], _text("seed"))
    found = [", ".join(part) for part in parts]
    if len(set(found)) == len(found):
        return found
    return [f"run {place}{f' ({name})' if name else ''}" for place, name in enumerate(found, 1)]


def _fields(runs: Sequence[RunResult]) -> list[str]:
    """Machine fields that a run sets; all of machines without a preset only if these have one name."""
    alike = len({run.machine for run in runs}) == 1
    changed: list[Mapping[str, Any]] = [run.changes for run in runs if alike or not run.setup.own]
    return list(dict.fromkeys(name for changes in changed for name in changes))


def _text(name: str) -> Callable[[Any], str]:
    return lambda value: f"{name}={str(value)[-_LONGEST:]}"
