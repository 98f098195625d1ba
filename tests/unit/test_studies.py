"""Does a study's store continue after anything, and do its tables count what failed, is wrong or cannot run?"""

import contextlib
import importlib
import itertools
import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import gpucoh
from dask_cluster import dask_cluster
from gpucoh.base.errors import ConfigError, Note
from gpucoh.cli.program import call
from gpucoh.runs import keys
from gpucoh.runs.keys import keys_of
from gpucoh.runs.runner import Run
from gpucoh.studies import tabulation
from gpucoh.studies.matrices import Description, Settings, SharingRun
from gpucoh.studies.study import study_row

STUDY = """
title = "Small"
bounds = ["no-coh", "ideal"]
[paper_machines]
Sinclair = "mesh15"
[[matrix]]
name = "all"
protocols = ["mesi", "tc-weak", "no-coh", "ideal"]
workloads = ["vec-cpy", "fg-share"]
scale = "tiny"
seeds = [0, 1]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text=STUDY, name="small.toml"):
    with open(name, "w") as file:
        file.write(text)
    return name


def same(one, other):
    """Check that all tables of two studies are equal."""
    for name, table in tabulation.TABLES.items():
        assert_frame_equal(table(one), table(other), obj=name)


@pytest.mark.long
def test_a_study_is_run_once_and_its_tables_need_the_store_alone(folder):
    write()
    tables = gpucoh.study("small.toml", jobs=2)
    assert len(tables.rows) == 20  # 2 workloads x (4 protocols + the baseline) x 2 seeds
    again = gpucoh.study("small.toml", run=False)
    same(tables, again)
    times = pd.read_parquet("small.parquet").wall_s.tolist()
    gpucoh.study("small.toml")
    assert times == pd.read_parquet("small.parquet").wall_s.tolist()  # nothing ran again


def test_a_wrong_run_is_a_cell_that_says_so_and_enters_no_mean(folder):
    write()
    tables = gpucoh.study("small.toml", jobs=2)
    cells = tables.cells.set_index(["protocol", "workload"])
    wrong = cells.loc["no-coh", "fg-share"]
    assert (wrong.status, wrong.good, wrong.failed) == ("wrong", 0, 2)
    assert np.isnan(wrong.speedup)
    means = tables.speedup().set_index("protocol")
    assert (means.workloads["no-coh"], means.missing["no-coh"]) == (1, 1)
    assert (means.workloads["mesi"], means.missing["mesi"]) == (2, 0)
    assert set(tables.failures().workload) == {"fg-share"}


def test_a_failed_run_is_a_cell_and_is_repeated_only_on_demand(folder):
    write(STUDY + "set = {budget = 3000}\n")
    tables = gpucoh.study("small.toml", jobs=2)
    cells = tables.cells.set_index(["protocol", "workload"])
    assert cells.status["mesi", "fg-share"] == "hung"
    assert cells.status["mesi", "vec-cpy"] == "correct"
    assert set(tables.failures().error) == {"BudgetError"}
    assert (tables.speedup().workloads == 1).all()
    times = pd.read_parquet("small.parquet").wall_s.tolist()
    gpucoh.study("small.toml")
    assert times == pd.read_parquet("small.parquet").wall_s.tolist()


def test_what_a_protocol_cannot_do_is_a_named_gap(folder):
    write(STUDY.replace("seeds = [0, 1]", 'consistencies = ["own", "sc"]'))
    tables = gpucoh.study("small.toml", jobs=2)
    gaps = tables.gaps()
    assert list(zip(gaps.protocol, gaps.consistency, strict=True)) == [("tc-weak", "sc")]
    assert "does not support consistency" in gaps["where"][0]
    # A second command writes the same gaps, not more.
    assert len(gpucoh.study("small.toml").gaps()) == 1
    sc = tables.cells[tables.cells.matrix == "all/sc"]
    assert set(sc[sc.status != "gap"].consistency) == {"sc"}


def test_the_baseline_runs_under_its_own_rule_where_it_has_not_the_forced_one(folder):
    text = STUDY.replace('["mesi", "tc-weak", "no-coh", "ideal"]', '["denovo-drf", "gpu-drf"]')
    write(text.replace("seeds = [0, 1]", 'consistencies = ["drf"]'))
    cells = gpucoh.study("small.toml", jobs=2).cells
    rules = cells[cells.status != "gap"].groupby("protocol").consistency.first().to_dict()
    assert rules == {"no-l1": "rc", "denovo-drf": "drf", "gpu-drf": "drf"}
    assert cells[cells.status != "gap"].speedup.notna().all()


def test_each_protocol_runs_on_its_papers_machine_and_references_on_all(folder):
    text = STUDY.replace('"mesi", "tc-weak", "no-coh", "ideal"', '"mesi", "denovo-drf", "ideal"')
    write(text + 'machines = ["paper"]\n')
    rows = gpucoh.study("small.toml", jobs=2).rows
    found = rows.groupby("protocol").machine.unique().apply(sorted).to_dict()
    both = ["fermi", "mesh15"]
    assert found == {"mesi": ["fermi"], "denovo-drf": ["mesh15"], "ideal": both, "no-l1": both}


def test_a_run_of_two_matrices_runs_once(folder):
    second = '[[matrix]]\nname = "again"\nprotocols = ["mesi"]\nworkloads = ["vec-cpy"]\nscale = "tiny"\nseeds = [1]\n'
    write(STUDY + second)
    tables = gpucoh.study("small.toml", jobs=2)
    assert len(tables.rows) == 22
    assert tables.rows.key.nunique() == 20


def test_a_matrix_is_like_another_where_it_says_nothing_else(folder):
    more = '[[matrix]]\nname = "{}"\nlike = "{}"\nseeds = [2]\nset = {{ l1_kib = 32 }}\n'
    write(STUDY + "set = { cores = 4 }\n" + more.format("larger", "all"))
    plan = Description("small.toml").plan(["larger"])
    runs = [run for run in plan.runs.values() if not isinstance(run, SharingRun)]
    assert {(run.seed, *sorted(run.set.items())) for run in runs} == {
        (2, ("cores", 4), ("l1_kib", 32))
    }
    assert {run.workload for run in runs} == {"vec-cpy", "fg-share"}
    for other in ("al", "second"):
        text = more.format("second", other)
        with pytest.raises(ConfigError, match="unknown matrix that another is like"):
            Description(write(STUDY + text))


def test_a_row_has_the_messages_bytes_and_waiting_cycles_of_all_links():
    for place, on in (("dies", "mcm4-quarter"), ("gpus", "two-gpus"), (None, "fermi")):
        run = Run(workload="bfs", protocol="mcm", machine=on, scale="tiny")
        row = study_row(run, keys_of([run])[0])
        found = {name: value for name, value in row.items() if name.startswith("links_")}
        links = (run.carry_out().stats.get("links") or {}).values()
        names = ("messages", "bytes", "waiting_cycles") if place else ()
        assert found == {f"links_{place}_{name}": sum(one[name] for one in links) for name in names}
        assert all(found.values())


def test_a_row_has_the_counters_that_its_protocol_declares():
    run = Run(workload="bfs", protocol="nhcc", machine="mcm4-quarter", scale="tiny")
    row = study_row(run, keys_of([run])[0])
    found = {name: value for name, value in row.items() if name.startswith("counters_")}
    declared = run.carry_out().stats.counters["L2"]
    assert found == {f"counters_L2_{name}": value for name, value in declared.items()}
    assert found["counters_L2_inv_by_store"] > 0


def test_rows_that_the_file_no_longer_lists_leave_the_tables(folder):
    write()
    gpucoh.study("small.toml", jobs=2)
    write(STUDY.replace('"tc-weak", ', ""))
    assert "tc-weak" not in set(gpucoh.study("small.toml").rows.protocol)
    write()
    assert "tc-weak" in set(gpucoh.study("small.toml").rows.protocol)


def test_rows_of_other_code_that_are_kept_stay_in_the_tables(folder, monkeypatch):
    write(STUDY.replace("seeds = [0, 1]", "seeds = [0]"))
    with monkeypatch.context() as older:
        older.setattr(keys, "code_digest", lambda *_: "other")
        old = gpucoh.study("small.toml", jobs=2)
    with pytest.warns(Note, match="12 rows are of other code: kept"):
        kept = gpucoh.study("small.toml", keep_old=True)
    assert set(kept.rows.code) == {"other"}
    same(kept, old)
    with pytest.warns(Note, match="12 rows are of other code: run again"):
        assert "other" not in set(gpucoh.study("small.toml", jobs=2).rows.code)


def test_a_killed_study_continues_with_the_same_tables(folder):
    write()
    whole = gpucoh.study("small.toml", store="whole.parquet", jobs=1)
    child = os.fork()
    if not child:  # dies without a word in the middle
        with contextlib.suppress(BaseException):
            gpucoh.study("small.toml", jobs=1)
        os._exit(0)
    while not (os.path.exists("small.parquet") or os.path.exists("small.parquet.journal")):
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    same(gpucoh.study("small.toml", jobs=1), whole)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_whose_worker_is_killed_gives_the_same_tables(folder):
    write()
    whole = gpucoh.study("small.toml", store="whole.parquet", jobs=1)
    with dask_cluster(2) as (_, client):
        pids = client.run(os.getpid)
        assert len(pids) == 2
        killed = []

        class Killing:
            """The client's executor, which kills a worker after the fifth run that it takes."""

            def __init__(self):
                self.executor, self.taken = client.get_executor(), 0

            def submit(self, *given, **more):
                future = self.executor.submit(*given, **more)
                self.taken += 1
                if self.taken == 5:
                    killed.append(next(iter(pids.values())))
                    os.kill(killed[0], signal.SIGKILL)
                return future

        tables = gpucoh.study("small.toml", Killing())
        assert killed
    same(tables, whole)


