"""Which scopes and lines a megakernel's flags need on dies: ``tests/verification/flags.toml`` and ``docs/flags.md``.

    python tools/flags.py --run --explore [WHAT ...]   run and explore all rows or these; note what is found
    python tools/flags.py --run --explore -p NAME,..   the same under these protocols alone, beside what is noted
    python tools/flags.py --docs                       write the tables of docs/flags.md

A row is a change of ``examples/cuda/megakernel.cu``. It is run with each layout of counter and flags under every
protocol with a memory model, with several seeds. A model of it, two blocks on two dies, is explored completely, and
judged by PTX's model (tools/all_reduce.py).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
from all_reduce import EXAMPLES, ROOT, Row, command, ends_of, grouped, read_rows, ungrouped
from generated import table
from real_bugs import coherent

import gpucoh

FACTS = ROOT / "tests" / "verification" / "flags.toml"
PAGE = ROOT / "docs" / "flags.md"
#: The layouts, by the program's LINES.
LAYOUTS = {"1": "one line", "2": "two lines", "3": "a line each"}
MACHINE = "mi300x-small"
FIELDS = {
    "lanes_per_warp": 32,
    "start_skew": 256,
}  # CUDA's warps; blocks start in an order of the seed's
SEEDS = range(3)
DEADLOCK_AFTER = 2_000_000  # core cycles
CHECKED_UNDER = "mesi"
SHARED_WORDS = 1 << 13  # at least those of the program's `Shared`
FIGURES = ("cycles", "bytes")
ENDS = ("right", "wrong", "hangs")  # by the kind of the program's fault


@functools.cache
def kernel_of(options: tuple[str, ...]) -> Any:
    return gpucoh.cuda.Module(EXAMPLES / "megakernel.cu", options=options)["megakernel"]


class Run(NamedTuple):
    """``right``, ``wrong`` (an old word), ``hangs``, ``race`` or an error; core cycles, and bytes between dies."""

    end: str
    cycles: int = 0
    bytes: int = 0


def ran(row: Row, lines: str, protocol: str, seed: int = 0, check: bool = False) -> Run:
    """How the row's program ends with this layout, and what it costs."""
    kernel = kernel_of((*row.get("options", ()), f"-DLINES={lines}"))
    with gpucoh.GPU(
        machine=MACHINE,
        set=FIELDS,
        protocol=protocol,
        seed=seed,
        deadlock_after=DEADLOCK_AFTER,
        check=check,
    ) as gpu:
        shared, fault = gpu.zeros(SHARED_WORDS, np.uint32), gpu.zeros(6, np.int32)
        try:
            gpu.launch(kernel, grid=gpu.machine.cores, block=64, args=(shared, fault))
        except gpucoh.DeadlockError:
            return Run("hangs")
        except gpucoh.SimulationError as error:
            return Run("race" if "data race" in str(error) else str(error))
        statistics = gpu.stats().to_dict()
        moved = sum(link["bytes"] for link in statistics["links"].values())
        return Run(ENDS[int(fault.numpy()[0])], statistics["cycles"], moved)


def run_row(row: Row, names: Sequence[str]) -> None:
    """Note how the program ends, by layout: end if not right -> protocols; and the means of timed rows."""
    for lines in LAYOUTS:
        ends = {}
        for name in names:
            runs = [ran(row, lines, name, seed) for seed in SEEDS]
            ends[name] = worst(runs)
            if row.get("timed"):
                for figure in FIGURES:
                    noted = row.setdefault(figure, {}).setdefault(lines, {})
                    noted[name] = round(mean(getattr(run, figure) for run in runs))
        noted = row.setdefault("ran", {})
        noted[lines] = grouped(ungrouped(noted.get(lines, {})) | ends)
    row["check"] = ran(row, "1", CHECKED_UNDER, check=True).end
    print(row["what"], row["ran"], flush=True)


def worst(runs: Sequence[Run]) -> str:
    """How several runs end together: an error counts before a hang, a hang before a wrong word."""
    return max(
        (run.end for run in runs), key=lambda end: ENDS.index(end) if end in ENDS else len(ENDS)
    )


def ends_table() -> str:
    """How each row ends."""
    head = ("", "PTX promises it", "every execution of the model", "`--check`", *LAYOUTS.values())
    lines = [
        (
            row["what"],
            "" if "ptx" not in row else "yes" if row["ptx"] else "no",
            "no model" if "explored" not in row else ends_of(row["explored"]),
            row["check"],
            *(ends_of(row["ran"][lines]) for lines in LAYOUTS),
        )
        for row in read_rows(FACTS)
    ]
    return table(head, lines)


def cost_table() -> str:
    """Thousands of core cycles and kilobytes between dies, of both ways to raise a flag and each layout."""
    timed = [row for row in read_rows(FACTS) if row.get("timed") in ("stores", "atomics")]
    head = ("", *(f"{row['timed']}, {layout}" for row in timed for layout in LAYOUTS.values()))
    lines = [
        (
            f"`{name}`",
            *(
                f"{row['cycles'][lines][name] / 1000:.1f}, {row['bytes'][lines][name] / 1000:.0f}"
                for row in timed
                for lines in LAYOUTS
            ),
        )
        for name in coherent()
    ]
    return table(head, lines)


def scopes_compared() -> str:
    """In how many cells system scope costs what device scope does."""
    device, system = (
        next(row for row in read_rows(FACTS) if row.get("timed") == kind)
        for kind in ("stores", "system scope")
    )
    cells = [(name, lines) for name in coherent() for lines in LAYOUTS]
    differ = [
        f"`{name}`, {LAYOUTS[lines]}"
        for name, lines in cells
        if any(device[figure][lines][name] != system[figure][lines][name] for figure in FIGURES)
    ]
    text = f"System scope has the cycles and bytes of device scope in {len(cells) - len(differ)} of {len(cells)} cells"
    return f"{text}; not in {'; '.join(differ)}." if differ else f"{text}."


PARTS = {
    "scopes of flags": ends_table,
    "cost of flags": cost_table,
    "scopes compared": scopes_compared,
}


def main() -> int:
    return command(__doc__, FACTS, run_row, PAGE, PARTS)


if __name__ == "__main__":
    raise SystemExit(main())
