"""Does gpucoh hardware find what protocols can show of the outcomes that GPUs showed?"""

import importlib
import json
from pathlib import Path

import pytest

import gpucoh
from gpucoh.cli import call
from gpucoh.device.gpu import protocols, resolve
from gpucoh.hardware.forms import (
    are_scoped,
    exploration,
    explored,
    merged,
    normal,
    placements,
    representatives,
    stale_copies,
)
from gpucoh.hardware.study import study
from gpucoh.hardware.verdicts import KINDS, Verdict, of_families, pairs_of, summarise
from gpucoh.hardware.works import Explore, Repeat
from gpucoh.litmus.hardware import facts
from gpucoh.machines import machine
from gpucoh.verify.explorer import explore, small_choice
from gpucoh.verify.programs import parse
from products import share

FERMI = machine("fermi")
SCOPED = (
    "0: st.relaxed.{0} x 1; F.{0}; st.release.{0} y 1; ld x | 1: ld.acquire.{0} y; ld.relaxed.{0} x"
)
FORBIDDEN = "wrc.0_1_2.gpu.rel+acq"


def verdict(test, word="shown", **more):
    return Verdict(protocol="mesi", rule="rc", test=test, verdict=word, by="runs", **more)


# ---- normal forms


@pytest.mark.parametrize(
    "name", share([name for name, item in protocols().items() if not item.scopes], one_in=8)
)
def test_a_protocol_without_scopes_takes_cta_as_gpu(name):
    """Its states and moves are the same."""
    found = [
        explore(small_choice(name), parse(SCOPED.format(scope)), evictions=0, max_states=1500)
        for scope in ("cta", "gpu")
    ]
    keys = ("states", "transitions", "outcomes")
    assert [found[0][key] for key in keys] == [found[1][key] for key in keys]


def test_programs_that_a_protocol_does_not_distinguish_are_explored_once():
    mesi, hrf = (are_scoped(resolve(name).protocol, FERMI) for name in ("mesi", "gpu-hrf"))
    assert are_scoped(resolve("mesi").protocol, FERMI.replace(block_fences_free=1))
    local, device = (exploration(f"wrc.0_12.cta.F12.{scope}").program for scope in ("cta", "gpu"))
    assert normal(local, mesi) == normal(device, mesi)
    assert normal(local, hrf) != normal(device, hrf)
    assert explored(local, mesi, "sc").size == local.size - 2
    assert representatives(mesi, "rc")["wrc.0_12.cta.F12.gpu"] == "wrc.0_12.cta.F12.cta"


@pytest.mark.parametrize(
    "name", share([name for name, item in protocols().items() if "sc" in item.models], one_in=5)
)
def test_orders_and_scopes_do_not_matter_under_sc(name):
    programs = [
        "0: st.relaxed x 1; st.relaxed y 1; ld.relaxed x | 1: ld.relaxed y; ld.relaxed x",
        "0: st.sc.cta x 1; st.release y 1; ld x | 1: ld.acquire.cta y; ld.sc x",
    ]
    found = [
        explore(small_choice(name), parse(text), consistency="sc", evictions=0, max_states=1500)
        for text in programs
    ]
    keys = ("states", "transitions", "outcomes")
    assert [found[0][key] for key in keys] == [found[1][key] for key in keys]
    assert explored(parse(programs[1]), True, "sc").threads == parse(programs[0]).threads


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("iriw.01_2_3.gpu.F1.gpu", "iriw.0_1_23.gpu.F3.gpu"),
        ("2+2w.0_1.gpu.F0+rel.gpu", "2+2w.0_1.gpu.rel+F1.gpu"),
    ],
)
def test_a_program_is_explored_for_its_mirror_image(one, other):
    """The image has as many states, and the same condition means the same outcome."""
    pair = [normal(exploration(name).program, True) for name in (one, other)]
    assert str(pair[0]) != str(pair[1])
    assert len({merged(program, one.partition(".")[0]) for program in pair}) == 1
    found = [
        explore(small_choice("ideal"), program, evictions=0, max_states=100_000) for program in pair
    ]
    assert found[0]["complete"]
    assert found[0]["states"] == found[1]["states"]
    shown = [
        any(
            exploration(name).test.condition.matches(exploration(name).final(row))
            for row in item["outcomes"]
        )
        for name, item in zip((one, other), found, strict=True)
    ]
    assert shown[0] == shown[1]


def test_blocks_are_placed_on_cores_in_every_way():
    cores = [
        [thread.core for thread in program.threads]
        for program in placements(exploration("wrc.0_1_2.gpu.rlx").program)
    ]
    assert cores == [[0, 1, 2], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 0, 0]]
    assert len(list(placements(exploration("iriw.0_1_2_3.gpu.rlx").program))) == 15


# ---- verdicts


def test_a_verdict_is_compared_with_the_facts():
    kinds = {
        "wrc.0_1_2.gpu.rlx": ("explained", "missed"),
        "wrc.0_1_2.gpu.acq+acq": ("excess", "absent"),
        FORBIDDEN: ("forbidden", "absent"),
        "iriw.02_1_3.cta.rlx": ("void", "void"),
    }
    assert {test: (verdict(test).kind, verdict(test, "never").kind) for test in kinds} == kinds
    assert verdict(FORBIDDEN, "failed").kind == "failed"


def test_an_outcome_that_no_run_showed_has_a_bound():
    assert verdict(FORBIDDEN, "not seen", runs=1000).bound == pytest.approx(0.00299, rel=0.01)
    assert verdict(FORBIDDEN, "never").bound == verdict(FORBIDDEN, runs=9).bound == 0


