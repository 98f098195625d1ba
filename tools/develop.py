"""Let this Python run the source tree: ``develop.py BUILD``. `make develop` runs it.

It copies the extension from the folder BUILD beside its sources, puts the tree on the path of this Python, and writes
the command `gpucoh`. An installed gpucoh would be imported in place of the tree; it is removed. An editable install of
meson-python instead would run ninja at every import, during tests too, and would not see new modules before meson
configures again.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMAND = """#!{python}
import sys

from gpucoh.cli import main

if __name__ == "__main__":
    sys.exit(main())
"""


def replace(path: Path, source: Path) -> None:
    """Copy a file in one step: running programs keep the extension that they have loaded."""
    part = path.with_name(f"{path.name}.part")
    shutil.copy(source, part)
    os.replace(part, path)


def remove_installed(packages: Path) -> None:
    """Uninstall the gpucoh of a folder, if it has one."""
    if any(metadata.distributions(name="gpucoh", path=[str(packages)])):
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*command, "uninstall", "--yes", "gpucoh"], check=True, cwd=packages)


def main() -> int:
    packages = Path(sysconfig.get_path("purelib"))
    remove_installed(packages)
    (extension,) = Path(sys.argv[1]).glob("_core*.so")
    replace(ROOT / "gpucoh" / extension.name, extension)
    (packages / "gpucoh-tree.pth").write_text(f"{ROOT}\n", encoding="utf-8")
    command = Path(sysconfig.get_path("scripts")) / "gpucoh"
    command.write_text(COMMAND.format(python=sys.executable), encoding="utf-8")
    command.chmod(0o755)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
