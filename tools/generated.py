"""Generated parts of documentation pages: the text between ``<!-- NAME -->`` and ``<!-- end -->``.

The text around such a part is written by hand. Each tool that writes
parts knows their names; `tools/stored_pages.py` compares those whose store is in the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

#: Makes the text of a part.
Maker = Callable[[], str]

PART = re.compile(r"(<!-- ([\w ]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def rewritten(text: str, make: Callable[[str], str | None]) -> str:
    """A page with new parts: ``make(name)`` returns the text of a part, or None to leave it."""

    def part(match: re.Match[str]) -> str:
        begin, name, _, end = match.groups()
        made = make(name)
        return match.group(0) if made is None else f"{begin}{made}\n{end}"

    return PART.sub(part, text)


def part_of(page: Path, name: str) -> str:
    """The text of a part of a page; empty if the page lacks it."""
    found = PART.finditer(page.read_text(encoding="utf-8"))
    return next((match[3] for match in found if match[2] == name), "")


def rewrite(page: Path, make: Callable[[str], str | None]) -> None:
    """Write a page with new parts."""
    text = page.read_text(encoding="utf-8")
    page.write_text(rewritten(text, make), encoding="utf-8")


def rewrite_named(page: Path, parts: Mapping[str, Maker]) -> None:
    """Write the named parts of a page.

    Raises
    ------
    SystemExit
        If the page lacks one of them.
    """
    missing = set(parts) - {match[2] for match in PART.finditer(page.read_text(encoding="utf-8"))}
    if missing:
        raise SystemExit(
            f"{page}: no part named {min(missing)!r} (expected: <!-- {min(missing)} -->)"
        )
    rewrite(page, lambda name: parts[name]() if name in parts else None)
