"""Write the tables of the documentation that follow from the code: ``pages.py``.

The parts "protocols" of README.md and docs/README.md follow from the registry. The first heading of a family's page,
csrc/protocols/FAMILY/README.md, names the protocols that it describes, as in
"# Temporal coherence: `tc-strong`, `tc-weak`".
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
    """The families' pages: path below the root -> title, ids of the protocols.

    Raises
    ------
    SystemExit
        If a protocol is on no page, or a page names an unknown one.
    """
    found: dict[str, tuple[str, list[str]]] = {}
    for page in (ROOT / "csrc" / "protocols").glob("*/README.md"):
        heading = page.read_text(encoding="utf-8").partition("\n")[0]
        title, _, named = heading.removeprefix("# ").partition(": ")
        found[page.relative_to(ROOT).as_posix()] = title, re.findall(r"`([^`]+)`", named)
    named = {name for _, ids in found.values() for name in ids}
    if wrong := named ^ set(protocols()):
        raise SystemExit(
            f"csrc/protocols/*/README.md: {min(wrong)!r} is a protocol or in a first heading, but not both"
        )
    order = list(protocols())
    return dict(sorted(found.items(), key=lambda item: order.index(item[1][1][0])))


def by_page(root: str) -> str:
    """One row a page; links begin with ``root``."""
    known = protocols()
    rows = []
    for page, (title, ids) in titles().items():
        papers = dict.fromkeys(known[name].paper for name in ids)
        listed = ", ".join(f"`{name}`" for name in ids)
        rows.append((f"[{title}]({root}{page})", listed, "; ".join(papers)))
    return table(("protocols", "ids", "paper"), rows)


PAGES: dict[str, dict[str, Callable[[], str]]] = {
    "README.md": {"protocols": lambda: by_page("")},
    "docs/README.md": {"protocols": lambda: by_page("../")},
}


def main() -> int:
    for page, parts in PAGES.items():
        generated.rewrite_named(ROOT / page, parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
