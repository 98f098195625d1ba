"""Coverage: the entered cells of a protocol's tables, out of the reachable ones.

``unreachable.toml`` lists the cells that no program enters, each with its reason. If a listed cell is entered, the
list is wrong, and the tester reports it.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh.protocols import Protocol, Table

Cell = tuple[str, str]


@functools.cache
def reviewed() -> dict[str, Any]:
    """The data file: unreachable cells, and the options that the tester varies."""
    text = resources.files("gpucoh.fuzz").joinpath("unreachable.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def unreachable(protocol: str, rule: str, table: str) -> dict[Cell, str]:
    """The unreachable cells of one table under a rule: (state, event) -> reason.

    An entry gives ``protocols``, ``table``, ``states`` and ``events`` (every pair of them), ``reason``, and ``rules``
    if it holds under these consistency rules only.
    """
    out: dict[Cell, str] = {}
    for item in reviewed().get("cells", ()):
        is_ours = protocol in item["protocols"] and item["table"] == table
        if is_ours and rule in item.get("rules", (rule,)):
            pairs = ((state, event) for state in item["states"] for event in item["events"])
            out |= dict.fromkeys(pairs, str(item["reason"]))
    return out


def option_ranges(protocol: str) -> dict[str, tuple[int, int]]:
    """The options of a protocol that the tester varies, with their smallest and largest values."""
    ranges = reviewed().get("options", {}).get(protocol, {})
    return {name: (int(low), int(high)) for name, (low, high) in ranges.items()}


@dataclass
class TableCoverage:
    """Entry counts of the possible cells of one table."""

    table: Table
    reasons: Mapping[Cell, str]
    counts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.counts = np.zeros((len(self.table.states), len(self.table.events)), np.int64)

    def add(self, counted: list[int]) -> None:
        """Add counts, in the core's form."""
        self.counts += np.array(counted, np.int64).reshape(self.counts.shape)

    def count(self, cell: Cell) -> int:
        """The number of times one cell was entered."""
        place = self.table.states.index(cell[0]), self.table.events.index(cell[1])
        return int(self.counts[place])

    @property
    def cells(self) -> list[Cell]:
        """The cells with an outcome (the answer "not a victim" to the replacement is not one)."""
        return [
            (cell.state, cell.event)
            for cell in self.table.cells()
            if cell.actions != "NOT_A_VICTIM"
        ]

    @property
    def reachable(self) -> list[Cell]:
        """The cells that some program can enter."""
        return [cell for cell in self.cells if cell not in self.reasons]

    @property
    def visited(self) -> list[Cell]:
        """The reachable cells that were entered."""
        return [cell for cell in self.reachable if self.count(cell)]

    @property
    def missed(self) -> list[Cell]:
        """The reachable cells that were not entered."""
        return [cell for cell in self.reachable if not self.count(cell)]

    @property
    def surprises(self) -> list[Cell]:
        """The cells that are listed as unreachable and were entered."""
        return [cell for cell in self.cells if cell in self.reasons and self.count(cell)]

    def to_dict(self) -> dict[str, Any]:
        """The coverage as a plain dictionary."""
        return {
            "visited": len(self.visited),
            "reachable": len(self.reachable),
            "missed": [list(cell) for cell in self.missed],
            "unreachable": [[*cell, self.reasons[cell]] for cell in self.cells if cell in self.reasons],
            "surprises": [list(cell) for cell in self.surprises],
            "cells": [[*cell, self.count(cell)] for cell in self.cells],
        }  # fmt: skip


def coverage_of(protocol: Protocol, rule: str) -> dict[str, TableCoverage]:
    """Empty coverage of every table of a protocol."""
    return {
        name: TableCoverage(table, unreachable(protocol.id, rule, name))
        for name, table in protocol.controllers.items()
    }
