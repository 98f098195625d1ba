"""Compiled kernels on the C core, against the same source as plain Python."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpucoh
from products import share
from registered import ALL
from unit.lang.plain import kernel_from_source, run_plain
from unit.lang.test_random_kernels import ARRAYS, Generator, arguments

BLOCK = 48


def compare(source: str, seed: int, protocol: str) -> None:
    mine, plain = arguments(seed, 2 * BLOCK), arguments(seed, 2 * BLOCK)
    gpu = gpucoh.GPU(machine="fermi", protocol=protocol)
    arrays = [gpu.array(values) for values in mine[:ARRAYS]]
    gpu.launch(kernel_from_source(source, "k"), grid=2, block=BLOCK, args=(*arrays, *mine[ARRAYS:]))
    run_plain(source, "k", (2,), (BLOCK,), plain)
    for number, (array, wanted) in enumerate(zip(arrays, plain[:ARRAYS], strict=True)):
        got = array.numpy()
        same = np.array_equal(got, wanted, equal_nan=got.dtype == np.float32)
        assert same, f"argument {number}: {got.tolist()} is not {wanted.tolist()}"


@given(st.randoms(use_true_random=False), st.integers(0, 2**16))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_core_does_what_the_source_of_random_kernels_says(r, seed):
    compare(Generator(r).kernel(), seed, "no-l1")


@pytest.mark.parametrize(("seed", "protocol"), share(range(6), ALL, one_in=25))
def test_the_core_does_what_the_source_says_under_each_protocol(seed, protocol):
    compare(Generator(random.Random(seed)).kernel(), seed, protocol)
