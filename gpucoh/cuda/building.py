"""Whole CUDA programs: compiled to a shared library for the process that simulates, and the PTX of its kernels."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.cuda import compiler
from gpucoh.cuda.compiler import cache_folder, host_compiler, run, toolkit
from gpucoh.cuda.runtime import FUNCTIONS

__all__ = ["Built", "build"]

_HERE = Path(__file__).parent
_CODE = ("-gencode=arch=compute_75,code=compute_75", "-std=c++17", "-lineinfo", "-w")
_CUDA_NAME = re.compile(r"(?:__)?cu[a-z]*[A-Z]\w*")


@dataclass(frozen=True)
class Built:
    """A program: its library, the PTX of each of its files, and the runtime's library."""

    library: Path
    ptx: tuple[tuple[Path, str], ...]
    runtime: Path


def build(sources: Sequence[Path], options: Sequence[str] = ()) -> Built:
    """Compile a program, or take it from the cache.

    Parameters
    ----------
    sources : sequence of Path
        ``.cu``, ``.cpp`` and ``.c`` files; one of them has ``main``.
    options : sequence of str
        Options of the CUDA compiler.

    Raises
    ------
    ConfigError
        If a compiler is missing, or refuses the program; one line.
    """
    for source in sources:
        if not source.is_file():
            raise ConfigError(f"CUDA file {quoted(str(source))}: no such file")
    kit, host = toolkit(), host_compiler()[0]
    command = [
        str(kit.nvcc),
        *_CODE,
        f"-ccbin={host}",
        "-include",
        str(compiler.COMPATIBILITY),
        *options,
    ]
    identity = [
        kit.version,
        *compiler.surroundings(),
        *command,
        *(str(source.absolute()) for source in sources),
    ]
    folder = cache_folder() / hashlib.sha256("\0".join(identity).encode()).hexdigest()[:32]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"the cache {quoted(str(cache_folder()))} cannot be written: {error.strerror} (XDG_CACHE_HOME names another)"
        ) from None
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_current(folder):
            _build(sources, command, host, folder, options)
    ptx = [(folder / f"{k}.ptx", str(source)) for k, source in enumerate(sources)]
    return Built(
        folder / "program.so",
        tuple((path, name) for path, name in ptx if path.is_file()),
        _runtime(kit, host),
    )


def _is_current(folder: Path) -> bool:
    """Whether every file that the program was made of is the same."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        known = json.loads((folder / "files.json").read_text(encoding="utf-8"))
        return (folder / "program.so").is_file() and all(
            hashlib.sha256(Path(name).read_bytes()).hexdigest() == code
            for name, code in known.items()
        )
    return False


def _build(
    sources: Sequence[Path],
    command: Sequence[str],
    host: str,
    folder: Path,
    options: Sequence[str],
) -> None:
    (folder / "files.json").unlink(missing_ok=True)
    files: set[Path] = set()
    with TemporaryDirectory(dir=folder) as work:
        place = Path(work)
        objects = []
        for k, source in enumerate(sources):
            made, rule = place / f"{k}.o", place / f"{k}.d"
            keep = place / f"keep{k}"
            keep.mkdir()
            flags = [
                "-c",
                "-Xcompiler",
                "-fPIC",
                "-MD",
                "-MF",
                str(rule),
                "--keep",
                f"--keep-dir={keep}",
            ]
            run([*command, *flags, str(source), "-o", str(made)], str(source))
            objects.append(made)
            files |= {source, *compiler.dependencies(rule)}
            for found in keep.glob("*.ptx"):
                found.replace(folder / f"{k}.ptx")
        _link(objects, host, folder / "program.so", place, options)
    known = {
        str(file.absolute()): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.is_file()
    }
    (folder / "files.json").write_text(json.dumps(known), encoding="utf-8")


def _link(
    objects: Sequence[Path], host: str, library: Path, place: Path, options: Sequence[str]
) -> None:
    """A shared library; CUDA functions that the runtime lacks name themselves when they are called."""
    libraries = [one for one in options if one.startswith(("-l", "-L"))]
    # As in an executable, the program's own functions and variables come before those of the process.
    base = [host, "-shared", "-fPIC", "-Wl,-Bsymbolic", *map(str, objects)]
    first = place / "first.so"
    run([*base, "-o", str(first), *libraries], "program")
    stubs = place / "missing.c"
    names = sorted(_undefined(first) - set(FUNCTIONS))
    lines = [f'void {name}(void) {{ gpucoh_missing("{name}"); }}' for name in names]
    stubs.write_text(
        "\n".join(["void gpucoh_missing(const char *);", *lines, ""]), encoding="utf-8"
    )
    made = place / "missing.o"
    run([host, "-x", "c", "-c", "-fPIC", "-w", str(stubs), "-o", str(made)], "program")
    run([*base, str(made), "-o", str(library), *libraries], "program")


def _undefined(library: Path) -> set[str]:
    """The names of CUDA's libraries that the program calls."""
    listed = subprocess.run(
        ["nm", "-D", "--undefined-only", str(library)], capture_output=True, text=True, check=False
    )
    names = (line.split()[-1].split("@")[0] for line in listed.stdout.splitlines() if line.strip())
    return {name for name in names if _CUDA_NAME.fullmatch(name)}


def _runtime(kit: compiler.Toolkit, host: str) -> Path:
    """The compiled runtime.c."""
    sources = [_HERE / "runtime.c", _HERE / "runtime.def"]
    identity = [kit.version, host, *(source.read_text(encoding="utf-8") for source in sources)]
    key = hashlib.sha256("\0".join(identity).encode()).hexdigest()[:32]
    library = cache_folder() / f"runtime-{key}.so"
    if not library.is_file():
        with TemporaryDirectory(dir=library.parent) as work:
            part = Path(work) / library.name
            flags = ["-x", "c", "-O1", "-shared", "-cudart", "none", "-w", "-Xcompiler", "-fPIC"]
            run(
                [str(kit.nvcc), f"-ccbin={host}", *flags, str(sources[0]), "-o", str(part)],
                "runtime.c",
            )
            part.replace(library)
    return library
