"""Registers that some lanes of a warp write: few or many, from arithmetic and from scratchpads; against NumPy."""

import numpy as np
import pytest

import gpucoh
from gpucoh.lang import Buffer, i32, kernel
from gpucoh.lang.intrinsics import barrier, shared, thread_id
from products import share


@kernel
def some_lanes(words: Buffer[i32], out: Buffer[i32], first: i32, last: i32, stride: i32):
    pad = shared(i32, 2048)
    lane = thread_id()
    mine = words[lane]
    plain = mine * 3
    same = 5
    pad[lane * stride] = 7 * lane
    barrier()
    if lane >= first and lane < last:
        plain = plain + lane
        same = words[0]
        mine = pad[lane * stride] - plain
    out[3 * lane] = mine
    out[3 * lane + 1] = plain
    out[3 * lane + 2] = same


@pytest.mark.parametrize(
    ("stride", "span", "lanes"),
    share([1, 32], [(0, 1), (3, 14), (20, 32), (5, 31), (17, 60), (0, 64)], [32, 64], one_in=8),
)
def test_lanes_outside_a_branch_keep_their_words(lanes, span, stride):
    first, last = span
    words, out = np.arange(64, dtype=np.int32) * 11 % 37, np.zeros(3 * 64, np.int32)
    gpu = gpucoh.GPU(machine=gpucoh.machine("fermi").replace(lanes_per_warp=lanes))
    result = gpu.array(out)
    gpu.launch(some_lanes, grid=1, block=64, args=(gpu.array(words), result, first, last, stride))
    lane = np.arange(64)
    inside = (lane >= first) & (lane < last)
    plain = words * 3 + np.where(inside, lane, 0)
    mine = np.where(inside, 7 * lane - plain, words)
    expected = np.stack([mine, plain, np.where(inside, words[0], 5)], axis=1)
    assert np.array_equal(result.numpy().reshape(64, 3), expected)