def test_a_protocols_file_is_found_from_the_studys_folder(folder):
    assert call(["new-protocol", "studied"]) == 0
    os.mkdir("elsewhere")
    write(STUDY.replace('"mesi", "tc-weak", "no-coh", "ideal"', '"./studied.c"'))
    os.chdir("elsewhere")
    tables = gpucoh.study("../small.toml", jobs=2)
    assert set(tables.rows.protocol) == {"no-l1", "studied"}


def test_pairs_are_ratios_of_the_runs_of_both(folder):
    write(
        '[[pair]]\nidea = "lease"\nwhat = "longer"\nwithout = "tc-strong[lifetime=100]"\nwith = "tc-strong"\n'
        'rule = "rc"\ndiffers = ["option lifetime"]\n',
        "pairs.toml",
    )
    write(
        'pairs = "pairs.toml"\n[[matrix]]\nname = "pairs"\npairs = true\nworkloads = ["bfs", "stn"]\nscale = "tiny"\n'
        "seeds = [0, 1]\n"
    )
    tables = gpucoh.study("small.toml", jobs=2)
    (row,) = tables.pairs().to_dict("records")
    rows = tables.rows.set_index(["workload", "seed", "protocol"]).cycles
    ratios = [
        [rows[w, s, "tc-strong[lifetime=100]"] / rows[w, s, "tc-strong"] for w in ("bfs", "stn")]
        for s in (0, 1)
    ]
    assert row["effect"] == pytest.approx(np.exp(np.log(ratios).mean()))
    assert row["low"] <= row["effect"] <= row["high"]
    assert (row["workloads"], row["failed"]) == (2, 0)


