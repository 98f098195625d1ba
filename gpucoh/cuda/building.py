"""Whole CUDA programs: compiled to a shared library for the process that simulates, and the PTX of its kernels."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from gpucoh.base.caches import built, cache_folder, hash_of
from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.cuda import compiler, hip
from gpucoh.cuda.compiler import (
    for_host,
    host_compiler,
    included,
    key_of,
    run,
    toolkit,
)

__all__ = ["Built", "build"]

_HERE = Path(__file__).parent
_CODE = ("-gencode=arch=compute_75,code=compute_75", "-std=c++17", "-lineinfo", "-w")
# Functions of CUDA's libraries, which name themselves when they are called.
_CUDA_NAME = re.compile(
    r"(?:__cuda|cu(?:da|blas\w*?|rand|fft|sparse|solver|dnn|tensor|pti)?)[A-Z]\w*"
)
_UNDEFINED = re.compile(r"undefined (?:reference to|symbol:?) [`']?(.+?)'?$")
_REGISTERS = "__cudaRegisterLinkedBinary"
_LINKED = (".o", ".a", ".so")
# Libraries whose functions the runtime, or headers of the folder `include`, have.
_REPLACED = re.compile(
    r"-l(cuda|cudart|cudart_static|cudadevrt|(cublas|cusparse|curand|nccl|culibos)(Lt)?(_static)?)"
)
_CXX = (".cpp", ".cc", ".cxx")
# Options of device code whose functions are in several files: the CUDA files are compiled as one.
_SEPARATE = re.compile(r"-?-(rdc|relocatable-device-code)=true|-?-(dc|device-c)")


@dataclass(frozen=True)
class Built:
    """A program: its library, the PTX of each of its files, and the runtime's library."""

    library: Path
    ptx: tuple[tuple[Path, str], ...]
    runtime: Path


@dataclass(frozen=True)
class _Unit:
    """What the compiler compiles at a time: files that are included one after the other, and its options for them."""

    sources: Sequence[Path]
    language: Sequence[str]

    @property
    def name(self) -> str:
        return str(self.sources[0])

    def file(self, folder: Path, number: int) -> str:
        """The file to compile, of several sources one in the folder."""
        if len(self.sources) == 1:
            return self.name
        whole = folder / f"{number}.cu"
        lines = [f'#include "{source.absolute()}"\n' for source in self.sources]
        whole.write_text("".join(lines), encoding="utf-8")
        return str(whole)


def build(sources: Sequence[Path], options: Sequence[str] = (), is_hip: bool = False) -> Built:
    """Compile a program, or take it from the cache.

    Parameters
    ----------
    sources : sequence of Path
        ``.cu``, ``.hip``, ``.cpp`` and ``.c`` files; one of them has ``main``.
    options : sequence of str
        Options of the CUDA compiler.
    is_hip : bool
        The sources are HIP's.

    Raises
    ------
    ConfigError
        If a compiler is missing, or refuses the program; one line.
    """
    for source in sources:
        if not source.is_file():
            raise ConfigError(f"CUDA file {quoted(str(source))}: no such file")
    _check(sources)
    is_one = any(_SEPARATE.fullmatch(one) for one in options)
    options = [one for one in options if not _SEPARATE.fullmatch(one)] + ["-rdc=true"] * is_one
    kit, host = toolkit(), host_compiler()
    with _cached():
        named = hip.options(kit) if is_hip else []
    command = [
        str(kit.nvcc),
        *_CODE,
        *for_host(host),
        *compiler.HEADERS,
        *named,
        *(one for one in options if not _is_linked(one)),
    ]
    linked = [str(source) for source in sources if source.suffix in _LINKED]
    linked += [one for one in options if _is_linked(one) and not _REPLACED.fullmatch(one)]
    linked += _of_compiler(options)
    given = [source for source in sources if source.suffix not in _LINKED]
    languages = [hip.language(one) if is_hip else _language(command, one) for one in given]
    units = list(_units(given, languages, is_one))
    identity = [kit.version, *compiler.surroundings(), *command, *linked, *_libraries(linked)]
    files = []
    for source, language in zip(given, languages, strict=True):
        identity += [str(source.absolute()), hash_of(source)]
        headers = included([*command, *language], source, str(source))
        files += [str(source), *compiler.files_of(headers)]
        identity += headers
    textures = compiler.of_textures(files, kit)
    identity += textures
    command += textures
    with _cached():
        runtime = _runtime(kit, host)  # a program has stubs of what this one lacks
        identity += [runtime.name, Path(__file__).read_text(encoding="utf-8")]
        folder = cache_folder("cuda", key_of(identity))
        built(
            folder / "program.sha256",
            lambda: _build(units, command, linked, host, folder, runtime, is_hip),
        )
    ptx = [(folder / f"{k}.ptx", unit.name) for k, unit in enumerate(units)]
    return Built(
        folder / "program.so", tuple((path, name) for path, name in ptx if path.is_file()), runtime
    )


