"""The process of a whole CUDA program: it simulates the device, and runs the program's ``main``.

``python -m gpucoh.cuda.child ORDER``: ORDER is a pickled :class:`gpucoh.cuda.programs.Order`. What the program did is
pickled to the order's results, record by record, so that a crash loses nothing of the launches before it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import sys
import time
import warnings
from pathlib import Path
from typing import IO, Any, NoReturn

from gpucoh.cuda.module import Module
from gpucoh.cuda.programs import Failure, Launch, Order, Started
from gpucoh.cuda.runtime import Runtime
from gpucoh.device import unread
from gpucoh.device.gpu import GPU, VERSION
from gpucoh.device.recording import LARGEST_INTERVAL
from gpucoh.results.runs import RunResult

_EXIT_FAILED = 2


class Child:
    """A program and its simulated GPU."""

    def __init__(self, order: Order, records: IO[bytes]) -> None:
        self.order = order
        self.records = records
        self.gpu = GPU(
            order.machine,
            order.protocol,
            order.consistency,
            order.seed,
            order.check,
            budget=order.budget,
            deadlock_after=order.deadlock_after,
        )
        self._begin = time.perf_counter()
        self._observers = contextlib.ExitStack()
        self._recorder = self._observers.enter_context(self.gpu.record(LARGEST_INTERVAL))
        self._profiled = (
            self._observers.enter_context(self.gpu.profile()) if order.profile else None
        )
        self._trace = self._observers.enter_context(self.gpu.trace()) if order.trace else None
        self.libc = ctypes.CDLL(None)

    def write(self, record: object) -> None:
        """Write a record for the process that waits."""
        pickle.dump(record, self.records)
        self.records.flush()

    def launched(
        self, kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int]
    ) -> None:
        """Record a launch."""
        self.write(Launch(kernel, grid, block))

    def fail(self, text: str) -> NoReturn:
        """End the program with an error of the simulation or of a call."""
        self.libc.fflush(None)
        self.write(Failure(text))
        self.finish(_EXIT_FAILED)

    def finish(self, status: int) -> NoReturn:
        """Write the result, and end the process at once."""
        self.libc.fflush(None)
        self._observers.close()
        profile = self._profiled() if self._profiled else None
        self.write(self.result(status, profile))
        if self._trace is not None:
            self._trace.save(Path(str(self.order.trace)))
        self.records.close()
        os._exit(status & 0xFF)

    def result(self, status: int, profile: Any) -> RunResult:
        """The run in the form of every other."""
        gpu = self.gpu
        return RunResult(
            workload=self.order.name,
            protocol=gpu.protocol,
            machine=gpu.machine.name,
            consistency=gpu.consistency,
            model=gpu.model,
            scale="program",
            seed=self.order.seed,
            correct=status == 0,
            mismatches=0,
            where="" if status == 0 else f"exit status {status}",
            error="",
            wall_s=time.perf_counter() - self._begin,
            seconds=dict(gpu.clock.seconds),
            stats=gpu.stats().of_a_run(),
            params={},
            configuration=gpu.machine.numbers(),
            changes=gpu.machine.changes,
            details={},
            occupancy=gpu.occupancy,
            options=gpu.choice.values(),
            protocol_sha256=gpu.choice.outside.sha256 if gpu.choice.outside else None,
            version=VERSION,
            notes=unread.notes(self.order.changed, gpu.machine, gpu.choice, gpu.consistency),
            profiled=profile,
            series=self._recorder.series,
        )


def main(place: str) -> NoReturn:
    """Run the program of an order."""
    warnings.showwarning = _show
    with open(place, "rb") as file:
        order: Order = pickle.load(file)
    child = Child(order, open(order.results, "wb"))  # noqa: SIM115 - finish closes it
    # Handlers of exit() run in reverse order: this one last, after the program's own.
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)(
        lambda status, _: child.finish(status)
    )
    child.libc.on_exit(handler, None)
    runtime = ctypes.CDLL(str(order.runtime), mode=os.RTLD_GLOBAL | os.RTLD_NOW)
    modules = [Module((path.read_text(encoding="utf-8"), name)) for path, name in order.ptx]
    device = Runtime(child.gpu, modules, runtime, child.launched, child.fail)
    program = ctypes.CDLL(str(order.library), mode=os.RTLD_LAZY)
    if not hasattr(program, "main"):
        child.fail("the program has no function main")
    words = [os.fsencode(word) for word in (order.name, *order.arguments)]
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    child.write(Started())
    status = program.main(len(words), argv)
    child.libc.exit(status)
    raise AssertionError(device)  # exit does not return


def _show(message: Any, *place: Any, **more: Any) -> None:
    """A note as one line on standard error."""
    sys.stderr.write(f"gpucoh: {message}\n")


if __name__ == "__main__":
    main(sys.argv[1])
