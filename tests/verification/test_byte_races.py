"""The race detector on elements below the word: bytes of one word do not race with each other."""

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, block_id, global_id, i32, kernel, thread_id, u8, u16
from products import share
from registered import COHERENT
from verification.test_neighbouring_bytes import Alias

BLOCK = 64


@kernel
def neighbours(b: Buffer[u8], h: Buffer[u16], w: Buffer[i32]):
    b[global_id()] = global_id()
    b[global_id()] = b[global_id()] + 1


@kernel
def halves_beside_bytes(b: Buffer[u8], h: Buffer[u16], w: Buffer[i32]):
    if thread_id() == 0:
        if block_id() == 0:
            h[1] = 5
        elif block_id() == 1:
            b[1] = 6
        else:
            b[0] = b[0] + 7


@kernel
def shared_neighbours(b: Buffer[u8], h: Buffer[u16], w: Buffer[i32]):
    t = gpucoh.shared(u8, BLOCK)
    t[thread_id()] = thread_id()
    b[global_id()] = t[thread_id()]


@kernel
def message_by_a_byte(b: Buffer[u8], h: Buffer[u16], w: Buffer[i32]):
    if global_id() == 0:
        w[9] = 42
        gpucoh.store(b, 1, 1, order="release")
    if block_id() == 1 and thread_id() == 0:
        while gpucoh.load(b, 1, order="acquire") == 0:
            pass
        w[10] = w[9]
        w[0] = 3  # the word of the flag, ordered behind it


@kernel
def words_after_bytes(b: Buffer[u8], h: Buffer[u16], w: Buffer[i32]):
    t = gpucoh.shared(u8, BLOCK)
    t[thread_id()] = thread_id()
    b[global_id()] = 1
    gpucoh.barrier()
    if thread_id() < BLOCK // 4:
        w[block_id() * BLOCK // 4 + thread_id()] = t[thread_id() + 3]


@kernel
def one_byte(b: Buffer[u8], h: Buffer[u16], w: Buffer[i32]):
    if thread_id() == 0:
        b[5] = block_id()


@kernel
def half_over_byte(b: Buffer[u8], h: Buffer[u16], w: Buffer[i32]):
    if thread_id() == 0:
        if block_id() == 0:
            h[2] = 1
        else:
            b[5] = 2


@kernel
def byte_under_word(b: Buffer[u8], h: Buffer[u16], w: Buffer[i32]):
    if global_id() == 0:
        b[7] = 1
    if block_id() == 1 and thread_id() == 0:
        w[2] = w[1]


@kernel
def word_over_byte(b: Buffer[u8], h: Buffer[u16], w: Buffer[i32]):
    if global_id() == 0:
        w[1] = 1
    if block_id() == 1 and thread_id() == 0:
        w[2] = b[6]


@kernel
def shared_byte(b: Buffer[u8], h: Buffer[u16], w: Buffer[i32]):
    t = gpucoh.shared(u8, BLOCK)
    t[thread_id()] = thread_id()
    b[global_id()] = t[BLOCK - 1 - thread_id()]


@kernel
def message_by_a_weak_byte(b: Buffer[u8], h: Buffer[u16], w: Buffer[i32]):
    if global_id() == 0:
        w[9] = 42
        gpucoh.fence()
        b[1] = 1
    if block_id() == 1 and thread_id() == 0:
        while gpucoh.load(b, 1, order="acquire") == 0:
            pass


def launch(function, protocol="ideal", grid=3):
    gpu = gpucoh.GPU(protocol=protocol, check="races")
    b = gpu.zeros(4 * BLOCK, np.uint8)
    args = (b, Alias(b, np.uint16), Alias(b, np.int32))
    gpu.launch(function, grid=grid, block=BLOCK, args=args)


RIGHT = [
    neighbours,
    halves_beside_bytes,
    shared_neighbours,
    message_by_a_byte,
    words_after_bytes,
]
RACES = {
    one_byte: r"b\[5\]",
    half_over_byte: r"[bh]\[",
    byte_under_word: r"b\[4\]|b\[7\]",
    word_over_byte: r"b\[4\]|b\[6\]",
    shared_byte: "shared memory",
    message_by_a_weak_byte: r"b\[1\]",
}


@pytest.mark.parametrize(("function", "protocol"), share(list(RIGHT), COHERENT, one_in=24))
def test_bytes_of_one_word_do_not_race(function, protocol):
    launch(function, protocol)


@pytest.mark.parametrize("function", RACES, ids=lambda function: function.name)
def test_accesses_that_overlap_race(function):
    with pytest.raises(gpucoh.SimulationError, match=f"^data race: .*{RACES[function]}"):
        launch(function)
