"""Which of many runs begins next: one of the workload whose runs have taken longest, so that no long one begins last.

A long run that begins last keeps one worker busy while the others have nothing left. This is list scheduling by longest
processing time (Graham, SIAM Journal on Applied Mathematics 17(2), 1969), with times that earlier runs have taken.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Generic, TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")

_PATIENCE_S = 0.05


class Turns(Generic[Work, Result]):
    """Submits works to an executor, and returns those that have ended.

    Parameters
    ----------
    works : iterable of Work
    submit : callable
        Submits a work to the executor and returns its future.
    workers : int or None
        How many works the executor carries out at a time. None: not known; all are submitted at once, in their order.
    kind : callable
        Maps a work to its kind. Works of a kind take about equally long, and keep their order.
    seconds : callable
        Maps a result to the seconds that its work has taken.
    """

    def __init__(
        self,
        works: Iterable[Work],
        submit: Callable[[Work], Future[Result]],
        *,
        workers: int | None,
        kind: Callable[[Work], Hashable],
        seconds: Callable[[Result], float],
    ) -> None:
        self._submit, self._kind, self._seconds = submit, kind, seconds
        # One more waits in the executor, so that no worker waits for this process. One worker has no end to shorten.
        self._places = math.inf if workers is None else workers + 1
        self._in_order = workers in (None, 1)
        self._waiting: dict[Hashable, deque[Work]] = {}
        for work in works:
            self._waiting.setdefault(self._kind_of(work), deque()).append(work)
        self._longest: dict[Hashable, float] = {}
        self._begun: dict[Hashable, float] = {}
        self._submitted: dict[Future[Result], Work] = {}
        #: The futures of all works that have been submitted, in this order.
        self.futures: list[Future[Result]] = []

    def __bool__(self) -> bool:
        """Whether a work is left that :meth:`ended` has not returned."""
        return bool(self._submitted or self._waiting)

    def ended(self) -> list[tuple[Work, Future[Result]]]:
        """Submit what has a place, and return works that have ended since the last call, with their futures.

        An executor that is broken has lost what it does not take: such a future has its BrokenExecutor.
        """
        self._fill()
        done, _ = wait(self._submitted, timeout=_PATIENCE_S, return_when=FIRST_COMPLETED)
        found = [(work, future) for future, work in self._submitted.items() if future in done]
        for work, future in found:
            del self._submitted[future]
            if future.exception() is None:
                kind, took = self._kind_of(work), self._seconds(future.result())
                self._longest[kind] = max(took, self._longest.get(kind, 0.0))
        self._fill()  # before the caller looks at what has ended
        return found

    def _kind_of(self, work: Work) -> Hashable:
        return None if self._in_order else self._kind(work)

    def _fill(self) -> None:
        while self._waiting and len(self._submitted) < self._places:
            kind = max(self._waiting, key=self._expected)  # the first of equals
            work = self._waiting[kind].popleft()
            if not self._waiting[kind]:
                del self._waiting[kind]
            self._begun.setdefault(kind, time.perf_counter())
            try:
                future = self._submit(work)
            except BrokenExecutor as error:
                future = Future()
                future.set_exception(error)
            self._submitted[future] = work
            self.futures.append(future)

    def _expected(self, kind: Hashable) -> float:
        """Seconds; infinite if no work of this kind has begun."""
        if kind in self._longest:
            return self._longest[kind]
        return time.perf_counter() - self._begun[kind] if kind in self._begun else math.inf
