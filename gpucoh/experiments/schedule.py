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

Task = TypeVar("Task")
Result = TypeVar("Result")

_PATIENCE_S = 0.05


class Schedule(Generic[Task, Result]):
    """Submits tasks to an executor, and returns those that have ended.

    Parameters
    ----------
    tasks : iterable of Task
    submit : callable
        Submits a task to the executor and returns its future.
    workers : int or None
        Number of tasks that the executor runs at a time. None: unknown; all are submitted at once, in their order.
    kind : callable
        Maps a task to its kind. Tasks of a kind take about equally long, and keep their order.
    seconds : callable
        Maps a result to the seconds that its task has taken.
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        submit: Callable[[Task], Future[Result]],
        *,
        workers: int | None,
        kind: Callable[[Task], Hashable],
        seconds: Callable[[Result], float],
    ) -> None:
        self._submit, self._kind, self._seconds = submit, kind, seconds
        # One more waits in the executor, so that no worker waits for this process. One worker has no end to shorten.
        self._places = math.inf if workers is None else workers + 1
        self._in_order = workers in (None, 1)
        self._waiting: dict[Hashable, deque[Task]] = {}
        for task in tasks:
            self._waiting.setdefault(self._kind_of(task), deque()).append(task)
        self._longest: dict[Hashable, float] = {}
        self._begun: dict[Hashable, float] = {}
        self._submitted: dict[Future[Result], Task] = {}
        #: The futures of all submitted tasks, in order of submission.
        self.futures: list[Future[Result]] = []

    def __bool__(self) -> bool:
        """Whether a task is left that :meth:`ended` has not returned."""
        return bool(self._submitted or self._waiting)

    def ended(self) -> list[tuple[Task, Future[Result]]]:
        """Fill the executor, and return tasks that have ended since the last call, with their futures.

        The future of a task that a broken executor refuses raises BrokenExecutor.
        """
        self._fill()
        done, _ = wait(self._submitted, timeout=_PATIENCE_S, return_when=FIRST_COMPLETED)
        found = [(task, future) for future, task in self._submitted.items() if future in done]
        for task, future in found:
            del self._submitted[future]
            if future.exception() is None:
                kind, took = self._kind_of(task), self._seconds(future.result())
                self._longest[kind] = max(took, self._longest.get(kind, 0.0))
        self._fill()  # before the caller looks at what has ended
        return found

    def _kind_of(self, task: Task) -> Hashable:
        return None if self._in_order else self._kind(task)

    def _fill(self) -> None:
        while self._waiting and len(self._submitted) < self._places:
            kind = max(self._waiting, key=self._expected)  # the first of equals
            task = self._waiting[kind].popleft()
            if not self._waiting[kind]:
                del self._waiting[kind]
            self._begun.setdefault(kind, time.perf_counter())
            try:
                future = self._submit(task)
            except BrokenExecutor as error:
                future = Future()
                future.set_exception(error)
            self._submitted[future] = task
            self.futures.append(future)

    def _expected(self, kind: Hashable) -> float:
        """Seconds; infinite if no task of this kind has begun."""
        if kind in self._longest:
            return self._longest[kind]
        return time.perf_counter() - self._begun[kind] if kind in self._begun else math.inf
