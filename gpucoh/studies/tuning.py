"""Parameters of protocols chosen on one half of the workloads, and judged on the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.studies.entries import check_known, list_of

_FIELDS = ("what", "candidates")


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """A protocol with values of one parameter to choose from.

    Attributes
    ----------
    what : str
        The parameter's group: leases, buffers, epochs.
    candidates : tuple of str
        Protocols with options; the first is as its paper has it.
    """

    what: str
    candidates: tuple[str, ...]


def read_tunings(given: Sequence[Any]) -> tuple[Tuning, ...]:
    """The tunings of a study's file.

    Raises
    ------
    ConfigError
        For an entry that is unknown or missing.
    """
    if not isinstance(given, list):
        raise ConfigError(f"tuning = {quoted(given)} is not a list of tables: [[tuning]]")
    found = []
    for item in given:
        check_known("tuning", item, _FIELDS)
        for name in _FIELDS:
            if name not in item:
                raise ConfigError(f"the tuning {quoted(item)} has no {name}")
        texts = tuple(str(one) for one in list_of("candidates", item["candidates"]))
        if len(texts) < 2:
            raise ConfigError(f"the tuning {quoted(item)} has fewer than two candidates")
        found.append(Tuning(what=str(item["what"]), candidates=texts))
    return tuple(found)


def halves(classes: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Two halves of workloads: alternately, in the order of their classes and then of their names.

    Parameters
    ----------
    classes : mapping
        Workload -> its class of sharing.
    """
    order = sorted(classes, key=lambda name: (classes[name], name))
    return order[::2], order[1::2]
