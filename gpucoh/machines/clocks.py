"""Numbers of a machine taken for another one: cycles last as long at its clocks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from gpucoh.machines.fields import DECLARED, core_name

#: Field -> its value and the source.
Preset: TypeAlias = dict[str, tuple[float | str, str]]

_CLOCKS = {"core cycles": "core_mhz", "network cycles": "noc_mhz", "DRAM cycles": "dram_mhz"}


def clock_of(field: str) -> str | None:
    """The field with the clock that a field counts cycles of, or None if it counts no cycles."""
    unit = DECLARED[core_name(field)][2] if core_name(field) in DECLARED else ""
    return _CLOCKS.get(unit)


def as_long(base: Preset, field: str, mhz: float) -> float | str:
    """A field's value in cycles of another clock, rounded up; of one that counts no cycles, its value."""
    value, clock = base[field][0], clock_of(field)
    if clock is None or isinstance(value, str):
        return value
    return math.ceil(value * mhz / float(base[clock][0]))


def like(base: Preset, source: str, names: Iterable[str], mhz: float) -> Preset:
    """Fields of another machine, with the reason, in cycles of this clock."""
    return {name: (as_long(base, name, mhz), source) for name in names}


def kept(base: Preset, name: str, clocks: Mapping[str, float]) -> Preset:
    """All fields of another machine, in cycles of these clocks: field -> MHz. What is not used says so."""

    def one(field: str) -> tuple[float | str, str]:
        value, source = base[field]
        clock = clock_of(field) or ""
        if "not used" in source:
            return value, source
        if clock in clocks:
            return as_long(
                base, field, clocks[clock]
            ), f"inferred: as {name}, at this machine's clock"
        return value, f"inferred: as {name}"

    return {field: one(field) for field in base}
