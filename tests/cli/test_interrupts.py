"""Does Ctrl-C return to the prompt at once, without a traceback and without partial files?"""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gpucoh
from gpucoh.experiments.interrupts import interruptible
from gpucoh.files import results_folder, whole_file

# 0.2 s on a machine that does nothing else; tests may share theirs.
AT_ONCE = 1.0

# The program, telling on standard error when its first kernel is launched. What a shell runs in the background ignores
# Ctrl-C, and so would its tests.
PROGRAM = """
import signal, sys
from gpucoh import cli, gpu

signal.signal(signal.SIGINT, signal.default_int_handler)

def launch(self, *arguments, original=gpu.GPU.launch, **named):
    sys.stderr.write("launched\\n")  # in one piece: two threads may launch at once
    original(self, *arguments, **named)

gpu.GPU.launch = launch
sys.argv[0] = "gpucoh"
cli.main()
"""


def interrupted(folder, *arguments):
    """Press Ctrl-C a moment after the first launch: (exit status, output, other words, seconds to the prompt)."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr.readline() == "launched\n"
        time.sleep(0.3)
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        out, message = process.communicate(timeout=20)
        taken = time.perf_counter() - start
    return process.returncode, out, message.replace("launched\n", ""), taken


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


# As a shell starts it: Ctrl-C is not ignored.
FOREGROUND = "import signal, os, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"


@pytest.mark.parametrize("module", ["numpy", "pydantic", "scipy.io", "matplotlib"])
def test_ctrl_c_during_the_start_says_nothing(tmp_path, module):
    program = [sys.executable, "-X", "importtime", "-m", "gpucoh", "run", "bfs", "-p", "mesi"]
    command = [sys.executable, "-c", FOREGROUND, *program]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while process.stderr.readline().split("|")[-1].strip() != module:
            assert process.poll() is None
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        out, message = process.communicate(timeout=20)
        taken = time.perf_counter() - start
    assert (process.returncode, out) == (130, "")
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
    time.sleep(10)

graphs.inputs.kronecker = slow
try:
    CALL
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    "call",
    [
        "gpucoh.run('bfs', protocol='ideal')",
        "gpucoh.compare(['bfs'], ['ideal', 'mesi'])",
        "gpucoh.sweep([{'workload': 'bfs', 'protocol': 'ideal'}])",
    ],
)
def test_input_that_takes_long_to_make_is_not_waited_for(tmp_path, call):
    command = [sys.executable, "-c", IN_A_LIBRARY.replace("CALL", call)]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr.readline() == "in a library\n"
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
        taken = time.perf_counter() - start
    assert (process.returncode, out) == (0, "interrupted\n")
    assert taken < AT_ONCE


# ---- what the commands are made of


@pytest.fixture
def ctrl_c():
    """Press Ctrl-C in this process after some seconds; gives the times at which it was."""
    pressed = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def press():
        pressed.append(time.perf_counter())
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
    assert time.perf_counter() - pressed[0] < AT_ONCE
    gpu.verify()
    x[:] = 5
    gpu.launch(add_up, grid=32, block=128, args=(x, 3))
    assert (x.numpy() == 8).all()


def test_work_that_looks_for_no_signal_is_not_waited_for(ctrl_c):
    stops = []

    def work(stop):
        time.sleep(1.5)
        stops.append(stop.is_set())

    pressed = ctrl_c(0.2)
    with pytest.raises(KeyboardInterrupt):
        interruptible(work)
    assert time.perf_counter() - pressed[0] < AT_ONCE
    assert stops == []
    time.sleep(1.6)
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
