"""The runs that figures and claims share: each is carried out once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gpucoh.errors import ConfigError
from gpucoh.experiments.comparison import Comparison, carry_out
from gpucoh.experiments.runner import Run, RunResult
from gpucoh.gpu import resolve
from gpucoh.suite import workloads as all_workloads


def missing_protocol(protocol: str) -> str:
    """Why a protocol cannot be run here, or nothing when it can."""
    try:
        resolve(protocol).rule(None)
    except ConfigError as error:
        return str(error).split(";")[0]
    return ""


def present(ids: Iterable[str]) -> list[str]:
    """The workloads among the ids that are built in."""
    known = all_workloads()
    return [name for name in ids if name in known]


@dataclass
class Bench:
    """Runs by workload and protocol, on one machine, at one scale.

    Attributes
    ----------
    machine, scale, seed
        Of every run.
    jobs : int
        Runs at once.
    progress : bool
        Show a bar on a terminal.
    """

    machine: str
    scale: str = "small"
    seed: int = 0
    jobs: int = 1
    progress: bool = False
    done: dict[tuple[str, str], RunResult] = field(default_factory=dict)

    def get(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Carry out those of the (workload, protocol) pairs that are not done yet."""
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
        """The matrix of these, from runs that are done or are done now."""
        pairs = [(workload, protocol) for workload in workloads for protocol in protocols]
        self.get(pairs)
        return Comparison(tuple(self.done[pair] for pair in pairs), baseline)
