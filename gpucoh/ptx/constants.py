"""Numbers as PTX writes them: bits of floats in hexadecimal, decimals, integers of four bases, ``WARP_SZ``."""

from __future__ import annotations

import re
import struct

from gpucoh.lang.ir import Constant
from gpucoh.ptx.types import SIZES

#: Lanes of a warp: the value of PTX's only predefined constant.
WARP_SZ = 32
_FLOAT = re.compile(r"0[fF]([0-9a-fA-F]{8})$|0[dD]([0-9a-fA-F]{16})$")
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?$")
_DECIMAL = re.compile(r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?$")


def constant_bits(text: str, type: str) -> int | None:
    """The bits of a number as PTX writes it, of the type; None: ``text`` is no number."""
    if found := _FLOAT.match(text):
        bits = int(found[1] or found[2], 16)
        wide = found[2] is not None
        if wide == (SIZES[type] == 8):
            return bits
        value = struct.unpack("<d" if wide else "<f", bits.to_bytes(8 if wide else 4, "little"))[0]
        return _float_bits(value, type)
    if _DECIMAL.match(text):
        return _float_bits(float(text), type)
    number = integer_of(text)
    return None if number is None else number & ((1 << 8 * max(4, SIZES[type])) - 1)


def integer_of(text: str) -> int | None:
    """An integer as PTX writes it; None: ``text`` is none."""
    if text == "WARP_SZ":
        return WARP_SZ
    if not _INTEGER.match(text):
        return None
    digits = text.rstrip("U")
    return int(digits, 8 if re.match(r"[-+]?0[0-7]+$", digits) else 0)


def _float_bits(value: float, type: str) -> int:
    if type == "f64" or SIZES[type] == 8:
        return int.from_bytes(struct.pack("<d", value), "little")
    return int.from_bytes(struct.pack("<f", value), "little")


def wide_constant(number: int) -> tuple[Constant, Constant]:
    """The words of a 64-bit number."""
    return Constant(number & 0xFFFFFFFF), Constant(number >> 32 & 0xFFFFFFFF)