def _units(
    sources: Sequence[Path], languages: Sequence[Sequence[str]], is_one: bool
) -> Iterator[_Unit]:
    """What is compiled at a time: each source, or all CUDA files as one."""
    together = [source for source in sources if is_one and source.suffix == ".cu"]
    for source, language in zip(sources, languages, strict=True):
        if source not in together:
            yield _Unit([source], language)
        elif source == together[0]:
            yield _Unit(together, language)


@contextlib.contextmanager
def _cached() -> Iterator[None]:
    """What uses the cache; a folder of it that cannot be written is an error of one line."""
    try:
        yield
    except OSError as error:
        raise ConfigError(
            f"the cache {error.filename}: {error.strerror or error}; XDG_CACHE_HOME names another folder"
        ) from None


def _check(sources: Sequence[Path]) -> None:
    for number, source in enumerate(sources):
        if any(source.samefile(other) for other in sources[:number]):
            raise ConfigError(f"{source} is given twice: multiple definition of its functions")


def _language(command: Sequence[str], source: Path) -> Sequence[str]:
    """The options that make a C++ file CUDA, if it includes a library of CUDA's, since that has kernels here."""
    if source.suffix not in _CXX:
        return ()
    ours = any(
        file.startswith(f"{compiler.INCLUDE}/") for file in included(command, source, str(source))
    )
    return ("-x", "cu") if ours else ()


def _is_linked(option: str) -> bool:
    """Whether an option of the CUDA compiler names a library, its folder, or an object file."""
    if option.startswith("-"):
        return option.startswith(("-l", "-L")) and option != "-lineinfo"
    return option.endswith(_LINKED)


def _of_compiler(options: Sequence[str]) -> Iterator[str]:
    """The options of the host's compiler, which links too (``-Xcompiler -fopenmp`` brings a library), and linker's."""
    for one, after in zip(options, (*options[1:], ""), strict=False):
        name, _, value = one.partition("=")
        if name in ("-Xcompiler", "--compiler-options"):
            yield from (value or after).split(",")
        elif name in ("-Xlinker", "--linker-options"):
            yield from (f"-Wl,{part}" for part in (value or after).split(","))


def _libraries(linked: Sequence[str]) -> list[str]:
    """The files that may be linked, with their hashes: another one that appears before them counts too."""
    folders = [Path(one[2:]) for one in linked if one.startswith("-L") and one[2:]]
    folders += [Path(one) for one in os.environ.get("LIBRARY_PATH", "").split(":") if one]
    files = [Path(one) for one in linked if not one.startswith("-")]
    for name in (one[2:] for one in linked if one.startswith("-l")):
        names = [name[1:]] if name.startswith(":") else [f"lib{name}.so", f"lib{name}.a"]
        files += [folder / file for folder in folders for file in names]
    return [f"{file}={hash_of(file)}" for file in files if file.is_file()]


