"""Are a paper's claims read whole, measured as they say, and its figures drawn from our own runs?"""

import json
import statistics
from dataclasses import replace

import matplotlib.image
import pytest

import gpucoh
from gpucoh.cli import call
from gpucoh.papers import TableSpec, load, papers, reproduce
from gpucoh.papers.catalogue import FIGURES
from gpucoh.papers.counts import COUNTS, Count
from gpucoh.papers.figures import _panels, chosen
from gpucoh.papers.runs import START_SKEW, Bench, bench_of, missing_protocol, with_options
from gpucoh.papers.scorecard import scorecard, wanted_runs
from products import rows

TC = load("tc")
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
FIELDS |= {"agrees", "reason", "spread"}


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
                assert (
                    claim.direction in ("above", "below", "equal", "at_most", "at_least")
                    or claim.value == 0
                )
            else:
                assert claim.value is not None


@pytest.mark.parametrize(
    ("name", "groups"), [("denovo", ["all"]), ("stc", ["all"]), ("qr", ["all", "frequent"])]
)
def test_every_claim_that_names_workloads_can_be_measured(name, groups):
    paper = load(name)
    wanted = set(wanted_runs(paper, bench_of(paper, scale="tiny")))
    named = {workload for group in groups for workload in paper.groups[group]}
    assert {workload for workload, _ in wanted} == named
    assert not [one for one in {protocol for _, protocol in wanted} if missing_protocol(one)]
    others = {claim.id for claim in paper.claims if claim.measure == "other" and claim.workloads}
    assert others == set(COUNTS[name])


def test_groups_are_the_papers():
    assert set(TC.groups["inter"]) | set(TC.groups["intra"]) == set(TC.groups["all"])
    assert len(TC.groups["all"]) == 12


def test_every_claim_has_a_verdict_and_what_is_not_measured_a_reason(verdicts):
    assert set(verdicts) == {claim.id for claim in TC.claims}
    for verdict in verdicts.values():
        assert (verdict.measured is None) == (verdict.agrees == "not_measured")
        assert verdict.measured is not None or verdict.reason


def test_parameters_are_not_measured(verdicts):
    for claim in TC.claims:
        if claim.exact == "parameter" or claim.value is claim.direction is None:
            assert verdicts[claim.id].agrees == "not_measured"


def skewed(workload, protocol, seed=0):
    """A run as the scorecard's, whose seed delays blocks."""
    return gpucoh.run(workload, protocol, scale="tiny", seed=seed, set={"start_skew": START_SKEW})


def test_a_measured_speedup_is_that_of_the_runs(verdicts):
    ours, base = (skewed("stn", p).cycles for p in ("ideal", "no-l1"))
    assert verdicts["tc-02"].measured == pytest.approx(base / ours)
    assert verdicts["tc-02"].workloads == ["stn"]


def subset(*ids):
    """The paper with these claims, over two workloads of each group."""
    groups = {"inter": ("stn", "dlb"), "intra": ("hsp", "rg"), "all": ("stn", "dlb", "hsp", "rg")}
    claims = tuple(
        replace(claim, workloads=groups.get(claim.group, claim.workloads))
        for claim in TC.claims
        if claim.id in ids
    )
    return replace(TC, groups=groups, claims=claims)


def harmonic(values):
    return len(values) / sum(1 / value for value in values)


def test_a_group_claim_is_the_ratio_of_mean_bars_of_the_runs():
    bench = Bench("fermi", "tiny", jobs=2)
    (verdict,) = scorecard(subset("tc-10"), bench)
    bars = {
        protocol: harmonic(
            [
                bench.run(name, base, 0).cycles / bench.run(name, protocol, 0).cycles
                for name, base in (
                    *(("stn", "no-l1"), ("dlb", "no-l1")),
                    *(("hsp", "no-coh"), ("rg", "no-coh")),
                )
            ]
        )
        for protocol in ("tc-weak", "tc-strong")
    }
    assert verdict.measured == pytest.approx(bars["tc-weak"] / bars["tc-strong"])
    assert verdict.spread is None


