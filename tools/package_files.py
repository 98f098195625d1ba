"""Print the files of the package that are installed, one per line, or the headers of a folder of the core:
``package_files.py [csrc/FOLDER]``. meson.build runs it.

The suffix decides, so that built extensions and stray files are not shipped.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = {
    ".c",
    ".csv",
    ".cu",
    ".def",
    ".expected",
    ".h",
    ".html",
    ".litmus",
    ".py",
    ".pyi",
    ".toml",
    ".typed",
}


def package_files(root: Path) -> list[str]:
    """Paths below ``root``, in order."""
    return sorted(
        path.relative_to(root).as_posix()
        for path in (root / "gpucoh").rglob("*")
        if path.suffix in SUFFIXES and path.is_file() and not path.name.startswith(".")
    )


def headers(folder: str) -> list[str]:
    """Those that a protocol outside the tree is compiled with."""
    return sorted(
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / folder).iterdir()
        if path.suffix in (".h", ".def")
    )


if __name__ == "__main__":
    print("\n".join(headers(sys.argv[1]) if sys.argv[1:] else package_files(ROOT)))
