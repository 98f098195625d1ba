"""The rows that a sweep has finished since its result file was last written: lines appended beside the file.

A line costs the same however many rows the file has. Each has a checksum; a line that a kill has cut off is ignored.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gpucoh.base.errors import ConfigError

# A row survives the process at once, and the machine after this many seconds.
SYNC_SECONDS = 5.0


class Journal:
    """The journal of a result file, ``FILE.journal``; it exists while it has rows.

    Parameters
    ----------
    results : Path
        The result file.
    """

    def __init__(self, results: Path) -> None:
        self.path = results.with_name(f"{results.name}.journal")
        self._descriptor: int | None = None
        self._length = 0
        self._synced_at = -SYNC_SECONDS
        self._unsynced = False

    def read(self) -> Iterator[tuple[dict[str, Any], list[str]]]:
        """The rows, each with the keys of the rows that it replaces.

        Raises
        ------
        ConfigError
            If a line other than the last is damaged, or the file cannot be read.
        """
        try:
            lines = self.path.read_bytes().split(b"\n")
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be read: {error.strerror or error}") from None
        for number, line in enumerate(lines, start=1):
            checksum, _, text = line.partition(b" ")
            if checksum == _checksum(text):
                row, replaced = json.loads(text)
                yield row, replaced
            elif number < len(lines):  # the last one is empty, or has no end
                raise ConfigError(f"{self.path} is damaged in line {number}: remove it")

    def append(self, row: dict[str, Any], replaced: Sequence[str] = ()) -> None:
        """Append one row.

        Raises
        ------
        ConfigError
            If it cannot be written; the rows before it are unchanged.
        """
        text = json.dumps([row, list(replaced)], default=_plain).encode()
        line = _checksum(text) + b" " + text + b"\n"
        try:
            if self._descriptor is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
                self._descriptor, self._length = os.open(self.path, flags, 0o666), 0
            written = 0
            while written < len(line):
                written += os.pwrite(self._descriptor, line[written:], self._length + written)
        except OSError as error:
            raise self._refused(error) from None
        self._length += len(line)
        self._unsynced = True
        self.sync()

    def sync(self) -> None:
        """Have the operating system write what was appended, if that was not done in the last seconds."""
        if self._unsynced and time.monotonic() - self._synced_at >= SYNC_SECONDS:
            assert self._descriptor is not None
            try:
                os.fsync(self._descriptor)
            except OSError as error:
                raise self._refused(error) from None
            self._unsynced, self._synced_at = False, time.monotonic()

    def _refused(self, error: OSError) -> ConfigError:
        return ConfigError(f"{self.path} cannot be written: {error.strerror or error}")

    def remove(self) -> None:
        """Remove the file: its rows are in the result file."""
        self.close()
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file, which keeps its rows."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor, self._unsynced = None, False


def _checksum(text: bytes) -> bytes:
    return b"%08x" % zlib.crc32(text)


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python."""
    return value.item() if hasattr(value, "item") else str(value)
