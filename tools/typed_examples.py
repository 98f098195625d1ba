"""Check the examples of the documentation by pyright and mypy, as users' files beside an installed gpucoh.

    python tools/typed_examples.py DIRECTORY

`make check` runs it. The examples are the Python blocks of the pages, the code of the notebooks, and one workload of
the suite. The blocks of a page make one file; a block whose first line is ``# NAME.py`` begins a file of that name.
Exit status 1: a type checker reports an error.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from package_files import ROOT, package_files

WORKLOAD = "gpucoh/suite/reuse.py"
PAGES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "csrc/protocols/*/README.md")


def blocks(page: Path) -> list[str]:
    """The Python blocks of a page."""
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def files_of(name: str, parts: list[str]) -> dict[str, str]:
    """File name -> text, of consecutive parts."""
    files: dict[str, str] = {}
    for part in parts:
        if named := re.match(r"# (?:\S*/)?(\w+\.py)\n", part):
            name = named[1]
        files[name] = files.get(name, "") + part + "\n"
    return files


def examples() -> dict[str, str]:
    """Path below the folder of examples -> text. Each page has a folder of its own."""
    found = {f"workload/{Path(WORKLOAD).name}": (ROOT / WORKLOAD).read_text(encoding="utf-8")}
    for page in sorted(path for pattern in PAGES for path in ROOT.glob(pattern)):
        for name, text in files_of("example.py", blocks(page)).items():
            page_name = "_".join(page.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
            found[f"{page_name}/{name}"] = text
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        found[f"{notebook.stem.replace('-', '_')}/notebook.py"] = "\n\n".join(code) + "\n"
    return found


def environment(folder: Path) -> Path:
    """An environment whose gpucoh is installed, and which has the packages of this one; its Python."""
    venv.create(folder, symlinks=True, clear=True)
    python = folder / "bin" / "python"
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(subprocess.check_output([python, "-c", asked], text=True).strip())
    for name in package_files(ROOT):
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, packages / name)
    (packages / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return python


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    shutil.rmtree(folder / "examples", ignore_errors=True)
    for name, text in examples().items():
        path = folder / "examples" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    python = environment(folder / "environment")
    pages = sorted(path.name for path in (folder / "examples").iterdir())
    settings = {
        "typeCheckingMode": "basic",
        "reportUnusedExpression": "none",  # a notebook shows the last one of a cell
        "executionEnvironments": [{"root": page} for page in pages],
    }
    (folder / "examples" / "pyrightconfig.json").write_text(json.dumps(settings))
    pyright = [sys.executable, "-m", "pyright", "--pythonpath", str(python)]
    failed = subprocess.run(pyright, cwd=folder / "examples", check=False).returncode != 0
    mypy = [sys.executable, "-m", "mypy", "--config-file=", f"--python-executable={python}"]
    mypy += [f"--cache-dir={folder / 'mypy'}", "--no-error-summary"]
    for page in pages:  # each page may have an example.py
        place = folder / "examples" / page
        failed |= subprocess.run([*mypy, "."], cwd=place, check=False).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
