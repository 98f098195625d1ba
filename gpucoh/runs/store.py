"""The store of a study's rows: a Parquet file, never partial, never overwritten by another sweep.

Finished rows are appended to a journal beside it; the Parquet file is replaced as a whole, at the first row, at the end
and now and then. A line of the journal costs the same however many rows the store has. Each has a checksum; one that a
kill has cut off is ignored.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import math
import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from gpucoh.base.errors import ConfigError
from gpucoh.base.files import written_place
from gpucoh.base.quoting import quoted
from gpucoh.results.columns import VARIED, with_types
from gpucoh.runs.interrupts import terminable

# Columns of every row, even of a run that could not begin: text, whole numbers, correctness.
_TEXTS = (
    *("key", "workload", "protocol", "machine", "consistency", "model", "scale", "verdict"),
    *("where", "error", "version", "code"),
)
_ALWAYS = (*_TEXTS, "seed", "mismatches", "correct")
_WHOLE = ("seed", "mismatches", "cycles", "instructions")

# In the file's metadata: its columns and its number of rows. What the pages hold has their checksums.
_CONTENT = "gpucoh.content"

# Histograms and transitions; Parquet files call what a list holds so.
_COUNTS = pa.list_(pa.field("element", pa.int64()))

# The Parquet file is replaced at most this often, and for a fiftieth of the time, so that the cost of a study is linear
# in its rows.
FLUSH_SECONDS = 5.0
_SHARE = 50
# A row survives the process at once, and the machine after this many seconds.
SYNC_SECONDS = 5.0


def as_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows as a table with every column that occurs; a column of mixed types becomes text.

    The order of the columns does not depend on the order of the rows, in which runs of several
    processes finish.
    """
    listed = list(rows)
    names = sorted(dict.fromkeys(name for row in listed for name in row), key=_column_place)
    columns = {name: _column([row.get(name) for row in listed]) for name in names}
    return pa.table(columns)


def _column_place(name: str) -> tuple[int, str]:
    """Sorts a run's changes, options and parameters behind its statistics, and the error to the end."""
    if name.startswith(VARIED):
        return 1, name
    return (2 if name in ("error", "version", "code") else 0), ""


