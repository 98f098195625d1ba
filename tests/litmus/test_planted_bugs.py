"""Does the harness catch planted bugs? A few of the noted ones; ``make proof`` has all of them caught again."""

import tomllib
from pathlib import Path

import pytest

NOTES = Path(__file__).parents[1] / "verification" / "planted.toml"
CATCHES = tomllib.loads(NOTES.read_text(encoding="utf-8"))
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


@pytest.mark.parametrize("name", QUICK)
def test_a_litmus_test_catches_the_planted_bug(name, mutant_gpucoh):
    from gpucoh.litmus import run_test

    noted = CATCHES[name]["litmus"]
    found = run_test(noted["test"], name, runs=noted["runs"])
    assert not found.ok
    assert run_test(noted["test"], name.split("!")[0], runs=noted["runs"]).ok
