"""cuRAND for programs: words, numbers and orders against the definitions of the generators, and cuRAND's own words."""

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from products import share
from unit.cuda.compiled import cuda, needs_nvcc

pytestmark = [needs_nvcc, pytest.mark.long]

PROGRAM = Path(__file__).parent / "libraries" / "random.cu"
THREADS, DRAWS, WORD, SEED = 40, 6, 0xFFFFFFFF, 0x0123456789ABCDEF
#: Words that cuRAND's generators of the host make first for the seed 1234 (libcurand 10.4.5).
CURAND = {
    "x": [624778773, 3522650202, 2363946744, 1266286439],
    "m": [3379073520, 653317650, 4012281984, 4237272334],
    "p": [546353992, 3665621163, 1140953199, 3419031310],
}
#: Vectors of Random123's kat_vectors for philox4x32-10.
KNOWN = """6627e8d5 e169c58d bc57ac4c 9b00dbd8 408f276d 41c83b0e a20bc7c6 6d5451fd
d16cfe09 94fdcceb 5001e420 24126ea1"""


# ---- the generators: functions of seed, subsequence and place that return what follows


@functools.cache
def _jumps() -> list[np.ndarray]:
    """The powers 2^k of XORWOW's step as matrices over GF(2), of bits in columns."""
    columns = []
    for bit in range(160):
        v = [(1 << bit >> 32 * k) & WORD for k in range(5)]
        columns.append(_bits(_stepped(v)))
    jumps = [np.array(columns, np.float64).T]  # sums are exact
    while len(jumps) < 67 + 64:
        jumps.append(jumps[-1] @ jumps[-1] % 2)
    return jumps


def _stepped(v: list[int]) -> list[int]:
    t = v[0] ^ v[0] >> 2
    return [*v[1:], (v[4] ^ v[4] << 4 ^ t ^ t << 1) & WORD]


def _bits(v: list[int]) -> np.ndarray:
    return np.unpackbits(np.array(v, "<u4").view(np.uint8), bitorder="little")


def xorwow(seed: int, subsequence: int, offset: int) -> Iterator[int]:
    low = 1099087573 * (seed & WORD ^ 0xAAD26B49) & WORD
    high = 2591861531 * (seed >> 32 ^ 0xF7DCEFDD) & WORD
    v = [123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low]
    v = [one & WORD for one in v]
    bits, steps, k = _bits(v).astype(float), offset + (subsequence << 67), 0
    while steps >> k:
        bits = _jumps()[k] @ bits % 2 if steps >> k & 1 else bits
        k += 1
    v = [int(one) for one in np.packbits(bits.astype(np.uint8), bitorder="little").view("<u4")]
    d = 6615241 + high + low + 362437 * offset
    while True:
        v, d = _stepped(v), d + 362437
        yield (v[4] + d) & WORD


