"""The runs that figures and claims share; each runs once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gpucoh.errors import ConfigError
from gpucoh.experiments.comparison import Comparison, carry_out
from gpucoh.experiments.runner import Run, RunResult
from gpucoh.gpu import resolve
from gpucoh.suite import workloads as all_workloads


def missing_protocol(protocol: str) -> str:
    """Why a protocol cannot run, or an empty text if it can."""
    try:
        resolve(protocol).rule(None)
    except ConfigError as error:
        return str(error).split(";")[0]
    return ""


def present(ids: Iterable[str]) -> list[str]:
    """The ids that name built-in workloads."""
    known = all_workloads()
    return [name for name in ids if name in known]


@dataclass
class Bench:
    """Runs by workload and protocol, on one machine, at one scale.

    Attributes
    ----------
    machine, scale, seed
        Machine, input size and seed of every run.
    jobs : int
        Parallel runs.
    progress : bool
        Show a progress bar on a terminal.
    """

    machine: str
    scale: str = "small"
    seed: int = 0
    jobs: int = 1
    progress: bool = False
    done: dict[tuple[str, str], RunResult] = field(default_factory=dict)

    def get(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Run those of the (workload, protocol) pairs that have not run yet."""
        todo = [pair for pair in dict.fromkeys(pairs) if pair not in self.done]
        runs = [
            Run(
                workload=workload,
                protocol=protocol,
                machine=self.machine,
                scale=self.scale,
                seed=self.seed,
            )
            for workload, protocol in todo
        ]
        results = carry_out(runs, jobs=self.jobs, progress=self.progress)
        self.done |= dict(zip(todo, results, strict=True))

    def comparison(
        self, workloads: Sequence[str], protocols: Sequence[str], baseline: str
    ) -> Comparison:
        """The matrix of these workloads and protocols; missing runs are run first."""
        pairs = [(workload, protocol) for workload in workloads for protocol in protocols]
        self.get(pairs)
        return Comparison(tuple(self.done[pair] for pair in pairs), baseline)
