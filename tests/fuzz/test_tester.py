"""Does the random tester pass correct protocols, find wrong ones, and report what it found?"""

from __future__ import annotations

import itertools
import json
import re

import pytest

import gpucoh
from gpucoh.cli import call
from gpucoh.device.coverage import coverage_of
from gpucoh.fuzz import fuzz, fuzz_many
from products import rows, share

# Planted bugs (csrc/protocols/*/planted.c) that this tester finds soon; `make pages` lists what finds the others.
CAUGHT = [
    "no-l1!atomic-not-performed",
    "no-l1!fill-over-store",
    "ideal!late-load-merges",
    "gpu-vi!w2",
    "gpu-vi!inv-ack-dropped",
    "gpu-vi!recall-loses-data",
    "gpu-vi!one-ack-less",
    "gpu-vini!writeback-lost",
    "mesi!silent-exclusive-eviction",
    "mesi!writeback-overtakes-unblock",
    "mesi!reader-leaves-memory-behind",
    "tc-strong!w2",
    "tc-strong!reader-passes-waiting-store",
    "tc-weak!w2",
    "tc-weak!fence-ignores-gwct",
    "tc-weak!gwct-not-noted",
]

RIGHT = [name for name, one in gpucoh.protocols().items() if "none" not in one.models.values()]


@pytest.mark.parametrize("name", share(RIGHT, one_in=5))
def test_a_protocol_is_right_under_every_rule_that_it_keeps(name):
    reports = fuzz_many([name], ops=5_000, every_rule=True, shrink=False)
    assert {report.consistency for report in reports} == set(gpucoh.protocols()[name].models)
    for report in reports:
        assert report.failures == []
        assert report.ops >= 5_000


def test_an_incoherent_protocol_fails_and_the_failure_is_reported_and_short():
    report = fuzz("no-coh", ops=4000, seed=3)
    assert not report.counts
    (failure,) = report.failures
    assert failure["episodes"] <= 6
    assert failure["program"][0] == "launch 0"
    assert "state" in failure["trace"][0]
    assert any("act_hit" in line for line in failure["trace"])


def test_the_same_seed_gives_the_same_report():
    reports = [fuzz("mesi", ops=3000, seed=5).to_dict() for _ in range(2)]
    for report in reports:
        del report["seconds"]
    assert reports[0] == reports[1]


@pytest.mark.parametrize("name", share(CAUGHT, one_in=4))
def test_a_planted_bug_is_found(mutant_gpucoh, name):
    from gpucoh.fuzz import fuzz as fuzz_with_bugs

    report = fuzz_with_bugs(name, ops=60_000, shrink=False)
    assert report.failures, f"{name} not found in {report.ops} operations"


def test_a_planted_bug_is_shrunk_to_a_few_operations(mutant_gpucoh):
    from gpucoh.fuzz import fuzz as fuzz_with_bugs

    (failure,) = fuzz_with_bugs("gpu-vi!w2", ops=20_000).failures
    assert failure["ops"] <= 16


# ---- coverage


def test_protocols_declare_cells_and_ranges_that_exist():
    for name, known in gpucoh.protocols().items():
        for item in known.uncovered:
            table = known.controllers[item.table]
            cells = {(cell.state, cell.event) for cell in table.cells()}
            for state in item.states:
                assert any((state, event) in cells for event in item.events), (name, state)
            assert set(item.events) <= set(table.events)
            assert set(item.rules) <= set(known.models)
            assert len(item.reason) > 20
        for option in known.options.values():
            for value in (option.small, *(option.fuzz or ())):
                assert value is None or option.smallest <= value <= option.largest
            assert not option.fuzz or option.fuzz[0] < option.fuzz[1]


def test_a_cell_is_uncovered_under_the_rules_that_its_protocol_declares():
    for known in gpucoh.protocols().values():
        for rule in known.models:
            coverage = coverage_of(known, rule)
            for item in known.uncovered:
                pairs = set(itertools.product(item.states, item.events))
                assert (pairs <= set(coverage[item.table].reasons)) == (rule in (item.rules or [rule]))  # fmt: skip


