"""Do the operations of the kernel language compute what NumPy and exact arithmetic give, folded and at run time?"""

import inspect
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gpucoh
from gpucoh import Buffer, f32, i32, u32, u64
from gpucoh.lang import folding, intrinsics, lowering, operations
from gpucoh.lang.types import F32, I32, U32
from products import share

#: Zeros, subnormals, halves, the last numbers with fractions, overflow, infinities, NaN, and huge arguments.
EDGES = np.array(
    [0.0, -0.0, 1e-45, -1e-45, 1.1754942e-38, 1.1754944e-38, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 1.0, -1.0,
     0.99999994, 1.0000001, 2.0, -3.0, 3.0, 8388607.5, 8388608.0, -8388607.5, 16777216.0, 1e10, -1e30, 88.7, -104.0,
     3.4028235e38, -3.4028235e38, np.inf, -np.inf, np.nan],
    np.float32,
)  # fmt: skip
floats = st.floats(width=32)
words = st.integers(0, 2**32 - 1)


def launched(kernel, *arrays, lanes=None):
    """The last array after a launch of one block with a thread for each element."""
    gpu = gpucoh.GPU(protocol="ideal")
    given_arrays = [gpu.array(array) for array in arrays]
    gpu.launch(kernel, grid=1, block=lanes or len(arrays[0]), args=given_arrays)
    return given_arrays[-1].numpy()


@gpucoh.kernel
def unary(x: Buffer[f32], y: Buffer[f32, 2]):
    i = gpucoh.thread_id()
    y[0, i] = gpucoh.tan(x[i])
    y[1, i] = gpucoh.tanh(x[i])
    y[2, i] = gpucoh.rsqrt(x[i])
    y[3, i] = gpucoh.ceil(x[i])
    y[4, i] = gpucoh.round(x[i])
    y[5, i] = gpucoh.trunc(x[i])


REFERENCES = (np.tan, np.tanh, lambda x: 1 / np.sqrt(x), np.ceil, np.rint, np.trunc)


def ulps(actual, expected):
    """Distances in units of the last place; 0 where both are NaN or the same infinity."""
    with np.errstate(all="ignore"):
        rounded = expected.astype(np.float32)
        unit = np.spacing(np.abs(rounded)).astype(np.float64)
        off = np.abs(actual.astype(np.float64) - expected) / unit
    same = (np.isnan(actual) & np.isnan(expected)) | (actual == rounded)
    return np.where(same, 0, np.where(np.isfinite(actual) & np.isfinite(rounded), off, np.inf))


@pytest.mark.parametrize("place", share(range(6), one_in=4))
def test_functions_of_one_number_are_within_two_ulp(place):
    spread = np.random.default_rng(1).integers(0, 2**32, 480, np.uint32).view(np.float32)
    x = np.concatenate([EDGES, spread])
    y = launched(unary, x, np.zeros((6, 512), np.float32))[place]
    with np.errstate(all="ignore"):
        expected = REFERENCES[place](x.astype(np.float64))
    assert ulps(y, expected).max() <= (2 if place < 3 else 0)
    zero = (expected == 0) & (y == 0)
    assert np.array_equal(np.signbit(y[zero]), np.signbit(expected[zero]))


@gpucoh.kernel
def powers(x: Buffer[f32], y: Buffer[f32], z: Buffer[f32]):
    i = gpucoh.global_id()
    z[i] = gpucoh.pow(x[i], y[i])


def test_pow_has_the_special_cases_of_c_and_is_within_two_ulp():
    x, y = (part.ravel() for part in np.meshgrid(EDGES, EDGES))
    z = launched(powers, x, y, np.zeros(1024, np.float32))
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), y.astype(np.float64))
    assert ulps(z, expected).max() <= 2
    zero = expected == 0
    assert np.array_equal(np.signbit(z[zero]), np.signbit(expected[zero]))


@gpucoh.kernel
def fused(x: Buffer[f32], y: Buffer[f32], z: Buffer[f32]):
    i = gpucoh.thread_id()
    z[i] = gpucoh.fma(x[i], y[i], z[i])


