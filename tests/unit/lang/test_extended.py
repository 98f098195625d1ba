"""Every row of extended.def on the core, against whole numbers of Python."""

import itertools
import struct

import numpy as np
import pytest

from gpucoh import _core
from gpucoh.lang import isa
from unit.lang import exact
from unit.lang.exact import FORMATS, FTZ, RM, RN, RP, RZ, SAT
from unit.lang.forms import Form, run

THREADS = 1024
#: With flags: each of them on a sixth of the threads' operands.
FLAGS = (RN, RZ, RM, RP, FTZ, RM | FTZ | SAT)
EDGES_32 = [
    0, 1, 2, 31, 32, 33, 63, 64, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0x00800000,
    0x007FFFFF, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x4F000000, 0x3F000000, 0x40200000, 0x7C00,
    0x3C00, 0x0400, 0x03FF, 0xFC00, 0x7E00, 0x80000000, 0x00000001, 0x80000001, 0x5F000000, 0x7F7FFFFF,
]  # fmt: skip
EDGES_64 = [
    0, 1, 63, 64, 1 << 31, 1 << 32, (1 << 32) - 1, 1 << 63, (1 << 63) - 1, (1 << 64) - 1, 0x7FF0000000000000,
    0xFFF0000000000000, 0x7FF8000000000000, 0x3FF0000000000000, 0x3FE0000000000000, 0x0010000000000000,
    0x000FFFFFFFFFFFFF, 0x43E0000000000000, 0x41E0000000000000, 0x41DFFFFFFFC00000, 0xC1E0000000000000,
    0x36A0000000000000, 0x3810000000000000, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000,
]  # fmt: skip


def operands(words: int, which: int) -> np.ndarray:
    """Edge values, every pair of them early, and random ones of any size."""
    dice = np.random.default_rng([words, which])
    edges = EDGES_64 if words == 2 else EDGES_32
    bits = dice.integers(0, 2**32, THREADS, np.uint64) | dice.integers(
        0, 2**32, THREADS, np.uint64
    ) << np.uint64(32)
    if words == 1:
        bits &= np.uint64(0xFFFFFFFF)
    short = np.arange(THREADS) % 4 == 1  # small whole numbers: shifts, positions, lengths
    bits[short] >>= dice.integers(0, 32 * words, short.sum(), np.uint64)
    near = np.arange(THREADS) % 4 == 2  # floats of like size, which cancel
    one = 0x3FF0000000000000 if words == 2 else 0x3F800000
    bits[near] = bits[near] & np.uint64(
        (1 << (54 if words == 2 else 25)) - 1 | 1 << 32 * words - 1
    ) ^ np.uint64(one)
    chosen = np.arange(THREADS) % 4 == 3
    bits[chosen] = dice.choice(np.array(edges, np.uint64), chosen.sum())
    return bits


def launched(rows: list[tuple[str, int]], sources: list[np.ndarray]) -> list[np.ndarray]:
    """The results of (row, flags), of one signature."""
    row = isa.EXTENDED[rows[0][0]]
    names = [f"{x}{k}" for x in "abc" for k in range(2)]
    form = Form(*names, "out")
    thread = form.thread()
    loaded = []
    for k, words in enumerate((row.a, row.b, row.c)):
        parts = [form.add("LOAD", [thread], immediate=2 * k + part)[0] for part in range(words)]
        loaded += [parts] if words else []
    for k, (name, flags) in enumerate(rows):
        for part, word in enumerate(form.extended(name, *loaded, flags=flags)):
            (place,) = form.add("ADD", [thread, (k * row.d + part) * THREADS])
            form.add("STORE", [place, word], 0, immediate=6)
    halves = [(bits >> np.uint64(32 * k)).astype(np.uint32) for bits in sources for k in range(2)]
    out = np.zeros(len(rows) * row.d * THREADS, np.uint32)
    found = run(form.program(), [*halves, out], THREADS // 256, 256)[-1].reshape(
        len(rows), row.d, THREADS
    )
    return [
        sum(part.astype(np.uint64) << np.uint64(32 * k) for k, part in enumerate(one))
        for one in found
    ]


def s(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def divided(a: int, b: int) -> tuple[int, int]:
    quotient = abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)
    return quotient, a - b * quotient


def field(a: int, at: int, length: int, bits: int, signed: bool) -> int:
    at, length, found = at & 255, length & 255, 0
    sign = a >> min(at + length - 1, bits - 1) & 1 if signed and length else 0
    for i in range(bits):
        found |= (a >> (at + i) & 1 if i < length and at + i < bits else sign) << i
    return found