def test_several_seeds_give_the_median_and_the_range():
    (verdict,) = scorecard(subset("tc-12"), Bench("fermi", "tiny", seeds=(3, 4, 5), jobs=2))
    values = [
        skewed("dlb", "no-l1", seed).cycles / skewed("dlb", "tc-weak[lifetime=0]", seed).cycles
        for seed in (3, 4, 5)
    ]
    assert len(set(values)) == 3
    assert verdict.measured == statistics.median(values)
    assert verdict.spread == [min(values), max(values)]
    assert verdict.seeds == [3, 4, 5]


def test_a_workload_that_is_wrong_with_one_seed_is_left_out():
    bench = Bench("fermi", "tiny", seeds=(0, 1), jobs=2)
    paper = subset("tc-01")
    scorecard(paper, bench)
    key = next(key for key in bench.done if key[:3] == ("dlb", "tc-weak", 1))
    bench.done[key] = replace(bench.done[key], correct=False)
    (verdict,) = scorecard(paper, bench)
    assert verdict.workloads == ["stn"]
    assert verdict.reason.startswith("without dlb (tc-weak: wrong)")


def test_a_variant_changes_the_protocols_of_a_claim_and_keeps_the_others():
    bench = Bench("fermi", "tiny", jobs=2)
    paper = subset("tc-10", "tc-12")
    default = scorecard(paper, bench)
    variant = scorecard(paper, bench.variant(options={"tc-strong": {"stall": "bank"}}))
    assert ("stn", "tc-strong[stall=bank]", 0, (), ()) in bench.done
    assert default[0].measured != variant[0].measured
    assert default[1].measured == variant[1].measured
    assert with_options("tc-strong[stall=line]", {"tc-strong": {"stall": "bank"}}) == (
        "tc-strong[stall=line]"
    )


def test_parameters_change_the_runs_and_are_part_of_their_key():
    bench = Bench("fermi", "tiny", jobs=2)
    small = bench.variant(parameters={"stn": {"steps": 1}})
    for one in (bench, small):
        one.get([("stn", "no-l1")])
    assert small.run("stn", "no-l1", 0).cycles < bench.run("stn", "no-l1", 0).cycles
    assert len(bench.done) == 2


def test_a_claim_and_a_figure_may_be_about_another_machine():
    bench, fields = Bench("fermi", "tiny", jobs=2), {"cores": 4}
    (claim,) = subset("tc-12").claims
    paper = replace(TC, claims=(claim, replace(claim, id="tc-12-4", machine=fields)))
    every, few = scorecard(paper, bench)
    ours, base = (bench.on(fields).run("dlb", name, 0) for name in (claim.subject, claim.baseline))
    assert few.measured == pytest.approx(base.cycles / ours.cycles)
    assert few.measured != every.measured
    assert (ours.configuration["cores"], ours.machine) == (4, "fermi")
    (spec,) = chosen("tc", "1a")
    panels = _panels(subset("tc-02"), [spec, replace(spec, id="4", machine=fields)], bench)
    means = [panels[name][0].means["speedup"]["ideal"] for name in ("1a", "4")]
    assert len(set(means)) == 2


def test_a_count_may_need_runs_on_another_machine_too(monkeypatch):
    def slower(claim, workloads, runs):
        few, every = (one["dlb", claim.subject] for one in (runs.on({"cores": 4}), runs))
        return few.cycles / every.cycles

    count = Count(protocols=("no-l1",), measure=slower, text="", also_on=({"cores": 4},))
    monkeypatch.setitem(COUNTS["tc"], "tc-12", count)
    paper, bench = subset("tc-12"), Bench("fermi", "tiny")
    paper = replace(paper, claims=(replace(paper.claims[0], subject="no-l1"),))
    (verdict,) = scorecard(paper, bench)
    cycles = [one.run("dlb", "no-l1", 0).cycles for one in (bench.on({"cores": 4}), bench)]
    assert verdict.measured == cycles[0] / cycles[1]


