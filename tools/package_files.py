"""Print the files of the package that are installed, one per line: ``package_files.py``. meson.build runs it.

The suffix decides, so that built extensions and stray files are not shipped.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = {
    ".csv",
    ".def",
    ".expected",
    ".html",
    ".litmus",
    ".model",
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


if __name__ == "__main__":
    print("\n".join(package_files(ROOT)))
