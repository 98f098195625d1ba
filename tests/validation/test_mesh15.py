"""Does mesh15 reproduce the latencies of DeNovo's table 3, for every pair of nodes?

Each block runs on a core of its own. One of them at a time follows links: the lines of a link are in one bank, so that
a hop takes the latency from that core to that bank, to memory's corner beyond it, or to the core that owns the words.
"""

import math

import numpy as np
import pytest

import gpucoh

HOPS, CORES, BANKS, CORNERS, LINE = 8, 15, 16, 4, 16
#: Core cycles of the clock and the test of the last link: `test_the_overhead_is_not_the_memory_s` measures them.
OVERHEAD = 11
#: Cycles of a remote hit in the bank and the L1s: the rest of an L2 hit's 29, and the owner's step.
BANK_AND_L1S = 21
#: Lines of a bank are BANKS lines apart.
SAME_BANK = LINE * BANKS


@gpucoh.kernel
def follow(
    links: gpucoh.Buffer[gpucoh.i32],
    starts: gpucoh.Buffer[gpucoh.i32],
    count: gpucoh.i32,
    who: gpucoh.i32,
    times: gpucoh.Buffer[gpucoh.u32],
):
    if gpucoh.block_id(0) == who:
        for i in range(count):
            at = starts[i]
            if at >= 0:  # has arrived
                begin = gpucoh.clock()
                at = links[links[links[links[links[links[links[links[at]]]]]]]]
                if at >= 0:
                    times[i] = gpucoh.clock() - begin


@gpucoh.kernel
def own(links: gpucoh.Buffer[gpucoh.i32], values: gpucoh.Buffer[gpucoh.i32], each: gpucoh.i32):
    first = gpucoh.block_id(0) * each
    for i in range(first, first + each):
        if values[i] >= 0:
            links[i] = values[i]


def chains(first: np.ndarray, stride: int, words: int) -> np.ndarray:
    """Links from each first word over HOPS lines, ``stride`` words apart."""
    links = np.full(words, -1, np.int32)
    for hop in range(HOPS):
        links[first + hop * stride] = first + (hop + 1) * stride
    return links


def measure(gpu: gpucoh.GPU, links: gpucoh.Array, first: np.ndarray, core: int) -> np.ndarray:
    """Core cycles a hop from the core, for each chain."""
    times = gpu.zeros(len(first), np.uint32)
    gpu.launch(follow, grid=CORES, block=1, args=(links, gpu.array(first), len(first), core, times))
    return (times.numpy() - OVERHEAD) / HOPS


def place(node: int) -> tuple[int, int]:
    return node % 4, node // 4


def distance(one: int, other: int) -> int:
    (x, y), (to_x, to_y) = place(one), place(other)
    return abs(x - to_x) + abs(y - to_y)


def test_the_overhead_is_not_the_memory_s():
    gpu = gpucoh.GPU(machine="mesh15", protocol="ideal")
    first = np.arange(BANKS, dtype=np.int32) * LINE
    links = gpu.array(chains(first, SAME_BANK, SAME_BANK * (HOPS + 1)))
    measure(gpu, links, first, 0)
    assert measure(gpu, links, first, 0).tolist() == [1] * BANKS


def test_an_l2_hit_takes_29_to_61_cycles_by_its_hops():
    gpu = gpucoh.GPU(machine="mesh15", protocol="no-l1[fill=line]")
    first = np.arange(BANKS, dtype=np.int32) * LINE
    links = gpu.array(chains(first, SAME_BANK, SAME_BANK * (HOPS + 1)))
    measure(gpu, links, first, 0)  # from memory
    for core in range(CORES):
        for bank, cycles in enumerate(measure(gpu, links, first, core)):
            assert 29 <= cycles <= 61.5
            assert cycles == pytest.approx(29 + 2 * distance(core, bank) * 8 / 3, abs=2.5)


def test_memory_takes_197_to_261_cycles_by_its_hops():
    # A closed row: each hop has a bank of the DRAM of its own. A corner has 64, for 8 hops from 8 of the L2's banks.
    corners, banks = [0, 3, 12, 15], BANKS // 2
    machine = gpucoh.machine("mesh15").replace(dram_banks=banks * HOPS)
    next_row = machine.dram_row_bytes // 4 * CORNERS
    for core in range(CORES):
        for half in range(2):
            gpu = gpucoh.GPU(machine=machine, protocol="no-l1[fill=line]")
            place_of = [
                (half * banks + bank, corner) for bank in range(banks) for corner in range(CORNERS)
            ]
            first = np.array(
                [
                    (corner * BANKS + bank) * LINE + bank % banks * HOPS * next_row
                    for bank, corner in place_of
                ],
                np.int32,
            )
            links = gpu.array(chains(first, next_row, next_row * (banks * HOPS + 1)))
            for (bank, corner), cycles in zip(
                place_of, measure(gpu, links, first, core), strict=True
            ):
                node = corners[corner]
                hops = distance(core, bank) + distance(bank, node)
                assert 197 <= cycles <= 261.5
                assert cycles == pytest.approx(197 + 2 * hops * 8 / 3, abs=2.5)


def message_cycles(hops: int, flits: int) -> int:
    """Core cycles of a message: 8/3 a router, one more than hops, and one a flit behind the first."""
    return math.ceil((hops + 1) * 8 / 3 + flits - 1)


def test_a_remote_l1_hit_takes_36_to_63_cycles_by_its_hops():
    # Nothing delays a read: the L1 writes no words back, and the store buffer registers none before the end.
    large = gpucoh.machine("mesh15").replace(l1_kib=512)
    gpu = gpucoh.GPU(machine=large, protocol="denovo-drf")
    each = SAME_BANK * (HOPS + 1)
    first = np.arange(BANKS, dtype=np.int32) * LINE
    starts = np.concatenate([first + core * each for core in range(CORES)])
    values = chains(starts, SAME_BANK, CORES * each)
    links, given = gpu.zeros(CORES * each, np.int32), gpu.array(values)
    seen = set()
    for reader in range(CORES):
        gpu.launch(own, grid=CORES, block=1, args=(links, given, each))
        owners = [core for core in range(CORES) if core != reader]
        starts = np.concatenate([first + owner * each for owner in owners])
        cycles = measure(gpu, links, starts, reader).reshape(len(owners), BANKS)
        for owner, row in zip(owners, cycles, strict=True):
            for bank, one in enumerate(row):
                messages = [
                    message_cycles(distance(reader, bank), 1),
                    message_cycles(distance(bank, owner), 1),
                    message_cycles(distance(owner, reader), 1),
                ]
                assert one == BANK_AND_L1S + sum(messages), (reader, owner, bank)
                seen.add(one)
    remote = gpu.stats().to_dict()["counters"]["L1"]["remote_reads"]
    assert remote == CORES * (CORES - 1) * BANKS * HOPS
    assert (min(seen), max(seen)) == (36, 63)
