"""Results of instructions with constant sources: the arithmetic of csrc/core/isa.h on 32-bit words."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from gpucoh.lang.types import F32, F64, U32, Scalar, Wide

MASK = 0xFFFFFFFF


def signed(bits: int) -> int:
    """The word as i32."""
    return bits - (1 << 32) if bits & 0x80000000 else bits


def float_value(bits: int) -> np.float32:
    """The word as f32."""
    return np.uint32(bits).view(np.float32)


def float_bits(value: float | np.float32) -> int:
    """The word of an f32; a Python float is rounded to nearest first."""
    with np.errstate(over="ignore"):
        return int(np.float32(value).view(np.uint32))


def fold(op: str, type: Scalar, words: list[int], to: Scalar | None = None) -> int | None:
    """The destination's bits for constant sources, or None if the machine must compute them."""
    if op == "MOVE":
        return words[0]
    if op == "SELECT":
        return words[1] if words[0] else words[2]
    if op == "CONVERT":
        assert to is not None
        return _convert(words[0], type, to)
    if type is F32:
        return _fold_float(op, words)
    return _fold_integer(op, type is U32, words)


def _convert(bits: int, source: Scalar, to: Scalar) -> int:
    if to is F32:
        if source is F32:
            return bits
        return float_bits(np.float32(bits if source is U32 else signed(bits)))
    if source is not F32:
        return bits
    value = float(float_value(bits))
    if value != value:
        return 0
    low, high = to.limits
    return int(max(low, min(high, value))) & MASK


def _fold_integer(op: str, unsigned: bool, words: list[int]) -> int | None:
    values = words if unsigned else [signed(word) for word in words]
    a = values[0]
    if op in ("NEG", "NOT", "ABS"):
        return (-a if op == "NEG" else ~a if op == "NOT" else abs(a)) & MASK
    if len(values) < 2:
        return None
    b = values[1]
    if op in COMPARISONS:
        return int(COMPARISONS[op](a, b))
    if op == "MULHI":
        return (a * b >> 32) & MASK
    if op in ("SHL", "SHR"):
        count = min(words[1], 32)
        return (a << count if op == "SHL" else a >> count) & MASK
    if op in ("DIV", "FLOORDIV", "MOD"):
        if b == 0:
            return None  # ``check`` reports it
        return (a % b if op == "MOD" else a // b) & MASK
    if op in _INTEGER:
        return int(_INTEGER[op](a, b)) & MASK
    return None


#: On Python's numbers.
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name.lower()) for name in ("EQ", "NE", "LT", "LE", "GT", "GE")
}
INTEGER: dict[str, Callable[[Any, Any], Any]] = {
    "ADD": operator.add, "SUB": operator.sub, "MUL": operator.mul, "AND": operator.and_, "OR": operator.or_,
    "XOR": operator.xor,
}  # fmt: skip
_INTEGER: dict[str, Callable[[Any, Any], Any]] = {**INTEGER, "MIN": min, "MAX": max}
_FLOAT: dict[str, Callable[..., Any]] = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "DIV": np.divide,
    "FLOORDIV": np.floor_divide,
    "MOD": np.remainder,
    "NEG": np.negative,
    "ABS": np.abs,
    "SQRT": np.sqrt,
    "FLOOR": np.floor,
    "CEIL": np.ceil,
    "ROUND": np.rint,
    "TRUNC": np.trunc,
}


def _fused(a: np.float32, b: np.float32, c: np.float32) -> np.float32:
    """``a * b + c`` rounded once: exact in fractions."""
    if not np.isfinite([a, b, c]).all():
        return np.float32(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:  # the sign of a zero is that of the sum of the rounded product
        return np.float32(np.float64(a) * np.float64(b) + np.float64(c))
    return _rounded(exact)


def _rounded(exact: Fraction) -> np.float32:
    """The f32 nearest to a number other than zero, halves to even."""
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size >= Fraction(2) ** exponent:
        exponent += 1
    step = Fraction(2) ** max(exponent - 24, -149)  # the unit in the last place
    return np.float32(math.copysign(float(round(exact / step) * step), exact))


def _fold_float(op: str, words: list[int]) -> int | None:
    values = [float_value(word) for word in words]
    if op in COMPARISONS:
        return int(bool(COMPARISONS[op](values[0], values[1])))
    if op not in _FLOAT and op != "FMA":
        return None
    with np.errstate(all="ignore"):
        result = _fused(*values) if op == "FMA" else _FLOAT[op](*values)
    # The machine determines which NaN results.
    return None if np.isnan(result) else float_bits(result)


def literal_bits(value: float, type: Scalar | Wide) -> int | None:
    """The bits of a Python number as a constant of ``type``; None if it does not fit."""
    if type in (F32, F64):
        try:
            packed = struct.pack("<f" if type is F32 else "<d", value)
        except OverflowError:
            return None
        return int.from_bytes(packed, "little")
    low, high = type.limits
    if not isinstance(value, int) or not low <= value <= high:
        return None
    return value & (high - low)
