"""The runs of a sweep as the product of lists: arguments, or the entries of a TOML file."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sized
from pathlib import Path
from typing import Any

import numpy as np

from gpucoh.base.doors import public
from gpucoh.base.errors import ConfigError
from gpucoh.base.files import path_of, read_toml
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import name_of, unknown_argument
from gpucoh.device.choices import split_options
from gpucoh.machines import Machine
from gpucoh.runs.runner import Run
from gpucoh.runs.sweeps import as_run

# Entries that are lists -> the argument of a run.
_LISTS = {
    "workloads": "workload",
    "protocols": "protocol",
    "machines": "machine",
    "consistencies": "consistency",
    "scales": "scale",
    "seeds": "seed",
}
_SINGULAR = {one: many for many, one in _LISTS.items()}
_TABLES = ("set", "params", "options")
# One value for all runs.
_SAME = ("check", "limit_s", "limit_gib")
_MOST_RUNS = 10**6


@public
def grid(**entries: Any) -> list[dict[str, Any]]:
    """The runs of a sweep: every combination of the values given.

    Parameters
    ----------
    workload, protocol, machine, consistency, scale, seed : value or list
        Arguments of :func:`gpucoh.run`, each one value or a list of them; the plural names a list, too:
        ``protocols=["mesi", "tc-weak"]``. The workload is needed.
    set, params, options : dict
        Machine fields, parameters of workloads, and options of protocols, each one value or a list:
        ``set={"cores": [8, 16]}``, ``options={"lifetime": [200, 800]}`` for ``tc-strong[lifetime=200]`` ..
    check : bool or str
        As in :func:`gpucoh.run`, for all.
    limit_s, limit_gib : float
        As in :func:`gpucoh.sweep`, for all.

    Returns
    -------
    list of dict
        Arguments of :func:`gpucoh.run`, to be passed to :func:`gpucoh.sweep`; the last entry varies fastest.

    Raises
    ------
    ConfigError
        For an unknown entry, an empty list, no workload, or more than a million combinations; names and values are
        checked by the sweep.

    Examples
    --------
    >>> import gpucoh
    >>> runs = gpucoh.grid(workload="bfs", protocol="tc-strong", options={"lifetime": [200, 800]}, scale="tiny")
    >>> [run["protocol"] for run in runs]
    ['tc-strong[lifetime=200]', 'tc-strong[lifetime=800]']
    """
    axes: dict[str, list[Any]] = {}
    tables: dict[str, dict[str, list[Any]]] = {}
    for name, value in entries.items():
        one = _LISTS.get(name, name)
        if one in _SINGULAR:
            if one in axes:
                raise ConfigError(
                    f"{_SINGULAR[one]} are given twice, as {_SINGULAR[one]} and as {one}"
                )
            axes[one] = _values(name, value)
        elif name in _TABLES:
            if not isinstance(value, Mapping):
                raise ConfigError(
                    f"{name} = {quoted(value)} is not a table: {name} = {{name = value}}"
                )
            tables[name] = {
                name_of(f"{name}:", key): _values(f"{name}.{key}", item)
                for key, item in value.items()
            }
        elif name not in _SAME:
            known = [*_LISTS, *_TABLES, *_SAME]
            raise ConfigError(unknown_argument(name, value, known, "entry"))
    _refuse_misplaced(axes, tables)
    if "workload" not in axes:
        raise ConfigError("the entry workloads is missing")
    _refuse_too_many(axes, tables)
    same = {name: entries[name] for name in _SAME if name in entries}
    options = tables.pop("options", {})
    return [
        _with_options(one, chosen) | dict(zip(tables, changes, strict=True)) | same
        for one in _product(axes)
        for chosen in _product(options)
        for changes in itertools.product(*map(_product, tables.values()))
    ]


def _refuse_misplaced(axes: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse an entry of the file that is in a table, since it was written below the table's header."""
    for table, values in tables.items():
        for name in values:
            one = _LISTS.get(name, name)
            # A workload may have a parameter of such a name.
            if one in _SINGULAR and one not in axes and (table != "params" or one == "workload"):
                raise ConfigError(
                    f"the entry {name} is in the table [{table}]: write it above [{table}]"
                )


def _refuse_too_many(
    axes: Mapping[str, list[Any]], tables: Mapping[str, Mapping[str, list[Any]]]
) -> None:
    sizes = {_SINGULAR[name]: len(values) for name, values in axes.items()}
    for table, columns in tables.items():
        sizes |= {f"{table}.{name}": len(values) for name, values in columns.items()}
    number = math.prod(sizes.values())
    if number > _MOST_RUNS:
        lists = " x ".join(f"{size} {name}" for name, size in sizes.items() if size > 1)
        raise ConfigError(f"{number:,} combinations ({lists}); at most {_MOST_RUNS:,} are allowed")


def _with_options(run: dict[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """A run with options in its protocol's brackets, after those that it has."""
    if not options:
        return dict(run)
    name, given = split_options(name_of("protocol", run.get("protocol", Run.protocol)))
    twice = given.keys() & options.keys()
    if twice:
        raise ConfigError(
            f"protocol {quoted(run['protocol'])}: option {quoted(min(twice))} is given twice"
        )
    words = {key: _word(value) for key, value in options.items()}
    inside = ",".join(f"{key}={value}" for key, value in {**given, **words}.items())
    return run | {"protocol": f"{name}[{inside}]"}


def _word(value: Any) -> str:
    return ("off", "on")[bool(value)] if isinstance(value, bool | np.bool_) else str(value)


def _values(name: str, value: Any) -> list[Any]:
    """The values of an entry: a list, or a value alone; a text, a machine and a function are one value."""
    single = isinstance(value, str | Mapping | Machine) or callable(value)
    if not single and isinstance(value, Sized) and len(value) > _MOST_RUNS:
        raise ConfigError(f"{name} has {len(value):,} values; at most {_MOST_RUNS:,} are allowed")
    values = [value] if single or not isinstance(value, Iterable) else list(value)
    if not values:
        raise ConfigError(f"{name} is an empty list")
    for item in values:
        if isinstance(item, list | dict):
            raise ConfigError(f"{name}: {quoted(item)} is not a number, text or boolean")
    return values


def _product(table: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(table, values, strict=True)) for values in itertools.product(*table.values())]


@public
def read_sweep(path: str | Path) -> list[Run]:
    """The runs that a TOML file describes: the product of its lists.

    ``workloads protocols machines consistencies scales seeds`` are lists or single values (under the singular name,
    too); the tables ``set``, ``params`` and ``options`` give machine fields, workload parameters and protocol options,
    each a value or a list; ``check`` is true or false; ``limit_s`` and ``limit_gib`` are numbers.

    Raises
    ------
    ConfigError
        If the file cannot be read or does not describe a sweep.
    """
    given = read_toml(path_of("sweep file", path), "sweep file")
    try:
        if not isinstance(given.get("check", False), bool):
            raise ConfigError(f"check = {quoted(given['check'])} is not true or false")
        return [as_run(run) for run in grid(**given)]
    except ConfigError as error:
        raise ConfigError(f"sweep file {path}: {error}") from None
