"""Does Ctrl-C return to the prompt at once, without a traceback and without partial files?"""

import os
import pty
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import psutil
import pyarrow.parquet as pq
import pytest

import gpucoh
from gpucoh.base.files import results_folder, whole_file
from gpucoh.runs.interrupts import interruptible, terminable
from products import rows, share

# CPU seconds from a signal to the end: measured are 0.01 to 0.04, up to 0.05 are the rest of a chunk. Time of the
# clock would depend on what else the machine does. Without the interrupt, the runs compute for minutes.
AT_ONCE = 0.2
PATIENCE_S = 60.0  # of the clock: the process waits for something that never comes


def cpu_of_ended_children():
    """CPU seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def end(process, by=signal.SIGINT):
    """Send a signal to a child and wait: (exit status, output, error output, CPU seconds after the signal)."""
    before = cpu_of_ended_children()
    used = psutil.Process(process.pid).cpu_times()
    process.send_signal(by)
    out, message = process.communicate(timeout=PATIENCE_S)
    taken = cpu_of_ended_children() - before - used.user - used.system
    return process.returncode, out, message, taken


# The program, telling on standard error when its first kernel is launched. What a shell runs in the background ignores
# Ctrl-C, what nohup runs ignores SIGHUP, and so would their tests.
PROGRAM = """
import signal, sys
from gpucoh import cli
from gpucoh.device import gpu

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

def launch(self, *arguments, original=gpu.GPU.launch, **named):
    sys.stderr.write("launched\\n")  # in one piece: two threads may launch at once
    original(self, *arguments, **named)

gpu.GPU.launch = launch
sys.argv[0] = "gpucoh"
cli.main()
"""


def interrupted(folder, *arguments, by=signal.SIGINT):
    """Send a signal a moment after the first launch: (exit status, output, other words, CPU seconds to the end)."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr.readline() == "launched\n"
        time.sleep(0.3)
        status, out, message, taken = end(process, by)
    return status, out, message.replace("launched\n", ""), taken


LONG = ("--scale", "paper", "--set", "budget=1e12")


def test_a_run_ends_at_once(tmp_path):
    status, out, message, taken = interrupted(
        tmp_path, "run", "spm_g", "-p", "no-l1", *LONG, "--param", "iterations=100000"
    )
    assert (status, out, message) == (130, "", "")
    assert taken < AT_ONCE


def test_a_comparison_ends_at_once_and_leaves_no_folder(tmp_path):
    matrix = ("-w", "stn,spm_g", "-p", "no-l1,ideal", "--jobs", "2", "--out", "a/b")
    status, out, message, taken = interrupted(tmp_path, "compare", *matrix, *LONG)
    assert (status, out, message) == (130, "", "")
    assert taken < AT_ONCE
    assert list(tmp_path.iterdir()) == []


SWEEP = """
workloads = ["spm_g"]
protocols = ["no-l1"]
scale = "paper"
set = {budget = 1e12}
params = {iterations = 100000}
"""


