"""Figures of any table of runs: bars of a column, lines over numbers, stalls by cause, latencies.

The functions take a table (of a sweep, a comparison, ``result.table``, or any DataFrame), a comparison, a run, or a
list of runs. They share the arguments of ``Comparison.plot_speedup``; text has the family and size of Matplotlib's
``rcParams``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import nearest, unknown
from gpucoh.figures.looks import looks_of, proper_name, stall_looks
from gpucoh.results.matrix import Matrix
from gpucoh.results.runs import RunResult, table_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Data = pd.DataFrame | Matrix | RunResult | Iterable[RunResult]

__all__ = ["bars", "latency", "lines", "stalls"]

_PROTOCOLS = ("protocol", "protocol_id")
_MOST_CAUSES = 7  # beside "others"


@door
def bars(
    data: Data,
    x: str,
    y: str,
    by: str | None = None,
    *,
    ax: Axes | None = None,
    width: str | float = "page",
    title: str | None = "auto",
    order: Sequence[Any] | None = None,
    labels: Mapping[Any, str] | None = None,
    legend: str | None = "auto",
) -> Figure:
    """Draw bars of a column: a group for each value of ``x``, and in it a bar for each value of ``by``.

    A bar over several rows (seeds) is their mean, with whiskers from the smallest to the largest; one over a run with a
    wrong result is crossed out.

    Parameters
    ----------
    data : DataFrame, Comparison, RunResult or list of RunResult
    x, y, by : str
        Columns; ``y`` has numbers.
    ax : matplotlib.axes.Axes, optional
        Axes to draw in; by default a figure is made.
    width : str or float
        ``"column"`` (3.3 inches), ``"page"`` (7 inches), or inches.
    title : str or None
        The title; ``"auto"`` names the columns, None leaves it out.
    order : sequence, optional
        The values of ``by`` to draw, in this order. Default: all.
    labels : dict, optional
        Value of ``x`` or ``by`` -> name in the figure; ``y`` -> text beside the axis.
    legend : {"auto", "outside", "inside", "none"} or None
        Below the bars, or beside the user's axes; inside; or none, with the names of ``by`` below the bars.
        ``"auto"``: outside, but inside the user's axes.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ConfigError
        For an unknown column, one without numbers, no rows, or a bad choice.

    Examples
    --------
    >>> import gpucoh
    >>> runs = gpucoh.grid(workload="vec-cpy", protocol="mesi", scale="tiny", set={"cores": [4, 8]})
    >>> figure = gpucoh.plot.bars(gpucoh.sweep(runs), "set_cores", "cycles")
    """
    table = _table(data)
    _check_columns(table, x, y, *([by] if by is not None else []))
    stacks = [{"": value} for value in _numbers(table, y)]
    look = _Look(labels, order, ax=ax, width=width, heading=title, legend=legend)
    return look.draw(table, x, by, stacks, {}, look.labels.get(y, y), _automatic(x, y, by))


@door
def lines(
    data: Data,
    x: str,
    y: str,
    by: str | None = None,
    *,
    ax: Axes | None = None,
    width: str | float = "column",
    title: str | None = "auto",
    order: Sequence[Any] | None = None,
    labels: Mapping[Any, str] | None = None,
    legend: str | None = "auto",
) -> Figure:
    """Draw a column over a column of numbers, such as the cores: a line for each value of ``by``.

    A point over several rows (seeds) is their mean, with whiskers from the smallest to the largest; one over a run with
    a wrong result is crossed out. The x axis is logarithmic where its three or more numbers span a factor of 8.

    Parameters
    ----------
    x, y : str
        Columns of numbers; a row without one of them is left out.
    data, by, ax, width, title, order, labels, legend
        As for :func:`bars`; ``labels`` also names ``x``.

    Examples
    --------
    >>> import gpucoh
    >>> runs = gpucoh.grid(workload="vec-cpy", protocol="mesi", scale="tiny", set={"cores": [2, 4, 8]})
    >>> figure = gpucoh.plot.lines(gpucoh.sweep(runs), "set_cores", "cycles")
    """
    table = _table(data)
    _check_columns(table, x, y, *([by] if by is not None else []))
    look = _Look(labels, order, ax=ax, width=width, heading=title, legend=legend)
    return look.draw_curves(table, x, y, by)


@door
def stalls(
    data: Data,
    x: str = "workload",
    by: str = "protocol",
    *,
    baseline: str | None = None,
    ax: Axes | None = None,
    width: str | float = "page",
    title: str | None = "auto",
    order: Sequence[Any] | None = None,
    labels: Mapping[Any, str] | None = None,
    legend: str | None = "auto",
) -> Figure:
    """Draw stacked bars of the cores' cycles without an issued instruction, by cause.

    The largest causes have their own parts. ``issue``, the cycles that issued, is the lowest part if the table has
    it: that of a run, a comparison, or a sweep with ``counters="all"``.

    Parameters
    ----------
    baseline : str, optional
        Value of ``by`` to whose cycles the bars are relative, for each ``x``. Default: that of a comparison, else
        none.
    data, x, by, ax, width, title, order, labels, legend
        As for :func:`bars`.
    """
    table = _table(data)
    _check_columns(table, x, by, "stalls_scoreboard")
    parts = _causes(table)
    stacks: list[dict[str, float]] = [
        dict(zip(parts, values, strict=True))
        for values in zip(*(_numbers(table, column) for column in parts.values()), strict=True)
    ]
    label = "core cycles"
    if baseline is None and isinstance(data, Matrix) and by == "protocol":
        baseline = data.baseline
    if baseline is not None:
        stacks = _relative(table, stacks, x, by, baseline)
        known = {_text(key): text for key, text in (labels or {}).items()}
        name = proper_name(baseline, known) if by in _PROTOCOLS else known.get(baseline, baseline)
        label = f"core cycles relative to {name}"
    shown = sorted(parts, key=lambda part: -sum(stack[part] for stack in stacks))[:_MOST_CAUSES]
    kinds = [part for part in parts if part in shown]
    merged = [_merged(stack, kinds) for stack in stacks]
    named = {part: part.replace("_", " ") for part in [*kinds, "others"]}
    look = _Look(labels, order, ax=ax, width=width, heading=title, legend=legend)
    return look.draw(table, x, by, merged, named, label, "Cycles of the cores by cause")


@door
def latency(
    data: Data,
    kind: str = "load",
    by: str = "protocol",
    *,
    ax: Axes | None = None,
    width: str | float = "column",
    title: str | None = "auto",
    order: Sequence[Any] | None = None,
    labels: Mapping[Any, str] | None = None,
    legend: str | None = "auto",
) -> Figure:
    """Draw the share of warp instructions that end within a latency, a line for each value of ``by``.

    Parameters
    ----------
    kind : {"load", "store", "atomic"}
        The instructions.
    data, by, ax, width, title, order, labels, legend
        As for :func:`bars`; a table of a sweep needs ``counters="all"``. Rows with one value of ``by`` are added.
    """
    if kind not in ("load", "store", "atomic"):
        raise ConfigError(unknown("kind", kind, ("load", "store", "atomic")))
    table = _table(data)
    column = f"histograms_core_{kind}_latency"
    if column not in table:
        raise ConfigError(
            f"no column {quoted(column)}: a sweep and a comparison have it with counters='all'"
        )
    _check_columns(table, by)
    look = _Look(labels, order, ax=ax, width=width, heading=title, legend=legend)
    lines: dict[str, list[int]] = {}
    for value, counts in zip(table[by], table[column], strict=True):
        line = lines.setdefault(_text(value), [])
        line += [0] * (len(counts) - len(line))
        for place, count in enumerate(counts):
            line[place] += count
    chosen = {name: lines[name] for name in look.ordered(list(lines)) if any(lines[name])}
    if not chosen:
        raise ConfigError(f"no run has a {kind} instruction")
    return look.draw_shares(table, by, chosen, kind)


def _automatic(x: str, y: str, by: str | None) -> str:
    return f"{y} by {x}" + (f" and {by}" if by else "")


class _Look:
    """What the user chooses about a figure of a table."""

    def __init__(
        self, labels: Mapping[Any, str] | None, order: Sequence[Any] | None, **chosen: Any
    ) -> None:
        with LATE_IMPORT:
            from gpucoh.figures.chart import Options

        self.labels = {_text(name): text for name, text in (labels or {}).items()}
        self.order = None if order is None else [_text(name) for name in order]
        self.options = Options(**chosen)

    def ordered(self, values: Sequence[str]) -> list[str]:
        """The values to draw, in order."""
        for name in self.order or ():
            if name not in values:
                raise ConfigError(
                    f"order: {quoted(name)} is not in the table{nearest(name, values)}"
                )
        return list(values) if self.order is None else list(dict.fromkeys(self.order))

    def names(self, table: pd.DataFrame, by: str | None, values: Sequence[str]) -> dict[str, str]:
        """Values of ``by`` -> names in the figure; those of protocols say memory models that differ."""
        if by not in _PROTOCOLS:
            return {value: self.labels.get(value, value) for value in values}
        models: dict[str, set[str]] = {}
        for value, model in zip(table[by], table.get("model", ()), strict=False):
            models.setdefault(value, set()).add(model)
        differ = len(set().union(*(models.get(value, set()) for value in values))) > 1
        said = {
            value: f" ({'/'.join(sorted(models[value]))})" if differ else "" for value in values
        }
        return {value: self.labels.get(value, proper_name(value) + said[value]) for value in values}

    def draw(
        self,
        table: pd.DataFrame,
        x: str,
        by: str | None,
        stacks: Sequence[Mapping[str, float]],
        parts: Mapping[str, str],
        label: str,
        title: str,
    ) -> Figure:
        """Draw a stack for each row, or the mean of the rows with the same ``x`` and ``by``."""
        with LATE_IMPORT:
            from gpucoh.figures import charts, plots
            from gpucoh.figures.chart import Chart

        values = self.ordered(list(dict.fromkeys(map(_text, table[by])))) if by else [""]
        rows: dict[tuple[str, str], list[tuple[Mapping[str, float], bool]]] = {}
        wrong = list(table["correct"].eq(False)) if "correct" in table else [False] * len(table)
        bys = list(map(_text, table[by])) if by else [""] * len(table)
        for at, one, stack, bad in zip(map(_text, table[x]), bys, stacks, wrong, strict=True):
            rows.setdefault((at, one), []).append((stack, bool(bad)))
        groups = {
            at: [
                plots.bar_of(one, [stack for stack, _ in found], wrong=any(bad for _, bad in found))
                for one in values
                if (found := rows.get((at, one)))
            ]
            for at in dict.fromkeys(map(_text, table[x]))
        }
        names = self.names(table, by, values)
        own = looks_of(values, by in _PROTOCOLS)
        options = replace(self.options, labels=self.labels | names)
        keyed = not parts and (by is None or options.place != "none")
        chart = Chart(
            groups={at: found for at, found in groups.items() if found},
            looks=stall_looks(list(parts)) if parts else own,
            names=parts,
            label=label,
            line=None,
            spread="smallest to largest",
            keys=({} if by is None else names) if keyed else None,
        )
        return charts.draw([chart], options, title)

    def draw_curves(self, table: pd.DataFrame, x: str, y: str, by: str | None) -> Figure:
        """Draw the mean of the rows with the same number and ``by``."""
        with LATE_IMPORT:
            from gpucoh.figures.lines import Curve, draw_curves

        wrong = table["correct"].eq(False) if "correct" in table else [False] * len(table)
        bys = map(_text, table[by]) if by else [""] * len(table)
        rows = [
            row
            for row in zip(bys, *(_floats(table, name) for name in (x, y)), wrong, strict=True)
            if row[1] == row[1] and row[2] == row[2]
        ]
        values = self.ordered(list(dict.fromkeys(row[0] for row in rows)))
        if not values:
            raise ConfigError(f"no row has a number of both {x} and {y}")
        names, looks = self.names(table, by, values), looks_of(values, by in _PROTOCOLS)
        curves = []
        for value in values:
            own = [row[1:] for row in rows if row[0] == value]
            curves.append(
                Curve(
                    name=names[value] if by else "",
                    values={at: [above for x, above, _ in own if x == at] for at, _, _ in own},
                    wrong=frozenset(at for at, _, bad in own if bad),
                    colour=str(looks[value]["facecolor"]),
                )
            )
        text, beside = (self.labels.get(name, name) for name in (x, y))
        return draw_curves(curves, text, beside, _automatic(x, y, by), self.options)

    def draw_shares(
        self, table: pd.DataFrame, by: str, lines: Mapping[str, Sequence[int]], kind: str
    ) -> Figure:
        """Draw cumulative shares of histograms whose element i counts the values below 2**i."""
        with LATE_IMPORT:
            from gpucoh.figures.lines import Curve, draw_curves

        names, looks = self.names(table, by, list(lines)), looks_of(list(lines), by in _PROTOCOLS)
        first = min(place for counts in lines.values() for place, n in enumerate(counts) if n)
        places = range(max(first - 1, 0), max(map(len, lines.values())))
        curves = [
            Curve(
                name=names[key],
                values={2**at: [sum(counts[: at + 1]) / sum(counts)] for at in places},
                colour=str(looks[key]["facecolor"]),
            )
            for key, counts in lines.items()
        ]
        texts = f"{kind} latency (core cycles)", "share of instructions"
        title = f"{kind} latency".capitalize()
        return draw_curves(curves, *texts, title, self.options, steps=True)


def _text(value: object) -> str:
    """A value of a column as figures name it: a whole number without a fraction."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _table(data: Data) -> pd.DataFrame:
    """The table of what the user gives, with every statistic.

    Raises
    ------
    ConfigError
        If it is none, or empty.
    """
    with LATE_IMPORT:
        import pandas as pd

    if isinstance(data, Matrix):
        found = data.with_counters("all").table
    elif isinstance(data, pd.DataFrame):
        found = data
    else:
        runs = [data] if isinstance(data, RunResult) else data
        listed = list(runs) if isinstance(runs, Iterable) else []
        if not listed or not all(isinstance(run, RunResult) for run in listed):
            raise ConfigError(
                f"{quoted(data)} is not a table, a comparison, a run or a list of runs"
            )
        found = table_of(listed, "all")
    if found.empty:
        raise ConfigError("the table has no rows")
    return found


