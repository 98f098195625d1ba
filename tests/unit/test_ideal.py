"""Is ideal what it says: write-through with free invalidations, and no bound on write-back or weak protocols?"""

import numpy as np
import pytest

import gpucoh
from products import share

BLOCKS = 16


@gpucoh.kernel
def reuse(x: gpucoh.Buffer[gpucoh.i32], out: gpucoh.Buffer[gpucoh.i32], rounds: gpucoh.i32):
    i = gpucoh.global_id()
    for _ in range(rounds // 2):
        out[i] = out[i] + x[0]


@gpucoh.kernel
def read_while_written(
    x: gpucoh.Buffer[gpucoh.i32], out: gpucoh.Buffer[gpucoh.i32], rounds: gpucoh.i32
):
    i = gpucoh.thread_id()
    total = 0
    if gpucoh.block_id() == 0:
        for _ in range(rounds):
            total += gpucoh.load(x, i, order="relaxed")
    else:
        gpucoh.sleep(200 * gpucoh.block_id())
        for n in range(rounds // 10):
            gpucoh.store(x, i, n, order="relaxed")
    out[gpucoh.global_id()] = total


def cycles(protocol, kernel):
    gpu = gpucoh.GPU(protocol=protocol)
    arrays = gpu.zeros(32, np.int32), gpu.zeros(32 * BLOCKS, np.int32)
    gpu.launch(kernel, grid=BLOCKS, block=32, args=(*arrays, 100))
    return gpu.stats().cycles


@pytest.mark.parametrize("protocol", share(["gpu-vi", "gpu-vini", "tc-strong"], one_in=4))
@pytest.mark.parametrize("kernel", [reuse, read_while_written], ids=lambda kernel: kernel.name)
def test_no_write_through_protocol_without_stale_reads_is_much_faster(protocol, kernel):
    assert cycles(protocol, kernel) > 0.95 * cycles("ideal", kernel)


def test_a_write_back_l1_is_faster_where_a_core_rewrites_its_own_lines():
    assert cycles("mesi", reuse) < 0.5 * cycles("ideal", reuse)


def test_stale_reads_are_faster_where_a_line_is_read_while_it_is_written():
    leased = cycles("tc-weak[lifetime=3000]", read_while_written)
    assert leased < 0.9 * cycles("ideal", read_while_written)


def test_its_description_claims_no_more():
    text = gpucoh.protocols()["ideal"].json["text"]
    assert "upper bound" not in text
    assert "no bound on MESI (write-back) and TC-Weak (stale reads)" in text
