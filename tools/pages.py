"""Write the pages that follow from the code: ``pages.py FOLDER`` (``make pages``).

FOLDER gets the protocols with their ids, models and papers (protocols.md), and the functions and actions that protocols
outside the tree may call (protocol-api.md). The first heading of a family's page, csrc/protocols/FAMILY/README.md,
names the protocols that it describes, as in "# Temporal coherence: `tc-strong`, `tc-weak`".
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

import protocol_api
from generated import table

from gpucoh import protocols
from gpucoh.device import outside

ROOT = Path(__file__).resolve().parents[1]


def titles() -> dict[Path, tuple[str, list[str]]]:
    """The families' pages: path -> title, ids of the protocols.

    Raises
    ------
    SystemExit
        If a protocol is on no page, or a page names an unknown one.
    """
    found: dict[Path, tuple[str, list[str]]] = {}
    for page in (ROOT / "csrc" / "protocols").glob("*/README.md"):
        heading = page.read_text(encoding="utf-8").partition("\n")[0]
        title, _, named = heading.removeprefix("# ").partition(": ")
        found[page] = title, re.findall(r"`([^`]+)`", named)
    named = {name for _, ids in found.values() for name in ids}
    if wrong := named ^ (set(protocols()) - set(outside.codes())):
        raise SystemExit(
            f"csrc/protocols/*/README.md: {min(wrong)!r} is a protocol or in a first heading, but not both"
        )
    order = list(protocols())
    return dict(sorted(found.items(), key=lambda item: order.index(item[1][1][0])))


def families(folder: Path) -> str:
    """The protocols, a table for each family's page; links begin in ``folder``."""
    known, parts = protocols(), ["# Protocols\n"]
    for page, (title, ids) in titles().items():
        rows = [
            (
                f"`{name}`",
                known[name].json["text"],
                ", ".join(f"{rule}: {model}" for rule, model in known[name].models.items()),
                known[name].paper,
            )
            for name in ids
        ]
        link = os.path.relpath(page, folder.resolve())
        heading = ("id", "rules", "models", "paper")
        parts.append(f"## [{title}]({link})\n\n{table(heading, rows)}\n")
    return "\n".join(parts)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    folder: Path = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"protocols": families(folder), "protocol-api": protocol_api.page()}.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
