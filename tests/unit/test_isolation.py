"""Does code of users that crashes, loops or takes all memory end its own run alone, and say so?"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pandas as pd
import psutil
import pytest

import gpucoh
from dask_cluster import dask_cluster
from gpucoh.base.errors import Note
from gpucoh.base.files import results_folder, whole_file
from gpucoh.base.processes import NO_LIMITS, Limits
from gpucoh.cli import call
from gpucoh.device import outside
from gpucoh.runs import isolation
from gpucoh.runs.runner import Run
from gpucoh.runs.schedule import _noted
from gpucoh.runs.store import Store
from host import HOST
from products import share
from unit import isolated
from unit.isolated import FAULTS, elsewhere, write_protocol

# Runs of the tests of every executor, and kills: of the long tests, unless the environment says otherwise.
RUNS = int(os.environ.get("ISOLATION_RUNS", "24"))
KILLS = int(os.environ.get("ISOLATION_KILLS", "10"))

# As a shell starts a command: Ctrl-C is not ignored.
FOREGROUND = (
    "import os, signal, sys; signal.signal(2, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield tmp_path
    for path in tmp_path.glob("*.c"):
        path.unlink()  # another test may load a protocol of the same id


def workers(of=None):
    """The processes of runs that a process has started, directly or not."""
    found = []
    for process in psutil.Process(of).children(recursive=True):
        try:
            if "import serve" in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


# ---- calls


def apart(function, *arguments, limits=NO_LIMITS, **named):
    return isolation.call("tests", function, *arguments, limits=limits, **named)


def ended(function, *arguments, **named):
    with pytest.raises(isolation.Ended) as caught:
        apart(function, *arguments, **named)
    return caught.value.kind, str(caught.value)


def test_a_process_is_kept_until_its_code_fails():
    first = apart(isolated.own_id)
    assert apart(isolated.own_id) == first != os.getpid()
    assert isolation.call("others", isolated.own_id, limits=NO_LIMITS) != first
    with pytest.raises(ValueError, match="wrong"):
        apart(isolated.fail, False)
    second = apart(isolated.own_id, again=lambda result: False)
    assert first != second != apart(isolated.own_id)


def test_what_it_prints_is_passed_on_and_it_works_in_this_folder(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    apart(isolated.talk)
    assert capsys.readouterr() == ("printed\nprinted by C\n", "reported\n")
    assert apart(isolated.folder) == str(tmp_path)


@pytest.mark.parametrize(
    ("function", "arguments", "kind", "text"),
    [
        (isolated.segfault, (), "crashed: SIGSEGV", "SIGSEGV ended the process of the run"),
        (isolated.kill, (), "signal: SIGKILL", "SIGKILL ended the process of the run"),
        (isolated.leave, (3,), "crashed: status 3", "ended its process with status 3"),
        (isolated.exit_by_an_exception, (4,), "crashed: status 4", "with status 4"),
    ],
)
def test_how_a_process_has_ended_is_said(function, arguments, kind, text):
    found = ended(function, *arguments)
    assert found[0] == kind
    assert text in found[1]


def test_the_last_line_of_a_crash_is_in_the_message_alone(capfd):
    kind, text = ended(isolated.write_and_abort)
    assert kind == "crashed: SIGABRT"
    assert text.endswith("the process of the run: free(): invalid pointer")
    assert capfd.readouterr().err == "a line\n"


def test_an_exception_that_cannot_travel_is_an_error():
    with pytest.raises(gpucoh.Error, match="Odd: 1 and 2"):
        apart(isolated.fail, True)


def test_a_process_that_closes_its_files_does_not_hang(monkeypatch):
    monkeypatch.setattr(isolation, "_PATIENCE_S", 0.1)
    assert ended(isolated.close_all)[0] == "crashed: no answer"


def test_a_limit_ends_a_call_and_its_process():
    assert ended(isolated.loop, limits=Limits(limit_s=0.3)) == (
        "limit: limit_s",
        "the run took longer than limit_s = 0.3",
    )
    assert ended(isolated.take, 1, limits=Limits(60, 0.25)) == (
        "limit: limit_gib",
        "the run took more memory than limit_gib = 0.25",
    )


def test_an_event_stops_a_call_and_its_process():
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(gpucoh.SimulationError, match="stopped"):
        apart(isolated.loop, stop=stop)


PARENT = """
import sys
sys.path[:0] = [TESTS]
from gpucoh.base.processes import NO_LIMITS
from gpucoh.runs import isolation
from unit import isolated

