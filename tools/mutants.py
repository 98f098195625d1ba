"""Run gpucoh on the test library with planted bugs (``csrc/tests/mutants.h``).

    python tools/mutants.py                                      list the planted bugs
    python tools/mutants.py verify -p 'tc-weak!h1'               any gpucoh command, also on protocols with planted bugs
    python tools/mutants.py tools/fidelity.py --paper qr         a script of tools/

A planted bug is a protocol with an id of its own: the base protocol's id, ``!`` and a name; options follow in
brackets.
Tests write ``with mutants.loaded() as gpucoh:`` or use the fixture ``mutant_gpucoh`` of ``tests/conftest.py``.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import os
import runpy
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
NAME = "gpucoh._core"


def library() -> Path:
    """The extension with planted bugs: ``$GPUCOH_MUTANTS``, else the newest ``build/*/mutant_core*.so``.

    Raises
    ------
    FileNotFoundError
        If it is not built.
    """
    if "GPUCOH_MUTANTS" in os.environ:
        return Path(os.environ["GPUCOH_MUTANTS"])
    found = sorted(ROOT.glob("build/*/mutant_core*.so"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise FileNotFoundError(
            "build/*/mutant_core*.so is not there: meson builds it with the package (make test)"
        )
    return found[-1]


class _Finder:
    """Imports the library with planted bugs in place of the product's extension."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != NAME:
            return None
        return importlib.util.spec_from_file_location(name, library())


def install() -> None:
    """Make ``import gpucoh`` load the library with planted bugs. Only before the first import."""
    if "gpucoh" in sys.modules:
        raise RuntimeError("gpucoh has been imported already")
    sys.meta_path.insert(0, _Finder())


def _take_out() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name == "gpucoh" or name.startswith("gpucoh.")]
    return {name: sys.modules.pop(name) for name in names}


_kept: dict[str, ModuleType] = {}


@contextlib.contextmanager
def loaded() -> Iterator[ModuleType]:
    """Import a copy of the package with the planted bugs; no other gpucoh can be imported meanwhile."""
    saved = _take_out()
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    sys.modules.update(_kept)
    try:
        yield importlib.import_module("gpucoh")
    finally:
        _kept.update(_take_out())
        sys.meta_path.remove(finder)
        sys.modules.update(saved)


def main() -> int:
    """List the planted bugs, or run a script or a gpucoh command on them."""
    if importlib.util.find_spec("gpucoh") is None:
        sys.path.insert(0, str(ROOT))
    install()
    if len(sys.argv) > 1 and sys.argv[1].endswith(".py"):
        del sys.argv[0]
        runpy.run_path(sys.argv[0], run_name="__main__")
        return 0
    if len(sys.argv) > 1:
        from gpucoh.cli import main as command

        command()  # does not return
    import gpucoh

    for name, protocol in gpucoh.protocols().items():
        if "!" in name:
            print(f"{name:<40} {protocol.json['text']}")
            if protocol.paper != "an ordinary mistake":
                print(f"{'':<40} literal reading: {protocol.paper}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
