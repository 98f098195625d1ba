"""Which of many runs begins next: gpucoh.runs.schedule."""

from __future__ import annotations

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpucoh.runs import schedule
from gpucoh.runs.schedule import Schedule


@pytest.fixture(autouse=True, scope="module")
def impatient():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule, "_PATIENCE_S", 0.0)
        yield


class Clock:
    """An executor whose tasks take simulated seconds, and the clock of the simulation."""

    def __init__(self, workers, monkeypatch=None):
        self.workers, self.now = workers, 0.0
        self.submitted, self.begun, self.queue, self.running = [], [], [], []
        self.most = 0
        if monkeypatch is not None:
            monkeypatch.setattr(schedule.time, "perf_counter", lambda: self.now)

    def submit(self, task):
        future = Future()
        self.submitted.append(task)
        self.queue.append((task, future))
        self._begin()
        self.most = max(self.most, len(self.queue) + len(self.running))
        return future

    def _begin(self):
        while self.queue and len(self.running) < self.workers:
            task, future = self.queue.pop(0)
            self.begun.append(task)
            self.running.append((self.now + task[1], task, future))

    def end_one(self):
        """Advance the clock to the end of the next task."""
        self.running.sort(key=lambda entry: entry[0])
        until, task, future = self.running.pop(0)
        self.now = until
        future.set_result(task[1])
        self._begin()


def schedule_of(tasks, clock, **options):
    return Schedule(
        tasks,
        clock.submit,
        **{"workers": clock.workers, "kind": lambda task: task[0], "seconds": float} | options,
    )


def carry_out(tasks, clock, **options):
    """The tasks in the order in which they have ended."""
    waiting, found = schedule_of(tasks, clock, **options), []
    while waiting:
        if clock.running:
            clock.end_one()
        found += [task for task, _ in waiting.ended()]
    return found


SHORT, MIDDLE, LONG = ("short", 1.0), ("middle", 2.0), ("long", 9.0)


def test_one_of_each_kind_begins_first_and_then_the_longest(monkeypatch):
    tasks = [(*task, number) for task in (SHORT, MIDDLE, LONG) for number in range(3)]
    clock = Clock(2, monkeypatch)
    carry_out(tasks, clock)
    begun = [f"{name} {number}" for name, _, number in clock.begun]
    assert begun[:3] == ["short 0", "middle 0", "long 0"]
    assert begun[3:5] == ["short 1", "middle 1"]  # the long one has not run longer than these yet
    assert begun[5:] == ["long 1", "long 2", "middle 2", "short 2"]
    assert clock.now == 19  # of 36 seconds on two workers

    clock = Clock(2, monkeypatch)
    carry_out(tasks, clock, kind=lambda _: None)
    assert (clock.begun, clock.now) == (tasks, 22)


@pytest.mark.parametrize(("now", "next_one"), [(0.5, (*SHORT, 2)), (1.5, (*LONG, 1))])
def test_a_kind_of_which_none_has_ended_counts_with_the_time_that_it_has_run(
    monkeypatch, now, next_one
):
    clock = Clock(2, monkeypatch)
    tasks = [(*SHORT, 0), (*LONG, 0), (*SHORT, 1), (*SHORT, 2), (*LONG, 1)]
    waiting = schedule_of(tasks, clock)
    assert waiting.ended() == []
    assert clock.submitted == tasks[:3]
    clock.now = now
    clock.running[0][2].set_result(1.0)
    assert [task for task, _ in waiting.ended()] == [(*SHORT, 0)]
    assert clock.submitted[3:] == [next_one]


def test_a_kind_counts_with_the_longest_time_of_its_tasks(monkeypatch):
    monkeypatch.setattr(schedule.time, "perf_counter", lambda: 2.0)
    futures = {}
    waiting = Schedule(
        ["varied 0", "even 0", "varied 1", "varied 2", "varied 3", "even 1", "even 2"],
        lambda task: futures.setdefault(task, Future()),
        workers=2,
        kind=lambda task: task.split()[0],
        seconds=float,
    )
    for task, seconds in (("even 0", 3.0), ("varied 0", 5.0), ("varied 1", 1.0)):
        waiting.ended()
        futures[task].set_result(seconds)
    waiting.ended()
    assert list(futures) == ["varied 0", "even 0", "varied 1", "even 1", "varied 2", "varied 3"]


@pytest.mark.parametrize("workers", [None, 1])
def test_without_several_workers_tasks_keep_their_order(workers):
    clock, tasks = Clock(1), [SHORT, LONG, (*SHORT, 1), (*LONG, 1), (*MIDDLE, 1)]
    assert carry_out(tasks, clock, workers=workers) == clock.begun == tasks


def test_an_executor_of_unknown_size_gets_all_at_once():
    clock, tasks = Clock(1), [SHORT, LONG, MIDDLE] * 5
    schedule_of(tasks, clock, workers=None).ended()
    assert clock.most == len(tasks)


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0.0, 9.0)), max_size=30), st.integers(1, 4))
def test_each_task_is_carried_out_once_and_only_one_waits_in_the_executor(tasks, workers):
    clock, tasks = Clock(workers), [(*task, number) for number, task in enumerate(tasks)]
    assert sorted(carry_out(tasks, clock)) == sorted(tasks)
    assert clock.most <= workers + 1


def test_what_a_broken_executor_does_not_take_is_lost():
    taken = []

    def submit(task):
        if taken:
            raise BrokenProcessPool("a worker was killed")
        taken.append(Future())
        taken[0].set_exception(BrokenProcessPool("a worker was killed"))
        return taken[0]

    waiting = Schedule(range(5), submit, workers=2, kind=lambda task: task, seconds=float)
    lost = []
    while waiting:
        lost += waiting.ended()
    assert sorted(task for task, _ in lost) == [0, 1, 2, 3, 4]
    assert all(isinstance(future.exception(), BrokenProcessPool) for _, future in lost)
