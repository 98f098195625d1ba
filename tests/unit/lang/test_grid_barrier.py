"""Does grid_barrier make all blocks of a grid meet, under every coherent protocol, or say why they cannot?"""

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, i32
from products import share
from registered import COHERENT


@gpucoh.kernel
def exchange(x: Buffer[i32], y: Buffer[i32], state: Buffer[i32], rounds: i32):
    """Each thread adds what its right neighbour had, in turn from x to y and back."""
    i = gpucoh.global_id()
    n = gpucoh.grid_dim() * gpucoh.block_dim()
    for _ in range(rounds):
        y[i] = x[i] + x[(i + 1) % n]
        gpucoh.grid_barrier(state)
        x[i] = y[i] + y[(i + 1) % n]
        gpucoh.grid_barrier(state)


def expected(x, rounds):
    for _ in range(2 * rounds):
        x = x + np.roll(x, -1)
    return x


@gpucoh.device
def meet(state: Buffer[i32]):
    gpucoh.grid_barrier(state)


@gpucoh.kernel
def in_a_device_function(state: Buffer[i32]):
    meet(state)


def run(protocol, blocks, threads=64, launches=2, **options):
    gpu = gpucoh.GPU(protocol=protocol, **options)
    start = np.arange(blocks * threads, dtype=np.int32)
    x, y, state = gpu.array(start), gpu.zeros(len(start), np.int32), gpu.zeros(64, np.int32)
    for _ in range(launches):
        gpu.launch(exchange, grid=blocks, block=threads, args=(x, y, state, 1))
    gpu.verify()
    assert np.array_equal(x.numpy(), expected(start, launches))


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=8))
def test_blocks_read_what_others_wrote_before_the_barrier(protocol):
    run(protocol, blocks=6, check=True)


@pytest.mark.parametrize("protocol", ["mesi", "tc-weak", "gpu-drf"])
def test_256_blocks_meet_if_they_are_resident_together(protocol):
    assert gpucoh.machine("fermi").blocks_per_core * gpucoh.machine("fermi").cores < 256
    run(protocol, blocks=256, threads=32, launches=1, set={"blocks_per_core": 16})


@pytest.mark.parametrize("kernel", [exchange, in_a_device_function])
def test_more_blocks_than_are_resident_together_are_refused(kernel):
    gpu = gpucoh.GPU(protocol="mesi")
    arrays = [gpu.zeros(256 * 32, np.int32) for _ in range(3)]
    arguments = (*arrays, 1) if kernel is exchange else arrays[:1]
    with pytest.raises(gpucoh.ConfigError, match=r"grid has 256 blocks.*up to 128: 8 on"):
        gpu.launch(kernel, grid=256, block=32, args=arguments)
