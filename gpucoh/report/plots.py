"""Figures of a comparison: speedup, traffic and energy by workload, and their means."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gpucoh.base.errors import ConfigError
from gpucoh.base.files import whole_file
from gpucoh.report.chart import Bar, Chart, Options
from gpucoh.report.charts import draw
from gpucoh.report.looks import (
    CLASS_NAMES,
    PART_NAMES,
    kind_look,
    protocol_looks,
)
from gpucoh.results.energy import PARTS
from gpucoh.results.matrix import Matrix
from gpucoh.results.runs import RunResult

ON_CHIP = ("noc_dynamic", "noc_static", "l1", "l2", "arrays")
WHOLE = ("on_chip", "dram", "core")
FORMATS = ("png", "svg", "pdf")
Amounts = Callable[[RunResult], Mapping[str, float]]


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
    layout = figure.get_layout_engine()
    try:
        for path in paths:
            with whole_file(path) as part:
                figure.savefig(part)
            figure.set_layout_engine("none")  # the first file has settled the layout
    finally:
        figure.set_layout_engine(layout)
    return paths


def subtitle(comparison: Matrix) -> str:
    """Machine, scale and seeds of the runs."""
    seeds, machines = comparison.seeds, comparison.machines
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"mean of {len(seeds)} seeds"
    where = f"{machines[0]}, " if len(machines) == 1 else ""
    return f"{where}scale {comparison.runs[0].scale}, {which}"


def speedup_figure(comparison: Matrix, title: str = "Speedup", **options: Any) -> Figure:
    """Speedup over the baseline: a group of bars per workload and one of the harmonic means.

    Parameters
    ----------
    comparison : Matrix
    title : str
        The automatic title, to which machine, scale and seed are added.
    **options
        The fields of :class:`~gpucoh.report.chart.Options`.
    """

    def chart(part: Matrix, heading: str, protocols: Sequence[str], base: str) -> Chart:
        return Chart(
            groups=speedup_bars(part, protocols),
            looks=protocol_looks(protocols),
            label=f"speedup over {base}",
            title=heading,
        )

    return _figure(comparison, [chart], title, options)


def traffic_figure(
    comparison: Matrix, title: str = "Traffic by message class", **options: Any
) -> Figure:
    """Flits by message class, stacked, relative to the baseline's flits; arguments as for the speedup."""

    def chart(part: Matrix, heading: str, protocols: Sequence[str], base: str) -> Chart:
        return traffic_chart(traffic_bars(part, protocols), base, heading)

    return _figure(comparison, [chart], title, options)


def _figure(
    comparison: Matrix, kinds: Sequence[Callable[..., Chart]], title: str, options: dict[str, Any]
) -> Figure:
    """Draw charts of each kind for every machine; names of bars say the memory models if these differ."""
    models = comparison.models
    same = len(set(models.values())) == 1
    chosen = Options(**options, models={} if same else models)
    protocols = chosen.ordered(comparison.protocols, comparison.workloads)
    several = len(comparison.machines) > 1
    charts = [
        kind(
            comparison.on(name),
            name if several else "",
            protocols,
            chosen.name(comparison.baseline),
        )
        for name in comparison.machines
        for kind in kinds
    ]
    about = subtitle(comparison) + (f", model {models[comparison.baseline]}" if same else "")
    return draw(charts, chosen, f"{title} ({about})")


def traffic_chart(groups: Mapping[str, Sequence[Bar]], baseline: str, title: str = "") -> Chart:
    """A chart of flits by message class over the flits of a baseline."""
    return Chart(
        groups=groups,
        looks={kind: kind_look(kind) for kind in CLASS_NAMES},
        names=CLASS_NAMES,
        label=f"flits relative to {baseline}",
        title=title,
    )


def energy_figure(comparison: Matrix, title: str = "Energy by part", **options: Any) -> Figure:
    """Energy by part, stacked, relative to the baseline's; arguments as for the speedup.

    The upper chart has the total. The lower one splits network and caches, relative to the same parts of the
    baseline: beside cores and DRAM, most of whose energy is time, they would be too thin to read.
    """

    def kind(parts: Sequence[str], name: str) -> Callable[..., Chart]:
        def chart(part: Matrix, heading: str, protocols: Sequence[str], base: str) -> Chart:
            above = f"{heading}: {name}" if heading else name
            return energy_chart(part, protocols, parts, f"energy relative to {base}", above)

        return chart

    kinds = [kind(WHOLE, "Total"), kind(ON_CHIP, "Network and caches alone")]
    return _figure(comparison, kinds, title, options)


def energy_chart(
    comparison: Matrix,
    protocols: Sequence[str],
    parts: Sequence[str],
    label: str,
    title: str,
    *,
    power: bool = False,
) -> Chart:
    """A chart of joules (``power``: watts) by part over those of the baseline."""
    return Chart(
        groups=energy_bars(comparison, protocols, parts, power=power),
        looks={part: kind_look(part) for part in parts},
        names=PART_NAMES,
        label=label,
        title=title,
    )


