"""Do values keep their meaning after later assignments, and do programs follow changes of outside names?"""

import types

import numpy as np
import pytest

import gpucoh
from gpucoh import Buffer, device, global_id, i32, kernel
from unit.lang.plain import kernel_from_source


def ran(k, threads=4):
    gpu = gpucoh.GPU(protocol="ideal")
    out = gpu.zeros(threads, np.int32)
    gpu.launch(k, grid=1, block=threads, args=(out,))
    return out.numpy().tolist()


@device
def element_of_a_tuple(x):
    t = (1, (x, 2))
    x += 70
    return t[1][0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("t = ((a, 1), 2)\na += 50\ns = t[0][0]", lambda i: i),
        ("b = a + 10\nc = a + 20\nc, (a, b) = a, (b, c)\ns = b * 10000 + a * 100 + c",
         lambda i: (i + 20) * 10000 + (i + 10) * 100 + i),
        ("b = a + 10\nfor q in (a, b):\n    b = 0\n    s = s * 100 + q", lambda i: i * 100 + i + 10),
        ("for p, q in ((1, 1), (a, 2)):\n    a += 50\n    s += p * q", lambda i: 1 + 2 * i),
        ("s = element_of_a_tuple(a)", lambda i: i),
        ("for q in (1, a):\n    s = s * 10 + q", lambda i: 10 + i),
    ],
)  # fmt: skip
def test_a_tuple_holds_what_its_names_meant_when_it_was_made(body, expected):
    lines = ["a = global_id()", "s = 0", *body.split("\n"), "o[global_id()] = s"]
    text = "@kernel\ndef k(o: Buffer[i32]):\n" + "".join(f"    {line}\n" for line in lines)
    k = kernel_from_source(text, "k", {"element_of_a_tuple": element_of_a_tuple})
    assert ran(k) == [expected(i) for i in range(4)]


settings = types.ModuleType("settings")
settings.N = 1


@device
def one():
    return 1


@device
def two():
    return 2


settings.step = one


@kernel
def reads_a_module(o: Buffer[i32]):
    o[global_id()] = settings.N * 10 + settings.step()


def test_a_kernel_follows_what_it_reads_through_a_module():
    settings.N, settings.step = 1, one
    assert ran(reads_a_module) == [11] * 4
    settings.N, settings.step = 7, two
    assert ran(reads_a_module) == [72] * 4


ZERO = 0.0


@kernel
def sign_of_zero(o: Buffer[i32]):
    o[global_id()] = 1.0 / (ZERO * gpucoh.f32(global_id() + 1)) < 0.0


def test_minus_zero_is_another_constant_than_zero(monkeypatch):
    assert ran(sign_of_zero) == [0] * 4
    monkeypatch.setitem(globals(), "ZERO", -0.0)
    assert ran(sign_of_zero) == [1] * 4


@kernel
def floors(
    a: Buffer[gpucoh.f32],
    b: Buffer[gpucoh.f32],
    quotient: Buffer[gpucoh.f32],
    rest: Buffer[gpucoh.f32],
):
    i = global_id()
    quotient[i] = a[i] // b[i]
    rest[i] = a[i] % b[i]


def same(x, y):
    return (x.view(np.uint32) == y.view(np.uint32)) | (np.isnan(x) & np.isnan(y))


def test_floor_division_of_floats_is_numpys_bit_for_bit():
    special = np.array(
        [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 3.4e38, 0.1, 3, 7.3, 1e20],
        np.float32,
    )
    random = np.random.default_rng(1)
    anything = random.integers(0, 2**32, (2, 3000), dtype=np.uint32).view(np.float32)
    near = (random.standard_normal((2, 1096)) * [[100], [1]]).astype(np.float32)
    pairs = np.concatenate(
        [anything, near, np.array(np.meshgrid(special, special)).reshape(2, -1)], 1
    )
    n = pairs.shape[1] // 128 * 128
    a, b = pairs[0, -n:].copy(), pairs[1, -n:].copy()
    gpu = gpucoh.GPU(protocol="ideal")
    quotient, rest = gpu.zeros(n), gpu.zeros(n)
    gpu.launch(floors, grid=n // 128, block=128, args=(gpu.array(a), gpu.array(b), quotient, rest))
    with np.errstate(all="ignore"):
        assert same(quotient.numpy(), np.floor_divide(a, b)).all()
        assert same(rest.numpy(), np.remainder(a, b)).all()


@kernel
def folded(o: Buffer[i32]):
    x = gpucoh.f32(1.0)
    y = gpucoh.f32(0.1)
    o[global_id()] = x // y == 1.0 // 0.1


def test_the_compiler_and_the_machine_floor_alike():
    assert ran(folded) == [1] * 4
