"""The tables of a study, from the rows of its store.

Speedup is cycles of the baseline over cycles, of the same matrix, machine, number of cores, workload and seed. Means
are geometric, so that the order of protocols does not depend on the baseline. Intervals are of 95% by bootstrap
(percentiles of the logarithms): of a mean over workloads, of workloads and then of the seeds of each one drawn; of a
cell, of its seeds. Runs that failed or are wrong enter no mean; every mean has the number of cells that it lacks.
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
from gpucoh.results.energy import MODELS
from gpucoh.results.sharing import PATTERNS, SHARES, class_of
from gpucoh.studies.effects import PLACE, SETTING, effects, tuned
from gpucoh.studies.intervals import LIKELY, left_out_ends, ranking, resampled, with_intervals
from gpucoh.studies.joules import joules, with_joules
from gpucoh.studies.matrices import SHARING, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What makes a cell: everything but the seed. The matrix's name contains a forced rule.
_CELL = [*SETTING, "protocol", "consistency"]
_GROUP = ["matrix", "machine", "cores", "scale", "protocol", "consistency"]
UNMEASURED = "unmeasured"
_LIMITED = 0.5


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
        base = base.drop_duplicates([*SETTING, "seed"])[
            [*SETTING, "seed", "cycles", "flits", "joules"]
        ]
        names = {name: f"base_{name}" for name in ("cycles", "flits", "joules")}
        return good.merge(base.rename(columns=names), on=[*SETTING, "seed"], how="inner")

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
        if "busiest" in self.rows:
            good = self.rows[self.rows["good"] & self.rows["busiest_share"].notna()]
            most = good.sort_values("busiest_share").drop_duplicates(_CELL, keep="last")
            out = out.merge(most[[*_CELL, "busiest", "busiest_share"]], on=_CELL, how="left")
        return out

    @door
    def speedup(self) -> pd.DataFrame:
        """Geometric means over the workloads by matrix, machine, cores and protocol, with their intervals.

        Columns ``speedup``, ``low``, ``high``, ``median``, ``one_out_low`` and ``one_out_high`` (ends of the means that
        leave one workload out), ``seeds``, ``workloads`` (in the mean), ``missing`` (failed, wrong, or without a
        baseline), and of protocols that lack none the ``place`` with its interval, ``best`` (the probability of the
        first place) and ``remains`` (whether it is among those of which one is the best in 0.9 of the resamples).
        """
        every = self.rows[self.rows["error"].ne("Gap")]
        listed = every.groupby(_GROUP, sort=False)["workload"].nunique().rename("listed")
        found = [
            self._means_of(group, _GROUP[:4], key)
            for key, group in self._ratios.groupby(_GROUP[:4], sort=False)
        ]
        if not found:
            return pd.DataFrame(columns=[*_GROUP, "speedup", "workloads", "missing"])
        out = pd.concat(found, ignore_index=True).set_index(_GROUP).join(listed, how="outer")
        out = out.dropna(subset=["listed"]).reset_index()
        out["workloads"] = out["workloads"].fillna(0).astype(int)
        out["missing"] = (out.pop("listed") - out["workloads"]).astype(int)
        return out.sort_values([*PLACE, "speedup"], ascending=[True, True, True, False])

    def _means_of(self, rows: pd.DataFrame, names: list[str], key: Any) -> pd.DataFrame:
        """Means over workloads of the protocols of one group of rows, whose ``log`` is larger where it is better."""
        table = rows.pivot_table(
            index=["protocol", "consistency"], columns=["workload", "seed"], values="log"
        )
        workloads, seeds = rows["workload"].unique(), rows["seed"].unique()
        table = table.reindex(columns=pd.MultiIndex.from_product([workloads, seeds]))
        values = table.to_numpy().reshape(len(table), len(workloads), len(seeds))
        there = np.isfinite(values)
        sums, counts = np.where(there, values, 0.0).sum(axis=2), there.sum(axis=2)
        means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
        drawn = resampled(values)
        out = table.index.to_frame(index=False)
        for place, name in enumerate(names):
            out[name] = key[place]
        out["speedup"] = np.exp(np.nanmean(means, axis=1))
        several = np.isfinite(means).sum(axis=1) > 1
        for name, end in (("low", 2.5), ("high", 97.5)):
            out[name] = np.where(several, np.exp(np.nanpercentile(drawn, end, axis=1)), np.nan)
        out["median"] = np.exp(np.nanmedian(means, axis=1))
        ends = [left_out_ends(one[np.isfinite(one)]) for one in means]
        out["one_out_low"], out["one_out_high"] = np.exp(np.array(ends)).T
        out["seeds"], out["workloads"] = counts.max(axis=1), np.isfinite(means).sum(axis=1)
        return self._ranked(out, drawn, str(out["matrix"].iloc[0]).partition("/")[2])

    def _ranked(self, means: pd.DataFrame, drawn: Any, rule: str) -> pd.DataFrame:
        """The means with the places of the protocols that can win: no bounds, no lack, a memory model, the rule."""
        most = means["workloads"].max()
        enters = (
            ~means["protocol"].isin(self.settings.bounds)
            & means["workloads"].eq(most)
            & means["protocol"].isin(self._promised)
            & (means["consistency"].eq(rule) | (rule == ""))
        ).to_numpy()
        found = ranking(drawn[enters], int(most))
        mean = means["speedup"].where(enters)
        out = means.assign(place=mean.rank(ascending=False, method="min"), remains=False)
        for name in ("best", "place_low", "place_high"):
            out[name] = np.nan
        out.loc[enters, ["best", "place_low", "place_high"]] = np.array(
            [found.best, found.low, found.high]
        ).T
        out.loc[enters, "remains"] = found.remains
        return out

    @cached_property
    def _promised(self) -> set[str]:
        """Protocols that promise a memory model."""
        return set(self.rows[self.rows["model"].ne("none")]["protocol"])

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
        model are not among the best. ``mean`` (geometric) with ``low``, ``high``, ``median`` and ends without one
        workload, the ``worst`` loss and its ``worst_workload``, how often it ``wins`` and ``missing``. Among protocols
        that lack no workload of the class: ``best``, the probability of the smallest mean, ``winner`` (at least 0.9)
        and ``remains``, the fewest of which one is the best in 0.9 of the resamples.
        """
        return self._regret(self._classes)

    def _regret(self, classes: Mapping[tuple[str, str], str]) -> pd.DataFrame:
        cells = self.cells.dropna(subset=["speedup"])
        enters = ~cells["protocol"].isin(self.settings.bounds)
        cells = cells[enters & cells["protocol"].isin(self._promised)]
        if cells.empty:
            return pd.DataFrame()
        cells = cells.assign(**{"class": _named(cells, classes)})
        best = cells.groupby(SETTING)["speedup"].transform("max")
        cells = cells.assign(loss=best / cells["speedup"], wins=cells["speedup"] == best, top=best)
        runs = self._ratios.drop(columns="class").merge(
            cells[[*_CELL, "class", "top"]], on=_CELL, how="inner"
        )
        runs["log"] -= np.log(runs["top"])
        of_class = [*PLACE, "class"]
        means = pd.concat(
            [
                self._means_of(group, of_class, key)
                for key, group in runs.groupby(of_class, sort=False)
            ],
            ignore_index=True,
        )
        groups = cells.groupby([*of_class, "protocol", "consistency"], sort=False)
        worst = cells.loc[groups["loss"].idxmax()].set_index(
            [*of_class, "protocol", "consistency"]
        )[["loss", "workload"]]
        named = worst.set_axis(["worst", "worst_workload"], axis=1).join(groups["wins"].sum())
        table = means.set_index([*of_class, "protocol", "consistency"]).join(named).reset_index()
        # The smaller the loss the better: its logarithm is minus that of what was ranked.
        ends = {"mean": "speedup", "low": "high", "high": "low", "median": "median"}
        ends |= {"one_out_low": "one_out_high", "one_out_high": "one_out_low"}
        table = table.assign(**{name: 1 / table[other] - 1 for name, other in ends.items()})
        table["worst"] -= 1
        table["missing"] = (
            table.groupby(of_class)["workloads"].transform("max") - table["workloads"]
        )
        table["winner"] = table["best"] >= LIKELY
        names = ["mean", "worst", "worst_workload", "wins", "workloads", "missing", "winner"]
        names += ["low", "high", "median", "one_out_low", "one_out_high", "best", "remains"]
        table = table[[*of_class, "protocol", "consistency", *names]]
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
        keys = [*SETTING, "seed"]
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

        One row per pair, matrix, machine and number of cores: geometric mean over the workloads with its interval, the
        median, the ends of the means that leave one workload out, the smallest and largest workload, how many workloads
        change, ratios of flits and joules (arithmetic means), and the number of failed cells.
        """
        rows = with_joules(self.rows[self.rows["error"].ne("Gap")], self.settings.energy)
        found = [row for pair in self.settings.pairs for row in effects(rows, pair)]
        return pd.DataFrame(found)

    @door
    def tuning(self) -> pd.DataFrame:
        """What each protocol gains by parameters chosen on one half of the workloads and judged on the other.

        One row per tuning, matrix, machine and number of cores: what each half chooses, the gain (cycles of the paper's
        own values over those of the chosen ones) over both judged halves with its interval, the gain on each half, and
        ``hindsight``: what choosing and judging on all workloads would seem to give.
        """
        rows = self.rows[self.rows["error"].ne("Gap")]
        return pd.DataFrame([row for one in self.settings.tunings for row in tuned(rows, one)])

    @door
    def busiest(self) -> pd.DataFrame:
        """Cells by the part of the machine that is busiest: their number, and the mean of its share of the cycles.

        ``limited`` counts cells in which the busiest unit of the part is busy in more than half of the cycles.
        """
        names = [*PLACE, "busiest", "cells", "share", "limited"]
        if "busiest" not in self.cells:
            return pd.DataFrame(columns=names)
        cells = self.cells.dropna(subset=["busiest_share"])
        found = cells.assign(limited=cells["busiest_share"] > _LIMITED).groupby([*PLACE, "busiest"])
        out = found.agg(
            cells=("busiest_share", "size"),
            share=("busiest_share", "mean"),
            limited=("limited", "sum"),
        )
        return out.reset_index()[names]

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
        other winners than with the factor 1. A class that is not decided has none.
        """
        by = ["matrix", "machine", "cores", "class"]
        found = []
        for factor in (1.0, 0.5, 2.0):
            regret = self._regret(_classes(self._measured, factor))
            if regret.empty:
                return pd.DataFrame(columns=["thresholds", *by, "workloads", "winners", "other"])
            groups = regret.groupby(by)
            found.append(
                pd.DataFrame(
                    {
                        "thresholds": factor,
                        "workloads": groups["workloads"].max(),
                        "winners": regret["protocol"]
                        .where(regret["winner"])
                        .groupby([regret[name] for name in by])
                        .agg(lambda names: ", ".join(sorted(names.dropna()))),
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


TABLES: Mapping[str, Callable[[Tables], pd.DataFrame]] = {
    "speedup": Tables.speedup,
    "cells": lambda tables: tables.cells,
    "regret": Tables.regret,
    "scaling": Tables.scaling,
    "traffic": Tables.traffic,
    "energy": Tables.energy,
    "pairs": Tables.pairs,
    "tuning": Tables.tuning,
    "busiest": Tables.busiest,
    "classes": Tables.classes,
    "thresholds": Tables.thresholds,
    "gaps": Tables.gaps,
    "failures": Tables.failures,
}
