"""PTX of CUDA sources: the CUDA compiler that is at hand, and a cache of what it compiled."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted

__all__ = ["Toolkit", "ptx_of", "toolkit"]

#: The architecture of the PTX: the oldest that CUDA 13 has. `compat.h` has names that CUDA 13 dropped.
FLAGS = ("-arch=sm_75", "-std=c++17", "-lineinfo", "-w")
COMPATIBILITY = Path(__file__).with_name("compat.h")
_PTX = re.compile(r"^\s*\.version\s+\d", re.MULTILINE)
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
    asked = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False)
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
        if not (Path(named) / "bin" / "nvcc").is_file():
            raise ConfigError(f"CUDA_HOME = {named} has no bin/nvcc")
        yield Path(named)
    packages = importlib.util.find_spec("nvidia")
    for folder in (packages and packages.submodule_search_locations) or ():
        yield from sorted(Path(folder).glob("cu[0-9]*"), reverse=True)
    if on_path := shutil.which("nvcc"):
        yield Path(on_path).resolve().parents[1]


def host_compiler() -> list[str]:
    """The C++ compiler that CUDA's compiler uses for the host's part: CXX, or what is at hand.

    Raises
    ------
    ConfigError
        If there is none.
    """
    named = os.environ.get("CXX")
    for name in (named.split()[0],) if named else ("g++", "clang++", "c++"):
        if found := shutil.which(name):
            return [found]
    missing = f"CXX={named}" if named else "g++, clang++, c++"
    raise ConfigError(
        f"there is no C++ compiler ({missing}), which CUDA's compiler needs: install g++"
    )


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


def compile(path: Path, options: Sequence[str], name: str) -> str:
    """PTX of a CUDA file, from the cache unless the file, a header, an option or the compiler has changed."""
    found = toolkit()
    command = [
        str(found.nvcc),
        *FLAGS,
        f"-ccbin={host_compiler()[0]}",
        "-include",
        str(COMPATIBILITY),
        *options,
    ]
    text = path.read_text(encoding="utf-8", errors="replace")
    identity = [found.version, *surroundings(), *command, name, text]
    key = hashlib.sha256("\0".join(identity).encode()).hexdigest()[:32]
    entry = cache_folder() / f"{key}.ptx"
    return _cached(entry) or _compiled(path, command, name, entry)


def surroundings() -> list[str]:
    """What a compilation depends on besides options and files: the folder of relative paths, variables."""
    names = (
        "NVCC_PREPEND_FLAGS",
        "NVCC_APPEND_FLAGS",
        "CPATH",
        "CPLUS_INCLUDE_PATH",
        "C_INCLUDE_PATH",
    )
    return [str(Path.cwd()), *(f"{name}={os.environ.get(name, '')}" for name in names)]


def cache_folder() -> Path:
    """The user's cache of compiled CUDA sources."""
    given = os.environ.get("XDG_CACHE_HOME")
    return (Path(given) if given else Path.home() / ".cache") / "gpucoh" / "cuda"


def _cached(entry: Path) -> str | None:
    """The entry, if the headers that it was made of are the same."""
    try:
        known = json.loads(entry.with_suffix(".json").read_text(encoding="utf-8"))
        text = entry.read_text(encoding="utf-8")
        same = all(_hash(Path(header)) == code for header, code in known["headers"].items())
        return (
            text if same and known["sha256"] == hashlib.sha256(text.encode()).hexdigest() else None
        )
    except (OSError, ValueError, KeyError, AttributeError):
        return None


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _compiled(path: Path, command: Sequence[str], name: str, entry: Path) -> str:
    with TemporaryDirectory() as folder:
        out, rule = Path(folder) / "out.ptx", Path(folder) / "out.d"
        run([*command, "-ptx", "-MD", "-MF", str(rule), str(path), "-o", str(out)], name)
        text = out.read_text(encoding="utf-8")
        headers = _headers(rule, path) if rule.is_file() else {}
    known = {"sha256": hashlib.sha256(text.encode()).hexdigest(), "headers": headers}
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        for file, content in ((entry, text), (entry.with_suffix(".json"), json.dumps(known))):
            part = file.with_name(f"{file.name}.{os.getpid()}")
            part.write_text(content, encoding="utf-8")
            part.replace(file)
    except OSError:
        pass  # a cache that cannot be written only costs time
    return text


def dependencies(rule: Path) -> list[Path]:
    """The files of a dependency rule of a compiler."""
    text = rule.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ")
    # A space or # of a name is escaped by a backslash, and $ is doubled.
    words = re.findall(r"(?:\\.|[^\s\\])+", text.partition(": ")[2])
    files = [Path(re.sub(r"\\(.)", r"\1", word).replace("$$", "$")) for word in words]
    return [file for file in files if file.is_file()]


def _headers(rule: Path, source: Path) -> dict[str, str]:
    """The files of a dependency rule but the source, with their hashes."""
    return {str(file): _hash(file) for file in dependencies(rule) if file != source}


def run(command: Sequence[str], name: str) -> None:
    """Run CUDA's compiler.

    Raises
    ------
    ConfigError
        With the first error that it reports.
    """
    done = subprocess.run(
        command, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    if done.returncode == 0:
        return
    lines = (done.stdout + done.stderr).decode(errors="replace").splitlines()
    errors = (
        [line for line in lines if re.search(r"\berror\b|undefined reference", line)]
        or [line for line in lines if line.strip()][-1:]
        or ["nvcc fails"]
    )
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    raise ConfigError(f"CUDA file {name} does not compile: {errors[0].strip()}{more}")
