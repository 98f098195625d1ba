"""The figures of the papers, drawn again: same groups, same baseline, same kind of mean."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gpucoh.comparison import Comparison, harmonic_mean
from gpucoh.errors import ConfigError
from gpucoh.files import whole_file
from gpucoh.papers.claims import Paper, load
from gpucoh.papers.runs import Bench, missing_protocol, present
from gpucoh.plots import energy_figure, save, speedup_figure, traffic_figure
from gpucoh.units import nearest

COHERENT = ("mesi", "gpu-vi", "gpu-vini", "tc-weak")
DIRECTORIES = ((8, 2), (8, 4), (16, 8), (32, 16))
LIFETIMES = (100, 200, 400, 800, 1600, 3200, 6400)


@dataclass(frozen=True, kw_only=True)
class FigureSpec:
    """One figure of a paper.

    Attributes
    ----------
    id, title : str
    group : str
        The paper's set of workloads.
    protocols : tuple of str
        In the order of the bars; the baseline is run, too.
    baseline : str
    draw : callable
        From a matrix of runs to a figure.
    """

    id: str
    title: str
    group: str
    protocols: tuple[str, ...]
    baseline: str
    draw: Callable[[Comparison], Figure]


def _network_energy(comparison: Comparison) -> Figure:
    return energy_figure(comparison, parts=("noc_dynamic", "noc_static"))


def lifetime_figure(comparison: Comparison) -> Figure:
    """Speedup over the baseline by fixed lifetime, a line a workload; the predictor's mean as a dashed line."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    fixed = [f"tc-weak[lifetime={lifetime}]" for lifetime in LIFETIMES]
    ratios = {(row["workload"], row["protocol"]): row["speedup"] for row in comparison.summary}
    markers = "osv^D<>pPX*h"
    for number, name in enumerate(comparison.workloads):
        values = [ratios[name, protocol] for protocol in fixed]
        grey = str(0.65 * number / max(1, len(comparison.workloads) - 1))
        marker = markers[number % len(markers)]
        axes.plot(
            LIFETIMES, values, marker=marker, markersize=4, linewidth=0.8, color=grey, label=name
        )
    mean = [harmonic_mean([ratios[n, p] for n in comparison.workloads]) for p in fixed]
    axes.plot(
        LIFETIMES, np.array(mean, float), color="#c00000", linewidth=2.2, label="harmonic mean"
    )
    predicted = harmonic_mean([ratios[name, "tc-weak"] for name in comparison.workloads])
    if predicted:
        axes.axhline(predicted, color="#c00000", linestyle="--", label="predictor, harmonic mean")
    axes.set_xscale("log", base=2)
    axes.set_xticks(LIFETIMES, [str(lifetime) for lifetime in LIFETIMES])
    axes.minorticks_off()
    axes.set_xlabel("fixed lifetime (core cycles)")
    axes.set_ylabel(f"speedup over {comparison.baseline}\n(ratio of core cycles)")
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    return figure


