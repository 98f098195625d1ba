"""Means of one configuration's amounts over another's, with intervals over workloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gpucoh.studies.intervals import interval_over_workloads


@dataclass(frozen=True, kw_only=True)
class Mean:
    """A geometric mean of ratios over workloads.

    Attributes
    ----------
    value, low, high : float
        The mean, and its 95% interval over workloads and their seeds; NaN where there is none.
    by_workload : dict
        Workload -> its mean over the seeds.
    missing : tuple of str
        Workloads without a ratio: a run failed or is wrong, or its amount is 0.
    """

    value: float
    low: float
    high: float
    by_workload: Mapping[str, float]
    missing: tuple[str, ...] = ()

    @property
    def side(self) -> int:
        """1 or -1 if the interval is above or below 1, else 0."""
        return int(self.low > 1) - int(self.high < 1)


def ratios(
    above: pd.DataFrame, below: pd.DataFrame, amount: str, workloads: Sequence[str]
) -> dict[str, NDArray[np.float64]]:
    """Workload -> logarithms of an amount over that of another configuration, one for each seed that both have.

    Parameters
    ----------
    above, below : DataFrame
        Good runs of the two configurations: columns ``workload``, ``seed``, and the amount.
    amount : str
    workloads : sequence of str
    """
    both = above.merge(below, on=["workload", "seed"], suffixes=("", "_below"))
    one, other = (both[name].astype(float) for name in (amount, f"{amount}_below"))
    kept = (one > 0) & (other > 0)
    both = both[kept].assign(log=np.log(one[kept] / other[kept]))
    logs = {str(name): group.to_numpy() for name, group in both.groupby("workload")["log"]}
    return {name: logs[name] for name in workloads if name in logs}


def mean_ratio(
    above: pd.DataFrame, below: pd.DataFrame, amount: str, workloads: Sequence[str]
) -> Mean:
    """The geometric mean over workloads of an amount over that of another configuration; as :func:`ratios`."""
    logs = ratios(above, below, amount, workloads)
    means = {name: float(values.mean()) for name, values in logs.items()}
    low, high = interval_over_workloads(list(logs.values()))
    return Mean(
        value=float(np.exp(np.mean(list(means.values())))) if means else np.nan,
        low=float(np.exp(low)),
        high=float(np.exp(high)),
        by_workload={name: float(np.exp(value)) for name, value in means.items()},
        missing=tuple(name for name in workloads if name not in logs),
    )
