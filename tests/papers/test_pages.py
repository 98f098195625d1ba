"""Do the tables of the fidelity page show what was measured?"""

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import gpucoh
from gpucoh.base.units import parse_bytes
from gpucoh.device.gpu import GPU
from gpucoh.papers import load, pages, papers, scorecard, study, verdicts
from gpucoh.papers.amounts import AMOUNTS
from gpucoh.papers.bars import shown_group
from gpucoh.papers.claims import DECLARED
from gpucoh.papers.descriptions import DESCRIBED
from gpucoh.papers.runs import Bench, missing_protocol, present
from gpucoh.papers.verdicts import verdict_table
from gpucoh.runs.runner import Run
from gpucoh.suite import workloads

ROOT = Path(__file__).parents[2]
STUDY = """
[[variant]]
title = "whole lines"
options = { no-l1 = { fill = "line" } }
column = true
[[variant]]
title = "bank"
options = { tc-strong = { stall = "bank" } }
claims = ["tc-10"]
[[variant]]
title = "two steps"
parameters = { stn = { steps = 2 } }
claims = ["tc-10"]
[[variant]]
title = "at another scale"
options = { no-l1 = { fill = "line" } }
column = true
claims = ["tc-12"]
scales = ["paper"]
[[bars]]
groups = ["inter", "intra"]
measures = ["speedup"]
protocols = ["no-l1", "no-coh", "tc-weak"]
[[bars]]
scales = ["tiny"]
groups = ["inter"]
measures = ["speedup", "traffic"]
protocols = ["no-coh", "tc-weak"]
each = true
baseline = "mesi"
means = ["all"]
machine = { cores = 4 }
[[bars]]
scales = ["paper"]
groups = ["intra"]
measures = ["speedup"]
protocols = ["mesi"]
[sizes]
group = "inter"
protocols = ["ideal"]
[[sizes.input]]
size = "8 KiB"
workload = "dlb"
parameters = { leaf = 10 }
[[sizes.input]]
size = "8 KiB"
workload = "stn"
parameters = { steps = 1 }
[[reason]]
claims = ["tc-12"]
scales = ["tiny"]
text = "measured: one thread polls"
[[reason]]
claims = ["tc-10"]
scales = ["paper"]
text = "at another scale"
"""


@pytest.fixture(scope="module")
def bench():
    return Bench("fermi", "tiny", seeds=(0, 1), jobs=2)


@pytest.fixture
def paper(monkeypatch):
    """Claims of one workload and of a group, and the study above."""
    monkeypatch.setattr(study, "study", lambda paper: study.read(STUDY))
    monkeypatch.setattr(pages, "study", study.study)
    tc = load("tc")
    groups = {"inter": ("dlb", "stn"), "intra": ("hsp",), "all": ("dlb", "stn", "hsp")}
    claims = tuple(
        replace(claim, workloads=groups.get(claim.group, claim.workloads))
        for claim in tc.claims
        if claim.id in ("tc-10", "tc-12", "tc-58")
    )
    return replace(tc, groups=groups, claims=claims)


def rows_of(table):
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_scorecard_has_the_range_and_a_column_for_a_variant(paper, bench):
    head, _, *rows = rows_of(pages.scorecard_table(paper, bench))
    assert head[:4] == ["claim", "figure", "of", "paper"]
    assert head[4:] == ["here", "agrees", "whole lines", "agrees", "cause"]
    assert [row[0] for row in rows] == [
        *("**behaviour**", "tc-10", "tc-12"),
        *("**declared**", "tc-58"),
    ]
    claim = scorecard(paper, bench)[1]
    sectors = scorecard(paper, bench.variant(options={"no-l1": {"fill": "line"}}))[1]
    assert claim.measured != sectors.measured
    assert rows[2][2] == "speedup: `tc-weak[lifetime=0]` / `no-l1`, dlb"
    low, high = (f"{value:.2f}" for value in claim.spread)
    ours = f"{claim.measured:.2f}"
    assert rows[2][4] == (ours if low == high else f"{ours} [{low} to {high}]")
    assert rows[2][6].startswith(f"{sectors.measured:.2f}")
    assert rows[4][4:6] == ["-", "not measured"]
    assert rows[4][8].startswith("not computed: buffer size")


