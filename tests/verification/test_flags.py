"""Does docs/flags.md say what runs, explorations and PTX say of its program and of each change?"""

import tomllib

import pytest

from products import share
from registered import COHERENT
from scripts import script
from unit.cuda.compiled import needs_nvcc

tool = script("tools/flags.py")
models = script("tools/all_reduce.py")
ROWS = {row["what"]: row for row in tomllib.loads(tool.FACTS.read_text(encoding="utf-8"))["row"]}
MODELLED = [what for what, row in ROWS.items() if row["model"]]
TIMED = {row["timed"]: row for row in ROWS.values() if "timed" in row}


def noted(ends: dict[str, str], protocol: str) -> str:
    return next((end for end, names in ends.items() if protocol in names.split()), "right")


@pytest.mark.parametrize("what", MODELLED)
def test_ptx_promises_what_the_page_says(what: str) -> None:
    assert models.promised(ROWS[what]) is ROWS[what]["ptx"]


@pytest.mark.parametrize(("what", "protocol"), share(MODELLED, COHERENT, one_in=24))
def test_exploring_a_model_ends_as_noted(what: str, protocol: str) -> None:
    assert models.explored(ROWS[what], protocol) == noted(ROWS[what]["explored"], protocol)


@needs_nvcc
@pytest.mark.parametrize(
    ("what", "lines", "protocol"), share(list(ROWS), list(tool.LAYOUTS), COHERENT, one_in=100)
)
def test_runs_end_as_noted(what: str, lines: str, protocol: str) -> None:
    runs = [tool.ran(ROWS[what], lines, protocol, seed) for seed in tool.SEEDS]
    assert tool.worst(runs) == noted(ROWS[what]["ran"][lines], protocol)


@needs_nvcc
@pytest.mark.parametrize(
    ("kind", "lines", "protocol"), share(list(TIMED), list(tool.LAYOUTS), COHERENT, one_in=30)
)
def test_runs_cost_what_is_noted(kind: str, lines: str, protocol: str) -> None:
    """Nearly, since a protocol's timing may change a little between two writings of the page."""
    runs = [tool.ran(TIMED[kind], lines, protocol, seed) for seed in tool.SEEDS]
    for figure in tool.FIGURES:
        mean = sum(getattr(run, figure) for run in runs) / len(runs)
        assert mean == pytest.approx(TIMED[kind][figure][lines][protocol], rel=0.05)


@needs_nvcc
@pytest.mark.parametrize("what", share(list(ROWS), one_in=4))
def test_checks_end_as_noted(what: str) -> None:
    assert tool.ran(ROWS[what], "1", tool.CHECKED_UNDER, check=True).end == ROWS[what]["check"]


def test_what_ptx_promises_is_right_in_every_execution_and_run_and_the_rest_is_a_race() -> None:
    for what in MODELLED:
        row = ROWS[what]
        assert (row["check"] == "race") is not row["ptx"], what
        if row["ptx"]:
            assert not row["explored"]
            assert not any(row["ran"].values())


def test_every_protocol_has_its_costs() -> None:
    for row in TIMED.values():
        for figure in tool.FIGURES:
            for lines in tool.LAYOUTS:
                assert set(row[figure][lines]) == set(COHERENT)
