"""Does the harness catch planted bugs? A few of the noted ones; ``make proof`` has all of them caught again."""

import tomllib
from pathlib import Path

import pytest

NOTES = (Path(__file__).parents[2] / "csrc" / "protocols").glob("*/planted.toml")
CATCHES = {
    name: row for file in NOTES for name, row in tomllib.loads(file.read_text("utf-8")).items()
}
QUICK = (
    "tc-weak!fence-ignores-gwct",
    "no-l1!fill-over-store",
    "ideal!late-load-merges",
    "gpu-vi!own-store-readable",
    "gpu-vi!inv-ack-dropped",
    "gpu-vini!atomic-without-invalidations",
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


def test_runs_that_hang_where_the_model_has_an_end_are_not_ok(mutant_gpucoh):
    """mesi!stale-fill-kept leaves stale copies: some spins of WRC+spin never end."""
    from gpucoh.litmus import run_test

    found = run_test("WRC+spin", "mesi!stale-fill-kept", runs=1000)
    outcomes = {outcome.state: outcome for outcome in found.outcomes}
    assert found.status == "ran"
    assert 0 < outcomes["hang"].count < found.runs
    assert not outcomes["hang"].allowed
    assert "hang" in found.forbidden
    assert not found.ok
    assert run_test("WRC+spin", "mesi", runs=1000).ok
