"""Run gpucoh with the library of planted bugs (``csrc/tests/mutants.h``).

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
import importlib.util
import os
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def library() -> Path:
    """The library of planted bugs: ``$GPUCOH_MUTANTS``, else the newest ``build/*/planted.so``.

    Raises
    ------
    FileNotFoundError
        If it is not built.
    """
    if "GPUCOH_MUTANTS" in os.environ:
        return Path(os.environ["GPUCOH_MUTANTS"])
    found = sorted(ROOT.glob("build/*/planted.so"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise FileNotFoundError("build/*/planted.so is not there: make test builds it")
    return found[-1]


def add() -> None:
    """Add the planted bugs to the protocols of the gpucoh that is imported."""
    importlib.import_module("gpucoh.device.outside").add_library(library())


def _take_out() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name == "gpucoh" or name.startswith("gpucoh.")]
    return {name: sys.modules.pop(name) for name in names}


_kept: dict[str, ModuleType] = {}


@contextlib.contextmanager
def loaded() -> Iterator[ModuleType]:
    """Import a copy of the package, and of its extension, with the planted bugs; no other can be imported meanwhile."""
    saved = _take_out()
    sys.modules.update(_kept)
    try:
        package = importlib.import_module("gpucoh")
        if not _kept:
            add()
        yield package
    finally:
        _kept.update(_take_out())
        sys.modules.update(saved)


def main() -> int:
    """List the planted bugs, or run a script or a gpucoh command on them."""
    if importlib.util.find_spec("gpucoh") is None:
        sys.path.insert(0, str(ROOT))
    add()
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