def test_coverage_counts_each_possible_cell_once():
    coverage = coverage_of(gpucoh.protocols()["gpu-vi"], "rc")["L2"]
    report = coverage.to_dict()
    assert report["visited"] == 0
    assert report["reachable"] + len(report["unreachable"]) == len(report["cells"])


def test_a_short_run_enters_most_cells_and_none_that_is_called_unreachable():
    for report in fuzz_many(["gpu-vi", "tc-weak"], ops=30_000, shrink=False):
        for table in report.coverage.values():
            assert table.surprises == []
            assert len(table.visited) >= 0.8 * len(table.reachable)


def test_constant_words_are_loaded_as_read_only_ones():
    coverage = fuzz("denovo-ro", ops=2000, seed=5).coverage["L1"]
    assert coverage.surprises == []
    assert {("I", "LOAD_RO"), ("VO", "LOAD_RO"), ("VO", "BEGIN")} <= set(coverage.visited)


# ---- the command


def test_the_command_tells_json(capsys):
    assert call(["fuzz", "-p", "ideal", "--ops", "2000", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["protocol"] == "ideal"
    assert report["failures"] == []
    assert report["ops"] >= 2000
    assert set(report["coverage"]) == {"L1", "L2"}
    assert {"visited", "reachable", "cells"} <= set(report["coverage"]["L1"])


def test_a_protocol_that_promises_nothing_fails_without_a_bad_exit_status(capsys, tmp_path):
    file = tmp_path / "failures.jsonl"
    arguments = [
        "fuzz",
        "-p",
        "no-coh",
        "--ops",
        "1000",
        "--seed",
        "3",
        "--no-shrink",
        "--save",
        str(file),
    ]
    assert call(arguments) == 0
    assert "failed" in capsys.readouterr().out
    assert json.loads(file.read_text().splitlines()[0])["failure"]["kind"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    rows(
        [
            (["-p", "tc-wek"], "did you mean 'tc-weak'"),
            (["-p", "tc-weak", "-c", "sc"], "does not support consistency 'sc'"),
            (["-p", "ideal", "--ops", "0"], "ops = 0"),
            (["-p", "ideal", "--seconds", "-1"], "seconds = -1"),
            (["-p", "ideal", "--seed", "-1"], "seed = -1"),
            (["-p", ","], "names no protocol"),
            ([], "--protocol"),
        ],
        one_in=4,
    ),
)
def test_bad_input_is_one_line_and_status_2(arguments, message, refused):
    assert message in refused("fuzz", *arguments)


# ---- the trace of a line


def test_a_trace_tells_steps_and_messages_of_its_line_only_while_it_is_on():
    import numpy as np

    @gpucoh.kernel
    def store(x: gpucoh.Buffer[gpucoh.i32]):
        i = gpucoh.global_id()
        x[i] = i + 1

    gpu = gpucoh.GPU(protocol="mesi")
    x = gpu.zeros(256, np.int32)
    with gpu.trace(x, 33, records=100) as trace:
        gpu.launch(store, grid=2, block=128, args=(x,))
    lines = trace.life()
    assert lines[0].split() == [
        "cycle",
        "where",
        "state",
        "event",
        "next",
        "copy",
        "message",
        "what",
    ]
    assert any(re.search(r"L1 +0 +I +STORE +IM", line) for line in lines)
    assert any(re.search(r"sends +GETX", line) for line in lines)
    assert any(" 22 " in line for line in lines), "34, in hexadecimal, was stored to the word"
    gpu.launch(store, grid=2, block=128, args=(x,))
    assert trace.life() == lines


def test_a_launch_that_waits_for_many_epochs_is_no_failure():
    assert not fuzz("stc-nv", ops=4000, seed=3).failures  # 7,000 cycles per memory instruction
