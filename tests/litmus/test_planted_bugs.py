"""Does the harness catch planted bugs? The noted ones; a few here, all of them with GPUCOH_PROOF=1."""

import os
import tomllib
from pathlib import Path

import pytest

CATCHES = tomllib.loads((Path(__file__).parent / "planted.toml").read_text(encoding="utf-8"))
QUICK = (
    "tc-weak!fence-ignores-gwct",
    "no-l1!fill-over-store",
    "ideal!late-load-merges",
    "gpu-vi!own-store-readable",
    "gpu-vi!inv-ack-dropped",
    "gpu-vini!atomic-waits-for-nobody",
    "mesi!owner-keeps-line",
    "mesi!stale-fill-kept",
    "tc-strong!private-without-comparison",
)
CHOSEN = sorted(CATCHES) if os.environ.get("GPUCOH_PROOF") else [*QUICK]


@pytest.mark.parametrize("name", CHOSEN)
def test_a_litmus_test_catches_the_planted_bug(name, mutant_gpucoh):
    from gpucoh.litmus import run_test

    noted = CATCHES[name]
    found = run_test(noted["test"], name, runs=noted["runs"])
    assert not found.ok
    assert run_test(noted["test"], name.split("!")[0], runs=noted["runs"]).ok
