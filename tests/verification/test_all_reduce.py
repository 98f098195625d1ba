"""Does docs/all-reduce.md say what runs, explorations and PTX say of its program and of each change?"""

import tomllib
from importlib import import_module
from types import ModuleType

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
    form, machine = case.removeprefix("LOW_LATENCY").split(" ")
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


@pytest.mark.parametrize(
    "bug",
    [
        "no-l1!requests-unordered",
        "gpu-vi!requests-unordered",
        "mcm!between-unordered",
        "flush!between-unordered",
    ],
)
def test_two_stores_need_the_order_of_their_network_and_8_bytes_need_none(
    mutant_gpucoh: ModuleType, bug: str
) -> None:
    explorer, programs = (
        import_module(f"{mutant_gpucoh.__name__}.verify.{name}")
        for name in ("explorer", "programs")
    )
    for model, torn in (("pair", False), ("halves", True)):
        text, wrong = tool.MODELS[model]
        program = programs.parse(
            text.replace(" x", " y"), model
        )  # y: of die 1, where there are two
        found = explorer.explore(explorer.small_choice(bug), program)
        assert found["complete"]
        assert any(tool.read_of(program, one) in wrong for one in found["outcomes"]) is torn


@needs_nvcc
@pytest.mark.parametrize("what", share(list(ROWS), one_in=4))
def test_checks_end_as_noted(what: str) -> None:
    for form, end in ROWS[what]["check"].items():
        form = form.replace("LOW_LATENCY", "")
        assert tool.ran(ROWS[what], form, tool.CHECKED_UNDER, tool.CHECKED_ON, True) == end


def test_the_race_detector_reports_what_ptx_does_not_promise() -> None:
    rows = [row for row in ROWS.values() if "ptx" in row and row.get("program") != "low_latency"]
    for row in rows:
        assert ("race" in row["check"].values()) is not row["ptx"], row["what"]