print(isolation.call("tests", isolated.own_id, limits=NO_LIMITS), flush=True)
isolation.call("tests", isolated.loop, limits=NO_LIMITS)
"""


def test_a_process_ends_with_its_parent():
    program = PARENT.replace("TESTS", repr(str(Path(__file__).parents[1])))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        process = psutil.Process(int(parent.stdout.readline()))
        time.sleep(0.2)
        parent.kill()
        parent.wait()
        process.wait(timeout=5)


@pytest.mark.parametrize("name", ["limit_s", "limit_gib"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), "long", True])
def test_what_is_no_limit_is_refused(name, value):
    unit = {"limit_s": "seconds", "limit_gib": "GiB"}[name]
    with pytest.raises(gpucoh.ConfigError, match=f"{name} = .* is not a positive number of {unit}"):
        Run(workload="vec-cpy", **{name: value})


# ---- results


WORKLOAD = """
import ctypes
import os
import numpy as np
import gpucoh

@gpucoh.kernel
def _twice(x: gpucoh.Buffer[gpucoh.i32]):
    i = gpucoh.global_id()
    x[i] = x[i] + x[i]

@gpucoh.workload
def twice(gpu, rng, fault: str = "none", seconds: float = 0.0):
    given = rng.integers(0, 99, 256).astype(np.int32)
    x = gpu.array(given)
    gpu.launch(_twice, grid=4, block=64, args=(x,))
    if fault == "crash":
        ctypes.string_at(8)
    if fault == "exit":
        os._exit(0)
    import time
    time.sleep(seconds)
    return {"x": (x, 2 * given)}
