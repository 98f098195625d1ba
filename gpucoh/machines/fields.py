"""The fields of a machine: how each is read, its range, and the text of an error."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.base.units import parse_bytes, parse_mhz, parse_name, parse_whole
from gpucoh.base.wording import out_of_range

SCHEDULERS = ("loose_round_robin", "greedy_then_oldest")
TOPOLOGIES = ("crossbar", "mesh", "star")
DRAM_MODELS = ("fixed", "fr_fcfs", "closed")
PAGE_PLACEMENTS = ("interleave", "first_touch")
LINKS = ("joined", "split")
PLACEMENTS = ("round_robin", "first_free", "static", "rotating")
REPLACEMENTS = tuple(
    re.findall(
        r'^X\((\w+), ".+"\)$',
        Path(__file__).with_name("replacement.def").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)
# The core takes a word by its place.
WORDS = {
    "scheduler": SCHEDULERS,
    "topology": TOPOLOGIES,
    "dram_model": DRAM_MODELS,
    "placement_of_pages": PAGE_PLACEMENTS,
    "links": LINKS,
    "l1_replacement": REPLACEMENTS,
    "l2_replacement": REPLACEMENTS,
}
_SHORT = {
    "lrr": "loose_round_robin",
    "gto": "greedy_then_oldest",
    "frfcfs": "fr_fcfs",
    "tree_plru": "plru",
}


def _bytes(value: object, plain: int = 1) -> int:
    size = parse_bytes(value, plain)
    if not size.is_integer():
        raise ValueError(f"{quoted(value)} is not a whole number of bytes")
    return int(size)


def _kib(value: object) -> float:
    size = _bytes(value, plain=1024) / 1024
    return int(size) if size.is_integer() else size


def _word(value: object) -> object:
    """A choice in canonical spelling; any other value unchanged, so that the error quotes it."""
    if not isinstance(value, str):
        return value
    word = value.strip().lower().replace("-", "_")
    word = _SHORT.get(word, word)
    return word if word in (*sum(WORDS.values(), ()), *PLACEMENTS) else value


# A field of fields.def, which the C core reads too.
_FIELD = re.compile(r'X\((\w+), (\d+), (\d+|LAST_REPLACEMENT), "(.*?)", "(.*)"\)')
DECLARED: dict[str, tuple[int, int, str, str]] = {
    name: (
        int(smallest),
        int(largest) if largest.isdigit() else len(REPLACEMENTS) - 1,
        unit,
        text,
    )
    for name, smallest, largest, unit, text in _FIELD.findall(
        Path(__file__).with_suffix(".def").read_text(encoding="utf-8")
    )
}


def core_name(name: str) -> str:
    """The core's name of a field: sizes in KiB here are in bytes there."""
    return name.removesuffix("_kib") + "_bytes" if name.endswith("_kib") else name


@dataclass(frozen=True)
class Field:
    """A field of a machine.

    Parameters
    ----------
    text, unit : str
        Its description, and the unit of a plain number; no unit for a count or a word.
    smallest, largest : int or float
        Its range; of a word no matter.
    words : tuple of str
        The words of which it is one.
    read : callable
        Makes the number or word of what a user gives, and raises ValueError if it is none.
    """

    text: str
    unit: str = ""
    smallest: float = 0
    largest: float = 0
    words: tuple[str, ...] = ()
    read: Callable[[object], Any] = parse_whole

    def value(self, name: str, given: object) -> Any:
        """The field's value.

        Raises
        ------
        ConfigError
            If it has another type, or is out of range.
        """
        try:
            value = self.read(given)
        except ValueError as error:
            raise ConfigError(f"{name}: {error}") from None
        if self.words:
            if not (isinstance(value, str) and value in self.words):
                *first, last = self.words
                allowed = f"{', '.join(first)} or {last}"
                raise ConfigError(f"{name} = {quoted(value)} is not one of {allowed}")
        elif self.read is not parse_name and not self.smallest <= value <= self.largest:
            allowed = f"{self.smallest} to {self.largest} {self.unit}".rstrip()
            raise ConfigError(out_of_range(name, value, allowed))
        return float(value) if self.unit == "KiB" else value


def field(name: str) -> Field:
    """A field by its name: the core's, the placement of blocks, or the machine's name."""
    if name == "name":
        return Field("preset, or the preset it derives from", read=parse_name)
    if name == "placement":
        text = "placement of blocks on cores: round_robin, first_free, static or rotating"
        return Field(text, words=PLACEMENTS, read=_word)
    low, high, unit, text = DECLARED[core_name(name)]
    if name in WORDS:
        return Field(text, words=WORDS[name], read=_word)
    if not name.endswith("_kib"):
        read = {"B": _bytes, "MHz": parse_mhz}.get(unit, parse_whole)
        return Field(text, unit, low, high, read=read)
    smallest, largest = (size // 1024 if size % 1024 == 0 else size / 1024 for size in (low, high))
    return Field(text, "KiB", smallest, largest, read=_kib)
