"""The result of one run: what ran, the verdict, every counter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpucoh.base import markup
from gpucoh.results.stats import (
    Cache,
    Check,
    Core,
    Counters,
    Cpu,
    Dram,
    Energy,
    Group,
    Histograms,
    Stalls,
    Stats,
    Storage,
    Traffic,
)

# Counters of the run object that come from the core, in order.
_COUNTS = ("cycles", "instructions", "thread_instructions", "memory_instructions", "rollovers")
_WHAT = ("workload", "protocol", "machine", "consistency", "model", "scale", "seed")
_VERDICT = ("correct", "mismatches", "where", "error", "wall_s")
_GROUPS = (
    "l1",
    "l2",
    "l3",
    "global",
    "host",
    "traffic",
    "stalls",
    "dram",
    "cpu",
    "energy",
    "core",
    "histograms",
    "counters",
    "storage",
    "check",
)
# Of protocols with such controllers, machines with a CPU cache, and runs that check.
_OPTIONAL = ("l3", "global", "host", "cpu", "check")


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
    version : str
        The version of gpucoh that ran it.
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
    version: str = ""

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
    def cpu(self) -> Cpu:
        """Counters of the CPU cache; only of a machine with one."""
        return self.stats.cpu

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
        for group in ("l1", "l2", "dram", "cpu", "stalls", "energy"):
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
            if group is None and name in _OPTIONAL:
                continue
            out[name] = group.to_dict() if isinstance(group, Group) else group
        out |= {
            "params": dict(self.params),
            "set": dict(self.changes),
            "configuration": dict(self.configuration),
            "occupancy": dict(self.occupancy),
            "details": dict(self.details),
            "version": self.version,
        }
        return out

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RunResult:
        """The run whose :meth:`to_dict` this is."""
        counted = [name for name in (*_COUNTS, *_GROUPS) if name in data]
        return cls(
            **{name: data[name] for name in (*_WHAT, *_VERDICT)},
            stats=Stats({name: data[name] for name in counted}),
            params=data["params"],
            configuration=data["configuration"],
            changes=data["set"],
            details=data["details"],
            occupancy=data["occupancy"],
            version=data["version"],
        )
