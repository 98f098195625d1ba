"""Does no-l1 return the 32-byte sectors with requested words, and only these?"""

import numpy as np
import pytest

import gpucoh

HEADER, SECTOR, FLIT = 8, 32, 32  # bytes


@gpucoh.kernel
def gather(x: gpucoh.Buffer[gpucoh.i32], out: gpucoh.Buffer[gpucoh.i32], stride: gpucoh.i32):
    i = gpucoh.thread_id()
    out[i] = x[i * stride]


def gathered(protocol, lanes, stride):
    """The traffic of one warp whose lanes load every ``stride``-th word, and what they loaded."""
    gpu = gpucoh.GPU(protocol=protocol)
    x = gpu.array(np.arange(1024, dtype=np.int32))
    out = gpu.zeros(32, np.int32)
    gpu.launch(gather, grid=1, block=lanes, args=(x, out, stride))
    assert out.numpy()[:lanes].tolist() == list(range(0, lanes * stride, stride))
    return gpu.stats()


# A line has four sectors of eight words. Lanes, stride, messages, flits of each: ceil((8 + 32 x sectors) / 32).
@pytest.mark.parametrize(
    ("lanes", "stride", "answers", "flits"),
    [
        (1, 1, 1, 2),  # a word: 40 bytes
        (8, 1, 1, 2),  # a whole sector: 40
        (9, 1, 1, 3),  # two: 72
        (2, 16, 1, 3),  # the first and the third: 72; not the 96 that enclose them
        (24, 1, 1, 4),  # three: 104
        (32, 1, 1, 5),  # the line: 136
        (32, 32, 32, 2),  # a word of each of 32 lines
    ],
)
def test_an_answer_has_the_flits_of_its_sectors(lanes, stride, answers, flits):
    stats = gathered("no-l1", lanes, stride)
    assert stats.traffic["SECTORS"]["messages"] == answers
    assert stats.traffic["SECTORS"]["flits"] == answers * flits
    assert stats.traffic["DATA"]["messages"] == 0


@pytest.mark.parametrize(("lanes", "stride", "answers"), [(1, 1, 1), (32, 1, 1), (32, 32, 32)])
def test_an_answer_is_a_line_with_that_option(lanes, stride, answers):
    stats = gathered("no-l1[fill=line]", lanes, stride)
    assert stats.traffic["DATA"]["flits"] == answers * -(-(HEADER + 4 * SECTOR) // FLIT)
    assert stats.traffic["SECTORS"]["messages"] == 0


def test_l2_and_memory_transfer_lines_whatever_the_answer():
    lines, sectors = (gathered(name, 32, 32) for name in ("no-l1[fill=line]", "no-l1"))
    assert lines.l2.fetches == sectors.l2.fetches == 33
    assert lines.dram.reads == sectors.dram.reads == 33


@gpucoh.kernel
def gather_relaxed(
    x: gpucoh.Buffer[gpucoh.i32], out: gpucoh.Buffer[gpucoh.i32], stride: gpucoh.i32
):
    i = gpucoh.thread_id()
    out[i] = gpucoh.load(x, i * stride, order="relaxed")


@pytest.mark.parametrize(
    ("kernel", "protocol", "answer"),
    [
        (gather, "no-l1[l2=through]", "SECTORS"),
        (gather, "no-l1[l2=through,fill=line]", "DATA"),
        (gather_relaxed, "wt", "SECTORS"),
        (gather_relaxed, "wt[fill=line]", "DATA"),
        (gather, "wt", "DATA"),  # a load that the L1 keeps
    ],
)
def test_where_the_l2_writes_through_loads_past_the_l1s_are_answered_by_sectors(
    kernel, protocol, answer
):
    gpu = gpucoh.GPU(protocol=protocol)
    x, out = gpu.array(np.arange(1024, dtype=np.int32)), gpu.zeros(32, np.int32)
    gpu.launch(kernel, grid=1, block=32, args=(x, out, 12))  # lanes in all sectors but some
    assert out.numpy().tolist() == list(range(0, 32 * 12, 12))
    traffic = gpu.stats().traffic
    sectors = len({lane * 12 // 8 for lane in range(32)})
    flits = {"DATA": 12 * 5, "SECTORS": 12 + sectors}  # of 32 bytes; a header each
    assert {name: traffic[name]["flits"] for name in flits} == {
        name: flits[name] if name == answer else 0 for name in flits
    }
