"""Are a user's own workloads taken wherever a workload's id is, and are their errors the user's?"""

import functools
import json
import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import gpucoh
from dask_cluster import dask_cluster
from gpucoh.cli import call
from gpucoh.runs import clusters
from gpucoh.runs.keys import keys_of, parts_of
from gpucoh.runs.sweeps import as_run
from gpucoh.suite import choice, real, switch, whole
from host import HOST
from products import rows, share

STUDY = textwrap.dedent(
    '''
    """A study of a user."""
    from __future__ import annotations

    import numpy as np

    import gpucoh


    @gpucoh.kernel
    def add(x: gpucoh.Buffer[gpucoh.i32], n: gpucoh.i32, by: gpucoh.i32):
        i = gpucoh.global_id()
        if i < n:
            x[i] = x[i] + by


    @gpucoh.workload(scales={"tiny": {"n": 64, "by": 1}, "small": {"n": 256, "by": 1}})
    def increment(gpu, rng, n: int, by: int):
        """Add a number to every word."""
        data = rng.integers(0, 1000, n, dtype=np.int32)
        x = gpu.array(data)
        gpu.launch(add, grid=-(-n // 64), block=64, args=(x, n, by))
        return {"x": (x, data + by)}


    @gpucoh.workload(scales={"tiny": {"n": 64}})
    def broken(gpu, rng, n):
        data = np.zeros(n, np.int32)
        return {"x": (gpu.array(data), data[n])}


    @gpucoh.workload(scales={"tiny": {"n": 64}})
    def racy(gpu, rng, n):
        x = gpu.zeros(n, np.int32)
        gpu.launch(race, grid=4, block=64, args=(x,))
        return {"x": (x, x.numpy())}


    @gpucoh.kernel
    def race(x: gpucoh.Buffer[gpucoh.i32]):
        x[gpucoh.thread_id()] = gpucoh.block_id()
    '''
)


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.py"
    path.write_text(STUDY)
    return path


def line_of(text):
    return 1 + STUDY.split(text)[0].count("\n")


@gpucoh.workload(scales={"tiny": {"n": 32}, "small": {"n": 64}, "paper": {"n": 128}}, group="N")
def zeros(gpu, rng, n):
    """Zeros, compared with zeros."""
    return {"x": (gpu.zeros(n, np.int32), np.zeros(n))}


def plain(gpu, rng, n=16):
    return {"x": (gpu.zeros(n, np.int32), 0)}


def own(function=None, **known):
    """A workload that returns what the function makes of (gpu, rng)."""
    return gpucoh.workload(function or (lambda gpu, rng: None), **known)


def verdict(returned):
    return gpucoh.run(lambda gpu, rng: returned, protocol="ideal", scale="tiny")


# ---- where a workload's id is accepted


@pytest.mark.parametrize("given", [zeros, plain, functools.partial(plain, n=3)])
def test_run_takes_a_workload_and_a_callable(given):
    result = gpucoh.run(given, protocol="tc-weak", scale="tiny", check=True)
    assert result.correct is True
    assert result.workload in ("zeros", "plain")


def test_the_run_s_parameters_and_seed_reach_the_function():
    seen = []

    @gpucoh.workload(scales={"tiny": {"n": 3}, "small": {"n": 5}})
    def noted(gpu, rng, n):
        seen.append((gpu.protocol, gpu.machine.name, n, int(rng.integers(1 << 30))))
        return True

    for seed, scale in ((0, "tiny"), (0, "small"), (7, "tiny")):
        gpucoh.run(noted, protocol="mesi", machine="gcn3", scale=scale, seed=seed)
    expected = [int(np.random.default_rng(seed).integers(1 << 30)) for seed in (0, 7)]
    assert seen == [
        ("mesi", "gcn3", 3, expected[0]),
        ("mesi", "gcn3", 5, expected[0]),
        ("mesi", "gcn3", 3, expected[1]),
    ]


