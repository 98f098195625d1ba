"""One run: a workload on a machine under a protocol, checked, with everything that was counted."""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpucoh.errors import ConfigError, KernelError, SimulationError
from gpucoh.experiments.interrupts import interruptible
from gpucoh.gpu import DEFAULT_BUDGET, GPU, LARGEST_SEED, VERSION, resolve
from gpucoh.machines import Machine, machine
from gpucoh.report.bars import blocks_bar
from gpucoh.stats import Group, Stats
from gpucoh.suite import Workload, workload
from gpucoh.units import name_of, natural

# Counters of INTERFACE's run object that come from the core, in order.
_COUNTS = ("cycles", "instructions", "thread_instructions", "memory_instructions", "rollovers")
_WHAT = ("workload", "protocol", "machine", "consistency", "model", "scale", "seed")
_GROUPS = (
    "l1",
    "l2",
    "traffic",
    "stalls",
    "dram",
    "energy",
    "core",
    "histograms",
    "counters",
    "storage",
)


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What one run gave.

    Attributes
    ----------
    workload, protocol, machine, consistency, model, scale, seed
        What was run; ``protocol`` as asked for, ``model`` the memory model promised.
    correct : bool or None
        Whether every word of the result is right; None where a trace carries no values.
    mismatches : int
        Words that are wrong.
    where : str
        The first wrong place, or the error that ended the run.
    error : str or None
        The kind of error that ended the run (``DeadlockError`` ..), if one did.
    wall_s : float
        Seconds of wall clock.
    stats : Stats
        Every counter.
    params : dict
        The workload's parameters, defaults included.
    configuration : dict
        The machine's fields.
    changes : dict
        The machine fields that differ from the preset.
    details : dict
        What the workload tells of its input and run.
    occupancy : dict
        Kernel -> blocks and warps a core, and what limits them.
    """

    workload: str
    protocol: str
    machine: str
    consistency: str
    model: str
    scale: str
    seed: int
    correct: bool | None
    mismatches: int
    where: str
    error: str | None
    wall_s: float
    stats: Stats
    params: Mapping[str, Any]
    configuration: Mapping[str, Any]
    changes: Mapping[str, Any]
    details: Mapping[str, Any] = field(default_factory=dict)
    occupancy: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cycles(self) -> int:
        """Core cycles of all launches."""
        return int(self.stats["cycles"])

    @property
    def verdict(self) -> str:
        """``correct``, ``wrong``, the error's kind, or ``unchecked``."""
        if self.error:
            return {"DeadlockError": "deadlock", "BudgetError": "hung"}.get(self.error, "failed")
        return {True: "correct", False: "wrong", None: "unchecked"}[self.correct]

    @property
    def counts_as_failure(self) -> bool:
        """Whether a matrix of runs must report it: wrong although its model promises something, or a bug of ours."""
        broken = self.error in ("ProtocolError", "SimulationError")
        return broken or (self.correct is False and self.model != "none")

    def __getattr__(self, name: str) -> Any:
        # r.l1, r.traffic, r.instructions ..: the counters, as in stats.
        if name.startswith("_") or name == "stats":
            raise AttributeError(name)
        return getattr(self.stats, name)

    def row(self) -> dict[str, Any]:
        """The run as one flat row: what was run, the verdict, counters as columns (``l1_load_hits`` ..)."""
        row: dict[str, Any] = {name: getattr(self, name) for name in _WHAT}
        row |= {
            "correct": self.correct,
            "verdict": self.verdict,
            "mismatches": self.mismatches,
            "where": self.where,
        }
        row |= {name: int(self.stats[name]) for name in _COUNTS}
        row["flits"] = self.stats.flits()
        row |= {f"flits_{name}": flits for name, flits in self.stats.flits_by_class().items()}
        for group in ("l1", "l2", "dram", "stalls", "energy"):
            counters = self.stats.get(group) or {}
            prefix = "energy_j" if group == "energy" else group
            row |= {f"{prefix}_{key}": value for key, value in counters.items()}
        row["wall_s"] = self.wall_s
        return row

    def to_dict(self) -> dict[str, Any]:
        """The run as one plain object, as ``gpucoh run --json`` prints it."""
        out: dict[str, Any] = {name: getattr(self, name) for name in _WHAT}
        out |= {name: self.stats.get(name, 0) for name in _COUNTS}
        out |= {
            "correct": self.correct,
            "mismatches": self.mismatches,
            "where": self.where,
            "error": self.error,
            "wall_s": round(self.wall_s, 3),
        }
        for name in _GROUPS:
            group = self.stats.get(name)
            out[name] = group.to_dict() if isinstance(group, Group) else group
        out |= {
            "params": dict(self.params),
            "set": dict(self.changes),
            "configuration": dict(self.configuration),
            "occupancy": dict(self.occupancy),
            "details": dict(self.details),
            "version": VERSION,
        }
        return out


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run that is wanted: what :func:`run` takes, checked when it is made.

    Raises
    ------
    ConfigError
        For anything unknown or unfit.
    """

    workload: str
    protocol: str = "no-l1"
    machine: str | Path | Machine = "fermi"
    consistency: str | None = None
    scale: str = "small"
    seed: int = 0
    params: Mapping[str, object] | None = None
    check: bool | str = False
    set: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        for what in ("params", "set"):
            given = getattr(self, what)
            if given is None:
                continue
            if not isinstance(given, Mapping):
                raise ConfigError(f"{what} = {given!r} is not a dictionary of names and values")
            for name in given:
                name_of(f"{what}:", name)

        if not isinstance(self.check, bool | str):
            raise ConfigError(f"check = {self.check!r} is neither a switch nor a name")

    def validate(self) -> None:
        """Refuse what cannot run, all but what stands in the files of its input, without running it.

        Raises
        ------
        ConfigError
            For anything unknown or unfit.
        """
        workload(self.workload).setting(self.scale, self.seed, self.params)
        resolve(self.protocol).rule(self.consistency)
        built, budget = self.machine_and_budget()
        natural("seed", self.seed, LARGEST_SEED)
        _fits(built, self.protocol, self.consistency, self.check, budget)

    def machine_and_budget(self) -> tuple[Machine, int]:
        """The machine with the changes of ``set``, and the cycle budget that may stand among them."""
        changes = dict(self.set or {})
        budget = changes.pop("budget", DEFAULT_BUDGET)
        try:
            cycles = float(str(budget))
        except ValueError:
            cycles = math.nan
        if not cycles.is_integer():
            raise ConfigError(f"budget = {budget!r} is not a whole number of core cycles")
        if "name" in changes:
            raise ConfigError("the name of a machine is no number that can be set")
        base = machine(self.machine)
        return (base.replace(**changes) if changes else base), int(cycles)

    def build(self) -> tuple[GPU, Workload]:
        """A fresh GPU for it and the workload."""
        built, budget = self.machine_and_budget()
        found = workload(self.workload)
        gpu = GPU(built, self.protocol, self.consistency, self.seed, self.check, budget=budget)
        return gpu, found

    def carry_out(
        self,
        *,
        capture: bool = False,
        stop: threading.Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> RunResult:
        """Make the input, run, check.

        Parameters
        ----------
        capture : bool, default False
            A run that ends in an error (deadlock, budget, protocol error, bad access) becomes a result that is
            not correct, instead of an exception.
        stop : threading.Event, optional
            Ends the run from another thread.
        progress : callable, optional
            Called with (blocks done, blocks of the launch).
        """
        gpu, found = self.build()
        gpu.stop, gpu.progress = stop, progress
        instance = found.prepare(self.scale, self.seed, self.params)
        setting = found.setting(self.scale, self.seed, self.params)
        start = time.perf_counter()
        correct: bool | None = False
        mismatches, where, error, details = 0, "", None, {}
        try:
            outcome = instance.run(gpu)
            correct, mismatches, where = outcome.correct, outcome.mismatches, outcome.where
            details = dict(outcome.details)
        except (SimulationError, KernelError) as failure:
            if not capture or (stop is not None and stop.is_set()):
                raise
            error, where = type(failure).__name__, str(failure)
        return RunResult(
            workload=found.id,
            protocol=gpu.protocol,
            machine=gpu.machine.name,
            consistency=gpu.consistency,
            model=gpu.model,
            scale=self.scale,
            seed=self.seed,
            correct=correct,
            mismatches=mismatches,
            where=where,
            error=error,
            wall_s=time.perf_counter() - start,
            stats=gpu.stats(),
            params=dict(setting.params),
            configuration=gpu.machine.numbers(),
            changes=gpu.machine.changes,
            details=details,
            occupancy=gpu.occupancy,
        )


@functools.lru_cache(1024)
def _fits(
    built: Machine, protocol: str, consistency: str | None, check: bool | str, budget: int
) -> None:
    """Make the GPU, which refuses what does not fit; kept, as the runs of a sweep share a few."""
    GPU(built, protocol, consistency, check=check, budget=budget)


def run(
    workload: str,
    protocol: str = "no-l1",
    machine: str | Path | Machine = "fermi",
    consistency: str | None = None,
    scale: str = "small",
    seed: int = 0,
    params: Mapping[str, object] | None = None,
    check: bool | str = False,
    set: Mapping[str, object] | None = None,
    progress: bool = False,
) -> RunResult:
    """Run one workload and check its result.

    Parameters
    ----------
    workload : str
        Its id or alias; :func:`gpucoh.workloads` lists them.
    protocol : str
        Its id, options in brackets.
    machine : str, Path or Machine
        A preset, a TOML file or a description.
    consistency : str, optional
        Core rule; by default the paper's for that protocol.
    scale : {"tiny", "small", "paper"}
        Size of the input.
    seed : int
        Of input and machine. The same seed gives the same result but for ``wall_s``.
    params : dict, optional
        The workload's parameters.
    check : bool or {"protocol", "races"}
        Run the monitors and the race detector along, or one of them: :class:`gpucoh.GPU`.
    set : dict, optional
        Machine fields to change, and ``budget``.
    progress : bool
        Show a progress bar when standard error is a terminal.

    Returns
    -------
    RunResult

    Raises
    ------
    ConfigError
        For anything unknown or unfit.
    KernelError, SimulationError
        If the run ends in an error.
    KeyboardInterrupt
        On Ctrl-C, at once; the run ends by itself soon after.

    Examples
    --------
    >>> import gpucoh
    >>> gpucoh.run("vec-cpy", protocol="ideal", scale="tiny").correct
    True
    """
    wanted = Run(
        workload=workload,
        protocol=protocol,
        machine=machine,
        consistency=consistency,
        scale=scale,
        seed=seed,
        params=params,
        check=check,
        set=set,
    )
    with blocks_bar(f"{workload} {protocol}", enabled=progress) as report:
        return interruptible(lambda stop: wanted.carry_out(stop=stop, progress=report))
