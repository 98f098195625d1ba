"""What does `cpelide` elide between kernels, is it right where the published table is not, and who catches its bugs?"""

from __future__ import annotations

import numpy as np
import pytest

import gpucoh
from scripts import script

triples = script("tools/cpelide_triples.py")

LINK = {"dies": 2, "page_kib": 4, "die_latency": 50, "die_bytes": 32}
WORDS = 2048  # of an array: a page on each die
ARTIFACT = "cpelide[rules=artifact]"


@gpucoh.kernel
def read_all(data: gpucoh.Buffer[gpucoh.i32], words: gpucoh.i32):
    total = 0
    for at in range(gpucoh.thread_id(), words, gpucoh.block_dim()):
        total += data[at]


@gpucoh.kernel
def add_one(data: gpucoh.Buffer[gpucoh.i32], begin: gpucoh.i32):
    at = begin + gpucoh.global_id()
    data[at] = data[at] + 1


@gpucoh.kernel
def smooth(source: gpucoh.Buffer[gpucoh.i32], target: gpucoh.Buffer[gpucoh.i32], words: gpucoh.i32):
    at = gpucoh.global_id()
    target[at] = source[(at + words - 1) % words] + source[(at + 1) % words]


def new_gpu(protocol: str = "cpelide", check: str | bool = "protocol") -> gpucoh.GPU:
    return gpucoh.GPU(machine="fermi", protocol=protocol, set=LINK, check=check)


def read_update_read(gpu: gpucoh.GPU) -> np.ndarray:
    """All dies read an array, each adds 1 to half of it, all read it."""
    data = gpu.zeros(WORDS, np.int32, name="data")
    gpu.launch(read_all, grid=2, block=512, args=(data, WORDS))
    gpu.launch(add_one, grid=4, block=512, args=(data, 0))
    gpu.launch(read_all, grid=2, block=512, args=(data, WORDS))
    return data.numpy() - 1


def stencil(gpu: gpucoh.GPU) -> np.ndarray:
    """Three steps of a stencil over two arrays; what differs from the right result."""
    right = np.arange(WORDS, dtype=np.int32)
    arrays = gpu.array(right), gpu.zeros(WORDS, np.int32)
    for step in range(3):
        source, target = arrays[step % 2], arrays[1 - step % 2]
        gpu.launch(smooth, grid=4, block=512, args=(source, target, WORDS))
        right = np.roll(right, 1) + np.roll(right, -1)
    return target.numpy() - right


CASES = pytest.mark.parametrize("case", [read_update_read, stencil])


@CASES
def test_a_monitor_reports_the_published_tables_old_value(case) -> None:
    with pytest.raises(gpucoh.ProtocolError, match="a load returns a value it may"):
        case(new_gpu(ARTIFACT))


@CASES
def test_ranges_read_the_last_value(case) -> None:
    assert not case(new_gpu()).any()


def test_without_monitors_the_published_table_gives_a_wrong_stencil() -> None:
    assert stencil(new_gpu(ARTIFACT, check=False)).any()


def test_the_model_of_the_table_ends_as_runs_do() -> None:
    for kernels in [*triples.drawn(12, seed=1), triples.READ_UPDATE_READ, triples.STENCIL]:
        old = triples.reads_old_value(kernels)
        assert triples.simulated(kernels, ARTIFACT) is old, kernels
        assert not triples.simulated(kernels, "cpelide"), kernels


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3])
def test_the_model_of_the_table_ends_as_many_runs_do(seed: int) -> None:
    kernels = list(triples.drawn(100, seed))
    old = [triples.reads_old_value(one) for one in kernels]
    assert [triples.simulated(one, ARTIFACT) for one in kernels] == old
    assert 10 < sum(old) < 35  # 20% of all, by tools/cpelide_triples.py
    assert not any(triples.simulated(one, "cpelide") for one in kernels)


def test_no_pair_of_kernels_reads_an_old_value_in_the_model() -> None:
    assert triples.counted(2) == (3969, 0)


# ---- what is elided


def read_twice(protocol: str, add: int | None = None) -> list[int]:
    """Bytes over the links of two kernels that read all of an array; one page of it is written between them."""
    gpu = new_gpu(protocol)
    data, other = gpu.zeros(WORDS, np.int32), gpu.zeros(WORDS, np.int32)
    bytes_of = []
    for _ in range(2):
        gpu.reset_stats()
        gpu.launch(read_all, grid=2, block=512, args=(data, WORDS))
        bytes_of.append(sum(link["bytes"] for link in gpu.stats().links.values()))
        gpu.launch(add_one, grid=2, block=512, args=(other if add is None else data, add or 0))
    return bytes_of


def test_a_kernel_reads_near_what_an_earlier_one_has_read() -> None:
    first, second = read_twice("cpelide")
    assert first > 2 * 4096
    assert second == 0
    assert read_twice("flush")[1] == first


def test_only_the_die_whose_lines_another_has_written_drops_them() -> None:
    first, second = read_twice("cpelide", add=0)  # page 0, of which die 1 writes a half
    assert 0 < second < first