def test_a_parameter_may_take_the_runs_seed():
    bench = Bench("fermi", "tiny", seeds=(1, 2), seeded=("n", "steps"), jobs=2)
    bench.get([("stn", "no-l1"), ("fam_l", "no-l1")])
    assert [bench.run("stn", "no-l1", seed).params["steps"] for seed in (1, 2)] == [1, 2]
    given = bench.variant(parameters={"stn": {"steps": 3}})
    given.get([("stn", "no-l1")])
    assert given.run("stn", "no-l1", 1).params["steps"] == 3


def test_the_state_counts_are_the_papers(verdicts):
    for name in ("tc-52", "tc-53", "tc-54", "tc-55"):
        assert verdicts[name].agrees == "size", verdicts[name]


def test_figures_use_protocols_and_groups_that_exist():
    for name, specs in FIGURES.items():
        for spec in specs:
            if isinstance(spec, TableSpec):
                assert spec.rows(load(name))
                continue
            for group in spec.groups:
                assert group in load(name).groups or group in load(name).groups["all"]
            assert spec.baseline in ("", *spec.protocols)
            assert spec.measures


def test_a_figure_is_chosen_by_its_number_with_or_without_its_letter():
    assert [spec.id for spec in chosen("tc", "7")] == ["7a", "7b"]
    assert [spec.id for spec in chosen("tc", "fig7b")] == ["7b"]
    assert len(chosen("tc", None)) == len(FIGURES["tc"])


@pytest.mark.parametrize(
    ("figure", "claim"), rows([("10a", "tc-10"), ("10b", "tc-27"), ("7b", "tc-07b")], one_in=4)
)
def test_a_figures_mean_bars_are_those_of_the_claims(figure, claim, tmp_path):
    paper, bench = subset(claim), Bench("fermi", "tiny", jobs=2)
    (verdict,) = scorecard(paper, bench)
    (drawn,) = reproduce(paper, chosen("tc", figure), bench, tmp_path)
    means = {row["protocol"]: row[verdict.measure] for row in drawn["means"]}
    assert means[verdict.subject] / means[verdict.baseline] == pytest.approx(verdict.measured)
    assert means[drawn["baseline"]] == pytest.approx(1)


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
    rows(
        [
            (("reproduce", "ct"), "unknown paper 'ct'; allowed: tc, rcc, denovo, stc, qr"),
            (("reproduce", "tc", "99"), "unknown figure '99'"),
            (("reproduce", "tc", "--scale", "huge"), "tiny, small, paper"),
            (("reproduce", "tc", "--jobs", "0"), "jobs = 0"),
            (("scorecard", "ct"), "unknown paper"),
            (("scorecard", "ct", "--readings"), "unknown paper"),
            (("scorecard", "tc", "--readings", "--replace", "mesi=mesi"), "contradict each other"),
            (
                ("scorecard", "tc", "--out", "x"),
                "--out is an option of gpucoh scorecard --readings",
            ),
            (("scorecard", "tc", "--seeds", "0"), "the number of seeds is 1 to 1000"),
            (("scorecard", "tc", "--seeds", "a,b"), "a list of seeds (0,1,2)"),
            (("scorecard", "tc", "--seeds", "1,2", "--seed", "3"), "contradict"),
            (("scorecard", "tc", "--store", "nowhere/x.parquet"), "does not exist"),
        ],
        one_in=4,
    ),
)
def test_bad_input_is_one_line_and_status_2(arguments, message, refused):
    assert message in refused(*arguments)


def test_a_verdict_is_as_the_interface_says(verdicts):
    assert set(verdicts["tc-01"].to_dict()) >= FIELDS
    json.dumps([verdict.to_dict() for verdict in verdicts.values()], allow_nan=False)