"""


@pytest.mark.parametrize("protocol", ["./apart.c", "apart", "tc-weak"])
def test_a_run_in_a_process_is_the_run(folder, protocol):
    write_protocol("apart")
    gpucoh.load_protocol("apart.c")
    Path("own.py").write_text(WORKLOAD)
    for workload in ("bfs", "own.py:twice"):
        run = Run(workload=workload, protocol=protocol, scale="tiny", seed=3, check=True)
        given = {"every": 500, "profile": True, "trace": {"kinds": ["misses"]}}
        here, there = run.carry_out(capture=True, **given), run.carry_out_apart(**given)
        differing = {
            name
            for name, value in here.to_dict().items()
            if json.dumps(value) != json.dumps(there.to_dict()[name])
        }
        assert differing <= set(HOST)
        assert there.cpu_s > 0
        assert (there.trace.records == here.trace.records).all()
        assert there.trace.title == here.trace.title


def test_runs_without_users_code_have_no_process(folder):
    before = len(workers())
    gpucoh.compare("vec-cpy", ["mesi", "tc-weak"], scale="tiny")
    gpucoh.sweep([{"workload": "vec-cpy", "scale": "tiny"}])
    assert len(workers()) == before


@pytest.mark.long
def test_a_crash_and_a_limit_are_rows_that_resume_goes_past(folder, counted):
    for name in ("crash", "spin"):
        write_protocol(name, FAULTS[name])
    runs = gpucoh.grid(workload="vec-cpy", protocol=["mesi", "./crash.c", "./spin.c"], scale="tiny")
    table = gpucoh.sweep(runs, out="r.parquet", jobs=2, limit_s=3)
    assert table.error.fillna("").tolist() == ["", "crashed: SIGSEGV", "limit: limit_s"]
    assert table.correct.tolist() == [True, False, False]
    assert table.cycles.isna().tolist() == [False, True, True]
    names = [str(Path(name).absolute()) for name in ("crash.c", "spin.c")]
    assert table["where"].tolist() == [
        "",
        f"vec-cpy under ./crash.c, seed 0: SIGSEGV ended the process of the run ({names[0]})",
        f"vec-cpy under ./spin.c, seed 0: the run took longer than limit_s = 3 ({names[1]})",
    ]
    gpucoh.sweep(runs, out="r.parquet", resume=True, counters="all")  # the others lack counters
    assert [run.protocol for run in counted] == ["mesi", "./crash.c", "./spin.c", "mesi"]
    gpucoh.sweep(runs[:2], out="r.parquet", retry="failed")
    assert [run.protocol for run in counted[4:]] == ["./crash.c"]
    assert len(pd.read_parquet("r.parquet")) == 3


def test_a_comparison_and_its_store_have_the_run_that_crashed(folder):
    write_protocol("crash", FAULTS["crash"])
    Path("own.py").write_text(WORKLOAD)
    for _ in range(2):  # run, and read
        found = gpucoh.compare(
            "vec-cpy", ["mesi", "./crash.c"], scale="tiny", store="s.parquet", jobs=1
        )
        assert [run.verdict for run in found.runs] == ["correct", "failed"]
        assert found.runs[1].error == "crashed: SIGSEGV"
        assert [run.protocol for run in found.failures] == ["./crash.c"]
        assert found.table.speedup.isna().tolist() == [False, True]
    own = gpucoh.compare(
        "own.py:twice", "mesi", scale="tiny", params={"fault": "exit"}, jobs=1
    ).runs[0]
    assert own.error == "crashed: status 0"
    assert str(Path("own.py").absolute()) in own.where


def test_a_crash_while_the_file_is_loaded_or_set_up_is_said(folder, capsys):
    at_once = (
        "__attribute__((constructor)) static void at_once(void) { *(volatile int *) 8 = 1; }\n"
    )
    path = write_protocol("loaded")
    path.write_text(path.read_text() + at_once)
    assert call(["compare", "-w", "vec-cpy", "-p", "mesi,./loaded.c", "--scale", "tiny"]) == 2
    text = "gpucoh: protocol file loaded.c: SIGSEGV ends the process that loads its code\n"
    assert capsys.readouterr() == ("", text)
    path = write_protocol("setup")
    begin = "static const gpc_protocol_t protocol"
    text = path.read_text()
    assert begin in text
    fault = elsewhere("*(volatile int64_t *) 8 = *o;")
    fault = f"static void derive(const gpc_machine_t *m, int64_t *o)\n{{ (void) m; (void) o; {fault} }}\n"
    text = text.replace(begin, fault + begin).replace(".id = ", ".derive = derive, .id = ", 1)
    path.write_text(text)
    found = gpucoh.sweep([{"workload": "vec-cpy", "protocol": "./setup.c", "scale": "tiny"}])
    assert found.error.tolist() == ["crashed: SIGSEGV"]


@pytest.mark.parametrize(
    "command", ["run vec-cpy -p ./crash.c --scale tiny", "litmus MP -p ./crash.c --runs 40"]
)
def test_a_command_whose_protocol_crashes_is_one_line_and_status_2(folder, command):
    write_protocol("crash", FAULTS["crash"])
    done = subprocess.run(
        [sys.executable, "-m", "gpucoh", *command.split()], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr == "gpucoh: SIGSEGV ended the process that executed ./crash.c\n"


def spinning_child(parent):
    """The child of a command, once it computes."""
    for _ in range(200):
        time.sleep(0.1)
        for child in psutil.Process(parent).children():
            if child.cpu_times().user > 1.5:
                return child
    raise AssertionError("no child computes")


@pytest.mark.parametrize("by", share([signal.SIGINT, signal.SIGTERM, signal.SIGKILL], one_in=3))
@pytest.mark.long
def test_a_command_whose_protocol_loops_ends_by_a_signal(folder, by):
    write_protocol("spin", FAULTS["spin"])
    command = [sys.executable, "-m", "gpucoh", "run", "vec-cpy", "-p", "./spin.c"]
    with subprocess.Popen(
        [sys.executable, "-c", FOREGROUND, *command], stdout=-1, stderr=-1
    ) as process:
        try:
            child = spinning_child(process.pid)
            process.send_signal(by)
            out, message = process.communicate(timeout=20)
            child.wait(timeout=5)
        finally:
            process.kill()
    assert (out, message) == (b"", b"")
    assert process.returncode == {2: 130, 15: 143, 9: -9}[by]


# ---- every executor


def sweep_under(executor, runs, **given):
    """A sweep with two workers of a kind."""
    if executor == "dask":
        with dask_cluster(2) as (_, client):
            return gpucoh.sweep(runs, client.get_executor(), **given)
    if executor == "pool":
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            return gpucoh.sweep(runs, pool, **given)
    return gpucoh.sweep(runs, jobs=2, processes=executor == "processes", **given)


EXECUTORS = ["threads", "processes", "pool", "dask"]


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("executor", EXECUTORS)
def test_four_bad_protocols_spoil_their_own_runs_alone(folder, executor):
    write_protocol("good")
    for name, fault in FAULTS.items():
        write_protocol(name, fault)
    protocols = ["mesi", "./good.c", "tc-weak"]
    runs = gpucoh.grid(
        workload=["vec-cpy", "stn"], seeds=range(RUNS), protocols=protocols, scale="tiny"
    )[: RUNS - 4]
    right = gpucoh.sweep(runs, jobs=2).drop(columns=[*HOST, "error"])
    draw = random.Random(RUNS)
    for name in FAULTS:
        bad = {"workload": "vec-cpy", "protocol": f"./{name}.c", "scale": "tiny"}
        runs.insert(draw.randrange(len(runs)), bad)
    table = sweep_under(executor, runs, limit_s=15, limit_gib=1)
    bad = table[table.error.notna()]
    assert dict(zip(bad.protocol, bad.error, strict=True)) == {
        "./crash.c": "crashed: SIGSEGV",
        "./spin.c": "limit: limit_s",
        "./take.c": "limit: limit_gib",
        "./overwrite.c": "crashed: SIGSEGV",
    }
    assert all(
        str(Path(name).absolute()) in text
        for name, text in zip(bad.protocol, bad["where"], strict=True)
    )
    good = table[table.error.isna()].drop(columns=[*HOST, "error"]).set_index("key")
    pd.testing.assert_frame_equal(
        good, right.set_index("key").loc[good.index], check_dtype=False, check_like=True
    )


def killed(stop, number, seconds):
    """Kill processes of runs at random, until there have been enough."""
    draw = random.Random(number)
    while number and not stop.wait(draw.uniform(0, 2 * seconds)):
        if found := workers():
            draw.choice(found).kill()
            number -= 1


@pytest.mark.parametrize(
    ("executor", "kills"),
    [("processes", 2), *(pytest.param(one, KILLS, marks=pytest.mark.long) for one in EXECUTORS)],
)
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")
def test_processes_that_are_killed_lose_their_own_runs(folder, executor, kills):
    write_protocol("good")
    Path("own.py").write_text(WORKLOAD)
    runs = gpucoh.grid(
        workload="own.py:twice",
        protocols=["mesi", "./good.c"],
        seeds=range(3 * kills),
        scale="tiny",
        params={"seconds": 0.1},
    )
    stop = threading.Event()
    killer = threading.Thread(target=killed, args=(stop, kills, 0.2))
    killer.start()
    try:
        table = sweep_under(executor, runs, out="r.parquet")
    finally:
        stop.set()
        killer.join()
    bad = table[table.error.notna()]
    assert len(bad) <= kills
    assert set(bad.error) <= {"signal: SIGKILL"}
    assert table[table.error.isna()].correct.all()
    again = gpucoh.sweep(runs, out="r.parquet", retry="failed")
    assert again.correct.all()


def test_a_pool_of_which_a_process_is_killed_is_replaced(folder):
    runs = gpucoh.grid(workload="vec-cpy", protocol="mesi", scale="tiny", seeds=range(6))

    class Killed(ProcessPoolExecutor):
        """A pool whose process is killed after its third run."""

        def submit(self, *given, **more):
            future = super().submit(*given, **more)
            self.taken = getattr(self, "taken", 0) + 1
            if self.taken == 4:
                os.kill(next(iter(self._processes)), signal.SIGKILL)
            return future

    with Killed(1, mp_context=get_context("spawn")) as pool:
        table = gpucoh.sweep(runs, pool)
    assert table.correct.all()
    pd.testing.assert_frame_equal(table.drop(columns=HOST), gpucoh.sweep(runs).drop(columns=HOST))


def cpu_of(pid):
    """Processor seconds of a process."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_process_costs_runs_of_a_second_at_most_three_percent(folder):
    """Of two hundred runs and two jobs: what both processes take beside the runs, and two starts."""
    write_protocol("good")
    run = Run(workload="stn", protocol="./good.c")
    begin = time.process_time(), time.monotonic()
    first = run.carry_out_apart()
    (worker,) = [one for one in isolation._idle if one.code == outside.loaded("good").code]
    start = time.process_time() - begin[0] + cpu_of(worker._process.pid) - first.cpu_s
    begin = time.process_time() + cpu_of(worker._process.pid)
    runs = sum(run.carry_out_apart().cpu_s for _ in range(10))
    beside = time.process_time() + cpu_of(worker._process.pid) - begin - runs
    assert runs > 5, "these are not runs of a second"
    share = (beside * 20 + start * 2) / (runs * 20)
    print(f"runs of {runs / 10:.2f} s: {share:.1%}, of which starts {start * 2 / (runs * 20):.1%}")
    assert share < 0.03