def _tc() -> tuple[FigureSpec, ...]:
    fixed = tuple(f"tc-weak[lifetime={lifetime}]" for lifetime in LIFETIMES)
    variants = ("tc-strong", "tc-weak[lifetime=3200]", "tc-weak")
    directories = tuple(
        f"gpu-vini[dir_ways={ways},dir_ratio={ratio}]" for ways, ratio in DIRECTORIES
    )
    s, t, e = speedup_figure, traffic_figure, _network_energy
    rows: list[tuple[str, str, str, Sequence[str], str, Callable[[Comparison], Figure]]] = [
        ("1a", "Ideal coherence", "inter", ("no-l1", "ideal"), "no-l1", s),
        ("1b", "Traffic of coherence", "intra", ("no-coh", "mesi", "gpu-vi"), "no-coh", t),
        ("7a", "Performance", "inter", ("no-l1", *COHERENT), "no-l1", s),
        ("7b", "Performance", "intra", ("no-l1", "no-coh", *COHERENT), "no-l1", s),
        ("8a", "Interconnect traffic", "inter", ("no-l1", *COHERENT), "no-l1", t),
        ("8b", "Interconnect traffic", "intra", ("no-coh", *COHERENT), "no-coh", t),
        ("9a", "Interconnect energy", "inter", ("no-l1", *COHERENT), "no-l1", e),
        ("9b", "Interconnect energy", "intra", ("no-coh", *COHERENT), "no-coh", e),
        ("10a", "TC-Strong and TC-Weak", "all", variants, "tc-strong", s),
        ("10b", "TC-Strong and TC-Weak, traffic", "all", variants, "tc-strong", t),
        ("11", "Fixed lifetimes", "all", ("no-l1", "tc-weak", *fixed), "no-l1", lifetime_figure),
        ("12a", "Directory sizes", "all", (*directories, "tc-weak"), directories[0], s),
        ("12b", "Directory sizes, traffic", "intra", (*directories, "tc-weak"), directories[0], t),
    ]
    return tuple(
        FigureSpec(id=i, title=title, group=group, protocols=tuple(names), baseline=base, draw=draw)
        for i, title, group, names, base, draw in rows
    )


FIGURES: dict[str, tuple[FigureSpec, ...]] = {"tc": _tc()}


def chosen(paper: str, figure: str | None) -> tuple[FigureSpec, ...]:
    """The figures of a paper, or those whose id is, or begins with, ``figure``.

    Raises
    ------
    ConfigError
        If there is no such paper or figure.
    """
    load(paper)
    specs = FIGURES[paper]
    if figure is None:
        return specs
    wanted = figure.lower().removeprefix("fig").removeprefix("ure")
    found = tuple(spec for spec in specs if spec.id == wanted or spec.id.rstrip("abcd") == wanted)
    if not found:
        ids = [spec.id for spec in specs]
        raise ConfigError(
            f"paper {paper!r} has no figure {figure!r}; figures are {', '.join(ids)}{nearest(figure, ids)}"
        )
    return found


def reproduce(
    paper: Paper, specs: Sequence[FigureSpec], bench: Bench, folder: Path
) -> list[dict[str, object]]:
    """Carry out the runs of figures and draw them: each as PNG, SVG, PDF, CSV and JSON in the folder.

    Returns
    -------
    list of dict
        One a figure: id, title, files, and what was left out because it is not built in.
    """
    plans = []
    for spec in specs:
        group = paper.groups[spec.group]
        absent = [f"workload {name}" for name in group if name not in present(group)]
        absent += [f"protocol {name}" for name in spec.protocols if missing_protocol(name)]
        usable = [name for name in spec.protocols if not missing_protocol(name)]
        plans.append((spec, present(group), usable, absent))
    bench.get((w, p) for _, names, usable, _ in plans for w in names for p in usable)
    out: list[dict[str, object]] = []
    for spec, names, usable, absent in plans:
        comparison = bench.comparison(names, usable, spec.baseline)
        stem = f"{paper.id}-{spec.id}"
        files = save(spec.draw(comparison), folder, stem)
        with whole_file(folder / f"{stem}.csv") as part:
            comparison.table.to_csv(part, index=False)
        data = {
            "paper": paper.id,
            "figure": spec.id,
            "title": spec.title,
            "baseline": spec.baseline,
            "summary": comparison.summary,
            "means": comparison.means(),
            "left_out": absent,
        }
        with whole_file(folder / f"{stem}.json") as part:
            part.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
        files += [folder / f"{stem}.csv", folder / f"{stem}.json"]
        wrong = [f"{r.workload} under {r.protocol}" for r in comparison.failures]
        out.append(
            {
                "figure": spec.id,
                "title": spec.title,
                "files": [str(path) for path in files],
                "left_out": absent,
                "wrong": wrong,
                "means": comparison.means(),
            }
        )
    return out
