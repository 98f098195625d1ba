"""Machines of several dies: the time of links, where blocks run, and every protocol's results under check."""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh
from products import share

LINE, PAGE = 32, 1024  # words; pages of 4 KiB
HOPS = 64


def machine_of(dies: int, **fields: object) -> gpucoh.Machine:
    return gpucoh.machine("fermi").replace(**{"dies": dies, "page_kib": 4, **fields})


@gpucoh.kernel
def chase(links: gpucoh.Buffer[gpucoh.i32], first: gpucoh.i32, times: gpucoh.Buffer[gpucoh.u32]):
    at = first
    begin = gpucoh.clock()
    for _ in range(16):
        at = links[links[links[links[at]]]]
    times[1] = gpucoh.u32(at)
    times[0] = gpucoh.clock() - begin


def cycles_of_chase(machine: gpucoh.Machine, die: int) -> int:
    """Core cycles of 64 dependent loads of lines that the die has in its L2, by a thread of die 0."""
    gpu = gpucoh.GPU(machine=machine, protocol="no-l1[fill=line]")
    lines = np.arange(HOPS)
    places = (lines // 32 * machine.dies + die) * PAGE + lines % 32 * LINE
    links = np.zeros(places.max() + 1, np.int32)
    links[places] = np.roll(places, -1)
    array, times = gpu.array(links), gpu.zeros(2, np.uint32)
    for _ in range(2):
        gpu.launch(chase, grid=1, block=1, args=(array, int(places[0]), times))
    return int(times.numpy()[0])


@pytest.mark.parametrize(("latency", "width"), [(0, 0), (100, 0), (100, 2), (500, 4)])
def test_each_load_of_a_chain_over_a_link_takes_its_latency_and_bytes(
    latency: int, width: int
) -> None:
    machine = machine_of(2, die_latency=latency, die_bytes=width)
    near, far = (cycles_of_chase(machine, die) for die in (0, 1))
    bytes_of_both = 8 + 8 + machine.line_bytes
    link = 2 * latency + (bytes_of_both // width if width else 0)
    assert far - near == HOPS * link


@gpucoh.kernel
def stream(
    data: gpucoh.Buffer[gpucoh.u32],
    rounds: gpucoh.i32,
    mask: gpucoh.i32,
    page_words: gpucoh.i32,
    out: gpucoh.Buffer[gpucoh.u32],
):
    """Blocks of die 1 load lines of die 0, 4 at a time."""
    total = gpucoh.u32(0)
    stride = gpucoh.grid_dim() // 2 * gpucoh.block_dim()
    at = gpucoh.global_id() - stride
    if at >= 0:
        for _ in range(rounds):
            a = at & mask
            b = at + stride & mask
            c = at + 2 * stride & mask
            d = at + 3 * stride & mask
            at += 4 * stride
            total += data[a + a // page_words * page_words] + data[b + b // page_words * page_words]
            total += data[c + c // page_words * page_words] + data[d + d // page_words * page_words]
    if total != gpucoh.u32(0):  # memory is zero: never, but the loads are needed for it
        out[0] = total


@pytest.mark.parametrize("width", [8, 16])
def test_a_stream_reaches_the_bytes_of_a_link_to_2_percent(width: int) -> None:
    machine = machine_of(2, die_latency=100, die_bytes=width)
    gpu = gpucoh.GPU(machine=machine, protocol="no-l1[fill=line]")
    grid, block, rounds, words = 64, 128, 32, 1 << 14
    data, out = gpu.zeros(2 * words, np.uint32), gpu.zeros(1, np.uint32)
    gpu.launch(stream, grid=grid, block=block, args=(data, rounds, words - 1, PAGE, out))
    stats = gpu.stats()
    link = stats.links["0-1"]
    assert link.messages == grid // 2 * block * rounds * 4 // LINE
    assert 0.98 <= link.bytes / stats.cycles / width <= 1


@gpucoh.kernel
def place(cores: gpucoh.Buffer[gpucoh.i32]):
    cores[gpucoh.block_id()] = gpucoh.core_id()


@pytest.mark.parametrize(("dies", "blocks"), [(2, 1), (2, 64), (4, 50), (4, 3)])
def test_a_die_runs_a_contiguous_share_of_the_blocks(dies: int, blocks: int) -> None:
    gpu = gpucoh.GPU(machine=machine_of(dies, partitions=8), protocol="gpu-vi")
    cores = gpu.zeros(blocks, np.int32)
    gpu.launch(place, grid=blocks, block=32, args=(cores,))
    share_of = -(-np.arange(dies + 1) * blocks // dies)
    expected = np.repeat(np.arange(dies), np.diff(share_of))
    assert (cores.numpy() // (16 // dies) == expected).all()


WORKLOADS = ("bfs", "uts", "bh", "bp", "stn", "fft", "histogram", "lava", "dlb", "reduction")
PROTOCOLS = [name for name in gpucoh.protocols() if name != "no-coh"]


@pytest.mark.parametrize(
    ("protocol", "workload", "dies"), share(PROTOCOLS, WORKLOADS, (2, 4), one_in=40)
)
def test_every_protocol_is_right_on_dies(protocol: str, workload: str, dies: int) -> None:
    machine = machine_of(dies, die_latency=50, die_bytes=16)
    run = gpucoh.run(workload, protocol=protocol, machine=machine, scale="tiny", check=True)
    assert run.correct
    assert run.stats.links["0-1"].messages > 0
