"""Coverage: the entered cells of a protocol's tables, out of the reachable ones.

Each protocol declares the cells that no program enters, each with its reason. If a declared cell is entered, the
declaration is wrong, and the tester reports it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh.device.protocols import Protocol, Table

Cell = tuple[str, str]


def unreachable(protocol: Protocol, rule: str, table: str) -> dict[Cell, str]:
    """The unreachable cells of one table under a rule, as the protocol declares: (state, event) -> reason."""
    out: dict[Cell, str] = {}
    for item in protocol.uncovered:
        if item.table == table and rule in (item.rules or (rule,)):
            out |= dict.fromkeys(itertools.product(item.states, item.events), item.reason)
    return out


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
        rows = np.array(counted, np.int64).reshape(-1, len(self.table.events))
        self.counts += rows[: len(self.table.states)]  # the rest has no cell in this table

    def note(self, cells: Iterable[int]) -> None:
        """Note cells that the explorer has entered, by number."""
        entered = [cell for cell in cells if cell < self.counts.size]
        self.counts.reshape(-1)[entered] += 1

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


def listed(cells: Sequence[Cell], most: int = 12) -> str:
    """The first cells, as ``state event``, and the number of the others."""
    shown = ", ".join(" ".join(cell) for cell in cells[:most])
    return shown + (f" and {len(cells) - most} more" if len(cells) > most else "")


def coverage_of(protocol: Protocol, rule: str) -> dict[str, TableCoverage]:
    """Empty coverage of every table of a protocol."""
    return {
        name: TableCoverage(table, unreachable(protocol, rule, name))
        for name, table in protocol.controllers.items()
    }
