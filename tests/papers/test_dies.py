"""Is docs/dies.md its store, the store what runs give, and its study what claims and readings ask for?"""

import dataclasses
import importlib
import random
import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gpucoh.device.gpu import protocols, resolve
from gpucoh.machines import machine
from gpucoh.runs.keys import keys_of
from gpucoh.runs.runner import Run
from gpucoh.studies.matrices import Description
from gpucoh.studies.study import study_row
from gpucoh.suite import workloads

ROOT = Path(__file__).parents[2]
STORE = ROOT / "studies" / "dies-tables.parquet"
SOURCES = ("package", "hmg", "cpelide", "lrm")
CHEAP = 0.3  # processor seconds of a run that is repeated


@pytest.fixture(scope="module")
def described():
    return Description(ROOT / "studies" / "dies.toml")


@pytest.fixture(scope="module")
def rows():
    found = pd.read_parquet(STORE)
    found["matrix"] = found["matrix"].str.split(",")
    return found.explode("matrix", ignore_index=True)


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("dies_claims")


@pytest.fixture
def sources(tools):
    return {name: tools.load(name) for name in SOURCES}


def test_runs_drawn_by_the_commit_repeat_the_stored_ones(described, rows, tools):
    pages = tomllib.loads((ROOT / "benchmarks" / "pages.toml").read_text(encoding="utf-8"))
    if "docs/dies.md" in pages["older"]:
        pytest.skip("benchmarks/pages.toml declares the page older than the counters")
    plan = described.plan()
    names = ["workload", "protocol", "seed"]
    runs = {
        (matrix, *(plan.columns[key][name] for name in names)): run
        for key, run in plan.runs.items()
        for matrix in plan.places[key]
    }
    cheap = rows[rows["cpu_s"].lt(CHEAP) & rows["error"].isna()]
    draw = random.Random(importlib.import_module("shown").commit())
    for place in draw.sample(range(len(cheap)), 4):
        row = cheap.iloc[place]
        run = dataclasses.replace(
            runs[row["matrix"], *(row[name] for name in names)], scale=row["scale"]
        )
        (key,) = keys_of([run])
        fresh = study_row(run, key)
        kept = [name for name in rows if name.startswith(("links_", "flits"))]
        for name in ("cycles", "correct", *kept):
            if pd.notna(row[name]):
                assert fresh[name] == row[name], (name, row["matrix"], row["workload"])


def test_a_mean_of_the_page_follows_from_the_store(rows):
    part = rows[rows["matrix"].eq("package") & rows["error"].isna() & rows["correct"].ne(False)]
    cycles = part.pivot_table(index=["workload", "seed"], columns="protocol", values="cycles")
    logs = np.log(cycles["mcm"] / cycles["hmg"]).dropna()
    mean = np.exp(logs.groupby("workload").mean().mean())
    text = (ROOT / "docs" / "dies.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- speedups over mcm -->\n(.*?)<!-- end -->", text, re.DOTALL)[1]
    (line,) = (one for one in table.splitlines() if one.startswith("| `hmg` |"))
    assert line.split("|")[-2].split()[0] == f"{mean:.2f}"


def test_no_run_of_the_store_is_wrong(rows):
    assert rows["correct"].ne(False).all()


def test_claims_have_a_source_and_a_number_or_a_direction(sources):
    for source in sources.values():
        for claim in source.paper.claims:
            assert claim.where, claim.id
            limited = claim.direction in ("at_most", "at_least")
            assert (claim.value is None) != (claim.direction is None) or limited, claim.id


def test_claims_name_workloads_that_their_matrix_runs(described, sources):
    known = workloads()
    matrices = {one["name"]: one for one in described.matrices}
    for source in sources.values():
        for claim in source.paper.claims:
            listed = matrices[source.matrix_of(claim)]["workloads"]
            missing = [one for one in claim.workloads if one in known and one not in listed]
            assert not missing, claim.id


def test_every_other_value_of_a_reading_runs_alone(described, tools, sources):
    matrices = tools.Matrices({str(one["name"]): one for one in described.matrices})
    for source in sources.values():
        found = [
            (one.reading.id, one.text) for one in tools.universes(source, source.matrix, matrices)
        ]
        asked = [(one.id, one.text(place)) for one in source.readings for place in one.places()]
        assert found == asked


def test_the_value_in_use_of_a_reading_is_the_machines_or_the_protocols(described, sources):
    matrices = {one["name"]: one for one in described.matrices}
    for source in sources.values():
        (name,) = matrices[source.matrix]["machines"]
        for reading in source.readings:
            for field, values in reading.machine.items():
                assert getattr(machine(name), field) == values[0], (source.paper.id, field)
            for workload, given in reading.parameters.items():
                in_use = {parameter: values[0] for parameter, values in given.items()}
                assert in_use.items() <= described.parameters[workload].items(), workload
            for option, values in reading.options.items():
                for touched in set(reading.touches) & set(protocols()):
                    assert resolve(touched).protocol.options[option].default == values[0], option


