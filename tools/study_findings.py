"""What the study finds, in sentences that its store decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from study_evidence import Evidence, Place, shown
from study_sentences import Reader

from gpucoh.studies.intervals import LIKELY, interaction

# Matrices in which an idea must be on the same side to hold in general.
FEW = 5  # protocols among which a first is no finding, and workloads that make no mean
VARIED = ("presets", "more-presets", "latency", "bandwidth", "l1")


def found(reader: Reader, pairs: pd.DataFrame) -> list[str]:
    """The sentences.

    Parameters
    ----------
    reader : Reader
    pairs : DataFrame
        The table of pairs.
    """
    parts = (_ideas, _general, _first, _baseline, _machines, _cores, _tuning)
    return [line for part in parts for line in part(reader, pairs)]


def _ideas(_: Reader, pairs: pd.DataFrame) -> list[str]:
    """How many ideas change the mean, and what one workload decides."""
    found = pairs[pairs["matrix"].eq("pairs")].dropna(subset=["effect"])
    if found.empty:
        return []
    sure = found[(found["low"] > 1) | (found["high"] < 1)]
    one = sure[(sure["one_out_low"] - 1) * (sure["one_out_high"] - 1) < 0]
    still = sure[(sure["median"] - 1).abs() < 0.005]
    first = sure.loc[np.log(sure["effect"]).abs().sort_values(ascending=False).index].head(3)
    named = "; ".join(f"{row.what}: {_ends(row)}" for row in first.itertuples())
    turns = f"{len(one)} turn" if len(one) else "None turns"
    few = found[found["changed"] <= FEW]
    rare = "; ".join(f"{row.what} ({row.changed:g})" for row in few.itertuples())
    number, most = len(sure), f"{FEW} of {found['workloads'].max():.0f} workloads"
    first_line = (
        f"On `fermi` at scale small, {number} of {len(found)} ideas have an interval that excludes 1. "
        f"The largest effects: {named}."
    )
    medians = (
        f"{number - len(still)} of these {number} move the median workload by 0.5% or more. {turns} to the other side "
        "of 1 without a single workload."
    )
    return [
        *(first_line, medians),
        f"{len(few)} ideas change {most} at most, too few for a mean: {rare}.",
    ]


def _general(_: Reader, pairs: pd.DataFrame) -> list[str]:
    """Ideas that are on one side on every machine, and those that are on both."""
    rows = pairs[pairs["matrix"].isin(VARIED)].dropna(subset=["effect"])
    lines, both, helps = [], [], []
    for what, group in rows.groupby("what", sort=False):
        up, down = int((group["low"] > 1).sum()), int((group["high"] < 1).sum())
        if up == len(group) or down == len(group):
            ends = f"{group['effect'].min():.2f} to {group['effect'].max():.2f}"
            helps.append(f"{what} ({ends})")
        elif up and down:
            both.append(f"{what} (helps on {up}, costs on {down})")
    number = rows.groupby("what").size().max() if len(rows) else 0
    text = (
        f"{len(helps)} of the ideas have an interval on the same side of 1 on all {number} machines"
    )
    lines.append(text + (f": {'; '.join(helps)}." if helps else "."))
    if both:
        lines.append(f"Some help on one machine and cost on another: {'; '.join(both)}.")
    return lines


def _first(reader: Reader, _: pd.DataFrame) -> list[str]:
    """On how many machines the fastest protocol is decided, and which it is."""
    means = reader.tables.speedup()
    means = means[means["matrix"].isin(["small", "paper", "tiny", "tiny-h100"])]
    means = means[~(means["matrix"].eq("paper") & means["machine"].eq("fermi"))]
    found = {}
    for (_matrix, machine, scale), group in means.groupby(["matrix", "machine", "scale"]):
        ranked = group.dropna(subset=["best"]).sort_values("best", ascending=False)
        if len(ranked) >= FEW:
            found[f"`{machine}` at scale {scale}"] = ranked
    sure = [name for name, ranked in found.items() if ranked["best"].iloc[0] >= LIKELY]
    lines = [f"{name}: {decided(found[name])}" for name in found if name in sure or "fermi" in name]
    text = f"The fastest protocol is decided on {len(sure)} of {len(found)} machines and scales."
    return [f"{text} On {'; on '.join(lines)}.", *_over_baseline(means)] if lines else []


def _over_baseline(means: pd.DataFrame) -> list[str]:
    """How many protocols are faster, and slower, than the baseline on fermi."""
    parts = []
    for scale, group in means[means["machine"].eq("fermi")].groupby("scale"):
        known = group.dropna(subset=["best"])
        up, down = int((known["low"] > 1).sum()), int((known["high"] < 1).sum())
        parts.append(
            f"at scale {scale} {up} of {len(known) - 1} protocols are faster and {down} slower"
        )
    return [f"Compared with no L1 on `fermi`, by their intervals, {', '.join(parts)}."]


def _baseline(reader: Reader, _: pd.DataFrame) -> list[str]:
    """What the baseline's change since 0.3.0 does to all speedups."""
    place = Place("lines")
    if not reader.has(place):
        return []
    found = shown(reader.at(place).ratio("no-l1[fill=line]", reader.tables.settings.baseline))
    text = "Since 0.3.0 the baseline moves sectors instead of lines, which alone makes it"
    return [f"{text} {found} times as fast; speedups over it are not those of 0.3.0."]


