"""The page of the site with the whole tables of docs/study.md, to sort by each column."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pandas as pd
import study_page

from gpucoh.studies.matrices import Description
from gpucoh.studies.tabulation import TABLES, Tables

NAME = "docs/study-tables"
SHOWN = ("speedup", "regret", "pairs", "tuning", "busiest", "classes", "gaps", "failures")
_HEAD = """# Tables of the study

The tables behind [Which idea matters?](study.md), of the store in the tree. A click on a column's name sorts by it.
[The reference](sweeps.md#studies) describes the columns.
"""
_SORT = """
document.querySelectorAll("table.sortable th").forEach(head => head.addEventListener("click", () => {
  const place = head.cellIndex, up = head.dataset.up !== "1", body = head.closest("table").tBodies[0];
  const value = row => { const text = row.cells[place].textContent; return text === "" || isNaN(text) ? text : +text; };
  const rows = [...body.rows].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    const order = typeof a === typeof b ? (a > b) - (a < b) : typeof a === "number" ? -1 : 1;
    return up ? order : -order;
  });
  head.dataset.up = up ? "1" : "0";
  body.append(...rows);
}));
"""


def page() -> str:
    """The page, of the tree's store."""
    tables = Tables(pd.read_parquet(study_page.KEPT), Description(study_page.FILE).settings)
    parts = [_HEAD]
    for name in SHOWN:
        parts.append(f"## {name}\n\n```{{raw}} html\n{html(TABLES[name](tables))}\n```\n")
    return "\n".join([*parts, f"```{{raw}} html\n<script>{_SORT}</script>\n```\n"])


def html(table: pd.DataFrame) -> str:
    """A table whose columns' names sort it."""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in table)
    rows = (
        "<tr>" + "".join(f"<td>{escape(_text(value))}</td>" for value in row) + "</tr>"
        for row in table.itertuples(index=False)
    )
    return (
        f'<div class="table-wrapper"><table class="docutils sortable"><thead><tr>{head}</tr></thead>\n'
        "<tbody>\n" + "\n".join(rows) + "\n</tbody></table></div>"
    )


def _text(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return "" if value is None else str(value)


def write(source: Path) -> None:
    """Write the page into the site's source."""
    (source / f"{NAME}.md").write_text(page(), encoding="utf-8")
