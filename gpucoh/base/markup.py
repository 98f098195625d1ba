"""HTML tables for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


class Html(str):
    """Text that is HTML already, and is not escaped."""

    __slots__ = ()


def cell(value: object) -> str:
    """A value as HTML: numbers with separators, other text escaped."""
    if isinstance(value, Html):
        return value
    if isinstance(value, bool) or value is None:
        return "-" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return html.escape(str(value))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> Html:
    """A table with a header line; numbers are right-aligned, everything else left-aligned."""
    head = "".join(f'<th style="text-align:left">{html.escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{''.join(map(_td, row))}</tr>" for row in rows)
    title = (
        f'<caption style="text-align:left; white-space:nowrap">{html.escape(caption)}</caption>'
        if caption
        else ""
    )
    header = f"<thead><tr>{head}</tr></thead>" if any(columns) else ""
    return Html(f"<table>{title}{header}<tbody>{body}</tbody></table>")


def _td(value: object) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f'<td style="text-align:{"right" if number else "left"}">{cell(value)}</td>'


def section(title: str, content: str) -> Html:
    """Content that is folded under its title until a reader opens it."""
    return Html(f"<details><summary>{html.escape(title)}</summary>{content}</details>")


def shortened(text: str, longest: int = 199) -> str:
    """A text cut to a length, with dots at the cut."""
    return text if len(text) <= longest else text[: longest - 4] + " ..>"