def _machines(reader: Reader, _: pd.DataFrame) -> list[str]:
    """The share of what distinguishes protocols that depends on the machine."""
    lines = []
    paper = [Place("tiny", one) for one in ("fermi", "mesh15", "gcn3", "apu")]
    for places in (paper, [Place("presets", "fermi"), *reader.presets()]):
        known = [place for place in places if reader.has(place)]
        values = _cube(reader, known)
        if values is not None:
            share, low, high = interaction(values)
            lines.append(
                f"{share:.0%} ({low:.0%} to {high:.0%}) on {len(known)} machines of `{known[0].matrix}`"
            )
    if not lines:
        return []
    text = "Of the variance between protocols (logarithms of cycles) the interaction with the machine is "
    return [f"{text}{', '.join(lines)}."]


def _cube(reader: Reader, places: Sequence[Place]) -> NDArray[Any] | None:
    """Minus the logarithm of cycles by protocol, place and workload, of protocols that fail nowhere."""
    if len(places) < 2:
        return None
    bases = [reader.at(place) for place in places]
    only = tuple(sorted(set.intersection(*(set(one.workloads) for one in bases))))
    parts = [Evidence(reader.tables, place, only) for place in places]
    names = set.intersection(*(set(reader.names(place)) for place in places))
    logs = np.array([[-one.logs(name).mean(axis=1) for one in parts] for name in sorted(names)])
    return np.asarray(logs[np.isfinite(logs).all(axis=(1, 2))])


def _cores(reader: Reader, _: pd.DataFrame) -> list[str]:
    """What proportion changes at the largest number of cores."""
    means = reader.tables.speedup()
    sides = []
    for matrix in ("fixed", "grown"):
        part = means[means["matrix"].eq(matrix)]
        sides.append(part[part["cores"].eq(part["cores"].max())].set_index("protocol"))
    fixed, grown = sides
    if fixed.empty or grown.empty:
        return []
    names = [
        name for name in fixed.sort_values("speedup", ascending=False).index if name in grown.index
    ]
    moved = "; ".join(
        f"`{name}` {_ends(fixed.loc[name], 'speedup')} and {_ends(grown.loc[name], 'speedup')}"
        for name in names
        if name != reader.tables.settings.baseline
    )
    cores = f"{fixed['cores'].iloc[0]:g} cores"
    return [
        f"Mean speedup with {cores} over 8 partitions, and over partitions in proportion: {moved}."
    ]


def _tuning(reader: Reader, _: pd.DataFrame) -> list[str]:
    """What tuning gives."""
    found = reader.tables.tuning()
    if found.empty:
        return []
    up, down = found[found["low"] > 1], found[found["high"] < 1]
    up = up.sort_values("gain", ascending=False)
    names = ", ".join(f"`{row.protocol}` {_ends(row, 'gain')}" for row in up.head(2).itertuples())
    less = found[found["gain"] < found["hindsight"] - 0.005]
    lines = [
        f"Tuning helps {len(up)} of {len(found)} protocols on workloads that did not choose"
        + (f", most {names}." if len(up) else ".")
    ]
    if len(down):
        names = ", ".join(f"`{row.protocol}` {_ends(row, 'gain')}" for row in down.itertuples())
        lines.append(f"It costs {len(down)}: {names}.")
    most = found.iloc[int(found["hindsight"].to_numpy().argmax())]
    lines.append(
        f"Chosen and judged on the same workloads, {len(less)} would seem to gain 0.5% or more beyond that; the "
        f"largest such gain is {most['hindsight']:.2f} (`{most['protocol']}`)."
    )
    return lines


def _ends(row: Any, name: str = "effect") -> str:
    """A mean with its interval, of a row of a table."""
    value, low, high = (
        row[one] if isinstance(row, pd.Series) else getattr(row, one)
        for one in (name, "low", "high")
    )
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def decided(ranked: pd.DataFrame, *, short: bool = False) -> str:
    """The winner with its probability; else those that remain."""
    first = ranked[ranked["best"] >= LIKELY]
    if len(first):
        return (
            ", ".join(f"`{name}`" for name in first["protocol"]) + f" ({first['best'].iloc[0]:.2f})"
        )
    left = ranked[ranked["remains"]]
    if short:
        listed = ", ".join(f"`{name}`" for name in left["protocol"])
        return f"not decided ({left['best'].iloc[0]:.2f}): {listed}"
    names = [f"`{row.protocol}` ({row.best:.2f})" for row in left.itertuples()]
    return f"not decided, {', '.join(names[:2])}" + (f" of {len(left)}" if len(left) > 2 else "")