def test_parameters_of_the_file_reach_every_matrix_and_those_of_a_matrix_come_first(folder):
    second = (
        '[[matrix]]\nname = "again"\nprotocols = []\nworkloads = ["fg-share"]\nscale = "tiny"\n'
    )
    write(
        "[workload.fg-share]\nturns = 3\naudits = false\n"
        + second
        + second.replace("again", "more")
        + "workload = {fg-share = {turns = 5}}\n"
    )
    runs = Description("small.toml").plan().runs.values()
    found = [run.params for run in runs if not isinstance(run, SharingRun)]
    assert found == [{"turns": 3, "audits": False}, {"turns": 5, "audits": False}]


def test_scaling_has_a_row_for_each_number_of_cores(folder):
    write(STUDY.replace("seeds = [0, 1]", "cores = [4, 16]"))
    table = gpucoh.study("small.toml", jobs=2).scaling()
    assert sorted(table[table.protocol == "mesi"].cores) == [4, 16]


def test_energy_of_both_decades_is_the_models(folder):
    write()
    tables = gpucoh.study("small.toml", jobs=2)
    run = gpucoh.run("vec-cpy", protocol="mesi", scale="tiny")
    row = tables.rows[(tables.rows.protocol == "mesi") & (tables.rows.workload == "vec-cpy")]
    total = tabulation.joules(row, "2013").sum(axis=1).iloc[0]
    assert total == pytest.approx(run.stats.energy.total)
    assert tabulation.joules(row, "2024").sum(axis=1).iloc[0] < total
    assert (tables.energy("2024").total > 0).all()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (STUDY.replace('"mesi"', '"messi"'), "did you mean 'mesi'"),
        (STUDY.replace("bounds", "bound"), "unknown entry 'bound'"),
        (STUDY.replace("seeds = [0, 1]", "seed = [0, 1]"), "unknown entry 'seed'"),
        (STUDY.replace("seeds = [0, 1]", 'consistencies = ["rcc"]'), "rcc"),
        (STUDY.replace('"all"', '"a/b"'), "needs a name of its own"),
        (STUDY.replace('"vec-cpy"', '"vec-copy"'), "vec-copy"),
        (STUDY + "pairs = true\n", "has protocols and pairs = true"),
        (STUDY + "pairs = 'pairs.toml'\n", "is not true or false"),
        (STUDY + "tuning = true\n", "has protocols and tuning = true"),
        ("[[matrix]]\nname = 'a'\ntuning = true\n", "needs [[tuning]]"),
        ("tuning = 1\n" + STUDY, "tuning = 1 is not a list of tables: [[tuning]]"),
        ("tuning = [{what = 'lease'}]\n" + STUDY, "has no candidates"),
        ("tuning = [{what = 'lease', candidates = ['src']}]\n" + STUDY, "fewer than two"),
        (STUDY + "cores = [4]\ngrow = ['name']\n", "grow = 'name' is no whole number of fermi"),
        (STUDY + "cores = [3]\ngrow = ['partitions']\n", "does not grow in proportion to 3"),
        ("[[matrix]]\nname = 'a'\npairs = true\n", "needs pairs = FILE.toml"),
        ("title = 'x'\n", "a study needs a matrix"),
        ('energy = "1999"\n' + STUDY, "1999"),
        ("matrix = [1]\n", "is not a table: [[matrix]]"),
        (STUDY.replace('"all"', "3"), "a name is text in quotes"),
        (STUDY.replace("seeds = [0, 1]", "seeds = []"), "matrix all lists no run"),
        (STUDY + 'without = ["*"]\n', "matrix all lists no run"),
        ("sharing = {measure = 'no'}\n" + STUDY, "measure = 'no' is not true or false"),
        ("workload = {bfs = {races = 'weak'}}\n" + STUDY, "study has parameters of a workload"),
        (STUDY + "workload = {bfs = {races = 'weak'}}\n", "matrix all has parameters of a workl"),
        (STUDY + "workload = {fg-share = 1}\n", "workload.fg-share = 1 is not a table"),
        (STUDY + "workload = {fg-share = {audit = 1}}\n", "audit"),
    ],
)
def test_a_mistake_in_the_file_is_one_line_before_any_run(folder, refused, text, problem):
    write(text)
    assert problem in refused("study", "small.toml")


