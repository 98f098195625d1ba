"""Threads on one GPU and on separate GPUs: calls run or raise an error, and never race."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

from core_api.programs import finish, increment, make_gpu
from gpucoh.base.errors import Error, SimulationError
from products import share
from registered import ALL

THREADS, CALLS = 4, 150


def _hostile_calls(gpu, address, snapshot, seed, unexpected):
    """Whatever comes to mind, at a GPU that others are using too."""
    dice = random.Random(seed)
    words = np.zeros(64, np.uint32)
    calls = [
        lambda: increment().launch(gpu, address, 256, blocks=2, threads=32),
        lambda: gpu.run(dice.choice([1, 500, 50_000])),
        lambda: gpu.host_read(address, words),
        lambda: gpu.host_write(address, words),
        lambda: gpu.release(gpu.allocate(dice.choice([1, 64, 10**6]))),
        lambda: gpu.trace(address, address, 0, 0, 2**40, 2**15 - 1, dice.choice([0, 1, 1000])),
        gpu.abort,
        gpu.print_state,
        gpu.traced,
        gpu.statistics,
        gpu.core_statistics,
        lambda: gpu.pause_at(dice.choice([0, 100, 2**40])),
        gpu.paused,
        gpu.reset_statistics,
        gpu.snapshot,
        lambda: gpu.restore(snapshot),
        gpu.verify,
    ]
    for _ in range(CALLS):
        try:
            dice.choice(calls)()
        except Error:
            pass  # refused, in one line
        except BaseException as error:
            unexpected.append(error)


@pytest.mark.parametrize("protocol", share(ALL, one_in=8))
def test_threads_that_share_a_gpu_are_refused_or_served(protocol):
    gpu = make_gpu(protocol=protocol)
    address, unexpected = gpu.allocate(256), []
    arguments = [(gpu, address, gpu.snapshot(), seed, unexpected) for seed in range(THREADS)]
    threads = [threading.Thread(target=_hostile_calls, args=one) for one in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert unexpected == []
    gpu.abort()
    gpu.verify()
    gpu.host_write(address, np.zeros(256, np.uint32))
    increment().launch(gpu, address, 256, blocks=2, threads=32)
    finish(gpu)
    out = np.zeros(1, np.uint32)
    gpu.host_read(address, out)
    assert out[0] == 64


def test_threads_with_gpus_of_their_own_do_not_disturb_each_other():
    statistics = []

    def works():
        gpu = make_gpu(protocol="gpu-vi")
        address = gpu.allocate(256)
        for _ in range(3):
            increment().launch(gpu, address, 256, blocks=4, threads=32)
            finish(gpu, 1000)
        statistics.append(gpu.statistics())

    threads = [threading.Thread(target=works) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(statistics) == THREADS
    assert len(set(statistics)) == 1


def test_a_trace_cannot_begin_while_a_launch_runs():
    gpu = make_gpu()
    address = gpu.allocate(256)
    increment().launch(gpu, address, 256, blocks=2, threads=32)
    with pytest.raises(SimulationError, match="while a launch is running"):
        gpu.trace(address, address, 0, 0, 9, 1, 10)
    finish(gpu)
    assert gpu.traced()[1] == 0
