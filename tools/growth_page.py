"""Write the tables and the figure of docs/verification/growth.md: ``growth_page.py [FILE] [--complete [ID:RULE ..]]``.

FILE is what `gpucoh growth --json` printed, of all protocols. ``--complete`` explores the default bounds of the
protocols and rules in that table, and of those that are given, some ten minutes of a processor. The tables of one that
is not given stay as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import generated
from generated import table
from pages import ROOT

from gpucoh.verify.explorer import verify
from gpucoh.verify.growth import Exploration, Point, number_of, points
from gpucoh.verify.growth_figure import draw

PAGE = ROOT / "docs" / "verification" / "growth.md"
STATES = 100_000_000
PROGRAM_STATES = 10_000_000
#: Two and three equal cores; the other sizes have cores that differ.
EQUAL = (Point(2, 1, 3), Point(3, 1, 2))


def listed(part: str) -> list[tuple[str, str]]:
    """Protocol and second column of each row of a table of the page, which is the only list of them."""
    text = PAGE.read_text(encoding="utf-8").partition(f"<!-- {part} -->")[2]
    return re.findall(r"^\| `([\w-]+)` \| ([^|]*) \|", text.partition("<!-- end -->")[0], re.M)


def explored(pair: tuple[str, str]) -> tuple[int, tuple[str, ...]]:
    """The states of a protocol at the default bounds, and its row.

    Raises
    ------
    SystemExit
        If a program was not explored to its end, or a violation was found.
    """
    name, rule = pair
    start = time.process_time()
    found = verify(name, consistency=rule, max_states=STATES, program_states=PROGRAM_STATES)
    seconds = time.process_time() - start
    if not found.complete or found.violations:
        raise SystemExit(f"{name}, {rule}: {'violated' if found.violations else 'not complete'}")
    numbers = [f"{found.states:,}", f"{found.transitions:,}", str(found.depth), f"{seconds:.0f}"]
    return found.states, (f"`{name}`", rule, f"all {found.programs:,}", *numbers)


def complete(more: Sequence[str], jobs: int) -> str:
    """The table of what is explored completely at the default bounds, fewest states first: its rows and more."""
    head = ("protocol", "rule", "programs", "states", "transitions", "depth", "processor time, s")
    pairs = [
        *listed("complete"),
        *((name, rule) for name, _, rule in (new.partition(":") for new in more)),
    ]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return table(head, [row for _, row in sorted(pool.map(explored, pairs))])


def growth(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table of states by size."""
    found = {(row["protocol"], row["cores"], row["lines"], row["operations"]): row for row in rows}
    rules = {row["protocol"]: row["consistency"] for row in rows}
    head = ("protocol", "rule", *[".".join(map(str, size)) for size in points()])
    return table(
        head,
        [
            (f"`{name}`", rule, *[number_of(found[name, *size]) for size in points()])
            for name, rule in rules.items()
        ],
    )


def symmetry() -> str:
    """The table of states once and each, of programs whose cores are equal."""
    lines = []
    for name in dict.fromkeys(name for name, _ in listed("symmetry")):
        for point in EQUAL:
            works = (
                Exploration(name, "rc", point, states=PROGRAM_STATES, symmetry=merged)
                for merged in (True, False)
            )
            once, each = (work.carry_out()["states"] for work in works)
            what = f"{point.cores} cores, {point.lines} line, {point.operations} operations"
            lines.append((f"`{name}`", what, f"{once:,}", f"{each:,}", f"{each / once:.2f}"))
    return table(("protocol", "program", "once", "each", "ratio"), lines)


def main() -> None:
    """Write the parts of the page and docs/figures/growth.png."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--complete", nargs="*", metavar="ID:RULE", help="also the default bounds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("file", type=Path, nargs="?", help="what `gpucoh growth --json` printed")
    given = parser.parse_args()
    parts: dict[str, Callable[[], str]] = {}
    if given.file is not None:
        rows = json.loads(given.file.read_text(encoding="utf-8"))
        parts = {"growth": lambda: growth(rows), "symmetry": symmetry}
        draw(rows).savefig(ROOT / "docs" / "figures" / "growth.png", dpi=150)
    if given.complete is not None:
        parts["complete"] = lambda: complete(given.complete, given.jobs)
    generated.rewrite_named(PAGE, parts)


if __name__ == "__main__":
    main()