def test_claims_about_behaviour_and_declared_ones_are_counted_apart(paper, bench):
    lines = pages.scorecard_table(paper, bench).splitlines()[:2]
    words = [verdict.agrees for verdict in scorecard(paper, bench) if verdict.kind == "behaviour"]
    listed = ", ".join(
        f"{words.count(word)} {word.replace('_', ' ')}"
        for word in ("size", "direction", "no", "not_measured")
    )
    declared = "1 declared (0 size, 0 direction, 0 no, 1 not measured)"
    assert lines[0] == f"- here: 3 claims: 2 behaviour ({listed}), {declared}."
    assert lines[1].startswith("- whole lines: 3 claims: 2 behaviour (")


def test_claims_that_are_declared_in_spite_of_their_measure_are_few():
    assert set(DESCRIBED) <= set(DECLARED)
    declared = {
        claim.id
        for name in papers()
        for claim in load(name).claims
        if claim.kind == "declared"
        and claim.measure not in DECLARED
        and claim.exact not in ("parameter", "cited")
    }
    chose_a_reading = {"stc-trans-8", "qr-apsp-wt-hit", "qr-fig5-extreme-a", "qr-fig5-extreme-b"}
    chose_a_reading |= {"qr-fig10-large-a", "qr-fig10-large-b"}
    assert declared == {"tc-58", *chose_a_reading}  # tc-58: sizes of buffers


def test_a_number_that_chose_a_reading_is_no_agreement_and_a_claim_in_other_words_counts_once(
    paper, bench
):
    first = next(claim for claim in paper.claims if claim.id == "tc-10")
    bench.get([(name, one) for name in first.workloads for one in ("tc-weak", "tc-strong")])
    exact = replace(first, value=scorecard(paper, bench, [first])[0].measured)
    chose = replace(exact, id="chose", kind="declared", by_outcome="stall")
    again, half = (replace(exact, id=name, shares="tc-10") for name in ("again", "half"))
    claims = (exact, chose, again, replace(half, value=2.0))
    text = pages.scorecard_table(replace(paper, claims=claims), bench)
    counted = "- here: 3 claims: 2 behaviour (1 size, 1 direction, 0 no, 0 not measured), "
    counted += "1 declared (0 size, 0 direction, 0 no, 1 by outcome, 0 not measured)."
    assert text.splitlines()[0] == counted
    assert verdicts.counts(scorecard(replace(paper, claims=claims), bench)) in counted
    assert [row[2].partition(" (")[2] for row in rows_of(text)[3:6]] == [
        *("", "counted as tc-10)", "number shared with tc-10)")
    ]


def test_the_columns_of_another_scale_are_kept(paper, bench):
    of_paper = replace(bench, scale="paper", seeds=(0,), left_out=("dlb", "stn", "hsp"))
    first = verdict_table(paper, bench, [], "")
    assert "here, scale paper" not in first
    both = verdict_table(paper, of_paper, [], first)
    head, _, *rows = rows_of(both)
    assert head[4:] == ["here", "agrees", "here, scale paper", "agrees", "cause"]
    assert [row[:6] for row in rows if row[1]] == [row[:6] for row in rows_of(first)[2:] if row[1]]
    again = rows_of(verdict_table(paper, bench, [], both))
    assert again == rows_of(both)


def test_workloads_that_take_too_long_are_left_out(paper, bench):
    shorter = replace(bench, seeds=(0,), left_out=("stn",))
    few = replace(paper, claims=tuple(claim for claim in paper.claims if claim.id == "tc-10"))
    (verdict,) = scorecard(few, shorter)
    assert verdict.workloads == ["dlb", "hsp"]
    assert "without stn (its runs take too long at this scale)" in verdict.reason
    (row,) = [row for row in rows_of(verdict_table(few, shorter, [], "")) if row[0] == "tc-10"]
    assert row[4] == f"{verdict.measured:.2f}, 2 of 3"
    (none,) = scorecard(few, replace(shorter, left_out=("dlb", "stn", "hsp")))
    assert (none.agrees, none.reason) == ("not_measured", "its runs take too long at this scale")
    assert "Not run, as they take too long: `stn`." in pages.origin(paper, shorter)


