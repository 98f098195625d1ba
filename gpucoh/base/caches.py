"""The user's caches of compiled code that a process loads: folders that no other user writes, files checked by hash."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from gpucoh.base.errors import ConfigError

__all__ = ["built", "cache_folder", "hash_of", "read_entry", "write_entry"]


def cache_folder(*parts: str) -> Path:
    """A folder of the user's cache, of ``XDG_CACHE_HOME`` or ``~/.cache``; made if it is missing.

    Raises
    ------
    ConfigError
        If the folder, or one that it is in, may be written by another user: its code would run with the user's rights.
    OSError
        If it cannot be made; with the name of the folder.
    """
    given = os.environ.get("XDG_CACHE_HOME")
    place = Path(given) if given else Path.home() / ".cache"
    for part in ("", "gpucoh", *parts):
        place /= part
        try:
            place.mkdir(mode=0o700 if part else 0o777, parents=True)
        except FileExistsError:
            _check(place, is_own=part != "")
    return place


def _check(place: Path, is_own: bool) -> None:
    """Check a folder: one of gpucoh's own, or that of all caches, which may be root's or sticky, as /tmp is both."""
    state = place.stat()
    mode = stat.S_IMODE(state.st_mode)
    if not stat.S_ISDIR(state.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), place)
    if state.st_uid != os.geteuid() and (is_own or state.st_uid != 0):
        what = f"belongs to another user ({state.st_uid})"
    elif (
        mode & (stat.S_IWGRP | stat.S_IWOTH)
        if is_own
        else mode & stat.S_IWOTH and not mode & stat.S_ISVTX
    ):
        what = f"is writable by others (mode {mode:o})"
    else:
        return
    raise ConfigError(
        f"the cache folder {place} {what}, and code in it would run with your rights: remove it, or name another one "
        "by XDG_CACHE_HOME"
    )


def built(manifest: Path, make: Callable[[], Iterable[Path]]) -> None:
    """Make the files of a manifest, beside it, unless they are there and whole. One process at a time.

    Raises
    ------
    OSError
        If the cache cannot be written.
    """
    with manifest.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_whole(manifest):
            manifest.unlink(missing_ok=True)
            lines = [f"{hash_of(file)}  {file.name}\n" for file in make()]
            manifest.write_text("".join(lines), encoding="utf-8")


def _is_whole(manifest: Path) -> bool:
    try:
        lines = manifest.read_text(encoding="utf-8").splitlines()
        entries = [line.partition("  ") for line in lines]
        return bool(entries) and all(
            hash_of(manifest.with_name(name)) == code for code, _, name in entries
        )
    except (OSError, ValueError):
        return False


def read_entry(entry: Path) -> bytes | None:
    """What :func:`write_entry` has written, if it is whole."""
    try:
        code, _, content = entry.read_bytes().partition(b"\n")
    except OSError:
        return None
    return content if code == hashlib.sha256(content).hexdigest().encode() else None


def write_entry(entry: Path, content: bytes) -> None:
    """Write a file behind the hash of its content; another process reads it whole or not at all.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    part = entry.with_name(f"{entry.name}.{os.getpid()}")
    part.write_bytes(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
    part.replace(entry)


def hash_of(path: Path) -> str:
    """The hash of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
