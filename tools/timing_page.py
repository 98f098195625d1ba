"""Write the tables and the figure of timing of docs/hardware.md: ``timing_page.py --judged FILE ...``.

The files are what `gpucoh hardware --timing --json` printed: of all protocols, with --calibration, and with --self, of
which several may be given. A part whose file is missing stays.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import generated
from generated import table
from pages import ROOT

from gpucoh.hardware.curves import draw_curves
from gpucoh.hardware.judgement import CUT_OFF, compare
from gpucoh.hardware.timing import BLOCKS, LEVELS, Judged, of_ids, timing
from gpucoh.machines import machine

STOPPED = f"> {CUT_OFF}x"


def judged(item: Mapping[str, Any]) -> Judged:
    """A protocol and GPU as the command printed it."""
    (gpu,) = of_ids([item["gpu"]])
    barrier = tuple(math.inf if value is None else value for value in item["barrier"])
    chase = {level: math.inf if value is None else value for level, value in item["chase"].items()}
    fit = None if gpu.barrier is None else compare(barrier, gpu.barrier.cycles)
    return Judged(item["protocol"], gpu.id, chase, item["chase_published"], barrier, fit)


def errors(found: Sequence[Judged], over: Mapping[str, str]) -> str:
    """Error, ratio and shape by protocol and GPU, and the verdicts."""
    gpus = list(dict.fromkeys(item.gpu for item in found))
    by_pair = {(item.protocol, item.gpu): item for item in found}
    rows = []
    for name, verdict in over.items():
        mine = [by_pair[name, gpu] for gpu in gpus]
        levels = ((level, what) for one in mine for level, what in one.levels.items())
        chase = sorted({level for level, what in levels if what == "contradicts"})
        rows.append((f"`{name}`", *(_cell(one) for one in mine), ", ".join(chase) or "-", verdict))
    return table(("protocol", *gpus, "chase contradicts", "over all"), rows)


def _cell(item: Judged) -> str:
    fit = item.fit
    if fit is None or math.isinf(fit.error):
        return STOPPED
    text = f"{fit.error:.0%} / {fit.ratio:.2f} / {fit.shape:.0%}"
    marks = {"agrees": "**", "undecided": "", "contradicts": "~~"}
    return marks[fit.verdict] + text + marks[fit.verdict]


def curves(found: Sequence[Judged], protocol: str) -> str:
    """A protocol's curves beside the GPUs'."""
    rows: list[tuple[str, ...]] = []
    for item in found:
        if item.protocol == protocol:
            (gpu,) = of_ids([item.gpu])
            known = gpu.barrier.cycles if gpu.barrier else ()
            levels = (f"{item.published[level]:.0f}" for level in LEVELS)
            rows.append((gpu.name, *levels, *(f"{one:,.0f}" for one in known)))
            levels = (f"{item.chase[level]:.0f}" for level in LEVELS)
            rows.append((f"`{protocol}`", *levels, *(f"{one:,.0f}" for one in item.barrier)))
    return table(("", *LEVELS, *map(str, BLOCKS)), rows)


#: What the machine gained for these measurements -> the same machine without it.
GAINED = {
    "as the presets": {},
    "without `fence_trip`": {"fence_trip": 0},
    "without `f64_cycles`": {"f64_cycles": 0},
    "without both": {"fence_trip": 0, "f64_cycles": 0},
    "without the options of memory order": dict.fromkeys(
        ("relaxed_unordered", "block_fences_free", "word_order", "fence_drains"), 0
    ),
}


def gained(protocol: str) -> str:
    """A protocol's error, ratio and shape without what the machine gained: measured here, in seconds."""
    gpus = of_ids(None)
    rows = []
    for name, changes in GAINED.items():
        machines = {gpu.id: machine(gpu.id).replace(**changes) for gpu in gpus}
        found = timing([protocol], gpus, None, machines=machines)
        mean = sum(item.fit.error for item in found if item.fit) / len(found)
        rows.append((name, *(_cell(item) for item in found), f"{mean:.1%}"))
    return table(("`" + protocol + "`", *(gpu.id for gpu in gpus), "mean error"), rows)