def inserted(a: int, b: int, c: int, bits: int) -> int:
    at, length = c & 255, c >> 8 & 255
    for i in range(length):
        if at + i < bits:
            b = b & ~(1 << (at + i)) | (a >> i & 1) << (at + i)
    return b


def permuted(a: int, b: int, c: int, mode: str) -> int:
    data = struct.pack("<II", a, b)
    k = c & 3
    tables = {
        "F4E": [k, k + 1, k + 2, k + 3],
        "B4E": [k, (k - 1) % 8, (k - 2) % 8, (k - 3) % 8],
        "RC8": [k] * 4,
        "ECL": [k, max(k, 1), max(k, 2), 3],
        "ECR": [0, min(k, 1), min(k, 2), k],
        "RC16": [2 * (k & 1), 2 * (k & 1) + 1] * 2,
    }
    if mode != "B32":
        return int.from_bytes(bytes(data[i] for i in tables[mode]), "little")
    nibbles = [c >> 4 * i & 15 for i in range(4)]
    return int.from_bytes(
        bytes(255 * (data[n & 7] >> 7) if n & 8 else data[n & 7] for n in nibbles), "little"
    )


def clamped(value: int) -> int:
    return min(max(value, -(2**31)), 2**31 - 1)


def integer(operation: str, type: str, a: int, b: int, c: int) -> int:
    """What a row without flags gives, before it is cut to its words."""
    signed, bits = type[0] == "S", int(type[1:]) if type[1:].isdigit() else 32
    x, y = (s(a, bits), s(b, bits)) if signed else (a, b)
    comparisons = {"EQ": x == y, "NE": x != y, "LT": x < y, "LE": x <= y, "GT": x > y, "GE": x >= y}
    if operation in comparisons:
        return int(comparisons[operation])
    count = b  # of shifts
    simple = {
        "ADD": lambda: a + b, "SUB": lambda: a - b, "MUL": lambda: a * b, "MAD": lambda: a * b + c,
        "NEG": lambda: -a, "ABS": lambda: abs(x), "AND": lambda: a & b, "OR": lambda: a | b, "XOR": lambda: a ^ b,
        "NOT": lambda: ~a, "SHL": lambda: a << min(count, 64), "SHR": lambda: x >> min(count, 64),
        "MIN": lambda: min(x, y), "MAX": lambda: max(x, y), "MULHI": lambda: x * y >> bits,
        "MADHI": lambda: (x * y >> bits) + c, "MULWIDE": lambda: x * y,
        "MADWIDE": lambda: x * y + c, "SEXT": lambda: x, "SELECT": lambda: b if a else c,
        "POPC": lambda: a.bit_count(), "CLZ": lambda: bits - a.bit_length(), "FFS": lambda: (a & -a).bit_length(),
        "BREV": lambda: int(f"{a:0{bits}b}"[::-1], 2), "SAD": lambda: c + abs(x - y),
        "BFE": lambda: field(a, b, c, bits, signed), "BFI": lambda: inserted(a, b, c, bits),
        "BFIND": lambda: (~x if x < 0 else x).bit_length() - 1,
        "ADDSAT": lambda: clamped(x + y), "SUBSAT": lambda: clamped(x - y),
        "DIV": lambda: divided(x, y)[0] if y else -1, "REM": lambda: divided(x, y)[1] if y else x,
    }  # fmt: skip
    return simple[operation]()


def floored(operation: str, type: str, a: int, b: int) -> int:
    """As Python's // and %."""
    if type != "F64":
        x, y = (s(a, 64), s(b, 64)) if type == "S64" else (a, b)
        return 0 if y == 0 else x // y if operation == "FLOORDIV" else x % y
    x, y = (float(np.uint64(v).view(np.float64)) for v in (a, b))
    with np.errstate(all="ignore"):
        function = np.floor_divide if operation == "FLOORDIV" else np.remainder
        result = function(np.float64(x), np.float64(y))
    return exact.F64.nan if result != result else int(result.view(np.uint64))


def bits_of(name: str, a: int, b: int, c: int) -> int:
    operation, _, type = name.rpartition("_")
    if operation.startswith("FLOOR"):
        return floored(operation, type, a, b)
    if operation == "PRMT":
        return permuted(a, b, c, type)
    if operation.startswith("SHF"):
        count = c % 32 if type == "WRAP" else min(c, 32)
        both = b << 32 | a
        return both << count >> 32 if operation == "SHF_LEFT" else both >> count
    if operation == "DP4A":
        parts = [
            struct.unpack("4b" if t == "S" else "4B", struct.pack("<I", v))
            for t, v in zip(type, (a, b), strict=True)
        ]
        return c + sum(i * j for i, j in zip(*parts, strict=True))
    if operation.startswith("TESTP"):
        f, size = FORMATS[type], FORMATS[type].size(a)
        least = 1 << f.fraction
        return int(
            {
                "FINITE": size < f.infinity, "INFINITE": size == f.infinity, "NUMBER": size <= f.infinity,
                "NOTANUMBER": size > f.infinity, "NORMAL": least <= size < f.infinity, "SUBNORMAL": 0 < size < least,
            }[operation.removeprefix("TESTP_")]
        )  # fmt: skip
    if operation == "COPYSIGN":
        sign = FORMATS[type].sign
        return a & sign | b & ~sign
    return integer(operation, type, a, b, c)


