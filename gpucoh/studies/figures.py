"""The figures of a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from gpucoh.base.canvas import Canvas, style
from gpucoh.base.errors import ConfigError
from gpucoh.figures.looks import CLASS_NAMES, PART_NAMES, kind_look, looks_of

if TYPE_CHECKING:
    import pandas as pd

# gpucoh.studies.tabulation.Tables, which imports this module.
Tables: TypeAlias = Any

_WIDTH = 7.0  # inches
_LINE = 0.16  # inches of a row of text
_MOST = 4.0  # speedups beyond have the colour of this one
_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
_MARKERS = "osD^vPX*"
_COLOUR = "#0b3c7d"  # of means whose row has a name
# A cell without a speedup, by its status; of others the run failed.
_LETTERS = {"wrong": "W", "gap": "G", "correct": "N", "unchecked": "N"}
# Ticks of an axis of ratios: the first of these of which at least four are in view, of the first five.
_TICKS = (
    (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0),
    (0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0),
    *(tuple(number / parts for number in range(1, 4 * parts)) for parts in (5, 10, 20, 50)),
)


def _new(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Canvas(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.set_ylim(-0.7, len(names) - 0.3)


def _dots(axes: Axes, rows: pd.DataFrame, name: str, width: float) -> None:
    """Draw a mean in each row, with its interval."""
    for y, row in enumerate(rows.to_dict("records")):
        axes.plot([row["low"], row["high"]], [y, y], color=_COLOUR, linewidth=width)
        axes.plot(row[name], y, "o", color=_COLOUR, markersize=4)


def _name_cells(axes: Axes, table: pd.DataFrame, rotation: float = 0) -> None:
    axes.grid(visible=False)
    axes.set_xticks(range(len(table.columns)), list(table.columns), rotation=rotation, fontsize=6)
    axes.set_yticks(range(len(table)), list(table.index), fontsize=6)


def _lacking(names: pd.Series[str], missing: pd.Series[int]) -> list[str]:
    """Names, with the number of workloads that a mean lacks."""
    return [
        name + (f" (lacks {number})" if number else "")
        for name, number in zip(names, missing, strict=True)
    ]


def _ratio_axis(axes: Axes, which: str) -> None:
    """Make a drawn axis logarithmic, with round numbers at its ticks."""
    getattr(axes, f"set_{which}scale")("log", base=2)
    low, high = getattr(axes, f"get_{which}lim")()
    for ticks in _TICKS:
        seen = [one for one in ticks if low <= one <= high]
        if len(seen) >= (5 if ticks is _TICKS[0] else 4):
            break
    axis = getattr(axes, f"{which}axis")
    axis.set_ticks(seen, labels=[f"{one:g}" for one in seen])
    axis.set_minor_locator(NullLocator())


def _chosen(
    table: pd.DataFrame, matrix: str | None, machine: str | None, *, sizes: bool = False
) -> pd.DataFrame:
    """The rows of one matrix and machine, by default of those that have most rows; with the fewest cores, or ``sizes``.

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
    return table if sizes else table[table["cores"] == table["cores"].min()]


def _subject(rows: pd.DataFrame) -> str:
    parts = [str(rows["machine"].iloc[0])]
    if rows["cores"].nunique() == 1:
        parts.append(f"{rows['cores'].iloc[0]:g} cores")
    if "scale" in rows:
        parts.append(f"scale {rows['scale'].iloc[0]}")
    return ", ".join(parts)


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
    table = tables.heat(rows["matrix"].iloc[0], rows["machine"].iloc[0], int(rows["cores"].iloc[0]))
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
        image = axes.imshow(
            values, aspect="auto", cmap="PuOr_r", norm=TwoSlopeNorm(0.0, -limit, limit)
        )
        for y, protocol in enumerate(table.index):
            for x, workload in enumerate(table.columns):
                if np.isnan(values[y, x]):
                    word = str(status.get((protocol, workload), "gap"))
                    letter = _LETTERS.get(word, "F")
                    axes.text(x, y, letter, ha="center", va="center", fontsize=5)
        _name_cells(axes, table, 90)
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
        labels = [f"{one:g}" for one in ticks]
        labels[0], labels[-1] = f"\u2264 {labels[0]}", f"\u2265 {labels[-1]}"
        bar.set_ticks([float(np.log2(one)) for one in ticks], labels=labels)
        bar.set_label(
            f"speedup over {tables.settings.baseline} (F failed, W wrong, G gap, N no baseline)",
            fontsize=6,
        )
        axes.set_title(_subject(rows), pad=16)
        return figure


