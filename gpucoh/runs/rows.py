"""The rows of a result file: how a run becomes one, and which of them answer the runs that are wanted."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gpucoh.base.errors import ConfigError, Error
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import unknown
from gpucoh.device.gpu import VERSION, absolute, resolve
from gpucoh.machines import machine
from gpucoh.results.columns import varied
from gpucoh.results.runs import RunResult, is_ended, protocol_id
from gpucoh.runs.keys import code_digest, parts_of
from gpucoh.runs.runner import Run

# What a sweep may repeat beside the runs that could not begin.
RETRIES = ("failed",)


def carry_out(
    run: Run,
    key: str,
    stop: threading.Event | None = None,
    counters: str = "usual",
    code: str | None = None,
    always: bool = False,
) -> dict[str, Any]:
    """One run as a flat row; a module-level function, so that processes and clusters can import it.

    The row reports any error of the run: a failed run does not stop the others. ``always``: in a process of its own
    even if the run executes no code of users.

    Raises
    ------
    Error
        If this process has not the gpucoh whose digest is ``code``: the row would be stored as that code's.
    """
    return guarded(
        run,
        key,
        lambda: row_of(run.carry_out_apart(stop=stop, always=always), key, counters),
        stop=stop,
        code=code,
    )


def guarded(
    run: Run,
    key: str,
    make: Callable[[], dict[str, Any]],
    *,
    stop: threading.Event | None,
    code: str | None,
) -> dict[str, Any]:
    """The row that a function makes of a run; any error of the run becomes a row.

    Raises
    ------
    Error
        If this process has not the gpucoh whose digest is ``code``: the row would be stored as that code's.
    """
    if code is not None and code != code_digest():
        raise Error(f"gpucoh {VERSION} of the worker has code {code_digest()}, not {code}")
    try:
        return make()
    except Exception as error:
        if stop is not None and stop.is_set():
            raise
        return {"key": key} | _failure(run, error) | _made_by(key)


def row_of(result: RunResult, key: str, counters: str = "usual") -> dict[str, Any]:
    """A finished run as a row of a result file."""
    return {"key": key} | result.row(counters) | {"error": result.error} | _made_by(key)


def _made_by(key: str) -> dict[str, str]:
    return {"version": VERSION, "code": parts_of(key)[1]}


def _failure(run: Run, error: Exception) -> dict[str, Any]:
    """The row of a run that could not begin, or that an unexpected exception ended."""
    described = run.described()
    names = ("workload", "protocol", "machine", "consistency", "model", "scale", "seed")
    return {name: described[name] for name in names} | {
        "protocol_id": resolve(run.protocol).protocol.id,
        "correct": False,
        "verdict": "failed",
        "mismatches": 0,
        "where": str(error) or type(error).__name__,
        "error": type(error).__name__,
    }


def portable(run: Run) -> Run:
    """The run with its machine by value and absolute paths of its input files: a worker may be in another folder."""
    setting = run.found.setting(run.scale, run.seed, run.params)
    files = {
        item.name: os.path.abspath(str(setting.params[item.name]))
        for item in run.found.parameters
        if item.kind == "file" and setting.params[item.name] is not None
    }
    return replace(
        run,
        machine=machine(run.machine),
        protocol=absolute(run.protocol),
        params={**(run.params or {}), **files},
    )


def is_result(row: Mapping[str, Any]) -> bool:
    """Whether a row says something about its run.

    A missing file, a lack of memory or another failure of the environment says nothing: the row has no statistics, and
    no process of the run has ended.
    """
    return row["error"] is None or row.get("cycles") is not None or is_ended(row["error"])


def columns_of(wanted: Mapping[str, Run]) -> dict[str, dict[str, Any]]:
    """Key -> the columns of what the runs vary, and the protocol as it was given: workers take absolute paths."""
    columns = varied([run.setup() for run in wanted.values()])
    return {
        key: {**row, "protocol": run.protocol, "protocol_id": protocol_id(run.protocol)}
        for (key, run), row in zip(wanted.items(), columns, strict=True)
    }


@dataclass
class Plan:
    """Which of the wanted runs have a row, and which run.

    Attributes
    ----------
    kept : dict
        Key of a wanted run -> key of the row that answers it.
    todo : dict
        Key -> run.
    replaced : dict
        Key of a run -> keys of the rows of other code that its row replaces.
    """

    kept: dict[str, str] = field(default_factory=dict)
    todo: dict[str, Run] = field(default_factory=dict)
    replaced: dict[str, list[str]] = field(default_factory=dict)

    @property
    def notes(self) -> list[str]:
        """Of which rows of other code what becomes, each in one line."""
        kept = sum(key != found for key, found in self.kept.items())
        counts = {"run again": len(self.replaced), "kept": kept}
        return [
            f"{count} {'row is' if count == 1 else 'rows are'} of other code: {what}"
            for what, count in counts.items()
            if count
        ]


def plan(
    wanted: Mapping[str, Run],
    rows: Mapping[str, Mapping[str, Any]],
    *,
    keep_old: bool = False,
    usable: Callable[[Mapping[str, Any]], bool] = lambda row: True,
) -> Plan:
    """Compare the wanted runs with the rows of a file.

    Parameters
    ----------
    wanted : dict
        Key -> run.
    rows : dict
        Key -> row.
    keep_old : bool
        Whether a row of other code answers a run; not if several have the run's key but for the code.
    usable : callable
        Whether a row may answer a run.
    """
    older: dict[str, list[str]] = {}
    for key in rows.keys() - wanted.keys():
        older.setdefault(parts_of(key)[0], []).append(key)
    found = Plan()
    for key, run in wanted.items():
        others = older.get(parts_of(key)[0], [])
        answers = [key] if key in rows else others if keep_old and len(others) == 1 else []
        if answers and usable(rows[answers[0]]):
            found.kept[key] = answers[0]
            continue
        found.todo[key] = run
        if key not in rows and others:
            found.replaced[key] = others
    return found


def retried(retry: str | None) -> bool:
    """Whether failed and wrong runs are repeated.

    Raises
    ------
    ConfigError
        For another word than those of :data:`RETRIES`.
    """
    if retry is not None and retry not in RETRIES:
        raise ConfigError(unknown("value of retry", retry, RETRIES))
    return retry is not None


def share_of(part: str | None, number: int) -> slice:
    """The runs of one part of a study, ``"3/16"``: every 16th from the third on.

    Raises
    ------
    ConfigError
        If the text is not of this form.
    """
    if part is None:
        return slice(number)
    first, _, count = str(part).partition("/")
    if not (first.isdecimal() and count.isdecimal() and 1 <= int(first) <= int(count)):
        raise ConfigError(f"part = {quoted(part)} is not of the form I/N (allowed: 1/N to N/N)")
    return slice(int(first) - 1, number, int(count))
