"""What a study's rows say of a relation between configurations: at the point, and in each resample of the workloads.

A relation is computed from vectors whose first value is that of all runs, and whose others are those of the resamples
(:func:`gpucoh.studies.intervals.resampled`). All vectors of one place have the same draws, so that a relation of
several of them is one of the same workloads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gpucoh.studies.effects import name_of
from gpucoh.studies.intervals import resampled
from gpucoh.studies.pairs import Pair
from gpucoh.studies.tabulation import Tables

Vector: TypeAlias = NDArray[Any]
_CONFIGURATION = ["protocol", "consistency", "own_rule"]
SURE = 0.975  # of the resamples: the contrary is then outside a 95% interval


@dataclass(frozen=True)
class Place:
    """A matrix, a machine and a number of cores; None: the matrix has one."""

    matrix: str
    machine: str = "fermi"
    cores: int | None = None

    def __str__(self) -> str:
        if self.matrix.endswith("presets"):
            return f"`{self.machine}`"
        return f"`{self.matrix}`" + (f" of {self.cores} cores" if self.cores else "")


class Evidence:
    """The rows of one place, as logarithms of cycles by configuration, workload and seed.

    Parameters
    ----------
    tables : Tables
    place : Place
    only : sequence of str, optional
        Workloads. Default: all of the place.
    """

    def __init__(self, tables: Tables, place: Place, only: Sequence[str] | None = None) -> None:
        rows = tables.rows
        chosen = rows["matrix"].eq(place.matrix) & rows["machine"].eq(place.machine)
        if place.cores is not None:
            chosen &= rows["cores"].eq(place.cores)
        rows = rows[chosen & rows["error"].ne("Gap")]
        if only is not None:
            rows = rows[rows["workload"].isin(list(only))]
        self.rows = rows
        self.workloads = sorted(rows["workload"].unique())
        self.seeds = sorted(rows["seed"].unique())
        runs = pd.MultiIndex.from_product([self.workloads, self.seeds])
        good = rows[rows["good"]].drop_duplicates([*_CONFIGURATION, "workload", "seed"])
        table = good.pivot(index=_CONFIGURATION, columns=["workload", "seed"], values="cycles")
        found = np.log(table.reindex(columns=runs).to_numpy(dtype=float))
        shape = len(self.workloads), len(self.seeds)
        self._none = np.full(shape, np.nan)
        self._logs: dict[tuple[str, str | None], NDArray[Any]] = {}
        for (name, rule, own), values in zip(table.index, found, strict=True):
            one = values.reshape(shape)
            self._logs[name, rule] = one
            # Of a forced rule alone a protocol may have no run under its own.
            if own or (name, None) not in self._logs:
                self._logs[name, None] = one

    def logs(self, name: str, rule: str | None = None) -> NDArray[Any]:
        """Logarithms of a protocol's cycles under a rule or its own, of shape (workloads, seeds); NaN: it failed."""
        return self._logs.get((name, rule), self._none)

    def ratio(self, without: str, with_it: str, rule: str | None = None) -> Vector:
        """Logarithm of the mean of cycles of one protocol over those of another, over the workloads that both ran."""
        return self.vector(self.logs(without, rule) - self.logs(with_it, rule))

    def effect(self, pair: Pair) -> Vector:
        """Likewise, of a pair."""
        return self.ratio(name_of(pair.without), name_of(pair.with_it), pair.rule or None)

    def vector(self, values: NDArray[Any]) -> Vector:
        """The mean over workloads of an array of shape (workloads, seeds), and its resamples."""
        found = resampled(values[None])[0]
        means = [row[np.isfinite(row)].mean() for row in values if np.isfinite(row).any()]
        return np.concatenate([[np.mean(means) if means else np.nan], found])

    def speeds(self, names: Sequence[str]) -> dict[str, Vector]:
        """Protocol -> minus the logarithm of its mean cycles, of those that lack no run."""
        logs = {name: self.logs(name) for name in names}
        return {name: self.vector(-one) for name, one in logs.items() if np.isfinite(one).all()}


@dataclass(frozen=True)
class Answer:
    """Whether a relation holds.

    Attributes
    ----------
    text : str
        The numbers that decide.
    holds : bool
        Of all runs.
    share : float
        Of the resamples in which it holds; NaN where resamples say nothing of it.
    """

    text: str
    holds: bool
    share: float = np.nan

    @property
    def sure(self) -> bool:
        """Whether the contrary is outside the interval; true where there is none."""
        return not self.share < SURE


Relation: TypeAlias = Callable[[Evidence], Answer]


def answer(text: str, relation: Vector) -> Answer:
    """The answer of a relation that is true or false for all runs and in each resample."""
    return Answer(text, bool(relation[0]), float(relation[1:].mean()))


def shown(vector: Vector) -> str:
    """A ratio with its interval."""
    low, high = np.nanpercentile(vector[1:], (2.5, 97.5))
    return f"{np.exp(vector[0]):.2f} ({np.exp(low):.2f} to {np.exp(high):.2f})"


def order(speeds: Mapping[str, Vector]) -> NDArray[Any]:
    """Places of protocols, from 1 for the fastest: of shape (protocols, resamples + 1)."""
    values = np.array(list(speeds.values()))
    return np.asarray(1 + (values[None] > values[:, None]).sum(axis=1))


def correlated(first: NDArray[Any], second: NDArray[Any]) -> Vector:
    """Rank correlation of two orders of the same protocols."""
    one, two = (
        table - table.mean(axis=0)
        for table in (pd.DataFrame(places).rank().to_numpy() for places in (first, second))
    )
    return np.asarray(
        (one * two).sum(axis=0) / np.sqrt((one**2).sum(axis=0) * (two**2).sum(axis=0))
    )
