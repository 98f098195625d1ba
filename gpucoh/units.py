"""Numbers with units: ``"32KiB"``, ``"1.4GHz"``.

Everything a user may write for a size or a clock ends here as a plain number in one unit; what cannot be
read is refused with the forms that are allowed.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from gpucoh.errors import ConfigError

LONGEST_NAME = 64

_NUMBER = re.compile(r"^\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)\s*$")

# K, M and G of a size mean powers of 1024 however they are spelled: no GPU cache comes in powers of 1000.
_SIZES = {"B": 1, "KB": 2**10, "K": 2**10, "KIB": 2**10, "MB": 2**20, "M": 2**20, "MIB": 2**20}
_SIZES |= {"GB": 2**30, "G": 2**30, "GIB": 2**30}
_CLOCKS = {"HZ": 1e-6, "KHZ": 1e-3, "MHZ": 1.0, "GHZ": 1e3}


def _split(text: str, allowed: str) -> tuple[float, str]:
    match = _NUMBER.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not {allowed}")
    return float(match.group(1)), match.group(2).upper()


def _float(number: float) -> float:
    """As floating point; whole numbers beyond it become infinite, and are refused as that."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def parse_bytes(value: object, plain: int = 1) -> float:
    """Read a size.

    Parameters
    ----------
    value : int, float or str
        A number, or a number with a unit: ``"32KiB"``, ``"48 KB"``, ``"1MiB"``, ``"512B"``.
    plain : int, default 1
        What a number without a unit counts, in bytes (1024 for a field in KiB).

    Returns
    -------
    float
        Bytes.

    Raises
    ------
    ValueError
        If it cannot be read as a size.
    """
    allowed = "a size such as 32KiB, 512B or 1MiB"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not {allowed}")
    if not isinstance(value, str):
        return _float(value) * plain
    number, unit = _split(value, allowed)
    if not unit:
        return number * plain
    if unit not in _SIZES:
        raise ValueError(f"{value!r}: the unit is not one of B, KiB, MiB, GiB")
    return number * _SIZES[unit]


def parse_mhz(value: object) -> int:
    """Read a clock.

    Parameters
    ----------
    value : int, float or str
        MHz, or a number with a unit: ``"1.4GHz"``, ``"700 MHz"``.

    Returns
    -------
    int
        Whole MHz.

    Raises
    ------
    ValueError
        If it cannot be read as a clock, or is not a whole number of MHz.
    """
    allowed = "a clock such as 1400, 700MHz or 1.4GHz"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not {allowed}")
    if isinstance(value, str):
        number, unit = _split(value, allowed)
        if unit and unit not in _CLOCKS:
            raise ValueError(f"{value!r}: the unit is not one of Hz, kHz, MHz, GHz")
        number *= _CLOCKS.get(unit, 1.0)
    else:
        number = _float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not {allowed}")
    whole = round(number)
    if abs(number - whole) > 1e-9 * max(1.0, abs(number)):
        raise ValueError(f"{value!r} is not a whole number of MHz")
    return whole


def parse_bool(text: object) -> bool:
    """Read a switch: ``on off 1 0 true false yes no``, or a bool.

    Raises
    ------
    ValueError
        If it is none of them.
    """
    if isinstance(text, bool):
        return text
    word = str(text).strip().lower()
    if word in ("on", "1", "true", "yes"):
        return True
    if word in ("off", "0", "false", "no"):
        return False
    raise ValueError(f"{text!r} is not a switch: on or off")


def name_of(what: str, value: object) -> str:
    """A name, refused where it is none.

    Parameters
    ----------
    what : str
        What it names, for the message.
    value : object
        What was given.

    Raises
    ------
    ConfigError
        If it is no text.
    """
    if not isinstance(value, str):
        raise ConfigError(f"{what} {value!r} is not a name")
    return value


def parse_name(value: object) -> object:
    """A name that fits into a line of a table and of a file; what is no text at all is left to be refused as that.

    Raises
    ------
    ValueError
        If it is blank, longer than ``LONGEST_NAME``, or has characters that cannot be printed.
    """
    if isinstance(value, str):
        if len(value) > LONGEST_NAME:
            raise ValueError(f"it has {len(value)} characters; at most {LONGEST_NAME} are allowed")
        if not value.strip() or not value.isprintable():
            raise ValueError(f"{value!r} is not a name of printable characters")
    return value


def format_kib(kib: float) -> str:
    """A size in KiB for people: ``32 KiB``, ``1 MiB``, ``512 B``."""
    size = round(kib * 1024)
    for unit, scale in (("MiB", 2**20), ("KiB", 2**10)):
        if size >= scale and size % scale == 0:
            return f"{size // scale} {unit}"
    return f"{size} B"


def nearest(word: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the known word nearest to ``word``, or nothing when none is near."""
    lowered = {item.lower(): item for item in known}
    close = difflib.get_close_matches(word.lower(), list(lowered), n=1, cutoff=0.5)
    return f"; did you mean {lowered[close[0]]!r}?" if close else ""


def natural(name: str, value: Any, largest: int, smallest: int = 0) -> int:
    """A whole number in its range.

    Raises
    ------
    ConfigError
        If it is none, or outside.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ConfigError(f"{name} = {value!r} is not a whole number")
    if not smallest <= value <= largest:
        raise ConfigError(f"{name} = {value} is out of range: {smallest} to {largest}")
    return int(value)