def test_a_matrix_runs_for_a_claim_or_a_reading(described, tools, sources):
    matrices = tools.Matrices({str(one["name"]): one for one in described.matrices})
    used = {matrices.without_near(name) for name in matrices.given} - {None}
    for source in sources.values():
        used |= {source.matrix_of(claim) for claim in source.paper.claims}
        used |= {*source.against.values(), *source.than.values()}
        used |= {one.matrix for one in tools.universes(source, source.matrix, matrices)}
        named = [text for one in source.paper.claims for text in (one.subject, one.baseline)]
        used |= {
            name
            for name, one in matrices.given.items()
            if matrices.base(name) == source.matrix and set(one["protocols"]) & set(named)
        }
    assert set(matrices.given) == used


def row(matrix, protocol, cycles, seed=0):
    name = protocol.partition("[")[0]
    return {"matrix": matrix, "workload": "bfs", "protocol": protocol, "protocol_id": name} | {
        "cycles": cycles,
        "seed": seed,
    }


@pytest.fixture
def measured(tools, described):
    """What a store of the rows that a test gives has measured."""

    def make(*rows):
        out = tools.Measured.__new__(tools.Measured)
        out.matrices = tools.Matrices({str(one["name"]): one for one in described.matrices})
        out.rows = pd.DataFrame(rows)
        return out

    return make


def test_what_a_reading_leaves_alone_is_taken_from_the_matrix_that_it_is_like(measured):
    measured = measured(
        row("package", "flush", 100),
        row("package", "hmg", 50),
        row("package", "hmg", 10, seed=1),
        row("package-region-1", "hmg[region_lines=1]", 25),
        row("package-split", "hmg", 20),
    )

    def speedup(matrix):
        return measured.ratio(matrix, "hmg", "flush", "cycles", ["bfs"]).value

    assert speedup("package") == pytest.approx(2)
    assert speedup("package-region-1") == pytest.approx(4)
    assert np.isnan(
        speedup("package-split")
    )  # another machine: nothing of the package's runs counts


@pytest.fixture
def two_machines(measured):
    """HMG gains 1.5 by the larger L2, MCM 1.2."""
    return measured(
        row("hmg", "hmg", 20),
        row("hmg", "mcm", 30),
        row("hmg-l2", "hmg[directory_entries=768]", 30),
        row("hmg-l2", "mcm", 36),
        row("hmg-noc", "hmg", 1),
    )


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("hmg-09", 1.5, "speedup: `hmg` / `hmg` at `l2_kib=24`, all"),
        ("hmg-09-mcm", 1.25, "speedup: `hmg` / `mcm`, all, over that at `l2_kib=24`"),
        ("hmg-09-sw-hier", None, "speedup: `hmg` / `sw-hier`, all, over that at `l2_kib=24`"),
    ],
)
def test_a_claim_about_two_machines_is_measured_on_both(
    tools, two_machines, sources, name, value, text
):
    source = sources["hmg"]
    claim = next(one for one in source.paper.claims if one.id == name)
    found = tools.verdict(two_machines, source, claim)
    if value is None:  # no run of one of the two
        assert found is None
    else:
        assert found.mean.by_workload == {"bfs": pytest.approx(value)}
        assert list(found.under) == [tools.IN_USE]  # one of two machines has no other reading
    assert tools.compared(source, claim, two_machines.matrices) == text


def test_what_a_matrix_names_comes_before_the_same_protocol_with_options(measured):
    measured = measured(row("lrm", "lrm", 30), row("lrm", "lrm[sync_entries=64]", 20))
    assert list(measured.of("lrm", "lrm")["cycles"]) == [30]
    assert list(measured.of("lrm", "lrm[sync_entries=64]")["cycles"]) == [20]