def rounded_once(a, b, c):
    """a * b + c: an exact sum, and the nearest of the f32 around the one rounded twice."""
    near = np.float32(np.float64(a) * np.float64(b) + np.float64(c))
    if not np.isfinite([a, b, c, near]).all():
        return near
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    around = [near, *(np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf))]
    finite = [x for x in around if np.isfinite(x)]
    return min(finite, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.uint32)) & 1))


def check_fused(x, y, z):
    got = launched(fused, *(np.array(part, np.float32) for part in (x, y, z)))
    for a, b, c, d in zip(x, y, z, got, strict=True):
        expected = rounded_once(np.float32(a), np.float32(b), np.float32(c))
        assert np.array_equal(expected, d, equal_nan=True), (a, b, c)
        folded = folding.fold("FMA", F32, [folding.float_bits(np.float32(v)) for v in (a, b, c)])
        assert folded in (None, int(d.view(np.uint32)))


@given(st.lists(st.tuples(floats, floats, floats), min_size=32, max_size=32))
@settings(max_examples=20, deadline=None)
# Halfway in f32 but for a digit that the rounding of the sum to double loses; and the same among subnormals.
@example([(1.0 + 2.0**-12, 1.0 + 2.0**-12, 2.0**-60)] * 32)
@example([(2.0**-75 * 1.5, 2.0**-75, 2.0**-149)] * 32)
@example([(16777215.0, 1.0 + 2.0**-23, 2.0**-80)] * 32)
@example([(0.5, -(2.0**-149), 0.0)] * 32)  # rounds to zero, which keeps the sign
def test_fma_is_rounded_once(rows):
    with np.errstate(all="ignore"):
        check_fused(*zip(*rows, strict=True))


def test_fma_differs_from_a_product_and_a_sum_in_double():
    a, b, c = np.float32(1 + 2.0**-12), np.float32(1 + 2.0**-12), np.float32(2.0**-60)
    twice = np.float32(np.float64(a) * np.float64(b) + np.float64(c))
    once = launched(fused, *(np.full(32, v) for v in (a, b, c)))
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    assert abs(Fraction(float(once[0])) - exact) <= abs(Fraction(float(twice)) - exact)
    assert once[0] != twice


@gpucoh.kernel
def high_words(x: Buffer[u32], y: Buffer[u32], z: Buffer[u32, 2]):
    i = gpucoh.thread_id()
    z[0, i] = gpucoh.mulhi(x[i], y[i])
    z[1, i] = u32(gpucoh.mulhi(i32(x[i]), i32(y[i])))


@given(st.lists(words, min_size=32, max_size=32), st.lists(words, min_size=32, max_size=32))
@settings(max_examples=20, deadline=None)
def test_mulhi_is_the_upper_word_of_the_product(x, y):
    z = launched(
        high_words, *(np.array(v, np.uint32) for v in (x, y)), np.zeros((2, 32), np.uint32)
    )
    for k, (a, b) in enumerate(zip(x, y, strict=True)):
        signed = folding.signed(a) * folding.signed(b) >> 32 & 0xFFFFFFFF
        assert z[:, k].tolist() == [a * b >> 32, signed]
        assert folding.fold("MULHI", U32, [a, b]) == a * b >> 32
        assert folding.fold("MULHI", I32, [a, b]) == signed


@gpucoh.kernel
def bits(x: Buffer[f32], y: Buffer[u32, 2]):
    i = gpucoh.thread_id()
    y[0, i] = gpucoh.bitcast(x[i], u32)
    y[1, i] = gpucoh.bitcast(gpucoh.bitcast(x[i], i32), f32) == x[i]


def test_bitcast_keeps_the_bits():
    y = launched(bits, EDGES, np.zeros((2, 32), np.uint32))
    assert np.array_equal(y[0], EDGES.view(np.uint32))
    assert np.array_equal(y[1], EDGES == EDGES)


# ---- over a warp


