"""What a chart shows, and what the user chooses about a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import nearest
from gpucoh.figures.looks import Look, proper_name

WIDTHS = {"column": 3.3, "page": 7.0}
AUTO = "auto"
LEGENDS = ("auto", "outside", "inside", "none")


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar.

    Attributes
    ----------
    protocol : str
        Its protocol, with options.
    parts : dict
        Part -> height, stacked; the part ``""`` has the protocol's look.
    wrong : bool
        Whether a run's result is wrong.
    spread : tuple of float, optional
        The smallest and the largest height over the seeds.
    counted : tuple of int, optional
        For a mean over fewer workloads than the others: their number, and that of the figure.
    """

    protocol: str
    parts: Mapping[str, float]
    wrong: bool = False
    spread: tuple[float, float] | None = None
    counted: tuple[int, int] | None = None

    @property
    def height(self) -> float:
        """The sum of the parts."""
        return sum(self.parts.values())


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Bars in groups.

    Attributes
    ----------
    groups : dict
        Name below the axis -> its bars.
    looks : dict
        Part, or protocol where the only part is ``""``, -> look, in the order of stacking.
    label : str
        Text beside the y axis.
    names : dict
        Part -> name in the legend.
    title : str
        Text above the chart, if the figure has several.
    values : bool
        Whether each bar's height is printed above it.
    line : float, optional
        Height of the dashed line, that of the baseline; None: no line.
    spread : str
        What the legend says of whiskers.
    keys : dict, optional
        Protocol -> name in the legend, which then says what the bars are; None: it does where groups repeat the same
        bars, else names below the bars do.
    """

    groups: Mapping[str, Sequence[Bar]]
    looks: Mapping[str, Look]
    label: str
    names: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    values: bool = False
    line: float | None = 1.0
    spread: str = "smallest to largest seed"
    keys: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the user chooses about a figure.

    Attributes
    ----------
    ax : Axes or sequence of Axes, optional
        Axes to draw in, one per chart; by default a figure is made.
    width : str or float
        ``column`` (3.3 inches), ``page`` (7 inches), or inches.
    heading : str or None
        The title; ``auto`` says what ran, None leaves it out.
    order : sequence of str, optional
        The protocols to draw, in this order.
    labels : dict, optional
        Protocol or workload -> name in the figure.
    models : dict
        Protocol -> memory model, which the bars' names then say; a name in ``labels`` is the whole name.
    legend : str or None
        ``outside``: below the charts, or beside the user's axes; ``inside`` the first chart; ``none``, or None;
        ``auto``: outside, but inside the user's axes.
    """

    ax: Axes | Sequence[Axes] | None = None
    width: str | float = "page"
    heading: str | None = AUTO
    order: Sequence[str] | None = None
    labels: Mapping[str, str] | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    legend: str | None = AUTO

    def __post_init__(self) -> None:
        if self.legend is not None and self.legend not in LEGENDS:
            raise ConfigError(f"legend = {quoted(self.legend)}: {', '.join(LEGENDS)}, or None")

    @property
    def place(self) -> str:
        """Where the legend is: ``outside``, ``inside`` or ``none``."""
        if self.legend == AUTO:
            return "outside" if self.ax is None else "inside"
        return self.legend or "none"

    def inches(self) -> float:
        """The width of the figure.

        Raises
        ------
        ConfigError
            If it is neither a name of :data:`WIDTHS` nor 1 to 40 inches.
        """
        if isinstance(self.width, str) and self.width in WIDTHS:
            return WIDTHS[self.width]
        if isinstance(self.width, int | float) and 1 <= self.width <= 40:
            return float(self.width)
        raise ConfigError(f"width = {quoted(self.width)}: column, page, or inches from 1 to 40")

    def ordered(self, protocols: Sequence[str], workloads: Sequence[str]) -> list[str]:
        """The protocols to draw, in order; also checks the names in ``labels``.

        Raises
        ------
        ConfigError
            If a name is not one of the comparison's.
        """
        for name in self.labels or ():
            if name not in protocols and name not in workloads:
                known = [*protocols, *workloads]
                raise ConfigError(
                    f"labels: {quoted(name)} is no protocol or workload of this comparison{nearest(name, known)}"
                )
        if self.order is None:
            return list(protocols)
        chosen = list(dict.fromkeys([self.order] if isinstance(self.order, str) else self.order))
        for name in chosen:
            if name not in protocols:
                raise ConfigError(
                    f"order: {quoted(name)} is no protocol of this comparison{nearest(name, protocols)}"
                )
        if not chosen:
            raise ConfigError("order: no protocols are given")
        return chosen

    def text(self, automatic: str) -> str:
        """The title; empty for none."""
        return automatic if self.heading == AUTO else self.heading or ""

    def name(self, protocol: str) -> str:
        """A protocol's name in the figure."""
        return proper_name(protocol, self.labels)

    def below(self, protocol: str) -> str:
        """A protocol's name below its bars."""
        said = protocol in self.models and protocol not in (self.labels or {})
        return self.name(protocol) + (f" ({self.models[protocol]})" if said else "")
