"""The tables of a study, from the rows of its store.

Speedup is cycles of the baseline over cycles, of the same matrix, machine, number of cores, workload and seed. Means
are geometric, so that the order of protocols does not depend on the baseline. Intervals are of 95% over the seeds, by
bootstrap of the logarithms (percentiles); with one seed there is none, and with three it reaches from the smallest to
the largest. Runs that failed or are wrong enter no mean; every mean has the number of cells that it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.wording import unknown
from gpucoh.results.energy import MODELS, TERM
from gpucoh.results.sharing import PATTERNS, SHARES, class_of
from gpucoh.studies.intervals import interval, with_intervals
from gpucoh.studies.matrices import SHARING, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What makes a cell: everything but the seed. The matrix's name contains a forced rule.
_SETTING = ["matrix", "machine", "cores", "scale", "workload"]
_CELL = [*_SETTING, "protocol", "consistency"]
_GROUP = ["matrix", "machine", "cores", "scale", "protocol", "consistency"]
UNMEASURED = "unmeasured"

# Parts of the energy as figures group them.
_PARTS = ("noc_dynamic", "noc_static", "l1", "l2", "arrays", "dram", "core")
_MERGED = {"scratchpad": "core"}


class Tables:
    """The tables and figures of a study.

    Attributes
    ----------
    rows : pandas.DataFrame
        One row per run and matrix: ``matrix``, the configuration, statistics, ``good`` (ended and right), ``class``.
    settings : Settings
    """

    def __init__(self, rows: pd.DataFrame, settings: Settings) -> None:
        self.settings = settings
        self._every = _placed(rows)
        self._measured = self._every[self._every["matrix"] == SHARING]
        self._classes = _classes(self._measured)
        study = self._every[~self._every["matrix"].isin([SHARING, ""])]
        study = study.sort_values([*_CELL, "seed"], kind="stable", ignore_index=True)
        good = study["error"].isna() & study["correct"].ne(False) & study["cycles"].notna()
        added = {
            "good": good.fillna(False).astype(bool),
            "class": _named(study, self._classes),
        }
        self.rows = pd.concat([study, pd.DataFrame(added, index=study.index)], axis=1)

    def __repr__(self) -> str:
        runs = self.rows[self.rows["error"].ne("Gap")]
        return (
            f"<gpucoh.Study {self.settings.title}: {len(runs)} runs in {runs['matrix'].nunique()} matrices, "
            f"{int((~runs['good']).sum())} failed or wrong, {len(self.gaps())} gaps>"
        )

    @cached_property
    def _relative(self) -> pd.DataFrame:
        """Good runs with the cycles, flits and joules of the baseline beside theirs."""
        good = with_joules(self.rows[self.rows["good"]], self.settings.energy)
        base = good[good["protocol"] == self.settings.baseline]
        base = base.drop_duplicates([*_SETTING, "seed"])[
            [*_SETTING, "seed", "cycles", "flits", "joules"]
        ]
        names = {name: f"base_{name}" for name in ("cycles", "flits", "joules")}
        return good.merge(base.rename(columns=names), on=[*_SETTING, "seed"], how="inner")

    @cached_property
    def _ratios(self) -> pd.DataFrame:
        """Good runs with the logarithm of their speedup, ``log``."""
        cycles = (self._relative[name].astype(float) for name in ("base_cycles", "cycles"))
        return self._relative.assign(log=np.log(next(cycles) / next(cycles)))

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row per cell: speedup with its interval, number of ``seeds``, and ``failed`` runs with the first reason.

        A cell without a good run has no speedup; ``status`` says why.
        """
        found = with_intervals(self._ratios, _CELL)
        runs = self.rows[self.rows["error"].ne("Gap")]
        counted = runs.groupby(_CELL, sort=False).agg(
            runs=("good", "size"), good=("good", "sum"), status=("verdict", _worst)
        )
        out = counted.join(found).reset_index()
        out["failed"] = out["runs"] - out["good"]
        gaps = self.rows[self.rows["error"].eq("Gap")]
        if len(gaps):
            holes = gaps.drop_duplicates(_CELL)[_CELL].assign(
                runs=0, good=0, failed=0, status="gap"
            )
            out = pd.concat([out, holes], ignore_index=True)
        out["class"] = _named(out, self._classes)
        return out

    @door
    def speedup(self) -> pd.DataFrame:
        """Geometric means over the workloads by matrix, machine, cores and protocol, with their intervals over seeds.

        Columns ``speedup``, ``low``, ``high``, ``seeds``, ``workloads`` (in the mean) and ``missing`` (failed, wrong,
        or without a baseline). A seed that lacks a workload enters no interval.
        """
        ratio = self._ratios
        by_seed = ratio.groupby([*_GROUP, "seed"], sort=False).agg(
            log=("log", "mean"), workloads=("workload", "nunique")
        )
        by_seed = by_seed.reset_index()
        most = by_seed.groupby(_GROUP)["workloads"].transform("max")
        found = with_intervals(by_seed[by_seed["workloads"] == most], _GROUP)
        in_mean = ratio.groupby(_GROUP, sort=False)["workload"].nunique().rename("workloads")
        every = self.rows[self.rows["error"].ne("Gap")]
        listed = every.groupby(_GROUP, sort=False)["workload"].nunique().rename("listed")
        out = pd.concat([found, in_mean, listed], axis=1).dropna(subset=["listed"]).reset_index()
        out["workloads"] = out["workloads"].fillna(0).astype(int)
        out["missing"] = (out.pop("listed") - out["workloads"]).astype(int)
        return out.sort_values(
            ["matrix", "machine", "cores", "speedup"], ascending=[True, True, True, False]
        )

    @door
    def heat(
        self, matrix: str, machine: str | None = None, cores: int | None = None
    ) -> pd.DataFrame:
        """Speedup by protocol (rows) and workload (columns, by class); NaN where a cell has none."""
        chosen = self._of(self.cells, matrix, machine, cores)
        order = chosen.drop_duplicates("workload").sort_values(["class", "workload"])["workload"]
        table = chosen.pivot_table(
            index="protocol", columns="workload", values="speedup", aggfunc="mean", dropna=False
        )
        every = list(dict.fromkeys(chosen["protocol"]))
        return table.reindex(index=every, columns=list(order))

    @door
    def regret(self) -> pd.DataFrame:
        """Loss against the best protocol by class, machine and protocol.

        The loss is cycles over those of the cell's best protocol, less 1; bounds and protocols that promise no memory
        model are not among the best. ``mean`` (geometric) and ``worst`` loss, the ``worst_workload``, how often it
        ``wins``, ``winner`` (smallest mean of the class among protocols that lack no workload; several if equal) and
        ``missing``.
        """
        return self._regret(self.cells)

    def _regret(self, cells: pd.DataFrame) -> pd.DataFrame:
        cells = cells[~cells["protocol"].isin(self.settings.bounds) & cells["speedup"].notna()]
        promised = self.rows[self.rows["model"].ne("none")]["protocol"].unique()
        cells = cells[cells["protocol"].isin(promised)].copy()
        best = cells.groupby(_SETTING)["speedup"].transform("max")
        cells["loss"] = best / cells["speedup"]
        cells["wins"] = cells["speedup"] == best
        if cells.empty:
            return pd.DataFrame()
        of_class = ["matrix", "machine", "cores", "class"]
        cells["size"] = cells.groupby(of_class)["workload"].transform("nunique")
        cells["log"] = np.log(cells["loss"])
        groups = cells.groupby([*of_class, "protocol", "consistency"], sort=False)
        worst = cells.loc[groups["loss"].idxmax()]
        found = groups.agg(mean=("log", "mean"), wins=("wins", "sum"), workloads=("loss", "size"))
        table = found.assign(
            mean=np.exp(found["mean"]) - 1,
            worst=worst["loss"].to_numpy() - 1,
            worst_workload=worst["workload"].to_numpy(),
            missing=worst["size"].to_numpy() - found["workloads"].to_numpy(),
        ).reset_index()
        names = ["mean", "worst", "worst_workload", "wins", "workloads", "missing"]
        table = table[[*of_class, "protocol", "consistency", *names]]
        whole = table[table["missing"] == 0]
        least = whole.groupby(of_class)["mean"].transform("min")
        table["winner"] = table.index.isin(whole.index[whole["mean"] == least])
        return table.sort_values([*of_class, "mean"]).reset_index(drop=True)

    @door
    def scaling(self) -> pd.DataFrame:
        """Means of the speedup by protocol and number of cores, of matrices that have several.

        Workloads that a protocol lacks at one number of cores enter none of its means.
        """
        cells = self.cells
        several = cells.groupby(["matrix", "machine"])["cores"].transform("nunique") > 1
        cells = cells[several & cells["speedup"].notna()].copy()
        if cells.empty:
            return pd.DataFrame(
                columns=["matrix", "machine", "protocol", "cores", "speedup", "workloads"]
            )
        counts = cells.groupby(["matrix", "machine"])["cores"].transform("nunique")
        own = cells.groupby(["matrix", "machine", "workload", "protocol", "consistency"])
        cells = cells[own["cores"].transform("nunique") == counts]
        cells["log"] = np.log(cells["speedup"])
        out = cells.groupby(["matrix", "machine", "protocol", "cores"]).agg(
            log=("log", "mean"), workloads=("workload", "nunique")
        )
        out["speedup"] = np.exp(out.pop("log"))
        return out.reset_index()

    @door
    def traffic(self) -> pd.DataFrame:
        """Flits by message class over all flits of the baseline: arithmetic means over workloads and seeds."""
        names = [str(name) for name in self.rows if str(name).startswith("flits_")]
        rows = self._relative
        shares = rows[names].astype(float).fillna(0.0).div(rows["base_flits"].astype(float), axis=0)
        shares.columns = [name.removeprefix("flits_") for name in names]
        return self._means(rows, shares)

    @door
    def energy(self, decade: str | None = None) -> pd.DataFrame:
        """Energy by part over that of the baseline: arithmetic means over workloads and seeds.

        Parameters
        ----------
        decade : {"2013", "2024"}, optional
            The coefficients. Default: the study's.
        """
        chosen = self.settings.energy if decade is None else str(decade)
        if chosen not in MODELS:
            raise ConfigError(unknown("value of energy", chosen, MODELS))
        rows = self._relative
        parts = joules(rows, chosen)
        base = rows["protocol"] == self.settings.baseline
        keys = [*_SETTING, "seed"]
        total = parts.sum(axis=1)
        below = rows.loc[base, keys].assign(total=total[base]).drop_duplicates(keys)
        over = rows[keys].merge(below, on=keys, how="left")["total"].to_numpy()
        return self._means(rows, parts.div(over, axis=0))

    def _means(self, rows: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
        table = pd.concat([rows[[*_GROUP, "workload"]], values], axis=1)
        by_workload = table.groupby([*_GROUP, "workload"], sort=False).mean()
        out = by_workload.groupby(_GROUP, sort=False).mean()
        out["total"] = out.sum(axis=1)
        out["workloads"] = by_workload.groupby(_GROUP, sort=False).size()
        return out.reset_index()

    @door
    def pairs(self) -> pd.DataFrame:
        """The measured effect of each idea: cycles without it over cycles with it, of configurations that differ in it
        alone.

        One row per pair, matrix and machine: geometric mean over the workloads with its interval over seeds, the
        smallest and largest workload, how many workloads change, ratios of flits and joules (arithmetic means), and the
        number of failed cells.
        """
        out = []
        rows = with_joules(self.rows[self.rows["error"].ne("Gap")], self.settings.energy)
        for pair in self.settings.pairs:
            both = []
            for text in (pair.without, pair.with_it):
                name = _name(text)
                chosen = rows[rows["protocol"] == name]
                own = chosen["consistency"] == pair.rule if pair.rule else chosen["own_rule"].eq(1)
                both.append(chosen[own])
            out += _effects(pair.idea, pair.what, (pair.without, pair.with_it), *both)
        return pd.DataFrame(out)

    @door
    def classes(self) -> pd.DataFrame:
        """How the cores of each workload share data: shares of its requests by pattern, and its class."""
        rows = self._measured
        if rows.empty or not set(SHARES.values()) <= set(rows):
            return pd.DataFrame(
                columns=["workload", "scale", *PATTERNS, "requests", "lost", "class"]
            )
        out = rows[["workload", "scale"]].copy()
        for name, column in SHARES.items():
            out[name] = rows[column]
        out["requests"], out["lost"] = rows["requests"], rows["requests_lost"]
        out["class"] = _named(out, self._classes)
        return out.sort_values(["scale", "class", "workload"]).reset_index(drop=True)

    @door
    def thresholds(self) -> pd.DataFrame:
        """Workloads and winners by class, matrix, machine, with the classes' thresholds as they are, halved, doubled.

        Columns ``thresholds`` (the factor 1, 0.5 or 2), ``workloads``, ``winners``, and ``other``: whether these are
        other winners than with the factor 1.
        """
        by = ["matrix", "machine", "cores", "class"]
        found = []
        for factor in (1.0, 0.5, 2.0):
            classes = _named(self.cells, _classes(self._measured, factor))
            regret = self._regret(self.cells.assign(**{"class": classes}))
            if regret.empty:
                return pd.DataFrame(columns=["thresholds", *by, "workloads", "winners", "other"])
            groups = regret.groupby(by)
            found.append(
                pd.DataFrame(
                    {
                        "thresholds": factor,
                        "workloads": groups["workloads"].max(),
                        "winners": regret[regret["winner"]]
                        .groupby(by)["protocol"]
                        .agg(lambda names: ", ".join(sorted(names))),
                    }
                )
            )
            first = found[0]["winners"].reindex(found[-1].index)
            found[-1]["other"] = first.notna() & first.ne(found[-1]["winners"])
        return pd.concat(found).reset_index()[["thresholds", *by, "workloads", "winners", "other"]]

    @door
    def gaps(self) -> pd.DataFrame:
        """What cannot run, once for each matrix, machine, protocol and rule, with the reason."""
        rows = self.rows[self.rows["error"].eq("Gap")]
        names = ["matrix", "machine", "cores", "protocol", "consistency"]
        return rows.drop_duplicates(names)[[*names, "where"]].reset_index(drop=True)

    @door
    def failures(self) -> pd.DataFrame:
        """Runs that failed or are wrong, with the reason."""
        rows = self.rows[~self.rows["good"] & self.rows["error"].ne("Gap")]
        return rows[[*_CELL, "seed", "model", "verdict", "error", "where"]].reset_index(drop=True)

    @door
    def plot(self, name: str, matrix: str | None = None, machine: str | None = None) -> Figure:
        """Draw a table: ``"heat"``, ``"speedup"``, ``"regret"``, ``"scaling"``, ``"traffic"``, ``"energy"`` or
        ``"pairs"``.

        Parameters
        ----------
        name : str
        matrix, machine : str, optional
            Which rows; by default the matrix that has most, and its machine that has most.

        Raises
        ------
        ConfigError
            For an unknown name, or if there is nothing to draw.
        """
        with LATE_IMPORT:
            from gpucoh.studies.figures import FIGURES

        if name not in FIGURES:
            raise ConfigError(unknown("figure", name, FIGURES))
        return FIGURES[name](self, matrix, machine)

    def _of(
        self, table: pd.DataFrame, matrix: str, machine: str | None, cores: int | None
    ) -> pd.DataFrame:
        """The rows of one matrix, machine and number of cores.

        Raises
        ------
        ConfigError
            If there are none.
        """
        for name, value in (("matrix", matrix), ("machine", machine), ("cores", cores)):
            if value is None:
                value = table[name].iloc[0]
            known = list(table[name].unique())
            if value not in known:
                raise ConfigError(unknown(name, str(value), [str(one) for one in known]))
            table = table[table[name] == value]
        return table


def joules(rows: pd.DataFrame, decade: str) -> pd.DataFrame:
    """Energy by part, of the amounts that rows have; one column for each part."""
    parts = {name: np.zeros(len(rows)) for name in _PARTS}
    for column in rows:
        if not str(column).startswith(TERM):
            continue
        part, _, coefficient = str(column).removeprefix(TERM).partition("__")
        part = _MERGED.get(part, part)
        one = MODELS[decade][coefficient]
        amount = rows[column].astype(float).fillna(0.0).to_numpy()
        parts[part if part in parts else "arrays"] += amount * one.value * one.scale
    return pd.DataFrame(parts, index=rows.index)


def with_joules(rows: pd.DataFrame, decade: str) -> pd.DataFrame:
    """The rows with a column of their energy in joules."""
    return pd.concat([rows, joules(rows, decade).sum(axis=1).rename("joules")], axis=1)


def _placed(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each matrix that a run belongs to."""
    out = rows.copy()
    out["matrix"] = out["matrix"].fillna("").str.split(",")
    return out.explode("matrix", ignore_index=True)


def _classes(rows: pd.DataFrame, thresholds: float = 1.0) -> dict[tuple[str, str], str]:
    """Workload and scale -> class, by the rule with its thresholds multiplied."""
    if not set(SHARES.values()) <= set(rows):
        return {}
    out = {}
    for _, row in rows.iterrows():
        shares = {name: float(row[column]) for name, column in SHARES.items()}
        if not any(value != value for value in shares.values()):
            out[row["workload"], row["scale"]] = class_of(shares, thresholds)
    return out


def _named(rows: pd.DataFrame, classes: Mapping[tuple[str, str], str]) -> list[str]:
    """The class of each row's workload at its scale."""
    return [
        classes.get(one, UNMEASURED) for one in zip(rows["workload"], rows["scale"], strict=True)
    ]


def _worst(verdicts: pd.Series[str]) -> str:
    """The verdict of a cell: that of its first run that failed or is wrong, else that of its runs."""
    bad = [one for one in verdicts if one not in ("correct", "unchecked")]
    return str(bad[0] if bad else verdicts.iloc[0])


def _name(text: str) -> str:
    """A protocol's name in the rows: a C file's without its folder and ending."""
    name, bracket, rest = text.partition("[")
    return name.rpartition("/")[2].removesuffix(".c") + bracket + rest.replace(" ", "")


def _effects(
    idea: str, what: str, texts: tuple[str, str], without: pd.DataFrame, with_it: pd.DataFrame
) -> list[dict[str, Any]]:
    """The rows of a pair, one for each matrix and machine that has both."""
    keys = [*_SETTING, "seed"]
    columns = [*keys, "cycles", "flits", "joules", "good"]
    both = without.drop_duplicates(keys)[columns].merge(
        with_it.drop_duplicates(keys)[columns], on=keys, suffixes=("", "_with")
    )
    out = []
    for (matrix, machine, cores), group in both.groupby(["matrix", "machine", "cores"], sort=False):
        good = group[group["good"] & group["good_with"]].copy()
        row: dict[str, Any] = {
            "idea": idea,
            "what": what,
            "without": texts[0],
            "with": texts[1],
            "matrix": matrix,
            "machine": machine,
            "cores": cores,
            "workloads": good["workload"].nunique(),
            "failed": len(group) - len(good),
        }
        if len(good):
            good["log"] = np.log(good["cycles"].astype(float) / good["cycles_with"].astype(float))
            by_seed = good.groupby("seed")["log"].mean().to_numpy()
            ends = interval(by_seed[None, :])[0] if len(by_seed) > 1 else (np.nan, np.nan)
            by_workload = np.exp(good.groupby("workload")["log"].mean())
            row |= {
                "effect": float(np.exp(by_seed.mean())),
                "low": float(np.exp(ends[0])),
                "high": float(np.exp(ends[1])),
                "smallest": float(by_workload.min()),
                "smallest_workload": str(by_workload.idxmin()),
                "changed": int((by_workload != 1).sum()),
                "largest": float(by_workload.max()),
                "largest_workload": str(by_workload.idxmax()),
                "flits": float(
                    (good["flits_with"].astype(float) / good["flits"].astype(float)).mean()
                ),
                "joules": float((good["joules_with"] / good["joules"]).mean()),
            }
        out.append(row)
    return out


TABLES: Mapping[str, Callable[[Tables], pd.DataFrame]] = {
    "speedup": Tables.speedup,
    "cells": lambda tables: tables.cells,
    "regret": Tables.regret,
    "scaling": Tables.scaling,
    "traffic": Tables.traffic,
    "energy": Tables.energy,
    "pairs": Tables.pairs,
    "classes": Tables.classes,
    "thresholds": Tables.thresholds,
    "gaps": Tables.gaps,
    "failures": Tables.failures,
}
