"""Machines of several dies and GPUs: the time of links, where blocks and pages are, every protocol under check."""

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


@pytest.mark.parametrize("between", ["die", "gpu"])
@pytest.mark.parametrize("links", ["joined", "split"])
@pytest.mark.parametrize(("latency", "width"), [(0, 0), (100, 0), (100, 2), (500, 4)])
def test_each_load_of_a_chain_over_a_link_takes_its_latency_and_bytes(
    latency: int, width: int, links: str, between: str
) -> None:
    link = {f"{between}_latency": latency, f"{between}_bytes": width, "links": links}
    machine = machine_of(2, gpus=2 if between == "gpu" else 1, **link)
    near, far = (cycles_of_chase(machine, die) for die in (0, 1))
    bytes_of_both = 8 + 8 + machine.line_bytes
    assert far - near == HOPS * (2 * latency + (bytes_of_both // width if width else 0))


def test_dies_of_a_gpu_have_links_of_their_own_and_gpus_one_each_way() -> None:
    machine = machine_of(4, gpus=2, die_latency=30, gpu_latency=400)
    near, die, first, second = (cycles_of_chase(machine, die) for die in range(4))
    assert (die - near, first - near, second - near) == (HOPS * 60, HOPS * 800, HOPS * 800)
    gpu = gpucoh.GPU(machine=machine, protocol="no-l1")
    pairs = ["0-1", "1-0", "2-3", "3-2", "gpu0-gpu1", "gpu1-gpu0"]
    assert list(gpu.stats().links) == pairs


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


@pytest.mark.parametrize(
    ("width", "gpus", "links"),
    [(8, 1, "joined"), (16, 1, "joined"), (8, 2, "joined"), (8, 1, "split"), (7, 2, "split")],
)
def test_a_stream_reaches_the_bytes_of_a_link_to_2_percent(
    width: int, gpus: int, links: str
) -> None:
    kind = "gpu" if gpus == 2 else "die"
    link = {f"{kind}_latency": 100, f"{kind}_bytes": width}
    machine = machine_of(2, gpus=gpus, links=links, **link)
    gpu = gpucoh.GPU(machine=machine, protocol="no-l1[fill=line]")
    grid, block, rounds, words = 64, 128, 32, 1 << 14
    data, out = gpu.zeros(2 * words, np.uint32), gpu.zeros(1, np.uint32)
    gpu.launch(stream, grid=grid, block=block, args=(data, rounds, words - 1, PAGE, out))
    stats = gpu.stats()
    link = stats.links["gpu0-gpu1" if gpus == 2 else "0-1"]
    assert link.messages == grid // 2 * block * rounds * 4 // LINE
    assert 0.98 <= link.bytes / stats.cycles / width <= 1


@gpucoh.kernel
def chase_beside_stream(
    links: gpucoh.Buffer[gpucoh.i32],
    times: gpucoh.Buffer[gpucoh.u32],
    data: gpucoh.Buffer[gpucoh.u32],
    out: gpucoh.Buffer[gpucoh.u32],
):
    """Die 0 chases words of die 1 while blocks of die 1 read words of die 0, whose answers fill the link there."""
    if gpucoh.block_id() == 0:
        at = 1024
        begin = gpucoh.clock()
        for _ in range(32):
            at = links[at]
        if gpucoh.thread_id() == 0:
            times[0] = gpucoh.clock() - begin
            times[1] = gpucoh.u32(at)
    elif 2 * gpucoh.block_id() >= gpucoh.grid_dim():
        total = gpucoh.u32(0)
        for i in range(64):
            total += data[(gpucoh.global_id() + 128 * i) % 1024]
        if total != gpucoh.u32(0):
            out[0] = total


def test_a_request_waits_for_one_answer_on_a_split_link_and_for_all_on_a_joined_one() -> None:
    cycles, passed = {}, {}
    for links in ("joined", "split"):
        machine = machine_of(2, die_bytes=4, links=links)
        gpu = gpucoh.GPU(machine=machine, protocol="no-l1[fill=line]")
        data, out = gpu.zeros(PAGE, np.uint32), gpu.zeros(1, np.uint32)
        chain = np.full(2 * PAGE, PAGE, np.int32)
        array, times = gpu.array(chain), gpu.zeros(2, np.uint32)
        gpu.launch(chase_beside_stream, grid=32, block=128, args=(array, times, data, out))
        cycles[links] = int(times.numpy()[0])
        passed[links] = [(one.messages, one.bytes) for one in gpu.stats().links.values()]
    assert passed["split"] == passed["joined"]
    assert 10 * cycles["split"] < cycles["joined"]


@gpucoh.kernel
def store_word(data: gpucoh.Buffer[gpucoh.u32]):
    data[0] = gpucoh.u32(1)


@pytest.mark.parametrize(
    ("gpus", "links"),
    [
        (1, {"0-1": (3, 6), "0-2": (3, 6), "0-3": (3, 6)}),
        (2, {"0-1": (3, 6), "gpu0-gpu1": (5, 12)}),
    ],
)
def test_a_multicast_takes_a_link_once(gpus: int, links: dict[str, tuple[int, int]]) -> None:
    """The home of a block of die 0 invalidates it in all 16 L1s; a marker to each of 8 banks, and all answers.

    The way between banks and their memory side takes no link.
    """
    gpu = gpucoh.GPU(machine=machine_of(4, gpus=gpus, memory_units=4), protocol="qr")
    gpu.launch(store_word, grid=1, block=1, args=(gpu.zeros(PAGE, np.uint32),))
    stats = gpu.stats()
    assert stats.counters["L2"].invalidations_sent == 16
    assert stats.traffic["INV_ACK"].messages == 16
    for there, (sent, answers) in links.items():
        back = "-".join(reversed(there.split("-")))
        assert (stats.links[there].messages, stats.links[back].messages) == (sent, answers)


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


@gpucoh.kernel
def read_own_share(
    data: gpucoh.Buffer[gpucoh.u32], words: gpucoh.i32, out: gpucoh.Buffer[gpucoh.u32]
):
    first = gpucoh.block_id() * words
    total = gpucoh.u32(0)
    for i in range(gpucoh.thread_id(), words, gpucoh.block_dim()):
        total += data[first + i]
    if total != gpucoh.u32(0):
        out[0] = total


def messages_of_own_shares(placement: str, launches: int) -> tuple[int, gpucoh.Stats]:
    """Messages over links while each of 4 dies reads 4 consecutive pages of its own."""
    machine = machine_of(4, placement_of_pages=placement, die_latency=9)
    gpu = gpucoh.GPU(machine=machine, protocol="no-l1[fill=line]")
    data, out = gpu.array(np.zeros(16 * PAGE, np.uint32)), gpu.zeros(1, np.uint32)
    for _ in range(launches):
        gpu.launch(read_own_share, grid=16, block=128, args=(data, PAGE, out))
    stats = gpu.stats()
    return sum(link.messages for link in stats.links.values()), stats


def test_pages_of_a_first_touch_are_where_they_are_read_first() -> None:
    touched, _ = messages_of_own_shares("first_touch", launches=2)
    interleaved, _ = messages_of_own_shares("interleave", launches=2)
    assert touched == 0
    assert interleaved == 2 * 2 * 12 * PAGE // LINE  # three of four pages, requests and answers


@gpucoh.kernel
def read_backwards(
    data: gpucoh.Buffer[gpucoh.u32], words: gpucoh.i32, out: gpucoh.Buffer[gpucoh.u32]
):
    first = (gpucoh.grid_dim() - 1 - gpucoh.block_id()) * words
    if data[first + gpucoh.thread_id()] != gpucoh.u32(0):
        out[0] = gpucoh.u32(1)


def test_a_page_stays_in_its_die_and_a_snapshot_has_it() -> None:
    machine = machine_of(4, placement_of_pages="first_touch")
    gpu = gpucoh.GPU(machine=machine, protocol="no-l1[fill=line]")
    data, out = gpu.array(np.zeros(16 * PAGE, np.uint32)), gpu.zeros(1, np.uint32)
    before = gpu.snapshot()
    gpu.launch(read_own_share, grid=16, block=128, args=(data, PAGE, out))
    data[:] = 0
    after = gpu.snapshot()

    def crossed(snapshot: gpucoh.device.gpu.Snapshot) -> int:
        gpu.restore(snapshot)
        gpu.reset_stats()
        gpu.launch(read_backwards, grid=16, block=128, args=(data, PAGE, out))
        return sum(link.messages for link in gpu.stats().links.values())

    assert (crossed(before), crossed(after)) == (0, 2 * 16 * 4)


WORKLOADS = ("bfs", "uts", "bh", "bp", "stn", "fft", "histogram", "lava", "dlb", "reduction")
PROTOCOLS = [name for name in gpucoh.protocols() if name != "no-coh"]


#: But mcm4, whose quarter is here: a QuickRelease or STC of 256 cores takes minutes.
PRESETS = [name for name, one in gpucoh.machines().items() if one.dies > 1 and one.cores <= 64]


@pytest.mark.parametrize(("name", "protocol"), share(PRESETS, PROTOCOLS, one_in=18))
def test_presets_of_dies_run_bfs_right(name: str, protocol: str) -> None:
    run = gpucoh.run("bfs", protocol=protocol, machine=name, scale="tiny", check=True)
    assert run.correct
    dies, gpus = run.configuration["dies"], run.configuration["gpus"]
    assert len(run.stats.links) == dies * (dies // gpus - 1) + gpus * (gpus - 1)
    assert sum(link.messages for link in run.stats.links.values()) > 0


SHAPES: dict[str, dict[str, object]] = {
    "2 dies": {"dies": 2},
    "4 dies": {"dies": 4},
    "2 GPUs of 2 dies": {"dies": 4, "gpus": 2, "memory_units": 4},
    "2 dies, split links": {"dies": 2, "links": "split", "die_bytes": 4},
    "2 GPUs, split links": {"dies": 2, "gpus": 2, "links": "split", "gpu_bytes": 4},
    "first touch": {"dies": 2, "memory_units": 2, "placement_of_pages": "first_touch"},
}


@pytest.mark.parametrize(
    ("shape", "protocol", "workload"), share(tuple(SHAPES), PROTOCOLS, WORKLOADS, one_in=40)
)
def test_every_protocol_is_right_on_dies(shape: str, protocol: str, workload: str) -> None:
    link = {"die_latency": 50, "die_bytes": 16, "gpu_latency": 200, "gpu_bytes": 8}
    machine = gpucoh.machine("fermi").replace(page_kib=1, **link | SHAPES[shape])
    run = gpucoh.run(workload, protocol=protocol, machine=machine, scale="tiny", check=True)
    assert run.correct
    if shape != "first touch":
        assert sum(link.messages for link in run.stats.links.values()) > 0
