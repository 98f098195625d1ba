"""The measurement of timing: microbenchmarks on machines of published latencies, under every protocol.

:func:`timing` runs the curves that a GPU has published numbers of and judges them (:mod:`gpucoh.hardware.judgement`);
:func:`battery` runs all curves on any machine.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpucoh.base.errors import BudgetError, ConfigError, KernelError, SimulationError
from gpucoh.base.wording import unknown
from gpucoh.device.gpu import GPU
from gpucoh.hardware.judgement import (
    CONTRADICTS,
    CUT_OFF,
    Fit,
    compare,
    of_level,
    worst,
)
from gpucoh.hardware.published import GPUS, Gpu
from gpucoh.machines import Machine, machine
from gpucoh.runs import works
from gpucoh.runs.store import Store, open_store
from gpucoh.suite import workload

#: Threads a block of the barrier's curve.
BLOCKS = (32, 64, 128, 256, 512, 1024)
WARM, PASSES = 4, 28

#: Levels of the chase: KiB of the array, passes over it before the measured steps, and measured steps.
LEVELS = {"l1": (4, 1, 512), "l2": (1024, 1, 512), "memory": (16384, 0, 512)}

#: Core cycles of a step after which a run without a published time is stopped.
LONGEST = 100_000


@dataclass(frozen=True)
class Measure:
    """One point of a curve: a run of a workload, of whose outcome's details one is its value."""

    curve: str
    point: str
    workload: str
    params: tuple[tuple[str, int | str], ...]
    steps: int  # those of the whole launch, for its budget
    detail: str = "cycles"


def _measure(curve: str, point: object, budget: int, **params: int | str) -> Measure:
    return Measure(curve, str(point), "mb-" + curve, tuple(params.items()), budget)


CHASE = tuple(
    _measure("chase", level, warm * kib * 8 + steps, kib=kib, warm=warm, steps=steps)
    for level, (kib, warm, steps) in LEVELS.items()
)
BARRIER = tuple(
    _measure("barrier", block, WARM + PASSES, block=block, warm=WARM, passes_=PASSES)
    for block in BLOCKS
)
_OTHERS = (
    _measure("atomics", "dependent", 65, kind="dependent", steps=64),
    _measure("atomics", "contended", 16, kind="contended", steps=16),
    *(
        _measure("fence", f"{kind}-{stores}-{lines}", 33, kind=kind, stores=stores, lines=lines, steps=32)
        for kind, stores, lines in (
            ("nothing", 1, "warm"),
            ("fence", 0, "warm"),
            ("fence", 1, "warm"),
            ("fence", 1, "cold"),
            ("fence", 8, "warm"),
            ("release", 1, "warm"),
            ("release", 1, "cold"),
            ("acquire", 0, "warm"),
        )
    ),
    _measure("flag", "flag", 64, message=0, rounds=64),
    _measure("flag", "message", 64, message=1, rounds=64),
)  # fmt: skip

#: All curves, in their order: self-recognition and measured GPUs use them.
BATTERY = CHASE + _OTHERS + BARRIER
CURVES = tuple(dict.fromkeys(one.curve for one in BATTERY))


_CODE = ("hardware", "suite")  # parts of the package on which a row depends beside those of a run


@dataclass(frozen=True)
class Point:
    """One measure under one protocol on one machine: a unit of work that gives a row.

    Attributes
    ----------
    limit : float
        Core cycles of a step after which the run is stopped.
    """

    protocol: str
    machine: Machine
    measure: Measure
    seed: int
    limit: float

    @property
    def key(self) -> str:
        """The key of its row."""
        one = self.measure
        parts = (self.protocol, self.machine.to_core(), one.workload, one.params, self.seed)
        return works.key_of(_CODE, "timing", *parts, self.limit)

    def carry_out(self, stop: threading.Event | None = None) -> dict[str, Any]:
        """The row: ``measured`` cycles, ``stopped`` where the run took more than its limit, or ``failed``."""
        if stop is not None and stop.is_set():
            raise SimulationError("stopped")
        budget = max(1000, round(self.limit * self.measure.steps))
        cycles, verdict, where = math.inf, "measured", ""
        instance = workload(self.measure.workload).prepare("small", 0, dict(self.measure.params))
        try:
            with GPU(self.machine, self.protocol, seed=self.seed, budget=budget) as gpu:
                outcome = instance.run(gpu)
            cycles = outcome.details[self.measure.detail]
            if not outcome.correct:
                verdict, where = "failed", outcome.where
        except BudgetError:
            verdict = "stopped"
        except (SimulationError, KernelError) as error:
            verdict, where = "failed", str(error).splitlines()[0]
        return works.row(
            self,
            _CODE,
            None,
            verdict=verdict,
            where=where,
            workload=f"{self.measure.workload} {self.measure.point}",
            machine=self.machine.name,
            scale="small",
            seed=self.seed,
            measured=cycles,
        )


def measure(
    points: Iterable[Iterable[Point]], path: Path | None, *, jobs: int, progress: bool
) -> dict[str, float]:
    """:func:`run_points` with a store that the file keeps."""
    with open_store(path) as store:
        return run_points(itertools.chain(*points), store, jobs=jobs, progress=progress)