def test_tables_beside_the_claims_may_have_fewer_seeds(paper, bench):
    fewer = replace(bench, other_seeds=(1,))
    seeds = ", seeds 0, 1 (other columns and tables: seed 1); machine fermi;"
    assert seeds in pages.origin(paper, fewer)
    _, _, *rows = rows_of(pages.scorecard_table(paper, fewer))
    every = rows_of(pages.scorecard_table(paper, bench))
    assert [row[:6] for row in rows] == [row[:6] for row in every[2:]]
    (sectors,) = scorecard(
        paper,
        bench.variant(options={"no-l1": {"fill": "line"}}, seeds=(1,)),
        [claim for claim in paper.claims if claim.id == "tc-12"],
    )
    assert rows[2][6] == f"{sectors.measured:.2f}"
    assert not any(
        "to" in cell for row in rows_of(pages.bars_table(paper, fewer))[2:] for cell in row
    )


def test_a_variant_has_its_own_claims_only(paper, bench):
    _, _, *rows = rows_of(pages.variants_table(paper, bench))
    assert [row[:2] for row in rows] == [["bank", "tc-10"], ["two steps", "tc-10"]]
    assert rows[0][4] == rows[1][4]
    assert len({rows[0][4], rows[0][6], rows[1][6]}) == 3


def test_disagreements_have_the_reason_of_their_scale(paper, bench):
    disagreeing = {v.id: v for v in scorecard(paper, bench) if v.agrees == "no"}
    assert "tc-12" in disagreeing
    assert disagreeing["tc-12"].reason.endswith("measured: one thread polls")
    causes = {row[0]: row[-1] for row in rows_of(pages.scorecard_table(paper, bench))[2:]}
    assert causes["tc-12"] in ("measured: one thread polls", "no cause is recorded")
    assert study.reason_of("tc", "tc-10", "tiny") == ""
    assert study.reason_of("tc", "tc-10", "paper") == "at another scale"


def test_a_long_cause_of_several_claims_is_given_once(paper, bench, monkeypatch):
    claims = tuple(replace(paper.claims[1], id=f"claim-{number}") for number in range(2))
    twice = replace(paper, claims=claims)
    for cause, second in (("short", "short"), ("long" * 40, "as claim-0")):
        monkeypatch.setattr(verdicts, "reason_of", lambda paper, claim, scale, text=cause: text)
        found = {claim.id: ["1.00", "no"] for claim in claims}
        _, _, _, *rows = rows_of(verdicts.assembled(twice, {"small": (["here", "agrees"], found)}))
        assert [row[-1] for row in rows] == [cause, second]


def test_a_cause_at_scale_paper_says_so(paper, monkeypatch):
    texts = {"small": "polls", "paper": "recalls"}
    monkeypatch.setattr(verdicts, "reason_of", lambda paper, claim, scale: texts[scale])
    one = replace(paper, claims=paper.claims[:1])
    (claim,) = one.claims
    scales = {
        scale: ([name, "agrees"], {claim.id: ["1.00", "no"]})
        for scale, name in verdicts.HERE.items()
    }
    assert rows_of(verdicts.assembled(one, scales))[-1][-1] == "polls; scale paper: recalls"


def test_mean_bars_name_workloads_with_wrong_results(paper, bench):
    means = pages.bars_table(paper, bench).split("\n\n")[0]
    rows = {row[0]: row[1:] for row in rows_of(means)[2:]}
    assert rows["`no-l1`"][0].startswith("1.00")
    assert rows["`no-coh`"][1].startswith("1.00")
    assert bench.run("stn", "no-coh", 0).correct is False
    assert rows["`no-coh`"][0] == "-" or "of 2" in rows["`no-coh`"][0]
    assert set(rows) == {"`no-l1`", "`no-coh`", "`tc-weak`"}  # no table of another scale


