"""The parts of a run and of a matrix of runs that tables and figures read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from gpucoh.results.stats import Stats


class RunLike(Protocol):
    """The parts of :class:`gpucoh.RunResult` that tables and figures read."""

    @property
    def workload(self) -> str:
        """The workload's id."""
        ...

    @property
    def protocol(self) -> str:
        """The protocol's id, with options in brackets."""
        ...

    @property
    def machine(self) -> str:
        """The machine's name."""
        ...

    @property
    def configuration(self) -> Mapping[str, Any]:
        """The machine's fields by name."""
        ...

    @property
    def consistency(self) -> str:
        """The consistency rule."""
        ...

    @property
    def model(self) -> str:
        """The promised memory model."""
        ...

    @property
    def scale(self) -> str:
        """The size of the input."""
        ...

    @property
    def seed(self) -> int:
        """The random seed of input and machine."""
        ...

    @property
    def correct(self) -> bool | None:
        """Whether every word of the result is right."""
        ...

    @property
    def mismatches(self) -> int:
        """Number of wrong words."""
        ...

    @property
    def where(self) -> str:
        """The first wrong word, or the error that ended the run."""
        ...

    @property
    def error(self) -> str | None:
        """The kind of the error that ended the run."""
        ...

    @property
    def wall_s(self) -> float:
        """Wall-clock time in seconds."""
        ...

    @property
    def stats(self) -> Stats:
        """Every counter."""
        ...

    @property
    def occupancy(self) -> Mapping[str, Any]:
        """Blocks and warps per core and the limiting resource, by kernel."""
        ...

    @property
    def cycles(self) -> int:
        """Core cycles of all launches."""
        ...

    @property
    def verdict(self) -> str:
        """The verdict in one word."""
        ...

    @property
    def counts_as_failure(self) -> bool:
        """Whether a wrong result makes the comparison fail."""
        ...


class ComparisonLike(Protocol):
    """The parts of :class:`gpucoh.Comparison` that tables and figures read."""

    @property
    def runs(self) -> Sequence[RunLike]:
        """The runs, in order of workload, protocol and seed."""
        ...

    @property
    def baseline(self) -> str:
        """The protocol to which ratios are relative."""
        ...

    @property
    def workloads(self) -> list[str]:
        """The workloads, in order."""
        ...

    @property
    def protocols(self) -> list[str]:
        """The protocols, in order."""
        ...

    @property
    def seeds(self) -> list[int]:
        """The seeds, in order."""
        ...

    @property
    def summary(self) -> list[dict[str, Any]]:
        """One entry per run: its ratios to the baseline."""
        ...

    def run(self, workload: str, protocol: str, seed: int | None = None) -> RunLike:
        """One run of the matrix, by default with the first seed."""
        ...

    def right(self, workload: str, *protocols: str) -> bool:
        """Whether no run of a workload under these protocols is wrong."""
        ...

    def mean_rows(self) -> list[dict[str, Any]]:
        """One entry per protocol: means of the ratios."""
        ...
