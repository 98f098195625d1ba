"""Figures: legible in print without colour, with units, wrong answers marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from gpucoh.errors import ConfigError
from gpucoh.files import whole_file

if TYPE_CHECKING:
    from gpucoh.comparison import Comparison

# Even steps of lightness, with hatches beside them, so that neighbours differ in grey, too.
_COLOURS = (
    "#222222",
    "#d9d9d9",
    "#0072b2",
    "#f0e442",
    "#a6611a",
    "#9ad0f3",
    "#5e3c99",
    "#e69f00",
    "#1b7837",
)
_HATCHES = ("", "", "///", "...", "\\\\\\", "xxx", "---", "ooo", "++")
_CLASS_NAMES = {
    "REQ": "requests",
    "LD": "load data",
    "ST": "stores",
    "ATO": "atomics",
    "INV": "invalidations",
    "RCL": "recalls",
    "REG": "registrations",
    "WB": "write-backs",
    "EPOCH": "epoch changes",
}
_PART_NAMES = {
    "noc_dynamic": "network, dynamic",
    "noc_static": "network, static",
    "l1": "L1",
    "l2": "L2",
    "dram": "DRAM",
    "scratchpad": "scratchpad",
    "core": "core",
}
FORMATS = ("png", "svg", "pdf")


def style(number: int) -> dict[str, object]:
    """Colour and hatch of the n-th thing drawn."""
    return {
        "facecolor": _COLOURS[number % len(_COLOURS)],
        "hatch": _HATCHES[number % len(_HATCHES)],
        "edgecolor": "black",
        "linewidth": 0.6,
    }


def save(figure: Figure, directory: str | Path, name: str) -> list[Path]:
    """Write a figure as PNG, SVG and PDF.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    ConfigError
        If the directory cannot be written to.
    """
    folder = Path(directory)
    paths = [folder / f"{name}.{suffix}" for suffix in FORMATS]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"figures cannot be written to {folder}: {error.strerror or error}"
        ) from None
    for path in paths:
        with whole_file(path) as part:
            figure.savefig(part, dpi=150)
    return paths


def _new(groups: int, bars: int) -> tuple[Figure, Axes]:
    """A figure wide enough that no label touches its neighbour."""
    width = min(24.0, max(6.4, 2.4 + groups * max(0.95, 0.24 * bars + 0.3)))
    figure = Figure(figsize=(width, 4.0), layout="constrained")
    return figure, figure.add_subplot()


def _finish(axes: Axes, names: Sequence[str], label: str, title: str) -> None:
    axes.set_xticks(
        np.arange(len(names)),
        names,
        rotation=0 if len(names) <= 8 else 45,
        ha="center" if len(names) <= 8 else "right",
    )
    axes.set_ylabel(label)
    axes.set_title(title, fontsize=10)
    axes.axhline(1.0, color="black", linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.02)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.06)


def _legend(axes: Axes, handles: list[Patch]) -> None:
    axes.figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9)


def _mark_wrong(axes: Axes, wrong: Sequence[tuple[float, float]], tallest: float) -> list[Patch]:
    """Crosses above the bars, (x, height), of runs whose answers are wrong; what the legend says of them.

    A wrong run may take any time: bars far above the ``tallest`` right one are cut off there and their height is told.
    """
    limit = 1.25 * max(tallest, 1.0)
    if any(height > limit for _, height in wrong):
        axes.set_ylim(0, limit)
    for x, height in wrong:
        cut = height > limit
        axes.annotate(
            f"{height:.3g}\n\N{MULTIPLICATION X}" if cut else "\N{MULTIPLICATION X}",
            (x, limit if cut else height),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            va="top" if cut else "bottom",
            fontsize=8 if cut else 9,
            color="#c00000",
            fontfamily="DejaVu Sans",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0} if cut else None,
        )
    text = "\N{MULTIPLICATION X} wrong answer"
    return [Patch(facecolor="none", edgecolor="none", label=text)] if wrong else []


def _subtitle(comparison: Comparison) -> str:
    first = comparison.runs[0]
    return f"{first.machine}, scale {first.scale}, seed {first.seed}"


def speedup_figure(comparison: Comparison) -> Figure:
    """Speedup over the baseline, a group of bars a workload and one of the harmonic means.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    matplotlib.figure.Figure
    """
    names, protocols = comparison.workloads, comparison.protocols
    heights = {
        (row["workload"], row["protocol"]): row["speedup"] or 0.0 for row in comparison.summary
    }
    means = {row["protocol"]: row["speedup_harmonic"] or 0.0 for row in comparison.means()}
    figure, axes = _new(len(names) + 1, len(protocols))
    width = 0.8 / len(protocols)
    wrong: list[tuple[float, float]] = []
    tallest = 0.0
    for number, protocol in enumerate(protocols):
        offset = (number - (len(protocols) - 1) / 2) * width
        values = [heights[name, protocol] for name in names] + [means[protocol]]
        axes.bar(np.arange(len(values)) + offset, values, width, **style(number))  # type: ignore[arg-type]
        for place, name in enumerate(names):
            if comparison.run(name, protocol).correct is False:
                wrong.append((place + offset, values[place]))
            else:
                tallest = max(tallest, values[place])
    marks = _mark_wrong(axes, wrong, tallest)
    _finish(
        axes,
        [*names, "harmonic\nmean"],
        f"speedup over {comparison.baseline}\n(ratio of core cycles, higher is better)",
        f"Speedup ({_subtitle(comparison)})",
    )
    handles = [Patch(**style(number), label=protocol) for number, protocol in enumerate(protocols)]  # type: ignore[arg-type]
    _legend(axes, handles + marks)
    return figure


def traffic_figure(comparison: Comparison) -> Figure:
    """Flits by message class, stacked, relative to the baseline's flits; one bar a protocol and workload.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    matplotlib.figure.Figure
    """
    parts = {id(run): run.stats.flits_by_class() for run in comparison.runs}
    return _stacked(
        comparison,
        {key: dict(value) for key, value in parts.items()},
        _CLASS_NAMES,
        f"interconnect traffic relative to {comparison.baseline}\n(ratio of flits, lower is better)",
        f"Traffic by message class ({_subtitle(comparison)})",
    )


def energy_figure(comparison: Comparison, parts: Sequence[str] = tuple(_PART_NAMES)) -> Figure:
    """Energy by part, stacked, relative to the baseline's; one bar a protocol and workload.

    Parameters
    ----------
    comparison : Comparison
    parts : sequence of str
        Which parts: ``("noc_dynamic", "noc_static")`` draws the network's energy.

    Returns
    -------
    matplotlib.figure.Figure
    """
    joules = {
        id(run): {name: float(run.stats.energy[name]) for name in parts} for run in comparison.runs
    }
    what = "network energy" if all(name.startswith("noc_") for name in parts) else "energy"
    return _stacked(
        comparison,
        joules,
        {name: _PART_NAMES[name] for name in parts},
        f"{what} relative to {comparison.baseline}\n(ratio of joules, lower is better)",
        f"Energy by part ({_subtitle(comparison)})",
    )


def _stacked(
    comparison: Comparison,
    parts: Mapping[int, Mapping[str, float]],
    texts: Mapping[str, str],
    label: str,
    title: str,
) -> Figure:
    """Stacked bars of each run's parts, over the baseline's total; protocols are named under the bars."""
    names, protocols = comparison.workloads, comparison.protocols
    kinds = [kind for kind in texts if any(values.get(kind) for values in parts.values())]
    figure, axes = _new(len(names), len(protocols))
    width = 0.8 / len(protocols)
    wrong: list[tuple[float, float]] = []
    tallest = 0.0
    ticks: list[tuple[float, str]] = []
    for place, name in enumerate(names):
        total = sum(parts[id(comparison.run(name, comparison.baseline))].values()) or 1
        for number, protocol in enumerate(protocols):
            run = comparison.run(name, protocol)
            x = place + (number - (len(protocols) - 1) / 2) * width
            top = _stack(axes, x, width, parts[id(run)], texts, total)
            ticks.append((x, protocol))
            if run.correct is False:
                wrong.append((x, top))
            else:
                tallest = max(tallest, top)
    marks = _mark_wrong(axes, wrong, tallest)
    _finish(axes, names, label, title)
    axes.tick_params(
        axis="x", length=0, pad=12 + 5.2 * max(len(protocol) for protocol in protocols)
    )
    for x, protocol in ticks:
        axes.annotate(
            protocol,
            (x, 0),
            xycoords=("data", "axes fraction"),
            xytext=(0, -4),
            textcoords="offset points",
            ha="center",
            va="top",
            rotation=90,
            fontsize=8,
        )
    handles = [
        Patch(**style(list(texts).index(kind)), label=texts[kind])  # type: ignore[arg-type]
        for kind in kinds
    ]
    _legend(axes, handles[::-1] + marks)
    return figure


def _stack(
    axes: Axes,
    x: float,
    width: float,
    values: Mapping[str, float],
    kinds: Iterable[str],
    total: float,
) -> float:
    """One stacked bar; its height."""
    bottom = 0.0
    for number, kind in enumerate(kinds):
        height = values.get(kind, 0) / total
        if height:
            bars: BarContainer = axes.bar(x, height, width * 0.92, bottom=bottom, **style(number))  # type: ignore[arg-type]
            bars[0].set_label(kind)
        bottom += height
    return bottom
