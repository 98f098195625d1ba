"""The figures of docs/study.md that compare machines, numbers of cores and tunings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from gpucoh.base.canvas import Canvas, style
from gpucoh.figures.looks import looks_of
from gpucoh.studies.tabulation import Tables

WIDTH = 7.0  # inches
LINE = 0.16  # inches of a row of text
MOST = 2.0  # effects beyond have the colour of this one
MARKERS = "osD^vPX*"


def machines(table: pd.DataFrame, places: Sequence[tuple[str, str, str]]) -> Figure:
    """Effects of ideas by machine; bold where the interval over workloads excludes 1.

    Parameters
    ----------
    table : DataFrame
        The table of pairs.
    places : sequence of (str, str, str)
        Matrix, machine and title of each column.
    """
    ideas = list(dict.fromkeys(zip(table["idea"], table["what"], strict=True)))
    with mpl.rc_context(style()):
        figure = Canvas(figsize=(WIDTH * 1.15, 1.2 + LINE * len(ideas)), layout="constrained")
        axes = figure.add_subplot()
        values = np.full((len(ideas), len(places)), np.nan)
        for x, (matrix, machine, _) in enumerate(places):
            here = table[table["matrix"].eq(matrix) & table["machine"].eq(machine)]
            for y, (_, what) in enumerate(ideas):
                found = here[here["what"].eq(what)].dropna(subset=["effect"])
                if found.empty:
                    continue
                row = found.iloc[0]
                values[y, x] = np.log2(np.clip(row["effect"], 1 / MOST, MOST))
                sure = row["low"] > 1 or row["high"] < 1
                dark = abs(values[y, x]) > 0.7 * np.log2(MOST)
                axes.text(
                    x,
                    y,
                    f"{row['effect']:.2f}",
                    ha="center",
                    va="center",
                    fontsize=5.5,
                    fontweight="bold" if sure else "normal",
                    color="white" if dark else "black" if sure else "#555555",
                )
        limit = float(np.log2(MOST))
        axes.imshow(values, aspect="auto", cmap="PuOr_r", norm=TwoSlopeNorm(0.0, -limit, limit))
        axes.grid(visible=False)
        titles = [title for *_, title in places]
        turned: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        axes.set_xticks(range(len(places)), titles, fontsize=6, **turned)
        axes.set_yticks(range(len(ideas)), [": ".join(one) for one in ideas], fontsize=6)
        return figure


def scaling(tables: Tables, names: Sequence[tuple[str, str]]) -> Figure:
    """Mean speedup by number of cores with its interval: a panel for each matrix and its title."""
    table = tables.speedup()
    table = table[table["matrix"].isin([matrix for matrix, _ in names])]
    table = table[table["protocol"].ne(tables.settings.baseline)]
    protocols = sorted(set(table["protocol"]))
    looks = looks_of(protocols, True)
    with mpl.rc_context(style()):
        figure = Canvas(figsize=(WIDTH, 3.0), layout="constrained")
        shared: Axes | None = None
        for number, (matrix, title) in enumerate(names, 1):
            axes = figure.add_subplot(1, len(names), number, sharey=shared)
            shared = shared or axes
            part = table[table["matrix"].eq(matrix)]
            cores = sorted(set(part["cores"]))
            for place, name in enumerate(protocols):
                line = part[part["protocol"].eq(name)].sort_values("cores")
                # Beside each other, so that intervals do not cover each other.
                at = np.array([cores.index(one) for one in line["cores"]])
                at = at + 0.07 * (place - len(protocols) / 2)
                colour = looks[name]["facecolor"]
                axes.vlines(at, line["low"], line["high"], color=colour, linewidth=1.0)
                axes.plot(
                    at,
                    line["speedup"],
                    color=colour,
                    marker=MARKERS[place % len(MARKERS)],
                    markersize=3.5,
                    linewidth=0.8,
                    label=name,
                )
            axes.axhline(1.0, color="black", linewidth=0.6)
            axes.set_xticks(range(len(cores)), [f"{one:g}" for one in cores])
            axes.set_xlabel("cores")
            axes.set_title(title)
        figure.axes[0].set_ylabel(f"speedup over {tables.settings.baseline}")
        handles = figure.axes[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside right center", fontsize=6)
        return figure


def tuning(table: pd.DataFrame) -> Figure:
    """What tuning gives each protocol on workloads that did not choose (dot, interval), and in hindsight (ring)."""
    rows = table.sort_values(["what", "gain"], ascending=[False, True])
    with mpl.rc_context(style()):
        figure = Canvas(figsize=(WIDTH * 0.7, 0.9 + LINE * len(rows)), layout="constrained")
        axes = figure.add_subplot()
        for y, row in enumerate(rows.to_dict("records")):
            axes.plot([row["low"], row["high"]], [y, y], color="#0b3c7d", linewidth=2)
            axes.plot(row["gain"], y, "o", color="#0b3c7d", markersize=4)
            axes.plot(
                row["hindsight"], y, "o", markersize=6, markerfacecolor="none", color="#c2571a"
            )
        names = [
            f"{what}: {name}" for what, name in zip(rows["what"], rows["protocol"], strict=True)
        ]
        axes.set_yticks(range(len(rows)), names, fontsize=6)
        axes.set_ylim(-0.7, len(rows) - 0.3)
        axes.axvline(1.0, color="black", linewidth=0.6)
        axes.set_xlabel(
            "cycles with the paper's parameters / with chosen ones:\n"
            "judged on the other half (dot, interval), in hindsight (ring)"
        )
        return figure
