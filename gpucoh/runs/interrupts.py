"""Immediate response to Ctrl-C, SIGTERM and SIGHUP, even while a library call that does not poll for signals runs."""

from __future__ import annotations

import contextlib
import contextvars
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from gpucoh.base.starting import HUNG_UP, TERMINATED

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


# Signals that end a program, with its exit status.
_ENDING = {signal.SIGTERM: TERMINATED, signal.SIGHUP: HUNG_UP}


class Terminated(KeyboardInterrupt):
    """SIGTERM, which batch systems such as Slurm send before they kill a job, or SIGHUP: the terminal is gone.

    Parameters
    ----------
    status : int
        The exit status of the program: 128 and the signal's number.
    """

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block as Ctrl-C does, and then the process with status 143 or 129 (128 + 15 or 1).

    The block ends by :class:`Terminated`, a KeyboardInterrupt; it leaves the context manager as SystemExit. Without
    this, they kill the process at once: lock files stay. It does nothing outside the main thread, and leaves a signal
    alone that is handled already, or ignored as nohup has it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    owner = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() != owner:  # a forked worker process, which has inherited the handler
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        for one in ours:
            signal.signal(one, signal.SIG_IGN)  # a second one does not interrupt the clean-up
        raise Terminated(_ENDING[signal.Signals(number)])

    for number in ours:
        signal.signal(number, end)
    try:
        yield
    except Terminated as ended:
        if not ours:
            raise
        raise SystemExit(ended.status) from None
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _calls_of(queue: SimpleQueue[Callable[[], None] | None]) -> None:
    """Make the calls of a queue, and keep none of them, until None ends the thread."""
    while (call := queue.get()) is not None:
        call()
        del call


class Workers(Executor):
    """A daemon-thread executor with the interface of ``ThreadPoolExecutor``.

    The process does not wait for these threads at exit. After Ctrl-C the prompt returns at once; a running call ends
    when it polls its stop event, or with the process.

    Parameters
    ----------
    number : int
        Largest number of concurrent calls.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._threads: list[threading.Thread] = []
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._futures: list[Future[Any]] = []

    def submit(
        self,
        fn: Callable[Arguments, Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Future[Result]:
        """Call ``fn(*args, **kwargs)`` in one of the threads; return the future of its result."""
        future: Future[Result] = Future()

        def call() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        self._futures.append(future)
        self._calls.put(call)
        if len(self._threads) < self._number:
            thread = threading.Thread(target=self._work, name="gpucoh-worker", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def _work(self) -> None:
        _calls_of(self._calls)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more calls.

        ``wait``: return when the submitted calls have ended. ``cancel_futures``: cancel those that have not begun.
        """
        for future in self._futures if cancel_futures else ():
            future.cancel()
        for _ in self._threads:
            self._calls.put(None)
        if wait:
            for thread in self._threads:
                thread.join()


def interruptible(work: Callable[[threading.Event], Result]) -> Result:
    """Run a call in its own thread, so that Ctrl-C raises here without waiting for it.

    NumPy and SciPy handle signals only between calls, and sorting a large graph takes seconds.

    Parameters
    ----------
    work : callable
        Takes an event that is set when its result is no longer needed.

    Returns
    -------
    object
        The result of ``work``.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, or on SIGTERM and SIGHUP under :func:`terminable`. The event is set; ``work`` may still be running.
    """
    if (
        threading.current_thread() is not threading.main_thread()
    ):  # only the main thread gets signals
        return work(threading.Event())
    stop, helper = threading.Event(), _idle.pop() if _idle else _Helper()
    try:
        done = helper.begin(lambda: work(stop))
        while not helper.ended.acquire(timeout=0.1):
            pass
    except BaseException:
        stop.set()
        helper.calls.put(None)  # its thread ends after the call
        raise
    _idle.append(helper)
    return done.result()


class _Helper:
    """A thread that makes one call after another. A new one costs more than a short run: its memory is new."""

    def __init__(self) -> None:
        self.calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.ended = threading.Lock()  # held until a call has ended
        self.ended.acquire()
        target, name = _calls_of, "gpucoh-worker"
        threading.Thread(target=target, args=(self.calls,), name=name, daemon=True).start()

    def begin(self, work: Callable[[], Result]) -> Future[Result]:
        """Begin a call, with the context variables of a new thread."""
        done: Future[Result] = Future()

        def call() -> None:
            try:
                done.set_result(contextvars.Context().run(work))
            except BaseException as error:
                done.set_exception(error)
            self.ended.release()

        self.calls.put(call)
        return done


# Of the main thread: the thread of the last call, unless that was interrupted. A forked process has no threads.
_idle: list[_Helper] = []
os.register_at_fork(after_in_child=_idle.clear)
