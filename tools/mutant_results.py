"""What finds each of many mutants: the stored results, and the reasons of those that nothing finds.

A data file of a tool has regular expressions of keys that are left out (``excluded``), and the keys of mutants that are
``equivalent`` or a ``survivor``, each with its reason. Results are lines of JSON: a run can be interrupted.
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class Notes:
    """A data file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @functools.cached_property
    def read(self) -> dict[str, list[dict[str, str]]]:
        """Its sections."""
        found: dict[str, list[dict[str, str]]] = tomllib.loads(
            self.file.read_text(encoding="utf-8")
        )
        return found

    def excludes(self, key: str) -> bool:
        """Whether the key is left out."""
        return any(re.search(item["keys"], key) for item in self.read.get("excluded", []))

    def reasons(self) -> dict[str, tuple[str, str]]:
        """Of each key: equivalent or survivor, and why."""
        sections = ("equivalent", "survivor")
        known = self.read
        return {item["key"]: (one, item["reason"]) for one in sections for item in known.get(one, [])}  # fmt: skip

    def score(self, rows: Sequence[Row]) -> tuple[int, int]:
        """How many were found, of how many that are not equivalent."""
        known = self.reasons()
        alike = sum("check" not in row and known.get(row["key"], ("",))[0] == "equivalent" for row in rows)  # fmt: skip
        return sum("check" in row for row in rows), len(rows) - alike

    def unexplained(self, rows: Sequence[Row]) -> list[str]:
        """The keys of those that nothing found and that have no reason."""
        known = self.reasons()
        return [row["key"] for row in rows if "check" not in row and row["key"] not in known]

    def table(self, rows: Sequence[Row], by: str, checks: Sequence[str]) -> Iterator[str]:
        """The counts by a field of the rows, as lines of Markdown: a column for each check that found some."""
        known = self.reasons()
        heads = [one for one in checks if any(row.get("check") == one for row in rows)]
        yield "| " + " | ".join([by, "drawn", *heads, "equivalent", "not found"]) + " |"
        yield "|---" * (len(heads) + 4) + "|"
        for name in [*dict.fromkeys(row[by] for row in rows), "all"]:
            own = [row for row in rows if name in ("all", row[by])]
            counts = Counter(row.get("check", known.get(row["key"], ("", ""))[0]) for row in own)
            missed = counts["survivor"] + counts[""]
            cells = [len(own), *(counts[one] for one in heads), counts["equivalent"], missed]
            yield f"| `{name}` | " + " | ".join(str(cell or "") for cell in cells) + " |"

    def report(self, rows: Sequence[Row], by: str, checks: Sequence[str]) -> int:
        """Print the table, the keys without a reason, and the score. Exit status: 1 if there are such keys."""
        unexplained = self.unexplained(rows)
        print(*self.table(rows, by, checks), "", sep="\n")
        print(*(f"not found: {key}" for key in unexplained), sep="\n")
        print("{} of {} that are not equivalent are found".format(*self.score(rows)))
        return 1 if unexplained else 0

    def sections(self, rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
        """The titles and rows of those that nothing found."""
        known = self.reasons()
        for title, kind in (("Equivalent", "equivalent"), ("Not found", "survivor")):
            yield (
                title,
                [
                    row
                    for row in rows
                    if "check" not in row and known.get(row["key"], ("survivor",))[0] == kind
                ],
            )

    def listed(self, title: str, rows: Sequence[Row]) -> Iterator[str]:
        """A section with the reason of each row, as lines of Markdown; nothing without rows."""
        known = self.reasons()
        why = [(row["key"], known.get(row["key"], ("", "not explained yet"))[1]) for row in rows]
        if why:
            yield from (f"## {title}", "", *(f"- `{key}`: {reason}." for key, reason in why), "")


def read(file: Path) -> dict[str, Row]:
    """The results by key; the last of equal keys counts."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {row["key"]: row for row in map(json.loads, lines)}


def store(file: Path, row: Row) -> None:
    """Append a result."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(row) + "\n")
