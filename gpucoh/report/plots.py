"""Figures: legible in print without colour, with units and marked wrong answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.patches import Patch

from gpucoh.energy import PARTS
from gpucoh.errors import ConfigError
from gpucoh.files import whole_file
from gpucoh.gpu import resolve
from gpucoh.report.canvas import Figure
from gpucoh.report.subjects import ComparisonLike, RunLike

# Even steps of lightness, with hatches, so that neighbours differ in grey, too.
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
CLASS_NAMES = {
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
PART_NAMES = {
    "noc_dynamic": "network, dynamic",
    "noc_static": "network, static",
    "l1": "L1",
    "l2": "L2",
    "arrays": "directories, buffers",
    "dram": "DRAM",
    "scratchpad": "scratchpad",
    "core": "core",
}
# The first of PART_NAMES, so that a part has the same colour and hatch without those that follow.
ON_CHIP = ("noc_dynamic", "noc_static", "l1", "l2", "arrays")
_PAPERS = (
    "What papers draw: Singh et al. and Ren and Lis draw the network alone,\n"
    "Sinclair et al. dynamic energy without DRAM."
)
FORMATS = ("png", "svg", "pdf")
# One bar of a group: the protocol, its heights by part, whether the answer is wrong.
Stack = tuple[str, Mapping[str, float], bool]


def style(number: int) -> dict[str, object]:
    """Colour and hatch of number ``number``; the first 36 differ."""
    turn, colour = divmod(number, len(_COLOURS))
    return {
        "facecolor": _COLOURS[colour],
        "hatch": _HATCHES[(colour + 2 * turn) % len(_HATCHES)],
        "edgecolor": "white" if number >= len(_COLOURS) and colour == 0 else "black",
        "linewidth": 0.6,
    }


def protocol_styles(protocols: Sequence[str]) -> list[dict[str, object]]:
    """Colours and hatches by the protocols' figure slots; numbered in order if a slot occurs twice."""
    slots = [resolve(name).protocol.figure_slot for name in protocols]
    if len(set(slots)) < len(slots):
        slots = list(range(len(protocols)))
    return [style(slot) for slot in slots]


def save(figure: Figure, directory: str | Path, name: str) -> list[Path]:
    """Write a figure as PNG, SVG and PDF.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    ConfigError
        If the directory is not writable.
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


def _width(groups: int, bars: int) -> float:
    """The width in inches at which labels do not overlap."""
    return min(24.0, max(6.4, 2.4 + groups * max(0.95, 0.24 * bars + 0.3)))


def _new(groups: int, bars: int) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(_width(groups, bars), 4.0), layout="constrained")
    return figure, figure.add_subplot()


def _names_pad(protocols: Sequence[str]) -> float:
    """Points between the bars and the workloads' names: the protocols' names stand upright between them."""
    return 12 + 5.2 * max(len(name) for name in protocols)


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
    """Mark wrong runs with crosses above the bars at (x, height); return the legend entry.

    The bar of a wrong run is cut off far above the ``tallest`` correct one, and its height is printed.
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


def subtitle(comparison: ComparisonLike) -> str:
    """Machine, scale and seed of the runs."""
    first = comparison.runs[0]
    return f"{first.machine}, scale {first.scale}, seed {first.seed}"


def speedup_figure(comparison: ComparisonLike, title: str = "Speedup") -> Figure:
    """Speedup over the baseline: a group of bars per workload and one of the harmonic means.

    Parameters
    ----------
    comparison : ComparisonLike
    title : str
        The title, to which machine, scale and seed are added.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names, protocols = comparison.workloads, comparison.protocols
    heights = {
        (row["workload"], row["protocol"]): row["speedup"] or 0.0 for row in comparison.summary
    }
    means = {row["protocol"]: row["speedup_harmonic"] or 0.0 for row in comparison.mean_rows()}
    figure, axes = _new(len(names) + 1, len(protocols))
    width = 0.8 / len(protocols)
    wrong: list[tuple[float, float]] = []
    tallest = 0.0
    styles = protocol_styles(protocols)
    for number, protocol in enumerate(protocols):
        offset = (number - (len(protocols) - 1) / 2) * width
        values = [heights[name, protocol] for name in names] + [means[protocol]]
        axes.bar(np.arange(len(values)) + offset, values, width, **styles[number])  # type: ignore[arg-type]
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
        f"{title} ({subtitle(comparison)})",
    )
    handles = [
        Patch(**kind, label=protocol)  # type: ignore[arg-type]
        for kind, protocol in zip(styles, protocols, strict=True)
    ]
    _legend(axes, handles + marks)
    return figure


def traffic_figure(
    comparison: ComparisonLike, title: str = "Traffic by message class", mean: bool = False
) -> Figure:
    """Flits by message class, stacked, relative to the baseline's flits; one bar per protocol and workload.

    Parameters
    ----------
    comparison : ComparisonLike
    title : str
        The title, to which machine, scale and seed are added.
    mean : bool
        Add a group of arithmetic means over the workloads.
    """
    return stacked_figure(
        traffic_stacks(comparison, mean),
        CLASS_NAMES,
        f"interconnect traffic relative to {comparison.baseline}\n(ratio of flits, lower is better)",
        f"{title} ({subtitle(comparison)})",
    )


def energy_figure(comparison: ComparisonLike) -> Figure:
    """Energy by part, stacked, relative to the baseline's; one bar per protocol and workload.

    The upper axes have the total. The lower ones have network and caches alone, relative to the baseline's same parts:
    beside cores and DRAM, most of whose energy is time, they could not be seen. The caption says what the papers'
    figures include.

    Returns
    -------
    matplotlib.figure.Figure
    """
    protocols = comparison.protocols
    height = 2 * (3.2 + _names_pad(protocols) / 72)
    figure = Figure(
        figsize=(_width(len(comparison.workloads), len(protocols)), height), layout="constrained"
    )
    above, below = figure.subplots(2, 1)
    handles = stacked_bars(
        above,
        energy_stacks(comparison, tuple(PART_NAMES)),
        PART_NAMES,
        f"energy relative to {comparison.baseline}\n(ratio of joules, lower is better)",
        f"Energy by part ({subtitle(comparison)})",
    )
    stacked_bars(
        below,
        energy_stacks(comparison, ON_CHIP),
        {name: PART_NAMES[name] for name in ON_CHIP},
        f"network and caches, relative to\n{comparison.baseline} (ratio of joules)",
        "Network and on-chip memory system alone",
    )
    _legend(above, handles)
    figure.supxlabel(_PAPERS, fontsize=9)
    return figure


def traffic_stacks(comparison: ComparisonLike, mean: bool = False) -> dict[str, list[Stack]]:
    """Flits by class over the baseline's flits: workload -> bars of the protocols."""
    return _stacks(comparison, lambda run: dict(run.stats.flits_by_class()), mean)


