"""Wrap the paragraphs and list items of Markdown pages at 120 columns: ``wrap.py [--check] [PAGE ...]``.

Without pages: README.md, CONTRIBUTING.md, SECURITY.md, csrc/protocols/*/README.md and all of docs/ but the pages of
measurements (docs/fidelity*), which `make fidelity` writes. CHANGELOG.md has a line for each entry. Headings, tables,
code, code spans and generated parts (tools/generated.py) stay as they are.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 120
ITEM = re.compile(r"( *)([-*+]|\d+\.) +(?=\S)")
# A code span or a link's target keeps its spaces.
WORD = re.compile(r"(?:`+[^`]+`+|\]\([^)]*\)|\S)+")
# At the beginning of a line this would be markup.
MARKUP = re.compile(r"(?:[-*+>]|#+|\d+\.|\|.*)$")


def filled(text: str, first: str, rest: str) -> Iterator[str]:
    """The lines of a paragraph: the first begins with ``first``, the others with ``rest``."""
    line = ""
    for word in WORD.findall(text):
        begin = first if not line else ""
        if not line:
            line = begin + word
        elif len(line) + 1 + len(word) <= WIDTH or MARKUP.match(word):
            line += " " + word
        else:
            yield line
            line = rest + word
    yield line


def wrapped(text: str) -> str:
    """A page with its paragraphs wrapped."""
    made: list[str] = []
    paragraph: list[str] = []
    first = rest = ""  # of the paragraph
    indent = 0  # of the text of the current list item
    kept = False  # in code or a generated part

    def end() -> None:
        if paragraph:
            made.extend(filled(" ".join(paragraph), first, rest))
            paragraph.clear()

    for line in text.split("\n"):
        edge = line.lstrip().startswith(("```", "<!-- "))
        if edge or kept:
            end()
            kept ^= edge
            made.append(line)
            continue
        item = ITEM.match(line)
        margin = len(line) - len(line.lstrip())
        code = not paragraph and margin >= indent + 4
        if not line or code or re.match(r" *(\||#|!\[)", line):
            end()
            made.append(line)
            indent = 0 if line and margin < indent else indent
        elif item and (not paragraph or indent):
            end()
            indent = len(item[0])
            first, rest = item[0], " " * indent
            paragraph.append(line[indent:])
        else:
            if not paragraph:
                indent = indent if margin >= indent else 0
                first = rest = " " * indent
            paragraph.append(line.strip())
    end()
    return "\n".join(made)


def pages() -> list[Path]:
    """The pages that have this width."""
    docs = sorted((ROOT / "docs").rglob("*.md"))
    measured = ROOT / "docs" / "fidelity"
    kept = [page for page in docs if measured not in (page.with_suffix(""), page.parent)]
    families = sorted((ROOT / "csrc" / "protocols").glob("*/README.md"))
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    return [*top, *families, *kept]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--check", action="store_true", help="name pages that are not; status 1")
    parser.add_argument("pages", metavar="PAGE", nargs="*", type=Path)
    given = parser.parse_args()
    different = 0
    for page in given.pages or pages():
        text = page.read_text(encoding="utf-8")
        if (made := wrapped(text)) != text:
            different += 1
            print(f"{page}: not wrapped at {WIDTH} columns" if given.check else page)
            if not given.check:
                page.write_text(made, encoding="utf-8")
    return 1 if given.check and different else 0


if __name__ == "__main__":
    sys.exit(main())
