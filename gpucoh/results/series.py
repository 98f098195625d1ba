"""A run's statistics over time: by interval, by launch and by core."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucoh.base.doors import door, reading
from gpucoh.base.late import LATE_IMPORT
from gpucoh.results.columns import statistics
from gpucoh.results.stats import Stats

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
_SIZE = re.compile("storage_.*_(entries|bits|units)$")


@dataclass(frozen=True)
class Series:
    """The statistics of a run, divided in three ways.

    In each, the counters of all rows sum to the run's. Counters are counted where they end: the latency of a load in
    the interval of its last word.

    Attributes
    ----------
    every : int
        Core cycles of an interval.
    interval_rows, launch_rows, core_rows : tuple of dict
        The rows of :attr:`intervals`, :attr:`launches` and :attr:`cores`.
    """

    every: int
    interval_rows: tuple[Row, ...]
    launch_rows: tuple[Row, ...]
    core_rows: tuple[Row, ...]

    @property
    def intervals(self) -> pd.DataFrame:
        """One row for each interval: its first core cycle as ``begin``, and the counters of ``RunResult.table``.

        ``cycles`` is the interval's length. A launch's latency counts in the interval in which it begins.
        """
        return _frame(self.interval_rows)

    @property
    def launches(self) -> pd.DataFrame:
        """One row for each launch: number, kernel, grid, block and first core cycle, and the counters.

        A launch's counters include the host's accesses before it, the last one's also those after it.
        """
        return _frame(self.launch_rows)

    @property
    def cores(self) -> pd.DataFrame:
        """One row for each core: its number, and the counters of ``RunResult.table`` that belong to a core."""
        return _frame(self.core_rows)

    def to_dict(self) -> dict[str, Any]:
        """The series as lists of rows."""
        return {
            "every": self.every,
            "intervals": list(self.interval_rows),
            "launches": list(self.launch_rows),
            "cores": list(self.core_rows),
        }

    @classmethod
    @door
    def from_dict(cls, data: Mapping[str, Any]) -> Series:
        """The series whose :meth:`to_dict` this is."""
        with reading("data is not a series' dictionary"):
            intervals, launches, cores = (
                tuple(data[name]) for name in ("intervals", "launches", "cores")
            )
            return cls(data["every"], intervals, launches, cores)


def counter_row(stats: Stats) -> Row:
    """Every statistic that sums over parts of a run: no histograms, transitions and sizes of tables."""
    return {
        name: value
        for name, value in statistics(stats, "all").items()
        if isinstance(value, int | float) and not _SIZE.match(name)
    }


def core_row(number: int, counted: Mapping[str, Mapping[str, int]]) -> Row:
    """The row of a core, from its groups ``core``, ``l1`` and ``stalls``."""
    whole = ("instructions", "thread_instructions", "memory_instructions")
    row: Row = {"core": number} | {name: counted["core"][name] for name in whole}
    for group in ("l1", "stalls", "core"):
        row |= {f"{group}_{name}": value for name, value in counted[group].items()}
    return row


def _frame(rows: Sequence[Row]) -> pd.DataFrame:
    with LATE_IMPORT:
        import pandas as pd

    return pd.DataFrame(list(rows))


__all__ = ["Row", "Series", "core_row", "counter_row"]
