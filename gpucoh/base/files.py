"""Files and folders that users name: TOML files of machines and sweeps, folders for results."""

from __future__ import annotations

import contextlib
import os
import stat
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpucoh.base.errors import ConfigError, Note
from gpucoh.base.quoting import quoted


def path_of(what: str, given: object) -> Path:
    """Check that a value is a path; ``what`` names the file in the message.

    Raises
    ------
    ConfigError
        If the value is neither a string nor a path.
    """
    if not isinstance(given, str | os.PathLike):
        raise ConfigError(f"{what} {quoted(given)} is not a path")
    return Path(given)


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Read a TOML file.

    Parameters
    ----------
    path : Path
        The file.
    what : str
        The file's name in messages: ``"machine file"``.

    Raises
    ------
    ConfigError
        If the file cannot be read or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # skips a byte order mark
    except OSError as error:
        raise ConfigError(f"{what} {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{what} {path}: not TOML: not text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{what} {path}: not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{what} {path}: not TOML: nested too deep") from None
    except ValueError as error:  # a NUL in the path
        raise ConfigError(f"{what} {quoted(str(path))}: {error}") from None


@contextlib.contextmanager
def results_folder(folder: Path) -> Iterator[Path]:
    """Make a folder for results before the runs begin; on failure remove it again if it is empty.

    At the end a note names the figures and tables of the folder that were replaced.

    Parameters
    ----------
    folder : Path
        Missing parent folders are made, too.

    Raises
    ------
    ConfigError
        If the folder cannot be made.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out {folder}: {error.strerror or error}") from None
    before = _figures(folder)
    try:
        yield folder
    except BaseException:
        with contextlib.suppress(OSError):  # the folder is not empty, or is gone
            for place in made:
                place.rmdir()
        raise
    after = _figures(folder)
    replaced = [name for name, state in before.items() if after.get(name) != state]
    if replaced:
        warnings.warn(f"replaced in {folder}: {', '.join(replaced)}", Note, stacklevel=3)


def _figures(folder: Path) -> dict[str, tuple[int, int]]:
    """The figures and tables of a folder, with what changes when one is written again."""
    found = {}
    with contextlib.suppress(OSError):  # whoever writes reports it
        for path in sorted(folder.iterdir()):
            if path.suffix in (".png", ".svg", ".pdf", ".csv"):
                found[path.name] = path.stat().st_ino, path.stat().st_mtime_ns
    return found


def written_place(path: Path) -> Path:
    """The file behind symbolic links, which a replacement must keep.

    Raises
    ------
    ConfigError
        If the path is not a regular file: a replacement would destroy a pipe or a device.
    """
    target, mode = None, 0
    try:
        target = Path(os.path.realpath(path))  # raises OSError if the working directory is gone
        mode = os.stat(
            path
        ).st_mode  # path, not target: links in /proc lead to objects without a name
    except (OSError, ValueError) as error:
        if target is not None and isinstance(error, FileNotFoundError):
            return target
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path} cannot be written: {reason}") from None
    if stat.S_ISDIR(mode):
        raise ConfigError(f"{path} cannot be written: Is a directory")
    if not stat.S_ISREG(mode):
        raise ConfigError(f"{path} cannot be written: it is not a regular file")
    return target


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path that replaces the file when it is complete, so that readers never see a partial file.

    Parameters
    ----------
    path : Path
        The file; an existing one is replaced (behind a symbolic link: its target).

    Raises
    ------
    ConfigError
        If the file cannot be written.
    """
    target = written_place(path)
    part = target.with_name(f".part-{path.name}")
    try:
        yield part
        os.replace(part, target)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
