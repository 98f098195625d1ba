"""The process of a whole CUDA program: it simulates the device, and runs the program's ``main``.

``python -m gpucoh.cuda.child ORDER LIFELINE``: ORDER is a pickled :class:`gpucoh.cuda.programs.Order`. What the program
did is pickled to the order's results, record by record, so that a crash loses no statistics of the launches before it.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import pickle
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NoReturn

from gpucoh.base.errors import Error
from gpucoh.base.processes import end_with, leave_no_core
from gpucoh.cuda.cut import Estimate
from gpucoh.cuda.module import Module
from gpucoh.cuda.programs import Failure, Launch, Order, Started
from gpucoh.cuda.runtime import Runtime
from gpucoh.device import unread
from gpucoh.device.gpu import GPU, VERSION
from gpucoh.device.kernels import Extents
from gpucoh.device.recording import LARGEST_INTERVAL
from gpucoh.results.runs import RunResult
from gpucoh.results.series import Series

_EXIT_FAILED = 2


class Child:
    """A program and its simulated GPU."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.gpu = GPU(
            order.machine,
            order.protocol,
            order.consistency,
            order.seed,
            order.check,
            budget=order.budget,
            deadlock_after=order.deadlock_after,
        )
        self._pid = os.getpid()
        self._failure: Failure | None = None
        self._begin, self._used = time.perf_counter(), time.process_time()
        self._observers = contextlib.ExitStack()
        self._recorder = self._observers.enter_context(self.gpu.record(LARGEST_INTERVAL))
        self._profiled = (
            self._observers.enter_context(self.gpu.profile()) if order.profile else None
        )
        self._trace = self._observers.enter_context(self.gpu.trace()) if order.trace else None
        self.libc = ctypes.CDLL(None)
        self.device: Runtime | None = None
        self._estimate = Estimate(_say, self._resident)
        self.gpu.progress = self._estimate.progress

    def _resident(self) -> int:
        blocks = [int(one["blocks"]) for one in self.gpu.occupancy.values()]
        return max(blocks, default=0) * int(self.gpu.machine.cores)

    def write(self, record: object) -> None:
        """Write a record for the process that waits."""
        if os.getpid() == self._pid:  # not of a process that the program forked
            # Opened for each: a program may close every file, and open its own under the same number.
            with self.order.results.open("ab") as file:
                pickle.dump(record, file)

    def launched(self, kernel: str, grid: Extents, block: Extents, number: int) -> None:
        """Record a launch; the program may end with it."""
        cut = self.order.cut
        self._estimate.launched(number)
        if cut.times(number):
            stats, occupancy = self.gpu.stats().of_a_run(), dict(self.gpu.occupancy)
            self.write(Launch(kernel, grid, block, stats, occupancy, number))
        if cut.until is not None and number >= cut.until:
            self.libc.fflush(None)
            _say(f"--until {cut.until}: the program was ended after this launch")
            self.finish(0)

    def fail(self, text: str, kind: str) -> NoReturn:
        """End the program with an error of the simulation or of a call."""
        self.libc.fflush(None)
        self._failure = Failure(text, kind)
        self.write(self._failure)
        self.finish(_EXIT_FAILED)

    def exit(self, status: int) -> NoReturn:
        """End the process as ``exit`` does, which writes what files hold."""
        if self.device is not None and os.getpid() == self._pid:
            self.device.wait_for_all()
        self.libc.fflush(None)
        self.finish(status)

    def finish(self, status: int) -> NoReturn:
        """Write the result, and end the process at once."""
        status &= 0xFF
        if os.getpid() != self._pid:  # a process that the program forked
            os._exit(status)
        if self.device is not None:
            self.device.lock.acquire()  # a launch of another thread ends before; none begins
        self._observers.close()
        profile = self._profiled() if self._profiled else None
        if self._trace is not None:
            try:
                self._trace.save(Path(str(self.order.trace)))
            except Error as error:
                self._failure = self._failure or Failure(str(error), type(error).__name__)
                self.write(self._failure)
        self.write(self.result(status, profile, self._recorder.series))
        os._exit(status)

    def _copied(self) -> dict[str, str | int]:
        """What the program has copied to the host: runs that compute the same have equal hashes."""
        memory = self.device.memory if self.device else None
        if memory is None or not memory.copied_bytes:
            return {}
        return {
            "copied to host": memory.copied_bytes,
            "copied sha256": memory.copied_hash[:16],
        }

    def result(self, status: int, profile: Any = None, series: Series | None = None) -> RunResult:
        """The run in the form of every other."""
        gpu, failure = self.gpu, self._failure
        where = failure.text if failure else f"exit status {status}" if status else ""
        return RunResult(
            workload=self.order.name,
            protocol=gpu.protocol,
            machine=gpu.machine.name,
            consistency=gpu.consistency,
            model=gpu.model,
            scale="program",
            seed=self.order.seed,
            correct=not where,
            mismatches=0,
            where=where,
            error=failure.kind if failure else "ProgramError" if status else None,
            wall_s=time.perf_counter() - self._begin,
            cpu_s=time.process_time() - self._used,
            seconds=dict(gpu.clock.seconds),
            stats=gpu.stats().of_a_run(),
            params={},
            configuration=gpu.machine.numbers(),
            changes=gpu.machine.changes,
            details=self._copied(),
            occupancy=gpu.occupancy,
            options=gpu.choice.values(),
            protocol_sha256=gpu.choice.outside.sha256 if gpu.choice.outside else None,
            version=VERSION,
            notes=unread.notes(self.order.changed, gpu.machine, gpu.choice, gpu.consistency),
            profiled=profile,
            series=series,
        )


