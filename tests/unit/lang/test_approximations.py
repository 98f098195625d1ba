"""PTX's approximate functions: their rows on the core, and how far they are from the true values."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from gpucoh.lang import isa
from unit.lang.exact import F32
from unit.lang.test_extended import APPROXIMATE, THREADS, launched, operands

ROOT = Path(__file__).resolve().parents[3]
#: Of one operand: in f64, whose own error does not count.
TRUE = {
    "EX2": np.exp2, "LG2": np.log2, "SIN": np.sin, "COS": np.cos, "TANH": np.tanh, "SQRTA": np.sqrt,
    "RCPA": lambda x: 1 / x, "RSQRT": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
FLAGS = (0, isa.FLAG_FTZ, isa.FLAG_SAT)


def units(found: np.ndarray, true: np.ndarray) -> np.ndarray:
    """The distance of f32 from true values in units of the last place; NaN of both, and equal infinities, are 0."""
    with np.errstate(all="ignore"):
        rounded = true.astype(np.float32)
        same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
        unit = np.exp2(np.maximum(np.floor(np.log2(np.abs(true))) - 23, -149))
        return np.where(same, 0, np.abs(found.astype(np.float64) - true) / unit)


def flushed(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x)


@pytest.mark.parametrize("row", sorted(APPROXIMATE))
def test_an_approximation_is_within_an_ulp_and_honours_its_flags(row):
    name = row.removesuffix("_F32")
    words = isa.EXTENDED[row].words
    sources = [operands(1, k) for k in range(len(words))] + [np.zeros(THREADS, np.uint64)] * (
        3 - len(words)
    )
    a, b = (bits.astype(np.uint32).view(np.float32) for bits in sources[:2])
    for flags, bits in zip(
        FLAGS, launched([(row, flags) for flags in FLAGS], sources), strict=True
    ):
        found = bits.astype(np.uint32).view(np.float32)
        x, y = (flushed(a), flushed(b)) if flags == isa.FLAG_FTZ else (a, b)
        with np.errstate(all="ignore"):
            true = (
                x.astype(np.float64) / y.astype(np.float64)
                if name == "DIVA"
                else TRUE[name](x.astype(np.float64))
            )
            if flags == isa.FLAG_FTZ:
                true = np.where(np.abs(true) < 2.0**-126, np.copysign(0, true), true)
            if flags == isa.FLAG_SAT:
                true = np.clip(np.where(np.isnan(true), 0, true), 0, 1)
        errors = units(found, true)
        worst = int(np.argmax(errors))
        assert errors[worst] <= 1, (
            f"{row} flags {flags} of {a[worst]!r} and {b[worst]!r} gives {found[worst]!r}, not {true[worst]!r}"
        )
        nan = bits[np.isnan(found)].tolist()
        assert set(nan) <= {F32.nan}


@pytest.mark.long
@pytest.mark.timeout(600)
def test_approximations_are_within_an_ulp_for_every_17th_operand():
    program = ROOT / "build" / "quick" / "test_math"
    subprocess.run(
        ["ninja", "-C", program.parent, "test_math"], check=True, stdout=subprocess.DEVNULL
    )
    printed = subprocess.run(
        [program, "everywhere", "17"], check=True, capture_output=True, text=True
    ).stdout
    worst = {name: float(error) for name, error in map(str.split, printed.splitlines())}
    assert set(worst) == {"ex2", "lg2", "rsqrt", "sin", "cos", "tanh"}
    assert all(error <= 1 for error in worst.values()), worst
