"""Ctrl-C is answered at once, also while the work is deep in a library that does not look for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Generic, ParamSpec, TypeVar

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


class _Worker(threading.Thread, Generic[Result]):
    """A thread that keeps what its work gave; it holds up nobody's exit."""

    def __init__(self, work: Callable[[threading.Event], Result]) -> None:
        super().__init__(name="gpucoh-run", daemon=True)
        self.stop = threading.Event()
        self.done: list[Result] = []
        self.error: BaseException | None = None
        self._work = work

    def run(self) -> None:
        try:
            self.done.append(self._work(self.stop))
        except BaseException as error:
            self.error = error


def interruptible(work: Callable[[threading.Event], Result]) -> Result:
    """Do work in a thread of its own, so that Ctrl-C is raised here without waiting for it.

    NumPy and SciPy look for a signal only between calls, and a call that sorts a large graph takes seconds.

    Parameters
    ----------
    work : callable
        Takes an event that is set when nobody wants the work any more.

    Returns
    -------
    object
        What ``work`` gave.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C. The work has been told to stop; it may still be about to.
    """
    if threading.current_thread() is not threading.main_thread():  # signals go to that one alone
        return work(threading.Event())
    worker = _Worker(work)
    worker.start()
    try:
        while worker.is_alive():
            worker.join(0.1)
    except BaseException:
        worker.stop.set()
        raise
    if worker.error is not None:
        raise worker.error
    return worker.done[0]


class Workers(Executor):
    """Threads for calls, as those of ``ThreadPoolExecutor``, but that nobody's exit waits for.

    After Ctrl-C the prompt is back at once; what still runs ends when it looks whether it is
    wanted, or with the process.

    Parameters
    ----------
    number : int
        Calls at once, at most.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._threads: list[threading.Thread] = []
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def submit(
        self,
        fn: Callable[Arguments, Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Future[Result]:
        """Have ``fn(*args, **kwargs)`` called in one of the threads; gives the future of its result."""
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

        self._calls.put(call)
        if len(self._threads) < self._number:
            thread = threading.Thread(target=self._work, name="gpucoh-worker", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """No more calls come. ``wait``: come back when those that were submitted have ended."""
        if cancel_futures:
            raise NotImplementedError("cancel the futures themselves")
        for _ in self._threads:
            self._calls.put(None)
        if wait:
            for thread in self._threads:
                thread.join()
