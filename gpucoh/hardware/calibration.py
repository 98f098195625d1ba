"""Whether a preset's own microbenchmarks give back what is published of its GPU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpucoh.hardware.published import Gpu
from gpucoh.hardware.timing import CHASE, Measure, Point, measure
from gpucoh.machines import machine

#: The protocol of the measurement: it has an L1 with hits, and reads have no further cost.
PROTOCOL = "gpu-hrf"

#: Largest relative difference of a latency and of a bandwidth in a calibrated preset.
LATENCY, BANDWIDTH = 0.05, 0.15

# KiB that a core reads: an L1 of each GPU holds the first; the L2 holds the second of all cores, if it can be so large.
_KIB = {"l1": 16, "l2": 256, "memory": 128}
_L2_PART = 0.9
_BUDGET = 10**8


@dataclass(frozen=True)
class Row:
    """A quantity, as published and as measured on the preset; None where no field of a machine reaches it."""

    gpu: str
    quantity: str
    unit: str
    published: float
    measured: float | None
    allowed: float
    source: str

    @property
    def difference(self) -> float | None:
        """Relative to the published one."""
        return None if self.measured is None else self.measured / self.published - 1

    @property
    def is_near(self) -> bool:
        """Whether the difference is allowed."""
        return self.difference is not None and abs(self.difference) <= self.allowed

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "gpu": self.gpu,
            "quantity": self.quantity,
            "unit": self.unit,
            "published": round(self.published, 1),
            "measured": None if self.measured is None else round(self.measured, 1),
            "difference": None if self.difference is None else round(self.difference, 4),
            "allowed": self.allowed,
            "near": self.is_near,
            "source": self.source,
        }


def _halves(gpu: Gpu) -> list[Measure]:
    """Chases through lines of one partition, which are near or far: one of each half."""
    built = machine(gpu.id)
    if not built.l2_crossing:
        return []
    stride = built.partitions * built.interleave_bytes
    kib = 512 * stride // 1024
    return [
        Measure(
            "halves",
            str(offset),
            "mb-chase",
            (("kib", kib), ("stride", stride), ("offset", offset), ("steps", 512)),
            1,
        )
        for offset in (0, stride // 2)
    ]


def _kib(gpu: Gpu, level: str) -> int:
    built, kib = machine(gpu.id), _KIB[level]
    while level == "l2" and kib * built.cores > _L2_PART * built.derived["l2_total_kib"]:
        kib //= 2
    return kib


def _bandwidths(gpu: Gpu) -> list[Measure]:
    return [
        Measure(
            "bandwidth",
            level,
            "mb-bandwidth",
            (("level", level), ("kib", _kib(gpu, level))),
            1,
            "bytes_per_cycle",
        )
        for level in gpu.bandwidth
    ]


def calibration(
    gpus: Sequence[Gpu],
    path: Path | None,
    *,
    bandwidths: bool = True,
    seed: int = 0,
    jobs: int = 1,
    progress: bool = False,
) -> list[Row]:
    """Measure the presets of GPUs, their bandwidths too, and compare them with what is published."""
    points = {
        gpu.id: [
            Point(PROTOCOL, machine(gpu.id), one, seed, _BUDGET)
            for one in (*CHASE, *_halves(gpu), *(_bandwidths(gpu) if bandwidths else ()))
        ]
        for gpu in gpus
    }
    found = measure(points.values(), path, jobs=jobs, progress=progress)
    out = []
    for gpu in gpus:
        values = {point.measure: found[point.key] for point in points[gpu.id]}
        by_level = {one.point: values[one] for one in values if one.curve == "chase"}
        for level, cycles in gpu.levels.items():
            ours = by_level.get("memory" if level == "memory_side" else level)
            if level == "memory" and "memory_side" in gpu.levels:
                ours = None
            if level in ("l2", "l2_far") and "l2_far" in gpu.levels:
                halves = sorted(values[one] for one in _halves(gpu))
                ours = halves[0 if level == "l2" else -1]
            source = gpu.sources["chase"]
            out.append(Row(gpu.id, f"latency, {level}", "cycles", cycles, ours, LATENCY, source))
        built = machine(gpu.id)
        scale = built.cores * built.core_mhz / 1000
        for one, rate in values.items():
            if one.curve == "bandwidth" and not math.isinf(rate):
                part = built.cores / gpu.cores  # of a preset that is a part of a GPU
                published, source = gpu.bandwidth[one.point] * part, gpu.sources[one.point]
                out.append(
                    Row(
                        gpu.id,
                        f"bandwidth, {one.point}",
                        "GB/s",
                        published,
                        rate * scale,
                        BANDWIDTH,
                        source,
                    )
                )
    return out


def is_calibrated(rows: Sequence[Row], gpu: str) -> bool:
    """Whether all quantities of a GPU are near the published ones."""
    return all(row.is_near for row in rows if row.gpu == gpu)