ENDING = [(signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.mark.parametrize(("by", "code"), rows(ENDING, one_in=4))
@pytest.mark.long
def test_sigterm_and_sighup_end_a_run_at_once(tmp_path, by, code):
    run = ("run", "spm_g", "-p", "no-l1", *LONG, "--param", "iterations=100000")
    status, out, message, taken = interrupted(tmp_path, *run, by=by)
    assert (status, out, message) == (code, "", "")
    assert taken < AT_ONCE


@pytest.mark.parametrize(("by", "code"), rows(ENDING, one_in=4))
@pytest.mark.long
def test_sigterm_and_sighup_end_the_sweep_command_and_remove_its_lock(tmp_path, by, code):
    (tmp_path / "s.toml").write_text(SWEEP)
    command = ("sweep", "s.toml", "--out", "rows.parquet", "--jobs", "1")
    status, _, _, taken = interrupted(tmp_path, *command, by=by)
    assert status == code
    assert taken < AT_ONCE
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


SWEEP_PROGRAM = """
import signal, sys
import gpucoh
from gpucoh.runs import store

signal.signal(signal.SIGHUP, signal.SIG_DFL)
store.FLUSH_SECONDS = 1e9  # the file has the first row until the end
runs = [{"workload": "vec-cpy", "protocol": "ideal", "scale": "tiny", "seed": seed} for seed in range(3)]
runs.append({"workload": "spm_g", "protocol": "no-l1", "scale": "paper", "params": {"iterations": 100000}})
add = store.Store.add

def report(self, row, replaced):
    add(self, row, replaced)
    sys.stderr.write("row\\n")

store.Store.add = report
SETUP
try:
    gpucoh.sweep(runs, out="rows.parquet", jobs=1)
finally:
    print([signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == before)
"""


def terminated_sweep(folder, setup, by):
    """End a sweep by a signal after three rows: exit status, standard output, its rows."""
    program = [sys.executable, "-c", SWEEP_PROGRAM.replace("SETUP", setup)]
    with subprocess.Popen(
        program, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for _ in range(3):
            assert process.stderr.readline() == "row\n"
        time.sleep(0.3)
        process.send_signal(by)
        out, _ = process.communicate(timeout=PATIENCE_S)
    assert [path.name for path in folder.iterdir()] == ["rows.parquet"]
    return process.returncode, out, len(pq.read_table(folder / "rows.parquet"))


@pytest.mark.parametrize(("by", "code"), rows(ENDING, one_in=4))
@pytest.mark.long
def test_sigterm_and_sighup_end_a_sweep_with_its_rows_kept_and_its_lock_removed(tmp_path, by, code):
    setup = "before = [signal.SIG_DFL] * 2"
    assert terminated_sweep(tmp_path, setup, by) == (code, "True\n", 3)


@pytest.mark.long
def test_a_program_keeps_its_own_handler_of_sigterm(tmp_path):
    setup = (
        "own = lambda *_: sys.exit(7); signal.signal(signal.SIGTERM, own)\n"
        "before = [own, signal.SIG_DFL]"
    )
    assert terminated_sweep(tmp_path, setup, signal.SIGTERM) == (7, "True\n", 3)


def test_what_nohup_started_goes_on_after_sighup():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with terminable():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.long
def test_a_terminal_that_is_closed_ends_a_sweep_with_its_rows_kept(tmp_path):
    """The progress bar and the report are written to the terminal, which is gone."""
    (tmp_path / "s.toml").write_text(
        'workloads = ["vec-cpy", "spm_g"]\nscale = "tiny"\nprotocol = "ideal"\n'
    )
    slow = (
        "from gpucoh.runs import grids, sweeps\nfrom gpucoh.cli import sweeps as command\n"
        "long = sweeps.Run(workload='spm_g', scale='paper', params={'iterations': 100000})\n"
        "read = command.read_sweep\n"
        "command.read_sweep = lambda path: [*read(path), long]\n"
    )
    arguments = ["gpucoh", "sweep", "s.toml", "--out", "rows.parquet", "--jobs", "1"]
    program = PROGRAM.replace('sys.argv[0] = "gpucoh"', f"{slow}sys.argv = {arguments!r}")
    own = "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    terminal, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", own + program], cwd=tmp_path, stdin=other, stdout=other, stderr=other,
        start_new_session=True,
    )  # fmt: skip
    os.close(other)
    seen = b""
    while seen.count(b"launched") < 3:
        seen += os.read(terminal, 1024)
    time.sleep(0.3)
    os.close(terminal)
    assert process.wait(PATIENCE_S) == 129
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.parquet", "s.toml"]
    assert len(pq.read_table(tmp_path / "rows.parquet")) == 2


def work_that_cleans_up(steps):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        steps.append("cleaned up")


def test_a_second_sigterm_does_not_interrupt_the_clean_up():
    steps = []
    with pytest.raises(SystemExit) as caught, terminable():
        work_that_cleans_up(steps)
    assert caught.value.code == 143
    assert steps == ["cleaned up"]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_sigterm_ends_a_forked_worker_as_before():
    """multiprocessing ends its workers by SIGTERM."""
    program = """
import os, signal, time
from gpucoh.runs.interrupts import terminable

with terminable():
    child = os.fork()
    if child == 0:
        time.sleep(20)
        os._exit(0)
    time.sleep(0.2)
    os.kill(child, signal.SIGTERM)
    print(os.waitpid(child, 0)[1])
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (found.stdout, found.stderr) == (f"{int(signal.SIGTERM)}\n", "")


# As a shell starts it: Ctrl-C is not ignored.
FOREGROUND = "import signal, os, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"


@pytest.mark.parametrize(
    "module", share(["numpy", "gpucoh.lang", "typer", "scipy.sparse"], one_in=4)
)
@pytest.mark.long
def test_ctrl_c_during_the_start_says_nothing(tmp_path, module):
    program = [sys.executable, "-X", "importtime", "-m", "gpucoh", "run", "apsp", "-p", "mesi"]
    command = [sys.executable, "-c", FOREGROUND, *program]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while process.stderr.readline().split("|")[-1].strip() != module:
            assert process.poll() is None
        status, out, message, taken = end(process)
    assert (status, out) == (130, "")
    assert "Traceback" not in message
    assert "Interrupt" not in message
    assert taken < AT_ONCE


IN_A_LIBRARY = """
import signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import gpucoh
from gpucoh.suite import graphs

def slow(*arguments, **named):
    sys.stderr.write("in a library\\n")
    threading.Event().wait()  # for ever: a program that waits for it never ends

graphs.inputs.uniform_graph = slow
try:
    CALL
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    "call",
    share(
        [
            "gpucoh.run('bfs', protocol='ideal')",
            "gpucoh.compare(['bfs'], ['ideal', 'mesi'])",
            "gpucoh.sweep([{'workload': 'bfs', 'protocol': 'ideal'}])",
        ],
        one_in=4,
    ),
)
def test_input_that_takes_long_to_make_is_not_waited_for(tmp_path, call):
    command = [sys.executable, "-c", IN_A_LIBRARY.replace("CALL", call)]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr.readline() == "in a library\n"
        status, out, _, _ = end(process)
    assert (status, out) == (0, "interrupted\n")


