"""The figures of a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from gpucoh.base.canvas import Canvas, style
from gpucoh.base.errors import ConfigError
from gpucoh.report.looks import CLASS_NAMES, PART_NAMES, kind_look, looks_of

if TYPE_CHECKING:
    import pandas as pd

# gpucoh.experiments.tabulation.Tables, which imports this module.
Tables: TypeAlias = Any

_WIDTH = 7.0  # inches
_LINE = 0.16  # inches of a row of text
_MOST = 4.0  # speedups beyond have the colour of this one
_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
_MARKERS = "osD^vPX*"


def _new(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Canvas(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _chosen(table: pd.DataFrame, matrix: str | None, machine: str | None) -> pd.DataFrame:
    """The rows of one matrix and machine; by default of those that have most rows.

    Raises
    ------
    ConfigError
        If there are none.
    """
    for name, value in (("matrix", matrix), ("machine", machine)):
        if table.empty:
            break
        table = table[table[name] == (table[name].mode().iloc[0] if value is None else value)]
    if table.empty:
        raise ConfigError(
            f"nothing to draw: no row of matrix {matrix or 'any'}, machine {machine or 'any'}"
        )
    return table


def _subject(rows: pd.DataFrame) -> str:
    return (
        f"{rows['machine'].iloc[0]}, {rows['scale'].iloc[0]}"
        if "scale" in rows
        else str(rows["machine"].iloc[0])
    )


def _colours(names: Sequence[str]) -> dict[str, Any]:
    """Colours of protocols; of those that this process has not loaded (C files), those of other values."""
    try:
        looks = looks_of(list(names), True)
    except ConfigError:
        looks = looks_of(list(names), False)
    return {name: look["facecolor"] for name, look in looks.items()}


def heat(tables: Tables, matrix: str | None, machine: str | None) -> Figure:
    """Speedup of every protocol on every workload, by class; what failed or is wrong says so."""
    rows = _chosen(tables.cells, matrix, machine)
    table = tables.heat(rows["matrix"].iloc[0], rows["machine"].iloc[0], int(rows["cores"].min()))
    order = np.log(table).mean(axis=1).sort_values(ascending=False).index
    table = table.loc[order]
    status = rows.drop_duplicates(["protocol", "workload"]).set_index(["protocol", "workload"])[
        "status"
    ]
    named = rows.drop_duplicates("workload").set_index("workload")["class"]
    with mpl.rc_context(style()):
        figure, axes = _new(max(_WIDTH, 1.6 + 0.2 * len(table.columns)), 1.7 + _LINE * len(table))
        values = np.log2(np.clip(table.to_numpy(dtype=float), 1 / _MOST, _MOST))
        limit = np.log2(_MOST)
        axes.grid(visible=False)
        image = axes.imshow(
            values, aspect="auto", cmap="PuOr_r", norm=TwoSlopeNorm(0.0, -limit, limit)
        )
        for y, protocol in enumerate(table.index):
            for x, workload in enumerate(table.columns):
                if np.isnan(values[y, x]):
                    word = str(status.get((protocol, workload), "gap"))
                    axes.text(x, y, word[0].upper(), ha="center", va="center", fontsize=5)
        axes.set_xticks(range(len(table.columns)), list(table.columns), rotation=90, fontsize=6)
        axes.set_yticks(range(len(table)), list(table.index), fontsize=6)
        groups = [named[one] for one in table.columns]
        for place in range(1, len(groups)):
            if groups[place] != groups[place - 1]:
                axes.axvline(place - 0.5, color="black", linewidth=1.0)
        for one in dict.fromkeys(groups):
            places = [place for place, name in enumerate(groups) if name == one]
            axes.annotate(
                one,
                (sum(places) / len(places), -0.5),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=6,
            )
        bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.01)
        ticks = [1 / _MOST, 0.5, 1, 2, _MOST]
        bar.set_ticks([float(np.log2(one)) for one in ticks], labels=[f"{one:g}" for one in ticks])
        bar.set_label(
            f"speedup over {tables.settings.baseline} (F failed, W wrong, G gap)", fontsize=6
        )
        axes.set_title(_subject(rows), pad=16)
        return figure


def speedup(tables: Tables, matrix: str | None, machine: str | None) -> Figure:
    """Mean speedup of every protocol with its interval."""
    rows = _chosen(tables.speedup().dropna(subset=["speedup"]), matrix, machine)
    rows = rows[rows["cores"] == rows["cores"].min()].sort_values("speedup")
    colours = _colours(list(rows["protocol"]))
    with mpl.rc_context(style()):
        figure, axes = _new(_WIDTH / 2, 0.8 + _LINE * len(rows))
        for y, (_, row) in enumerate(rows.iterrows()):
            axes.plot(row["speedup"], y, "o", color=colours[row["protocol"]], markersize=4)
            axes.plot(
                [row["low"], row["high"]], [y, y], color=colours[row["protocol"]], linewidth=1.5
            )
        labels = [
            row["protocol"] + (f" (lacks {row['missing']})" if row["missing"] else "")
            for _, row in rows.iterrows()
        ]
        axes.set_yticks(range(len(rows)), labels, fontsize=6)
        axes.axvline(1.0, color="black", linewidth=0.6)
        axes.set_xlabel(f"speedup over {tables.settings.baseline}, geometric mean")
        axes.set_title(_subject(rows))
        return figure


def regret(tables: Tables, matrix: str | None, machine: str | None) -> Figure:
    """Mean loss against the best protocol, by class: a cell for each protocol."""
    rows = _chosen(tables.regret(), matrix, machine)
    rows = rows[rows["cores"] == rows["cores"].min()]
    table = rows.pivot_table(index="protocol", columns="class", values="mean")
    worst = rows.pivot_table(index="protocol", columns="class", values="worst")
    table = table.loc[table.mean(axis=1).sort_values().index]
    with mpl.rc_context(style()):
        figure, axes = _new(_WIDTH * 0.7, 1.0 + _LINE * len(table))
        axes.grid(visible=False)
        axes.imshow(
            np.clip(table.to_numpy(dtype=float), 0, 1),
            aspect="auto",
            cmap="Oranges",
            vmin=0,
            vmax=1.4,
        )
        for y, protocol in enumerate(table.index):
            for x, one in enumerate(table.columns):
                if table.loc[protocol, one] == table.loc[protocol, one]:
                    text = f"{table.loc[protocol, one]:.0%} ({worst.loc[protocol, one]:.0%})"
                    axes.text(x, y, text, ha="center", va="center", fontsize=6)
        axes.set_xticks(range(len(table.columns)), list(table.columns), fontsize=6)
        axes.set_yticks(range(len(table)), list(table.index), fontsize=6)
        axes.set_title(f"{_subject(rows)}: mean (worst) loss against the best protocol")
        return figure


def scaling(tables: Tables, matrix: str | None, machine: str | None) -> Figure:
    """Mean speedup by number of cores, a line for each protocol."""
    rows = _chosen(tables.scaling(), matrix, machine)
    names = list(dict.fromkeys(rows["protocol"]))
    colours = _colours(names)
    with mpl.rc_context(style()):
        figure, axes = _new(_WIDTH * 0.7, 3.2)
        for place, name in enumerate(names):
            line = rows[rows["protocol"] == name].sort_values("cores")
            axes.plot(
                *(line["cores"], line["speedup"]),
                color=colours[name],
                linestyle=_DASHES[place % len(_DASHES)],
                marker=_MARKERS[place % len(_MARKERS)],
                markersize=3,
                label=name,
            )
        axes.set_xscale("log", base=2)
        axes.set_xticks(
            sorted(set(rows["cores"])), [f"{one:g}" for one in sorted(set(rows["cores"]))]
        )
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("cores")
        axes.set_ylabel(f"speedup over {tables.settings.baseline}")
        axes.set_title(_subject(rows))
        figure.legend(loc="outside right center", fontsize=6)
        return figure


def _stacks(rows: pd.DataFrame, names: Mapping[str, str], label: str) -> Figure:
    kinds = [name for name in names if name in rows and rows[name].abs().max() > 0]
    rows = rows.sort_values("total", ascending=False)
    with mpl.rc_context(style()):
        figure, axes = _new(_WIDTH * 0.7, 1.2 + _LINE * len(rows))
        left = np.zeros(len(rows))
        for kind in kinds:
            values = rows[kind].to_numpy(dtype=float)
            look: dict[str, Any] = {**kind_look(kind)}
            axes.barh(range(len(rows)), values, left=left, label=names[kind], **look)
            left += values
        axes.set_yticks(range(len(rows)), list(rows["protocol"]), fontsize=6)
        axes.axvline(1.0, color="black", linewidth=0.6)
        axes.set_xlabel(label)
        axes.set_title(_subject(rows))
        figure.legend(loc="outside right center", fontsize=6)
        return figure


def traffic(tables: Tables, matrix: str | None, machine: str | None) -> Figure:
    """Flits by message class, relative to the baseline."""
    rows = _chosen(tables.traffic(), matrix, machine)
    rows = rows[rows["cores"] == rows["cores"].min()]
    return _stacks(rows, CLASS_NAMES, f"flits relative to {tables.settings.baseline}")


def energy(tables: Tables, matrix: str | None, machine: str | None) -> Figure:
    """Energy by part, relative to the baseline."""
    rows = _chosen(tables.energy(), matrix, machine)
    rows = rows[rows["cores"] == rows["cores"].min()]
    label = f"energy ({tables.settings.energy}) relative to {tables.settings.baseline}"
    return _stacks(rows, PART_NAMES, label)


def pairs(tables: Tables, matrix: str | None, machine: str | None) -> Figure:
    """The effect of each idea: mean with its interval, and the smallest and largest workload."""
    rows = tables.pairs()
    if len(rows):
        rows = rows.dropna(subset=["effect"])
    rows = _chosen(rows, matrix, machine).iloc[::-1]
    with mpl.rc_context(style()):
        figure, axes = _new(_WIDTH * 0.8, 0.9 + _LINE * len(rows))
        for y, (_, row) in enumerate(rows.iterrows()):
            axes.plot([row["smallest"], row["largest"]], [y, y], color="#8a8a8a", linewidth=0.8)
            axes.plot([row["low"], row["high"]], [y, y], color="#0b3c7d", linewidth=3)
            axes.plot(row["effect"], y, "o", color="#0b3c7d", markersize=4)
        labels = [f"{row['idea']}: {row['what']}" for _, row in rows.iterrows()]
        axes.set_yticks(range(len(rows)), labels, fontsize=6)
        axes.axvline(1.0, color="black", linewidth=0.6)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:.3g}")
        axes.set_xlabel("cycles without the idea / with it")
        axes.set_title(_subject(rows))
        return figure


FIGURES: dict[str, Callable[[Any, str | None, str | None], Figure]] = {
    "heat": heat,
    "speedup": speedup,
    "regret": regret,
    "scaling": scaling,
    "traffic": traffic,
    "energy": energy,
    "pairs": pairs,
}