def test_compare_takes_them_beside_ids(study):
    matrix = gpucoh.compare(
        [zeros, "vec-cpy", f"{study}:increment"], ["no-l1", "tc-weak"], scale="tiny"
    )
    assert matrix.workloads == ["zeros", "vec-cpy", "increment"]
    assert all(run.correct for run in matrix.runs)


def test_compare_takes_one_without_a_list():
    assert gpucoh.compare(zeros, ["ideal"], scale="tiny").workloads == ["zeros"]


def test_compare_refuses_two_workloads_of_one_name():
    other = own(lambda gpu, rng: True)
    third = own(lambda gpu, rng: False)
    with pytest.raises(gpucoh.ConfigError, match="two workloads are named '<lambda>'"):
        gpucoh.compare([other, third], ["ideal"], scale="tiny")


def test_sweep_takes_them(study):
    runs = [
        {"workload": given, "protocol": "ideal", "scale": "tiny"}
        for given in (zeros, plain, f"{study}:increment", zeros)
    ]
    table = gpucoh.sweep(runs)
    assert list(table.workload) == ["zeros", "plain", "increment"]
    assert table.correct.all()


@pytest.mark.parametrize("method", share(["fork", "spawn"], one_in=4))
def test_sweep_over_processes(study, method):
    runs = [
        {"workload": given, "protocol": "ideal", "scale": "tiny", "seed": seed}
        for given in (zeros, f"{study}:increment")
        for seed in (0, 1)
    ]
    with ProcessPoolExecutor(1, mp_context=get_context(method)) as pool:
        there = gpucoh.sweep(runs, pool)
    here = gpucoh.sweep(runs)
    assert there.correct.all()
    assert there.drop(columns=HOST).equals(here.drop(columns=HOST))


