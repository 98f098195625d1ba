"""Shrink a failing run to a shorter one that still fails: fewer launches, warps, steps, operations, lanes.

Waits, releases and expected values are recomputed for every candidate, so any part of a case may be removed and the
rest is still free of races.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from gpucoh.fuzz.cases import NOWHERE, Case, Episode, Op, Step
from gpucoh.fuzz.tester import Failure, Setup, run_cases

T = TypeVar("T")


class Shrinker:
    """Delta debugging of one failure.

    Parameters
    ----------
    setup : Setup
    cases : sequence of Case
        Launches on one GPU, the last of which fails.
    failure : Failure
        The failure; candidates must fail in the same way.
    seconds : float
        Time limit.
    """

    def __init__(self, setup: Setup, cases: Sequence[Case], failure: Failure, seconds: float) -> None:  # fmt: skip
        self.setup, self.failure, self.tries = setup, failure, 0
        self.cases = list(cases)
        self.end = time.monotonic() + seconds

    def run(self) -> tuple[list[Case], Failure]:
        """The shortest cases found, and their failure."""
        self.cases = self._fewer(self.cases, lambda cases: cases)
        for number in range(len(self.cases)):
            self._shrink_case(number)
        return self.cases, self.failure

    def _fails(self, cases: Sequence[Case]) -> bool:
        if time.monotonic() > self.end:
            return False
        self.tries += 1
        found = run_cases(self.setup, cases).failure
        if found is None or found.kind != self.failure.kind:
            return False
        self.failure = found
        return True

    def _fewer(self, items: list[T], build: Callable[[list[T]], Sequence[Case]]) -> list[T]:
        """Remove halves, quarters ... of a list as long as the case that ``build`` makes of the rest fails."""
        size = max(1, len(items) // 2)
        while size >= 1:
            start = 0
            while start < len(items) and len(items) > 1:
                candidate = items[:start] + items[start + size :]
                if candidate and self._fails(build(candidate)):
                    items = candidate
                else:
                    start += size
            size //= 2
        return items

    def _shrink_case(self, number: int) -> None:
        case = replace(self.cases[number], stored=NOWHERE)
        if not len(self.cases[number].stored) or not self._fails(
            [*self.cases[:number], case, *self.cases[number + 1 :]]
        ):
            case = self.cases[number]

        def with_steps(steps: Sequence[Step]) -> list[Case]:
            return [
                *self.cases[:number],
                replace(case, steps=tuple(steps)),
                *self.cases[number + 1 :],
            ]

        steps = list(self.cases[number].steps)
        warps = sorted({step.warp for step in steps if isinstance(step, Episode)})
        kept = self._fewer(warps, lambda some: with_steps(_of_warps(steps, some)))
        steps = _of_warps(steps, kept) if len(kept) < len(warps) else steps
        steps = self._fewer(steps, with_steps)
        for place, step in enumerate(steps):
            if isinstance(step, Episode):
                steps[place] = self._shrink_episode(steps, place, step, with_steps)
        steps = self._fewer(steps, with_steps)
        self.cases = with_steps(steps)

    def _shrink_episode(
        self, steps: list[Step], place: int, episode: Episode, with_steps: Callable[[Sequence[Step]], list[Case]]
    ) -> Episode:  # fmt: skip
        def with_episode(one: Episode) -> list[Case]:
            return with_steps([*steps[:place], one, *steps[place + 1 :]])

        ops = list(episode.ops)
        if ops and self._fails(with_episode(replace(episode, ops=()))):
            return replace(episode, ops=())
        ops = self._fewer(ops, lambda some: with_episode(replace(episode, ops=tuple(some))))
        for number, op in enumerate(ops):
            if len(op.lanes) < 2:
                continue
            lanes = self._fewer(
                list(range(len(op.lanes))),
                lambda some, number=number, op=op: with_episode(  # type: ignore[misc]
                    replace(episode, ops=(*ops[:number], _of_lanes(op, some), *ops[number + 1 :]))
                ),
            )
            ops[number] = _of_lanes(op, lanes)
        return replace(episode, ops=tuple(ops))


def _of_warps(steps: Sequence[Step], warps: Sequence[int]) -> list[Step]:
    return [step for step in steps if not isinstance(step, Episode) or step.warp in warps]


def _of_lanes(op: Op, positions: Sequence[int]) -> Op:
    keep = np.array(positions, np.intp)
    return replace(op, lanes=op.lanes[keep], places=op.places[keep])
