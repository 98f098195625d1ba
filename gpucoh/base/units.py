"""Numbers with units: ``"32KiB"``, ``"1.4GHz"``.

This module converts every size or clock that a user writes to a plain number in one unit. An error names the
allowed forms.
"""

from __future__ import annotations

import contextlib
import math
import re

import numpy as np

from gpucoh.base.quoting import quoted

LONGEST_NAME = 64

_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*|\s*[+-]?[0-9]+(\.[0-9]+)?[eE]\+?[0-9]+\s*")
_NUMBER = re.compile(r"^\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)\s*$")

# K, M and G of a size are powers of 1024 in every spelling, since GPU caches have such sizes.
_SIZES = {"B": 1, "KB": 2**10, "K": 2**10, "KIB": 2**10, "MB": 2**20, "M": 2**20, "MIB": 2**20}
_SIZES |= {"GB": 2**30, "G": 2**30, "GIB": 2**30}
_CLOCKS = {"HZ": 1e-6, "KHZ": 1e-3, "MHZ": 1.0, "GHZ": 1e3}


def _split(text: str, allowed: str) -> tuple[float, str]:
    match = _NUMBER.match(text)
    if match is None:
        raise ValueError(f"{quoted(text)} is not {allowed}")
    return float(match.group(1)), match.group(2).upper()


def _float(number: float) -> float:
    """The text as a float; larger numbers become infinite, which the callers reject."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def parse_whole(value: object) -> int:
    """Read a whole number: an int, a float without fraction, or text: ``"32"``, ``"1e9"``, but not ``"2.0"``.

    Raises
    ------
    ValueError
        If the value is not a whole number.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, int) and not isinstance(plain, bool):
        return plain
    if isinstance(plain, str) and _WHOLE.fullmatch(plain):
        with contextlib.suppress(ValueError):  # an exponent
            return int(plain)
        plain = float(plain)
    if not isinstance(plain, float) or not plain.is_integer():
        raise ValueError(f"{quoted(value)} is not a whole number")
    return int(plain)


def parse_bytes(value: object, plain: int = 1) -> float:
    """Read a size.

    Parameters
    ----------
    value : int, float or str
        A number, or a number and a unit: ``"32KiB"``, ``"48 KB"``, ``"1MiB"``, ``"512B"``.
    plain : int, default 1
        Bytes per unit of a number without unit (1024 for a field in KiB).

    Returns
    -------
    float
        Bytes.

    Raises
    ------
    ValueError
        If the value is not a size.
    """
    allowed = "a size such as 32KiB, 512B or 1MiB"
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{quoted(value)} is not {allowed}")
    if not isinstance(value, str):
        return _float(value) * plain
    number, unit = _split(value, allowed)
    if not unit:
        return number * plain
    if unit not in _SIZES:
        raise ValueError(f"{quoted(value)}: the unit is not one of B, KiB, MiB, GiB")
    return number * _SIZES[unit]


def parse_mhz(value: object) -> int:
    """Read a clock.

    Parameters
    ----------
    value : int, float or str
        MHz, or a number and a unit: ``"1.4GHz"``, ``"700 MHz"``.

    Returns
    -------
    int
        Whole MHz.

    Raises
    ------
    ValueError
        If the value is not a clock, or not a whole number of MHz.
    """
    allowed = "a clock such as 1400, 700MHz or 1.4GHz"
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{quoted(value)} is not {allowed}")
    if isinstance(value, str):
        number, unit = _split(value, allowed)
        if unit and unit not in _CLOCKS:
            raise ValueError(f"{quoted(value)}: the unit is not one of Hz, kHz, MHz, GHz")
        number *= _CLOCKS.get(unit, 1.0)
    else:
        number = _float(value)
    if not math.isfinite(number):
        raise ValueError(f"{quoted(value)} is not {allowed}")
    whole = round(number)
    if abs(number - whole) > 1e-9 * max(1.0, abs(number)):
        raise ValueError(f"{quoted(value)} is not a whole number of MHz")
    return whole


def parse_bool(text: object) -> bool:
    """Read a switch: ``on off 1 0 true false yes no``, or a bool.

    Raises
    ------
    ValueError
        If the value is none of them.
    """
    if isinstance(text, bool | np.bool_):
        return bool(text)
    word = str(text).strip().lower()
    if word in ("on", "1", "true", "yes"):
        return True
    if word in ("off", "0", "false", "no"):
        return False
    raise ValueError(f"{quoted(text)} is not a switch: on or off")


def parse_name(value: object) -> str:
    """Check that a name fits into a line of a table and of a file.

    Raises
    ------
    ValueError
        If it is not a string, is blank, longer than ``LONGEST_NAME``, or has unprintable characters.
    """
    if isinstance(value, str) and len(value) > LONGEST_NAME:
        raise ValueError(f"the name has {len(value)} characters (allowed: up to {LONGEST_NAME})")
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError(f"{quoted(value)} is not a name of printable characters")
    return str(value)


def format_kib(kib: float) -> str:
    """A size in KiB for display: ``32 KiB``, ``1 MiB``, ``512 B``."""
    size = round(kib * 1024)
    for unit, scale in (("MiB", 2**20), ("KiB", 2**10)):
        if size >= scale and size % scale == 0:
            return f"{size // scale} {unit}"
    return f"{size} B"
