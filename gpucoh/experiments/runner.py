"""One run: a workload on a machine under a protocol, with its verdict and every counter."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpucoh.base import markup
from gpucoh.base.errors import (
    ConfigError,
    KernelError,
    SimulationError,
    WorkloadError,
    short_traceback,
)
from gpucoh.base.units import name_of, natural, parse_whole
from gpucoh.device.gpu import (
    DEFAULT_BUDGET,
    DEFAULT_DEADLOCK_AFTER,
    GPU,
    LARGEST_SEED,
    VERSION,
    resolve,
)
from gpucoh.experiments.interrupts import interruptible
from gpucoh.machines import Machine, machine
from gpucoh.report.bars import blocks_bar
from gpucoh.results.stats import (
    Cache,
    Check,
    Core,
    Counters,
    Dram,
    Energy,
    Group,
    Histograms,
    Stalls,
    Stats,
    Storage,
    Traffic,
)
from gpucoh.suite import Given, Workload, find

# Counters of the run object that come from the core, in order.
_COUNTS = ("cycles", "instructions", "thread_instructions", "memory_instructions", "rollovers")
# Limits of a launch, in core cycles, that `set` may contain beside machine fields, with their defaults.
_LIMITS = {"budget": DEFAULT_BUDGET, "deadlock_after": DEFAULT_DEADLOCK_AFTER}
_WHAT = ("workload", "protocol", "machine", "consistency", "model", "scale", "seed")
_VERDICT = ("correct", "mismatches", "where", "error", "wall_s")
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


@dataclass(frozen=True, kw_only=True, repr=False)
class RunResult:
    """The result of one run.

    Attributes
    ----------
    workload, protocol, machine, consistency, model, scale, seed
        What ran; ``protocol`` with its options, ``model`` the promised memory model.
    correct : bool or None
        Whether every word of the result is right; None for a trace, which carries no values.
    mismatches : int
        Number of wrong words.
    where : str
        The first wrong word, or the error that ended the run.
    error : str or None
        The kind of error that ended the run (``DeadlockError`` ..), or None.
    wall_s : float
        Wall-clock time in seconds.
    stats : Stats
        Every counter.
    params : dict
        The workload's parameters, with defaults.
    configuration : dict
        The machine's fields.
    changes : dict
        The machine fields that differ from the preset.
    details : dict
        The workload's details of its input and run.
    occupancy : dict
        Blocks and warps per core and the limiting resource, by kernel.
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
        return self.stats.cycles

    @property
    def verdict(self) -> str:
        """``correct``, ``wrong``, the error's kind, or ``unchecked``."""
        if self.error:
            return {"DeadlockError": "deadlock", "BudgetError": "hung"}.get(self.error, "failed")
        return {True: "correct", False: "wrong", None: "unchecked"}[self.correct]

    @property
    def counts_as_failure(self) -> bool:
        """Whether a comparison must report it: a wrong result although a model is promised, or a simulator error."""
        broken = self.error in ("ProtocolError", "SimulationError")
        return broken or (self.correct is False and self.model != "none")

    @property
    def instructions(self) -> int:
        """Warp instructions."""
        return self.stats.instructions

    @property
    def thread_instructions(self) -> int:
        """Warp instructions times active lanes."""
        return self.stats.thread_instructions

    @property
    def memory_instructions(self) -> int:
        """Warp instructions that access global memory."""
        return self.stats.memory_instructions

    @property
    def rollovers(self) -> int:
        """Timestamp rollovers during launches."""
        return self.stats.rollovers

    @property
    def l1(self) -> Cache:
        """Counters of all L1s, and their hit rate."""
        return self.stats.l1

    @property
    def l2(self) -> Cache:
        """Counters of all banks of the L2, and their hit rate."""
        return self.stats.l2

    @property
    def traffic(self) -> Traffic:
        """Counters by message type."""
        return self.stats.traffic

    @property
    def core(self) -> Core:
        """Counters of all cores."""
        return self.stats.core

    @property
    def stalls(self) -> Stalls:
        """Core cycles without an issued instruction, by cause."""
        return self.stats.stalls

    @property
    def dram(self) -> Dram:
        """Counters of all memory channels."""
        return self.stats.dram

    @property
    def energy(self) -> Energy:
        """Joules by part."""
        return self.stats.energy

    @property
    def histograms(self) -> Histograms:
        """Latencies, and the protocol's histograms."""
        return self.stats.histograms

    @property
    def counters(self) -> Counters:
        """The protocol's own counters."""
        return self.stats.counters

    @property
    def storage(self) -> Storage:
        """Tables besides the caches."""
        return self.stats.storage

    @property
    def check(self) -> Check:
        """What was checked; only of a run with ``check``."""
        return self.stats.check

    def __repr__(self) -> str:
        return markup.shortened(
            f"<gpucoh.RunResult {self.workload} under {self.protocol} on {self.machine}, scale {self.scale}, "
            f"seed {self.seed}: {self.verdict}, {self.cycles:,} core cycles>"
        )

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("result", self.verdict + (f": {self.where}" if self.where else "")),
            ("protocol", f"{self.protocol} (consistency {self.consistency}, model {self.model})"),
            ("machine", self.machine),
            ("scale, seed", f"{self.scale}, {self.seed}"),
        ]
        rows += [(f"parameter {name}", value) for name, value in self.params.items()]
        rows.append(("wall clock", f"{self.wall_s:.2f} s"))
        return markup.table(("", ""), rows, self.workload) + self.stats._repr_html_()

    def row(self) -> dict[str, Any]:
        """The run as one flat row: what ran, the verdict, counters as columns (``l1_load_hits`` ..)."""
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
        """The run as a plain dictionary, as ``gpucoh run --json`` prints it."""
        out: dict[str, Any] = {name: getattr(self, name) for name in _WHAT}
        out |= {name: self.stats.get(name, 0) for name in _COUNTS}
        out |= {name: getattr(self, name) for name in _VERDICT}
        out["wall_s"] = round(self.wall_s, 3)
        for name in _GROUPS:
            group = self.stats.get(name)
            out[name] = group.to_dict() if isinstance(group, Group) else group
        if "check" in self.stats:
            out["check"] = self.stats["check"].to_dict()
        out |= {
            "params": dict(self.params),
            "set": dict(self.changes),
            "configuration": dict(self.configuration),
            "occupancy": dict(self.occupancy),
            "details": dict(self.details),
            "version": VERSION,
        }
        return out

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunResult:
        """The run whose :meth:`to_dict` this is."""
        counted = [name for name in (*_COUNTS, *_GROUPS, "check") if name in data]
        return cls(
            **{name: data[name] for name in (*_WHAT, *_VERDICT)},
            stats=Stats({name: data[name] for name in counted}),
            params=data["params"],
            configuration=data["configuration"],
            changes=data["set"],
            details=data["details"],
            occupancy=data["occupancy"],
        )