def run_script(folder, text, **environment):
    path = folder / "script.py"
    path.write_text(text)
    return subprocess.run(
        [sys.executable, str(path)],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@pytest.mark.parametrize("method", share(["fork", "spawn"], one_in=4))
@pytest.mark.long
def test_a_script_s_own_functions_run_in_processes(tmp_path, method):
    text = STUDY + textwrap.dedent(
        f"""
        if __name__ == "__main__":
            from concurrent.futures import ProcessPoolExecutor
            from multiprocessing import get_context
            run = {{"workload": increment, "protocol": "tc-weak", "scale": "tiny"}}
            with ProcessPoolExecutor(1, mp_context=get_context("{method}")) as pool:
                print(gpucoh.sweep([run], pool).verdict[0])
        """
    )
    done = run_script(tmp_path, text)
    assert (done.stdout, done.stderr) == ("correct\n", "")


@pytest.mark.long
def test_functions_without_a_file_travel_by_value(tmp_path):
    pytest.importorskip("cloudpickle")
    # As in a notebook: __main__ without a file, sources in linecache alone.
    text = textwrap.dedent(
        f"""
        import linecache, sys
        source = {STUDY!r}
        name = "<cell 1>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        del sys.modules["__main__"].__file__
        exec(compile(source, name, "exec"), globals())
        if True:
            from concurrent.futures import ProcessPoolExecutor
            from multiprocessing import get_context
            run = {{"workload": increment, "protocol": "tc-weak", "scale": "tiny"}}
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                print(gpucoh.sweep([run], pool).verdict[0])
        """
    )
    done = run_script(tmp_path, text)
    assert (done.stdout, done.stderr) == ("correct\n", "")


def test_without_cloudpickle_the_error_is_clear(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    runs = [{"workload": own(lambda gpu, rng: True), "protocol": "ideal", "scale": "tiny"}]
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(gpucoh.ConfigError, match="install cloudpickle, or use threads"),
    ):
        gpucoh.sweep(runs, pool)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_sweep_over_a_dask_client(study):
    runs = [
        {"workload": f"{study}:increment", "protocol": "ideal", "scale": "tiny"},
        {"workload": own(lambda gpu, rng: True), "protocol": "ideal", "scale": "tiny"},
    ]
    with dask_cluster() as (_, client):
        assert gpucoh.sweep(runs, client.get_executor()).correct.all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
def test_gpucoh_sweep_runs_on_a_dask_scheduler(study, tmp_path, capsys):
    file, out = tmp_path / "sweep.toml", tmp_path / "out.parquet"
    file.write_text(
        f'workload = "{study}:increment"\nprotocols = ["ideal", "mesi"]\nscale = "tiny"\n'
    )
    with dask_cluster() as (cluster, _):
        address = cluster.scheduler_address
        assert call(["sweep", str(file), "--out", str(out), "--scheduler", address]) == 0
        assert any("carry_out" in name for name in cluster.scheduler.task_prefixes)
    assert "2 runs, 0 wrong" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "no Dask scheduler answers at tcp://127.0.0.1:1"),
        (["--scheduler", "nowhere"], "no Dask scheduler answers at nowhere"),
        (["--scheduler", "tcp://127.0.0.1:1", "--jobs", "2"], "--jobs and --scheduler contradict"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_does_not_answer_is_one_line(
    study, tmp_path, capfd, monkeypatch, options, message
):
    pytest.importorskip("distributed")
    monkeypatch.setattr(clusters, "_PATIENCE_S", 0.5)
    file = tmp_path / "sweep.toml"
    file.write_text(f'workload = "{study}:increment"\n')
    assert call(["sweep", str(file), "--out", str(tmp_path / "out.parquet"), *options]) == 2
    error = capfd.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_without_distributed_the_scheduler_is_refused(study, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    file = tmp_path / "sweep.toml"
    file.write_text(f'workload = "{study}:increment"\n')
    arguments = ["sweep", str(file), "--out", str(tmp_path / "o.parquet"), "--scheduler", "x:1"]
    assert call(arguments) == 2
    assert "install gpucoh[dask]" in capsys.readouterr().err


# ---- the command line


def test_gpucoh_run_takes_a_file_and_a_name(study, capsys):
    arguments = [f"{study}:increment", "-p", "tc-weak", "--scale", "tiny", "--check", "--json"]
    assert call(["run", *arguments, "--param", "by=5"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert (out["workload"], out["correct"]) == ("increment", True)
    assert out["params"] == {"n": 64, "by": 5}


def test_gpucoh_run_finds_a_race_in_it(study, capsys):
    assert call(["run", f"{study}:racy", "-p", "tc-weak", "--scale", "tiny", "--check"]) == 1
    assert "data race: kernel 'race'" in " ".join(capsys.readouterr().out.split())


def test_gpucoh_compare_and_sweep_take_it(study, tmp_path, capsys):
    given = f"{study}:increment"
    assert (
        call(["compare", "-w", f"{given},vec-cpy", "-p", "ideal", "--scale", "tiny", "--json"]) == 0
    )
    assert len(json.loads(capsys.readouterr().out)["runs"]) == 2
    file = tmp_path / "sweep.toml"
    file.write_text(f'workload = "{given}"\nprotocols = ["ideal", "mesi"]\nscale = "tiny"\n')
    assert call(["sweep", str(file), "--out", str(tmp_path / "out.parquet")]) == 0
    assert "2 runs, 0 wrong" in capsys.readouterr().out


def test_gpucoh_workloads_describes_it(study, capsys):
    assert call(["workloads", f"{study}:increment"]) == 0
    out = capsys.readouterr().out
    assert "increment: Add a number to every word." in out
    assert "paper" not in out.split("parameter")[1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (":nothing", "there is no 'nothing' in {path} (its workloads: increment, broken, racy)"),
        ("", "{path} needs a name: {path}:NAME (its workloads: increment, broken, racy)"),
        (":add", "kernel 'add' is not a workload"),
    ],
)
def test_a_name_that_a_file_lacks_is_one_line(study, refused, given, message):
    assert message.format(path=study) in refused("run", f"{study}{given}", "-p", "ideal")


def test_a_missing_file_is_one_line(tmp_path, capsys):
    assert call(["run", f"{tmp_path}/none.py:x", "-p", "ideal"]) == 2
    assert capsys.readouterr().err == (
        f"gpucoh: workload file {tmp_path}/none.py: No such file or directory\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ny = x +\n", ":2: SyntaxError: invalid syntax"),
        ("\nimport nothing_of_that_name\n", ":2: ModuleNotFound"),
    ],
)
def test_a_file_that_cannot_be_executed_is_one_line_with_its_line(tmp_path, refused, text, message):
    (tmp_path / "bad.py").write_text(text)
    assert f"{tmp_path}/bad.py{message}" in refused("run", f"{tmp_path}/bad.py:x", "-p", "ideal")


# ---- what the function returns


@pytest.mark.parametrize(
    ("returned", "correct"),
    rows(
        [
            ({"y": (np.arange(3), np.arange(3))}, True),
            ({"y": (np.arange(3), np.arange(3) + 1)}, False),
            ({"y": (np.arange(3), [0, 1, 2]), "z": (np.ones(2), 2)}, False),
            ({"y": (np.array([1.0, 2.0]), np.array([1.0, 2.001]), 1e-2)}, True),
            ({"y": (np.array([1.0, 2.0]), np.array([1.0, 2.001]), 1e-5)}, False),
            ({"y": (np.array([1e-6]), np.array([5e-6]), 1e-2)}, False),  # relative to the reference
            ({"y": (np.array([np.inf]), np.array([np.inf]), 1e-2)}, True),
            ({"y": (np.array([np.nan]), np.array([np.nan]), 1e-2)}, False),
            (True, True),
            (False, False),
            (None, None),
        ],
        one_in=4,
    ),
)
def test_the_verdict(returned, correct):
    assert verdict(returned).correct is correct


def test_a_wrong_result_has_its_place():
    result = verdict({"y": (np.arange(3), np.array([0, 5, 6]))})
    assert result.where == "y[1] is 1, expected 5 (2 of 3 words differ)"
    assert (result.mismatches, result.verdict) == (2, "wrong")


def test_an_assertion_is_a_wrong_result():
    def checks(gpu, rng):
        assert gpu.machine.cores == 99, "not 99 cores"

    result = gpucoh.run(checks, protocol="ideal", scale="tiny")
    assert result.correct is False
    assert result.where.startswith(f"{__file__}:")
    assert result.where.count(": not 99 cores") == 1


def test_an_assertion_without_a_text_shows_its_line(study):
    study.write_text(STUDY.replace('return {"x": (x, data + by)}', "assert n == by"))
    result = gpucoh.run(f"{study}:increment", protocol="ideal", scale="tiny")
    assert result.where == f"{study}:{line_of('return {')}: assert n == by"


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (3, "int '3'"),
        ({}, "an empty dictionary"),
        ({"y": np.arange(3)}, "'y': ndarray in place of (result, expected)"),
        ({"y": (np.arange(3), np.arange(4))}, "'y': a result of shape (3,) and expected (4,)"),
        ({"y": (np.arange(3), np.arange(3), -1)}, "'y': rtol -1, not a number of at least 0"),
        ({"y": ("abc", "abc")}, "'y': an array of <U3, not of numbers"),
    ],
)
def test_another_return_value_is_refused(returned, message):
    with pytest.raises(gpucoh.WorkloadError) as caught:
        verdict(returned)
    assert message in str(caught.value)
    assert "it returns a dictionary" in str(caught.value)


