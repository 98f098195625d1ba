"""Repeat a hundredth of a study's stored runs, drawn by the commit's hash, and compare: ``make study-repeat``.

``study_repeat.py [ideas|dies] [--one-in 100] [--draw TEXT] [--jobs 2]``. The rows are those of
studies/ideas-tables.parquet or dies-tables.parquet; each is compared in all that it stores but times and the code's
version. Exit status 1: a row differs.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import shown
from pages import ROOT
from tqdm import tqdm

from gpucoh.runs.keys import keys_of
from gpucoh.runs.runner import Run
from gpucoh.studies.matrices import Description
from gpucoh.studies.study import study_row

STUDIES = ROOT / "studies"
NAMES = ["workload", "protocol", "machine", "cores", "consistency", "seed"]
#: Columns that say which run it is, or that another machine or commit may change.
OTHER = {
    "key",
    "cpu_s",
    "version",
    "code",
    "verdict",
    "where",
    "matrix",
    "own_rule",
    "protocol_id",
    *NAMES,
}
ROUNDED = 1e-3  # of amounts and shares: the stored ones are rounded
Row = dict[str, Any]


def stored(study: str = "ideas") -> pd.DataFrame:
    """The stored rows, one for each matrix of a run, in an order that the file's does not change."""
    rows = pd.read_parquet(STUDIES / f"{study}-tables.parquet")
    rows["matrix"] = rows["matrix"].str.split(",")
    return rows.explode("matrix").sort_values(["matrix", *NAMES]).reset_index(drop=True)


def runs(study: str = "ideas") -> dict[tuple[object, ...], Run]:
    """Matrix and what tells its runs apart -> the run."""
    plan = Description(STUDIES / f"{study}.toml").plan()
    return {
        (place, *(plan.columns[key][name] for name in NAMES)): run
        for key, run in plan.runs.items()
        for place in plan.places[key]
    }


def place(row: Row) -> tuple[object, ...]:
    """The key of a row's run among the runs."""
    return tuple(row[name] for name in ("matrix", *NAMES))


def drawn(rows: pd.DataFrame, number: int, text: str) -> list[Row]:
    """Some of the rows. Equal texts draw equal rows."""
    places = random.Random(text).sample(range(len(rows)), number)
    return [dict(rows.iloc[place]) for place in places]


def absent(value: Any) -> bool:
    """Nothing, or NaN."""
    return value is None or value != value


def differing(row: Row, run: Run) -> Iterator[str]:
    """Run it again; what differs from the row, a text for each column."""
    fresh = study_row(run, keys_of([run])[0])
    for name in sorted(row.keys() - OTHER):
        was, now = row[name], fresh.get(name)
        if absent(was) and name != "error":
            continue  # kept for one matrix of the study alone
        if name.startswith(("term_", "share_", "busiest_")):
            least = 0 if name.startswith("term_") else ROUNDED
            same = now is not None and math.isclose(was, now, rel_tol=ROUNDED, abs_tol=least)
        else:
            same = was == now or (absent(was) and absent(now))
        if not same:
            yield f"{name} is {now}, and stored as {was}"


def main() -> int:
    """Exit status 1: a row differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", nargs="?", choices=("ideas", "dies"), default="ideas")
    parser.add_argument("--one-in", type=int, default=100)
    parser.add_argument("--draw", metavar="TEXT", help="default: the commit's hash")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    rows, known = stored(given.study), runs(given.study)
    draw = given.draw or shown.commit()
    chosen = drawn(rows, -(-len(rows) // given.one_in), draw)

    def again(row: Row) -> list[str]:
        return list(differing(row, known[place(row)]))

    wrong = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for row, found in zip(
            chosen, tqdm(pool.map(again, chosen), total=len(chosen)), strict=True
        ):
            wrong += bool(found)
            if found:
                what = ", ".join(map(str, place(row)))
                tqdm.write(f"{what}: {'; '.join(found)}", file=sys.stderr)
    print(f"{len(chosen)} of {len(rows)} stored runs, drawn by {draw}: {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
