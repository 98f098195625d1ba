"""Files and folders that users name: TOML files of machines and sweeps, folders for results."""

from __future__ import annotations

import contextlib
import os
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpucoh.errors import ConfigError


def path_of(what: str, given: object) -> Path:
    """A path, refused where it is none; ``what`` it leads to, for the message.

    Raises
    ------
    ConfigError
        If it is neither text nor a path.
    """
    if not isinstance(given, str | os.PathLike):
        raise ConfigError(f"{what} {given!r} is not a path")
    return Path(given)


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """What stands in a TOML file.

    Parameters
    ----------
    path : Path
        The file.
    what : str
        What it is to the user, for messages: ``"machine file"``.

    Raises
    ------
    ConfigError
        If it cannot be read or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors begin with a mark
    except OSError as error:
        raise ConfigError(f"{what} {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{what} {path}: not TOML: not text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{what} {path}: not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{what} {path}: not TOML: nested too deep") from None
    except ValueError as error:  # a NUL in the name
        raise ConfigError(f"{what} {str(path)!r}: {error}") from None


@contextlib.contextmanager
def results_folder(folder: Path) -> Iterator[Path]:
    """Make a folder for results before the work begins; when the work fails, it goes again if nothing is in it.

    Parameters
    ----------
    folder : Path
        It and what is above it are made where they are missing.

    Raises
    ------
    ConfigError
        If it cannot be made.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out {folder}: {error.strerror or error}") from None
    try:
        yield folder
    except BaseException:
        with contextlib.suppress(OSError):  # it holds something, or is gone
            for place in made:
                place.rmdir()
        raise


def written_place(path: Path) -> Path:
    """Where a file that is replaced whole really lies: behind its symbolic links, which stay.

    Raises
    ------
    ConfigError
        If something is there that is no file: a pipe or a device would be gone, its name a plain file.
    """
    target, mode = None, 0
    try:
        target = Path(os.path.realpath(path))  # the folder that we are in may be gone
        mode = os.stat(path).st_mode  # not target: links in /proc lead to what has no name
    except (OSError, ValueError) as error:
        if target is not None and isinstance(error, FileNotFoundError):
            return target
        told = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path} cannot be written: {told}") from None
    if stat.S_ISDIR(mode):
        raise ConfigError(f"{path} cannot be written: Is a directory")
    if not stat.S_ISREG(mode):
        raise ConfigError(f"{path} cannot be written: it is not a regular file")
    return target


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A place to write to that becomes the file when all is written: nobody sees half of it, whatever comes between.

    Parameters
    ----------
    path : Path
        The file; one of this name is replaced, behind a symbolic link its target.

    Raises
    ------
    ConfigError
        If it cannot be written.
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
