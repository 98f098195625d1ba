"""Do the views of a profile add up to the run, change nothing in it, and name what it waits for?"""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, i32
from gpucoh.results.profile import CAUSES, VIEWS
from products import rows

LEASED = "tc-weak[lifetime=3200]"  # long enough for copies to be stale while they are polled
PAGE = Path(__file__).parents[2] / "docs" / "profiling.md"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The workload of docs/profiling.md."""
    path = tmp_path_factory.mktemp("study") / "ring.py"
    path.write_text(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)[0])
    spec = importlib.util.spec_from_file_location("ring", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.study


@pytest.fixture(scope="module")
def runs(study):
    """The study under two protocols."""
    return {
        name: gpucoh.run(study, name, scale="tiny", profile=True) for name in (LEASED, "gpu-vi")
    }


@pytest.mark.parametrize(
    ("workload", "protocol"),
    rows(
        [
            ("uts", "gpu-vi"),
            ("st", "denovo-drf"),
            ("bh", "tc-strong"),
            ("hsp", "qr"),
            ("dlb", "mesi"),
        ],
        one_in=4,
    ),
)
def test_every_view_adds_up_to_the_run_which_stays_the_same(workload, protocol):
    plain = gpucoh.run(workload, protocol, scale="tiny")
    run = gpucoh.run(workload, protocol, scale="tiny", profile=True)
    stats = run.stats
    assert stats.to_dict() == plain.stats.to_dict()
    for view in VIEWS:
        table = run.profile.by(view)
        assert table["instructions"].sum() == stats.instructions
        assert table["issue_cycles"].sum() == stats.core.issue_cycles
        for cause in CAUSES:
            assert table[f"stalls_{cause}"].sum() == stats.stalls[cause], (view, cause)
        assert table["cycles"].sum() == stats.core.active_cycles + stats.stalls.launch
    for view in ("line", "buffer"):
        table = run.profile.by(view)
        assert table["flits"].sum() == stats.flits()
        for cache in ("l1", "l2"):
            for name, count in stats[cache].items():
                assert table[f"{cache}_{name}"].sum() == count, (view, cache, name)


def test_causes_are_those_of_the_statistics(runs):
    stalls = set(runs["gpu-vi"].stats.stalls) - {"memory_order", "fence"}
    assert set(CAUSES) == stalls


@gpucoh.kernel
def sleeper(x: Buffer[i32]):
    if gpucoh.warp_id() == 1:
        for _i in range(20):
            gpucoh.sleep(500)
    gpucoh.barrier()
    if gpucoh.warp_id() == 0:
        gpucoh.sleep(100)
    x[gpucoh.thread_id()] = 1


def test_a_warps_own_waits_fill_its_life_and_the_barriers_wait_names_its_end():
    gpu = gpucoh.GPU()
    x = gpu.zeros(64, np.int32, name="target")
    with gpu.profile() as profile:
        gpu.launch(sleeper, grid=1, block=64, args=(x,))
    warps = profile().by("warp").set_index(["core", "warp"])
    waits = warps[[name for name in warps if name.startswith("waits_")]].sum(axis=1)
    active = gpu.stats().core.active_cycles
    assert waits[0, 0] <= active
    assert waits[0, 1] <= active
    assert max(waits[0, 0], waits[0, 1]) == active
    assert warps.loc[(0, 0), "waits_barrier"] > 10_000
    assert warps.loc[(0, 1), "waits_barrier"] == 0
    assert warps.loc[(0, 1), "waits_sleep"] == warps.loc[(0, 1), "stalls_sleep"] >= 9_900
    links = profile().critical()
    assert list(links["after"]) == ["barrier", "launch"]
    assert list(links["warp"]) == [0, 1]
    assert links["longest_wait"][1] == "sleep"
    assert Path(__file__).name in links["longest_where"][1]
    assert "target" in set(profile().by("buffer")["buffer"])


def test_lines_have_their_source_and_polls_their_array(runs):
    for run in runs.values():
        lines = run.profile.by("line").set_index("source")
        polls = lines.loc['while gpucoh.load(ready, i, order="relaxed") == 0:']
        assert polls["stalls_poll"] == run.stats.stalls.poll > 0
        arrays = run.profile.by("buffer").set_index("buffer")
        assert arrays.loc["ready flags", "stalls_poll"] == run.stats.stalls.poll
        assert arrays.loc["ready flags", "l1_loads"] > arrays.loc["data", "l1_loads"] > 0
        links = run.profile.critical()
        assert any(re.fullmatch(r"ready flags\[\d+\]", what) for what in links["what"])
        assert (links["begin"].iloc[:-1].to_numpy() == links["end"].iloc[1:].to_numpy()).all()


def test_explain_names_the_array_and_the_line(runs):
    text = str(gpucoh.explain(runs[LEASED], runs["gpu-vi"]))
    assert len(text.splitlines()) <= 14
    assert text.startswith(f"study: {LEASED} takes ")
    first = text.splitlines()[2]
    assert "ready flags" in first
    assert "ring.py:" in first


def test_a_profile_survives_a_file(runs, tmp_path):
    run = runs[LEASED]
    again = gpucoh.RunResult.from_dict(json.loads(json.dumps(run.to_dict())))
    assert again.profile == run.profile
    assert str(gpucoh.explain(again, runs["gpu-vi"])) == str(gpucoh.explain(run, runs["gpu-vi"]))


def test_errors_name_what_is_wrong(runs):
    plain = gpucoh.run("vec-cpy", "ideal", scale="tiny")
    with pytest.raises(gpucoh.ConfigError, match="two workloads, study and vec-cpy"):
        gpucoh.explain(runs["gpu-vi"], plain)
    with pytest.raises(gpucoh.ConfigError, match="under ideal has no profile: give run"):
        gpucoh.explain(plain, plain)
    with pytest.raises(gpucoh.ConfigError, match=r"unknown view 'lines'.*line, buffer, warp"):
        runs["gpu-vi"].profile.by("lines")
    gpu = gpucoh.GPU()
    with pytest.raises(gpucoh.ConfigError, match="name = 3 is not the name of an array"):
        gpu.zeros(3, name=3)
    with gpu.profile(), pytest.raises(gpucoh.ConfigError, match="profiles already"), gpu.profile():
        pass


def test_a_reset_restarts_the_profile():
    gpu = gpucoh.GPU(protocol="tc-weak")
    x = gpu.zeros(64, np.int32)
    with gpu.profile() as profile:
        gpu.launch(sleeper, grid=1, block=64, args=(x,))
        gpu.reset_stats()
        assert profile().by("line").empty
        gpu.launch(sleeper, grid=1, block=64, args=(x,))
        lines = profile().by("line")
    stats = gpu.stats()
    assert lines["cycles"].sum() == stats.core.active_cycles + stats.stalls.launch
    assert lines["l1_stores"].sum() == stats.l1.stores


# ---- polls have one line, that of the load


@gpucoh.kernel
def poll_in_parts(ready: Buffer[i32], out: Buffer[i32], n: i32):
    for i in range(n):
        if gpucoh.block_id() == 0:
            gpucoh.sleep(2000)
            gpucoh.store(ready, i, 1)
        else:
            word = 0
            while word + gpucoh.warp_id() == 0:
                word = gpucoh.load(ready, i, order="acquire")
                out[gpucoh.block_id()] = word * 3


def polls_by_view(profile):
    """The lines of polls and attempts to take locks, in the table of lines and in the chain."""
    lines, chain = profile.by("line"), profile.critical()
    charged = {
        (cause, f"{Path(row['file']).name}:{row['line']}"): row["source"]
        for cause in ("poll", "lock")
        for _, row in lines[lines[f"stalls_{cause}"] > 0].iterrows()
    }
    followed = {
        (row[cause], row[where])
        for _, row in chain.iterrows()
        for cause, where in (("after", "where"), ("longest_wait", "longest_where"))
        if row[cause] in ("poll", "lock")
    }
    return charged, followed


def test_a_poll_whose_value_is_computed_with_is_charged_to_the_load_in_every_view():
    gpu = gpucoh.GPU(protocol="gpu-vi")
    arrays = [gpu.zeros(32, np.int32) for _ in range(2)]
    with gpu.profile() as profile:
        gpu.launch(poll_in_parts, grid=2, block=32, args=(*arrays, 8))
    charged, followed = polls_by_view(profile())
    assert set(charged.values()) == {'word = gpucoh.load(ready, i, order="acquire")'}
    assert followed == set(charged)


@pytest.mark.parametrize(
    ("workload", "protocol"),
    [("tb_lg", "no-l1"), ("uts", "denovo-drf"), ("vpr", "no-l1[fill=line]")],
)
def test_the_chain_names_the_lines_to_which_polls_are_charged(workload, protocol):
    """The chain named the line after an attempt to take a lock, whose wait had ended."""
    charged, followed = polls_by_view(
        gpucoh.run(workload, protocol, scale="tiny", profile=True).profile
    )
    assert followed
    assert followed <= set(charged)
    assert all(re.search(r"load|atomic|\[", source) for source in charged.values())


def test_lines_of_functions_that_kernels_call_have_their_source():
    """Only lines of the first of a file's functions had it."""
    lines = gpucoh.run("tb_lg", "ideal", scale="tiny", profile=True).profile.by("line")
    assert lines.loc[lines["line"] > 0, "source"].all()


