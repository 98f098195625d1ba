"""Does a launch that raises leave a usable GPU, whatever raises, and wherever?"""

import contextlib
import itertools
import signal
import sys
import threading

import numpy as np
import pytest

import gpucoh
from products import share

RAISED = (
    TimeoutError,
    ValueError,
    SystemExit,
    MemoryError,
    KeyboardInterrupt,
    GeneratorExit,
    gpucoh.SimulationError,
)


@gpucoh.kernel
def endless(x: gpucoh.Buffer[gpucoh.i32]):
    r = 0
    while x[0] < 5:
        r = r + 1
        x[1] = r


@gpucoh.kernel
def count(x: gpucoh.Buffer[gpucoh.i32]):
    gpucoh.atomic_add(x, 2, 1)


@gpucoh.kernel
def printing(x: gpucoh.Buffer[gpucoh.i32]):
    print(x[0])


@pytest.fixture
def gpu():
    return gpucoh.GPU(protocol="mesi")


@pytest.fixture
def alarm():
    """Set the alarm's handler; afterwards no alarm is left."""
    before = signal.getsignal(signal.SIGALRM)

    def begin(raised, seconds):
        def handler(*_):
            raise raised("from a handler")

        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    yield begin
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def check_usable(gpu, x):
    """The memory can be read, and a launch and a snapshot can be made."""
    gpu.progress = None
    before = x.numpy()[2]
    gpu.launch(count, grid=2, block=32, args=(x,))
    assert x.numpy()[2] == before + 64
    gpu.restore(gpu.snapshot())
    gpu.verify()


def raise_at(callback, raised):
    """A progress callback that raises at its nth call, from 1."""
    calls = itertools.count(1)

    def progress(*_):
        if next(calls) == callback:
            raise raised("from a callback")

    return progress


@pytest.mark.parametrize(("raised", "callback"), share(RAISED, [1, 3], one_in=4))
def test_what_progress_raises_ends_the_launch(gpu, raised, callback):
    x = gpu.zeros(32, np.int32)
    gpu.progress = raise_at(callback, raised)
    with pytest.raises(raised, match="from a callback"):
        gpu.launch(endless, grid=4, block=32, args=(x,))
    check_usable(gpu, x)


@pytest.mark.parametrize(("raised", "seconds"), share(RAISED, [0.001, 0.1], one_in=4))
def test_what_a_signal_handler_raises_ends_the_launch(gpu, alarm, raised, seconds):
    x = gpu.zeros(32, np.int32)

    def launch():
        alarm(raised, seconds)  # which may ring before the launch, on a busy machine
        gpu.launch(endless, grid=4, block=32, args=(x,))

    with pytest.raises(raised, match="from a handler"):
        launch()
    check_usable(gpu, x)


def raise_at_event(number):
    """Raise at the nth call or return of a function, where a signal's handler may run; count the events."""
    seen = itertools.count(1)

    def profiler(frame, *_):
        if frame.f_code is not sweep.__code__ and next(seen) == number:
            raise TimeoutError

    return profiler


def sweep(launch):
    """Launch with an exception at every call and return in turn."""
    number, ended = 0, False
    while not ended:
        number += 1
        sys.setprofile(raise_at_event(number))
        try:
            launch()
            ended = True
        except TimeoutError:
            pass
        finally:
            sys.setprofile(None)
    return number


def test_an_exception_at_any_call_of_a_launch_leaves_a_usable_gpu(gpu):
    x = gpu.zeros(32, np.int32)
    gpu.launch(printing, grid=1, block=1, args=(x,))  # compiles

    def launch():
        assert not gpu.is_running
        gpu.launch(printing, grid=1, block=1, args=(x,))

    assert sweep(launch) > 50
    check_usable(gpu, x)


@pytest.mark.parametrize(
    ("raised", "context"), share(RAISED, ["profile", "record", "trace"], one_in=4)
)
def test_an_exception_ends_the_contexts_around_a_launch(gpu, raised, context):
    x = gpu.zeros(32, np.int32)

    def begin():
        return gpu.record(100) if context == "record" else getattr(gpu, context)()

    gpu.progress = raise_at(1, raised)
    with pytest.raises(raised, match="from a callback"), begin():
        gpu.launch(endless, grid=4, block=32, args=(x,))
    with begin():
        pass
    check_usable(gpu, x)


def test_the_intervals_of_a_launch_that_raises_are_kept(gpu):
    gpu.progress = raise_at(1, ValueError)
    with contextlib.suppress(ValueError), gpu.record(10_000) as record:
        gpu.launch(endless, grid=4, block=32, args=(gpu.zeros(32, np.int32),))
    assert len(record.intervals) > 1
    assert record.launches["kernel"].tolist() == ["endless"]


def test_the_exception_of_a_launch_is_not_replaced_by_that_of_a_trace_without_its_array(gpu):
    with pytest.raises(TimeoutError), gpu.trace(array="never"):
        raise TimeoutError
    with gpu.trace():
        pass


def test_what_the_output_of_a_kernel_raises_leaves_a_usable_gpu(gpu, monkeypatch):
    x = gpu.zeros(32, np.int32)

    class Closed:
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError):
        gpu.launch(printing, grid=1, block=1, args=(x,))
    check_usable(gpu, x)


def test_a_launch_in_a_callback_is_refused_and_ends_the_outer_launch(gpu):
    x = gpu.zeros(32, np.int32)
    gpu.progress = lambda *_: gpu.launch(count, grid=1, block=1, args=(x,))
    with pytest.raises(gpucoh.SimulationError, match="a launch while a launch is running"):
        gpu.launch(endless, grid=4, block=32, args=(x,))
    check_usable(gpu, x)


def test_a_refused_launch_of_another_thread_does_not_end_the_running_one(gpu):
    x, refused = gpu.zeros(32, np.int32), []

    def other():
        try:
            gpu.launch(count, grid=1, block=1, args=(x,))
        except gpucoh.SimulationError as error:
            refused.append(error)

    def progress(*_):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert gpu.is_running
        if len(refused) == 2:
            raise TimeoutError

    gpu.progress = progress
    with pytest.raises(TimeoutError):
        gpu.launch(endless, grid=4, block=32, args=(x,))
    assert len(refused) == 2
    check_usable(gpu, x)
