"""Published measurements of GPUs, from published.toml: which are fitted, judged and compared, docs/hardware.md says."""

from __future__ import annotations

import importlib.resources
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PASS_BYTES = 65_536  # of the barrier's pass: 4,096 doubles loaded and stored
#: Bytes of a block of 32 threads by which the rates of the streams count: a double a thread and array.
BLOCK_BYTES = {"init": 256, "read": 256, "scale": 512, "triad": 1024}


@dataclass(frozen=True)
class Barrier:
    """The cycles of a pass with a barrier of the whole grid, by threads a block; ``kernel`` is how blocks meet."""

    kernel: str
    blocks: tuple[int, ...]
    cycles: tuple[float, ...]
    source: str


@dataclass(frozen=True)
class Stream:
    """The core cycles of a block of one warp by kernel, with one block a core; ``use`` is fit, judge or compare."""

    use: str
    cycles: Mapping[str, float]
    source: str


@dataclass(frozen=True)
class Gpu:
    """A GPU's measurements.

    Attributes
    ----------
    id, name : str
    core_mhz, cores : int
    levels : dict
        Core cycles a dependent load by level: l1, l2, l2_far, memory_side, memory.
    chase : tuple of tuple
        Points of the pointer chase: KiB and core cycles a load.
    barrier : Barrier, optional
    stream : Stream, optional
    bandwidth : dict
        GB/s by level: l1, l2, memory.
    sources : dict
        File of each, with the repository and commit.
    """

    id: str
    name: str
    core_mhz: int
    cores: int
    levels: Mapping[str, float]
    chase: tuple[tuple[float, float], ...]
    barrier: Barrier | None
    stream: Stream | None
    bandwidth: Mapping[str, float]
    sources: Mapping[str, str]

    @property
    def is_judged(self) -> bool:
        """Whether it has a barrier's curve."""
        return self.barrier is not None


def _cycles(rate: float, core_mhz: int) -> float:
    """Core cycles of a pass from GB/s."""
    return PASS_BYTES / (rate * 1e9) * core_mhz * 1e6


def _stream(data: Mapping[str, Any], core_mhz: int, cores: int, source: str) -> Stream:
    """Core cycles of a block from GB/s of all cores."""
    cycles = {
        kernel: BLOCK_BYTES[kernel] * cores / (rate * 1e9) * core_mhz * 1e6
        for kernel, rate in data["rates"].items()
    }
    return Stream(data["use"], cycles, source)


def _gpu(name: str, data: Mapping[str, Any], sources: Mapping[str, Mapping[str, str]]) -> Gpu:
    def source(part: Mapping[str, Any], file: str) -> str:
        where = sources[part["source"]]
        return f"{where['repository']} {where['commit'][:7]} {file}"

    chase, core_mhz = data["chase"], data["core_mhz"]
    levels = {level: point[1] for level, point in chase["levels"].items()}
    if "far_step" in chase:
        levels["l2_far"] = levels["l2"] + chase["far_step"]
    barrier = None
    found = {"chase": source(chase, chase["file"])}
    if "barrier" in data:
        part = data["barrier"]
        found["barrier"] = source(part, part["file"])
        barrier = Barrier(
            kernel=part["kernel"],
            blocks=tuple(part["blocks"]),
            cycles=tuple(_cycles(rate, core_mhz) for rate in part["rates"]),
            source=found["barrier"],
        )
    stream = None
    if "stream" in data:
        found["stream"] = source(data["stream"], data["stream"]["file"])
        stream = _stream(data["stream"], core_mhz, data["cores"], found["stream"])
    rows = data["bandwidth"]["rows"]
    found |= {row["level"]: source(data["bandwidth"], row["file"]) for row in rows}
    return Gpu(
        id=name,
        name=data["name"],
        core_mhz=core_mhz,
        cores=data["cores"],
        levels=levels,
        chase=tuple((kib, cycles) for kib, cycles in chase["points"]),
        barrier=barrier,
        stream=stream,
        bandwidth={row["level"]: row["rate"] for row in rows},
        sources=found,
    )


def _read() -> dict[str, Gpu]:
    file = importlib.resources.files("gpucoh.hardware") / "published.toml"
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: _gpu(name, gpu, data["source"]) for name, gpu in data["gpu"].items()}


#: The published GPUs by the id of their preset.
GPUS = _read()
