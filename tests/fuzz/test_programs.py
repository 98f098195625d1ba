"""Are generated programs free of races, and the expected values right? A slow independent oracle decides."""

from __future__ import annotations

import numpy as np
import pytest

from gpucoh.fuzz.campaigns import make_round
from gpucoh.fuzz.cases import READS, WRITES, Meeting, Woven
from products import share


def _happens_before(steps, shape):
    """What each step has behind it: sets of step numbers, by program order, flags and barriers only."""
    before = []
    last = [set() for _ in range(shape.warps)]
    at = {}
    for number, step in enumerate(steps):
        if isinstance(step, Meeting):
            first = step.block * shape.warps_per_block
            warps = range(first, first + shape.warps_per_block)
            together = set().union(*(last[warp] for warp in warps))
            for warp in warps:
                last[warp] = set(together)
            before.append(together)
            continue
        warp = step.episode.warp
        known = set(last[warp])
        for other, scope, k in step.waits:
            source = at[other, k]
            assert scope in steps[source].releases
            known |= before[source] | {source}
        before.append(known)
        at[warp, step.number] = number
        last[warp] = known | {number}
    return before


@pytest.mark.parametrize("number", share(range(6), one_in=4))
def test_conflicting_accesses_of_two_warps_are_ordered_by_flags_or_barriers(number):
    made = make_round(11, number)
    steps = made.launches[0].steps
    before = _happens_before(steps, made.shape)
    touched = {}
    for place, step in enumerate(steps):
        if isinstance(step, Meeting):
            continue
        for op in step.episode.ops:
            if op.kind not in READS | WRITES:
                continue
            for location in set(op.places.tolist()):
                for other, writes in touched.get(location, ()):
                    if writes or op.kind in WRITES:
                        same_warp = steps[other].episode.warp == step.episode.warp
                        assert same_warp or other in before[place]
                touched.setdefault(location, []).append((place, op.kind in WRITES))


def test_expected_values_are_those_of_one_lane_after_the_other():
    made = make_round(11, 2)
    content = dict.fromkeys(range(len(made.layout.data)), 0)
    for prepared in made.launches:
        for step in prepared.steps:
            if not isinstance(step, Woven):
                continue
            for op, expected, value in zip(
                step.episode.ops, step.expected, step.values, strict=True
            ):
                got = []
                for lane, place in zip(op.lanes.tolist(), op.places.tolist(), strict=True):
                    if op.kind in READS:
                        got.append(content[place])
                    if op.kind in WRITES:
                        content[place] = value + lane
                assert op.kind not in READS or got == expected.tolist()
    final = [content[place] for place in range(len(made.layout.data))]
    assert final == made.launches[-1].memory[made.layout.data].tolist()


def test_data_flags_and_counters_share_lines():
    made = make_round(11, 0)
    layout, words = made.layout, made.shape.line_words
    lines = [set((part // words).ravel().tolist()) for part in (layout.data, layout.flags)]
    assert lines[0] & lines[1]
    everything = np.concatenate([layout.data, layout.flags.ravel(), layout.counters])
    assert len(set(everything.tolist())) == len(everything)