# ---- what the commands are made of


@pytest.fixture
def ctrl_c():
    """Press Ctrl-C in this process after some seconds; gives the CPU times at which it was."""
    pressed = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def press():
        pressed.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timers = []

    def after(seconds):
        timers.append(threading.Timer(seconds, press))
        timers[-1].start()
        return pressed

    yield after
    for timer in timers:
        timer.cancel()
    signal.signal(signal.SIGINT, before)


@gpucoh.kernel
def add_up(x: gpucoh.Buffer[gpucoh.i32], rounds: gpucoh.i32):
    i = gpucoh.global_id()
    for _ in range(rounds):
        gpucoh.atomic_add(x, i, 1)


def test_a_launch_in_python_ends_at_once_and_the_gpu_is_usable(ctrl_c):
    gpu = gpucoh.GPU(machine="fermi", protocol="ideal")
    x = gpu.zeros(4096, np.int32)
    pressed = ctrl_c(0.3)
    with pytest.raises(KeyboardInterrupt):
        gpu.launch(add_up, grid=32, block=128, args=(x, 10**8))
    assert time.process_time() - pressed[0] < AT_ONCE
    gpu.verify()
    x[:] = 5
    gpu.launch(add_up, grid=32, block=128, args=(x, 3))
    assert (x.numpy() == 8).all()


def test_work_that_looks_for_no_signal_is_not_waited_for(ctrl_c):
    stops, going_on, ended = [], threading.Event(), threading.Event()

    def work(stop):
        going_on.wait(PATIENCE_S)
        stops.append(stop.is_set())
        ended.set()

    ctrl_c(0.2)
    with pytest.raises(KeyboardInterrupt):
        interruptible(work)
    assert stops == []
    going_on.set()
    assert ended.wait(PATIENCE_S)
    assert stops == [True]


def test_what_work_gives_and_raises_comes_through():
    assert interruptible(lambda stop: 42) == 42
    with pytest.raises(gpucoh.ConfigError, match="unknown"):
        interruptible(lambda stop: gpucoh.machine("unknown"))


def interrupted_write(path):
    path.write_text("half")
    raise KeyboardInterrupt


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("before")
    with pytest.raises(KeyboardInterrupt), whole_file(path) as part:
        interrupted_write(part)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    with whole_file(path) as part:
        part.write_text("after")
    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_reported(tmp_path):
    with (
        pytest.raises(gpucoh.ConfigError, match="cannot be written: No such file"),
        whole_file(tmp_path / "none" / "f.csv") as part,
    ):
        part.write_text("x")


def test_a_file_behind_a_link_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "f.toml", tmp_path / "there" / "kept"
    link.symlink_to("there/kept")
    for cores in (3, 5):  # a target that is missing is made
        gpucoh.machine("fermi").replace(cores=cores).to_toml(link)
        assert link.is_symlink()
        assert gpucoh.Machine.from_toml(target).cores == cores
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["f.toml", "kept", "there"]


def test_what_is_no_file_is_not_replaced(tmp_path):
    pipe, loop = tmp_path / "pipe", tmp_path / "loop"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    (tmp_path / "link").symlink_to(pipe)
    for name, message in (
        ("pipe", "not a regular file"),
        ("link", "not a regular file"),
        ("loop", "Too many levels"),
        (".", "Is a directory"),
    ):
        with pytest.raises(gpucoh.ConfigError, match=f"cannot be written: .*{message}"):
            gpucoh.machine("fermi").to_toml(tmp_path / name)
    assert pipe.is_fifo()
    assert loop.is_symlink()
    assert len(list(tmp_path.iterdir())) == 3


def test_a_folder_made_for_nothing_goes_again(tmp_path):
    with pytest.raises(KeyboardInterrupt), results_folder(tmp_path / "a" / "b"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_stays(tmp_path):
    with pytest.raises(KeyboardInterrupt), results_folder(tmp_path / "a" / "b") as folder:
        interrupted_write(folder / "figure.png")
    assert (tmp_path / "a" / "b" / "figure.png").exists()
