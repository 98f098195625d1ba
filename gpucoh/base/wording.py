"""The wording of errors about names and numbers that users give: what was given, what is allowed, what was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import LONGEST, quoted


def nearest(word: object, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the known word nearest to ``word``, or an empty text."""
    if not isinstance(word, str) or len(word) > LONGEST:
        return ""
    lowered = {item.lower(): item for item in known}
    close = difflib.get_close_matches(word.lower(), list(lowered), n=1, cutoff=0.5)
    return f"; did you mean {lowered[close[0]]!r}?" if close else ""


# Characters of the names that a message lists.
_MOST_LISTED = 400


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """``unknown protocol 'tc-wek'; allowed: mesi, tc-weak; did you mean 'tc-weak'?``."""
    names = list(known)
    allowed = ", ".join(names) or f"no {what}"
    if len(allowed) > _MOST_LISTED:
        shown = allowed[:_MOST_LISTED].rpartition(", ")[0]
        allowed = f"{shown} .. ({len(names)} in all)"
    return f"unknown {what} {quoted(name)}; allowed: {allowed}{nearest(name, names)}"


#: Fields of machines, which `set` changes; gpucoh.machines fills it.
MACHINE_FIELDS: set[str] = set()


def unknown_argument(name: str, value: object, known: Iterable[str], what: str = "argument") -> str:
    """As :func:`unknown`, and for a machine's field how to change it."""
    names = list(known)
    if name in MACHINE_FIELDS and "set" in names:
        return f'{name} is a machine field: write set={{"{name}": {quoted(value)}}}'
    return unknown(what, name, names)


def out_of_range(name: str, value: object, allowed: str) -> str:
    """``cores = 0 is out of range: 1 to 256``."""
    return f"{name} = {quoted(value)} is out of range: {allowed}"


def name_of(what: str, value: object) -> str:
    """Check that a value is a name.

    Parameters
    ----------
    what : str
        What it names, for the error message.
    value : object
        The value.

    Raises
    ------
    ConfigError
        If the value is not a string.
    """
    if not isinstance(value, str):
        raise ConfigError(f"{what} {quoted(value)} is not a name")
    return value


def named_values(what: str, value: object) -> dict[str, Any]:
    """Check that a value is a dictionary of names and values.

    Raises
    ------
    ConfigError
        If it is not.
    """
    if not isinstance(value, Mapping):
        raise ConfigError(f"{what} = {quoted(value)} is not a dictionary of names and values")
    return {name_of(f"{what}:", name): item for name, item in value.items()}


def natural(name: str, value: Any, largest: int | None = None, smallest: int = 0) -> int:
    """Check that a value is a whole number in its range; a float without fraction is one, NumPy's too.

    Raises
    ------
    ConfigError
        If it is not.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    if isinstance(plain, bool) or not isinstance(plain, int):
        raise ConfigError(f"{name} = {quoted(value)} is not a whole number")
    if plain < smallest or (largest is not None and plain > largest):
        allowed = f"{smallest} to {largest}" if largest is not None else f"at least {smallest}"
        raise ConfigError(out_of_range(name, value, allowed))
    return plain