ORDERS = {
    "EQ": "=", "NE": "<>", "LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "NUM": "<=>", "NAN": "?",
    "EQU": "=?", "NEU": "<>?", "LTU": "<?", "LEU": "<=?", "GTU": ">?", "GEU": ">=?",
}  # fmt: skip


def number(name: str, a: int, b: int, c: int, flags: int) -> int:
    """What a row with flags gives."""
    operation, _, type = name.rpartition("_")
    if type in ("S32", "U32", "S64", "U64"):
        bits = int(type[1:])
        return exact.from_integer(FORMATS[operation], s(a, bits) if type[0] == "S" else a, flags)
    f = FORMATS[type]
    if operation in FORMATS:
        return exact.convert(FORMATS[operation], f, a, flags)
    if operation in ("S32", "U32", "S64", "U64"):
        return exact.to_integer(f, a, int(operation[1:]), operation[0] == "S", flags)
    if operation in ORDERS:
        return int(exact.order(f, a, b, flags) in ORDERS[operation])
    one = f.bias << f.fraction
    rows = {
        "ADD": lambda: exact.add(f, a, b, flags), "SUB": lambda: exact.sub(f, a, b, flags),
        "MUL": lambda: exact.mul(f, a, b, flags), "FMA": lambda: exact.fma(f, a, b, c, flags),
        "DIV": lambda: exact.div(f, a, b, flags), "RCP": lambda: exact.div(f, one, a, flags),
        "SQRT": lambda: exact.sqrt(f, a, flags), "RSQRT": lambda: exact.rsqrt(f, a, flags & ~3),
        "MIN": lambda: exact.extreme(f, a, b, flags, min), "MAX": lambda: exact.extreme(f, a, b, flags, max),
        "NEG": lambda: f.operand(a, flags) ^ f.sign, "ABS": lambda: f.operand(a, flags) & ~f.sign,
        "ROUND": lambda: exact.to_whole(f, a, flags), "RCPA": lambda: exact.div(f, one, a, flags),
    }  # fmt: skip
    return rows[operation]()


#: Tested in test_approximations.py.
APPROXIMATE = {
    f"{name}_F32" for name in ("EX2", "LG2", "RCPA", "RSQRT", "SQRTA", "DIVA", "SIN", "COS", "TANH")
}
SIGNATURES = sorted(
    {(row.d, row.a, row.b, row.c, row.takes_flags) for row in isa.EXTENDED.values()}
)


def test_the_core_has_the_rows_of_the_table():
    units = {"NONE": 0, "SPECIAL": 1, "DIVISION": 2, "F64": 4}
    assert _core.isa()["extended"] == {
        name: (r.number, r.d, r.a, r.b, r.c, units[r.unit], r.takes_flags)
        for name, r in isa.EXTENDED.items()
    }


@pytest.mark.parametrize("signature", SIGNATURES, ids=str)
def test_rows_give_what_whole_numbers_of_python_give(signature):
    names = [
        name
        for name, r in isa.EXTENDED.items()
        if (r.d, r.a, r.b, r.c, r.takes_flags) == signature and name not in APPROXIMATE
    ]
    sources = [operands(words or 1, k) for k, words in enumerate(signature[1:4])]
    lists = [bits.tolist() for bits in sources]
    calls = list(itertools.product(names, FLAGS if signature[4] else (0,)))
    mask = (1 << 32 * signature[0]) - 1
    for (name, flags), found in zip(calls, launched(calls, sources), strict=True):
        first, step = (FLAGS.index(flags), len(FLAGS)) if signature[4] else (0, 1)
        for t in range(first, THREADS, step):
            a, b, c = (bits[t] for bits in lists)
            wanted = (
                number(name, a, b, c, flags) if signature[4] else bits_of(name, a, b, c)
            ) & mask
            assert found[t] == wanted, (
                f"{name} flags {flags}: {a:#x} {b:#x} {c:#x} gives {int(found[t]):#x}, not {wanted:#x}"
            )