def philox(seed: int, subsequence: int, offset: int) -> Iterator[int]:
    number = (offset // 4 + (subsequence << 64)) % 2**128
    while True:
        c = [number >> 32 * k & WORD for k in range(4)]
        key = [seed & WORD, seed >> 32]
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [b >> 32 ^ c[1] ^ key[0], b & WORD, a >> 32 ^ c[3] ^ key[1], a & WORD]
            key = [(key[0] + 0x9E3779B9) & WORD, (key[1] + 0xBB67AE85) & WORD]
        yield from c[offset % 4 :]
        number, offset = (number + 1) % 2**128, 0


M = 4294967087, 4294944443


def _power(rows: list[list[int]], exponent: int, m: int) -> np.ndarray:
    base, power = np.array(rows, object) % m, np.array(np.eye(3, dtype=int), object)
    while exponent:
        power = power @ base % m if exponent & 1 else power
        base, exponent = base @ base % m, exponent >> 1
    return power


def mrg(seed: int, subsequence: int, offset: int) -> Iterator[int]:
    """The numbers from 1 to M[0]."""
    low, high = seed & WORD ^ 0x55555555, seed >> 32 ^ 0xAAAAAAAA
    steps = offset + (subsequence << 76)
    first = _power([[0, 1, 0], [0, 0, 1], [-810728, 1403580, 0]], steps, M[0])
    second = _power([[0, 1, 0], [0, 0, 1], [-1370589, 0, 527612]], steps, M[1])
    a = list(first @ np.array([low, high, low], object) * 12345 % M[0])
    b = list(second @ np.array([high, low, high], object) * 12345 % M[1])
    while True:
        a = [*a[1:], (1403580 * a[1] - 810728 * a[0]) % M[0]]
        b = [*b[1:], (527612 * b[2] - 1370589 * b[0]) % M[1]]
        yield (a[2] - b[2] - 1) % M[0] + 1


# ---- numbers of words


def word_of(name: str, drawn: int) -> int:
    return int(drawn * 1.000000048662) if name == "m" else drawn


def uniform(name: str, draws: Iterator[int]) -> float:
    return next(draws) / M[0] if name == "m" else (next(draws) + 0.5) / 2**32


def double(name: str, draws: Iterator[int]) -> float:
    """Of 53 bits."""
    if name == "m":
        return uniform(name, draws)
    low, high = next(draws), next(draws)
    return ((low ^ high << 21) + 0.5) / 2**53


def normals(number: Callable[[str, Iterator[int]], float], name: str, draws: Iterator[int]) -> list[float]:  # fmt: skip
    radius, angle = np.sqrt(-2 * np.log(number(name, draws))), 2 * np.pi * number(name, draws)
    return [radius * np.sin(angle), radius * np.cos(angle)]


ENGINES: dict[str, Callable[[int, int, int], Iterator[int]]] = {"x": xorwow, "p": philox, "m": mrg}
STREAMS = {"x": 4096, "p": 65536, "m": 81920}


@functools.cache
def written(protocol: str) -> dict[str, list[str]]:
    run = cuda(PROGRAM, "--nvcc=-lcurand", "-p", protocol, "--json")
    assert run.returncode == 0, run.stderr
    lines = json.loads(run.stdout)["output"].splitlines()
    assert not [line for line in lines if line.startswith("status")]
    return {line.split()[0]: line.split()[1:] for line in lines}


def numbers(name: str, protocol: str = "mesi") -> np.ndarray:
    return np.array(written(protocol)[name], float)


def test_philox_is_random123_s() -> None:
    np.testing.assert_array_equal(numbers("known"), [int(word, 16) for word in KNOWN.split()])


@pytest.mark.parametrize(
    ("name", "protocol"),
    [*((name, "mesi") for name in "xpm"), *share("x", ["gpu-drf", "tc-weak"], one_in=2)],
)
def test_the_functions_of_the_device(name: str, protocol: str) -> None:
    words, found = numbers(f"{name}words", protocol), numbers(f"{name}numbers", protocol)
    for i in range(THREADS):
        draws = ENGINES[name](SEED, 1000003 * i, 37 * i)
        wanted = [word_of(name, next(draws)) for _ in range(DRAWS - 1)]
        used = DRAWS - 1
        values = [uniform(name, draws)]
        values.append((next(draws) + 1) / 2**32 if name == "p" else double(name, draws))
        values += [*normals(uniform, name, draws), normals(double, name, draws)[0]]
        values.append(np.exp(1 + 0.5 * normals(uniform, name, draws)[0]))
        used += {"x": 1 + 2 + 2 + 4 + 2, "p": 1 + 1 + 2 + 4 + 2, "m": 1 + 1 + 2 + 2 + 2}[name]
        far = {"x": (1000003 * i + 5, 0), "p": (1000003 * i + 5, 0), "m": (1000003 * i, 5 << 127)}[name]  # fmt: skip
        draws = ENGINES[name](SEED, far[0], far[1] + 37 * i + used + 123456789)
        wanted.append(word_of(name, next(draws)))
        np.testing.assert_array_equal(words[i * DRAWS :][:DRAWS], wanted, err_msg=f"thread {i}")
        np.testing.assert_allclose(found[i * DRAWS :][:DRAWS], values, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("place", ["device", "host"])
def test_generators_have_the_order_of_curand(name: str, place: str) -> None:
    streams = STREAMS[name]
    words = numbers(f"{place}{name}words")
    np.testing.assert_array_equal(words[:4], CURAND[name])
    turn = 4 if name == "p" else 1
    for k in (0, 1, 5, 1000, 4095, 4096, 5000):
        draws = ENGINES[name](1234, k // turn % streams, k // turn // streams * turn + k % turn)
        assert words[k] == word_of(name, next(draws)), k
    k = 5001 // turn  # calls continue: the next number is number 5001
    draws = ENGINES[name](1234, k % streams, k // streams * turn + 5001 % turn)
    np.testing.assert_allclose(numbers(f"{place}{name}uniform")[0], uniform(name, draws), rtol=1e-6)


@pytest.mark.parametrize("name", ENGINES)
def test_generators_begin_at_their_offset(name: str) -> None:
    streams, offset = STREAMS[name], 12345
    for place in ("device", "host"):
        found = numbers(f"{place}{name}normal")
        if name == "p":
            draws = philox(1234, offset // 4, 0)
            pairs = [normals(uniform, name, draws) for _ in range(2)]
            wanted = [pairs[0][1], *pairs[1]]  # number 12345 is the second of a pair
        else:
            draws = ENGINES[name](1234, offset % streams, offset // streams)
            wanted = normals(uniform, name, draws)
        np.testing.assert_allclose(found[: len(wanted)], 1 + 2 * np.array(wanted), rtol=1e-4)
        doubles = numbers(f"{place}{name}double")
        at = offset + (100 if name == "p" else 50)  # a pair of normal numbers is one turn
        k = at // 4 if name == "p" else at
        draws = ENGINES[name](1234, k % streams, k // streams)
        for _ in range(at % 4 if name == "p" else 0):
            double(name, draws)
        assert doubles[0] == pytest.approx(double(name, draws), rel=1e-15)
