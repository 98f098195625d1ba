"""Does every text that docs/troubleshooting.md quotes exist in the sources?"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("gpucoh/**/*.py", "csrc/**/*.[ch]", "tools/*.sh", "Makefile")


def sources():
    """The text of the sources, with adjacent literals joined and each field or conversion as `..`."""
    files = (path for pattern in SOURCES for path in sorted(ROOT.glob(pattern)))
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return re.sub(r"\"\s*\n\s*f?\"", "", text)


def test_quoted_texts_are_those_of_the_sources():
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`.*?`) \|", page, re.MULTILINE)
    texts = re.findall(r"`([^`]+)`", " ".join(cells))
    assert len(texts) > 40
    known = sources()
    pieces = {piece.strip() for text in texts for piece in text.split("..")}
    assert {piece for piece in pieces if piece and piece not in known} == set()
