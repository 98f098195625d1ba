"""Runs of whole CUDA programs, each in a process of its own."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from gpucoh.base.errors import SimulationError
from gpucoh.base.processes import NO_LIMITS, Limits, kind_of_end, signal_name
from gpucoh.cuda.building import Built
from gpucoh.cuda.cut import WHOLE, Cut
from gpucoh.device.recording import LARGEST_INTERVAL, launch_row
from gpucoh.results.runs import RunResult
from gpucoh.results.series import Series, counter_row
from gpucoh.results.stats import Stats

__all__ = ["Capture", "Launch", "Order", "Outcome", "run_program"]

#: What of a program's output is kept.
Capture = Literal["", "output", "all"]


#: glibc clears what it allocates, unless the environment says otherwise: a program that reads memory before it writes
#: it gets zeros, as from the fresh pages of a process of its own, not what the simulator left there.
CLEAN_HEAP = "glibc.malloc.perturb=255:glibc.malloc.tcache_count=0"

# Seconds between looks at time and memory.
_TICK_S = 0.1


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
    cut: Cut = WHOLE
    changed: tuple[str, ...] = ()
    profile: bool = False
    trace: Path | None = None
    results: Path = Path()


@dataclass(frozen=True)
class Launch:
    """One launch of a program that has ended, with the statistics of the program up to its end, and its number."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    stats: Stats
    occupancy: Mapping[str, Any]
    number: int


@dataclass(frozen=True)
class Failure:
    """An error of the simulation, or of a call that the runtime lacks; its kind is an exception's name."""

    text: str
    kind: str


@dataclass(frozen=True)
class Started:
    """The program's main begins."""

    result: RunResult


@dataclass(frozen=True)
class Outcome:
    """What a program did.

    Attributes
    ----------
    status : int or None
        Its exit status; None if an error of the simulation, a call or a signal ended it.
    failure : str
        The error that ended it; empty if it ended by itself.
    launches : tuple of Launch
    result : RunResult
        All launches together. Of a process that crashed: those that had ended, without profile and intervals.
    output, messages : bytes
        What it wrote to standard output and to standard error, if that was captured.
    """

    status: int | None
    failure: str
    launches: tuple[Launch, ...]
    result: RunResult
    output: bytes = b""
    messages: bytes = b""

    @property
    def reason(self) -> str:
        """Why the program failed; empty: it did not."""
        return self.failure or (f"exit status {self.status}" if self.status else "")


def run_program(
    built: Built,
    name: str,
    arguments: Sequence[str],
    *,
    capture: Capture = "",
    given: bytes | None = None,
    limits: Limits = NO_LIMITS,
    **setting: Any,
) -> Outcome:
    """Run a program to its end.

    Parameters
    ----------
    built : Built
    name : str
        ``argv[0]``, and what results call the program.
    arguments : sequence of str
    capture : {"", "output", "all"}
        Keep standard output, or standard error too, instead of passing them on.
    given : bytes, optional
        What it reads from standard input. Default: this process's.
    limits : Limits
        A program that exceeds one is ended.
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
        lifeline, ours = os.pipe()
        begin = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gpucoh.cuda.child", str(place), str(lifeline)],
            stdin=None if given is None else subprocess.PIPE,
            stdout=subprocess.PIPE if capture else None,
            stderr=subprocess.PIPE if capture == "all" else None,
            env={"GLIBC_TUNABLES": CLEAN_HEAP, **os.environ},
            pass_fds=(lifeline,),
        )
        os.close(lifeline)
        try:
            output, messages, exceeded = _communicated(process, given, limits, begin)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            os.close(ours)
        wall_s = time.perf_counter() - begin
        found = _outcome(process.returncode, _records(results), wall_s, exceeded)
        return replace(found, output=output or b"", messages=messages or b"")


def _communicated(
    process: subprocess.Popen[bytes], given: bytes | None, limits: Limits, begin: float
) -> tuple[bytes | None, bytes | None, tuple[str, str] | None]:
    """What a process writes until its end, and the limit that it exceeded."""
    tick = None if limits == NO_LIMITS else _TICK_S
    while True:
        try:
            return *process.communicate(given, timeout=tick), None
        except subprocess.TimeoutExpired:
            given = None  # it has begun to read it
        if exceeded := limits.exceeded(process.pid, time.perf_counter() - begin):
            process.kill()
            return *process.communicate(), exceeded


def _records(place: Path) -> list[Any]:
    found = []
    with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError), place.open("rb") as file:
        while True:
            found.append(pickle.load(file))
    return found


def _outcome(
    code: int, records: Sequence[Any], wall_s: float, exceeded: tuple[str, str] | None = None
) -> Outcome:
    launches = tuple(one for one in records if isinstance(one, Launch))
    started = [one.result for one in records if isinstance(one, Started)]
    failures = [one for one in records if isinstance(one, Failure)]
    results = [one for one in records if isinstance(one, RunResult)]
    if results:
        failure = failures[0].text if failures else ""
        return Outcome(None if failure else code, failure, launches, results[-1])
    if not started:
        raise SimulationError(
            f"the process of the program ended with status {code} before its main"
        )
    # A crash, or a program that replaced its process; records of launches are written as they end.
    if failures:
        failure, kind = failures[0].text, failures[0].kind
    elif exceeded:
        kind, failure = exceeded
    elif code < 0:
        failure, kind = f"the program was ended by {signal_name(-code)}", kind_of_end(-code)
    else:
        failure = f"the process ended with status {code} without a call of exit, as one that executes another program"
        kind = "ProgramError"
    return Outcome(None, failure, launches, _rescued(started[0], launches, failure, kind, wall_s))


def _rescued(
    first: RunResult, launches: Sequence[Launch], failure: str, kind: str, wall_s: float
) -> RunResult:
    """The result of the launches that ended before a crash."""
    rows, before = [], first.stats
    for one in launches:
        rows.append(
            launch_row(one.number, one.kernel, one.grid, one.block)
            | {"begin": before["cycles"]}
            | counter_row(one.stats - before)
        )
        before = one.stats
    return replace(
        first,
        correct=False,
        where=failure,
        error=kind,
        wall_s=wall_s,
        cpu_s=None,
        stats=before,
        occupancy=launches[-1].occupancy if launches else {},
        series=Series(LARGEST_INTERVAL, (), tuple(rows), ()),
    )