def test_a_table_of_bars_may_have_a_row_for_every_workload(paper, bench):
    head, _, *rows = rows_of(pages.bars_table(paper, bench).split("\n\n")[1])
    measures = ["speedup", "traffic"]
    columns = [f"{of} `{name}`" for of in measures for name in ("no-coh", "tc-weak")]
    assert head == ["workload", *columns]
    assert [row[0] for row in rows] == ["dlb", "stn", "inter: mean", "all: mean"]
    four = bench.on({"cores": 4})

    def of_seeds(value):
        values = [
            value(*(four.run("dlb", name, s) for name in ("tc-weak", "mesi"))) for s in (0, 1)
        ]
        return f"{sum(values) / 2:.2f} [{min(values):.2f} to {max(values):.2f}]"

    assert rows[0][2] == of_seeds(lambda ours, base: base.cycles / ours.cycles)
    assert rows[0][4] == of_seeds(lambda ours, base: ours.stats.flits() / base.stats.flits())


def test_sizes_run_with_their_parameters_and_have_a_mean(paper, bench):
    _, _, *rows = rows_of(pages.sizes_table(paper, bench))
    assert [row[:2] for row in rows] == [
        ["8 KiB", "dlb"],
        ["8 KiB", "stn"],
        ["8 KiB", "mean of 2"],
    ]
    speedups = [float(row[2]) for row in rows]
    assert speedups[2] == pytest.approx(2 / (1 / speedups[0] + 1 / speedups[1]), abs=0.01)
    assert any(key[0] == "stn" and key[3] == (("steps", "1"),) for key in bench.done)