@gpucoh.kernel
def poll_under_a_lock(ready: Buffer[i32], lock: Buffer[i32]):
    if gpucoh.thread_id() == 0:
        if gpucoh.block_id() == 0:
            gpucoh.sleep(5000)
            gpucoh.store(ready, 0, 1)
        else:
            word = 0
            while word == 0:
                while gpucoh.atomic_cas(lock, 0, 0, 1, order="acquire") != 0:
                    pass
                word = gpucoh.load(ready, 0, order="relaxed")
                gpucoh.atomic_exch(lock, 0, 0, order="relaxed")
            gpucoh.sleep(500)


@pytest.mark.parametrize("protocol", ["no-l1", "mesi"])
def test_the_chain_follows_a_poll_beside_which_other_words_are_accessed(protocol):
    """It took the last word that the warp had accessed for the one that it polls."""
    gpu = gpucoh.GPU(protocol=protocol)
    arrays = [gpu.zeros(32, np.int32) for _ in range(2)]
    with gpu.profile() as profile:
        gpu.launch(poll_under_a_lock, grid=2, block=32, args=tuple(arrays))
    links = profile().critical()
    assert list(links["after"]) == ["poll", "launch"]
    assert links["what"][0] == "ready[0]"
    charged, followed = polls_by_view(profile())
    assert followed <= set(charged)


