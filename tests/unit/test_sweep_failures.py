"""Are failures of the environment distinguished from those of a run, repeated on demand, and counted apart?"""

import os
import shutil
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gpucoh
from gpucoh.cli import call
from gpucoh.runs import rows
from host import HOST

RUN = {"workload": "vec-cpy", "protocol": "ideal", "scale": "tiny"}
EDGES = "".join(f"{n} {n + 1}\n" for n in range(40))


def test_a_missing_file_is_looked_for_again(tmp_path, counted):
    out, graph = tmp_path / "r.parquet", tmp_path / "g.txt"
    runs = [RUN, {"workload": "bfs", "scale": "tiny", "params": {"graph": str(graph)}}]
    table = gpucoh.sweep(runs, out=out)
    assert table.error.tolist()[1] == "ConfigError"
    assert "g.txt" in table["where"][1]
    gpucoh.sweep(runs, out=out, resume=True)
    graph.write_text(EDGES)
    table = gpucoh.sweep(runs, out=out, resume=True)
    assert table.correct.tolist() == [True, True]
    assert len(counted) == 4
    assert pd.read_parquet(out).error.tolist() == [None, None]  # the failed row is gone


@pytest.mark.parametrize(
    "error", [MemoryError(), FileNotFoundError("x.npy"), ImportError("libx.so: cannot map")]
)
def test_a_lack_of_memory_or_of_a_file_in_a_users_workload_is_no_result(tmp_path, error):
    out, failing = tmp_path / "r.parquet", [True]

    @gpucoh.workload
    def own(gpu, rng):
        if failing:
            failing.clear()
            raise error
        return True

    runs = [{"workload": own, "scale": "tiny"}]
    for expected in ("failed", "correct"):
        found = gpucoh.sweep(runs, out=out, resume=True)
        assert found.verdict.tolist() == [expected]


def test_deadlocks_budgets_and_wrong_results_are_repeated_only_if_that_is_wanted(tmp_path, counted):
    @gpucoh.workload
    def broken(gpu, rng):
        raise ValueError("always")

    @gpucoh.workload
    def wrong(gpu, rng):
        return False

    out = tmp_path / "r.parquet"
    runs = [
        RUN,
        RUN | {"set": {"budget": 100}},
        {"workload": broken, "scale": "tiny"},
        {"workload": wrong, "scale": "tiny"},
    ]
    first = gpucoh.sweep(runs, out=out, jobs=1)
    assert first.verdict.tolist() == ["correct", "hung", "failed", "wrong"]
    gpucoh.sweep(runs, out=out, resume=True)
    assert len(counted) == 4
    again = gpucoh.sweep(runs, out=out, retry="failed", jobs=1)
    assert again.verdict.tolist() == first.verdict.tolist()
    assert len(counted) == 7
    assert len(pd.read_parquet(out)) == 4
    with pytest.raises(gpucoh.ConfigError, match="unknown value of retry 'all'; allowed: failed"):
        gpucoh.sweep(runs, out=out, retry="all")