def tool_of_pages(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    spec = importlib.util.spec_from_file_location("fidelity", ROOT / "tools" / "fidelity.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


@pytest.mark.parametrize("name", papers())
def test_a_page_has_every_claim_once_and_a_cause_for_what_does_not_agree(name):
    text = (ROOT / "docs" / "fidelity" / f"{name}.md").read_text()
    part = text.split(f"<!-- verdicts {name} -->")[1].split("<!-- end -->")[0]
    head, _, *rows = rows_of(part)
    kinds, claims, kind = {}, load(name).claims, ""
    agrees = [place + 1 for place, title in enumerate(head) if title in verdicts.HERE.values()]
    for row in rows:
        kind = row[0].strip("*") if row[0].startswith("**") else kind
        if not row[0].startswith("**"):
            kinds[row[0]] = kind
            fails = any(row[place] in ("no", "not measured") for place in agrees)
            assert bool(row[-1]) == fails, row[0]
            assert row[-1] != "no cause is recorded", row[0]
    assert kinds == {claim.id: claim.kind for claim in claims}
    assert len(kinds) == len(rows) - 2


def test_the_overview_counts_the_verdicts_of_the_pages(monkeypatch):
    tool = tool_of_pages(monkeypatch)
    table = tool.summary(ROOT / "docs" / "fidelity")
    assert table in (ROOT / "docs" / "fidelity.md").read_text()
    rows = {tuple(row[:2]): row for row in rows_of(table)[2:]}
    for name in papers():
        text = (ROOT / "docs" / "fidelity" / f"{name}.md").read_text()
        part = text.split(f"<!-- verdicts {name} -->")[1].split("<!-- end -->")[0]
        head, _, *every = rows_of(part)
        kind = {claim.id: claim.kind for claim in load(name).claims}
        for scale, column in verdicts.HERE.items():
            if column not in head:
                continue
            words = [
                (kind[row[0]], row[head.index(column) + 1])
                for row in every
                if row[0] in kind and "counted as" not in row[2]
            ]
            expected = [
                words.count(("behaviour", word))
                for word in ("size", "direction", "no", "not measured")
            ]
            expected += [
                words.count(("declared", word))
                for word in ("size", "no", "by outcome", "not measured")
            ]
            assert [int(number) for number in rows[tool.NAMES[name], scale][3:-1]] == expected


@pytest.mark.parametrize("name", papers())
def test_the_shipped_study_names_what_exists(name):
    given, described = study.study(name), load(name)
    ids = {claim.id for claim in described.claims}
    for variant in given.variants:
        assert variant.claims or variant.column
        assert variant.options or variant.machine or variant.parameters
        for workload, changed in variant.parameters.items():
            workloads()[workload].setting("small", 0, changed)
        gpucoh.machine(described.machine).replace(**variant.machine)
        assert set(variant.claims) <= ids
        for protocol, options in variant.options.items():
            text = ",".join(f"{key}={value}" for key, value in options.items())
            assert not missing_protocol(f"{protocol}[{text}]")
    for table in given.bars:
        assert not [protocol for protocol in table.protocols if missing_protocol(protocol)]
        for group in (*table.groups, *table.means):
            for measure in table.measures:
                figure = table.figures.get(measure)
                of_none = (
                    figure is None and table.each and measure in AMOUNTS and measure != "speedup"
                )
                group_of = described.groups[group]
                assert of_none or shown_group(described, measure, figure or "", group_of), measure
    for names in given.too_long.values():
        assert set(names) <= set(described.groups["all"])
    for reason in given.reasons:
        assert set(reason.claims) <= ids
        assert reason.text
    for item in given.sizes.inputs if given.sizes else ():
        assert present([item.workload])
        assert shown_group(described, "speedup", given.sizes.figure, [item.workload])
        workloads()[item.workload].setting("small", 0, item.parameters)


@pytest.mark.parametrize(
    ("which", "chosen"), [("tc", ("0.5 MiB", "2 MiB")), ("rcc", ("0.67 MiB", "2.7 MiB"))]
)
def test_the_declared_sizes_are_near_those_of_the_arrays(which, chosen, monkeypatch):
    sizes, allocate = [], GPU._allocate

    class Stop(Exception):
        """Raised by the first launch."""

    def count(gpu, *given):
        array = allocate(gpu, *given)
        sizes.append(array.nbytes)
        return array

    def stop(*given, **named):
        raise Stop

    monkeypatch.setattr(GPU, "_allocate", count)
    monkeypatch.setattr(GPU, "launch", stop)
    inputs = [item for item in study.study(which).sizes.inputs if item.size in chosen]
    assert inputs
    for item in inputs:
        sizes.clear()
        with pytest.raises(Stop):
            Run(workload=item.workload, params=item.parameters).carry_out()
        assert sum(sizes) == pytest.approx(parse_bytes(item.size), rel=0.15), item


def test_the_tool_writes_the_blocks_of_one_paper_and_scale(paper, tmp_path, monkeypatch):
    tool = tool_of_pages(monkeypatch)
    monkeypatch.setattr(tool, "load", lambda name: paper)
    page, store = tmp_path / "page.md", tmp_path / "runs.parquet"
    page.write_text(
        "before\n<!-- verdicts tc -->\n<!-- end -->\n"
        "<!-- bars tc tiny -->\nold\n<!-- end -->\nprose\n<!-- bars tc paper -->\nkept\n<!-- end -->\n"
        "<!-- origin tc tiny -->\n<!-- end -->\nafter\n"
    )
    arguments = ["--scale", "tiny", "--seeds", "1", "--page", str(page), "--store", str(store)]
    monkeypatch.setattr(sys, "argv", ["fidelity.py", *arguments])
    tool.main()
    text = page.read_text()
    assert "old" not in text
    assert "kept" in text
    assert text.startswith("before\n<!-- verdicts tc -->\n- here: 3 claims: 2 behaviour (")
    assert "<!-- bars tc tiny -->\n| protocol |" in text
    assert text.endswith("<!-- end -->\nafter\n")
    assert re.search(r"Scale tiny, seed 0; machine fermi; gpucoh [\d.]+, code \w+; \d+ runs", text)
    tool.main()
    assert page.read_text() == text
