"""Figures of a comparison: speedup, traffic and energy by workload, and their means."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gpucoh.base.errors import ConfigError
from gpucoh.base.files import whole_file
from gpucoh.figures.chart import Bar, Chart, Options
from gpucoh.figures.charts import draw
from gpucoh.figures.looks import (
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
# Message class -> its look, and its name.
CLASSES = {kind: (kind, name) for kind, name in CLASS_NAMES.items()}
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
        The fields of :class:`~gpucoh.figures.chart.Options`.
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
        bars = traffic_bars(part, protocols)
        return parts_chart(bars, CLASSES, f"flits relative to {base}", heading)

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


def parts_chart(
    groups: Mapping[str, Sequence[Bar]],
    kinds: Mapping[str, Sequence[str]],
    label: str,
    title: str = "",
    line: float | None = 1.0,
) -> Chart:
    """A chart of stacked parts; ``kinds`` has the look of each part, and its name."""
    return Chart(
        groups=groups,
        looks={part: kind_look(look) for part, (look, _) in kinds.items()},
        names={part: name for part, (_, name) in kinds.items()},
        label=label,
        title=title,
        line=line,
    )


def energy_figure(comparison: Matrix, title: str = "Energy by part", **options: Any) -> Figure:
    """Energy by part, stacked, relative to the baseline's; arguments as for the speedup.

    The upper chart has the total. The lower one splits network and caches, relative to the same parts of the
    baseline: beside cores and DRAM, most of whose energy is time, they would be too thin to read.
    """

    def kind(parts: Sequence[str], name: str) -> Callable[..., Chart]:
        def chart(part: Matrix, heading: str, protocols: Sequence[str], base: str) -> Chart:
            above = f"{heading}: {name}" if heading else name
            kinds = {one: (one, PART_NAMES[one]) for one in parts}
            bars = energy_bars(part, protocols, parts)
            return parts_chart(bars, kinds, f"energy relative to {base}", above)

        return chart

    kinds = [kind(WHOLE, "Total"), kind(ON_CHIP, "Network and caches alone")]
    return _figure(comparison, kinds, title, options)


def speedup_bars(comparison: Matrix, protocols: Sequence[str]) -> dict[str, list[Bar]]:
    """Speedups over the baseline: workload -> bars, and the harmonic means over workloads without wrong results."""
    ratios = {
        (row["workload"], row["protocol"], row["seed"]): {"": row["speedup"] or 0.0}
        for row in comparison.summary
    }
    return _grouped(comparison, protocols, ratios, "harmonic\nmean", _harmonic)


def _grouped(
    comparison: Matrix,
    protocols: Sequence[str],
    stacks: Mapping[tuple[str, str, int], Mapping[str, float]],
    heading: str,
    mean: Callable[[Sequence[Mapping[str, float]]], Mapping[str, float]],
    relative: bool = True,
) -> dict[str, list[Bar]]:
    """Bars of each workload, and those of the means over the workloads without wrong results: also of the baseline, or
    with parts if nothing is relative to it.
    """
    names, seeds = comparison.workloads, comparison.seeds
    also = (comparison.baseline,) if relative else ()
    out = {
        name: [
            bar_of(
                protocol,
                [stacks[name, protocol, seed] for seed in seeds],
                wrong=not comparison.right(name, protocol),
            )
            for protocol in protocols
        ]
        for name in names
    }
    if len(names) > 1:
        out[heading] = []
        for one in protocols:
            used = [
                name
                for name in names
                if comparison.right(name, one, *also) and (relative or stacks[name, one, seeds[0]])
            ]
            means = [mean([stacks[name, one, seed] for name in used]) for seed in seeds]
            counted = None if len(used) == len(names) else (len(used), len(names))
            out[heading].append(bar_of(one, means, counted=counted))
    return out


def _harmonic(stacks: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {"": statistics.harmonic_mean([one[""] for one in stacks]) if stacks else 0.0}


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
    return stacks(comparison, protocols, lambda run: run.stats.flits_by_class())


def energy_bars(
    comparison: Matrix,
    protocols: Sequence[str],
    parts: Sequence[str],
    *,
    power: bool = False,
) -> dict[str, list[Bar]]:
    """Joules (``power``: watts) by part over the baseline's: workload -> bars, and their arithmetic means."""
    return stacks(comparison, protocols, energy_parts(parts, power=power))


def energy_parts(parts: Sequence[str], *, power: bool = False) -> Amounts:
    """Joules (``power``: watts) of a run by part.

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

    return amounts


def stacks(
    comparison: Matrix, protocols: Sequence[str], amounts: Amounts, *, relative: bool = True
) -> dict[str, list[Bar]]:
    """Parts of each run, or those over the total of the baseline's with the same seed, and arithmetic means of them."""
    parts: dict[tuple[str, str, int], dict[str, float]] = {}
    for name in comparison.workloads:
        for seed in comparison.seeds:
            base = amounts(comparison.run(name, comparison.baseline, seed)) if relative else {"": 1}
            total = sum(base.values()) or 1
            for protocol in protocols:
                amount = amounts(comparison.run(name, protocol, seed))
                parts[name, protocol, seed] = {kind: one / total for kind, one in amount.items()}
    return _grouped(comparison, protocols, parts, "arithmetic\nmean", _mean_parts, relative)


def _mean_parts(stacks: Sequence[Mapping[str, float]]) -> dict[str, float]:
    kinds = dict.fromkeys(kind for stack in stacks for kind in stack)
    return {kind: sum(stack.get(kind, 0) for stack in stacks) / len(stacks) for kind in kinds}
