"""The figures and tables of a paper as declared, and the measured runs from which a figure is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from matplotlib.figure import Figure

from gpucoh.papers.claims import Paper
from gpucoh.runs.comparison import Comparison

MEASURES = ("speedup", "traffic", "noc_energy", "noc_power", "energy")


@dataclass(frozen=True, kw_only=True)
class Panel:
    """The runs of one group of a paper's workloads, and their mean bars.

    Attributes
    ----------
    title : str
        Title of the figure.
    group : str
        The paper's name of the set of workloads.
    comparison : Comparison
    bars : dict
        Measure -> workload -> protocol -> its bar; None if it is not defined.
    means : dict
        Measure -> protocol -> its mean bar, over that of the figure's baseline if it has one.
    traffic : dict
        Protocol -> mean flits by class, relative to the figure's baseline.
    counted : dict
        Measure -> protocol -> number of workloads in its mean bar.
    kinds : dict
        Measure -> the kind of mean, as ``harmonic mean``.
    smaller : int
        The divisor of the size of the inputs.
    sizes : dict
        Workload -> that size; empty if the figure has one size.
    """

    title: str
    group: str
    comparison: Comparison
    bars: Mapping[str, Mapping[str, Mapping[str, float | None]]] = field(default_factory=dict)
    means: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    traffic: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    counted: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    smaller: int = 1
    sizes: Mapping[str, int] = field(default_factory=dict)


Draw = Callable[[Sequence[Panel]], Figure]


@dataclass(frozen=True, kw_only=True)
class FigureSpec:
    """One figure of a paper.

    Attributes
    ----------
    id, title : str
    groups : tuple of str
        The paper's sets of workloads, or single workloads; one panel each.
    protocols : tuple of str
        The protocols, in the order of the bars.
    baseline : str
        The one of the protocols to which bars are relative; empty for bars that are relative to none.
    draw : callable
        Maps the panels' runs to a figure.
    measures : tuple of str
        What the figure shows.
    mean : str
        The kind of mean of bars without a baseline.
    machine : dict
        Fields of the machine that differ from the paper's.
    order : tuple of str or None
        The measure by which workloads are ordered, and the protocol whose runs have it; None: as the set lists them.
    input : str
        The paper's inputs of that name replace those of the scale; empty: those of the scale.
    smaller : tuple of int
        Divisors of the size of the inputs; a panel for each, of each set of workloads.
    """

    id: str
    title: str
    groups: tuple[str, ...]
    protocols: tuple[str, ...]
    baseline: str
    draw: Draw
    measures: tuple[str, ...] = MEASURES
    mean: str = "arithmetic"
    machine: Mapping[str, object] = field(default_factory=dict)
    order: tuple[str, str] | None = None
    input: str = ""
    smaller: tuple[int, ...] = (1,)


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """A table of a paper that describes protocols, beside what the built-in ones have; it needs no runs.

    Attributes
    ----------
    id, title : str
    rows : callable
        Maps the paper to the rows, by column.
    """

    id: str
    title: str
    rows: Callable[[Paper], list[dict[str, object]]]


Spec = FigureSpec | TableSpec
