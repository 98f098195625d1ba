"""Replace operators and constants of the core at random, one at a time, and see which check finds each.

    python tools/time_mutants.py --list                  every place, by key
    python tools/time_mutants.py --number 150 --seed 1   draw, build, check; an interrupted run continues
    python tools/time_mutants.py --seed 1 --page         write the results to docs/verification/time-mutants.md

Places are those of ``tools/time_places.py`` in csrc/cache, engine, fabric, machine and core, from each folder in turn.
All that are drawn are in one build, in which a number chooses one (``tools/switches.py``). Checks run in order of their
cost, up to the first that fails: the C tests (first those whose faults of time are in the file, then the tests of time,
then the others), the stored counters, the Python tests of times. ``tools/time_mutants.toml`` names what decides no
time, and gives the reason where a mutant is equivalent or is not found.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import mutant_results
import switches
import time_faults
import time_places
from switches import CSRC, ROOT
from time_places import FOLDERS, Place
from wrap import wrapped

FOLDER = Path(os.environ.get("TIME_MUTANTS", ROOT / "build" / "time-mutants"))
PAGE = ROOT / "docs" / "verification" / "time-mutants.md"
NOTES = mutant_results.Notes(Path(__file__).with_suffix(".toml"))
VARIABLE = "GPC_TIME_MUTANT"
CHECKS = ("C tests", "counters", "Python tests")
PYTHON_TESTS = (
    "validation/test_closed_form.py",
    "validation/test_machine_fields.py",
    "validation/test_resource_limits.py",
    "validation/test_bandwidth.py",
    "validation/test_mesh15.py",
    "validation/test_busiest.py",
    "validation/test_recalls.py",
    "validation/test_lifetimes.py",
    "unit/test_schedule.py",
    "unit/test_stall_causes.py",
    "unit/test_profile.py",
    "unit/test_cpu_cache.py",
    "unit/test_independent_lanes.py",
    "unit/test_pairs.py",
)
SLOWER = 10  # times as long as without a mutant, before a check counts as without end
LEAST_SECONDS = 5  # the same, of the shortest
MEMORY = 16 << 30  # bytes


# ---- what is drawn


def places() -> list[Place]:
    """Every place of time."""
    return [place for place in time_places.enumerate_places() if not NOTES.excludes(place.key)]


def compiles(file: str, drawn: dict[int, Place]) -> bool:
    """Whether the file compiles with these places: a constant in a declaration may have to be one."""
    text = time_places.mutated((CSRC / file).read_text(encoding="utf-8"), drawn)
    include = [f"-I{CSRC}", f"-I{ROOT / 'gpucoh'}", "-include", str(FOLDER / "switch.h")]
    command = ["cc", "-std=c11", "-fsyntax-only", "-w", *include, "-x", "c", "-"]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    return done.returncode == 0


def draw(found: Sequence[Place], seed: int, number: int) -> list[Place]:
    """``number`` places that a switch can change, from each folder in turn.

    A hash of seed and key gives the order: a larger draw begins with a smaller one, and a change of the core or of what
    is left out leaves most of a draw as it is.
    """
    order = {place.key: hashlib.sha256(f"{seed} {place.key}".encode()).digest() for place in found}
    bags = {folder: [place for place in found if place.folder == folder] for folder in FOLDERS}
    for bag in bags.values():
        bag.sort(key=lambda place: order[place.key])
    out: list[Place] = []
    while len(out) < number and any(bags.values()):
        for bag in bags.values():
            while bag and len(out) < number:
                place = bag.pop()
                if compiles(place.file, {1: place}):
                    out.append(place)
                    break
    return out


def build(drawn: Sequence[Place]) -> Path:
    """Build the package with all that were drawn, and every C test; the package's folder."""
    changed = {}
    for file in {place.file for place in drawn}:
        numbers = {number: place for number, place in enumerate(drawn, 1) if place.file == file}
        changed[file] = time_places.mutated((CSRC / file).read_text(encoding="utf-8"), numbers)
    targets = [*(f"test_{one}" for one in c_tests()), switches.extension_name()]
    return switches.Build(FOLDER, changed, VARIABLE, targets).package()


# ---- the checks


