"""``make shown``: do the runs that the pages show still end, with right results, in about the stored number of cycles?

    python tools/shown.py [--scale tiny|small] [--one-in N] [--draw TEXT] [--only TEXT] [--jobs 2] [--store]

The runs are those of the five papers' scorecards, derived from the claims: protocol with its options, machine with its
fields, ``start_skew`` among them, workload with its parameters. With ``--one-in N`` it runs an Nth of them, drawn by
the text of ``--draw`` (by default the commit's hash), each with one of the pages' five seeds. A run fails that ends in
an error (a deadlock; a message or a request left in the network or the memory), whose result is wrong under a protocol
that promises a memory model, or whose cycles differ from those of tests/papers/shown.csv: with seed 0, which is stored,
at all; with another, by more than three times. ``--store`` writes that file's column, of the runs whose names begin
with ``--only`` if it is given. Exit status 1: a run failed.
"""

from __future__ import annotations

import argparse
import csv
import random
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from gpucoh.papers import load, papers
from gpucoh.papers.runs import bench_of
from gpucoh.papers.scorecard import planned
from gpucoh.runs.runner import Run

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "tests" / "papers" / "shown.csv"
SCALES = ("tiny", "small")
SEEDS = range(5)  # those of the pages at scale small
MOST = 3  # times the stored cycles
SHORTEST = 1_000_000  # cycles that every launch may take

Stored = dict[str, dict[str, int]]  # run -> scale -> cycles


def shown(scale: str) -> dict[str, Run]:
    """The runs of all scorecards with seed 0, by their names in the stored file."""
    runs = [
        run
        for paper in map(load, papers())
        for bench, pairs in planned(paper, bench_of(paper, scale=scale), paper.claims)
        for run in bench.wanted(pairs).values()
    ]
    return {named(run): run for run in runs}


def named(run: Run) -> str:
    """What a run is made of but for its scale and seed; some sizes of inputs depend on the scale."""
    words = [str(run.workload), "-p", run.protocol, "-m", str(run.machine)]
    for option, given in (("--param", run.params), ("--set", run.set)):
        for name, value in sorted((given or {}).items()):
            words += [option, f"{name}={value}"]
    return shlex.join(words)


def command(name: str, run: Run) -> str:
    """The command that repeats a run."""
    return f"gpucoh run {name} --scale {run.scale} --seed {run.seed}"


def drawn(runs: dict[str, Run], one_in: int, text: str) -> dict[str, Run]:
    """A part of the runs, each with one of the pages' seeds. Equal texts draw equal parts."""
    draw = random.Random(text)
    names = draw.sample(sorted(runs), -(-len(runs) // one_in))
    return {name: replace(runs[name], seed=draw.choice(SEEDS)) for name in names}


def commit() -> str:
    """The hash of the commit, or "none" outside a checkout."""
    asked = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "none"


def read(path: Path = STORED) -> Stored:
    """The stored cycles."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            row["run"]: {scale: int(row[scale]) for scale in SCALES if row[scale]}
            for row in csv.DictReader(file)
        }


def write(stored: Stored, path: Path = STORED) -> None:
    """Store cycles."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", *SCALES])
        for name, cycles in sorted(stored.items()):
            writer.writerow([name, *(cycles.get(scale, "") for scale in SCALES)])


def carry_out(run: Run, stored: int | None) -> tuple[int, str]:
    """Cycles of a run, and why it fails: an empty text if it does not. None: no cycles are stored."""
    most = None if stored is None else MOST * stored
    if most is not None:
        run = replace(run, set={**(run.set or {}), "budget": max(most, SHORTEST)})
    result = run.carry_out(capture=True)
    cycles = result.stats.cycles
    if result.error:
        return cycles, f"{result.error}: {result.where}"
    if result.correct is False and result.model != "none":
        return cycles, f"{result.verdict} {result.where}"
    if most is not None and cycles > most:
        return cycles, f"{cycles:,} cycles, more than {MOST} times the stored {stored:,}"
    if stored not in (None, cycles) and run.seed == 0:
        return (
            cycles,
            f"{cycles:,} cycles, stored are {stored:,}: if the change means it, tools/shown.py --store",
        )
    return cycles, ""


def outcomes(
    runs: dict[str, Run], stored: Stored, jobs: int
) -> Iterator[tuple[str, Run, int, str]]:
    """Name, run, cycles and failure of every run. The others continue after one that fails."""
    limits: Iterable[int | None] = (
        cycles[run.scale] if run.scale in (cycles := stored.get(name, {})) else None
        for name, run in runs.items()
    )
    with ProcessPoolExecutor(jobs) as pool:
        found = pool.map(carry_out, runs.values(), limits, chunksize=4)
        for (name, run), (cycles, failure) in zip(runs.items(), found, strict=True):
            yield name, run, cycles, failure


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--scale", default="tiny", choices=SCALES)
    parser.add_argument("--one-in", type=int, default=1, metavar="N")
    parser.add_argument("--draw", metavar="TEXT", help="default: the commit's hash")
    parser.add_argument("--only", metavar="TEXT", default="", help="runs whose names begin so")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", action="store_true", help="write the cycles of all runs")
    given = parser.parse_args()
    runs, stored, failed = shown(given.scale), read() if STORED.exists() else {}, 0
    runs = {name: run for name, run in runs.items() if name.startswith(given.only)}
    every = len(runs)
    if given.one_in > 1:
        text = given.draw or commit()
        runs = drawn(runs, given.one_in, text)
        print(f"{len(runs)} of {every} runs, drawn by {text}: repeat with SEED={text}", flush=True)
    limits: Stored = {} if given.store else stored
    measured: dict[str, int] = {}
    ended = outcomes(runs, limits, given.jobs)
    for name, run, cycles, failure in tqdm(ended, total=len(runs), unit="run", disable=None):
        measured[name] = cycles
        if not failure and not given.store and given.scale not in stored.get(name, {}):
            failure = "no cycles are stored: tools/shown.py --store"
        if failure:
            failed += 1
            tqdm.write(f"{command(name, run)}\n    {failure}", file=sys.stdout)
    print(f"{len(runs)} runs of the scorecards at scale {given.scale}: {failed} failed")
    if given.store and not failed and given.one_in == 1:
        for name, cycles in stored.items():
            if name.startswith(given.only):
                cycles.pop(given.scale, None)
        for name, number in measured.items():
            stored.setdefault(name, {})[given.scale] = number
        write({name: cycles for name, cycles in stored.items() if cycles})
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
