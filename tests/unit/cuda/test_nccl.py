"""NCCL for programs of one process: collective operations over several GPUs, by one thread and by a thread a device."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from products import share
from registered import COHERENT
from unit.cuda.compiled import cuda, needs_nvcc

pytestmark = [needs_nvcc, pytest.mark.long]

PROGRAM = Path(__file__).parent / "libraries" / "collectives.cu"
COUNT = 2500


def given(ranks: int, whole: bool) -> np.ndarray:
    """What each rank has at first, a row a rank."""
    i, device = np.arange(ranks * COUNT), np.arange(ranks)[:, None]
    values = (i * 37 + device * 11) % 23 / 4 - 2
    return np.trunc(values) if whole else values


def expected(letter: str, ranks: int) -> Iterator[tuple[str, np.ndarray]]:
    """What is left on every rank, by the names of the lines."""
    sent = given(ranks, letter == "T")
    total = sent[:, :COUNT].sum(axis=0)
    sent[:, :COUNT] = sent[:, :COUNT].max(axis=0)
    for r in range(ranks):
        yield f"{letter}0_{r}", total
        yield f"{letter}1_{r}", sent[r, :COUNT]
    if letter == "T":
        return
    yield f"{letter}2_1", sent[:, COUNT : 2 * COUNT].mean(axis=0)
    for r in range(ranks):  # the last element is what was left before
        last = sent[:, 2 * COUNT - 1].mean() if r == 1 else total[-1]
        yield f"{letter}3_{r}", np.append(sent[1, : COUNT - 1], last)
        yield f"{letter}4_{r}", np.tile(sent[0, :COUNT], ranks)
        yield f"{letter}5_{r}", ranks * sent[0, :COUNT]


@pytest.mark.parametrize(
    ("machine", "ranks", "protocol"),
    [
        ("two-gpus", 2, "mcm"),
        ("four-gpus", 4, "mcm"),
        *share(["two-gpus"], [2], COHERENT, one_in=12),
    ],
)
def test_collective_operations(machine: str, ranks: int, protocol: str) -> None:
    run = cuda(PROGRAM, "--nvcc=-lnccl", "-m", machine, "-p", protocol, "--check")
    assert run.returncode == 0, run.stderr
    lines = {line.split()[0]: line.split()[1:] for line in run.stdout.split("\n\n")[0].splitlines()}
    wanted = {name: values for letter in "FHT" for name, values in expected(letter, ranks)}
    assert lines.keys() == wanted.keys()
    for name, values in wanted.items():
        exact = 0 if name[0] != "H" else 1e-3  # sums and means of halves are rounded
        found = np.array(lines[name], float)
        np.testing.assert_allclose(found, values, rtol=exact, atol=exact, err_msg=name)
