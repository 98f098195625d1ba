"""Floating-point arithmetic in whole numbers of any length: what the extended operations must give."""

import math
from dataclasses import dataclass

RN, RZ, RM, RP, FTZ, SAT = 0, 1, 2, 3, 4, 8


@dataclass(frozen=True)
class Format:
    """Bits of the fraction and of the exponent, and the canonical NaN."""

    fraction: int
    exponent: int
    nan: int

    @property
    def sign(self) -> int:
        return 1 << (self.fraction + self.exponent)

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def least(self) -> int:
        return 1 - self.bias - self.fraction

    def size(self, bits: int) -> int:
        return bits & (self.sign - 1)

    def is_nan(self, bits: int) -> bool:
        return self.size(bits) > self.infinity

    def is_infinite(self, bits: int) -> bool:
        return self.size(bits) == self.infinity

    def exact(self, bits: int) -> tuple[int, int]:
        """A finite number as n * 2^e."""
        exponent, n = self.size(bits) >> self.fraction, bits & ((1 << self.fraction) - 1)
        if exponent:
            n |= 1 << self.fraction
        return (-n if bits & self.sign else n), max(exponent, 1) - 1 + self.least

    def operand(self, bits: int, flags: int) -> int:
        """Without the bits above the format, and without a subnormal that is to be flushed."""
        bits &= 2 * self.sign - 1
        if flags & FTZ and self.size(bits) >> self.fraction == 0:
            bits &= self.sign
        return bits

    def finish(self, bits: int, flags: int) -> int:
        bits = self.operand(bits, flags)
        if not flags & SAT:
            return bits
        if self.is_nan(bits) or bits & self.sign:
            return 0
        return min(bits, self.bias << self.fraction)


F16, BF16 = Format(10, 5, 0x7FFF), Format(7, 8, 0x7FFF)
F32, F64 = Format(23, 8, 0x7FFFFFFF), Format(52, 11, 0x7FF8000000000000)
FORMATS = {"F16": F16, "BF16": BF16, "F32": F32, "F64": F64}


def whole(n: int, e: int, mode: int, more: bool = False) -> int:
    """n * 2^e, with a rest below it if `more`, as a whole number."""
    size, negative = abs(n), n < 0
    if e >= 0:
        return n << e
    size, more = size << 2 | more, more
    cut, rest = size >> (2 - e), size & ((1 << (2 - e)) - 1)
    half = 1 << (1 - e)
    up = {
        RN: rest > half or (rest == half and cut & 1),
        RZ: False,
        RM: negative and rest != 0,
        RP: not negative and rest != 0,
    }[mode]
    cut += bool(up)
    return -cut if negative else cut


def rounded(f: Format, n: int, e: int, flags: int, zero: bool = False, more: bool = False) -> int:
    """n * 2^e in a format; `zero`: the sign of a zero."""
    mode = flags & 3
    if n == 0:
        return f.finish(f.sign if zero else 0, flags)
    sign = f.sign if n < 0 else 0
    lowest = max(abs(n).bit_length() - 1 + e - f.fraction, f.least)
    cut = abs(whole(n, e - lowest, mode, more))
    bits = (lowest - f.least << f.fraction) + cut
    if bits >= f.infinity:
        outwards = mode == RN or mode == (RM if sign else RP)
        bits = f.infinity if outwards else f.infinity - 1
    return f.finish(sign | bits, flags)


def _sum(
    f: Format, x: tuple[int, int], y: tuple[int, int], signs: tuple[bool, bool], flags: int
) -> int:
    e = min(x[1], y[1])
    n = (x[0] << (x[1] - e)) + (y[0] << (y[1] - e))
    zero = signs[0] if signs[0] == signs[1] and not x[0] and not y[0] else flags & 3 == RM
    return rounded(f, n, e, flags, zero)


def add(f: Format, a: int, b: int, flags: int) -> int:
    return fma(f, a, f.bias << f.fraction, b, flags)


def sub(f: Format, a: int, b: int, flags: int) -> int:
    return add(f, a, b ^ f.sign, flags)


def mul(f: Format, a: int, b: int, flags: int) -> int:
    return fma(f, a, b, (a ^ b) & f.sign, flags)  # and a zero of the product's sign