@dataclass(frozen=True, kw_only=True)
class Run:
    """The description of a run: the arguments of :func:`run`, checked on construction.

    Raises
    ------
    ConfigError
        For an unknown name or a bad value.
    """

    workload: Given
    protocol: str = "no-l1"
    machine: str | Path | Machine = "fermi"
    consistency: str | None = None
    scale: str = "small"
    seed: int = 0
    params: Mapping[str, object] | None = None
    check: bool | str = False
    set: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.workload, str) or ":" in self.workload:
            # Once, so that all uses of the run are of one object.
            object.__setattr__(self, "workload", find(self.workload))
        for what in ("params", "set"):
            given = getattr(self, what)
            if given is None:
                continue
            if not isinstance(given, Mapping):
                raise ConfigError(f"{what} = {given!r} is not a dictionary of names and values")
            for name in given:
                name_of(f"{what}:", name)

        if not isinstance(self.check, bool | str):
            raise ConfigError(f"check = {self.check!r} is not true, false or a name")

    @property
    def found(self) -> Workload:
        """The workload."""
        return find(self.workload)

    def validate(self) -> None:
        """Validate everything except the contents of input files, without running.

        Raises
        ------
        ConfigError
            For an unknown name or a bad value.
        """
        self.found.setting(self.scale, self.seed, self.params)
        resolve(self.protocol).rule(self.consistency)
        built, budget = self.machine_and_budget()
        natural("seed", self.seed, LARGEST_SEED)
        _fits(built, self.protocol, self.consistency, self.check, budget, self.deadlock_after)

    def machine_and_budget(self) -> tuple[Machine, int]:
        """The machine with the changes of ``set``, and the cycle budget, which ``set`` may contain."""
        changes = {name: value for name, value in (self.set or {}).items() if name not in _LIMITS}
        if "name" in changes:
            raise ConfigError("set cannot change a machine's name")
        base = machine(self.machine)
        return (base.replace(**changes) if changes else base), self._cycles_of("budget")

    @property
    def deadlock_after(self) -> int:
        """Core cycles without progress that end a launch; ``set`` may contain them."""
        return self._cycles_of("deadlock_after")

    def _cycles_of(self, name: str) -> int:
        """A limit of a launch in core cycles, which ``set`` may contain."""
        value = (self.set or {}).get(name, _LIMITS[name])
        try:
            return parse_whole(value)
        except ValueError:
            raise ConfigError(f"{name} = {value!r} is not a whole number of core cycles") from None

    def build(self) -> tuple[GPU, Workload]:
        """A new GPU for the run, and the workload."""
        built, budget = self.machine_and_budget()
        gpu = GPU(
            built,
            self.protocol,
            self.consistency,
            self.seed,
            self.check,
            budget=budget,
            deadlock_after=self.deadlock_after,
        )
        return gpu, self.found

    def carry_out(
        self,
        *,
        capture: bool = False,
        stop: threading.Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> RunResult:
        """Make the input, run the workload, check the result.

        Parameters
        ----------
        capture : bool, default False
            Return a run that ends in an error (deadlock, budget, protocol error, bad access) as a result that is
            not correct, instead of raising.
        stop : threading.Event, optional
            Setting it ends the run from another thread.
        progress : callable, optional
            Called with (finished blocks, blocks of the launch).
        """
        gpu, found = self.build()
        gpu.stop, gpu.progress = stop, progress
        with gpu:
            return self._carry_out_on(gpu, found, capture)

    def _carry_out_on(self, gpu: GPU, found: Workload, capture: bool) -> RunResult:
        instance = found.prepare(self.scale, self.seed, self.params)
        setting = found.setting(self.scale, self.seed, self.params)
        start = time.perf_counter()
        correct: bool | None = False
        mismatches, where, error, details = 0, "", None, {}
        try:
            outcome = instance.run(gpu)
            correct, mismatches, where = outcome.correct, outcome.mismatches, outcome.where
            details = dict(outcome.details)
        except (SimulationError, KernelError, WorkloadError) as failure:
            if not capture or (gpu.stop is not None and gpu.stop.is_set()):
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
    built: Machine,
    protocol: str,
    consistency: str | None,
    check: bool | str,
    budget: int,
    deadlock_after: int,
) -> None:
    """Construct a GPU to validate the configuration; cached, since the runs of a sweep share few of them."""
    GPU(built, protocol, consistency, check=check, budget=budget, deadlock_after=deadlock_after)


