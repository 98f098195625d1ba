"""Write the tables of the documentation that follow from the code: ``pages.py``.

The parts "protocols" of README.md and docs/README.md follow from the registry. The first heading of a page in
docs/protocols/ names the protocols that the page describes, as in "# Temporal coherence: `tc-strong`, `tc-weak`".
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import generated
from generated import table

from gpucoh import protocols

ROOT = Path(__file__).resolve().parents[1]


def titles() -> dict[str, tuple[str, list[str]]]:
    """The pages of docs/protocols: file name -> title, ids of the protocols.

    Raises
    ------
    SystemExit
        If a protocol is on no page, or a page names an unknown one.
    """
    found: dict[str, tuple[str, list[str]]] = {}
    for page in (ROOT / "docs" / "protocols").glob("*.md"):
        heading = page.read_text(encoding="utf-8").partition("\n")[0]
        title, _, named = heading.removeprefix("# ").partition(": ")
        found[page.name] = title, re.findall(r"`([^`]+)`", named)
    named = {name for _, ids in found.values() for name in ids}
    if wrong := named ^ set(protocols()):
        raise SystemExit(
            f"docs/protocols: {min(wrong)!r} is a protocol or in a first heading, but not both"
        )
    order = list(protocols())
    return dict(sorted(found.items(), key=lambda item: order.index(item[1][1][0])))


def by_page(folder: str) -> str:
    """One row a page; links begin with ``folder``."""
    known = protocols()
    rows = []
    for page, (title, ids) in titles().items():
        papers = dict.fromkeys(known[name].paper for name in ids)
        listed = ", ".join(f"`{name}`" for name in ids)
        rows.append((f"[{title}]({folder}{page})", listed, "; ".join(papers)))
    return table(("protocols", "ids", "paper"), rows)


PAGES: dict[str, dict[str, Callable[[], str]]] = {
    "README.md": {"protocols": lambda: by_page("docs/protocols/")},
    "docs/README.md": {"protocols": lambda: by_page("protocols/")},
}


def main() -> int:
    for page, parts in PAGES.items():
        generated.rewrite_named(ROOT / page, parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