def test_a_summary_counts_every_test_once():
    (found,) = summarise(verdict(test) for test in facts())
    assert found.kinds["forbidden"] == 65
    assert found.recall == 1
    assert found.strong == 27
    assert sum(found.kinds.values()) == len(facts())
    assert list(found.kinds) == list(KINDS)


# ---- the measurement


def test_explorations_and_runs_agree_with_what_is_known():
    tests = ["2+2w.0_1.gpu.rlx", "2+2w.0_1.gpu.F01.gpu", "wrc.0_1_2.gpu.rlx"]
    found = study([("mesi", "rc"), ("mesi", "sc")], tests, FERMI, None)
    assert [item.verdict for item in found] == ["shown", "never", "shown", *["never"] * 3]
    assert {item.by for item in found} == {"exploration"}
    found = study([("mesi", "rc")], tests[:2], FERMI, None, states=50, runs=400)
    assert [(item.verdict, item.by) for item in found] == [("shown", "runs"), ("not seen", "runs")]
    assert 0 < found[0].count < found[0].runs < found[1].runs == 400  # ends once it is shown


def test_copies_of_what_is_read_as_before_are_there_at_first():
    """gpu-hrf reads a copy at scope cta; its own cores' copies of what they read again would hide the outcome."""
    test = "wrc.0_1_2.cta.rlx"
    assert stale_copies(test, exploration(test).program) == {(2, 0)}
    (found,) = study([("gpu-hrf", "hrf")], [test], FERMI, None)
    assert (found.verdict, found.where.endswith("(warm)")) == ("shown", True)


def test_an_interrupted_measurement_continues(tmp_path, monkeypatch):
    path, tests = tmp_path / "store.parquet", ["2+2w.0_1.gpu.rlx", "2+2w.0_1.gpu.F01.gpu"]
    first = study([("no-l1", "rc")], tests, FERMI, path, states=200, runs=100)
    for work in (Explore, Repeat):
        monkeypatch.setattr(work, "carry_out", None)  # nothing is carried out again
    assert study([("no-l1", "rc")], tests, FERMI, path, states=200, runs=100) == first


def test_a_planted_forbidden_outcome_is_found(mutant_gpucoh):
    from gpucoh.hardware.study import study
    from gpucoh.machines import machine

    for name, kind in (("gpu-vi!store-without-invalidations", "forbidden"), ("gpu-vi", "absent")):
        (found,) = study([(name, "rc")], [FORBIDDEN], machine("fermi"), None, states=5000, runs=50)
        assert found.kind == kind


# ---- options of the core


@pytest.mark.parametrize(
    ("test", "option", "without"),
    [
        ("2+2w.0_1.gpu.F01.cta", "block_fences_free", "missed"),
        ("wrc.012.cta.F12.cta", "word_order", "forbidden"),
        ("isa2.01_2.gpu.F0+rel+acq.cta", "fence_drains", "excess"),
        ("2+2w.0_1.gpu.rlx", "relaxed_unordered", "missed"),
    ],
)
def test_every_option_of_h100_like_is_needed(test, option, without):
    like = machine("h100-like")
    kinds = [
        study([("gpu-hrf", "hrf")], [test], given, None, runs=100)[0].kind
        for given in (like, like.replace(**{option: 0}))
    ]
    assert kinds == ["explained" if facts()[test].seen else "absent", without]


@pytest.mark.parametrize(("workload", "protocol"), [("uts", "gpu-hrf"), ("dlb", "mesi")])
def test_warps_that_wait_for_other_warps_go_on(workload, protocol):
    assert gpucoh.run(workload, protocol=protocol, machine="h100-like", scale="tiny").correct


# ---- the command


def test_the_command_prints_a_row_for_each_protocol_and_rule(capsys, tmp_path):
    arguments = ["hardware", "-p", "no-l1", "--family", "paper1", "--states", "100", "--runs", "50"]
    folder = tmp_path / "figures"
    assert call([*arguments, "--out", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[1:3]] == [
        ["no-l1", "sc", "SC"],
        ["no-l1", "rc", "RC-MCA"],
    ]
    assert (folder / "hardware.svg").stat().st_size > 1000
    assert call([*arguments, "-c", "rc", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [item["test"] for item in found["verdicts"]] == of_families(["paper1"])
    assert found["summaries"][0]["not_seen"] == 2


def test_the_page_has_a_row_for_each_protocol_and_rule(tmp_path, monkeypatch):
    """Whatever the order of the files is; the later one counts."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "tools"))
    page = importlib.import_module("hardware_page")
    files = []
    for number, name in enumerate(("mesi", "no-l1", "mesi")):
        word = "shown" if number == 2 else "never"
        found = Verdict(protocol=name, rule="rc", test="wrc.0_1_2.gpu.rlx", verdict=word, by="runs")
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(json.dumps({"verdicts": [found.to_dict()]}))
    rows = [page.row(item) for item in summarise(page.read(files))]
    assert rows == [
        ("`no-l1`", "`rc`", "RC-MCA", "0", "0", "0%", "0", "0", "1", "0"),
        ("`mesi`", "`rc`", "RC-MCA", "0", "0", "100%", "1", "0", "0", "0"),
    ]


def test_bad_input_is_refused(refused):
    assert "unknown family 'wrcs'" in refused("hardware", "--family", "wrcs")
    assert "does not support consistency 'sc'" in refused("hardware", "-p", "tc-weak", "-c", "sc")
    assert pairs_of(["mesi"], None) == [("mesi", "sc"), ("mesi", "rc")]