def test_a_reading_of_an_option_touches_claims_that_name_another_where_both_run(tools, measured):
    def claim(subject, baseline):
        return tools.Claim(
            id="", figure="", says="", where="", exact="qualitative", kind="behaviour", mean="geometric",
            measure="speedup", subject=subject, baseline=baseline, workloads=("bfs",), group="",
        )  # fmt: skip

    countdown = next(one for one in tools.load("lrm").readings if one.id == "countdown")
    region = next(one for one in tools.load("hmg").readings if one.id == "region")
    stored = measured(
        row("lrm", "mcm", 40),
        row("lrm", "mcm[merge=on]", 30),
        row("lrm-countdown", "mcm[merge=on,merge_cycles=128]", 20),
    )

    def touched(reading, matrix, subject, baseline):
        return tools.touches(reading, claim(subject, baseline), stored.matrices, matrix)

    assert touched(countdown, "lrm-countdown", "mcm[merge=on]", "mcm")
    assert touched(countdown, "lrm-countdown", "lrm[merge=on]", "hmg")
    assert touched(region, "hmg-region-1", "hmg", "mcm")
    smaller, larger = "hmg[directory_entries=192]", "hmg[region_lines=8]"
    assert not touched(region, "hmg-region-1", smaller, "hmg")
    assert not touched(region, "hmg-region-1", larger, "hmg[region_lines=1]")
    found = stored.ratio("lrm-countdown", "mcm[merge=on]", "mcm", "cycles", ["bfs"])
    assert found.value == pytest.approx(2)  # over mcm as in use, which has no option


def test_most_of_the_workloads_do_not_exceed_the_value_of_a_claim_about_most(measured):
    def one(name, sharers, seed=0):
        return row("hmg", "hmg", 1, seed) | {"workload": name, "sharers": sharers}

    stored = measured(
        *(one(name, at) for name, at in zip("abcde", (0, 9, 4, 2, 8), strict=True)),
        one("c", 2, seed=1),
        one("f", np.nan),
    )
    found = stored.most("hmg", "hmg", "sharers", "abcdef")
    assert found.by_workload == {"a": 0, "b": 9, "c": 3, "d": 2, "e": 8}
    assert (found.value, found.missing) == (3, ("f",))
    assert 0 <= found.low <= found.value <= found.high <= 9
    alone = stored.most("hmg", "hmg", "sharers", "b", seeds={0})
    assert alone.value == 9
    assert np.isnan(alone.low)


def test_sharers_and_bandwidth_of_invalidations_are_those_of_a_run(tools, measured, sources):
    run = Run(workload="bfs", protocol="hmg", machine="hmg4x4-eighth", scale="tiny")
    (key,) = keys_of([run])
    amounts = importlib.import_module("dies_amounts")
    (found,) = amounts.with_invalidations(pd.DataFrame([study_row(run, key)])).to_dict("records")
    result = run.carry_out()
    l2, traffic = result.stats.counters["L2"], result.stats.traffic["INV"]
    assert found["sharers_by_store"] == l2.inv_by_store / l2.invalidating_stores >= 1
    assert np.isnan(found["sharers_by_eviction"])  # the directory is not full
    assert l2.invalidating_evictions == 0
    seconds = result.cycles / machine(run.machine).core_mhz / 1e6
    assert found["inv_gb_s"] == pytest.approx(traffic.bytes / seconds / 1e9)
    stored = measured(row("hmg", "hmg", result.cycles) | found | {"protocol": "hmg"})
    claim = next(one for one in sources["hmg"].paper.claims if one.id == "hmg-06-store")
    mean = tools.verdict(stored, sources["hmg"], claim).mean
    assert mean.by_workload == {"bfs": pytest.approx(found["sharers_by_store"])}


def test_the_larger_l2_has_the_directory_of_the_smaller_one(described):
    """The directory's default grows with the L2: the matrix of figure 13 gives it its size."""
    (given,) = (one for one in described.matrices if one["name"] == "hmg-l2")
    default, larger = (
        Run(
            workload="vec-cpy",
            protocol=protocol,
            machine="hmg4x4-eighth",
            scale="tiny",
            set=changes,
        )
        for protocol, changes in (("hmg", {}), (given["protocols"][-1], given["set"]))
    )
    one, other = (run.carry_out().stats.storage.L2.directory for run in (default, larger))
    assert one.entries == other.entries > 0


@pytest.mark.parametrize(
    ("ends", "under", "said"),
    [
        ((1.03, 1.2), (1.1, 1.01), ("gains", "")),
        ((0.8, 0.97), (0.9, 0.99), ("loses", "")),
        ((0.99, 1.01), (1.0, 0.985), ("equal", "")),
        ((1.03, 1.2), (1.1, 0.9), ("open", "readings")),
        ((0.97, 1.2), (1.1, 1.2), ("open", "workloads")),
        ((0.97, 1.2), (1.1, 0.9), ("open", "readings and workloads")),
        ((np.nan, np.nan), (1.1, 1.2), ("open", "workloads")),  # one workload has no interval
    ],
)
def test_hmg_gains_where_workloads_and_every_reading_are_on_one_side_of_1(tools, ends, under, said):
    page = importlib.import_module("dies_page")
    mean = page.Mean(value=under[0], low=ends[0], high=ends[1], by_workload={})
    found = tools.Verdict(claim=None, mean=mean, under=dict(enumerate(under)))
    assert page.side(found) == said
