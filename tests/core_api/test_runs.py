"""Runs and threads: equal seeds give equal numbers for any division into chunks and any concurrent runs."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from core_api.programs import endless, finish, increment, make_gpu
from gpucoh import _core
from gpucoh.base.errors import SimulationError
from products import share
from registered import ALL, COHERENT


def outcome(protocol="no-l1", events=10**6):
    gpu = make_gpu(protocol=protocol)
    address = gpu.allocate(1056)
    for _ in range(3):
        increment().launch(gpu, address, 1056, blocks=8, threads=128)
        finish(gpu, events)
    gpu.verify()
    out = np.zeros(1056, np.uint32)
    gpu.host_read(address, out)
    return gpu.statistics(), gpu.cycles(), gpu.instructions(), out.tolist()


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=8))
def test_every_thread_counts_under_a_protocol_that_keeps_its_promise(protocol):
    values = outcome(protocol)[3]
    assert values[0] == 3 * 1024
    assert values[32:] == [3] * 1024


@pytest.mark.parametrize("protocol", share(ALL, one_in=8))
def test_the_same_twice_in_a_process(protocol):
    assert outcome(protocol) == outcome(protocol)


@pytest.mark.parametrize("protocol", share(ALL, one_in=8))
def test_the_same_when_cut_into_single_events(protocol):
    assert outcome(protocol, events=1) == outcome(protocol)


def test_the_same_in_eight_threads_at_once():
    expected = {protocol: outcome(protocol) for protocol in ALL}
    with ThreadPoolExecutor(8) as pool:
        jobs = [(protocol, pool.submit(outcome, protocol)) for protocol in ALL * 4]
        for protocol, job in jobs:
            assert job.result() == expected[protocol]


def test_progress_counts_blocks():
    gpu = make_gpu()
    increment().launch(gpu, gpu.allocate(256), 256, blocks=4, threads=32)
    assert gpu.progress() == (0, 4)
    finish(gpu)
    assert gpu.progress() == (4, 4)


def test_a_second_thread_is_refused_while_the_first_runs():
    gpu = make_gpu(budget=2**60)
    endless().launch(gpu, gpu.allocate(256), 256)
    started, refused, stop = threading.Event(), [], threading.Event()

    def runs():
        while not stop.is_set():
            try:
                started.set()
                gpu.run(300_000)
            except SimulationError:
                pass

    runner = threading.Thread(target=runs)
    runner.start()
    started.wait()
    for _ in range(10_000):
        try:
            gpu.cycles()
        except SimulationError as error:
            refused.append(str(error))
            break
    stop.set()
    runner.join()
    assert refused == ["the GPU is running in another thread"]
    gpu.abort()
    assert gpu.cycles() > 0


def test_the_gil_is_free_during_a_run():
    gpu = make_gpu(budget=2**60)
    endless().launch(gpu, gpu.allocate(256), 256)
    ticks, running = [], threading.Event()

    def runs():
        running.set()
        gpu.run(3_000_000)

    runner = threading.Thread(target=runs)
    runner.start()
    running.wait()
    while runner.is_alive() and len(ticks) < 1000:
        ticks.append(1)
    runner.join()
    assert len(ticks) == 1000
    gpu.abort()


def test_the_state_is_printed_for_people():
    gpu = make_gpu()
    endless().launch(gpu, gpu.allocate(256), 256)
    gpu.run(1000)
    assert "core" in gpu.print_state().lower()
    gpu.abort()


def test_protocols_describe_themselves():
    for protocol in ALL:
        assert json.loads(_core.describe_protocol(protocol))["id"] == protocol
