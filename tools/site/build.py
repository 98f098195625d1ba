"""Build the documentation as a site: ``build.py FOLDER`` (``make site``).

FOLDER/source gets the pages of the tree at their places in it, with links to other files of the tree turned to the
repository, and the pages that follow from the code: protocols with their tables and state diagrams, machine fields,
commands, Python's names. Sphinx then writes FOLDER/html, and tools/site/check.py checks it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT)]

import pages  # noqa: E402
import protocol_api  # noqa: E402
import reference  # noqa: E402
import study_tables  # noqa: E402

HERE = Path(__file__).resolve().parent
REPOSITORY = "https://github.com/gpucoh/gpucoh/blob/main"
#: Pages and pictures of the tree, by its folders.
TREE = (
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "docs/**/*.png", "docs/**/*.svg",
    "notebooks/*.ipynb", "csrc/protocols/*/README.md", "examples/**/*.md",
)  # fmt: skip
#: The tree's first page, which is the site's.
INDEX = Path("README.md")
_LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
_CODE = re.compile(r"(```.*?```|~~~.*?~~~|`[^`\n]+`)", re.DOTALL)


def of_the_tree() -> Iterator[Path]:
    """The pages and pictures that the site takes from the tree."""
    for pattern in TREE:
        yield from sorted(ROOT.glob(pattern))


def copy_pages(source: Path) -> None:
    """Copy the tree's pages; what they link to beside the site is linked in the repository."""
    files = {path.relative_to(ROOT) for path in of_the_tree()}
    for name in files:
        to = source / name
        to.parent.mkdir(parents=True, exist_ok=True)
        if name.suffix == ".md":
            text = (ROOT / name).read_text(encoding="utf-8")
            to.write_text(linked(text, name.parent, files), encoding="utf-8")
        else:
            shutil.copy(ROOT / name, to)


def linked(text: str, folder: Path, files: set[Path]) -> str:
    """The text of a page in a folder; links to what is not on the site lead to the repository."""

    def replace(found: re.Match[str]) -> str:
        begin, target, anchor, end = found[1], found[2], found[3] or "", found[4]
        place = None if re.match(r"[a-z]+:", target) else resolved(folder, target)
        if place == INDEX:
            return f"{begin}{os.path.relpath('index.md', folder)}{anchor}{end}"
        if place is None or place in files or not (ROOT / place).exists():
            return found[0]  # the check of links names what is missing
        return f"{begin}{REPOSITORY}/{place.as_posix()}{anchor}{end}"

    parts = _CODE.split(text)
    return "".join(part if k % 2 else _LINK.sub(replace, part) for k, part in enumerate(parts))


def resolved(folder: Path, target: str) -> Path | None:
    """The path in the tree that a link names; None: outside."""
    path = (ROOT / folder / target).resolve()
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else None


def contents(caption: str, entries: Sequence[str]) -> str:
    """A table of contents of MyST."""
    lines = "\n".join(entries)
    return f"```{{toctree}}\n:caption: {caption}\n:hidden:\n\n{lines}\n```\n"


def front(source: Path) -> None:
    """The first page: that of the repository, and the contents of the others."""
    text = (source / "README.md").read_text(encoding="utf-8")
    (source / "README.md").unlink()
    notebooks = sorted(f"notebooks/{path.stem}" for path in (source / "notebooks").glob("*.ipynb"))
    of_papers = [name for name in notebooks if name.endswith("-main-figure")]
    families = [str(page.relative_to(ROOT).with_suffix("")) for page in pages.titles()]
    how_to = sorted(f"docs/how-to/{path.stem}" for path in (source / "docs/how-to").glob("*.md"))
    explanation = [
        "architecture",
        "checking",
        "verification",
        "verification/growth",
        "verification/rule-mutants",
        "verification/time-faults",
        "verification/time-mutants",
        "real-bugs",
        "all-reduce",
        "flags",
        "dies",
        "second-set",
    ]
    fidelity = sorted(
        f"docs/fidelity/{path.stem}" for path in (source / "docs/fidelity").glob("*.md")
    )
    project = ["stability", "citing", "release"]
    start = ["start", "coming-from", "troubleshooting"]
    known = {
        "README",
        "tutorial",
        "glossary",
        "fidelity",
        "readings",
        *start,
        *explanation,
        *project,
    }
    reference_pages = sorted(
        str(path.relative_to(source).with_suffix(""))
        for path in (*(source / "docs").glob("*.md"), *(source / "docs/reference").glob("*.md"))
        if path.stem not in known and path.stem not in ("study", "study-tables", "performance")
    )
    study = ["docs/study", study_tables.NAME] if (source / "docs/study.md").is_file() else []
    examples = sorted(
        str(path.relative_to(source).with_suffix(""))
        for path in (source / "examples").rglob("*.md")
    )
    other = [
        name
        for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY")
        if (source / f"{name}.md").is_file()
    ]
    text += "\n" + "\n".join(
        [
            contents("Start", [f"docs/{name}" for name in start]),
            contents("Tutorial", ["docs/tutorial", *(n for n in notebooks if n not in of_papers)]),
            contents("How-to", [*how_to, *examples]),
            contents("Reference", [*reference.PAGES, "docs/glossary", *reference_pages]),
            contents("Protocols", ["reference/protocols", *families]),
            contents(
                "Explanation", [*(f"docs/{name}" for name in explanation), "docs/performance"]
            ),
            contents("Papers", ["docs/fidelity", *fidelity, "docs/readings", *of_papers]),
            contents("Study", study) if study else "",
            contents("Project", ["docs/README", *(f"docs/{name}" for name in project), *other]),
        ]
    )
    (source / "index.md").write_text(text, encoding="utf-8")


def main() -> int:
    """Build the site. Exit status: that of Sphinx."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder.resolve()
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    (source / "_static").mkdir(parents=True)
    shutil.copy(HERE / "conf.py", source)
    shutil.copy(HERE / "scorer.js", source)
    shutil.copy(HERE / "site.css", source / "_static")
    copy_pages(source)
    reference.write(source)
    study_tables.write(source)
    (source / "reference/protocol-api.md").write_text(protocol_api.page(), encoding="utf-8")
    front(source)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "2", "-b", "html"]
    return subprocess.run([*command, str(source), str(folder / "html")], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
