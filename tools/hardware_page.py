"""Write the table and the figure of docs/hardware.md: ``hardware_page.py FILE ...``.

Each FILE is what `gpucoh hardware --json` printed, of some or all protocols.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

import generated
from generated import table
from pages import ROOT

from gpucoh.hardware.figure import draw
from gpucoh.hardware.verdicts import Summary, Verdict, pairs_of, summarise
from gpucoh.litmus.runner import keeping

HEAD = (
    "protocol",
    "rule",
    "promises",
    "forbidden",
    "strong",
    "recall",
    "shown",
    "excess",
    "never",
    "unseen",
)


def read(files: Iterable[Path]) -> list[Verdict]:
    """The verdicts of all files, in the order of the protocols; a later file counts where several have one."""
    names = [field.name for field in fields(Verdict)]
    found = {}
    for file in files:
        for item in json.loads(file.read_text(encoding="utf-8"))["verdicts"]:
            verdict = Verdict(**{name: item[name] for name in names})
            found[verdict.protocol, verdict.rule, verdict.test] = verdict
    order = pairs_of(keeping(None), None)
    return sorted(found.values(), key=lambda item: order.index((item.protocol, item.rule)))


def row(item: Summary) -> tuple[str, ...]:
    """A protocol and rule in the table."""
    kinds = item.kinds
    shown = kinds["explained"]
    numbers = (shown, kinds["excess"], item.never, item.not_seen)
    return (f"`{item.protocol}`", f"`{item.rule}`", item.model, str(kinds["forbidden"]), str(item.strong),
            f"{item.recall or 0:.0%}", *map(str, numbers))  # fmt: skip


def main() -> None:
    """Write the part "protocols" of the page and docs/figures/hardware.png."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    verdicts = read(parser.parse_args().files)
    rows = [row(item) for item in summarise(verdicts)]
    page = ROOT / "docs" / "hardware.md"
    generated.rewrite_named(page, {"protocols": lambda: table(HEAD, rows)})
    draw(verdicts).savefig(ROOT / "docs" / "figures" / "hardware.png", dpi=150)


if __name__ == "__main__":
    main()
