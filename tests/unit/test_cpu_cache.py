"""What does a launch pay for the lines that the host has left in the CPU's cache?"""

import numpy as np
import pytest

import gpucoh
from products import share

APU = gpucoh.machine("apu").replace(cpu_kib=0)
WORDS = 4096


@gpucoh.kernel
def add_one(data: gpucoh.Buffer[gpucoh.u32], out: gpucoh.Buffer[gpucoh.u32]):
    out[gpucoh.global_id()] = data[gpucoh.global_id()] + 1


def launched(machine, protocol="no-l1", launches=1, words=WORDS):
    """The cycles of each launch, and the GPU."""
    gpu = gpucoh.GPU(machine=machine, protocol=protocol, check=True)
    data, out = gpu.array(np.arange(words, dtype=np.uint32)), gpu.zeros(words, np.uint32)
    cycles = []
    for _ in range(launches):
        before = gpu.stats()
        gpu.launch(add_one, grid=words // 64, block=64, args=(data, out))
        cycles.append((gpu.stats() - before).cycles)
    assert (out.numpy() == np.arange(words) + 1).all()
    return cycles, gpu.stats()


@pytest.mark.parametrize("protocol", share(gpucoh.protocols(), one_in=8))
def test_data_are_right_and_the_first_launch_pays_for_its_input(protocol):
    usual, plain = launched(APU, protocol, launches=2)
    cycles, stats = launched(APU.replace(cpu_kib=1024), protocol, launches=2)
    lines = WORDS * 4 // APU.line_bytes
    assert cycles[0] > usual[0]
    assert stats.cpu.transfers >= lines
    assert stats.cpu.probes >= stats.cpu.transfers
    assert "cpu" not in plain


def test_a_longer_probe_and_transfer_take_longer():
    machine = APU.replace(cpu_kib=1024)
    one, _ = launched(machine, words=64)
    probes, _ = launched(machine.replace(cpu_probe_cycles=1000), words=64)
    transfers, stats = launched(machine.replace(cpu_transfer_cycles=80))
    assert probes[0] == one[0] + 900
    assert transfers[0] >= 80 * stats.cpu.transfers


@gpucoh.kernel
def overwrite(data: gpucoh.Buffer[gpucoh.u32]):
    data[gpucoh.global_id()] = gpucoh.u32(1)


@pytest.mark.parametrize("protocol", ["no-l1[l2=through]", "wt", "qr"])
def test_a_kernel_that_overwrites_the_host_s_words_ends_later_by_a_probe(protocol):
    cycles = {}
    for probe in (0, 1000):
        gpu = gpucoh.GPU(
            machine=gpucoh.machine("apu").replace(cpu_probe_cycles=probe), protocol=protocol
        )
        data = gpu.array(np.zeros(64, np.uint32))
        gpu.launch(overwrite, grid=1, block=64, args=(data,))
        stats = gpu.stats()
        cycles[probe] = stats.cycles
        assert stats.cpu.probes == 4
        assert stats.cpu.transfers == 0
    assert cycles[0] + 900 < cycles[1000] <= cycles[0] + 1000


@pytest.mark.parametrize("protocol", share(["no-l1[l2=through]", "wt", "rfo", "qr"], one_in=4))
def test_words_that_the_host_writes_again_are_read_from_the_cpu_again(protocol):
    gpu = gpucoh.GPU(machine="apu", protocol=protocol, check=True)
    data, out = gpu.array(np.arange(64, dtype=np.uint32)), gpu.zeros(64, np.uint32)
    for turn in range(3):
        data[5] = turn  # one word: the line's others are the first launch's
        before = gpu.stats()
        gpu.launch(add_one, grid=1, block=64, args=(data, out))
        assert (gpu.stats() - before).cpu.transfers == (4 if turn == 0 else 1)
        gpu.launch(add_one, grid=1, block=64, args=(out, data))
        expected = np.arange(64) + 2 * (turn + 1)
        expected[5] = turn + 2
        assert (data.numpy() == expected).all()


def test_a_small_cache_keeps_the_last_lines_written():
    _, stats = launched(APU.replace(cpu_kib=1, cpu_ways=16))
    assert stats.cpu.transfers <= 16 < WORDS * 4 // APU.line_bytes


def test_a_run_on_a_machine_of_settings_reports_it():
    run = gpucoh.run("bfs", protocol="gpu-vini", machine=APU.replace(cpu_kib="1MiB"), scale="tiny")
    assert run.correct
    assert run.to_dict()["cpu"]["probes"] == run.row()["cpu_probes"] == run.cpu.probes > 0
