"""Comparisons: every workload under every protocol, and figures."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.base.files import path_of
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import name_of, natural
from gpucoh.device.choices import split_options
from gpucoh.machines import Machine
from gpucoh.machines import machine as find_machine
from gpucoh.results.columns import counters_of
from gpucoh.results.matrix import Matrix
from gpucoh.results.runs import RunResult
from gpucoh.runs.interrupts import Workers
from gpucoh.runs.runner import Run, kind_of
from gpucoh.runs.schedule import Schedule
from gpucoh.runs.sweeps import stored_runs
from gpucoh.suite import Given, Workload, find
from gpucoh.terminal.bars import runs_bar

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The default of `gpucoh compare`: real algorithms that finish in under a minute together.
DEFAULT_WORKLOADS = ("bfs", "hsp", "reduction", "stn", "bh", "fg-share")
DEFAULT_PROTOCOLS = ("no-l1", "no-coh", "mesi", "gpu-vi", "tc-weak", "ideal")


@dataclass(frozen=True, repr=False)
class Comparison(Matrix):
    """The runs of a matrix, and their figures.

    Attributes
    ----------
    runs : tuple of RunResult
        In order of machine, workload, protocol and seed.
    baseline : str
        The protocol to which speedup, traffic and energy are relative.
    counters : {"usual", "all"}
        Which statistics are columns of the table.
    """

    @door
    def plot_speedup(
        self,
        *,
        ax: Axes | None = None,
        width: str | float = "page",
        title: str | None = "auto",
        order: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        legend: str | None = "auto",
    ) -> Figure:
        """Draw bars of the speedup over the baseline by workload, and their harmonic means.

        Wrong results are crossed out and enter no mean; a mean over fewer workloads than the others is an outline with
        their number. With several seeds bars are means, and whiskers reach from the smallest to the largest seed.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw in, one for each machine; by default a figure is made. A figure of your own follows your
            settings of Matplotlib: ``rcParams["pdf.fonttype"] = 42`` embeds TrueType fonts in its PDF, too.
        width : str or float
            ``"column"`` (3.3 inches), ``"page"`` (7 inches), or inches.
        title : str or None
            The title; ``"auto"`` names machine, scale and seeds, None leaves it out.
        order : sequence of str, optional
            The protocols to draw, in this order. Default: all.
        labels : dict, optional
            Protocol or workload -> name in the figure. Default: the protocols' proper names.
        legend : {"auto", "outside", "inside", "none"} or None
            Below the charts, or beside the user's axes; inside the first one; or none, with the protocols' names below
            the bars. ``"auto"``: outside, but inside the user's axes.

        Returns
        -------
        matplotlib.figure.Figure
            Its PDF has TrueType fonts.

        Raises
        ------
        ConfigError
            For a bad width, or a name that is not in the comparison.
        """
        return self._plotted("speedup", ax, width, title, order, labels, legend)

    @door
    def plot_traffic(
        self,
        *,
        ax: Axes | None = None,
        width: str | float = "page",
        title: str | None = "auto",
        order: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        legend: str | None = "auto",
    ) -> Figure:
        """Draw stacked bars of flits by message class, relative to the baseline, and their arithmetic means.

        The arguments are those of :meth:`plot_speedup`.
        """
        return self._plotted("traffic", ax, width, title, order, labels, legend)

    @door
    def plot_energy(
        self,
        *,
        ax: Axes | Sequence[Axes] | None = None,
        width: str | float = "page",
        title: str | None = "auto",
        order: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        legend: str | None = "auto",
    ) -> Figure:
        """Draw stacked bars of energy by part, relative to the baseline, and their arithmetic means.

        The upper chart has the total, the lower one network and caches alone. The arguments are those of
        :meth:`plot_speedup`; ``ax`` may be a pair of axes, and one alone takes the total.
        """
        return self._plotted("energy", ax, width, title, order, labels, legend)

    def _plotted(self, name: str, *chosen: Any) -> Figure:
        with LATE_IMPORT:
            from gpucoh.figures.plots import comparison_figure

        words = ("ax", "width", "heading", "order", "labels", "legend")
        return comparison_figure(self, name, **dict(zip(words, chosen, strict=True)))


def carry_out(
    runs: Sequence[Run],
    *,
    jobs: int,
    progress: bool = False,
    profile: bool = False,
    processes: bool = False,
) -> list[RunResult]:
    """Run runs in threads; the core releases Python's global lock. Those of users' code have processes of their own,
    with ``processes`` all.

    Ctrl-C ends them all within a moment and is raised again.
    """
    stop = threading.Event()
    results: dict[int, RunResult] = {}
    pool = Workers(jobs)
    schedule = Schedule(
        range(len(runs)),
        lambda number: pool.submit(
            runs[number].carry_out_apart, stop=stop, always=processes, profile=profile
        ),
        workers=jobs,
        kind=lambda number: kind_of(runs[number]),
        seconds=lambda result: result.wall_s,
    )
    with runs_bar(len(runs), enabled=progress) as report:
        try:
            while schedule:
                for number, future in schedule.ended():
                    result = results[number] = future.result()
                    report(f"{result.workload} {result.protocol}")
        except BaseException:
            stop.set()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return [results[number] for number in range(len(runs))]


@door
def compare(
    workloads: Given | Sequence[Given] = DEFAULT_WORKLOADS,
    protocols: Sequence[str] = DEFAULT_PROTOCOLS,
    machine: str | Path | Machine = "fermi",
    baseline: str | None = None,
    scale: str = "small",
    seed: int = 0,
    jobs: int | None = None,
    progress: bool = False,
    consistency: str | None = None,
    set: Mapping[str, object] | None = None,
    params: Mapping[str, object] | None = None,
    check: bool = False,
    seeds: int | Sequence[int] | None = None,
    counters: str = "usual",
    machines: Sequence[str | Path | Machine] | None = None,
    store: str | Path | None = None,
    limit_s: float | None = None,
    limit_gib: float | None = None,
    processes: bool = False,
) -> Comparison:
    """Run every workload under every protocol.

    Parameters
    ----------
    workloads : sequence of str, Workload or callable
        Ids, ``"my_file.py:name"``, or functions as :func:`gpucoh.workload` describes them.
    protocols : sequence of str
        Ids, with options in brackets.
    machine : str, Path or Machine
        A preset, a TOML file or a description.
    baseline : str, optional
        The protocol to which results are relative; it is added if it is not in the list. Default: the first.
    scale, seed, consistency, set, params, check
        As in :func:`gpucoh.run`.
    jobs : int, optional
        Parallel runs; by default one per processor.
    progress : bool
        Show a progress bar on a terminal or in a notebook.
    seeds : int or sequence of int, optional
        Run everything with each of these seeds instead of ``seed``, or with this number of them, from ``seed`` on;
        means and figures then show the spread.
    counters : {"usual", "all"}
        ``"all"``: the table has every statistic as a column.
    machines : sequence of str, Path or Machine, optional
        Run everything on each of these machines instead of ``machine``; results are relative to the baseline on the
        same machine, means are by machine, and figures have a chart for each.
    store : str or Path, optional
        Parquet file that keeps the runs as they finish, and from which finished ones of the same code are read.
    limit_s, limit_gib : float, optional
        End a run of a protocol's C file or of a workload ``"my_file.py:name"``, which has a process of its own, after
        these seconds by the clock (default 3600), or if it has more GiB of memory (default 4); ``inf``: no limit.
    processes : bool, default False
        Give every run a process, not only those.

    Returns
    -------
    Comparison
        A run that ends in an error is in it, not correct, with the error.

    Raises
    ------
    ConfigError
        For an unknown name or a bad value, before any run.
    """
    counters_of(counters)
    chosen = _workloads(workloads)
    texts = list(dict.fromkeys(_names("protocols", protocols)))
    baseline = texts[0] if baseline is None else baseline
    if baseline not in texts:
        texts.insert(0, baseline)
    number = (os.cpu_count() or 1) if jobs is None else natural("jobs", jobs, smallest=1)
    runs = [
        Run(
            workload=found,
            protocol=text,
            machine=on,
            consistency=consistency,
            scale=scale,
            seed=one,
            params=params,
            check=check,
            set=set,
            limit_s=limit_s,
            limit_gib=limit_gib,
        )
        for on in _machines(machine, machines)
        for found in chosen
        for text in texts
        for one in _seeds(seed, seeds)
    ]
    for run in runs:
        run.validate()
    if store is None:
        return Comparison(
            tuple(carry_out(runs, jobs=number, progress=progress, processes=processes)),
            baseline,
            counters,
        )
    found = stored_runs(
        runs, path_of("store", store), jobs=number, progress=progress, processes=processes
    )
    return Comparison(tuple(found), baseline, counters)


def _listed(what: str, given: Any, of: str, *single: type) -> list[Any]:
    """The items of a list, or the single one.

    Raises
    ------
    ConfigError
        If it is no list, or an empty one.
    """
    if isinstance(given, single):
        return [given]
    if not isinstance(given, Iterable):
        raise ConfigError(f"{what} = {quoted(given)} is not a list of {of}")
    items = list(given)
    if not items:
        raise ConfigError(f"no {what} are given")
    return items


def _workloads(given: Given | Sequence[Given]) -> list[Workload]:
    """The workloads, each once; no two have one id: the runs of a comparison are identified by it."""
    named: dict[str, Workload] = {}
    for item in [given] if callable(given) else _listed("workloads", given, "names", str):
        found = find(item)
        if named.setdefault(found.id, found).make != found.make:
            raise ConfigError(
                f"two workloads are named {quoted(found.id)}: rename one of the functions"
            )
    return list(named.values())


def _machines(
    one: str | Path | Machine, several: Sequence[str | Path | Machine] | None
) -> list[Machine]:
    """The machines, each once; no two have one name: the runs of a comparison are identified by it."""
    if several is None:
        return [find_machine(one)]
    if one != "fermi":
        raise ConfigError(
            f"machine = {quoted(one)} and machines = {quoted(several)} contradict each other"
        )
    named: dict[str, Machine] = {}
    for found in map(find_machine, _listed("machines", several, "machines", str, Path, Machine)):
        if named.setdefault(found.name, found) != found:
            raise ConfigError(
                f"two machines are named {quoted(found.name)}: rename one with .replace(name=...)"
            )
    return list(named.values())


def _seeds(seed: int, seeds: int | Sequence[int] | None) -> list[int]:
    if seeds is None:
        return [seed]
    if isinstance(seeds, int | float | np.number) and not isinstance(seeds, bool):
        first = natural("seed", seed)
        return list(range(first, first + natural("seeds", seeds, 1000, smallest=1)))
    if seed:
        raise ConfigError(f"seed = {seed} and seeds = {quoted(seeds)} contradict each other")
    numbers = _listed("seeds", seeds, "whole numbers")
    return [one for place, one in enumerate(numbers) if one not in numbers[:place]]


def _names(what: str, given: Sequence[str]) -> list[str]:
    names = [name_of(what, name) for name in _listed(what, given, "names", str)]
    for name in names:
        split_options(name)
    return names
