"""Does docs/all-reduce.md say what runs, explorations and PTX say of its program and of each change?"""

import tomllib

import pytest

from gpucoh.verify.explorer import explore, small_choice
from gpucoh.verify.programs import parse
from products import share
from registered import COHERENT
from scripts import script
from unit.cuda.compiled import needs_nvcc

tool = script("tools/all_reduce.py")
ROWS = {row["what"]: row for row in tomllib.loads(tool.FACTS.read_text(encoding="utf-8"))["row"]}
MODELLED = [what for what, row in ROWS.items() if row.get("model", "start")]
RUNS = [(what, case) for what, row in ROWS.items() for case in row["ran"]]
RELAXED = "the store `relaxed.sys`, the load `relaxed.gpu`"
RIGHT = (
    "as written: `release.sys`, `acquire.sys`",
    "`__threadfence_system()` around `volatile` flags",
)


def noted(ends: dict[str, str], protocol: str) -> str:
    return next((end for end, names in ends.items() if protocol in names.split()), "right")


@pytest.mark.parametrize("what", MODELLED)
def test_ptx_promises_what_the_page_says(what: str) -> None:
    assert tool.promised(ROWS[what]) is ROWS[what]["ptx"]


@pytest.mark.parametrize(("what", "protocol"), share(MODELLED, COHERENT, one_in=16))
def test_exploring_a_model_ends_as_noted(what: str, protocol: str) -> None:
    assert tool.explored(ROWS[what], protocol) == noted(ROWS[what]["explored"], protocol)


@needs_nvcc
@pytest.mark.parametrize(("run", "protocol"), share(RUNS, COHERENT, one_in=60))
def test_a_run_ends_as_noted(run: tuple[str, str], protocol: str) -> None:
    what, case = run
    form, machine = case.replace("LOW_LATENCY", "").split(" ")
    assert tool.ran(ROWS[what], form, protocol, machine) == noted(ROWS[what]["ran"][case], protocol)


def test_what_ptx_promises_is_right_in_every_execution_and_run() -> None:
    promised = [row for row in ROWS.values() if row.get("ptx")]
    assert {row["what"] for row in promised} >= set(RIGHT)
    for row in promised:
        assert not row["explored"]
        assert not any(row["ran"].values())


def test_the_open_report_is_an_old_word_and_its_mend_is_right() -> None:
    row = ROWS[RELAXED]
    assert noted(row["explored"], "mcm") == "wrong"
    assert noted(row["ran"]["ONE_SHOT two-gpus"], "mcm") == "wrong"
    assert not ROWS[RIGHT[0]]["explored"]


def test_an_await_orders_what_follows_by_control_alone() -> None:
    """The load of x issues when y has been read; an older copy of x may still be read where copies may be old."""
    message = "0: st x 1; st.release.sys y 1 | 1@1: await.relaxed.sys y 1; ld x"
    for protocol, old in (("no-l1", False), ("mcm", True)):
        seen = explore(small_choice(protocol), parse(message))["outcomes"]
        warm = explore(small_choice(protocol), parse(message), copies=[(1, 0)])["outcomes"]
        assert any(outcome[1] == 0 for outcome in seen + warm) is old
