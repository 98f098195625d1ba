"""A Parquet file of results: rows by key, never half-written, never overwritten by another."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from gpucoh.errors import ConfigError
from gpucoh.files import written_place

# Results are on disk at most this long after they were computed.
FLUSH_SECONDS = 5.0


def as_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows as a table with every column that any row has; a column of mixed types becomes text."""
    listed = list(rows)
    names = list(dict.fromkeys(name for row in listed for name in row))
    columns = {name: _column([row.get(name) for row in listed]) for name in names}
    return pa.table(columns)


def as_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a pandas table, as :func:`as_table` makes them."""
    frame: pd.DataFrame = as_table(rows).to_pandas()
    return frame


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([None if value is None else str(value) for value in values])


class Results:
    """The rows of a file of results, open for one writer.

    Use as a context manager: leaving it, also by an exception, writes what was added and lets go of the file.

    Parameters
    ----------
    path : Path or None
        The Parquet file; None: rows are kept in memory only.
    resume : bool
        Go on from the rows that are there. Otherwise the file must not exist.

    Raises
    ------
    ConfigError
        If the file exists and is not to be resumed, is no file of results, cannot be written, or another sweep
        is writing it.
    """

    def __init__(self, path: Path | None, resume: bool) -> None:
        if resume and path is None:
            raise ConfigError("resume needs the file to resume from: out")
        self.rows: dict[str, dict[str, Any]] = {}
        self._path: Path | None = None
        self._unsaved = 0
        self._saved_at = time.monotonic()
        self._lock: tuple[Path, int] | None = None
        if path is None:
            return
        self._path = path = self._place(path)
        self._lock = _lock(path)
        try:
            if path.exists():
                if not resume:
                    raise ConfigError(f"{path} exists: remove it, or go on from it with resume")
                self.rows = _read(path)
        except BaseException:
            self._unlock()
            raise

    @staticmethod
    def _place(path: Path) -> Path:
        if path.is_dir():
            raise ConfigError(f"{path} is a folder; results are kept in a Parquet file")
        target = written_place(path)
        if not target.parent.is_dir():
            raise ConfigError(f"{path}: the folder {target.parent} does not exist")
        return target if path.is_symlink() else path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.save()
        finally:
            self._unlock()

    def add(self, row: dict[str, Any]) -> None:
        """Take one row, known by its ``key``; it is on disk within seconds."""
        self.rows[str(row["key"])] = row
        self._unsaved += 1
        if time.monotonic() - self._saved_at > FLUSH_SECONDS:
            self.save()

    def save(self) -> None:
        """Write all rows to a file beside the results, and put it in their place at once.

        Raises
        ------
        ConfigError
            If it cannot be written; the file that was there is untouched.
        """
        if self._path is None or not self._unsaved:
            return
        part = self._path.with_name(f".{self._path.name}.part")
        try:
            pq.write_table(as_table(self.rows.values()), part)
            with part.open("rb") as file:
                os.fsync(file.fileno())
            os.replace(part, self._path)
        except OSError as error:
            raise ConfigError(
                f"{self._path} cannot be written: {error.strerror or error}"
            ) from None
        finally:
            part.unlink(missing_ok=True)
        self._unsaved, self._saved_at = 0, time.monotonic()

    def _unlock(self) -> None:
        if self._lock is not None:
            place, descriptor = self._lock
            place.unlink(missing_ok=True)
            os.close(descriptor)
            self._lock = None


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        # Rows have the columns that they were written with, not those of their neighbours.
        rows = pq.read_table(path).to_pylist()
        return {
            str(row["key"]): {name: value for name, value in row.items() if value is not None}
            for row in rows
        }
    except (OSError, pa.ArrowException, KeyError) as error:
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(f"{path} is not a file of results: {told}") from None


def _lock(path: Path) -> tuple[Path, int]:
    """Hold a file beside the results, so that a second sweep does not write over the first one's rows."""
    place = path.with_name(f".{path.name}.lock")
    while True:
        try:
            descriptor = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise ConfigError(f"{path} is being written by another sweep") from None
        # The other may have removed the file between our opening and our locking it.
        if place.exists() and os.stat(place).st_ino == os.fstat(descriptor).st_ino:
            return place, descriptor
        os.close(descriptor)
