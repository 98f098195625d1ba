"""Protocols outside the package: a C file each, compiled by the C compiler at hand, cached, and loaded.

Such a file is a program with the rights of the user.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpucoh.base.errors import ConfigError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.device import binding


@dataclass(frozen=True)
class Outside:
    """A loaded protocol.

    Attributes
    ----------
    id : str
    path : Path
        Its file, absolute.
    sha256 : str
        The hash of the file.
    code : str
        A hash of what the compiler compiled, the headers included.
    """

    id: str
    path: Path
    sha256: str
    code: str


_loaded: dict[Path, tuple[tuple[int, ...], Outside]] = {}
_libraries: dict[str, str] = {}  # id -> hash of the library
_loading = threading.RLock()


def is_file(name: str) -> bool:
    """Whether a protocol's name is that of a C file."""
    return name.endswith(".c")


def refuse_other_files(name: str) -> None:
    """Refuse a name that is no id and names a file.

    Raises
    ------
    ConfigError
        If it has a separator of folders, or there is such a file.
    """
    if name not in binding.protocol_ids() and (
        "/" in name or os.sep in name or os.path.isfile(name)
    ):
        raise ConfigError(f"protocol file {quoted(name)}: the name of a protocol's file ends in .c")


def load(path: Path) -> Outside:
    """Compile and load the protocol of a file; at once if this process has, and the file has not changed.

    Raises
    ------
    ConfigError
        If there is no such file or no C compiler, the file does not compile or exports no protocol, the protocol is not
        whole or has the id of another one, or the cache cannot be written; one line.
    """
    place = path.absolute()
    with _loading:
        stamp = _stamp(path)
        known = _loaded.get(place)
        if known and known[0] == stamp:
            return known[1]
        found = _load(path, place)
        _loaded.pop(place, None)  # the last one is that of its id
        _loaded[place] = stamp, found
        return found


def loaded(name: str) -> Outside | None:
    """The protocol of a C file that this process has loaded, by its id."""
    return next((one for _, one in reversed(list(_loaded.values())) if one.id == name), None)


def skeleton(name: str, kind: str = "") -> str:
    """The text of a new protocol's file: without copies in the L1s, or ``leases``, ``owners`` or ``acquires``."""
    folder = Path(__file__).parent / kind
    text = (folder / "NAME.c").read_text(encoding="utf-8")
    return text.replace("NAME", name)


def add_library(path: Path) -> list[str]:
    """Add the protocols of a compiled library, and return their ids."""
    with _loading:
        with LATE_IMPORT:
            from gpucoh.device.compiling import hash_of
        ids = binding.add_protocols(str(path))
        _libraries.update(dict.fromkeys(ids, hash_of(path)))
        return ids


def codes() -> dict[str, str]:
    """The code of each protocol that is loaded, by its id."""
    return _libraries | {one.id: one.code for _, one in list(_loaded.values())}


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        state = path.stat()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"protocol file {quoted(str(path))}: {reason}") from None
    return state.st_ino, state.st_mtime_ns, state.st_size


def _load(path: Path, place: Path) -> Outside:
    with LATE_IMPORT:
        from gpucoh.device.compiling import compiled, hash_of
    library, code = compiled(path)
    try:
        ids = binding.library_protocols(str(library))
        _check_ids(ids, place)
        binding.add_protocols(str(library))
    except ConfigError as error:
        text = str(error).removeprefix(f"{library}: ")
        raise ConfigError(f"protocol file {path}: {text}") from None
    return Outside(ids[0], place, hash_of(path), code)


def _check_ids(ids: Sequence[str], place: Path) -> None:
    if len(ids) != 1:
        raise ConfigError(f"it exports {len(ids)} protocols: export one")
    others = [one.path for _, one in _loaded.values() if one.id == ids[0]]
    if others:
        others = [other for other in others if other != place and other.exists()]
    elif ids[0] in binding.protocol_ids():
        others = [Path("gpucoh")]
    if others:
        raise ConfigError(
            f"its id {quoted(ids[0])} is that of a protocol of {others[0]}: choose another"
        )
