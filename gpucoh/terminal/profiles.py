"""A run's profile as text: its most expensive lines and arrays, and the end of its longest launch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gpucoh.results.profile import HELD, NO_LINE, Profile, shares

if TYPE_CHECKING:
    import pandas as pd

_MOST = 8  # rows of a table
_MOST_CAUSES = 2
_COUNTS = ("L1 hits", "misses", "flits")
_CONTENTION = ("owner changes", "held", "bank cycles")
_OF_DIES = ("requests", "at home", "near", "over link", "link bytes")


def print_profile(console: Console, profile: Profile) -> None:
    """Print the views of a profile, the largest rows of each."""
    lines = profile.by("line")
    rows = _rows(lines[lines["file"] != NO_LINE] if len(lines) else lines)
    of_dies = _OF_DIES if profile.dies.several else ()
    cells = [
        (f"{PurePath(row['file']).name}:{row['line']}", *_usual(row), *_of_dies(row), row["source"])
        for row in rows
    ]
    _print(console, ("line", "cycles", "mostly", *_COUNTS, *of_dies, "source"), cells)
    cells = [
        (row["buffer"], *_usual(row), *_contention(row), *_of_dies(row))
        for row in _rows(profile.by("buffer"))
    ]
    _print(console, ("array", "cycles", "mostly", *_COUNTS, *_CONTENTION, *of_dies), cells)
    if of_dies:
        homes = _rows(profile.homes())
        cells = [(row["buffer"], row["die"], *_of_dies(row)) for row in homes]
        _print(console, ("array", "cores of", *_OF_DIES[:-1]), cells)
    links = list(profile.links())
    cells = [
        (
            f"{link['begin']:,}",
            f"{link['end']:,}",
            f"{profile.dies.prefix(link['core'])}core {link['core']} warp {link['warp']}",
            " ".join(text for text in (link["after"], link["what"], link["where"]) if text),
            f"{link['longest_wait']} {link['longest_cycles']:,} {link['longest_where']}",
        )
        for link in links[:_MOST]
    ]
    _print(console, ("from", "to", "the longest launch ends with", "after", "longest wait"), cells)
    if len(links) > _MOST:
        console.print(f"  and {len(links) - _MOST:,} earlier parts")


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The first rows."""
    return [
        {str(name): value for name, value in row.items()}
        for row in table.head(_MOST).to_dict("records")
    ]


def _usual(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that lines and arrays share."""
    stalls = {
        name[7:]: count for name, count in row.items() if name.startswith("stalls_") and count
    }
    mostly = sorted(stalls, key=lambda name: -stalls[name])[:_MOST_CAUSES]
    return (
        f"{row['cycles']:,}",
        ", ".join(f"{name} {stalls[name] / row['cycles']:.0%}" for name in mostly),
        *(f"{row[name]:,}" for name in ("l1_load_hits", "l1_load_misses", "flits")),
    )


def _contention(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What serialises the accesses to an array."""
    held = sum(row[name] for name in HELD)
    return (f"{row['owner_changes']:,}", f"{held:,}", f"{row['bank_cycles']:,}")


def _of_dies(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Where the requests for an array or of a line go, on several dies."""
    if "requests" not in row:
        return ()
    parts = [f"{part:.0%}" for part in shares(row).values()] if row["requests"] else [""] * 3
    bytes_of = (f"{row['link_bytes']:,}",) if "link_bytes" in row else ()
    return (f"{row['requests']:,}", *parts, *bytes_of)


def _print(console: Console, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in header:
        numbers = name in ("cycles", *_COUNTS, *_CONTENTION, *_OF_DIES, "from", "to")
        table.add_column(Text(name), justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    if rows:
        console.print()
        console.print(table)
