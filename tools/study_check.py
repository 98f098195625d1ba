"""Run the part of the study that CI repeats, and compare its tables: ``study_check.py [--update]``.

The tables are in studies/check/. The rows are kept in build/study-check.parquet: after an interruption runs of the same
code are not repeated. With --update the tables are written instead of compared.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import gpucoh
from gpucoh.studies.tabulation import TABLES, Tables

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "studies/check"
# Tables that follow from all runs; each is a text that a reader can compare by eye.
CHECKED = (
    *("cells", "speedup", "regret", "scaling", "traffic", "energy", "pairs", "classes"),
    *("tuning", "busiest", "thresholds", "gaps", "failures"),
)


def text_of(tables: Tables, name: str) -> str:
    """A table as CSV with five significant digits, which no rounding of a library changes."""
    table = TABLES[name](tables)
    if "where" in table:  # texts with paths and numbers of lines
        table = table.drop(columns="where")
    return str(table.to_csv(index=False, float_format="%.5g"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="write the tables")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    (ROOT / "build").mkdir(exist_ok=True)
    tables = gpucoh.study(
        ROOT / "studies/check.toml",
        store=ROOT / "build/study-check.parquet",
        jobs=given.jobs,
        progress=True,
    )
    print(tables)
    differing = []
    for name in CHECKED:
        path, text = STORED / f"{name}.csv", text_of(tables, name)
        if given.update:
            STORED.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            differing.append(name)
            old = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            new = text.splitlines()
            changed = [line for line in new if line not in old]
            gone = [line for line in old if line not in new]
            print(
                f"{name}: {len(gone)} lines are stored and did not result, {len(changed)} are new",
                file=sys.stderr,
            )
            for line in gone[:3]:
                print(f"  - {line}", file=sys.stderr)
            for line in changed[:3]:
                print(f"  + {line}", file=sys.stderr)
    if differing:
        print(
            "where a change of results is meant: python tools/study_check.py --update",
            file=sys.stderr,
        )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
