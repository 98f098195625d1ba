"""The part of ``gpucoh hardware`` that measures timing: --timing, --self, --calibration, --measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from gpucoh.base.errors import ConfigError
from gpucoh.base.files import results_folder
from gpucoh.base.late import LATE_IMPORT
from gpucoh.cli.options import print_json, stdout_console
from gpucoh.device.gpu import absolute, protocols
from gpucoh.hardware.judgement import CUT_OFF
from gpucoh.hardware.published import GPUS
from gpucoh.machines import machine
from gpucoh.terminal import tables

if TYPE_CHECKING:
    from gpucoh.hardware.calibration import Row
    from gpucoh.hardware.recognition import Named
    from gpucoh.hardware.streams import BlockRow
    from gpucoh.hardware.timing import Judged

STOPPED = f"> {CUT_OFF}x"


def judge(
    names: Sequence[str],
    gpu_ids: Sequence[str],
    measured: Path | None,
    store: Path | None,
    out: Path | None,
    *,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Judge protocols by GPUs' published curves, and by those of a file."""
    with LATE_IMPORT:
        from gpucoh.hardware.measured import read
        from gpucoh.hardware.recognition import nearest
        from gpucoh.hardware.timing import of_ids, over_gpus, timing
    own = None if measured is None else read(measured)
    given = [absolute(name) for name in names] or list(protocols())
    gpus = of_ids(gpu_ids) if gpu_ids or own is None else []
    progress = not as_json
    machines = {}
    if own is not None:
        gpus, machines = [*gpus, own.gpu], {own.gpu.id: own.machine}
    judged = timing(given, gpus, store, machines=machines, seed=seed, jobs=jobs, progress=progress)
    distances = (
        {} if own is None else nearest(own, store, protocols=given, jobs=jobs, progress=progress)
    )
    if out is not None:
        with LATE_IMPORT:
            from gpucoh.figures.plots import save
            from gpucoh.hardware.curves import draw_curves
        with results_folder(out):
            save(draw_curves(judged, gpus), out, "timing")
    if as_json:
        data = {
            "judged": [item.to_dict() for item in judged],
            "verdicts": over_gpus(judged),
            "gpus": {
                gpu.id: {
                    "name": gpu.name,
                    "sources": dict(gpu.sources),
                    "barrier": None if gpu.barrier is None else list(gpu.barrier.cycles),
                }
                for gpu in gpus
            },
        }
        print_json(data | ({"distances": distances} if own is not None else {}))
        return
    console = stdout_console()
    for gpu in gpus:
        mine = [item for item in judged if item.gpu == gpu.id]
        known = () if gpu.barrier is None else gpu.barrier.cycles
        _print_gpu(console, f"{gpu.id}: {gpu.name}", gpu.core_mhz, known, mine)
    if len(gpus) > 1:
        _print_verdicts(console, judged, over_gpus(judged))
    if own is not None:
        console.print(
            f"\nall curves, driver {own.driver}: distance, nearest first", highlight=False
        )
        tables_of = [[name, f"{value:.3f}"] for name, value in distances.items()]
        console.print(tables.plain_table(["protocol", "distance"], tables_of, right=(1,)))


def _cycles(value: float) -> str:
    return STOPPED if math.isinf(value) else f"{value:,.0f}"


def _print_gpu(
    out: Console, title: str, mhz: int, known: Sequence[float], judged: Sequence[Judged]
) -> None:
    with LATE_IMPORT:
        from gpucoh.hardware.timing import BLOCKS, LEVELS
    heads = ["protocol", *LEVELS]
    published = judged[0].published
    row: list[object] = ["GPU", *(f"{published[level]:.0f}" for level in LEVELS)]
    if known:
        heads += [*map(str, BLOCKS), "error", "ratio", "shape"]
        row += [*map(_cycles, known), "", "", ""]
    rows: list[list[object]] = [[*row, ""]]
    for item in judged:
        row = [item.protocol, *(_cycles(item.chase[level]) for level in LEVELS)]
        if item.fit is not None:
            fit = item.fit
            stopped = math.isinf(fit.error)
            numbers = (f"{fit.error:.0%}", f"{fit.ratio:.2f}", f"{fit.shape:.0%}")
            row += [*map(_cycles, item.barrier), *(("-",) * 3 if stopped else numbers)]
        rows.append([*row, item.verdict])
    out.print(
        f"\n{title}, cycles at {mhz} MHz: chase by level, barrier by threads a block",
        highlight=False,
    )
    out.print(tables.plain_table([*heads, "verdict"], rows, right=tuple(range(1, len(heads)))))


