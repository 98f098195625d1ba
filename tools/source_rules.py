"""Source rules that no compiler checks: ``source_rules.py [libgpucoh_core.a | folder of the binding's objects] ...``.

The script prints one line per violation and exits with 1 if there is one. For compiled libraries of the core it also
checks that their objects hold no mutable data and make no forbidden calls (I/O, clocks, libm, allocation in hot parts),
and, for these and for the objects of a folder, that no file calls back into its callers.
"""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from wrap_comments import WIDTH, c_files, wide_comments

ROOT = Path(__file__).resolve().parents[1]

# Dependencies point down this list and never up; the folders of one entry are on one level. The longest folder that
# matches a file counts: files directly in core/ are what its subfolders share.
LAYERS = [
    ("base",), ("engine",), ("fabric", "cache"), ("controller",), ("protocols",),
    ("core",), ("core/memory",), ("core/execute",), ("core/frontend",),
    ("check",), ("check/explore", "check/monitor", "check/profile", "check/race", "check/trace"),
    ("machine",), ("python",), ("tests",),
]  # fmt: skip
LAYER_OF_FOLDER = {folder: number for number, folders in enumerate(LAYERS) for folder in folders}

# Calls that the architecture forbids in the core. Formatting into memory (vsnprintf) is not I/O.
FORBIDDEN_CALLS = {
    "I/O": "printf fprintf vprintf vfprintf puts putchar fputs fputc fwrite fopen open read write perror getenv",
    "a clock or randomness": "time clock clock_gettime gettimeofday rand srand random",
    "libm": "exp expf log logf sin sinf cos cosf tan tanf pow powf exp2f log2f sincosf",
    "ending the process": "exit _exit quick_exit",
}
ALLOCATION = {"malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign"}
# Where the core may allocate: during construction of a GPU, a snapshot, an exploration or a text, never in the event
# loop, except for the data of monitors, the race detector and the profile.
MAY_ALLOCATE = {
    "base/arena.c", "base/blocks.c", "base/stock.c", "base/text.c", "core/frontend/decode.c",
    "core/frontend/dispatch.c", "core/frontend/kernels.c", "core/frontend/polling.c", "core/frontend/program.c",
    "core/frontend/ranges.c",
    "fabric/memory.c", "fabric/network.c", "fabric/topology.c", "engine/wheel.c", "machine/functional.c",
    "machine/gpu.c", "machine/host.c", "machine/littles_law.c",
    "check/pages.c", "check/explore/canonical.c", "check/explore/exploration.c", "check/explore/explorer.c",
    "check/explore/outcomes.c", "check/explore/states.c", "check/explore/world_moves.c", "check/monitor/logical.c",
    "check/monitor/monitor.c", "check/monitor/monitor_cells.c",
    "check/monitor/monitor_values.c", "check/monitor/monitor_variables.c", "check/monitor/shadow.c",
    "check/profile/profile.c", "check/race/race.c",
    "check/race/race_words.c", "check/race/view.c", "check/trace/trace.c",
}  # fmt: skip

MOST_LINES = 60  # exclusive limit for a C function
# Exclusive limits for the files of a folder: one for each kind of statement.
MOST_LINES_OF_FILES = {"gpucoh/ptx": 300}

# meson's object name of a source.
SOURCE_OF_OBJECT = {
    path.relative_to(ROOT).as_posix().replace("/", "_"): path.relative_to(ROOT / "csrc").as_posix()
    for path in (ROOT / "csrc").rglob("*.c")
}


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    yield from enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)


def layer_of(path: str) -> int:
    folder, _, name = path.rpartition("/")
    if name == "planted.c":  # planted bugs are beside their family, and in the test library
        return LAYER_OF_FOLDER["tests"]
    while folder not in LAYER_OF_FOLDER:
        folder = folder.rpartition("/")[0]
    return LAYER_OF_FOLDER[folder]


