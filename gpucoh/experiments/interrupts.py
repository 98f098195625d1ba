"""Ctrl-C is answered at once, also while the work is deep in a library that does not look for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, wait
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


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
        self._futures: list[Future[Any]] = []

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

        self._futures.append(future)
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
        """No more calls come. ``wait``: come back when those that were submitted have ended, but for those that have
        not begun and are cancelled (``cancel_futures``).
        """
        for future in self._futures if cancel_futures else ():
            future.cancel()
        for _ in self._threads:
            self._calls.put(None)
        if wait:
            for thread in self._threads:
                thread.join()


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
    stop, pool = threading.Event(), Workers(1)
    done = pool.submit(work, stop)
    pool.shutdown(wait=False)
    try:
        while not done.done():
            wait([done], timeout=0.1)
    except BaseException:
        stop.set()
        raise
    return done.result()
