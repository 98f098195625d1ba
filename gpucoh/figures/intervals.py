"""A figure of a run over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import nearest
from gpucoh.figures.looks import stall_looks
from gpucoh.results.runs import RunResult
from gpucoh.results.stats import STALL_SUMS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_CAUSES = 5
_PARTS = tuple(f"stalls_{name}_" for name in STALL_SUMS)


def _rate(part: str, whole: str) -> Callable[[pd.DataFrame], Any]:
    return lambda table: table[part] / table[whole].where(table[whole] > 0)


# Names besides the columns -> label and values by interval.
_RATES: dict[str, tuple[str, Callable[[pd.DataFrame], Any]]] = {
    "ipc": ("warp instructions\nper cycle", _rate("instructions", "cycles")),
    "l1_hit_rate": ("L1 load\nhit rate", _rate("l1_load_hits", "l1_loads")),
    "l2_hit_rate": ("L2 load\nhit rate", _rate("l2_load_hits", "l2_loads")),
}
_DEFAULT = ("ipc", "stalls", "l1_hit_rate", "flits")


@door
def plot_intervals(
    result: RunResult,
    y: Sequence[str] = _DEFAULT,
    *,
    width: str | float = "page",
    title: str | None = "auto",
) -> Figure:
    """Draw counters of a run over its core cycles, one chart below the other; dotted lines are begins of launches.

    Parameters
    ----------
    result : RunResult
        A run with ``every``.
    y : sequence of str
        Columns of ``result.intervals``, drawn per core cycle; ``ipc``, ``l1_hit_rate``, ``l2_hit_rate``; or
        ``stalls``, the share of the cores' cycles by cause, stacked.
    width : str or float
        ``"column"`` (3.3 inches), ``"page"`` (7 inches), or inches.
    title : str or None
        The title; ``"auto"`` says what ran, None leaves it out.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ConfigError
        If the run was not recorded, or for an unknown name or a bad width.
    """
    with LATE_IMPORT:
        import matplotlib as mpl

        from gpucoh.base.canvas import Canvas, style
        from gpucoh.figures.chart import Options
        from gpucoh.figures.legends import finish

    table, begins = result.intervals, result.launches["begin"]
    names = [y] if isinstance(y, str) else list(y)
    for name in names:
        if name not in (*_RATES, "stalls", *table.columns):
            known = nearest(name, [*_RATES, "stalls", *table.columns])
            raise ConfigError(f"y: {quoted(name)} is no column of intervals{known}")
    edges = [*table["begin"], int(table["begin"].iloc[-1] + table["cycles"].iloc[-1])]
    with mpl.rc_context(style()):
        options = Options(width=width, heading=title)
        inches = options.inches()
        figure: Figure = Canvas(layout="constrained")
        charts: Any = figure.subplots(len(names), sharex=True, squeeze=False)[:, 0]
        handles: list[Artist] = []
        for name, chart in zip(names, charts, strict=True):
            handles += _draw_one(chart, name, table, edges, len(result.cores))
            for begin in begins if len(begins) <= 100 else ():
                chart.axvline(begin, color="#999999", linewidth=0.5, linestyle=":")
            chart.set_xlim(edges[0], edges[-1])
            chart.set_ylim(bottom=0)
        charts[-1].set_xlabel("core cycle")
        said = options.text(f"{result.workload} under {result.protocol} on {result.machine}")
        extra = finish(figure, handles, said, inches)
        figure.set_size_inches(inches, 0.2 + 1.1 * len(names) + extra)
    return figure


def _draw_one(
    chart: Axes, name: str, table: pd.DataFrame, edges: Sequence[int], cores: int
) -> list[Artist]:
    """Draw a chart; return the legend's entries."""
    if name == "stalls":
        return _draw_stalls(chart, table, edges, cores)
    label, values = _RATES.get(name, (f"{name}\nper cycle", _rate(name, "cycles")))
    chart.stairs(values(table), edges, baseline=None, color="#0b3c7d", linewidth=0.9)
    chart.set_ylabel(label)
    return []


def _draw_stalls(
    chart: Axes, table: pd.DataFrame, edges: Sequence[int], cores: int
) -> list[Artist]:
    """Stack the largest causes, and the others as one; parts of causes are in their sums."""
    with LATE_IMPORT:
        from matplotlib.patches import Patch

    parts = [name for name in table if str(name).startswith("stalls_")]
    parts = [name for name in parts if not str(name).startswith(_PARTS)]
    whole: Any = table["cycles"] * cores
    parts.sort(key=lambda name: -int(table[name].sum()))
    shown = [name for name in parts[:_MOST_CAUSES] if table[name].any()]
    below: Any = 0 * whole
    looks = stall_looks([str(name).removeprefix("stalls_") for name in [*shown, "others"]])
    handles: list[Artist] = []
    for name, (cause, look) in zip([*shown, "others"], looks.items(), strict=True):
        part: Any = table[name] if name != "others" else table[parts[_MOST_CAUSES:]].sum(axis=1)
        above = below + part / whole
        style: Any = look | {"linewidth": 0.0}  # no edges between intervals
        chart.stairs(above, edges, baseline=below, fill=True, **style)
        handles.insert(0, Patch(**{**style, "linewidth": 0.4}, label=cause.replace("_", " ")))
        below = above
    chart.set_ylabel("share of\ncore cycles")
    return handles
