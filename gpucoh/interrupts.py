"""Ctrl-C is answered at once, also while the work is deep in a library that does not look for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


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
