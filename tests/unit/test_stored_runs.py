"""Does a file keep whole runs, so that an interrupted study continues with the same results?"""

import pytest

from gpucoh.results.runs import RunResult
from gpucoh.runs import sweeps
from gpucoh.runs.keys import keys_of
from gpucoh.runs.runner import Run
from gpucoh.runs.store import Store
from gpucoh.runs.sweeps import stored_runs
from host import HOST

RUNS = [
    Run(workload="vec-cpy", protocol=protocol, scale="tiny", seed=seed)
    for protocol in ("gpu-vi", "ideal")
    for seed in (0, 1)
]


def bare(run):
    """A run without the time that it took."""
    return run.to_dict() | dict.fromkeys(HOST)


@pytest.fixture
def counted(monkeypatch):
    """The runs that were really carried out; number ``stop_at`` is interrupted."""

    class Counted(list):
        stop_at = None

    seen, original = Counted(), sweeps._carry_out_whole

    def count(run, key, stop=None):
        seen.append(run)
        if len(seen) == seen.stop_at:
            raise KeyboardInterrupt
        return original(run, key, stop)

    monkeypatch.setattr(sweeps, "_carry_out_whole", count)
    return seen


def test_a_stored_run_is_the_run(tmp_path):
    out = tmp_path / "runs.parquet"
    other = Run(workload="vec-cpy", scale="tiny", params={"words": 999}, set={"l1_kib": 16})
    runs = [*RUNS, other]
    stored_runs(runs, out, jobs=2)
    for given, found in zip(runs, stored_runs(runs, out, jobs=2), strict=True):
        direct = given.carry_out()
        assert bare(found) == bare(direct)
        assert found.stats.flits_by_class() == direct.stats.flits_by_class()
        assert (found.verdict, found.cycles) == ("correct", direct.cycles)
        assert RunResult.from_dict(found.to_dict()) == found


def test_what_the_file_has_does_not_run_again(tmp_path, counted):
    out = tmp_path / "runs.parquet"
    stored_runs(RUNS[:2], out, jobs=1)
    stored_runs(RUNS, out, jobs=1)
    assert len(counted) == 4


def test_an_interrupted_study_continues_with_the_same_rows(tmp_path, counted):
    out = tmp_path / "runs.parquet"
    counted.stop_at = 3
    with pytest.raises(KeyboardInterrupt):
        stored_runs(RUNS, out, jobs=1)
    with Store(out, resume=True) as results:
        kept = dict(results.rows)
    assert set(keys_of(RUNS[:2])) <= set(kept)
    begun = len(counted)
    continued = stored_runs(RUNS, out, jobs=1)
    assert counted[begun:] == [run for run in RUNS if keys_of([run])[0] not in kept]
    assert RUNS[2] in counted[begun:]
    assert [bare(run) for run in continued] == [
        bare(run) for run in stored_runs(RUNS, None, jobs=1)
    ]
    with Store(out, resume=True) as results:
        assert {key: results.rows[key] for key in kept} == kept


def test_the_key_has_everything_that_decides_a_run():
    base = {"workload": "reduction", "protocol": "tc-weak", "scale": "tiny"}
    others = [
        {"workload": "vec-cpy"},
        {"protocol": "ideal"},
        {"protocol": "tc-weak[lifetime=100]"},
        {"scale": "small"},
        {"seed": 1},
        {"machine": "gcn3"},
        {"set": {"l1_kib": 16}},
        {"set": {"cores": 2}},
        {"set": {"budget": 10}},
        {"set": {"placement": "static"}},
        {"set": {"start_skew": 1}},
        {"params": {"words": 999}},
    ]
    found = keys_of([Run(**base | other) for other in [{}, *others]])
    assert len(set(found)) == 1 + len(others)


def test_a_run_of_an_older_version_has_no_processor_time():
    result = RUNS[0].carry_out()
    assert 0 < result.cpu_s < result.wall_s + 1
    older = {name: value for name, value in result.to_dict().items() if name != "cpu_s"}
    assert RunResult.from_dict(older).cpu_s is None
    assert RunResult.from_dict(result.to_dict()).cpu_s == result.cpu_s
