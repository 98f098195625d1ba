"""Many runs, carried out together; next begins one of the workload whose runs have taken longest, so that none of these
begins last.

A long run that begins last keeps one worker busy while the others have nothing left. This is list scheduling by longest
processing time (Graham, SIAM Journal on Applied Mathematics 17(2), 1969), with times that earlier runs have taken.
"""

from __future__ import annotations

import contextlib
import functools
import math
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from gpucoh.base.errors import Error
from gpucoh.runs.interrupts import Workers
from gpucoh.runs.rows import row_of
from gpucoh.terminal.bars import runs_bar

if TYPE_CHECKING:
    from gpucoh.runs.store import Store

Task = TypeVar("Task")
Result = TypeVar("Result")

_PATIENCE_S = 0.05
# For the end of the processes of a pool of which one has died.
_END_S = 5.0


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


def add_rows(
    todo: Sequence[tuple[str, Any]],
    store: Store,
    *,
    jobs: int,
    progress: bool,
    work: Callable[..., dict[str, Any]],
    columns: Mapping[str, Mapping[str, Any]],
    kind: Callable[[Any], Hashable] = lambda _: None,
    executor: Executor | None = None,
    replaced: Mapping[str, Sequence[str]] | None = None,
    apart: Callable[..., dict[str, Any]] | None = None,
    more: str = "the same command continues",
) -> None:
    """Run runs and add the row of each as it finishes; finished rows are kept whatever ends this, and Ctrl-C has a note
    that says so.

    Parameters
    ----------
    todo : sequence of (str, object)
        Keys and runs, or whatever else ``work`` carries out.
    store : Store
        Takes the rows.
    jobs : int
        Number of threads if no executor is given.
    progress : bool
        Show a progress bar on a terminal or in a notebook.
    work : callable
        Maps a run, its key and, in threads of this process, an event that stops it, to the row.
    columns : dict
        Key -> columns of what the runs vary, which are added to the row.
    kind : callable
        Maps a run to its kind; runs of the kind that takes longest begin first (:mod:`gpucoh.runs.schedule`).
    executor : concurrent.futures.Executor, optional
    replaced : dict, optional
        Key -> keys of the rows that its row replaces.
    apart : callable, optional
        As ``work``, in a process of its own: for the runs that a pool of processes has not finished when one of them
        was killed.
    more : str
        How to continue after Ctrl-C.
    """

    def add(row: dict[str, Any]) -> None:
        key = row["key"]
        store.add({**row, **columns[key]}, (replaced or {}).get(key, ()))

    with (
        _noted(store, [key for key, _ in todo], more),
        runs_bar(len(todo), enabled=progress) as report,
    ):
        collect = functools.partial(_collect, add=add, sync=store.sync, report=report)
        carried_out = functools.partial(_carry_out, kind=kind, collect=collect, add=add)
        lost = carried_out(todo, work, executor, jobs)
        if lost and apart and _was_killed(executor):
            again = [one for one, _ in lost]
            lost = carried_out(again, apart, None, getattr(executor, "_max_workers", jobs))
    if lost:
        raise _losses(lost, len(todo))


@contextlib.contextmanager
def _noted(store: Store, keys: Sequence[str], more: str) -> Iterator[None]:
    """Add to Ctrl-C what is kept, and how to continue."""
    try:
        yield
    except KeyboardInterrupt as ended:
        kept = sum(key in store.rows for key in keys)
        if store.path is not None:
            ended.add_note(
                f"interrupted: {kept} of {len(keys)} runs have ended and are kept in {store.path}; {more}"
                if kept
                else f"interrupted before the first of {len(keys)} runs has ended"
            )
        raise


_Todo: TypeAlias = Sequence[tuple[str, Any]]
_Work: TypeAlias = Callable[..., dict[str, Any]]
_Schedule: TypeAlias = Schedule[tuple[str, Any], dict[str, Any]]
# Runs that an executor lost, each with the reason.
_Lost: TypeAlias = list[tuple[tuple[str, Any], Exception]]


def _carry_out(
    todo: _Todo,
    work: _Work,
    executor: Executor | None,
    jobs: int,
    kind: Callable[[Any], Hashable],
    collect: Callable[[_Schedule], _Lost],
    add: Callable[[dict[str, Any]], None],
) -> _Lost:
    """Run runs in an executor, or in threads; return those that it lost."""
    stop = threading.Event()
    own = executor is None
    pool: Executor = Workers(jobs) if executor is None else executor
    stops = (stop,) if own else ()  # only threads of this process can stop a run
    # Executors of the standard library have this attribute; of a cluster, workers come and go.
    workers = jobs if own else getattr(executor, "_max_workers", None)
    schedule: _Schedule = Schedule(
        todo,
        lambda one: pool.submit(work, one[1], one[0], *stops),
        workers=workers if isinstance(workers, int) else None,
        kind=lambda one: kind(one[1]),
        seconds=lambda row: row.get("wall_s") or 0.0,
    )
    try:
        return collect(schedule)
    except BaseException:
        stop.set()
        for future in schedule.futures:
            future.cancel()
        for future in schedule.futures:
            if future.done() and not future.cancelled() and future.exception() is None:
                add(future.result())
        raise
    finally:
        if own:
            pool.shutdown(wait=False)


def _collect(
    schedule: _Schedule,
    add: Callable[[dict[str, Any]], None],
    sync: Callable[[], None],
    report: Callable[[str], None],
) -> _Lost:
    """Collect results as runs finish; return the runs that the executor lost.

    A future with an exception is such a run. It says nothing about the run, so it is not recorded, and resume runs it
    again, unless Dask has given it up, since several workers died that ran it.
    """
    lost: _Lost = []
    while schedule:
        sync()
        for one, future in schedule.ended():
            error = future.exception()
            if error is None:
                row = future.result()
            elif type(error).__name__ == "KilledWorker":
                row = row_of(one[1].ended("signal: KilledWorker", str(error)), one[0])
            elif isinstance(error, Exception):
                lost.append((one, error))
                continue
            else:
                raise error
            add(row)
            report(f"{row['workload']} {row['protocol']}")
    return lost


def _was_killed(executor: Executor | None) -> bool:
    """Whether a signal has ended a process of a pool, which then refuses all runs."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    end = time.monotonic() + _END_S
    while None in (codes := [process.exitcode for process in processes]):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)  # the pool's thread waits for them
    return any(
        code < 0 and code != -signal.SIGTERM for code in codes
    )  # the pool ends the others by SIGTERM


def _losses(lost: _Lost, number: int) -> Error:
    """The error that reports lost runs."""
    first = lost[0][1]
    reason = " ".join(str(first).split())
    if isinstance(first, BrokenExecutor) and len(lost) == number:  # not even one began
        reason += (
            " In a script, start processes under if __name__ == '__main__': "
            "each new process runs the script again"
        )
    return Error(
        f"{len(lost)} of {number} runs were lost ({type(first).__name__}: {reason}); the others are kept: "
        "continue with resume"
    )