# ---- contention


@gpucoh.kernel
def pass_on(turn: Buffer[i32], word: Buffer[i32], n: i32):
    """Two blocks write one word in turns."""
    if gpucoh.thread_id() == 0:
        for i in range(n):
            while gpucoh.load(turn, 0, order="acquire") != 2 * i + gpucoh.block_id():
                pass
            gpucoh.store(word, 0, i)
            gpucoh.store(turn, 0, 2 * i + gpucoh.block_id() + 1, order="release")


@pytest.mark.parametrize("protocol", ["mesi", "denovo-drf", "tc-strong"])
def test_an_owner_changes_with_each_write_of_another_core(protocol):
    gpu = gpucoh.GPU(protocol=protocol)
    turn, word = (gpu.zeros(32, np.int32) for _ in range(2))
    with gpu.profile() as profile:
        gpu.launch(pass_on, grid=2, block=32, args=(turn, word, 8))
    changes = profile().by("buffer").set_index("buffer")["owner_changes"]
    assert changes.loc["turn"] == changes.loc["word"] == 15
    assert profile().by("line")["owner_changes"].sum() == changes.sum() == 30


@gpucoh.kernel
def count(hot: Buffer[i32], cold: Buffer[i32], rounds: i32):
    at = 32 * gpucoh.block_id()
    for _i in range(rounds):
        if gpucoh.thread_id() == 0:
            gpucoh.atomic_add(hot, 0, 1)
            gpucoh.atomic_add(cold, at, 1)


@pytest.mark.parametrize("protocol", ["no-l1", "mesi"])
def test_requests_for_a_word_of_all_cores_stay_longer_at_the_bank(protocol):
    gpu = gpucoh.GPU(protocol=protocol)
    arrays = [gpu.zeros(512, np.int32) for _ in range(2)]
    with gpu.profile() as profile:
        gpu.launch(count, grid=16, block=32, args=(*arrays, 10))
    arrays = profile().by("buffer").set_index("buffer")
    for column in ("bank_cycles", "owner_changes"):
        assert arrays.loc["hot", column] > 3 * arrays.loc["cold", column]
    assert arrays.loc["cold", "owner_changes"] == 0
