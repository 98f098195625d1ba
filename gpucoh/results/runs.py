"""The result of one run: what ran, the verdict, every counter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpucoh.base import markup
from gpucoh.base.doors import door, reading
from gpucoh.base.errors import ConfigError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.results.columns import Setup, statistics, varied, with_types
from gpucoh.results.profile import Profile
from gpucoh.results.series import Series
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

if TYPE_CHECKING:
    import pandas as pd

    from gpucoh.results.trace.trace import Trace

# Counters of the run object that come from the core, in order.
_COUNTS = (
    *("cycles", "instructions", "thread_instructions", "memory_instructions", "rollovers"),
    *("launches", "events"),
)
# How the error of a run begins whose process has ended before it had a result.
_ENDED = ("crashed: ", "limit: ", "signal: ")
_WHAT = ("workload", "protocol", "machine", "consistency", "model", "scale", "seed")
_VERDICT = ("correct", "mismatches", "where", "error", "wall_s", "cpu_s")
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
    "links",
    "energy",
    "core",
    "histograms",
    "counters",
    "storage",
    "busy",
    "transitions",
    "check",
)
# Keys of a run's dictionary -> mappings of the run.
_MAPPINGS = {"params": "params", "set": "changes"} | {
    name: name for name in ("configuration", "occupancy", "details", "options")
}
# Of protocols with such controllers, versions that count it, machines with a CPU cache or dies, and runs that check.
_OPTIONAL = ("l3", "global", "host", "busy", "cpu", "links", "check")


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
    cpu_s : float or None
        Processor time in seconds; None of a run whose process has ended, and of a file of an older version.
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
    options : dict
        Every option of the protocol, with its value: a number, a word, or true and false.
    protocol_sha256 : str or None
        The hash of the protocol's C file, for one outside the package.
    version : str
        The version of gpucoh that ran it.
    notes : tuple of str
        Doubts about the input file, and changed machine fields that nothing of this run reads.
    series : Series, optional
        Of a run with ``every``: :attr:`intervals`, :attr:`launches` and :attr:`cores`.
    profiled : Profile, optional
        Of a run with ``profile=True``: :attr:`profile`.
    traced : Trace, optional
        Of a run with ``trace``: :attr:`trace`; :meth:`to_dict` leaves it out.
    seconds : dict
        Processor time by phase: ``input``, ``compilation`` of kernels, ``core``, and ``check``, which also copies
        data to and from the GPU; :meth:`to_dict` leaves it out.
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
    cpu_s: float | None = None
    stats: Stats
    params: Mapping[str, Any]
    configuration: Mapping[str, Any]
    changes: Mapping[str, Any]
    details: Mapping[str, Any] = field(default_factory=dict)
    occupancy: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    protocol_sha256: str | None = None
    version: str = ""
    notes: tuple[str, ...] = ()
    series: Series | None = None
    profiled: Profile | None = None
    traced: Trace | None = None
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)

    @property
    def cycles(self) -> int:
        """Core cycles of all launches."""
        return self.stats.cycles

    @property
    def verdict(self) -> str:
        """``correct``, ``wrong``, the error's kind, ``unchecked``, or ``differs`` (output from the baseline's)."""
        if self.error:
            return {"DeadlockError": "deadlock", "BudgetError": "hung"}.get(self.error, "failed")
        unchecked = "differs" if self.where else "unchecked"
        return {True: "correct", False: "wrong", None: unchecked}[self.correct]

    @property
    def counts_as_failure(self) -> bool:
        """Whether a comparison must report it: a wrong result although a model is promised, or a simulator error."""
        broken = self.error in ("ProtocolError", "SimulationError") or is_ended(self.error)
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

    @property
    def intervals(self) -> pd.DataFrame:
        """Counters by interval of ``every`` core cycles; the first one is ``begin``. Rows sum to :attr:`table`."""
        return self._recorded.intervals

    @property
    def launches(self) -> pd.DataFrame:
        """Counters by launch, with kernel, grid and block. Rows sum to :attr:`table`."""
        return self._recorded.launches

    @property
    def cores(self) -> pd.DataFrame:
        """Counters of each core and its L1. Rows sum to :attr:`table`."""
        return self._recorded.cores

    @property
    def profile(self) -> Profile:
        """Where cycles, hits, misses and flits go; of a run with ``profile=True``."""
        if self.profiled is None:
            raise ConfigError(
                f"the run of {self.workload} under {self.protocol} has no profile: give run(..., profile=True)"
            )
        return self.profiled

    @property
    def trace(self) -> Trace:
        """The events of some lines and cycles; of a run with ``trace``."""
        if self.traced is None:
            raise ConfigError(
                f"the run of {self.workload} under {self.protocol} has no trace: give run(..., trace=True), or "
                'trace={"array": "NAME"} for the lines of one array'
            )
        return self.traced

    @property
    def _recorded(self) -> Series:
        if self.series is None:
            raise ConfigError(
                "this run was not recorded: give run(..., every=10_000), the core cycles of an interval"
            )
        return self.series

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
        if busiest := self.stats.busiest:
            rows.append(
                ("busiest part", f"{busiest['part']}, {busiest['share']:.0%} of the cycles")
            )
        rows.append(("wall clock", f"{self.wall_s:.2f} s"))
        rows += [("note", note) for note in self.notes]
        if self.protocol_sha256 is not None:
            rows.append(("protocol file", f"sha256 {self.protocol_sha256}"))
        return markup.table(("", ""), rows, self.workload) + self.stats._repr_html_()

    @property
    def protocol_id(self) -> str:
        """The protocol without its options."""
        return protocol_id(self.protocol)

    @property
    def setup(self) -> Setup:
        """What the run is made of, for the columns of a study."""
        own = self.changes.keys() == self.configuration.keys()
        return Setup(
            protocol=self.protocol,
            options=self.options,
            fields=self.configuration,
            changed=() if own else list(self.changes),
            own=own,
            params=self.params,
        )

    @door
    def row(self, counters: str = "usual") -> dict[str, Any]:
        """The run as one flat row: what ran, the verdict, counters as columns (``l1_load_hits`` ..).

        Parameters
        ----------
        counters : {"usual", "all"}
            ``"all"`` adds every other statistic: ``core_load_latency_cycles``, ``traffic_READ_flits`` ..; histograms
            and transitions are lists.
        """
        row: dict[str, Any] = {name: getattr(self, name) for name in _WHAT}
        row["protocol_id"] = self.protocol_id
        if self.protocol_sha256 is not None:
            row["protocol_sha256"] = self.protocol_sha256
        row |= {
            "correct": self.correct,
            "verdict": self.verdict,
            "mismatches": self.mismatches,
            "where": self.where,
        }
        if not is_ended(self.error):
            row |= statistics(self.stats, counters)
        return row | {"wall_s": self.wall_s, "cpu_s": self.cpu_s}

    @property
    def table(self) -> pd.DataFrame:
        """The run as a table of one row: every statistic, the changed machine fields, options and parameters."""
        return table_of([self], "all")

    def to_dict(self) -> dict[str, Any]:
        """The run as a plain dictionary, as ``gpucoh run --json`` prints it."""
        out: dict[str, Any] = {name: getattr(self, name) for name in _WHAT}
        out |= {name: self.stats.get(name, 0) for name in _COUNTS}
        out |= {name: getattr(self, name) for name in _VERDICT}
        for name in _GROUPS:
            group = self.stats.get(name)
            if group is None and name in _OPTIONAL:
                continue
            out[name] = group.to_dict() if isinstance(group, Group) else group
        out["busiest"] = self.stats.busiest
        if self.protocol_sha256 is not None:
            out["protocol_sha256"] = self.protocol_sha256
        out |= {key: dict(getattr(self, name)) for key, name in _MAPPINGS.items()}
        out |= {"version": self.version, "notes": list(self.notes)}
        for name, part in (("series", self.series), ("profile", self.profiled)):
            if part is not None:
                out[name] = part.to_dict()
        return out

    @classmethod
    @door
    def from_dict(cls, data: Mapping[str, Any]) -> RunResult:
        """The run whose :meth:`to_dict` this is."""
        with reading("data is not a run's dictionary"):
            return cls._read(data)

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> RunResult:
        counted = [name for name in (*_COUNTS, *_GROUPS) if name in data]
        return cls(
            **{name: data[name] for name in (*_WHAT, *_VERDICT) if name != "cpu_s"},
            cpu_s=data.get("cpu_s"),  # of an older version: none
            stats=Stats({name: data[name] for name in counted}),
            **{name: data[key] for key, name in _MAPPINGS.items()},
            version=data["version"],
            notes=tuple(data.get("notes", ())),
            series=Series.from_dict(data["series"]) if "series" in data else None,
            profiled=Profile(data["profile"]) if "profile" in data else None,
        )


def protocol_id(protocol: str) -> str:
    """A protocol without its options."""
    return protocol.partition("[")[0].strip()


def is_ended(error: object) -> bool:
    """Whether the error of a run says that its process ended before there was a result.

    Examples
    --------
    >>> is_ended("crashed: SIGSEGV"), is_ended("DeadlockError"), is_ended(None)
    (True, False, False)
    """
    return isinstance(error, str) and error.startswith(_ENDED)


def table_of(runs: Sequence[RunResult], counters: str = "usual") -> pd.DataFrame:
    """Runs as a table with one row each: what ran, the verdict, statistics, and what the runs vary."""
    rows = [
        run.row(counters) | more
        for run, more in zip(runs, varied([run.setup for run in runs]), strict=True)
    ]
    with LATE_IMPORT:
        import pandas as pd

    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return with_types(pd.DataFrame(columns), columns)
