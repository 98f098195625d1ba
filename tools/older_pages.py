"""Name the pages that are older than a moved counter that they show: `make check`.

``benchmarks/pages.toml`` says of each page that shows numbers of runs which protocols and machines it shows, and the
entry of ``benchmarks/moved.md`` that it was stored after. A later entry that moved a run of one of these protocols on
one of these machines makes it older. Older pages are allowed, but declared: exit status 1 if the file's list `older`
has others.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from pages import ROOT

PAGES, MOVED = (ROOT / "benchmarks" / name for name in ("pages.toml", "moved.md"))
RUN = re.compile(r"^- `\S+` \(`(\S+)` on `(\S+)`\): ", re.MULTILINE)

Entry = set[tuple[str, str]]  # protocol and machine of each run that moved


def entries() -> list[Entry]:
    """The entries of moved.md; the first is number 1."""
    _, *parts = re.split(r"^## ", MOVED.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [set(RUN.findall(part)) for part in parts]


def older(page: Mapping[str, Any], found: Sequence[Entry]) -> str:
    """Why a page is older than the counters; empty: it is not."""
    if page["after"] == 0:
        return "it was stored before the counters were"
    for number, entry in enumerate(found[page["after"] :], start=page["after"] + 1):
        for protocol, machine in sorted(entry):
            if page["protocols"] != "all" and protocol not in page["protocols"]:
                continue
            if machine in page["machines"]:
                return f"entry {number} of benchmarks/moved.md moved `{protocol}` on `{machine}`"
    return ""


def main() -> int:
    """Print the pages that are older, and what the declared list should be if it differs."""
    given = tomllib.loads(PAGES.read_text(encoding="utf-8"))
    found = entries()
    reasons = {page: why for page, row in given["pages"].items() if (why := older(row, found))}
    for page, why in reasons.items():
        print(f"{page} is older: {why}")
    if list(reasons) == given["older"]:
        return 0
    print(
        f"{PAGES.relative_to(ROOT)}: write older = {list(reasons)}, or the pages again",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
