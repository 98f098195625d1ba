"""Functions of users: their files, their source as a hash, and their way into other processes."""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import itertools
import linecache
import operator
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from gpucoh.base.errors import ConfigError, Error, WorkloadError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.parsing import parsed, source_of
from gpucoh.base.quoting import quoted

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_INSTALLED = ("site-packages", "dist-packages")
_PLAIN = (bool, int, float, str, bytes, type(None), tuple)


@dataclass(frozen=True)
class Packed:
    """A function as pickled: the place where it is defined, else its code by value.

    Attributes
    ----------
    module, path, name : str
        The module, its file (empty: none) and the qualified name in it.
    value : bytes
        The function by value (cloudpickle); empty if the place suffices.
    sources : tuple of (str, str)
        Source texts that are not in files: file name in the code, text.
    """

    module: str
    path: str
    name: str
    value: bytes = b""
    sources: tuple[tuple[str, str], ...] = ()


def name_of(function: Any) -> str:
    """A callable's name: of a partial that of its function, of an object that of its class."""
    if isinstance(function, functools.partial):
        return name_of(function.func)
    return str(
        getattr(function, "__name__", None) or getattr(function, "name", type(function).__name__)
    )


def place_of(function: Any) -> tuple[str, int]:
    """File and first line of a callable."""
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function):
        function = getattr(type(function), "__call__", function)  # noqa: B004 - the function itself
    code = getattr(inspect.unwrap(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else ("<unknown>", 0)


# ---- a function's way into another process


def packed(function: FunctionType) -> Packed:
    """The function in the form that another process can restore.

    Raises
    ------
    ConfigError
        If it is defined in a notebook or in another function, and cloudpickle is not installed.
    """
    file = Path(place_of(function)[0])
    module = sys.modules.get(function.__module__)
    path = str(file.resolve()) if file.is_file() else ""
    here = Packed(function.__module__, path, function.__qualname__)
    importable = path or function.__module__ != "__main__"
    if importable and _plain(_attribute(module, function.__qualname__)) is function:
        return here
    try:
        with LATE_IMPORT:
            import cloudpickle  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise ConfigError(
            f"workload {quoted(function.__name__)} is defined in a notebook or inside a function, where "
            "other processes cannot import it: move it to a file, install cloudpickle, or use threads (the default)"
        ) from None
    return Packed(
        here.module, "", here.name, cloudpickle.dumps(function), tuple(_sources(function))
    )


def unpacked(given: Packed) -> Any:
    """The function, or the workload that it was decorated into.

    Raises
    ------
    ConfigError
        If the file no longer defines it.
    """
    if given.value:
        for name, text in given.sources:
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        return pickle.loads(given.value)
    for module in _candidates(given):
        found = _attribute(module, given.name)
        if found is not None:
            return found
    raise ConfigError(f"there is no {quoted(given.name)} in {given.path or given.module}")


def _candidates(given: Packed) -> Iterator[ModuleType]:
    """The modules that may define it: the running script, the module by name, the file."""
    known = [sys.modules.get("__main__"), sys.modules.get(given.module)]
    if given.module != "__main__" and known[1] is None:
        with contextlib.suppress(ImportError):
            known.append(importlib.import_module(given.module))
    for module in known:
        if module is not None and (not given.path or _is_file(module, given.path)):
            yield module
    if given.path:
        yield load_file(Path(given.path))


def _is_file(module: ModuleType, path: str) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve() == Path(path)


def _attribute(module: ModuleType | None, name: str) -> Any:
    try:
        return operator.attrgetter(name)(module)
    except AttributeError:
        return None


def _plain(found: Any) -> Any:
    """The function of a workload, kernel or device function; anything else unchanged."""
    return found if inspect.isfunction(found) else getattr(found, "function", None) or found


def _sources(function: FunctionType) -> Iterator[tuple[str, str]]:
    """Texts of the functions that are not in files, such as cells of a notebook."""
    seen = set()
    for _, part in _parts(function):
        name = part.__code__.co_filename if inspect.isfunction(part) else ""
        if name and name not in seen and not Path(name).is_file():
            seen.add(name)
            yield name, "".join(linecache.getlines(name))


# ---- the source as a hash


def digest(function: Any) -> str:
    """A hash of a function's source and of the functions, kernels and constants that it refers to."""
    out = hashlib.sha256()
    folder = Path(place_of(function)[0]).resolve().parent
    for name, part in _parts(function):
        out.update(f"\0{name}\0".encode())
        if inspect.isfunction(part) or inspect.isclass(part):
            out.update(_text(part))
        elif isinstance(part, np.ndarray):
            out.update(f"{part.dtype}{part.shape}".encode() + part.tobytes())
        elif isinstance(part, _PLAIN):
            out.update(repr(part).encode())
        elif isinstance(part, ModuleType):
            file = Path(getattr(part, "__file__", None) or "<built in>")
            if file.is_file() and folder in file.resolve().parents:
                out.update(file.read_bytes())
    return out.hexdigest()


def files_of(function: Any) -> list[Path]:
    """The file of a function, and the modules of the file's folder or package that it imports, directly or not.

    Other packages that are installed are not followed.
    """
    first = Path(place_of(function)[0]).resolve()
    if not first.is_file() or str(first).startswith(_PACKAGE):
        return []
    own = top = first.parent
    while (top / "__init__.py").is_file():
        own, top = top, top.parent
    found, todo = {first}, [] if own.name in _INSTALLED else [first]
    while todo:
        named = {path.resolve() for path in _imports(todo.pop(), top) if path.is_file()}
        new = {path for path in named - found if own in path.parents}
        found |= new
        todo += new
    return sorted(found)


def _imports(path: Path, top: Path) -> Iterator[Path]:
    """The files that the import statements of a file may mean."""
    try:
        tree = parsed(path.read_bytes())
    except (SyntaxError, ValueError):  # executing it reports this
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names, places = [alias.name for alias in node.names], [path.parent, top]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module or ''}.{alias.name}".lstrip(".") for alias in node.names]
            places = [path.parents[node.level - 1]] if node.level else [path.parent, top]
        else:
            continue
        for place, name in itertools.product(places, names):
            parts = name.split(".")
            for depth in range(1, len(parts) + 1):
                module = place.joinpath(*parts[:depth])
                yield from (module.with_name(f"{module.name}.py"), module / "__init__.py")


def _text(part: Any) -> bytes:
    try:
        return source_of(part).encode()
    except (OSError, TypeError):
        code = getattr(part, "__code__", None)
        return code.co_code + repr(code.co_consts).encode() if code else b""


def _parts(function: Any) -> Iterator[tuple[str, Any]]:
    """A callable and what its code refers to by name, each once; nothing of this package."""
    seen: set[int] = set()
    todo: list[tuple[str, Any]] = [("", function)]
    while todo:
        name, value = todo.pop()
        value = _plain(value) if _is_ours(value) else value
        if id(value) in seen or str(getattr(value, "__module__", "")).startswith("gpucoh."):
            continue
        seen.add(id(value))
        yield name, value
        if isinstance(value, functools.partial):
            todo += [(name, item) for item in (value.func, *value.args, *value.keywords.items())]
        elif inspect.isfunction(value):
            todo += sorted(_referred(value), key=lambda item: item[0])
        elif callable(value) and not inspect.isclass(value) and not inspect.isbuiltin(value):
            todo.append((name, type(value)))


def _is_ours(value: Any) -> bool:
    kind = type(value)
    return kind.__module__.startswith("gpucoh.") and hasattr(value, "function")


def _referred(function: FunctionType) -> Iterator[tuple[str, Any]]:
    names = set(_names(function.__code__))
    yield from ((name, function.__globals__[name]) for name in names & function.__globals__.keys())
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    yield from ((f"={place}", value) for place, value in enumerate(function.__defaults__ or ()))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


# ---- files


_loaded: dict[Path, tuple[int, ModuleType]] = {}


def load_file(path: Path) -> ModuleType:
    """The module of a user's file; executed again only when the file has changed.

    Raises
    ------
    ConfigError
        If there is no such file, or executing it raises; with file and line.
    """
    place = path.resolve()
    try:
        stamp = place.stat().st_mtime_ns
    except OSError as error:
        raise ConfigError(f"workload file {path}: {error.strerror or error}") from None
    if place in _loaded and _loaded[place][0] == stamp:
        return _loaded[place][1]
    name = f"gpucoh_file_{hashlib.sha256(str(place).encode()).hexdigest()[:8]}_{place.stem}"
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None or spec.loader is None:
        raise ConfigError(f"workload file {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(place.parent) not in sys.path:
        sys.path.append(str(place.parent))  # so that it can import its neighbours, also later
    linecache.checkcache(str(place))
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, Exception | SystemExit):
            raise
        raise _broken(error, place) from error.with_traceback(None)
    _loaded[place] = (stamp, module)
    return module


def _broken(error: BaseException, file: Path) -> WorkloadError:
    """The error of a file that cannot be executed, with its line."""
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == str(file) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    text = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    kind = "" if isinstance(error, Error) else f"{type(error).__name__}: "
    return WorkloadError(
        f"{file}:{line or 1}: {kind}{text}".removesuffix(": "), str(file), line or 1
    )


def is_of_a_file(function: Any) -> bool:
    """Whether a function is of a file that :func:`load_file` has executed."""
    return any(
        module.__name__ == getattr(function, "__module__", "") for _, module in _loaded.values()
    )


def in_file(text: str, is_workload: Callable[[Any], bool]) -> Any:
    """The object that ``my_file.py:name`` names.

    Raises
    ------
    ConfigError
        If the file cannot be loaded or does not define the name; the message lists its workloads.
    """
    file, _, name = text.rpartition(":")
    if not file:
        file, name = text, ""
    module = load_file(Path(file))
    found = _attribute(module, name) if name else None
    if found is None:
        known = [key for key, value in vars(module).items() if is_workload(value)]
        listed = f"its workloads: {', '.join(known)}" if known else "it has no @gpucoh.workload"
        missing = (
            f"there is no {quoted(name)} in {file}" if name else f"{file} needs a name: {file}:NAME"
        )
        raise ConfigError(f"workload {quoted(text)}: {missing} ({listed})")
    return found
