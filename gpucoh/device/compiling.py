"""Compiles the protocols of users' C files, by the C compiler at hand, into the user's cache."""

from __future__ import annotations

import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from gpucoh.base.caches import built, cache_folder, hash_of
from gpucoh.base.errors import ConfigError
from gpucoh.base.processes import signal_name
from gpucoh.device import binding

__all__ = ["compiled", "hash_of"]

_PACKAGE = Path(__file__).resolve().parents[1]
# Of an installed package, or of the source tree.
_HEADERS = next(
    (place for place in (_PACKAGE / "include", _PACKAGE.parent / "csrc") if place.is_dir()), None
)
# As the package's own protocols are compiled; a cell of a table that is written twice is an error.
_FLAGS = ("-std=c11", "-O3", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno")
# Loads a library of protocols with the core alone, describes what it has, and executes its classifications. Errors are
# those of the process that loads it then, but for the last one; what crashes there crashes its runs, one by one.
_TRIAL = """
import importlib.util
import resource
import sys

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
found = importlib.util.spec_from_file_location("gpucoh._core", sys.argv[1])
core = importlib.util.module_from_spec(found)
found.loader.exec_module(core)
try:
    names = core.add_protocols(sys.argv[2])
except Exception:
    sys.exit(0)
for name in names:
    core.describe_protocol(name)
print("loaded", flush=True)
for name in names:
    try:
        core.check_causes(name)
    except Exception as error:
        sys.exit(f"refused: {error}")
"""
_TRIAL_S = 60.0
_TWICE = {"gcc": "-Werror=override-init", "clang": "-Werror=initializer-overrides"}


def compiled(path: Path) -> tuple[Path, str]:
    """The library of a protocol's file, and a hash of what the compiler compiled, the headers included.

    Raises
    ------
    ConfigError
        As for :func:`gpucoh.device.outside.load`.
    """
    compiler = _compiler()
    flags = [*_flags(compiler), *(str(part) for part in _includes())]
    source = _output(path, [*compiler, "-E", "-P", *flags, str(path)])
    identity = "\0".join([*compiler, *flags, _version(compiler), binding.VERSION])
    code = hashlib.sha256(identity.encode() + source).hexdigest()
    return _built(path, [*compiler, *flags, "-shared"], code), code


def _compiler() -> list[str]:
    """The command of the C compiler: the environment's CC, or what is at hand."""
    named = os.environ.get("CC")
    words = shlex.split(named) if named else ["cc"]
    for name in (words[0],) if named else ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found, *words[1:]]
    missing = f"CC={named}" if named else "cc, gcc, clang"
    raise ConfigError(
        f"there is no C compiler ({missing}): a protocol's file needs one; install gcc or clang"
    )


@functools.cache
def _version_of(compiler: tuple[str, ...]) -> str:
    asked = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False)
    return asked.stdout


def _version(compiler: Sequence[str]) -> str:
    return _version_of(tuple(compiler))


def _flags(compiler: Sequence[str]) -> Iterator[str]:
    yield from _FLAGS
    yield _TWICE["clang" if "clang" in _version(compiler) else "gcc"]
    yield f'-DGPC_VERSION="{binding.VERSION}"'
    if sys.platform == "darwin":
        yield from ("-undefined", "dynamic_lookup")


def _includes() -> Iterator[str]:
    if _HEADERS is None:
        raise ConfigError(f"the headers of gpucoh are missing in {_PACKAGE}: install it again")
    yield f"-I{_HEADERS}"
    yield f"-I{_PACKAGE}"


def _output(path: Path, command: Sequence[str]) -> bytes:
    """What a command of the compiler prints.

    Raises
    ------
    ConfigError
        With the first error that it reports, at the line of the user's file, also if it is in a macro of a header.
    """
    done = subprocess.run(
        command, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    if done.returncode == 0:
        return done.stdout
    lines = done.stderr.decode(errors="replace").splitlines()
    places = [place for place, line in enumerate(lines) if "error:" in line]
    first = _where_expanded(lines[places[0] :]) if places else (lines or ["the compiler fails"])[-1]
    more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    raise ConfigError(f"protocol file {path} does not compile: {first.strip()}{more}")


def _where_expanded(lines: Sequence[str]) -> str:
    """The error of the first line; if it is in a macro, at the place where the outermost one is expanded."""
    location, _, message = lines[0].partition(" error:")
    for line in lines[1:]:
        if line[:1].isspace():  # the source line, which gcc quotes
            continue
        place, found, _ = line.partition(" note: in expansion of macro")
        if not found:
            break
        location = place
    return f"{location} error:{message}"


# ---- the cache


def _built(path: Path, command: Sequence[str], code: str) -> Path:
    """The library of a file from the cache; compiled if the cache has none, or a damaged one."""
    library = Path(f"{code[:32]}.so")
    try:
        library = cache_folder("protocols") / library
        built(library.with_suffix(".sha256"), lambda: [_compiled(path, command, library)])
    except OSError as error:
        raise ConfigError(
            f"protocol file {path}: the cache {error.filename}: {error.strerror or error}; "
            "XDG_CACHE_HOME names another folder"
        ) from None
    return library


def _compiled(path: Path, command: Sequence[str], library: Path) -> Path:
    with TemporaryDirectory(dir=library.parent) as folder:
        part = Path(folder) / library.name
        _output(path, [*command, str(path), "-o", str(part)])
        _try(path, part)
        part.replace(library)
    return library


def _try(path: Path, library: Path) -> None:
    """Load a library in another process first: what it executes when it is loaded may crash.

    Other errors are those of this process, when it loads the library.
    """
    command = [sys.executable, "-c", _TRIAL, binding.PATH, str(library)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_TRIAL_S
        )
    except subprocess.TimeoutExpired as late:
        if late.stdout:
            return
        raise ConfigError(
            f"protocol file {path}: loading its code takes longer than {_TRIAL_S:g} seconds"
        ) from None
    refused = done.stderr.decode(errors="replace").partition("refused: ")[2].strip()
    if refused and done.returncode == 1:
        raise ConfigError(f"protocol file {path}: {refused}")
    if done.returncode < 0 and not done.stdout:
        raise ConfigError(
            f"protocol file {path}: {signal_name(-done.returncode)} ends the process that loads its code"
        )