@gpucoh.kernel
def reductions(x: Buffer[i32], y: Buffer[i32, 2]):
    i = gpucoh.thread_id()
    if i % 3 != 0:
        y[0, i] = gpucoh.reduce_add(x[i])
        y[1, i] = gpucoh.reduce_min(x[i])
        y[2, i] = gpucoh.reduce_max(x[i])
        y[3, i] = gpucoh.reduce_and(x[i])
        y[4, i] = gpucoh.reduce_or(x[i])
        y[5, i] = gpucoh.reduce_xor(x[i])
        y[6, i] = i32(gpucoh.match_any(x[i] % 4))


def expected_reductions(x, active):
    joined = [x[active].sum(dtype=np.int32), x[active].min(), x[active].max()]
    joined += [f.reduce(x[active]) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)]
    out = np.zeros((7, len(x)), np.int32)
    out[:6, active] = np.array(joined, np.int32)[:, None]
    low = np.flatnonzero(active[:32])
    for k in np.flatnonzero(active):
        mask = sum(1 << int(other) for other in low if x[other] % 4 == x[k] % 4)
        out[6, k] = np.uint32(mask).astype(np.int32)
    return out


@pytest.mark.parametrize("lanes", [32, 64])
def test_reductions_and_matches_are_over_the_active_threads_of_a_warp(lanes):
    x = np.random.default_rng(3).integers(-(2**30), 2**30, lanes, np.int32)
    active = np.arange(lanes) % 3 != 0
    expected = expected_reductions(x, active)
    set_ = {"lanes_per_warp": lanes, "warps_per_core": 16}
    gpu = gpucoh.GPU(protocol="ideal", set=set_)
    y = gpu.zeros((7, lanes), np.int32)
    gpu.launch(reductions, grid=1, block=lanes, args=(gpu.array(x), y))
    assert np.array_equal(y.numpy(), expected)


@gpucoh.kernel
def sums(x: Buffer[f32], y: Buffer[f32]):
    i = gpucoh.thread_id()
    y[i] = gpucoh.reduce_add(x[i]) + gpucoh.reduce_max(x[i])


def test_a_sum_of_f32_is_in_the_order_of_lanes():
    x = np.random.default_rng(5).normal(size=32).astype(np.float32)
    total = x[0]
    for value in x[1:]:
        total = np.float32(total + value)
    assert set(launched(sums, x, np.zeros(32, np.float32))) == {np.float32(total + x.max())}


# ---- the table


def test_every_row_has_the_parameters_of_its_function():
    for name, row in operations.OPERATIONS.items():
        function = getattr(gpucoh, name)
        assert len(inspect.signature(function).parameters) == len(row.takes), name
        assert function.__doc__
        assert name in intrinsics.NAMES


def test_every_function_has_a_row_or_a_handler():
    assert sorted(intrinsics.NAMES) == sorted([*operations.OPERATIONS, *lowering.CALLS])


def test_a_row_is_all_that_a_new_function_needs(monkeypatch):
    def brev(x):
        """The bits of an integer in reverse order."""

    monkeypatch.setattr(operations, "OPERATIONS", dict(operations.OPERATIONS))
    operations._row("int", "same", "BREV_B32", b64="BREV_B64")(brev)
    monkeypatch.setattr(intrinsics, "brev", brev, raising=False)
    monkeypatch.setattr(intrinsics, "NAMES", [*intrinsics.NAMES, "brev"])

    @gpucoh.kernel
    def reverse(x: Buffer[u32], y: Buffer[u64]):
        i = gpucoh.thread_id()
        y[i] = brev(u64(brev(x[i])))

    x = np.random.default_rng(3).integers(0, 2**32, 32, np.uint32)
    assert np.array_equal(launched(reverse, x, np.zeros(32, np.uint64)), np.uint64(x) << 32)


@pytest.mark.parametrize("op", ["CEIL", "ROUND", "TRUNC"])
def test_folding_gives_the_bits_of_the_core(op):
    place = 3 + ["CEIL", "ROUND", "TRUNC"].index(op)
    y = launched(unary, EDGES, np.zeros((6, 32), np.float32))[place]
    for value, got in zip(EDGES, y, strict=True):
        folded = folding.fold(op, F32, [folding.float_bits(value)])
        assert folded in (None, int(got.view(np.uint32)))