def speedup(tables: Tables, matrix: str | None, machine: str | None) -> Figure:
    """Mean speedup of every protocol with its interval."""
    rows = _chosen(tables.speedup().dropna(subset=["speedup"]), matrix, machine)
    rows = rows.sort_values("speedup")
    with mpl.rc_context(style()):
        figure, axes = _new(_WIDTH / 2, 0.8 + _LINE * len(rows))
        _dots(axes, rows, "speedup", 1.5)
        _name_rows(axes, _lacking(rows["protocol"], rows["missing"]))
        axes.axvline(1.0, color="black", linewidth=0.6)
        axes.set_xlabel(f"speedup over {tables.settings.baseline}, geometric mean")
        axes.set_title(_subject(rows))
        return figure


def regret(tables: Tables, matrix: str | None, machine: str | None) -> Figure:
    """Mean loss against the best protocol, by class: a cell for each protocol."""
    rows = _chosen(tables.regret(), matrix, machine)
    table, worst, missing = (
        rows.pivot_table(index="protocol", columns="class", values=name)
        for name in ("mean", "worst", "missing")
    )
    table = table.loc[table.mean(axis=1).sort_values().index]
    with mpl.rc_context(style()):
        figure, axes = _new(_WIDTH * 0.7, 1.0 + _LINE * len(table))
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
                    lacks = int(missing.loc[protocol, one])
                    text += f" [{lacks}]" if lacks else ""
                    axes.text(x, y, text, ha="center", va="center", fontsize=6)
        _name_cells(axes, table)
        axes.set_title(f"{_subject(rows)}: mean (worst) loss [workloads that failed]")
        return figure


def scaling(tables: Tables, matrix: str | None, machine: str | None) -> Figure:
    """Mean speedup by number of cores, a line for each protocol."""
    rows = _chosen(tables.scaling(), matrix, machine, sizes=True)
    # The legend has the order of the lines' ends.
    names = list(rows.sort_values(["cores", "speedup"], ascending=False)["protocol"].unique())
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
        _ratio_axis(axes, "y")
        axes.set_xlabel("cores")
        axes.set_ylabel(f"speedup over {tables.settings.baseline}")
        axes.set_title(f"{_subject(rows)}, {rows['workloads'].max()} workloads")
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
        _name_rows(axes, _lacking(rows["protocol"], rows["workloads"].max() - rows["workloads"]))
        axes.axvline(1.0, color="black", linewidth=0.6)
        axes.set_xlim(0, 1.03 * max(1.0, left.max()))
        axes.set_xlabel(label)
        axes.set_title(_subject(rows))
        figure.legend(loc="outside right center", fontsize=6)
        return figure


def traffic(tables: Tables, matrix: str | None, machine: str | None) -> Figure:
    """Flits by message class, relative to the baseline."""
    rows = _chosen(tables.traffic(), matrix, machine)
    return _stacks(rows, CLASS_NAMES, f"flits relative to {tables.settings.baseline}")


def energy(tables: Tables, matrix: str | None, machine: str | None) -> Figure:
    """Energy by part, relative to the baseline."""
    rows = _chosen(tables.energy(), matrix, machine)
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
        for y, ends in enumerate(zip(rows["smallest"], rows["largest"], strict=True)):
            axes.plot(ends, [y, y], color="#8a8a8a", linewidth=0.8)
        _dots(axes, rows, "effect", 3)
        _name_rows(axes, [": ".join(both) for both in zip(rows["idea"], rows["what"], strict=True)])
        axes.axvline(1.0, color="black", linewidth=0.6)
        _ratio_axis(axes, "x")
        axes.set_xlabel(
            "cycles without the idea / with it: mean,\ninterval over workloads (thick),\n"
            "smallest to largest workload (thin)"
        )
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
