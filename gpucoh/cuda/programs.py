"""Runs of whole CUDA programs, each in a process of its own."""

from __future__ import annotations

import contextlib
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gpucoh.base.errors import SimulationError
from gpucoh.cuda.building import Built
from gpucoh.results.runs import RunResult

__all__ = ["Launch", "Order", "Outcome", "run_program"]


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a process runs: a program, and the simulated GPU."""

    name: str
    library: Path
    ptx: tuple[tuple[Path, str], ...]
    runtime: Path
    arguments: tuple[str, ...]
    machine: Any
    protocol: str
    consistency: str | None
    seed: int
    check: bool | str
    budget: int
    deadlock_after: int
    changed: tuple[str, ...] = ()
    profile: bool = False
    trace: Path | None = None
    results: Path = Path()


@dataclass(frozen=True)
class Launch:
    """One launch of a program that has ended; its statistics are in the result's ``launches``."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


@dataclass(frozen=True)
class Failure:
    """An error of the simulation, or of a call that the runtime lacks."""

    text: str


@dataclass(frozen=True)
class Started:
    """The program's main begins."""


@dataclass(frozen=True)
class Outcome:
    """What a program did.

    Attributes
    ----------
    status : int
        Its exit status; 128 + the signal's number if a signal ended it.
    failure : str
        The error that ended it; empty if it ended by itself.
    launches : tuple of Launch
    result : RunResult or None
        All launches together; None if the process crashed.
    output : bytes
        What it wrote to standard output, if that was captured.
    """

    status: int
    failure: str
    launches: tuple[Launch, ...]
    result: RunResult | None
    output: bytes = b""


def run_program(
    built: Built,
    name: str,
    arguments: Sequence[str],
    *,
    capture: bool = False,
    given: bytes | None = None,
    **setting: Any,
) -> Outcome:
    """Run a program to its end.

    Parameters
    ----------
    built : Built
    name : str
        ``argv[0]``, and what results call the program.
    arguments : sequence of str
    capture : bool, default False
        Keep standard output instead of passing it on.
    given : bytes, optional
        What it reads from standard input. Default: this process's.
    setting
        The other fields of :class:`Order`.
    """
    with TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        order = Order(
            name=name,
            library=built.library,
            ptx=built.ptx,
            runtime=built.runtime,
            arguments=tuple(arguments),
            results=results,
            **setting,
        )
        place = Path(folder) / "order"
        place.write_bytes(pickle.dumps(order))
        sys.stdout.flush()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gpucoh.cuda.child", str(place)],
            stdin=None if given is None else subprocess.PIPE,
            stdout=subprocess.PIPE if capture else None,
        )
        try:
            output = process.communicate(given)[0] or b""
        except BaseException:
            process.kill()
            process.wait()
            raise
        return _outcome(process.returncode, _records(results), output)


def _records(place: Path) -> list[Any]:
    found = []
    with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError), place.open("rb") as file:
        while True:
            found.append(pickle.load(file))
    return found


def _outcome(code: int, records: Sequence[Any], output: bytes) -> Outcome:
    launches = tuple(one for one in records if isinstance(one, Launch))
    failures = [one.text for one in records if isinstance(one, Failure)]
    results = [one for one in records if isinstance(one, RunResult)]
    failure = failures[0] if failures else ""
    if code < 0:
        failure = failure or f"the program was ended by {signal.Signals(-code).name}"
        code = 128 - code
    elif not results and not any(isinstance(one, Started) for one in records):
        raise SimulationError(
            f"the process of the program ended with status {code} before its main"
        )
    return Outcome(code, failure, launches, results[0] if results else None, output)
