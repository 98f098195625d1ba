"""Descriptions of machines: a validated model of every number, and the presets."""

from gpucoh.machines.fields import PLACEMENTS
from gpucoh.machines.model import (
    DERIVED,
    LARGEST_CLOCK_LCM_HZ,
    Machine,
    description,
    machine,
    machines,
)

__all__ = [
    "DERIVED",
    "LARGEST_CLOCK_LCM_HZ",
    "PLACEMENTS",
    "Machine",
    "description",
    "machine",
    "machines",
]
