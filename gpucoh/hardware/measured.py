"""A user's own GPU: what ``bench.cu`` prints, read as a GPU with curves like the published ones."""

from __future__ import annotations

import importlib.resources
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.hardware.published import Barrier, Gpu
from gpucoh.hardware.timing import BATTERY, BLOCKS, CURVES, LEVELS
from gpucoh.machines import Machine, machine

HEAD = "gpucoh-timing"
_FORM = "1"
_HEADERS = ("card", "driver", "clock_mhz", "cores")
_LEAST_MHZ, _MOST_MHZ, _MOST_CORES = 100, 10_000, 256


@dataclass(frozen=True)
class Own:
    """A measured GPU.

    Attributes
    ----------
    gpu : Gpu
        Its chase and barrier.
    values : dict
        Curve and point -> core cycles, of all curves.
    driver : str
    machine : Machine
        The machine that judges it: ``h100`` with its cores, clock and chase.
    """

    gpu: Gpu
    values: Mapping[tuple[str, str], float]
    driver: str
    machine: Machine


def source() -> str:
    """The CUDA file of the microbenchmarks."""
    file = importlib.resources.files("gpucoh.hardware") / "bench.cu"
    return file.read_text(encoding="utf-8")


def read(path: Path) -> Own:
    """Read what ``bench.cu`` printed; lines that follow an empty one are ignored.

    Raises
    ------
    ConfigError
        If the file cannot be read, is none of these, or lacks a measurement.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {getattr(error, 'strerror', None) or 'no text'}") from None
    lines = text.split("\n\n")[0].splitlines()
    if not lines or lines[0].split() != [HEAD, _FORM]:
        raise ConfigError(
            f"{path}: the first line is not {quoted(f'{HEAD} {_FORM}')}: give what the program of gpucoh hardware "
            "--cuda printed"
        )
    heads: dict[str, str] = {}
    values: dict[tuple[str, str], float] = {}
    for number, line in enumerate(lines[1:], 2):
        words = line.split()
        if words and words[0] in _HEADERS:
            heads[words[0]] = " ".join(words[1:])
        else:
            curve, point, cycles = _line(path, number, words)
            values[curve, point] = cycles
    for name in _HEADERS:
        if not heads.get(name):
            raise ConfigError(f"{path}: the line {quoted(name)} is missing")
    for one in BATTERY:
        if (one.curve, one.point) not in values:
            raise ConfigError(f"{path}: the line {quoted(f'{one.curve} {one.point}')} is missing")
    return _own(path, heads, values)


def _line(path: Path, number: int, words: list[str]) -> tuple[str, str, float]:
    try:
        curve, point, text = words
        cycles = float(text)
    except ValueError:
        cycles = math.nan
    if not (0 < cycles < math.inf) or words[0] not in (*CURVES, "bandwidth"):
        raise ConfigError(
            f"{path}, line {number}: {quoted(' '.join(words))} is not a curve, its point and a positive number "
            f"(curves: {', '.join(CURVES)}, bandwidth)"
        )
    return curve, point, cycles


def _whole(path: Path, heads: Mapping[str, str], name: str, least: int, most: int) -> int:
    text = heads[name]
    if not text.isdecimal() or not least <= int(text) <= most:
        raise ConfigError(f"{path}: {name} is {quoted(text)} (allowed: {least} to {most})")
    return int(text)


def _own(path: Path, heads: Mapping[str, str], values: Mapping[tuple[str, str], float]) -> Own:
    core_mhz = _whole(path, heads, "clock_mhz", _LEAST_MHZ, _MOST_MHZ)
    cores = _whole(path, heads, "cores", 1, _MOST_CORES)
    names = (*LEVELS, "l2_far")
    levels = {level: values["chase", level] for level in names if ("chase", level) in values}
    if not levels["l1"] <= levels["l2"] < levels["memory"]:
        raise ConfigError(
            f"{path}: the chase's levels do not grow: l1 {levels['l1']}, l2 {levels['l2']}, memory {levels['memory']}"
        )
    gpu = Gpu(
        id="measured",
        name=heads["card"],
        core_mhz=core_mhz,
        cores=cores,
        levels=levels,
        chase=tuple((kib, levels[level]) for level, (kib, _, _) in LEVELS.items()),
        barrier=Barrier(
            kernel="counter",
            blocks=BLOCKS,
            cycles=tuple(values["barrier", str(block)] for block in BLOCKS),
            source=str(path),
        ),
        stream=None,
        bandwidth={
            level: rate * cores * core_mhz / 1000  # printed as bytes a cycle and SM
            for (curve, level), rate in values.items()
            if curve == "bandwidth"
        },
        sources={"chase": str(path), "barrier": str(path)},
    )
    clock = round(core_mhz, -1)  # clocks need a common multiple
    crossing = max(0, round(levels.get("l2_far", levels["l2"]) - levels["l2"]))
    built = machine("h100").replace(
        cores=cores,
        core_mhz=clock,
        l2_mhz=clock,
        noc_mhz=2 * clock,
        l1_latency=round(levels["l1"]),
        l2_round_trip=round(levels["l2"]),
        l2_crossing=crossing,
        dram_round_trip=max(round(levels["l2"]) + 1, round(levels["memory"]) - crossing // 2),
    )
    kept = {(one.curve, one.point): values[one.curve, one.point] for one in BATTERY}
    return Own(gpu, kept, heads["driver"], built)
