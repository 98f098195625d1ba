"""Checked entries of a study's TOML file."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import unknown


def whole(matrix: Mapping[str, Any], every: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """A matrix with the entries of the one that it is ``like``, where it has none; ``set`` has the fields of both."""
    if "like" not in matrix:
        return matrix
    firsts = [one for one in every if "like" not in one]
    for first in firsts:
        if first.get("name") == matrix["like"]:
            return {**first, **matrix, "set": table_of("set", first) | table_of("set", matrix)}
    names = [str(one.get("name")) for one in firsts]
    raise ConfigError(unknown("matrix that another is like", matrix["like"], names))


def left_out(name: str, matrix: Mapping[str, Any]) -> bool:
    """Whether the matrix's ``without`` leaves out a protocol or workload."""
    return any(
        fnmatch.fnmatch(name, item) for item in list_of("without", matrix.get("without", []))
    )


def check_known(what: str, given: Mapping[str, Any], allowed: Iterable[str]) -> None:
    """Refuse what is no table, or has an entry that is not allowed."""
    if not isinstance(given, Mapping):
        raise ConfigError(f"{what} is {quoted(given)}, not a table")
    allowed = list(allowed)
    for name in given:
        if name not in allowed:
            raise ConfigError(f"{what}: {unknown('entry', name, allowed)}")


def check_parameters(what: str, given: Mapping[str, Any], chosen: Iterable[str]) -> None:
    """Check a table of workloads' parameters.

    Raises
    ------
    ConfigError
        For an entry that is no table, or that no matrix would use.
    """
    chosen = list(chosen)
    for name, values in given.items():
        if name not in chosen:
            problem = unknown("workload", name, chosen)
            raise ConfigError(
                f"{what} has parameters of a workload that it does not run: {problem}"
            )
        if not isinstance(values, Mapping):
            raise ConfigError(f"{what}: workload.{name} = {quoted(values)} is not a table")


def check_flag(what: str, given: Mapping[str, Any], name: str) -> None:
    """Refuse a value that is not true or false."""
    if not isinstance(given.get(name, False), bool):
        raise ConfigError(f"{what}: {name} = {quoted(given[name])} is not true or false")


def table_of(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """An entry that is a table; empty if there is none."""
    value = data.get(name, {})
    if not isinstance(value, Mapping):
        raise ConfigError(f"{name} = {quoted(value)} is not a table: {name} = {{name = value}}")
    return dict(value)


def list_of(name: str, value: Any) -> list[Any]:
    """A list of values, or one value as a list."""
    listed = list(value) if isinstance(value, list | tuple) else [value]
    if any(isinstance(item, list | dict) for item in listed):
        raise ConfigError(f"{name} = {quoted(value)} is not a list of values")
    return listed


def is_name(text: str) -> bool:
    """Whether a text can be a matrix's name."""
    return bool(text) and all(one.isalnum() or one in "-_" for one in text)
