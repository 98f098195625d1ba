"""Calls in processes of their own, so that code of users that crashes, loops or takes all memory ends one call alone.

A process is kept for the next call of the same code. It is a new Python, not a fork of this one, whose threads may hold
locks. Orders and answers are pickled; what the code prints is passed on. A process ends when its parent does.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import faulthandler
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from gpucoh.base.errors import Error, SimulationError
from gpucoh.base.processes import (
    NO_LIMITS,
    Limits,
    Relay,
    end_with,
    kind_of_end,
    leave_no_core,
    signal_name,
)

Result = TypeVar("Result")

# Seconds between looks at the time, the memory and the event that stops a call.
_TICK_S = 0.2
# Idle processes that are kept, of about 60 MB each.
_KEPT = 8
_LENGTH = struct.Struct("!Q")
# Seconds for the end of a process that has closed its pipe.
_PATIENCE_S = 5.0


class Ended(Error):
    """The process of a call has ended before the call did.

    Attributes
    ----------
    kind : str
        ``crashed: SIGSEGV``, ``limit: limit_s``, ``signal: SIGKILL`` ..
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


# ---- the process


def serve(orders: int, answers: int, lifeline: int) -> NoReturn:
    """Carry out the calls that arrive, until the parent closes the pipe or ends."""
    end_with(lifeline)
    leave_no_core()
    faulthandler.disable()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # the parent gets them too, and decides
    with contextlib.suppress(OSError):  # where memory is short, this process goes, not its parent
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    flush = ctypes.CDLL(None).fflush  # what C code has printed
    with open(orders, "rb") as given, open(answers, "wb") as out:
        text = b""  # it is ready
        while True:
            out.write(_LENGTH.pack(len(text)) + text)
            out.flush()
            header = given.read(_LENGTH.size)
            if len(header) < _LENGTH.size:
                os._exit(0)
            text = _answer(given.read(*_LENGTH.unpack(header)))
            flush(None)


def _answer(order: bytes) -> bytes:
    """The pickled outcome of a pickled order: whether it is a result, and the result or the exception."""
    try:
        folder, function, arguments, named = pickle.loads(order)
        if folder is not None:
            os.chdir(folder)
        return pickle.dumps((True, function(*arguments, **named)))
    except Exception as error:
        try:
            pickle.loads(text := pickle.dumps((False, error)))
        except Exception:  # an exception of the user's that does not take its own arguments
            return pickle.dumps((False, Error(f"{type(error).__name__}: {error}")))
        return text


