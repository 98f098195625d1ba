"""What does a launch pay for the lines that the host has left in the CPU's cache?"""

import numpy as np
import pytest

import gpucoh

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


@pytest.mark.parametrize("protocol", gpucoh.protocols())
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


def test_a_small_cache_keeps_the_last_lines_written():
    _, stats = launched(APU.replace(cpu_kib=1, cpu_ways=16))
    assert stats.cpu.transfers <= 16 < WORDS * 4 // APU.line_bytes


def test_a_run_on_a_machine_of_settings_reports_it():
    run = gpucoh.run("bfs", protocol="gpu-vini", machine=APU.replace(cpu_kib="1MiB"), scale="tiny")
    assert run.correct
    assert run.to_dict()["cpu"]["probes"] == run.row()["cpu_probes"] == run.cpu.probes > 0
