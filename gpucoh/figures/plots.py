"""Figures of a comparison: speedup, traffic and energy by workload, and their means."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
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
_Kind = tuple[str, Mapping[str, Sequence[str]] | None, Callable[..., Any], str]


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


def chart_of(
    groups: Mapping[str, Sequence[Bar]],
    protocols: Sequence[str],
    baseline: str,
    label: str,
    title: str = "",
    kinds: Mapping[str, Sequence[str]] | None = None,
) -> Chart:
    """A chart of bars, or of stacked parts: ``kinds`` has the look of each, and its name.

    ``label`` may have ``{base}``, which the baseline replaces: then there is a line at 1.
    """
    looks, names = protocol_looks(protocols), {}
    if kinds is not None:
        looks = {part: kind_look(look) for part, (look, _) in kinds.items()}
        names = {part: name for part, (_, name) in kinds.items()}
    return Chart(
        groups=groups,
        looks=looks,
        names=names,
        label=label.format(base=baseline),
        title=title,
        line=1.0 if "{base}" in label else None,
    )


def comparison_figure(comparison: Matrix, name: str, **options: Any) -> Figure:
    """Draw speedup, traffic or energy: a chart of each kind for every machine.

    Parameters
    ----------
    comparison : Matrix
    name : {"speedup", "traffic", "energy"}
    **options
        The fields of :class:`~gpucoh.figures.chart.Options`. Names of bars say the memory models if these differ.
    """
    title, kinds = _FIGURES[name]
    models = comparison.models
    same = len(set(models.values())) == 1
    chosen = Options(**options, models={} if same else models)
    protocols = chosen.ordered(comparison.protocols, comparison.workloads)
    base, several = chosen.name(comparison.baseline), len(comparison.machines) > 1
    charts = [
        chart_of(
            bars(comparison.on(machine), protocols),
            protocols,
            base,
            label,
            ": ".join(filter(None, [machine if several else "", heading])),
            parts,
        )
        for machine in comparison.machines
        for heading, parts, bars, label in kinds
    ]
    about = subtitle(comparison) + (f", model {models[comparison.baseline]}" if same else "")
    return draw(charts, chosen, f"{title} ({about})")


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


def flits(run: RunResult) -> dict[str, int]:
    """Flits of a run by message class."""
    return run.stats.flits_by_class()


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


def _of_energy(parts: Sequence[str], heading: str) -> _Kind:
    names = {one: (one, PART_NAMES[one]) for one in parts}
    return heading, names, partial(energy_bars, parts=parts), "energy relative to {base}"


# Figure -> its title, and of each chart its heading, its parts, its bars and the text beside its axis. The energy of
# network and caches has a chart relative to the same parts of the baseline: beside cores and DRAM, most of whose energy
# is time, they would be too thin to read.
_FIGURES: dict[str, tuple[str, list[_Kind]]] = {
    "speedup": ("Speedup", [("", None, speedup_bars, "speedup over {base}")]),
    "traffic": (
        "Traffic by message class",
        [("", CLASSES, partial(stacks, amounts=flits), "flits relative to {base}")],
    ),
    "energy": (
        "Energy by part",
        [_of_energy(WHOLE, "Total"), _of_energy(ON_CHIP, "Network and caches alone")],
    ),
}