def c_tests() -> list[str]:
    """Every C test of meson.build."""
    text = (ROOT / "meson.build").read_text(encoding="utf-8")
    listed = re.search(r"^c_tests = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"'(\w+)'", listed[1] if listed else "")


@dataclass(frozen=True)
class Check:
    """A command that fails if it finds a mutant, and the processor seconds that it takes without one."""

    kind: str
    name: str
    command: tuple[str, ...]
    seconds: float = 0.0

    def run(self, number: int) -> str:
        """What it finds; empty: nothing."""
        environment = os.environ | {VARIABLE: str(number), "PYTHONPATH": str(FOLDER / "package")}
        most = int(LEAST_SECONDS + SLOWER * self.seconds) if self.seconds else 3600

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

        try:
            done = subprocess.run(
                self.command, cwd=ROOT, env=environment, capture_output=True, text=True, errors="replace",
                timeout=20 * most, check=False, preexec_fn=limit,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "does not end"
        if done.returncode == 0:
            return ""
        if -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
            return "does not end"
        failing = re.findall(r"^(?:not ok \d+ - |FAILED )(\S+)", done.stdout, re.MULTILINE)
        if failing:
            return str(failing[0])
        last = [line for line in done.stdout.splitlines() if line.strip()][-1:]
        return f"signal {-done.returncode}" if done.returncode < 0 else (last or ["fails"])[0][:120]


def all_checks() -> list[Check]:
    """Every check, the cheapest kind first, with its cost; each passes without a mutant.

    Raises
    ------
    SystemExit
        If one fails.
    """
    python = sys.executable
    pytest = str(Path(python).with_name("pytest"))  # with -m, the tree would precede the package
    files = [f"tests/{one}" for one in PYTHON_TESTS]
    given = [
        *(Check("C tests", one, (str(FOLDER / f"test_{one}"),)) for one in c_tests()),
        Check("counters", "counters", (python, "benchmarks/counters.py")),
        Check("Python tests", "tests", (pytest, "-q", "-x", "-p", "no:cacheprovider", *files)),
    ]
    out = []
    for check in given:
        begin = used()
        if found := check.run(0):
            raise SystemExit(f"{check.name} fails without a mutant: {found}")
        out.append(Check(check.kind, check.name, check.command, used() - begin))
    return sorted(out, key=lambda one: (CHECKS.index(one.kind), one.seconds))


def used() -> float:
    """The processor seconds of all processes that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def known_tests() -> dict[str, set[str]]:
    """Of each file: the C tests that find its faults of time."""
    found: dict[str, set[str]] = {}
    for fault in time_faults.read(time_faults.ROWS):
        found.setdefault(fault.file, set()).add(fault.test)
    return found


def in_order(checks: Sequence[Check], first: set[str]) -> Iterator[Check]:
    """The tests that know the file, then those of time, then the others by cost."""
    return iter(
        sorted(
            checks,
            key=lambda one: (
                (one.name not in first, not one.name.startswith("time_"))
                if one.kind == "C tests"
                else (2, 0)
            ),
        )
    )


# ---- the run


def results(seed: int) -> Path:
    """The file of a seed's results."""
    return FOLDER / f"seed-{seed}.jsonl"


def examine(number: int, place: Place, checks: Iterator[Check]) -> mutant_results.Row:
    """What finds the mutant."""
    row: mutant_results.Row = {"key": place.key, "folder": place.folder, "line": place.line}
    begin = used()
    for check in checks:
        if found := check.run(number):
            name = f"{check.name}: " if check.kind == "C tests" else ""
            row |= {"check": check.kind, "how": f"{name}{found}"}
            break
    return row | {"seconds": round(used() - begin, 2)}


def run(drawn: Sequence[Place], seed: int, hours: float) -> None:
    """Examine all that have no result yet, up to the processor time."""
    known, spent, first = mutant_results.read(results(seed)), 0.0, known_tests()
    checks = all_checks()
    print(f"checks: {sum(one.seconds for one in checks):.0f} processor seconds without a mutant")
    for number, place in enumerate(drawn, 1):
        if place.key in known or spent > 3600 * hours:
            continue
        begin = time.monotonic()
        row = examine(number, place, in_order(checks, first.get(place.file, set())))
        spent += row["seconds"]
        mutant_results.store(results(seed), row)
        found = f"{row['check']}, {row['how'][:100]}" if "check" in row else "NOT FOUND"
        print(f"{number:>4} {time.monotonic() - begin:>6.1f} s  {place.key}\n{'':14}{found}", flush=True)  # fmt: skip


# ---- the page


def page(rows: Sequence[mutant_results.Row], seed: int) -> str:
    """The page of the results."""
    found, number = NOTES.score(rows)
    minutes = sum(row["seconds"] for row in rows) / 60
    text = f"""# Operators and constants replaced

`make time-mutants SEED={seed} N={len(rows)}` replaces {len(rows)} of the {len(places()):,} comparisons and constants of
the core that decide time, one at a time, drawn by seed from each folder in turn: `<` by `<=` (and so on), `==` by `!=`,
a constant by one more, `+ 1` by nothing. Checks run in order of their cost, up to the first that finds the mutant. All
took {minutes:.0f} processor minutes. **{found} of the {number} that are not equivalent are found
({100 * found / number:.1f}%).** A column counts those that a check was the first to find. `tools/time_mutants.toml` has
the reasons below, and says what decides no time.

"""
    lines = [*NOTES.table(rows, "folder", CHECKS), ""]
    for title, listed in NOTES.sections(rows):
        lines += NOTES.listed(title, listed)
    finds = [f"- `{row['key']}`: {row['how']}." for row in rows if "check" in row]
    return wrapped(text + "\n".join([*lines, "## Found", "", *finds, ""]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print every place")
    parser.add_argument("--page", action="store_true", help="write the page of the results")
    parser.add_argument("--seed", type=int, default=1, help="draws the places (1)")
    parser.add_argument("--number", type=int, default=150, help="of places (150)")
    parser.add_argument("--hours", type=float, default=10.0, help="of processor time, at most (10)")
    chosen = parser.parse_args()
    found = places()
    if chosen.list:
        print(*(f"{place.file}:{place.line} {place.key}" for place in found), sep="\n")
        return 0
    if not chosen.page:
        switches.written(FOLDER / "switch.h", switches.HEADER)
        drawn = draw(found, chosen.seed, chosen.number)
        build(drawn)
        run(drawn, chosen.seed, chosen.hours)
    known = mutant_results.read(results(chosen.seed))
    rows = [known[place.key] for place in found if place.key in known]
    rows.sort(key=lambda row: FOLDERS.index(row["folder"]))
    status = NOTES.report(rows, "folder", CHECKS)
    if chosen.page:
        PAGE.write_text(page(rows, chosen.seed), encoding="utf-8")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