# ---- what is said


def test_ctrl_c_of_a_sweep_says_what_is_kept_and_how_to_continue(folder):
    Path("own.py").write_text(WORKLOAD)
    Path("s.toml").write_text(
        'workload = "own.py:twice"\nscale = "tiny"\nparams = {seconds = [0.0, 60.0, 61.0]}\n'
    )
    command = [sys.executable, "-m", "gpucoh", "sweep", "s.toml", "--out", "r.parquet", "-j", "1"]
    with subprocess.Popen(
        [sys.executable, "-c", FOREGROUND, *command], stdout=-1, stderr=-1, text=True
    ) as process:
        while not Path("r.parquet").exists():
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, message = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, "")
    assert message == (
        "gpucoh: interrupted: 1 of 3 runs have ended and are kept in r.parquet; continue with resume\n"
    )


def test_ctrl_c_before_the_first_row_says_so(folder):
    with Store(Path("r.parquet"), resume=False) as results:
        with pytest.raises(KeyboardInterrupt) as caught, _noted(results, ["a", "b"], "again"):
            raise KeyboardInterrupt
        assert caught.value.__notes__ == ["interrupted before the first of 2 runs has ended"]


def test_figures_that_are_replaced_are_named(folder, capsys):
    table = Path("there", "runs.csv")
    with results_folder(table.parent), whole_file(table) as part:
        part.write_text("first")
    Path("there", "other.csv").write_text("kept")
    with (
        pytest.warns(Note, match=r"^replaced in there: runs.csv$"),
        results_folder(table.parent),
        whole_file(table) as part,
    ):
        part.write_text("second")