@gpucoh.kernel
def add_crossed(data: gpucoh.Buffer[gpucoh.i32], words: gpucoh.i32):
    at = (gpucoh.global_id() + words // 2) % words
    data[at] = data[at] + 1


def crossed(gpu: gpucoh.GPU, times: int) -> gpucoh.Array:
    """Kernels in which each die adds 1 to the other die's page."""
    data = gpu.zeros(WORDS, np.int32)
    for _ in range(times):
        gpu.launch(add_crossed, grid=4, block=512, args=(data, WORDS))
    return data


def test_a_kernels_end_writes_nothing_back() -> None:
    gpu = new_gpu()
    data = crossed(gpu, 1)
    assert gpu.stats().links["0-1"]["bytes"] == gpu.stats().links["1-0"]["bytes"]  # reads alone
    assert gpu.stats().l2.writebacks == 0
    assert (data.numpy() == 1).all()


def test_dirty_words_are_written_back_before_a_launch_of_which_any_die_may_read_them() -> None:
    gpu = new_gpu()
    assert (crossed(gpu, 3).numpy() == 3).all()
    counts = gpu.stats().counters["L1"]
    assert (counts.launch_flushes, counts.launch_drops) == (4, 0)  # two dies, before two launches
    assert gpu.stats().l2.writebacks == 2 * WORDS // 32


def test_a_launch_waits_for_what_is_written_back() -> None:
    latencies = 50, 150
    near, far = (
        gpucoh.GPU(machine="fermi", protocol="cpelide", set=LINK | {"die_latency": cycles})
        for cycles in latencies
    )
    cycles = [[], []]
    for one, gpu in zip(cycles, (near, far), strict=True):
        for times in (1, 2):
            gpu.reset_stats()
            crossed(gpu, times)
            one.append(gpu.stats().cycles)
    first = cycles[1][0] - cycles[0][0]
    assert cycles[1][1] - cycles[0][1] == first + 2 * 100  # the words, and their acknowledgements


# ---- what outlives a kernel on a die


def test_the_host_and_snapshots_have_words_that_are_dirty_on_a_die() -> None:
    gpu = new_gpu()
    data = crossed(gpu, 1)
    kept = gpu.snapshot()
    data[3:5] = 40
    gpu.launch(add_one, grid=4, block=512, args=(data, 0))
    right = np.full(WORDS, 2)
    right[3:5] = 41
    assert (data.numpy() == right).all()
    gpu.restore(kept)
    gpu.launch(add_one, grid=4, block=512, args=(data, 0))
    assert (data.numpy() == 2).all()


def test_a_functional_launch_reads_dirty_words_and_leaves_no_row() -> None:
    gpu = new_gpu()
    data = crossed(gpu, 1)
    gpu.launch(add_one, grid=4, block=512, args=(data, 0), functional=True)
    gpu.launch(add_crossed, grid=4, block=512, args=(data, WORDS))
    assert (data.numpy() == 3).all()
    assert gpu.stats().counters["L1"].launch_flushes == 0


def test_kernels_of_a_concurrent_launch_see_those_that_they_follow() -> None:
    gpu = gpucoh.GPU(
        machine="two-gpus", protocol="cpelide", set={"cores": 4, "partitions": 2}, check="protocol"
    )
    data = gpu.zeros(WORDS, np.int32)
    with gpu.concurrent():
        gpu.launch(add_one, grid=2, block=512, args=(data, 0), device=0)
        gpu.launch(add_one, grid=2, block=512, args=(data, WORDS // 2), device=1)
        gpu.launch(add_one, grid=2, block=512, args=(data, WORDS // 2), device=1)
    gpu.launch(add_one, grid=4, block=512, args=(data, 0))
    assert (data.numpy() == np.repeat([2, 3], WORDS // 2)).all()


def test_more_arrays_than_rows_share_one() -> None:
    for rows in (1, 2):
        gpu = new_gpu(f"cpelide[arrays={rows}]")
        assert not stencil(gpu).any()
        assert not read_update_read(gpu).any()


def test_near_lines_may_be_switched_off() -> None:
    gpu = gpucoh.GPU(
        machine="fermi", protocol="cpelide", set=LINK | {"l2_near": 0}, check="protocol"
    )
    assert not stencil(gpu).any()
    assert gpu.stats().counters["L1"].launch_drops == 0


@pytest.mark.parametrize(
    ("name", "workload"),
    [
        ("nothing-between-kernels", "bfs"),
        ("artifact-rules", "st"),
        ("drop-keeps-lines", "stn"),
        ("flushed-early", "stn"),
        ("end-without-note", "pf"),
        ("host-reads-home", "pf"),
        ("host-leaves-copies", "hpgmg"),
    ],
)
def test_a_monitor_catches_a_planted_bug_on_two_dies(
    mutant_gpucoh: gpucoh, name: str, workload: str
) -> None:
    fields = {"dies": 2, "page_kib": 4}
    with pytest.raises(mutant_gpucoh.SimulationError):
        mutant_gpucoh.run(
            workload, protocol=f"cpelide!{name}", scale="tiny", check="protocol", set=fields
        )
