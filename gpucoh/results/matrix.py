"""A matrix of runs: ratios to a baseline, and their means."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from gpucoh.base import markup
from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.results.runs import RunResult, table_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Matrix:
    """The runs of a matrix: every workload under every protocol, on every machine, with every seed; ratios and means.

    Attributes
    ----------
    runs : tuple of RunResult
        In order of machine, workload, protocol and seed.
    baseline : str
        The protocol to which speedup, traffic and energy are relative.
    counters : {"usual", "all"}
        Which statistics are columns of the table.
    """

    runs: tuple[RunResult, ...]
    baseline: str
    counters: str = "usual"

    @property
    def workloads(self) -> list[str]:
        """The workloads, in order."""
        return list(dict.fromkeys(run.workload for run in self.runs))

    @property
    def protocols(self) -> list[str]:
        """The protocols with their options, in order."""
        return list(dict.fromkeys(run.protocol for run in self.runs))

    @property
    def seeds(self) -> list[int]:
        """The seeds, in order."""
        return list(dict.fromkeys(run.seed for run in self.runs))

    @property
    def machines(self) -> list[str]:
        """The machines, in order."""
        return list(dict.fromkeys(run.machine for run in self.runs))

    @property
    def models(self) -> dict[str, str]:
        """Protocol -> the memory model that it promises in these runs."""
        return {run.protocol: run.model for run in self.runs}

    @door
    def on(self, machine: str) -> Self:
        """The runs on one machine."""
        return replace(self, runs=tuple(run for run in self.runs if run.machine == machine))

    @door
    def with_counters(self, counters: str) -> Self:
        """The same runs, whose table has these statistics: ``usual`` or ``all``."""
        return replace(self, counters=counters)

    @property
    def failures(self) -> list[RunResult]:
        """Runs with a wrong result although a memory model is promised."""
        return [run for run in self.runs if run.counts_as_failure]

    @property
    def seconds(self) -> dict[str, float]:
        """Processor seconds of all runs by phase, as :attr:`RunResult.seconds` counts them."""
        names = dict.fromkeys(name for run in self.runs for name in run.seconds)
        return {name: sum(run.seconds.get(name, 0.0) for run in self.runs) for name in names}

    @door
    def run(
        self, workload: str, protocol: str, seed: int | None = None, machine: str | None = None
    ) -> RunResult:
        """One run of the matrix, by default with the first seed on the first machine.

        Raises
        ------
        ConfigError
            If the matrix has no such run.
        """
        for item in self.runs:
            same = (item.workload, item.protocol) == (workload, protocol)
            if same and seed in (None, item.seed) and machine in (None, item.machine):
                return item
        which = "" if seed is None else f" with seed {quoted(seed)}"
        which += "" if machine is None else f" on {quoted(machine)}"
        raise ConfigError(
            f"no run of {quoted(workload)} under {quoted(protocol)}{which} in this comparison"
        )

    def _against_baseline(self, run: RunResult) -> dict[str, float | None]:
        base = self.run(run.workload, self.baseline, run.seed, run.machine)
        energy, base_energy = _total_energy(run), _total_energy(base)
        return {
            "speedup": _ratio(base.cycles, run.cycles),
            "traffic": _ratio(run.stats.flits(), base.stats.flits()),
            "energy": _ratio(energy, base_energy),
        }

    @property
    def summary(self) -> list[dict[str, Any]]:
        """One entry per run: what ran, and speedup, traffic (flits) and energy relative to the baseline."""
        names = ("workload", "protocol", "model", "machine", "seed")
        return [
            {name: getattr(run, name) for name in names} | self._against_baseline(run)
            for run in self.runs
        ]

    @door
    def right(self, workload: str, *protocols: str) -> bool:
        """Whether no run of a workload under these protocols, with any seed, is wrong."""
        return all(
            run.correct is not False
            for run in self.runs
            if run.workload == workload and run.protocol in protocols
        )

    def means(self) -> pd.DataFrame:
        """:meth:`mean_rows` as a table with one row per protocol, which is also its index.

        With several machines it has one row per machine and protocol.
        """
        with LATE_IMPORT:
            import pandas as pd

        rows = self.mean_rows()
        names = [(row["machine"], row["protocol"]) for row in rows]
        several = len(self.machines) > 1
        index = pd.MultiIndex.from_tuples(names) if several else [name[1] for name in names]
        return pd.DataFrame(rows, index=index)

    def mean_rows(self) -> list[dict[str, Any]]:
        """One entry per machine and protocol: harmonic mean of speedups, geometric means of speedup, traffic, energy.

        The means include only workloads with correct runs, also of the baseline; ``workloads`` counts them. With
        several seeds a mean is the arithmetic mean of the seeds' means, and ``speedup_spread`` .. are the smallest and
        the largest of them.
        """
        return [
            part._means_of(protocol)
            for part in map(self.on, self.machines)
            for protocol in self.protocols
        ]

    def _means_of(self, protocol: str) -> dict[str, Any]:
        names = [name for name in self.workloads if self.right(name, protocol, self.baseline)]
        by_seed: dict[str, list[float | None]] = {name: [] for name in _MEANS}
        for seed in self.seeds:
            rows = [self._against_baseline(self.run(name, protocol, seed)) for name in names]
            for name, (measure, mean) in _MEANS.items():
                by_seed[name].append(mean([row[measure] for row in rows]))
        out: dict[str, Any] = {"protocol": protocol, "model": self.models[protocol]}
        out |= {"machine": self.machines[0], "workloads": len(names)}
        spreads: dict[str, Any] = {}
        for name, means in by_seed.items():
            values = [value for value in means if value is not None]
            out[name] = statistics.fmean(values) if values else None
            spreads[f"{name}_spread"] = [min(values), max(values)] if values else None
        return out | spreads if len(self.seeds) > 1 else out

    @property
    def table(self) -> pd.DataFrame:
        """A tidy table with one row per run.

        What ran, the verdict, counters (``l1_load_hits`` ..), ratios to the baseline; ``set_cores``,
        ``option_lifetime``, ``param_n``: each machine field that a run changes, each option that is given, and
        the workloads' parameters.
        """
        out = table_of(self.runs, self.counters)
        for name in _RATIOS:
            out[name] = [relative[name] for relative in self.summary]
        return out

    def to_dict(self) -> dict[str, Any]:
        """The comparison as ``gpucoh compare --json`` prints it."""
        return {
            "runs": [run.to_dict() for run in self.runs],
            "summary": self.summary,
            "means": self.mean_rows(),
            "baseline": self.baseline,
        }

    def __repr__(self) -> str:
        verdicts = Counter(run.verdict for run in self.runs)
        counts = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
        return markup.shortened(
            f"<gpucoh.Comparison {len(self.workloads)} workloads x {len(self.protocols)} protocols"
            f"{f' x {len(self.seeds)} seeds' if len(self.seeds) > 1 else ''}"
            f"{f' x {len(self.machines)} machines' if len(self.machines) > 1 else ''}, "
            f"baseline {self.baseline}: {counts}>"
        )

    def _repr_html_(self) -> str:
        about = ("workload", "protocol", "model", "machine", "seed", "cycles")
        rows = [
            (
                *(getattr(run, name) for name in about),
                *(ratios[name] for name in _RATIOS),
                f"{run.l1.hit_rate:.0%}" if run.l1.loads else "-",
                run.verdict,
            )
            for run, ratios in zip(self.runs, self.summary, strict=True)
        ]
        caption = f"speedup, traffic and energy relative to {self.baseline}"
        return markup.table((*about, *_RATIOS, "L1 hits", "answer"), rows, caption)


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _total_energy(run: RunResult) -> float:
    return float(run.stats["energy"]["total"])


def harmonic_mean(values: Iterable[float | None]) -> float | None:
    """Harmonic mean of the values; None if there are none."""
    numbers = [value for value in values if value]
    return len(numbers) / sum(1 / value for value in numbers) if numbers else None


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Geometric mean of the values; None if there are none."""
    numbers = [value for value in values if value]
    return math.exp(sum(math.log(value) for value in numbers) / len(numbers)) if numbers else None


# Of a run to the baseline's.
_RATIOS = ("speedup", "traffic", "energy")
# mean -> the ratio whose mean it is, and its kind
_MEANS: dict[str, tuple[str, Callable[[Iterable[float | None]], float | None]]] = {
    "speedup_harmonic": ("speedup", harmonic_mean),
    "speedup": ("speedup", geometric_mean),
    "traffic": ("traffic", geometric_mean),
    "energy": ("energy", geometric_mean),
}
