"""One build in which a number chooses what is wrong: copies of sources with switches, linked with build/quick.

``wrap`` puts switches into a source, ``Build`` compiles what contains them and links it as ninja links build/quick.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CSRC = ROOT / "csrc"
QUICK = ROOT / "build" / "quick"
LIBRARY = "libgpucoh_core.a"
HEADER = """\
extern int gpc_switch, gpc_switch_reached;
#define GPC_SWITCHED(number) (gpc_switch == (number) && (gpc_switch_reached = 1))
"""
#: The environment's variable {name} sets the number; 0: nothing is wrong.
STATE = """\
#include <stdlib.h>
#define SHOWN __attribute__((visibility("default"))) int
SHOWN gpc_switch, gpc_switch_reached;
__attribute__((constructor)) static void
choose(void)
{{
    const char *number = getenv("{name}");
    gpc_switch = number ? atoi(number) : 0;
}}
"""


def wrap(source: str, parts: Iterable[tuple[int, int, str, str]]) -> str:
    """The source with texts before and after parts of it: start, end, opening, closing. Parts may contain others."""
    inserts = []  # at, opening after closing, inner ones first, text
    for start, end, opening, closing in parts:
        inserts.append((start, 1, start - end, opening))
        inserts.append((end, 0, end - start, closing))
    for at, _, _, text in sorted(inserts, reverse=True):
        source = source[:at] + text + source[at:]
    return source


def replaced(number: int, text: str, instead: str) -> tuple[str, str]:
    """What is before and after ``text``, an expression or statements, for a number that replaces it."""
    if text.endswith((";", "}")):
        return f"if (GPC_SWITCHED({number})) {{ {instead} }} else {{ ", " }"
    return f"(GPC_SWITCHED({number}) ? ({instead}) : (", "))"


def ninja(*words: str) -> str:
    """What ninja prints for build/quick."""
    folder = Path(sys.executable).parent
    program = folder / "ninja" if (folder / "ninja").exists() else "ninja"
    path = os.environ | {"PATH": f"{folder}:{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        [str(program), "-C", str(QUICK), *words], env=path, capture_output=True, text=True, check=False
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"ninja -C {QUICK.relative_to(ROOT)} {' '.join(words)}:\n{done.stdout}")
    return done.stdout


def written(path: Path, text: str) -> Path:
    """The file, which is written only if the text differs: objects remain."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


class Build:
    """What is built with switches, in a folder of its own.

    Parameters
    ----------
    folder : Path
    changed : mapping
        Of each source or header with switches, by its path below ``csrc``: its text.
    name : str
        The environment's variable that sets the number.
    targets : iterable of str
        Of build/quick: the C tests, the extension.
    """

    def __init__(
        self, folder: Path, changed: Mapping[str, str], name: str, targets: Iterable[str]
    ) -> None:
        self.folder = folder
        ninja(*targets)
        self.header = written(folder / "switch.h", HEADER)
        sources = folder / "csrc"
        for old in [*sources.rglob("*.[ch]")]:
            if str(old.relative_to(sources)) not in changed:
                old.unlink()
        self.changed = {CSRC / one: written(sources / one, changed[one]) for one in changed}
        self.state = written(folder / "state.c", STATE.format(name=name))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            members = [one for one in self.commands if one.startswith(f"{LIBRARY}.p/")]
            objects = [*pool.map(self.object, members)]
        state = folder / "state.o"
        subprocess.run(["cc", "-fPIC", "-c", str(self.state), "-o", str(state)], check=True)
        self.library = folder / LIBRARY
        self.library.unlink(missing_ok=True)
        subprocess.run(["ar", "rcs", *map(str, [self.library, *objects, state])], check=True)
        for target in targets:
            self.link(target)

    @cached_property
    def commands(self) -> dict[str, dict[str, Any]]:
        """The command of each object, test and extension of build/quick."""
        return {entry["output"]: entry for entry in json.loads(ninja("-t", "compdb"))}

    @cached_property
    def includes(self) -> dict[str, set[Path]]:
        """The files that each object is compiled from."""
        found: dict[str, set[Path]] = {}
        for line in ninja("-t", "deps").splitlines():
            if not line.startswith(" "):
                name = line.partition(":")[0]
                found[name] = set()
            else:
                found[name].add((QUICK / line.strip()).resolve())
        return found

    def object(self, name: str) -> Path:
        """An object of build/quick, compiled again if it contains switches."""
        files = [self.changed[one] for one in self.includes.get(name, ()) if one in self.changed]
        made, out = QUICK / name, self.folder / name
        if not files:
            return made
        newest = max(one.stat().st_mtime_ns for one in (made, self.header, *files))
        if out.exists() and out.stat().st_mtime_ns > newest:
            return out
        out.parent.mkdir(parents=True, exist_ok=True)
        words = shlex.split(self.commands[name]["command"])
        source = (QUICK / words[-1]).resolve()
        words[words.index("-o") + 1] = str(out)
        words[words.index("-MF") + 1] = f"{out}.d"
        words[-1] = str(self.changed.get(source, source))
        added = ["-w", f"-I{self.folder / 'csrc'}", "-include", str(self.header)]
        done = subprocess.run(
            [words[0], *added, *words[1:]], cwd=QUICK, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{source.relative_to(ROOT)} with switches:\n{done.stderr}")
        return out

    def link(self, target: str) -> Path:
        """Link a test or the extension."""
        out = self.folder / target
        words = shlex.split(self.commands[target]["command"])
        places = {LIBRARY: self.library, target: out}
        command = [str(self.object(one) if one.endswith(".o") else places.get(one, one)) for one in words]  # fmt: skip
        subprocess.run(command, cwd=QUICK, check=True)
        return out

    def package(self) -> Path:
        """A folder with the package gpucoh, whose extension contains the switches."""
        folder = self.folder / "package"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "gpucoh").mkdir(parents=True)
        for item in (ROOT / "gpucoh").iterdir():
            if not item.name.startswith("_core") or item.suffix == ".pyi":
                (folder / "gpucoh" / item.name).symlink_to(item)
        extension = self.folder / extension_name()
        extension.rename(folder / "gpucoh" / extension.name)
        return folder


def extension_name() -> str:
    """The file of the extension, which is its target too."""
    return next(QUICK.glob("_core*.so")).name