# ---- parameters


def test_parameters_have_the_types_of_annotations_and_values():
    def typed(
        gpu,
        rng,
        a: int,
        b: float,
        c: bool,
        d: Literal["x", "y"],
        e: Path,
        graph: str,
        f,
        g="t",
        h=1.5,
    ):
        typed.seen = (a, b, c, d, e, graph, f, g, h)
        return True

    scale = {"a": 1, "b": 2, "c": False, "d": "x", "e": Path("p"), "graph": "g.mtx", "f": 3}
    found = gpucoh.workload(typed, scales={"tiny": scale})
    kinds = {item.name: item.kind for item in found.parameters}
    assert list(kinds) == ["a", "b", "c", "d", "e", "graph", "f", "g", "h"]
    assert " ".join(kinds.values()) == "int float bool choice file file int text float"
    given = {"a": "7", "b": "0.5", "c": "on", "d": "y", "f": "9", "h": "2"}
    gpucoh.run(found, protocol="ideal", scale="tiny", params=given)
    assert typed.seen == (7, 0.5, True, "y", "p", "g.mtx", 9, "t", 2.0)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"m": 1}, "workload zeros: unknown parameter 'm'; allowed: n"),
        ({"n": "many"}, "workload zeros: parameter n is 'many'; allowed: a whole number"),
        ({"n": True}, "workload zeros: parameter n is True; allowed: a whole number"),
    ],
)
def test_bad_parameters_are_one_line_before_any_run(params, message):
    with pytest.raises(gpucoh.ConfigError) as caught:
        gpucoh.compare([zeros], ["ideal"], scale="tiny", params=params)
    assert str(caught.value) == message


