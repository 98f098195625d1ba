"""PTX of CUDA sources: the CUDA compiler that is at hand, and a cache of what it compiled."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from gpucoh.base.caches import cache_folder, hash_of, read_entry, write_entry
from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted

__all__ = ["Toolkit", "ptx_of", "toolkit"]

#: The architecture of the PTX: the oldest that CUDA 13 has. `compat.h` has names that CUDA 13 dropped.
FLAGS = ("-arch=sm_75", "-std=c++17", "-lineinfo", "-w")
#: CUDA's libraries are in `include`, before the compiler's own headers.
INCLUDE = Path(__file__).with_name("include")
HEADERS = ("-include", str(Path(__file__).with_name("compat.h")), f"-I{INCLUDE}")
#: What a file names that needs `gpucoh/textures.h`, which replaces a header of CUDA's, and its texture references.
_TEXTURES = re.compile(
    r"\b(?:tex[123]D\w*|texture\s*<|(?:cuda|hip)(?:Array\w*|Memcpy3D\w*|Malloc(?:3D)?Array|TextureObject_t)\b)"
)
_REFERENCES = re.compile(r"\btexture\s*<")
_ERROR = re.compile(r"^(?!collect2:).*(\berror\b|multiple definition|undefined reference)")
_PTX = re.compile(r"^\s*\.version\s+\d", re.MULTILINE)
# Programs that precede a compiler in CXX.
_LAUNCHERS = {"ccache", "distcc", "icecc", "sccache"}
_INSTALL = "pip install 'gpucoh[cuda]' installs one, and CUDA_HOME names another"


@dataclass(frozen=True)
class Toolkit:
    """A CUDA compiler.

    Attributes
    ----------
    nvcc : Path
    """

    nvcc: Path

    @property
    def version(self) -> str:
        """The compiler's version, as ``13.5.37``."""
        return _version(self.nvcc)


@functools.cache
def _version(nvcc: Path) -> str:
    try:
        asked = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        not_executable(nvcc, error)
    found = re.search(r"\bV(\d[\d.]*)", asked.stdout)
    return found[1] if found else "unknown"


def toolkit() -> Toolkit:
    """The CUDA compiler: of CUDA_HOME, of the extra ``gpucoh[cuda]``, or on the PATH.

    Raises
    ------
    ConfigError
        If there is none; it names what installs one.
    """
    for home in _homes():
        nvcc = home / "bin" / "nvcc"
        if nvcc.is_file() and os.access(nvcc, os.X_OK):
            return Toolkit(nvcc)
    raise ConfigError(f"there is no CUDA compiler (nvcc): {_INSTALL}")


def _homes() -> Iterator[Path]:
    named = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    if named:
        nvcc = Path(named) / "bin" / "nvcc"
        if not nvcc.is_file():
            raise ConfigError(f"CUDA_HOME = {named} has no bin/nvcc")
        if not os.access(nvcc, os.X_OK):
            raise ConfigError(f"{nvcc} cannot be executed: Permission denied")
        yield Path(named)
    packages = importlib.util.find_spec("nvidia")
    for folder in (packages and packages.submodule_search_locations) or ():
        yield from sorted(Path(folder).glob("cu[0-9]*"), reverse=True)
    if on_path := shutil.which("nvcc"):
        yield Path(on_path).resolve().parents[1]


def not_executable(command: str | Path, error: OSError) -> NoReturn:
    """Raise the error of a command that cannot be started, as one of this package."""
    raise ConfigError(f"{command} cannot be executed: {error.strerror or error}") from None