def calibration(data: Mapping[str, Any]) -> str:
    """The presets' own microbenchmarks."""
    rows: list[tuple[str, ...]] = []
    for row in data["rows"]:
        measured, difference = row["measured"], row["difference"]
        rows.append(
            (
                f"`{row['gpu']}`",
                row["quantity"],
                row["unit"],
                f"{row['published']:,.0f}",
                "no field" if measured is None else f"{measured:,.0f}",
                "-" if difference is None else f"{difference:+.1%}",
                "yes" if row["near"] else "**no**",
                row["source"].split(" ", 2)[2],
            )
        )
    near = [f"`{name}`" for name, is_so in data["calibrated"].items() if is_so]
    head = ("machine", "quantity", "unit", "published", "measured", "difference", "near", "file")
    return table(head, rows) + f"\n\nCalibrated: {', '.join(near) or 'none'}."


def blocks(data: Mapping[str, Any]) -> str:
    """What a block of one warp takes on each GPU, and on its preset as a share of that, without and with its start."""
    of_gpu: dict[str, dict[str, Any]] = {}
    for row in data["blocks"]:
        of_gpu.setdefault(row["gpu"], {})[row["kernel"]] = row
    kernels = tuple(dict.fromkeys(row["kernel"] for row in data["blocks"]))
    rows = []
    for gpu, found in of_gpu.items():
        cells = (found[kernel] for kernel in kernels)
        shares = (
            f"{one['published']:,.0f}: {one['without'] / one['published']:.2f}, "
            f"{one['measured'] / one['published']:.2f}"
            for one in cells
        )
        rows.append((f"`{gpu}`", next(iter(found.values()))["use"], *shares))
    return table(("machine", "use", *kernels), rows)


def confusion(files: Sequence[Mapping[str, Any]]) -> str:
    """How often each hidden protocol was named as which."""
    names = [item["hidden"] for item in files[0]["hidden"]]
    count = dict.fromkeys(((a, b) for a in names for b in names), 0)
    for data in files:
        for item in data["hidden"]:
            count[item["hidden"], item["named"]] += 1
    rows = [(f"`{a}`", *(str(count[a, b] or "") for b in names)) for a in names]
    draws = ", ".join(
        f"`{data['machine']}` seed {data['seed']}: {data['named_right']} of {len(names)}"
        for data in files
    )
    return (
        table(("hidden \\ named", *(f"`{b}`" for b in names)), rows) + f"\n\nNamed right: {draws}."
    )


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def main() -> None:
    """Write the parts whose files are given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--judged", metavar="FILE", type=Path)
    parser.add_argument("--calibration", metavar="FILE", type=Path)
    parser.add_argument("--self", dest="hidden", metavar="FILE", nargs="+", type=Path)
    given = parser.parse_args()
    parts: dict[str, Callable[[], str]] = {}
    if given.judged is not None:
        data = _read(given.judged)
        found = [judged(item) for item in data["judged"]]
        parts["timing"] = lambda: errors(found, data["verdicts"])
        parts["curves"] = lambda: curves(found, "gpu-hrf")
        parts["gained"] = lambda: gained("gpu-hrf")
        figure = draw_curves(found, of_ids(list(data["gpus"])))
        figure.savefig(ROOT / "docs" / "figures" / "timing.png", dpi=150)
    if given.calibration is not None:
        parts["calibration"] = lambda: calibration(_read(given.calibration))
        parts["blocks"] = lambda: blocks(_read(given.calibration))
    if given.hidden:
        parts["recognition"] = lambda: confusion([_read(file) for file in given.hidden])
    generated.rewrite_named(ROOT / "docs" / "hardware.md", parts)


if __name__ == "__main__":
    main()