class _Process:
    """A process for calls of one code."""

    def __init__(self, code: str) -> None:
        self.code = code
        self._ready = False
        orders, self._orders = os.pipe()
        self._answers, answers = os.pipe()
        lifeline, self._lifeline = os.pipe()
        theirs = orders, answers, lifeline
        start = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            f"from gpucoh.runs.isolation import serve; serve{theirs!r}"
        )
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-u", "-c", start],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=theirs,
            )
        except BaseException:
            self._close()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._out = Relay(self._process.stdout.fileno(), lambda text: sys.stdout.write(text))
        self._err = Relay(
            self._process.stderr.fileno(), lambda text: sys.stderr.write(text), keep_last=True
        )

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def call(self, order: bytes, limits: Limits, stop: threading.Event | None) -> Any:
        """The result of an order.

        Raises
        ------
        Ended
            If the process dies, or a limit is exceeded.
        SimulationError
            If ``stop`` is set.
        Exception
            That of the call.
        """
        if not self._ready:
            self._answer(NO_LIMITS, stop)
            self._ready = True
        try:
            text = memoryview(_LENGTH.pack(len(order)) + order)
            while text:
                text = text[os.write(self._orders, text) :]
        except OSError:
            raise self._dead() from None
        answer = self._answer(limits, stop)
        self._out.finish()
        self._err.finish()
        try:
            fine, outcome = pickle.loads(answer)
        except Exception:  # its code has overwritten it
            raise _unreadable() from None
        if not fine:
            raise outcome
        return outcome

    def _answer(self, limits: Limits, stop: threading.Event | None) -> bytes:
        """The next answer of the process."""
        begun, found = time.monotonic(), bytearray()
        while not (size := _whole(found)):
            watched = [one for one in (self._out, self._err) if one.open]
            ready = wait([self._answers, *(one.descriptor for one in watched)], _TICK_S)
            for relay in watched:
                relay.pass_on()
            if self._answers in ready:
                data = os.read(self._answers, 1 << 20)
                found += data
                if not data:
                    raise self._dead()
            if stop is not None and stop.is_set():
                raise SimulationError("stopped")
            if not self.alive and self._answers not in ready:  # a child of it has the pipe, too
                raise self._dead()
            if exceeded := limits.exceeded(self._process.pid, time.monotonic() - begun):
                raise Ended(*exceeded)
        return bytes(found[_LENGTH.size : size])

    def _dead(self) -> Error:
        """Why the process has closed its pipe."""
        try:
            status = self._process.wait(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:  # it goes on, without the pipe
            return _unreadable()
        self._out.finish()
        last = self._err.finish(write=False)
        more = f": {last}" if last else ""
        if status >= 0 and not self._ready:
            return Error(f"a process for the run cannot be started{more}")
        if status >= 0:
            text = f"the code of the run ended its process with status {status}{more}"
            return Ended(f"crashed: status {status}", text)
        text = f"{signal_name(-status)} ended the process of the run{more}"
        return Ended(kind_of_end(-status), text)

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        for descriptor in (self._orders, self._answers, self._lifeline):
            os.close(descriptor)
        if process := getattr(self, "_process", None):
            process.stdout.close()
            process.stderr.close()


def _unreadable() -> Ended:
    return Ended("crashed: no answer", "the process of the run gave no answer")


def _whole(answer: bytearray) -> int:
    """The length of an answer with its header; 0: it is not whole."""
    if len(answer) < _LENGTH.size:
        return 0
    size = int(*_LENGTH.unpack_from(answer)) + _LENGTH.size
    return size if len(answer) >= size else 0


# ---- those that are kept

_idle: list[_Process] = []
_lock = threading.Lock()


def call(
    code: str,
    function: Callable[..., Result],
    *arguments: Any,
    limits: Limits,
    stop: threading.Event | None = None,
    again: Callable[[Result], bool] = lambda result: True,
    **named: Any,
) -> Result:
    """Call a function in a process of its own.

    Parameters
    ----------
    code : str
        What the process has loaded, as a hash: it is kept for the next call of the same code.
    function : callable
        A function that a process can import, as pickle does.
    limits : Limits
    stop : threading.Event, optional
        Setting it ends the call.
    again : callable
        Whether the process may be kept after this result.

    Raises
    ------
    Ended
        If the process dies, or a limit is exceeded.
    Exception
        That of the function.
    """
    try:
        folder = os.getcwd()
    except OSError:  # it has been removed
        folder = None
    order = pickle.dumps((folder, function, arguments, named))
    process = _taken(code)
    try:
        result: Result = process.call(order, limits, stop)
    except BaseException:
        process.end()
        raise
    if again(result):
        _keep(process)
    else:
        process.end()
    return result


def _taken(code: str) -> _Process:
    """A kept process of this code, or a new one."""
    with _lock:
        for process in reversed(_idle):
            if process.code == code:
                _idle.remove(process)
                if process.alive:
                    return process
                process.end()
                break
    return _Process(code)


def _keep(process: _Process) -> None:
    with _lock:
        _idle.append(process)
        old = _idle[: max(0, len(_idle) - _KEPT)]
        del _idle[: len(old)]
    for one in old:
        one.end()


@atexit.register
def _end_all() -> None:
    while _idle:
        _idle.pop().end()


def _forget() -> None:
    """In a forked process, whose parent has the processes: close its copies of their pipes."""
    global _lock
    _lock = threading.Lock()
    while _idle:
        process = _idle.pop()
        process._process.returncode = 0  # it is no child of this process
        process._close()


os.register_at_fork(after_in_child=_forget)