def host_compiler() -> list[str]:
    """The C++ compiler that CUDA's compiler uses for the host's part, and its options: CXX, or what is at hand.

    Raises
    ------
    ConfigError
        If there is none.
    """
    named = os.environ.get("CXX", "")
    try:
        words = shlex.split(named)
    except ValueError as error:
        raise ConfigError(f"CXX={named}: {error}") from None
    while (
        len(words) > 1 and Path(words[0]).name in _LAUNCHERS
    ):  # CUDA's compiler takes a compiler alone
        del words[0]
    for name in words[:1] or ("g++", "clang++", "c++"):
        if found := shutil.which(name):
            return [found, *words[1:]]
    missing = f"CXX={named}" if words else "g++, clang++, c++"
    raise ConfigError(
        f"there is no C++ compiler ({missing}), which CUDA's compiler needs: install g++"
    )


def for_host(host: Sequence[str]) -> list[str]:
    """The options of CUDA's compiler that name a host compiler with its options."""
    return [f"-ccbin={host[0]}", *(word for one in host[1:] for word in ("-Xcompiler", one))]


def ptx_of(source: Any, options: Sequence[str] = ()) -> tuple[str, str]:
    """The PTX of a source, and its name for messages.

    Raises
    ------
    ConfigError
        If it is nothing that :class:`gpucoh.cuda.Module` takes, a file that cannot be read, or refused by the compiler.
    """
    if isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], str):
        # What numba.cuda.compile_ptx gives, or PTX and its name.
        return source[0], source[1] if isinstance(source[1], str) else "<numba>"
    if is_of_triton(source):
        return source.asm["ptx"], str(getattr(source, "name", "<triton>"))
    if isinstance(source, Path) or (isinstance(source, str) and _is_path(source)):
        return _of_file(Path(source), options)
    if not isinstance(source, str):
        raise ConfigError(
            f"{quoted(source)} is not a CUDA source: give CUDA or PTX as text, or the path of a .cu or .ptx file"
        )
    if _PTX.search(source):
        return source, "<ptx>"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "source.cu"
        path.write_text(f'#line 1 "<cuda>"\n{source}', encoding="utf-8")
        return compile(path, options, "<cuda>"), "<cuda>"


def is_of_triton(source: Any) -> bool:
    """Whether it is a kernel as ``triton.compile`` returns it."""
    return "ptx" in (getattr(source, "asm", None) or ())


def _is_path(text: str) -> bool:
    return "\n" not in text and text.endswith((".cu", ".ptx", ".cuh", ".cpp"))