def run_points(
    points: Iterable[Point], store: Store, *, jobs: int, progress: bool
) -> dict[str, float]:
    """The cycles of all points by key, infinite where a run was stopped; rows that exist are taken.

    Raises
    ------
    SimulationError
        If a run fails or its result is wrong.
    """
    wanted = {point.key: point for point in points}
    rows = works.rows_of(
        wanted.values(),
        store,
        jobs=jobs,
        progress=progress,
        kind=lambda point: (point.protocol, point.measure.workload),
    )
    for key, point in wanted.items():
        if rows[key]["verdict"] == "failed":
            raise SimulationError(
                f"{point.measure.workload} ({point.measure.point}) under {point.protocol} on {point.machine.name}: "
                f"{rows[key]['where']}"
            )
    return {key: float(row["measured"]) for key, row in rows.items()}


@dataclass(frozen=True)
class Judged:
    """A protocol against a GPU.

    Attributes
    ----------
    protocol, gpu : str
    chase : dict
        Level -> core cycles a load under the protocol.
    published : dict
        Level -> the GPU's.
    barrier : tuple of float
        Core cycles a pass by :data:`BLOCKS`; infinite where a run was stopped.
    fit : Fit, optional
        The barrier's curve against the GPU's, if it has one.
    """

    protocol: str
    gpu: str
    chase: Mapping[str, float]
    published: Mapping[str, float]
    barrier: tuple[float, ...]
    fit: Fit | None

    @property
    def levels(self) -> dict[str, str]:
        """Verdict by level of the chase."""
        return {
            level: CONTRADICTS if math.isinf(cycles) else of_level(cycles, self.published[level])
            for level, cycles in self.chase.items()
        }

    @property
    def verdict(self) -> str:
        """The worst of chase and barrier."""
        found = [*self.levels.values()]
        return worst(found if self.fit is None else [*found, self.fit.verdict])

    def to_dict(self) -> dict[str, Any]:
        """Plain data; what was stopped is None."""

        def number(value: float) -> float | None:
            return None if math.isinf(value) else round(value, 4)

        fit = self.fit
        return {
            "protocol": self.protocol,
            "gpu": self.gpu,
            "verdict": self.verdict,
            "chase": {level: number(cycles) for level, cycles in self.chase.items()},
            "chase_published": dict(self.published),
            "chase_verdicts": self.levels,
            "barrier": [number(cycles) for cycles in self.barrier],
            "barrier_verdict": None if fit is None else fit.verdict,
            "error": None if fit is None else number(fit.error),
            "ratio": None if fit is None else number(fit.ratio),
            "shape": None if fit is None else number(fit.shape),
        }


def reached(gpu: Gpu) -> dict[str, float]:
    """The levels of a GPU's chase that a machine has: the mean of both halves of an L2, and what is behind it."""
    levels = gpu.levels
    near = levels["l2"]
    return {
        "l1": levels["l1"],
        "l2": (near + levels.get("l2_far", near)) / 2,
        "memory": levels.get("memory_side") or levels["memory"],
    }


def of_ids(names: Sequence[str] | None) -> list[Gpu]:
    """The published GPUs with these ids; by default those with a barrier's curve.

    Raises
    ------
    ConfigError
        For an unknown id.
    """
    if not names:
        return [gpu for gpu in GPUS.values() if gpu.is_judged]
    for name in names:
        if name not in GPUS:
            raise ConfigError(unknown("GPU", name, GPUS))
    return [GPUS[name] for name in dict.fromkeys(names)]


def points_of(gpu: Gpu, built: Machine, protocol: str, seed: int) -> list[Point]:
    """The points that a GPU has published numbers of."""
    levels = reached(gpu)
    out = [
        Point(protocol, built, one, seed, CUT_OFF * max(levels.values())) for one in CHASE
    ]  # a level may have the latency of one behind it
    if gpu.barrier is not None:
        cycles = dict(zip(gpu.barrier.blocks, gpu.barrier.cycles, strict=True))
        out += [Point(protocol, built, one, seed, CUT_OFF * cycles[int(one.point)]) for one in BARRIER]  # fmt: skip
    return out


def timing(
    protocols: Sequence[str],
    gpus: Sequence[Gpu],
    path: Path | None,
    *,
    machines: Mapping[str, Machine] | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: bool = False,
) -> list[Judged]:
    """Judge protocols by GPUs' published curves.

    Parameters
    ----------
    protocols : sequence of str
    gpus : sequence of Gpu
        Each with a preset of its id, or a machine.
    path : Path, optional
        Parquet file that keeps finished runs.
    machines : dict, optional
        GPU's id -> its machine, where it is not the preset of that id.
    seed, jobs : int
        Random seed of the machines; number of threads.
    progress : bool

    Returns
    -------
    list of Judged
        GPU by GPU, in the order of the protocols.
    """
    built = {gpu.id: (machines or {}).get(gpu.id) or machine(gpu.id) for gpu in gpus}
    pairs = [(gpu, name) for gpu in gpus for name in protocols]
    points = {(gpu.id, name): points_of(gpu, built[gpu.id], name, seed) for gpu, name in pairs}
    found = measure(points.values(), path, jobs=jobs, progress=progress)
    out = []
    for gpu, name in pairs:
        cycles = [found[point.key] for point in points[gpu.id, name]]
        chase, barrier = cycles[: len(CHASE)], tuple(cycles[len(CHASE) :])
        fit = None if gpu.barrier is None else compare(barrier, gpu.barrier.cycles)
        by_level = dict(zip(LEVELS, chase, strict=True))
        out.append(Judged(name, gpu.id, by_level, reached(gpu), barrier, fit))
    return out


def over_gpus(judged: Sequence[Judged]) -> dict[str, str]:
    """Each protocol's verdict over the GPUs: the worst."""
    names = dict.fromkeys(item.protocol for item in judged)
    return {name: worst(one.verdict for one in judged if one.protocol == name) for name in names}
