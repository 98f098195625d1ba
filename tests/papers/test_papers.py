"""Are a paper's claims read whole, measured as they say, and its figures drawn from our own runs?"""

import json
from dataclasses import replace

import matplotlib.image
import pytest

import gpucoh
from gpucoh.cli import call
from gpucoh.papers import load, papers
from gpucoh.papers.figures import FIGURES, chosen
from gpucoh.papers.runs import Bench
from gpucoh.papers.scorecard import agreement, scorecard

TC = load("tc")
CLAIM = next(claim for claim in TC.claims if claim.id == "tc-01")
FIELDS = {
    "id",
    "paper",
    "figure",
    "measure",
    "subject",
    "baseline",
    "workloads",
    "claimed",
    "measured",
}
FIELDS |= {"agrees", "reason"}


@pytest.fixture(scope="module")
def verdicts():
    """A card of few workloads: stencils, and one with communication."""
    groups = {"inter": ("stn",), "intra": ("hsp", "rg"), "all": ("stn", "hsp", "rg")}
    claims = tuple(
        replace(claim, workloads=groups[claim.group]) if claim.group else claim
        for claim in TC.claims
    )
    paper = replace(TC, groups=groups, claims=claims)
    return {verdict.id: verdict for verdict in scorecard(paper, Bench("fermi", "tiny", jobs=2))}


def test_every_claim_has_what_it_needs():
    for name in papers():
        paper = load(name)
        assert len({claim.id for claim in paper.claims}) == len(paper.claims)
        for claim in paper.claims:
            assert claim.says
            if claim.exact == "qualitative":
                assert claim.direction in ("above", "below", "equal")
            else:
                assert claim.value is not None


def test_groups_are_the_papers():
    assert set(TC.groups["inter"]) | set(TC.groups["intra"]) == set(TC.groups["all"])
    assert len(TC.groups["all"]) == 12


@pytest.mark.parametrize(
    ("value", "measured", "expected"),
    [
        (1.85, 1.80, "size"),
        (1.85, 1.96, "direction"),
        (1.85, 1.005, "no"),
        (1.85, 0.9, "no"),
        (0.44, 0.54, "size"),
        (0.44, 0.98, "direction"),
        (0.44, 1.02, "no"),
    ],
)
def test_a_stated_number_agrees_in_size_in_direction_or_not(value, measured, expected):
    assert agreement(replace(CLAIM, value=value), measured) == expected


@pytest.mark.parametrize(
    ("direction", "measured", "expected"),
    [
        ("above", 1.02, "direction"),
        ("above", 1.005, "no"),
        ("below", 0.98, "direction"),
        ("below", 1.2, "no"),
        ("equal", 1.09, "direction"),
        ("equal", 0.85, "no"),
    ],
)
def test_a_direction_agrees_or_not(direction, measured, expected):
    assert agreement(replace(CLAIM, value=None, direction=direction), measured) == expected


def test_every_claim_has_a_verdict_and_what_is_not_measured_a_reason(verdicts):
    assert set(verdicts) == {claim.id for claim in TC.claims}
    for verdict in verdicts.values():
        assert (verdict.measured is None) == (verdict.agrees == "not_measured")
        assert verdict.measured is not None or verdict.reason


def test_parameters_are_not_measured(verdicts):
    for claim in TC.claims:
        if claim.exact == "parameter" or claim.value is claim.direction is None:
            assert verdicts[claim.id].agrees == "not_measured"


def test_a_measured_speedup_is_that_of_the_runs(verdicts):
    ours, base = (gpucoh.run("stn", protocol=p, scale="tiny").cycles for p in ("ideal", "no-l1"))
    assert verdicts["tc-02"].measured == pytest.approx(base / ours)
    assert verdicts["tc-02"].workloads == ["stn"]


def test_the_state_counts_are_the_papers(verdicts):
    for name in ("tc-52", "tc-53", "tc-54", "tc-55"):
        assert verdicts[name].agrees == "size", verdicts[name]


def test_figures_use_protocols_and_groups_that_exist():
    for name, specs in FIGURES.items():
        for spec in specs:
            for group in spec.groups:
                assert group in load(name).groups or group in load(name).groups["all"]
            assert spec.baseline in spec.protocols


def test_a_figure_is_chosen_by_its_number_with_or_without_its_letter():
    assert [spec.id for spec in chosen("tc", "7")] == ["7a", "7b"]
    assert [spec.id for spec in chosen("tc", "fig7b")] == ["7b"]
    assert len(chosen("tc", None)) == len(FIGURES["tc"])


def test_reproduce_draws_a_figure_with_its_numbers(tmp_path, capsys):
    status = call(["reproduce", "tc", "1b", "--scale", "tiny", "--out", str(tmp_path), "--json"])
    (drawn,) = json.loads(capsys.readouterr().out)
    assert (status, drawn["figure"]) == (0, "1b")
    assert matplotlib.image.imread(tmp_path / "tc-1b.png")[..., :3].std() > 0.05
    data = json.loads((tmp_path / "tc-1b.json").read_text())
    assert (data["baseline"], data["paper"]) == ("no-coh", "tc")
    assert len(data["summary"]) == 6 * 3
    assert (tmp_path / "tc-1b.csv").read_text().count("\n") == 1 + 6 * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("reproduce", "ct"), "unknown paper 'ct'; papers are tc"),
        (("reproduce", "tc", "99"), "has no figure '99'"),
        (("reproduce", "tc", "--scale", "huge"), "tiny, small, paper"),
        (("reproduce", "tc", "--jobs", "0"), "jobs = 0"),
        (("scorecard", "ct"), "unknown paper"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    status = call(arguments)
    out = capsys.readouterr()
    assert (status, out.out) == (2, "")
    assert message in out.err
    assert out.err.count("\n") == 1


def test_a_verdict_is_as_the_interface_says(verdicts):
    assert set(verdicts["tc-01"].to_dict()) >= FIELDS
    json.dumps([verdict.to_dict() for verdict in verdicts.values()], allow_nan=False)