def check_includes(root: Path) -> Iterator[str]:
    """Check that includes point down the layers and Python.h stays in the binding."""
    csrc = root / "csrc"
    for path in sorted(csrc.rglob("*.[ch]")):
        name = path.relative_to(csrc).as_posix()
        for number, line in lines_of(path):
            found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not found:
                continue
            header = found[2]
            where = f"csrc/{name}:{number}"
            if found[1] == "<":
                if header in ("Python.h", "structmember.h") and not name.startswith("python/"):
                    yield f"{where}: {header} is for csrc/python only"
            elif (csrc / header).exists() and layer_of(header) > layer_of(name):
                yield f'{where}: "{header}" is in a higher layer than this file: dependencies point down'


def circles(uses: dict[str, set[str]]) -> Iterator[list[str]]:
    """Cycles of a graph, one after another, each broken by removing one edge."""
    left = {name: set(used) for name, used in uses.items()}
    while True:
        try:
            graphlib.TopologicalSorter(left).prepare()
        except graphlib.CycleError as error:
            circle = error.args[1][::-1]  # each uses the next
            yield circle
            left[circle[0]].discard(circle[1])
        else:
            return


def check_include_circles(root: Path) -> Iterator[str]:
    """Check that no header includes itself through others."""
    csrc = root / "csrc"
    uses = {
        path.relative_to(csrc).as_posix(): {
            found[1]
            for _, line in lines_of(path)
            if (found := re.match(r'\s*#\s*include\s*"([^"]+)"', line))
        }
        for path in sorted(csrc.rglob("*.[ch]"))
    }
    for circle in circles(uses):
        yield f"csrc/{circle[0]}: a circle of includes: {' -> '.join(circle)}"