def _build(
    units: Sequence[_Unit],
    command: Sequence[str],
    linked: Sequence[str],
    host: Sequence[str],
    folder: Path,
    runtime: Path,
    is_hip: bool,
) -> list[Path]:
    """Compile a program to the folder, and return its files: the library, and the PTX of files that have any."""
    made = []
    with TemporaryDirectory(dir=folder) as work:
        place = Path(work)
        objects = []
        for k, unit in enumerate(units):
            code, keep = place / f"{k}.o", place / f"keep{k}"
            keep.mkdir()
            flags = ["-c", "-Xcompiler", "-fPIC", "--keep", f"--keep-dir={keep}"]
            source = unit.file(place, k)
            run([*command, *flags, *unit.language, source, "-o", str(code)], unit.name)
            objects.append(code)
            (folder / f"{k}.ptx").unlink(missing_ok=True)
            for found in keep.glob("*.ptx"):
                made.append(found.replace(folder / f"{k}.ptx"))
        whole = _linked(objects, linked, host, place, runtime, is_hip)
        made.append(whole.replace(folder / "program.so"))
    return made


def _linked(
    objects: Sequence[Path],
    linked: Sequence[str],
    host: Sequence[str],
    place: Path,
    runtime: Path,
    is_hip: bool,
) -> Path:
    """A shared library; CUDA functions that the runtime lacks name themselves when they are called."""
    # As in an executable, the program's own functions and variables come before those of the process.
    base = [*host, "-shared", "-fPIC", "-Wl,-Bsymbolic", *map(str, objects)]
    names: list[str] = []
    first = [*base, _stubs(names, host, place, is_hip), "-o", str(place / "first.so"), *linked]
    if failed := compiler.attempt([*first, str(runtime), "-Wl,-z,defs"]):
        undefined = [found[1] for line in failed if (found := _UNDEFINED.search(line))]
        unknown = [name for name in undefined if not _CUDA_NAME.fullmatch(name)]
        if unknown:
            more = f" (and {len(set(unknown)) - 1} more)" if len(set(unknown)) > 1 else ""
            raise ConfigError(
                f"undefined: {unknown[0]}, which no file of the program defines{more}"
            )
        if not undefined:
            compiler.refused("", failed)
        names = sorted(set(undefined))
    library = place / "program.so"
    run([*base, _stubs(names, host, place, is_hip), "-o", str(library), *linked], "")
    return library


def _stubs(names: Sequence[str], host: Sequence[str], place: Path, is_hip: bool) -> str:
    """The object file of functions that name themselves, and of those that end the process at once."""
    text = [
        "void gpucoh_missing(const char *);",
        "void gpucoh_end(int);",
        *(
            f'__attribute__((weak, visibility("hidden"))) void {name}(int status) {{ gpucoh_end(status); }}'
            for name in ("_exit", "_Exit", "quick_exit")
        ),
        *(_stub(name, hip.name_of(name) if is_hip else name) for name in names),
    ]
    source, made = place / "stubs.c", place / "stubs.o"
    source.write_text("\n".join([*text, ""]), encoding="utf-8")
    run(
        [*host, "-x", "c", "-c", "-fPIC", "-w", "-fno-builtin", str(source), "-o", str(made)],
        "",
    )
    return str(made)


def _stub(name: str, shown: str) -> str:
    """A function that names itself; or of a file that shares device code, that registers it, as CUDA's linker has."""
    if not name.startswith(_REGISTERS):
        return f'void {name}(void) {{ gpucoh_missing("{shown}"); }}'
    return (
        f"void {name}(void (*of_file)(void **), void *a, void *b, void *c) "
        "{ void **__cudaRegisterFatBinary(void *); of_file(__cudaRegisterFatBinary(0)); }"
    )


def _runtime(kit: compiler.Toolkit, host: Sequence[str]) -> Path:
    """The compiled runtime.c."""
    sources = [_HERE / name for name in ("runtime.c", "runtime.def", "errors.def")]
    identity = [kit.version, *host, *(source.read_text(encoding="utf-8") for source in sources)]
    library = cache_folder("cuda") / f"runtime-{key_of(identity)}.so"

    def make() -> list[Path]:
        with TemporaryDirectory(dir=library.parent) as work:
            part = Path(work) / library.name
            flags = ["-x", "c", "-O1", "-shared", "-cudart", "none", "-w", "-Xcompiler", "-fPIC"]
            run(
                [str(kit.nvcc), *for_host(host), *flags, str(sources[0]), "-o", str(part)],
                "runtime.c",
            )
            return [part.replace(library)]

    built(library.with_suffix(".sha256"), make)
    return library