def as_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a pandas DataFrame, with the columns of :func:`as_table`."""
    table = as_table(rows)
    frame: pd.DataFrame = table.to_pandas()
    for field in table.schema:
        if pa.types.is_list(
            field.type
        ):  # pandas would have arrays of NumPy, which == compares by element
            frame[field.name] = table[field.name].to_pylist()
    varied = [name for name in table.column_names if name.startswith(VARIED)]
    return with_types(frame, table.select(varied).to_pydict())


def _column(values: list[Any]) -> pa.Array:
    kinds: list[pa.DataType | None] = [None]
    if any(isinstance(value, list) for value in values):
        kinds = [_COUNTS]
    elif all(type(value) is int for value in values if value is not None):
        kinds.append(pa.uint64())  # seeds go up to 2**64 - 1
    for kind in kinds:
        with contextlib.suppress(pa.ArrowException, OverflowError):
            return pa.array(values, kind)
    return pa.array([None if value is None else str(value) for value in values])


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


class Store:
    """The rows of a result file, open for one writer.

    Use as a context manager: on exit, also by an exception, it writes the added rows and unlocks the file. Rows that a
    killed sweep has left in the journal are among the rows, and in the file.

    Parameters
    ----------
    path : Path or None
        The Parquet file; None keeps the rows in memory only.
    resume : bool
        Continue with the rows in the file. Otherwise the file must not exist.

    Raises
    ------
    ConfigError
        If the file exists without ``resume``, is not a result file, cannot be written, or another sweep is writing
        it.

    Attributes
    ----------
    rows : dict
        Key -> row.
    path : Path or None
        The file.
    """

    def __init__(self, path: Path | None, resume: bool) -> None:
        if resume and path is None:
            raise ConfigError("resume needs a result file: give out")
        self.rows: dict[str, dict[str, Any]] = {}
        self.path: Path | None = None
        self._unsaved = 0
        self._next_save = -math.inf
        self._lock: tuple[Path, int] | None = None
        if path is None:
            return
        self.path = path = self._place(path)
        self._journal = Journal(path)
        self._lock = _lock(path)
        try:
            for file in (path, self._journal.path):
                if file.exists() and not resume:
                    raise ConfigError(f"{file} exists: remove it, or continue it with resume")
            if path.exists():
                self.rows = _read(path)
            if self._journal.path.exists():
                self._take_journal()
        except BaseException:
            self._unlock()
            raise

    def _take_journal(self) -> None:
        for row, replaced in self._journal.read():
            self._take(row, replaced)
        self.save()

    @staticmethod
    def _place(path: Path) -> Path:
        if os.path.isdir(path):  # not Path.is_dir, which raises for too long a name
            raise ConfigError(f"{path} is a folder; out must be a Parquet file")
        target = written_place(path)
        if not target.parent.is_dir():
            raise ConfigError(f"{path}: the folder {target.parent} does not exist")
        return target if path.is_symlink() else path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.save()
        finally:
            if self.path is not None:
                self._journal.close()
            self._unlock()

    def add(self, row: dict[str, Any], replaced: Sequence[str] = ()) -> None:
        """Add one row, identified by its ``key``, to rows and journal; remove the rows that it replaces."""
        self._take(row, replaced)
        if self.path is None:
            return
        self._journal.append(row, replaced)
        if time.monotonic() >= self._next_save:
            self.save()

    def _take(self, row: dict[str, Any], replaced: Iterable[str]) -> None:
        self.rows[str(row["key"])] = row
        self._unsaved += 1
        for key in replaced:
            self.rows.pop(key, None)

    def remove(self, key: str) -> None:
        """Remove a row."""
        del self.rows[key]
        self._unsaved += 1

    def sync(self) -> None:
        """Called while runs are in progress: rows that have waited for seconds are written to the disk."""
        if self.path is not None:
            self._journal.sync()

    def change(self, key: str, columns: Mapping[str, Any]) -> None:
        """Give columns of a row other values."""
        row = self.rows[key]
        self._unsaved += any(row.get(name) != value for name, value in columns.items())
        row.update(columns)

    def save(self) -> None:
        """Write all rows to a temporary file and replace the result file with it.

        Raises
        ------
        ConfigError
            If the file cannot be written; the old file is unchanged.
        """
        if self.path is None or not self._unsaved:
            return
        part = self.path.with_name(f".{self.path.name}.part")
        begun = time.monotonic()
        self._next_save = begun + FLUSH_SECONDS
        try:
            table = as_table(self.rows.values())
            kept = {_CONTENT: json.dumps(_content(table))}
            pq.write_table(table.replace_schema_metadata(kept), part, write_page_checksum=True)
            with part.open("rb") as file:
                os.fsync(file.fileno())
            os.replace(part, self.path)
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be written: {error.strerror or error}") from None
        finally:
            part.unlink(missing_ok=True)
        self._journal.remove()
        now = time.monotonic()
        self._unsaved, self._next_save = 0, now + max(FLUSH_SECONDS, _SHARE * (now - begun))

    def _unlock(self) -> None:
        if self._lock is not None:
            place, descriptor = self._lock
            place.unlink(missing_ok=True)
            os.close(descriptor)
            self._lock = None


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of a file by key; an error if no sweep can have written it, so that nothing is mixed in."""
    try:
        table = pq.read_table(path, page_checksum_verification=True)
        wrong = _what_has_changed(table)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:  # the last: a column's name
        raise ConfigError(f"{path} is not a result file: {_reason(error)}") from None
    _refuse_older(path, table)
    table = _with_whole_seeds(table)
    wrong = wrong or _what_is_wrong(table)
    if wrong is not None:
        raise ConfigError(f"{path} is not a result file: {wrong}")
    # A row has only the columns that it was written with, not those of other rows.
    return {
        row["key"]: {
            name: value for name, value in row.items() if value is not None or name in _ALWAYS
        }
        for row in table.to_pylist()
    }


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def read_rows(path: Path) -> pd.DataFrame:
    """The rows of a study's file as a table, without those in its journal.

    Raises
    ------
    ConfigError
        If the file does not exist, or is not one that a study has written.
    """
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        missing = isinstance(error, FileNotFoundError)
        what = "there are no rows yet" if missing else f"is not a result file: {_reason(error)}"
        raise ConfigError(f"{path}: {what}") from None
    if not {"key", "matrix", "cycles"} <= set(table.column_names):
        raise ConfigError(
            f"{path} is not the file of a study: it lacks the columns key, matrix or cycles"
        )
    frame: pd.DataFrame = table.to_pandas()
    return frame


