"""Recording of a GPU's statistics at regular intervals, at the ends of launches, and by core."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from gpucoh.base.errors import ConfigError
from gpucoh.results.series import Row, Series, core_row, counter_row
from gpucoh.results.stats import Stats, difference

if TYPE_CHECKING:
    import pandas as pd

ByCore: TypeAlias = list[dict[str, dict[str, int]]]
LARGEST_INTERVAL = 2**40


class Recorder:
    """Divides the statistics of a GPU; :meth:`gpucoh.GPU.record` makes one.

    Parameters
    ----------
    every : int
        Core cycles of an interval.
    stats, cores : callable
        All statistics now, and those by core.
    """

    def __init__(self, every: int, stats: Callable[[], Stats], cores: Callable[[], ByCore]) -> None:
        self._every = every
        self._stats, self._cores = stats, cores
        self._series: Series | None = None
        self.restart()

    def restart(self) -> None:
        """Forget what was recorded: the statistics begin here."""
        self._first_cores = self._cores()
        self._interval_before = self._interval_begin = self._launch_begin = self._stats()
        self._intervals: list[Row] = []
        self._launches: list[tuple[Row, Stats]] = []
        self._left_out = 0
        self._launch: Row = {}

    @property
    def pause(self) -> int:
        """The core cycle at which the current interval ends."""
        return int(self._interval_begin["cycles"]) + self._every

    def end_interval(self) -> None:
        """Add the row of an interval that ends now."""
        now = self._stats()
        begin, self._interval_begin = self._interval_begin, now
        self._interval_before = begin
        self._intervals.append({"begin": begin["cycles"]} | counter_row(now - begin))

    def begin_launch(
        self, kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int]
    ) -> None:
        """Note which launch begins."""
        number = len(self._launches) + self._left_out
        self._launch = launch_row(number, kernel, grid, block)

    def leave_out_launch(self) -> None:
        """Count a launch without time, which has a number and no row."""
        self._left_out += 1

    def end_launch(self) -> None:
        """Note the statistics at the end of a launch."""
        self._launches.append((self._launch, self._stats()))

    def finish(self) -> None:
        """End the recording."""
        now = self._stats()
        if self._intervals and now["cycles"] == self._interval_begin["cycles"]:
            self._intervals.pop()  # what happened in no cycle counts in the interval before
            self._interval_begin = self._interval_before
        self.end_interval()
        self._series = Series(
            self._every, tuple(self._intervals), self._launch_rows(now), self._core_rows()
        )

    def _launch_rows(self, last: Stats) -> tuple[Row, ...]:
        rows, begin = [], self._launch_begin
        for number, (what, end) in enumerate(self._launches):
            until = last if number == len(self._launches) - 1 else end
            rows.append(what | {"begin": begin["cycles"]} | counter_row(until - begin))
            begin = end
        return tuple(rows)

    def _core_rows(self) -> tuple[Row, ...]:
        pairs = zip(self._cores(), self._first_cores, strict=True)
        return tuple(core_row(i, difference(now, first)) for i, (now, first) in enumerate(pairs))

    @property
    def series(self) -> Series:
        """What was recorded.

        Raises
        ------
        ConfigError
            Before the recording has ended.
        """
        if self._series is None:
            raise ConfigError("the recording has not ended: read it after its with block")
        return self._series

    @property
    def intervals(self) -> pd.DataFrame:
        """One row for each interval, as :attr:`gpucoh.RunResult.intervals`."""
        return self.series.intervals

    @property
    def launches(self) -> pd.DataFrame:
        """One row for each launch, as :attr:`gpucoh.RunResult.launches`."""
        return self.series.launches

    @property
    def cores(self) -> pd.DataFrame:
        """One row for each core, as :attr:`gpucoh.RunResult.cores`."""
        return self.series.cores


def launch_row(
    number: int, kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int]
) -> Row:
    """What a launch's row begins with."""
    place = {"kernel": kernel, "grid": _extent(grid), "block": _extent(block)}
    return {"launch": number} | place


def _extent(extent: tuple[int, int, int]) -> str:
    """``32`` or ``8x4``."""
    shown = extent[: 1 + max((axis for axis in range(3) if extent[axis] > 1), default=0)]
    return "x".join(map(str, shown))