def _check_columns(table: pd.DataFrame, *names: str) -> None:
    for name in names:
        if name not in table:
            raise ConfigError(
                f"the table has no column {quoted(name)}{nearest(name, map(str, table))}"
            )


def _numbers(table: pd.DataFrame, name: str) -> list[float]:
    """A column's numbers; 0 where a row has none."""
    return [0.0 if value != value else value for value in _floats(table, name)]


def _floats(table: pd.DataFrame, name: str) -> list[float]:
    """A column's numbers; NaN where a row has none."""
    try:
        return [float(value) for value in table[name].astype(float)]
    except (TypeError, ValueError):
        raise ConfigError(f"column {quoted(name)} does not hold numbers") from None


def _causes(table: pd.DataFrame) -> dict[str, str]:
    """Cause -> column, without the parts of causes that have a column of their own (``memory_order_load``)."""
    every = [str(name).removeprefix("stalls_") for name in table if str(name).startswith("stalls_")]
    whole = [name for name in every if not any(name.startswith(f"{other}_") for other in every)]
    issue = {"issue": "core_issue_cycles"} if "core_issue_cycles" in table else {}
    return issue | {name: f"stalls_{name}" for name in whole}


def _merged(stack: Mapping[str, float], kinds: Sequence[str]) -> dict[str, float]:
    shown = {kind: stack[kind] for kind in kinds}
    return shown | {"others": sum(stack.values()) - sum(shown.values())}


def _relative(
    table: pd.DataFrame, stacks: Sequence[Mapping[str, float]], x: str, by: str, baseline: str
) -> list[dict[str, float]]:
    """Each stack over the mean total of the baseline's with the same ``x``."""
    totals: dict[str, list[float]] = {}
    for at, one, stack in zip(table[x], table[by], stacks, strict=True):
        if _text(one) == _text(baseline):
            totals.setdefault(_text(at), []).append(sum(stack.values()))
    for at in map(_text, table[x]):
        if at not in totals:
            raise ConfigError(f"baseline: no row has {x} {quoted(at)} and {by} {quoted(baseline)}")
    means = {at: sum(found) / len(found) or 1.0 for at, found in totals.items()}
    return [
        {part: value / means[_text(at)] for part, value in stack.items()}
        for at, stack in zip(table[x], stacks, strict=True)
    ]