def _with_whole_seeds(table: pa.Table) -> pa.Table:
    """Version 0.1.0 stored seeds of 2**63 and more as text."""
    if "seed" in table.column_names and _kind_of("key")[1](table.schema.field("seed").type):
        with contextlib.suppress(pa.ArrowException):
            place = table.column_names.index("seed")
            return table.set_column(place, "seed", table["seed"].cast(pa.uint64()))
    return table


def _content(table: pa.Table) -> list[str]:
    return [f"{field.name}: {field.type}" for field in table.schema] + [f"{len(table)} rows"]


def _what_has_changed(table: pa.Table) -> str | None:
    """The first difference from what was written; None also for a file that does not say it."""
    kept = (table.schema.metadata or {}).get(_CONTENT.encode())
    try:
        written = _content(table) if kept is None else json.loads(kept)
    except ValueError:
        return "its metadata are damaged"
    changed = [
        part for part in itertools.zip_longest(written, _content(table)) if part[0] != part[1]
    ]
    return f"{quoted(changed[0][1])} where {quoted(changed[0][0])} was written" if changed else None


def _refuse_older(path: Path, table: pa.Table) -> None:
    """Refuse a file of a version that did not store the code that ran each row."""
    names = table.column_names
    if "code" not in names and {"key", "version"} <= set(names):
        versions = " and ".join(sorted(map(str, table["version"].unique().to_pylist())))
        raise ConfigError(
            f"{path} was written by gpucoh {versions}, which did not store the code that ran each row: it cannot be "
            "continued (allowed: another file)"
        )


def _what_is_wrong(table: pa.Table) -> str | None:
    """The first difference between a table and what sweeps write; statistics may differ, if they are numbers."""
    if len(set(table.column_names)) != table.num_columns:
        return "two columns have one name"
    for name in _ALWAYS:
        if name not in table.column_names:
            return f"no column {quoted(name)}"
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        nothing = pa.types.is_null(kind) and name in ("correct", "error")
        what, fits = _kind_of(name)
        # A column without any value has no type.
        if not (fits(kind) or nothing or (name not in _ALWAYS and pa.types.is_null(kind))):
            return f"column {quoted(name)} holds {kind}, not {what}"
        if name in _ALWAYS and name not in ("correct", "error") and table[name].null_count:
            return f"column {quoted(name)} has rows without a value"
    if len(table["key"].unique()) != len(table):
        return "column 'key' has duplicates"
    return None


def _kind_of(name: str) -> tuple[str, Callable[[pa.DataType], bool]]:
    """The content that a column of this name must have, and whether a type is that."""
    if name in (
        *_TEXTS,
        "busiest",
        "protocol_id",
        "protocol_sha256",
        "matrix",
        "run",
    ) or name.endswith("_class"):
        return "text", _is_text
    if name.startswith(VARIED):
        return (
            "values",
            lambda kind: _is_text(kind) or pa.types.is_boolean(kind) or _is_number(kind),
        )
    if name.startswith(("histograms_", "transitions_")):
        return "lists of numbers", lambda kind: kind == _COUNTS
    if name == "correct":
        return "true and false", pa.types.is_boolean
    if name in _WHOLE:
        return "whole numbers", pa.types.is_integer
    return "numbers", _is_number


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


@contextlib.contextmanager
def open_store(path: Path | None) -> Iterator[Store]:
    """A store that continues the file, if there is one; None keeps nothing. SIGTERM ends the block as Ctrl-C does."""
    with terminable(), Store(path, resume=path is not None) as store:
        yield store


def _lock(path: Path) -> tuple[Path, int]:
    """Lock a file beside the results, so that a second sweep does not overwrite the first one's rows."""
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
        # The other sweep may have removed the file after we opened and before we locked it.
        if place.exists() and os.stat(place).st_ino == os.fstat(descriptor).st_ino:
            return place, descriptor
        os.close(descriptor)