def main(place: str, lifeline: str) -> NoReturn:
    """Run the program of an order; the process ends when the other end of the pipe ``lifeline`` is closed."""
    end_with(int(lifeline))
    leave_no_core()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # of the program, which may raise or handle it
    warnings.showwarning = _show
    with open(place, "rb") as file:
        order: Order = pickle.load(file)
    child = Child(order)
    sys.stdout = _Output(child.libc)
    # Handlers of exit() run in reverse order: this one last, after the program's own.
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)(
        lambda status, _: child.exit(status)
    )
    child.libc.on_exit(handler, None)
    runtime = ctypes.CDLL(str(order.runtime), mode=os.RTLD_GLOBAL | os.RTLD_NOW)
    try:
        modules = [Module((path.read_text(encoding="utf-8"), name)) for path, name in order.ptx]
    except Error as error:
        child.fail(str(error), type(error).__name__)
    child.device = Runtime(
        child.gpu, modules, runtime, child.launched, child.fail, child.finish, order.cut
    )
    try:
        program = ctypes.CDLL(str(order.library), mode=os.RTLD_LAZY)
    except OSError as error:  # a library that it needs
        child.fail(f"the program cannot be loaded: {error}", "ProgramError")
    if not hasattr(program, "main"):
        child.fail("the program has no function main", "ProgramError")
    words = [os.fsencode(word) for word in (order.name, *order.arguments)]
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    child.write(Started(child.result(0)))
    runtime.gpucoh_main(program.main, len(words), argv)
    raise AssertionError("gpucoh_main has returned")  # gpucoh_main does not return


class _Output(io.TextIOBase):
    """What kernels print goes to the standard output of C, in order with what the program prints."""

    def __init__(self, libc: ctypes.CDLL) -> None:
        self._libc = libc

    def write(self, text: str) -> int:
        data = text.encode("utf-8", "surrogateescape")
        place = ctypes.c_void_p.in_dll(self._libc, "stdout")
        self._libc.fwrite(data, ctypes.c_size_t(1), ctypes.c_size_t(len(data)), place)
        return len(text)


def _show(message: Any, *place: Any, **more: Any) -> None:
    _say(str(message))


def _say(message: str) -> None:
    """A note as one line on standard error."""
    with contextlib.suppress(OSError):  # the program has closed it
        os.write(2, f"gpucoh: {message}\n".encode(errors="surrogateescape"))


if __name__ == "__main__":
    main(*sys.argv[1:])