def _print_verdicts(out: Console, judged: Sequence[Judged], over: Mapping[str, str]) -> None:
    gpus = list(dict.fromkeys(item.gpu for item in judged))
    by_pair = {(item.protocol, item.gpu): item.verdict for item in judged}
    rows = [[name, *(by_pair[name, gpu] for gpu in gpus), over[name]] for name in over]
    out.print("\nverdicts", highlight=False)
    out.print(tables.plain_table(["protocol", *gpus, "all"], rows))


def recognise_all(preset: str, store: Path | None, *, seed: int, jobs: int, as_json: bool) -> None:
    """Name hidden protocols, and print the matrix of distances."""
    with LATE_IMPORT:
        from gpucoh.hardware.recognition import recognise
    found = recognise(machine(preset), store, seed=seed, jobs=jobs, progress=not as_json)
    right = sum(item.named == item.hidden for item in found)
    if as_json:
        print_json({"machine": preset, "seed": seed, "named_right": right,
                    "hidden": [item.to_dict() for item in found]})  # fmt: skip
        return
    console = stdout_console()
    _print_matrix(console, found)
    console.print(f"named right: {right} of {len(found)}", highlight=False)


def _print_matrix(out: Console, found: Sequence[Named]) -> None:
    names = list(found[0].distances)
    rows = [
        [item.hidden, *(f"{item.distances[name]:.3f}" for name in names), item.named]
        for item in found
    ]
    out.print(tables.plain_table(["hidden", *names, "named"], rows, right=tuple(range(1, 1 + len(names)))))  # fmt: skip


def calibrate(
    gpu_ids: Sequence[str], store: Path | None, *, seed: int, jobs: int, as_json: bool
) -> None:
    """Compare presets' own microbenchmarks with what is published."""
    with LATE_IMPORT:
        from gpucoh.hardware.calibration import PROTOCOL, calibration, is_calibrated
        from gpucoh.hardware.streams import block_rows
        from gpucoh.hardware.timing import of_ids
    gpus = of_ids(gpu_ids or list(GPUS))
    rows = calibration(gpus, store, seed=seed, jobs=jobs, progress=not as_json)
    calibrated = {gpu.id: is_calibrated(rows, gpu.id) for gpu in gpus}
    blocks = block_rows(gpus, PROTOCOL, seed)
    if as_json:
        print_json(
            {
                "rows": [row.to_dict() for row in rows],
                "calibrated": calibrated,
                "blocks": [row.to_dict() for row in blocks],
            }
        )
        return
    console = stdout_console()
    heads = ["machine", "quantity", "unit", "published", "measured", "difference", "allowed", ""]
    console.print(tables.plain_table(heads, [_row(row) for row in rows], right=(3, 4, 5, 6)))
    for name, is_so in calibrated.items():
        console.print(f"{name}: {'calibrated' if is_so else 'not calibrated'}", highlight=False)
    if blocks:
        heads = [
            "machine",
            "one warp a core",
            "",
            "published",
            "without the start of a block",
            "with",
        ]
        console.print(tables.plain_table(heads, [_block(row) for row in blocks], right=(3, 4, 5)))


def _block(row: BlockRow) -> list[object]:
    cycles = (row.published, row.without, row.measured)
    return [row.gpu, row.kernel, row.use, *(f"{one:,.0f}" for one in cycles)]


def _row(row: Row) -> list[object]:
    difference, measured = row.difference, row.measured
    return [
        row.gpu,
        row.quantity,
        row.unit,
        f"{row.published:,.0f}",
        "-" if measured is None else f"{measured:,.0f}",
        "-" if difference is None else f"{difference:+.1%}",
        f"{row.allowed:.0%}",
        "near" if row.is_near else "no field" if measured is None else "far",
    ]


def refuse(options: Mapping[str, object], mode: str) -> None:
    """Refuse options of the other mode.

    Raises
    ------
    ConfigError
        If one of them is given.
    """
    for name, value in options.items():
        if value not in (None, False, ()):
            raise ConfigError(f"{name} is not an option of gpucoh hardware {mode}")
