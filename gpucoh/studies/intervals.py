"""95% intervals over seeds and over workloads, by bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gpucoh.base.late import LATE_IMPORT

RESAMPLES = 1000
_BATCH = 50  # resamples at a time, which bounds the memory


def with_intervals(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Geometric mean of ratios over seeds, with its interval; ``log`` has the ratios' logarithms."""
    groups = rows.groupby(list(by), sort=False)["log"]
    out = groups.agg(["mean", "size"])
    low, high = np.full(len(out), np.nan), np.full(len(out), np.nan)
    values = rows["log"].to_numpy()
    places = list(groups.indices.values())
    order = {key: place for place, key in enumerate(out.index)}
    rows_of = [order[key] for key in groups.indices]
    for size in sorted({len(one) for one in places if len(one) > 1}):
        chosen = [
            (where, one) for where, one in zip(rows_of, places, strict=True) if len(one) == size
        ]
        bounds = interval(np.array([values[one] for _, one in chosen]))
        for (where, _), ends in zip(chosen, bounds, strict=True):
            low[where], high[where] = ends
    return pd.DataFrame(
        {
            "speedup": np.exp(out["mean"]),
            "low": np.exp(low),
            "high": np.exp(high),
            "seeds": out["size"],
        },
        index=out.index,
    )


def interval(values: NDArray[Any]) -> NDArray[Any]:
    """95% intervals of the means of the rows of an array, by bootstrap; of shape (rows, 2)."""
    with LATE_IMPORT:
        from scipy import stats

    found = stats.bootstrap(
        (values,),
        np.mean,
        axis=-1,
        n_resamples=RESAMPLES,
        batch=_BATCH,
        method="percentile",
        random_state=np.random.default_rng(0),
    ).confidence_interval
    return np.stack([found.low, found.high], axis=-1)


def interval_of(number: int, value: Callable[[Sequence[int]], float]) -> tuple[float, float]:
    """95% interval of a value of items, by bootstrap: ``value`` takes the numbers of the items, some repeated."""
    draws = np.random.default_rng(0).integers(number, size=(RESAMPLES, number))
    low, high = np.percentile([value(draw.tolist()) for draw in draws], (2.5, 97.5))
    return float(low), float(high)


def interval_over_workloads(logs: Sequence[NDArray[Any]]) -> tuple[float, float]:
    """95% interval of a mean over workloads, by bootstrap: of workloads, and then of the seeds of each one drawn.

    Parameters
    ----------
    logs : sequence of arrays
        For each workload the logarithms of its ratios, one a seed; numbers of seeds may differ.

    Returns
    -------
    (float, float)
        Of the mean over workloads of the means over seeds, as a logarithm; NaN for one workload.
    """
    number = len(logs)
    if number < 2:
        return np.nan, np.nan
    draw = np.random.default_rng(0)
    chosen = draw.integers(number, size=(RESAMPLES, number))
    means = np.empty(chosen.shape)
    for place, values in enumerate(logs):
        here = chosen == place
        seeds = draw.integers(len(values), size=(int(here.sum()), len(values)))
        means[here] = values[seeds].mean(axis=1)
    low, high = np.percentile(means.mean(axis=1), (2.5, 97.5))
    return float(low), float(high)