def energy_stacks(
    comparison: ComparisonLike, parts: Sequence[str], mean: bool = False, power: bool = False
) -> dict[str, list[Stack]]:
    """Joules (``power``: watts) by part over the baseline's: workload -> bars of the protocols.

    The part ``arrays`` is the sum of the arrays and parts that a protocol has besides the caches.
    """

    def amounts(run: RunLike) -> dict[str, float]:
        # A run that ended before its first cycle took no time and no energy: no bar.
        time = (run.cycles or 1) if power else 1
        joules: dict[str, float] = dict(run.stats.energy)
        joules["arrays"] = sum(joules[name] for name in joules.keys() - {*PARTS, "total"})
        return {name: joules[name] / time for name in parts}

    return _stacks(comparison, amounts, mean)


def _stacks(
    comparison: ComparisonLike, amounts: Callable[[RunLike], Mapping[str, float]], mean: bool
) -> dict[str, list[Stack]]:
    """Parts of each run over the baseline's total; with ``mean`` a group of arithmetic means of correct runs."""
    out: dict[str, list[Stack]] = {}
    sums: dict[str, list[Mapping[str, float]]] = {name: [] for name in comparison.protocols}
    for name in comparison.workloads:
        base = comparison.run(name, comparison.baseline)
        total = sum(amounts(base).values()) or 1
        out[name] = []
        for protocol in comparison.protocols:
            run = comparison.run(name, protocol)
            parts = {kind: value / total for kind, value in amounts(run).items()}
            out[name].append((protocol, parts, run.correct is False))
            if run.correct is not False and base.correct is not False:
                sums[protocol].append(parts)
    if mean:
        out["mean"] = [(name, _mean_parts(parts), False) for name, parts in sums.items()]
    return out


def _mean_parts(stacks: Sequence[Mapping[str, float]]) -> dict[str, float]:
    kinds = dict.fromkeys(kind for stack in stacks for kind in stack)
    return {kind: sum(stack.get(kind, 0) for stack in stacks) / len(stacks) for kind in kinds}


def stacked_figure(
    groups: Mapping[str, Sequence[Stack]], texts: Mapping[str, str], label: str, title: str
) -> Figure:
    """A figure of :func:`stacked_bars` with its legend."""
    bars = max(len(stacks) for stacks in groups.values())
    figure, axes = _new(len(groups), bars)
    handles = stacked_bars(axes, groups, texts, label, title)
    _legend(axes, handles)
    return figure


def stacked_bars(
    axes: Axes,
    groups: Mapping[str, Sequence[Stack]],
    texts: Mapping[str, str],
    label: str,
    title: str,
) -> list[Patch]:
    """Draw stacked bars in groups, with the protocols' names below the bars.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    groups : mapping
        Name -> its bars: protocol, heights by part, whether the answer is wrong.
    texts : mapping
        Part -> legend text; parts are stacked in this order.
    label, title : str
        Text beside and above the axes.

    Returns
    -------
    list of Patch
        Legend entries, topmost part first.
    """
    wrong: list[tuple[float, float]] = []
    tallest = 0.0
    ticks: list[tuple[float, str]] = []
    for place, stacks in enumerate(groups.values()):
        width = 0.8 / len(stacks)
        for number, (protocol, parts, is_wrong) in enumerate(stacks):
            x = place + (number - (len(stacks) - 1) / 2) * width
            top = _stack(axes, x, width, parts, texts)
            ticks.append((x, protocol))
            if is_wrong:
                wrong.append((x, top))
            else:
                tallest = max(tallest, top)
    marks = _mark_wrong(axes, wrong, tallest)
    _finish(axes, list(groups), label, title)
    axes.tick_params(axis="x", length=0, pad=_names_pad([protocol for _, protocol in ticks]))
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
    present = {
        kind
        for stacks in groups.values()
        for _, parts, _ in stacks
        for kind in parts
        if parts[kind]
    }
    handles = [
        Patch(**style(number), label=text)  # type: ignore[arg-type]
        for number, (kind, text) in enumerate(texts.items())
        if kind in present
    ]
    return handles[::-1] + marks


def _stack(
    axes: Axes, x: float, width: float, values: Mapping[str, float], kinds: Iterable[str]
) -> float:
    """Draw one stacked bar and return its height."""
    bottom = 0.0
    for number, kind in enumerate(kinds):
        height = values.get(kind, 0)
        if height:
            bars: BarContainer = axes.bar(x, height, width * 0.92, bottom=bottom, **style(number))  # type: ignore[arg-type]
            bars[0].set_label(kind)
        bottom += height
    return bottom