@pytest.mark.long
def test_the_command_runs_shows_and_draws(folder, capsys, monkeypatch, refused):
    monkeypatch.delenv("COLUMNS", raising=False)  # of a narrow terminal, which folds cells
    write()
    assert call(["study", "small.toml", "--jobs", "2"]) == 0
    assert capsys.readouterr().out == "20 runs, 0 failed, 2 wrong, 0 gaps, in small.parquet\n"
    assert call(["study", "small.toml", "--show", "heat", "--show", "classes"]) == 0
    shown = capsys.readouterr().out
    assert "wrong" in shown
    assert "migratory" in shown
    assert call(["study", "small.toml", "--show", "regret", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["regret"][0]["matrix"] == "all"
    for decade in ("2013", "2024"):
        given = ["--show", "energy", "--show", "pairs", "--energy", decade, "--json"]
        assert call(["study", "small.toml", *given]) == 0
        shown = json.loads(capsys.readouterr().out)["energy"]
        stored = gpucoh.study("small.toml", run=False, energy=decade).energy()
        assert [row["total"] for row in shown] == pytest.approx(stored.total.tolist())
        assert (
            stored.total.tolist()
            == gpucoh.study("small.toml", run=False).energy(decade).total.tolist()
        )
    every = [name for table in tabulation.TABLES for name in ("--show", table)]
    assert call(["study", "small.toml", "--matrix", "all", "-m", "fermi", *every]) == 0
    assert "vec-cpy" in capsys.readouterr().out
    assert "unknown matrix of the store 'al'" in refused(
        "study", "small.toml", "--matrix", "al", "--show", "gaps"
    )
    assert "unknown machine of the store 'apu'" in refused(
        "study", "small.toml", "-m", "apu", "--figures", "drawn"
    )
    assert "--machine needs --show or --figures" in refused(
        "study", "small.toml", "--machine", "fermi"
    )
    assert call(["study", "small.toml", "--figures", "drawn"]) == 0
    assert {"heat.png", "speedup.pdf", "regret.svg", "traffic.png", "energy.png"} <= set(
        os.listdir("drawn")
    )


def test_a_sample_estimates_what_is_missing_and_keeps_its_rows(folder, capsys):
    write()
    assert call(["study", "small.toml", "--sample", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["all"]["runs"], found["all"]["sample"]) == (20, 3)
    assert len(pd.read_parquet("small.parquet")) == 3 + 2  # and two measurements of sharing


def test_without_rows_there_is_nothing_to_show(folder, refused):
    write()
    assert "there are no rows yet" in refused("study", "small.toml", "--show", "speedup")
    write("", "empty.parquet")
    with pytest.raises(ConfigError, match="not a result file"):
        gpucoh.study("small.toml", run=False, store="empty.parquet")


def synthetic(runs):
    """Rows as a study has them: 3 seeds, 25 protocols, machines and workloads."""
    draw = np.random.default_rng(1)
    cells = list(
        itertools.product(range(3), [f"p{i}" for i in range(25)], ["fermi", "apu"], range(70))
    )[:runs]
    table = pd.DataFrame(cells, columns=["seed", "protocol", "machine", "workload"])
    table["workload"] = "w" + table["workload"].astype(str)
    size = len(table)
    names = [f"counter_{number}" for number in range(90)]
    counts = pd.DataFrame(draw.integers(0, 10**9, (size, len(names))), columns=names)
    counts = counts.assign(
        key=[f"{number:024x}-{'0' * 12}" for number in range(size)],
        protocol_id=table["protocol"],
        error=None,
        where="",
        cycles=draw.integers(1000, 10**6, size),
        flits=draw.integers(1000, 10**6, size),
        flits_REQ=draw.integers(0, 10**5, size),
        flits_LD=draw.integers(0, 10**5, size),
        term_l1__cache_data=draw.random(size) * 1e9,
        term_l2_directory__cache_data=draw.random(size) * 1e9,
    )
    same = {"matrix": "all", "cores": 16, "scale": "tiny", "consistency": "rc", "own_rule": 1}
    same |= {"model": "RC", "verdict": "correct", "correct": True, "mismatches": 0}
    return pd.concat([table, counts, pd.DataFrame(same, index=table.index)], axis=1)


def test_tables_of_ten_thousand_runs_are_small_and_quick(tmp_path):
    rows = synthetic(10_000)
    assert len(rows) == 10_000
    rows.to_parquet(tmp_path / "big.parquet")
    assert os.stat(tmp_path / "big.parquet").st_size < 500e6
    begun = time.process_time()
    tables = tabulation.Tables(pd.read_parquet(tmp_path / "big.parquet"), Settings(baseline="p0"))
    for table in tabulation.TABLES.values():
        table(tables)
    assert time.process_time() - begun < 10
    cells = tables.cells
    assert (cells[cells.seeds == 3][["low", "high"]].notna()).all(axis=None)
    inside = cells.dropna(subset=["low"])
    assert (inside.low <= inside.speedup * (1 + 1e-9)).all()
    assert (inside.speedup <= inside.high * (1 + 1e-9)).all()


def test_regret_is_the_loss_against_the_best_of_each_workload_and_equals_win_together():
    rows = synthetic(25 * 2 * 70)
    rows = rows[(rows.machine == "fermi") & rows.workload.isin(["w0", "w1", "w2", "w3"])]
    cycles = {"p0": (100, 100), "p1": (50, 100), "p2": (50, 100), "p3": (100, 98), "p4": (10, 10)}
    rows = rows[rows.protocol.isin(cycles)].copy()
    rows["cycles"] = [cycles[row.protocol][row.workload == "w1"] for row in rows.itertuples()]
    settings = Settings(baseline="p0", bounds=("p4",))
    table = tabulation.Tables(rows, settings).regret().set_index("protocol")
    assert set(table.index) == {"p0", "p1", "p2", "p3"}
    assert set(table.index[table.winner]) == {"p1", "p2"}
    assert table.wins.to_dict() == {"p0": 0, "p1": 3, "p2": 3, "p3": 1}
    assert table["mean"]["p1"] == pytest.approx((1 / 0.98) ** 0.25 - 1)
    assert (table.low["p1"], table.high["p1"]) == pytest.approx((0, (1 / 0.98) ** 0.75 - 1))
    assert table.best["p1"] > 0.99
    assert (table.worst["p3"], table.worst_workload["p3"]) == (pytest.approx(1.0), "w0")
    # A protocol that lacks a workload wins nothing.
    lacking = rows[~((rows.protocol == "p1") & (rows.workload == "w1"))]
    table = tabulation.Tables(lacking, settings).regret().set_index("protocol")
    assert (set(table.index[table.winner]), table.missing["p1"]) == ({"p2"}, 1)


def test_thresholds_say_where_another_rule_of_classes_has_another_winner():
    names = [f"w{number}" for number in range(8)]
    rows = synthetic(25 * 2 * 70)
    rows = rows[(rows.machine == "fermi") & rows.workload.isin(names)]
    rows = rows[rows.protocol.isin(["p0", "p1", "p2"])].copy()
    best = {name: "p1" if name < "w4" else "p2" for name in names}
    rows["cycles"] = [
        50 if best[row.workload] == row.protocol else 100 for row in rows.itertuples()
    ]
    # The last four are migratory, or with thresholds doubled read-shared.
    shares = [(name, 0.6, 0.0 if name < "w4" else 0.08) for name in names]
    measured = pd.DataFrame(shares, columns=["workload", "share_read_shared", "share_migratory"])
    others = {"share_private": 0.3, "share_producer_consumer": 0.0, "share_false_shared": 0.0}
    measured = measured.assign(matrix="sharing", scale="tiny", requests=1, requests_lost=0)
    measured = measured.assign(**others)
    table = tabulation.Tables(pd.concat([rows, measured]), Settings(baseline="p0")).thresholds()
    found = table.set_index(["thresholds", "class"])
    assert found.winners.to_dict() == {
        (1.0, "migratory"): "p2",
        (1.0, "read-shared"): "p1",
        (0.5, "migratory"): "p2",
        (0.5, "read-shared"): "p1",
        (2.0, "read-shared"): "",  # four against four: not decided
    }
    assert found.workloads[2.0, "read-shared"] == 8
    assert found.other[found.other].index.tolist() == [(2.0, "read-shared")]


def test_the_trees_small_store_has_the_same_tables(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools"))
    study_page = importlib.import_module("study_page")
    write(STUDY.replace("seeds = [0, 1]", 'consistencies = ["own", "sc"]'))
    whole = gpucoh.study("small.toml", jobs=2)
    study_page.compact(pd.read_parquet("small.parquet"), folder / "compact.parquet")
    small = tabulation.Tables(pd.read_parquet("compact.parquet"), whole.settings)
    for name in ("speedup", "regret", "scaling", "traffic", "classes"):
        first, second = (tabulation.TABLES[name](one) for one in (whole, small))
        assert_frame_equal(first, second, obj=name, rtol=1e-6, check_dtype=False)
    assert len(small.gaps()) == len(whole.gaps()) == 1
    page = study_page.Page(small, planned=0)
    assert all(isinstance(make(), str) for make in page.parts().values())
    assert f"{len(page.runs)} runs took" in page.design()