def fma(f: Format, a: int, b: int, c: int, flags: int) -> int:
    a, b, c = (f.operand(x, flags) for x in (a, b, c))
    if f.is_nan(c) or f.is_nan(a) or f.is_nan(b) or {f.size(a), f.size(b)} == {0, f.infinity}:
        return f.finish(f.nan, flags)
    sign = (a ^ b) & f.sign
    if f.is_infinite(a) or f.is_infinite(b):
        opposed = f.is_infinite(c) and c & f.sign != sign
        return f.finish(f.nan if opposed else sign | f.infinity, flags)
    if f.is_infinite(c):
        return f.finish(c, flags)
    (m, i), (n, j) = f.exact(a), f.exact(b)
    return _sum(f, (m * n, i + j), f.exact(c), (bool(sign), bool(c & f.sign)), flags)


def div(f: Format, a: int, b: int, flags: int) -> int:
    a, b = f.operand(a, flags), f.operand(b, flags)
    sign = (a ^ b) & f.sign
    if f.is_nan(a) or f.is_nan(b) or f.size(a) == f.size(b) in (0, f.infinity):
        return f.finish(f.nan, flags)
    if f.is_infinite(a) or f.size(b) == 0:
        return f.finish(sign | f.infinity, flags)
    if f.is_infinite(b) or f.size(a) == 0:
        return f.finish(sign, flags)
    (m, i), (n, j) = f.exact(a), f.exact(b)
    quotient, rest = divmod(abs(m) << 200, abs(n))
    return rounded(f, -quotient if sign else quotient, i - j - 200, flags, more=rest != 0)


def sqrt(f: Format, a: int, flags: int) -> int:
    a = f.operand(a, flags)
    if f.is_nan(a) or (a & f.sign and f.size(a)):
        return f.finish(f.nan, flags)
    if f.size(a) == 0 or f.is_infinite(a):
        return f.finish(a, flags)
    n, e = f.exact(a)
    n <<= 300 + (e & 1)
    root = math.isqrt(n)
    return rounded(f, root, (e - (e & 1) - 300) // 2, flags, more=root * root != n)


def rsqrt(f: Format, a: int, flags: int) -> int:
    a = f.operand(a, flags)
    if f.is_nan(a) or (a & f.sign and f.size(a)):
        return f.finish(f.nan, flags)
    if f.size(a) == 0:
        return f.finish(a | f.infinity, flags)
    if f.is_infinite(a):
        return 0
    n, e = f.exact(a)
    if e & 1:
        n, e = 2 * n, e - 1
    return rounded(f, math.isqrt((1 << 600) // n), -300 - e // 2, flags, more=True)


def extreme(f: Format, a: int, b: int, flags: int, pick) -> int:
    a, b = f.operand(a, flags), f.operand(b, flags)
    numbers = [x for x in (a, b) if not f.is_nan(x)]
    if not numbers:
        return f.finish(f.nan, flags)
    return f.finish(
        pick(numbers, key=lambda x: f.sign - 1 - f.size(x) if x & f.sign else f.sign + x), flags
    )


def order(f: Format, a: int, b: int, flags: int) -> str:
    """How two numbers compare: <, =, > or ?."""
    a, b = f.operand(a, flags), f.operand(b, flags)
    if f.is_nan(a) or f.is_nan(b):
        return "?"
    x, y = (-f.size(v) if v & f.sign else f.size(v) for v in (a, b))
    return "<" if x < y else ">" if x > y else "="


def to_whole(f: Format, a: int, flags: int) -> int:
    a = f.operand(a, flags)
    if f.is_nan(a) or f.is_infinite(a):
        return f.finish(f.nan if f.is_nan(a) else a, flags)
    n, e = f.exact(a)
    return rounded(f, whole(n, e, flags & 3), 0, flags, bool(a & f.sign))


def to_integer(f: Format, a: int, bits: int, signed: bool, flags: int) -> int:
    a = f.operand(a, flags if f is F32 else flags & ~FTZ)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if f.is_nan(a):
        return 1 << (bits - 1) if f is F64 or bits == 64 else 0
    if f.is_infinite(a):
        value = low if a & f.sign else high
    else:
        value = min(max(whole(*f.exact(a), flags & 3), low), high)
    return value & ((1 << bits) - 1)


def from_integer(f: Format, value: int, flags: int) -> int:
    return rounded(f, value, 0, flags)


def convert(to: Format, f: Format, a: int, flags: int) -> int:
    a = f.operand(a, flags if f is F32 else flags & ~FTZ)
    flags = flags if to is F32 else flags & ~FTZ
    if f.is_nan(a):
        return to.finish(to.nan, flags)
    if f.is_infinite(a):
        return to.finish(to.infinity | (to.sign if a & f.sign else 0), flags)
    return rounded(to, *f.exact(a), flags, bool(a & f.sign))
