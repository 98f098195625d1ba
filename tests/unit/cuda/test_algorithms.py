"""Thrust and CUB of the compiler's own headers: sorts, scans, reductions and selections against NumPy."""

import json
from pathlib import Path

import numpy as np
import pytest

from products import share
from unit.cuda.compiled import cuda, needs_nvcc

pytestmark = needs_nvcc

PROGRAM = Path(__file__).parent / "libraries" / "algorithms.cu"
COUNT, LONG = 2000, 6000


def drawn(count: int, seed: int, below: int) -> np.ndarray:
    """The values of the program's vectors."""
    found = np.empty(count, np.int64)
    for k in range(count):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        found[k] = (seed >> 8) % below - below // 2
    return found


def of_thrust() -> dict[str, np.ndarray]:
    keys, values = drawn(COUNT, 1, 500), drawn(COUNT, 2, 100000)
    order = np.argsort(keys, kind="stable")
    firsts = np.unique(keys[order], return_index=True)[1]
    return {
        "keys": keys[order],
        "values": values[order],
        "reduced": np.add.reduceat(values[order], firsts),
        "unique": values[order][firsts],
        "exclusive": 7 + np.cumsum(values) - values,
        "maxima": np.maximum.accumulate(values),
        "odd": values[values % 2 == 1],
        "sum": values.sum(keepdims=True),
    }


def of_cub() -> dict[str, np.ndarray]:
    values, small = drawn(LONG, 3, 1 << 20), drawn(COUNT, 4, 6)
    return {
        "descending": np.sort(values)[::-1],
        "inclusive": np.cumsum(values[:COUNT] // 1024),
        "largest": values[:COUNT].max(keepdims=True),
        "selected": small[small % 2 == 1],
        "runs": small[np.flatnonzero(np.diff(small, prepend=9))],
        "histogram": np.bincount(small + 3),
    }


@pytest.mark.long
@pytest.mark.parametrize(
    "protocol",
    ["mesi", *share(["gpu-drf", "tc-weak", "rcc-wo"], one_in=3)],
)
def test_results_are_numpy_s(protocol: str) -> None:
    run = cuda(PROGRAM, "-p", protocol, "--json")
    assert run.returncode == 0, run.stderr
    lines = {line.split()[0]: line.split()[1:] for line in json.loads(run.stdout)["output"].splitlines()}  # fmt: skip
    wanted = of_thrust() | of_cub()
    assert lines.keys() == wanted.keys()
    for name, values in wanted.items():
        np.testing.assert_array_equal(np.array(lines[name], float), values, err_msg=name)
