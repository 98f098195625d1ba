"""Print derived tables in the headers of protocol files: ``derived_tables.py``.

A file with a table that has a base and patches (``GPC_PATCHED_TABLE``) ends its first comment with a line such as
`` * Table    of `gpucoh protocols tc-weak[private=literal]`, L2`` for it. The script writes the whole table below that
line: the next state of every cell, marked where it differs from the base's.
"""

from __future__ import annotations

import re
from pathlib import Path

from gpucoh.device.gpu import resolve
from gpucoh.device.protocols import Cell, Table

ROOT = Path(__file__).resolve().parents[1]
# the line, and what follows it up to the next such line or the end of the comment
BLOCK = re.compile(
    r"^( \* Table    of `gpucoh protocols ([^`]+)`, ([\w.]+)[^\n]*\n)(.*?)(?=^ \* Table |^ \*/)",
    re.M | re.S,
)
WAITS = {"HOLD_LINE": "hold", "HOLD_QUEUE": "queue", "NOT_A_VICTIM": "keep"}


def shown(cell: Cell | None, patched: bool) -> str:
    """A cell in a few letters: its next state or how it waits, after an asterisk if it differs from the base's."""
    text = WAITS.get(cell.actions.rpartition(" ")[2], cell.next) if cell else "-" * patched
    return f"*{text}" if patched else text


def lines_of(table: Table) -> list[str]:
    """The table, a line for each event and a column for each state."""
    cells = {(cell.state, cell.event): cell for cell in table.cells()}
    patched = {(state, event) for state, event, _ in table.patches}
    rows = [["", *table.states]]
    rows += [
        [
            event,
            *(
                shown(cells.get((state, event)), (state, event) in patched)
                for state in table.states
            ),
        ]
        for event in table.events
        if any(event == other for _, other in cells.keys() | patched)
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    texts = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return [
        " *          Next states (hold: HOLD_LINE, queue: HOLD_QUEUE, keep: NOT_A_VICTIM); * differs from",
        f" *          {table.base}'s ({len(patched)} cells), for the reasons at the patches. tools/derived_tables.py",
        " *          writes it.",
        *(f" *   {text}".rstrip() for text in texts),
    ]


def rewritten(text: str) -> str:
    """A file's text with new tables in its header."""

    def block(match: re.Match[str]) -> str:
        table = resolve(match[2]).selected.controllers[match[3]]
        return match[1] + "\n".join(lines_of(table)) + "\n"

    return BLOCK.sub(block, text)


def files() -> list[Path]:
    """Protocol files with derived tables."""
    found = sorted((ROOT / "csrc/protocols").rglob("*.c"))
    return [path for path in found if "GPC_PATCHED_TABLE(" in path.read_text(encoding="utf-8")]


if __name__ == "__main__":
    for path in files():
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