def speedup_bars(comparison: Matrix, protocols: Sequence[str]) -> dict[str, list[Bar]]:
    """Speedups over the baseline: workload -> bars, and the harmonic means over workloads without wrong results."""
    out: dict[str, list[Bar]] = {}
    ratios = {
        (row["workload"], row["protocol"], row["seed"]): row["speedup"] or 0.0
        for row in comparison.summary
    }
    for name in comparison.workloads:
        out[name] = [
            bar_of(
                protocol,
                [{"": ratios[name, protocol, seed]} for seed in comparison.seeds],
                wrong=not comparison.right(name, protocol),
            )
            for protocol in protocols
        ]
    if len(comparison.workloads) > 1:
        out["harmonic\nmean"] = []
        for protocol in protocols:
            names = _right(comparison, protocol)
            means = [
                {"": _harmonic([ratios[name, protocol, seed] for name in names])}
                for seed in comparison.seeds
            ]
            bar = bar_of(protocol, means, counted=_counted(comparison, names))
            out["harmonic\nmean"].append(bar)
    return out


def _harmonic(values: Sequence[float]) -> float:
    return statistics.harmonic_mean(values) if values else 0.0


def _right(comparison: Matrix, protocol: str) -> list[str]:
    """The workloads that enter the means: those without wrong results, also of the baseline."""
    return [
        name
        for name in comparison.workloads
        if comparison.right(name, protocol, comparison.baseline)
    ]


def _counted(comparison: Matrix, names: Sequence[str]) -> tuple[int, int] | None:
    every = len(comparison.workloads)
    return None if len(names) == every else (len(names), every)


def bar_of(
    protocol: str,
    stacks: Sequence[Mapping[str, float]],
    *,
    wrong: bool = False,
    counted: tuple[int, int] | None = None,
) -> Bar:
    """A bar from one stack a seed: the mean of each part, and the smallest and the largest total."""
    totals = [sum(stack.values()) for stack in stacks]
    return Bar(
        protocol=protocol,
        parts=_mean_parts(stacks),
        wrong=wrong,
        spread=(min(totals), max(totals)) if len(totals) > 1 else None,
        counted=counted,
    )


def traffic_bars(comparison: Matrix, protocols: Sequence[str]) -> dict[str, list[Bar]]:
    """Flits by class over the baseline's flits: workload -> bars, and their arithmetic means."""
    return relative_stacks(comparison, protocols, lambda run: run.stats.flits_by_class())


def energy_bars(
    comparison: Matrix,
    protocols: Sequence[str],
    parts: Sequence[str],
    *,
    power: bool = False,
) -> dict[str, list[Bar]]:
    """Joules (``power``: watts) by part over the baseline's: workload -> bars, and their arithmetic means.

    ``arrays`` is the sum of the arrays that a protocol has besides the caches, ``on_chip`` that of network, caches and
    these, ``core`` that of cores and scratchpads.
    """

    def amounts(run: RunResult) -> dict[str, float]:
        # A run that ended before its first cycle took no time and no energy: no bar.
        time = (run.cycles or 1) if power else 1
        joules: dict[str, float] = dict(run.stats.energy)
        joules["arrays"] = sum(joules[name] for name in joules.keys() - {*PARTS, "total"})
        joules["on_chip"] = sum(joules[name] for name in ON_CHIP)
        joules["core"] += joules["scratchpad"]
        return {name: joules[name] / time for name in parts}

    return relative_stacks(comparison, protocols, amounts)


def relative_stacks(
    comparison: Matrix, protocols: Sequence[str], amounts: Amounts
) -> dict[str, list[Bar]]:
    """Parts of each run over the total of the baseline's run with the same seed, and arithmetic means of them."""
    parts: dict[tuple[str, str, int], dict[str, float]] = {}
    for name in comparison.workloads:
        for seed in comparison.seeds:
            total = sum(amounts(comparison.run(name, comparison.baseline, seed)).values()) or 1
            for protocol in protocols:
                amount = amounts(comparison.run(name, protocol, seed))
                parts[name, protocol, seed] = {kind: one / total for kind, one in amount.items()}
    out = {
        name: [
            bar_of(
                protocol,
                [parts[name, protocol, seed] for seed in comparison.seeds],
                wrong=not comparison.right(name, protocol),
            )
            for protocol in protocols
        ]
        for name in comparison.workloads
    }
    if len(comparison.workloads) > 1:
        out["arithmetic\nmean"] = []
        for protocol in protocols:
            names = _right(comparison, protocol)
            means = [
                _mean_parts([parts[name, protocol, seed] for name in names])
                for seed in comparison.seeds
            ]
            bar = bar_of(protocol, means, counted=_counted(comparison, names))
            out["arithmetic\nmean"].append(bar)
    return out


def _mean_parts(stacks: Sequence[Mapping[str, float]]) -> dict[str, float]:
    kinds = dict.fromkeys(kind for stack in stacks for kind in stack)
    return {kind: sum(stack.get(kind, 0) for stack in stacks) / len(stacks) for kind in kinds}
