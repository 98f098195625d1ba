"""Compare pages with the stores in this tree that they are written from: `make check`.

A store is a file of rows, a file of facts, or another page: counts and causes of a fidelity page follow from the cells
of its table, its readings from the paper's file, and the overview from the pages. Parts whose store is not in the tree
(`make fidelity`, `gpucoh growth`, `gpucoh hardware`) are not compared; tests compare those that follow from the code.
Exit status 1: a page differs.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import all_reduce
import correlation
import dies_page
import fidelity
import flags
import generated
import real_bugs
import study_page
import study_second
import time_faults
from generated import Maker
from pages import ROOT

from gpucoh.papers import load
from gpucoh.papers.pages import readings_table
from gpucoh.papers.verdicts import reassembled


def stored() -> Iterator[tuple[Path, Mapping[str, Maker], str]]:
    """Page, its parts by name, and the command that writes them."""
    for paper in fidelity.NAMES:
        page, part = fidelity.PAGES / f"{paper}.md", f"verdicts {paper}"
        before = generated.part_of(page, part)
        parts = {
            part: functools.partial(reassembled, load(paper), before),
            f"readings {paper}": functools.partial(readings_table, load(paper)),
        }
        yield page, parts, f"make fidelity PAPER={paper}"
    overview = {"verdicts of all papers": functools.partial(fidelity.summary, fidelity.PAGES)}
    yield fidelity.OVERVIEW, overview, "make fidelity"
    yield real_bugs.PAGE, {"real bugs": real_bugs.table}, "python tools/real_bugs.py --docs"
    yield all_reduce.PAGE, all_reduce.PARTS, "python tools/all_reduce.py --docs"
    yield flags.PAGE, flags.PARTS, "python tools/flags.py --docs"
    yield correlation.PAGE, correlation.PARTS, "python tools/correlation.py --page"
    yield study_page.PAGE, study_page.tree().parts(), "make study-page"
    yield study_second.PAGE, study_second.parts(), "python tools/study_second.py"
    yield dies_page.PAGE, dies_page.tree().parts(), "make dies"
    faults = {time_faults.PART: time_faults.stored}
    yield time_faults.PAGE, faults, "python tools/time_faults.py --page"


def differing() -> Iterator[str]:
    """A line for each part that differs from its store."""
    for page, parts, command in stored():
        for name, make in parts.items():
            if generated.part_of(page, name) != f"{make()}\n":
                yield f"{page.relative_to(ROOT)}: `{name}` differs from its store: {command}"


def main() -> int:
    """Print what differs."""
    found = list(differing())
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