def _of_file(path: Path, options: Sequence[str]) -> tuple[str, str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ConfigError(f"CUDA file {quoted(str(path))}: {error.strerror}") from None
    if path.suffix == ".ptx" or _PTX.search(text):
        return text, str(path)
    return compile(path, options, str(path)), str(path)


def of_textures(files: Sequence[str], kit: Toolkit) -> list[str]:
    """The options of a program with textures or arrays; ``files`` are its sources and headers.

    Not of every program: the header costs a second, and programs have variables that are called ``texture``.
    """
    own = (
        Path(file) for file in files if not file.startswith((f"{kit.nvcc.parents[1]}/", "/usr/"))
    )
    texts = [one.read_text(encoding="utf-8", errors="replace") for one in own if one.is_file()]
    if not any(map(_TEXTURES.search, texts)):
        return []
    # The headers are not among the files, which were listed without these options: their hashes stand for them.
    hashes = "".join(hash_of(INCLUDE / "gpucoh" / name) for name in ("textures.h", "arrays.h"))
    given = ["-D__TEXTURE_INDIRECT_FUNCTIONS_H__", f"-DGPUCOH_TEXTURES=0x{hashes}"]
    return given + ["-DGPUCOH_TEXTURE_REFERENCES"] * any(map(_REFERENCES.search, texts))


def compile(path: Path, options: Sequence[str], name: str) -> str:
    """PTX of a CUDA file, from the cache unless the file, a header, an option or the compiler has changed."""
    found = toolkit()
    command = [
        str(found.nvcc),
        *FLAGS,
        *for_host(host_compiler()),
        *HEADERS,
        *options,
    ]
    text = path.read_text(encoding="utf-8", errors="replace")
    identity = [found.version, *surroundings(), *command, name, text]
    headers = []
    if any("include" in one for one in (text, *options, *_variables())):
        # Which headers it reads depends on the files that there are: a new one may precede another.
        headers = included(command, path, name)
    textures = of_textures([str(path), *files_of(headers)], found)
    identity += [*headers, *textures]
    command += textures
    try:
        entry = cache_folder("cuda") / f"{key_of(identity)}.ptx"
    except OSError:  # a cache that cannot be written only costs time
        return _compiled(path, command, name, None)
    return _cached(entry) or _compiled(path, command, name, entry)


def included(command: Sequence[str], source: Path, name: str) -> list[str]:
    """The files that a source includes now, each with its hash.

    Raises
    ------
    ConfigError
        If the preprocessor refuses the source.
    """
    with TemporaryDirectory() as folder:
        rule = Path(folder) / "rule.d"
        run([*command, "-M", "-MF", str(rule), str(source)], name)
        files = dependencies(rule)
    return [f"{file}={hash_of(file)}" for file in files if file != source]


def files_of(included: Sequence[str]) -> list[str]:
    """The files that :func:`included` lists, without those of this package."""
    files = (one.rpartition("=")[0] for one in included)
    return [one for one in files if not one.startswith(f"{INCLUDE.parent}/")]


def key_of(identity: Sequence[str]) -> str:
    """The name of an entry of the cache."""
    return hashlib.sha256("\0".join(identity).encode(errors="surrogateescape")).hexdigest()[:32]


def _variables() -> list[str]:
    names = (
        "NVCC_PREPEND_FLAGS",
        "NVCC_APPEND_FLAGS",
        "CPATH",
        "CPLUS_INCLUDE_PATH",
        "C_INCLUDE_PATH",
        "LIBRARY_PATH",
    )
    return [f"{name}={os.environ.get(name, '')}" for name in names]


def surroundings() -> list[str]:
    """What a compilation depends on besides options and files: the folder of relative paths, variables."""
    return [str(Path.cwd()), *_variables()]


def _cached(entry: Path) -> str | None:
    """The entry, if it is whole."""
    found = read_entry(entry)
    return None if found is None else found.decode()


def _compiled(path: Path, command: Sequence[str], name: str, entry: Path | None) -> str:
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out.ptx"
        run([*command, "-ptx", str(path), "-o", str(out)], name)
        text = out.read_text(encoding="utf-8").replace(f'"{Path.cwd()}/<cuda>"', '"<cuda>"')
    with contextlib.suppress(OSError):
        if entry is not None:
            write_entry(entry, text.encode())
    return text


def dependencies(rule: Path) -> list[Path]:
    """The files of a dependency rule of a compiler."""
    text = rule.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
    # A space or # of a name is escaped by a backslash, and $ is doubled.
    words = re.findall(r"(?:\\.|[^\s\\])+", text.partition(": ")[2])
    files = [Path(re.sub(r"\\(.)", r"\1", word).replace("$$", "$")) for word in words]
    return [file for file in files if file.is_file()]


def run(command: Sequence[str], name: str) -> None:
    """Run a compiler.

    Raises
    ------
    ConfigError
        With the first error that it reports.
    """
    if failed := attempt(command):
        refused(name, failed)


def attempt(command: Sequence[str]) -> list[str]:
    """Run a compiler; what it writes if it fails, in lines, at least one."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, check=False, env=environment)
    except OSError as error:
        not_executable(command[0], error)
    if done.returncode == 0:
        return []
    lines = (done.stdout + done.stderr).decode(errors="replace").splitlines()
    return [line for line in lines if line.strip()] or [f"{Path(command[0]).name} fails"]


def refused(name: str, lines: Sequence[str]) -> NoReturn:
    """Raise the first error of those that a compiler wrote of a file, or without a name of the whole program."""
    errors = [line for line in lines if _ERROR.search(line)] or list(lines[-1:])
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    what = f"CUDA file {name} does not compile" if name else "the program cannot be linked"
    raise ConfigError(f"{what}: {errors[0].strip()}{more}")
