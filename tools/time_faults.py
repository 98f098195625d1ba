"""Plant faults of time in the core, one at a time, and see which case of its C test finds each.

    python tools/time_faults.py                every row of csrc/tests/time_faults/*.toml
    python tools/time_faults.py --only ID      one row
    python tools/time_faults.py --page         write what finds each to docs/verification/time-faults.md

All faults are in one build, in build/time-faults/; the environment's variable ``GPC_TIME_FAULT`` chooses one. A row is
found if a case fails whose name begins with the row's unit. `text` is an expression, or statements that end in ; or };
constants of enumerations and static tables cannot be switched. Exit status 1: a row is not found; 2: a row is wrong.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import generated
import switches
from switches import CSRC, ROOT

ROWS = CSRC / "tests" / "time_faults"
FOLDER = ROOT / "build" / "time-faults"
PAGE = ROOT / "docs" / "verification" / "time-faults.md"
PART = "faults of time"
KEYS = ("id", "unit", "what", "file", "text", "with", "test")
SECONDS = 60  # of one test, before it counts as without end


@dataclass(frozen=True)
class Fault:
    """A row: the keys of its table, and the number that chooses it. ``at``: where the text is in the file."""

    id: str
    unit: str
    what: str
    file: str
    text: str
    instead: str
    test: str
    at: int

    @property
    def number(self) -> int:
        """Follows from the id: another row leaves it."""
        return zlib.crc32(self.id.encode()) & 0x7FFFFFFF

    @property
    def end(self) -> int:
        return self.at + len(self.text)


class Wrong(Exception):
    """Rows that are not valid, a line each."""


def _fault(row: Mapping[str, object]) -> Fault | str:
    """A row, or what is wrong with it."""
    if unknown := set(row) - set(KEYS):
        return f"unknown key {min(unknown)!r} (keys: {', '.join(KEYS)})"
    values = {key: str(row.get(key, "")).strip() for key in KEYS}
    if missing := [key for key in KEYS if not values[key]]:
        return f"no {missing[0]!r}"
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", values["id"]):
        return "an id has lower-case letters, digits and hyphens"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", values["unit"]):
        return f"unit {values['unit']!r} cannot begin a case's name"
    file = CSRC / values["file"]
    if not file.is_file():
        return f"no file csrc/{values['file']}"
    source = file.read_text(encoding="utf-8")
    if source.count(values["text"]) != 1:
        return f"text {values['text']!r} is {source.count(values['text'])} times in csrc/{values['file']}, not once"
    for key in ("text", "with"):
        if any(
            values[key].count(one) != values[key].count(other) for one, other in ("()", "[]", "{}")
        ):
            return f"{key} {values[key]!r} is no whole expression or statements"
    if f"'{values['test']}'," not in (ROOT / "meson.build").read_text(encoding="utf-8"):
        return f"meson.build has no C test {values['test']!r}"
    instead = values.pop("with")
    return Fault(**values, instead=instead, at=source.index(values["text"]))


def read(folder: Path) -> list[Fault]:
    """Every row of the folder's files.

    Raises
    ------
    Wrong
        If a row is not valid.
    """
    found: list[Fault] = []
    wrong: list[str] = []
    for file in sorted(folder.glob("*.toml")):
        try:
            tables = tomllib.loads(file.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            wrong.append(f"{file.name}: {error}")
            continue
        wrong += [f"{file.name}: unknown table {name!r}" for name in tables if name != "fault"]
        for number, row in enumerate(tables.get("fault", []), 1):
            fault = _fault(row)
            where = f"{file.name}: {row.get('id', f'row {number}')}"
            if isinstance(fault, str):
                wrong.append(f"{where}: {fault}")
                continue
            for other in found:
                if fault.number == other.number:
                    wrong.append(f"{where}: another row has this id, or one of equal number")
                if fault.file == other.file and _cross(fault, other):
                    wrong.append(f"{where}: its text overlaps that of {other.id}")
            found.append(fault)
    if wrong:
        raise Wrong("\n".join(wrong))
    return found


def _cross(one: Fault, other: Fault) -> bool:
    """Whether each contains a part of the other, and neither the whole other."""
    first, second = sorted((one, other), key=lambda fault: (fault.at, -fault.end))
    return second.at < first.end < second.end


# ---- building and running


def build(faults: Sequence[Fault]) -> None:
    """Build the C tests of these rows with their switches."""
    changed = {}
    for file in {fault.file for fault in faults}:
        parts = [
            (fault.at, fault.end, *switches.replaced(fault.number, fault.text, fault.instead))
            for fault in faults
            if fault.file == file
        ]
        changed[file] = switches.wrap((CSRC / file).read_text(encoding="utf-8"), parts)
    tests = sorted({f"test_{fault.test}" for fault in faults})
    switches.Build(FOLDER, changed, "GPC_TIME_FAULT", tests)


def run(test: str, number: int) -> tuple[list[str], str]:
    """The failing cases of a test under a number, and how it ends if not as its cases say."""
    environment = os.environ | {"GPC_TIME_FAULT": str(number)}
    try:
        done = subprocess.run(
            [str(FOLDER / f"test_{test}")], env=environment, capture_output=True, timeout=SECONDS, check=False
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        output, end = late.stdout or b"", f"does not end in {SECONDS} s"
    else:
        output, end = (
            done.stdout,
            "" if done.returncode in (0, 1) else f"ends with {done.returncode}",
        )
    failing = re.findall(r"^not ok \d+ - (\w+)$", output.decode(), re.MULTILINE)
    return failing, end


def finder(fault: Fault) -> tuple[str, str]:
    """The case that finds a fault, or an empty text; what happens instead."""
    failing, end = run(fault.test, fault.number)
    own = [name for name in failing if name.startswith(f"{fault.unit}_")]
    others = f"other cases fail: {', '.join(failing[:3])}" if failing else "no case fails"
    return (own[0], "") if own else ("", end or others)


# ---- the page


def table(rows: Sequence[tuple[Fault, str]]) -> str:
    """The page's table: each fault with the case that finds it."""
    head = ("unit", "fault", "in `csrc/`", "C test", "found by", "row")
    lines = [
        (one.unit, one.what, f"`{one.file}`", f"`{one.test}`", f"`{case}`", f"`{one.id}`")
        for one, case in sorted(rows, key=lambda row: (row[0].unit, row[0].id))
    ]
    return generated.table(head, lines)


