"""Self-recognition: protocols that run as if they were hardware, named by their timing alone.

docs/hardware.md has the rule. The judge knows the pointer chase of the hidden machine, and no field of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpucoh.hardware.judgement import distance
from gpucoh.hardware.measured import Own
from gpucoh.hardware.timing import BATTERY, CURVES, LEVELS, LONGEST, Point, measure, run_points
from gpucoh.machines import Machine
from gpucoh.runs.store import open_store

#: One protocol of each family.
PROTOCOLS = (
    *("gpu-vi", "mesi", "tc-weak", "rcc-wo", "gpu-hrf", "denovo-hrf", "stc-mb", "qr"),
)  # fmt: skip

#: Largest relative change of a hidden machine's numbers.
SPREAD = 0.2

#: Of the L2's latency: from here on the first level of a chase shows no hits.
NO_HITS = 0.8


def hidden(preset: Machine, rng: np.random.Generator) -> Machine:
    """A machine whose cores, clock and latencies are within :data:`SPREAD` of a preset's."""

    def drawn(value: float, step: int = 1) -> int:
        return round(value * rng.uniform(1 - SPREAD, 1 + SPREAD) / step) * step

    clock = drawn(preset.core_mhz, 10)  # clocks need a common multiple
    l2 = drawn(preset.l2_round_trip)
    return preset.replace(
        cores=drawn(preset.cores),
        core_mhz=clock,
        l2_mhz=clock,
        noc_mhz=2 * clock,
        l1_latency=drawn(preset.l1_latency),
        l2_round_trip=l2,
        dram_round_trip=max(l2 + 1, drawn(preset.dram_round_trip)),
    )


def assumed(preset: Machine, chase: Mapping[str, float]) -> Machine:
    """The judge's machine: the preset with the latencies of a chase."""
    l1, l2, memory = (round(chase[level]) for level in LEVELS)
    if l1 > NO_HITS * l2:
        l1 = preset.l1_latency
    half = preset.l2_crossing // 2  # a chase's lines are in both halves
    return preset.replace(
        l1_latency=l1,
        l2_round_trip=l2 - half,
        dram_round_trip=max(l2 + 1, memory) - half,
    )


@dataclass(frozen=True)
class Named:
    """A hidden protocol, and the distance of each candidate to it."""

    hidden: str
    distances: Mapping[str, float]

    @property
    def named(self) -> str:
        """The nearest candidate."""
        return min(self.distances, key=lambda name: self.distances[name])

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        distances = {name: round(value, 4) for name, value in self.distances.items()}
        return {"hidden": self.hidden, "named": self.named, "distances": distances}


def _curves(values: Sequence[float]) -> list[list[float]]:
    """The battery's cycles by curve; a stopped run took :data:`LONGEST`, and no step less than one cycle."""
    out: dict[str, list[float]] = {curve: [] for curve in CURVES}
    for one, cycles in zip(BATTERY, values, strict=True):
        out[one.curve].append(LONGEST if math.isinf(cycles) else max(1.0, cycles))
    return list(out.values())


def recognise(
    preset: Machine,
    path: Path | None,
    *,
    protocols: Sequence[str] = PROTOCOLS,
    seed: int = 0,
    jobs: int = 1,
    progress: bool = False,
) -> list[Named]:
    """Run each protocol on a hidden machine, and name it by its curves.

    Parameters
    ----------
    preset : Machine
        The hidden machines are near it, and the judge's have its other fields.
    path : Path, optional
        Parquet file that keeps finished runs.
    protocols : sequence of str
    seed, jobs : int
        Seed of what is drawn; number of threads.
    progress : bool
    """
    rng = np.random.default_rng(seed)
    machines = {name: hidden(preset, rng) for name in protocols}
    seeds = {name: int(rng.integers(1, 1 << 31)) for name in protocols}

    def battery(protocol: str, machine: Machine, chosen: int) -> list[Point]:
        return [Point(protocol, machine, one, chosen, LONGEST) for one in BATTERY]

    with open_store(path) as store:

        def run(wanted: Mapping[Any, list[Point]]) -> dict[Any, list[float]]:
            every = (point for points in wanted.values() for point in points)
            found = run_points(every, store, jobs=jobs, progress=progress)
            return {key: [found[point.key] for point in points] for key, points in wanted.items()}

        seen = run({name: battery(name, machines[name], seeds[name]) for name in protocols})
        wanted: dict[tuple[str, str], list[Point]] = {}
        for name in protocols:
            chase = dict(zip(LEVELS, seen[name], strict=False))
            judge = assumed(preset, chase)
            wanted |= {(name, other): battery(other, judge, 0) for other in protocols}
        candidates = run(wanted)
    return [
        Named(
            name,
            {
                other: distance(_curves(seen[name]), _curves(candidates[name, other]))
                for other in protocols
            },
        )
        for name in protocols
    ]


def nearest(
    own: Own,
    path: Path | None,
    *,
    protocols: Sequence[str] = PROTOCOLS,
    jobs: int = 1,
    progress: bool = False,
) -> dict[str, float]:
    """The distance of each protocol to a measured GPU over all curves, the nearest first."""
    wanted = {
        name: [Point(name, own.machine, one, 0, LONGEST) for one in BATTERY] for name in protocols
    }
    found = measure(wanted.values(), path, jobs=jobs, progress=progress)
    seen = _curves([own.values[one.curve, one.point] for one in BATTERY])
    out = {
        name: distance(seen, _curves([found[point.key] for point in points]))
        for name, points in wanted.items()
    }
    return dict(sorted(out.items(), key=lambda item: item[1]))