def check_function_lengths(root: Path) -> Iterator[str]:
    """Check that a function of the product has fewer than MOST_LINES lines, from its name to its closing brace."""
    for path in sorted((root / "csrc").rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        if name.startswith("csrc/tests/"):
            continue
        function, begin = "", 0
        for number, line in lines_of(
            path
        ):  # clang-format puts names and outer braces in the first column
            if found := re.match(r"(\w+)\(", line):
                function, begin = found[1], number
            elif line == "}" and function:
                if number - begin + 1 >= MOST_LINES:
                    yield f"{name}:{begin}: {function} has {number - begin + 1} lines; {MOST_LINES - 1} are allowed"
                function = ""


def check_file_lengths(root: Path) -> Iterator[str]:
    """Check that the files of some folders are short."""
    for folder, limit in MOST_LINES_OF_FILES.items():
        for path in sorted((root / folder).glob("*.py")):
            length = len(path.read_text(encoding="utf-8").splitlines())
            if length >= limit:
                yield f"{folder}/{path.name}: {length} lines; {limit - 1} are allowed here"


def check_listed(root: Path) -> Iterator[str]:
    """Check that meson.build names every source."""
    build = (root / "meson.build").read_text(encoding="utf-8")
    registry = root / "csrc/protocols/registry.def"
    listed = registry.read_text(encoding="utf-8") if registry.exists() else ""
    build += re.sub(r'"(.+)"', r"'csrc/protocols/\1'", listed)
    policies = root / "gpucoh/machines/replacement.def"
    for name in re.findall(r"^X\((\w+),", policies.read_text() if policies.exists() else "", re.M):
        build += f"'csrc/cache/replacement/{name}.c'"
    for path in sorted((root / "csrc").rglob("*.c")):
        name = path.relative_to(root).as_posix()
        if name.startswith("csrc/tests/test_"):
            if f"'{path.stem.removeprefix('test_')}'" not in build:
                yield f"{name}: not among the c_tests of meson.build"
        elif f"'{name}'" not in build:
            yield f"{name}: not in meson.build"


def check_registry(root: Path) -> Iterator[str]:
    """Check the rows of registry.def: no name is given twice, files are there and define what they register."""
    folder = root / "csrc/protocols"
    registry = folder / "registry.def"
    defines = {
        "PROTOCOL": "const gpc_protocol_t gpc_protocol_{}",
        "PLANTED": r"PLANTED\({}\)",
    }
    lines: dict[tuple[str, str], int] = {}
    for number, line in lines_of(registry) if registry.exists() else ():
        where = f"csrc/protocols/registry.def:{number}"
        if not line.startswith("GPC_"):
            continue
        row = re.fullmatch(r'GPC_(?:SHARED\(|(PROTOCOL|PLANTED)\((\w+), )"([^"]+\.c)"\)', line)
        if not row:
            yield (
                f'{where}: write GPC_PROTOCOL(NAME, "FAMILY/FILE.c"), GPC_PLANTED(FAMILY, "FAMILY/FILE.c") or '
                'GPC_SHARED("FAMILY/FILE.c")'
            )
            continue
        kind, name, file = row.groups()
        if not (folder / file).is_file():
            yield f"{where}: csrc/protocols/{file} does not exist"
        elif (kind, name) in lines:
            yield f"{where}: {name} is in line {lines[kind, name]} too"
        elif name is not None:
            lines[kind, name] = number
            text = (folder / file).read_text(encoding="utf-8")
            if not re.search(rf"^{defines[kind].format(name)}(?!\w)", text, re.MULTILINE):
                what = f"gpc_protocol_{name}" if kind == "PROTOCOL" else f"planted_{name}"
                yield f"{where}: csrc/protocols/{file} does not define {what}"


def check_headers(root: Path) -> Iterator[str]:
    """Check that a C file opens with a comment that says what it is: ``/* name.c: ...``."""
    for path in c_files(root):
        with path.open(encoding="utf-8") as file:
            first = file.readline()
        if not re.match(rf"/\* {re.escape(path.name)}: \w", first):
            yield f"{path.relative_to(root).as_posix()}:1: open with what the file is: /* {path.name}: ... */"


def check_comments(root: Path) -> Iterator[str]:
    """Check that comments are no wider than code, which clang-format wraps."""
    for path in c_files(root):
        for comment in wide_comments(path.read_text(encoding="utf-8")):
            where = f"{path.relative_to(root).as_posix()}:{comment.first + 1}"
            yield f"{where}: a comment wider than {WIDTH} columns: tools/wrap_comments.py wraps it"


def check_late_imports(root: Path) -> Iterator[str]:
    """Check that functions import under the lock of late imports. Ruff checks what they import (pyproject.toml)."""
    for path in sorted((root / "gpucoh").rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_bytes())))
        inside = {
            node
            for function in nodes
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(function)
        }
        locked = {
            statement
            for node in inside
            if isinstance(node, ast.With) and ast.unparse(node.items[0]) == "LATE_IMPORT"
            for statement in node.body
        }
        for line in sorted(
            node.lineno for node in inside - locked if isinstance(node, ast.Import | ast.ImportFrom)
        ):
            where = f"{path.relative_to(root).as_posix()}:{line}"
            yield f"{where}: a late import without its lock: with LATE_IMPORT: (gpucoh/base/late.py)"


def run(*command: str) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def object_name(line: str) -> str | None:
    """Source of an archive member in meson's spelling (csrc_base_arena.c.o), or None."""
    found = re.search(r"(csrc_\w+\.c)\.o", line)
    if not found:
        return None
    return SOURCE_OF_OBJECT.get(found[1], found[1])


def check_quotes(root: Path) -> Iterator[str]:
    """Check that errors quote values by gpucoh.base.quoting, which keeps messages short and on one line."""
    for path in sorted((root / "gpucoh").rglob("*.py")):
        shown = {
            part.lineno
            for node in ast.walk(ast.parse(path.read_bytes()))
            if isinstance(node, ast.Raise)
            for part in ast.walk(node)
            if isinstance(part, ast.FormattedValue) and part.conversion == ord("r")
        }
        for line in sorted(shown):
            where = f"{path.relative_to(root).as_posix()}:{line}"
            yield f"{where}: a message quotes a value by !r: use quoted() of gpucoh.base.quoting"


