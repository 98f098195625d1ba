"""Write the measured tables of docs/fidelity/PAPER.md: `make fidelity PAPER=tc SCALE=small`.

The script replaces the text between `<!-- TABLE PAPER SCALE -->` and `<!-- end -->` for one paper and scale, in the
table of verdicts, `<!-- verdicts PAPER -->`, the columns of the scale, and the paper's readings, `<!-- readings PAPER
-->`; the rest of the page explains the tables and is written by hand. The table of docs/fidelity.md follows from those
of the pages. The runs are kept in a file as they finish: after an interruption the next call continues. Disagreements
without a recorded reason are listed on standard error.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import generated

from gpucoh.base.errors import ConfigError
from gpucoh.cli.options import seeds
from gpucoh.papers import load, scorecard
from gpucoh.papers.pages import TABLES, readings_table, scorecard_table
from gpucoh.papers.runs import bench_of
from gpucoh.papers.study import reason_of
from gpucoh.papers.verdicts import HERE

NAMES = {"tc": "TC", "rcc": "RCC", "denovo": "DeNovo", "stc": "STC", "qr": "QuickRelease"}
COLUMNS = ("paper", "scale", "seeds", "size", "direction", "no", "not measured")
DECLARED = ("declared: size", "no", "by outcome", "not measured", "page")
# The counts that a page's table of verdicts begins with, and the seeds of its runs.
COUNTS = r"^- {column}: \d+ claims: (\d.*)\.$"
SEEDS = r"^Scale {scale}, seeds? ([\d, ]+)"

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "fidelity"
OVERVIEW = ROOT / "docs" / "fidelity.md"


def summary(pages: Path) -> str:
    """The number of verdicts of every page, scale and kind of claim, as a table in Markdown."""
    rows = [(*COLUMNS, *DECLARED), ["---"] * (len(COLUMNS) + len(DECLARED))]
    for paper, name in NAMES.items():
        text = (pages / f"{paper}.md").read_text(encoding="utf-8")
        for scale, column in HERE.items():
            counted = re.search(COUNTS.format(column=column), text, re.MULTILINE)
            listed = re.search(SEEDS.format(scale=scale), text, re.MULTILINE)
            if not counted:
                continue
            behaviour, declared = re.findall(r"\((.*?)\)", counted[1])
            number = {word: count for count, word in re.findall(r"(\d+) ([\w ]+)", declared)}
            row = [name, scale, str(len(listed[1].split(","))) if listed else "-"]
            row += re.findall(r"\d+", behaviour)
            row += [number.get(word, "0") for word in ("size", "no", "by outcome", "not measured")]
            rows.append([*row, f"[{name}](fidelity/{paper}.md)"])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--paper", default="tc")
    parser.add_argument("--scale", default="small")
    parser.add_argument(
        "--seeds", help="a number, or a comma list; default: 5 at small, 1 at paper"
    )
    parser.add_argument(
        "--other-seeds", help="those of variants, bars and inputs; default: as the claims"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", type=Path, help="default: docs/fidelity/PAPER.md")
    parser.add_argument("--store", type=Path, help="default: build/fidelity-PAPER-SCALE.parquet")
    given = parser.parse_args()
    paper = load(given.paper)
    store = given.store or ROOT / "build" / f"fidelity-{given.paper}-{given.scale}.parquet"
    store.parent.mkdir(exist_ok=True)
    bench = bench_of(
        paper,
        scale=given.scale,
        seeds=seeds(given.seeds or ("1" if given.scale == "paper" else "5"), 0),
        other_seeds=seeds(given.other_seeds, 0) if given.other_seeds else (),
        jobs=given.jobs,
        progress=True,
        store=store,
        shorter=True,
    )

    page = given.page or PAGES / f"{given.paper}.md"

    def measured(part: str) -> str | None:
        table, *which = part.split()
        if part == f"verdicts {given.paper}":
            print(part, file=sys.stderr)
            return scorecard_table(paper, bench, generated.part_of(page, part))
        if part == f"readings {given.paper}":
            return readings_table(paper)
        if which != [given.paper, given.scale]:
            return None
        print(part, file=sys.stderr)
        return TABLES[table](paper, bench)

    generated.rewrite(page, measured)
    if not given.page:
        generated.rewrite_named(OVERVIEW, {"verdicts of all papers": lambda: summary(PAGES)})
    for verdict in scorecard(paper, bench):
        if verdict.agrees == "no" and not reason_of(paper.id, verdict.id, given.scale):
            print(f"{verdict.id} does not agree, and no reason is recorded", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted: finished runs are kept, the same command continues")
    except ConfigError as error:
        sys.exit(str(error))