def stored() -> str:
    """The table of the rows as they are, with the cases that the page has: `make check` compares it with the page."""
    cases = re.findall(r"\| `(\w+)` \| `([\w-]+)` \|$", generated.part_of(PAGE, PART), re.MULTILINE)
    known = {key: case for case, key in cases}
    return table([(fault, known.get(fault.id, "?")) for fault in read(ROWS)])


def results(faults: Sequence[Fault]) -> Iterator[tuple[Fault, str, str]]:
    """Of each fault: the case that finds it, else what happens."""
    for test in sorted({fault.test for fault in faults}):
        failing, end = run(test, 0)
        if failing or end:
            raise SystemExit(f"{test} fails without a fault: {', '.join(failing)} {end}".rstrip())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for fault, (case, what) in zip(faults, pool.map(finder, faults), strict=True):
            yield fault, case, what


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="ID", help="the row with this id alone")
    parser.add_argument("--page", action="store_true", help="write the page, after all rows")
    chosen = parser.parse_args(arguments)
    try:
        known = read(ROWS)
    except Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 2
    faults = [fault for fault in known if chosen.only in (None, fault.id)]
    if not faults:
        print(f"no row {chosen.only!r}", file=sys.stderr)
        return 2
    build(known)  # all, so that objects remain from run to run
    rows = []
    for fault, case, what in results(faults):
        print(f"{fault.id:<36} {fault.unit:<16} {fault.test:<20} {case or f'NOT FOUND: {what}'}")
        rows.append((fault, case))
    missed = sum(not case for _, case in rows)
    print(f"{len(rows) - missed} of {len(rows)} faults are found by a case of their unit")
    if chosen.page and not missed and not chosen.only:
        generated.rewrite_named(PAGE, {PART: lambda: table(rows)})
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
