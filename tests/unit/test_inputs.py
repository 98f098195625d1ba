"""Runs that need the same input, or the same kernel, make it once."""

from pathlib import Path

import numpy as np

import gpucoh
from gpucoh.lang import Kernel
from gpucoh.runs import inputs
from gpucoh.suite import find
from gpucoh.suite.declaration import Own


def counted(monkeypatch, owner, name):
    """The first arguments of every call of a method."""
    calls, original = [], getattr(owner, name)

    def count(self, *args, **options):
        calls.append(self)
        return original(self, *args, **options)

    monkeypatch.setattr(owner, name, count)
    return calls


@gpucoh.kernel
def doubled(x: gpucoh.Buffer[gpucoh.i32]):
    x[gpucoh.global_id()] += x[gpucoh.global_id()]


def own(gpu, rng, n=64):
    values = rng.integers(0, 99, n, np.int32)
    x = gpu.array(values)
    gpu.launch(doubled, grid=n // 32, block=32, args=(x,))
    return {"x": (x, 2 * values)}


def test_a_comparison_makes_each_input_once(monkeypatch):
    made = counted(monkeypatch, Own, "__call__")
    names = ["fg-share", "hsp", "pf", "reduction", "spm_g", "stn"]
    gpucoh.compare(names, ["no-l1", "mesi", "ideal"], scale="tiny", seed=41, jobs=2)
    assert sorted(found.id for found in made) == names


def test_a_comparison_with_seeds_makes_the_input_of_each_once(monkeypatch):
    made = counted(monkeypatch, Own, "__call__")
    gpucoh.compare("spm_g", ["no-l1", "mesi"], scale="tiny", seeds=[44, 45, 46], jobs=2)
    assert len(made) == 3


def test_a_comparison_compiles_each_kernel_once(monkeypatch):
    lowered = counted(monkeypatch, Kernel, "_lowered")
    table = gpucoh.compare(own, ["no-l1", "mesi", "ideal"], scale="tiny", jobs=3)
    assert len(lowered) == 1
    assert all(run.correct for run in table.runs)


def test_a_users_workload_makes_its_input_in_each_run(monkeypatch):
    made = counted(monkeypatch, Own, "__call__")
    gpucoh.compare(own, ["no-l1", "ideal"], scale="tiny", jobs=1)
    assert len(made) == 2


def test_another_setting_is_another_input():
    cache, found = inputs.Inputs(), find("spm_g")
    first = cache.get(found, found.setting("tiny", 0, None))
    assert cache.get(found, found.setting("tiny", 0, {})) is first
    assert cache.get(found, found.setting("tiny", 1, None)) is not first


def test_workloads_that_share_an_input_function_have_inputs_of_their_own():
    cache = inputs.Inputs()
    first, second = find("kmn"), find("kmn-qr")
    assert first.make.input is second.make.input
    one, other = (cache.get(found, found.setting("tiny", 0, None)) for found in (first, second))
    assert one.input is not other.input


def test_a_changed_input_file_is_read_again(tmp_path: Path):
    cache, found = inputs.Inputs(), find("bfs")
    file = tmp_path / "graph.txt"
    seen = []
    for edges in ("0 1\n1 2\n", "0 1\n1 2\n2 3\n"):
        file.write_text(edges)
        instance = cache.get(found, found.setting("tiny", 0, {"graph": str(file)}))
        seen.append(instance.run(gpucoh.GPU("fermi", "ideal")).details["vertices"])
    assert seen == [3, 4]


def test_only_the_last_inputs_are_kept():
    cache, found = inputs.Inputs(), find("spm_g")
    first = cache.get(found, found.setting("tiny", 0, None))
    for seed in range(1, 9):
        cache.get(found, found.setting("tiny", seed, None))
    assert cache.get(found, found.setting("tiny", 0, None)) is not first


def test_the_phases_of_a_run_have_processor_time():
    table = gpucoh.compare("spm_g", ["no-l1", "ideal"], scale="tiny", seed=43, jobs=1)
    assert set(table.seconds) == {"input", "compilation", "core", "check"}
    assert table.seconds["core"] > 0
    assert all(seconds >= 0 for seconds in table.seconds.values())
    assert "seconds" not in table.runs[0].to_dict()