@short_traceback
def run(
    workload: Given,
    protocol: str = "no-l1",
    machine: str | Path | Machine = "fermi",
    consistency: str | None = None,
    scale: str = "small",
    seed: int = 0,
    params: Mapping[str, object] | None = None,
    check: bool | str = False,
    set: Mapping[str, object] | None = None,
    progress: bool = False,
    deadlock_after: int | None = None,
) -> RunResult:
    """Run one workload and check its result.

    Parameters
    ----------
    workload : str, Workload or callable
        Workload id or alias, which :func:`gpucoh.workloads` lists; ``"my_file.py:name"``; or a function as
        :func:`gpucoh.workload` describes it.
    protocol : str
        Protocol id, with options in brackets.
    machine : str, Path or Machine
        A preset, a TOML file or a description.
    consistency : str, optional
        Consistency rule; by default the paper's for the protocol.
    scale : {"tiny", "small", "paper"}
        Input size.
    seed : int
        Random seed of input and machine. Equal seeds give equal results except for ``wall_s``.
    params : dict, optional
        The workload's parameters.
    check : bool or {"protocol", "races", "kernel"}
        Check invariants, data races and the kernels' operations, or one of them, as in :class:`gpucoh.GPU`.
    set : dict, optional
        Machine fields to change, ``budget`` and ``deadlock_after``.
    deadlock_after : int, optional
        Core cycles without progress that end a launch, as in :class:`gpucoh.GPU`.
    progress : bool
        Show a progress bar on a terminal or in a notebook.

    Returns
    -------
    RunResult

    Raises
    ------
    ConfigError
        For an unknown name or a bad value.
    KernelError, SimulationError
        If the run ends in an error.
    WorkloadError
        If the function of a user's workload raises an exception.
    KeyboardInterrupt
        On Ctrl-C, at once; the run itself ends shortly after.

    Examples
    --------
    >>> import gpucoh
    >>> gpucoh.run("vec-cpy", protocol="ideal", scale="tiny").correct
    True
    """
    if deadlock_after is not None:
        set = {**(set or {}), "deadlock_after": deadlock_after}
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
    with blocks_bar(f"{wanted.found.id} {protocol}", enabled=progress) as report:
        return interruptible(lambda stop: wanted.carry_out(stop=stop, progress=report))
