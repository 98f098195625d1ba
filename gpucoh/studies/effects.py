"""What ideas and chosen parameters bring: ratios of cycles of two configurations, over workloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from gpucoh.studies.intervals import interval_over_workloads, left_out_ends
from gpucoh.studies.pairs import Pair
from gpucoh.studies.tuning import Tuning, halves

SETTING = ["matrix", "machine", "cores", "scale", "workload"]
PLACE = ["matrix", "machine", "cores"]
_RUN = [*SETTING, "seed"]


def name_of(text: str) -> str:
    """A protocol's name in the rows: a C file's without its folder and ending."""
    name, bracket, rest = text.partition("[")
    return name.rpartition("/")[2].removesuffix(".c") + bracket + rest.replace(" ", "")


def runs_of_pair(rows: pd.DataFrame, pair: Pair) -> pd.DataFrame:
    """The runs of both configurations of a pair, side by side: those with the idea have the suffix ``_with``.

    Of runs that are good on both sides ``log`` is the logarithm of cycles without the idea over those with it.
    """
    columns = [*_RUN, "cycles", "flits", "joules", "good"]
    both = []
    for text in (pair.without, pair.with_it):
        chosen = rows[rows["protocol"] == name_of(text)]
        own = chosen["consistency"] == pair.rule if pair.rule else chosen["own_rule"].eq(1)
        both.append(chosen[own].drop_duplicates(_RUN)[columns])
    out = both[0].merge(both[1], on=_RUN, suffixes=("", "_with"))
    good = out["good"] & out["good_with"]
    cycles = out["cycles"].astype(float).where(good), out["cycles_with"].astype(float).where(good)
    return out.assign(log=np.log(cycles[0] / cycles[1]))


def by_workload(runs: pd.DataFrame) -> dict[str, Any]:
    """Workload -> the logarithms of its runs that are good."""
    good = runs.dropna(subset=["log"])
    return {str(name): group.to_numpy() for name, group in good.groupby("workload")["log"]}


def effects(rows: pd.DataFrame, pair: Pair) -> list[dict[str, Any]]:
    """The rows of a pair, one for each matrix, machine and number of cores that has both."""
    out = []
    for place, group in runs_of_pair(rows, pair).groupby(PLACE, sort=False):
        good = group.dropna(subset=["log"])
        logs = by_workload(good)
        row: dict[str, Any] = {
            "idea": pair.idea,
            "what": pair.what,
            "without": pair.without,
            "with": pair.with_it,
            **dict(zip(PLACE, place, strict=True)),
            "workloads": len(logs),
            "failed": len(group) - len(good),
        }
        if logs:
            means = pd.Series({name: values.mean() for name, values in logs.items()})
            found = means.map(np.exp)
            flits = good["flits_with"].astype(float) / good["flits"].astype(float)
            row |= {
                **_with_ends("effect", logs),
                "smallest": float(found.min()),
                "smallest_workload": str(found.idxmin()),
                "changed": int((found != 1).sum()),
                "largest": float(found.max()),
                "largest_workload": str(found.idxmax()),
                "flits": float(flits.mean()),
                "joules": float((good["joules_with"] / good["joules"]).mean()),
            }
        out.append(row)
    return out


def _with_ends(name: str, logs: Mapping[str, Any]) -> dict[str, float]:
    """The mean over workloads with its interval, the median, and the ends of the means that leave one workload out."""
    means = np.array([values.mean() for values in logs.values()])
    values = {
        name: means.mean(),
        **dict(zip(("low", "high"), interval_over_workloads(list(logs.values())), strict=True)),
        "median": np.median(means),
        **dict(zip(("one_out_low", "one_out_high"), left_out_ends(means), strict=True)),
    }
    return {key: float(np.exp(value)) for key, value in values.items()}


def tuned(rows: pd.DataFrame, tuning: Tuning) -> list[dict[str, Any]]:
    """What choosing a parameter brings, one row for each matrix, machine and number of cores that has the candidates.

    On each half of the workloads (:func:`gpucoh.studies.tuning.halves`) the candidate is chosen that has the smallest
    geometric mean of cycles, among those that lack no run of the half; it is judged on the other half.
    """
    names = [name_of(text) for text in tuning.candidates]
    chosen = rows[rows["protocol"].isin(names) & rows["own_rule"].eq(1)]
    out = []
    for place, group in chosen.groupby(PLACE, sort=False):
        if group["protocol"].nunique() < len(names):
            continue  # a matrix that is none of tunings
        logs = np.log(group["cycles"].astype(float).where(group["good"]))
        table = (
            group.assign(log=logs)
            .drop_duplicates([*_RUN, "protocol"])
            .pivot(index=["workload", "seed"], columns="protocol", values="log")
            .reindex(columns=names)
        )
        classes = dict(zip(group["workload"], group["class"], strict=True))
        out.append(
            {
                "what": tuning.what,
                "protocol": names[0],
                **dict(zip(PLACE, place, strict=True)),
                **_judged(table, halves(classes)),
            }
        )
    return out


def _judged(table: pd.DataFrame, parts: tuple[list[str], list[str]]) -> dict[str, Any]:
    """What each half chooses, what that gives on the other half, and what choosing on all would seem to give."""
    default = str(table.columns[0])
    first, second = (_choice(table, part) for part in parts)
    judged = {**_gains(table, first, parts[1]), **_gains(table, second, parts[0])}
    whole = [*parts[0], *parts[1]]
    every = _choice(table, whole)
    seeming = _gains(table, every, whole)
    row: dict[str, Any] = {
        "chosen_first": first,
        "chosen_second": second,
        "workloads": len(judged),
        "missing": len(whole) - len(judged),
    }
    if judged:
        row |= _with_ends("gain", judged)
    ends = dict(zip(("first", "second"), (parts[0], parts[1]), strict=True))
    for half, part in ends.items():
        values = [judged[name].mean() for name in part if name in judged]
        row[f"gain_{half}"] = float(np.exp(np.mean(values))) if values else np.nan
    hindsight = [values.mean() for values in seeming.values()]
    row |= {
        "chosen_all": every,
        "hindsight": float(np.exp(np.mean(hindsight))) if hindsight else np.nan,
        "default": default,
    }
    return row


def _choice(table: pd.DataFrame, workloads: Sequence[str]) -> str:
    """The candidate with the smallest mean, among those that lack no run; the first of equals, so that the paper's
    comes first.
    """
    part = table[table.index.get_level_values("workload").isin(list(workloads))]
    means = part.groupby(level="workload").mean().mean()
    whole = part.notna().all()
    return str(means[whole].idxmin()) if whole.any() else str(table.columns[0])


def _gains(table: pd.DataFrame, choice: str, workloads: Sequence[str]) -> dict[str, Any]:
    """Workload -> logarithms of cycles of the first candidate over those of the chosen one."""
    gains = (table[table.columns[0]] - table[choice]).dropna()
    found = {str(name): one.to_numpy() for name, one in gains.groupby(level="workload")}
    return {name: found[name] for name in workloads if name in found}