def test_a_scale_that_it_lacks_is_refused():
    only = gpucoh.workload(scales={"tiny": {}})(lambda gpu, rng: True)
    with pytest.raises(gpucoh.ConfigError, match="unknown scale 'small'; allowed: tiny"):
        gpucoh.run(only, protocol="ideal")


def test_a_parameter_without_a_value_must_be_given():
    def needs(gpu, rng, n: int):
        return n == 3

    with pytest.raises(gpucoh.ConfigError, match="parameter n has no value: give params="):
        gpucoh.run(needs, protocol="ideal", scale="tiny")
    assert gpucoh.run(needs, protocol="ideal", scale="tiny", params={"n": 3}).correct


@pytest.mark.parametrize(
    ("function", "scales", "message"),
    [
        (lambda gpu: 1, None, r"takes \(gpu\); a workload takes \(gpu, rng, \*\*parameters\)"),
        (lambda gpu, rng, n: 1, {"tiny": {}}, "scale tiny gives no value for n"),
        (lambda gpu, rng: 1, {"tiny": {"n": 1}}, "unknown parameter 'n'"),
        (lambda gpu, rng: 1, {"huge": {}}, "unknown scale 'huge'; allowed: tiny, small, paper"),
        (lambda gpu, rng, n: 1, {"tiny": {"n": [1]}}, "the type of parameter n is not known"),
        (lambda gpu, rng, n: 1, None, "the type of parameter n is not known"),
        (lambda gpu, rng: 1, {}, r"scales = \{\}"),
    ],
)
def test_a_function_that_cannot_be_a_workload_is_refused(function, scales, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        gpucoh.workload(function, scales=scales)


def test_an_unknown_group_is_refused():
    with pytest.raises(gpucoh.ConfigError, match="group 'X'"):
        gpucoh.workload(plain, group="X")


def test_the_name_of_a_workload_still_finds_it():
    assert gpucoh.workload("bfs") is gpucoh.workloads()["bfs"]
    with pytest.raises(gpucoh.ConfigError, match="unknown workload 'bsf'"):
        gpucoh.workload("bsf")


def test_the_decorated_function_can_be_called():
    returned = zeros(gpucoh.GPU(protocol="ideal"), np.random.default_rng(0), n=4)
    assert list(returned) == ["x"]
    assert isinstance(zeros, gpucoh.Workload)
    assert repr(zeros) == "<gpucoh.Workload zeros(n) tiny small paper>"


# ---- errors in the function


def test_an_error_in_the_function_names_the_user_s_line(study, refused):
    given = f"{study}:broken"
    with pytest.raises(gpucoh.WorkloadError) as caught:
        gpucoh.run(given, protocol="ideal", scale="tiny")
    line = line_of("data[n])}")
    assert str(caught.value).startswith(f"{study}:{line}: workload 'broken': IndexError: index 64")
    assert (caught.value.filename, caught.value.line) == (str(study), line)
    assert isinstance(caught.value.__cause__, IndexError)
    assert caught.value.__cause__.__traceback__.tb_frame.f_code.co_filename == str(study)
    error = refused("run", given, "-p", "ideal", "--scale", "tiny")
    assert error.startswith(f"gpucoh: {study}:{line}: workload 'broken'")


def test_an_error_of_ours_in_the_function_names_the_user_s_line():
    def halves(gpu, rng):
        gpu.array(np.zeros(3, np.float16))

    with pytest.raises(gpucoh.ConfigError) as caught:
        gpucoh.run(halves, protocol="ideal", scale="tiny")
    assert str(caught.value).startswith(f"{__file__}:")
    assert ": workload 'halves': dtype float16 is not one of" in str(caught.value)


def test_an_error_in_the_function_is_a_run_of_a_comparison(study):
    matrix = gpucoh.compare([f"{study}:broken", zeros], ["ideal"], scale="tiny")
    assert [run.error for run in matrix.runs] == ["WorkloadError", None]
    assert f"{study}:" in matrix.runs[0].where
    assert matrix.failures == [matrix.runs[0]]


# ---- results on disk


def test_a_changed_function_kernel_or_constant_is_another_run(tmp_path):
    keys = []
    for number, (old, new) in enumerate(
        [("", ""), ("n, by))", "n, by + 0))"), ("x[i] + by", "by + x[i]"), ("0, 1000", "0, 999")]
    ):
        path = tmp_path / str(number) / "study.py"
        path.parent.mkdir()
        path.write_text(STUDY.replace(old, new))
        keys += keys_of([as_run({"workload": f"{path}:increment", "scale": "tiny"})])
    assert len(set(keys)) == len(keys)
    assert len({parts_of(key)[0] for key in keys}) == 1  # one run, of other code


def test_an_unchanged_function_is_the_same_run_in_another_process(study):
    (key,) = keys_of([as_run({"workload": f"{study}:increment", "scale": "tiny"})])
    text = (
        "from gpucoh.runs.keys import keys_of\n"
        "from gpucoh.runs.sweeps import as_run\n"
        f"print(*keys_of([as_run({{'workload': '{study}:increment', 'scale': 'tiny'}})]))"
    )
    assert run_script(study.parent, text).stdout.strip() == key


def test_resume_does_not_repeat_own_workloads(tmp_path):
    calls = []

    def counted(gpu, rng):
        calls.append(1)
        return True

    runs = [{"workload": counted, "protocol": "ideal", "scale": "tiny"}]
    for _ in range(2):
        gpucoh.sweep(runs, out=tmp_path / "r.parquet", resume=True)
    assert calls == [1]


# ---- parameters that a default describes


@gpucoh.workload(scales={"tiny": {"n": 4}, "small": {}})
def described(
    gpu,
    rng,
    n: int = whole("number of words", 1, 100, 8, 16, 32),
    kind: str = choice("what they are", ("zeros", "ones"), "zeros"),
    rate: float = real("not used", 0, 1, 0.5),
    twice: bool = switch("not used", True),
):
    """Words."""
    value = np.int32(kind == "ones")
    return {"x": (gpu.array(np.full(n, value)), value)}


def test_a_default_describes_its_parameter():
    assert [p.name for p in described.parameters] == ["n", "kind", "rate", "twice"]
    assert [p.kind for p in described.parameters] == ["int", "choice", "float", "bool"]
    first = described.to_dict()["parameters"][0]
    assert first["text"] == "number of words"
    assert first["allowed"] == "a whole number from 1 to 100"
    assert first["defaults"] == {"tiny": 4, "small": 16}  # a scale may change one
    result = gpucoh.run(described, protocol="ideal", scale="tiny", params={"kind": "ones"})
    assert result.correct
    assert result.params == {"n": 4, "kind": "ones", "rate": 0.5, "twice": True}
    with pytest.raises(gpucoh.ConfigError, match="n is 101; allowed: a whole number from 1 to 100"):
        gpucoh.run(described, protocol="ideal", scale="tiny", params={"n": 101})


def test_a_workload_of_the_suite_is_pickled_by_its_id():
    for name in ("bfs", "spm_g"):  # one at the top of its module, one made by a function
        known = gpucoh.workload(name)
        assert pickle.loads(pickle.dumps(known)).make == known.make
        assert len(pickle.dumps(known.make)) < 200
