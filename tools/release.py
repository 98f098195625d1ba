"""Hold what names the version equal to meson.build: ``release.py [--check | --tag TAG | --notes]``.

Without options CITATION.cff gets the version of meson.build and the date of the newest section of CHANGELOG.md.
``--check`` prints what disagrees, ``--tag`` also compares a tag, and ``--notes`` prints that section. docs/release.md
says when.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.compile(r"^  version: '([^']+)',$", re.MULTILINE)
SECTION = re.compile(r"^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)


def version(root: Path) -> str:
    """The version in meson.build, from which the package and the wheel have it."""
    found = VERSION.search((root / "meson.build").read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit("release.py: meson.build: no line \"version: '..',\" of its project")
    return found[1]


def newest(root: Path) -> tuple[str, str, str]:
    """Version, date and text of the newest section of the changelog that has a date."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = list(SECTION.finditer(text))
    for here, after in zip(sections, [*sections[1:], None], strict=True):
        if here[2]:
            return here[1], here[2], text[here.end() : after and after.start()].strip()
    raise SystemExit('release.py: CHANGELOG.md: no section "## [VERSION] - DATE"')


def citation(root: Path) -> str:
    """CITATION.cff with the version and its date."""
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    text = re.sub(r"^version: .*$", f"version: {version(root)}", text, flags=re.MULTILINE)
    date = f'date-released: "{newest(root)[1]}"'
    return re.sub(r"^date-released: .*$", date, text, flags=re.MULTILINE)


def disagreements(root: Path, tag: str | None = None) -> Iterator[str]:
    """What has another version than meson.build."""
    ours = version(root)
    if (theirs := newest(root)[0]) != ours:
        yield f"CHANGELOG.md: the newest section is {theirs} (meson.build: {ours})"
    if citation(root) != (root / "CITATION.cff").read_text(encoding="utf-8"):
        yield "CITATION.cff: another version or date: run python tools/release.py"
    if tag is not None and tag != f"v{ours}":
        yield f"tag {tag} (meson.build: {ours}, so v{ours})"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="print what disagrees")
    choice.add_argument("--tag", help="--check, and compare a tag")
    choice.add_argument("--notes", action="store_true", help="print the newest section")
    given = parser.parse_args(arguments)
    if given.notes:
        print(newest(ROOT)[2])
        return 0
    if not (given.check or given.tag):
        (ROOT / "CITATION.cff").write_text(citation(ROOT), encoding="utf-8")
    wrong = list(disagreements(ROOT, given.tag))
    for line in wrong:
        print(f"release.py: {line}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
