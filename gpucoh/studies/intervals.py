"""95% intervals over seeds and over workloads, by bootstrap."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gpucoh.base.late import LATE_IMPORT

RESAMPLES = 1000
LIKELY = 0.9  # a winner's share of resamples; less is not decided
FEWEST = 4  # workloads without which no winner is named
TIE = 0.001  # of a mean, as a logarithm: so near to the best is best
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


def resampled(values: NDArray[Any]) -> NDArray[Any]:
    """Means over workloads in each of :data:`RESAMPLES` resamples of workloads, and of the seeds of each one drawn.

    Parameters
    ----------
    values : array of shape (configurations, workloads, seeds)
        Logarithms; NaN: the run is missing, and has no weight.

    Returns
    -------
    array of shape (configurations, resamples)
        All configurations have the same draws, so that their differences are of pairs of runs.
    """
    runs = values.reshape(len(values), -1)
    there = np.isfinite(runs)
    counts = _draws(*values.shape[1:]).T
    total = there.astype(float) @ counts
    sums = np.where(there, runs, 0.0) @ counts
    means = np.divide(sums, total, out=np.full(sums.shape, np.nan), where=total > 0)
    # Sums of equals may differ in their last bits, by the order in which a library adds.
    return np.asarray(means.round(12))


@functools.lru_cache(16)
def _draws(workloads: int, seeds: int) -> NDArray[Any]:
    """How often each resample has each run, of shape (resamples, workloads x seeds)."""
    draw = np.random.default_rng(0)
    chosen = draw.integers(workloads, size=(RESAMPLES, workloads))
    picked = draw.integers(seeds, size=(RESAMPLES, workloads, seeds))
    runs = (chosen[..., None] * seeds + picked).reshape(RESAMPLES, -1)
    return np.array([np.bincount(one, minlength=workloads * seeds) for one in runs], dtype=float)


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """How often each configuration is the best, and its place, over resamples of the workloads.

    Attributes
    ----------
    best : array
        Share of the resamples in which no other is better by more than :data:`TIE`; NaN with fewer than :data:`FEWEST`
        workloads.
    low, high : array
        95% interval of the place, from 1.
    remains : array of bool
        The fewest, in the order of ``best``, of which one is the best in a share of :data:`LIKELY` of the resamples.
    """

    best: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    remains: NDArray[Any]

    @property
    def winner(self) -> NDArray[Any]:
        """Those that are the best in a share of :data:`LIKELY` or more."""
        return np.asarray(self.best >= LIKELY)


def ranking(means: NDArray[Any], workloads: int) -> Ranking:
    """Rank configurations, the largest mean first; ``means`` is what :func:`resampled` returns."""
    number = len(means)
    if workloads < FEWEST or not number:
        nothing = np.full(number, np.nan)
        return Ranking(best=nothing, low=nothing, high=nothing, remains=np.ones(number, bool))
    first = means >= means.max(axis=0) - TIE
    best = first.mean(axis=1)
    places = 1 + (means[None] > means[:, None]).sum(axis=1)
    low, high = np.percentile(places, (2.5, 97.5), axis=1)
    remains = np.zeros(number, bool)
    for place in np.argsort(-best, kind="stable"):
        if first[remains].any(axis=0).mean() >= LIKELY:
            break
        remains[place] = True
    # Equals of one that remains are as likely.
    remains |= best >= LIKELY
    return Ranking(best=best, low=low, high=high, remains=remains)


def left_out_ends(means: NDArray[Any]) -> tuple[float, float]:
    """The smallest and largest mean of all values but one; NaN for fewer than two."""
    number = len(means)
    if number < 2:
        return np.nan, np.nan
    others = (means.sum() - means) / (number - 1)
    return float(others.min()), float(others.max())


def interaction(values: NDArray[Any]) -> tuple[float, float, float]:
    """The share of what distinguishes protocols that depends on the machine, with its 95% interval over workloads.

    Parameters
    ----------
    values : array of shape (protocols, machines, workloads)
        Logarithms.

    Returns
    -------
    (float, float, float)
        Of a model with random effects of protocol, machine, workload and each two of them: the variance of protocol x
        machine over the sum of it and that of protocol, by the method of moments. The interval is that of a jackknife
        of workloads.
    """
    workloads = values.shape[2]
    if min(values.shape) < 2 or workloads < FEWEST:
        return np.nan, np.nan, np.nan
    share = _share_of_interaction(values)
    others = np.array(
        [_share_of_interaction(np.delete(values, place, axis=2)) for place in range(workloads)]
    )
    error = np.sqrt((workloads - 1) * np.mean((others - others.mean()) ** 2))
    return share, max(0.0, share - 1.96 * error), min(1.0, share + 1.96 * error)


def _share_of_interaction(values: NDArray[Any]) -> float:
    """The estimate from the mean squares of protocols, protocols x machines, protocols x workloads, and the rest."""
    protocols, machines, workloads = values.shape

    def means(*over: int) -> NDArray[Any]:
        return np.asarray(values.mean(axis=over, keepdims=True))

    def square(part: NDArray[Any], freedom: int) -> float:
        return float((np.broadcast_to(part, values.shape) ** 2).sum()) / freedom

    p, m, w = protocols - 1, machines - 1, workloads - 1
    of_p, of_m, of_w, all_ = means(1, 2), means(0, 2), means(0, 1), means(0, 1, 2)
    of_pm, of_pw, of_mw = means(2), means(1), means(0)
    left = square(values - of_pm - of_pw - of_mw + of_p + of_m + of_w - all_, p * m * w)
    by_machine = square(of_pm - of_p - of_m + all_, p * m)
    by_workload = square(of_pw - of_p - of_w + all_, p * w)
    by_protocol = square(of_p - all_, p)
    both = max(0.0, (by_machine - left) / workloads)
    one = max(0.0, (by_protocol - by_machine - by_workload + left) / (machines * workloads))
    return both / (both + one) if both + one else np.nan
