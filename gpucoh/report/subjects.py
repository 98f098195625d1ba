"""What tables and figures read of a run and of a matrix of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from gpucoh.stats import Stats


class RunLike(Protocol):
    """The parts of :class:`gpucoh.RunResult` that are shown."""

    @property
    def workload(self) -> str:
        """Its id."""
        ...

    @property
    def protocol(self) -> str:
        """Its id as asked for."""
        ...

    @property
    def machine(self) -> str:
        """Its name."""
        ...

    @property
    def consistency(self) -> str:
        """The core rule."""
        ...

    @property
    def model(self) -> str:
        """The memory model promised."""
        ...

    @property
    def scale(self) -> str:
        """Size of the input."""
        ...

    @property
    def seed(self) -> int:
        """Of input and machine."""
        ...

    @property
    def correct(self) -> bool | None:
        """Whether every word of the result is right."""
        ...

    @property
    def mismatches(self) -> int:
        """Words that are wrong."""
        ...

    @property
    def where(self) -> str:
        """The first wrong place, or the error that ended the run."""
        ...

    @property
    def error(self) -> str | None:
        """The kind of error that ended the run."""
        ...

    @property
    def wall_s(self) -> float:
        """Seconds of wall clock."""
        ...

    @property
    def stats(self) -> Stats:
        """Every counter."""
        ...

    @property
    def occupancy(self) -> Mapping[str, Any]:
        """Kernel -> blocks and warps a core, and what limits them."""
        ...

    @property
    def cycles(self) -> int:
        """Core cycles of all launches."""
        ...

    @property
    def verdict(self) -> str:
        """The verdict in a word."""
        ...

    @property
    def counts_as_failure(self) -> bool:
        """Whether a matrix of runs must report it."""
        ...


class ComparisonLike(Protocol):
    """The parts of :class:`gpucoh.Comparison` that are shown."""

    @property
    def runs(self) -> Sequence[RunLike]:
        """In order of workload, then protocol."""
        ...

    @property
    def baseline(self) -> str:
        """The protocol that ratios are relative to."""
        ...

    @property
    def workloads(self) -> list[str]:
        """In order."""
        ...

    @property
    def protocols(self) -> list[str]:
        """In order."""
        ...

    @property
    def summary(self) -> list[dict[str, Any]]:
        """One entry a run: its ratios to the baseline."""
        ...

    def run(self, workload: str, protocol: str) -> RunLike:
        """One run of the matrix."""
        ...

    def means(self) -> list[dict[str, Any]]:
        """One entry a protocol: means of the ratios."""
        ...
