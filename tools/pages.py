"""Write the tables of the documentation that follow from the code: ``pages.py``.

The parts "protocols" of README.md, docs/README.md and docs/architecture.md follow from the registry. The first heading
of a page in docs/protocols/ names the protocols that the page describes, as in "# Temporal coherence: `tc-strong`,
`tc-weak`". The part "path of a load" follows from `tools/load_path.py`, which compares it with an execution.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import generated
from generated import table
from load_path import WAY

from gpucoh import protocols

ROOT = Path(__file__).resolve().parents[1]
# What the core calls an object with metadata -> the word of docs/architecture.md.
OBJECTS = {"tags": "line", "mshr": "transaction"}


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


def tables_of(protocol: Any) -> str:
    """Its tables with their objects and numbers of states."""
    listed = [item for controller in protocol.json["controllers"] for item in controller["tables"]]
    return ", ".join(f"{item['name']}: {item['object']} ({len(item['states'])})" for item in listed)


def metadata_of(protocol: Any) -> str:
    """Its fields by controller and object; the kinds of those that are not PLAIN."""
    parts = []
    for controller in protocol.json["controllers"]:
        for name, fields in controller["metadata"].items():
            kinds = (f"{item['name']} {item['kind']}".removesuffix(" PLAIN") for item in fields)
            if text := ", ".join(kinds):
                parts.append(f"{controller['name']} {OBJECTS.get(name, name)}: {text}")
    return "; ".join(parts)


def messages_of(protocol: Any) -> str:
    """Its messages, those of each virtual network together."""
    networks = range(len(protocol.json["networks"]))
    listed = [
        " ".join(item["name"] for item in protocol.json["messages"] if item["network"] == number)
        for number in networks
    ]
    return f"{' / '.join(listed)} ({len(listed)})"


def by_protocol() -> str:
    """One row a protocol."""
    rows = [
        (
            f"`{name}`",
            tables_of(protocol),
            metadata_of(protocol),
            messages_of(protocol),
            ", ".join(f"{rule}: {model}" for rule, model in protocol.models.items()),
        )
        for name, protocol in protocols().items()
    ]
    head = ("id", "tables (states)", "metadata", "messages (networks)", "models")
    return table(head, rows)


def path_of_a_load() -> str:
    """One row for each part of the way."""
    rows = []
    for part, files in WAY:
        shown = ("the protocol" if name.startswith("protocols/") else f"`{name}`" for name in files)
        rows.append((part, ", ".join(shown)))
    return table(("way", "files of `csrc/`"), rows)


PAGES: dict[str, dict[str, Callable[[], str]]] = {
    "README.md": {"protocols": lambda: by_page("docs/protocols/")},
    "docs/README.md": {"protocols": lambda: by_page("protocols/")},
    "docs/architecture.md": {"protocols": by_protocol, "path of a load": path_of_a_load},
}


def main() -> int:
    for page, parts in PAGES.items():
        generated.rewrite_named(ROOT / page, parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