def check_turns(root: Path) -> Iterator[str]:
    """Check that ``turn`` is STC's word: elsewhere a core has cycles, a controller events, a round robin a next one."""
    csrc = root / "csrc"
    for path in sorted(csrc.rglob("*.[ch]")):
        if "stc" in path.stem or path.is_relative_to(csrc / "protocols/spatiotemporal"):
            continue
        for number, line in lines_of(path):
            for name in re.findall(r"\w+", line):
                parts = name.lower().split("_")
                if not {"turn", "turns"}.isdisjoint(parts) and "stc" not in parts:
                    where = f"{path.relative_to(root).as_posix()}:{number}"
                    yield f"{where}: {name}: a turn is STC's (docs/glossary.md): cycle, event, round, next"


def check_objects(library: Path) -> Iterator[str]:
    """Check that objects hold no mutable data and make no forbidden call."""
    source = "?"
    for line in run("objdump", "-t", str(library)):
        source = object_name(line) or source
        if found := re.match(
            r"[0-9a-f]+ .{7} (\.data|\.bss|\.tdata|\.tbss|\*COM\*)(\.(?!rel\.ro)\S*)?\s+[0-9a-f]+\s+(.+)",
            line,
        ):
            name = found[3].removeprefix(".hidden ")
            if not name.startswith("."):  # the section itself
                yield f"{library}: csrc/{source}: {name} is a global that can change"
    for line in run("nm", "-u", str(library)):
        source = object_name(line) or source
        if not (found := re.match(r"\s+U (\w+)", line)):
            continue
        for what, calls in FORBIDDEN_CALLS.items():
            if found[1] in calls.split():
                yield f"{library}: csrc/{source} calls {found[1]}: no {what} in the core"
        if found[1] in ALLOCATION and source not in MAY_ALLOCATE:
            yield f"{library}: csrc/{source} calls {found[1]}: storage comes from an arena"


def check_call_circles(library: Path) -> Iterator[str]:
    """Check that no file of the library, or of the folder of objects, calls itself through others."""
    source, defined_by, undefined = "?", dict[str, str](), dict[str, set[str]]()
    objects = sorted(map(str, library.glob("*.o"))) if library.is_dir() else [str(library)]
    for line in run("nm", *objects):
        if line.endswith(":"):
            source = object_name(line) or line[:-1]
            undefined[source] = set()
        elif found := re.match(r"\s+U (\w+)", line):
            undefined[source].add(found[1])
        elif found := re.match(r"[0-9a-f]+ [A-Z] (\w+)", line):
            defined_by[found[1]] = source
    uses = {
        name: {defined_by[symbol] for symbol in symbols if symbol in defined_by}
        for name, symbols in undefined.items()
    }
    for circle in circles(uses):
        steps = [
            f"{user} -> {used} ({min(s for s in undefined[user] if defined_by.get(s) == used)})"
            for user, used in pairwise(circle)
        ]
        yield f"{library}: a circle of files: {', '.join(steps)}"


def violations(root: Path, libraries: list[Path]) -> Iterator[str]:
    yield from check_includes(root)
    yield from check_include_circles(root)
    yield from check_function_lengths(root)
    yield from check_file_lengths(root)
    yield from check_listed(root)
    yield from check_registry(root)
    yield from check_headers(root)
    yield from check_comments(root)
    yield from check_late_imports(root)
    yield from check_quotes(root)
    yield from check_turns(root)
    for library in libraries:
        if not library.is_dir():
            yield from check_objects(library)
        yield from check_call_circles(library)


def main() -> int:
    libraries = [Path(name) for name in sys.argv[1:]]
    missing = [str(library) for library in libraries if not library.exists()]
    found = [f"{name}: not there" for name in missing] or list(violations(ROOT, libraries))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
