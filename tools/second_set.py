"""Run the second set of programs of the study, and keep their cycles: CUDA programs that are no workload of gpucoh.

``python tools/second_set.py FOLDER`` takes a folder with clones of gpu-rodinia and polybenchGpu, as cuda_suites.py, and
runs the programs that tools/cuda_suites.toml lists as ``second``, examples of examples/cuda and later workloads, under
every protocol of the study's matrix ``small`` on machine ``fermi``. What it writes, studies/second-set.csv, has a row
for each: program, protocol, core cycles, and why it is not right, if it is not. Sources are compiled unmodified and not
kept. Programs that are there and right are not run again, unless ``--again`` is given.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cuda_suites
from cuda_inputs import INPUTS
from cuda_suites import BUDGET, GIVEN, REFERENCE, Program

import gpucoh
from gpucoh.cuda.building import Built

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "studies" / "second-set.csv"
COLUMNS = ("set", "program", "protocol", "cycles", "why")


def of_the_study() -> list[str]:
    """The protocols of the study's matrix small; those of files by their paths."""
    text = (ROOT / "studies" / "ideas.toml").read_text(encoding="utf-8")
    small = next(one for one in tomllib.loads(text)["matrix"] if one["name"] == "small")
    names = [one for one in gpucoh.protocols() if one not in small["without"]]
    return names + [str(ROOT / "studies" / one) for one in small["protocols"] if one.endswith(".c")]


def chosen(root: Path) -> Iterator[tuple[str, Program, Path]]:
    """The suite of each program, the program, and its folder."""
    for program in cuda_suites.programs(root):
        if program.name in GIVEN["second"] and (root / program.folder).is_dir():
            yield program.folder.split("/")[0], program, root / program.folder
    for given in GIVEN["examples"]:
        yield "examples", Program("examples/cuda", **given), ROOT / "examples" / "cuda"


def rows_of(
    suite: str, program: Program, folder: Path, protocols: list[str]
) -> Iterator[dict[str, object]]:
    """A program under every protocol."""
    with TemporaryDirectory() as work:
        before, own = Path.cwd(), Path(work) / "suite" / "program"
        own.mkdir(parents=True)
        os.chdir(own)  # where programs write; some read ../../data
        try:
            built, wanted = made(program, folder, own)
            for protocol in protocols:
                outcome = cuda_suites.outcome_of(program, built, protocol, None)
                text = outcome.output.decode(errors="replace")
                why = outcome.reason.partition(":")[0] or program.verdict(text, own)
                if not why and wanted and cuda_suites.written(program, outcome, own) != wanted:
                    why = "the output differs from the reference's"
                cycles = outcome.result.cycles
                yield dict(
                    zip(
                        COLUMNS,
                        (suite, program.name, Path(protocol).stem, cycles, why),
                        strict=True,
                    )
                )
        finally:
            os.chdir(before)


def rows_of_workload(name: str, protocols: list[str]) -> Iterator[dict[str, object]]:
    """A workload of the suite under every protocol."""
    runs = [{"workload": name, "protocol": one, "set": {"budget": BUDGET}} for one in protocols]
    for protocol, row in zip(protocols, gpucoh.sweep(runs, jobs=1).itertuples(), strict=True):
        why = row.error if isinstance(row.error, str) else "" if row.correct else "wrong words"
        yield dict(zip(COLUMNS, ("suite", name, Path(protocol).stem, row.cycles, why), strict=True))


def made(program: Program, folder: Path, own: Path) -> tuple[Built, str]:
    """The compiled program with its inputs, and what the reference writes, if that is the check."""
    built = cuda_suites.made(program, folder, own)
    if program.inputs:
        INPUTS[program.inputs](own)
    if program.check != "reference":
        return built, ""
    outcome = cuda_suites.outcome_of(program, built, *REFERENCE)
    return built, cuda_suites.written(program, outcome, own)


def main() -> int:
    """Run what is missing. Exit status 1: a program is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--again", action="store_true", help="run what is there, too")
    given = parser.parse_args()
    protocols = of_the_study()
    kept = (
        pd.read_csv(STORE, keep_default_na=False)
        if STORE.is_file()
        else pd.DataFrame(columns=COLUMNS)
    )
    listed = [
        (suite, program.name, functools.partial(rows_of, suite, program, folder, protocols))
        for suite, program, folder in chosen(given.folder.absolute())
    ]
    for name in GIVEN["later_workloads"]:
        listed.append(("suite", name, functools.partial(rows_of_workload, name, protocols)))
    for suite, name, rows in listed:
        mine = kept[(kept["set"] == suite) & (kept.program == name)]
        if len(mine) == len(protocols) and not mine.why.any() and not given.again:
            continue
        found = pd.DataFrame(rows(), columns=COLUMNS)
        kept = pd.concat([kept.drop(mine.index), found], ignore_index=True)
        kept.to_csv(STORE, index=False)
        wrong = found[found.why != ""]
        print(f"{suite} {name}: {len(found) - len(wrong)} of {len(found)} right", flush=True)
    return 1 if (kept.why != "").any() else 0


if __name__ == "__main__":
    sys.exit(main())