# ---- what the command prints


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Runs a sweep in a folder: exit status, output, error output."""
    monkeypatch.chdir(tmp_path)

    def carry_out(text, *options):
        Path("s.toml").write_text(f'scale = "tiny"\nprotocol = "ideal"\n{text}')
        status = call(["sweep", "s.toml", "--out", "r.parquet", *options])
        return status, *capsys.readouterr()

    return carry_out


@pytest.mark.long
def test_wrong_and_failed_runs_are_counted_apart_and_the_first_error_is_printed(command):
    Path("w.py").write_text(
        "import gpucoh\n@gpucoh.workload\ndef wrong(gpu, rng):\n    return False\n"
        "@gpucoh.workload\ndef fails(gpu, rng):\n    raise ValueError('a\\nb')\n"
    )
    status, out, err = command(
        'workloads = ["w.py:wrong", "w.py:fails", "vec-cpy"]\nseeds = [0, 1]'
    )
    counts, first = out.splitlines()
    assert (status, err) == (1, "")
    assert counts == "6 runs, 2 wrong, 2 failed, in r.parquet"
    assert first.startswith("first error: fails under ideal, seed 0: ")
    assert first.endswith("workload 'fails': ValueError: a b")


def test_a_missing_file_is_status_2_and_resume_repeats_it(command):
    text = 'workload = "bfs"\n[params]\ngraph = ["a.txt", "b.txt"]\n'
    Path("a.txt").write_text(EDGES)
    status, out, err = command(text)
    assert status == 2
    assert out.splitlines()[0] == "2 runs, 0 wrong, 1 failed, in r.parquet"
    assert out.splitlines()[1].startswith("first error: bfs under ideal, seed 0: ")
    assert "b.txt" in out
    assert err.startswith("gpucoh: 1 of 2 runs could not be carried out: --resume repeats them")
    Path("b.txt").write_text(EDGES)
    assert command(text, "--resume") == (0, "2 runs, 0 wrong, in r.parquet\n", "")


def test_the_first_error_is_not_in_the_json(command):
    status, out, err = command('workload = "bfs"\nparams = {graph = "a.txt"}\n', "--json")
    assert status == 2
    assert out.startswith("{")
    assert err.startswith("first error: bfs under ideal, seed 0: ")


# ---- other folders and machines


def elsewhere(folder):
    """An executor whose process is in another folder."""
    return ProcessPoolExecutor(
        1, mp_context=get_context("spawn"), initializer=os.chdir, initargs=(folder,)
    )


@pytest.mark.long
def test_input_files_and_machines_are_found_from_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text(EDGES)
    Path("own.py").write_text(
        "import gpucoh\nfrom pathlib import Path\n@gpucoh.workload\n"
        "def own(gpu, rng, keys: Path = Path('g.txt')):\n    return Path(keys).exists()\n"
    )
    gpucoh.machine("fermi").replace(name="mine", cores=2).to_toml("mine.toml")
    Path("there").mkdir()
    runs = [
        {"workload": "bfs", "scale": "tiny", "params": {"graph": "g.txt"}, "machine": "mine.toml"},
        {"workload": "own.py:own", "scale": "tiny"},
    ]
    with elsewhere(Path("there").absolute()) as pool:
        away = gpucoh.sweep(runs, pool)
    shutil.rmtree("there")
    here = gpucoh.sweep(runs)
    assert here.error.isna().all(), here["where"].tolist()
    assert away.correct.tolist() == [True, True]
    assert away.param_graph[0] == "g.txt"
    pd.testing.assert_frame_equal(away.drop(columns=HOST), here.drop(columns=HOST))


class Worker:
    """An executor of another process, as far as the sweep knows."""

    def submit(self, function, *arguments):
        future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_worker_with_other_code_gives_no_row(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "code_digest", lambda: "of-the-worker")
    out = tmp_path / "r.parquet"
    with pytest.raises(
        gpucoh.Error, match=r"1 of 1 runs were lost .*worker has code of-the-worker"
    ):
        gpucoh.sweep([RUN], Worker(), out=out)
    assert not out.exists()


# ---- parts of a sweep


def test_the_parts_of_a_sweep_are_the_sweep(tmp_path):
    runs = gpucoh.grid(workload="vec-cpy", protocol=["ideal", "no-l1"], seeds=[0, 1], scale="tiny")
    runs.append(RUN | {"seed": 2, "set": {"cores": 4}})
    whole = gpucoh.sweep(runs)
    parts = [gpucoh.sweep(runs, out=tmp_path / f"{n}.parquet", part=f"{n}/3") for n in range(1, 4)]
    assert [len(part) for part in parts] == [2, 2, 1]
    together = pd.concat([pd.read_parquet(path) for path in sorted(tmp_path.iterdir())])
    assert sorted(together.key) == sorted(whole.key)
    assert list(parts[0].columns) == list(whole.columns)
    assert np.array_equal(parts[1].key, whole.key[1::3])


@pytest.mark.parametrize("part", ["0/3", "4/3", "3", "1/", "-1/3", "1/3/4", "a/b"])
def test_what_is_no_part_is_refused(part):
    with pytest.raises(gpucoh.ConfigError, match=r"part = .* is not of the form I/N"):
        gpucoh.sweep([RUN], part=part)


def test_the_command_runs_a_part(command):
    status, out, _ = command('workload = "vec-cpy"\nseeds = [0, 1, 2]\n', "--part", "2/2")
    assert (status, out) == (0, "1 runs, 0 wrong, in r.parquet\n")
    assert pd.read_parquet("r.parquet").seed.tolist() == [1]
