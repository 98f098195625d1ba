"""What does `flush` keep in near L2s, what does a kernel's end take, and who catches its planted bugs on dies?"""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh

LINK = {"dies": 2, "page_kib": 4, "die_latency": 50, "die_bytes": 32}
LINES, TIMES = 8, 3  # of the far page; stores to each


@gpucoh.kernel
def store_and_read(
    data: gpucoh.Buffer[gpucoh.i32],
    first: gpucoh.i32,
    times: gpucoh.i32,
    sums: gpucoh.Buffer[gpucoh.i32],
):
    at, total = first + gpucoh.thread_id(), 0
    for r in range(times):
        data[at] = r + 1
        gpucoh.barrier()
        total += data[at]
    sums[gpucoh.thread_id()] = total


def launched(protocol: str, first: int, **fields: int) -> gpucoh.Stats:
    """Eight warps of a core of die 0 each store a whole line three times, and read it after each."""
    gpu = gpucoh.GPU(machine="fermi", protocol=protocol, set=LINK | fields)
    data, sums = gpu.zeros(4096, np.int32), gpu.zeros(4096, np.int32)
    threads = 32 * LINES
    gpu.launch(store_and_read, grid=1, block=threads, args=(data, first, TIMES, sums))
    assert (data.numpy()[first : first + threads] == TIMES).all()
    assert (sums.numpy()[:threads] == 6).all()
    return gpu.stats()


def test_what_a_die_stores_and_reads_crosses_a_link_once_when_the_kernel_ends() -> None:
    links = launched("flush", 1024).links
    assert (links["0-1"]["messages"], links["0-1"]["bytes"]) == (LINES, LINES * (12 + 128))
    assert (links["1-0"]["messages"], links["1-0"]["bytes"]) == (LINES, LINES * 8)
    through = launched("mcm", 1024).links
    assert through["0-1"]["messages"] == 2 * TIMES * LINES  # each store, each read


def test_a_kernel_is_over_when_the_home_has_acknowledged_the_last_words() -> None:
    near, far = (launched("flush", 1024, die_latency=cycles).cycles for cycles in (50, 150))
    assert far - near == 2 * 100  # words there, the answer back: nothing else of the kernel crosses
    own = [launched("flush", 0, die_latency=cycles).cycles for cycles in (50, 150)]
    assert own[0] == own[1]


def test_words_of_a_kernel_cross_at_the_rate_of_the_link() -> None:
    waits = [
        launched("flush", 1024, die_bytes=rate).links["0-1"]["waiting_cycles"] for rate in (0, 1)
    ]
    assert waits[0] == 0
    assert waits[1] > (LINES - 2) * (12 + 128)


@pytest.mark.parametrize(
    ("name", "workload"),
    [
        ("flush!release-waits-for-nothing", "stn"),
        ("flush!victim-loses-words", "sr"),
        ("flush!kernel-does-not-wait", "sr"),
        ("flush!stale-die", "lud"),
    ],
)
def test_a_monitor_catches_a_planted_bug_on_two_dies(
    mutant_gpucoh: gpucoh, name: str, workload: str
) -> None:
    with pytest.raises(mutant_gpucoh.SimulationError):
        mutant_gpucoh.run(
            workload, protocol=name, scale="tiny", check="protocol", set=LINK | {"l2_kib": 8}
        )
